//! Creates ids. Those that grant access cannot be guessed.

use std::cell::RefCell;

use trailblaze_protocol::ids::{AttemptId, CallId, ModelRequestId, SessionId};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Unused random bytes from the operating system, fetched in bulk.
struct Store {
    bytes: [u8; 1024],
    n_used: usize,
}

thread_local! {
    static STORE: RefCell<Store> = const { RefCell::new(Store { bytes: [0; 1024], n_used: 1024 }) };
}

/// The prefix followed by `bits` random bits, five per character.
fn random(prefix: &str, bits: usize) -> String {
    let n = bits.div_ceil(5);
    let mut id = String::with_capacity(prefix.len() + n);
    id.push_str(prefix);
    STORE.with_borrow_mut(|store| {
        if store.n_used + n > store.bytes.len() {
            getrandom::fill(&mut store.bytes).expect("the operating system gives random bytes");
            store.n_used = 0;
        }
        let bytes = &mut store.bytes[store.n_used..store.n_used + n];
        store.n_used += n;
        bytes.iter_mut().for_each(|byte| *byte = ALPHABET[usize::from(*byte & 31)]);
        id.push_str(std::str::from_utf8(bytes).expect("the alphabet is ASCII"));
        // Used bytes are erased, so that ids cannot be found in memory later.
        bytes.fill(0);
    });
    id
}

/// 130 bits, because the id is a capability.
pub fn call() -> CallId {
    CallId::new(random("c-", 130))
}

pub fn session() -> SessionId {
    SessionId::new(random("s-", 130))
}

/// 130 bits: a capability.
pub fn session_key() -> String {
    random("k-", 130)
}

pub fn attempt() -> AttemptId {
    AttemptId::new(random("a-", 60))
}

pub fn model_request() -> ModelRequestId {
    ModelRequestId::new(random("m-", 60))
}

/// Marks text that comes from a screen in the requests of one session.
pub fn nonce() -> String {
    random("", 40)
}

/// The token that represents a secret on its way to the device.
pub fn seal() -> String {
    random("", 130)
}

/// A short random suffix for the name of a run.
pub fn run_suffix() -> String {
    random("", 30)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn ids_are_long_and_never_the_same() {
        let ids: HashSet<String> = (0..10_000).map(|_| super::call().as_str().to_string()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.len() == 28));
    }
}
