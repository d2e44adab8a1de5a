//! Plays the person in front of a browser: real input through a second DevTools connection.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use trailblaze_drivers::web::{Browser, BrowserOptions};
use trailblaze_supervise::Supervisor;

use super::{PATIENCE, PROGRAM};

/// The recorder has reached a document: it watches how pages use their history.
const IS_RECORDED: &str = "!/native code/.test(History.prototype.back)";

/// How long input may go unanswered, by a tab that it closed.
const ANSWER: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub struct Hand {
    browser: Arc<Browser>,
}

/// A port that no other program listens on.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}

/// Input right after an action of the driver counts as the driver's. Call this when the action has ended: then it is a matter of time,
/// whatever the machine does.
pub async fn after_the_driver() {
    sleep(Duration::from_millis(300)).await;
}

impl Hand {
    /// Connects to a browser that was started with `--remote-debugging-port`.
    pub async fn connect(port: u16) -> Hand {
        let address = format!("http://127.0.0.1:{port}");
        let options = BrowserOptions { attach: Some(address), ..BrowserOptions::default() };
        let supervisor = Supervisor::with_guardian(PROGRAM);
        let deadline = Instant::now() + PATIENCE;
        loop {
            match Browser::start(&options, &supervisor).await {
                Ok(browser) => return Hand { browser: Arc::new(browser) },
                Err(error) => assert!(Instant::now() < deadline, "{error}"),
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    pub async fn call(&self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.browser.cdp.call(session, method, params).await.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The tab whose address contains a text, once there is one.
    pub async fn tab(&self, address: &str) -> Tab {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let targets = self.call(None, "Target.getTargets", json!({})).await;
            let all = targets["targetInfos"].as_array().cloned().unwrap_or_default();
            let is_it =
                |info: &&Value| info["type"] == "page" && info["url"].as_str().is_some_and(|url| url.contains(address));
            if let Some(found) = all.iter().find(is_it) {
                let target = found["targetId"].as_str().unwrap_or_default().to_string();
                let params = json!({"targetId": target, "flatten": true});
                let attached = self.call(None, "Target.attachToTarget", params).await;
                let session = attached["sessionId"].as_str().unwrap_or_default().to_string();
                return Tab { hand: self.clone(), session, target };
            }
            assert!(Instant::now() < deadline, "no tab shows {address}: {all:?}");
            sleep(Duration::from_millis(30)).await;
        }
    }

    /// The same, once what is done in the tab is recorded.
    pub async fn recorded_tab(&self, address: &str) -> Tab {
        let tab = self.tab(address).await;
        tab.until(IS_RECORDED).await;
        tab
    }
}

pub struct Tab {
    hand: Hand,
    pub session: String,
    pub target: String,
}

impl Tab {
    pub async fn call(&self, method: &str, params: Value) -> Value {
        self.hand.call(Some(&self.session), method, params).await
    }

    /// Whether the tab answers a command without an error.
    pub async fn answers(&self, method: &str, params: Value) -> bool {
        self.hand.browser.cdp.call(Some(&self.session), method, params).await.is_ok()
    }

    pub async fn script(&self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params).await;
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true. While the tab goes to another page, there is no answer.
    pub async fn until(&self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let params = json!({"expression": format!("Boolean({expression})"), "returnByValue": true});
            let answer = self.hand.browser.cdp.call(Some(&self.session), "Runtime.evaluate", params).await;
            if answer.is_ok_and(|answer| answer["result"]["value"] == true) {
                return;
            }
            assert!(Instant::now() < deadline, "it never was: {expression}");
            sleep(Duration::from_millis(30)).await;
        }
    }

    /// Waits until a page with this heading is loaded.
    pub async fn shows(&self, heading: &str) {
        let heading = json!(heading);
        self.until(&format!(
            "document.readyState === 'complete' && document.querySelector('h1')?.textContent === {heading}"
        ))
        .await;
    }

    /// The middle of an element, scrolled into view. `frame` is a selector of the frame that it is in.
    async fn middle(&self, frame: Option<&str>, css: &str) -> (f64, f64) {
        let (outer, document) = match frame {
            None => ("{left: 0, top: 0}".to_string(), "document".to_string()),
            Some(frame) => {
                let frame = format!("document.querySelector({})", json!(frame));
                (format!("{frame}.getBoundingClientRect()"), format!("{frame}.contentDocument"))
            }
        };
        self.until(&format!("{document}?.querySelector({})", json!(css))).await;
        let place = format!(
            "(() => {{ const e = {document}.querySelector({}); e.scrollIntoView({{block: 'center'}}); const outer = {outer}; \
             const box = e.getBoundingClientRect(); \
             return [outer.left + (box.left + box.right) / 2, outer.top + (box.top + box.bottom) / 2]; }})()",
            json!(css)
        );
        let place = self.script(&place).await;
        let number = |index: usize| place[index].as_f64().unwrap_or_else(|| panic!("{css} is nowhere: {place}"));
        (number(0), number(1))
    }

    pub async fn click(&self, css: &str) {
        self.click_with(None, css, ("left", 1)).await;
    }

    pub async fn click_in(&self, frame: &str, css: &str) {
        self.click_with(Some(frame), css, ("left", 1)).await;
    }

    pub async fn click_with(&self, frame: Option<&str>, css: &str, (button, count): (&str, u32)) {
        let at = self.middle(frame, css).await;
        self.click_at(at, (button, count)).await;
    }

    pub async fn click_at(&self, (x, y): (f64, f64), (button, count): (&str, u32)) {
        let event = |kind: &str, button: &str, count: u32| json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": count});
        self.mouse(event("mouseMoved", "none", 0)).await;
        // Sent at once: on a slow machine, two clicks would be too far apart for a double click.
        let clicks =
            (1..=count).flat_map(|count| ["mousePressed", "mouseReleased"].map(|kind| event(kind, button, count)));
        futures::future::join_all(clicks.map(|event| self.mouse(event))).await;
    }

    pub async fn hover(&self, css: &str) {
        let (x, y) = self.middle(None, css).await;
        self.mouse(json!({"type": "mouseMoved", "x": x, "y": y, "button": "none"})).await;
    }

    /// Presses an element, and moves to the right before it lets go.
    pub async fn slide(&self, css: &str, by: f64) {
        let (x, y) = self.middle(None, css).await;
        let mouse =
            |kind: &str, x: f64, button: &str| json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1});
        self.mouse(mouse("mouseMoved", x, "none")).await;
        self.mouse(mouse("mousePressed", x, "left")).await;
        self.mouse(mouse("mouseMoved", x + by, "left")).await;
        self.mouse(mouse("mouseReleased", x + by, "left")).await;
    }

