//! The device behind the driver: its apps, the one in front, and the effects of time.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;
use trailblaze_core::driver::DriverError;
use trailblaze_core::screen::{Screen, Shape, SnapshotId};
use trailblaze_core::yaml::{Entries, Spanned};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::ids::DeviceId;

use super::app::{AppEffect, Item, SimApp, Value, launcher};
use super::dice::Dice;
use super::driver::Options;
use super::effects::{Leave, later};
use super::faults::Faults;
use super::layout::{Metrics, Placed, View, lay_out};
use super::servers::SimServers;
use super::state::{AppState, Shown};
use super::tree::tree;

pub struct SimDevice {
    pub metrics: Metrics,
    pub shape: Shape,
    /// The home screen, then the installed apps.
    pub apps: Vec<Installed>,
    pub front: usize,
    pub clipboard: String,
    pub files: BTreeMap<String, Vec<u8>>,
    version: u64,
    drift: (i32, i32),
    faults: Faults,
    timing: Dice,
    slipping: Dice,
    failing: Dice,
    acts: u32,
    lost: Option<String>,
}

pub struct Installed {
    pub app: Arc<SimApp>,
    pub state: AppState,
}

const HOME: usize = 0;

/// Further than any screen is wide.
const MOST_DRIFT: u32 = 10_000;

impl SimDevice {
    pub fn new(metrics: Metrics, shape: Shape, apps: Vec<Arc<SimApp>>, id: &DeviceId, options: Options) -> SimDevice {
        let now = Instant::now();
        let dice = |purpose| Dice::new(options.seed, id.as_str(), purpose);
        let rows = apps.iter().map(|app| row(app, metrics.platform)).collect();
        let installed = std::iter::once(launcher()).chain(apps);
        let mut apps: Vec<Installed> = installed.map(|app| Installed { app, state: AppState::new(now) }).collect();
        apps[HOME].state.shown.lists.insert("apps".to_string(), rows);
        let mut device = SimDevice {
            metrics,
            shape,
            apps,
            front: HOME,
            clipboard: String::new(),
            files: BTreeMap::new(),
            version: 1,
            drift: (0, 0),
            faults: options.faults,
            timing: dice("timing"),
            slipping: dice("slipping"),
            failing: dice("failing"),
            acts: 0,
            lost: None,
        };
        device.go_home(now);
        device.settle(now);
        device
    }

    pub fn platform(&self) -> Platform {
        self.metrics.platform
    }

    pub fn version(&self) -> SnapshotId {
        SnapshotId(self.version)
    }

    pub fn here(&self) -> Result<(), DriverError> {
        match &self.lost {
            Some(evidence) => Err(DriverError::Lost { evidence: evidence.clone() }),
            None => Ok(()),
        }
    }

    /// How long the next command takes.
    pub fn latency(&mut self) -> std::time::Duration {
        let jitter = u32::try_from(self.faults.jitter.0).unwrap_or(u32::MAX);
        let millis = self.faults.latency.0.saturating_add_signed(self.timing.within(jitter));
        std::time::Duration::from_millis(millis)
    }

    /// Applies faults before an action.
    pub fn strike(&mut self, action: &str) -> Result<(), DriverError> {
        let is_lost = self.failing.happens(self.faults.lost_at.value());
        let is_refused = self.failing.happens(self.faults.refuse.value());
        if is_lost {
            self.lost = Some(format!("it disconnected during `{action}` (injected fault)"));
            return self.here();
        }
        if is_refused {
            return Err(DriverError::Refused { reason: format!("the device refused `{action}` (injected fault)") });
        }
        Ok(())
    }

    /// Counts a completed action.
    pub fn count(&mut self) {
        self.acts += 1;
        if self.faults.lost_after.is_some_and(|most| self.acts >= most) {
            self.lost = Some(format!("it disconnected after {} actions (injected fault)", self.acts));
        }
    }

    /// Performs a change, and notes whether it is visible.
    pub fn change<T>(&mut self, now: Instant, work: impl FnOnce(&mut SimDevice) -> T) -> T {
        let before = (self.front, self.front_state().shown.clone());
        let done = work(self);
        self.settle(now);
        if (self.front, &self.front_state().shown) != (before.0, &before.1) {
            self.version += 1;
        }
        done
    }

    /// Applies everything that is due.
    pub fn advance(&mut self, now: Instant) {
        while let Some((due, idx)) = self.first_due().filter(|(due, _)| *due <= now) {
            self.change(due, |device| device.elapse(idx, due));
        }
        for idx in 0..self.apps.len() {
            if !self.apps[idx].app.shared.is_empty() {
                self.change(now, |device| {
                    let Installed { app, state } = &mut device.apps[idx];
                    state.hear(app);
                });
            }
        }
    }

    /// Uses the servers that other devices use too.
    pub fn use_servers(&mut self, servers: &Arc<SimServers>) {
        self.apps.iter_mut().for_each(|installed| installed.state.servers = Arc::clone(servers));
    }

