//! A running instance of a server: starting it over each transport, and stopping it.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::io::ioctl_fionread;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::engine::count::Count;
use trailblaze_protocol::event::Level;
use trailblaze_supervise::{Child, Grace, Launch, Running, Supervisor};

use crate::client::{Generation, Handshake, HandshakeError, Terms, handshake};
use crate::connection::{Answering, Closed, Connection, Oddity, PeerListener, RequestError};
use crate::death::Death;
use crate::embedded::{Embedded, EmbeddedError, Streams};
use crate::http::{Address, Http};
use crate::limits;
use crate::notification_router::NotificationRouter;
use crate::server::Spec;
use crate::stderr::{Excerpt, capture};

/// How to connect to a server.
pub enum InstanceTransport {
    /// Start it and use its stdin and stdout.
    Pipe(Launch),
    /// Connect to one that is already running.
    Url(Address),
    /// Start it and ask it to listen on a port.
    Port(Launch, PortFallback),
    /// Run it in the script engine of this process.
    Embedded(Embedded),
}

/// What to do when a server was asked to listen on a port and does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortFallback {
    Fail,
    /// Use its stdin and stdout instead.
    Pipe,
}

/// A running, connected instance of a server.
pub(crate) struct Instance {
    pub child: Option<Child>,
    pub connection: Arc<Connection>,
    pub handshake: Handshake,
    /// For a server that listens on a port: keeps its stdin open, since closing it could stop the server.
    stdin: Option<Connection>,
    is_on_pipe: bool,
    outputs: Mutex<Vec<JoinHandle<()>>>,
    /// Keeps the subscription to changes of its tools open.
    pub listening: Option<AbortOnDropHandle<()>>,
    pub stderr: Excerpt,
    /// Calls in flight.
    pub calls: Count,
    /// The calls of tools among them.
    pub tool_calls: Count,
    /// Checks in progress whether it still responds.
    pub checks: Count,
    pub death: watch::Sender<Option<Death>>,
}

impl Instance {
    /// Waits for the server to end, and kills it if it only closed its connection. Never returns for a server that we
    /// did not start.
    pub async fn ended(&self) -> End {
        let Some(child) = &self.child else { return std::future::pending().await };
        let end = match self.is_on_pipe {
            true => end_of(child, self.connection.wait_closed().await).await,
            false => tokio::select! {
                ended = child.ended() => End::Exited(ended.to_string()),
                hung = self.hangs() => End::Hung(hung),
            },
        };
        match end {
            End::Exited(_) => {}
            // Its protocol is intact, so it may still clean up after SIGTERM.
            End::Hung(_) => drop(child.terminate().await),
            _ => drop(child.kill().await),
        }
        self.outputs_end().await;
        end
    }

    /// Waits until its connection is closed because it hangs.
    async fn hangs(&self) -> Closed {
        match self.connection.wait_closed().await {
            hung @ Closed::Hung { .. } => hung,
            _ => std::future::pending().await,
        }
    }

    /// Stops it cleanly. Returns how its process ended, if we started it.
    pub async fn stop(&self) -> Option<String> {
        self.connection.close().await;
        if let Some(stdin) = &self.stdin {
            stdin.close().await;
        }
        let child = self.child.as_ref()?;
        let stopped = child.stop().await;
        self.outputs_end().await;
        Some(stopped.ended.to_string())
    }

    async fn outputs_end(&self) {
        let outputs = std::mem::take(&mut *self.outputs.lock());
        let _ = tokio::time::timeout(limits::END_GRACE, futures::future::join_all(outputs)).await;
    }
}

/// An instance with a call in flight; counted, so that a replaced instance is stopped only when no call is left.
pub(crate) struct InUse(Arc<Instance>);

impl InUse {
    pub fn new(instance: &Arc<Instance>) -> InUse {
        instance.calls.begin();
        InUse(Arc::clone(instance))
    }

    pub fn instance(&self) -> &Arc<Instance> {
        &self.0
    }

    /// What it printed in earlier calls is no evidence of what goes wrong in this one, unless others are in progress.
    pub fn begin_call(&self) -> ToolCallInFlight {
        self.0.tool_calls.begin();
        let call = ToolCallInFlight(Arc::clone(&self.0));
        if call.is_only() {
            self.0.stderr.begin_call();
        }
        call
    }
}

/// Counts a call of a tool for as long as it takes.
pub(crate) struct ToolCallInFlight(Arc<Instance>);

