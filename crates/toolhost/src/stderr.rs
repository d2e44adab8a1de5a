//! Captures a server's stderr: all of it is written to a file, and the first and last lines are kept for messages.

use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{mpsc, oneshot};
use trailblaze_core::values::secret::Secrets;

use crate::limits;

/// The first and the last lines: some languages print the error above the stack trace, others below.
#[derive(Clone, Default)]
pub struct Excerpt(Arc<Mutex<StderrLines>>);

#[derive(Default)]
struct StderrLines {
    /// Since the last call began, or since the start.
    kept: KeptLines,
    /// Of the call before, and of the time between both.
    before: KeptLines,
    /// Asks the task that captures the stream to read what is there.
    catch_up: Option<mpsc::UnboundedSender<oneshot::Sender<()>>>,
}

#[derive(Default)]
struct KeptLines {
    first: Vec<String>,
    last: VecDeque<String>,
    n_lines: usize,
}

/// How a line begins with which a server says where its code is that has to be stopped.
const STOPPED_AT: &str = "stopped while it was at ";

/// How many reads it takes at most to catch up with a server that never stops writing.
const CATCH_UP_READS: usize = 16;

impl Excerpt {
    /// The lines since the last call began, or since the start; safe to show, with a note where some are left out. If there are none,
    /// those of the call before: a server that ends between two calls says why ahead of the second.
    pub fn shown(&self) -> Vec<String> {
        let lines = self.0.lock();
        let shown_lines = if lines.kept.n_lines == 0 { &lines.before } else { &lines.kept };
        let KeptLines { first, last, n_lines } = shown_lines;
        let n_last = last.len().min(limits::STDERR_SHOWN_LINES);
        let first = &first[..first.len().min(n_lines - n_last)];
        let left_out = match n_lines - n_last - first.len() {
            0 => None,
            n => Some(format!("… {n} lines left out")),
        };
        let last = last.iter().skip(last.len() - n_last);
        first.iter().map(|line| shown(line)).chain(left_out).chain(last.map(|line| shown(line))).collect()
    }

    pub fn clear(&self) {
        let mut lines = self.0.lock();
        *lines = StderrLines { catch_up: lines.catch_up.take(), ..StderrLines::default() };
    }

    /// A call begins: what was written before says nothing about it.
    pub fn begin_call(&self) {
        let mut lines = self.0.lock();
        lines.before = std::mem::take(&mut lines.kept);
    }

    /// Where the code was when its call was cancelled or the server was stopped, if it says so: our packages for Kotlin and Python do.
    pub fn stopped_at(&self) -> Vec<String> {
        let lines = self.0.lock();
        lines.kept.last.iter().filter_map(|line| line.strip_prefix(STOPPED_AT)).map(shown).collect()
    }

    /// Waits until what the server has written so far is read.
    pub async fn catch_up(&self) {
        let (done, is_read) = oneshot::channel();
        let is_asked = self.0.lock().catch_up.as_ref().is_some_and(|asks| asks.send(done).is_ok());
        if is_asked {
            // An error means that the stream has ended.
            let _ = is_read.await;
        }
    }

    fn push(&self, line: String) {
        let lines = &mut self.0.lock().kept;
        lines.n_lines += 1;
        if lines.first.len() < limits::STDERR_FIRST_LINES {
            lines.first.push(line.clone());
        }
        if lines.last.len() == limits::STDERR_LINES {
            lines.last.pop_front();
        }
        lines.last.push_back(line);
    }
}

/// A line without control sequences such as colours, cut if it is long.
pub fn shown(line: &str) -> String {
    let mut short = String::new();
    let mut chars = line.chars();
    let mut n_chars = 0;
    while let Some(c) = chars.next() {
        if n_chars == limits::STDERR_SHOWN_CHARS {
            short.push('…');
            break;
        }
        match c {
            '\u{1b}' if chars.as_str().starts_with('[') => {
                // A control sequence ends with its first letter.
                chars.by_ref().skip(1).find(|c| ('@'..='~').contains(c));
            }
            c if c.is_control() && c != '\t' => {}
            c => {
                short.push(c);
                n_chars += 1;
            }
        }
    }
    short
}

