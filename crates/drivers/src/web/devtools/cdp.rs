//! The DevTools protocol over the browser's debugging pipe: messages terminated by a zero byte. No port is opened.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::task::AbortOnDropHandle;

/// The largest message from a browser. Large enough for a tall picture.
const MESSAGE_BYTES: usize = 256 << 20;
/// How many commands may wait to be written.
const WAITING: usize = 256;

/// Receives the events of a session, or of the browser itself, whose session is empty.
pub trait CdpListener: Send + Sync {
    fn receive(&self, session: &str, method: &str, params: &Value);
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CdpError {
    #[error("the browser is gone")]
    Gone,
    #[error("`{method}`: {message}")]
    Refused { method: String, message: String },
}

type Answer = Result<Value, CdpError>;

pub struct Cdp {
    commands: mpsc::Sender<Vec<u8>>,
    state: Mutex<CdpState>,
    gone: watch::Sender<bool>,
    /// Otherwise the reader would keep the stream open until the browser says something.
    reader: OnceLock<AbortOnDropHandle<()>>,
}

/// A command that has not been answered.
struct WaitingCall {
    session: Option<String>,
    method: String,
    answer: oneshot::Sender<Answer>,
}

#[derive(Default)]
struct CdpState {
    last_id: u64,
    waiting: HashMap<u64, WaitingCall>,
    /// By session.
    listeners: HashMap<String, Weak<dyn CdpListener>>,
    /// Listeners for events of the browser itself.
    browser_listeners: Vec<Weak<dyn CdpListener>>,
}

impl Cdp {
    pub fn open(
        from: impl AsyncRead + Send + Unpin + 'static,
        mut to: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Arc<Cdp> {
        let (commands, mut queue) = mpsc::channel::<Vec<u8>>(WAITING);
        let (state, gone, reader) = (Mutex::default(), watch::Sender::new(false), OnceLock::new());
        let cdp = Arc::new(Cdp { commands, state, gone, reader });
        // Detached: writes the commands that wait when `Cdp` is dropped. Ends after them, or when the browser is gone.
        tokio::spawn(async move {
            while let Some(message) = queue.recv().await {
                if to.write_all(&message).await.is_err() {
                    return;
                }
            }
        });
        let reader = tokio::spawn(read(Arc::downgrade(&cdp), from));
        let _ = cdp.reader.set(AbortOnDropHandle::new(reader));
        cdp
    }

    /// Registers a listener for a session, for as long as it exists.
    pub fn listen(&self, session: &str, listener: &Arc<dyn CdpListener>) {
        self.state.lock().listeners.insert(session.to_string(), Arc::downgrade(listener));
    }

    /// Registers a listener for the browser itself, for as long as it exists.
    pub fn listen_to_browser(&self, listener: &Arc<dyn CdpListener>) {
        let mut state = self.state.lock();
        state.browser_listeners.retain(|known| known.strong_count() > 0);
        state.browser_listeners.push(Arc::downgrade(listener));
    }

    pub fn forget(&self, session: &str) {
        self.state.lock().listeners.remove(session);
    }

    /// Sends a command and waits for its answer. The caller limits the wait.
    pub async fn call(&self, session: Option<&str>, method: &str, params: Value) -> Answer {
        let (send, answer) = oneshot::channel();
        let id = {
            let mut state = self.state.lock();
            if *self.gone.borrow() {
                return Err(CdpError::Gone);
            }
            state.last_id += 1;
            let id = state.last_id;
            let session = session.map(str::to_string);
            state.waiting.insert(id, WaitingCall { session, method: method.to_string(), answer: send });
            id
        };
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        tracing::trace!(target: "trailblaze::web", id, method, session, "command");
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let _forget = ForgetCall { cdp: self, id };
        self.commands.send(bytes).await.map_err(|_| CdpError::Gone)?;
        answer.await.unwrap_or(Err(CdpError::Gone))
    }

    /// Completes when the browser is gone.
    pub async fn gone(&self) {
        let mut gone = self.gone.subscribe();
        let _ = gone.wait_for(|gone| *gone).await;
    }

    pub fn is_gone(&self) -> bool {
        *self.gone.borrow()
    }

    fn take(&self, message: &Value) {
        if let Some(id) = message.get("id").and_then(Value::as_u64) {
            let Some(WaitingCall { method, answer: waiting, .. }) = self.state.lock().waiting.remove(&id) else {
                return;
            };
            let answer = match message.get("error") {
                Some(error) => {
                    let message = error.get("message").and_then(Value::as_str).unwrap_or("no message").to_string();
                    Err(CdpError::Refused { method, message })
                }
                None => Ok(message.get("result").cloned().unwrap_or_default()),
            };
            let _ = waiting.send(answer);
            return;
        }
        let session = message.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        let listeners: Vec<Arc<dyn CdpListener>> = match session {
            "" => self.state.lock().browser_listeners.iter().filter_map(Weak::upgrade).collect(),
            session => self.state.lock().listeners.get(session).and_then(Weak::upgrade).into_iter().collect(),
        };
        let Some(method) = message.get("method").and_then(Value::as_str) else { return };
        let params = message.get("params").unwrap_or(&Value::Null);
        listeners.iter().for_each(|listener| listener.receive(session, method, params));
        // Pending commands fail once the reason for the end is known.
        if method == "Target.detachedFromTarget" {
            self.let_go(params.get("sessionId").and_then(Value::as_str).unwrap_or_default());
        }
    }

    /// Fails the pending commands of a session that has ended, because the browser does not answer them.
    fn let_go(&self, session: &str) {
        let gone: Vec<WaitingCall> = {
            let mut state = self.state.lock();
            state.listeners.remove(session);
            let is_its = |waiting: &WaitingCall| waiting.session.as_deref() == Some(session);
            let ids: Vec<u64> =
                state.waiting.iter().filter(|(_, waiting)| is_its(waiting)).map(|(id, _)| *id).collect();
            ids.iter().filter_map(|id| state.waiting.remove(id)).collect()
        };
        for WaitingCall { method, answer, .. } in gone {
            let _ = answer.send(Err(CdpError::Refused { method, message: "its session has ended".to_string() }));
        }
    }

    fn end(&self) {
        self.gone.send_replace(true);
        self.state.lock().waiting.clear();
    }
}

/// Removes a command whose caller gave up.
struct ForgetCall<'a> {
    cdp: &'a Cdp,
    id: u64,
}

impl Drop for ForgetCall<'_> {
    fn drop(&mut self) {
        self.cdp.state.lock().waiting.remove(&self.id);
    }
}

async fn read(cdp: Weak<Cdp>, mut from: impl AsyncRead + Unpin) {
    let mut buffer: Vec<u8> = Vec::with_capacity(64 << 10);
    let mut searched = 0;
    loop {
        while let Some(end) = buffer[searched..].iter().position(|byte| *byte == 0) {
            let message: Vec<u8> = buffer.drain(..=searched + end).collect();
            searched = 0;
            let Some(cdp) = cdp.upgrade() else { return };
            if let Ok(message) = serde_json::from_slice::<Value>(&message[..message.len() - 1]) {
                cdp.take(&message);
            }
        }
        searched = buffer.len();
        buffer.reserve(64 << 10);
        match from.read_buf(&mut buffer).await {
            Ok(n) if n > 0 && buffer.len() <= MESSAGE_BYTES => {}
            _ => break,
        }
    }
    if let Some(cdp) = cdp.upgrade() {
        cdp.end();
    }
}
