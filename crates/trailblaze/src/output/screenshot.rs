//! Saves a screenshot to a file chosen by the user.

use std::path::Path;

use trailblaze_core::screen::{Picture, Screen};
use trailblaze_protocol::geometry::{Rect, Size};

use crate::files::write_atomically;
use crate::output::marks;
use crate::output::run_folder::{cover, encode, pack, scaled, unpacked};

/// Writes a screenshot, as WebP if the file ends in .webp, otherwise as PNG. `masks` are the parts of the screen that must
/// not be seen; with marks, each touchable element gets a box with its ref.
pub fn write(path: &Path, screen: &Screen, masks: &[Rect], has_marks: bool) -> std::io::Result<()> {
    let picture = screen.picture.as_ref().ok_or_else(no_picture)?;
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("webp")) {
        return write_atomically(path, png(screen, masks, has_marks)?);
    }
    let (pixels, size) = drawn(screen, picture, masks, has_marks)?;
    let mut out = Vec::new();
    let encoder = image_webp::WebPEncoder::new(&mut out);
    encoder.encode(&pixels, size.width, size.height, image_webp::ColorType::Rgba8).map_err(std::io::Error::other)?;
    write_atomically(path, out)
}

/// A screenshot as a PNG.
pub fn png(screen: &Screen, masks: &[Rect], has_marks: bool) -> std::io::Result<Vec<u8>> {
    let picture = screen.picture.as_ref().ok_or_else(no_picture)?;
    if !has_marks {
        return encode(picture, &scaled(masks, screen.size, picture.size));
    }
    let (pixels, size) = drawn(screen, picture, masks, has_marks)?;
    pack(&pixels, size)
}

fn drawn(screen: &Screen, picture: &Picture, masks: &[Rect], has_marks: bool) -> std::io::Result<(Vec<u8>, Size)> {
    let (mut pixels, size) = unpacked(picture)?;
    cover(&mut pixels, size, &scaled(masks, screen.size, picture.size));
    if has_marks {
        marks::draw(&mut pixels, size, screen);
    }
    Ok((pixels, size))
}

fn no_picture() -> std::io::Error {
    std::io::Error::other("the device cannot take screenshots")
}
