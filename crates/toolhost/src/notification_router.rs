//! Routes a server's notifications: progress and log messages to the call in flight that they belong to, everything
//! else to the server's own events.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::invocations::Invocations;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::ids::CallId;
use trailblaze_script::{FAILED_CALL, LogLine};

use crate::connection::{Answering, Oddity, PeerListener, RpcError, shown};
use crate::limits;
use crate::sampling;
use crate::stderr;

/// Receives the events of a server that belong to no call.
pub trait ServerEvents: Send + Sync {
    fn note(&self, server: &str, level: Level, text: String);

    fn started(&self, server: &str, version: &str);

    fn ended(&self, server: &str, how: String);

    /// A call has failed with the reason why the new version of a server cannot be used, so that nobody needs to be told again.
    fn explained(&self, server: &str);
}

/// Receives a server's notifications and knows the calls that they may belong to.
pub(crate) struct NotificationRouter {
    pub server: String,
    pub events: Arc<dyn ServerEvents>,
    /// Whether the server may ask a model.
    may_sample: bool,
    calls: Mutex<HashMap<u64, ActiveCall>>,
    /// Knows the calls that have ended.
    invocations: OnceLock<Arc<Invocations>>,
    last_token: AtomicU64,
    /// Number of log messages outside of calls.
    n_notes: AtomicUsize,
    /// Counts the server's `list_changed` notifications. Several sessions may wait on it.
    pub revision: watch::Sender<u64>,
    /// The first line of stdout that was not a message, since the instance started or a call began while no other was in progress.
    pub noise: Mutex<Option<String>>,
    has_made_noise: AtomicBool,
    has_answered_twice: AtomicBool,
    has_sent_broken_text: AtomicBool,
}

impl NotificationRouter {
    pub fn new(server: String, events: Arc<dyn ServerEvents>, may_sample: bool) -> NotificationRouter {
        NotificationRouter {
            server,
            events,
            may_sample,
            calls: Mutex::default(),
            invocations: OnceLock::new(),
            last_token: AtomicU64::new(0),
            n_notes: AtomicUsize::new(0),
            revision: watch::Sender::new(0),
            noise: Mutex::default(),
            has_made_noise: AtomicBool::new(false),
            has_answered_twice: AtomicBool::new(false),
            has_sent_broken_text: AtomicBool::new(false),
        }
    }

