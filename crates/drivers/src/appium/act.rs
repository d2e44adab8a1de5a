//! Performs one action on the app.

use serde_json::{Value, json};
use trailblaze_core::driver::{Action, ActionOutput, ActionTarget, Budget, DriverError, Key};
use trailblaze_protocol::geometry::Point;

use super::automation::AppiumAutomation;
use super::driver::AppiumDriver;
use super::session::CommandFault;
use crate::gesture::{self, Gesture};

/// The key that erases, as W3C actions and as WebDriverAgent name it.
const BACKSPACE: &str = "\u{E003}";
const ERASE: &str = "\u{8}";
/// The most characters that are erased one by one.
const MOST_ERASED: u32 = 1_000;

impl AppiumDriver {
    pub(super) async fn perform(
        &self,
        budget: &Budget,
        target: &ActionTarget,
        action: &Action,
    ) -> Result<ActionOutput, DriverError> {
        if self.automation == AppiumAutomation::Fake {
            return self.perform_on_file(budget, target, action).await;
        }
        match action {
            Action::Tap => self.touch(budget, &Gesture::Tap(aim(target, action)?)).await?,
            Action::DoubleTap => self.touch(budget, &Gesture::DoubleTap(aim(target, action)?)).await?,
            Action::LongPress => self.touch(budget, &Gesture::LongPress(aim(target, action)?)).await?,
            Action::InputText { text } => {
                let field = self.focus_on(budget, target).await?;
                self.type_into(budget, &field, text).await?;
            }
            Action::SetText { text } => {
                let field = self.focus_on(budget, target).await?;
                self.session.post(budget, &format!("/element/{field}/clear"), json!({})).await?;
                self.type_into(budget, &field, text).await?;
            }
            Action::EraseText { count } => {
                let field = self.focus_on(budget, target).await?;
                match count {
                    None => drop(self.session.post(budget, &format!("/element/{field}/clear"), json!({})).await?),
                    Some(count) => self.erase(budget, &field, (*count).min(MOST_ERASED)).await?,
                }
            }
            Action::PressKey { key } => self.press(budget, *key).await?,
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
            other => return Err(self.unsupported(other.name())),
        }
        Ok(ActionOutput::default())
    }

    /// On an app that is a file, elements are touched by their ids: touches at points do nothing there.
    async fn perform_on_file(
        &self,
        budget: &Budget,
        target: &ActionTarget,
        action: &Action,
    ) -> Result<ActionOutput, DriverError> {
        let node = match target {
            ActionTarget::Element(found) => Some(found.node),
            ActionTarget::Device => self.touched(),
            ActionTarget::Point(_) => return Err(self.unsupported(&format!("{} at a point", action.name()))),
        };
        let (node, text) = match (action, node) {
            // There is no keyboard.
            (Action::HideKeyboard, _) => return Ok(ActionOutput::default()),
            (Action::Tap, Some(node)) if matches!(target, ActionTarget::Element(_)) => (node, None),
            (Action::InputText { text } | Action::SetText { text }, Some(node)) => (node, Some(text.as_str())),
            (Action::EraseText { count: None }, Some(node)) => (node, Some("")),
            (Action::InputText { .. } | Action::SetText { .. } | Action::EraseText { count: None }, None) => {
                let reason = "no field has the focus; tap a field first".to_string();
                return Err(DriverError::Refused { reason });
            }
            (action, _) => return Err(self.unsupported(action.name())),
        };
        let id = self.element_at(budget, node).await?;
        match text {
            None => drop(self.session.post(budget, &format!("/element/{id}/click"), json!({})).await?),
            // It replaces what the field has.
            Some(text) => self.type_into(budget, &id, text).await?,
        }
        self.note_touched(node);
        Ok(ActionOutput::default())
    }

    async fn touch(&self, budget: &Budget, gesture: &Gesture) -> Result<(), DriverError> {
        let actions = gesture::pointers(&gesture.motion(), |at| self.in_points(at));
        self.session.post(budget, "/actions", json!({"actions": actions})).await?;
        Ok(())
    }

