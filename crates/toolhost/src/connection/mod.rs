//! JSON-RPC with a peer, over a pair of streams or over HTTP. This module does not know what the messages mean.
//!
//! A peer may send anything: messages are bounded, other output is told apart from broken messages, and an answer to an
//! unknown request is never taken for the answer to another.

mod error;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::AsyncWrite;
use tokio::sync::oneshot::{self, error::TryRecvError};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::foreign_json::{self, Foreign};

use crate::http::{Http, Post, Protocol};
use crate::limits;
use crate::pipe::{Input, Pipe};
use crate::spin_wait::{Glance, SpinTurn};

pub use error::{Closed, Oddity, RequestError, RpcError};

/// Receives everything other than answers.
pub trait PeerListener: Send + Sync {
    fn notified(&self, method: &str, params: Value);

    /// Handles a request from the peer. `during` is the token of the call that it was sent with, if the transport tells.
    fn asked(&self, method: &str, params: Value, during: Option<u64>) -> Answering;

    /// The peer did something wrong that is harmless.
    fn odd(&self, oddity: Oddity);
}

/// How a request of the peer is answered.
pub enum Answering {
    Now(Result<Value, RpcError>),
    /// Once the future is done. It is dropped if the peer cancels the request or the connection closes.
    Later(BoxFuture<'static, Result<Value, RpcError>>),
}

/// A connection to a peer. Requests may be made concurrently.
pub struct Connection {
    shared: Arc<Shared>,
    reader: Option<AbortOnDropHandle<()>>,
}

pub(crate) struct Shared {
    pending: Mutex<PendingRequest>,
    closed: watch::Sender<Option<Closed>>,
    listener: Arc<dyn PeerListener>,
    /// The peer's requests that are being answered, by id.
    answering: Mutex<HashMap<String, AbortHandle>>,
    pub wire: Wire,
}

/// The transport of a connection.
pub(crate) enum Wire {
    Pipe(Pipe),
    Http(Box<Http>),
}

#[derive(Default)]
struct PendingRequest {
    last_id: u64,
    waiting: HashMap<u64, oneshot::Sender<Result<Value, RequestError>>>,
    /// Cancelled requests whose answers may still arrive.
    cancelled: HashSet<u64>,
}

impl Connection {
    /// Connects over a pair of streams, one message per line.
    pub fn open(
        input: impl Input + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        listener: Arc<dyn PeerListener>,
        turn: Arc<SpinTurn>,
    ) -> Connection {
        let shared = Shared::new(Wire::Pipe(Pipe::new(input, output, turn)), listener);
        let reading = Arc::clone(&shared);
        let reader = tokio::spawn(async move {
            if let Wire::Pipe(pipe) = &reading.wire {
                pipe.read(&reading).await;
            }
        });
        Connection { shared, reader: Some(AbortOnDropHandle::new(reader)) }
    }

    /// Connects over HTTP, one message per request. Sends nothing yet.
    pub fn over(http: Http, listener: Arc<dyn PeerListener>) -> Connection {
        Connection { shared: Shared::new(Wire::Http(Box::new(http)), listener), reader: None }
    }

    /// Makes a request; await [`OutgoingRequest::answer`] for the result. To cancel it, pass [`OutgoingRequest::id`] to
    /// [`Connection::cancel`].
    pub fn request(&self, method: &str, params: &impl Serialize) -> OutgoingRequest<'_> {
        self.request_as(method, Parts::default(), params)
    }

