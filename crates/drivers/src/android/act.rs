//! Performs one action on the phone.

use serde_json::json;
use trailblaze_core::driver::{Acted, Action, Budget, DriverError, Target};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Point;

use super::driver::AndroidDriver;
use super::touch::Gesture;
use super::{apps, touch, typing};

impl AndroidDriver {
    pub(super) async fn perform(
        &self,
        budget: &Budget,
        target: &Target,
        action: &Action,
    ) -> Result<Acted, DriverError> {
        let phone = &self.phone;
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
                self.automation.replace_text(budget, text).await?;
            }
            Action::EraseText { count } => {
                self.focus_on(budget, target).await?;
                self.automation.erase(budget, *count).await?;
            }
            Action::PressKey { key } => self.press(budget, typing::key_code(*key)).await?,
            Action::HideKeyboard => self.hide_keyboard(budget).await?,
            Action::Swipe { from, to, duration } => {
                self.touch(budget, &Gesture::Swipe { from: *from, to: *to, duration: *duration }).await?;
            }
            Action::Scroll { direction, amount } => {
                let gesture = touch::scroll(self.screen_size(), target.point(), *direction, *amount);
                self.touch(budget, &gesture).await?;
            }
            Action::Pinch { scale } => {
                self.touch(budget, &touch::pinch(self.screen_size(), target.point(), *scale)).await?;
            }
            Action::Drag { at, to } => {
                let gesture = touch::drag(target, *at, to).ok_or_else(|| needs_a_place(action))?;
                self.touch(budget, &gesture).await?;
            }
            Action::LaunchApp { app, .. } if app.contains("://") => apps::open_url(phone, budget, app).await?,
            Action::LaunchApp { app, mode } => apps::launch(phone, budget, app, *mode).await?,
            Action::StopApp { app } => apps::stop(phone, budget, app).await?,
            Action::ClearAppData { app } => apps::clear(phone, budget, app).await?,
            Action::GrantPermission { app, permission } => apps::grant(phone, budget, app, permission).await?,
            Action::OpenUrl { url } => apps::open_url(phone, budget, url).await?,
            Action::ListApps => return apps::list(phone, budget).await,
            Action::SetClipboard { text } => self.set_clipboard(text),
            Action::PasteClipboard => self.paste(budget, target).await?,
            Action::SetNetwork { connected } => self.set_network(budget, *connected).await?,
            Action::Shell { command } => return self.shell(budget, command).await,
            Action::EvaluateJs { .. } | Action::Browse(_) => {
                let action = action.name().to_string();
                return Err(DriverError::Unsupported { action, platform: Platform::Android });
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

    async fn touch(&self, budget: &Budget, gesture: &Gesture) -> Result<(), DriverError> {
        self.automation.touch(budget, gesture).await
    }

    async fn press(&self, budget: &Budget, key: &str) -> Result<(), DriverError> {
        self.automation.press(budget, &[key]).await
    }

    /// A tap focuses the target, if there is one.
    async fn focus_on(&self, budget: &Budget, target: &Target) -> Result<(), DriverError> {
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

    /// Types what `setClipboard` copied. Otherwise the key for pasting, whose clipboard is that of the phone.
    async fn paste(&self, budget: &Budget, target: &Target) -> Result<(), DriverError> {
        let text = self.clipboard();
        if let Some(text) = &text {
            self.automation.check_text(text)?;
        }
        self.focus_on(budget, target).await?;
        match text {
            Some(text) => self.automation.type_text(budget, &text).await,
            None => self.press(budget, "KEYCODE_PASTE").await,
        }
    }

    async fn set_network(&self, budget: &Budget, connected: bool) -> Result<(), DriverError> {
        if self.phone.device.is_wireless() && !connected {
            let reason =
                "this phone is connected over the network, and would be lost without it; use a cable".to_string();
            return Err(DriverError::Refused { reason });
        }
        let was_on = self.phone.must(budget, "settings get global airplane_mode_on").await?;
        let switch = |on: bool| format!("cmd connectivity airplane-mode {}", if on { "enable" } else { "disable" });
        self.undo.keep(&self.phone, budget, &switch(was_on.trim() == "1")).await?;
        self.phone.must(budget, &switch(!connected)).await.map(|_| ())
    }

    async fn shell(&self, budget: &Budget, command: &str) -> Result<Acted, DriverError> {
        let output = self.phone.run(budget, command).await?;
        let (stdout, stderr) = (output.text(), output.error_text());
        let value = json!({"exitCode": output.exit_code, "stdout": stdout, "stderr": stderr});
        Ok(Acted { text: stdout, value: Some(value), ..Acted::default() })
    }
}

fn aim(target: &Target, action: &Action) -> Result<Point, DriverError> {
    target.point().ok_or_else(|| needs_a_place(action))
}

fn needs_a_place(action: &Action) -> DriverError {
    DriverError::Refused { reason: format!("`{}` needs an element or a point", action.name()) }
}
