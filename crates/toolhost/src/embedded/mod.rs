//! Toolsets that run in the script engine of this process: the same files that bun or node run as servers.
//!
//! To the rest of this crate, such a toolset is a server like any other. It is connected through a pair of streams in memory, and
//! `peer` answers at the other end as the MCP library would in a process. So starting, listing, calling, replacing after changes,
//! logging and recording are the same. Only its calls to Trailblaze differ: they go straight to the engine.

mod host;
mod peer;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use trailblaze_script::bundle::{self, BundleError};
use trailblaze_script::transpile::SourceRole;
use trailblaze_script::{EntryPoint, Limits, LinkError, Linked, LogLine, Program, ScriptError, Served, link};

use crate::notification_router::NotificationRouter;

/// How much may be waiting in a stream in memory.
const STREAM_BYTES: usize = 64 << 10;

/// A toolset for the engine.
pub struct Embedded {
    /// The project folder.
    pub root: PathBuf,
    /// Its script or bundle, relative to the project.
    pub script: String,
    /// What it finds in its environment.
    pub variables: BTreeMap<String, String>,
    pub programs: Arc<Programs>,
}

/// The streams to a toolset that was started.
pub(crate) struct Streams {
    pub input: DuplexStream,
    pub output: DuplexStream,
    pub log: DuplexStream,
}

#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error("its script `{0}` does not exist")]
    NoScript(String),
    #[error("{}", unlinked(.0))]
    Link(Vec<LinkError>),
    #[error("`{path}`: {error}")]
    Bundle { path: String, error: BundleError },
    #[error("{script}: {error}")]
    Load { script: String, error: ScriptError },
    #[error("its list of tools is malformed: {0}")]
    List(String),
    #[error("the script engine failed: {0}")]
    Engine(String),
}

fn unlinked(errors: &[LinkError]) -> String {
    let mut lines: Vec<String> = vec!["it cannot run in the script engine:".to_string()];
    lines.extend(errors.iter().map(|error| format!("  {error}")));
    let mut hints: Vec<&String> = errors.iter().filter_map(|error| error.hint.as_ref()).collect();
    hints.dedup();
    lines.extend(hints.first().map(|hint| format!("hint: {hint}")));
    lines.join("\n")
}

impl Embedded {
    /// Loads the toolset, and connects it.
    pub(crate) async fn start(&self, router: &Arc<NotificationRouter>) -> Result<Streams, EmbeddedError> {
        let program = self.programs.get(&self.root, &self.script).await?;
        // The engine limits the lines that each call logs.
        let (lines, written) = mpsc::unbounded_channel();
        let (log, their_log) = tokio::io::duplex(STREAM_BYTES);
        // Detached: ends when the script can log no more and all is written, or nobody reads the log.
        tokio::spawn(write_log(written, their_log));
        let listener = Arc::clone(router);
        let log_line = move |line: LogLine| {
            listener.printed_by_engine(&line);
            let _ = lines.send(line);
        };
        let served = Served::load(program, limits(), self.variables.clone(), Arc::new(log_line)).await;
        let served = served.map_err(|error| EmbeddedError::Load { script: self.script.clone(), error })?;
        let (input, their_output) = tokio::io::duplex(STREAM_BYTES);
        let (their_input, output) = tokio::io::duplex(STREAM_BYTES);
        let peer = peer::Peer::new(served, Arc::clone(router)).await?;
        // Detached: ends when the connection does.
        tokio::spawn(peer.run(their_input, their_output));
        Ok(Streams { input, output, log })
    }
}

/// A toolset that was linked and loaded once.
pub struct CheckedToolset {
    pub program: Arc<Program>,
    pub n_tools: usize,
}

/// Links a script, and checks that it serves tools.
pub async fn check(root: &Path, script: &str) -> Result<CheckedToolset, EmbeddedError> {
    let program = Arc::new(Programs::default()).get(root, script).await?;
    let served = Served::load(Arc::clone(&program), limits(), BTreeMap::new(), Arc::new(|_| {})).await;
    let served = served.map_err(|error| EmbeddedError::Load { script: script.to_string(), error })?;
    let listed = peer::list(&served).await?;
    Ok(CheckedToolset { program, n_tools: listed["tools"].as_array().map_or(0, Vec::len) })
}

/// A toolset may use more than a script in a tool's file: it is loaded with its packages, and knows the time.
fn limits() -> Limits {
    Limits { clock: true, memory_bytes: 256 << 20, stack_bytes: 512 << 10, ..Limits::default() }
}

/// Writes what a script logs as a process would write it to stderr.
async fn write_log(mut lines: mpsc::UnboundedReceiver<LogLine>, mut stream: DuplexStream) {
    while let Some(line) = lines.recv().await {
        if stream.write_all(format!("{}\n", line.text).as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The programs that were linked, as long as their files do not change.
#[derive(Default)]
pub struct Programs(Mutex<HashMap<PathBuf, KeptWorld>>);

struct KeptWorld {
    files: Vec<(PathBuf, Option<Stamp>)>,
    program: Arc<Program>,
}

type Stamp = (SystemTime, u64);

impl Programs {
    /// The program of a script or bundle, which is linked or read if it is new or has changed.
    pub async fn get(self: &Arc<Self>, root: &Path, script: &str) -> Result<Arc<Program>, EmbeddedError> {
        let (programs, root, script) = (Arc::clone(self), root.to_path_buf(), script.to_string());
        let found = tokio::task::spawn_blocking(move || programs.read(&root, &script));
        found.await.unwrap_or_else(|error| Err(EmbeddedError::Engine(error.to_string())))
    }

    fn read(&self, root: &Path, script: &str) -> Result<Arc<Program>, EmbeddedError> {
        let path = root.join(script);
        if !path.is_file() {
            return Err(EmbeddedError::NoScript(script.to_string()));
        }
        let is_current = |(path, stamp): &(PathBuf, Option<Stamp>)| stamp.is_some() && stamp_of(path) == *stamp;
        let known = self
            .0
            .lock()
            .get(&path)
            .filter(|kept| kept.files.iter().all(is_current))
            .map(|kept| Arc::clone(&kept.program));
        if let Some(program) = known {
            return Ok(program);
        }
        let Linked { program, files } = if bundle::is_bundle(&path) {
            let stamped = BTreeMap::from([(script.to_string(), path.clone())]);
            let program = bundle::read(&path, env!("CARGO_PKG_VERSION"))
                .map_err(|error| EmbeddedError::Bundle { path: script.to_string(), error })?;
            Linked { program, files: stamped }
        } else {
            link(root, EntryPoint::file(Path::new(script), SourceRole::Module)).map_err(EmbeddedError::Link)?
        };
        let files = files.into_values().map(|path| (path.clone(), stamp_of(&path))).collect();
        let program = Arc::new(program);
        self.0.lock().insert(path, KeptWorld { files, program: Arc::clone(&program) });
        Ok(program)
    }
}

fn stamp_of(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