    /// Like [`Connection::request`], with what only HTTP sends or knows.
    pub fn request_as(&self, method: &str, parts: Parts, params: &impl Serialize) -> OutgoingRequest<'_> {
        let Parts { headers, call } = parts;
        let (send, answer) = oneshot::channel();
        let id = {
            let mut pending = self.shared.pending.lock();
            pending.last_id += 1;
            let id = pending.last_id;
            pending.waiting.insert(id, send);
            id
        };
        tracing::trace!(target: "trailblaze::mcp", id, method, "request");
        // If the connection closed in between, its waiters have already been dropped.
        if self.closed().is_some() {
            self.shared.pending.lock().waiting.remove(&id);
        }
        let message = OutgoingMessage { jsonrpc: VERSION, id: Some(id), method, params };
        let pushed = match &self.shared.wire {
            Wire::Pipe(pipe) => pipe.push(&message),
            Wire::Http(_) => match serde_json::to_vec(&message) {
                Ok(body) => {
                    Post { id: Some(id), method: method.into(), headers, body, call }.send(&self.shared);
                    Ok(())
                }
                Err(error) => Err(Closed::Io(error.to_string())),
            },
        };
        OutgoingRequest { connection: self, id, answer, pushed, is_answered: false }
    }

    /// Sends a notification without waiting for it to be delivered.
    pub fn notify(&self, method: &str, params: &Value) {
        self.shared.say(method, &OutgoingMessage { jsonrpc: VERSION, id: None, method, params });
    }

    /// Sends a notification that later messages depend on. Over HTTP, messages may overtake each other.
    pub async fn notify_first(&self, method: &str, params: &Value) -> Result<(), RequestError> {
        let Wire::Http(_) = &self.shared.wire else {
            self.notify(method, params);
            return Ok(());
        };
        let message = OutgoingMessage { jsonrpc: VERSION, id: None, method, params };
        let body = serde_json::to_vec(&message).map_err(|error| Closed::Io(error.to_string()))?;
        Ok(Post::notice(method, body).exchange(&self.shared).await?)
    }

    /// Tells the peer that the answer to a request is no longer needed.
    pub fn cancel(&self, id: u64, reason: &str) {
        let is_cancelled = match &self.shared.wire {
            Wire::Pipe(_) => false,
            Wire::Http(http) => http.cancel_stateless(id),
        };
        if is_cancelled {
            let error = RpcError::new(RpcError::CANCELLED, "cancelled");
            return self.shared.settle(id, Err(error.into()));
        }
        self.notify("notifications/cancelled", &json!({"requestId": id, "reason": reason}));
    }

    /// Sets the negotiated protocol, which HTTP sends in headers.
    pub fn use_protocol(&self, protocol: Protocol) {
        if let Wire::Http(http) = &self.shared.wire {
            http.use_protocol(protocol);
        }
    }

    /// Opens the stream on which a peer sends messages that belong to no request, where the transport needs one.
    pub fn open_event_stream(&self) {
        if let Wire::Http(http) = &self.shared.wire {
            http.open_event_stream(&self.shared);
        }
    }

    pub fn closed(&self) -> Option<Closed> {
        self.shared.closed.borrow().clone()
    }

    /// Whether the peer has not yet read everything that was sent.
    pub fn has_backlog(&self) -> bool {
        matches!(&self.shared.wire, Wire::Pipe(pipe) if pipe.has_backlog())
    }

    /// Waits until the connection closes, and returns why.
    pub async fn wait_closed(&self) -> Closed {
        let mut closed = self.shared.closed.subscribe();
        let reason = closed.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        reason.unwrap_or(Closed::Ended)
    }

    /// Closes the connection: closes the peer's stdin, or ends the session that it keeps for us.
    pub async fn close(&self) {
        match &self.shared.wire {
            Wire::Pipe(_) => self.hang_up(),
            Wire::Http(http) => {
                http.close().await;
                self.shared.close(Closed::Ended);
            }
        }
    }

    /// Treats the connection as closed, for a reason that the transport does not know.
    pub fn close_because(&self, reason: Closed) {
        self.shared.close(reason);
    }

    fn hang_up(&self) {
        let shared = Arc::clone(&self.shared);
        match &self.shared.wire {
            Wire::Pipe(_) => {
                // Detached: sends the last messages. A blocked write holds the stream until the peer reads or is killed.
                tokio::spawn(async move {
                    let Wire::Pipe(pipe) = &shared.wire else { return };
                    pipe.hang_up().await;
                });
            }
            Wire::Http(http) => http.hang_up(),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        drop(self.reader.take());
        // Nobody reads the answers any more that are still being computed.
        self.shared.close(Closed::Ended);
        self.hang_up();
    }
}

