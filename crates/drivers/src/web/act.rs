//! Touching, typing and going places, with the events that a user's own hands would cause.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{Acted, Action, Budget, Direction, DriverError, Key, LaunchMode, Target};
use trailblaze_core::query::Found;
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Point;

use super::browse::{browse, start_over};
use super::keys::Chord;
use super::page::Page;

/// How long a long press lasts.
const LONG_PRESS: Duration = Duration::from_millis(600);
/// How long a server may take to answer with a document.
const OPENING: Duration = Duration::from_secs(15);
/// How many moves a drag is made of.
const MOVES: i32 = 8;
/// How long a page may take to open its file chooser, or a browser to begin a drag.
const BEGINNING: Duration = Duration::from_secs(5);

pub async fn act(
    page: &Page,
    budget: &Budget,
    (target, action): (&Target, &Action),
    clipboard: &Mutex<String>,
) -> Result<Acted, DriverError> {
    let hands = Hands { page, budget };
    let clipboard = || clipboard.lock().unwrap_or_else(PoisonError::into_inner);
    page.touch();
    match action {
        Action::Tap => hands.click(target, "left", 1).await?,
        Action::SecondaryTap => hands.click(target, "right", 1).await?,
        Action::DoubleTap => hands.click(target, "left", 2).await?,
        Action::LongPress => hands.long_press(target).await?,
        Action::Hover => hands.hover(target).await?,
        Action::DragTo { to } => hands.drag(target, to).await?,
        Action::InputText { text } => {
            if !matches!(target, Target::Device) {
                hands.click(target, "left", 1).await?;
            }
            hands.type_text(text).await?;
        }
        Action::SetText { text } => hands.fill(target, text).await?,
        Action::EraseText { count: None } => hands.clear().await?,
        Action::EraseText { count: Some(count) } => {
            let backspace = Chord::of("Backspace");
            hands.keys(backspace.events().into_iter().cycle().take(*count as usize * 2)).await?;
        }
        Action::PressKey { key } => hands.press(*key).await?,
        Action::PressChord { chord } => {
            let chord = Chord::parse(chord).map_err(|reason| DriverError::Refused { reason })?;
            hands.keys(chord.events()).await?;
        }
        Action::Choose { values } => return hands.choose(target, values).await,
        Action::SetChecked { checked } => hands.set_checked(target, *checked).await?,
        Action::Upload { files } => hands.upload(target, files).await?,
        Action::Attribute { name } => {
            let node = element(target)?.node;
            let value: Value =
                page.ask_about(budget, node, |id| format!("trailblaze.attribute({id}, {})", json!(name))).await?;
            return Ok(Acted {
                text: value.as_str().unwrap_or_default().to_string(),
                value: Some(value),
                ..Acted::default()
            });
        }
        Action::HideKeyboard => {}
        Action::Swipe { from, to, .. } => hands.wheel(*from, (from.x - to.x).into(), (from.y - to.y).into()).await?,
        Action::Scroll { direction, amount } => hands.scroll(target, *direction, *amount).await?,
        Action::LaunchApp { app, mode } => {
            if *mode != LaunchMode::Resume {
                start_over(&hands).await?;
            }
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
            let conditions =
                json!({"offline": !connected, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
            page.command(budget, "Network.emulateNetworkConditions", conditions).await?;
        }
        Action::EvaluateJs { script } => {
            let value = page.evaluate(budget, script).await?;
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            return Ok(Acted { text, value: Some(value), ..Acted::default() });
        }
        Action::Browse(command) => return browse(&hands, command).await,
        Action::Pinch { .. } | Action::GrantPermission { .. } | Action::Shell { .. } | Action::ListApps => {
            return Err(DriverError::Unsupported { action: action.name().to_string(), platform: Platform::Web });
        }
    }
    Ok(Acted::default())
}

pub struct Hands<'a> {
    pub page: &'a Page,
    pub budget: &'a Budget,
}

impl Hands<'_> {
    /// Clicks, as often as asked. A click that would land on something else is called off in the page.
    async fn click(&self, target: &Target, button: &str, clicks: u32) -> Result<(), DriverError> {
        let point = self.aim(target).await?;
        let mut events = vec![mouse("mouseMoved", point, ("none", 0), 0)];
        for count in 1..=clicks {
            events.push(mouse("mousePressed", point, (button, held(button)), count));
            events.push(mouse("mouseReleased", point, (button, 0), count));
        }
        self.mouse(events).await?;
        self.check_landed(target, true).await
    }

    async fn mouse(&self, events: Vec<Value>) -> Result<(), DriverError> {
        let all = events.into_iter().map(|event| ("Input.dispatchMouseEvent", event)).collect();
        self.page.commands(self.budget, all).await
    }

    async fn check_landed(&self, target: &Target, is_pressed: bool) -> Result<(), DriverError> {
        let Target::Element(found) = target else { return Ok(()) };
        match self.page.landed(self.budget, found.node, is_pressed).await? {
            Some(how) => Err(DriverError::Evaded { how }),
            None => Ok(()),
        }
    }

    /// Where to touch. Whoever touches a point means whatever is there.
    async fn aim(&self, target: &Target) -> Result<Point, DriverError> {
        if matches!(target, Target::Point(_)) {
            self.page.ask(self.budget, "trailblaze.landed()").await?;
        }
        target.point().ok_or_else(|| DriverError::Refused { reason: "there is nothing to touch".to_string() })
    }

    async fn long_press(&self, target: &Target) -> Result<(), DriverError> {
        let point = self.aim(target).await?;
        self.mouse(vec![mouse("mouseMoved", point, ("none", 0), 0), mouse("mousePressed", point, ("left", 1), 1)])
            .await?;
        let lasted = self.budget.run("the press to last", tokio::time::sleep(LONG_PRESS)).await;
        self.mouse(vec![mouse("mouseReleased", point, ("left", 0), 1)]).await?;
        lasted?;
        self.check_landed(target, true).await
    }

    async fn hover(&self, target: &Target) -> Result<(), DriverError> {
        let point = self.aim(target).await?;
        self.mouse(vec![mouse("mouseMoved", point, ("none", 0), 0)]).await?;
        // Nothing is pressed, so nothing can miss.
        self.check_landed(target, false).await
    }

    /// Drags with the mouse; where the page makes a drag of the browser's own of it, with that.
    async fn drag(&self, target: &Target, to: &Found) -> Result<(), DriverError> {
        self.page.shared.state().drag = None;
        self.page.command(self.budget, "Input.setInterceptDrags", json!({"enabled": true})).await?;
        let dragged = self.drag_intercepted(target, to).await;
        let off = self.page.command(self.budget, "Input.setInterceptDrags", json!({"enabled": false})).await;
        dragged.and(off.map(drop))
    }

    async fn drag_intercepted(&self, target: &Target, to: &Found) -> Result<(), DriverError> {
        let from = self.aim(target).await?;
        self.mouse(vec![mouse("mouseMoved", from, ("none", 0), 0), mouse("mousePressed", from, ("left", 1), 1)])
            .await?;
        self.check_landed(target, true).await?;
        // The page may have been scrolled to show the second; it is looked up where it is now.
        let there = self.page.ready(self.budget, to.node).await?;
        let end = if there.why.is_none() { there.point() } else { to.point };
        let between =
            |n: i32| Point { x: from.x + (end.x - from.x) * n / MOVES, y: from.y + (end.y - from.y) * n / MOVES };
        let moves = (1..=MOVES).map(|n| mouse("mouseMoved", between(n), ("left", 1), 0)).collect();
        self.mouse(moves).await?;
        if self.page.ask(self.budget, "trailblaze.dragged()").await? == Value::Bool(true) {
            let until = self.budget.deadline.min(Instant::now() + BEGINNING);
            self.page.wait(self.budget, until, |state| state.drag.is_some()).await?;
        }
        let data = self.page.shared.state().drag.take();
        if let Some(data) = data {
            for kind in ["dragEnter", "dragOver", "drop"] {
                let event = json!({"type": kind, "x": end.x, "y": end.y, "data": data});
                self.page.command(self.budget, "Input.dispatchDragEvent", event).await?;
            }
        }
        self.mouse(vec![mouse("mouseReleased", end, ("left", 0), 1)]).await?;
        // It was the end of the drag, not a touch of its own.
        self.page.landed(self.budget, to.node, false).await.map(drop)
    }

    /// Types key by key; what no key types is inserted.
    async fn type_text(&self, text: &str) -> Result<(), DriverError> {
        let mut events = Vec::new();
        for sign in text.chars() {
            match Chord::typing(sign) {
                Some(chord) => events.extend(chord.events().into_iter().map(|event| ("Input.dispatchKeyEvent", event))),
                None => events.push(("Input.insertText", json!({"text": sign.to_string()}))),
            }
        }
        for part in events.chunks(100) {
            self.page.commands(self.budget, part.to_vec()).await?;
        }
        Ok(())
    }

    /// Replaces the text of a field as a whole.
    async fn fill(&self, target: &Target, text: &str) -> Result<(), DriverError> {
        let Target::Element(found) = target else {
            self.clear().await?;
            return self.insert(text).await;
        };
        let refuse =
            |why: String| DriverError::Refused { reason: format!("{} cannot be filled: {why}", found.summary) };
        let node = found.node;
        let taken: Value =
            self.page.ask_about(self.budget, node, |id| format!("trailblaze.take({id}, {})", json!(text))).await?;
        if let Some(why) = taken.get("why").and_then(Value::as_str) {
            return Err(refuse(why.to_string()));
        }
        if taken.get("isSet").is_some() {
            return Ok(());
        }
        match text.is_empty() {
            true => self.keys(Chord::of("Delete").events()).await,
            false => self.insert(text).await,
        }
    }

    async fn insert(&self, text: &str) -> Result<(), DriverError> {
        self.page.command(self.budget, "Input.insertText", json!({"text": text})).await.map(drop)
    }

    /// Empties the field that has the focus, in whichever frame it is.
    async fn clear(&self) -> Result<(), DriverError> {
        let mut length = self.page.ask(self.budget, "trailblaze.selectAll()").await?;
        let mut number = 0;
        while let Some(owner) = length.get("frame").and_then(Value::as_u64) {
            let Some(inner) = self.page.frame_held_by(number, owner) else { break };
            number = inner;
            length = self
                .page
                .ask_about(self.budget, super::look::node_id(number, 0), |_| "trailblaze.selectAll()".to_string())
                .await?;
        }
        match length.as_u64() {
            Some(0) | None => Ok(()),
            Some(_) => self.keys(Chord::of("Backspace").events()).await,
        }
    }

    async fn keys(&self, events: impl IntoIterator<Item = Value>) -> Result<(), DriverError> {
        let all = events.into_iter().map(|event| ("Input.dispatchKeyEvent", event)).collect();
        self.page.commands(self.budget, all).await
    }

    async fn press(&self, key: Key) -> Result<(), DriverError> {
        let name = match key {
            Key::Enter => "Enter",
            Key::Tab => "Tab",
            Key::Escape => "Escape",
            Key::Backspace => "Backspace",
            Key::Back => return super::browse::travel(self, -1).await,
            Key::Home => {
                let action = "pressKey HOME".to_string();
                return Err(DriverError::Unsupported { action, platform: Platform::Web });
            }
        };
        self.keys(Chord::of(name).events()).await
    }

    async fn choose(&self, target: &Target, values: &[String]) -> Result<Acted, DriverError> {
        let found = element(target)?;
        let answer: Value = self
            .page
            .ask_about(self.budget, found.node, |id| format!("trailblaze.choose({id}, {})", json!(values)))
            .await?;
        match answer.get("why").and_then(Value::as_str) {
            Some(why) => Err(DriverError::Refused { reason: format!("cannot choose from {}: {why}", found.summary) }),
            None => Ok(Acted { text: String::new(), value: answer.get("chosen").cloned(), ..Acted::default() }),
        }
    }

    /// A click, unless it is so already.
    async fn set_checked(&self, target: &Target, checked: bool) -> Result<(), DriverError> {
        let found = element(target)?;
        let is_checked = || self.page.ask_about(self.budget, found.node, |id| format!("trailblaze.isChecked({id})"));
        if is_checked().await? == Some(checked) {
            return Ok(());
        }
        self.click(target, "left", 1).await?;
        let now: Option<bool> = is_checked().await?;
        match now {
            Some(now) if now != checked => {
                let what = if checked { "checked" } else { "unchecked" };
                Err(DriverError::Refused { reason: format!("{} does not let itself be {what}", found.summary) })
            }
            _ => Ok(()),
        }
    }

    /// Gives files to a field for them, or to the chooser that a click opens.
    async fn upload(&self, target: &Target, files: &[String]) -> Result<(), DriverError> {
        if let Some(missing) = files.iter().find(|file| !std::path::Path::new(file).is_file()) {
            return Err(DriverError::Refused { reason: format!("there is no file `{missing}`") });
        }
        let found = element(target)?;
        let (session, handle) = self.page.handle(self.budget, found.node).await?;
        let direct = json!({"files": files, "objectId": handle});
        let given = self.page.command_to(self.budget, &session, "DOM.setFileInputFiles", direct).await;
        let Err(DriverError::Refused { .. }) = given else {
            self.page.landed(self.budget, found.node, false).await?;
            return given.map(drop);
        };
        self.page.shared.state().chooser = None;
        let intercept = |enabled: bool| {
            let params = json!({"enabled": enabled});
            self.page.command(self.budget, "Page.setInterceptFileChooserDialog", params)
        };
        intercept(true).await?;
        let clicked = self.click(target, "left", 1).await;
        let until = self.budget.deadline.min(Instant::now() + BEGINNING);
        let opened = self.page.wait(self.budget, until, |state| state.chooser.is_some()).await;
        intercept(false).await?;
        clicked?;
        opened?;
        let chooser = self.page.shared.state().chooser.take();
        let node = chooser.and_then(|chooser| chooser.get("backendNodeId").cloned());
        let Some(node) = node else {
            let reason = format!("{} takes no files, and a click on it opens no file chooser", found.summary);
            return Err(DriverError::Refused { reason });
        };
        let params = json!({"files": files, "backendNodeId": node});
        self.page.command_to(self.budget, &session, "DOM.setFileInputFiles", params).await.map(drop)
    }

    async fn wheel(&self, at: Point, dx: i64, dy: i64) -> Result<(), DriverError> {
        let params = json!({"type": "mouseWheel", "x": at.x, "y": at.y, "deltaX": dx, "deltaY": dy});
        self.page.command(self.budget, "Input.dispatchMouseEvent", params).await.map(drop)
    }

    async fn scroll(&self, target: &Target, direction: Direction, amount: Option<u32>) -> Result<(), DriverError> {
        let area = match target {
            Target::Element(found) => {
                self.page.ask_about(self.budget, found.node, |id| format!("trailblaze.scroller({id})")).await?
            }
            _ => self.page.ask(self.budget, "trailblaze.scroller(0)").await?,
        };
        let side = |key: &str| area.get(key).and_then(Value::as_f64).unwrap_or(600.0);
        let middle = Point { x: side("x").round() as i32, y: side("y").round() as i32 };
        let at = target.point().unwrap_or(middle);
        let by = |whole: f64| amount.map_or((whole * 0.8) as i64, i64::from);
        let (dx, dy) = match direction {
            Direction::Down => (0, by(side("height"))),
            Direction::Up => (0, -by(side("height"))),
            Direction::Right => (by(side("width")), 0),
            Direction::Left => (-by(side("width")), 0),
        };
        self.wheel(at, dx, dy).await?;
        // It was aimed at, but not pressed.
        self.check_landed(target, false).await
    }

    pub async fn go(&self, url: &str) -> Result<(), DriverError> {
        if !url.contains(':') {
            let reason = format!("`{url}` is no address; it needs a scheme, such as https://{url}");
            return Err(DriverError::Refused { reason });
        }
        self.page.expect_document(true);
        let budget = Budget { deadline: self.budget.deadline.min(Instant::now() + OPENING), ..self.budget.clone() };
        let answer = self.page.command(&budget, "Page.navigate", json!({"url": url})).await;
        let failed = match &answer {
            Ok(answer) => answer.get("errorText").and_then(Value::as_str).map(str::to_string),
            Err(DriverError::Refused { reason }) => Some(reason.clone()),
            Err(DriverError::TimedOut { .. }) => {
                self.page.command(self.budget, "Page.stopLoading", json!({})).await?;
                Some(format!("nothing answered within {} s", OPENING.as_secs()))
            }
            Err(_) => None,
        };
        if let Some(why) = failed {
            // A download is no document, and no failure.
            self.page.expect_document(false);
            if why == "net::ERR_ABORTED" && !self.page.shared.state().downloads.is_empty() {
                return Ok(());
            }
            return Err(DriverError::Refused { reason: format!("cannot open `{url}`: {why}") });
        }
        if answer?.get("loaderId").is_none() {
            // Another place in the same document.
            self.page.expect_document(false);
        }
        self.page.settle(self.budget).await
    }

    /// Cookies and storage of the app's origin.
    async fn forget(&self, app: &str) -> Result<(), DriverError> {
        self.page.command(self.budget, "Network.clearBrowserCookies", json!({})).await?;
        let origin = origin(app);
        if origin.starts_with("http") {
            let params = json!({"origin": origin, "storageTypes": "all"});
            self.page.command(self.budget, "Storage.clearDataForOrigin", params).await?;
        }
        Ok(())
    }
}

fn element(target: &Target) -> Result<&Found, DriverError> {
    match target {
        Target::Element(found) => Ok(found),
        _ => Err(DriverError::Refused { reason: "it needs an element".to_string() }),
    }
}

fn held(button: &str) -> u32 {
    if button == "right" { 2 } else { 1 }
}

fn mouse(kind: &str, point: Point, (button, buttons): (&str, u32), clicks: u32) -> Value {
    json!({"type": kind, "x": point.x, "y": point.y, "button": button, "buttons": buttons, "clickCount": clicks})
}

/// `https://a.example:8080` of an address beneath it.
fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find('/').map_or(url.len(), |at| start + at);
    &url[..end]
}
