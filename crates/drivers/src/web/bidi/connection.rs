//! WebDriver BiDi over a WebSocket: commands and their answers, and events, which arrive in order.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use futures::{Sink, SinkExt, Stream, StreamExt};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_util::task::AbortOnDropHandle;

/// The largest message from a browser. Large enough for a tall picture.
const MESSAGE_BYTES: usize = 256 << 20;
/// How many commands may wait to be written.
const WAITING: usize = 256;
/// How long a connection may take to open.
const CONNECTING: Duration = Duration::from_secs(10);

/// Receives events. Must not block.
pub trait BidiListener: Send + Sync {
    fn receive(&self, method: &str, params: &Value);
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BidiError {
    #[error("the browser is gone")]
    Gone,
    #[error("`{method}`: {message}")]
    Refused {
        method: String,
        /// As the protocol names it: `no such frame`.
        code: String,
        message: String,
    },
}

impl BidiError {
    /// Whether it is an error of this name of the protocol.
    pub fn is(&self, name: &str) -> bool {
        matches!(self, BidiError::Refused { code, .. } if code == name)
    }
}

type Answer = Result<Value, BidiError>;

/// A connection to a browser that speaks BiDi.
pub struct BidiConnection {
    commands: mpsc::Sender<String>,
    state: Mutex<ConnectionState>,
    gone: watch::Sender<bool>,
    /// Otherwise the reader would keep the connection open until the browser says something.
    reader: OnceLock<AbortOnDropHandle<()>>,
}

/// A command that has not been answered.
struct WaitingCommand {
    method: String,
    answer: oneshot::Sender<Answer>,
}

#[derive(Default)]
struct ConnectionState {
    last_id: u64,
    waiting: HashMap<u64, WaitingCommand>,
    listener: Option<Weak<dyn BidiListener>>,
}

impl BidiConnection {
    /// Connects to an address of the form `ws://host:port/session`. The error is a message for people.
    pub async fn connect(url: &str) -> Result<Arc<BidiConnection>, String> {
        let config =
            WebSocketConfig::default().max_message_size(Some(MESSAGE_BYTES)).max_frame_size(Some(MESSAGE_BYTES));
        let connecting = tokio_tungstenite::connect_async_with_config(url, Some(config), true);
        let connected = timeout(CONNECTING, connecting).await;
        let connected = connected.map_err(|_| format!("it did not answer within {} s", CONNECTING.as_secs()))?;
        let (socket, _) = connected.map_err(|error| error.to_string())?;
        let (to, from) = socket.split();
        Ok(BidiConnection::open(from, to))
    }

    /// Uses a WebSocket that is open.
    pub fn open<E: Send + 'static>(
        from: impl Stream<Item = Result<Message, E>> + Send + Unpin + 'static,
        mut to: impl Sink<Message> + Send + Unpin + 'static,
    ) -> Arc<BidiConnection> {
        let (commands, mut queue) = mpsc::channel::<String>(WAITING);
        let (state, gone, reader) = (Mutex::default(), watch::Sender::new(false), OnceLock::new());
        let connection = Arc::new(BidiConnection { commands, state, gone, reader });
        // Detached: writes the commands that wait when the connection is dropped. Ends after them, or when the browser is gone.
        tokio::spawn(async move {
            while let Some(message) = queue.recv().await {
                if to.send(Message::text(message)).await.is_err() {
                    return;
                }
            }
            let _ = to.close().await;
        });
        let reader = tokio::spawn(read(Arc::downgrade(&connection), from));
        let _ = connection.reader.set(AbortOnDropHandle::new(reader));
        connection
    }

    /// Registers the listener for events, for as long as it exists.
    pub fn listen(&self, listener: &Arc<dyn BidiListener>) {
        self.state.lock().listener = Some(Arc::downgrade(listener));
    }

    /// Sends a command and waits for its answer. The caller limits the wait.
    pub async fn call(&self, method: &str, params: Value) -> Answer {
        let (send, answer) = oneshot::channel();
        let id = {
            let mut state = self.state.lock();
            if *self.gone.borrow() {
                return Err(BidiError::Gone);
            }
            state.last_id += 1;
            let id = state.last_id;
            state.waiting.insert(id, WaitingCommand { method: method.to_string(), answer: send });
            id
        };
        tracing::trace!(target: "trailblaze::web", id, method, "command");
        let message = json!({"id": id, "method": method, "params": params}).to_string();
        let _forget = ForgetCommand { connection: self, id };
        self.commands.send(message).await.map_err(|_| BidiError::Gone)?;
        answer.await.unwrap_or(Err(BidiError::Gone))
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
        let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
        if let Some(id) = message.get("id").and_then(Value::as_u64) {
            let Some(WaitingCommand { method, answer }) = self.state.lock().waiting.remove(&id) else { return };
            let result = match message.get("error") {
                Some(_) => {
                    let (code, message) = (text("error").to_string(), text("message").to_string());
                    Err(BidiError::Refused { method, code, message })
                }
                None => Ok(message.get("result").cloned().unwrap_or_default()),
            };
            let _ = answer.send(result);
            return;
        }
        let listener = self.state.lock().listener.as_ref().and_then(Weak::upgrade);
        if let Some(listener) = listener {
            listener.receive(text("method"), message.get("params").unwrap_or(&Value::Null));
        }
    }

