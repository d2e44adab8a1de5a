//! Performs one action on the device.

use serde_json::{Value, json};
use trailblaze_core::driver::{Action, ActionOutput, ActionTarget, Budget, DriverError, Key};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Point;

use super::alerts::{Alert, explained};
use super::driver::IosDriver;
use super::wda::{WdaCode, WdaError};
use crate::gesture::{self, Gesture, LONG_PRESS};

/// The key that erases, as WebDriverAgent types it.
const ERASE: &str = "\u{8}";
/// The most characters that are erased one by one.
const MOST_ERASED: u32 = 5_000;

impl IosDriver {
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
                let field = self.focus_on(budget, target).await?;
                self.type_into(budget, &field, text).await?;
            }
            Action::SetText { text } => {
                let field = self.focus_on(budget, target).await?;
                self.clear(budget, &field).await?;
                self.type_into(budget, &field, text).await?;
            }
            Action::EraseText { count } => {
                let field = self.focus_on(budget, target).await?;
                match count {
                    None => self.clear(budget, &field).await?,
                    Some(count) => {
                        let keys = ERASE.repeat((*count).min(MOST_ERASED) as usize);
                        self.type_into(budget, &field, &keys).await?;
                    }
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

    /// Does something in the session. An alert that is in the way is named.
    pub(super) async fn post(&self, budget: &Budget, route: &str, body: Value) -> Result<Value, DriverError> {
        match self.wda.session_post(budget, route, body).await {
            Ok(value) => Ok(value),
            Err(error) => Err(explained(error, &self.wda, budget).await),
        }
    }

    async fn touch(&self, budget: &Budget, gesture: &Gesture) -> Result<(), DriverError> {
        let place = |at: Point| {
            let (x, y) = self.in_points(at);
            json!({"x": x, "y": y})
        };
        let (route, body) = match gesture {
            Gesture::Tap(at) => ("/wda/tap", place(*at)),
            Gesture::DoubleTap(at) => ("/wda/doubleTap", place(*at)),
            Gesture::LongPress(at) => {
                let (x, y) = self.in_points(*at);
                ("/wda/touchAndHold", json!({"x": x, "y": y, "duration": LONG_PRESS.as_secs_f64()}))
            }
            Gesture::Swipe { .. } | Gesture::Drag { .. } | Gesture::Pinch(_) | Gesture::Twist(_) => {
                ("/actions", json!({"actions": gesture::pointers(&gesture.motion(), |at| self.in_points(at))}))
            }
        };
        self.post(budget, route, body).await.map(drop)
    }

    /// A tap focuses the target, if there is one. Returns the field that then has the focus.
    async fn focus_on(&self, budget: &Budget, target: &ActionTarget) -> Result<String, DriverError> {
        if let Some(point) = target.point() {
            self.touch(budget, &Gesture::Tap(point)).await?;
        }
        match self.wda.focused_element(budget).await {
            Ok(Some(field)) => Ok(field),
            // An alert takes the focus from the fields behind it.
            Ok(None) => Err(match Alert::ask(&self.wda, budget).await {
                Some(alert) => alert.in_the_way(),
                None => DriverError::Refused { reason: "no field has the focus; tap a field first".to_string() },
            }),
            Err(error) => Err(explained(error, &self.wda, budget).await),
        }
    }

    pub(super) async fn type_text(&self, budget: &Budget, text: &str) -> Result<(), DriverError> {
        let field = self.focus_on(budget, &ActionTarget::Device).await?;
        self.type_into(budget, &field, text).await
    }

    async fn type_into(&self, budget: &Budget, field: &str, text: &str) -> Result<(), DriverError> {
        if text.is_empty() {
            return Ok(());
        }
        let text = text.replace("\r\n", "\n");
        let mut body = json!({"value": [text]});
        if let Some(frequency) = self.settings.typing_frequency {
            body["frequency"] = json!(frequency);
        }
        self.in_field(budget, field, "value", body).await
    }

    async fn clear(&self, budget: &Budget, field: &str) -> Result<(), DriverError> {
        self.in_field(budget, field, "clear", json!({})).await
    }

    /// A field that is gone was drawn again, or belongs to a session that was dropped; the one that has the focus then is the same.
    async fn in_field(&self, budget: &Budget, field: &str, what: &str, body: Value) -> Result<(), DriverError> {
        let mut done = self.wda.element_post(budget, field, what, body.clone()).await;
        if matches!(&done, Err(error) if error.is_about_a_lost_element()) {
            let field = self.focus_on(budget, &ActionTarget::Device).await?;
            done = self.wda.element_post(budget, &field, what, body).await;
        }
        match done {
            Ok(_) => Ok(()),
            Err(error) => Err(self.not_typed(error, budget).await),
        }
    }

    /// What WebDriverAgent says about typing quotes the text, which may be a secret.
    async fn not_typed(&self, error: WdaError, budget: &Budget) -> DriverError {
        match error.code() {
            Some(WdaCode::InvalidElementState | WdaCode::UnknownError | WdaCode::InvalidArgument) => {
                let reason = "WebDriverAgent could not type into the field that has the focus; \
                              it may be disabled, or its keyboard may not be shown"
                    .to_string();
                DriverError::Refused { reason }
            }
            _ => explained(error, &self.wda, budget).await,
        }
    }

    async fn press(&self, budget: &Budget, key: Key) -> Result<(), DriverError> {
        let typed = match key {
            Key::Enter => "\n",
            Key::Backspace => ERASE,
            Key::Home => {
                let pressed = self.wda.post(budget, "/wda/homescreen", json!({})).await;
                return pressed.map(drop).map_err(DriverError::from);
            }
            Key::Power => return self.lock_or_wake(budget).await,
            Key::VolumeUp => return self.press_button(budget, "volumeUp").await,
            Key::VolumeDown => return self.press_button(budget, "volumeDown").await,
            Key::Back | Key::Tab | Key::Escape | Key::AppSwitch => {
                let action = format!("pressKey {}", key.name());
                return Err(DriverError::Unsupported { action, platform: Platform::Ios });
            }
        };
        self.post(budget, "/wda/keys", json!({"value": [typed]})).await.map(drop)
    }

    /// Simulators have no buttons for the volume.
    async fn press_button(&self, budget: &Budget, name: &str) -> Result<(), DriverError> {
        self.post(budget, "/wda/pressButton", json!({"name": name})).await.map(drop)
    }

    /// What the button at the side does: it locks the screen, or wakes it.
    async fn lock_or_wake(&self, budget: &Budget) -> Result<(), DriverError> {
        let is_locked = self.wda.get(budget, "/wda/locked").await?.as_bool().unwrap_or(false);
        let route = if is_locked { "/wda/unlock" } else { "/wda/lock" };
        self.wda.post(budget, route, json!({})).await.map(drop).map_err(DriverError::from)
    }

    async fn hide_keyboard(&self, budget: &Budget) -> Result<(), DriverError> {
        match self.wda.session_post(budget, "/wda/keyboard/dismiss", json!({})).await {
            Ok(_) => Ok(()),
            Err(error) if error.code() == Some(&WdaCode::InvalidElementState) => {
                let reason = "this keyboard has no key that hides it; tap beside the field, or press ENTER".to_string();
                Err(DriverError::Refused { reason })
            }
            Err(error) => Err(explained(error, &self.wda, budget).await),
        }
    }
}

fn aim(target: &ActionTarget, action: &Action) -> Result<Point, DriverError> {
    target.point().ok_or_else(|| needs_a_place(action))
}

fn needs_a_place(action: &Action) -> DriverError {
    DriverError::Refused { reason: format!("`{}` needs an element or a point", action.name()) }
}