    /// Registers a call until the guard is dropped.
    pub fn register(&self, cx: &Cx) -> RoutedCall<'_> {
        let token = self.last_token.fetch_add(1, Ordering::Relaxed) + 1;
        self.invocations.get_or_init(|| Arc::clone(&cx.session.invocations));
        self.calls.lock().insert(token, ActiveCall { cx: cx.clone(), n_notes: 0 });
        RoutedCall { router: self, token }
    }

    /// The context of a registered call.
    pub fn context(&self, token: u64) -> Option<Cx> {
        self.calls.lock().get(&token).map(|active| active.cx.clone())
    }

    /// The call that a request of the server belongs to: the one that it names, the one that it was sent with, or the innermost if
    /// all calls in flight form one chain.
    fn call_of(&self, params: &Value, during: Option<u64>) -> Result<Cx, NoCall> {
        let calls = self.calls.lock();
        if let Some(id) = params.pointer("/_meta/trailblazeInvocationId").and_then(Value::as_str) {
            let named = calls.values().find(|active| active.cx.call_id().is_some_and(|call| call.as_str() == id));
            return named.map(|active| active.cx.clone()).ok_or_else(|| NoCall::Unknown(shown(id.as_bytes())));
        }
        if let Some(active) = during.and_then(|token| calls.get(&token)) {
            return Ok(active.cx.clone());
        }
        if calls.is_empty() {
            return Err(NoCall::None);
        }
        Cx::innermost(calls.values().map(|active| &active.cx)).cloned().ok_or(NoCall::Several)
    }

    fn progressed(&self, params: &Value) {
        let token = params.get("progressToken").and_then(Value::as_u64);
        let mut calls = self.calls.lock();
        let Some(active) = token.and_then(|token| calls.get_mut(&token)) else { return };
        let number = |key: &str| params.get(key).and_then(Value::as_f64);
        let share = match (number("progress"), number("total")) {
            (Some(done), Some(total)) => format!("{done}/{total}"),
            (Some(done), None) => done.to_string(),
            _ => String::new(),
        };
        let words = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let text: Vec<&str> = [share.as_str(), words].into_iter().filter(|part| !part.is_empty()).collect();
        active.cx.renew();
        active.note(Level::Info, text.join(" "));
    }

    /// Notes a line that the server printed with the call that it can only be about: the innermost if all calls in flight form one
    /// chain. Other lines are in the log alone.
    pub fn printed(&self, line: &str) {
        let text = stderr::shown(line);
        let mut calls = self.calls.lock();
        let innermost = Cx::innermost(calls.values().map(|active| &active.cx)).and_then(|cx| cx.call_id().cloned());
        let active = calls.values_mut().find(|active| innermost.is_some() && active.cx.call_id() == innermost.as_ref());
        if let Some(active) = active.filter(|_| !text.trim().is_empty()) {
            active.note(Level::Info, text);
        }
    }

    /// The same for a toolset in the engine. What is wrong after its calls have ended is an event of the server.
    pub fn printed_by_engine(&self, line: &LogLine) {
        if let Some(call) = line.level.strip_prefix(FAILED_CALL) {
            self.logged(&json!({"level": "error", "data": line.text, "_meta": {"trailblazeFailedCall": call}}));
        } else if line.level == "error" && self.calls.lock().is_empty() {
            self.logged(&json!({"level": line.level, "data": line.text}));
        } else {
            self.printed(&line.text);
        }
    }

    fn logged(&self, params: &Value) {
        let level = match params.get("level").and_then(Value::as_str) {
            Some("debug") => Level::Debug,
            Some("warning") => Level::Warning,
            Some("error" | "critical" | "alert" | "emergency") => Level::Error,
            _ => Level::Info,
        };
        let text = match params.get("data") {
            Some(Value::String(text)) => text.clone(),
            Some(data) => plain(data).map_or_else(|| data.to_string(), str::to_string),
            None => String::new(),
        };
        if text.is_empty() {
            return;
        }
        // Something that the tool of a call started has failed. While the call is in progress, its own package fails it.
        let failed = params.pointer("/_meta/trailblazeFailedCall").and_then(Value::as_str).map(CallId::new);
        if let (Some(call), Some(invocations)) = (failed, self.invocations.get())
            && invocations.fail_late(&call, |_| text.clone())
        {
            return;
        }
        // Our own packages name the call as in reports of progress; one that has ended has no log any more. Otherwise, with one call
        // in flight, it can only be that one.
        let token = params.pointer("/_meta/progressToken");
        let mut calls = self.calls.lock();
        let active = match token {
            Some(token) => token.as_u64().and_then(|token| calls.get_mut(&token)),
            None if calls.len() == 1 => calls.values_mut().next(),
            None => None,
        };
        if let Some(active) = active {
            // Our own packages mark what the tool may not have done although it passes.
            let is_doubt = params.pointer("/_meta/trailblazeDoubt") == Some(&Value::Bool(true));
            return if is_doubt { active.cx.doubt(text) } else { active.note(level, text) };
        }
        drop(calls);
        match self.n_notes.fetch_add(1, Ordering::Relaxed) {
            n if n < limits::NOTES => self.events.note(&self.server, level, text),
            limits::NOTES => self.events.note(&self.server, Level::Warning, TOO_MUCH.to_string()),
            _ => {}
        }
    }
}

