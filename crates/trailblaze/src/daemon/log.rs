//! The daemon's log: a file of bounded size, without secrets.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use trailblaze_core::values::secret::Secrets;

use crate::files::private;

/// A longer file is set aside, and replaces the one that was set aside before.
const MOST_BYTES: u64 = 1 << 20;

/// What is logged unless TRAILBLAZE_LOG says otherwise.
const DEFAULT: &str = "trailblaze=info";

#[derive(Clone)]
pub struct Log(Arc<Mutex<LogState>>);

struct LogState {
    path: PathBuf,
    file: Option<File>,
    n_bytes: u64,
    /// Those of the open sessions.
    secrets: Vec<Weak<Secrets>>,
}

impl Log {
    /// Starts logging of the whole process to this file.
    pub fn start(path: PathBuf, wanted: Option<&str>) -> Log {
        let n_bytes = path.metadata().map_or(0, |facts| facts.len());
        let log = Log(Arc::new(Mutex::new(LogState { path, file: None, n_bytes, secrets: Vec::new() })));
        let targets = wanted.and_then(|wanted| wanted.parse::<Targets>().ok());
        let targets = targets.or_else(|| DEFAULT.parse().ok()).unwrap_or_default();
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(log.clone());
        let _ = tracing_subscriber::registry().with(targets).with(lines).try_init();
        log
    }

    /// These secrets are replaced by their names.
    pub fn hide(&self, secrets: &Arc<Secrets>) {
        let mut state = self.0.lock();
        state.secrets.retain(|known| known.strong_count() > 0);
        state.secrets.push(Arc::downgrade(secrets));
    }
}

impl LogState {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.n_bytes > MOST_BYTES {
            self.file = None;
            let _ = std::fs::rename(&self.path, self.path.with_extension("log.old"));
            self.n_bytes = 0;
        }
        if self.file.is_none() {
            self.file = Some(private::append(&self.path)?);
        }
        let mut text = String::from_utf8_lossy(line).into_owned();
        for secrets in self.secrets.iter().filter_map(Weak::upgrade) {
            secrets.redact_in_place(&mut text);
        }
        self.n_bytes += text.len() as u64;
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes()))
    }
}

impl MakeWriter<'_> for Log {
    type Writer = LogLineWriter;

    fn make_writer(&self) -> LogLineWriter {
        LogLineWriter { log: self.clone(), bytes: Vec::new() }
    }
}

/// A line, which is written at once when it is complete.
pub struct LogLineWriter {
    log: Log,
    bytes: Vec<u8>,
}

impl Write for LogLineWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLineWriter {
    fn drop(&mut self) {
        if !self.bytes.is_empty() {
            // A full disk must not end sessions.
            let _ = self.log.0.lock().write(&self.bytes);
        }
    }
}
