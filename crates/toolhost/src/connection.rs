//! JSON-RPC over a pair of streams, one message a line. Nothing here knows what the messages mean.
//!
//! A peer may send anything: lines are bounded, what is no message is told apart from what is a broken one, and an answer
//! that nobody waits for is never taken for another's.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;

use crate::limits;

/// What happens besides answers.
pub trait Listener: Send + Sync {
    fn notified(&self, method: &str, params: Value);

    /// The answer to a request of the peer.
    fn asked(&self, method: &str, params: Value) -> Result<Value, RpcError>;

    /// The peer did something odd that does no harm.
    fn odd(&self, oddity: Oddity);
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Oddity {
    #[error("it prints to stdout, which carries the protocol: `{0}`; print to stderr instead")]
    Noise(String),
    #[error("it answered the same request twice")]
    AnsweredTwice,
}

/// An error that the peer answered with.
#[derive(Debug, Clone, PartialEq, Deserialize, thiserror::Error)]
#[error("{} ({code})", brief(message))]
pub struct RpcError {
    pub code: i64,
    #[serde(default)]
    pub message: String,
}

impl RpcError {
    pub const METHOD_NOT_FOUND: i64 = -32601;

    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into() }
    }
}

/// Why a connection carries no more messages.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Closed {
    #[error("it closed its stdout")]
    Ended,
    #[error("it broke the protocol: a line of more than {} MiB", limits::LINE_BYTES >> 20)]
    LongLine,
    #[error("it broke the protocol: broken JSON: {error} in `{line}`")]
    BrokenJson { error: String, line: String },
    #[error("it broke the protocol: no message: {error} in `{line}`")]
    NoMessage { error: String, line: String },
    #[error("it broke the protocol: it answered a request that nobody made (id {id})")]
    WrongId { id: String },
    #[error("it reads nothing from its stdin: {} MiB are waiting", limits::BACKLOG_BYTES >> 20)]
    Deaf,
    #[error("it could not read what it was sent: {0}")]
    Unreadable(RpcError),
    #[error("it closed its stdin")]
    ClosedStdin,
    #[error("it cannot be reached: {0}")]
    Io(String),
}

/// Why a request got no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unanswered {
    #[error(transparent)]
    Refused(#[from] RpcError),
    #[error(transparent)]
    Closed(#[from] Closed),
}

/// A connection to a peer. Whoever holds it may make requests side by side.
pub struct Connection {
    shared: Arc<Shared>,
    reader: AbortHandle,
}

struct Shared {
    pending: Mutex<Pending>,
    closed: watch::Sender<Option<Closed>>,
    backlog: Mutex<Vec<u8>>,
    stream: tokio::sync::Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>,
}

#[derive(Default)]
struct Pending {
    last_id: u64,
    waiting: HashMap<u64, oneshot::Sender<Result<Value, RpcError>>>,
    /// Nobody waits for these any more, but their answers may still come.
    called_off: HashSet<u64>,
}

impl Connection {
    pub fn open(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        listener: Arc<dyn Listener>,
    ) -> Connection {
        let shared = Arc::new(Shared {
            pending: Mutex::default(),
            closed: watch::Sender::new(None),
            backlog: Mutex::default(),
            stream: tokio::sync::Mutex::new(Some(Box::new(output))),
        });
        let reader = tokio::spawn(read(Arc::clone(&shared), input, listener)).abort_handle();
        Connection { shared, reader }
    }

    /// Makes a request and waits for its answer. The request can be called off by its id: see [`Request::id`].
    pub fn request(&self, method: &str, params: &impl Serialize) -> Request<'_> {
        let (send, answer) = oneshot::channel();
        let id = {
            let mut pending = self.shared.pending();
            pending.last_id += 1;
            let id = pending.last_id;
            pending.waiting.insert(id, send);
            id
        };
        // A connection that closed in between has let go of everybody who waited.
        if self.closed().is_some() {
            self.shared.pending().waiting.remove(&id);
        }
        let pushed = self.shared.push(&Outgoing { jsonrpc: VERSION, id: Some(id), method, params });
        Request { connection: self, id, answer, pushed, is_answered: false }
    }

    /// Sends a notification, without waiting for it to be read.
    pub fn notify(&self, method: &str, params: &Value) {
        self.shared.say(&Outgoing { jsonrpc: VERSION, id: None, method, params });
    }

    pub fn closed(&self) -> Option<Closed> {
        self.shared.closed.borrow().clone()
    }

    /// Whether the peer has not taken all that it was sent.
    pub fn has_backlog(&self) -> bool {
        !self.shared.backlog.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Waits until the connection is closed, and says why.
    pub async fn wait_closed(&self) -> Closed {
        let mut closed = self.shared.closed.subscribe();
        let reason = closed.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        reason.unwrap_or(Closed::Ended)
    }

    /// Lets go of the peer's stdin.
    pub fn hang_up(&self) {
        let shared = Arc::clone(&self.shared);
        // A write that is stuck holds the stream; whoever ends the peer ends that write too.
        tokio::spawn(async move {
            // What was said last is worth hearing: that a call is called off, for one.
            let _ = tokio::time::timeout(limits::LAST_WORDS, shared.flush()).await;
            shared.stream.lock().await.take()
        });
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.reader.abort();
        self.hang_up();
    }
}

/// A request that was made. Dropping it unanswered leaves the peer at work: call it off first.
pub struct Request<'a> {
    connection: &'a Connection,
    pub id: u64,
    answer: oneshot::Receiver<Result<Value, RpcError>>,
    pushed: Result<(), Closed>,
    is_answered: bool,
}

