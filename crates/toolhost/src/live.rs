//! How a server is brought to life, in each of the ways that one is reached, and how it comes to its end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use trailblaze_core::engine::count::Count;
use trailblaze_core::engine::source::SourceError;
use trailblaze_protocol::event::Level;
use trailblaze_supervise::{Child, Grace, Launch, Running, Supervisor};

use crate::client::{Generation, Handshake, HandshakeError, handshake};
use crate::connection::{Closed, Connection, Listener, Oddity, RpcError, Unanswered};
use crate::http::{Address, Http};
use crate::limits;
use crate::notification_router::{NotificationRouter, lock};
use crate::server::Spec;
use crate::stderr::{Excerpt, capture};

/// How a server is reached.
pub enum Reach {
    /// We start it, and speak to its stdin and stdout.
    Pipe(Launch),
    /// It runs already.
    Url(Address),
    /// We start it and ask it to listen on a port.
    Port(Launch, Otherwise),
}

/// What to do with a server that was asked to listen on a port and does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    Fail,
    /// It may be spoken to over its pipes.
    Pipe,
}

/// A server that is at work.
pub(crate) struct Live {
    pub child: Option<Child>,
    pub connection: Arc<Connection>,
    pub handshake: Handshake,
    /// Of a server that listens on a port: its stdin must not close, and nobody speaks there.
    stdin: Option<Connection>,
    is_on_pipe: bool,
    outputs: Mutex<Vec<JoinHandle<()>>>,
    pub stderr: Excerpt,
    /// Those that it was asked and has not answered.
    pub calls: Count,
    pub death: watch::Sender<Option<SourceError>>,
}

impl Live {
    /// Waits for the end of a server, and makes sure of it. One that we did not start does not end.
    pub async fn ended(&self) -> End {
        let Some(child) = &self.child else { return std::future::pending().await };
        let end = match self.is_on_pipe {
            true => end_of(child, self.connection.wait_closed().await).await,
            false => End::Exited(child.ended().await.to_string()),
        };
        if !matches!(end, End::Exited(_)) {
            child.kill().await;
        }
        self.outputs_end().await;
        end
    }

    /// Ends it in good order, and says how it ended.
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
        let outputs = std::mem::take(&mut *lock(&self.outputs));
        let _ = tokio::time::timeout(limits::LAST_WORDS, futures::future::join_all(outputs)).await;
    }
}

/// A server at work that somebody waits for an answer of.
pub(crate) struct Held(Arc<Live>);

impl Held {
    pub fn new(live: &Arc<Live>) -> Held {
        live.calls.begin();
        Held(Arc::clone(live))
    }

    pub fn live(&self) -> &Arc<Live> {
        &self.0
    }
}

impl std::ops::Deref for Held {
    type Target = Live;

    fn deref(&self) -> &Live {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.calls.end();
    }
}

/// How a server ended whose connection is closed.
async fn end_of(child: &Child, closed: Closed) -> End {
    // A pipe that closes may tell of an exit; one that broke the protocol is still there.
    if !matches!(closed, Closed::Ended | Closed::ClosedStdin | Closed::Io(_)) {
        return End::Broke(closed);
    }
    match tokio::time::timeout(limits::LAST_WORDS, child.ended()).await {
        Ok(ended) => End::Exited(ended.to_string()),
        Err(_) if closed == Closed::Ended => End::StillRunning,
        Err(_) => End::Broke(closed),
    }
}

/// What brings a server to life.
pub(crate) struct Starter<'a> {
    pub spec: &'a Spec,
    pub supervisor: &'a Supervisor,
    pub router: &'a Arc<NotificationRouter>,
    pub stderr: &'a Excerpt,
    /// Whether a server that was asked to listen on a port is known not to.
    pub is_deaf: &'a Mutex<bool>,
}

