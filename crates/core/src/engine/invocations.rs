//! The calls in flight of a whole run. Knowing the id of a call is permission to call back as its child.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use trailblaze_protocol::ids::{CallId, DeviceId, SessionId};

use crate::engine::cx::Cx;

/// The calls in flight, by id.
#[derive(Default)]
pub struct Invocations {
    live: Mutex<HashMap<CallId, Cx>>,
}

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

impl Invocations {
    /// The context of a call in flight. Session and device are only cross-checked, never used to find the call.
    pub fn find(&self, call: &CallId, session: Option<&SessionId>, device: Option<&DeviceId>) -> Result<Cx, Refused> {
        let cx = self.live().get(call).cloned().ok_or_else(|| Refused::Unknown(call.clone()))?;
        if session.is_some_and(|session| *session != cx.session.id) {
            return Err(Refused::OtherSession(call.clone()));
        }
        if device.is_some_and(|device| *device != cx.session.device.description().id) {
            return Err(Refused::OtherDevice(call.clone()));
        }
        Ok(cx)
    }

    pub fn len(&self) -> usize {
        self.live().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Registers a call until the guard is dropped.
    pub(crate) fn open(&self, cx: &Cx) -> Option<Open> {
        self.live().insert(cx.call_id()?.clone(), cx.clone());
        Some(Open(cx.clone()))
    }

    fn live(&self) -> MutexGuard<'_, HashMap<CallId, Cx>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Unregisters a call however it ends: answer, failure, panic or a dropped future.
pub(crate) struct Open(Cx);

impl Drop for Open {
    fn drop(&mut self) {
        // Bound to a variable, so that the context is dropped after the lock is released.
        let _closed = self.0.call_id().and_then(|call| self.0.session.invocations.live().remove(call));
    }
}
