//! What a device shows and does while someone watches it.

use std::sync::Arc;

use trailblaze_protocol::geometry::Size;

/// A picture of a screen at some moment.
#[derive(Clone, PartialEq)]
pub struct Frame {
    /// Counts the pictures of a device.
    pub number: u64,
    /// The size of the screen, in the pixels of the bounds of its elements. The picture itself may be larger or smaller.
    pub size: Size,
    pub jpeg: Arc<[u8]>,
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Frame { number, size, jpeg } = self;
        write!(f, "Frame {number} of {} x {}, {} bytes", size.width, size.height, jpeg.len())
    }
}

/// A request that a page has made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NetworkRequest {
    /// Grows with each request, and with each change of a request: one that has ended has a new number.
    pub number: u64,
    pub method: String,
    /// At most 2 KB; ends with `…` if it is longer.
    pub url: String,
    /// What it is for: `document`, `fetch`, `image` …
    pub kind: String,
    /// The status of its answer, once there is one.
    pub status: Option<u16>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// How long it took, once it has ended.
    pub micros: Option<u64>,
}
