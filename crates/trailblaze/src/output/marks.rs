//! Marks on a screenshot: a box around each touchable element, with its ref in the corner.

use trailblaze_core::screen::Screen;
use trailblaze_protocol::geometry::{Rect, Size};

/// How large a dot of a letter is.
const DOT: i32 = 2;
const BOX: [u8; 4] = [0xd5, 0x00, 0x32, 0xff];
const PAPER: [u8; 4] = [0xff, 0xff, 0xff, 0xff];

/// Three dots wide and five high, a row in three bits from the top.
const DIGITS: [u16; 10] = [
    0b111_101_101_101_111,
    0b010_110_010_010_111,
    0b111_001_111_100_111,
    0b111_001_111_001_111,
    0b101_101_111_001_001,
    0b111_100_111_001_111,
    0b111_100_111_101_111,
    0b111_001_010_010_010,
    0b111_101_111_101_111,
    0b111_101_111_001_111,
];
const LETTERS: [u16; 26] = [
    0b010_101_111_101_101,
    0b110_101_110_101_110,
    0b011_100_100_100_011,
    0b110_101_101_101_110,
    0b111_100_110_100_111,
    0b111_100_110_100_100,
    0b011_100_101_101_011,
    0b101_101_111_101_101,
    0b111_010_010_010_111,
    0b001_001_001_101_010,
    0b101_101_110_101_101,
    0b100_100_100_100_111,
    0b101_111_111_101_101,
    0b110_101_101_101_101,
    0b010_101_101_101_010,
    0b110_101_110_100_100,
    0b010_101_101_111_011,
    0b110_101_110_101_101,
    0b011_100_010_001_110,
    0b111_010_010_010_010,
    0b101_101_101_101_111,
    0b101_101_101_101_010,
    0b101_101_111_111_101,
    0b101_101_010_101_101,
    0b101_101_010_010_010,
    0b111_001_010_100_111,
];

/// Pixels, four bytes each, to draw on.
struct MarkCanvas<'a> {
    pixels: &'a mut [u8],
    size: Size,
}

/// Draws the marks of a screen on a picture of it, which may be of another size.
pub fn draw(pixels: &mut [u8], size: Size, screen: &Screen) {
    let mut canvas = MarkCanvas { pixels, size };
    let scale = |value: i32, from: u32, to: u32| (i64::from(value) * i64::from(to) / i64::from(from.max(1))) as i32;
    for node in screen.root.walk().filter(|node| node.is_interactive()) {
        let (Some(reference), Some(seen)) = (&node.reference, screen.visible_part(node)) else { continue };
        let place = Rect {
            left: scale(seen.left, screen.size.width, size.width),
            top: scale(seen.top, screen.size.height, size.height),
            right: scale(seen.right, screen.size.width, size.width),
            bottom: scale(seen.bottom, screen.size.height, size.height),
        };
        canvas.outline(place);
        canvas.label(place, reference);
    }
}

impl MarkCanvas<'_> {
    fn outline(&mut self, place: Rect) {
        let Rect { left, top, right, bottom } = place;
        self.fill(Rect { bottom: top + DOT, ..place }, BOX);
        self.fill(Rect { top: bottom - DOT, ..place }, BOX);
        self.fill(Rect { right: left + DOT, ..place }, BOX);
        self.fill(Rect { left: right - DOT, ..place }, BOX);
    }

    /// Above the box where there is room, so that what is in it can be read.
    fn label(&mut self, place: Rect, text: &str) {
        let (width, height) = (text.len() as i32 * 4 * DOT + DOT, 7 * DOT);
        let top = if place.top >= height { place.top - height } else { place.top };
        self.fill(Rect::new(place.left, top, width, height), BOX);
        for (index, sign) in text.bytes().enumerate() {
            let glyph = match sign {
                b'0'..=b'9' => DIGITS[usize::from(sign - b'0')],
                b'a'..=b'z' => LETTERS[usize::from(sign - b'a')],
                _ => 0,
            };
            for dot in (0..15).filter(|dot| glyph >> (14 - dot) & 1 == 1) {
                let left = place.left + DOT + (index as i32 * 4 + dot % 3) * DOT;
                let top = top + DOT + dot / 3 * DOT;
                self.fill(Rect::new(left, top, DOT, DOT), PAPER);
            }
        }
    }

    fn fill(&mut self, area: Rect, colour: [u8; 4]) {
        let all = Rect::new(0, 0, self.size.width as i32, self.size.height as i32);
        let Some(area) = area.intersect(&all) else { return };
        for y in area.top..area.bottom {
            let row = y as usize * self.size.width as usize;
            for x in area.left..area.right {
                self.pixels[(row + x as usize) * 4..][..4].copy_from_slice(&colour);
            }
        }
    }
}