    /// A tap focuses the target, if there is one. Returns the field that then has the focus.
    async fn focus_on(&self, budget: &Budget, target: &ActionTarget) -> Result<String, DriverError> {
        if let Some(point) = target.point() {
            self.touch(budget, &Gesture::Tap(point)).await?;
        }
        let refused = || DriverError::Refused { reason: "no field has the focus; tap a field first".to_string() };
        self.session.focused(budget).await?.ok_or_else(refused)
    }

    /// What Appium says about typing quotes the text, which may be a secret.
    async fn type_into(&self, budget: &Budget, field: &str, text: &str) -> Result<(), DriverError> {
        let text = text.replace("\r\n", "\n");
        match self.session.post(budget, &format!("/element/{field}/value"), json!({"text": text})).await {
            Ok(_) => Ok(()),
            Err(CommandFault::Coded { code, .. })
                if matches!(code.as_str(), "invalid element state" | "invalid argument" | "unknown error") =>
            {
                let reason = "Appium could not type into the element; it may be disabled or no field".to_string();
                Err(DriverError::Refused { reason })
            }
            Err(fault) => Err(fault.into()),
        }
    }

    async fn erase(&self, budget: &Budget, field: &str, count: u32) -> Result<(), DriverError> {
        if self.automation == AppiumAutomation::XcuiTest {
            return self.type_into(budget, field, &ERASE.repeat(count as usize)).await;
        }
        let key = |kind: &str| json!({"type": kind, "value": BACKSPACE});
        let keys: Vec<Value> = (0..count).flat_map(|_| [key("keyDown"), key("keyUp")]).collect();
        let body = json!({"actions": [{"type": "key", "id": "keyboard", "actions": keys}]});
        self.session.post(budget, "/actions", body).await?;
        Ok(())
    }

    async fn press(&self, budget: &Budget, key: Key) -> Result<(), DriverError> {
        if self.automation == AppiumAutomation::UiAutomator2 {
            self.session.mobile(budget, "pressKey", json!({"keycode": key_code(key)})).await?;
            return Ok(());
        }
        let button = match key {
            Key::Enter | Key::Backspace => {
                let field = self.focus_on(budget, &ActionTarget::Device).await?;
                let typed = if key == Key::Enter { "\n" } else { ERASE };
                return self.type_into(budget, &field, typed).await;
            }
            Key::Home => "home",
            Key::VolumeUp => "volumeup",
            Key::VolumeDown => "volumedown",
            Key::Back | Key::Tab | Key::Escape | Key::Power | Key::AppSwitch => {
                return Err(self.unsupported(&format!("pressKey {}", key.name())));
            }
        };
        self.session.mobile(budget, "pressButton", json!({"name": button})).await?;
        Ok(())
    }

    /// A keyboard that is not shown stays hidden.
    async fn hide_keyboard(&self, budget: &Budget) -> Result<(), DriverError> {
        let is_shown = self.session.mobile(budget, "isKeyboardShown", json!({})).await?;
        if is_shown.as_bool().unwrap_or(false) {
            self.session.mobile(budget, "hideKeyboard", json!({})).await?;
        }
        Ok(())
    }
}

/// The numbers that Android has for keys.
fn key_code(key: Key) -> u32 {
    match key {
        Key::Home => 3,
        Key::Back => 4,
        Key::VolumeUp => 24,
        Key::VolumeDown => 25,
        Key::Power => 26,
        Key::Tab => 61,
        Key::Enter => 66,
        Key::Backspace => 67,
        Key::Escape => 111,
        Key::AppSwitch => 187,
    }
}

fn aim(target: &ActionTarget, action: &Action) -> Result<Point, DriverError> {
    target.point().ok_or_else(|| needs_a_place(action))
}

fn needs_a_place(action: &Action) -> DriverError {
    DriverError::Refused { reason: format!("`{}` needs an element or a point", action.name()) }
}
