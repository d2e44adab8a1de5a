//! The runs of a project: those that the daemon started, and all others by their run folders.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use trailblaze_protocol::exit::Exit;

use super::super::service::LocalService;
use super::super::studio_access::Workplace;
use super::super::trails;
use crate::output::report::model::EVENTS;
use crate::output::report::summary;
use crate::output::report::{RunRecord, served};
use crate::run::watch::{NextRun, Watch};
use crate::sessions::service::generated::{RunUpdate, WorkspaceRun};
use crate::sessions::service::{NoProgress, RunRequest, ServiceError};

/// How many runs are listed.
const MOST_RUNS: usize = 30;
/// How long a run may be silent that no process is known to carry out.
const SILENCE: Duration = Duration::from_secs(120);
/// How often a run is read while it changes.
pub const READ_EVERY: Duration = Duration::from_millis(250);

/// The runs that the daemon carries out.
#[derive(Default)]
pub struct Runs {
    /// The tasks of the runs, and those that wait for changes.
    tasks: TaskTracker,
    /// Cancels all of them.
    closing: CancellationToken,
    running: Mutex<HashMap<PathBuf, CancellationToken>>,
    reruns: Mutex<HashMap<PathBuf, Rerun>>,
    /// Why runs are reruns: `change`, or the run that they repeat.
    reasons: Mutex<HashMap<PathBuf, String>>,
    /// Counts the changes.
    version: watch::Sender<u64>,
    /// Runs that have ended are not read again.
    ended: Mutex<HashMap<PathBuf, Option<WorkspaceRun>>>,
}

/// Trails that run again when files change.
struct Rerun {
    trails: Vec<String>,
    cancel: CancellationToken,
}

