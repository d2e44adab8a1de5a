//! Ids that cannot be guessed.

use trailblaze_protocol::ids::{AttemptId, CallId, SessionId};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// `bits` random bits, five to a character.
fn random(bits: usize) -> String {
    let mut bytes = [0u8; 26];
    let n = bits.div_ceil(5).min(bytes.len());
    getrandom::fill(&mut bytes[..n]).expect("the operating system gives random bytes");
    bytes[..n].iter().map(|byte| char::from(ALPHABET[usize::from(byte & 31)])).collect()
}

/// 130 bits: a capability.
pub fn call() -> CallId {
    CallId::new(format!("c-{}", random(130)))
}

pub fn session() -> SessionId {
    SessionId::new(format!("s-{}", random(130)))
}

pub fn attempt() -> AttemptId {
    AttemptId::new(format!("a-{}", random(60)))
}

/// What marks a secret on its way to the device.
pub fn seal() -> String {
    random(130)
}

/// A short random ending for the name of a run.
pub fn run_suffix() -> String {
    random(30)
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
