//! Saves the recordings of a run: in its folder and, if requested, in the trails.

use std::collections::HashSet;

use trailblaze_core::record::effects::entries;
use trailblaze_core::record::healing;
use trailblaze_core::trail::Trail;
use trailblaze_core::yaml::Source;
use trailblaze_protocol::exit::Exit;

use crate::files::lock::ProjectLock;
use crate::files::private;
use crate::files::{slug, unlike};
use crate::output::run_folder::RunFolder;
use crate::output::run_folder::{RECORDING, RECORDINGS, TRAIL_ENDING};
use crate::output::words::count;
use crate::run::job::{Done, DoneOn, Job};
use crate::run::queue::SharedRun;
use crate::run::record::RecordError;
use crate::run::record::effects_file::{self, Section, kept_args, origins};
use crate::run::record::recordings::{self, WrittenRecording};
use crate::run::record::tool_lock::Tools;
use crate::servers::digest::ServerFiles;

/// How much is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordLevel {
    /// The calls of the trails.
    Calls,
    /// Also what custom tools did.
    Effects,
}

/// Writes the recordings into the run folder and, with `record`, into the trails. A recording that cannot be stored in its
/// trail is passed to the console, so that it is not lost, and fails the run.
pub fn save_recordings(shared: &SharedRun, done: &[Done], folder: &RunFolder, record: Option<RecordLevel>) -> Exit {
    let console = &shared.console;
    let root = &shared.wiring.loaded.root;
    let is_single = shared.jobs.len() == 1;
    let mut taken = HashSet::new();
    let mut exit = Exit::Passed;
    for (index, done) in recordings::by_job(done) {
        let job = &shared.jobs[index];
        let path = &job.trail.source.path;
        let recorded = match recordings::record(&job.trail, &done) {
            Ok(recorded) => recorded,
            Err(error) if record.is_some() => {
                console.error(&format!("the recording was not saved: {error}"));
                exit = exit.worst(RecordError::from(error).exit());
                continue;
            }
            // The copy in the run folder is a by-product: its loss matters only if a recording was requested.
            Err(_) => continue,
        };
        if record.is_some() {
            recorded.warnings.iter().for_each(|warning| console.warn(&format!("{path}: {warning}")));
        }
        let name = if is_single {
            RECORDING.to_string()
        } else {
            format!("{RECORDINGS}/{}{TRAIL_ENDING}", unlike(&mut taken, slug(&job.trail.id())))
        };
        let copy = folder.path.join(name);
        if let Err(error) = private::write(&copy, &recorded.text) {
            console.warn(&format!("cannot write `{}`: {error}", copy.display()));
        }
        let Some(level) = record else { continue };
        let saved = ProjectLock::take(root).map_err(RecordError::no_lock).and_then(|lock| {
            let written = recordings::write_into_trail(root, job, &done, &lock)?;
            let beside = keep_beside(shared, job, &written.text, &done, level);
            Ok((written, beside))
        });
        match saved {
            Ok((written, beside)) => {
                console.say(&said(path, &written, beside.as_ref().is_ok_and(|beside| beside.has_changed)));
                match beside.map(|beside| beside.n_calls) {
                    Ok(0) if level == RecordLevel::Effects => {
                        console.say(&format!("{path} calls no custom tools whose effects could be saved"));
                    }
                    Ok(n_calls) if level == RecordLevel::Effects => {
                        let calls = count(n_calls, "call");
                        console.say(&format!("saved the effects of {calls} in {}", effects_file::file(path)));
                    }
                    Ok(_) => {}
                    Err(error) if level == RecordLevel::Effects => {
                        console.error(&format!("the effects were not saved: {error}"));
                        exit = exit.worst(error.exit());
                    }
                    Err(error) => console.warn(&error.to_string()),
                }
            }
            Err(error) => {
                console.error(&format!("the recording was not saved: {error}"));
                console.rescue(&recorded.text);
                exit = exit.worst(error.exit());
            }
        }
    }
    exit
}

/// Describes how recording changed a trail.
fn said(path: &str, written: &WrittenRecording, has_changed_beside: bool) -> String {
    let mut said = Vec::new();
    if !written.classifiers.is_empty() {
        said.push(format!("recorded {} in {path}", written.classifiers.join(", ")));
    }
    if !written.removed.is_empty() {
        let removed = written.removed.join(", ");
        said.push(format!("removed recordings for {removed} from {path} that equal `tools:`"));
    }
    if said.is_empty() && has_changed_beside {
        let file = effects_file::file(path);
        said.push(format!("nothing to record in {path}; {file}, which describes its tools and elements, was updated"));
    } else if said.is_empty() {
        said.push(format!("nothing to record in {path}: it is up to date"));
    }
    said.join("\n")
}

/// What was saved next to a trail.
#[derive(Default)]
struct Beside {
    /// The number of calls whose effects were saved.
    n_calls: usize,
    has_changed: bool,
}

/// Saves the pins of the trail's custom tools and, if requested, their effects.
fn keep_beside(
    shared: &SharedRun,
    job: &Job,
    text: &str,
    done: &[&Done],
    level: RecordLevel,
) -> Result<Beside, RecordError> {
    let path = &job.trail.source.path;
    let Some(trail) = Trail::read(&Source::new(path.as_str(), text)).0 else { return Ok(Beside::default()) };
    let trail = trail.completed_by(&job.trail);
    let wiring = &shared.wiring;
    let (files, target) = (ServerFiles::read(&wiring.loaded), wiring.target_of(&trail));
    let section = |done: &Done, DoneOn { device, registry }: &DoneOn| Section {
        key: effects_file::key(&trail, device),
        tools: Tools { registry, files: &files, target }.pins(&trail, device, &done.custom_tools),
        origins: origins(&job.trail, &trail, device),
        args: kept_args(&wiring.secrets, &job.args),
        healing: healing::entries(&trail, device, &done.seen),
        effects: (level == RecordLevel::Effects).then(|| entries(&trail, device, &done.effects)),
    };
    let sections = done.iter().flat_map(|done| done.on.iter().map(move |on| (done, on)));
    let sections: Vec<Section> = sections.map(|(done, on)| section(done, on)).collect();
    let n_calls = sections.iter().flat_map(|section| &section.effects).map(Vec::len).sum();
    let has_changed = effects_file::keep(&wiring.loaded.root, path, sections)?;
    Ok(Beside { n_calls, has_changed })
}