impl Starter<'_> {
    pub async fn begin(&self, reach: &Reach) -> Result<Live, Obstacle> {
        match reach {
            Reach::Pipe(launch) => self.on_pipe(launch.again()).await,
            Reach::Url(address) => self.at_url(address.clone()).await,
            Reach::Port(launch, Otherwise::Pipe) if *lock(self.is_deaf) => self.on_pipe(launch.again()).await,
            Reach::Port(launch, otherwise) => self.on_port(launch, *otherwise).await,
        }
    }

    async fn on_pipe(&self, launch: Launch) -> Result<Live, Obstacle> {
        let Running { stdin, stdout, stderr, child } = self.supervisor.start(launch).await?;
        let stderr = self.captured(stderr);
        let connection = Connection::open(stdout, stdin, self.listener());
        let obstacle = match self.handshake(&connection).await {
            Ok(handshake) => return Ok(self.live(Some(child), connection, handshake, vec![stderr])),
            Err(Obstacle::HandshakeError(HandshakeError::Unanswered(Unanswered::Closed(closed)))) => {
                end_of(&child, closed).await.into()
            }
            Err(obstacle) => obstacle,
        };
        child.kill().await;
        let _ = tokio::time::timeout(limits::LAST_WORDS, stderr).await;
        Err(obstacle)
    }

    async fn at_url(&self, address: Address) -> Result<Live, Obstacle> {
        let connection = Connection::over(Http::new(address), self.listener());
        let handshake = self.handshake(&connection).await?;
        Ok(self.live(None, connection, handshake, Vec::new()))
    }

    /// Starts a server that is asked to listen on a port. Whether it heard is known when it answers there, or on its
    /// stdout, where it is asked at the same time; so nobody waits for a port that will never open.
    async fn on_port(&self, launch: &Launch, otherwise: Otherwise) -> Result<Live, Obstacle> {
        let port = free_port().map_err(|error| Obstacle::NoPort(error.to_string()))?;
        let Running { stdin, stdout, stderr, child } = self.supervisor.start(with_port(launch, port)).await?;
        let (lines, stdout_lines) = tokio::io::duplex(64 << 10);
        let outputs = vec![self.captured(stderr), tokio::spawn(drain(stdout, lines))];
        let quiet = Arc::new(Quiet { router: Arc::clone(self.router), is_heard: Mutex::new(false) });
        let pipe = Connection::open(stdout_lines, stdin, Arc::clone(&quiet) as Arc<dyn Listener>);
        let http = Connection::over(Http::new(Address::of_port(port)), self.listener());
        let at_port = async {
            opens(port).await;
            handshake(&http, self.spec.protocol.as_deref()).await
        };
        let on_pipe = async {
            match otherwise {
                Otherwise::Pipe => match handshake(&pipe, self.spec.protocol.as_deref()).await {
                    Ok(handshake) => handshake,
                    // It does not speak there, as it should not.
                    Err(_) => std::future::pending().await,
                },
                Otherwise::Fail => std::future::pending().await,
            }
        };
        let obstacle = tokio::select! {
            result = at_port => match result {
                Ok(handshake) => {
                    let mut live = self.live(Some(child), http, handshake, outputs);
                    (live.stdin, live.is_on_pipe) = (Some(pipe), false);
                    return Ok(live);
                }
                Err(error) => Obstacle::HandshakeError(error),
            },
            handshake = on_pipe => {
                *lock(&quiet.is_heard) = true;
                self.is_deaf(port, "it stayed on stdio");
                return Ok(self.live(Some(child), pipe, handshake, outputs));
            }
            ended = child.ended() => End::Exited(ended.to_string()).into(),
            () = tokio::time::sleep(self.spec.startup) => Obstacle::NotListening { port, limit: self.spec.startup },
        };
        child.kill().await;
        let _ = tokio::time::timeout(limits::LAST_WORDS, futures::future::join_all(outputs)).await;
        if otherwise == Otherwise::Fail {
            return Err(obstacle);
        }
        self.is_deaf(port, &obstacle.to_string());
        // It is started once more, and would only repeat what it said.
        self.stderr.clear();
        self.on_pipe(launch.again()).await
    }

    /// Says once that a server does not listen where it was asked to.
    fn is_deaf(&self, port: u16, how: &str) {
        *lock(self.is_deaf) = true;
        let text = format!(
            "it was asked to listen on port {port}, but {how}; one process on stdio serves all devices instead, which \
             `multiDevice: stdio` asks for at once"
        );
        self.router.events.note(&self.spec.name, Level::Warning, text);
    }

    fn listener(&self) -> Arc<dyn Listener> {
        Arc::clone(self.router) as Arc<dyn Listener>
    }

    async fn handshake(&self, connection: &Connection) -> Result<Handshake, Obstacle> {
        let limit = self.spec.startup;
        match tokio::time::timeout(limit, handshake(connection, self.spec.protocol.as_deref())).await {
            Ok(result) => Ok(result?),
            Err(_) => Err(Obstacle::Slow { what: "the opening of the protocol", limit }),
        }
    }

    fn live(
        &self,
        child: Option<Child>,
        connection: Connection,
        handshake: Handshake,
        outputs: Vec<JoinHandle<()>>,
    ) -> Live {
        if handshake.generation == Generation::Opening {
            connection.open_event_stream();
        }
        Live {
            child,
            connection: Arc::new(connection),
            handshake,
            stdin: None,
            is_on_pipe: true,
            outputs: Mutex::new(outputs),
            stderr: self.stderr.clone(),
            calls: Count::default(),
            death: watch::Sender::new(None),
        }
    }

    fn captured(&self, stream: impl AsyncRead + Send + Unpin + 'static) -> JoinHandle<()> {
        let (excerpt, log, secrets) = (self.stderr.clone(), self.spec.log.clone(), Arc::clone(&self.spec.secrets));
        tokio::spawn(async move { capture(stream, excerpt, log.as_deref(), &secrets).await })
    }
}

