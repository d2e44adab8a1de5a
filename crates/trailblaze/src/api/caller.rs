//! On whose behalf a request is made: a tool call in flight, by its id; a session, by its key; or, without either, the only tool
//! call in flight or the only open session.

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
    /// Whether this is the daemon, whose only session needs no key.
    pub is_daemon: bool,
}

/// Who makes a request.
pub struct Caller {
    /// The context of its calls.
    pub cx: Cx,
    pub is_tool: bool,
    /// Whether it is a program of our user that presents neither an id nor a key, and is no tool. It may not use secrets.
    pub is_bare: bool,
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
    #[error("no tool is being called, and no session is open; `trailblaze device connect` opens one")]
    NoSession,
    #[error(
        "several sessions are open, on {devices}; send the key of one, which `trailblaze session key` writes to a file: \
         `Authorization: Bearer KEY`"
    )]
    SeveralSessions { devices: String },
    #[error("`invocation_id` is missing, and only programs of the user who runs Trailblaze may leave it out")]
    OtherUser,
}

/// The header of a call that its client knows to be too late, because the tool has ended: its place in the author's code.
const CALLED_AT: &str = "trailblaze-called-at";
const MAX_PLACE_BYTES: usize = 500;
/// The header of a call that is not to be made: it only tells what has failed that the tool of a call had started.
const FAILED: &str = "trailblaze-failed";

/// What a header contains whose text is escaped as in addresses.
fn percent_decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let escaped = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The place in the author's code that a header has.
pub fn place<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let place = headers.get(name)?.to_str().ok()?;
    (!place.is_empty() && place.len() <= MAX_PLACE_BYTES).then_some(place)
}

/// What to do for a program that is not a tool.
fn key_hint(error: &NoChain) -> &'static str {
    match error {
        NoChain::NoCall => "; a program that is not a tool sends the key of its session: `Authorization: Bearer KEY`",
        NoChain::Several | NoChain::Sessions => "",
    }
}

impl Callers {
    /// The caller of a request from this peer. `what` is the tool or command that it calls.
    pub fn find(&self, ids: &Ids, what: &str, headers: &HeaderMap, peer: SocketAddr) -> Result<Caller, NoCaller> {
        if !ids.invocation.is_empty() {
            return self.find_tool(ids, what, headers, peer);
        }
        let caller = match key(headers) {
            Some(key) => {
                let session = self.invocations.session(&key).ok_or(NoCaller::UnknownKey)?;
                let cx = session.top_level().ok_or(NoCaller::NotAdmitted)?;
                Caller { cx, is_tool: false, is_bare: false }
            }
            None => match self.only_call(peer) {
                Err(NoCaller::NoChain(NoChain::NoCall | NoChain::Sessions)) if self.is_daemon => self.only_session()?,
                found => found?,
            },
        };
        self.check(ids, caller)
    }

    /// The same for a request that only tools make.
    pub fn find_tool(&self, ids: &Ids, what: &str, headers: &HeaderMap, peer: SocketAddr) -> Result<Caller, NoCaller> {
        if ids.invocation.is_empty() {
            let caller = self.only_call(peer)?;
            return self.check(ids, caller);
        }
        let session = Some(&ids.session).filter(|id| !id.is_empty()).map(|id| SessionId::new(id.clone()));
        let device = Some(&ids.device).filter(|id| !id.is_empty()).map(|id| DeviceId::new(id.clone()));
        let call = CallId::new(ids.invocation.clone());
        if let Some(failure) = headers.get(FAILED).and_then(|text| text.to_str().ok()) {
            let text = percent_decoded(failure);
            self.invocations.fail_late(&call, |_| text);
            return Err(Refused::Unknown(call).into());
        }
        let found = self.invocations.find(&call, session.as_ref(), device.as_ref());
        if let Err(Refused::Unknown(call)) = &found {
            self.invocations.note_late(call, what, place(headers, CALLED_AT));
        }
        let cx = found?;
        Ok(Caller { cx, is_tool: true, is_bare: false })
    }

    /// The only tool call in flight, for programs of our own user.
    fn only_call(&self, peer: SocketAddr) -> Result<Caller, NoCaller> {
        if !is_own_user(peer, self.our_port) {
            return Err(NoCaller::OtherUser);
        }
        Ok(Caller { cx: self.invocations.single_chain()?, is_tool: true, is_bare: false })
    }

    /// The only session that admits calls from outside. The peer is a program of our own user, and no tool.
    fn only_session(&self) -> Result<Caller, NoCaller> {
        let sessions = self.invocations.sessions();
        let mut open: Vec<(&str, Cx)> = sessions
            .iter()
            .filter_map(|session| Some((session.device.description().id.as_str(), session.top_level()?)))
            .collect();
        match open.len() {
            0 => Err(NoCaller::NoSession),
            1 => Ok(Caller { cx: open.remove(0).1, is_tool: false, is_bare: true }),
            _ => {
                let mut devices: Vec<&str> = open.iter().map(|(device, _)| *device).collect();
                devices.sort_unstable();
                Err(NoCaller::SeveralSessions { devices: devices.join(", ") })
            }
        }
    }

    /// Session and device are only cross-checked; they never find a caller.
    fn check(&self, ids: &Ids, caller: Caller) -> Result<Caller, NoCaller> {
        if !ids.session.is_empty() && ids.session != caller.cx.session.id.as_str() {
            return Err(NoCaller::OtherSession(ids.session.clone()));
        }
        if !ids.device.is_empty() && ids.device != caller.cx.session.device.description().id.as_str() {
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
