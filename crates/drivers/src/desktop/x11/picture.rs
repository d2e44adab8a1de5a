//! Pictures of the screen.

use std::sync::Arc;

use trailblaze_core::screen::{Picture, Pixels};
use trailblaze_protocol::geometry::Size;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, ImageFormat, ImageOrder};

use super::connection::{XConnection, XServerError};

impl XConnection {
    pub fn picture(&self) -> Result<Picture, XServerError> {
        let (width, height) = (self.width, self.height);
        let reply = self.x.get_image(ImageFormat::Z_PIXMAP, self.root, 0, 0, width, height, !0)?.reply()?;
        let n_pixels = usize::from(width) * usize::from(height);
        if !matches!(reply.depth, 24 | 32) || reply.data.len() != n_pixels * 4 {
            let depth = reply.depth;
            return Err(XServerError::Wrong(format!("the screen has {depth} bits for a pixel; only 24 can be read")));
        }
        let is_big = self.x.setup().image_byte_order == ImageOrder::MSB_FIRST;
        let mut pixels = reply.data;
        for pixel in pixels.chunks_exact_mut(4) {
            if is_big {
                pixel.rotate_left(1);
            } else {
                pixel.swap(0, 2);
            }
            pixel[3] = 255;
        }
        let size = Size { width: width.into(), height: height.into() };
        Ok(Picture { size, pixels: Pixels::Rgba(Arc::from(pixels)) })
    }
}
