//! Messages for people while a run or session is in progress.

use std::path::Path;
use std::time::Duration;

use trailblaze_core::yaml::Problem;
use trailblaze_protocol::event::Event;
use trailblaze_protocol::ids::DeviceId;

use crate::output::run_count::PlannedTrails;

/// The port through which runs and sessions talk to people. The command line prints; others may forward the messages.
/// They are for people only: programs read events and results.
pub trait Console: Send + Sync {
    fn say(&self, text: &str);

    fn warn(&self, text: &str);

    fn error(&self, text: &str);

    /// A warning that may no longer hold when somebody reads it, such as one about a file of tools.
    fn warn_about(&self, _about: &str, text: &str) {
        self.warn(text);
    }

    /// Earlier warnings about it no longer hold: it was fixed, or a new warning follows.
    fn settle(&self, _about: &str) {}

    /// Problems in files, each with its place.
    fn problems(&self, problems: &[Problem]);

    /// A run has begun, and is recorded in this folder.
    fn run_begun(&self, _folder: &Path) {}

    /// The trails that a run is about to start with.
    fn trails_planned(&self, _: PlannedTrails) {}

    /// A trail is done, whose results are final. `took` is how long it took in earlier runs.
    fn trail_done(&self, _is_good: bool, _took: Duration) {}

    /// All trails are done that run.
    fn run_done(&self) {}

    /// Something happened on a device.
    fn event(&self, device: &DeviceId, event: &Event);

    /// What a custom tool logs or prints, after its name.
    fn tool_output(&self, _text: &str) {}

    /// Text that could not be saved and must not be lost.
    fn rescue(&self, text: &str);
}

/// Discards all messages.
pub struct Quiet;

impl Console for Quiet {
    fn say(&self, _: &str) {}

    fn warn(&self, _: &str) {}

    fn error(&self, _: &str) {}

    fn problems(&self, _: &[Problem]) {}

    fn event(&self, _: &DeviceId, _: &Event) {}

    fn rescue(&self, _: &str) {}
}
