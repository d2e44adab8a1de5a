//! Writes the recordings of passing attempts into their trails: under a lock, spliced into the current text of the file,
//! read back, and renamed into place. Calls that equal a step's own `tools:` are not recorded next to them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use trailblaze_core::callers::shadow::{is_copy, typed_calls};
use trailblaze_core::engine::registry::Registry;
use trailblaze_core::record::fold::RecordedStep;
use trailblaze_core::trail::{
    Change, SaveError, Slot, Step, StepCalls, StepPlan, ToolCall, Trail, revise, same_calls, save,
};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{StepKind, Verdict};

use crate::files::lock::ProjectLock;
use crate::files::write_in_project;
use crate::project::source::read_source;
use crate::run::job::{Done, DoneOn, Job};
use crate::run::record::RecordError;

/// A trail with the recordings of a run.
#[derive(Debug)]
pub struct WrittenRecording {
    pub text: String,
    /// The classifiers whose recordings differ from the file.
    pub classifiers: Vec<String>,
    /// Those whose recordings were removed because they equal `tools:`.
    pub removed: Vec<String>,
    /// Steps that cannot be replayed, and why.
    pub warnings: Vec<String>,
}

/// The recordings of each job that passed somewhere.
pub fn by_job(done: &[Done]) -> BTreeMap<usize, Vec<&Done>> {
    let mut by_job: BTreeMap<usize, Vec<&Done>> = BTreeMap::new();
    for done in done.iter().filter(|done| done.verdict == Verdict::Passed) {
        by_job.entry(done.job).or_default().push(done);
    }
    by_job
}

/// Writes the recordings into the trail's own file, under the lock. Two runs that save into one file both succeed.
pub fn write_into_trail(
    root: &Path,
    job: &Job,
    done: &[&Done],
    _lock: &ProjectLock,
) -> Result<WrittenRecording, RecordError> {
    let path = root.join(&job.trail.source.path);
    let changed = || RecordError::Changed { path: job.trail.source.path.clone() };
    let source = read_source(root, &path, &mut Vec::new()).ok_or_else(changed)?;
    let now = Trail::read(&source).0.ok_or_else(changed)?;
    if !says_the_same(&now, &job.trail) {
        return Err(changed());
    }
    let recorded = record(&now, done)?;
    if recorded.text != source.text {
        let written = write_in_project(root, &path, &recorded.text);
        written.map_err(|error| RecordError::Write { path: source.path.clone(), source: error })?;
    }
    Ok(recorded)
}

/// Whether two readings of a trail have the same steps with the same `tools:`; their recordings may differ.
fn says_the_same(a: &Trail, b: &Trail) -> bool {
    fn authored(trail: &Trail) -> impl Iterator<Item = (StepKind, &str, Option<&[ToolCall]>)> {
        trail.all_steps().map(|step| (step.kind, step.text.value.as_str(), step.tools.as_deref()))
    }
    authored(a).eq(authored(b))
}

/// The text of a trail with the recordings in it.
pub fn record(trail: &Trail, done: &[&Done]) -> Result<WrittenRecording, SaveError> {
    let mut source = Arc::clone(&trail.source);
    let mut recorded =
        WrittenRecording { text: String::new(), classifiers: Vec::new(), removed: Vec::new(), warnings: Vec::new() };
    // The recordings that changed, and those that equal `tools:`.
    let mut put: Vec<(Slot, String)> = Vec::new();
    let mut copies: Vec<(Slot, String)> = Vec::new();
    for done in done {
        let mut by_classifier: BTreeMap<String, Vec<StepCalls>> = BTreeMap::new();
        for step in &done.recording {
            if !step.needs_model.is_empty() {
                let tools = step.needs_model.join(", ");
                recorded
                    .warnings
                    .push(format!("step \"{}\" depends on a model: {tools} cannot be replayed", step.text));
                continue;
            }
            if step.is_by_model && step.calls.is_empty() {
                let text = format!(
                    "step \"{}\" was completed without a call that could be replayed; it is not recorded",
                    step.text
                );
                recorded.warnings.push(text);
                continue;
            }
            let Some((slot, written)) = written(trail, step).filter(|(_, written)| written.is_recordable) else {
                continue;
            };
            let Some(DoneOn { device, registry }) = done.on(written) else { continue };
            match due(written, step, &device.lineage, registry) {
                Due::Nothing => {}
                Due::Remove(classifiers) => {
                    copies.extend(classifiers.into_iter().map(|classifier| (slot.clone(), classifier)));
                }
                // A trailhead can hold only one call; the other steps are kept anyway.
                Due::Put(_) if step.kind == StepKind::Trailhead && step.calls.len() > 1 => {
                    let n_calls = step.calls.len();
                    let warning = format!(
                        "the trailhead made {n_calls} calls, but its recording can hold only one; it is left unchanged"
                    );
                    if !recorded.warnings.contains(&warning) {
                        recorded.warnings.push(warning);
                    }
                }
                Due::Put(classifier) => {
                    recorded.warnings.extend(step.why_not_replaced());
                    put.push((slot.clone(), classifier.clone()));
                    let calls = StepCalls { slot, calls: step.calls.clone() };
                    by_classifier.entry(classifier).or_default().push(calls);
                }
            }
        }
        for (classifier, calls) in by_classifier {
            let text = save(&source, &classifier, &calls)?;
            source = Source::new(source.path.as_str(), text);
            if !recorded.classifiers.contains(&classifier) {
                recorded.classifiers.push(classifier);
            }
        }
    }
    // If devices that share a recording disagree, the recording of one of them is kept.
    copies.retain(|copy| !put.contains(copy));
    recorded.text = without(&source, &copies, &mut recorded);
    Ok(recorded)
}

