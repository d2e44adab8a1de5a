//! An iPhone as the engine sees it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::device_source::DeviceSpec;
use trailblaze_core::driver::{
    AccessibilityAuditor, Action, ActionOutput, ActionTarget, AppControl, AppInstaller, AppInventory, Budget,
    ClipboardControl, DeviceDescription, DeviceEvents, Driver, DriverError, FrontApp, ObserveOptions,
    PermissionControl, PhoneAbilities, ScreenFrame, ScreenRecorder, SettingsControl,
};
use trailblaze_core::query::{Checks, Find, Query};
use trailblaze_core::screen::{Node, Picture, Screen, Shape, SnapshotId};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::geometry::{Point, Size};
use trailblaze_supervise::Supervisor;

use super::alerts::{self, Alert, SPRINGBOARD};
use super::apps::LaunchedApp;
use super::config::IosSettings;
use super::facts::IosFacts;
use super::frames::LivePictures;
use super::mac::{HostedDevice, Simulator, SimulatorLog};
use super::settings::AppLocales;
use super::tree::ElementTree;
use super::undo::{SessionUndo, UndoLauncher};
use super::usb::Usbmuxd;
use super::wda::{SessionKeeper, WdaAddress, WdaClient, WdaError};
use crate::png::read_picture;

/// How often a screen is looked at while something is awaited. WebDriverAgent does not say when a screen changes.
const TICK: Duration = Duration::from_millis(100);
/// How long it may take to end the session.
const CLOSING: Duration = Duration::from_secs(5);
/// What is left out of a tree because WebDriverAgent asks the device about it for each element, or because nobody needs it.
const LEFT_OUT: &str = "frame,nativeFrame,accessible,nativeAccessibilityElement,minValue,maxValue";
/// What costs most, and is asked for only if it is needed.
const VISIBLE: &str = "visible";

/// An iPhone, an iPad or a simulator behind WebDriverAgent.
pub struct IosDriver {
    description: DeviceDescription,
    facts: IosFacts,
    pub(super) settings: IosSettings,
    pub(super) wda: WdaClient,
    /// What was started for it on this Mac.
    pub(super) host: HostedDevice,
    pub(super) log: SimulatorLog,
    pub(super) undo: Arc<SessionUndo>,
    pub(super) locales: Mutex<AppLocales>,
    pictures: Option<Arc<LivePictures>>,
    seen: Mutex<Seen>,
    pub(super) events: Arc<DeviceEvents>,
}

/// What a driver has of the machine that it runs on.
pub struct IosHost {
    pub usbmuxd: Usbmuxd,
    pub device: HostedDevice,
    /// Starts the process that puts things back if this one is killed.
    pub supervisor: Option<Supervisor>,
}

/// What the driver remembers between commands.
#[derive(Default)]
struct Seen {
    snapshot: u64,
    /// The tree of the last look, to know whether the screen changed.
    root: Option<Node>,
    size: Option<Size>,
    alert: Option<Alert>,
    clipboard: Option<String>,
    launched: Option<LaunchedApp>,
    /// What the tree calls the app in front.
    app_label: Option<String>,
}

impl IosDriver {
    /// Makes a device ready: awake and unlocked.
    pub async fn open(
        spec: &DeviceSpec,
        settings: IosSettings,
        IosHost { usbmuxd, device: host, supervisor }: IosHost,
        budget: &Budget,
    ) -> Result<IosDriver, DriverError> {
        let events = Arc::new(DeviceEvents::default());
        let launcher = supervisor.map(|supervisor| UndoLauncher {
            supervisor,
            address: settings.address.clone(),
            usbmuxd: usbmuxd.clone(),
        });
        let undo = Arc::new(SessionUndo::new(launcher, Arc::clone(&events)));
        let keeper = Arc::clone(&undo) as Arc<dyn SessionKeeper>;
        let wda = WdaClient::new(settings.address.clone(), &usbmuxd).kept_by(keeper);
        let facts = IosFacts::ask(&wda, budget).await?;
        unlock(&wda, budget).await?;
        let description = describe(spec, &settings, &facts);
        let stream =
            |address: &WdaAddress| LivePictures::new(address.clone(), usbmuxd.clone(), facts.size, Arc::clone(&events));
        let pictures = settings.mjpeg.as_ref().map(stream);
        Ok(IosDriver {
            description,
            facts,
            settings,
            wda,
            host,
            log: SimulatorLog::default(),
            undo,
            locales: Mutex::default(),
            pictures,
            seen: Mutex::default(),
            events,
        })
    }

    /// The tree of the screen.
    async fn tree(&self, budget: &Budget, want: ObserveOptions) -> Result<ElementTree, DriverError> {
        let left_out = if want.covers { LEFT_OUT.to_string() } else { format!("{LEFT_OUT},{VISIBLE}") };
        let source = self.wda.get_tree(budget, &format!("/source?format=json&excluded_attributes={left_out}")).await?;
        let tree = ElementTree::read(&source, self.facts.scale, self.description.shape)
            .map_err(|fault| DriverError::Refused { reason: fault.to_string() })?;
        self.seen.lock().size = Some(tree.size);
        if let Some(pictures) = &self.pictures {
            pictures.set_size(tree.size);
        }
        Ok(tree)
    }

