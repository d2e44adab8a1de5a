//! Notices calls that are prepared but never awaited, as in `let _ = client.tap()`: nothing is carried out.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A call that was dropped before it was awaited.
#[derive(Debug, Clone)]
pub struct UnawaitedCall {
    /// What it would have called: a tool, or a method such as `Tap`.
    pub what: String,
    /// Where it was prepared.
    pub place: &'static Location<'static>,
}

/// Is told of calls that are never awaited.
pub type UnawaitedListener = Arc<dyn Fn(&UnawaitedCall) + Send + Sync>;

/// Shared by a call and its clones: the last one that is dropped tells, if none was awaited.
pub(crate) struct UnawaitedGuard {
    listener: UnawaitedListener,
    what: Mutex<String>,
    place: &'static Location<'static>,
    is_awaited: AtomicBool,
}

impl UnawaitedGuard {
    #[track_caller]
    pub fn new(listener: &UnawaitedListener, path: &str) -> Arc<UnawaitedGuard> {
        let method = path.rsplit('/').next().unwrap_or_default();
        Arc::new(UnawaitedGuard {
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
}

impl Drop for UnawaitedGuard {
    fn drop(&mut self) {
        // While a tool fails, what it had prepared does not matter.
        if !self.is_awaited.load(Ordering::Relaxed) && !std::thread::panicking() {
            let what = std::mem::take(self.what.get_mut().unwrap_or_else(PoisonError::into_inner));
            (self.listener)(&UnawaitedCall { what, place: self.place });
        }
    }
}

impl fmt::Debug for UnawaitedGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnawaitedGuard").field("place", &self.place).finish_non_exhaustive()
    }
}
