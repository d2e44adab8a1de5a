//! Glyphs as coverage masks, rasterised once per thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use ab_glyph::{Font, ScaleFont, point};

use crate::sim::text::{Face, SizedFont};

/// How much of each pixel a glyph covers, and the offset of its first pixel from the pen.
pub struct Letter {
    pub left: i32,
    pub top: i32,
    pub width: usize,
    pub coverage: Vec<u8>,
    pub advance: f32,
}

/// A glyph at one of four positions within a pixel.
#[derive(PartialEq, Eq, Hash)]
struct GlyphKey {
    face: Face,
    size: u32,
    letter: char,
    quarter: u8,
}

/// More than the glyphs of any app; only endless text reaches it.
const MOST: usize = 8192;

thread_local! {
    static LETTERS: RefCell<HashMap<GlyphKey, Rc<Letter>>> = RefCell::new(HashMap::new());
}

pub fn letter(font: SizedFont, letter: char, offset: f32) -> Rc<Letter> {
    let quarter = ((offset * 4.0) as u8).min(3);
    let key = GlyphKey { face: font.face, size: font.size.to_bits(), letter, quarter };
    LETTERS.with_borrow_mut(|letters| {
        if letters.len() > MOST {
            letters.clear();
        }
        Rc::clone(letters.entry(key).or_insert_with(|| Rc::new(raster(font, letter, f32::from(quarter) / 4.0))))
    })
}

fn raster(font: SizedFont, letter: char, offset: f32) -> Letter {
    let scaled = font.face.font().as_scaled(font.scale());
    let id = scaled.glyph_id(letter);
    let advance = scaled.h_advance(id);
    let glyph = id.with_scale_and_position(font.scale(), point(offset, 0.0));
    let Some(outline) = font.face.font().outline_glyph(glyph) else {
        return Letter { left: 0, top: 0, width: 0, coverage: Vec::new(), advance };
    };
    let bounds = outline.px_bounds();
    let (width, height) = (bounds.width().ceil() as usize, bounds.height().ceil() as usize);
    let mut coverage = vec![0; width * height];
    outline.draw(|x, y, covered| {
        if let Some(pixel) = coverage.get_mut(y as usize * width + x as usize) {
            *pixel = (covered.clamp(0.0, 1.0) * 255.0) as u8;
        }
    });
    Letter { left: bounds.min.x as i32, top: bounds.min.y as i32, width, coverage, advance }
}
