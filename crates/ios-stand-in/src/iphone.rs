//! The state of the device around the simulated apps: session, alert, clipboard, which apps run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Action, ActionTarget, Budget, DeviceCommand, Driver, DriverError, ObserveOptions};
use trailblaze_core::screen::Screen;
use trailblaze_drivers::sim::{Options, Sim, SimApp};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::{Point, Size};
use trailblaze_protocol::ids::DeviceId;

use crate::system_alert::SystemAlert;

/// Pixels in a row of one point.
pub const SCALE: f64 = 3.0;
/// The argument with which an app clears its data when it is launched.
pub const CLEAR_DATA: &str = "--clear-data";
pub const SPRINGBOARD: &str = "com.apple.springboard";

pub struct Iphone {
    sim: Sim,
    /// The bundle ids of the installed apps, each with its name.
    pub installed: BTreeMap<String, String>,
    state: Mutex<IphoneState>,
}

/// What an element is recognized by when it is used again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementKey {
    pub kind: String,
    pub name: Option<String>,
    /// Which of those that are the same otherwise.
    pub index: usize,
}

#[derive(Default)]
pub struct IphoneState {
    pub session: Option<String>,
    /// How many sessions and elements were given an id.
    pub n_ids: u64,
    /// The elements that the session found, by their ids.
    pub elements: BTreeMap<String, ElementKey>,
    pub alert: Option<SystemAlert>,
    pub clipboard: String,
    pub is_locked: bool,
    /// The apps that were started and not stopped.
    pub running: BTreeSet<String>,
    pub is_landscape: bool,
    /// How many of the next trees are still those of the screen before it was turned.
    pub n_unturned: u32,
    pub is_dark: bool,
    pub location: Option<(f64, f64)>,
    /// The buttons of the device that were pressed.
    pub pressed: Vec<String>,
    /// How far two fingers turned, each time, in degrees.
    pub twists: Vec<i32>,
    /// How many keys a second a client wanted to be typed last.
    pub typing_frequency: Option<u64>,
    /// How the app was launched last: its arguments and its environment.
    pub launched_with: Value,
    /// What an audit finds.
    pub audit: Vec<Value>,
}

impl IphoneState {
    /// An id in the form of those that XCTest makes.
    pub fn new_id(&mut self) -> String {
        self.n_ids += 1;
        format!("5D000000-0000-0000-{:04X}-{:012X}", self.n_ids >> 16, self.n_ids)
    }
}

impl Iphone {
    /// Needs a Tokio runtime, whose clock the simulated device uses.
    pub fn new(apps: Vec<Arc<SimApp>>) -> Iphone {
        let named = |app: &Arc<SimApp>| (app.id_for(Platform::Ios).to_string(), app.name().to_string());
        let installed = apps.iter().map(named).collect();
        let driver = DriverKey::default_for(Platform::Ios);
        let sim = Sim::open(DeviceId::new("ios/stand-in"), Platform::Ios, driver, apps, Options::default());
        Iphone { sim, installed, state: Mutex::default() }
    }

    pub fn state(&self) -> MutexGuard<'_, IphoneState> {
        self.state.lock()
    }

    /// The size of the screen in pixels.
    pub fn size(&self) -> Size {
        self.sim.describe().size
    }

    fn budget() -> Budget {
        Budget::new(Instant::now() + Duration::from_secs(600), CancellationToken::new())
    }

    pub async fn screen(&self, want: ObserveOptions) -> Screen {
        let screen = self.sim.observe(&Iphone::budget(), want).await;
        let screen = screen.expect("a simulated device without faults is never lost");
        // An app may have opened another.
        if let Some(app) = &screen.app {
            self.state().running.insert(app.clone());
        }
        screen
    }

    pub async fn act(&self, target: ActionTarget, action: Action) -> Result<(), DriverError> {
        self.sim.act(&Iphone::budget(), &target, &action).await.map(drop)
    }

    pub async fn send(&self, command: DeviceCommand) -> Result<(), DriverError> {
        command.carry_out(&self.sim, &Iphone::budget()).await.map(drop)
    }

    /// A place of the simulated device in pixels, for one of the screen in points. A screen that is turned shows the same picture, turned.
    pub fn in_pixels(&self, x: f64, y: f64) -> Point {
        let width = f64::from(self.size().width) / SCALE;
        let (x, y) = if self.state().is_landscape { (width - y, x) } else { (x, y) };
        Point { x: (x * SCALE).round() as i32, y: (y * SCALE).round() as i32 }
    }

    /// The bundle id of the app in front. The home screen and alerts of the system belong to the same one.
    pub async fn front(&self) -> String {
        let app = self.screen(ObserveOptions::TREE).await.app;
        let has_alert = self.state().alert.is_some();
        app.filter(|_| !has_alert).unwrap_or_else(|| SPRINGBOARD.to_string())
    }
}
