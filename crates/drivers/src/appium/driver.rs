//! A phone behind Appium, as the engine sees it.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::device_source::DeviceSpec;
use trailblaze_core::driver::{
    Action, ActionOutput, ActionTarget, AppControl, Budget, DeviceDescription, Driver, DriverError, ObserveOptions,
    PhoneAbilities,
};
use trailblaze_core::screen::{Field, Node, Picture, Screen, Shape, SnapshotId};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::{Point, Size};

use super::automation::AppiumAutomation;
use super::session::{AppiumSession, CommandFault};
use super::source::{AppSource, SourceReader};
use crate::png::read_picture;
use crate::web::webdriver::ELEMENT;

/// How often a screen is looked at while something is awaited. Appium does not say when a screen changes, and may be far away.
const TICK: Duration = Duration::from_millis(200);

/// An app on a phone behind Appium.
pub struct AppiumDriver {
    description: DeviceDescription,
    pub(super) automation: AppiumAutomation,
    pub(super) session: AppiumSession,
    /// How many pixels a point has in a row, where Appium counts in points.
    scale: f64,
    seen: Mutex<LastLook>,
}

/// What the driver remembers between commands.
#[derive(Default)]
struct LastLook {
    snapshot: u64,
    /// The tree of the last look, to know whether the screen changed.
    root: Option<Node>,
    size: Option<Size>,
    /// The ids that `fake` gave to elements, which stay.
    elements: HashMap<u64, String>,
    /// The field that was touched last, of a driver that does not say which has the focus.
    touched: Option<u64>,
}

impl AppiumDriver {
    pub async fn open(
        spec: &DeviceSpec,
        automation: AppiumAutomation,
        session: AppiumSession,
        budget: &Budget,
    ) -> Result<AppiumDriver, DriverError> {
        let scale = match automation {
            AppiumAutomation::XcuiTest => scale(&session, budget).await?,
            AppiumAutomation::UiAutomator2 | AppiumAutomation::Fake => 1.0,
        };
        let rect = session.get(budget, "/window/rect").await.map_err(DriverError::from)?;
        let side = |name: &str| (rect.get(name).and_then(Value::as_f64).unwrap_or(0.0) * scale).round() as u32;
        let description = DeviceDescription {
            id: spec.id.clone(),
            platform: spec.platform,
            driver: spec.driver.clone(),
            shape: Shape::for_driver(&spec.driver, spec.platform),
            size: Size { width: side("width"), height: side("height") },
            classifiers: spec.classifiers.clone(),
            summary: format!("an app behind Appium's {}", automation.name()),
            knows_elements: false,
        };
        Ok(AppiumDriver { description, automation, session, scale, seen: Mutex::default() })
    }

    pub(super) fn platform(&self) -> Platform {
        self.description.platform
    }

    /// What Appium's driver does not have.
    pub(super) fn unsupported(&self, action: &str) -> DriverError {
        DriverError::Unsupported { action: action.to_string(), platform: self.platform() }
    }

    async fn look(&self, budget: &Budget, want: ObserveOptions) -> Result<AppSource, DriverError> {
        let refused = |reason: String| DriverError::Refused { reason };
        let source = self.session.get(budget, "/source").await?;
        let source = source.as_str().ok_or_else(|| refused("Appium returned no page source".to_string()))?;
        // The page source of the others has their alerts.
        let alert = match self.automation {
            AppiumAutomation::Fake => self.open_alert(budget).await?,
            AppiumAutomation::UiAutomator2 | AppiumAutomation::XcuiTest => None,
        };
        let reader = SourceReader {
            automation: self.automation,
            shape: self.description.shape,
            scale: self.scale,
            covers: want.covers,
        };
        let mut app = reader.read(source, alert.as_deref()).map_err(refused)?;
        for field in std::mem::take(&mut app.fields) {
            let text = self.text_of(budget, field.node).await?;
            if let (Some(node), false) = (node_mut(&mut app.root, field.node), text.is_empty()) {
                let shown = if field.is_password { "•".repeat(text.chars().count()) } else { text };
                node.props.set(Field::Text, shown);
            }
        }
        self.seen.lock().size = Some(app.size);
        Ok(app)
    }

    /// The text of the alert that is open.
    pub(super) async fn open_alert(&self, budget: &Budget) -> Result<Option<String>, DriverError> {
        match self.session.get(budget, "/alert/text").await {
            Ok(text) => Ok(Some(text.as_str().unwrap_or_default().to_string())),
            Err(fault) if fault.is_code("no such alert") => Ok(None),
            Err(fault) => Err(fault.into()),
        }
    }

