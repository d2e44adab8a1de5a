//! What a run is made of: trails with their arguments, and everything that can be said against them beforehand.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use serde_json::{Map, Value};
use trailblaze_core::preflight::{preflight, preflight_broken};
use trailblaze_core::registry::Registry;
use trailblaze_core::trail::{Trail, lineage};
use trailblaze_core::yaml::{Problem, Problems, Severity};

use crate::definitions;
use crate::devices::DeviceSpec;
use crate::project::{LoadError, Loaded};
use crate::runner::Job;
use crate::select::Filter;
use crate::wire::Wiring;

/// The trails of some paths, and what is wrong with their files and arguments.
pub struct Jobs {
    pub jobs: Vec<Job>,
    /// What could be read of trails that cannot run.
    pub broken: Vec<Trail>,
    pub problems: Vec<Problem>,
    /// An argument that no trail declares.
    pub undeclared: Option<String>,
}

/// Reads the trails that a command means.
pub fn read(
    loaded: &Loaded,
    paths: &[PathBuf],
    filter: &Filter,
    given: &Map<String, Value>,
) -> Result<Jobs, LoadError> {
    let mut problems = loaded.problems.clone();
    let mut jobs = Vec::new();
    let mut broken = Vec::new();
    for (trail, found) in loaded.trails(paths)? {
        let is_broken = has_errors(&found);
        problems.extend(found);
        let Some(trail) = trail.filter(|trail| !trail.steps.is_empty() && filter.takes(trail)) else { continue };
        if is_broken {
            broken.push(trail);
            continue;
        }
        // An argument is for the trails that declare it; one that none declares is a mistake of all.
        let own: Map<String, Value> = given
            .iter()
            .filter(|(name, _)| trail.config.args.get(name).is_some())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        match trail.config.bind_args(&own) {
            Ok(args) => jobs.push(Job { trail, args }),
            Err(wrong) => problems.extend(at_config(&trail, wrong)),
        }
    }
    let is_declared = |name: &String| jobs.iter().any(|job| job.trail.config.args.get(name).is_some());
    let undeclared = given.keys().find(|name| !is_declared(name)).filter(|_| problems.is_empty()).cloned();
    Ok(Jobs { jobs, broken, problems, undeclared })
}

pub fn has_errors(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.severity == Severity::Error)
}

/// What is wrong with the target that a trail names itself. Flags and the project answer for theirs.
fn own_target(loaded: &Loaded, trail: &Trail) -> Vec<Problem> {
    let mut problems = Problems::new(&trail.source);
    if let Some(target) = trail.config.target.as_ref().filter(|target| loaded.target(&target.value).is_err()) {
        let known = loaded.targets.iter().map(|target| target.id.value.as_str());
        problems.unknown(target.span, "target", &target.value, known);
    }
    problems.into_vec()
}

fn at_config(trail: &Trail, wrong: Vec<String>) -> Vec<Problem> {
    let mut problems = Problems::new(&trail.source);
    wrong.into_iter().for_each(|message| problems.error(trail.config.span, message));
    problems.into_vec()
}

/// Everything that would go wrong for want of a tool, an argument or a model, for all trails at once, in the order of
/// the files. Of broken trails, the calls are looked at. Tools that changed since a trail was recorded are as grave as
/// `changes` says.
pub fn before_start(
    wiring: &Wiring,
    (jobs, broken): (&[Job], &[Trail]),
    devices: &[DeviceSpec],
    changes: Severity,
) -> Vec<Problem> {
    let mut problems: Vec<Problem> = jobs.iter().flat_map(|job| own_target(&wiring.loaded, &job.trail)).collect();
    // Alike devices see alike tools and have alike trouble, however many there are.
    let mut registries: HashMap<(String, Vec<String>, Option<String>), Registry> = HashMap::new();
    let mut kinds = HashSet::new();
    for device in devices {
        let segments = wiring.driver(device).describe().classifiers.clone();
        if !kinds.insert((device.driver.to_string(), segments.clone())) {
            continue;
        }
        let lineage = lineage(&segments);
        let sound = jobs.iter().map(|job| (&job.trail, true));
        for (trail, is_sound) in sound.chain(broken.iter().map(|trail| (trail, false))) {
            let target = wiring.target_of(trail);
            let device = wiring.device_for(trail, device);
            let key = (device.driver.to_string(), segments.clone(), target.map(str::to_string));
            let registry = registries.entry(key).or_insert_with(|| {
                let registry = wiring.registry(&device, target);
                problems.extend(wiring.loaded.tool_problems(&registry));
                registry
            });
            if !is_sound {
                problems.extend(preflight_broken(trail, registry, &lineage));
                continue;
            }
            problems.extend(preflight(trail, registry, &lineage));
            problems.extend(definitions::changed(&wiring.loaded.root, trail, registry, &lineage, changes));
        }
    }
    problems
}

/// Each problem once, file by file.
pub fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| (problem.source.path.clone(), problem.span.start));
    problems.dedup();
    problems
}

/// How grave it is that a tool changed since a trail was recorded.
pub fn strictness(is_strict: bool) -> Severity {
    if is_strict { Severity::Error } else { Severity::Warning }
}