    /// The size of the screen as the tree has it.
    pub(super) async fn look_at_root(&self, budget: &Budget) -> Result<Size, DriverError> {
        self.tree(budget, ObserveOptions::TREE).await.map(|tree| tree.size)
    }

    async fn picture(&self, budget: &Budget) -> Result<Picture, DriverError> {
        let no_picture =
            |what: &str| DriverError::Refused { reason: format!("the picture of WebDriverAgent is {what}") };
        let mut encoded = match self.wda.get_picture(budget).await? {
            Value::String(text) => text,
            _ => return Err(no_picture("none")),
        };
        // Some versions break it into lines.
        encoded.retain(|sign| !sign.is_ascii_whitespace());
        let bytes = STANDARD.decode(encoded).map_err(|_| no_picture("not base64"))?;
        read_picture(bytes).map_err(|_| no_picture("no whole PNG"))
    }

    /// Reports an alert of iOS that was not there before. `app` is the one in front, if that is known.
    async fn notice_alert(&self, budget: &Budget, root: &Node, app: Option<&str>) -> Result<(), DriverError> {
        let alert = Alert::on(root);
        let is_new = {
            let mut seen = self.seen.lock();
            std::mem::replace(&mut seen.alert, alert.clone()) != alert
        };
        let (true, Some(alert)) = (is_new, alert) else { return Ok(()) };
        let is_system = match app {
            Some(app) => app == SPRINGBOARD,
            None => alerts::is_system_in_front(&self.wda, budget).await?,
        };
        if is_system {
            self.events.add(alert.event());
        }
        Ok(())
    }

    /// Looks for a crash when another app is in front than before; the tree says that without being asked for more.
    async fn notice_other_app(&self, budget: &Budget, tree: &ElementTree) -> Result<(), DriverError> {
        let is_other = {
            let mut seen = self.seen.lock();
            let is_other = seen.app_label != tree.name;
            seen.app_label.clone_from(&tree.name);
            is_other && seen.launched.is_some()
        };
        if !is_other {
            return Ok(());
        }
        let front = alerts::front_app(&self.wda, budget).await?;
        self.notice_crash(budget, front.as_deref()).await
    }

    /// The size of the screen as the device was turned when it was last looked at.
    pub(super) fn screen_size(&self) -> Size {
        self.seen.lock().size.unwrap_or(self.facts.size)
    }

    /// A place in the points that WebDriverAgent counts in.
    pub(super) fn in_points(&self, at: Point) -> (f64, f64) {
        (f64::from(at.x) / self.facts.scale, f64::from(at.y) / self.facts.scale)
    }

    /// The pixels of a place that WebDriverAgent counts in points.
    pub(super) fn in_pixels(&self, x: f64, y: f64) -> (i32, i32) {
        let pixel = |points: f64| (points * self.facts.scale).round() as i32;
        (pixel(x), pixel(y))
    }

    pub(super) fn set_clipboard(&self, text: &str) {
        self.seen.lock().clipboard = Some(text.to_string());
    }

    pub(super) fn clipboard_text(&self) -> Option<String> {
        self.seen.lock().clipboard.clone()
    }

    pub(super) fn launched(&self) -> Option<LaunchedApp> {
        self.seen.lock().launched.clone()
    }

    pub(super) fn remember_launched(&self, app: &str) {
        self.seen.lock().launched = Some(LaunchedApp { id: app.to_string(), at: SystemTime::now() });
    }

    pub(super) fn forget_launched(&self, app: &str) {
        self.seen.lock().launched.take_if(|launched| launched.id == app);
    }

    /// The simulator of this Mac that it is.
    pub(super) fn simulator(&self, action: &str) -> Result<&Simulator, DriverError> {
        self.host.simulator.as_ref().ok_or_else(|| {
            let reason = format!(
                "`{action}` is possible only on a simulator of this Mac, which is named by its UDID or by `simulator:` in the entry of the \
                 device; WebDriverAgent cannot do it"
            );
            DriverError::Refused { reason }
        })
    }

