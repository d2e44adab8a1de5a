//! The capability to make top-level calls in a session.

use std::fmt;

use crate::ids;

/// Lets its bearer make top-level calls in one session, as a call id lets its bearer make calls beneath that call. It is given
/// to the program that opened the session, and is valid until the session is closed. It is a credential: it is in no event, no
/// message and no log.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SessionKey(String);

impl SessionKey {
    pub(crate) fn random() -> SessionKey {
        SessionKey(ids::session_key())
    }

    /// A key that a caller presents. Whether it is valid is for [`Invocations`](super::invocations::Invocations) to say.
    pub fn presented(text: impl Into<String>) -> SessionKey {
        SessionKey(text.into())
    }

    /// The key itself, to be handed to its owner.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(…)")
    }
}
