//! The daemon's process, from its start to its end.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use trailblaze_core::ids;

use super::key_file::{DaemonFiles, DaemonLock, KeyFile, Version};
use super::log::Log;
use super::projects::Projects;
use super::service::LocalService;
use super::studio::LocalStudio;
use crate::api::ApiListener;
use crate::api::service::{InFlight, Offered};
use crate::project::compiled_in::CompiledIn;
use crate::servers::callback::CallbackAddress;
use crate::sessions::host::SessionHost;

/// How long a daemon that is ending, or a client that looks, may hold the lock.
const LOCK_WAIT: Duration = Duration::from_secs(1);
/// How often the daemon checks whether it is still needed.
const CHECK_EVERY: Duration = Duration::from_millis(500);
/// How long requests in flight may take to end when a client asks the daemon to.
const TO_FINISH: Duration = Duration::from_secs(20);
/// How long a daemon serves at least. Clients that wait for it get their turn before one of another version ends it.
const TO_SERVE: Duration = Duration::from_millis(300);
/// How long the daemon may take to end its sessions.
const TO_CLOSE: Duration = Duration::from_secs(30);

const BY_CLIENT: &str = "stopped by a client";

/// How many files the daemon may open, if the system allows it. Not more, because some programs that it starts handle each
/// file that they might have.
const OPEN_FILES: u64 = 16_384;

pub struct HostOptions {
    pub files: DaemonFiles,
    pub version: Version,
    pub compiled_in: CompiledIn,
    /// After this time without a request the daemon ends, and all of its sessions.
    pub idle: Duration,
    /// The same if no session is open.
    pub idle_empty: Duration,
    pub port: Option<u16>,
    /// What sessions of clients without variables of their own get, such as MCP clients over HTTP.
    pub variables: BTreeMap<String, String>,
    /// What is logged, as in TRAILBLAZE_LOG.
    pub log: Option<String>,
}

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    #[error("cannot lock the daemon's files: {0}")]
    Lock(io::Error),
    #[error("cannot write the daemon's key: {0}")]
    Key(io::Error),
    #[error("{0}")]
    Listen(String),
}

/// Serves clients until the daemon is idle, is told to stop by one of them, or `told_to_stop` returns. Returns immediately if there
/// is a daemon already.
pub async fn host(options: HostOptions, told_to_stop: impl Future<Output = ()>) -> Result<(), DaemonError> {
    let Some(lock) = take_lock(&options.files).await.map_err(DaemonError::Lock)? else { return Ok(()) };
    // Clients send their secrets, which are not in its own environment.
    trailblaze_supervise::hide_process();
    // Away from the terminal that the first client runs in, so that closing it ends nothing.
    let _ = rustix::process::setsid();
    let log = Log::start(options.files.log(), options.log.as_deref());
    std::panic::set_hook(Box::new(|info| tracing::error!(target: "trailblaze::daemon", "a bug: {info}")));
    raise_file_limit();
    let invocations = Arc::default();
    let listener = ApiListener::new(Arc::clone(&invocations), options.port);
    let host = SessionHost::new(invocations, Arc::clone(&listener) as Arc<dyn CallbackAddress>);
    let log_file = options.files.log();
    let projects = Projects { host, log, compiled_in: options.compiled_in };
    let service = LocalService::new(projects, log_file, options.version.clone());
    let service = Arc::new(service);
    let key: Arc<str> = ids::session_key().into();
    let variables = options.variables;
    let in_flight: Arc<InFlight> = Arc::default();
    let studio = Arc::new(LocalStudio::new(Arc::clone(&service)));
    listener.offer(Offered {
        service: Arc::clone(&service) as _,
        key: Arc::clone(&key),
        studio: Arc::clone(&studio) as _,
        entrance: Arc::clone(&service.studio_access) as _,
        variables,
        in_flight: Arc::clone(&in_flight),
    });
    let address = listener.base_url().await.map_err(|error| DaemonError::Listen(error.to_string()))?;
    let key_file =
        KeyFile { version: options.version, pid: std::process::id(), address: address.clone(), key: key.to_string() };
    let mut key_lock = options.files.write(&key_file).map_err(DaemonError::Key)?;
    let started = tokio::time::Instant::now();
    tracing::info!(target: "trailblaze::daemon", version = key_file.version.0, address, "started");
    let why = tokio::select! {
        () = told_to_stop => "stopped by a signal",
        () = async {
            service.stop.notified().await;
            tokio::time::sleep_until(started + TO_SERVE).await;
        } => BY_CLIENT,
        () = idle(&service, options.idle, options.idle_empty) => "idle",
        () = stay_known(&options.files, &lock, &mut key_lock, &key_file) => "its folder was removed",
    };
    // New clients start a new daemon, which waits until this one has ended.
    if options.files.is_own_key(&key_lock) {
        let _ = std::fs::remove_file(options.files.key());
    }
    // A program of another version may ask while one of this version is using the daemon.
    if why == BY_CLIENT {
        let _ = tokio::time::timeout(TO_FINISH, in_flight.finish()).await;
    }
    studio.stop_runs();
    let _ = tokio::time::timeout(TO_CLOSE, service.close()).await;
    tracing::info!(target: "trailblaze::daemon", "ended: {why}");
    drop(lock);
    Ok(())
}

/// Lets this process open more files: each session has some, and each connection is one.
fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(OPEN_FILES, |most| most.min(OPEN_FILES));
    if current.is_some_and(|current| current < wanted) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

async fn take_lock(files: &DaemonFiles) -> io::Result<Option<DaemonLock>> {
    let end = tokio::time::Instant::now() + LOCK_WAIT;
    loop {
        if let Some(lock) = files.take_lock()? {
            return Ok(Some(lock));
        }
        // A living daemon has a key file; without one, the holder is ending.
        if files.read().is_some() || tokio::time::Instant::now() >= end {
            return Ok(None);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Writes the key file again if someone removed, replaced or changed it. Returns if clients can no longer find this daemon, because they
/// see another lock.
async fn stay_known(files: &DaemonFiles, lock: &DaemonLock, key_lock: &mut DaemonLock, key_file: &KeyFile) {
    let mut check = tokio::time::interval(CHECK_EVERY);
    loop {
        check.tick().await;
        if !files.is_own_lock(lock) {
            return;
        }
        if !files.is_own_key(key_lock) || !files.says(key_file) {
            match files.write(key_file) {
                Ok(written) => *key_lock = written,
                Err(error) => tracing::warn!(target: "trailblaze::daemon", "cannot write the key file again: {error}"),
            }
        }
    }
}

/// Returns when the daemon is no longer needed.
async fn idle(service: &LocalService, most: Duration, most_empty: Duration) {
    let mut check = tokio::time::interval(CHECK_EVERY.min(most_empty).max(Duration::from_millis(10)));
    loop {
        check.tick().await;
        let most = if service.is_empty() { most_empty } else { most };
        if service.idle().is_some_and(|idle| idle >= most) {
            return;
        }
    }
}
