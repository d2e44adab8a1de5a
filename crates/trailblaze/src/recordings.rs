//! Puts what passing attempts did into their trails: under a lock, spliced into what the file says now, read back, and
//! renamed into place.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use trailblaze_core::record::RecordedStep;
use trailblaze_core::trail::{SaveError, Slot, StepCalls, StepPlan, Trail, save};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{StepKind, Verdict};
use trailblaze_protocol::exit::Exit;

use crate::project::read_source;
use crate::runner::{Done, Job};

/// In a run folder, the recording of the only trail.
pub const ONE: &str = "recording.trail.yaml";
/// The folder of those of several trails.
pub const SEVERAL: &str = "recordings";
pub const ENDING: &str = ".trail.yaml";

/// A trail with the recordings of a run in it.
#[derive(Debug)]
pub struct Recorded {
    pub text: String,
    /// The slots that differ from the file.
    pub classifiers: Vec<String>,
    /// Steps that cannot be replayed, and why.
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{0}")]
    Save(#[from] SaveError),
    #[error("`{path}` changed while it ran")]
    Changed { path: String },
    /// What stands beside the trail cannot be kept.
    #[error("`{path}` was left as it is: {problem}")]
    Beside { path: String, problem: String },
    #[error("cannot write `{path}`: {source}")]
    Write { path: String, source: std::io::Error },
}

impl RecordError {
    pub fn exit(&self) -> Exit {
        match self {
            RecordError::Save(_) | RecordError::Changed { .. } | RecordError::Beside { .. } => Exit::Invalid,
            RecordError::Write { .. } => Exit::Environment,
        }
    }
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
pub fn write_into_trail(root: &Path, job: &Job, done: &[&Done], _lock: &Lock) -> Result<Recorded, RecordError> {
    let path = root.join(&job.trail.source.path);
    let changed = || RecordError::Changed { path: job.trail.source.path.clone() };
    let source = read_source(root, &path, &mut Vec::new()).ok_or_else(changed)?;
    let now = Trail::read(&source).0.ok_or_else(changed)?;
    if !says_the_same(&now, &job.trail) {
        return Err(changed());
    }
    let recorded = record(&now, done)?;
    if !recorded.classifiers.is_empty() {
        let written = write_atomically(&path, &recorded.text);
        written.map_err(|error| RecordError::Write { path: source.path.clone(), source: error })?;
    }
    Ok(recorded)
}

/// Whether two readings of a trail have the same steps; their recordings may differ.
fn says_the_same(a: &Trail, b: &Trail) -> bool {
    let texts = |trail: &Trail| -> Vec<(StepKind, String)> {
        let steps = trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps);
        steps.map(|step| (step.kind, step.text.value.clone())).collect()
    };
    texts(a) == texts(b)
}

/// Held while a trail, or what stands beside it, is changed. It goes with the process, however that ends.
pub struct Lock(#[allow(dead_code, reason = "it is held, not used")] File);

pub fn lock(root: &Path) -> Result<Lock, RecordError> {
    let path = root.join(".trailblaze").join("save.lock");
    let failed = |source| RecordError::Write { path: ".trailblaze/save.lock".to_string(), source };
    std::fs::create_dir_all(path.parent().unwrap_or(root)).map_err(failed)?;
    let file = File::create(&path).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(Lock(file))
}

/// The text of a trail with what was done in it.
pub fn record(trail: &Trail, done: &[&Done]) -> Result<Recorded, SaveError> {
    let mut source = Arc::clone(&trail.source);
    let mut recorded = Recorded { text: String::new(), classifiers: Vec::new(), warnings: Vec::new() };
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
            // The grammar gives a trailhead one call; the other steps are worth keeping all the same.
            if step.kind == StepKind::Trailhead && step.calls.len() > 1 {
                let n_calls = step.calls.len();
                let warning =
                    format!("the trailhead made {n_calls} calls, and a recording of it holds one; it stays as it is");
                if !recorded.warnings.contains(&warning) {
                    recorded.warnings.push(warning);
                }
                continue;
            }
            if let Some((classifier, calls)) = changed_slot(trail, step, &done.lineage) {
                by_classifier.entry(classifier).or_default().push(calls);
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
    recorded.text = source.text.clone();
    Ok(recorded)
}

/// Where a step's recording goes, unless it is there already: the slot that the device used, else its platform's.
fn changed_slot(trail: &Trail, step: &RecordedStep, lineage: &[String]) -> Option<(String, StepCalls)> {
    let heads = usize::from(trail.trailhead.is_some());
    let (slot, written) = match step.kind {
        StepKind::Trailhead => (Slot::Trailhead, &trail.trailhead.as_ref()?.0),
        _ => (Slot::Step(step.index - heads), trail.steps.get(step.index - heads)?),
    };
    if !written.is_recordable {
        return None;
    }
    let calls = StepCalls { slot, calls: step.calls.clone() };
    match written.plan(lineage) {
        StepPlan::Recording { classifier, calls: old } => {
            let old: Vec<Value> = old
                .iter()
                .map(|call| serde_json::json!({ &call.tool.value: trailblaze_core::yaml::loose(&call.args) }))
                .collect();
            (!same(&old, &calls.calls)).then_some((classifier, calls))
        }
        _ => Some((lineage.last()?.clone(), calls)),
    }
}

/// Whether two lists of calls say the same, however their scalars are quoted.
fn same(a: &[Value], b: &[Value]) -> bool {
    fn text(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(text).collect(),
            Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (key.clone(), text(value))).collect()),
            Value::String(text) => Value::from(text.as_str()),
            other => Value::from(other.to_string()),
        }
    }
    a.iter().map(text).eq(b.iter().map(text))
}

/// The name, with a number where it is taken: two trails may have one id.
pub fn unlike(taken: &mut HashSet<String>, name: String) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or(name);
    taken.insert(free.clone());
    free
}

/// A file name made of an id or a name.
pub fn slug(id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    id.chars().map(safe).collect::<String>().trim_start_matches('.').to_string()
}

/// Stores a file whole or not at all.
pub fn write_atomically(path: &Path, content: impl AsRef<[u8]>) -> std::io::Result<()> {
    let mut beside = PathBuf::from(path);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    beside.set_file_name(format!(".{name}.{}.part", std::process::id()));
    std::fs::write(&beside, content).and_then(|()| std::fs::rename(&beside, path)).inspect_err(|_| {
        // On a full disk, half of it may be there.
        let _ = std::fs::remove_file(&beside);
    })
}
