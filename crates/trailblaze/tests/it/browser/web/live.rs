//! A device that someone watches: pictures as they change, and requests.

use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Browse, Budget, DeviceCommand, Driver, ScreenFrame};
use trailblaze_drivers::web::{BrowserOptions, Browsers, InitialState, Web, web_device};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;
use trailblaze_supervise::Supervisor;

use crate::browser::web::shop::Shop;
use crate::support::{PATIENCE, chromium};

const RED: [i64; 3] = [255, 0, 0];
const BLUE: [i64; 3] = [0, 0, 255];
const TEAL: [i64; 3] = [0, 128, 128];

/// A device without an engine.
pub struct Bare {
    pub web: Web,
    browsers: Arc<Browsers>,
    shop: Shop,
}

impl Bare {
    /// On the browser that tests share, or on its own with these arguments. `None` where there is no Chromium.
    pub fn open(args: &[&str]) -> Option<Bare> {
        let shop = Shop::open("")?;
        let owner = std::fs::metadata(shop.project.root()).expect("a folder").uid();
        let options = BrowserOptions {
            path: std::env::var_os("PATH").unwrap_or_default(),
            is_root: owner == 0,
            args: args.iter().map(ToString::to_string).collect(),
            attach: args.is_empty().then(|| chromium::shared().expect("Chromium was found").to_string()),
            ..BrowserOptions::default()
        };
        let supervisor = Supervisor::with_guardian(env!("CARGO_BIN_EXE_trailblaze"));
        let browsers = Browsers::new(options, supervisor);
        let device = web_device(DeviceId::new("web/bare"), None, &[], InitialState::default());
        let web = Web::new(&device, Arc::clone(&browsers));
        Some(Bare { web, browsers, shop })
    }

    /// Writes a page and returns its address.
    pub fn page(&self, name: &str, html: &str) -> String {
        self.shop.project.write(name, html);
        format!("file://{}/{name}", self.shop.project.root().display())
    }

    pub async fn send(&self, command: DeviceCommand) {
        command.carry_out(&self.web, &budget()).await.expect("it is done");
    }

    pub async fn show(&self, html: &str) {
        let url = self.page("page.html", html);
        self.send(DeviceCommand::OpenUrl { url }).await;
    }

    pub async fn script(&self, script: &str) {
        self.send(DeviceCommand::EvaluateJs { script: script.to_string() }).await;
    }

    /// The color of a picture below its middle, where the pages of these tests have nothing but their background.
    async fn color(&self, frame: &ScreenFrame) -> Vec<i64> {
        let script = format!(
            "(async () => {{
               const answer = await fetch('data:image/jpeg;base64,{}');
               const image = await createImageBitmap(await answer.blob());
               const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
               context.drawImage(image, 0, 0);
               return [...context.getImageData(image.width / 2, image.height * 0.9, 1, 1).data].slice(0, 3);
             }})()",
            STANDARD.encode(&frame.jpeg)
        );
        let command = DeviceCommand::EvaluateJs { script };
        let color = command.carry_out(&self.web, &budget()).await.expect("it is decoded").value;
        serde_json::from_value(color.expect("a color")).expect("three numbers")
    }

    /// Waits for a picture of a page with this background.
    async fn shows(&self, frames: &mut watch::Receiver<Option<ScreenFrame>>, background: [i64; 3]) -> ScreenFrame {
        let end = Instant::now() + PATIENCE;
        loop {
            let newest = frames.borrow_and_update().clone();
            let seen = match &newest {
                Some(frame) => self.color(frame).await,
                None => Vec::new(),
            };
            let is_near = |(seen, wanted): (&i64, &i64)| (seen - wanted).abs() < 16;
            if let Some(frame) = newest
                && seen.iter().zip(&background).all(is_near)
            {
                return frame;
            }
            let changed = tokio::time::timeout_at(end, frames.changed()).await;
            assert!(changed.is_ok(), "no picture in {background:?} came; the last one is in {seen:?}");
        }
    }

    pub async fn close(self) {
        self.web.close().await;
        self.browsers.close().await;
    }
}

pub fn budget() -> Budget {
    Budget::new(Instant::now() + PATIENCE, CancellationToken::new())
}

/// Waits for a picture that fulfils a condition.
async fn picture(
    frames: &mut watch::Receiver<Option<ScreenFrame>>,
    what: &str,
    is_it: impl Fn(&ScreenFrame) -> bool,
) -> ScreenFrame {
    let wait = frames.wait_for(|frame| frame.as_ref().is_some_and(&is_it));
    let Ok(frame) = timeout(PATIENCE, wait).await else { panic!("no picture came: {what}") };
    frame.expect("the device is there").clone().expect("it was checked")
}

/// The picture of what has happened so far: the page was drawn twice, and then no other picture came for a while.
async fn calm(bare: &Bare, frames: &mut watch::Receiver<Option<ScreenFrame>>) -> ScreenFrame {
    bare.script("await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))").await;
    picture(frames, "any", |_| true).await;
    while timeout(Duration::from_millis(700), frames.changed()).await.is_ok() {}
    frames.borrow().clone().expect("a picture")
}

