//! Watches files for changes. Whole folders are watched, because editors write a new file and rename it over the old one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
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

/// Watches the folders of any number of listeners with one thread and one handle of the system, of which there are few.
#[derive(Clone, Default)]
pub struct FileWatch(Arc<FolderWatch>);

#[derive(Default)]
struct FolderWatch {
    /// Made when it is first needed.
    watcher: Mutex<Option<RecommendedWatcher>>,
    /// How many listeners have each folder, by its path without links.
    folders: Mutex<BTreeMap<PathBuf, usize>>,
    listeners: Arc<Listeners>,
}

/// Used by the thread that hears of changes, which must not be made to wait for itself: nothing here uses the watcher.
#[derive(Default)]
struct Listeners(Mutex<Vec<Weak<ChangeListener>>>);

/// What changes in the folders of one listener.
struct ChangeListener {
    root: PathBuf,
    logs: PathBuf,
    /// Its folders as it names them, and without links.
    folders: Mutex<Vec<(PathBuf, PathBuf)>>,
    news: ChangedFiles,
}

pub struct FileChanges {
    watch: Arc<FolderWatch>,
    listener: Arc<ChangeListener>,
    /// All changes before this were reported.
    since: SystemTime,
}

/// Changes that have not been reported yet.
#[derive(Default)]
struct ChangedFiles {
    paths: Mutex<BTreeSet<PathBuf>>,
    /// The system had more to tell than it keeps, so that something may be missing.
    is_incomplete: AtomicBool,
    came: Notify,
}

impl ChangedFiles {
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

impl FileWatch {
    /// Watches a project. Files that Trailblaze itself writes, in `logs` and elsewhere, are ignored, and links are not followed: those in
    /// `node_modules` lead to thousands of folders.
    pub fn changes(&self, root: &Path, logs: &Path) -> notify::Result<FileChanges> {
        let since = SystemTime::now();
        let listener = Arc::new(ChangeListener {
            root: root.to_path_buf(),
            logs: logs.to_path_buf(),
            folders: Mutex::default(),
            news: ChangedFiles::default(),
        });
        self.0.listeners.0.lock().push(Arc::downgrade(&listener));
        let changes = FileChanges { watch: Arc::clone(&self.0), listener, since };
        changes.add(root)?;
        Ok(changes)
    }
}

impl Listeners {
    fn tell(&self, event: &notify::Event) {
        if matches!(event.kind, EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)))
            && !event.need_rescan()
        {
            return;
        }
        let listeners: Vec<Arc<ChangeListener>> = self.0.lock().iter().filter_map(Weak::upgrade).collect();
        for listener in listeners {
            match event.need_rescan() {
                true => listener.news.lose(),
                false => event.paths.iter().for_each(|path| listener.hear(path)),
            }
        }
    }
}

impl FolderWatch {
    /// Watches a folder for one more listener.
    fn add(&self, folder: &Path) -> notify::Result<()> {
        let mut watcher = self.watcher.lock();
        let watcher = match &mut *watcher {
            Some(watcher) => watcher,
            none => {
                let listeners = Arc::clone(&self.listeners);
                let tell =
                    move |event: notify::Result<notify::Event>| event.iter().for_each(|event| listeners.tell(event));
                none.insert(RecommendedWatcher::new(tell, Config::default().with_follow_symlinks(false))?)
            }
        };
        if !self.folders.lock().contains_key(folder) {
            watcher.watch(folder, RecursiveMode::Recursive)?;
        }
        *self.folders.lock().entry(folder.to_path_buf()).or_default() += 1;
        Ok(())
    }

    /// Watches a folder for one listener less.
    fn remove(&self, folder: &Path) {
        let mut watcher = self.watcher.lock();
        let mut folders = self.folders.lock();
        let Some(count) = folders.get_mut(folder) else { return };
        *count -= 1;
        if *count > 0 {
            return;
        }
        folders.remove(folder);
        let Some(watcher) = &mut *watcher else { return };
        let _ = watcher.unwatch(folder);
        // The end of a watch ends those of the folders in it, and leaves a gap in those of the folders around it.
        for other in folders.keys().filter(|other| other.starts_with(folder) || folder.starts_with(other)) {
            let _ = watcher.watch(other, RecursiveMode::Recursive);
        }
    }
}

impl ChangeListener {
    /// Keeps a changed file, under the name that the listener has for it.
    fn hear(&self, changed: &Path) {
        let folders = self.folders.lock();
        let own = folders.iter().find_map(|(own, real)| Some(own.join(changed.strip_prefix(real).ok()?)));
        let is_news =
            |path: &PathBuf| !path.starts_with(&self.logs) && !path.strip_prefix(&self.root).is_ok_and(is_ours);
        own.into_iter().filter(is_news).for_each(|path| self.news.add(path));
    }
}

