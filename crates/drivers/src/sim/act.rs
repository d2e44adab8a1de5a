//! Performs one action on the device.

use tokio::time::Instant;
use trailblaze_core::driver::{Action, ActionOutput, ActionTarget, Direction, DriverError, LaunchMode};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Point;

use super::device::{Installed, SimDevice};

/// How often a key is pressed at most.
const MOST_PRESSED: u32 = 5_000;

impl SimDevice {
    pub fn act(&mut self, target: &ActionTarget, action: &Action, now: Instant) -> Result<ActionOutput, DriverError> {
        match action {
            Action::Tap => self.tap(aim(target, action)?, now),
            Action::DoubleTap => self.double_tap(aim(target, action)?, now),
            Action::LongPress => self.long_press(aim(target, action)?, now),
            Action::InputText { text } => {
                self.focus_on(target, now);
                self.input_text(text, now)?;
            }
            Action::SetText { text } => {
                self.focus_on(target, now);
                self.set_text(text, now)?;
            }
            Action::EraseText { count } => {
                self.focus_on(target, now);
                self.erase_text(*count, now)?;
            }
            Action::PressKey { key } => self.press(*key, now)?,
            Action::HideKeyboard | Action::Pinch { .. } | Action::Twist { .. } if !self.platform().is_mobile() => {
                let action = action.name().to_string();
                return Err(DriverError::Unsupported { action, platform: self.platform() });
            }
            // No keyboard is drawn, and a field keeps the focus when the keyboard is hidden.
            Action::HideKeyboard => {}
            Action::PressChord { chord, count, repeats } if self.platform() == Platform::Desktop => {
                for _ in 0..count.saturating_add(*repeats).min(MOST_PRESSED) {
                    self.press_chord(chord, now)?;
                }
            }
            Action::Swipe { from, to, .. } => drop(self.swipe(*from, *to, now)),
            Action::Scroll { direction, amount } => self.scroll(target, *direction, *amount, now)?,
            Action::Pinch { scale } => self.pinch(*scale),
            // No app that a file describes reacts to it.
            Action::Twist { .. } => {}
            Action::Click(_)
            | Action::Hover { .. }
            | Action::Drag { .. }
            | Action::ScrollIntoView
            | Action::PressChord { .. }
            | Action::Choose { .. }
            | Action::SetChecked { .. }
            | Action::Upload { .. }
            | Action::Attribute { .. } => return Err(cannot(action.name())),
        }
        Ok(ActionOutput::default())
    }

    /// A tap focuses the target, if there is one.
    fn focus_on(&mut self, target: &ActionTarget, now: Instant) {
        if let Some(point) = target.point() {
            self.tap(point, now);
        }
    }

    /// Scrolls the view: scrolling down shows what is further down. Does nothing at the end of a list.
    fn scroll(
        &mut self,
        target: &ActionTarget,
        direction: Direction,
        amount: Option<u32>,
        now: Instant,
    ) -> Result<(), DriverError> {
        let pixels = |length: i32| i32::try_from(amount.unwrap_or(length as u32 * 2 / 5)).unwrap_or(i32::MAX / 4);
        let by = match direction {
            Direction::Down => pixels(self.metrics.height()),
            Direction::Up => -pixels(self.metrics.height()),
            Direction::Right => return self.scroll_sideways(target, pixels(self.metrics.width()), now),
            Direction::Left => return self.scroll_sideways(target, -pixels(self.metrics.width()), now),
        };
        match target.point() {
            Some(point) => self.scroll_at(point, by),
            None => self.scroll_any(by),
        };
        Ok(())
    }

    /// Elements are in columns, so nothing scrolls sideways; on a phone, elements with a swipe effect respond.
    fn scroll_sideways(&mut self, target: &ActionTarget, by: i32, now: Instant) -> Result<(), DriverError> {
        let middle = Point { x: self.metrics.width() / 2, y: self.metrics.height() / 2 };
        let from = target.point().unwrap_or(middle);
        let to = Point { x: from.x.saturating_sub(by), ..from };
        match self.platform().is_mobile() && self.swipe(from, to, now) {
            true => Ok(()),
            false => Err(DriverError::Refused { reason: "nothing here scrolls sideways".to_string() }),
        }
    }

    fn pinch(&mut self, scale: f64) {
        let Installed { app, state } = &mut self.apps[self.front];
        let zoom: f64 = state.scope(app, None).value("zoom").parse().unwrap_or(1.0);
        state.set("zoom", format!("{:.2}", zoom * scale));
    }

    pub fn launch(&mut self, id: &str, mode: LaunchMode, now: Instant) -> Result<(), DriverError> {
        let idx = self.app(id)?;
        let state = &mut self.apps[idx].state;
        match mode {
            LaunchMode::Reinstall => state.clear(),
            LaunchMode::ForceRestart => state.stop(),
            LaunchMode::Resume => {}
        }
        self.bring_to_front(idx, now);
        Ok(())
    }

    pub fn stop(&mut self, idx: usize, now: Instant) {
        self.apps[idx].state.stop();
        if self.front == idx {
            self.go_home(now);
        }
    }

    pub fn clear_data(&mut self, id: &str, now: Instant) -> Result<(), DriverError> {
        let idx = self.app(id)?;
        self.stop(idx, now);
        self.apps[idx].state.clear();
        Ok(())
    }

    pub fn open_url(&mut self, url: &str, now: Instant) -> Result<(), DriverError> {
        let Some((idx, screen)) = self.linked(url) else {
            let reason = format!("no app on this device opens `{url}`; installed apps: {}", self.ids().join(", "));
            return Err(DriverError::Refused { reason });
        };
        self.open_screen(idx, &screen, now);
        Ok(())
    }

    pub fn evaluate(&self, script: &str) -> Result<String, DriverError> {
        let front = &self.apps[self.front];
        let scope = front.state.scope(&front.app, None);
        match script.trim().trim_end_matches(';').trim_start_matches("return ") {
            "document.title" => Ok(scope.fill(scope.screen().title.as_deref().unwrap_or(front.app.name()))),
            "location.href" | "window.location.href" => Ok(self.front_id()),
            _ => {
                let known = "`document.title` and `location.href`";
                let reason = format!("a simulated browser evaluates only {known}, not `{script}`");
                Err(DriverError::Refused { reason })
            }
        }
    }

    pub fn app(&self, id: &str) -> Result<usize, DriverError> {
        self.installed(id).ok_or_else(|| DriverError::Refused {
            reason: format!("the app `{id}` is not installed; installed apps: {}", self.ids().join(", ")),
        })
    }
}

fn aim(target: &ActionTarget, action: &Action) -> Result<Point, DriverError> {
    target
        .point()
        .ok_or_else(|| DriverError::Refused { reason: format!("`{}` needs an element or a point", action.name()) })
}

pub fn cannot(action: &str) -> DriverError {
    DriverError::Refused { reason: format!("a simulated device cannot `{action}`") }
}
