//! Executes a plan: opens the run folder, checks, runs, and writes recordings and the report.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use trailblaze_core::record::events::{EventSink, Redacted};
use trailblaze_protocol::event::{Event, Level};
use trailblaze_protocol::exit::Exit;

use crate::files::check_links;
use crate::output::console::Console;
use crate::output::report::{self, Written};
use crate::output::run_folder::RunFolder;
use crate::project::devices::DeviceSet;
use crate::run::history::History;
use crate::run::job::{Done, Job};
use crate::run::plan::RunPlan;
use crate::run::preflight;
use crate::run::queue::{self, QueueResult, SharedRun};
use crate::run::record::save::save_recordings;
use crate::run::watch::Watch;
use crate::servers::tool_servers::{Outlets, ServerMode};

/// Where a run reports to, and how it is cancelled.
pub struct Sinks {
    pub console: Arc<dyn Console>,
    pub cancel: CancellationToken,
}

/// How a run ended.
pub struct RunResult {
    pub exit: Exit,
    pub ended: RunCompletion,
    /// The folder of the run, and how long it took in microseconds.
    pub folder: PathBuf,
    pub micros: u64,
    /// The report, unless the record of the run is incomplete.
    pub written: Result<Written, RecordLost>,
}

pub enum RunCompletion {
    /// The trails ran, or as many of them as could.
    Ran { jobs: Vec<Job>, done: Vec<Done>, n_not_run: usize },
    /// The files have errors, so nothing was started.
    Invalid { n_errors: usize },
}

/// The record of a run could not be written, so it has no report.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct RecordLost(String);

/// Why a run did not start.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("cannot create a folder in `{}`: {source}", logs.display())]
    Folder { logs: PathBuf, source: std::io::Error },
}

/// Runs a plan to its end. With `watch`, tools that change are hot-swapped during the run.
pub async fn execute(mut plan: RunPlan, sinks: Sinks, mut watch: Option<&mut Watch>) -> Result<RunResult, RunError> {
    let Sinks { console, cancel } = sinks;
    let logs = &plan.options.logs;
    let created = check_links(&plan.wiring.loaded.root, logs).and_then(|()| RunFolder::create(logs));
    let folder = created.map_err(|source| RunError::Folder { logs: logs.clone(), source })?;
    folder.collect_traces(plan.options.traces);
    let record = record_of(&plan, &folder);
    record.emit(Event::RunStarted {
        command: plan.options.command.clone(),
        project: plan.wiring.loaded.root.display().to_string(),
        seed: plan.wiring.seed(),
        trails: plan.jobs.len(),
        shard: plan.options.shard.map(|shard| shard.to_string()),
    });
    console.run_begun(&folder.path);
    // Written first, so that a killed run still leaves a page that opens.
    let _ = report::write_unfinished(&folder.path);
    let outlets = Outlets {
        events: Some(Arc::clone(&record)),
        console: Some(Arc::clone(&console)),
        folder: Some(folder.path.clone()),
    };
    // If the files have errors, there is no need to start servers.
    let has_errors = plan.has_errors();
    let mode = plan.mode(if has_errors { ServerMode::Remember } else { ServerMode::Start });
    let cassettes = plan.cassettes.take().filter(|_| !has_errors);
    plan.wiring.servers = plan
        .wiring
        .tool_servers(mode)
        .with_outlets(outlets)
        .with_cassettes(cassettes)
        .for_devices(plan.kinds.iter().flat_map(|kind| &kind.devices).map(DeviceSet::n_devices).sum())
        .keeping(watch.as_deref().map(Watch::kept_servers))
        .into();
    plan.wiring.servers.warn_of_all_stale_builds();
    if let Some(watch) = watch.as_deref_mut() {
        watch.begin(&plan.jobs, plan.wiring.servers.concerns());
    }
    let rule = plan.rule();
    let mut problems = std::mem::take(&mut plan.problems);
    tokio::select! {
        judgement = preflight::before_start(&plan.wiring, (&plan.jobs, &plan.broken), &plan.devices, &rule) => {
            problems.extend(judgement.problems);
            for error in &judgement.unneeded {
                let text = format!("{error}\nno trail of this run needs it, so the run continues");
                console.warn(&text);
                record.emit(Event::note(None, Level::Warning, text));
            }
        }
        () = cancel.cancelled() => {}
    }
    let problems = preflight::in_order(problems);
    console.problems(&problems);
    let n_errors = preflight::n_errors(&problems);
    if n_errors > 0 {
        for problem in &problems {
            record.emit(Event::note(None, Level::Error, problem.to_string()));
        }
        plan.wiring.close().await;
        let written = finish(&folder, Exit::Invalid, plan.wiring.supervisor.leaked());
        let (path, micros) = (folder.path.clone(), folder.micros());
        let ended = RunCompletion::Invalid { n_errors };
        return Ok(RunResult { exit: Exit::Invalid, ended, folder: path, micros, written });
    }
    if let Some(shard) = plan.options.shard.filter(|_| plan.kinds.is_empty()) {
        let text = format!("shard {shard} has no trails, so nothing runs: there are fewer trails than shards");
        console.warn(&text);
        record.emit(Event::note(None, Level::Warning, text));
    }
    // Without faults the seed is not used.
    if plan.options.sim.seed.is_none() && plan.wiring.uses_seed() {
        console.say(&format!("seed {}", plan.wiring.seed()));
    }
    Ok(run_trails(plan, &folder, (console, cancel), watch).await)
}