/// Reads until the stream ends, and replaces secrets by their names. Output beyond the limit is read but not kept. `heard` is called
/// with each line. `is_waiting` tells whether the stream has something to read, even if the runtime was not told so yet.
///
/// An overlong line is kept in pieces, cut so that no secret spans a cut. A line that has not ended when somebody catches up is kept as it
/// is: what a tool printed without a line end belongs to its call, and the server may print nothing more.
pub async fn capture<S: AsyncRead + Unpin>(
    mut stream: S,
    excerpt: Excerpt,
    log: &ServerLog,
    secrets: &Secrets,
    is_waiting: impl Fn(&S) -> bool,
    heard: impl Fn(&str),
) {
    let keep = |line: &[u8], excerpt: Option<&Excerpt>| keep(line, excerpt, log, secrets, &heard);
    // One for each call that ended in a failure and waits for the output before it.
    let (asks, mut asked) = mpsc::unbounded_channel();
    excerpt.0.lock().catch_up = Some(asks);
    let mut catching_up: Vec<oneshot::Sender<()>> = Vec::new();
    let mut buffer = Vec::with_capacity(8 << 10);
    let overlap = secrets.longest();
    // Of an overlong line only the first piece is shown; the rest is only logged.
    let mut is_rest = false;
    loop {
        while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = buffer.drain(..=end).take(end).collect();
            keep(&line, (!is_rest).then_some(&excerpt));
            is_rest = false;
        }
        if buffer.len() > limits::STDERR_LINE_BYTES + overlap {
            // An incomplete secret may be at the end; it stays in the buffer and is searched again with what follows.
            let mut piece = secrets.redact_bytes(&buffer).unwrap_or_else(|| std::mem::take(&mut buffer));
            buffer = piece.split_off(piece.len().saturating_sub(overlap));
            keep(&piece, (!is_rest).then_some(&excerpt));
            is_rest = true;
        }
        if !catching_up.is_empty() && !buffer.is_empty() && !secrets.may_continue(&buffer) {
            keep(&std::mem::take(&mut buffer), (!is_rest).then_some(&excerpt));
            is_rest = false;
        }
        buffer.reserve(8 << 10);
        for done in catching_up.drain(..) {
            let _ = done.send(());
        }
        tokio::select! {
            read = stream.read_buf(&mut buffer) => match read {
                Ok(n) if n > 0 => {}
                _ => break,
            },
            Some(done) = asked.recv() => {
                catching_up.push(done);
                for _ in 0..CATCH_UP_READS {
                    let read = match is_waiting(&stream) {
                        true => Some(stream.read_buf(&mut buffer).await),
                        false => stream.read_buf(&mut buffer).now_or_never(),
                    };
                    if !matches!(read, Some(Ok(n)) if n > 0) {
                        break;
                    }
                }
            }
        }
    }
    if !buffer.is_empty() {
        keep(&buffer, (!is_rest).then_some(&excerpt));
    }
}

fn keep(line: &[u8], excerpt: Option<&Excerpt>, log: &ServerLog, secrets: &Secrets, heard: &impl Fn(&str)) {
    let text = String::from_utf8_lossy(line);
    let text = secrets.redact(text.trim_end_matches('\r')).into_owned();
    if let Some(log) = &mut *log.0.lock() {
        log.write(&text);
    }
    if let Some(excerpt) = excerpt {
        heard(&text);
        excerpt.push(text);
    }
}

/// The file that a server's stderr is written to. It may be exchanged while the server runs.
#[derive(Default)]
pub struct ServerLog(Mutex<Option<StderrLog>>);

impl ServerLog {
    /// Writes to this file from now on; `None` writes nowhere.
    pub fn move_to(&self, path: Option<&Path>) {
        *self.0.lock() = path.and_then(StderrLog::create);
    }
}

struct StderrLog {
    file: std::fs::File,
    left: u64,
}

