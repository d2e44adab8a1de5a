//! The client of the daemon: finds it, starts it if there is none, replaces one of another version, and sends it requests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::key_file::{DaemonFiles, FilesError, KeyFile, Version};
use crate::api::service::{ALIVE_EVERY, PATH, ServiceLine};
use crate::project::environment::Environment;
use crate::sessions::service::{NoProgress, ProgressSink, Service, ServiceAnswer, ServiceError, ServiceRequest};

/// How long a daemon may take to start.
const TO_START: Duration = Duration::from_secs(10);
/// How long a daemon of another version may take to end.
const TO_END: Duration = Duration::from_secs(40);
const TO_CONNECT: Duration = Duration::from_secs(2);
const TO_ANSWER: Duration = Duration::from_secs(10);
/// A daemon that is silent for longer hangs.
const SILENCE: Duration = Duration::from_secs(6 * ALIVE_EVERY.as_secs());
/// The longest line of a response, in bytes; a screenshot is one.
const LINE_BYTES: usize = 64 << 20;

/// The variables that the daemon itself needs: how to find programs and the network, and how text is shown.
const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "CI",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "NODE_PATH",
    "NODE_OPTIONS",
    "NVM_DIR",
    "BUN_INSTALL",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYTHONHOME",
    "CONDA_PREFIX",
    "JAVA_HOME",
    "GRADLE_USER_HOME",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "ANDROID_SERIAL",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "COLUMNS",
    "NO_COLOR",
];
const ALLOWED_PREFIXES: &[&str] = &["LC_", "XDG_", "TRAILBLAZE_", "UV_", "PIP_", "NPM_CONFIG_", "npm_config_"];

/// The variables of a client, which the sessions that it opens get.
pub fn client_variables(environment: &Environment) -> BTreeMap<String, String> {
    let text = |(name, value): (&std::ffi::OsStr, &std::ffi::OsStr)| {
        Some((name.to_str()?.to_string(), value.to_str()?.to_string()))
    };
    environment.variables().filter_map(text).collect()
}

