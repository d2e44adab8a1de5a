//! Saves a screenshot to a file chosen by the user.

use std::path::Path;

use trailblaze_core::screen::Screen;
use trailblaze_protocol::geometry::Rect;

use crate::files::write_atomically;
use crate::output::marks;
use crate::output::run_folder::{cover, encode, pack, scaled, unpacked};

/// Writes a screenshot, as WebP if the file ends in .webp, otherwise as PNG. `masks` are the parts of the screen that must
/// not be seen; with marks, each touchable element gets a box with its ref.
pub fn write(path: &Path, screen: &Screen, masks: &[Rect], has_marks: bool) -> std::io::Result<()> {
    let Some(picture) = &screen.picture else {
        return Err(std::io::Error::other("the device cannot take screenshots"));
    };
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
