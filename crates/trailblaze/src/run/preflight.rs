//! Checks before a run: reads the trails with their arguments, and finds every problem that can be found in advance.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use serde_json::{Map, Value};
use trailblaze_core::callers::preflight::{
    called_servers, is_closed, missing, preflight, preflight_broken, preflight_played,
};
use trailblaze_core::callers::shadow::shadowed;
use trailblaze_core::engine::registry::Registry;
use trailblaze_core::engine::source::SourceError;
use trailblaze_core::trail::{Trail, TrailDevice, TrailRows, csv_rows};
use trailblaze_core::yaml::{Entries, Problem, Problems, Severity, inline};

use crate::files::is_inside;
use crate::project::devices::{DeviceSpec, Devices};
use crate::project::loaded::{LoadError, Loaded};
use crate::project::select::Filter;
use crate::project::source::read_source;
use crate::run::job::{Job, Replay, storage_state};
use crate::run::record::effects_file::{EffectsFile, kept_args, key};
use crate::run::record::tool_lock::Tools;
use crate::servers::digest::ServerFiles;
use crate::servers::tool_servers::Needed;
use crate::sessions::wiring::{Prepared, Wiring};

/// The trails at some paths, and the problems in their files and arguments.
pub struct Jobs {
    pub jobs: Vec<Job>,
    /// The readable parts of trails that cannot run.
    pub broken: Vec<Trail>,
    pub problems: Vec<Problem>,
    /// An argument that no trail declares.
    pub undeclared: Option<String>,
}

/// Reads the trails that a command selects.
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
        // An argument is passed to the trails that declare it; one that no trail declares is an error.
        let own: Map<String, Value> = given
            .iter()
            .filter(|(name, _)| trail.config.args.get(name).is_some())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        match trail.config.bind_args(&own) {
            Ok(args) => {
                jobs.extend(jobs_of(loaded, trail, &args, &mut problems));
            }
            Err(wrong) => problems.extend(at_config(&trail, wrong)),
        }
    }
    let is_declared = |name: &String| jobs.iter().any(|job| job.trail.config.args.get(name).is_some());
    let undeclared = given.keys().find(|name| !is_declared(name)).filter(|_| problems.is_empty()).cloned();
    Ok(Jobs { jobs, broken, problems, undeclared })
}

/// A trail as a job, or one job for each of its rows.
pub fn jobs_of(loaded: &Loaded, trail: Trail, args: &Map<String, Value>, problems: &mut Vec<Problem>) -> Vec<Job> {
    let (rows, wrong) = rows(loaded, &trail);
    problems.extend(wrong);
    problems.extend(wrong_state(loaded, &trail));
    let job = |trail: Trail| {
        let (kept, wrong) = EffectsFile::read(&loaded.root, &trail.source.path);
        problems.extend(wrong);
        Job { trail, args: args.clone(), kept }
    };
    trail.cases(rows).into_iter().map(job).collect()
}

/// The rows of a trail with `forEach:`, also from a file beside it.
fn rows(loaded: &Loaded, trail: &Trail) -> (Vec<Vec<(String, String)>>, Vec<Problem>) {
    let file = match &trail.rows {
        None => return (Vec::new(), Vec::new()),
        Some(TrailRows::Table(rows)) => return (rows.clone(), Vec::new()),
        Some(TrailRows::File(file)) => file,
    };
    let path = loaded.root.join(&trail.source.path).with_file_name(&file.value);
    let mut problems = Problems::new(&trail.source);
    if !is_inside(&loaded.root, &path) || !path.is_file() {
        let message = format!("there is no file `{}` in the folder of the trail", file.value);
        problems.error_with_hint(file.span, message, "name a CSV file of the project, relative to the trail");
        return (Vec::new(), problems.into_vec());
    }
    let mut found = Vec::new();
    let Some(source) = read_source(&loaded.root, &path, &mut found) else { return (Vec::new(), found) };
    csv_rows(&source)
}

