//! Draws shapes and text. Coordinates are device pixels; everything is drawn at the picture's scale.

use tiny_skia::{FillRule, Mask, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Stroke, Transform};
use trailblaze_protocol::geometry::{Rect, Size};

use super::glyphs::letter;
use super::scaled;
use crate::sim::app::Colour;
use crate::sim::text::SizedFont;

pub struct Canvas {
    pixmap: Pixmap,
    scale: f32,
    /// Nothing is drawn outside of it.
    pub clip: Rect,
}

impl Canvas {
    pub fn new(size: Size, scale: f32, background: Colour) -> Canvas {
        let Size { width, height } = scaled(size, scale);
        let mut pixmap = Pixmap::new(width, height).expect("a screen has pixels");
        pixmap.fill(paint_colour(background, 1.0));
        Canvas { pixmap, scale, clip: Rect::new(0, 0, size.width as i32, size.height as i32) }
    }

    /// The pixels are opaque, so premultiplied and plain values are the same.
    pub fn into_rgba(self) -> (Size, Vec<u8>) {
        let size = Size { width: self.pixmap.width(), height: self.pixmap.height() };
        (size, self.pixmap.take())
    }

    pub fn fill(&mut self, rect: Rect, radius: f32, colour: Colour) {
        self.fill_through(rect, radius, colour, 1.0);
    }

    pub fn fill_through(&mut self, rect: Rect, radius: f32, colour: Colour, opacity: f32) {
        let (rect, mask) = match (rect.intersect(&self.clip), radius > 0.0) {
            (None, _) => return,
            (Some(part), true) if part != rect => (rect, self.mask()),
            (Some(_), true) => (rect, None),
            (Some(part), false) => (part, None),
        };
        let Some(path) = self.rounded(rect, radius) else { return };
        let paint = paint(colour, opacity);
        self.pixmap.fill_path(&path, &paint, FillRule::Winding, Transform::identity(), mask.as_ref());
    }

    /// Darkens everything drawn so far. Done by hand, because a translucent path takes ten times as long.
    pub fn darken(&mut self) {
        for channels in self.pixmap.data_mut().chunks_exact_mut(4) {
            for channel in &mut channels[..3] {
                *channel = (u16::from(*channel) * 140 / 255) as u8;
            }
        }
    }

    pub fn outline(&mut self, rect: Rect, radius: f32, width: f32, colour: Colour) {
        let mask = if rect.intersect(&self.clip) == Some(rect) { None } else { self.mask() };
        let Some(path) = self.rounded(rect, radius) else { return };
        self.stroke(&path, width, colour, mask.as_ref());
    }

    /// A line through points.
    pub fn line(&mut self, points: &[(f32, f32)], width: f32, colour: Colour) {
        let mut builder = PathBuilder::new();
        for (idx, (x, y)) in points.iter().enumerate() {
            let (x, y) = (x * self.scale, y * self.scale);
            if idx == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
        }
        let Some(path) = builder.finish() else { return };
        let mask = self.mask();
        self.stroke(&path, width, colour, mask.as_ref());
    }

    fn stroke(&mut self, path: &Path, width: f32, colour: Colour, mask: Option<&Mask>) {
        let stroke = Stroke {
            width: width * self.scale,
            line_cap: tiny_skia::LineCap::Round,
            line_join: tiny_skia::LineJoin::Round,
            ..Stroke::default()
        };
        self.pixmap.stroke_path(path, &paint(colour, 1.0), &stroke, Transform::identity(), mask);
    }

    /// Draws one line of text with its baseline at `y`, and returns its width.
    pub fn text(&mut self, x: f32, y: f32, font: SizedFont, text: &str, colour: Colour) -> f32 {
        let font = SizedFont { size: font.size * self.scale, ..font };
        let baseline = (y * self.scale).round() as i32;
        let start = x * self.scale;
        let mut pen = start;
        for c in text.chars() {
            let letter = letter(font, c, pen.fract());
            self.blend(pen.floor() as i32 + letter.left, baseline + letter.top, letter.width, &letter.coverage, colour);
            pen += letter.advance;
        }
        (pen - start) / self.scale
    }

