//! Layout: a scene of placed elements, computed from an app's file and its state.

mod measure;
mod metrics;
mod place;
mod scene;
mod screen;

pub use metrics::Metrics;
pub use scene::{Placed, PlacedKind};
pub use screen::{View, lay_out};
