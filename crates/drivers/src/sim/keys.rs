//! The keyboard: text is typed into the focused field.

use tokio::time::Instant;
use trailblaze_core::driver::{DriverError, Key};
use trailblaze_protocol::driver::Platform;

use super::app::{Effects, Element, Role};
use super::device::SimDevice;
use super::layout::PlacedKind;

impl SimDevice {
    /// Types at the end of the focused field.
    pub fn input_text(&mut self, text: &str, now: Instant) -> Result<(), DriverError> {
        let field = self.focus()?;
        let typed = format!("{}{}", self.value(&field), text);
        self.set_field(field, typed, now);
        Ok(())
    }

    pub fn set_text(&mut self, text: &str, now: Instant) -> Result<(), DriverError> {
        let field = self.focus()?;
        self.set_field(field, text.to_string(), now);
        Ok(())
    }

    pub fn erase_text(&mut self, count: Option<u32>, now: Instant) -> Result<(), DriverError> {
        let field = self.focus()?;
        let mut text = self.value(&field);
        for _ in 0..count.unwrap_or(u32::MAX) {
            if text.pop().is_none() {
                break;
            }
        }
        self.set_field(field, text, now);
        Ok(())
    }

    pub fn press(&mut self, key: Key, now: Instant) -> Result<(), DriverError> {
        if !has_key(self.platform(), key) {
            let action = format!("pressKey {}", key.name());
            return Err(DriverError::Unsupported { action, platform: self.platform() });
        }
        match key {
            Key::Back => self.back(now),
            Key::Home => self.go_home(now),
            Key::Enter => self.enter(now),
            Key::Backspace => {
                if self.front_state().shown.focus.is_some() {
                    self.erase_text(Some(1), now)?;
                }
            }
            Key::Tab => self.focus_next(),
            Key::Escape => {
                self.shown_mut().dialogs.pop();
            }
            // Nothing that a simulated app shows depends on the volume.
            Key::VolumeUp | Key::VolumeDown => {}
            // Not reached: no simulated device has these keys.
            Key::Power | Key::AppSwitch => {}
        }
        Ok(())
    }

    fn focus(&self) -> Result<String, DriverError> {
        self.front_state()
            .shown
            .focus
            .clone()
            .ok_or_else(|| DriverError::Refused { reason: "no field has the focus; tap a field first".to_string() })
    }

    pub(super) fn value(&self, field: &str) -> String {
        let front = &self.apps[self.front];
        front.state.scope(&front.app, None).value(field).to_string()
    }

    fn set_field(&mut self, field: String, text: String, now: Instant) {
        self.apps[self.front].state.set(&field, text);
        let change = self.of_focused(|element| &element.change);
        self.run(&change.0, None, now);
    }

    /// The effects of the focused field, or else of the screen.
    fn enter(&mut self, now: Instant) {
        let own = self.of_focused(|element| &element.enter);
        let front = &self.apps[self.front];
        let screen = front.state.scope(&front.app, None).screen().enter.clone();
        let effects = if own.is_empty() { screen } else { own };
        self.run(&effects.0, None, now);
    }

    fn of_focused(&self, pick: fn(&Element) -> &Effects) -> Effects {
        let scene = self.scene();
        let focused = scene.walk().find(|placed| placed.is_focused).and_then(|placed| placed.element);
        focused.map(pick).cloned().unwrap_or_default()
    }

    /// Moves the focus to the next field, and from the last to the first.
    fn focus_next(&mut self) {
        let fields: Vec<(Option<String>, bool)> = {
            let scene = self.scene();
            let fields =
                scene.walk().filter(|placed| placed.what == PlacedKind::Element(Role::Field) && placed.is_enabled);
            fields.map(|field| (field.id.clone(), field.is_focused)).collect()
        };
        let next = fields.iter().position(|(_, is_focused)| *is_focused).map_or(0, |idx| idx + 1);
        if let Some((id, _)) = fields.get(next).or_else(|| fields.first()) {
            self.shown_mut().focus = id.clone();
        }
    }
}

fn has_key(platform: Platform, key: Key) -> bool {
    match key {
        Key::Enter | Key::Backspace => true,
        Key::Back => platform == Platform::Android,
        Key::Home => platform.is_mobile(),
        Key::Tab | Key::Escape => !platform.is_mobile(),
        Key::VolumeUp | Key::VolumeDown => platform.is_mobile(),
        Key::Power | Key::AppSwitch => false,
    }
}