#[tokio::test]
async fn a_change_on_the_page_arrives_as_a_new_picture() {
    let Some(bare) = Bare::open(&[]) else { return };
    let mut frames = bare.web.frames().expect("a browser has pictures");
    assert_eq!(*frames.borrow(), None);
    bare.show("<h1>One</h1>").await;
    let first = calm(&bare, &mut frames).await;
    assert_eq!(first.size, Size { width: 1280, height: 800 });
    assert_eq!(first.jpeg[..2], [0xff, 0xd8]);
    // Nothing changes, so there are no other pictures in the end.
    let mut first = first;
    for again in 0.. {
        let number = std::mem::replace(&mut first, calm(&bare, &mut frames).await).number;
        if number == first.number {
            break;
        }
        assert!(again < 5, "pictures keep coming");
    }
    bare.script("document.body.style.background = 'teal'").await;
    let second = bare.shows(&mut frames, TEAL).await;
    assert!(second.number > first.number);
    // Another page in the same tab.
    bare.show("<body style='background: red'><h1>Another</h1>").await;
    let third = bare.shows(&mut frames, RED).await;
    assert!(third.number > second.number);
    bare.close().await;
}

#[tokio::test]
async fn pictures_follow_the_front_tab() {
    let Some(bare) = Bare::open(&[]) else { return };
    bare.show("<body style='background: red'>").await;
    let mut frames = bare.web.frames().expect("a browser has pictures");
    bare.shows(&mut frames, RED).await;
    let url = bare.page("other.html", "<body style='background: blue'><h1>Other</h1>");
    bare.send(DeviceCommand::Browse(Browse::NewTab { url: Some(url) })).await;
    bare.shows(&mut frames, BLUE).await;
    bare.script("document.body.style.background = 'teal'").await;
    bare.shows(&mut frames, TEAL).await;
    bare.send(DeviceCommand::Browse(Browse::SelectTab { index: 0 })).await;
    bare.shows(&mut frames, RED).await;
    // A page may open a tab, and close it.
    bare.script("void window.open('other.html')").await;
    bare.shows(&mut frames, BLUE).await;
    bare.send(DeviceCommand::Browse(Browse::CloseTab { index: None })).await;
    bare.shows(&mut frames, RED).await;
    bare.close().await;
}

#[tokio::test]
async fn a_slow_reader_of_an_animation_gets_the_newest_picture() {
    let Some(bare) = Bare::open(&[]) else { return };
    bare.show(
        "<body><script>
           let n = 0;
           globalThis.isMoving = true;
           const step = () => {
             document.body.style.background = isMoving ? `rgb(0, ${n++ % 256}, 0)` : 'red';
             if (isMoving) requestAnimationFrame(step); else document.title = 'done';
           };
           globalThis.go = () => requestAnimationFrame(step);
         </script>",
    )
    .await;
    let mut frames = bare.web.frames().expect("a browser has pictures");
    let before = calm(&bare, &mut frames).await;
    bare.script("go()").await;
    let moving = picture(&mut frames, "it moves", |frame| frame.number > before.number + 5).await;
    bare.script("isMoving = false; while (document.title !== 'done') await new Promise(requestAnimationFrame)").await;
    let at_rest = bare.shows(&mut frames, RED).await;
    assert!(at_rest.number > moving.number, "{moving:?} {at_rest:?}");
    bare.close().await;
}

#[tokio::test]
async fn no_pictures_are_taken_unless_someone_watches() {
    let Some(bare) = Bare::open(&[]) else { return };
    bare.show("<h1>One</h1>").await;
    let mut frames = bare.web.frames().expect("a browser has pictures");
    let first = calm(&bare, &mut frames).await;
    drop(frames);
    for n in 0..9 {
        bare.script(&format!("document.body.innerHTML = '<h1>{n}</h1>'; await new Promise(requestAnimationFrame)"))
            .await;
    }
    let mut frames = bare.web.frames().expect("a browser has pictures");
    let second = calm(&bare, &mut frames).await;
    // A busy browser may draw the last screen twice.
    assert!(
        second.number <= first.number + 3,
        "what happened in between has no picture: {}, {}",
        first.number,
        second.number
    );
    bare.close().await;
}

#[tokio::test]
async fn requests_are_listed_when_they_are_made_and_when_they_end() {
    let Some(bare) = Bare::open(&[]) else { return };
    let events = bare.web.events().expect("a browser has events");
    assert_eq!(events.take(), []);
    bare.show("<h1>One</h1>").await;
    bare.script("fetch('data:text/plain,hello').then((answer) => answer.text())").await;
    bare.script("fetch('http://127.0.0.1:9/').catch(() => 'refused')").await;
    let mut told = Vec::new();
    let is_fetched = |url: &str| url == "data:text/plain,hello" || url == "http://127.0.0.1:9/";
    let of_fetches = |event: &DeviceEvent| match event {
        DeviceEvent::Request { method, url, .. } if is_fetched(url) => Some(format!("{method} {url}")),
        DeviceEvent::Response { url, status, failure, .. } if is_fetched(url) => {
            let failure = failure.as_ref().map(|failure| failure.split(':').next().unwrap_or_default().to_string());
            Some(format!("{url} {status:?} {failure:?}"))
        }
        _ => None,
    };
    while told.len() < 4 {
        tokio::time::timeout(PATIENCE, events.any()).await.unwrap_or_else(|_| panic!("{told:?}"));
        told.extend(events.take().iter().filter_map(of_fetches));
    }
    let expected = [
        "GET data:text/plain,hello",
        "data:text/plain,hello Some(200) None",
        "GET http://127.0.0.1:9/",
        "http://127.0.0.1:9/ None Some(\"net\")",
    ];
    assert_eq!(told, expected);
    bare.close().await;
}
