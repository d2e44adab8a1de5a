//! A phone as the engine sees it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::device_source::DeviceSpec;
use trailblaze_core::driver::{
    Action, ActionOutput, ActionTarget, AppControl, AppInstaller, AppInventory, Budget, ClipboardControl,
    DeviceDescription, DeviceEvents, DeviceShell, Driver, DriverError, FileTransfer, FrontApp, NetworkControl,
    ObserveOptions, PermissionControl, PhoneAbilities, ScreenRecorder, SettingsControl,
};
use trailblaze_core::screen::{Node, Screen, Shape, SnapshotId};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::geometry::Size;

use super::adb::{AdbDevice, AdbError};
use super::app_log::AppLog;
use super::automation::{self, Automation};
use super::dialogs::SystemDialog;
use super::facts::PhoneFacts;
use super::hierarchy::ViewHierarchy;
use super::phone::Phone;
use super::provider::PhoneSettings;
use super::readiness;
use super::recording::ScreenVideo;
use super::settings::put_back;
use super::undo::{self, UndoShell};
use super::web_views::WebViews;

/// How often a screen is looked at while something is awaited. A phone does not say when its screen changes.
const TICK: Duration = Duration::from_millis(100);
/// How long it may take to put back what a session changed.
const CLOSING: Duration = Duration::from_secs(10);
const ANIMATIONS: [&str; 3] = ["window_animation_scale", "transition_animation_scale", "animator_duration_scale"];

/// A phone or tablet behind adb.
pub struct AndroidDriver {
    description: DeviceDescription,
    pub(super) facts: PhoneFacts,
    pub(super) phone: Phone,
    pub(super) undo: Arc<UndoShell>,
    pub(super) automation: Arc<dyn Automation>,
    pub(super) app_log: AppLog,
    pub(super) video: ScreenVideo,
    web_views: WebViews,
    seen: Mutex<Seen>,
    pub(super) events: Arc<DeviceEvents>,
}

/// What the driver remembers between commands.
#[derive(Default)]
struct Seen {
    snapshot: u64,
    /// The tree of the last look, to know whether the screen changed.
    root: Option<Node>,
    is_sideways: bool,
    dialog: Option<SystemDialog>,
    clipboard: Option<String>,
}

impl AndroidDriver {
    /// Makes a phone ready: awake, unlocked, and without animations until it is closed.
    pub async fn open(spec: &DeviceSpec, device: AdbDevice, budget: &Budget) -> Result<AndroidDriver, DriverError> {
        device.ready(budget).await.map_err(AdbError::not_started)?;
        let features = device.features(budget).await.map_err(AdbError::not_started)?;
        if !features.iter().any(|feature| feature == "shell_v2") {
            let evidence = format!("`{}` is too old: Android 7 or newer is needed", device.serial());
            return Err(DriverError::NotStarted { evidence });
        }
        let phone = Phone { device };
        if undo::put_back_left_behind(&phone, budget).await? {
            tracing::debug!(target: "trailblaze::android", "put back what an earlier session had left behind");
        }
        let facts = PhoneFacts::read(&phone, budget).await?;
        readiness::wake(&phone, budget).await?;
        let description = describe(spec, &facts);
        let (undo, events) = (Arc::new(UndoShell::default()), Arc::new(DeviceEvents::default()));
        let looking = spec.settings.get::<PhoneSettings>().map(|settings| settings.looking).unwrap_or_default();
        let automation = automation::open(looking, &phone, &undo, &events, description.shape, budget).await?;
        let (app_log, video) = (AppLog::default(), ScreenVideo::default());
        let (web_views, seen) = (WebViews::default(), Mutex::default());
        let driver =
            AndroidDriver { description, facts, phone, undo, automation, app_log, video, web_views, seen, events };
        if let Err(error) = driver.stop_animations(budget).await {
            let text = format!("animations stay on, so that waits may take longer: {error}");
            driver.events.add(DeviceEvent::Log { level: Level::Warning, text });
        }
        Ok(driver)
    }

