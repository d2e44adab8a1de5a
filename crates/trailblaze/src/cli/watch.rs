//! `trailblaze run --watch`: runs again what a changed file affects, and swaps changed tools into a run that goes on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use trailblaze_protocol::exit::Exit;

use super::interrupt::told_to_stop;
use super::run::{RunArgs, run_once};
use super::{Context, Refusal};
use crate::output::print;
use crate::project::changes::FileChanges;
use crate::run::affected::{Affected, Again};
use crate::run::job::{Done, Job};
use crate::servers::server_sources::Concerns;
use crate::sessions::hot_swap;
use crate::sessions::wiring::Wiring;

/// Changes within this time are one change.
const QUIET: Duration = Duration::from_millis(200);

/// What goes on around the runs of a watch.
pub struct Watch {
    root: PathBuf,
    changes: FileChanges,
    affected: Affected,
    /// What changed during the last run.
    pending: Vec<PathBuf>,
}

impl Watch {
    /// These trails are about to run.
    pub fn begin(&mut self, jobs: &[Job], concerns: &Concerns) {
        self.affected.begin(jobs, concerns);
        for folder in concerns.folders_outside(&self.root) {
            self.changes.watch_too(folder);
        }
    }

    /// Swaps tools that change while the trails run.
    pub async fn during(
        &mut self,
        wiring: &Wiring,
        running: impl Future<Output = Vec<Done>>,
        jobs: &[Job],
    ) -> Vec<Done> {
        let pending = &mut self.pending;
        let done = tokio::select! {
            done = running => done,
            never = hot_swap::follow(wiring, &mut self.changes, |paths| pending.extend_from_slice(paths), || {}) => match never {},
        };
        self.affected.learn(jobs, &done);
        done
    }

    /// Waits for a change that affects trails: those that it affects, or all.
    async fn next(&mut self) -> Option<Vec<String>> {
        let mut paths = std::mem::take(&mut self.pending);
        loop {
            paths.retain(|path| self.affected.matters(&self.root, path));
            if !paths.is_empty() {
                match self.affected.by(&self.root, &paths) {
                    Again::All => return None,
                    Again::Some(trails) if !trails.is_empty() => return Some(trails.into_iter().collect()),
                    Again::Some(_) => print::say("no trail that ran uses the tools that changed"),
                }
            }
            paths = self.changes.next(QUIET, |path| self.affected.matters(&self.root, path)).await;
        }
    }
}

pub async fn watch(context: &Context, args: RunArgs) -> Result<Exit, Refusal> {
    let root = context.root(args.paths.first().map_or(Path::new("."), PathBuf::as_path));
    let changes = FileChanges::of(&root, &context.absolute(&args.logs(&root)))
        .map_err(|error| Refusal::cannot_watch(&root, &error))?;
    let mut watch = Watch { root, changes, affected: Affected::default(), pending: Vec::new() };
    // Also a word to stop that comes during a run ends the watch.
    let stop = CancellationToken::new();
    let listener = tokio::spawn({
        let stop = stop.clone();
        async move {
            told_to_stop().await;
            stop.cancel();
        }
    });
    let mut only: Option<Vec<String>> = None;
    while !stop.is_cancelled() {
        if let Err(refusal) = run_once(context, &args, only.as_deref(), Some(&mut watch)).await {
            refusal.show();
        }
        if !stop.is_cancelled() {
            print::say("\nwatching for changes; Ctrl-C ends");
        }
        tokio::select! {
            changed = watch.next() => only = changed,
            () = stop.cancelled() => {}
        }
    }
    listener.abort();
    Ok(Exit::Passed)
}
