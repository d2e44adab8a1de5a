//! What `run --watch` does between and during runs: finds changed files and the trails they affect, and hot-swaps changed
//! tools.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use trailblaze_protocol::exit::Exit;

use crate::project::changes::FileChanges;
use crate::project::source::shown;
use crate::run::affected::{Affected, Again};
use crate::run::job::{Done, Job};
use crate::run::queue::QueueResult;
use crate::servers::kept::KeptServers;
use crate::servers::server_sources::Concerns;
use crate::sessions::hot_swap;
use crate::sessions::wiring::Wiring;

/// Changes within this time are one change.
const QUIET: Duration = Duration::from_millis(200);

pub struct Watch {
    root: PathBuf,
    changes: FileChanges,
    affected: Affected,
    /// The trails that did not pass when they last ran.
    failed: BTreeSet<String>,
    /// The files that changed during the last run.
    pending: Vec<PathBuf>,
    /// The tool servers of the last run, for the next one.
    kept: Arc<KeptServers>,
}

/// Changed files, and what to do about them.
pub struct WatchedChange {
    /// By their names in the project.
    pub files: Vec<String>,
    pub next: NextRun,
}

/// What to do after a change.
pub enum NextRun {
    /// Rerun all trails.
    All,
    /// Rerun these trails, by their paths in the project.
    Some(Vec<String>),
    /// No trail that ran uses the tools that changed.
    Nothing,
}

impl Watch {
    /// Watches a project. Files beneath `logs` are not watched.
    pub fn start(root: &Path, logs: &Path) -> notify::Result<Watch> {
        let changes = FileChanges::of(root, logs)?;
        let root = root.to_path_buf();
        Ok(Watch {
            root,
            changes,
            affected: Affected::default(),
            failed: BTreeSet::new(),
            pending: Vec::new(),
            kept: Arc::default(),
        })
    }

    /// Where the tool servers of a run are kept for the next one.
    pub fn kept_servers(&self) -> Arc<KeptServers> {
        Arc::clone(&self.kept)
    }

    /// Stops the tool servers that were kept.
    pub async fn close(&self) {
        self.kept.close().await;
    }

    /// Notes that these trails are about to run.
    pub fn begin(&mut self, jobs: &[Job], concerns: &Concerns) {
        self.affected.begin(jobs, concerns);
        for folder in concerns.folders_outside(&self.root) {
            self.changes.watch_too(folder);
        }
    }

    /// Hot-swaps tools that change while the trails run.
    pub async fn during(
        &mut self,
        wiring: &Wiring,
        running: impl Future<Output = QueueResult>,
        jobs: &[Job],
    ) -> QueueResult {
        let pending = &mut self.pending;
        let ran = tokio::select! {
            ran = running => ran,
            never = hot_swap::follow(wiring, &mut self.changes, |paths| pending.extend_from_slice(paths), || {}) => match never {},
        };
        self.affected.learn(jobs, &ran.done);
        self.note_failed(jobs, &ran.done);
        ran
    }

    /// Waits for a change that may affect trails.
    pub async fn next(&mut self) -> WatchedChange {
        let mut paths = std::mem::take(&mut self.pending);
        paths.retain(|path| self.affected.matters(&self.root, path));
        if paths.is_empty() {
            paths = self.changes.next(QUIET, |path| self.affected.matters(&self.root, path)).await;
            paths.retain(|path| self.affected.matters(&self.root, path));
        }
        let next = match self.affected.by(&self.root, &paths) {
            Again::All => {
                // The configuration may have changed, and with it what servers are given.
                self.kept.close().await;
                NextRun::All
            }
            Again::Some(trails) if trails.is_empty() => NextRun::Nothing,
            Again::Some(trails) => NextRun::Some(trails.into_iter().collect()),
        };
        WatchedChange { files: paths.iter().map(|path| shown(&self.root, path)).collect(), next }
    }

    /// The trails that did not pass when they last ran, by their paths in the project.
    pub fn failed(&self) -> Vec<String> {
        self.failed.iter().cloned().collect()
    }

    fn note_failed(&mut self, jobs: &[Job], done: &[Done]) {
        let path = |done: &Done| jobs[done.job].trail.source.path.clone();
        for done in done {
            self.failed.remove(&path(done));
        }
        let failed = done.iter().filter(|done| done.verdict.exit() != Exit::Passed);
        self.failed.extend(failed.map(path));
    }
}
