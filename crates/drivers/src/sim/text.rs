//! The embedded typeface: text widths and line breaks.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Face {
    Regular,
    Medium,
}

/// A face at a size in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizedFont {
    pub face: Face,
    pub size: f32,
}

impl Face {
    pub fn font(self) -> &'static FontRef<'static> {
        static REGULAR: LazyLock<FontRef<'static>> =
            LazyLock::new(|| parse(include_bytes!("../../assets/Roboto-Regular.ttf")));
        static MEDIUM: LazyLock<FontRef<'static>> =
            LazyLock::new(|| parse(include_bytes!("../../assets/Roboto-Medium.ttf")));
        match self {
            Face::Regular => &REGULAR,
            Face::Medium => &MEDIUM,
        }
    }
}

fn parse(bytes: &'static [u8]) -> FontRef<'static> {
    FontRef::try_from_slice(bytes).expect("the embedded font is a font")
}

impl SizedFont {
    pub fn scale(self) -> PxScale {
        // A font's size is that of its em square; the rasteriser expects the line height.
        let font = self.face.font();
        let units = font.units_per_em().unwrap_or(1000.0);
        PxScale::from(self.size * font.height_unscaled() / units)
    }

    pub fn line_height(self) -> f32 {
        self.size * 1.35
    }

    pub fn width(self, text: &str) -> f32 {
        let font = self.face.font().as_scaled(self.scale());
        text.chars().map(|c| font.h_advance(font.glyph_id(c))).sum()
    }

    /// Breaks a text at spaces and newlines; a word wider than a line gets a line of its own.
    pub fn wrap(self, text: &str, width: f32) -> Vec<String> {
        let mut lines = Vec::new();
        for paragraph in text.split('\n') {
            let mut line = String::new();
            for word in paragraph.split_whitespace() {
                let longer = if line.is_empty() { word.to_string() } else { format!("{line} {word}") };
                if line.is_empty() || self.width(&longer) <= width {
                    line = longer;
                } else {
                    lines.push(std::mem::replace(&mut line, word.to_string()));
                }
            }
            lines.push(line);
        }
        lines
    }

    /// The text, cut with an ellipsis if it does not fit.
    pub fn shorten(self, text: &str, width: f32) -> String {
        if self.width(text) <= width {
            return text.to_string();
        }
        // In one pass, because typed text may be long.
        let font = self.face.font().as_scaled(self.scale());
        let mut room = width - self.width("…");
        let kept = text.chars().take_while(|c| {
            room -= font.h_advance(font.glyph_id(*c));
            room >= 0.0
        });
        format!("{}…", kept.collect::<String>().trim_end())
    }
}