    /// The id that `fake` has for the element at a place among all elements.
    pub(super) async fn element_at(&self, budget: &Budget, node: u64) -> Result<String, DriverError> {
        if let Some(id) = self.seen.lock().elements.get(&node) {
            return Ok(id.clone());
        }
        let body = json!({"using": "xpath", "value": format!("(//*)[{node}]")});
        let found = self.session.post(budget, "/element", body).await?;
        let id = found.get(ELEMENT).and_then(Value::as_str);
        let id = id.ok_or_else(|| DriverError::Evaded { how: "the element is gone".to_string() })?.to_string();
        self.seen.lock().elements.insert(node, id.clone());
        Ok(id)
    }

    async fn text_of(&self, budget: &Budget, node: u64) -> Result<String, DriverError> {
        let id = self.element_at(budget, node).await?;
        let text = self.session.get(budget, &format!("/element/{id}/text")).await?;
        Ok(text.as_str().unwrap_or_default().to_string())
    }

    async fn picture(&self, budget: &Budget) -> Result<Picture, DriverError> {
        let no_picture = |what: &str| DriverError::Refused { reason: format!("the picture of Appium is {what}") };
        let answer = self.session.get(budget, "/screenshot").await?;
        let mut encoded = answer.as_str().ok_or_else(|| no_picture("none"))?.to_string();
        // Some versions break it into lines.
        encoded.retain(|sign| !sign.is_ascii_whitespace());
        let bytes = STANDARD.decode(encoded).map_err(|_| no_picture("not base64"))?;
        read_picture(bytes).map_err(|_| no_picture("no whole PNG"))
    }

    /// The size of the screen as the device was turned when it was last looked at.
    pub(super) fn screen_size(&self) -> Size {
        self.seen.lock().size.unwrap_or(self.description.size)
    }

    /// A place as Appium counts it.
    pub(super) fn in_points(&self, at: Point) -> (f64, f64) {
        (f64::from(at.x) / self.scale, f64::from(at.y) / self.scale)
    }

    pub(super) fn note_touched(&self, node: u64) {
        self.seen.lock().touched = Some(node);
    }

    pub(super) fn touched(&self) -> Option<u64> {
        self.seen.lock().touched
    }

    /// A screen that is the same as before keeps its number.
    fn number(&self, root: &Node) -> SnapshotId {
        let mut seen = self.seen.lock();
        if seen.root.as_ref() != Some(root) {
            seen.snapshot += 1;
            seen.root = Some(root.clone());
        }
        SnapshotId(seen.snapshot)
    }
}

/// How many pixels a point has in a row. An Appium that does not say it counts in points only.
async fn scale(session: &AppiumSession, budget: &Budget) -> Result<f64, DriverError> {
    match session.mobile(budget, "deviceScreenInfo", json!({})).await {
        Ok(info) => Ok(info.get("scale").and_then(Value::as_f64).filter(|scale| *scale >= 1.0).unwrap_or(1.0)),
        Err(CommandFault::Driver(error)) => Err(error),
        Err(_) => Ok(1.0),
    }
}

fn node_mut(node: &mut Node, id: u64) -> Option<&mut Node> {
    if node.id == id {
        return Some(node);
    }
    node.children.iter_mut().find_map(|child| node_mut(child, id))
}

#[async_trait]
impl Driver for AppiumDriver {
    fn describe(&self) -> &DeviceDescription {
        &self.description
    }

    async fn observe(&self, budget: &Budget, want: ObserveOptions) -> Result<Screen, DriverError> {
        let picture = async {
            match want.picture {
                true => self.picture(budget).await.map(Some),
                false => Ok(None),
            }
        };
        let (app, picture) = tokio::try_join!(self.look(budget, want), picture)?;
        let snapshot = self.number(&app.root);
        Ok(Screen { snapshot, size: app.size, app: app.app, root: app.root, picture, is_moving: false })
    }

    async fn act(&self, budget: &Budget, target: &ActionTarget, action: &Action) -> Result<ActionOutput, DriverError> {
        self.perform(budget, target, action).await
    }

    fn apps(&self) -> Option<&dyn AppControl> {
        // The app of `fake` is a file that the session loads.
        (self.automation != AppiumAutomation::Fake).then_some(self)
    }

    fn phone(&self) -> Option<&dyn PhoneAbilities> {
        Some(self)
    }

    async fn changed(&self, budget: &Budget, _: SnapshotId) -> Result<(), DriverError> {
        let until = budget.deadline.min(Instant::now() + TICK);
        match budget.cancel.run_until_cancelled(tokio::time::sleep_until(until)).await {
            Some(()) => Ok(()),
            None => Err(DriverError::Cancelled),
        }
    }

    async fn close(&self) {
        self.session.close().await;
    }
}
