//! Writes the lines of the record to disk. Callers only append to a buffer; a thread collects lines for a moment and writes
//! them in one go, so that a run hardly waits and a killed run loses hardly anything. The thread exists only while there is
//! something to write: the daemon may have thousands of records open.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use trailblaze_protocol::event::Event;

use crate::files::private;

/// How long lines are collected.
const GATHER: Duration = Duration::from_millis(1);
/// How long the thread waits for more lines before it ends.
const LINGER: Duration = Duration::from_millis(500);
/// How many bytes may be buffered; a caller that exceeds this waits for the disk.
const WAITING: usize = 4 << 20;
/// Room that is kept for what comes next.
const LARGE: usize = 1 << 20;

thread_local! {
    /// Where a thread makes its lines, so that not each needs room of its own.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

pub struct Writer {
    shared: Arc<SharedWriter>,
    started: Instant,
}

struct SharedWriter {
    /// Held by the thread that writes.
    file: Mutex<File>,
    waiting: Mutex<WaitingWrite>,
    filled: Condvar,
    drained: Condvar,
    failure: Mutex<Option<String>>,
}

#[derive(Default)]
struct WaitingWrite {
    lines: Vec<u8>,
    files: Vec<(PathBuf, Arc<[u8]>)>,
    n_bytes: usize,
    /// There is a thread that writes.
    has_thread: bool,
    /// The thread sleeps until it is notified.
    is_unattended: bool,
    /// No more lines are taken.
    has_ended: bool,
}

impl Writer {
    pub fn start(file: File) -> Arc<Writer> {
        let shared = Arc::new(SharedWriter {
            file: Mutex::new(file),
            waiting: Mutex::default(),
            filled: Condvar::new(),
            drained: Condvar::new(),
            failure: Mutex::default(),
        });
        Arc::new(Writer { shared, started: Instant::now() })
    }

    /// Since the writer was started.
    pub fn micros(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    pub fn event(&self, event: &Event) {
        let line = LineOf { at: self.micros(), event };
        SCRATCH.with_borrow_mut(|text| {
            text.clear();
            if serde_json::to_writer(&mut *text, &line).is_ok() {
                text.push(b'\n');
                self.shared.add(text.len(), |waiting| waiting.lines.extend_from_slice(text));
            }
            text.shrink_to(LARGE);
        });
    }

    /// Stores a file before any line that is added later.
    pub fn file(&self, path: PathBuf, bytes: Arc<[u8]>) {
        self.shared.add(bytes.len(), |waiting| waiting.files.push((path, bytes)));
    }

    /// Notes that something could not be written; the first time counts.
    pub fn failed(&self, what: &Path, error: &std::io::Error) {
        self.shared.failed(what, error);
    }

    /// Waits until everything is on disk.
    pub fn end(&self) -> Result<(), String> {
        let mut waiting = self.shared.waiting.lock();
        waiting.has_ended = true;
        self.shared.filled.notify_one();
        while waiting.has_thread {
            self.shared.drained.wait(&mut waiting);
        }
        drop(waiting);
        self.shared.failure.lock().clone().map_or(Ok(()), Err)
    }
}

/// A [`trailblaze_protocol::event::Line`] that borrows its event.
#[derive(serde::Serialize)]
struct LineOf<'e> {
    at: u64,
    event: &'e Event,
}

impl SharedWriter {
    fn add(self: &Arc<Self>, n_bytes: usize, add: impl FnOnce(&mut WaitingWrite)) {
        let mut waiting = self.waiting.lock();
        while waiting.n_bytes > 0 && waiting.n_bytes + n_bytes > WAITING && !waiting.has_ended {
            self.drained.wait(&mut waiting);
        }
        if waiting.has_ended {
            return;
        }
        add(&mut waiting);
        waiting.n_bytes += n_bytes.max(1);
        let is_first = !std::mem::replace(&mut waiting.has_thread, true);
        let is_unattended = std::mem::take(&mut waiting.is_unattended);
        drop(waiting);
        if is_first {
            self.begin();
        } else if is_unattended {
            self.filled.notify_one();
        }
    }

    /// Starts the thread.
    fn begin(self: &Arc<Self>) {
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("events".to_string()).spawn(move || shared.write());
        if thread.is_err() {
            // The system has no more threads, so the caller writes.
            self.write();
        }
    }

    fn write(&self) {
        // Even if this thread panics, no caller may wait for it forever.
        let _gone = WriterGone(self);
        let mut file = self.file.lock();
        // Swapped with the waiting buffer, so that neither is allocated again each time.
        let mut lines = Vec::new();
        // After recent lines, more are likely: sleep for a fixed time, so that callers need not wake this thread.
        let mut is_more_expected = true;
        loop {
            let mut waiting = self.waiting.lock();
            while !is_more_expected && waiting.n_bytes == 0 {
                waiting.is_unattended = true;
                let is_quiet = waiting.has_ended || self.filled.wait_for(&mut waiting, LINGER).timed_out();
                if is_quiet && waiting.n_bytes == 0 {
                    // The lock is still held, so whoever adds a line starts another thread.
                    (waiting.has_thread, waiting.is_unattended) = (false, false);
                    waiting.lines = Vec::new();
                    return;
                }
            }
            if !waiting.has_ended {
                drop(waiting);
                std::thread::sleep(GATHER);
                waiting = self.waiting.lock();
            }
            std::mem::swap(&mut lines, &mut waiting.lines);
            let files = std::mem::take(&mut waiting.files);
            is_more_expected = std::mem::take(&mut waiting.n_bytes) > 0 && !waiting.has_ended;
            drop(waiting);
            self.drained.notify_all();
            for (path, bytes) in files {
                if let Err(error) = write_file(&path, &bytes) {
                    self.failed(&path, &error);
                }
            }
            if let Err(error) = file.write_all(&lines) {
                self.failed(Path::new("events.jsonl"), &error);
            }
            lines.clear();
            lines.shrink_to(LARGE);
        }
    }

    fn failed(&self, what: &Path, error: &std::io::Error) {
        let mut failure = self.failure.lock();
        failure.get_or_insert_with(|| format!("cannot write `{}`: {error}", what.display()));
    }
}

struct WriterGone<'a>(&'a SharedWriter);