/// The variables that the daemon itself gets, whichever client starts it.
pub fn daemon_variables(environment: &Environment) -> BTreeMap<String, String> {
    let is_allowed = |name: &String| {
        ALLOWED.contains(&name.as_str()) || ALLOWED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    client_variables(environment).into_iter().filter(|(name, _)| is_allowed(name)).collect()
}

/// Where the daemon of this program is, and how to start it.
#[derive(Clone)]
pub struct DaemonClient {
    files: DaemonFiles,
    version: Version,
    program: PathBuf,
    /// The variables that the daemon itself gets.
    variables: BTreeMap<String, String>,
}

impl DaemonClient {
    pub fn new(environment: &Environment, program: &str, version: Version) -> Result<DaemonClient, FilesError> {
        Ok(DaemonClient {
            files: DaemonFiles::of(environment, program)?,
            version,
            program: environment.program().unwrap_or(Path::new(program)).to_path_buf(),
            variables: daemon_variables(environment),
        })
    }

    pub fn files(&self) -> &DaemonFiles {
        &self.files
    }

    /// The daemon that runs, of any version.
    pub fn running(&self) -> Option<KeyFile> {
        self.files.read()
    }

    /// Sends a request to the daemon that runs, of any version. `None` if there is none.
    pub async fn ask_running(&self, request: ServiceRequest) -> Option<Result<ServiceAnswer, ServiceError>> {
        let mut daemon = self.running();
        let end = Instant::now() + TO_CONNECT;
        // A daemon whose key file was removed writes it again.
        while daemon.is_none() && self.files.is_locked() && Instant::now() < end {
            sleep(Duration::from_millis(20)).await;
            daemon = self.running();
        }
        let mut daemon = daemon?;
        loop {
            let error = match send(&daemon, &request).await {
                Ok(response) => return Some(response.read(&NoProgress).await),
                Err(error) => error,
            };
            // It may be ending, or its key file was changed and is written again.
            let end = Instant::now() + TO_CONNECT;
            daemon = loop {
                match self.running() {
                    Some(other) if (&other.key, &other.address) != (&daemon.key, &daemon.address) => break other,
                    None if !self.files.is_locked() => return None,
                    _ if Instant::now() >= end => return Some(Err(error)),
                    _ => sleep(Duration::from_millis(20)).await,
                }
            };
        }
    }

    /// Waits until the daemon has ended.
    pub async fn ended(&self) -> Result<(), ServiceError> {
        let end = Instant::now() + TO_END;
        while self.files.is_locked() {
            if Instant::now() >= end {
                return Err(self.does_not_end());
            }
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// The daemon of this version. One of another version is asked to end first.
    async fn connect(&self, progress: &dyn ProgressSink) -> Result<KeyFile, ServiceError> {
        let end = Instant::now() + TO_END;
        let mut asked_to_end = String::new();
        loop {
            match self.running() {
                Some(daemon) if daemon.version == self.version => return Ok(daemon),
                Some(daemon) if daemon.key != asked_to_end => {
                    progress.say("replacing the daemon of another version; its sessions end");
                    let _ = send_now(&daemon, &ServiceRequest::Stop).await;
                    asked_to_end = daemon.key;
                }
                // It is ending.
                Some(_) => {}
                // It is ending, has just started, or must write its key file again.
                None if self.files.is_locked() => {}
                None => self.start().await?,
            }
            if Instant::now() >= end {
                return Err(self.does_not_end());
            }
            sleep(Duration::from_millis(5)).await;
        }
    }

    fn does_not_end(&self) -> ServiceError {
        let pid = self.running().map(|daemon| format!(" (process {})", daemon.pid)).unwrap_or_default();
        let text = format!("the daemon{pid} does not end");
        ServiceError::environment(text).with_hint("`kill -9` ends it; its sessions end with it")
    }

    /// Starts a daemon, and waits until there is one: this, or that of another client that was faster.
    async fn start(&self) -> Result<(), ServiceError> {
        let failed = |why: String| {
            let hint = format!("its log is `{}`", self.files.log().display());
            ServiceError::environment(format!("the daemon did not start: {why}")).with_hint(hint)
        };
        let mut command = Command::new(&self.program);
        command.args(["daemon", "run"]).env_clear().envs(&self.variables).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let end = Instant::now() + TO_START;
        while self.running().is_none() {
            match child.try_wait().ok().flatten() {
                // Another process is the daemon.
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(failed(status.to_string())),
                None => {}
            }
            if Instant::now() >= end {
                return Err(failed(format!("it was not ready within {} s", TO_START.as_secs())));
            }
            sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }
}

#[async_trait]
impl Service for DaemonClient {
    async fn request(
        &self,
        request: ServiceRequest,
        progress: &dyn ProgressSink,
        cancel: &CancellationToken,
    ) -> Result<ServiceAnswer, ServiceError> {
        let sending = async {
            let end = Instant::now() + TO_END;
            let response = loop {
                let daemon = self.connect(progress).await?;
                let asked = Instant::now();
                match send(&daemon, &request).await {
                    Ok(response) => break response,
                    // One that hangs does not recover.
                    Err(error) if asked.elapsed() >= TO_ANSWER || Instant::now() >= end => return Err(error),
                    // The daemon answers at once before it does anything; this one is ending or was killed, and is not quite gone.
                    Err(_) => drop(timeout(TO_CONNECT, self.ended()).await),
                }
            };
            response.read(progress).await
        };
        tokio::select! {
            answer = sending => answer,
            // Closing the connection cancels the request.
            () = cancel.cancelled() => Err(ServiceError::environment("cancelled")),
        }
    }
}

fn gone(why: &str) -> ServiceError {
    let hint = "`trailblaze daemon logs` shows its log";
    ServiceError::environment(format!("the daemon does not answer: {why}")).with_hint(hint)
}

fn authority(daemon: &KeyFile) -> &str {
    daemon.address.strip_prefix("http://").unwrap_or(&daemon.address)
}

/// A response that has begun. Dropping it cancels the request.
struct DaemonResponse {
    body: Incoming,
    _connection: AbortOnDropHandle<hyper::Result<()>>,
}

/// Sends a request. If it fails, the daemon has done nothing.
async fn send(daemon: &KeyFile, request: &ServiceRequest) -> Result<DaemonResponse, ServiceError> {
    let broken = |error: &dyn std::error::Error| gone(&error.to_string());
    let stream = timeout(TO_CONNECT, TcpStream::connect(authority(daemon))).await;
    let stream = stream.map_err(|_| gone("no connection"))?.map_err(|error| broken(&error))?;
    let _ = stream.set_nodelay(true);
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| broken(&error))?;
    let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
    let bytes = serde_json::to_vec(request).map_err(|error| broken(&error))?;
    let request = hyper::Request::post(PATH)
        .header("host", authority(daemon))
        .header("authorization", format!("Bearer {}", daemon.key))
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(bytes)))
        .map_err(|error| broken(&error))?;
    // It answers at once, whatever it does then.
    let response = timeout(TO_ANSWER, sender.send_request(request)).await;
    let silent = || {
        let hint = format!("it may hang: `kill -9 {}` ends it, and its sessions with it", daemon.pid);
        gone("it is silent").with_hint(hint)
    };
    let response = response.map_err(|_| silent())?.map_err(|error| broken(&error))?;
    match response.status() {
        StatusCode::UNAUTHORIZED => return Err(gone("it has another key")),
        StatusCode::SERVICE_UNAVAILABLE => return Err(gone("it is ending")),
        _ => {}
    }
    Ok(DaemonResponse { body: response.into_body(), _connection })
}

/// Sends a request to a daemon that was just found.
async fn send_now(daemon: &KeyFile, request: &ServiceRequest) -> Result<ServiceAnswer, ServiceError> {
    send(daemon, request).await?.read(&NoProgress).await
}

impl DaemonResponse {
    /// Reads lines up to the answer.
    async fn read(mut self, progress: &dyn ProgressSink) -> Result<ServiceAnswer, ServiceError> {
        let mut bytes = BytesMut::new();
        // Where the search for the end of the line goes on.
        let mut searched = 0;
        loop {
            while let Some(at) = bytes[searched..].iter().position(|byte| *byte == b'\n') {
                let line = bytes.split_to(searched + at + 1);
                searched = 0;
                match serde_json::from_slice(&line) {
                    Ok(ServiceLine::Progress(text)) => progress.say(&text),
                    Ok(ServiceLine::ToolOutput(text)) => progress.tool_output(&text),
                    Ok(ServiceLine::Alive) => {}
                    Ok(ServiceLine::Answer(answer)) => return Ok(*answer),
                    Ok(ServiceLine::Error(error)) => return Err(error),
                    Err(error) => return Err(gone(&format!("its answer cannot be read: {error}"))),
                }
            }
            searched = bytes.len();
            if bytes.len() > LINE_BYTES {
                return Err(gone("its answer is too long"));
            }
            match timeout(SILENCE, self.body.frame()).await {
                Ok(Some(Ok(frame))) => bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data)),
                Ok(Some(Err(error))) => return Err(gone(&error.to_string())),
                Ok(None) if bytes.is_empty() => return Err(gone("it ended")),
                // An error without the end of a line.
                Ok(None) => bytes.extend_from_slice(b"\n"),
                Err(_) => return Err(gone("it is silent")),
            }
        }
    }
}
