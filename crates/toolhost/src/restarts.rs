//! How often a server that dies is restarted.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::limits;

/// The deaths of one server during a run, across all its instances and sessions.
#[derive(Default)]
pub struct Restarts {
    deaths: Mutex<VecDeque<Instant>>,
}

impl Restarts {
    /// Counts a death. Returns how long to wait before the restart, or `None` if the server died too often.
    pub fn after_death(&self) -> Option<Duration> {
        let mut deaths = self.deaths.lock();
        deaths.push_back(Instant::now());
        forget_old(&mut deaths);
        limits::RESTART_PAUSES.get(deaths.len() - 1).copied()
    }

    /// Whether it died too often to be restarted.
    pub fn are_exhausted(&self) -> bool {
        let mut deaths = self.deaths.lock();
        forget_old(&mut deaths);
        deaths.len() > limits::RESTART_PAUSES.len()
    }

    /// Forgets all deaths.
    pub fn forget(&self) {
        self.deaths.lock().clear();
    }

    /// The message for a server that died too often.
    pub fn verdict() -> String {
        let window = humantime::format_duration(limits::RESTART_WINDOW);
        format!("it died {} times within {window} and will not be restarted", limits::RESTART_PAUSES.len() + 1)
    }
}

fn forget_old(deaths: &mut VecDeque<Instant>) {
    while deaths.front().is_some_and(|death| death.elapsed() > limits::RESTART_WINDOW) {
        deaths.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_keeps_dying_is_not_restarted_and_one_that_dies_now_and_then_is() {
        let often = Restarts::default();
        let pauses: Vec<Option<Duration>> = (0..=limits::RESTART_PAUSES.len()).map(|_| often.after_death()).collect();
        let expected: Vec<Option<Duration>> = limits::RESTART_PAUSES.iter().copied().map(Some).chain([None]).collect();
        assert_eq!(pauses, expected, "each pause is longer, and then there are no more restarts");
        assert!(often.are_exhausted());

        let seldom = Restarts::default();
        for _ in 0..20 {
            assert_eq!(seldom.after_death(), Some(limits::RESTART_PAUSES[0]));
            tokio::time::advance(limits::RESTART_WINDOW * 2).await;
        }
        assert!(!seldom.are_exhausted());
    }
}