    fn blend(&mut self, left: i32, top: i32, width: usize, coverage: &[u8], colour: Colour) {
        if width == 0 {
            return;
        }
        let clip = self.scaled_clip();
        let stride = self.pixmap.width() as i32;
        let pixels = self.pixmap.pixels_mut();
        for (row, line) in coverage.chunks_exact(width).enumerate() {
            let y = top + row as i32;
            if !(clip.top..clip.bottom).contains(&y) {
                continue;
            }
            for (column, covered) in line.iter().enumerate() {
                let x = left + column as i32;
                if *covered == 0 || !(clip.left..clip.right).contains(&x) {
                    continue;
                }
                let pixel = &mut pixels[(y * stride + x) as usize];
                *pixel = over(*pixel, colour, *covered);
            }
        }
    }

    fn scaled_clip(&self) -> Rect {
        let part = |length: i32| (length as f32 * self.scale).round() as i32;
        let (width, height) = (self.pixmap.width() as i32, self.pixmap.height() as i32);
        Rect {
            left: part(self.clip.left).clamp(0, width),
            top: part(self.clip.top).clamp(0, height),
            right: part(self.clip.right).clamp(0, width),
            bottom: part(self.clip.bottom).clamp(0, height),
        }
    }

    fn mask(&self) -> Option<Mask> {
        let clip = self.scaled_clip();
        let (width, height) = (self.pixmap.width(), self.pixmap.height());
        if clip == Rect::new(0, 0, width as i32, height as i32) {
            return None;
        }
        let mut mask = Mask::new(width, height)?;
        for line in mask.data_mut().chunks_exact_mut(width as usize).take(clip.bottom as usize).skip(clip.top as usize)
        {
            line[clip.left as usize..clip.right as usize].fill(255);
        }
        Some(mask)
    }

    fn rounded(&self, rect: Rect, radius: f32) -> Option<Path> {
        let s = self.scale;
        let (left, top) = (rect.left as f32 * s, rect.top as f32 * s);
        let (right, bottom) = (rect.right as f32 * s, rect.bottom as f32 * s);
        let whole = tiny_skia::Rect::from_ltrb(left, top, right, bottom)?;
        let r = (radius * s).min(whole.width() / 2.0).min(whole.height() / 2.0);
        if r <= 0.0 {
            return Some(PathBuilder::from_rect(whole));
        }
        // The length of Bézier handles for a quarter of a circle.
        let k = r * 0.552_284_8;
        let mut path = PathBuilder::new();
        path.move_to(left + r, top);
        path.line_to(right - r, top);
        path.cubic_to(right - r + k, top, right, top + r - k, right, top + r);
        path.line_to(right, bottom - r);
        path.cubic_to(right, bottom - r + k, right - r + k, bottom, right - r, bottom);
        path.line_to(left + r, bottom);
        path.cubic_to(left + r - k, bottom, left, bottom - r + k, left, bottom - r);
        path.line_to(left, top + r);
        path.cubic_to(left, top + r - k, left + r - k, top, left + r, top);
        path.close();
        path.finish()
    }
}

fn over(below: PremultipliedColorU8, colour: Colour, covered: u8) -> PremultipliedColorU8 {
    let channel = |above: u8, below: u8| {
        let covered = u32::from(covered);
        ((u32::from(above) * covered + u32::from(below) * (255 - covered) + 127) / 255) as u8
    };
    let (red, green, blue) =
        (channel(colour.red, below.red()), channel(colour.green, below.green()), channel(colour.blue, below.blue()));
    PremultipliedColorU8::from_rgba(red, green, blue, 255).unwrap_or(below)
}

fn paint(colour: Colour, opacity: f32) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color(paint_colour(colour, opacity));
    paint
}

fn paint_colour(colour: Colour, opacity: f32) -> tiny_skia::Color {
    tiny_skia::Color::from_rgba8(colour.red, colour.green, colour.blue, (opacity * 255.0) as u8)
}