    /// When the next effect is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.first_due().map(|(due, _)| due)
    }

    fn first_due(&self) -> Option<(Instant, usize)> {
        let due = self.apps.iter().enumerate().flat_map(|(idx, installed)| {
            let state = &installed.state;
            let timers = state.timers.iter().map(|timer| timer.due);
            let ready = (state.is_running() && !state.shown.is_ready).then(|| self.ready_at(state));
            timers.chain(state.toast_until).chain(ready).map(move |due| (due, idx))
        });
        due.min()
    }

    fn ready_at(&self, state: &AppState) -> Instant {
        later(state.arrived, self.faults.slow_screen.duration())
    }

    fn elapse(&mut self, idx: usize, now: Instant) {
        let state = &mut self.apps[idx].state;
        if state.toast_until.is_some_and(|until| until <= now) {
            state.toast_until = None;
            state.shown.toast = None;
        }
        if let Some(timer) = state.timers.iter().position(|timer| timer.due <= now) {
            let timer = state.timers.remove(timer);
            if timer.visit == state.visit {
                self.run_in(idx, &[timer.effect], timer.item.as_ref(), now);
            }
        }
    }

    /// Shows the elements of screens whose delay is over.
    fn settle(&mut self, now: Instant) {
        for idx in 0..self.apps.len() {
            let is_ready = self.ready_at(&self.apps[idx].state) <= now;
            let state = &mut self.apps[idx].state;
            state.shown.is_ready |= state.is_running() && is_ready;
        }
    }

    /// Looks at the screen; a drifting device has shifted since the last look.
    pub fn observe(&mut self) -> Screen {
        if self.faults.drift > 0 {
            let mut slip = || self.slipping.within(self.faults.drift.min(MOST_DRIFT)) as i32;
            let drift = (slip(), slip());
            if drift != self.drift {
                self.drift = drift;
                self.version += 1;
            }
        }
        let root = tree(&self.scene(), self.shape, &self.front_id());
        Screen {
            snapshot: self.version(),
            size: self.metrics.size,
            app: (self.front != HOME).then(|| self.front_id()),
            root,
            picture: None,
            is_moving: false,
        }
    }

    pub fn scene(&self) -> Placed<'_> {
        let front = &self.apps[self.front];
        let view = View { scope: front.state.scope(&front.app, None), drift: self.drift };
        lay_out(self.metrics, &view)
    }

    pub fn front_state(&self) -> &AppState {
        &self.apps[self.front].state
    }

    pub fn shown_mut(&mut self) -> &mut Shown {
        &mut self.apps[self.front].state.shown
    }

    /// The identifier of the front app: a package, a bundle or a web address.
    pub fn front_id(&self) -> String {
        let Installed { app, state } = &self.apps[self.front];
        match self.platform() {
            Platform::Web if self.front != HOME => app.address_of(state.scope(app, None).screen_name()),
            platform => app.id_for(platform).to_string(),
        }
    }

    pub fn run(&mut self, effects: &[AppEffect], item: Option<&Item>, now: Instant) {
        self.run_in(self.front, effects, item, now);
    }

    fn run_in(&mut self, idx: usize, effects: &[AppEffect], item: Option<&Item>, now: Instant) {
        let Installed { app, state } = &mut self.apps[idx];
        let leave = state.run(app, effects, item, now);
        self.leave(leave, now);
    }

    /// Follows an effect out of its app. A URL that no app handles is ignored, as on a real device.
    pub fn leave(&mut self, leave: Option<Leave>, now: Instant) {
        match leave {
            Some(Leave::Home) => self.go_home(now),
            Some(Leave::Open(id)) => {
                if let Some(idx) = self.installed(&id) {
                    self.bring_to_front(idx, now);
                } else if let Some((idx, screen)) = self.linked(&id) {
                    self.open_screen(idx, &screen, now);
                }
            }
            None => {}
        }
    }

    pub fn go_home(&mut self, now: Instant) {
        self.bring_to_front(HOME, now);
    }

    /// Shows an app, and starts it if it is not running.
    pub fn bring_to_front(&mut self, idx: usize, now: Instant) {
        self.front = idx;
        let Installed { app, state } = &mut self.apps[idx];
        if !state.is_running() {
            let leave = state.start(app, now);
            self.leave(leave, now);
        }
    }

    /// The app with this id; an address may or may not end in a slash.
    pub fn installed(&self, id: &str) -> Option<usize> {
        let plain = |id: &str| id.trim_end_matches('/').to_string();
        let mut apps = self.apps.iter().enumerate().skip(1);
        apps.find(|(_, installed)| plain(installed.app.id_for(self.platform())) == plain(id)).map(|(idx, _)| idx)
    }

    /// The app and the screen that a URL opens.
    pub fn linked(&self, url: &str) -> Option<(usize, String)> {
        self.apps.iter().enumerate().skip(1).find_map(|(idx, installed)| {
            let screen = installed.app.screen_for_link(url, self.platform())?;
            Some((idx, screen.to_string()))
        })
    }

    pub fn open_screen(&mut self, idx: usize, screen: &str, now: Instant) {
        self.bring_to_front(idx, now);
        let Installed { app, state } = &mut self.apps[idx];
        let leave = state.open(app, screen, now);
        self.leave(leave, now);
    }

    pub fn ids(&self) -> Vec<&str> {
        self.apps[1..].iter().map(|installed| installed.app.id_for(self.metrics.platform)).collect()
    }
}

fn row(app: &SimApp, platform: Platform) -> Item {
    let cell = |name: &str, value: &str| {
        (Spanned { value: name.to_string(), span: Default::default() }, Value(value.to_string()))
    };
    Entries(vec![cell("name", app.name()), cell("id", app.id_for(platform))])
}
