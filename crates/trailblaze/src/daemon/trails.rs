//! Requests about trails: run, check, edit, and the reports of runs.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use trailblaze_core::record::artifacts::PicturePolicy;
use trailblaze_core::trail::Trail;
use trailblaze_core::yaml::{Problem, Severity, Source};
use trailblaze_protocol::event::{Event, Header};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::DeviceId;

use super::live::Live;
use super::projects::{self, Projects, sound};
use crate::files::lock::ProjectLock;
use crate::files::{is_inside, private, write_in_project};
use crate::output::console::Console;
use crate::output::report::{self, summary};
use crate::output::run_folder::TracePolicy;
use crate::output::words::count;
use crate::project::loaded::{LoadError, Loaded};
use crate::project::select::{Filter, NotOwnTrail, SelectError, own_trail};
use crate::project::source::shown;
use crate::run::check::{self, CheckOptions};
use crate::run::execute::{RunCompletion, RunResult, Sinks, execute};
use crate::run::job::{Done, Healing, Job, Replay, Rules};
use crate::run::plan::{DeviceChoice, RunOptions, RunPlan};
use crate::run::record::save::RecordLevel;
use crate::run::watch::Watch;
use crate::sessions::service::{
    CheckRequest, Checked, ClientPlace, EditRequest, Edited, ProgressSink, Ran, ReportRequest, RunRequest,
    ServiceAnswer, ServiceError,
};
use crate::sessions::wiring::{Wiring, resolve_devices};

/// The longest trail that is read or written, in bytes.
const MOST_BYTES: usize = 1 << 20;

/// Runs trails of the project.
pub async fn run(
    projects: &Projects,
    request: RunRequest,
    progress: &dyn ProgressSink,
    cancel: &CancellationToken,
) -> Result<ServiceAnswer, ServiceError> {
    only_own(&*projects.load(&request.client)?, &request.paths)?;
    run_with(projects, request, progress, cancel, None, None).await
}

/// The same. Tells its folder when it begins; with `watch`, tools that change are hot-swapped.
pub async fn run_with(
    projects: &Projects,
    request: RunRequest,
    progress: &dyn ProgressSink,
    cancel: &CancellationToken,
    begun: Option<oneshot::Sender<PathBuf>>,
    watch: Option<&mut Watch>,
) -> Result<ServiceAnswer, ServiceError> {
    let loaded = projects.load(&request.client)?;
    let limits = projects::agent_limits(&loaded, &request.secrets, &request.allowed_secrets)?;
    let command = command_of(&request, &loaded.root);
    let devices = resolve_devices(&loaded, &projects.host, &request.devices).await;
    let devices = devices.map_err(|error| ServiceError::invalid(error.to_string()))?;
    let options = RunOptions {
        paths: request.paths,
        only: None,
        filter: Filter::default(),
        until: None,
        devices: DeviceChoice::Named(devices),
        is_headed: false,
        target: request.target,
        record: request.records.then_some(RecordLevel::Calls),
        replay: Replay::Intent,
        agent: request.agent,
        healing: Healing { mode: Some(trailblaze_core::callers::heal::HealMode::Suggest), may_ask: false },
        cassette: None,
        changes: Severity::Warning,
        strict_results: false,
        strict_names: false,
        notes_leniency: false,
        pictures: PicturePolicy::Step,
        traces: TracePolicy::default(),
        update_snapshots: false,
        memory: Vec::new(),
        args: Default::default(),
        secrets: request.secrets,
        rules: Rules { repeat_each: 1, ..Rules::default() },
        workers: None,
        last_failed: false,
        shard: None,
        sim: Default::default(),
        logs: loaded.root.join("logs"),
        command,
    };
    let plan = RunPlan::new(&loaded, &projects.host, options);
    let plan = plan.map_err(|error| ServiceError::invalid(error.to_string()))?;
    limits.iter().for_each(|(name, origins)| plan.wiring.secrets.limit(name, origins));
    projects.log.hide(&plan.wiring.secrets);
    let secrets = Arc::clone(&plan.wiring.secrets);
    let (console, mut lines) = RunConsole::new(begun);
    let console = Arc::new(console);
    let sinks = Sinks { console: Arc::clone(&console) as Arc<dyn Console>, cancel: cancel.clone() };
    let executing = execute(plan, sinks, watch);
    tokio::pin!(executing);
    let result = loop {
        tokio::select! {
            result = &mut executing => break result,
            Some(line) = lines.recv() => progress.say(&secrets.redact(&line)),
        }
    };
    let result = result.map_err(|error| ServiceError::environment(error.to_string()))?;
    let mut text = told(&result, &console.said.lock());
    secrets.redact_in_place(&mut text);
    let (summary, html) = match &result.written {
        Ok(written) => (json!(summary::summary(&written.run)), Some(written.html.clone())),
        Err(_) => (Value::Null, None),
    };
    Ok(ServiceAnswer::Ran(Ran { exit: result.exit, text, summary, report: html }))
}

