//! Touching, typing and going places, with the events that a user's own hands would cause.

use std::time::Duration;

use serde_json::{Value, json};
use trailblaze_core::driver::{Acted, Action, Budget, Direction, DriverError, Key, LaunchMode, Target};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Point;

use super::tab::Tab;

/// How long a long press lasts.
const LONG_PRESS: Duration = Duration::from_millis(600);

pub async fn act(
    tab: &Tab,
    budget: &Budget,
    (target, action): (&Target, &Action),
    clipboard: &std::sync::Mutex<String>,
) -> Result<Acted, DriverError> {
    let hands = Hands { tab, budget };
    let clipboard = || clipboard.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    match action {
        Action::Tap => hands.click(target, 1).await?,
        Action::DoubleTap => {
            hands.click(target, 1).await?;
            hands.click(target, 2).await?;
        }
        Action::LongPress => hands.long_press(target).await?,
        Action::InputText { text } => {
            hands.focus(target).await?;
            hands.insert(text).await?;
        }
        Action::SetText { text } => {
            hands.focus(target).await?;
            hands.clear().await?;
            hands.insert(text).await?;
        }
        Action::EraseText { count: None } => hands.clear().await?,
        Action::EraseText { count: Some(count) } => {
            for _ in 0..*count {
                hands.key("Backspace", 8, None).await?;
            }
        }
        Action::PressKey { key } => hands.press(*key).await?,
        Action::HideKeyboard => {}
        Action::Swipe { from, to, .. } => hands.wheel(*from, (from.x - to.x).into(), (from.y - to.y).into()).await?,
        Action::Scroll { direction, amount } => hands.scroll(target, *direction, *amount).await?,
        Action::LaunchApp { app, mode } => {
            if *mode == LaunchMode::Reinstall {
                hands.forget(app).await?;
            }
            hands.go(app).await?;
        }
        Action::OpenUrl { url } => hands.go(url).await?,
        Action::StopApp { .. } => hands.go("about:blank").await?,
        Action::ClearAppData { app } => hands.forget(app).await?,
        Action::SetClipboard { text } => clipboard().clone_from(text),
        Action::PasteClipboard => {
            let text = clipboard().clone();
            hands.insert(&text).await?;
        }
        Action::SetNetwork { connected } => {
            tab.command(budget, "Network.enable", json!({})).await?;
            let conditions =
                json!({"offline": !connected, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
            tab.command(budget, "Network.emulateNetworkConditions", conditions).await?;
        }
        Action::EvaluateJs { script } => {
            let value = tab.evaluate(budget, script).await?;
            tab.touch();
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            return Ok(Acted { text, value: Some(value) });
        }
        Action::Pinch { .. } | Action::GrantPermission { .. } | Action::Shell { .. } | Action::ListApps => {
            return Err(DriverError::Unsupported { action: action.name().to_string(), platform: Platform::Web });
        }
    }
    tab.touch();
    Ok(Acted::default())
}

struct Hands<'a> {
    tab: &'a Tab,
    budget: &'a Budget,
}

impl Hands<'_> {
    async fn mouse(&self, kind: &str, point: Point, clicks: u32) -> Result<(), DriverError> {
        let (button, buttons) = if kind == "mouseMoved" { ("none", 0) } else { ("left", 1) };
        let params = json!({
            "type": kind, "x": point.x, "y": point.y, "button": button, "buttons": buttons, "clickCount": clicks,
        });
        self.tab.command(self.budget, "Input.dispatchMouseEvent", params).await.map(drop)
    }

    async fn click(&self, target: &Target, clicks: u32) -> Result<(), DriverError> {
        let point = self.point(target)?;
        self.mouse("mouseMoved", point, 0).await?;
        self.mouse("mousePressed", point, clicks).await?;
        self.mouse("mouseReleased", point, clicks).await
    }

    async fn long_press(&self, target: &Target) -> Result<(), DriverError> {
        let point = self.point(target)?;
        self.mouse("mouseMoved", point, 0).await?;
        self.mouse("mousePressed", point, 1).await?;
        let held = self.budget.run("the press to last", tokio::time::sleep(LONG_PRESS)).await;
        self.mouse("mouseReleased", point, 1).await?;
        held
    }

    fn point(&self, target: &Target) -> Result<Point, DriverError> {
        target.point().ok_or_else(|| DriverError::Refused { reason: "there is nothing to touch".to_string() })
    }

    /// Gives the focus to an element, as a click does.
    async fn focus(&self, target: &Target) -> Result<(), DriverError> {
        match target {
            Target::Device => Ok(()),
            _ => self.click(target, 1).await,
        }
    }

    async fn insert(&self, text: &str) -> Result<(), DriverError> {
        self.tab.command(self.budget, "Input.insertText", json!({"text": text})).await.map(drop)
    }

    /// Empties the field that has the focus.
    async fn clear(&self) -> Result<(), DriverError> {
        let length = self.tab.ask(self.budget, "trailblaze.selectAll()").await?;
        if length.as_u64() == Some(0) {
            return Ok(());
        }
        self.key("Backspace", 8, None).await
    }

    async fn key(&self, key: &str, code: u32, text: Option<&str>) -> Result<(), DriverError> {
        let mut down = json!({"type": "rawKeyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if let Some(text) = text {
            down["type"] = "keyDown".into();
            down["text"] = text.into();
        }
        self.tab.command(self.budget, "Input.dispatchKeyEvent", down).await?;
        let up = json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code});
        self.tab.command(self.budget, "Input.dispatchKeyEvent", up).await.map(drop)
    }

    async fn press(&self, key: Key) -> Result<(), DriverError> {
        match key {
            Key::Enter => self.key("Enter", 13, Some("\r")).await,
            Key::Tab => self.key("Tab", 9, None).await,
            Key::Escape => self.key("Escape", 27, None).await,
            Key::Backspace => self.key("Backspace", 8, None).await,
            Key::Back => self.back().await,
            Key::Home => Err(DriverError::Unsupported { action: "pressKey HOME".to_string(), platform: Platform::Web }),
        }
    }

    async fn back(&self) -> Result<(), DriverError> {
        let history = self.tab.command(self.budget, "Page.getNavigationHistory", json!({})).await?;
        let current = history.get("currentIndex").and_then(Value::as_u64).unwrap_or(0);
        let Some(earlier) = current.checked_sub(1) else {
            return Err(DriverError::Refused { reason: "there is no earlier page to go back to".to_string() });
        };
        let entry = history.pointer(&format!("/entries/{earlier}/id")).cloned().unwrap_or_default();
        self.tab.expect_document();
        self.tab.command(self.budget, "Page.navigateToHistoryEntry", json!({"entryId": entry})).await.map(drop)
    }

    async fn wheel(&self, at: Point, dx: i64, dy: i64) -> Result<(), DriverError> {
        let params = json!({"type": "mouseWheel", "x": at.x, "y": at.y, "deltaX": dx, "deltaY": dy});
        self.tab.command(self.budget, "Input.dispatchMouseEvent", params).await.map(drop)
    }

    async fn scroll(&self, target: &Target, direction: Direction, amount: Option<u32>) -> Result<(), DriverError> {
        let size = self.tab.ask(self.budget, "[innerWidth, innerHeight]").await?;
        let side = |index: usize| size.get(index).and_then(Value::as_i64).unwrap_or(600);
        let (width, height) = (side(0), side(1));
        let at = target
            .point()
            .unwrap_or(Point { x: i32::try_from(width / 2).unwrap_or(0), y: i32::try_from(height / 2).unwrap_or(0) });
        let by = |whole: i64| amount.map_or(whole * 8 / 10, i64::from);
        let (dx, dy) = match direction {
            Direction::Down => (0, by(height)),
            Direction::Up => (0, -by(height)),
            Direction::Right => (by(width), 0),
            Direction::Left => (-by(width), 0),
        };
        self.wheel(at, dx, dy).await
    }

    async fn go(&self, url: &str) -> Result<(), DriverError> {
        if !url.contains(':') {
            let reason = format!("`{url}` is no address; it needs a scheme, such as https://{url}");
            return Err(DriverError::Refused { reason });
        }
        self.tab.expect_document();
        let answer = self.tab.command(self.budget, "Page.navigate", json!({"url": url})).await;
        let failed = match &answer {
            Ok(answer) => answer.get("errorText").and_then(Value::as_str).map(str::to_string),
            Err(DriverError::Refused { reason }) => Some(reason.clone()),
            Err(_) => None,
        };
        if let Some(why) = failed {
            return Err(DriverError::Refused { reason: format!("cannot open `{url}`: {why}") });
        }
        answer?;
        self.tab.settle(self.budget).await
    }

    /// Cookies and storage of the app's origin.
    async fn forget(&self, app: &str) -> Result<(), DriverError> {
        self.tab.command(self.budget, "Network.clearBrowserCookies", json!({})).await?;
        let origin = origin(app);
        if origin.starts_with("http") {
            let params = json!({"origin": origin, "storageTypes": "all"});
            self.tab.command(self.budget, "Storage.clearDataForOrigin", params).await?;
        }
        Ok(())
    }
}

/// `https://a.example:8080` of an address beneath it.
fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    &url[..end]
}