/// Runs the trails of a plan that has no errors, and saves what came of it.
async fn run_trails(
    plan: RunPlan,
    folder: &Arc<RunFolder>,
    (console, cancel): (Arc<dyn Console>, CancellationToken),
    watch: Option<&mut Watch>,
) -> RunResult {
    let record = record_of(&plan, folder);
    let n_planned = plan.n_planned();
    let history = History::read(&plan.wiring.loaded.root);
    console.trails_planned(plan.planned_trails(&history));
    let RunPlan { options, wiring, jobs, kinds, .. } = plan;
    let shared = Arc::new(SharedRun {
        wiring,
        jobs,
        memory: options.memory,
        rules: options.rules,
        replay: options.replay,
        healing: options.healing,
        strict_names: options.strict_names,
        events: Arc::clone(folder) as _,
        artifacts: Arc::clone(folder) as _,
        console: Arc::clone(&console),
        cancel: cancel.clone(),
        history,
    });
    let running = queue::run(Arc::clone(&shared), kinds, options.workers);
    let QueueResult { done, not_run } = match watch {
        Some(watch) => watch.during(&shared.wiring, running, &shared.jobs).await,
        None => running.await,
    };
    console.run_done();
    for missed in not_run {
        let trail = queue::about(&shared.jobs[missed.job].trail);
        record.emit(Event::NotRun { trail, platform: missed.platform, repeat: missed.repeat });
    }
    shared.wiring.close().await;
    let kept = shared.wiring.servers.save_cassettes(cancel.is_cancelled(), &*console);
    let saved = save_recordings(&shared, &done, folder, options.record);
    // All shards must split the trails the same way; `report merge` notes the durations of all of them.
    // What a trail does after its first steps is not known.
    if options.shard.is_none()
        && options.until.is_none()
        && let Err(error) = History::note_done(&shared.wiring.loaded.root, &shared.jobs, &done)
    {
        console.warn(&error.to_string());
    }
    let pictures = shared.wiring.expected_pictures.written();
    if !pictures.is_empty() {
        console.say(&format!("wrote expected pictures:\n  {}", pictures.join("\n  ")));
    }
    let lenient = shared.wiring.strictness.lenient_about();
    if options.notes_leniency && !lenient.is_empty() {
        console.say(&format!("note: `--strict={}` would have failed this run", lenient.join(",")));
    }
    let n_not_run = n_planned - done.len();
    let mut exit = done.iter().map(|done| done.verdict.exit()).fold(saved.worst(kept), Exit::worst);
    if cancel.is_cancelled() {
        exit = exit.worst(Exit::Environment);
    }
    let leaked = shared.wiring.supervisor.leaked();
    if leaked > 0 {
        console.error(&format!("processes could not be stopped: {leaked}"));
        exit = exit.worst(Exit::Environment);
    }
    let written = finish(folder, exit, leaked);
    let jobs = Arc::into_inner(shared).map(|shared| shared.jobs).unwrap_or_default();
    let ended = RunCompletion::Ran { jobs, done, n_not_run };
    RunResult { exit, ended, folder: folder.path.clone(), micros: folder.micros(), written }
}

/// The record of a run, without secrets.
fn record_of(plan: &RunPlan, folder: &Arc<RunFolder>) -> Arc<dyn EventSink> {
    Arc::new(Redacted::new(Arc::clone(folder) as _, Arc::clone(&plan.wiring.secrets)))
}

fn finish(folder: &RunFolder, exit: Exit, leaked: usize) -> Result<Written, RecordLost> {
    let incomplete =
        |message: String| RecordLost(format!("{message}\nthe record of the run is incomplete, so it has no junit.xml"));
    folder.finish(exit, leaked).map_err(incomplete)?;
    report::write(&folder.path).map_err(|error| RecordLost(error.to_string()))
}
