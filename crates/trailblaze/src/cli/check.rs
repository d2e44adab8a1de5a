//! `trailblaze check`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use trailblaze_core::yaml::{Problem, Severity};
use trailblaze_protocol::exit::Exit;

use super::{Refusal, load};
use crate::devices::DeviceArgs;
use crate::jobs::{before_start, has_errors, in_order, strictness};
use crate::print;
use crate::project::LoadError;
use crate::runner::Job;
use crate::select::SelectError;
use crate::wire::Wiring;

/// Check every file of the project and every trail, without running anything
#[derive(Args)]
pub struct CheckArgs {
    /// Trails, or folders of trails; the project's own unless given
    paths: Vec<PathBuf>,
    #[command(flatten)]
    devices: DeviceArgs,
    /// Take a tool that changed since a trail was recorded for an error
    #[arg(long)]
    strict: bool,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

pub fn check(project: Option<PathBuf>, args: CheckArgs) -> Result<Exit, Refusal> {
    let loaded = load(project, args.paths.first())?;
    let devices = loaded.devices(&args.devices.device)?;
    let wiring = Wiring::new(&loaded, None);
    let mut problems = loaded.problems.clone();
    let trails = match loaded.trails(&args.paths) {
        // A project may have tools and no trails yet.
        Err(LoadError::Select(SelectError::NoTrails { .. } | SelectError::Missing { .. })) if args.paths.is_empty() => {
            Vec::new()
        }
        trails => trails?,
    };
    let (mut jobs, mut broken) = (Vec::new(), Vec::new());
    for (trail, found) in trails {
        match has_errors(&found) {
            true => broken.extend(trail),
            false => jobs.extend(trail.map(|trail| Job { trail, args: Default::default() })),
        }
        problems.extend(found);
    }
    for device in &devices {
        problems.extend(loaded.tool_problems(&wiring.registry(device, wiring.target.as_deref())));
    }
    problems.extend(before_start(&wiring, (&jobs, &broken), &devices, strictness(args.strict)));
    let problems = in_order(problems);
    let n_errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    if args.json {
        let found: Vec<_> = problems.iter().map(as_json).collect();
        print::json(&json!({"trails": jobs.len(), "errors": n_errors, "problems": found}));
        return Ok(if n_errors == 0 { Exit::Passed } else { Exit::Misused });
    }
    Refusal::unless_sound(&problems)?;
    let names: Vec<String> = devices.iter().map(|device| device.id.to_string()).collect();
    print::data(format!("{}, no problems on {}", print::count(jobs.len(), "trail"), names.join(", ")));
    Ok(Exit::Passed)
}

fn as_json(problem: &Problem) -> serde_json::Value {
    json!({
        "file": problem.source.path, "line": problem.span.line, "column": problem.span.column,
        "severity": if problem.severity == Severity::Error { "error" } else { "warning" },
        "message": problem.message, "hint": problem.hint,
    })
}