    /// Presses a place in an element, in pixels from its middle, and moves in several steps before it lets go.
    pub async fn drag_by(&self, css: &str, from: (f64, f64), by: (f64, f64)) {
        let (x, y) = self.middle(None, css).await;
        let mouse = |kind: &str, part: f64, button: &str| {
            let (x, y) = (x + from.0 + by.0 * part, y + from.1 + by.1 * part);
            json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1})
        };
        self.mouse(mouse("mouseMoved", 0.0, "none")).await;
        self.mouse(mouse("mousePressed", 0.0, "left")).await;
        for part in [0.2, 0.4, 0.6, 0.8, 1.0] {
            self.mouse(mouse("mouseMoved", part, "left")).await;
        }
        self.mouse(mouse("mouseReleased", 1.0, "left")).await;
    }

    /// Turns the wheel over an element.
    pub async fn wheel(&self, css: &str, down: f64, times: usize) {
        let (x, y) = self.middle(None, css).await;
        self.mouse(json!({"type": "mouseMoved", "x": x, "y": y, "button": "none"})).await;
        for _ in 0..times {
            self.mouse(json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": down})).await;
        }
    }

    /// Chooses a file, as in the window that a file field opens.
    pub async fn choose_file(&self, css: &str, path: &str) {
        let params = json!({"expression": format!("document.querySelector({})", json!(css))});
        let field = self.call("Runtime.evaluate", params).await;
        let params = json!({"objectId": field["result"]["objectId"], "files": [path]});
        self.call("DOM.setFileInputFiles", params).await;
    }

    /// Presses a button of the bar that shows what is recorded. The page cannot reach it; DevTools can.
    pub async fn press_in_bar(&self, name: &str) {
        let deadline = Instant::now() + PATIENCE;
        let at = loop {
            match self.place_in_bar(name).await {
                Some(at) => break at,
                None => assert!(Instant::now() < deadline, "the bar has no `{name}`"),
            }
            sleep(Duration::from_millis(30)).await;
        };
        self.click_at(at, ("left", 1)).await;
    }

    async fn place_in_bar(&self, name: &str) -> Option<(f64, f64)> {
        let node = self.node_in_bar(name).await?;
        let params = json!({"backendNodeId": node["backendNodeId"]});
        let model = self.hand.browser.cdp.call(Some(&self.session), "DOM.getBoxModel", params).await.ok()?;
        let number = |at: usize| model.pointer(&format!("/model/content/{at}"))?.as_f64();
        Some(((number(0)? + number(2)?) / 2.0, (number(1)? + number(5)?) / 2.0))
    }

    /// What the bar says.
    pub async fn text_in_bar(&self) -> String {
        let node = self.node_in_bar("words").await.unwrap_or_default();
        node.pointer("/children/0/nodeValue").and_then(Value::as_str).unwrap_or_default().to_string()
    }

    async fn node_in_bar(&self, name: &str) -> Option<Value> {
        let document = self.call("DOM.getDocument", json!({"depth": -1, "pierce": true})).await;
        let mut left = vec![document["root"].clone()];
        while let Some(node) = left.pop() {
            let attributes = node["attributes"].as_array().cloned().unwrap_or_default();
            if attributes.chunks(2).any(|pair| pair[0] == "data-name" && pair[1] == name) {
                return Some(node);
            }
            for children in ["children", "shadowRoots"] {
                left.extend(node[children].as_array().cloned().unwrap_or_default());
            }
        }
        None
    }

    /// Drags an element that is `draggable` onto another.
    pub async fn drag(&self, from: &str, onto: &str) {
        let (start, end) = (self.middle(None, from).await, self.middle(None, onto).await);
        self.call("Input.setInterceptDrags", json!({"enabled": true})).await;
        let mouse = |kind: &str, (x, y): (f64, f64), button: &str| json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1});
        self.mouse(mouse("mouseMoved", start, "none")).await;
        self.mouse(mouse("mousePressed", start, "left")).await;
        for part in [0.2, 0.6, 1.0] {
            let at = (start.0 + (end.0 - start.0) * part, start.1 + (end.1 - start.1) * part);
            self.mouse(mouse("mouseMoved", at, "left")).await;
        }
        let data = json!({"items": [{"mimeType": "text/plain", "data": from}], "dragOperationsMask": 1});
        for kind in ["dragEnter", "dragOver", "drop"] {
            let event = json!({"type": kind, "x": end.0, "y": end.1, "data": data});
            self.call("Input.dispatchDragEvent", event).await;
        }
        self.mouse(mouse("mouseReleased", end, "left")).await;
        self.call("Input.setInterceptDrags", json!({"enabled": false})).await;
    }

    /// A tab that goes away because of the input does not answer.
    async fn mouse(&self, event: Value) {
        let call = self.hand.browser.cdp.call(Some(&self.session), "Input.dispatchMouseEvent", event);
        let _ = tokio::time::timeout(ANSWER, call).await;
    }

    pub async fn type_text(&self, text: &str) {
        for sign in text.chars() {
            let text = sign.to_string();
            for kind in ["keyDown", "keyUp"] {
                let mut event = json!({"type": kind, "key": text});
                if kind == "keyDown" {
                    event["text"] = text.as_str().into();
                }
                self.call("Input.dispatchKeyEvent", event).await;
            }
        }
    }

    pub async fn press(&self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && key == "Enter" {
                event["text"] = "\r".into();
            }
            let call = self.hand.browser.cdp.call(Some(&self.session), "Input.dispatchKeyEvent", event);
            let _ = tokio::time::timeout(ANSWER, call).await;
        }
    }

    pub async fn press_with_control(&self, key: &str) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "modifiers": 2});
            self.call("Input.dispatchKeyEvent", event).await;
        }
    }
}

