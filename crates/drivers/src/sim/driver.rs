//! The simulated device as the engine sees it.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::Instant;
use trailblaze_core::driver::{
    Action, ActionOutput, ActionTarget, AppControl, AppInventory, BrowserControl, Budget, ClipboardControl,
    DesktopControl, DeviceDescription, DeviceShell, Driver, DriverError, FileTransfer, FrontApp, NetworkControl,
    ObserveOptions, PermissionControl, PhoneAbilities, SettingsControl,
};
use trailblaze_core::screen::{Screen, Shape, SnapshotId};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Point;
use trailblaze_protocol::ids::DeviceId;

use super::app::SimApp;
use super::device::SimDevice;
use super::faults::Faults;
use super::layout::Metrics;
use super::paint::picture;
use super::servers::SimServers;

/// A simulated device. It behaves the same on every run with the same seed and device id.
pub struct Sim {
    description: DeviceDescription,
    device: Mutex<SimDevice>,
    changed: Notify,
    servers: Arc<SimServers>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    pub seed: u64,
    pub faults: Faults,
}

/// The classifiers of a simulated device, broadest first, and its name for people.
pub(super) fn traits_of(platform: Platform) -> (&'static [&'static str], &'static str) {
    match platform {
        Platform::Android => (&["android", "phone"], "simulated android phone"),
        Platform::Ios => (&["ios", "iphone"], "simulated iphone"),
        Platform::Web => (&["web"], "simulated web browser"),
        Platform::Desktop => (&["desktop"], "simulated desktop"),
    }
}

impl Sim {
    /// Needs a Tokio runtime, whose clock it uses.
    pub fn open(id: DeviceId, platform: Platform, driver: DriverKey, apps: Vec<Arc<SimApp>>, options: Options) -> Sim {
        let metrics = Metrics::of(platform);
        let shape = Shape::for_driver(&driver, platform);
        let (classifiers, summary) = traits_of(platform);
        let device = SimDevice::new(metrics, shape, apps, &id, options);
        let description = DeviceDescription {
            id,
            platform,
            driver,
            shape,
            size: metrics.size,
            classifiers: classifiers.iter().map(|word| word.to_string()).collect(),
            summary: summary.to_string(),
            knows_elements: false,
        };
        Sim { description, device: Mutex::new(device), changed: Notify::new(), servers: Arc::default() }
    }

    /// Lets its apps share what their servers keep with those of other devices.
    pub(super) fn with_servers(self, servers: &Arc<SimServers>) -> Sim {
        self.device.lock().use_servers(servers);
        Sim { servers: Arc::clone(servers), ..self }
    }

    /// Makes it another kind of device of its platform.
    pub fn with_classifiers(mut self, classifiers: &[String]) -> Sim {
        self.description.classifiers = classifiers.to_vec();
        self
    }

    /// A tap that follows another so soon that both are a double tap, for those who send taps one by one.
    pub fn tap_again(&self, point: Point) {
        let now = Instant::now();
        self.device(now).change(now, |device| device.tap_again(point, now));
        self.changed.notify_waiters();
    }

    /// The current state of the device. After a panic it stays as it was left, like a real device.
    pub(super) fn device(&self, now: Instant) -> MutexGuard<'_, SimDevice> {
        let mut device = self.device.lock();
        device.advance(now);
        device
    }

    /// Waits as long as a command takes on this device.
    async fn pause(&self, budget: &Budget, what: &str) -> Result<(), DriverError> {
        let latency = {
            let mut device = self.device(Instant::now());
            device.here()?;
            device.latency()
        };
        if budget.cancel.is_cancelled() {
            return Err(DriverError::Cancelled);
        }
        if latency.is_zero() {
            return Ok(());
        }
        budget.run(what, tokio::time::sleep(latency)).await
    }
}

