//! The repairs of a run as changes to its trails, and to the effects files next to them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use trailblaze_core::trail::{Repair, RepairError, Trail, TrailDevice, TrailDevices, fingerprint, is_repaired, repair};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::heal::ElementIdentity;
use trailblaze_protocol::ids::SessionId;

use super::RecordError;
use super::effects_file::{self, HealedCall};
use crate::files::lock::ProjectLock;
use crate::files::write_in_project;
use crate::output::report::heals::{Heal, HealResult};
use crate::output::report::model::{AttemptRecord, RunRecord, Standing};
use crate::project::source::read_source;

/// The repairs of one trail.
#[derive(Debug)]
pub struct Patch {
    /// The path of the trail in the project.
    pub path: String,
    pub before: Arc<Source>,
    pub after: String,
    pub repairs: Vec<Repair>,
    pub proof: HealProof,
    /// What changes in the effects file, and for which devices.
    healed: Vec<(TrailDevices, Vec<HealedCall>)>,
}

/// What speaks for the repairs of a trail, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HealProof {
    /// They are suggestions, which were not tried.
    Suggested,
    /// Their steps ended as they were recorded, but a later step failed.
    Tried,
    /// The repaired trail passed.
    Confirmed,
}

/// What a run repaired.
#[derive(Debug, Default)]
pub struct Patches {
    /// What is to be written.
    pub patches: Vec<Patch>,
    /// The trails that have all their repairs already.
    pub written: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum HealError {
    #[error("cannot read `{path}`")]
    Unreadable { path: String },
    #[error(transparent)]
    Repair(#[from] RepairError),
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl HealError {
    pub fn exit(&self) -> Exit {
        match self {
            HealError::Unreadable { .. } | HealError::Repair(_) => Exit::Invalid,
            HealError::Record(error) => error.exit(),
        }
    }
}

/// Which suggestions are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// Those that healing would use.
    Clear,
    /// The first one for each call, even if it may mean something else.
    First,
}

/// The changes to the trails of a project that follow from a run: calls that were healed, and suggestions. Trails whose steps
/// have changed since the run are refused.
pub fn patches(root: &Path, run: &RunRecord, taken: Taken) -> Result<Patches, HealError> {
    let mut by_trail: BTreeMap<&str, Vec<(&AttemptRecord, bool)>> = BTreeMap::new();
    for tries in run.tries() {
        let Some((last, earlier)) = tries.split_last() else { continue };
        let is_confirmed = last.standing == Standing::Healed;
        let healing = if is_confirmed { earlier.last() } else { Some(last) };
        // A repaired trail that failed proves that its repairs are wrong.
        if let Some(attempt) = healing.filter(|attempt| !attempt.is_repaired && !attempt.heals.is_empty()) {
            by_trail.entry(&attempt.trail.path).or_default().push((attempt, is_confirmed));
        }
    }
    let mut found = Patches::default();
    for (path, attempts) in by_trail {
        match patch(root, run, (path, &attempts), taken)? {
            Some(patch) if patch.after == patch.before.text => found.written.push(patch.path),
            patch => found.patches.extend(patch),
        }
    }
    Ok(found)
}

fn patch(
    root: &Path,
    run: &RunRecord,
    (path, attempts): (&str, &[(&AttemptRecord, bool)]),
    taken: Taken,
) -> Result<Option<Patch>, HealError> {
    let unreadable = || HealError::Unreadable { path: path.to_string() };
    let before = read_source(root, &root.join(path), &mut Vec::new()).ok_or_else(unreadable)?;
    let original = Trail::read(&before).0.ok_or_else(unreadable)?;
    let mut trail = original.clone();
    let mut patch = Patch {
        path: path.to_string(),
        after: before.text.clone(),
        before: Arc::clone(&before),
        repairs: Vec::new(),
        proof: HealProof::Confirmed,
        healed: Vec::new(),
    };
    for (attempt, is_confirmed) in attempts {
        let proof = |heal: &Heal| match heal.result() {
            HealResult::Healed if *is_confirmed => Some(HealProof::Confirmed),
            HealResult::Healed => Some(HealProof::Tried),
            HealResult::Suggested => (heal.sought.is_clear || taken == Taken::First).then_some(HealProof::Suggested),
            HealResult::Withdrawn => None,
        };
        let heals: Vec<&Heal> = attempt.heals.iter().filter(|heal| proof(heal).is_some()).collect();
        let least = heals.iter().filter_map(|heal| proof(heal)).min();
        let (repairs, healed): (Vec<Repair>, Vec<HealedCall>) =
            heals.iter().filter_map(|heal| one(attempt, heal)).unzip();
        let Some(devices) = devices(run, attempt).filter(|_| !repairs.is_empty()) else { continue };
        patch.proof = least.map_or(patch.proof, |least| least.min(patch.proof));
        let now = format!("{:016x}", fingerprint(&original, &devices));
        let is_other = heals.iter().any(|heal| !["", now.as_str()].contains(&heal.sought.fingerprint.as_str()));
        if is_other && !repairs.iter().all(|repair| is_repaired(&original, &devices, repair)) {
            return Err(RepairError::OtherSteps { path: path.to_string() }.into());
        }
        let text = repair(&trail, &devices, &repairs)?;
        trail = Trail::read(&Source::new(path, text.as_str())).0.ok_or_else(unreadable)?;
        patch.after = text;
        patch.repairs.extend(repairs);
        patch.healed.push((devices, healed));
    }
    Ok((!patch.repairs.is_empty()).then_some(patch))
}

/// The devices of an attempt; `None` if one of them is not in the record.
fn devices(run: &RunRecord, attempt: &AttemptRecord) -> Option<TrailDevices> {
    let device = |role: Option<&str>, id: &SessionId| {
        let session = run.sessions.iter().find(|session| session.id == *id)?;
        Some(TrailDevice::new(role, &session.device.classifiers))
    };
    if attempt.roles.is_empty() {
        return device(None, &attempt.session).map(TrailDevices::from);
    }
    let devices = attempt.roles.iter().map(|role| device(Some(&role.name), &role.session));
    devices.collect::<Option<_>>().map(TrailDevices)
}

fn one(attempt: &AttemptRecord, heal: &Heal) -> Option<(Repair, HealedCall)> {
    let step = attempt.steps.get(heal.step)?;
    let used = heal.sought.suggestions.first()?;
    let (from, to): (Value, Value) = (heal.sought.written.clone(), used.call.clone());
    let identity: ElementIdentity = (*used.identity).clone();
    let healed = HealedCall { step: step.text.clone(), from: from.clone(), to: to.clone(), identity };
    let (text, element) = (step.text.clone(), used.element.clone());
    Some((Repair { step: step.index, text, index: heal.sought.index, from, to, element }, healed))
}

/// Writes the repairs, as recordings are written: under the lock, into the current text of the file, and renamed into place.
pub fn write(root: &Path, run: &RunRecord, taken: Taken) -> Result<Patches, HealError> {
    let _lock = ProjectLock::take(root).map_err(RecordError::no_lock)?;
    let found = patches(root, run, taken)?;
    for patch in &found.patches {
        let written = write_in_project(root, &root.join(&patch.path), &patch.after);
        written.map_err(|source| RecordError::Write { path: patch.path.clone(), source })?;
        let after = Source::new(patch.path.as_str(), patch.after.as_str());
        let (Some(before), Some(after)) = (Trail::read(&patch.before).0, Trail::read(&after).0) else { continue };
        for (devices, healed) in &patch.healed {
            effects_file::heal(root, (&before, &after), devices, healed)?;
        }
    }
    Ok(found)
}