impl Tab {
    /// The middle of an element, found through frames: selectors of the frames from the outside, then of the element.
    async fn middle_through(&self, path: &[&str], scroll: &str) -> (f64, f64) {
        let (mut session, mut context) = (self.session.clone(), None);
        let (mut x, mut y) = (0.0, 0.0);
        for (depth, css) in path.iter().enumerate() {
            let is_last = depth + 1 == path.len();
            // A world of ours does not see what the recorder does; its document is recorded with the one around it.
            let recorded = if context.is_none() { IS_RECORDED } else { "true" };
            let place = format!(
                "(() => {{ const e = document.querySelector({}); if (!e || !({recorded})) return null; {scroll}; const box = \
                 e.getBoundingClientRect(); return {is_last} ? [(box.left + box.right) / 2, (box.top + box.bottom) / 2] : \
                 [box.left + e.clientLeft, box.top + e.clientTop]; }})()",
                json!(css)
            );
            let deadline = Instant::now() + PATIENCE;
            let found = loop {
                let mut params = json!({"expression": place, "returnByValue": true});
                if let Some(context) = &context {
                    params["contextId"] = Value::clone(context);
                }
                let answer = self.hand.call(Some(&session), "Runtime.evaluate", params).await;
                let found = answer["result"]["value"].clone();
                if !found.is_null() {
                    break found;
                }
                assert!(Instant::now() < deadline, "{css} is nowhere");
                sleep(Duration::from_millis(30)).await;
            };
            x += found[0].as_f64().expect("a number");
            y += found[1].as_f64().expect("a number");
            if !is_last {
                (session, context) = self.world(&session, context.as_ref(), css).await;
            }
        }
        (x, y)
    }