/// The command that repeats a run. The one that asked for it, such as `trailblaze studio`, would not.
fn command_of(request: &RunRequest, root: &Path) -> Vec<String> {
    let paths = request.paths.iter().map(|path| path.strip_prefix(root).unwrap_or(path).display().to_string());
    let mut command: Vec<String> = ["trailblaze", "run"].map(str::to_string).into_iter().chain(paths).collect();
    let mut option = |name: &str, value: &str| command.extend([name.to_string(), value.to_string()]);
    if !request.devices.is_empty() {
        option("-d", &request.devices.join(","));
    }
    request.target.iter().for_each(|target| option("--target", target));
    request.secrets.iter().for_each(|name| option("--secret", name));
    if request.records {
        command.push("--record".to_string());
    }
    command
}

/// Runs the steps of a session on another device.
pub async fn run_text(
    projects: &Projects,
    live: &Live,
    text: &str,
    device: &str,
    client: ClientPlace,
    progress: &dyn ProgressSink,
    cancel: &CancellationToken,
) -> Result<ServiceAnswer, ServiceError> {
    let path = live.run_folder.join("replay.trail.yaml");
    private::write(&path, text)
        .map_err(|error| ServiceError::environment(format!("cannot write `{}`: {error}", path.display())))?;
    let request = RunRequest {
        client,
        paths: vec![path],
        devices: vec![device.to_string()],
        target: live.target.clone(),
        records: false,
        secrets: live.request.secrets.clone(),
        allowed_secrets: live.request.allowed_secrets.clone(),
        agent: live.request.agent.clone(),
    };
    run_with(projects, request, progress, cancel, None, None).await
}

/// Fails if a path is outside of the project: agents choose these paths, and what is wrong in a file is quoted.
fn only_own(loaded: &Loaded, paths: &[PathBuf]) -> Result<(), ServiceError> {
    for path in paths {
        let file = loaded.environment.absolute(path);
        let file = file.canonicalize().unwrap_or(file);
        if !is_inside(&loaded.root, &file) {
            return Err(ServiceError::invalid(NotOwnTrail::Outside(path.display().to_string()).to_string()));
        }
    }
    Ok(())
}

/// How a run ended, for people.
fn told(result: &RunResult, said: &[String]) -> String {
    let mut lines: Vec<String> = Vec::new();
    match &result.ended {
        RunCompletion::Invalid { n_errors } => {
            lines.extend(said.iter().cloned());
            lines.push(format!("nothing ran: {}", count(*n_errors, "problem")));
        }
        RunCompletion::Ran { jobs, done, n_not_run } => {
            lines.extend(done.iter().map(|done| outcome(jobs, done)));
            if *n_not_run > 0 {
                lines.push(format!("{n_not_run} not run"));
            }
        }
    }
    match &result.written {
        Ok(written) => {
            lines.push(summary::totals(&written.run));
            lines.push(format!("Report: {}", written.html.display()));
        }
        Err(error) => lines.push(error.to_string()),
    }
    lines.join("\n")
}

fn outcome(jobs: &[Job], done: &Done) -> String {
    let trail = &jobs[done.job].trail;
    let place = done.place.as_ref().map_or_else(|| trail.source.path.clone(), ToString::to_string);
    let verdict = json!(done.verdict);
    let verdict = verdict.as_str().unwrap_or_default();
    let mut text = format!("{verdict}: {} on {} ({place})", trail.title(), done.device);
    if done.verdict.exit() != Exit::Passed {
        text.push_str(&format!("\n  {}", done.message.replace('\n', "\n  ")));
    }
    for suggestion in &done.suggestions {
        text.push_str(&format!("\n  instead: {}", report::heals::line(suggestion)));
    }
    text
}

