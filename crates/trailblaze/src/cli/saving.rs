//! What a run leaves behind of what it did: recordings in its folder, and in the trails if that was asked for.

use std::collections::{BTreeMap, HashSet};

use trailblaze_core::trail::Trail;
use trailblaze_core::yaml::Source;
use trailblaze_protocol::exit::Exit;

use crate::definitions;
use crate::print;
use crate::recordings::{self, ENDING, ONE, RecordError, SEVERAL, slug, unlike, write_atomically};
use crate::run_folder::RunFolder;
use crate::runner::{Done, Shared};

/// What was asked for on the command line.
#[derive(Clone, Copy)]
pub struct Wish {
    pub into_trails: bool,
    /// Stdout holds JSON, and nothing else may go there.
    pub is_stdout_data: bool,
}

/// The recordings go into the run folder, and into the trails if that was asked for. One that cannot be stored is
/// printed: it must not be lost. If it was asked for, the run has failed.
pub fn save_recordings(shared: &Shared, done: &[Done], folder: &RunFolder, wish: Wish) -> Exit {
    let root = &shared.wiring.loaded.root;
    let is_single = shared.jobs.len() == 1;
    let mut taken = HashSet::new();
    let mut exit = Exit::Passed;
    for (index, done) in recordings::by_job(done) {
        let job = &shared.jobs[index];
        let path = &job.trail.source.path;
        let recorded = match recordings::record(&job.trail, &done) {
            Ok(recorded) => recorded,
            Err(error) if wish.into_trails => {
                print::error(format!("the recording was not saved: {error}"));
                exit = exit.worst(RecordError::from(error).exit());
                continue;
            }
            Err(error) => {
                print::warning(format!("the recording was not saved: {error}"));
                continue;
            }
        };
        recorded.warnings.iter().for_each(|warning| print::warning(format!("{path}: {warning}")));
        let name = if is_single {
            ONE.to_string()
        } else {
            format!("{SEVERAL}/{}{ENDING}", unlike(&mut taken, slug(&job.trail.id())))
        };
        let copy = folder.path.join(name);
        let stored = copy
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| write_atomically(&copy, &recorded.text));
        if let Err(error) = stored {
            print::warning(format!("cannot write `{}`: {error}", copy.display()));
        }
        if !wish.into_trails {
            continue;
        }
        match recordings::write_into_trail(root, job, &done) {
            Ok(written) => {
                shared.progress.say(&match written.classifiers.as_slice() {
                    [] => format!("{path} is recorded already"),
                    classifiers => format!("recorded {} in {path}", classifiers.join(", ")),
                });
                if let Err(error) = keep_definitions(shared, path, &written.text, &done) {
                    print::warning(format!("cannot write `{}`: {error}", definitions::file(path)));
                }
            }
            Err(error) => {
                print::error(format!("the recording was not saved: {error}"));
                if wish.is_stdout_data {
                    print::say(&recorded.text);
                } else {
                    print::data(&recorded.text);
                }
                exit = exit.worst(error.exit());
            }
        }
    }
    exit
}

/// Keeps what the recorded YAML tools were, so that a later run can tell whether they changed.
fn keep_definitions(shared: &Shared, path: &str, text: &str, done: &[&Done]) -> std::io::Result<()> {
    let Some(trail) = Trail::read(&Source::new(path, text)).0 else { return Ok(()) };
    let wiring = &shared.wiring;
    let mut hashes = BTreeMap::new();
    for done in done {
        for device in wiring.loaded.devices(&[done.device.to_string()]).unwrap_or_default() {
            let device = wiring.device_for(&trail, &device);
            let registry = wiring.file_registry(&device, wiring.target_of(&trail));
            hashes.extend(definitions::hashes(&trail, &registry, &done.lineage));
        }
    }
    definitions::keep(&wiring.loaded.root, path, &hashes)
}
