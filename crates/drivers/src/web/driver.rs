//! A tab of Chromium as the engine sees it.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use trailblaze_core::driver::{Acted, Action, Budget, Description, Driver, DriverError, Target, Want};
use trailblaze_core::query::{Checks, Find, Query, Reason, WhyNot};
use trailblaze_core::screen::{Picture, Pixels, Screen, Shape, SnapshotId};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::{Point, Rect, Size};
use trailblaze_protocol::ids::DeviceId;
use trailblaze_supervise::Supervisor;

use super::act::act;
use super::browser::{Browser, BrowserOptions};
use super::look::{Look, Part};
use super::tab::Tab;

/// What a window shows unless another size is asked for.
const WINDOW: Size = Size { width: 1280, height: 800 };

/// One browser for all devices of a run, started by the first that needs it.
pub struct Browsers {
    options: BrowserOptions,
    supervisor: Supervisor,
    started: OnceCell<Arc<Browser>>,
}

impl Browsers {
    pub fn new(options: BrowserOptions, supervisor: Supervisor) -> Arc<Browsers> {
        Arc::new(Browsers { options, supervisor, started: OnceCell::new() })
    }

    async fn browser(&self) -> Result<&Arc<Browser>, DriverError> {
        let start = || async { Browser::start(&self.options, &self.supervisor).await.map(Arc::new) };
        self.started.get_or_try_init(start).await.map_err(|error| DriverError::Lost { evidence: error.to_string() })
    }

    /// Ends the browser, if one was started.
    pub async fn close(&self) {
        if let Some(browser) = self.started.get() {
            browser.close().await;
        }
    }
}

pub struct Web {
    description: Description,
    browsers: Arc<Browsers>,
    tab: OnceCell<Tab>,
    clipboard: Mutex<String>,
}

impl Web {
    pub fn new(id: DeviceId, driver: DriverKey, classifiers: &[String], browsers: Arc<Browsers>) -> Web {
        let mut all = vec!["web".to_string()];
        all.extend(classifiers.iter().cloned());
        let description = Description {
            id,
            platform: Platform::Web,
            driver,
            shape: Shape::Web,
            size: WINDOW,
            classifiers: all,
            summary: "Chromium".to_string(),
        };
        Web { description, browsers, tab: OnceCell::new(), clipboard: Mutex::default() }
    }

    /// The device's tab, opened by the first command.
    async fn tab(&self, budget: &Budget) -> Result<&Tab, DriverError> {
        let open = || async {
            let browser = Arc::clone(self.browsers.browser().await?);
            let size = (WINDOW.width, WINDOW.height);
            let lost = |error| DriverError::Lost { evidence: format!("no tab could be opened: {error}") };
            Tab::open(browser, size).await.map_err(lost)
        };
        budget.run("the browser to start", self.tab.get_or_try_init(open)).await?
    }

    async fn look(&self, tab: &Tab, budget: &Budget, part: Part) -> Result<Screen, DriverError> {
        tab.settle(budget).await?;
        // Whatever changes from here on is newer than what is seen.
        let snapshot = tab.version();
        let seen = tab.ask(budget, "trailblaze.look()").await?;
        let look = Look::deserialize(&seen)
            .map_err(|error| DriverError::Refused { reason: format!("the page answered nonsense: {error}") })?;
        Ok(look.screen(snapshot, part))
    }
}

#[async_trait]
impl Driver for Web {
    fn describe(&self) -> &Description {
        &self.description
    }

    async fn observe(&self, budget: &Budget, want: Want) -> Result<Screen, DriverError> {
        let tab = self.tab(budget).await?;
        let mut screen = self.look(tab, budget, Part::Window).await?;
        if want == Want::TreeAndPicture {
            let shot = tab.command(budget, "Page.captureScreenshot", json!({"format": "png"})).await?;
            let data = shot.get("data").and_then(Value::as_str).unwrap_or_default();
            let png = BASE64_STANDARD.decode(data).unwrap_or_default();
            screen.picture = Some(Picture { size: screen.size, pixels: Pixels::Png(Arc::from(png)) });
        }
        Ok(screen)
    }

    /// What is scrolled away counts as there. What is to be acted on is made ready in the page: scrolled into view, at rest,
    /// enabled, and the one that would get the touch.
    async fn find(&self, budget: &Budget, query: &Query, checks: Checks) -> Result<Find, DriverError> {
        let tab = self.tab(budget).await?;
        let screen = self.look(tab, budget, Part::Whole).await?;
        let mut found = match query.search(&screen, Checks::Visible) {
            Find::Found(found) => found,
            not => return Ok(not),
        };
        if checks == Checks::Visible {
            return Ok(Find::Found(found));
        }
        let ready = tab.ask(budget, &format!("trailblaze.ready({})", found.node)).await?;
        let text = |key: &str| ready.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
        let element = found.summary.clone();
        let reason = match ready.get("why").and_then(Value::as_str) {
            None => {
                let number = |key: &str| ready.get(key).and_then(Value::as_f64).unwrap_or_default().round();
                found.point = Point { x: number("x") as i32, y: number("y") as i32 };
                if let Some(Ok([left, top, right, bottom])) = ready.get("b").map(<[i32; 4]>::deserialize) {
                    found.bounds = Rect { left, top, right, bottom };
                }
                return Ok(Find::Found(found));
            }
            Some("disabled") => Reason::Disabled { element },
            Some("covered") => Reason::Covered { element, by: text("by") },
            Some("hidden") => Reason::Offscreen { element },
            Some(_) => Reason::NoMatch { near: Vec::new() },
        };
        Ok(Find::Not(WhyNot { snapshot: found.snapshot, asked: query.clone(), reason }))
    }

    async fn act(&self, budget: &Budget, target: &Target, action: &Action) -> Result<Acted, DriverError> {
        let tab = self.tab(budget).await?;
        tab.settle(budget).await?;
        act(tab, budget, (target, action), &self.clipboard).await
    }

    async fn changed(&self, budget: &Budget, since: SnapshotId) -> Result<(), DriverError> {
        self.tab(budget).await?.changed(budget, since).await
    }

    async fn close(&self) {
        if let Some(tab) = self.tab.get() {
            tab.close().await;
        }
    }
}