impl ToolCallInFlight {
    pub fn is_only(&self) -> bool {
        self.0.tool_calls.is_one()
    }
}

impl Drop for ToolCallInFlight {
    fn drop(&mut self) {
        self.0.tool_calls.end();
    }
}

impl std::ops::Deref for InUse {
    type Target = Instance;

    fn deref(&self) -> &Instance {
        &self.0
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.calls.end();
    }
}

/// How a server ended whose connection closed.
async fn end_of(child: &Child, closed: Closed) -> End {
    if matches!(closed, Closed::Hung { .. }) {
        return End::Hung(closed);
    }
    // A closed pipe may mean that it exited; after a protocol error it is still running.
    if !matches!(closed, Closed::Ended | Closed::ClosedStdin | Closed::Io(_)) {
        return End::Broke(closed);
    }
    match tokio::time::timeout(limits::END_GRACE, child.ended()).await {
        Ok(ended) => End::Exited(ended.to_string()),
        Err(_) if closed == Closed::Ended => End::StillRunning,
        Err(_) => End::Broke(closed),
    }
}

/// Starts an instance.
pub(crate) struct InstanceStarter<'a> {
    pub spec: &'a Spec,
    pub supervisor: &'a Supervisor,
    pub router: &'a Arc<NotificationRouter>,
    pub stderr: &'a Excerpt,
    /// Whether the server is known to ignore the port that it is told to listen on.
    pub ignores_port: &'a Mutex<bool>,
}