impl Request<'_> {
    pub async fn answer(mut self) -> Result<Value, Unanswered> {
        std::mem::replace(&mut self.pushed, Ok(()))?;
        let shared = &self.connection.shared;
        // The peer may answer, or the connection close, while what was asked is still being written.
        let answer = tokio::select! {
            biased;
            answer = &mut self.answer => answer,
            flushed = shared.flush() => match flushed {
                Ok(()) => (&mut self.answer).await,
                Err(closed) => return Err(closed.into()),
            },
        };
        self.is_answered = true;
        match answer {
            Ok(result) => Ok(result?),
            Err(_) => Err(self.connection.closed().unwrap_or(Closed::Ended).into()),
        }
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            let mut pending = self.connection.shared.pending();
            if pending.waiting.remove(&self.id).is_some() {
                pending.called_off.insert(self.id);
            }
        }
    }
}

impl Shared {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message in line. Whoever flushes next sends it, so that no caller that gives up tears a line in two.
    fn push(&self, message: &impl Serialize) -> Result<(), Closed> {
        let mut backlog = self.backlog.lock().unwrap_or_else(PoisonError::into_inner);
        if backlog.len() > limits::BACKLOG_BYTES {
            return Err(Closed::Deaf);
        }
        let start = backlog.len();
        if let Err(error) = serde_json::to_writer(&mut *backlog, message) {
            backlog.truncate(start);
            return Err(Closed::Io(error.to_string()));
        }
        backlog.push(b'\n');
        Ok(())
    }

    /// Sends what is in line. A peer that cannot be sent anything is of no use any more.
    async fn flush(&self) -> Result<(), Closed> {
        let flushed = self.try_flush().await;
        flushed.inspect_err(|closed| self.close(closed.clone()))
    }

    async fn try_flush(&self) -> Result<(), Closed> {
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => Closed::ClosedStdin,
            _ => Closed::Io(error.to_string()),
        };
        let mut stream = self.stream.lock().await;
        let stream = stream.as_mut().ok_or(Closed::Ended)?;
        loop {
            let next = {
                let backlog = self.backlog.lock().unwrap_or_else(PoisonError::into_inner);
                backlog[..backlog.len().min(64 << 10)].to_vec()
            };
            if next.is_empty() {
                return stream.flush().await.map_err(failed);
            }
            let n = stream.write(&next).await.map_err(failed)?;
            self.backlog.lock().unwrap_or_else(PoisonError::into_inner).drain(..n);
        }
    }

    /// Sends a message that nobody waits for.
    fn say(self: &Arc<Self>, message: &impl Serialize) {
        if self.push(message).is_ok() {
            let shared = Arc::clone(self);
            tokio::spawn(async move { shared.flush().await });
        }
    }

    fn close(&self, reason: Closed) {
        self.closed.send_if_modified(|closed| {
            let is_first = closed.is_none();
            closed.get_or_insert(reason);
            is_first
        });
        self.pending().waiting.clear();
    }
}

const VERSION: &str = "2.0";

/// A request or a notification, written without a copy of what it carries.
#[derive(Serialize)]
struct Outgoing<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    params: &'a P,
}

/// A line that may be a message. What else it holds is ignored.
#[derive(Deserialize)]
struct Incoming {
    jsonrpc: Option<Value>,
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    result: Option<Value>,
    error: Option<Value>,
}

