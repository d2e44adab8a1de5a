//! Ends sessions, also if this program is killed: an endpoint does not notice that its client is gone, and keeps the browser.
//!
//! This program starts itself again as a process that asks for each session in its place, so that it knows of all of them, and also gets
//! the answers that come late. It ends the sessions that are left when its input ends.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use trailblaze_http::ProxySettings;
use trailblaze_supervise::{Child, Grace, Launch, Running, Supervisor};

use super::backend::SessionOwner;
use super::error::EndpointError;
use super::http::{EndpointAddress, WebDriverHttp};
use super::new_session::{asking, not_answered, session_id};
use super::session::end_session;

/// The argument that starts this program to end the sessions of another one.
const END_SESSIONS: &str = "__end-sessions";
/// How long an endpoint may take to answer requests for sessions that nobody waits for any more, because this program ends.
const LATE_ANSWERS: Duration = Duration::from_secs(8);
/// How long the process may take to end what is left.
const GRACE: Duration = Duration::from_secs(25);

type SessionAnswer = Result<Value, EndpointError>;

/// What the process is told, one per line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EndingOrder {
    /// To ask for a session. Answered with the number, once the endpoint has answered.
    Ask { number: u64, at: EndpointPlace, body: Value },
    /// Nobody waits for this session any more.
    Abandon { number: u64 },
    /// The session was ended.
    Ended { id: String },
}

/// How an endpoint is reached.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct EndpointPlace {
    url: String,
    headers: Vec<(String, String)>,
    proxies: [String; 4],
}

/// What the process answers, one per line.
#[derive(Debug, Serialize, Deserialize)]
struct AskedAnswer {
    number: u64,
    answer: SessionAnswer,
}

/// The sessions of a run, and the process that knows of them.
pub struct SessionEndings {
    supervisor: Supervisor,
    proxies: ProxySettings,
    process: tokio::sync::Mutex<EndingProcess>,
}

enum EndingProcess {
    /// It is started with the first session.
    NotStarted,
    Running(Arc<RunningEndings>),
    /// Sessions stay if this program is killed, until the endpoint ends them.
    Missing,
}

struct RunningEndings {
    /// Lines for its input, which end when it is closed.
    orders: mpsc::UnboundedSender<String>,
    is_closed: CancellationToken,
    asked: AskedSessions,
    n_asked: AtomicU64,
    child: Child,
}

/// Who waits for the answer of which number; `None` when the process answers no more.
type AskedSessions = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<SessionAnswer>>>>>;

impl SessionEndings {
    pub fn new(supervisor: Supervisor, proxies: ProxySettings) -> SessionEndings {
        SessionEndings { supervisor, proxies, process: tokio::sync::Mutex::new(EndingProcess::NotStarted) }
    }

    /// Asks for a session, which is ended if nobody ends it before. `None` if there is no process to do that.
    pub async fn ask(&self, address: &EndpointAddress, body: &Value) -> Option<SessionAnswer> {
        let running = self.running().await?;
        let ProxySettings { https, http, all, no } = self.proxies.clone();
        let at = EndpointPlace {
            url: address.shown().to_string(),
            headers: address.headers(),
            proxies: [https, http, all, no],
        };
        let answer = running.ask(at, body).await;
        Some(answer.unwrap_or_else(|| Err(not_answered(address, "the process that asked for the session has ended"))))
    }

    /// The process, started if it was not.
    async fn running(&self) -> Option<Arc<RunningEndings>> {
        let mut process = self.process.lock().await;
        let started = match &*process {
            EndingProcess::Missing => return None,
            EndingProcess::NotStarted => self.start().await,
            EndingProcess::Running(running) if running.asked.lock().is_some() => return Some(Arc::clone(running)),
            EndingProcess::Running(_) => Err("it has ended".to_string()),
        };
        match started {
            Ok(running) => {
                *process = EndingProcess::Running(Arc::clone(&running));
                Some(running)
            }
            Err(why) => {
                *process = EndingProcess::Missing;
                tracing::warn!(
                    target: "trailblaze::webdriver", why,
                    "if Trailblaze is killed, its sessions stay until the endpoint ends them"
                );
                None
            }
        }
    }

