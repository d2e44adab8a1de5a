//! Performs one action on the phone.

use serde_json::json;
use trailblaze_core::driver::{Acted, Action, Budget, DriverError, Target};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Point;

use super::driver::AndroidDriver;
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
            Action::Pinch { .. } => {
                let reason = "Android's `input` command has one finger, so it cannot pinch".to_string();
                return Err(DriverError::Refused { reason });
            }
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

    async fn input(&self, budget: &Budget, command: &str) -> Result<(), DriverError> {
        self.phone.must(budget, command).await.map(|_| ())
    }

    async fn input_all(&self, budget: &Budget, commands: &[String]) -> Result<(), DriverError> {
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

    /// Types what `setClipboard` copied. Otherwise the key for pasting, whose clipboard is that of the phone.
    async fn paste(&self, budget: &Budget, target: &Target) -> Result<(), DriverError> {
        let commands = match self.clipboard() {
            Some(text) => typing::type_text(&text)?,
            None => vec![typing::press(&["KEYCODE_PASTE"])],
        };
        self.focus_on(budget, target).await?;
        self.input_all(budget, &commands).await
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
        self.input(budget, &switch(!connected)).await
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