/// A port that nobody listens on now. That it stays so until the server listens there, nobody can promise.
fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Asks a server in the ways that servers understand to listen on a port.
fn with_port(launch: &Launch, port: u16) -> Launch {
    let mut launch = launch.again();
    let port = port.to_string();
    launch.args.extend(["--transport", "http", "--port", &port].map(Into::into));
    let variables = [("FASTMCP_TRANSPORT", "http"), ("FASTMCP_PORT", &port)];
    launch.set_env.extend(variables.map(|(name, value)| (name.into(), value.into())));
    // It does not look at its stdin, so there is little to wait for.
    launch.grace = Grace { after_stdin: limits::PORT_GRACE, ..launch.grace };
    launch
}

/// Waits until somebody listens there.
async fn opens(port: u16) {
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Passes on what a server prints as long as anybody wants it, and reads on all the same: a full pipe would stop it.
async fn drain(mut stdout: impl AsyncRead + Unpin, lines: DuplexStream) {
    let mut lines = Some(lines);
    let mut buffer = vec![0; 8 << 10];
    loop {
        let n = match stdout.read(&mut buffer).await {
            Ok(n) if n > 0 => n,
            _ => return,
        };
        let until = Instant::now() + limits::LAST_WORDS;
        if let Some(wanted) = &mut lines {
            let passed = tokio::time::timeout_at(until, wanted.write_all(&buffer[..n])).await;
            if !matches!(passed, Ok(Ok(()))) {
                lines = None;
            }
        }
    }
}

/// Hears a server that may be speaking to us or to a terminal.
struct Quiet {
    router: Arc<NotificationRouter>,
    is_heard: Mutex<bool>,
}

impl Listener for Quiet {
    fn notified(&self, method: &str, params: serde_json::Value) {
        self.router.notified(method, params);
    }

    fn asked(&self, method: &str, params: serde_json::Value) -> Result<serde_json::Value, RpcError> {
        self.router.asked(method, params)
    }

    fn odd(&self, oddity: Oddity) {
        if *lock(&self.is_heard) {
            self.router.odd(oddity);
        }
    }
}

/// What kept a server from starting.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Obstacle {
    #[error("it was started before")]
    Twice,
    #[error("{}", not_started(.0))]
    Start(#[from] trailblaze_supervise::StartError),
    #[error("{}", ended_early(.0))]
    End(#[from] End),
    #[error(transparent)]
    HandshakeError(#[from] HandshakeError),
    #[error(
        "it did not answer {what} within {}; `startupTimeout:` of its entry allows more",
        humantime::format_duration(*limit)
    )]
    Slow { what: &'static str, limit: Duration },
    #[error("there is no free port: {0}")]
    NoPort(String),
    #[error(
        "it did not listen on port {port} within {}, as `--transport http --port {port}` and FASTMCP_PORT ask; \
         `startupTimeout:` of its entry allows more, and `multiDevice: stdio` does without",
        humantime::format_duration(*limit)
    )]
    NotListening { port: u16, limit: Duration },
}

fn not_started(error: &trailblaze_supervise::StartError) -> String {
    match error {
        trailblaze_supervise::StartError::NotFound { program } if !program.contains('/') => format!("{error} on PATH"),
        error => error.to_string(),
    }
}

fn ended_early(end: &End) -> String {
    match end {
        End::Exited(_) => format!("{end} before it answered"),
        end => end.to_string(),
    }
}

/// How a server came to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum End {
    #[error("it {0}")]
    Exited(String),
    #[error("it closed its stdout but went on running, and was ended")]
    StillRunning,
    #[error("{0}; it was ended")]
    Broke(Closed),
}
