//! Whether to look for an answer before going to sleep. To be put to sleep and woken takes about as long as a quick
//! server takes to answer; but whoever looks keeps a processor busy, so only one looks at a time, only for a moment, and
//! only for a server that is known to be quick.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::limits;

/// How quick a peer is, of late.
pub(crate) struct Patience {
    /// A bit for each of the last answers, set if it was worth looking for. An answer that takes ages, as every now and
    /// then one does in a runtime that tidies up, counts no more than any other.
    quick: AtomicU8,
    is_anybody_looking: &'static AtomicBool,
}

/// How many of those must have been quick.
const ENOUGH: u32 = 4;
/// Between two looks: the peer may be about to write where we look.
const PAUSES: usize = 16;

static IS_ANYBODY_LOOKING: AtomicBool = AtomicBool::new(false);
/// With one processor the peer could not answer while we look.
static CAN_LOOK: LazyLock<bool> = LazyLock::new(|| std::thread::available_parallelism().is_ok_and(|n| n.get() > 1));

impl Default for Patience {
    fn default() -> Patience {
        Patience::beside(&IS_ANYBODY_LOOKING)
    }
}

impl Patience {
    fn beside(is_anybody_looking: &'static AtomicBool) -> Patience {
        Patience { quick: AtomicU8::new(u8::MAX), is_anybody_looking }
    }

    /// Looks for what was asked for then, until something is there, unless it is not worth it.
    pub fn look<T>(&self, asked: Instant, mut glance: impl FnMut() -> Glance<T>) -> Option<T> {
        let is_quick = self.quick.load(Ordering::Relaxed).count_ones() >= ENOUGH;
        if !is_quick || !*CAN_LOOK || self.is_anybody_looking.swap(true, Ordering::Acquire) {
            return None;
        }
        let _looking = Looking(self.is_anybody_looking);
        while asked.elapsed() < limits::LOOK {
            match glance() {
                Glance::Found(found) => return Some(found),
                Glance::Nothing => (0..PAUSES).for_each(|_| std::hint::spin_loop()),
                Glance::GiveUp => return None,
            }
        }
        None
    }

    /// Takes note of how long an answer took.
    pub fn learn(&self, took: Duration) {
        let quick = self.quick.load(Ordering::Relaxed) << 1;
        self.quick.store(quick | u8::from(took < limits::LOOK), Ordering::Relaxed);
    }
}

/// What a look brings.
pub(crate) enum Glance<T> {
    Found(T),
    Nothing,
    /// Looking on makes no sense.
    GiveUp,
}

struct Looking(&'static AtomicBool);

impl Drop for Looking {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a peer is looked at that has nothing to say.
    fn looks(patience: &Patience) -> usize {
        let mut n = 0;
        let found = patience.look(Instant::now(), || {
            n += 1;
            if n < 3 { Glance::<()>::Nothing } else { Glance::GiveUp }
        });
        assert!(found.is_none());
        n
    }

    #[test]
    fn only_a_quick_peer_is_looked_at() {
        if !*CAN_LOOK {
            return;
        }
        static IS_LOOKING: AtomicBool = AtomicBool::new(false);
        let patience = Patience::beside(&IS_LOOKING);
        assert_eq!(looks(&patience), 3, "nothing is known of it yet");
        patience.learn(Duration::from_secs(1));
        assert_eq!(looks(&patience), 3, "once is no habit");
        (0..8).for_each(|_| patience.learn(Duration::from_secs(1)));
        assert_eq!(looks(&patience), 0, "it takes long");
        // As quick as 50 µs, and slept for.
        (0..8).for_each(|_| patience.learn(Duration::from_micros(150)));
        assert_eq!(looks(&patience), 3, "it is quick again");
        // While somebody looks, nobody else does.
        let other = Patience::beside(&IS_LOOKING);
        let found = patience.look(Instant::now(), || Glance::Found(looks(&other)));
        assert_eq!(found, Some(0));
        assert_eq!(looks(&other), 3);
    }

    #[test]
    fn a_look_ends_by_itself() {
        static IS_LOOKING: AtomicBool = AtomicBool::new(false);
        assert!(Patience::beside(&IS_LOOKING).look(Instant::now(), || Glance::<()>::Nothing).is_none());
        assert!(!IS_LOOKING.load(Ordering::Relaxed));
    }
}