/// What is wrong with the storage state that a trail names. One that does not exist yet may be saved by another trail.
fn wrong_state(loaded: &Loaded, trail: &Trail) -> Vec<Problem> {
    let mut problems = Problems::new(&trail.source);
    let (Some(named), Some(file)) = (&trail.config.storage_state, storage_state(&loaded.root, trail)) else {
        return Vec::new();
    };
    if !is_inside(&loaded.root, &file) {
        let message = format!("`{}` is not in the project", named.value);
        problems.error_with_hint(named.span, message, "name a file of the project, relative to the trail");
        return problems.into_vec();
    }
    let is_state = |text: &str| {
        let state: Value = serde_json::from_str(text).unwrap_or_default();
        let has = |name: &str| state.get(name).is_some_and(Value::is_array);
        state.is_array() || has("cookies") || has("origins")
    };
    match std::fs::read_to_string(&file) {
        Ok(text) if is_state(&text) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let message = format!("there is no file `{}` yet, and the trail cannot start without it", named.value);
            problems.warning_with_hint(named.span, message, "run a trail first that calls `web_saveStorageState`");
        }
        Ok(_) => {
            let message = format!("`{}` is no storage state: it has neither `cookies` nor `origins`", named.value);
            problems.error_with_hint(named.span, message, "let a trail write it with `web_saveStorageState`");
        }
        Err(error) => problems.error(named.span, format!("`{}` cannot be read: {error}", named.value)),
    }
    problems.into_vec()
}

pub fn n_errors(problems: &[Problem]) -> usize {
    problems.iter().filter(|problem| problem.severity == Severity::Error).count()
}

pub fn has_errors(problems: &[Problem]) -> bool {
    n_errors(problems) > 0
}

/// Checks the target that a trail names. Targets named by flags and the project are checked elsewhere.
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

/// Finds everything that would fail because a tool, an argument or a model is missing, for all trails, in the order of
/// the files. In invalid trails, only the calls are checked.
///
/// The sessions prepared for this are kept and opened later. Calls to tools whose servers do not start are not checked:
/// their trails will report the reason.
pub async fn before_start(
    wiring: &Wiring,
    (jobs, broken): (&[Job], &[Trail]),
    devices: &Devices,
    rule: &Rule,
) -> Preflight {
    let mut unknown_servers = BTreeSet::new();
    let (mut failed, mut needed): (Vec<SourceError>, Vec<SourceError>) = Default::default();
    let mut problems: Vec<Problem> = jobs.iter().flat_map(|job| own_target(&wiring.loaded, &job.trail)).collect();
    let without_device = |job: &Job| devices.in_roles(&wiring.loaded, &job.trail).err().into_iter().flatten();
    problems.extend(jobs.iter().flat_map(without_device));
    let groups = groups(wiring, (jobs, broken), devices);
    let files = ServerFiles::read(&wiring.loaded);
    let prepared = groups
        .iter()
        .map(|group| wiring.prepare(&group.device, group.target, |registry| group.needed(wiring, registry, rule)));
    let prepared = futures::future::join_all(prepared).await;
    let mut drift: Vec<Problem> = Vec::new();
    for (group, prepared) in groups.iter().zip(prepared) {
        problems.extend(group.unsupported_drivers(&wiring.loaded));
        match &prepared {
            Ok(prepared) => {
                problems.extend(group.problems(wiring, prepared, &files, rule));
                drift.extend(group.drift(&prepared.registry, &files, rule));
                unknown_servers.extend(prepared.unknown_servers.iter().cloned());
                needed.extend(group.missing(&prepared.registry));
                failed.extend(prepared.absent.errors.iter().cloned());
            }
            Err(error) => {
                needed.push(error.clone());
                failed.push(error.clone());
            }
        }
        wiring.keep(&group.device, group.target, prepared);
    }
    // A changed tool is reported once per trail, even if it was recorded on several devices.
    let mut told = HashSet::new();
    drift.retain(|problem| told.insert((problem.source.path.clone(), problem.message.clone())));
    problems.append(&mut drift);
    let mut once: Vec<SourceError> = Vec::new();
    for error in failed {
        if !once.contains(&error) {
            once.push(error);
        }
    }
    let unneeded = once.iter().filter(|error| !needed.contains(error)).cloned().collect();
    Preflight { problems, failed: once, unneeded, unknown_servers }
}

/// What trails are checked against.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The severity of a tool that changed since recording.
    pub changes: Severity,
    pub replay: Replay,
    /// Why steps without a recording cannot be carried out; `None` if they can.
    pub no_model: Option<String>,
    /// Start all servers, also those that no trail needs.
    pub starts_all: bool,
}

/// The problems of a run that were found before it starts.
pub struct Preflight {
    pub problems: Vec<Problem>,
    /// Servers that did not start.
    pub failed: Vec<SourceError>,
    /// Those of `failed` that no trail needs.
    pub unneeded: Vec<SourceError>,
    /// Servers that were not started now and never were before.
    pub unknown_servers: BTreeSet<String>,
}

/// The trails that one kind of device runs for one target. They have the same tools and the same problems, regardless of
/// the number of devices.
struct TrailGroup<'a> {
    device: DeviceSpec,
    target: Option<&'a str>,
    trails: Vec<TrailOn<'a>>,
}

