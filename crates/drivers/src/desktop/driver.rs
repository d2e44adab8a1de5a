//! A desktop as the engine sees it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::time::Instant;
use trailblaze_core::device_source::DeviceSpec;
use trailblaze_core::driver::{
    Action, ActionOutput, ActionTarget, AppControl, AppInventory, Budget, ClipboardControl, DesktopControl,
    DeviceDescription, DeviceEvents, Driver, DriverError, ObserveOptions, TrailStart,
};
use trailblaze_core::screen::{Node, Screen, SnapshotId};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::geometry::Size;

use super::apps::StartedApps;
use super::atspi::{AccessibleApp, AccessibleRef, Asking, AtspiBus};
use super::dbus::DBusConnection;
use super::place::{DesktopPlace, DesktopSettings};
use super::session::PrivateSession;
use super::x11::{XAddress, XDisplay};
use crate::provider::Machine;

/// How often the screen is looked at while something is awaited.
const TICK: Duration = Duration::from_millis(60);

/// The windows of programs on a Linux desktop.
pub struct DesktopDriver {
    description: DeviceDescription,
    pub(super) settings: DesktopSettings,
    /// `None` in the session of the user.
    pub(super) session: Option<PrivateSession>,
    /// `None` on Wayland, where only a program's own actions work.
    pub(super) x: Option<XDisplay>,
    pub(super) bus: AtspiBus,
    pub(super) apps: StartedApps,
    pub(super) seen: Mutex<Seen>,
    pub(super) events: DeviceEvents,
}

/// What the driver remembers between commands.
#[derive(Default)]
pub(super) struct Seen {
    snapshot: u64,
    /// The tree of the last look, to know whether the screen changed.
    root: Option<Node>,
    /// The elements of the last look, by the ids of their nodes.
    pub elements: HashMap<u64, SeenElement>,
    /// Programs by their names on the bus, which are never used again.
    pub programs: HashMap<Arc<str>, AccessibleApp>,
    /// How each program is asked about its elements.
    pub asking: HashMap<Arc<str>, Asking>,
    /// Programs that did not answer the last time.
    pub hanging: Vec<Arc<str>>,
    /// Whether a trail was started on the device before.
    pub was_used: bool,
    /// Programs whose crash was reported.
    pub crashed: Vec<u32>,
}

/// An element that was seen.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SeenElement {
    pub at: AccessibleRef,
    pub class: &'static str,
    pub is_editable: bool,
    pub is_checked: Option<bool>,
    /// The window that it is in.
    pub window: Option<u32>,
}

