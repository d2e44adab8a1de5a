//! Watches files for changes. Whole folders are watched, because editors write a new file and rename it over the old one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use notify::event::ModifyKind;
use notify::{Config, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Changes are reported after this many times the requested quiet period at the latest, even if files keep changing.
const PATIENCE: u32 = 20;
/// How many changed files are remembered between two calls of `next`; further ones are dropped.
const MOST: usize = 20_000;
/// How much older than its report a change may seem: clocks of file systems are coarse.
const COARSE: Duration = Duration::from_secs(2);

pub struct FileChanges {
    news: Arc<News>,
    watcher: RecommendedWatcher,
    folders: Vec<PathBuf>,
    logs: PathBuf,
    /// All changes before this were reported.
    since: SystemTime,
}

/// Changes that have not been reported yet.
#[derive(Default)]
struct News {
    paths: Mutex<BTreeSet<PathBuf>>,
    /// The system had more to tell than it keeps, so that something may be missing.
    is_incomplete: AtomicBool,
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

    fn lose(&self) {
        self.is_incomplete.store(true, Ordering::SeqCst);
        self.came.notify_one();
    }
}

impl FileChanges {
    /// Watches a project. Files that Trailblaze itself writes, in `logs` and elsewhere, are ignored, and links are not followed: those in
    /// `node_modules` lead to thousands of folders.
    pub fn of(root: &Path, logs: &Path) -> notify::Result<FileChanges> {
        let news = Arc::new(News::default());
        let (own, logs) = (root.to_path_buf(), logs.to_path_buf());
        let told = Arc::clone(&news);
        let of_logs = logs.clone();
        let handle = move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            if event.need_rescan() {
                return told.lose();
            }
            if matches!(event.kind, EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_))) {
                return;
            }
            let is_news = |path: &PathBuf| !path.starts_with(&of_logs) && !path.strip_prefix(&own).is_ok_and(is_ours);
            event.paths.into_iter().filter(is_news).for_each(|path| told.add(path));
        };
        let since = SystemTime::now();
        let mut watcher = RecommendedWatcher::new(handle, Config::default().with_follow_symlinks(false))?;
        watcher.watch(root, RecursiveMode::Recursive)?;
        Ok(FileChanges { news, watcher, folders: vec![root.to_path_buf()], logs, since })
    }

    /// Watches another folder. A missing folder is ignored.
    pub fn watch_too(&mut self, folder: &Path) {
        if self.watcher.watch(folder, RecursiveMode::Recursive).is_ok() {
            self.folders.push(folder.to_path_buf());
        }
    }

    /// Waits for changes of relevant files, and returns them once none has changed for the quiet period. Cancel safe.
    pub async fn next(&mut self, quiet: Duration, matters: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut first: Option<Instant> = None;
        loop {
            if self.news.is_incomplete.swap(false, Ordering::SeqCst) {
                self.look();
            }
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
                () = tokio::time::sleep_until(until) => {
                    self.since = SystemTime::now();
                    return std::mem::take(&mut *self.news.paths.lock()).into_iter().collect();
                }
            }
        }
    }

    /// Finds what changed since the last report, in place of what the system did not tell.
    fn look(&self) {
        let since = self.since.checked_sub(COARSE).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut folders = self.folders.clone();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
                if path.starts_with(&self.logs) || is_ours(Path::new(&entry.file_name())) && !metadata.is_file() {
                    continue;
                }
                if metadata.is_dir() {
                    folders.push(path);
                } else if metadata.modified().is_ok_and(|modified| modified >= since) {
                    self.news.add(path);
                }
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

    #[tokio::test]
    async fn changes_that_the_system_did_not_tell_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for path in ["tools/node_modules/acme", "logs"] {
            std::fs::create_dir_all(root.join(path)).expect("a folder");
        }
        for path in ["tools/a.ts", "tools/node_modules/acme/b.ts", "logs/c.ts"] {
            std::fs::write(root.join(path), "").expect("a file");
        }
        // Written just before, so that the watch does not tell of them.
        let mut changes = FileChanges::of(root, &root.join("logs")).expect("a watch");
        changes.news.lose();
        assert_eq!(changes.next(Duration::from_millis(1), |_| true).await, [root.join("tools/a.ts")]);
    }

    #[test]
    fn what_is_built_is_no_change_except_a_jar() {
        let is_change = |path: &str| !is_ours(Path::new(path));
        assert!(is_change("tools/a.ts") && is_change("tools/target/kotlin-tools.jar"));
        assert!(!is_change("tools/target/classes/MainKt.class") && !is_change("logs/a.jar"));
    }
}