    /// A world in the frame that an element contains.
    async fn world(&self, session: &str, context: Option<&Value>, css: &str) -> (String, Option<Value>) {
        let mut params = json!({"expression": format!("document.querySelector({})", json!(css))});
        if let Some(context) = context {
            params["contextId"] = context.clone();
        }
        let element = self.hand.call(Some(session), "Runtime.evaluate", params).await;
        let params = json!({"objectId": element["result"]["objectId"]});
        let node = self.hand.call(Some(session), "DOM.describeNode", params).await;
        let frame = node["node"]["frameId"].clone();
        let params = json!({"frameId": frame, "worldName": "hand"});
        let made = self.hand.browser.cdp.call(Some(session), "Page.createIsolatedWorld", params).await;
        match made {
            Ok(made) => (session.to_string(), Some(made["executionContextId"].clone())),
            // It is in another process, where its target has the same id.
            Err(_) => {
                let params = json!({"targetId": frame, "flatten": true});
                let attached = self.hand.call(None, "Target.attachToTarget", params).await;
                (attached["sessionId"].as_str().unwrap_or_default().to_string(), None)
            }
        }
    }

    pub async fn click_through(&self, path: &[&str]) {
        self.middle_through(path, "e.scrollIntoView({block: 'center', behavior: 'instant'})").await;
        // Frames in other processes know where they are only after they were drawn.
        sleep(Duration::from_millis(150)).await;
        let at = self.middle_through(path, "").await;
        self.click_at(at, ("left", 1)).await;
    }
}
