//! Performs one action on the phone.

use trailblaze_core::driver::{Acted, Action, Budget, DriverError, Target};
use trailblaze_protocol::geometry::Point;

use super::driver::AndroidDriver;
use super::{touch, typing};

impl AndroidDriver {
    pub(super) async fn perform(
        &self,
        budget: &Budget,
        target: &Target,
        action: &Action,
    ) -> Result<Acted, DriverError> {
        match action {
            Action::Tap => self.input(budget, &touch::tap(aim(target, action)?)).await?,
            Action::DoubleTap => self.input(budget, &touch::double_tap(aim(target, action)?)).await?,
            Action::LongPress => self.input(budget, &touch::long_press(aim(target, action)?)).await?,
            Action::InputText { text } => {
                // Found out before anything is touched.
                let commands = typing::type_text(text)?;
                self.focus_on(budget, target).await?;
                self.input_all(budget, &commands).await?;
            }
            Action::SetText { text } => {
                let commands = typing::type_text(text)?;
                self.focus_on(budget, target).await?;
                self.erase(budget, None).await?;
                self.input_all(budget, &commands).await?;
            }
            Action::EraseText { count } => {
                self.focus_on(budget, target).await?;
                self.erase(budget, *count).await?;
            }
            Action::PressKey { key } => self.input(budget, &typing::press(&[typing::key_code(*key)])).await?,
            Action::HideKeyboard => self.hide_keyboard(budget).await?,
            Action::Swipe { from, to, duration } => self.input(budget, &touch::swipe(*from, *to, *duration)).await?,
            Action::Scroll { direction, amount } => {
                let command = touch::scroll(self.screen_size(), target.point(), *direction, *amount);
                self.input(budget, &command).await?;
            }
            Action::Drag { at, to } => {
                let ends = touch::drag_ends(target, *at, to).ok_or_else(|| needs_a_place(action))?;
                self.input(budget, &touch::drag(ends.0, ends.1)).await?;
            }
            Action::Pinch { .. } => {
                let reason = "Android's `input` command has one finger, so it cannot pinch".to_string();
                return Err(DriverError::Refused { reason });
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
        Ok(Acted::default())
    }

    pub(super) async fn input(&self, budget: &Budget, command: &str) -> Result<(), DriverError> {
        self.phone.must(budget, command).await.map(|_| ())
    }

    pub(super) async fn input_all(&self, budget: &Budget, commands: &[String]) -> Result<(), DriverError> {
        for command in commands {
            self.input(budget, command).await?;
        }
        Ok(())
    }

    /// A tap focuses the target, if there is one.
    async fn focus_on(&self, budget: &Budget, target: &Target) -> Result<(), DriverError> {
        match target.point() {
            Some(point) => self.input(budget, &touch::tap(point)).await,
            None => Ok(()),
        }
    }

    /// Erases the text of the focused field. No command does that, so keys are pressed for as many characters as the screen shows.
    async fn erase(&self, budget: &Budget, count: Option<u32>) -> Result<(), DriverError> {
        let screen = self.hierarchy(budget).await?;
        let length = typing::focused_length(&screen.root)
            .ok_or_else(|| DriverError::Refused { reason: "no field has the focus; tap a field first".to_string() })?;
        self.input_all(budget, &typing::erase(length, count)).await
    }

    /// Back hides the keyboard if one is shown; otherwise it would leave the screen.
    async fn hide_keyboard(&self, budget: &Budget) -> Result<(), DriverError> {
        let state = self.phone.must(budget, "dumpsys input_method").await?;
        if state.split_whitespace().any(|word| word.trim_end_matches(',') == "mInputShown=true") {
            self.input(budget, &typing::press(&["KEYCODE_BACK"])).await?;
        }
        Ok(())
    }
}

fn aim(target: &Target, action: &Action) -> Result<Point, DriverError> {
    target.point().ok_or_else(|| needs_a_place(action))
}

fn needs_a_place(action: &Action) -> DriverError {
    DriverError::Refused { reason: format!("`{}` needs an element or a point", action.name()) }
}
