//! Watches files for changes. Whole folders are watched, because editors write a new file and rename it over the old one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Changes are reported after this many times the requested quiet period at the latest, even if files keep changing.
const PATIENCE: u32 = 20;
/// How many changed files are remembered between two calls of `next`; further ones are dropped.
const MOST: usize = 20_000;

pub struct FileChanges {
    news: Arc<News>,
    watcher: RecommendedWatcher,
}

/// Changes that have not been reported yet.
#[derive(Default)]
struct News {
    paths: Mutex<BTreeSet<PathBuf>>,
    came: Notify,
}

impl News {
    fn add(&self, path: PathBuf) {
        let mut paths = self.paths.lock();
        if paths.len() < MOST {
            paths.insert(path);
        }
        drop(paths);
        self.came.notify_one();
    }
}

impl FileChanges {
    /// Watches a project. Files that Trailblaze itself writes, in `logs` and elsewhere, are ignored.
    pub fn of(root: &Path, logs: &Path) -> notify::Result<FileChanges> {
        let news = Arc::new(News::default());
        let (own, logs) = (root.to_path_buf(), logs.to_path_buf());
        let told = Arc::clone(&news);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if matches!(event.kind, EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_))) {
                return;
            }
            let is_news = |path: &PathBuf| !path.starts_with(&logs) && !path.strip_prefix(&own).is_ok_and(is_ours);
            event.paths.into_iter().filter(is_news).for_each(|path| told.add(path));
        })?;
        watcher.watch(root, RecursiveMode::Recursive)?;
        Ok(FileChanges { news, watcher })
    }

    /// Watches another folder. A missing folder is ignored.
    pub fn watch_too(&mut self, folder: &Path) {
        let _ = self.watcher.watch(folder, RecursiveMode::Recursive);
    }

    /// Waits for changes of relevant files, and returns them once none has changed for the quiet period. Cancel safe.
    pub async fn next(&mut self, quiet: Duration, matters: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut first: Option<Instant> = None;
        loop {
            let is_any = {
                let mut paths = self.news.paths.lock();
                paths.retain(|path| matters(path));
                !paths.is_empty()
            };
            if !is_any {
                self.news.came.notified().await;
                continue;
            }
            let patience = *first.get_or_insert_with(Instant::now) + quiet * PATIENCE;
            let until = (Instant::now() + quiet).min(patience);
            tokio::select! {
                () = self.news.came.notified() => {}
                () = tokio::time::sleep_until(until) => return std::mem::take(&mut *self.news.paths.lock()).into_iter().collect(),
            }
        }
    }
}

fn is_ours(inside: &Path) -> bool {
    // A tool server may be a jar, which is built there.
    let is_jar = inside.extension().is_some_and(|ending| ending == "jar");
    let mut parts = inside.components().filter_map(|part| part.as_os_str().to_str());
    parts.any(|part| match part {
        "target" => !is_jar,
        "logs" | ".trailblaze" | ".git" | "node_modules" | "__pycache__" => true,
        part => part.ends_with(".part"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_is_no_change_except_a_jar() {
        let is_change = |path: &str| !is_ours(Path::new(path));
        assert!(is_change("tools/a.ts") && is_change("tools/target/kotlin-tools.jar"));
        assert!(!is_change("tools/target/classes/MainKt.class") && !is_change("logs/a.jar"));
    }
}
