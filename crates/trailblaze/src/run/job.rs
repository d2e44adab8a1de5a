//! The jobs of a run: the trails to run, the rules for them, and how each ended.

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

use crate::run::record::effects_file::EffectsFile;

/// A trail to run, with the arguments passed to it.
pub struct Job {
    pub trail: Trail,
    pub args: Map<String, Value>,
    /// The contents of the trail's effects file.
    pub kept: EffectsFile,
}

/// How calls to custom tools are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replay {
    /// The tools run.
    #[default]
    Intent,
    /// Their recorded effects are played instead, and no tool server is started.
    Effects,
    /// The tools run, and the trail fails if they behave differently from their recording.
    Verify,
}

/// One trail on one kind of device, after all its attempts.
pub struct Done {
    pub job: usize,
    /// The last device that ran it.
    pub device: DeviceId,
    pub verdict: Verdict,
    pub message: String,
    /// The message without the step, by which equal failures are grouped.
    pub failure: String,
    /// The place of the failed call in the trail.
    pub place: Option<Place>,
    /// How many attempts it took.
    pub tries: u32,
    pub millis: u64,
    pub recording: Vec<RecordedStep>,
    pub effects: Vec<StepDid>,
    /// The custom tools that were called, and all tools of the session.
    pub custom_tools: BTreeSet<String>,
    pub registry: Arc<Registry>,
    /// It failed with a fatal error, after which a trail is never retried.
    pub is_fatal: bool,
    pub is_device_lost: bool,
    /// Whether the trail started at all: it does not if its servers are not running.
    pub is_begun: bool,
    /// The classifiers of the device, the closest first.
    pub lineage: Vec<String>,
}

impl Done {
    /// Passed, but not on the first attempt.
    pub fn is_flaky(&self) -> bool {
        self.verdict == Verdict::Passed && self.tries > 1
    }
}

/// How a run handles failures and time limits.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// How many times to retry a failed trail.
    pub retries: u32,
    /// Start no more trails after the first failure.
    pub fail_fast: bool,
    /// The time limit of one attempt.
    pub timeout: Option<Duration>,
    /// How many times to run each trail.
    pub repeat_each: u32,
}