/// The text of a message wrapped in `{"msg": …}` and nothing else, as FastMCP wraps its own.
fn plain(data: &Value) -> Option<&str> {
    let data = data.as_object()?;
    let is_all = data.iter().all(|(key, value)| key == "msg" || value.is_null());
    data.get("msg").filter(|_| is_all)?.as_str()
}

impl NotificationRouter {
    /// What an earlier instance printed says nothing about the next one, which gets a warning of its own.
    pub fn begin_instance(&self) {
        self.forget_noise();
        self.has_made_noise.store(false, Ordering::Relaxed);
    }

    /// What was printed in earlier calls says nothing about the next one.
    pub fn forget_noise(&self) {
        *self.noise.lock() = None;
    }
}

impl PeerListener for NotificationRouter {
    fn notified(&self, method: &str, params: Value) {
        match method {
            "notifications/progress" => self.progressed(&params),
            "notifications/message" => self.logged(&params),
            // The registry is a resource and describes tools as the list does.
            "notifications/tools/list_changed" | "notifications/resources/list_changed" => {
                self.revision.send_modify(|revision| *revision += 1);
            }
            _ => {}
        }
    }

    fn asked(&self, method: &str, params: Value, during: Option<u64>) -> Answering {
        let refused = |text: String| Answering::Now(Err(RpcError::new(RpcError::METHOD_NOT_FOUND, text)));
        match method {
            "ping" => Answering::Now(Ok(json!({}))),
            sampling::METHOD if !self.may_sample => refused(format!(
                "the server `{}` may not ask a model: set `sampling: true` in its entry to allow that",
                self.server
            )),
            sampling::METHOD => match self.call_of(&params, during) {
                Ok(cx) => Answering::Later(Box::pin(async move { sampling::create_message(&cx, &params).await })),
                Err(no_call) => Answering::Now(Err(RpcError::new(RpcError::INVALID_PARAMS, no_call.to_string()))),
            },
            _ => refused(format!("Trailblaze does not offer `{method}` to its tool servers")),
        }
    }

    fn odd(&self, oddity: Oddity) {
        let is_first = match &oddity {
            Oddity::Noise(text) => {
                self.printed(text);
                self.noise.lock().get_or_insert_with(|| text.clone());
                !self.has_made_noise.swap(true, Ordering::Relaxed)
            }
            Oddity::AnsweredTwice => !self.has_answered_twice.swap(true, Ordering::Relaxed),
            Oddity::NotUnicode => !self.has_sent_broken_text.swap(true, Ordering::Relaxed),
        };
        // Reported once: it would repeat on every line.
        if is_first {
            self.events.note(&self.server, Level::Warning, oddity.to_string());
        }
    }
}

/// Why a request of the server belongs to no call.
#[derive(Debug, thiserror::Error)]
enum NoCall {
    #[error("a server can ask a model only while one of its tools is being called")]
    None,
    #[error("Unknown invocation ID: {0}. The tool call may have completed or timed out.")]
    Unknown(String),
    #[error(
        "several tools of the server are being called, so the request must name the call that it belongs to, in \
         `_meta.trailblazeInvocationId`"
    )]
    Several,
}

/// A call that notifications may belong to.
struct ActiveCall {
    cx: Cx,
    n_notes: usize,
}

const TOO_MUCH: &str = "too many log messages; the rest are left out";

impl ActiveCall {
    fn note(&mut self, level: Level, text: String) {
        match self.n_notes {
            n if n < limits::NOTES => self.cx.note(level, text),
            limits::NOTES => self.cx.note(Level::Warning, TOO_MUCH),
            _ => return,
        }
        self.n_notes += 1;
    }
}

/// Keeps a call registered; dropping it removes the call.
pub(crate) struct RoutedCall<'a> {
    router: &'a NotificationRouter,
    pub token: u64,
}

impl Drop for RoutedCall<'_> {
    fn drop(&mut self) {
        self.router.calls.lock().remove(&self.token);
    }
}