/// What a request has besides its parameters.
#[derive(Default)]
pub struct Parts {
    /// Headers to send when the transport is HTTP.
    pub headers: Vec<(String, String)>,
    /// The token of the call that it makes. Over HTTP, requests that the peer sends in the response belong to it.
    pub call: Option<u64>,
}

type Answer = oneshot::Receiver<Result<Value, RequestError>>;

/// A request in flight. Dropping it does not stop the peer's work: cancel it first.
pub struct OutgoingRequest<'a> {
    connection: &'a Connection,
    pub id: u64,
    answer: Answer,
    pushed: Result<(), Closed>,
    is_answered: bool,
}

impl OutgoingRequest<'_> {
    pub async fn answer(self) -> Result<Value, RequestError> {
        self.answer_meanwhile(|| {}).await
    }

    /// Like [`OutgoingRequest::answer`], and runs `meanwhile` once the request has been sent.
    pub async fn answer_meanwhile(mut self, meanwhile: impl FnOnce()) -> Result<Value, RequestError> {
        std::mem::replace(&mut self.pushed, Ok(()))?;
        let shared = &self.connection.shared;
        // The peer may answer, or the connection may close, before the request is fully written.
        let asked = Instant::now();
        let answer = tokio::select! {
            biased;
            answer = &mut self.answer => answer.ok(),
            flushed = shared.flush() => match flushed {
                Ok(()) => {
                    meanwhile();
                    match shared.look_for(asked, &mut self.answer) {
                        Some(answer) => answer,
                        None => (&mut self.answer).await.ok(),
                    }
                }
                Err(closed) => return Err(closed.into()),
            },
        };
        self.is_answered = true;
        if let Wire::Pipe(pipe) = &shared.wire {
            pipe.spin_wait.learn(asked.elapsed());
        }
        answer.unwrap_or_else(|| Err(self.connection.closed().unwrap_or(Closed::Ended).into()))
    }
}

impl Drop for OutgoingRequest<'_> {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let mut pending = self.connection.shared.pending.lock();
        if pending.waiting.remove(&self.id).is_some() {
            pending.cancelled.insert(self.id);
        }
        drop(pending);
        if let Wire::Http(http) = &self.connection.shared.wire {
            http.abort(self.id);
        }
    }
}

impl Shared {
    fn new(wire: Wire, listener: Arc<dyn PeerListener>) -> Arc<Shared> {
        let (pending, answering) = (Mutex::default(), Mutex::default());
        Arc::new(Shared { pending, closed: watch::Sender::new(None), listener, answering, wire })
    }

    /// Writes the queued messages. A connection that cannot be written to is closed.
    async fn flush(&self) -> Result<(), Closed> {
        let Wire::Pipe(pipe) = &self.wire else { return Ok(()) };
        let flushed = pipe.flush().await;
        flushed.inspect_err(|closed| self.close(closed.clone()))
    }

    /// Polls briefly for the answer to the request just sent. `Some(None)` means that none will come.
    fn look_for(self: &Arc<Self>, asked: Instant, answer: &mut Answer) -> Option<Option<Result<Value, RequestError>>> {
        let Wire::Pipe(pipe) = &self.wire else { return None };
        pipe.spin_wait.poll(asked, || {
            let makes_sense = pipe.take_what_is_there(self);
            match answer.try_recv() {
                Ok(answer) => Glance::Found(Some(answer)),
                Err(TryRecvError::Empty) if makes_sense => Glance::Nothing,
                Err(TryRecvError::Empty) => Glance::GiveUp,
                // The connection closed; no answer will come.
                Err(TryRecvError::Closed) => Glance::Found(None),
            }
        })
    }

    /// Sends a message without waiting for it to be delivered.
    fn say(self: &Arc<Self>, method: &str, message: &impl Serialize) {
        match &self.wire {
            Wire::Pipe(pipe) => {
                if pipe.push(message).is_ok() {
                    let shared = Arc::clone(self);
                    // Detached: ends when the peer has read the message, or its end is closed.
                    tokio::spawn(async move { shared.flush().await });
                }
            }
            Wire::Http(_) => {
                if let Ok(body) = serde_json::to_vec(message) {
                    Post::notice(method, body).send(self);
                }
            }
        }
    }

