//! The jobs of a run: the trails to run, the rules for them, and how each ended.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use trailblaze_core::callers::heal::HealMode;
use trailblaze_core::engine::registry::Registry;
use trailblaze_core::record::effects::StepDid;
use trailblaze_core::record::fold::RecordedStep;
use trailblaze_core::record::healing::StepSeen;
use trailblaze_core::trail::{Repair, Step, Trail, TrailDevice, TrailDevices};
use trailblaze_protocol::event::{Place, Verdict};
use trailblaze_protocol::heal::HealSuggestion;
use trailblaze_protocol::ids::DeviceId;

use crate::run::record::effects_file::EffectsFile;

/// A trail to run, with the arguments passed to it.
pub struct Job {
    pub trail: Trail,
    pub args: Map<String, Value>,
    /// The contents of the trail's effects file.
    pub kept: EffectsFile,
}

/// The file with cookies and local storage that a trail names.
pub fn storage_state(root: &Path, trail: &Trail) -> Option<PathBuf> {
    let named = trail.config.storage_state.as_ref()?;
    let path = root.join(&trail.source.path).with_file_name(&named.value);
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    Some(plain)
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

/// How calls are repaired whose element was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Healing {
    /// `None` if they are not.
    pub mode: Option<HealMode>,
    /// Whether a model is asked, if there is one.
    pub may_ask: bool,
}

/// One trail on one kind of device, after all its attempts.
pub struct Done {
    pub job: usize,
    /// The last device that ran it, or several in one name.
    pub device: DeviceId,
    pub verdict: Verdict,
    pub message: String,
    /// The message without the step, by which equal failures are grouped.
    pub failure: String,
    /// The place of the failed call in the trail.
    pub place: Option<Place>,
    /// What went wrong on the device by itself shortly before it failed.
    pub just_before: Vec<String>,
    /// How many attempts it took.
    pub tries: u32,
    /// Which repetition it is, if the run repeats each trail.
    pub repeat: Option<u32>,
    pub millis: u64,
    pub recording: Vec<RecordedStep>,
    pub effects: Vec<StepDid>,
    /// What healing needs, if the run records.
    pub seen: Vec<StepSeen>,
    /// The calls that were healed. If it passed, it did so with the repaired trail.
    pub repairs: Vec<Repair>,
    /// The calls that were healed before a later step failed.
    pub unconfirmed: Vec<Repair>,
    /// What could replace the call that did not find its element.
    pub suggestions: Vec<HealSuggestion>,
    /// The custom tools that were called.
    pub custom_tools: BTreeSet<String>,
    /// The devices that it ran on: one, or one for each role.
    pub on: Vec<DoneOn>,
    /// It failed with a fatal error, after which a trail is never retried.
    pub is_fatal: bool,
    pub is_device_lost: bool,
    /// Whether the trail started at all: it does not if its servers are not running.
    pub is_begun: bool,
    /// Whether its device or tool servers did not start.
    pub is_unopened: bool,
}

/// A device that a trail ran on, and all tools of its session.
pub struct DoneOn {
    pub device: TrailDevice,
    pub registry: Arc<Registry>,
}

impl Done {
    /// The device that carried out a step.
    pub fn on(&self, step: &Step) -> Option<&DoneOn> {
        self.on.iter().find(|on| on.device.carries_out(step))
    }

    pub fn devices(&self) -> TrailDevices {
        TrailDevices(self.on.iter().map(|on| on.device.clone()).collect())
    }

    /// Passed, but not on the first attempt.
    pub fn is_flaky(&self) -> bool {
        self.verdict == Verdict::Passed && self.tries > 1 && self.repairs.is_empty()
    }

    /// Says more about why it failed.
    pub fn explain(&mut self, why: &str) {
        self.message = why.to_string();
        self.failure = why.to_string();
    }

    /// Passed after calls were healed.
    pub fn is_healed(&self) -> bool {
        self.verdict == Verdict::Passed && !self.repairs.is_empty()
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