    /// The tree of the screen, and what follows from it.
    pub(super) async fn hierarchy(&self, budget: &Budget) -> Result<ViewHierarchy, DriverError> {
        let mut screen = self.automation.tree(budget).await?;
        self.web_views.fill((&self.phone, self.description.shape), budget, &mut screen).await?;
        let dialog = SystemDialog::on(&screen);
        let is_new = {
            let mut seen = self.seen.lock();
            seen.is_sideways = screen.is_sideways;
            std::mem::replace(&mut seen.dialog, dialog.clone()) != dialog
        };
        if let (true, Some(dialog)) = (is_new, dialog) {
            self.events.add(dialog.event(&self.phone, budget, self.app_log.has_crashed()).await);
        }
        Ok(screen)
    }

    /// The size of the screen as the device was turned when it was last looked at.
    pub(super) fn screen_size(&self) -> Size {
        let Size { width, height } = self.facts.size;
        match self.seen.lock().is_sideways {
            true => Size { width: height, height: width },
            false => self.facts.size,
        }
    }

    pub(super) fn set_clipboard(&self, text: &str) {
        self.seen.lock().clipboard = Some(text.to_string());
    }

    pub(super) fn clipboard_text(&self) -> Option<String> {
        self.seen.lock().clipboard.clone()
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

    async fn stop_animations(&self, budget: &Budget) -> Result<(), DriverError> {
        let each = |command: &dyn Fn(&str) -> String| ANIMATIONS.map(command).join("; ");
        let values = self.phone.must(budget, &each(&|name| format!("settings get global {name}"))).await?;
        let values: Vec<&str> = values.lines().map(str::trim).collect();
        if values.iter().all(|value| value.parse() == Ok(0.0)) {
            return Ok(());
        }
        for (name, value) in ANIMATIONS.iter().zip(values) {
            self.undo.keep(&self.phone, budget, &put_back("global", name, value)).await?;
        }
        self.undo.change(&self.phone, budget, &each(&|name| format!("settings put global {name} 0"))).await
    }
}

fn describe(spec: &DeviceSpec, facts: &PhoneFacts) -> DeviceDescription {
    let is_stated = spec.settings.get::<PhoneSettings>().is_some_and(|settings| !settings.classifiers.is_empty());
    let own = ["android", facts.kind].map(str::to_string).to_vec();
    DeviceDescription {
        id: spec.id.clone(),
        platform: spec.platform,
        driver: spec.driver.clone(),
        shape: Shape::for_driver(&spec.driver, spec.platform),
        size: facts.size,
        classifiers: if is_stated { spec.classifiers.clone() } else { own },
        summary: facts.summary(),
        knows_elements: false,
    }
}

#[async_trait]
impl Driver for AndroidDriver {
    fn describe(&self) -> &DeviceDescription {
        &self.description
    }

    async fn observe(&self, budget: &Budget, want: ObserveOptions) -> Result<Screen, DriverError> {
        // At the same time, because each of them takes long.
        let picture = async {
            match want.picture {
                true => self.automation.picture(budget).await.map(Some),
                false => Ok(None),
            }
        };
        let (hierarchy, picture) = tokio::try_join!(self.hierarchy(budget), picture)?;
        Ok(Screen {
            snapshot: self.number(&hierarchy.root),
            size: hierarchy.size(self.facts.size),
            app: hierarchy.package,
            root: hierarchy.root,
            picture,
            is_moving: false,
        })
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

    fn app_installer(&self) -> Option<&dyn AppInstaller> {
        Some(self)
    }

    fn front_app(&self) -> Option<&dyn FrontApp> {
        Some(self)
    }

    fn files(&self) -> Option<&dyn FileTransfer> {
        Some(self)
    }

    fn settings(&self) -> Option<&dyn SettingsControl> {
        Some(self)
    }

    fn recorder(&self) -> Option<&dyn ScreenRecorder> {
        Some(self)
    }

    fn permissions(&self) -> Option<&dyn PermissionControl> {
        Some(self)
    }

    fn clipboard(&self) -> Option<&dyn ClipboardControl> {
        Some(self)
    }

    fn network(&self) -> Option<&dyn NetworkControl> {
        Some(self)
    }

    fn shell(&self) -> Option<&dyn DeviceShell> {
        Some(self)
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

    fn events(&self) -> Option<&DeviceEvents> {
        Some(&self.events)
    }

    async fn close(&self) {
        self.app_log.stop();
        self.web_views.close();
        self.automation.close().await;
        let budget = Budget::new(Instant::now() + CLOSING, CancellationToken::new());
        if let Err(error) = self.undo.run(&budget).await {
            tracing::warn!(target: "trailblaze::android", %error, "the phone puts back its settings without us");
        }
    }
}
