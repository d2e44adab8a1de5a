//! `trailblaze check`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use trailblaze_core::yaml::{Problem, Severity};
use trailblaze_protocol::exit::Exit;

use super::device::DeviceArgs;
use super::{Context, Refusal};
use crate::output::print;
use crate::output::progress::Progress;
use crate::project::loaded::LoadError;
use crate::project::select::SelectError;
use crate::run::job::{Job, Replay};
use crate::run::preflight::{Rule, before_start, has_errors, in_order, strictness};
use crate::run::record::effects_file::EffectsFile;
use crate::servers::tool_servers::{Mode, Outlets};
use crate::sessions::models::AgentOptions;

/// Check every file of the project and every trail, without running anything
#[derive(Args)]
pub struct CheckArgs {
    /// Trails, or folders of trails [default: all trails of the project]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    devices: DeviceArgs,
    /// Treat a tool that changed since recording as an error
    #[arg(long)]
    strict: bool,
    /// Start no tool servers; use the tools they listed when last started
    #[arg(long)]
    offline: bool,
    /// Print the problems as JSON
    #[arg(long)]
    json: bool,
}

pub async fn check(context: &Context, args: CheckArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(args.paths.first())?;
    let mut devices = loaded.devices_of_trails(&args.devices.device)?;
    let mut wiring = context.wiring(&loaded, None);
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
            false => jobs.extend(trail.map(|trail| {
                let (kept, wrong) = EffectsFile::read(&loaded.root, &trail.source.path);
                problems.extend(wrong);
                Job { trail, args: Default::default(), kept }
            })),
        }
        problems.extend(found);
    }
    devices.take_those_of(&loaded, jobs.iter().map(|job| &job.trail).chain(&broken))?;
    let mode = if args.offline { Mode::Remember } else { Mode::Start };
    let outlets = Outlets { console: Some(Arc::new(Progress::new(args.json))), ..Outlets::default() };
    wiring.servers = wiring.tool_servers(mode).with_outlets(outlets).for_devices(devices.all.len());
    for device in &devices.all {
        problems.extend(loaded.tool_problems(&wiring.file_registry(device, wiring.target.as_deref())));
    }
    wiring.use_model(&AgentOptions::default())?;
    let no_model = wiring.models.absence().map(str::to_string);
    let rule = Rule { changes: strictness(args.strict), replay: Replay::Intent, no_model };
    let judgement = before_start(&wiring, (&jobs, &broken), &devices, &rule).await;
    wiring.close().await;
    problems.extend(judgement.problems);
    let problems = in_order(problems);
    let failed: Vec<String> = judgement.failed.iter().map(ToString::to_string).collect();
    let unknown: Vec<String> = judgement.unknown_servers.into_iter().collect();
    let n_errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    if args.json {
        let found: Vec<_> = problems.iter().map(as_json).collect();
        print::json(&json!({
            "trails": jobs.len(), "errors": n_errors, "problems": found, "isOffline": args.offline,
            "serversNotStarted": failed, "serversUnknown": unknown,
        }));
        let files = if n_errors == 0 { Exit::Passed } else { Exit::Invalid };
        return Ok(if failed.is_empty() { files } else { files.worst(Exit::Environment) });
    }
    for name in &unknown {
        print::warning(format!("the tools of server `{name}` are not known; calls to them were not checked"));
        print::hint("run `trailblaze check` without `--offline` to start the server and cache its tools");
    }
    if args.offline && wiring.servers.has_any() {
        print::say("offline: servers were not started; their tools are those they listed when last started");
    }
    let sound = Refusal::unless_sound(&problems);
    if let Some(error) = judgement.failed.into_iter().next() {
        sound.or_else(|refusal| {
            refusal.show();
            Ok::<(), Refusal>(())
        })?;
        return Err(error.into());
    }
    sound?;
    let names: Vec<String> = devices.all.iter().map(|device| device.id.to_string()).collect();
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
