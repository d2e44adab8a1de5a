//! Where a server's notifications arrive: progress and words about the calls at work, and news that belong to none.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch;
use trailblaze_core::engine::cx::Cx;
use trailblaze_protocol::event::Level;

use crate::connection::{Listener, Oddity, RpcError};
use crate::limits;

/// Where a server's news go that belong to no call.
pub trait ServerEvents: Send + Sync {
    fn note(&self, server: &str, level: Level, text: String);

    fn started(&self, server: &str, version: &str);

    fn ended(&self, server: &str, how: String);
}

/// Where the server's notifications arrive, and the calls that they may be about.
pub(crate) struct NotificationRouter {
    pub server: String,
    pub events: Arc<dyn ServerEvents>,
    calls: Mutex<HashMap<u64, Talk>>,
    last_token: AtomicU64,
    /// How often it was quoted outside of calls.
    n_notes: AtomicUsize,
    /// How often it said that its tools changed. Several sessions may be waiting for it.
    pub revision: watch::Sender<u64>,
    /// The first thing it printed where it should not.
    pub noise: Mutex<Option<String>>,
    has_answered_twice: AtomicBool,
    has_sent_broken_text: AtomicBool,
}

impl NotificationRouter {
    pub fn new(server: String, events: Arc<dyn ServerEvents>) -> NotificationRouter {
        NotificationRouter {
            server,
            events,
            calls: Mutex::default(),
            last_token: AtomicU64::new(0),
            n_notes: AtomicUsize::new(0),
            revision: watch::Sender::new(0),
            noise: Mutex::default(),
            has_answered_twice: AtomicBool::new(false),
            has_sent_broken_text: AtomicBool::new(false),
        }
    }

    /// Registers a call until the guard goes.
    pub fn enter(&self, cx: &Cx) -> RoutedCall<'_> {
        let token = self.last_token.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.calls).insert(token, Talk { cx: cx.clone(), n_notes: 0 });
        RoutedCall { router: self, token }
    }

    fn progressed(&self, params: &Value) {
        let token = params.get("progressToken").and_then(Value::as_u64);
        let mut calls = lock(&self.calls);
        let Some(talk) = token.and_then(|token| calls.get_mut(&token)) else { return };
        let number = |key: &str| params.get(key).and_then(Value::as_f64);
        let share = match (number("progress"), number("total")) {
            (Some(done), Some(total)) => format!("{done}/{total}"),
            (Some(done), None) => done.to_string(),
            _ => String::new(),
        };
        let words = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let text: Vec<&str> = [share.as_str(), words].into_iter().filter(|part| !part.is_empty()).collect();
        talk.cx.renew();
        talk.note(Level::Info, text.join(" "));
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
        // A message does not say which call it is about; with one at work there is no doubt.
        let mut calls = lock(&self.calls);
        if let (1, Some(talk)) = (calls.len(), calls.values_mut().next()) {
            return talk.note(level, text);
        }
        drop(calls);
        match self.n_notes.fetch_add(1, Ordering::Relaxed) {
            n if n < limits::NOTES => self.events.note(&self.server, level, text),
            limits::NOTES => self.events.note(&self.server, Level::Warning, TOO_MUCH.to_string()),
            _ => {}
        }
    }
}

/// The words of a message that is wrapped, as FastMCP wraps all of its own, and has nothing else to it.
fn plain(data: &Value) -> Option<&str> {
    let data = data.as_object()?;
    let is_all = data.iter().all(|(key, value)| key == "msg" || value.is_null());
    data.get("msg").filter(|_| is_all)?.as_str()
}

impl Listener for NotificationRouter {
    fn notified(&self, method: &str, params: Value) {
        match method {
            "notifications/progress" => self.progressed(&params),
            "notifications/message" => self.logged(&params),
            // A registry is a resource, and says as much about tools as their list does.
            "notifications/tools/list_changed" | "notifications/resources/list_changed" => {
                self.revision.send_modify(|revision| *revision += 1);
            }
            _ => {}
        }
    }

    fn asked(&self, method: &str, _: Value) -> Result<Value, RpcError> {
        match method {
            "ping" => Ok(json!({})),
            _ => {
                let text = format!("Trailblaze does not offer `{method}` to its tool servers");
                Err(RpcError::new(RpcError::METHOD_NOT_FOUND, text))
            }
        }
    }

    fn odd(&self, oddity: Oddity) {
        let is_first = match &oddity {
            Oddity::Noise(text) => {
                let mut noise = lock(&self.noise);
                let is_first = noise.is_none();
                noise.get_or_insert_with(|| text.clone());
                is_first
            }
            Oddity::AnsweredTwice => !self.has_answered_twice.swap(true, Ordering::Relaxed),
            Oddity::NotUnicode => !self.has_sent_broken_text.swap(true, Ordering::Relaxed),
        };
        // Once is enough: it would be said of every line.
        if is_first {
            self.events.note(&self.server, Level::Warning, oddity.to_string());
        }
    }
}

/// A call that the server may speak of.
struct Talk {
    cx: Cx,
    n_notes: usize,
}

const TOO_MUCH: &str = "it has more to say than anybody would read; the rest is left out";

impl Talk {
    fn note(&mut self, level: Level, text: String) {
        match self.n_notes {
            n if n < limits::NOTES => self.cx.note(level, text),
            limits::NOTES => self.cx.note(Level::Warning, TOO_MUCH),
            _ => return,
        }
        self.n_notes += 1;
    }
}

/// A call that is at work.
pub(crate) struct RoutedCall<'a> {
    router: &'a NotificationRouter,
    pub token: u64,
}

impl Drop for RoutedCall<'_> {
    fn drop(&mut self) {
        lock(&self.router.calls).remove(&self.token);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
