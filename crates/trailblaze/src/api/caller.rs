//! On whose behalf a request is made: a tool call in flight, by its id; a session, by its key; or, without either, the only tool
//! call in flight.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, header};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::invocations::{Invocations, NoChain, Refused};
use trailblaze_core::engine::session_key::SessionKey;
use trailblaze_protocol::ids::{CallId, DeviceId, SessionId};

use super::peer::is_own_user;

/// The ids in a request. Empty ones are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ids {
    pub invocation: String,
    pub session: String,
    pub device: String,
}

/// Finds on whose behalf requests are made.
#[derive(Clone)]
pub struct Callers {
    pub invocations: Arc<Invocations>,
    pub our_port: u16,
}

/// Who makes a request.
pub struct Caller {
    /// The context of its calls.
    pub cx: Cx,
    pub is_tool: bool,
}

/// Why a request belongs to nothing. Nothing was dispatched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoCaller {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("unknown session key; the session may have ended")]
    UnknownKey,
    #[error("the request names the session `{0}`, but belongs to another")]
    OtherSession(String),
    #[error("the request names the device `{0}`, but belongs to another")]
    OtherDevice(String),
    #[error("the session accepts no calls")]
    NotAdmitted,
    #[error("`invocation_id` is missing: {0}{hint}", hint = key_hint(.0))]
    NoChain(#[from] NoChain),
    #[error("`invocation_id` is missing, and only programs of the user who runs Trailblaze may leave it out")]
    OtherUser,
}

/// What to do for a program that is not a tool.
fn key_hint(error: &NoChain) -> &'static str {
    match error {
        NoChain::NoCall => "; a program that is not a tool sends the key of its session: `Authorization: Bearer KEY`",
        NoChain::Several | NoChain::Sessions => "",
    }
}

impl Callers {
    /// The caller of a request from this peer.
    pub fn find(&self, ids: &Ids, headers: &HeaderMap, peer: SocketAddr) -> Result<Caller, NoCaller> {
        let session = Some(&ids.session).filter(|id| !id.is_empty()).map(|id| SessionId::new(id.clone()));
        let device = Some(&ids.device).filter(|id| !id.is_empty()).map(|id| DeviceId::new(id.clone()));
        if !ids.invocation.is_empty() {
            let call = CallId::new(ids.invocation.clone());
            let cx = self.invocations.find(&call, session.as_ref(), device.as_ref())?;
            return Ok(Caller { cx, is_tool: true });
        }
        let caller = match key(headers) {
            Some(key) => {
                let session = self.invocations.session(&key).ok_or(NoCaller::UnknownKey)?;
                Caller { cx: session.top_level().ok_or(NoCaller::NotAdmitted)?, is_tool: false }
            }
            None => {
                let cx = self.invocations.single_chain()?;
                if !is_own_user(peer, self.our_port) {
                    return Err(NoCaller::OtherUser);
                }
                Caller { cx, is_tool: true }
            }
        };
        // Session and device are only cross-checked; they never find a call.
        if session.is_some_and(|session| session != caller.cx.session.id) {
            return Err(NoCaller::OtherSession(ids.session.clone()));
        }
        if device.is_some_and(|device| device != caller.cx.session.device.description().id) {
            return Err(NoCaller::OtherDevice(ids.device.clone()));
        }
        Ok(caller)
    }

    /// Why a call was cancelled: the tool that made it has ended. `None` if it has not, or if no tool made the call.
    pub fn ended(&self, cx: &Cx) -> Option<Refused> {
        self.invocations.find(cx.call_id()?, None, None).err()
    }
}

/// The session key that a request presents.
fn key(headers: &HeaderMap) -> Option<SessionKey> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| SessionKey::presented(key.trim()))
}