/// A trail on a device of a group.
struct TrailOn<'a> {
    trail: &'a Trail,
    /// Its arguments and its effects file, if it can be read.
    job: Option<&'a Job>,
    device: TrailDevice,
}

fn groups<'a>(wiring: &'a Wiring, (jobs, broken): (&'a [Job], &'a [Trail]), devices: &Devices) -> Vec<TrailGroup<'a>> {
    let mut groups: Vec<TrailGroup<'a>> = Vec::new();
    let mut add = |(trail, job): (&'a Trail, Option<&'a Job>), role: Option<&str>, device: &DeviceSpec| {
        let seen = TrailDevice::new(role, &device.classifiers);
        let (target, device) = (wiring.target_of(trail), wiring.device_for(trail, device));
        let one = TrailOn { trail, job, device: seen };
        match groups.iter_mut().find(|group| group.device == device && group.target == target) {
            Some(group) => group.trails.push(one),
            None => groups.push(TrailGroup { device, target, trails: vec![one] }),
        }
    };
    for (index, device) in devices.all.iter().enumerate() {
        if devices.all[..index].iter().any(|earlier| earlier.is_like(device)) {
            continue;
        }
        let sound = jobs.iter().map(|job| (&job.trail, Some(job)));
        let all = sound.chain(broken.iter().map(|trail| (trail, None)));
        all.filter(|(trail, _)| devices.takes(trail, device)).for_each(|one| add(one, None, device));
    }
    for job in jobs {
        let set = devices.in_roles(&wiring.loaded, &job.trail).ok().flatten();
        for (role, device) in set.iter().flat_map(|set| set.iter()) {
            add((&job.trail, Some(job)), role, device);
        }
    }
    // In a project without trails, only the tools are checked.
    if jobs.is_empty() && broken.is_empty() {
        let is_first = |(index, device): &(usize, &DeviceSpec)| {
            !devices.all[..*index].iter().any(|earlier| earlier.is_like(device))
        };
        for (_, device) in devices.all.iter().enumerate().filter(is_first) {
            groups.push(TrailGroup { device: device.clone(), target: wiring.target.as_deref(), trails: Vec::new() });
        }
    }
    groups
}

impl TrailGroup<'_> {
    /// The servers to start, judging by the tools that are known so far. If something about these is wrong or unclear, all of
    /// them are started, because what servers listed earlier is no proof.
    fn needed(&self, wiring: &Wiring, registry: &Registry, rule: &Rule) -> Needed {
        let is_clear = registry.refused.is_empty()
            && registry.undeclared_toolsets.is_empty()
            && is_closed(registry)
            && wiring.loaded.unknown_tools(self.target, self.device.platform, registry).is_empty();
        if rule.starts_all || !is_clear {
            return Needed::All;
        }
        let mut needed = BTreeSet::new();
        for TrailOn { trail, job, device } in &self.trails {
            let Some(servers) = called_servers(trail, registry, device, rule.no_model.is_none()) else {
                return Needed::All;
            };
            needed.extend(servers);
            // Tools that were called by the code of others when the trail was recorded.
            let pins = job.and_then(|job| job.kept.tools(&key(trail, device)));
            needed.extend(pins.into_iter().flat_map(|Entries(pins)| pins).filter_map(|(_, pin)| pin.server.clone()));
        }
        Needed::Some(needed)
    }

    /// The servers that its trails need and that are not running.
    fn missing(&self, registry: &Registry) -> Vec<SourceError> {
        self.trails.iter().flat_map(|on| missing(on.trail, registry, &on.device)).collect()
    }

    fn problems(&self, wiring: &Wiring, prepared: &Prepared, files: &ServerFiles, rule: &Rule) -> Vec<Problem> {
        let registry = &prepared.registry;
        let tools = Tools { registry, files, target: self.target };
        let mut problems = match rule.replay {
            // Tools that call a server's tools are not called in this mode.
            Replay::Effects => Vec::new(),
            Replay::Intent | Replay::Verify => {
                let mut problems = wiring.loaded.tool_problems(registry);
                problems.extend(wiring.loaded.unknown_tools(self.target, self.device.platform, registry));
                problems
            }
        };
        for TrailOn { trail, job, device } in &self.trails {
            let Some(Job { kept, args, .. }) = job else {
                if rule.replay != Replay::Effects {
                    problems.extend(preflight_broken(trail, registry, device));
                }
                continue;
            };
            let key = key(trail, device);
            let is_derived = |tools: &[_], recorded: &[_]| kept.is_derived(&key, tools, recorded);
            problems.extend(shadowed(trail, registry, device, is_derived));
            if rule.replay == Replay::Effects {
                problems.extend(preflight_played(trail, registry, device, rule.no_model.as_deref()));
                problems.extend(tools.stale(trail, kept, device));
                problems.extend(other_args(trail, kept, device, &kept_args(&wiring.secrets, args)));
            } else {
                problems.extend(preflight(trail, registry, device, rule.no_model.as_deref()));
            }
            if rule.replay != Replay::Intent {
                problems.extend(kept.recorded_effects(trail, registry, device).err().into_iter().flatten());
            }
        }
        problems
    }

    /// Reports tools that changed since recording.
    fn drift(&self, registry: &Registry, files: &ServerFiles, rule: &Rule) -> Vec<Problem> {
        if rule.replay == Replay::Effects {
            return Vec::new();
        }
        let tools = Tools { registry, files, target: self.target };
        let recorded = self.trails.iter().filter_map(|on| Some((on, on.job?)));
        recorded.flat_map(|(on, job)| tools.drift(on.trail, &job.kept, &on.device, rule.changes)).collect()
    }

    /// Reports drivers that trails require and the device does not have.
    fn unsupported_drivers(&self, loaded: &Loaded) -> Vec<Problem> {
        let Some(why) = loaded.providers.unsupported_driver(&self.device) else { return Vec::new() };
        let problem = |trail: &Trail| {
            let mut problems = Problems::new(&trail.source);
            let asked = trail.config.devices.drivers.0.iter().find(|(_, driver)| *driver == self.device.driver);
            let span = asked.map_or(trail.config.span, |(classifier, _)| classifier.span);
            problems.error(span, format!("`{}` cannot be used on {}: {why}", self.device.driver, self.device.id));
            problems.into_vec()
        };
        self.trails.iter().flat_map(|on| problem(on.trail)).collect()
    }
}