impl DesktopDriver {
    pub async fn open(
        spec: &DeviceSpec,
        settings: DesktopSettings,
        machine: &Machine,
        budget: &Budget,
    ) -> Result<DesktopDriver, DriverError> {
        let programs = super::place::programs(machine);
        let (session, address, bus_address) = match &settings.place {
            DesktopPlace::Xvfb { size } => {
                let session = PrivateSession::start(*size, &machine.supervisor, &programs, budget).await?;
                let (address, bus) = (session.x.clone(), session.bus_address.clone());
                (Some(session), Some(address), bus)
            }
            DesktopPlace::Own => {
                let own =
                    super::place::own_session(machine).map_err(|evidence| DriverError::NotStarted { evidence })?;
                (None, own.display.map(XAddress::Display), own.bus_address)
            }
        };
        let opened = connect(address, &bus_address, session.is_some());
        let opened = budget.run("the desktop did not answer", opened).await.and_then(|opened| opened);
        let (x, bus) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                if let Some(session) = &session {
                    session.close().await;
                }
                return Err(error);
            }
        };
        let size = x.as_ref().map_or(Size { width: 0, height: 0 }, |x| x.size);
        let description = DeviceDescription { size, summary: summary(&settings, x.is_some()), ..spec.description() };
        let variables = session.as_ref().map(|session| session.variables.clone()).unwrap_or_default();
        let folder = session.as_ref().map(|session| session.folder.clone());
        let apps = StartedApps::new(machine.supervisor.clone(), programs, variables, folder);
        let (seen, events) = (Mutex::default(), DeviceEvents::default());
        let driver = DesktopDriver { description, settings, session, x, bus, apps, seen, events };
        if let Err(error) = driver.start_own(budget).await {
            driver.close().await;
            return Err(DriverError::NotStarted { evidence: error.to_string() });
        }
        Ok(driver)
    }

    /// Starts the program of the device.
    async fn start_own(&self, budget: &Budget) -> Result<(), DriverError> {
        match &self.settings.app {
            Some(app) => self.launch_app(budget, app).await,
            None => Ok(()),
        }
    }

    /// Fails if the desktop is gone.
    pub(super) fn check_alive(&self) -> Result<(), DriverError> {
        let ended = self.session.as_ref().and_then(PrivateSession::ended);
        match ended.or_else(|| self.bus.gone().map(|why| format!("the accessibility bus is gone: {why}"))) {
            Some(evidence) => Err(DriverError::Lost { evidence }),
            None => Ok(()),
        }
    }

    /// The X server. Without one, the pointer and the keyboard cannot be used.
    pub(super) fn x(&self, action: &str) -> Result<&XDisplay, DriverError> {
        self.x.as_ref().ok_or_else(|| unsupported(action))
    }

    /// Reports programs that ended by a signal or with an error.
    pub(super) fn notice_crashes(&self) {
        for (name, app) in self.apps.all() {
            let Some(ended) = app.ended() else { continue };
            let is_new = {
                let mut seen = self.seen.lock();
                let is_new = !seen.crashed.contains(&app.child.pid());
                seen.crashed.push(app.child.pid());
                seen.crashed.dedup();
                is_new
            };
            let is_good = app.child.exited() == Some(trailblaze_supervise::ProcessExit::Code(0));
            if is_new && !is_good {
                self.events.add(DeviceEvent::Crash { why: format!("`{name}` {ended}") });
            }
        }
    }

    /// A screen that is the same as before keeps its number.
    pub(super) fn number(&self, root: &Node) -> SnapshotId {
        let mut seen = self.seen.lock();
        if seen.root.as_ref() != Some(root) {
            seen.root = Some(root.clone());
            seen.snapshot += 1;
        }
        SnapshotId(seen.snapshot)
    }
}

pub(super) fn unsupported(action: &str) -> DriverError {
    DriverError::Unsupported { action: action.to_string(), platform: Platform::Desktop }
}

async fn connect(
    address: Option<XAddress>,
    bus: &str,
    is_own: bool,
) -> Result<(Option<XDisplay>, AtspiBus), DriverError> {
    let not_started = |evidence: String| DriverError::NotStarted { evidence };
    let x = match address {
        Some(address) => Some(XDisplay::open(address, is_own).await.map_err(|error| not_started(error.to_string()))?),
        None => None,
    };
    let session = DBusConnection::open(bus).await.map_err(|error| not_started(error.to_string()))?;
    let bus = AtspiBus::open(&session).await.map_err(|error| {
        not_started(format!("the accessibility bus does not start: {error}; is at-spi2-core installed?"))
    })?;
    Ok((x, bus))
}

fn summary(settings: &DesktopSettings, has_x: bool) -> String {
    match (&settings.place, has_x) {
        (DesktopPlace::Xvfb { .. }, _) => "desktop under Xvfb".to_string(),
        (DesktopPlace::Own, true) => "this machine's desktop".to_string(),
        (DesktopPlace::Own, false) => "this machine's desktop, Wayland".to_string(),
    }
}

#[async_trait]
impl Driver for DesktopDriver {
    fn describe(&self) -> &DeviceDescription {
        &self.description
    }

    async fn observe(&self, budget: &Budget, want: ObserveOptions) -> Result<Screen, DriverError> {
        self.look(budget, want).await
    }

    async fn act(&self, budget: &Budget, target: &ActionTarget, action: &Action) -> Result<ActionOutput, DriverError> {
        self.check_alive()?;
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

    fn desktop(&self) -> Option<&dyn DesktopControl> {
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

    /// Programs of an earlier trail are ended, and the device's own is started again.
    async fn begin_trail(&self, budget: &Budget, _: &TrailStart) -> Result<(), DriverError> {
        let was_used = std::mem::replace(&mut self.seen.lock().was_used, true);
        if !was_used {
            return Ok(());
        }
        self.check_alive()?;
        self.apps.stop_all().await;
        self.start_own(budget).await
    }

    async fn close(&self) {
        self.apps.stop_all().await;
        if let Some(session) = &self.session {
            session.close().await;
        }
    }
}