impl StderrLog {
    /// Readable by this user only, like everything in a run folder.
    fn create(path: &Path) -> Option<StderrLog> {
        let (mut folder, mut file) = (std::fs::DirBuilder::new(), std::fs::OpenOptions::new());
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
            folder.mode(0o700);
            file.mode(0o600);
        }
        folder.recursive(true).create(path.parent()?).ok()?;
        let file = file.create(true).append(true).open(path).ok()?;
        Some(StderrLog { file, left: limits::STDERR_BYTES })
    }

    fn write(&mut self, line: &str) {
        let n = line.len() as u64 + 1;
        if self.left == 0 {
            return;
        }
        let line = match self.left.checked_sub(n) {
            Some(left) => {
                self.left = left;
                line
            }
            None => {
                self.left = 0;
                "… (the rest is left out)"
            }
        };
        // A full disk must not stop a server.
        let _ = writeln!(self.file, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_in(file: &Path) -> ServerLog {
        let log = ServerLog::default();
        log.move_to(Some(file));
        log
    }

    async fn check(written: &[u8], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let (excerpt, file) = (Excerpt::default(), folder.path().join("server.log"));
        let (sent, heard) = std::sync::mpsc::channel();
        let hear = |line: &str| sent.send(line.to_string()).expect("the other end is open");
        capture(written, excerpt.clone(), &log_in(&file), &Secrets::default(), |_| false, hear).await;
        drop(sent);
        assert!(heard.iter().next().is_some(), "lines are heard while the stream is open");
        assert_eq!(excerpt.shown(), expected);
        let logged = std::fs::read_to_string(&file).unwrap();
        let plain = |text: &str| text.replace(['\r', '\n'], "");
        assert_eq!(plain(&logged), plain(&String::from_utf8_lossy(written)), "all of it is in the log");
    }

    #[tokio::test]
    async fn a_secret_in_a_line_of_any_length_is_not_logged() {
        let secrets = Secrets::new([("KEY".to_string(), "hunter2-hunter2".to_string())]);
        let folder = tempfile::tempdir().unwrap();
        for n_before in (limits::STDERR_LINE_BYTES - 40)..(limits::STDERR_LINE_BYTES + 140) {
            let file = folder.path().join(format!("{n_before}.log"));
            let written = format!("{}hunter2-hunter2{}\n", "x".repeat(n_before), "y".repeat(20_000));
            capture(written.as_bytes(), Excerpt::default(), &log_in(&file), &secrets, |_| false, |_| {}).await;
            let logged = std::fs::read_to_string(&file).unwrap().replace('\n', "");
            assert!(!logged.contains("hunter2") && logged.len() > 28_000, "{n_before}");
        }
    }

    #[tokio::test]
    async fn a_few_lines_are_shown_whole() {
        check(b"one\ntwo\r\nthree, without an end", &["one", "two", "three, without an end"]).await;
        let n_lines = limits::STDERR_FIRST_LINES + limits::STDERR_SHOWN_LINES;
        let lines: Vec<String> = (0..n_lines).map(|n| n.to_string()).collect();
        let expected: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(lines.join("\n").as_bytes(), &expected).await;
    }

    #[tokio::test]
    async fn the_first_and_the_last_of_many_lines_are_shown() {
        let lines: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let (first, last) = (limits::STDERR_FIRST_LINES, 100 - limits::STDERR_SHOWN_LINES);
        let left_out = format!("… {} lines left out", last - first);
        let shown = lines[..first].iter().chain([&left_out]).chain(&lines[last..]);
        let expected: Vec<&str> = shown.map(String::as_str).collect();
        check(lines.join("\n").as_bytes(), &expected).await;
    }

    #[tokio::test]
    async fn what_was_written_before_an_answer_is_heard_with_it() {
        let (mut server, stream) = tokio::io::duplex(1 << 10);
        let (excerpt, heard) = (Excerpt::default(), Arc::new(Mutex::new(Vec::new())));
        let (captured, hears) = (excerpt.clone(), Arc::clone(&heard));
        let capturing = tokio::spawn(async move {
            let hear = |line: &str| hears.lock().push(line.to_string());
            capture(stream, captured, &ServerLog::default(), &Secrets::default(), |_| false, hear).await;
        });
        // It has begun when it can be asked.
        while excerpt.0.lock().catch_up.is_none() {
            tokio::task::yield_now().await;
        }
        for n in 0..100 {
            tokio::io::AsyncWriteExt::write_all(&mut server, format!("{n}\n").as_bytes()).await.unwrap();
            excerpt.catch_up().await;
            assert_eq!(heard.lock().last(), Some(&n.to_string()));
        }
        tokio::io::AsyncWriteExt::write_all(&mut server, b"no end").await.unwrap();
        excerpt.catch_up().await;
        assert_eq!(heard.lock().last().map(String::as_str), Some("no end"));
        drop(server);
        capturing.await.unwrap();
        excerpt.catch_up().await;
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_not_cut_within_a_secret() {
        let (mut server, stream) = tokio::io::duplex(1 << 10);
        let (excerpt, captured) = (Excerpt::default(), Excerpt::default());
        let asked = captured.clone();
        let capturing = tokio::spawn(async move {
            let secrets = Secrets::new([("KEY".to_string(), "hunter2-hunter2".to_string())]);
            capture(
                stream,
                captured,
                &ServerLog::default(),
                &secrets,
                |_| false,
                |line| excerpt.push(line.to_string()),
            )
            .await;
            excerpt
        });
        while asked.0.lock().catch_up.is_none() {
            tokio::task::yield_now().await;
        }
        for part in ["the key is hunter2-", "hunter2", " of course"] {
            tokio::io::AsyncWriteExt::write_all(&mut server, part.as_bytes()).await.unwrap();
            asked.catch_up().await;
        }
        drop(server);
        assert_eq!(capturing.await.unwrap().shown(), ["the key is {{KEY}} of course"]);
    }

    #[test]
    fn what_was_written_during_a_call_is_shown_or_else_what_was_written_before_it() {
        let excerpt = Excerpt::default();
        excerpt.push("of an earlier call".to_string());
        excerpt.push("stopped while it was at tools/old.py:1".to_string());
        excerpt.begin_call();
        assert_eq!((excerpt.shown().len(), excerpt.stopped_at()), (2, vec![]));
        for line in ["failing", "stopped while it was at tools/a.py:7"] {
            excerpt.push(line.to_string());
        }
        assert_eq!(excerpt.shown(), ["failing", "stopped while it was at tools/a.py:7"]);
        assert_eq!(excerpt.stopped_at(), ["tools/a.py:7"]);
    }

    #[tokio::test]
    async fn control_sequences_are_not_shown() {
        check(b"\x1b[1;31mred\x1b[0m and \x07loud\n", &["red and loud"]).await;
    }

    #[tokio::test]
    async fn a_long_line_is_cut() {
        let long = format!("{}\nshort\n", "x".repeat(50_000));
        let shown = format!("{}…", "x".repeat(limits::STDERR_SHOWN_CHARS));
        check(long.as_bytes(), &[&shown, "short"]).await;
    }
}