impl Sim {
    /// Carries out a command: it takes its time, may fail by chance, and may change what is displayed.
    pub(super) async fn command<T>(
        &self,
        budget: &Budget,
        name: &str,
        carry_out: impl FnOnce(&mut SimDevice, Instant) -> Result<T, DriverError> + Send,
    ) -> Result<T, DriverError> {
        self.pause(budget, name).await?;
        let now = Instant::now();
        let mut device = self.device(now);
        device.here()?;
        let done = device.strike(name).and_then(|()| {
            let done = device.change(now, |device| carry_out(device, now));
            if done.is_ok() {
                device.count();
            }
            done
        });
        drop(device);
        self.changed.notify_waiters();
        done
    }
}

#[async_trait]
impl Driver for Sim {
    fn describe(&self) -> &DeviceDescription {
        &self.description
    }

    async fn observe(&self, budget: &Budget, want: ObserveOptions) -> Result<Screen, DriverError> {
        self.pause(budget, "observe").await?;
        let mut device = self.device(Instant::now());
        device.here()?;
        let mut screen = device.observe();
        if want.picture {
            let app = &device.apps[device.front].app;
            let address = screen.app.as_deref().filter(|_| device.platform() == Platform::Web);
            let caption = address.unwrap_or(app.name());
            screen.picture = Some(picture(&device.scene(), &device.metrics, app, caption));
        }
        Ok(screen)
    }

    async fn act(&self, budget: &Budget, target: &ActionTarget, action: &Action) -> Result<ActionOutput, DriverError> {
        self.command(budget, action.name(), |device, now| device.act(target, action, now)).await
    }

    fn apps(&self) -> Option<&dyn AppControl> {
        Some(self)
    }

    fn app_inventory(&self) -> Option<&dyn AppInventory> {
        Some(self)
    }

    fn permissions(&self) -> Option<&dyn PermissionControl> {
        if self.description.platform == Platform::Android { Some(self) } else { None }
    }

    fn front_app(&self) -> Option<&dyn FrontApp> {
        if self.description.platform.is_mobile() { Some(self) } else { None }
    }

    fn files(&self) -> Option<&dyn FileTransfer> {
        if self.description.platform.is_mobile() { Some(self) } else { None }
    }

    fn settings(&self) -> Option<&dyn SettingsControl> {
        if self.description.platform.is_mobile() { Some(self) } else { None }
    }

    fn clipboard(&self) -> Option<&dyn ClipboardControl> {
        Some(self)
    }

    fn desktop(&self) -> Option<&dyn DesktopControl> {
        if self.description.platform == Platform::Desktop { Some(self) } else { None }
    }

    fn network(&self) -> Option<&dyn NetworkControl> {
        if matches!(self.description.platform, Platform::Android | Platform::Web) { Some(self) } else { None }
    }

    fn phone(&self) -> Option<&dyn PhoneAbilities> {
        if self.description.platform.is_mobile() { Some(self) } else { None }
    }

    fn shell(&self) -> Option<&dyn DeviceShell> {
        if self.description.platform == Platform::Android { Some(self) } else { None }
    }

    fn browser(&self) -> Option<&dyn BrowserControl> {
        if self.description.platform == Platform::Web { Some(self) } else { None }
    }

    async fn changed(&self, budget: &Budget, since: SnapshotId) -> Result<(), DriverError> {
        loop {
            let (notified, heard) = (self.changed.notified(), self.servers.changed.notified());
            tokio::pin!(notified, heard);
            // Subscribes before checking, so that no change in between is missed.
            notified.as_mut().enable();
            heard.as_mut().enable();
            let due = {
                let device = self.device(Instant::now());
                device.here()?;
                if device.version() != since {
                    return Ok(());
                }
                device.next_due().map_or(budget.deadline, |due| due.min(budget.deadline))
            };
            tokio::select! {
                biased;
                () = budget.cancel.cancelled() => return Err(DriverError::Cancelled),
                () = notified => {}
                () = heard => {}
                () = tokio::time::sleep_until(due) => {
                    if Instant::now() >= budget.deadline {
                        return Ok(());
                    }
                }
            }
        }
    }
}