    pub fn close(&self, reason: Closed) {
        self.closed.send_if_modified(|closed| {
            let is_first = closed.is_none();
            closed.get_or_insert(reason);
            is_first
        });
        self.pending.lock().waiting.clear();
        self.answering.lock().drain().for_each(|(_, answering)| answering.abort());
    }

    /// Answers a request of the peer once the future is done.
    fn answer_later(self: &Arc<Self>, id: Value, answer: BoxFuture<'static, Result<Value, RpcError>>) {
        let (shared, key) = (Arc::clone(self), id.to_string());
        // Held until the task is registered, so that a task that has already finished does not stay registered.
        let mut answering = self.answering.lock();
        let task = tokio::spawn({
            let key = key.clone();
            async move {
                let answer = answer.await;
                shared.answering.lock().remove(&key);
                shared.say("", &response(&id, answer));
            }
        });
        answering.insert(key, task.abort_handle());
    }

    /// Stops answering a request that the peer no longer needs.
    fn stop_answering(&self, params: &Value) {
        let answering = params.get("requestId").and_then(|id| self.answering.lock().remove(&id.to_string()));
        if let Some(answering) = answering {
            answering.abort();
        }
    }

    pub fn is_waiting(&self, id: u64) -> bool {
        self.pending.lock().waiting.contains_key(&id)
    }

    /// Completes a request with this result, unless it has been answered.
    pub fn settle(&self, id: u64, answer: Result<Value, RequestError>) {
        let waiting = self.pending.lock().waiting.remove(&id);
        if let Some(waiting) = waiting {
            drop(waiting.send(answer));
        }
    }

    /// Handles a line that may be a message, a batch, or other output.
    pub fn take(self: &Arc<Self>, line: &[u8]) -> Result<(), Closed> {
        take_line(self, line, &*self.listener)
    }

    /// Handles a message or a batch; over HTTP, anything else is an error. `during` is the call that it was sent with.
    pub fn take_message(self: &Arc<Self>, text: &[u8], during: Option<u64>) -> Result<(), Closed> {
        let messages = match text.first() {
            Some(b'[') => read::<Vec<Incoming>>(text, &*self.listener),
            _ => read::<Incoming>(text, &*self.listener).map(|message| vec![message]),
        };
        let no_message = |error: String| Closed::NoMessage { error, line: shown(text) };
        for message in messages.map_err(|error| no_message(error.to_string()))? {
            if message.jsonrpc.is_none() {
                return Err(no_message("no `jsonrpc`".to_string()));
            }
            take(self, message, text, during, &*self.listener)?;
        }
        Ok(())
    }
}

fn response(id: &Value, answer: Result<Value, RpcError>) -> Value {
    match answer {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": error.code, "message": error.message}}),
    }
}

const VERSION: &str = "2.0";

/// A request or a notification, serialized without copying its parameters.
#[derive(Serialize)]
struct OutgoingMessage<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    params: &'a P,
}

/// A line that may be a message. Unknown fields are ignored.
#[derive(Deserialize)]
struct Incoming {
    jsonrpc: Option<IgnoredAny>,
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    result: Option<Value>,
    error: Option<Value>,
}

/// Parses what a peer wrote. Invalid Unicode is reported but does not lose the message.
fn read<T: DeserializeOwned>(text: &[u8], listener: &dyn PeerListener) -> Result<T, serde_json::Error> {
    let Foreign { value, is_replaced } = foreign_json::read(text)?;
    if is_replaced {
        listener.odd(Oddity::NotUnicode);
    }
    Ok(value)
}

