//! Pictures of the screen, as WebDriverAgent returns them: PNG in base64, in the pixels of the screen.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use trailblaze_core::driver::ObserveOptions;
use trailblaze_core::screen::{Picture, Pixels};
use trailblaze_protocol::geometry::{Rect, Size};

use crate::answer::{WdaAnswer, WebDriverError};
use crate::iphone::{Iphone, SCALE};

pub async fn screenshot(iphone: &Iphone) -> WdaAnswer {
    let (pixels, size) = whole(iphone).await?;
    Ok(json!(STANDARD.encode(png(&pixels, size)?)))
}

/// A part of the screen, which is in points.
pub async fn part(iphone: &Iphone, frame: Rect) -> WdaAnswer {
    let (pixels, size) = whole(iphone).await?;
    let inside = |points: i32, end: u32| (f64::from(points.max(0)) * SCALE).round().min(f64::from(end)) as usize;
    let (left, right) = (inside(frame.left, size.width), inside(frame.right, size.width));
    let (top, bottom) = (inside(frame.top, size.height), inside(frame.bottom, size.height));
    if left >= right || top >= bottom {
        return Err(WebDriverError::unable_to_capture());
    }
    let row = |y: usize| &pixels[(y * size.width as usize + left) * 4..(y * size.width as usize + right) * 4];
    let cut: Vec<u8> = (top..bottom).flat_map(|y| row(y).iter().copied()).collect();
    let size = Size { width: (right - left) as u32, height: (bottom - top) as u32 };
    Ok(json!(STANDARD.encode(png(&cut, size)?)))
}

/// The pixels of the screen, as it is turned.
async fn whole(iphone: &Iphone) -> Result<(Vec<u8>, Size), WebDriverError> {
    let screen = iphone.screen(ObserveOptions::PICTURE).await;
    let picture = screen.picture.ok_or_else(|| WebDriverError::unknown("there is no picture"))?;
    let size = iphone.size();
    let pixels = in_full(&picture, size).ok_or_else(|| WebDriverError::unknown("the picture has no pixels"))?;
    Ok(if iphone.state().is_landscape { turned(&pixels, size) } else { (pixels, size) })
}

/// The picture in the size of the screen; the painter of simulated devices draws it smaller.
fn in_full(picture: &Picture, size: Size) -> Option<Vec<u8>> {
    let Pixels::Rgba(pixels) = &picture.pixels else { return None };
    let (width, height) = (size.width as usize, size.height as usize);
    let (own_width, own_height) = (picture.size.width as usize, picture.size.height as usize);
    let mut full = Vec::with_capacity(width * height * 4);
    for y in 0..height {
        let row = pixels.get(y * own_height / height * own_width * 4..)?;
        for x in 0..width {
            let at = x * own_width / width * 4;
            full.extend_from_slice(row.get(at..at + 4)?);
        }
    }
    Some(full)
}

/// The picture of a screen that is turned to the left.
fn turned(pixels: &[u8], size: Size) -> (Vec<u8>, Size) {
    let (width, height) = (size.width as usize, size.height as usize);
    let mut turned = Vec::with_capacity(pixels.len());
    for y in 0..width {
        for x in 0..height {
            let at = (x * width + (width - 1 - y)) * 4;
            turned.extend_from_slice(&pixels[at..at + 4]);
        }
    }
    (turned, Size { width: size.height, height: size.width })
}

fn png(pixels: &[u8], size: Size) -> Result<Vec<u8>, WebDriverError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.width, size.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fastest);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
    written.map_err(|error| WebDriverError::unknown(error.to_string()))?;
    Ok(bytes)
}
