//! What only a simulated desktop has: windows, menus, and keys pressed together.
//!
//! Each app that runs has one window, which fills the screen.

use async_trait::async_trait;
use tokio::time::Instant;
use trailblaze_core::driver::{Budget, DesktopControl, DriverError, Key, WindowInfo};
use trailblaze_protocol::geometry::Rect;

use super::device::{Installed, SimDevice};
use super::driver::Sim;

#[async_trait]
impl DesktopControl for Sim {
    async fn windows(&self, budget: &Budget) -> Result<Vec<WindowInfo>, DriverError> {
        self.command(budget, "windows", |device, _| Ok(device.windows())).await
    }

    async fn activate_window(&self, budget: &Budget, window: &str) -> Result<(), DriverError> {
        let activate = |device: &mut SimDevice, now| {
            let idx = device.window(window)?;
            device.bring_to_front(idx, now);
            Ok(())
        };
        self.command(budget, "activateWindow", activate).await
    }

    async fn close_window(&self, budget: &Budget, window: &str) -> Result<(), DriverError> {
        let close = |device: &mut SimDevice, now| device.window(window).map(|idx| device.stop(idx, now));
        self.command(budget, "close", close).await
    }

    async fn choose_menu(&self, budget: &Budget, path: &[String]) -> Result<(), DriverError> {
        let choose = |device: &mut SimDevice, now| path.iter().try_for_each(|name| device.choose_item(name, now));
        self.command(budget, "menu", choose).await
    }

    async fn clipboard_text(&self, budget: &Budget) -> Result<Option<String>, DriverError> {
        let read = |device: &mut SimDevice, _| Ok((!device.clipboard.is_empty()).then(|| device.clipboard.clone()));
        self.command(budget, "getClipboard", read).await
    }
}

impl SimDevice {
    /// The windows of the apps that run; the one in front is last.
    fn windows(&self) -> Vec<WindowInfo> {
        let running = self.apps.iter().enumerate().skip(1).filter(|(_, installed)| installed.state.is_running());
        let mut windows: Vec<WindowInfo> = running.map(|(idx, installed)| self.info(idx, installed)).collect();
        windows.sort_by_key(|window| window.active);
        windows
    }

    fn info(&self, idx: usize, Installed { app, state }: &Installed) -> WindowInfo {
        let scope = state.scope(app, None);
        WindowInfo {
            id: idx.to_string(),
            title: scope.fill(scope.screen().title.as_deref().unwrap_or(app.name())),
            app: app.id_for(self.platform()).to_string(),
            bounds: Rect::new(0, 0, self.metrics.width(), self.metrics.height()),
            active: idx == self.front,
        }
    }

    /// The app whose window has this id or title.
    fn window(&self, name: &str) -> Result<usize, DriverError> {
        let windows = self.windows();
        let found = windows.iter().find(|window| window.id == name);
        let found = found.or_else(|| windows.iter().find(|window| window.title == name));
        found.and_then(|window| window.id.parse().ok()).ok_or_else(|| {
            let known = windows.iter().map(|window| format!("\"{}\"", window.title)).collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "no window is open".to_string() } else { format!("open are {known}") };
            DriverError::Refused { reason: format!("no window has the id or the title \"{name}\"; {known}") }
        })
    }

    /// Taps what has this text: an item of a menu that is open, or what opens one.
    fn choose_item(&mut self, name: &str, now: Instant) -> Result<(), DriverError> {
        let found = {
            let scene = self.scene();
            let items: Vec<_> = scene
                .walk()
                .filter(|placed| placed.is_touchable() && placed.is_enabled && !placed.text.is_empty())
                .collect();
            // What is in a dialog comes after what it covers.
            let found = items.iter().rev().find(|placed| placed.text == name).and_then(|placed| placed.visible);
            found.map(|visible| visible.center()).ok_or_else(|| {
                let known = items.iter().map(|placed| format!("`{}`", placed.text)).collect::<Vec<_>>().join(", ");
                let reason = format!("no menu of the window in front has an item `{name}`; there is {known}");
                DriverError::Refused { reason }
            })
        };
        self.tap(found?, now);
        Ok(())
    }

    /// Presses keys together. Apps that a file describes react to few of them.
    pub fn press_chord(&mut self, chord: &str, now: Instant) -> Result<(), DriverError> {
        match chord.to_ascii_lowercase().as_str() {
            "enter" => self.press(Key::Enter, now),
            "tab" => self.press(Key::Tab, now),
            "escape" => self.press(Key::Escape, now),
            "backspace" => self.press(Key::Backspace, now),
            "control+v" => {
                let text = self.clipboard.clone();
                self.input_text(&text, now)
            }
            "control+c" => {
                if let Some(field) = self.front_state().shown.focus.clone() {
                    self.clipboard = self.value(&field);
                }
                Ok(())
            }
            _ if chord.chars().count() == 1 => self.input_text(chord, now),
            _ => {
                let reason = format!(
                    "a simulated desktop has no use for `{chord}`; it knows Enter, Tab, Escape, Backspace, Control+C, Control+V \
                     and single characters"
                );
                Err(DriverError::Refused { reason })
            }
        }
    }
}