    fn end(&self) {
        self.gone.send_replace(true);
        self.state.lock().waiting.clear();
    }
}

/// Removes a command whose caller gave up.
struct ForgetCommand<'a> {
    connection: &'a BidiConnection,
    id: u64,
}

impl Drop for ForgetCommand<'_> {
    fn drop(&mut self) {
        self.connection.state.lock().waiting.remove(&self.id);
    }
}

async fn read<E>(connection: Weak<BidiConnection>, mut from: impl Stream<Item = Result<Message, E>> + Unpin) {
    while let Some(Ok(message)) = from.next().await {
        let text = match &message {
            Message::Text(text) => text.as_str(),
            Message::Close(_) => break,
            _ => continue,
        };
        let Some(connection) = connection.upgrade() else { return };
        // What is no message of the protocol answers nothing: its caller runs into its deadline.
        if let Ok(message) = serde_json::from_str::<Value>(text) {
            connection.take(&message);
        }
    }
    if let Some(connection) = connection.upgrade() {
        connection.end();
    }
}

#[cfg(test)]
mod tests {
    use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};

    use super::*;

    type Incoming = Result<Message, std::convert::Infallible>;

    fn pair() -> (Arc<BidiConnection>, UnboundedSender<Incoming>, UnboundedReceiver<Message>) {
        let (browser, from) = unbounded::<Incoming>();
        let (to, sent) = unbounded::<Message>();
        (BidiConnection::open(from, to), browser, sent)
    }

    fn say(browser: &UnboundedSender<Incoming>, message: &Value) {
        browser.unbounded_send(Ok(Message::text(message.to_string()))).unwrap();
    }

    #[tokio::test]
    async fn answers_reach_their_commands_in_any_order() {
        let (connection, browser, mut sent) = pair();
        let both = async { tokio::join!(connection.call("a.b", json!({})), connection.call("c.d", json!({"x": 1}))) };
        let answer = async {
            let first: Value = serde_json::from_str(sent.next().await.unwrap().to_text().unwrap()).unwrap();
            let second: Value = serde_json::from_str(sent.next().await.unwrap().to_text().unwrap()).unwrap();
            assert_eq!(second, json!({"id": 2, "method": "c.d", "params": {"x": 1}}));
            say(&browser, &json!({"id": 99, "type": "success", "result": "of nothing"}));
            say(&browser, &json!("not a message"));
            say(&browser, &json!({"id": second["id"], "type": "success", "result": {"n": 2}}));
            let error = json!({"id": first["id"], "type": "error", "error": "no such frame", "message": "it left"});
            say(&browser, &error);
        };
        let ((first, second), ()) = tokio::join!(both, answer);
        assert_eq!(second, Ok(json!({"n": 2})));
        let first = first.unwrap_err();
        assert!(first.is("no such frame"), "{first:?}");
        assert_eq!(first.to_string(), "`a.b`: it left");
    }

    #[tokio::test]
    async fn commands_fail_when_the_browser_is_gone() {
        let (connection, browser, mut sent) = pair();
        let leave = async {
            sent.next().await;
            drop(browser);
        };
        let (answer, ()) = tokio::join!(connection.call("a.b", json!({})), leave);
        assert_eq!(answer, Err(BidiError::Gone));
        connection.gone().await;
        assert_eq!(connection.call("a.b", json!({})).await, Err(BidiError::Gone));
    }

    #[tokio::test]
    async fn events_reach_the_listener() {
        struct ReceivedEvents(Mutex<Vec<String>>, tokio::sync::Notify);
        impl BidiListener for ReceivedEvents {
            fn receive(&self, method: &str, params: &Value) {
                self.0.lock().push(format!("{method} {params}"));
                self.1.notify_one();
            }
        }
        let (connection, browser, _sent) = pair();
        let names = Arc::new(ReceivedEvents(Mutex::default(), tokio::sync::Notify::new()));
        let listener: Arc<dyn BidiListener> = Arc::clone(&names) as Arc<dyn BidiListener>;
        connection.listen(&listener);
        say(&browser, &json!({"type": "event", "method": "log.entryAdded", "params": {"text": "hi"}}));
        names.1.notified().await;
        assert_eq!(*names.0.lock(), [r#"log.entryAdded {"text":"hi"}"#]);
    }
}