    pub(super) fn add_event(&self, event: DeviceEvent) {
        self.events.add(event);
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

    fn screen(&self, tree: ElementTree, app: Option<String>, picture: Option<Picture>) -> Screen {
        let snapshot = self.number(&tree.root);
        // The home screen is no app.
        let app = app.filter(|app| app != SPRINGBOARD);
        Screen { snapshot, size: tree.size, app, root: tree.root, picture, is_moving: false }
    }
}

/// Unlocks a device that has no code. WebDriverAgent presses the home button for that.
async fn unlock(wda: &WdaClient, budget: &Budget) -> Result<(), DriverError> {
    let is_locked = async || {
        let locked = wda.get(budget, "/wda/locked").await.map_err(WdaError::not_started)?;
        Ok::<bool, DriverError>(locked.as_bool().unwrap_or(false))
    };
    if !is_locked().await? {
        return Ok(());
    }
    // If it stays locked, that says more than this error.
    let _ = wda.post(budget, "/wda/unlock", json!({})).await;
    match is_locked().await? {
        true => {
            let evidence = "it is locked; unlock it, and remove its code while tests run".to_string();
            Err(DriverError::NotStarted { evidence })
        }
        false => Ok(()),
    }
}

fn describe(spec: &DeviceSpec, settings: &IosSettings, facts: &IosFacts) -> DeviceDescription {
    let own = ["ios", facts.status.kind].map(str::to_string).to_vec();
    DeviceDescription {
        id: spec.id.clone(),
        platform: spec.platform,
        driver: spec.driver.clone(),
        shape: Shape::for_driver(&spec.driver, spec.platform),
        size: facts.size,
        classifiers: if settings.classifiers.is_empty() { own } else { spec.classifiers.clone() },
        summary: facts.summary(),
        knows_elements: false,
    }
}

#[async_trait]
impl Driver for IosDriver {
    fn describe(&self) -> &DeviceDescription {
        &self.description
    }

    async fn observe(&self, budget: &Budget, want: ObserveOptions) -> Result<Screen, DriverError> {
        // At the same time, because each of them takes long.
        let picture = async {
            match want.picture {
                true => self.picture(budget).await.map(Some),
                false => Ok(None),
            }
        };
        let app = async { alerts::front_app(&self.wda, budget).await.map_err(DriverError::from) };
        let (tree, picture, app) = tokio::try_join!(self.tree(budget, want), picture, app)?;
        self.notice_alert(budget, &tree.root, app.as_deref()).await?;
        self.notice_crash(budget, app.as_deref()).await?;
        self.seen.lock().app_label = tree.name.clone();
        Ok(self.screen(tree, app, picture))
    }

    /// Asks for nothing but the tree.
    async fn find(&self, budget: &Budget, query: &Query, checks: Checks) -> Result<Find, DriverError> {
        let tree = self.tree(budget, ObserveOptions::TREE).await?;
        self.notice_alert(budget, &tree.root, None).await?;
        self.notice_other_app(budget, &tree).await?;
        let mut query = query.clone();
        if query.is_native() {
            self.evaluate(budget, &mut query, &tree.root).await?;
        }
        Ok(query.search(&self.screen(tree, None, None), checks))
    }

    fn evaluates_native_conditions(&self) -> bool {
        true
    }

    async fn act(&self, budget: &Budget, target: &ActionTarget, action: &Action) -> Result<ActionOutput, DriverError> {
        self.perform(budget, target, action).await
    }

    fn apps(&self) -> Option<&dyn AppControl> {
        Some(self)
    }

    fn app_inventory(&self) -> Option<&dyn AppInventory> {
        Some(self)
    }

    fn clipboard(&self) -> Option<&dyn ClipboardControl> {
        Some(self)
    }

    fn permissions(&self) -> Option<&dyn PermissionControl> {
        Some(self)
    }

    fn settings(&self) -> Option<&dyn SettingsControl> {
        Some(self)
    }

    fn front_app(&self) -> Option<&dyn FrontApp> {
        Some(self)
    }

    fn app_installer(&self) -> Option<&dyn AppInstaller> {
        Some(self)
    }

    fn recorder(&self) -> Option<&dyn ScreenRecorder> {
        Some(self)
    }

    fn phone(&self) -> Option<&dyn PhoneAbilities> {
        Some(self)
    }

    fn auditor(&self) -> Option<&dyn AccessibilityAuditor> {
        Some(self)
    }

    async fn changed(&self, budget: &Budget, _: SnapshotId) -> Result<(), DriverError> {
        let until = budget.deadline.min(Instant::now() + TICK);
        match budget.cancel.run_until_cancelled(tokio::time::sleep_until(until)).await {
            Some(()) => Ok(()),
            None => Err(DriverError::Cancelled),
        }
    }

    fn events(&self) -> Option<&DeviceEvents> {
        Some(&self.events)
    }

    fn frames(&self) -> Option<watch::Receiver<Option<ScreenFrame>>> {
        self.pictures.as_ref()?.watch()
    }

    async fn close(&self) {
        let budget = Budget::new(Instant::now() + CLOSING, CancellationToken::new());
        self.log.stop();
        self.undo.put_back(&self.wda, &budget).await;
        if let Err(error) = self.wda.close(&budget).await {
            let text = format!("the session of WebDriverAgent was not ended: {error}");
            self.add_event(DeviceEvent::Log { level: Level::Warning, text });
        }
        self.undo.forget(&budget).await;
        if let Some(agent) = &self.host.agent {
            agent.stop().await;
        }
    }
}
