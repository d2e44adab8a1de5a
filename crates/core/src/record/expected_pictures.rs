//! The port to the pictures that screens are expected to look like. They are files beside the trails.

use async_trait::async_trait;
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::outcome::Attachment;

use crate::screen::Picture;

/// Where expected pictures are kept. Implementations compare and encode pictures off the threads that serve sessions. What they keep
/// has been masked.
#[async_trait]
pub trait ExpectedPictures: Send + Sync {
    /// Whether pictures that are missing or differ are written.
    fn are_renewed(&self) -> bool;

    /// Compares what is on a screen with the expected picture. An error says why there is nothing to compare with.
    async fn compare(&self, taken: &TakenPicture) -> Result<PictureComparison, String>;

    /// Writes the expected picture, completely or not at all. Returns its file, relative to the project.
    async fn renew(&self, taken: &TakenPicture) -> Result<String, String>;

    /// What was expected, what was seen, and where they differ, as far as there are such pictures.
    async fn evidence(&self, taken: &TakenPicture) -> Vec<Attachment>;
}

/// A picture of a screen, or of a part of it.
#[derive(Debug, Clone)]
pub struct TakenPicture {
    /// The file of the trail, relative to the project.
    pub trail: String,
    /// Its name among the pictures of the trail.
    pub name: String,
    pub platform: Platform,
    pub picture: Picture,
    pub screen: Size,
    /// The part to compare, in pixels of the screen; `None` for all of it.
    pub part: Option<Rect>,
    /// What is not compared, in pixels of the screen.
    pub masks: Vec<Rect>,
    /// How much the color of a pixel may differ, from 0 to 1.
    pub tolerance: f64,
}

/// How a picture compares to the expected one.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureComparison {
    /// The expected picture, relative to the project.
    pub file: String,
    pub result: PictureResult,
    /// Tells pictures apart after masking: if it is the same twice, the screen has come to rest.
    pub fingerprint: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum PictureResult {
    /// There is no such file. There may be pictures of the same name for other screens.
    Missing { others: Vec<String> },
    /// They have different sizes.
    Resized { expected: Size, actual: Size },
    /// How many pixels differ by more than the tolerance, and where.
    Compared { differing: u64, total: u64, area: Option<Rect> },
}

impl PictureResult {
    /// The share of pixels that differ, from 0 to 1; infinite if there is nothing to compare.
    pub fn share(&self) -> f64 {
        match self {
            PictureResult::Missing { .. } | PictureResult::Resized { .. } => f64::INFINITY,
            PictureResult::Compared { total: 0, .. } => 0.0,
            PictureResult::Compared { differing, total, .. } => *differing as f64 / *total as f64,
        }
    }
}
