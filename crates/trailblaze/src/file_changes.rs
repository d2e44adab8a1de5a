//! Files that change while we watch: whole folders are watched, because editors write beside a file and rename over it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::Instant;

/// However busy the files are: changes are told at the latest after this many times the quiet that was asked for.
const PATIENCE: u32 = 20;

pub struct FileChanges {
    changes: UnboundedReceiver<PathBuf>,
    /// What came and nobody was told yet.
    seen: BTreeSet<PathBuf>,
    watcher: RecommendedWatcher,
}

impl FileChanges {
    /// Watches a project. What we write ourselves, beneath `logs` and elsewhere, is no news.
    pub fn of(root: &Path, logs: &Path) -> notify::Result<FileChanges> {
        let (send, changes) = unbounded_channel();
        let (own, logs) = (root.to_path_buf(), std::path::absolute(logs).unwrap_or_else(|_| logs.to_path_buf()));
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if matches!(event.kind, EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_))) {
                return;
            }
            let is_news = |path: &PathBuf| !path.starts_with(&logs) && !path.strip_prefix(&own).is_ok_and(is_ours);
            event.paths.into_iter().filter(is_news).for_each(|path| drop(send.send(path)));
        })?;
        watcher.watch(root, RecursiveMode::Recursive)?;
        Ok(FileChanges { changes, seen: BTreeSet::new(), watcher })
    }

    /// Watches a further folder. One that is not there has nothing to tell.
    pub fn watch_too(&mut self, folder: &Path) {
        let _ = self.watcher.watch(folder, RecursiveMode::Recursive);
    }

    /// The files that matter and have changed, once none has for so long. Nothing is lost if the wait is given up.
    pub async fn next(&mut self, quiet: Duration, matters: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut last = Instant::now();
        let mut first = last;
        loop {
            let until = (last + quiet).min(first + quiet * PATIENCE);
            tokio::select! {
                biased;
                path = self.changes.recv() => match path {
                    Some(path) if matters(&path) => {
                        last = Instant::now();
                        if self.seen.is_empty() {
                            first = last;
                        }
                        self.seen.insert(path);
                    }
                    Some(_) => {}
                    // The watcher lives as long as we do.
                    None => std::future::pending().await,
                },
                () = tokio::time::sleep_until(until), if !self.seen.is_empty() => {
                    return std::mem::take(&mut self.seen).into_iter().collect();
                }
            }
        }
    }
}

fn is_ours(inside: &Path) -> bool {
    let mut parts = inside.components().filter_map(|part| part.as_os_str().to_str());
    parts.any(|part| matches!(part, "logs" | ".trailblaze" | ".git" | "target") || part.ends_with(".part"))
}