    async fn start(&self) -> Result<Arc<RunningEndings>, String> {
        let mut launch = Launch::new(self.supervisor.own_program(), std::env::temp_dir());
        launch.args = vec![OsString::from(END_SESSIONS)];
        launch.grace = Grace { after_stdin: GRACE, ..Grace::default() };
        let started = self.supervisor.start(launch).await.map_err(|error| error.to_string())?;
        let Running { stdin, stdout, child, .. } = started;
        // Without a bound, because `Drop` gives orders too: a session has at most three, and they are short.
        let (orders, lines) = mpsc::unbounded_channel();
        let (is_closed, asked) = (CancellationToken::new(), AskedSessions::default());
        *asked.lock() = Some(HashMap::new());
        // Detached: ends when it is closed.
        tokio::spawn(write_orders(stdin, lines, is_closed.clone()));
        // Detached: ends when the process has ended.
        tokio::spawn(read_answers(BufReader::new(stdout).lines(), Arc::clone(&asked)));
        Ok(Arc::new(RunningEndings { orders, is_closed, asked, n_asked: AtomicU64::new(0), child }))
    }

    /// Ends the process, and the sessions that are left.
    pub async fn close(&self) {
        let process = std::mem::replace(&mut *self.process.lock().await, EndingProcess::Missing);
        if let EndingProcess::Running(running) = process {
            running.is_closed.cancel();
            let _ = timeout(GRACE, running.child.ended()).await;
        }
    }
}

#[async_trait]
impl SessionOwner for SessionEndings {
    async fn has_ended(&self, session: &str) {
        if let EndingProcess::Running(running) = &*self.process.lock().await {
            running.tell(&EndingOrder::Ended { id: session.to_string() });
        }
    }

    fn end(&self) -> Option<String> {
        None
    }
}

impl RunningEndings {
    fn tell(&self, order: &EndingOrder) {
        if let Ok(line) = serde_json::to_string(order) {
            // One that has ended needs no orders.
            let _ = self.orders.send(line + "\n");
        }
    }

    /// `None` if the process ends before it has answered.
    async fn ask(&self, at: EndpointPlace, body: &Value) -> Option<SessionAnswer> {
        let number = self.n_asked.fetch_add(1, Ordering::Relaxed);
        let (sender, answered) = oneshot::channel();
        self.asked.lock().as_mut()?.insert(number, sender);
        let mut waiting = WaitingForSession { running: self, number, is_over: false };
        self.tell(&EndingOrder::Ask { number, at, body: body.clone() });
        let answer = answered.await.ok();
        waiting.is_over = true;
        answer
    }
}

/// Dropped before it is over if nobody waits any more.
struct WaitingForSession<'r> {
    running: &'r RunningEndings,
    number: u64,
    is_over: bool,
}

impl Drop for WaitingForSession<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.running.asked.lock().as_mut().map(|asked| asked.remove(&self.number));
            self.running.tell(&EndingOrder::Abandon { number: self.number });
        }
    }
}

/// Passes orders on until there are no more, or until it is closed. Orders that were given before that are passed on.
async fn write_orders(
    mut stdin: ChildStdin,
    mut orders: mpsc::UnboundedReceiver<String>,
    is_closed: CancellationToken,
) {
    loop {
        let order = tokio::select! {
            biased;
            order = orders.recv() => order,
            () = is_closed.cancelled() => None,
        };
        let Some(order) = order else { return };
        if stdin.write_all(order.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn read_answers(mut answers: Lines<BufReader<ChildStdout>>, asked: AskedSessions) {
    while let Ok(Some(line)) = answers.next_line().await {
        let Ok(AskedAnswer { number, answer }) = serde_json::from_str(&line) else { break };
        let waiting = asked.lock().as_mut().and_then(|asked| asked.remove(&number));
        if let Some(waiting) = waiting {
            // If nobody waits any more, the process is told to end the session.
            let _ = waiting.send(answer);
        }
    }
    *asked.lock() = None;
}

/// Ends the sessions of another process, if this one was started for that. Must be called at the start of `main`.
pub fn end_sessions_main() -> Option<ExitCode> {
    if std::env::args_os().nth(1)? != END_SESSIONS {
        return None;
    }
    Some(match end_sessions() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: `{END_SESSIONS}` is for Trailblaze itself: {error}");
            ExitCode::from(3)
        }
    })
}

fn end_sessions() -> io::Result<()> {
    // Without a bound: a session has at most three orders, and they are short.
    let (given, mut orders) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let order = line.and_then(|line| Ok(serde_json::from_str::<EndingOrder>(&line)?));
            let is_last = order.is_err();
            if given.send(order).is_err() || is_last {
                return;
            }
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut desk = EndingDesk::default();
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => desk.take(order?),
                    None => break,
                },
                Some(answered) = desk.pending.join_next() => desk.answered(answered.ok()),
            }
        }
        desk.end().await;
        Ok(())
    })
}