impl InstanceStarter<'_> {
    pub async fn begin(&self, transport: &InstanceTransport) -> Result<Instance, SetupError> {
        match transport {
            InstanceTransport::Pipe(launch) => self.on_pipe(launch.again()).await,
            InstanceTransport::Url(address) => self.at_url(address.clone()).await,
            InstanceTransport::Port(launch, PortFallback::Pipe) if *self.ignores_port.lock() => {
                self.on_pipe(launch.again()).await
            }
            InstanceTransport::Port(launch, fallback) => self.on_port(launch, *fallback).await,
            InstanceTransport::Embedded(embedded) => self.embedded(embedded).await,
        }
    }

    async fn on_pipe(&self, launch: Launch) -> Result<Instance, SetupError> {
        let Running { stdin, stdout, stderr, child } = self.supervisor.start(launch).await?;
        let stderr = self.captured(stderr, true, has_bytes);
        let connection = Connection::open(stdout, stdin, self.listener(), Arc::clone(&self.spec.spin_turn));
        let error = match self.handshake(&connection).await {
            Ok(handshake) => return Ok(self.instance(Some(child), connection, handshake, vec![stderr])),
            Err(SetupError::Handshake(HandshakeError::Request(RequestError::Closed(closed)))) => {
                end_of(&child, closed).await.into()
            }
            Err(error) => error,
        };
        child.kill().await;
        let _ = tokio::time::timeout(limits::END_GRACE, stderr).await;
        Err(error)
    }

    async fn embedded(&self, embedded: &Embedded) -> Result<Instance, SetupError> {
        let limit = self.spec.startup;
        let slow = |_| SetupError::Slow { what: "while it was loaded", limit };
        let Streams { input, output, log } =
            tokio::time::timeout(limit, embedded.start(self.router)).await.map_err(slow)??;
        // What it logs reaches its calls before their answers, without this stream.
        let log = self.captured(log, false, |_| false);
        let connection = Connection::open(input, output, self.listener(), Arc::clone(&self.spec.spin_turn));
        let handshake = self.handshake(&connection).await?;
        Ok(self.instance(None, connection, handshake, vec![log]))
    }

    async fn at_url(&self, address: Address) -> Result<Instance, SetupError> {
        let connection = Connection::over(Http::new(address), self.listener());
        let handshake = self.handshake(&connection).await?;
        Ok(self.instance(None, connection, handshake, Vec::new()))
    }

    /// Starts a server and asks it to listen on a port. The handshake is tried on the port and on stdio at the same
    /// time, so that a server that stays on stdio does not hold up the start until the timeout.
    async fn on_port(&self, launch: &Launch, fallback: PortFallback) -> Result<Instance, SetupError> {
        let port = free_port().map_err(|error| SetupError::NoPort(error.to_string()))?;
        let Running { stdin, stdout, stderr, child } = self.supervisor.start(with_port(launch, port)).await?;
        let (lines, stdout_lines) = tokio::io::duplex(64 << 10);
        let outputs = vec![self.captured(stderr, true, has_bytes), tokio::spawn(drain(stdout, lines))];
        let filter = Arc::new(NoiseFilter { router: Arc::clone(self.router), reports_noise: Mutex::new(false) });
        let pipe = Connection::open(stdout_lines, stdin, Arc::clone(&filter) as _, Arc::clone(&self.spec.spin_turn));
        let http = Connection::over(Http::new(Address::of_port(port)), self.listener());
        let at_port = async {
            opens(port).await;
            handshake(&http, self.terms()).await
        };
        let on_pipe = async {
            match fallback {
                PortFallback::Pipe => match handshake(&pipe, self.terms()).await {
                    Ok(handshake) => handshake,
                    // It does not speak MCP on stdio, as expected.
                    Err(_) => std::future::pending().await,
                },
                PortFallback::Fail => std::future::pending().await,
            }
        };
        let error = tokio::select! {
            result = at_port => match result {
                Ok(handshake) => {
                    let mut instance = self.instance(Some(child), http, handshake, outputs);
                    (instance.stdin, instance.is_on_pipe) = (Some(pipe), false);
                    return Ok(instance);
                }
                Err(error) => SetupError::Handshake(error),
            },
            handshake = on_pipe => {
                *filter.reports_noise.lock() = true;
                self.ignores_port(port, "it stayed on stdio");
                return Ok(self.instance(Some(child), pipe, handshake, outputs));
            }
            ended = child.ended() => End::Exited(ended.to_string()).into(),
            () = tokio::time::sleep(self.spec.startup) => match fallback {
                PortFallback::Fail => SetupError::NotListening { port, limit: self.spec.startup },
                PortFallback::Pipe => SetupError::Silent { port, limit: self.spec.startup },
            },
        };
        child.kill().await;
        let _ = tokio::time::timeout(limits::END_GRACE, futures::future::join_all(outputs)).await;
        // Silence on stdio has been waited for as well.
        if fallback == PortFallback::Fail || matches!(error, SetupError::Silent { .. }) {
            return Err(error);
        }
        self.ignores_port(port, &error.to_string());
        // The second start would only repeat these lines.
        self.stderr.clear();
        self.on_pipe(launch.again()).await
    }

    /// Warns that the server does not listen on its port, and remembers that.
    fn ignores_port(&self, port: u16, how: &str) {
        *self.ignores_port.lock() = true;
        let text = format!(
            "it was asked to listen on port {port}, but {how}; one process on stdio serves all devices instead; \
             set `multiDevice: stdio` to skip this"
        );
        self.router.events.note(&self.spec.name, Level::Warning, text);
    }

    fn listener(&self) -> Arc<dyn PeerListener> {
        Arc::clone(self.router) as Arc<dyn PeerListener>
    }

    fn terms(&self) -> Terms<'_> {
        Terms { pinned: self.spec.protocol.as_deref(), may_sample: self.spec.may_sample }
    }

    async fn handshake(&self, connection: &Connection) -> Result<Handshake, SetupError> {
        let limit = self.spec.startup;
        match tokio::time::timeout(limit, handshake(connection, self.terms())).await {
            Ok(result) => Ok(result?),
            Err(_) => Err(SetupError::Slow { what: "the MCP handshake", limit }),
        }
    }

    fn instance(
        &self,
        child: Option<Child>,
        connection: Connection,
        handshake: Handshake,
        outputs: Vec<JoinHandle<()>>,
    ) -> Instance {
        if handshake.generation == Generation::Opening {
            connection.open_event_stream();
        }
        Instance {
            child,
            connection: Arc::new(connection),
            handshake,
            stdin: None,
            is_on_pipe: true,
            outputs: Mutex::new(outputs),
            listening: None,
            stderr: self.stderr.clone(),
            calls: Count::default(),
            tool_calls: Count::default(),
            checks: Count::default(),
            death: watch::Sender::new(None),
        }
    }

    /// Logs a stream; `is_heard` says whether its lines are also output of the calls in progress.
    fn captured<S>(&self, stream: S, is_heard: bool, is_waiting: impl Fn(&S) -> bool + Send + 'static) -> JoinHandle<()>
    where
        S: AsyncRead + Send + Unpin + 'static,
    {
        let (excerpt, log, secrets) = (self.stderr.clone(), Arc::clone(&self.spec.log), Arc::clone(&self.spec.secrets));
        let router = is_heard.then(|| Arc::clone(self.router));
        tokio::spawn(async move {
            let hear = |line: &str| router.iter().for_each(|router| router.printed(line));
            capture(stream, excerpt, &log, &secrets, is_waiting, hear).await;
        })
    }
}