impl Drop for WriterGone<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut waiting = self.0.waiting.lock();
            waiting.has_ended = true;
            waiting.has_thread = false;
            self.0.failure.lock().get_or_insert_with(|| "the thread that writes the record panicked".to_string());
        }
        self.0.drained.notify_all();
    }
}

/// Files are named by their content: one that is there is the same, and whole.
pub fn write_file(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if path.exists() { Ok(()) } else { private::write(path, bytes) }
}

#[cfg(test)]
mod tests {
    use trailblaze_protocol::event::{Level, Line};

    use super::*;

    #[test]
    fn lines_of_many_threads_arrive_whole_and_files_before_the_lines_that_name_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let writer = Writer::start(File::create(&path).unwrap());
        // More than may wait, so that some have to wait for the disk.
        let text = "x".repeat(8192);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..400).for_each(|_| writer.event(&Event::note(None, Level::Info, text.clone()))));
            }
        });
        writer.file(folder.path().join("a/b.bin"), Arc::from(&b"bytes"[..]));
        writer.end().unwrap();
        let lines = std::fs::read_to_string(&path).unwrap();
        assert_eq!(lines.lines().filter(|line| serde_json::from_str::<Line>(line).is_ok()).count(), 1600);
        assert_eq!(std::fs::read(folder.path().join("a/b.bin")).unwrap(), b"bytes");
    }

    #[test]
    fn a_record_that_is_quiet_has_no_thread_and_loses_no_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let writer = Writer::start(File::create(&path).unwrap());
        for n in 1..=2 {
            writer.event(&Event::note(None, Level::Info, n.to_string()));
            let mut waiting = writer.shared.waiting.lock();
            assert!(waiting.has_thread);
            let has_thread = |waiting: &mut WaitingWrite| waiting.has_thread;
            let patience = Duration::from_secs(60);
            let is_late = writer.shared.drained.wait_while_for(&mut waiting, has_thread, patience).timed_out();
            assert!(!is_late, "its thread ends by itself");
            drop(waiting);
            assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), n);
        }
        writer.end().unwrap();
    }
}