/// What the process knows of sessions.
#[derive(Default)]
struct EndingDesk {
    /// By where they are, so that connections are shared.
    endpoints: BTreeMap<EndpointPlace, Arc<WebDriverHttp>>,
    pending: JoinSet<AnsweredRequest>,
    /// The numbers of requests that are pending, and of those that nobody waits for.
    waiting: HashSet<u64>,
    abandoned: HashSet<u64>,
    /// Those to be ended, by their ids, with the numbers of their requests.
    left: BTreeMap<String, (u64, Arc<WebDriverHttp>)>,
    ending: JoinSet<()>,
}

struct AnsweredRequest {
    number: u64,
    http: Arc<WebDriverHttp>,
    answer: SessionAnswer,
}

impl EndingDesk {
    fn take(&mut self, order: EndingOrder) {
        match order {
            EndingOrder::Ask { number, at, body } => match self.endpoint(at) {
                Ok(http) => {
                    self.waiting.insert(number);
                    self.pending.spawn(async move {
                        let answer = http.send(asking(body)).await;
                        AnsweredRequest { number, http, answer }
                    });
                }
                Err(error) => tell_answer(number, Err(error)),
            },
            EndingOrder::Abandon { number } if self.waiting.contains(&number) => {
                self.abandoned.insert(number);
            }
            EndingOrder::Abandon { number } => {
                let of_it = self.left.iter().find(|(_, (of, _))| *of == number);
                if let Some(id) = of_it.map(|(id, _)| id.clone()) {
                    self.end_one(id);
                }
            }
            EndingOrder::Ended { id } => drop(self.left.remove(&id)),
        }
        // Those that have ended need not be kept.
        while self.ending.try_join_next().is_some() {}
    }

    fn endpoint(&mut self, at: EndpointPlace) -> Result<Arc<WebDriverHttp>, EndpointError> {
        if let Some(http) = self.endpoints.get(&at) {
            return Ok(Arc::clone(http));
        }
        let [https, http, all, no] = at.proxies.clone();
        let made = EndpointAddress::parse(&at.url, None, &at.headers)
            .and_then(|address| WebDriverHttp::new(address, &ProxySettings { https, http, all, no }));
        let made = made.map_err(|why| EndpointError::Unreachable { address: at.url.clone(), why })?;
        self.endpoints.insert(at, Arc::clone(&made));
        Ok(made)
    }

    fn answered(&mut self, answered: Option<AnsweredRequest>) {
        let Some(AnsweredRequest { number, http, answer }) = answered else { return };
        self.waiting.remove(&number);
        let id = answer.as_ref().ok().and_then(session_id).map(str::to_string);
        if let Some(id) = &id {
            self.left.insert(id.clone(), (number, http));
        }
        match (self.abandoned.remove(&number), id) {
            (true, Some(id)) => self.end_one(id),
            (true, None) => {}
            (false, _) => tell_answer(number, answer),
        }
    }

    fn end_one(&mut self, id: String) {
        if let Some((_, http)) = self.left.remove(&id) {
            self.ending.spawn(async move { drop(end_session(&http, &id).await) });
        }
    }

    /// Ends all that is left, and what comes late.
    async fn end(mut self) {
        let left = std::mem::take(&mut self.left);
        let ends = left.into_iter().map(|(id, (_, http))| async move { end_session(&http, &id).await });
        let late = async {
            while let Some(Ok(answered)) = self.pending.join_next().await {
                if let Some(id) = answered.answer.ok().as_ref().and_then(session_id).map(str::to_string) {
                    let http = answered.http;
                    self.ending.spawn(async move { drop(end_session(&http, &id).await) });
                }
            }
        };
        let _ = tokio::join!(join_all(ends), timeout(LATE_ANSWERS, late));
        while self.ending.join_next().await.is_some() {}
    }
}

fn tell_answer(number: u64, answer: SessionAnswer) {
    if let Ok(line) = serde_json::to_string(&AskedAnswer { number, answer }) {
        // One that no longer reads it is about to end our input.
        let _ = writeln!(io::stdout(), "{line}");
    }
}
