//! Applies effects to the state of an app.

use std::time::Duration;

use tokio::time::Instant;
use trailblaze_core::yaml::{Entries, Spanned};

use super::app::{AppEffect, Does, Item, SimApp, Value};
use super::state::{AppState, Timer};

/// The minimum delay of an effect, so that one that triggers itself does not block everything else.
const SOONEST: Duration = Duration::from_millis(1);

const TOAST: Duration = Duration::from_secs(2);

/// How many screens may open one another on arrival.
const ARRIVALS: usize = 8;

/// Where an effect leads outside of the app.
#[derive(Debug, PartialEq)]
pub enum Leave {
    Home,
    Open(String),
}

impl AppState {
    /// Applies effects in order; each sees the results of those before it.
    pub fn run(&mut self, app: &SimApp, effects: &[AppEffect], item: Option<&Item>, now: Instant) -> Option<Leave> {
        self.run_at_depth(app, effects, item, now, 0)
    }

    fn run_at_depth(
        &mut self,
        app: &SimApp,
        effects: &[AppEffect],
        item: Option<&Item>,
        now: Instant,
        depth: usize,
    ) -> Option<Leave> {
        let mut leave = None;
        for effect in effects {
            if let Some(after) = effect.after {
                let effect = AppEffect { after: None, ..effect.clone() };
                self.timers.push(Timer {
                    due: later(now, after.duration().max(SOONEST)),
                    visit: self.visit,
                    effect,
                    item: item.cloned(),
                });
            } else if self.scope(app, item).holds(&effect.conditions) {
                leave = self.apply(app, &effect.does, item, now, depth).or(leave);
            }
        }
        leave
    }

    fn apply(&mut self, app: &SimApp, does: &Does, item: Option<&Item>, now: Instant, depth: usize) -> Option<Leave> {
        match does {
            Does::Goto(screen) => return self.go(app, &screen.value, now, depth),
            Does::Back => return self.go_back(app, now, depth),
            Does::Home => return Some(Leave::Home),
            Does::Open(id) => return Some(Leave::Open(self.scope(app, item).fill(id))),
            Does::Set(values) => {
                for (name, value) in values.iter() {
                    let value = self.scope(app, item).fill(&value.0);
                    self.set(name, value);
                }
            }
            Does::Add(values) => {
                for (name, number) in values.iter() {
                    let scope = self.scope(app, item);
                    let sum = sum(scope.value(name), &scope.fill(&number.0));
                    self.set(name, sum);
                }
            }
            Does::Toggle(name) => self.toggle(app, name),
            Does::Dialog(dialog) => {
                self.shown.dialogs.push(dialog.value.clone());
                self.shown.focus = None;
            }
            Does::Dismiss => {
                self.shown.dialogs.pop();
            }
            Does::Toast(text) => {
                self.shown.toast = Some(self.scope(app, item).fill(text));
                self.toast_until = Some(now + TOAST);
            }
            Does::Append(append) => {
                let row = append.item.0.iter().map(|(name, value)| {
                    let name = Spanned { value: name.value.clone(), span: name.span };
                    (name, Value(self.scope(app, item).fill(&value.0)))
                });
                let row = Entries(row.collect());
                self.change_list(app, &append.to.value, |rows| rows.insert(0, row));
            }
            Does::Empty(list) => self.change_list(app, &list.value, Vec::clear),
        }
        None
    }

    fn change_list(&mut self, app: &SimApp, list: &str, change: impl FnOnce(&mut Vec<Item>)) {
        let rows = if app.is_shared(list) {
            self.servers.change(app, list, change)
        } else {
            let mut rows = self.scope(app, None).list(list).to_vec();
            change(&mut rows);
            rows
        };
        self.shown.lists.insert(list.to_string(), rows);
    }

    /// Opens the app's first screen.
    pub fn start(&mut self, app: &SimApp, now: Instant) -> Option<Leave> {
        self.stop();
        self.go(app, &app.start.value, now, 0)
    }

    /// Opens a screen, or returns to it if it is already open.
    pub fn open(&mut self, app: &SimApp, screen: &str, now: Instant) -> Option<Leave> {
        self.go(app, screen, now, 0)
    }

    fn go(&mut self, app: &SimApp, screen: &str, now: Instant, depth: usize) -> Option<Leave> {
        let is_root = app.screens.get(screen).is_some_and(|screen| screen.root);
        let screens = &mut self.shown.screens;
        let keep = if is_root { 0 } else { screens.iter().position(|open| open == screen).unwrap_or(screens.len()) };
        screens.truncate(keep);
        screens.push(screen.to_string());
        self.arrive(app, now, depth)
    }

    /// Closes the top dialog, or goes to the previous screen.
    pub fn back(&mut self, app: &SimApp, now: Instant) -> Option<Leave> {
        self.go_back(app, now, 0)
    }

    fn go_back(&mut self, app: &SimApp, now: Instant, depth: usize) -> Option<Leave> {
        if self.shown.dialogs.pop().is_some() {
            return None;
        }
        if self.shown.screens.len() < 2 {
            return Some(Leave::Home);
        }
        self.shown.screens.pop();
        self.arrive(app, now, depth)
    }

    fn arrive(&mut self, app: &SimApp, now: Instant, depth: usize) -> Option<Leave> {
        self.shown.dialogs.clear();
        self.shown.scrolls.clear();
        self.shown.focus = None;
        self.shown.is_ready = false;
        self.visit += 1;
        self.arrived = now;
        let visit = self.visit;
        self.timers.retain(|timer| timer.visit == visit);
        if depth == ARRIVALS {
            return None;
        }
        let name = self.shown.screens.last().map_or("", String::as_str);
        let screen = app.screens.get(name)?;
        self.run_at_depth(app, &screen.arrive.0, None, now, depth + 1)
    }

    pub fn set(&mut self, name: &str, value: String) {
        self.shown.values.insert(name.to_string(), value);
    }

    pub fn toggle(&mut self, app: &SimApp, name: &str) {
        let is_on = self.scope(app, None).value(name) == "true";
        self.set(name, (!is_on).to_string());
    }
}

/// A time that is never reached, for delays that overflow the clock.
pub fn later(now: Instant, by: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);
    now.checked_add(by).unwrap_or(now + NEVER)
}

/// Adds two decimal numbers, keeping the longer number of decimals. Text that is not a number counts as 0.
fn sum(one: &str, other: &str) -> String {
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let number = |text: &str| text.trim().parse::<f64>().unwrap_or(0.0);
    format!("{:.*}", decimals(one).max(decimals(other)), number(one) + number(other))
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn sums_keep_their_decimals() {
        assert_eq!(sum("120.00", "-12.5"), "107.50");
        assert_eq!(sum("3", "4"), "7");
        assert_eq!(sum("3", "none"), "3");
    }
}
