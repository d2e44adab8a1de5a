//! When the driver itself acts, so that its input is not taken for that of a person.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::state::SharedState;

/// How many actions are remembered.
const KEPT: usize = 16;
/// How long the effects of an action may be seen after it, in milliseconds.
const AFTER: u64 = 150;

/// The times of the last actions, by the clock that pages have too.
#[derive(Default)]
pub struct Acting {
    n_now: usize,
    began: u64,
    last: VecDeque<(u64, u64)>,
}

impl Acting {
    /// An action, until the guard is dropped.
    pub fn begin(shared: &Arc<SharedState>) -> ActingGuard {
        let mut state = shared.state();
        if state.acting.n_now == 0 {
            state.acting.began = now();
        }
        state.acting.n_now += 1;
        ActingGuard { shared: Arc::clone(shared) }
    }

    /// Whether the driver acted at a time, in milliseconds.
    pub fn was(&self, at: u64) -> bool {
        self.n_now > 0 && at >= self.began || self.last.iter().any(|(from, to)| (*from..=to + AFTER).contains(&at))
    }

    pub fn is_now(&self) -> bool {
        self.was(now())
    }
}

pub struct ActingGuard {
    shared: Arc<SharedState>,
}

impl Drop for ActingGuard {
    fn drop(&mut self) {
        let acting = &mut self.shared.state().acting;
        acting.n_now -= 1;
        if acting.n_now == 0 {
            if acting.last.len() == KEPT {
                acting.last.pop_front();
            }
            acting.last.push_back((acting.began, now()));
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
