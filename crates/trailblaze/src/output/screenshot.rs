//! A picture of the screen in a file of the user's choice.

use std::path::Path;

use trailblaze_core::screen::Screen;
use trailblaze_protocol::geometry::Rect;

use crate::files::write_atomically;
use crate::output::marks;
use crate::output::run_folder::{cover, encode, pack, scaled, unpacked};

/// Writes the picture of a screen, as PNG, or as WebP where the file ends in .webp. `masks` are the parts of the screen that
/// must not be seen; with marks, each element that answers touches gets a box with its ref.
pub fn write(path: &Path, screen: &Screen, masks: &[Rect], has_marks: bool) -> std::io::Result<()> {
    let Some(picture) = &screen.picture else { return Err(std::io::Error::other("the device has no pictures")) };
    let masks = scaled(masks, screen.size, picture.size);
    let is_webp = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("webp"));
    if !is_webp && !has_marks {
        return write_atomically(path, encode(picture, &masks)?);
    }
    let (mut pixels, size) = unpacked(picture)?;
    cover(&mut pixels, size, &masks);
    if has_marks {
        marks::draw(&mut pixels, size, screen);
    }
    if !is_webp {
        return write_atomically(path, pack(&pixels, size)?);
    }
    let mut out = Vec::new();
    let encoder = image_webp::WebPEncoder::new(&mut out);
    encoder.encode(&pixels, size.width, size.height, image_webp::ColorType::Rgba8).map_err(std::io::Error::other)?;
    write_atomically(path, out)
}
