//! Polling briefly for an answer before going to sleep. To be put to sleep and woken takes about as long as a quick server takes to
//! answer. But polling keeps a processor busy, so only one request of the process polls at a time, only briefly, and only for
//! a server that has been quick lately.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::limits;

/// How many of the last eight answers must have been quick.
const ENOUGH: u32 = 4;
/// Pauses between two polls, because the peer may be about to write where we read.
const PAUSES: usize = 16;

/// The turn to poll, of which a process has one. All its connections share it.
#[derive(Debug)]
pub struct SpinTurn {
    is_taken: AtomicBool,
    is_allowed: bool,
}

impl SpinTurn {
    /// With a single processor nothing is polled: the peer could not answer meanwhile.
    pub fn new() -> Arc<SpinTurn> {
        let is_allowed = std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
        Arc::new(SpinTurn { is_taken: AtomicBool::new(false), is_allowed })
    }

    /// Never polls.
    pub fn never() -> Arc<SpinTurn> {
        Arc::new(SpinTurn { is_taken: AtomicBool::new(false), is_allowed: false })
    }

    fn take(&self) -> Option<TakenTurn<'_>> {
        (self.is_allowed && !self.is_taken.swap(true, Ordering::Acquire)).then_some(TakenTurn(self))
    }
}

/// Gives the turn back when dropped.
struct TakenTurn<'t>(&'t SpinTurn);

impl Drop for TakenTurn<'_> {
    fn drop(&mut self) {
        self.0.is_taken.store(false, Ordering::Release);
    }
}

/// Whether a peer is worth polling for.
pub(crate) struct SpinWait {
    /// One bit for each of the last eight answers, set if it was quick. A single slow answer, as a runtime gives when it
    /// collects garbage, counts no more than any other.
    quick: AtomicU8,
    turn: Arc<SpinTurn>,
}

impl SpinWait {
    pub fn new(turn: Arc<SpinTurn>) -> SpinWait {
        SpinWait { quick: AtomicU8::new(u8::MAX), turn }
    }

    /// Polls until something is found, or until it is no longer worth it. `asked` is when the request was sent.
    pub fn poll<T>(&self, asked: Instant, mut glance: impl FnMut() -> Glance<T>) -> Option<T> {
        if self.quick.load(Ordering::Relaxed).count_ones() < ENOUGH {
            return None;
        }
        let _turn = self.turn.take()?;
        while asked.elapsed() < limits::LOOK {
            match glance() {
                Glance::Found(found) => return Some(found),
                Glance::Nothing => (0..PAUSES).for_each(|_| std::hint::spin_loop()),
                Glance::GiveUp => return None,
            }
        }
        None
    }

    /// Notes how long an answer took.
    pub fn learn(&self, took: Duration) {
        let quick = self.quick.load(Ordering::Relaxed) << 1;
        self.quick.store(quick | u8::from(took < limits::LOOK), Ordering::Relaxed);
    }
}

/// The result of one poll.
pub(crate) enum Glance<T> {
    Found(T),
    Nothing,
    /// Further polling makes no sense.
    GiveUp,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Arc<SpinTurn> {
        Arc::new(SpinTurn { is_taken: AtomicBool::new(false), is_allowed: true })
    }

    /// How often a peer is polled that does not answer.
    fn polls(wait: &SpinWait) -> usize {
        let mut n = 0;
        let found = wait.poll(Instant::now(), || {
            n += 1;
            if n < 3 { Glance::<()>::Nothing } else { Glance::GiveUp }
        });
        assert!(found.is_none());
        n
    }

    #[test]
    fn only_a_quick_peer_is_polled() {
        let turn = allowed();
        let wait = SpinWait::new(Arc::clone(&turn));
        assert_eq!(polls(&wait), 3, "nothing is known of it yet");
        wait.learn(Duration::from_secs(1));
        assert_eq!(polls(&wait), 3, "a single slow answer does not count");
        (0..8).for_each(|_| wait.learn(Duration::from_secs(1)));
        assert_eq!(polls(&wait), 0, "it is slow");
        // It takes 50 µs itself, and sleeping takes the rest.
        (0..8).for_each(|_| wait.learn(Duration::from_micros(150)));
        assert_eq!(polls(&wait), 3, "it is quick again");
        assert_eq!(polls(&SpinWait::new(SpinTurn::never())), 0);
        // Only one polls at a time.
        let other = SpinWait::new(turn);
        let found = wait.poll(Instant::now(), || Glance::Found(polls(&other)));
        assert_eq!(found, Some(0));
        assert_eq!(polls(&other), 3);
    }

    #[test]
    fn polling_ends_by_itself() {
        let turn = allowed();
        assert!(SpinWait::new(Arc::clone(&turn)).poll(Instant::now(), || Glance::<()>::Nothing).is_none());
        assert!(!turn.is_taken.load(Ordering::Relaxed));
    }
}