/// The text without recordings that equal `tools:`. A recording that cannot be removed safely stays.
fn without(source: &Arc<Source>, copies: &[(Slot, String)], recorded: &mut WrittenRecording) -> String {
    let mut source = Arc::clone(source);
    for (index, (slot, _)) in copies.iter().enumerate() {
        if copies[..index].iter().any(|(earlier, _)| earlier == slot) {
            continue;
        }
        let of_step = copies.iter().filter(|(of, _)| of == slot).map(|(_, classifier)| classifier.clone());
        let classifiers: Vec<String> = of_step.collect::<BTreeSet<_>>().into_iter().collect();
        match revise(&source, &[Change::RemoveRecordings { step: slot.clone(), classifiers: classifiers.clone() }]) {
            Ok(text) => {
                source = Source::new(source.path.as_str(), text);
                recorded.removed.extend(classifiers);
            }
            Err(error) => {
                let names = classifiers.join(", ");
                let step = match slot {
                    Slot::Trailhead => "the trailhead".to_string(),
                    Slot::Step(index) => format!("step {}", index + 1),
                };
                let warning = format!(
                    "the recording of {step} for {names} equals its `tools:`; remove it by hand, because {error}"
                );
                recorded.warnings.push(warning);
            }
        }
    }
    recorded.removed.sort();
    recorded.removed.dedup();
    source.text.clone()
}

/// The step of the file that was executed.
fn written<'t>(trail: &'t Trail, step: &RecordedStep) -> Option<(Slot, &'t Step)> {
    let index = step.index.checked_sub(usize::from(trail.trailhead.is_some()));
    match step.kind {
        StepKind::Trailhead => Some((Slot::Trailhead, &trail.trailhead.as_ref()?.0)),
        _ => Some((Slot::Step(index?), trail.steps.get(index?)?)),
    }
}

/// The change to a step's recordings.
enum Due {
    Nothing,
    /// Replace the recording of this classifier: the one that the device used, otherwise its platform's.
    Put(String),
    /// The recordings of these classifiers equal `tools:`.
    Remove(Vec<String>),
}

fn due(written: &Step, step: &RecordedStep, lineage: &[String], registry: &Registry) -> Due {
    match written.plan(lineage) {
        // The calls equal `tools:`. A copy would become stale.
        StepPlan::Authored(_) if !step.has_stand_ins => Due::Nothing,
        StepPlan::Authored(_) | StepPlan::Model => lineage.last().map_or(Due::Nothing, |name| Due::Put(name.clone())),
        StepPlan::Recording { classifier, calls } => {
            let own: Vec<&String> = lineage.iter().filter(|name| written.recording.get(name).is_some()).collect();
            let is_same = |name: &&String| {
                let calls = written.recording.get(name).map(|calls| typed_calls(calls, registry));
                calls.is_some_and(|calls| same_calls(&calls, &step.calls))
            };
            // A broader recording that differs would take the place of the removed one.
            let are_copies = written.tools.as_ref().is_some_and(|tools| is_copy(&step.calls, tools, registry))
                && own.iter().skip(1).all(is_same);
            if are_copies {
                return Due::Remove(own.into_iter().cloned().collect());
            }
            if same_calls(&typed_calls(calls, registry), &step.calls) { Due::Nothing } else { Due::Put(classifier) }
        }
    }
}
