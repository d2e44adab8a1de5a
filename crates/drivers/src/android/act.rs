//! Performs one action on the phone.

use trailblaze_core::driver::{Action, ActionOutput, ActionTarget, Budget, DriverError};
use trailblaze_protocol::geometry::Point;

use super::driver::AndroidDriver;
use super::typing;
use crate::gesture::{self, Gesture};

impl AndroidDriver {
    pub(super) async fn perform(
        &self,
        budget: &Budget,
        target: &ActionTarget,
        action: &Action,
    ) -> Result<ActionOutput, DriverError> {
        match action {
            Action::Tap => self.touch(budget, &Gesture::Tap(aim(target, action)?)).await?,
            Action::DoubleTap => self.touch(budget, &Gesture::DoubleTap(aim(target, action)?)).await?,
            Action::LongPress => self.touch(budget, &Gesture::LongPress(aim(target, action)?)).await?,
            Action::InputText { text } => {
                // Found out before anything is touched.
                self.automation.check_text(text)?;
                self.focus_on(budget, target).await?;
                self.automation.type_text(budget, text).await?;
            }
            Action::SetText { text } => {
                self.automation.check_text(text)?;
                self.focus_on(budget, target).await?;
                if !self.automation.replace_text(budget, text).await? {
                    self.erase(budget, None).await?;
                    self.automation.type_text(budget, text).await?;
                }
            }
            Action::EraseText { count } => {
                self.focus_on(budget, target).await?;
                self.erase(budget, *count).await?;
            }
            Action::PressKey { key } => self.press(budget, typing::key_code(*key)).await?,
            Action::HideKeyboard => self.hide_keyboard(budget).await?,
            Action::Swipe { from, to, duration } => {
                self.touch(budget, &Gesture::Swipe { from: *from, to: *to, duration: *duration }).await?;
            }
            Action::Scroll { direction, amount } => {
                let gesture = gesture::scroll(self.screen_size(), target.point(), *direction, *amount);
                self.touch(budget, &gesture).await?;
            }
            Action::Pinch { scale } => {
                self.touch(budget, &gesture::pinch(self.screen_size(), target.point(), *scale)).await?;
            }
            Action::Twist { degrees } => {
                self.touch(budget, &gesture::twist(self.screen_size(), target.point(), *degrees)).await?;
            }
            Action::Drag { at, to } => {
                let gesture = gesture::drag(target, *at, to).ok_or_else(|| needs_a_place(action))?;
                self.touch(budget, &gesture).await?;
            }
            Action::Click(_)
            | Action::Hover { .. }
            | Action::ScrollIntoView
            | Action::PressChord { .. }
            | Action::Choose { .. }
            | Action::SetChecked { .. }
            | Action::Upload { .. }
            | Action::Attribute { .. } => {
                let reason = format!("a phone cannot `{}`", action.name());
                return Err(DriverError::Refused { reason });
            }
        }
        Ok(ActionOutput::default())
    }

    async fn touch(&self, budget: &Budget, gesture: &Gesture) -> Result<(), DriverError> {
        self.automation.touch(budget, gesture).await
    }

    pub(super) async fn press(&self, budget: &Budget, key: &str) -> Result<(), DriverError> {
        self.automation.press(budget, &[key]).await
    }

    /// Erases so many characters of the focused field, or all. Keys are pressed for as many characters as the screen shows.
    async fn erase(&self, budget: &Budget, count: Option<u32>) -> Result<(), DriverError> {
        let screen = self.hierarchy(budget).await?;
        let length = typing::focused_length(&screen.root)
            .ok_or_else(|| DriverError::Refused { reason: "no field has the focus; tap a field first".to_string() })?;
        for keys in typing::erase(length, count) {
            self.automation.press(budget, &keys).await?;
        }
        Ok(())
    }

    /// A tap focuses the target, if there is one.
    async fn focus_on(&self, budget: &Budget, target: &ActionTarget) -> Result<(), DriverError> {
        match target.point() {
            Some(point) => self.touch(budget, &Gesture::Tap(point)).await,
            None => Ok(()),
        }
    }

    /// Back hides the keyboard if one is shown; otherwise it would leave the screen.
    async fn hide_keyboard(&self, budget: &Budget) -> Result<(), DriverError> {
        let state = self.phone.must(budget, "dumpsys input_method").await?;
        if state.split_whitespace().any(|word| word.trim_end_matches(',') == "mInputShown=true") {
            self.press(budget, "KEYCODE_BACK").await?;
        }
        Ok(())
    }
}

fn aim(target: &ActionTarget, action: &Action) -> Result<Point, DriverError> {
    target.point().ok_or_else(|| needs_a_place(action))
}

fn needs_a_place(action: &Action) -> DriverError {
    DriverError::Refused { reason: format!("`{}` needs an element or a point", action.name()) }
}
