//! Puts what passing attempts did into their trails: under a lock, spliced into what the file says now, read back, and
//! renamed into place. What a step's own `tools:` say is not recorded beside them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trailblaze_core::callers::shadow::{is_copy, typed_calls};
use trailblaze_core::engine::registry::Registry;
use trailblaze_core::record::fold::RecordedStep;
use trailblaze_core::trail::{
    Change, SaveError, Slot, Step, StepCalls, StepPlan, ToolCall, Trail, revise, same_calls, save,
};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{StepKind, Verdict};
use trailblaze_protocol::exit::Exit;

use crate::files::private;
use crate::project::loaded::read_source;
use crate::run::queue::{Done, Job};

/// In a run folder, the recording of the only trail.
pub const ONE: &str = "recording.trail.yaml";
/// The folder of those of several trails.
pub const SEVERAL: &str = "recordings";
pub const ENDING: &str = ".trail.yaml";

/// A trail with the recordings of a run in it.
#[derive(Debug)]
pub struct Recorded {
    pub text: String,
    /// The classifiers whose recordings differ from the file.
    pub classifiers: Vec<String>,
    /// Those of which recordings went because they said the same as `tools:`.
    pub removed: Vec<String>,
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
    if recorded.text != source.text {
        let written = write_atomically(&path, &recorded.text);
        written.map_err(|error| RecordError::Write { path: source.path.clone(), source: error })?;
    }
    Ok(recorded)
}

/// Whether two readings of a trail have the same steps with the same `tools:`; their recordings may differ.
fn says_the_same(a: &Trail, b: &Trail) -> bool {
    fn authored(trail: &Trail) -> impl Iterator<Item = (StepKind, &str, Option<&[ToolCall]>)> {
        let steps = trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps);
        steps.map(|step| (step.kind, step.text.value.as_str(), step.tools.as_deref()))
    }
    authored(a).eq(authored(b))
}

/// Held while a trail, or what stands beside it, is changed. It goes with the process, however that ends.
pub struct Lock(#[allow(dead_code, reason = "it is held, not used")] File);

pub fn lock(root: &Path) -> Result<Lock, RecordError> {
    let path = root.join(".trailblaze").join("save.lock");
    let failed = |source| RecordError::Write { path: ".trailblaze/save.lock".to_string(), source };
    private::create_dir_all(path.parent().unwrap_or(root)).map_err(failed)?;
    let file = private::open(&path).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(Lock(file))
}

/// The text of a trail with what was done in it.
pub fn record(trail: &Trail, done: &[&Done]) -> Result<Recorded, SaveError> {
    let mut source = Arc::clone(&trail.source);
    let mut recorded =
        Recorded { text: String::new(), classifiers: Vec::new(), removed: Vec::new(), warnings: Vec::new() };
    // The recordings that changed, and those that say the same as `tools:`.
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
            let Some((slot, written)) = written(trail, step).filter(|(_, written)| written.is_recordable) else {
                continue;
            };
            match due(written, step, &done.lineage, &done.registry) {
                Due::Nothing => {}
                Due::Remove(classifiers) => {
                    copies.extend(classifiers.into_iter().map(|classifier| (slot.clone(), classifier)));
                }
                // The grammar gives a trailhead one call; the other steps are worth keeping all the same.
                Due::Put(_) if step.kind == StepKind::Trailhead && step.calls.len() > 1 => {
                    let n_calls = step.calls.len();
                    let warning = format!(
                        "the trailhead made {n_calls} calls, and a recording of it holds one; it stays as it is"
                    );
                    if !recorded.warnings.contains(&warning) {
                        recorded.warnings.push(warning);
                    }
                }
                Due::Put(classifier) => {
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
    // Where devices that share a recording disagree, what one of them did is kept.
    copies.retain(|copy| !put.contains(copy));
    recorded.text = without(&source, &copies, &mut recorded);
    Ok(recorded)
}

/// The text without recordings that say the same as `tools:`. One that cannot be taken out safely stays.
fn without(source: &Arc<Source>, copies: &[(Slot, String)], recorded: &mut Recorded) -> String {
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
                    "the recording of {step} for {names} says the same as its `tools:`; remove it by hand, because {error}"
                );
                recorded.warnings.push(warning);
            }
        }
    }
    recorded.removed.sort();
    recorded.removed.dedup();
    source.text.clone()
}

/// The step of the file that was carried out.
fn written<'t>(trail: &'t Trail, step: &RecordedStep) -> Option<(Slot, &'t Step)> {
    let index = step.index.checked_sub(usize::from(trail.trailhead.is_some()));
    match step.kind {
        StepKind::Trailhead => Some((Slot::Trailhead, &trail.trailhead.as_ref()?.0)),
        _ => Some((Slot::Step(index?), trail.steps.get(index?)?)),
    }
}

/// What has to happen to a step's recordings.
enum Due {
    Nothing,
    /// The recording of this classifier becomes what was done: the one that the device used, else its platform's.
    Put(String),
    /// The recordings of these classifiers say the same as `tools:`.
    Remove(Vec<String>),
}

fn due(written: &Step, step: &RecordedStep, lineage: &[String], registry: &Registry) -> Due {
    match written.plan(lineage) {
        // What was called is what `tools:` says. A copy of it would go stale.
        StepPlan::Authored(_) if !step.has_stand_ins => Due::Nothing,
        StepPlan::Authored(_) | StepPlan::Model => lineage.last().map_or(Due::Nothing, |name| Due::Put(name.clone())),
        StepPlan::Recording { classifier, calls } => {
            let own: Vec<&String> = lineage.iter().filter(|name| written.recording.get(name).is_some()).collect();
            let is_same = |name: &&String| {
                let calls = written.recording.get(name).map(|calls| typed_calls(calls, registry));
                calls.is_some_and(|calls| same_calls(&calls, &step.calls))
            };
            // A broader recording that differs would take the place of the one that goes.
            let are_copies = written.tools.as_ref().is_some_and(|tools| is_copy(&step.calls, tools, registry))
                && own.iter().skip(1).all(is_same);
            if are_copies {
                return Due::Remove(own.into_iter().cloned().collect());
            }
            if same_calls(&typed_calls(calls, registry), &step.calls) { Due::Nothing } else { Due::Put(classifier) }
        }
    }
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

/// Stores a file whole or not at all. A link is followed, and a file that exists keeps its permissions.
pub fn write_atomically(path: &Path, content: impl AsRef<[u8]>) -> std::io::Result<()> {
    let path = followed(path)?;
    let mut beside = path.clone();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    beside.set_file_name(format!(".{name}.{}.part", std::process::id()));
    let permissions = std::fs::metadata(&path).ok().map(|facts| facts.permissions());
    let write = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&beside)?;
        // First, so that nothing is readable for longer than it was.
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.write_all(content.as_ref())?;
        std::fs::rename(&beside, &path)
    };
    write().inspect_err(|_| {
        // On a full disk, half of it may be there.
        let _ = std::fs::remove_file(&beside);
    })
}

/// Where a path leads: to the file itself, which need not exist yet.
fn followed(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    // As many as Linux follows.
    for _ in 0..40 {
        match std::fs::read_link(&path) {
            // A relative link starts in its own folder; an absolute one replaces the whole path.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is a circle of links"))
}
