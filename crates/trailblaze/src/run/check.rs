//! Checks every file of a project and some trails, without running anything.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use trailblaze_core::engine::source::SourceError;
use trailblaze_core::yaml::{Problem, Severity};

use crate::output::console::Console;
use crate::project::devices::Devices;
use crate::project::loaded::{LoadError, Loaded};
use crate::project::select::SelectError;
use crate::run::job::Replay;
use crate::run::plan::PlanError;
use crate::run::preflight::{Rule, before_start, has_errors, in_order, jobs_of, strictness};
use crate::servers::tool_servers::{Outlets, ServerMode};
use crate::sessions::models::AgentOptions;
use crate::sessions::wiring::Wiring;

/// What to check, and how.
#[derive(Debug, Clone, Default)]
pub struct CheckOptions {
    /// If empty, all trails of the project.
    pub paths: Vec<PathBuf>,
    pub devices: Vec<String>,
    /// Treat a tool that changed since recording as an error.
    pub is_strict: bool,
    /// Start no tool servers.
    pub is_offline: bool,
    /// Read no trails, whatever `paths` says.
    pub without_trails: bool,
}

/// What was found.
pub struct CheckResult {
    pub n_trails: usize,
    pub problems: Vec<Problem>,
    /// The servers that did not start, and why.
    pub failed: Vec<SourceError>,
    /// The servers whose tools are not known.
    pub unknown: Vec<String>,
    pub devices: Devices,
}

impl CheckResult {
    pub fn n_errors(&self) -> usize {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error).count()
    }
}

pub async fn check(
    loaded: &Arc<Loaded>,
    mut wiring: Wiring,
    options: &CheckOptions,
    console: Arc<dyn Console>,
) -> Result<CheckResult, PlanError> {
    let mut devices = loaded.devices_of_trails(&options.devices)?;
    let mut problems = loaded.problems.clone();
    let stretches = loaded.stretches(&options.paths);
    let paths: Vec<PathBuf> = options.paths.iter().filter(|path| !stretches.contains(path)).cloned().collect();
    let trails = match loaded.trails(&paths) {
        _ if options.without_trails || (paths.is_empty() && !stretches.is_empty()) => Vec::new(),
        // A project may have tools and no trails yet.
        Err(LoadError::Select(SelectError::NoTrails { .. } | SelectError::Missing { .. })) if paths.is_empty() => {
            Vec::new()
        }
        trails => trails?,
    };
    if !options.without_trails && (options.paths.is_empty() || !stretches.is_empty()) {
        problems.extend(loaded.stretch_problems(&stretches, &trails));
    }
    let (mut jobs, mut broken, mut n_trails) = (Vec::new(), Vec::new(), 0);
    for (trail, found) in trails {
        match (trail, has_errors(&found)) {
            (trail, true) => broken.extend(trail),
            (None, false) => {}
            (Some(trail), false) => {
                n_trails += 1;
                jobs.extend(jobs_of(loaded, trail, &Map::new(), &mut problems));
            }
        }
        problems.extend(found);
    }
    devices.take_those_of(loaded, jobs.iter().map(|job| &job.trail).chain(&broken))?;
    let sets = jobs.iter().filter_map(|job| devices.in_roles(loaded, &job.trail).ok().flatten());
    let n_devices = sets.map(|set| set.n_devices()).max().unwrap_or(0).max(devices.all.len());
    let mode = if options.is_offline { ServerMode::Remember } else { ServerMode::Start };
    let outlets = Outlets { console: Some(console), ..Outlets::default() };
    wiring.servers = wiring.tool_servers(mode).with_outlets(outlets).for_devices(n_devices).into();
    wiring.servers.warn_of_all_stale_builds();
    for device in &devices.all {
        let registry = wiring.file_registry(device, wiring.target.as_deref());
        // Files may call tools of servers, which are only known to the sessions that are prepared below.
        problems.extend(match wiring.servers.has_any() {
            true => loaded.refused_tools(&registry),
            false => loaded.tool_problems(&registry),
        });
    }
    let no_model = match wiring.use_model(&AgentOptions::default()) {
        Ok(()) => wiring.models.absence().map(str::to_string),
        // A model is chosen, and nothing is wrong with the files.
        Err(error) if error.is_environment() => None,
        Err(error) => return Err(error.into()),
    };
    let rule = Rule { changes: strictness(options.is_strict), replay: Replay::Intent, no_model, starts_all: true };
    let judgement = before_start(&wiring, (&jobs, &broken), &devices, &rule).await;
    wiring.close().await;
    problems.extend(judgement.problems);
    Ok(CheckResult {
        n_trails,
        problems: in_order(problems),
        failed: judgement.failed.into_iter().collect(),
        unknown: judgement.unknown_servers.into_iter().collect(),
        devices,
    })
}

/// A problem for programs.
pub fn as_json(problem: &Problem) -> Value {
    json!({
        "file": problem.source.path, "line": problem.span.line, "column": problem.span.column,
        "severity": if problem.severity == Severity::Error { "error" } else { "warning" },
        "message": problem.message, "hint": problem.hint,
    })
}