async fn read(shared: Arc<Shared>, mut input: impl AsyncRead + Unpin, listener: Arc<dyn Listener>) {
    let mut buffer = Vec::with_capacity(16 << 10);
    // How much of the buffer is known to hold no end of line.
    let mut searched = 0;
    let reason = loop {
        while let Some(end) = buffer[searched..].iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = buffer.drain(..=searched + end).collect();
            searched = 0;
            if let Err(reason) = take_line(&shared, line.trim_ascii(), &*listener) {
                return shared.close(reason);
            }
        }
        searched = buffer.len();
        if buffer.len() > limits::LINE_BYTES {
            break Closed::LongLine;
        }
        buffer.reserve(16 << 10);
        match input.read_buf(&mut buffer).await {
            Ok(0) => break Closed::Ended,
            Ok(_) => {}
            Err(error) => break Closed::Io(error.to_string()),
        }
    };
    shared.close(reason);
}

fn take_line(shared: &Arc<Shared>, line: &[u8], listener: &dyn Listener) -> Result<(), Closed> {
    match line.first() {
        None => Ok(()),
        Some(b'{') => match serde_json::from_slice::<Incoming>(line) {
            Ok(message) => take(shared, message, line, listener),
            // A log line may use our words for something else.
            Err(error) => match serde_json::from_slice::<Value>(line) {
                Ok(value) if value.get("jsonrpc").is_none() => {
                    listener.odd(Oddity::Noise(shown(line)));
                    Ok(())
                }
                Ok(_) => Err(Closed::NoMessage { error: error.to_string(), line: shown(line) }),
                Err(_) => Err(Closed::BrokenJson { error: error.to_string(), line: shown(line) }),
            },
        },
        // One version of the protocol allows several messages at once.
        Some(b'[') => match serde_json::from_slice::<Vec<Incoming>>(line) {
            Ok(messages) => messages.into_iter().try_for_each(|message| take(shared, message, line, listener)),
            Err(_) => {
                listener.odd(Oddity::Noise(shown(line)));
                Ok(())
            }
        },
        Some(_) => {
            listener.odd(Oddity::Noise(shown(line)));
            Ok(())
        }
    }
}

fn take(shared: &Arc<Shared>, message: Incoming, line: &[u8], listener: &dyn Listener) -> Result<(), Closed> {
    match message {
        // A log line in JSON.
        Incoming { jsonrpc: None, .. } => listener.odd(Oddity::Noise(shown(line))),
        Incoming { id: Some(id), method: Some(method), params, .. } => {
            let answer = match listener.asked(&method, params) {
                Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                Err(error) => {
                    json!({"jsonrpc": "2.0", "id": id, "error": {"code": error.code, "message": error.message}})
                }
            };
            shared.say(&answer);
        }
        Incoming { method: Some(method), params, .. } => listener.notified(&method, params),
        Incoming { id, error: Some(error), .. } => {
            let odd = |_| RpcError::new(0, error.to_string());
            let error = RpcError::deserialize(&error).unwrap_or_else(odd);
            match id.filter(|id| !id.is_null()) {
                Some(id) => return take_answer(shared, &id, Err(error), listener),
                // The peer could not read what we sent, so it cannot say what it answers.
                None => return Err(Closed::Unreadable(error)),
            }
        }
        Incoming { id: Some(id), result, .. } => {
            return take_answer(shared, &id, Ok(result.unwrap_or_default()), listener);
        }
        Incoming { .. } => listener.odd(Oddity::Noise(shown(line))),
    }
    Ok(())
}

fn take_answer(
    shared: &Shared,
    id: &Value,
    answer: Result<Value, RpcError>,
    listener: &dyn Listener,
) -> Result<(), Closed> {
    let mut pending = shared.pending();
    let number = id.as_u64().filter(|number| (1..=pending.last_id).contains(number));
    let Some(number) = number else { return Err(Closed::WrongId { id: id.to_string() }) };
    let waiting = pending.waiting.remove(&number);
    let is_called_off = pending.called_off.remove(&number);
    drop(pending);
    match waiting {
        Some(waiting) => drop(waiting.send(answer)),
        None if is_called_off => {}
        None => listener.odd(Oddity::AnsweredTwice),
    }
    Ok(())
}

/// The beginning of an odd line, fit to be shown.
pub fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(limits::SHOWN_CHARS * 4)]);
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(limits::SHOWN_CHARS).collect();
    if text.chars().count() > limits::SHOWN_CHARS || text.len() < line.len() {
        short.push('…');
    }
    short
}

/// The beginning of something that a peer made up, fit to be shown.
pub fn brief(thing: &impl std::fmt::Display) -> String {
    shown(thing.to_string().as_bytes())
}