fn take_line(shared: &Arc<Shared>, line: &[u8], listener: &dyn PeerListener) -> Result<(), Closed> {
    match line.first() {
        None => Ok(()),
        Some(b'{') => match read::<Incoming>(line, listener) {
            Ok(message) => take(shared, message, line, None, listener),
            // A log line may use the same field names.
            Err(error) => match serde_json::from_slice::<Value>(line) {
                Ok(value) if value.get("jsonrpc").is_none() => {
                    listener.odd(Oddity::Noise(shown(line)));
                    Ok(())
                }
                Ok(_) => Err(Closed::NoMessage { error: error.to_string(), line: shown(line) }),
                Err(_) => take_after_text(shared, line, listener)
                    .unwrap_or_else(|| Err(Closed::BrokenJson { error: error.to_string(), line: shown(line) })),
            },
        },
        // One version of the protocol allows batches.
        Some(b'[') => match read::<Vec<Incoming>>(line, listener) {
            Ok(messages) => messages.into_iter().try_for_each(|message| take(shared, message, line, None, listener)),
            Err(_) => take_noise(shared, line, listener),
        },
        Some(_) => take_noise(shared, line, listener),
    }
}

fn take_noise(shared: &Arc<Shared>, line: &[u8], listener: &dyn PeerListener) -> Result<(), Closed> {
    take_after_text(shared, line, listener).unwrap_or_else(|| {
        listener.odd(Oddity::Noise(shown(line)));
        Ok(())
    })
}

/// Takes an answer that follows other text on its line, which a `print` without a line end leaves there. Only an answer that
/// is waited for counts, because servers may log their messages. `None` if there is none.
fn take_after_text(shared: &Arc<Shared>, line: &[u8], listener: &dyn PeerListener) -> Option<Result<(), Closed>> {
    let starts = line.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'{').map(|(at, _)| at);
    starts.take(limits::GLUED_STARTS).find_map(|at| {
        let (text, rest) = line.split_at(at);
        let message: Incoming = foreign_json::read(rest).ok()?.value;
        let is_answer = message.jsonrpc.is_some() && message.method.is_none();
        let number = message.id.as_ref().and_then(Value::as_u64).filter(|_| is_answer)?;
        shared.is_waiting(number).then(|| {
            listener.odd(Oddity::Noise(shown(text.trim_ascii_end())));
            take(shared, message, rest, None, listener)
        })
    })
}

fn take(
    shared: &Arc<Shared>,
    message: Incoming,
    line: &[u8],
    during: Option<u64>,
    listener: &dyn PeerListener,
) -> Result<(), Closed> {
    match message {
        // A log line in JSON.
        Incoming { jsonrpc: None, .. } => listener.odd(Oddity::Noise(shown(line))),
        Incoming { id: Some(id), method: Some(method), params, .. } => match listener.asked(&method, params, during) {
            Answering::Now(answer) => shared.say("", &response(&id, answer)),
            Answering::Later(answer) => shared.answer_later(id, answer),
        },
        Incoming { method: Some(method), params, .. } if method == "notifications/cancelled" => {
            shared.stop_answering(&params);
        }
        Incoming { method: Some(method), params, .. } => listener.notified(&method, params),
        Incoming { id, error: Some(error), .. } => {
            let odd = |_| RpcError::new(0, error.to_string());
            let error = RpcError::deserialize(&error).unwrap_or_else(odd);
            match id.filter(|id| !id.is_null()) {
                Some(id) => return take_answer(shared, &id, Err(error.into()), listener),
                // The peer could not parse our message, so it cannot name the request that it answers.
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
    answer: Result<Value, RequestError>,
    listener: &dyn PeerListener,
) -> Result<(), Closed> {
    let mut pending = shared.pending.lock();
    let number = id.as_u64().filter(|number| (1..=pending.last_id).contains(number));
    let Some(number) = number else { return Err(Closed::WrongId { id: id.to_string() }) };
    let waiting = pending.waiting.remove(&number);
    let is_called_off = pending.cancelled.remove(&number);
    drop(pending);
    match waiting {
        Some(waiting) => drop(waiting.send(answer)),
        None if is_called_off => {}
        None => listener.odd(Oddity::AnsweredTwice),
    }
    Ok(())
}

/// The beginning of a line, safe to show.
pub fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(limits::SHOWN_CHARS * 4)]);
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(limits::SHOWN_CHARS).collect();
    if text.chars().count() > limits::SHOWN_CHARS || text.len() < line.len() {
        short.push('…');
    }
    short
}

/// The beginning of a value from the peer, safe to show.
pub fn brief(thing: &impl std::fmt::Display) -> String {
    shown(thing.to_string().as_bytes())
}