/// Effects recorded with other arguments than the trail has now would not do what the trail describes.
fn other_args(trail: &Trail, kept: &EffectsFile, device: &TrailDevice, now: &Map<String, Value>) -> Vec<Problem> {
    let mut problems = Problems::new(&trail.source);
    let key = key(trail, device);
    let (then, now) = (kept.args(&key), Value::Object(now.clone()));
    if !kept.effects(&key).is_empty() && then != now {
        let said = |args: &Value| match args.as_object().is_none_or(Map::is_empty) {
            true => "none".to_string(),
            false => inline(args),
        };
        let message = format!(
            "the effects were recorded with other arguments: {}; the trail now has {}",
            said(&then),
            said(&now)
        );
        problems.error_with_hint(
            trail.config.span,
            message,
            "record them again with `--record effects`, or run the tools",
        );
    }
    problems.into_vec()
}

/// Each problem once, file by file.
pub fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| (problem.source.path.clone(), problem.span.start));
    let mut once: Vec<Problem> = Vec::with_capacity(problems.len());
    for problem in problems {
        // Several problems of one place come from each kind of device, so equal ones need not be neighbours.
        let mut here = once.iter_mut().rev().take_while(|earlier| earlier.span.start == problem.span.start);
        let is_same = |earlier: &&mut Problem| {
            earlier.source.path == problem.source.path
                && earlier.severity == problem.severity
                && earlier.message == problem.message
        };
        match here.find(is_same) {
            // Each kind of device has other tools to suggest.
            Some(earlier) => earlier.hint = earlier.hint.take().or(problem.hint),
            None => once.push(problem),
        }
    }
    once
}

/// The severity of a tool that changed since recording.
pub fn strictness(is_strict: bool) -> Severity {
    if is_strict { Severity::Error } else { Severity::Warning }
}

#[cfg(test)]
mod tests {
    use trailblaze_core::yaml::{Source, Span};

    use super::*;

    #[test]
    fn a_mistake_is_reported_once_with_the_hint_of_any_device() {
        let source = Source::new("a.yaml", "tools: [web_clik, tapp]");
        let at = |start: usize| Span { start, end: start + 4, line: 1, column: start + 1 };
        let mut found = Problems::new(&source);
        found.error(at(8), "unknown tool `web_clik`");
        found.error(at(18), "unknown tool `tapp`");
        found.error_with_hint(at(8), "unknown tool `web_clik`", "did you mean `web_click`?");
        found.warning(at(8), "unknown tool `web_clik`");
        let told: Vec<String> = in_order(found.into_vec()).iter().map(ToString::to_string).collect();
        let expected = [
            "a.yaml:1:9: unknown tool `web_clik` (did you mean `web_click`?)",
            "a.yaml:1:9: unknown tool `web_clik`",
            "a.yaml:1:19: unknown tool `tapp`",
        ];
        assert_eq!(told, expected);
    }
}
