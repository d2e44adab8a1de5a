//! What a server writes to stderr: all of it goes into a file, the first and last lines are kept to be shown.

use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use trailblaze_core::secret::Secrets;

use crate::limits;

/// The first lines and the last, for whoever explains why a server is gone: some languages put the error above its stack
/// trace, others below.
#[derive(Clone, Default)]
pub struct Excerpt(Arc<Mutex<Lines>>);

#[derive(Default)]
struct Lines {
    first: Vec<String>,
    last: VecDeque<String>,
    n_lines: usize,
}

impl Excerpt {
    /// The lines, fit to be shown, with a note where some are left out.
    pub fn shown(&self) -> Vec<String> {
        let Lines { first, last, n_lines } = &*self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Lines::default();
    }

    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

/// A line without what would drive a terminal: colours, and other control sequences. A long one is cut.
fn shown(line: &str) -> String {
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
                // The sequence goes on to its first letter.
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

/// Reads until the stream ends. Secrets are named, not shown; a flood is read to its end but not kept.
pub async fn capture(mut stream: impl AsyncRead + Unpin, excerpt: Excerpt, log: Option<&Path>, secrets: &Secrets) {
    let mut log = log.and_then(Log::create);
    let mut buffer = Vec::with_capacity(8 << 10);
    // Of a line that is too long, the beginning is shown and the rest is only logged.
    let mut is_rest = false;
    loop {
        loop {
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let n = end.unwrap_or(buffer.len());
            if end.is_none() && n <= limits::STDERR_LINE_BYTES {
                break;
            }
            let part: Vec<u8> = buffer.drain(..n.min(limits::STDERR_LINE_BYTES)).collect();
            keep(&part, (!is_rest).then_some(&excerpt), &mut log, secrets);
            is_rest = n > limits::STDERR_LINE_BYTES || end.is_none();
            if !is_rest {
                buffer.drain(..1);
            }
        }
        buffer.reserve(8 << 10);
        match stream.read_buf(&mut buffer).await {
            Ok(n) if n > 0 => {}
            _ => break,
        }
    }
    if !buffer.is_empty() {
        keep(&buffer, (!is_rest).then_some(&excerpt), &mut log, secrets);
    }
}

fn keep(line: &[u8], excerpt: Option<&Excerpt>, log: &mut Option<Log>, secrets: &Secrets) {
    let text = String::from_utf8_lossy(line);
    let text = secrets.redact(text.trim_end_matches('\r')).into_owned();
    if let Some(log) = log {
        log.write(&text);
    }
    if let Some(excerpt) = excerpt {
        excerpt.push(text);
    }
}

struct Log {
    file: std::fs::File,
    left: u64,
}

impl Log {
    fn create(path: &Path) -> Option<Log> {
        std::fs::create_dir_all(path.parent()?).ok()?;
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path).ok()?;
        Some(Log { file, left: limits::STDERR_BYTES })
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
        // A full disk must not end a server.
        let _ = writeln!(self.file, "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(written: &[u8], expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        let (excerpt, file) = (Excerpt::default(), folder.path().join("server.log"));
        capture(written, excerpt.clone(), Some(&file), &Secrets::default()).await;
        assert_eq!(excerpt.shown(), expected);
        let logged = std::fs::read_to_string(&file).unwrap();
        let plain = |text: &str| text.replace(['\r', '\n'], "");
        assert_eq!(plain(&logged), plain(&String::from_utf8_lossy(written)), "all of it is in the log");
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
    async fn of_many_lines_the_first_and_the_last_are_shown() {
        let lines: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let (first, last) = (limits::STDERR_FIRST_LINES, 100 - limits::STDERR_SHOWN_LINES);
        let left_out = format!("… {} lines left out", last - first);
        let shown = lines[..first].iter().chain([&left_out]).chain(&lines[last..]);
        let expected: Vec<&str> = shown.map(String::as_str).collect();
        check(lines.join("\n").as_bytes(), &expected).await;
    }

    #[tokio::test]
    async fn what_would_drive_a_terminal_is_not_shown() {
        check(b"\x1b[1;31mred\x1b[0m and \x07loud\n", &["red and loud"]).await;
    }

    #[tokio::test]
    async fn a_long_line_is_shown_by_its_beginning() {
        let long = format!("{}\nshort\n", "x".repeat(50_000));
        let shown = format!("{}…", "x".repeat(limits::STDERR_SHOWN_CHARS));
        check(long.as_bytes(), &[&shown, "short"]).await;
    }
}
