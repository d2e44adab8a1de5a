//! What callers from outside may act on: the calls in flight, by their ids, and the open sessions, by their keys. One process has
//! one of it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::watch;
use trailblaze_protocol::event::{Called, Event, ToolKind};
use trailblaze_protocol::ids::{CallId, DeviceId, Parent, SessionId};

use crate::engine::cx::{Attempt, Cx};
use crate::engine::session::Session;
use crate::engine::session_key::SessionKey;

/// The calls in flight, by id, and the open sessions, by key. Knowing an id or a key is permission to use it.
pub struct Invocations {
    live: Mutex<HashMap<CallId, Cx>>,
    sessions: Mutex<HashMap<SessionKey, Weak<Session>>>,
    /// The calls that ended last, of tools that may call back.
    ended: Mutex<VecDeque<EndedCall>>,
    /// Counts the changes of `sessions`.
    changes: watch::Sender<i32>,
}

struct EndedCall {
    call: CallId,
    tool: String,
    session: Weak<Session>,
    attempt: Weak<Attempt>,
    /// Whether something that the tool left behind has failed, and people were told.
    is_told: bool,
}

impl Default for Invocations {
    fn default() -> Invocations {
        Invocations {
            live: Mutex::default(),
            sessions: Mutex::default(),
            ended: Mutex::default(),
            changes: watch::Sender::new(0),
        }
    }
}

/// How many calls of tools outside are remembered after they have ended.
const ENDED_KEPT: usize = 256;

/// Assertions that wait for something. A tool may start several of them, and go on with whichever ends first.
const WAITS: &[&str] = &["waitUntilVisible", "waitUntilNotVisible", "waitForSelector", "web_wait", "web_waitForUrl"];

/// Why a callback was refused. Nothing was dispatched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("Unknown invocation ID: {0}. The tool call may have completed or timed out.")]
    Unknown(CallId),
    #[error("The invocation {0} belongs to another session.")]
    OtherSession(CallId),
    #[error("The invocation {0} belongs to another device.")]
    OtherDevice(CallId),
}

/// Why a caller without an id cannot be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoChain {
    #[error("no tool is being called")]
    NoCall,
    #[error("several tools are being called, so the call must name the one that it belongs to")]
    Several,
    #[error("several sessions are open, so the call must name the tool call that it belongs to")]
    Sessions,
}

impl Invocations {
    /// The context of a call in flight. Session and device are only cross-checked, never used to find the call.
    pub fn find(&self, call: &CallId, session: Option<&SessionId>, device: Option<&DeviceId>) -> Result<Cx, Refused> {
        let cx = self.live.lock().get(call).cloned().ok_or_else(|| Refused::Unknown(call.clone()))?;
        if session.is_some_and(|session| *session != cx.session.id) {
            return Err(Refused::OtherSession(call.clone()));
        }
        if device.is_some_and(|device| *device != cx.session.device.description().id) {
            return Err(Refused::OtherDevice(call.clone()));
        }
        Ok(cx)
    }

    /// Something that the tool of a call that has ended had started calls a tool or command, which is refused. `place` is where in its
    /// author's code, if that is known.
    pub fn note_late(&self, call: &CallId, what: &str, place: Option<&str>) {
        self.fail_late(call, |tool| {
            let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
            format!(
                "`{tool}` called `{what}` after it had ended, so nothing was done{place}; wait for everything that the tool \
                 starts before it returns"
            )
        });
    }

    /// Something that the tool of a call had started has failed after the call. The attempt fails, if it is still running, and there is
    /// a warning, once for each call. False if no such call is known.
    pub fn fail_late(&self, call: &CallId, text: impl FnOnce(&str) -> String) -> bool {
        let live = self.live.lock().get(call).cloned();
        if let Some((cx, frame)) = live.as_ref().and_then(|cx| Some((cx, cx.frame()?))) {
            // Its result may have been read already.
            let text = cx.session.secrets.redact(&text(&frame.called.tool)).into_owned();
            cx.report_mistake(text.clone());
            cx.attempt.fail_late(text);
            return true;
        }
        let late = {
            let mut ended = self.ended.lock();
            ended.iter_mut().find(|ended| ended.call == *call).map(|ended| {
                let (session, attempt) = (ended.session.upgrade(), ended.attempt.upgrade());
                (std::mem::replace(&mut ended.is_told, true), ended.tool.clone(), session, attempt)
            })
        };
        let Some((is_told, tool, Some(session), attempt)) = late else { return false };
        let text = session.secrets.redact(&text(&tool)).into_owned();
        attempt.iter().for_each(|attempt| attempt.fail_late(text.clone()));
        if !is_told {
            session.emit(Event::doubt(None, text));
        }
        true
    }

