//! The windows of the desktop, their menus, and the clipboard.

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;
use trailblaze_core::driver::{Action, ActionTarget, Budget, DesktopControl, DriverError, ObserveOptions, WindowInfo};
use trailblaze_core::query::Found;
use trailblaze_core::screen::{Node, Screen};

use super::driver::DesktopDriver;
use super::x11::{XDisplay, XWindow};

/// How long a menu may take to open.
const OPENING: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(40);
/// How long a window may take to come to the front. One whose dialog is open does not.
const ACTIVATING: Duration = Duration::from_secs(1);
const ACTIVATING_TICK: Duration = Duration::from_millis(10);

#[async_trait]
impl DesktopControl for DesktopDriver {
    async fn windows(&self, budget: &Budget) -> Result<Vec<WindowInfo>, DriverError> {
        self.check_alive()?;
        self.x("windows")?;
        let windows = self.windows_here(budget).await?;
        Ok(windows.iter().filter(|window| !window.is_popup).map(|window| self.info(window)).collect())
    }

    async fn activate_window(&self, budget: &Budget, window: &str) -> Result<(), DriverError> {
        let (_, found) = self.named_window(budget, "activateWindow", window).await?;
        self.activate(budget, found.id).await.map(drop)
    }

    async fn close_window(&self, budget: &Budget, window: &str) -> Result<(), DriverError> {
        let (x, found) = self.named_window(budget, "close", window).await?;
        x.close_window(budget, found.id).await
    }

    async fn choose_menu(&self, budget: &Budget, path: &[String]) -> Result<(), DriverError> {
        for (depth, name) in path.iter().enumerate() {
            let until = budget.until(OPENING);
            loop {
                let screen = self.look(budget, ObserveOptions::TREE).await?;
                let items = menu_items(&screen, depth == 0);
                // The innermost menu is the last one that was opened.
                if let Some(found) = items.iter().rev().find(|found| is_named(found, name)) {
                    self.perform(budget, &ActionTarget::Element(found.clone()), &Action::Tap).await?;
                    break;
                }
                if Instant::now() >= until {
                    if depth > 0 {
                        // Otherwise the open menus would take what is pressed next.
                        self.press_chord(budget, "Escape", u32::try_from(depth).unwrap_or(1)).await?;
                    }
                    let known = items.iter().filter_map(|found| found.text.as_deref());
                    let known = known.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                    let reason = format!("no menu of the window in front has an item `{name}`; there is {known}");
                    return Err(DriverError::Refused { reason });
                }
                budget.run("a menu", tokio::time::sleep(TICK)).await?;
            }
        }
        Ok(())
    }

    async fn clipboard_text(&self, budget: &Budget) -> Result<Option<String>, DriverError> {
        self.x("getClipboard")?.clipboard(budget).await
    }
}

impl DesktopDriver {
    /// Brings a window to the front. Returns all windows as they are when it is there, or when it will not come.
    pub(super) async fn activate(&self, budget: &Budget, window: u32) -> Result<Vec<XWindow>, DriverError> {
        let x = self.x("activateWindow")?;
        x.activate(budget, window).await?;
        let until = budget.until(ACTIVATING).min(Instant::now() + ACTIVATING);
        loop {
            let windows = x.windows(budget).await?;
            let is_active = windows.iter().any(|known| known.id == window && known.is_active);
            if is_active || Instant::now() >= until {
                return Ok(windows);
            }
            budget.run("a window", tokio::time::sleep(ACTIVATING_TICK)).await?;
        }
    }

    fn info(&self, window: &XWindow) -> WindowInfo {
        let started = window.pid.and_then(|pid| self.apps.of_process(pid));
        WindowInfo {
            id: window.id.to_string(),
            title: window.title.clone(),
            app: started.unwrap_or_else(|| window.class.clone()),
            bounds: window.bounds,
            active: window.is_active,
        }
    }

    /// The window of an id or a title.
    async fn named_window(
        &self,
        budget: &Budget,
        action: &str,
        name: &str,
    ) -> Result<(&XDisplay, XWindow), DriverError> {
        self.check_alive()?;
        let x = self.x(action)?;
        let windows: Vec<XWindow> =
            self.windows_here(budget).await?.into_iter().filter(|window| !window.is_popup).collect();
        let by_id = windows.iter().find(|window| window.id.to_string() == name);
        let titled: Vec<&XWindow> = windows.iter().filter(|window| window.title == name).collect();
        let found = match (by_id, titled.as_slice()) {
            (Some(window), _) => Some(window),
            (None, [window]) => Some(*window),
            (None, [_, _, ..]) => {
                let reason =
                    format!("{} windows have the title \"{name}\"; use the id that `windows` returns", titled.len());
                return Err(DriverError::Refused { reason });
            }
            (None, []) => None,
        };
        match found {
            Some(window) => Ok((x, window.clone())),
            None => {
                let known = windows.iter().map(|window| format!("\"{}\"", window.title)).collect::<Vec<_>>().join(", ");
                let known =
                    if known.is_empty() { "no window is open".to_string() } else { format!("open are {known}") };
                Err(DriverError::Refused { reason: format!("no window has the id or the title \"{name}\"; {known}") })
            }
        }
    }
}

/// The items of menus that can be chosen now. Menus are opened from a bar or, with `is_first`, also by a button.
fn menu_items(screen: &Screen, is_first: bool) -> Vec<Found> {
    const ITEMS: [&str; 4] = ["Menu", "MenuItem", "CheckMenuItem", "RadioMenuItem"];
    const OPENERS: [&str; 3] = ["Button", "ToggleButton", "DropdownList"];
    let is_item = |node: &Node| {
        let class = node.class().unwrap_or_default();
        ITEMS.contains(&class) || is_first && OPENERS.contains(&class)
    };
    // Of several windows, the one in front is last.
    let items = screen.root.walk().filter(|node| is_item(node) && node.is_enabled());
    items
        .filter_map(|node| {
            let bounds = screen.visible_part(node)?;
            Some(Found {
                snapshot: screen.snapshot,
                node: node.id,
                reference: None,
                bounds,
                point: bounds.center(),
                exact: None,
                summary: node.summary(),
                text: node.text().or(node.label()).map(str::to_string),
                count: 1,
            })
        })
        .collect()
}

/// Whether an item has this name; dots at the end, which stand for a dialog, do not matter.
fn is_named(found: &Found, name: &str) -> bool {
    let plain = |text: &str| text.trim().trim_end_matches(['.', '…']).trim().to_string();
    found.text.as_deref().is_some_and(|text| plain(text) == plain(name))
}
