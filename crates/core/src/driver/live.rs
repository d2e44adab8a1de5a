//! What a device shows while someone watches it.

use std::sync::Arc;

use trailblaze_protocol::geometry::Size;

/// A picture of a screen at some moment.
#[derive(Clone, PartialEq)]
pub struct ScreenFrame {
    /// Counts the pictures of a device.
    pub number: u64,
    /// The size of the screen, in the pixels of the bounds of its elements. The picture itself may be larger or smaller.
    pub size: Size,
    pub jpeg: Arc<[u8]>,
}

impl std::fmt::Debug for ScreenFrame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ScreenFrame { number, size, jpeg } = self;
        write!(f, "Frame {number} of {} x {}, {} bytes", size.width, size.height, jpeg.len())
    }
}
