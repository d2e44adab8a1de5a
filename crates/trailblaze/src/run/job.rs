//! What a run is made of: the trails to run, the rules for them, and how each ended.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use trailblaze_core::engine::registry::Registry;
use trailblaze_core::record::effects::StepDid;
use trailblaze_core::record::fold::RecordedStep;
use trailblaze_core::trail::Trail;
use trailblaze_protocol::event::{Place, Verdict};
use trailblaze_protocol::ids::DeviceId;

use crate::run::record::effects_file::Kept;

/// A trail to run, with what the command line passes in.
pub struct Job {
    pub trail: Trail,
    pub args: Map<String, Value>,
    /// What stands beside the trail.
    pub kept: Kept,
}

/// What becomes of the calls of custom tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replay {
    /// They run.
    #[default]
    Intent,
    /// Their recorded effects are played instead, and no tool server is started.
    Effects,
    /// They run, and the trail fails if they behave differently from their recording.
    Verify,
}

/// One trail on one kind of device, after all its tries.
pub struct Done {
    pub job: usize,
    /// The last one that ran it.
    pub device: DeviceId,
    pub verdict: Verdict,
    pub message: String,
    /// The message without the step: what it has in common with others.
    pub failure: String,
    /// Where the trail has what failed.
    pub place: Option<Place>,
    /// How many tries it took.
    pub tries: u32,
    pub millis: u64,
    pub recording: Vec<RecordedStep>,
    pub effects: Vec<StepDid>,
    /// The custom tools that were called, and all that the session had.
    pub custom_tools: BTreeSet<String>,
    pub registry: Arc<Registry>,
    /// It failed with a fatal error, after which a trail is never retried.
    pub is_fatal: bool,
    pub is_device_lost: bool,
    /// Whether anything was done at all: a trail whose servers are not there does not begin.
    pub is_begun: bool,
    /// The classifiers of the device, the closest first.
    pub lineage: Vec<String>,
}

impl Done {
    /// Passed, but not at first.
    pub fn is_flaky(&self) -> bool {
        self.verdict == Verdict::Passed && self.tries > 1
    }
}

/// How a run deals with failures and time.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// How often to try a failed trail again.
    pub retries: u32,
    /// Start nothing more after the first failure.
    pub fail_fast: bool,
    /// How long one try may take.
    pub timeout: Option<Duration>,
    /// How often to run each trail.
    pub repeat_each: u32,
}