impl Drop for FileChanges {
    fn drop(&mut self) {
        let own = Arc::downgrade(&self.listener);
        self.watch.listeners.0.lock().retain(|listener| !listener.ptr_eq(&own));
        let folders = std::mem::take(&mut *self.listener.folders.lock());
        folders.iter().for_each(|(_, real)| self.watch.remove(real));
    }
}

impl FileChanges {
    /// Watches a project with a thread of its own; see [`FileWatch::changes`].
    pub fn of(root: &Path, logs: &Path) -> notify::Result<FileChanges> {
        FileWatch::default().changes(root, logs)
    }

    /// Watches another folder. A missing folder is ignored.
    pub fn watch_too(&mut self, folder: &Path) {
        let _ = self.add(folder);
    }

    fn add(&self, folder: &Path) -> notify::Result<()> {
        if self.listener.folders.lock().iter().any(|(own, _)| own == folder) {
            return Ok(());
        }
        let real = folder.canonicalize()?;
        self.watch.add(&real)?;
        self.listener.folders.lock().push((folder.to_path_buf(), real));
        Ok(())
    }

    /// Waits for changes of relevant files, and returns them once none has changed for the quiet period. Cancel safe.
    pub async fn next(&mut self, quiet: Duration, matters: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut first: Option<Instant> = None;
        let news = &self.listener.news;
        loop {
            if news.is_incomplete.swap(false, Ordering::SeqCst) {
                self.look();
            }
            let is_any = {
                let mut paths = news.paths.lock();
                paths.retain(|path| matters(path));
                !paths.is_empty()
            };
            if !is_any {
                news.came.notified().await;
                continue;
            }
            let patience = *first.get_or_insert_with(Instant::now) + quiet * PATIENCE;
            let until = (Instant::now() + quiet).min(patience);
            tokio::select! {
                () = news.came.notified() => {}
                () = tokio::time::sleep_until(until) => {
                    self.since = SystemTime::now();
                    return std::mem::take(&mut *news.paths.lock()).into_iter().collect();
                }
            }
        }
    }

    /// Finds what changed since the last report, in place of what the system did not tell.
    fn look(&self) {
        let since = self.since.checked_sub(COARSE).unwrap_or(SystemTime::UNIX_EPOCH);
        let listener = &self.listener;
        let mut folders: Vec<PathBuf> = listener.folders.lock().iter().map(|(own, _)| own.clone()).collect();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
                if path.starts_with(&listener.logs) || is_ours(Path::new(&entry.file_name())) && !metadata.is_file() {
                    continue;
                }
                if metadata.is_dir() {
                    folders.push(path);
                } else if metadata.modified().is_ok_and(|modified| modified >= since) {
                    listener.news.add(path);
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
        changes.listener.news.lose();
        assert_eq!(changes.next(Duration::from_millis(1), |_| true).await, [root.join("tools/a.ts")]);
    }

    #[tokio::test]
    async fn one_watch_serves_many_listeners_by_the_names_that_they_use() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("project");
        std::fs::create_dir_all(root.join("inner")).expect("a folder");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&root, &link).expect("a link");
        let watch = FileWatch::default();
        let listen = |root: &Path| watch.changes(root, &root.join("logs")).expect("a watch");
        let (mut whole, mut linked, inner) = (listen(&root), listen(&link), listen(&root.join("inner")));
        std::fs::write(root.join("inner/a.ts"), "1").expect("a file");
        let quiet = Duration::from_millis(1);
        assert_eq!(whole.next(quiet, |_| true).await, [root.join("inner/a.ts")]);
        assert_eq!(linked.next(quiet, |_| true).await, [link.join("inner/a.ts")]);
        // Others still hear of a folder that one of them no longer wants.
        drop((inner, linked));
        std::fs::write(root.join("inner/b.ts"), "1").expect("a file");
        let heard = whole.next(quiet, |path| path.ends_with("b.ts")).await;
        assert_eq!(heard, [root.join("inner/b.ts")]);
        assert_eq!(watch.0.listeners.0.lock().len(), 1);
    }

    #[test]
    fn what_is_built_is_no_change_except_a_jar() {
        let is_change = |path: &str| !is_ours(Path::new(path));
        assert!(is_change("tools/a.ts") && is_change("tools/target/kotlin-tools.jar"));
        assert!(!is_change("tools/target/classes/MainKt.class") && !is_change("logs/a.jar"));
    }
}
