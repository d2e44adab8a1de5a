//! Compares two pictures pixel by pixel.

use trailblaze_protocol::geometry::{Rect, Size};

/// Pixels, four bytes each, row by row.
#[derive(Clone)]
pub struct PixelGrid {
    pub size: Size,
    pub pixels: Vec<u8>,
}

/// Which pixels of two pictures of the same size differ.
pub struct PixelDifference {
    /// One entry for each pixel.
    differs: Vec<bool>,
    pub count: u64,
    /// The smallest rectangle with all of them.
    pub area: Option<Rect>,
}

/// The largest difference of two colors as `distance` measures it: that of black and white.
const MOST: f64 = 35_215.0;
const RED: [u8; 4] = [0xff, 0, 0, 0xff];

impl PixelGrid {
    /// The part of the picture in this rectangle, as far as it is in the picture.
    pub fn cut(&self, part: &Rect) -> PixelGrid {
        let all = Rect::new(0, 0, self.size.width.cast_signed(), self.size.height.cast_signed());
        let Some(part) = part.intersect(&all) else {
            return PixelGrid { size: Size { width: 0, height: 0 }, pixels: Vec::new() };
        };
        let size = Size { width: part.width().cast_unsigned(), height: part.height().cast_unsigned() };
        let rows = (part.top..part.bottom).flat_map(|y| {
            let start = (y as usize * self.size.width as usize + part.left as usize) * 4;
            &self.pixels[start..start + size.width as usize * 4]
        });
        PixelGrid { size, pixels: rows.copied().collect() }
    }

    /// Finds the pixels whose colors differ by more than the tolerance, from 0 to 1. Both must have the same size.
    pub fn difference(&self, other: &PixelGrid, tolerance: f64) -> PixelDifference {
        let most = MOST * tolerance * tolerance;
        let pairs = self.pixels.chunks_exact(4).zip(other.pixels.chunks_exact(4));
        let differs: Vec<bool> = pairs.map(|(a, b)| a != b && distance(a, b) > most).collect();
        let width = self.size.width.max(1) as usize;
        let mut area: Option<Rect> = None;
        let mut count = 0;
        for at in (0..differs.len()).filter(|at| differs[*at]) {
            count += 1;
            let pixel = Rect::new((at % width) as i32, (at / width) as i32, 1, 1);
            area = Some(area.map_or(pixel, |area| Rect {
                left: area.left.min(pixel.left),
                top: area.top.min(pixel.top),
                right: area.right.max(pixel.right),
                bottom: area.bottom.max(pixel.bottom),
            }));
        }
        PixelDifference { differs, count, area }
    }

    /// The picture in pale grey, with red pixels where it differs.
    pub fn marked(&self, difference: &PixelDifference) -> PixelGrid {
        let mut marked = self.clone();
        for (pixel, differs) in marked.pixels.chunks_exact_mut(4).zip(&difference.differs) {
            let grey = u32::from(pixel[0]) * 3 + u32::from(pixel[1]) * 6 + u32::from(pixel[2]);
            let pale = (255 - (255 - grey / 10) / 5) as u8;
            let color = if *differs { RED } else { [pale, pale, pale, 0xff] };
            pixel.copy_from_slice(&color);
        }
        marked
    }
}

/// How different two colors look: the squared distance in YIQ, weighted as people see it (Kotsarenko and Ramos, 2010).
fn distance(a: &[u8], b: &[u8]) -> f64 {
    let (a, b) = (on_white(a), on_white(b));
    let along = |weights: [f64; 3]| -> f64 { (0..3).map(|at| weights[at] * (a[at] - b[at])).sum() };
    let y = along([0.298_895_31, 0.586_622_47, 0.114_482_23]);
    let i = along([0.595_977_99, -0.274_176_10, -0.321_801_89]);
    let q = along([0.211_470_17, -0.522_617_11, 0.311_146_94]);
    0.5053 * y * y + 0.299 * i * i + 0.1957 * q * q
}

/// The color that a pixel, which may be transparent, has on white.
fn on_white(pixel: &[u8]) -> [f64; 3] {
    let alpha = f64::from(pixel[3]) / 255.0;
    [0, 1, 2].map(|at| 255.0 + (f64::from(pixel[at]) - 255.0) * alpha)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(width: u32, colors: &[[u8; 4]]) -> PixelGrid {
        let size = Size { width, height: colors.len() as u32 / width };
        PixelGrid { size, pixels: colors.concat() }
    }

    const BLACK: [u8; 4] = [0, 0, 0, 255];
    const WHITE: [u8; 4] = [255, 255, 255, 255];
    const GREY: [u8; 4] = [240, 240, 240, 255];

    #[test]
    fn pixels_differ_by_more_than_the_tolerance() {
        let (old, new) = (grid(3, &[WHITE; 6]), grid(3, &[WHITE, GREY, WHITE, WHITE, BLACK, BLACK]));
        let count = |tolerance| {
            let difference = old.difference(&new, tolerance);
            (difference.count, difference.area)
        };
        assert_eq!(count(0.0), (3, Some(Rect { left: 1, top: 0, right: 3, bottom: 2 })));
        assert_eq!(count(0.2), (2, Some(Rect { left: 1, top: 1, right: 3, bottom: 2 })));
        assert_eq!(count(1.0), (0, None));
        assert_eq!(old.difference(&old, 0.0).count, 0);
    }

    #[test]
    fn a_transparent_pixel_has_the_color_of_what_is_behind_it() {
        let difference = grid(1, &[[0, 0, 0, 0]]).difference(&grid(1, &[WHITE]), 0.0);
        assert_eq!(difference.count, 0);
    }

    #[test]
    fn a_part_ends_at_the_edge_of_the_picture() {
        let all = grid(2, &[WHITE, BLACK, GREY, WHITE]);
        let part = all.cut(&Rect::new(1, 0, 10, 1));
        assert_eq!((part.size, part.pixels.as_slice()), (Size { width: 1, height: 1 }, &BLACK[..]));
        assert_eq!(all.cut(&Rect::new(5, 5, 1, 1)).pixels, Vec::<u8>::new());
    }

    #[test]
    fn differences_are_red_and_the_rest_is_pale() {
        let (old, new) = (grid(2, &[BLACK, WHITE]), grid(2, &[BLACK, BLACK]));
        let marked = new.marked(&old.difference(&new, 0.2));
        assert_eq!(marked.pixels, [[204, 204, 204, 255], RED].concat());
    }
}
