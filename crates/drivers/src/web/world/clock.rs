//! The clock of pages: `clock.js` in each document, and the time that it starts with.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use trailblaze_core::driver::ClockMode;

const SCRIPT: &str = include_str!("clock.js");
/// Where the time is put into the script.
const STATE: &str = "/* state */";

#[derive(Debug, Clone, PartialEq)]
pub struct PageClock {
    mode: ClockMode,
    /// The time of the pages at `since`. Both in milliseconds since 1970.
    time: f64,
    since: f64,
}

impl PageClock {
    /// A clock that shows this time now, or the present one.
    pub fn new(time: Option<f64>, mode: ClockMode) -> PageClock {
        let now = now();
        PageClock { mode, time: time.unwrap_or(now), since: now }
    }

    pub fn advance(&mut self, millis: f64) {
        let now = now();
        if self.mode == ClockMode::Running {
            self.time += now - self.since;
        }
        self.time += millis;
        self.since = now;
    }

    /// The script that sets the clock of a document. In one that has a clock already, timers that are due meanwhile run if the
    /// clock is advanced.
    pub fn script(&self, is_advanced: bool) -> String {
        let state = json!({
            "mode": self.mode.name(), "time": self.time, "since": self.since, "isAdvance": is_advanced,
        });
        SCRIPT.replace(STATE, &state.to_string())
    }

    /// The script that gives a document its real clock again.
    pub fn removal() -> String {
        SCRIPT.replace(STATE, "null")
    }

    /// An expression for a promise that is kept when a document has advanced.
    pub fn advanced() -> &'static str {
        "globalThis[Symbol.for('trailblaze.clock')]?.advanced()"
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paused_clock_only_goes_where_it_is_advanced_to() {
        let mut clock = PageClock::new(Some(1000.0), ClockMode::Paused);
        clock.advance(500.0);
        assert_eq!(clock.time, 1500.0);
        assert!(clock.script(true).contains("\"isAdvance\":true"), "{}", clock.script(true));
        assert!(!clock.script(false).contains(STATE) && !PageClock::removal().contains(STATE));
    }
}