/// A free port. Another process may take it before the server does; then the start fails.
fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Asks a server to listen on a port, in every way that the common libraries understand.
fn with_port(launch: &Launch, port: u16) -> Launch {
    let mut launch = launch.again();
    let port = port.to_string();
    launch.args.extend(["--transport", "http", "--port", &port].map(Into::into));
    let variables = [("FASTMCP_TRANSPORT", "http"), ("FASTMCP_PORT", &port)];
    launch.set_env.extend(variables.map(|(name, value)| (name.into(), value.into())));
    // It does not watch its stdin, so closing that rarely ends it.
    launch.grace = Grace { after_stdin: limits::PORT_GRACE, ..launch.grace };
    launch
}

/// Waits until the port accepts connections.
async fn opens(port: u16) {
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Whether a pipe has something to read.
fn has_bytes(pipe: &impl AsFd) -> bool {
    ioctl_fionread(pipe).is_ok_and(|n_bytes| n_bytes > 0)
}

/// Passes stdout on while it is being read, and keeps reading after that: a full pipe would block the server.
async fn drain(mut stdout: impl AsyncRead + Unpin, lines: DuplexStream) {
    let mut lines = Some(lines);
    let mut buffer = vec![0; 8 << 10];
    loop {
        let n = match stdout.read(&mut buffer).await {
            Ok(n) if n > 0 => n,
            _ => return,
        };
        let until = Instant::now() + limits::END_GRACE;
        if let Some(wanted) = &mut lines {
            let passed = tokio::time::timeout_at(until, wanted.write_all(&buffer[..n])).await;
            if !matches!(passed, Ok(Ok(()))) {
                lines = None;
            }
        }
    }
}

/// Drops noise until it is known whether the server speaks MCP on stdout.
struct NoiseFilter {
    router: Arc<NotificationRouter>,
    reports_noise: Mutex<bool>,
}

impl PeerListener for NoiseFilter {
    fn notified(&self, method: &str, params: serde_json::Value) {
        self.router.notified(method, params);
    }

    fn asked(&self, method: &str, params: serde_json::Value, during: Option<u64>) -> Answering {
        self.router.asked(method, params, during)
    }

    fn odd(&self, oddity: Oddity) {
        if *self.reports_noise.lock() {
            self.router.odd(oddity);
        }
    }
}

/// Why a server could not be started or listed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error("it was already started")]
    Twice,
    #[error("{}", not_started(.0))]
    Start(#[from] trailblaze_supervise::StartError),
    #[error("{}", ended_early(.0))]
    End(#[from] End),
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    #[error(
        "it did not answer {what} within {}; raise `startupTimeout:` in its entry to allow more",
        humantime::format_duration(*limit)
    )]
    Slow { what: &'static str, limit: Duration },
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    #[error("there is no free port: {0}")]
    NoPort(String),
    #[error(
        "it did not listen on port {port} within {}, as requested with `--transport http --port {port}` and FASTMCP_PORT; \
         raise `startupTimeout:` in its entry to allow more, or set `multiDevice: stdio`",
        humantime::format_duration(*limit)
    )]
    NotListening { port: u16, limit: Duration },
    #[error(
        "within {} it neither answered the MCP handshake on stdio nor listened on port {port}, as requested with `--transport http \
         --port {port}` and FASTMCP_PORT; raise `startupTimeout:` in its entry to allow more, or set `multiDevice: stdio`",
        humantime::format_duration(*limit)
    )]
    Silent { port: u16, limit: Duration },
}

fn not_started(error: &trailblaze_supervise::StartError) -> String {
    match error {
        trailblaze_supervise::StartError::NotFound { program } if !program.contains('/') => format!("{error} on PATH"),
        error => error.to_string(),
    }
}

fn ended_early(end: &End) -> String {
    match end {
        End::Exited(how) if how == "exited with code 0" => format!(
            "{end} before it answered; a server runs until its stdin closes, so check that the program starts it, as with `run()`"
        ),
        End::Exited(_) => format!("{end} before it answered"),
        end => end.to_string(),
    }
}

/// How a server ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum End {
    #[error("it {0}")]
    Exited(String),
    #[error("it closed its stdout but kept running, and was killed")]
    StillRunning,
    #[error("{0}; it was killed")]
    Broke(Closed),
    #[error("{0}; it was stopped")]
    Hung(Closed),
}