/// Passes on what a run says, and keeps its problems.
struct RunConsole {
    lines: mpsc::Sender<String>,
    said: Mutex<Vec<String>>,
    begun: Mutex<Option<oneshot::Sender<PathBuf>>>,
}

impl RunConsole {
    fn new(begun: Option<oneshot::Sender<PathBuf>>) -> (RunConsole, mpsc::Receiver<String>) {
        let (lines, receiver) = mpsc::channel(64);
        (RunConsole { lines, said: Mutex::default(), begun: Mutex::new(begun) }, receiver)
    }

    fn pass_on(&self, text: &str) {
        // If the client reads too slowly, progress is dropped.
        let _ = self.lines.try_send(text.to_string());
    }
}

impl Console for RunConsole {
    fn say(&self, text: &str) {
        self.pass_on(text);
    }

    fn warn(&self, text: &str) {
        self.pass_on(text);
    }

    fn error(&self, text: &str) {
        self.pass_on(text);
    }

    fn problems(&self, problems: &[Problem]) {
        self.said.lock().extend(problems.iter().map(ToString::to_string));
    }

    fn run_begun(&self, folder: &Path) {
        if let Some(begun) = self.begun.lock().take() {
            let _ = begun.send(folder.to_path_buf());
        }
    }

    fn event(&self, device: &DeviceId, event: &Event) {
        if let Event::StepStarted { text, .. } = event {
            self.pass_on(&format!("{device}: {text}"));
        }
    }

    fn rescue(&self, text: &str) {
        self.said.lock().push(text.to_string());
    }
}

pub async fn check(projects: &Projects, request: CheckRequest) -> Result<ServiceAnswer, ServiceError> {
    let loaded = projects.load(&request.client)?;
    only_own(&loaded, &request.paths)?;
    let wiring = Wiring::new(&loaded, &projects.host, None);
    projects.log.hide(&wiring.secrets);
    let options = CheckOptions { paths: request.paths, ..CheckOptions::default() };
    let console = Arc::new(RunConsole::new(None).0);
    let found = check::check(&loaded, wiring, &options, console).await;
    let found = found.map_err(|error| ServiceError::invalid(error.to_string()))?;
    if let Some(error) = found.failed.first() {
        return Err(ServiceError::environment(error.to_string()));
    }
    let (trails, errors) = (found.n_trails, found.n_errors());
    Ok(ServiceAnswer::Checked(Checked {
        trails,
        errors,
        problems: found.problems.iter().map(check::as_json).collect(),
    }))
}

pub fn edit(projects: &Projects, request: &EditRequest) -> Result<ServiceAnswer, ServiceError> {
    let loaded = projects.load(&request.client)?;
    let Some(path) = &request.path else {
        return Ok(ServiceAnswer::Trail(Edited::List(list(&loaded)?.iter().map(|trail| json!(trail)).collect())));
    };
    let file = own_trail(&loaded.root, path).map_err(|error| ServiceError::invalid(error.to_string()))?;
    let name = PathBuf::from(shown(&loaded.root, &file));
    let read = || match std::fs::read_to_string(&file) {
        Ok(text) if text.len() <= MOST_BYTES => Ok(text),
        Ok(_) => Err(ServiceError::invalid(format!("`{}` is too large", name.display()))),
        Err(error) => Err(ServiceError::invalid(format!("cannot read `{}`: {error}", name.display()))),
    };
    let text = match (&request.text, &request.replace) {
        (None, None) => return Ok(ServiceAnswer::Trail(Edited::Text { text: read()?, path: name })),
        (Some(_), Some(_)) => return Err(ServiceError::invalid("pass either the whole text or a replacement")),
        (Some(text), None) => text.clone(),
        (None, Some((old, new))) => {
            let text = read()?;
            match text.matches(old.as_str()).count() {
                1 => text.replacen(old.as_str(), new, 1),
                0 => return Err(ServiceError::invalid(format!("`{}` does not contain the old text", name.display()))),
                n => {
                    let text = format!("`{}` contains the old text {n} times; pass more of it", name.display());
                    return Err(ServiceError::invalid(text));
                }
            }
        }
    };
    if text.len() > MOST_BYTES {
        return Err(ServiceError::invalid("the trail is too large"));
    }
    let source: Arc<Source> = Source::new(name.display().to_string(), text.as_str());
    let (trail, problems) = Trail::read(&source);
    if trail.is_none() {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(ServiceError::invalid(format!("nothing was written:\n{}", problems.join("\n"))));
    }
    let cannot =
        |error: std::io::Error| ServiceError::environment(format!("cannot write `{}`: {error}", name.display()));
    let _lock = ProjectLock::take(&loaded.root).map_err(cannot)?;
    write_in_project(&loaded.root, &file, &text).map_err(cannot)?;
    let warnings = problems.iter().map(ToString::to_string).collect();
    Ok(ServiceAnswer::Trail(Edited::Written { path: name, warnings }))
}

