//! A web view of the app in front: its page is that of a real Chromium behind a socket that the test provides. It can be inspected as that of
//! a debug build, and a finger or a key on it reaches the page. No web view of Android takes part.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener as StdListener};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::driver::Key;
use trailblaze_drivers::web::{InspectablePage, InspectedPage};
use trailblaze_protocol::geometry::{Point, Rect};

use crate::hierarchy::DumpedView;

/// Where the test passes connections on to a browser, in the folder that the phone shares with it.
pub const BROWSER: &str = "devtools";

pub struct ShownWebView {
    area: Rect,
    page: InspectedPage,
    /// How many pixels of the screen one of the page has.
    scale: f64,
    has_focus: Mutex<bool>,
    _passing_on: AbortOnDropHandle<()>,
}

impl ShownWebView {
    pub async fn show(area: Rect, pid: u32) -> io::Result<ShownWebView> {
        let listener =
            StdListener::bind_addr(&SocketAddr::from_abstract_name(format!("webview_devtools_remote_{pid}"))?)?;
        listener.set_nonblocking(true)?;
        let passing_on = AbortOnDropHandle::new(tokio::spawn(pass_on(UnixListener::from_std(listener)?)));
        let listed = InspectablePage::list(browser().await?).await.map_err(io::Error::other)?;
        let page = listed.first().ok_or_else(|| io::Error::other("the browser has no page"))?;
        let page = InspectedPage::open(browser().await?, &page.id).await.map_err(io::Error::other)?;
        let width =
            page.call("Runtime.evaluate", json!({"expression": "innerWidth"})).await.map_err(io::Error::other)?;
        let width = width.pointer("/result/value").and_then(Value::as_f64).unwrap_or(1.0);
        let scale = f64::from(area.width()) / width;
        Ok(ShownWebView { area, page, scale, has_focus: Mutex::new(false), _passing_on: passing_on })
    }

    /// As an app that nothing has asked about its page yet is dumped: without the page.
    pub fn view(&self, package: &str) -> DumpedView {
        DumpedView::new("android.webkit.WebView", package, self.area)
    }

    /// Whether it takes the finger.
    pub async fn tap(&self, point: Point) -> bool {
        let is_hit = self.area.contains(point);
        *self.has_focus.lock() = is_hit;
        if is_hit {
            let of_page = |value: i32, start: i32| f64::from(value - start) / self.scale;
            let (x, y) = (of_page(point.x, self.area.left), of_page(point.y, self.area.top));
            for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
                let button = if kind == "mouseMoved" { "none" } else { "left" };
                let event = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1});
                let _ = self.page.call("Input.dispatchMouseEvent", event).await;
            }
        }
        is_hit
    }

    /// Whether it takes the text.
    pub async fn type_text(&self, text: &str) -> bool {
        let has_focus = *self.has_focus.lock();
        if has_focus {
            let _ = self.page.call("Input.insertText", json!({"text": text})).await;
        }
        has_focus
    }

    /// Whether it takes the key.
    pub async fn press(&self, key: Key) -> bool {
        let (name, code) = match key {
            Key::Backspace => ("Backspace", 8),
            Key::Tab => ("Tab", 9),
            Key::Enter => ("Enter", 13),
            _ => return false,
        };
        let has_focus = *self.has_focus.lock();
        if has_focus {
            for kind in ["keyDown", "keyUp"] {
                let event = json!({"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code});
                let _ = self.page.call("Input.dispatchKeyEvent", event).await;
            }
        }
        has_focus
    }
}

async fn browser() -> io::Result<UnixStream> {
    UnixStream::connect(format!("/dev/socket/{BROWSER}")).await
}

async fn pass_on(listener: UnixListener) {
    while let Ok((mut inspector, _)) = listener.accept().await {
        // Detached: ends when either end of the connection does.
        tokio::spawn(async move {
            let mut page = browser().await?;
            tokio::io::copy_bidirectional(&mut inspector, &mut page).await
        });
    }
}
