//! Pictures of screens as phones send them.

use std::sync::Arc;

use trailblaze_core::screen::{Picture, Pixels};
use trailblaze_protocol::geometry::Size;

/// How a picture begins.
pub const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
/// The last chunk of a picture.
const PNG_END: &[u8] = b"IEND\xaeB`\x82";

/// A picture, if it is whole.
pub fn read_picture(bytes: Vec<u8>) -> Result<Picture, Vec<u8>> {
    match picture_size(&bytes) {
        Some(size) => Ok(Picture { size, pixels: Pixels::Png(Arc::from(bytes)) }),
        None => Err(bytes),
    }
}

fn picture_size(bytes: &[u8]) -> Option<Size> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let is_whole = bytes.starts_with(PNG) && bytes.ends_with(PNG_END);
    is_whole.then(|| Some(Size { width: number(16)?, height: number(20)? }))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_a_size_only_if_it_is_whole() {
        let whole = [PNG, b"\0\0\0\x0dIHDR\0\0\x04\x38\0\0\x09\x60\x08\x06\0\0\0", PNG_END].concat();
        assert_eq!(picture_size(&whole), Some(Size { width: 1080, height: 2400 }));
        assert_eq!(picture_size(&whole[..whole.len() - 1]), None);
        assert_eq!(picture_size(&[PNG, PNG_END].concat()), None);
        assert_eq!(picture_size(b""), None);
    }
}