impl Runs {
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }

    /// The trails of a project that run again on changes.
    pub fn reruns(&self, root: &Path) -> Vec<String> {
        self.reruns.lock().get(root).map(|rerun| rerun.trails.clone()).unwrap_or_default()
    }

    /// Stops a run. Returns whether the daemon carries it out.
    pub fn stop(&self, folder: &Path) -> bool {
        let running = self.running.lock().get(folder).cloned();
        running.inspect(CancellationToken::cancel).is_some()
    }

    /// Stops all runs, also those that have no folder yet, and waits until their records are complete.
    pub async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn is_running(&self, folder: &Path) -> bool {
        self.running.lock().contains_key(folder)
    }

    /// The runs of a project, newest first, apart from sessions.
    pub fn list(&self, root: &Path) -> Vec<WorkspaceRun> {
        let logs = root.join("logs");
        let folders = std::fs::read_dir(&logs).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.join(EVENTS).is_file()).collect();
        folders.sort_by(|a, b| b.cmp(a));
        folders.iter().filter_map(|folder| self.row(folder)).take(MOST_RUNS).collect()
    }

    fn row(&self, folder: &Path) -> Option<WorkspaceRun> {
        let known = self.ended.lock().get(folder).cloned();
        let row = known.unwrap_or_else(|| self.read_row(folder))?;
        // A short run can end before the reason for it is noted.
        let rerun = self.reasons.lock().get(folder).cloned().unwrap_or_default();
        Some(WorkspaceRun { rerun, ..row })
    }

    fn read_row(&self, folder: &Path) -> Option<WorkspaceRun> {
        let run = RunRecord::read(folder).ok()?;
        let is_session = run.attempts.iter().any(|attempt| attempt.trail.path.is_empty());
        let row = (!is_session).then(|| {
            let is_running = self.is_running(folder);
            let state = match run.end {
                Some(end) => exit_word(end.exit),
                None if is_running || is_fresh(folder) => "running",
                None => "unfinished",
            };
            let summary = summary::summary(&run);
            let state = if state == "environment" && summary.counts.was_stopped() { "cancelled" } else { state };
            let mut trails: Vec<String> = summary.attempts.iter().map(|attempt| attempt.trail.path.clone()).collect();
            trails.dedup();
            let is_bad = |verdict: &str| matches!(verdict, "failed" | "errored" | "bug" | "invalid");
            let failed = summary.attempts.iter().filter(|attempt| is_bad(attempt.verdict) && !attempt.is_retried);
            let mut failed: Vec<String> = failed.map(|attempt| attempt.trail.path.clone()).collect();
            failed.dedup();
            WorkspaceRun {
                id: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
                started_at: summary.started_at.unwrap_or_default(),
                state: state.to_string(),
                totals: summary::totals(&run),
                trails,
                failed,
                is_stoppable: is_running && run.end.is_none(),
                rerun: String::new(),
            }
        });
        if run.end.is_some() || is_session {
            self.ended.lock().insert(folder.to_path_buf(), row.clone());
        }
        row
    }

    /// Keeps that a run has started, and why it is a rerun.
    fn note(&self, folder: &Path, cancel: CancellationToken, reason: &str) {
        if !reason.is_empty() {
            self.reasons.lock().insert(folder.to_path_buf(), reason.to_string());
        }
        self.running.lock().insert(folder.to_path_buf(), cancel);
        self.changed();
    }

    /// Whether one of the runs may still change.
    pub fn has_running(runs: &[WorkspaceRun]) -> bool {
        runs.iter().any(|run| run.state == "running")
    }

    /// Starts a run in the background, which may repeat another. Returns its folder once it has one.
    pub async fn start(
        self: &Arc<Self>,
        service: &Arc<LocalService>,
        request: RunRequest,
        rerun_of: &str,
    ) -> Result<PathBuf, ServiceError> {
        let (begun, folder) = oneshot::channel();
        let (ended, failure) = oneshot::channel();
        let cancel = self.closing.child_token();
        let (this, service, token) = (Arc::clone(self), Arc::clone(service), cancel.clone());
        self.tasks.spawn(async move {
            let _counted = service.count();
            let ran = trails::run_with(&service.projects, request, &NoProgress, &token, Some(begun), None).await;
            if let Err(error) = &ran {
                tracing::warn!(target: "trailblaze::daemon", "a run did not start: {error}");
            }
            this.changed();
            let _ = ended.send(ran.err());
        });
        match folder.await {
            Ok(folder) => {
                self.note(&folder, cancel, rerun_of);
                let (this, done) = (Arc::clone(self), folder.clone());
                self.tasks.spawn(async move {
                    let _ = failure.await;
                    this.running.lock().remove(&done);
                    this.changed();
                });
                Ok(folder)
            }
            Err(_) => match failure.await {
                Ok(Some(error)) => Err(error),
                _ => Err(ServiceError::new(Exit::Bug, "the run ended without a folder")),
            },
        }
    }

    /// Runs trails again whenever files change that they depend on, until it is stopped.
    pub fn rerun(
        self: &Arc<Self>,
        service: &Arc<LocalService>,
        place: &Workplace,
        trails: Vec<String>,
        devices: Vec<String>,
    ) -> Result<(), ServiceError> {
        if let Some(old) = self.reruns.lock().remove(&place.root) {
            old.cancel.cancel();
        }
        self.changed();
        if trails.is_empty() {
            return Ok(());
        }
        let watch = Watch::start(&place.root, &place.root.join("logs"));
        let mut watch =
            watch.map_err(|error| ServiceError::environment(format!("cannot watch the project: {error}")))?;
        let cancel = self.closing.child_token();
        let rerun = Rerun { trails: trails.clone(), cancel: cancel.clone() };
        self.reruns.lock().insert(place.root.clone(), rerun);
        let (this, service, place) = (Arc::clone(self), Arc::clone(service), place.clone());
        self.tasks.spawn(async move {
            let mut wanted = trails.clone();
            let mut reason = "";
            while !cancel.is_cancelled() {
                let request = RunRequest {
                    client: place.client.clone(),
                    paths: wanted.iter().map(|trail| place.root.join(trail)).collect(),
                    devices: devices.clone(),
                    ..RunRequest::default()
                };
                this.run_watched(&service, request, &mut watch, &cancel, reason).await;
                reason = "change";
                wanted = loop {
                    let change = tokio::select! {
                        () = cancel.cancelled() => return,
                        change = watch.next() => change,
                    };
                    match change.next {
                        NextRun::All => break trails.clone(),
                        NextRun::Some(some) => break some,
                        NextRun::Nothing => {}
                    }
                };
            }
        });
        Ok(())
    }

    async fn run_watched(
        self: &Arc<Self>,
        service: &Arc<LocalService>,
        request: RunRequest,
        watch: &mut Watch,
        cancel: &CancellationToken,
        reason: &'static str,
    ) {
        let _counted = service.count();
        let (begun, folder) = oneshot::channel();
        let token = cancel.child_token();
        let (this, known) = (Arc::clone(self), token.clone());
        let noting = tokio::spawn(async move {
            let folder: PathBuf = folder.await.ok()?;
            this.note(&folder, known, reason);
            Some(folder)
        });
        let ran = trails::run_with(&service.projects, request, &NoProgress, &token, Some(begun), Some(watch)).await;
        if let Err(error) = ran {
            tracing::warn!(target: "trailblaze::daemon", "a run did not start: {error}");
        }
        if let Ok(Some(folder)) = noting.await {
            self.running.lock().remove(&folder);
        }
        self.changed();
    }

    /// A run as far as it is.
    pub fn update(&self, folder: &Path, workspace: &str) -> RunUpdate {
        match RunRecord::read(folder) {
            Ok(run) => {
                let is_over = run.end.is_some() || (!self.is_running(folder) && !is_fresh(folder));
                let id = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let report = if is_over { format!("/studio/runs/{workspace}/{id}/report.html") } else { String::new() };
                let is_stoppable = !is_over && self.is_running(folder);
                RunUpdate { run: served::index(&run, folder), is_over, report, problem: String::new(), is_stoppable }
            }
            Err(error) => {
                let problem = error.to_string();
                RunUpdate { run: Value::Null, is_over: true, report: String::new(), problem, is_stoppable: false }
            }
        }
    }
}

/// Whether something was written lately.
fn is_fresh(folder: &Path) -> bool {
    let written = folder.join(EVENTS).metadata().and_then(|meta| meta.modified());
    written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < SILENCE))
}

/// The size of a run's record, which only grows.
pub fn size(folder: &Path) -> u64 {
    folder.join(EVENTS).metadata().map(|meta| meta.len()).unwrap_or_default()
}

fn exit_word(exit: Exit) -> &'static str {
    match exit {
        Exit::Passed => "passed",
        Exit::Failed => "failed",
        Exit::Environment => "environment",
        Exit::Invalid => "invalid",
        Exit::Bug => "bug",
    }
}
