//! Tells the host of a tool of calls that are prepared but never awaited, as in `let _ = client.tap()`, so that nothing is carried out,
//! and of calls that fail.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;

/// A call that a client made or prepared.
#[derive(Debug, Clone)]
pub struct ClientCall {
    /// What it calls: a tool, or a method such as `Tap`.
    pub what: String,
    /// Where it was prepared.
    pub place: &'static Location<'static>,
}

/// Is told of the calls of a client.
pub trait CallListener: Send + Sync {
    /// A call was dropped before it was awaited.
    fn unawaited(&self, call: &ClientCall);

    /// The place of a call that is about to be made, if its tool has ended: Trailblaze, which refuses the call, shows it.
    fn late_place(&self, call: &ClientCall) -> Option<String>;

    /// A call failed. Runs in the task that made it, before that has the error.
    fn failed(&self, call: &ClientCall, error: &Error);
}

/// Shared by a call and its clones: the last one that is dropped tells, if none was awaited.
pub(crate) struct FollowedCall {
    listener: Arc<dyn CallListener>,
    what: Mutex<String>,
    place: &'static Location<'static>,
    is_awaited: AtomicBool,
}

impl FollowedCall {
    #[track_caller]
    pub fn new(listener: &Arc<dyn CallListener>, path: &str) -> Arc<FollowedCall> {
        let method = path.rsplit('/').next().unwrap_or_default();
        Arc::new(FollowedCall {
            listener: Arc::clone(listener),
            what: Mutex::new(method.to_string()),
            place: Location::caller(),
            is_awaited: AtomicBool::new(false),
        })
    }

    /// It calls this tool.
    pub fn names(&self, tool: &str) {
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = tool.to_string();
    }

    pub fn is_awaited(&self) {
        self.is_awaited.store(true, Ordering::Relaxed);
    }

    pub fn late_place(&self) -> Option<String> {
        self.listener.late_place(&self.prepared())
    }

    pub fn failed(&self, error: &Error) {
        self.listener.failed(&self.prepared(), error);
    }

    fn prepared(&self) -> ClientCall {
        let what = self.what.lock().unwrap_or_else(PoisonError::into_inner).clone();
        ClientCall { what, place: self.place }
    }
}

impl Drop for FollowedCall {
    fn drop(&mut self) {
        // While a tool fails, what it had prepared does not matter.
        if !self.is_awaited.load(Ordering::Relaxed) && !std::thread::panicking() {
            self.listener.unawaited(&self.prepared());
        }
    }
}

impl fmt::Debug for FollowedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FollowedCall").field("place", &self.place).finish_non_exhaustive()
    }
}