    /// The open session that a key belongs to.
    pub fn session(&self, key: &SessionKey) -> Option<Arc<Session>> {
        self.sessions.lock().get(key)?.upgrade()
    }

    /// All open sessions, in no particular order.
    pub fn sessions(&self) -> Vec<Arc<Session>> {
        self.sessions.lock().values().filter_map(Weak::upgrade).collect()
    }

    /// Redacts the secrets of all open sessions, in a text about a request of which it is not known yet whose it is.
    pub fn redact(&self, text: String) -> String {
        self.sessions().iter().fold(text, |text, session| session.secrets.redact(&text).into_owned())
    }

    /// Counts the sessions that were opened and closed so far, and signals when one is.
    pub fn changes(&self) -> watch::Receiver<i32> {
        self.changes.subscribe()
    }

    /// The context for a caller without an id: the innermost call that was passed to a server tool, if those calls form a single
    /// chain, in which each is nested in the previous one. A tool and its own callbacks are one chain; two tools that run
    /// concurrently are two, and then the call is refused. So it is if several sessions are open.
    pub fn single_chain(&self) -> Result<Cx, NoChain> {
        if self.sessions.lock().len() > 1 {
            return Err(NoChain::Sessions);
        }
        let live = self.live.lock();
        let foreign: Vec<&Cx> =
            live.values().filter(|cx| cx.frame().is_some_and(|frame| frame.source.is_some())).collect();
        if foreign.is_empty() {
            return Err(NoChain::NoCall);
        }
        Cx::innermost(foreign).cloned().ok_or(NoChain::Several)
    }

    /// The tools in flight that a call started itself and may not leave: those that act, and those that check.
    pub(crate) fn unfinished_beneath(&self, call: &CallId) -> Vec<String> {
        let live = self.live.lock();
        let must_end = |called: &Called| match called.kind {
            ToolKind::Action => true,
            ToolKind::Assertion => !WAITS.contains(&called.tool.as_str()),
            ToolKind::Query | ToolKind::Meta => false,
        };
        let called = live.values().filter_map(|cx| cx.frame()).map(|frame| &frame.called);
        let is_its = |called: &&Arc<Called>| called.parent == Parent::Call(call.clone()) && must_end(called);
        called.filter(is_its).map(|called| called.tool.clone()).collect()
    }

    pub fn len(&self) -> usize {
        self.live.lock().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Registers a call until the guard is dropped.
    pub(crate) fn open(&self, cx: &Cx) -> Option<Open> {
        self.live.lock().insert(cx.call_id()?.clone(), cx.clone());
        Some(Open(cx.clone()))
    }

    /// From now on the session can be found by its key.
    pub(crate) fn admit(&self, session: &Arc<Session>) {
        self.sessions.lock().insert(session.key().clone(), Arc::downgrade(session));
        self.changes.send_modify(|n_changes| *n_changes += 1);
    }

    pub(crate) fn dismiss(&self, key: &SessionKey) {
        if self.sessions.lock().remove(key).is_some() {
            self.changes.send_modify(|n_changes| *n_changes += 1);
        }
    }
}

/// Unregisters a call however it ends: answer, failure, panic or a dropped future.
pub(crate) struct Open(Cx);

impl Drop for Open {
    fn drop(&mut self) {
        let invocations = &self.0.session.invocations;
        let Some(call) = self.0.call_id() else { return };
        // Bound to a variable, so that the context is dropped after the lock is released.
        let _closed = invocations.live.lock().remove(call);
        if let Some(frame) = self.0.frame().filter(|frame| frame.source.is_some() || frame.called.is_custom) {
            let (call, tool) = (call.clone(), frame.called.tool.clone());
            let mut ended = invocations.ended.lock();
            ended.truncate(ENDED_KEPT - 1);
            let (session, attempt) = (Arc::downgrade(&self.0.session), Arc::downgrade(&self.0.attempt));
            ended.push_front(EndedCall { call, tool, session, attempt, is_told: false });
        }
    }
}
