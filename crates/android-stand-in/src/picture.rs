//! Pictures of the screen, as `screencap` writes them.

use trailblaze_core::screen::{Picture, Pixels};
use trailblaze_protocol::geometry::Size;

/// A movie without frames: nothing on this machine encodes H.264. The boxes are `ftyp` and `mdat`, as at the start of a real file.
pub const EMPTY_MOVIE: [u8; 32] = [
    0, 0, 0, 24, b'f', b't', b'y', b'p', b'm', b'p', b'4', b'2', 0, 0, 0, 0, b'i', b's', b'o', b'm', b'm', b'p', b'4',
    b'2', 0, 0, 0, 8, b'm', b'd', b'a', b't',
];

/// The picture in the size of the screen; the painter of simulated devices draws it smaller.
pub fn in_full(picture: &Picture, size: Size) -> Vec<u8> {
    let Pixels::Rgba(pixels) = &picture.pixels else { return black(size) };
    let (from, to) = (picture.size, size);
    let columns: Vec<usize> = (0..to.width as usize).map(|x| x * from.width as usize / to.width as usize * 4).collect();
    let mut full: Vec<u8> = Vec::with_capacity(to.width as usize * to.height as usize * 4);
    let mut last = None;
    for y in 0..to.height as usize {
        let row = y * from.height as usize / to.height as usize;
        if last == Some(row) {
            // The same row once more.
            full.extend_from_within(full.len() - to.width as usize * 4..);
            continue;
        }
        last = Some(row);
        let row = &pixels[row * from.width as usize * 4..];
        for column in &columns {
            full.extend_from_slice(&row[*column..*column + 4]);
        }
    }
    full
}

/// What a screen shows that is off.
pub fn black(size: Size) -> Vec<u8> {
    [0, 0, 0, 255].repeat(size.width as usize * size.height as usize)
}

pub fn png(pixels: &[u8], size: Size) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size.width, size.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fastest);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
    written.expect("the pixels are as many as the size says");
    bytes
}

/// What `screencap` writes without `-p`: width, height, format RGBA_8888, colour space sRGB, pixels.
pub fn raw(pixels: &[u8], size: Size) -> Vec<u8> {
    let head = [size.width, size.height, 1, 1].map(u32::to_le_bytes).concat();
    [head.as_slice(), pixels].concat()
}