/// A trail in the list of a project's trails.
#[derive(Debug, Clone, Serialize)]
pub struct ListedTrail {
    pub path: String,
    pub title: String,
    pub steps: usize,
    pub tags: Vec<String>,
}

pub fn list(loaded: &Loaded) -> Result<Vec<ListedTrail>, ServiceError> {
    let trails = match loaded.trails(&[]) {
        Err(LoadError::Select(SelectError::NoTrails { .. } | SelectError::Missing { .. })) => Vec::new(),
        trails => trails.map_err(|error| ServiceError::invalid(error.to_string()))?,
    };
    let row = |trail: &Trail| ListedTrail {
        path: trail.source.path.clone(),
        title: trail.title().to_string(),
        steps: trail.steps.len(),
        tags: trail.config.tags.clone(),
    };
    Ok(trails.iter().filter_map(|(trail, _)| trail.as_ref()).map(row).collect())
}

/// The trails of the project that cannot be read: their paths, and why.
pub fn unreadable(loaded: &Loaded) -> Vec<(String, String)> {
    let trails = loaded.trails(&[]).unwrap_or_default();
    let why = |problems: &[Problem]| {
        let problem = problems.iter().find(|problem| problem.severity == Severity::Error).or(problems.first())?;
        Some((problem.source.path.clone(), format!("line {}: {}", problem.span.line, problem.message)))
    };
    trails.iter().filter(|(trail, _)| trail.is_none()).filter_map(|(_, problems)| why(problems)).collect()
}

pub fn report(projects: &Projects, open: &[PathBuf], request: &ReportRequest) -> Result<ServiceAnswer, ServiceError> {
    let loaded = projects.load(&request.client)?;
    sound(&loaded)?;
    let logs = loaded.root.join("logs");
    let folder = match &request.run {
        Some(run) if is_name(run) => logs.join(run),
        Some(run) => return Err(ServiceError::invalid(format!("`{run}` is not the name of a run"))),
        None => latest(&logs, open).ok_or_else(|| ServiceError::invalid(format!("no runs in `{}`", logs.display())))?,
    };
    let run = report::RunRecord::read(&folder).map_err(|error| ServiceError::invalid(error.to_string()))?;
    Ok(ServiceAnswer::Report(Box::new(json!(summary::summary(&run)))))
}

/// The latest run, apart from sessions that are still open.
fn latest(logs: &Path, open: &[PathBuf]) -> Option<PathBuf> {
    let folders = std::fs::read_dir(logs).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    // Names begin with the time in seconds, and the header is finer.
    let second = |folder: &PathBuf| folder.file_name().map(|name| name.to_string_lossy().chars().take(15).collect());
    let begun = |folder: &PathBuf| -> Option<String> {
        let mut line = String::new();
        BufReader::new(File::open(folder.join("events.jsonl")).ok()?).read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok().map(|header: Header| header.started_at)
    };
    let ended = folders.filter(|folder| folder.join("events.jsonl").is_file() && !open.contains(folder));
    let mut ended: Vec<(Option<String>, PathBuf)> = ended.map(|folder| (second(&folder), folder)).collect();
    let last = ended.iter().map(|(second, _)| second).max()?.clone();
    ended.retain(|(second, _)| *second == last);
    ended.into_iter().map(|(_, folder)| folder).max_by_key(begun)
}

/// Whether a text is a single name, and no path.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '\\']) && text != "." && text != ".."
}
