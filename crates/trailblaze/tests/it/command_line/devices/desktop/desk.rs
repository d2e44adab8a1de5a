//! A desktop of a test.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{
    Action, ActionOutput, ActionTarget, Budget, DeviceCommand, Driver, DriverError, LaunchMode, ObserveOptions,
};
use trailblaze_core::query::{Checks, ElementProperties, Find, Found, Query, QueryTarget, TextMatch};
use trailblaze_core::snapshot::{Details, text};
use trailblaze_drivers::desktop::{DesktopDriver, DesktopPlace, DesktopSettings, desktop_device};
use trailblaze_drivers::provider::Machine;
use trailblaze_protocol::geometry::Size;
use trailblaze_supervise::Supervisor;

use crate::support::marked::Mark;
use crate::support::{PATIENCE, PROGRAM, skip};

/// Whether these programs are here, with all that a desktop needs.
pub fn has(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let missing: Vec<&&str> = ["Xvfb", "dbus-daemon"].iter().chain(programs).filter(|name| !is_there(name)).collect();
    if !missing.is_empty() {
        skip::without_part(&format!("{missing:?} are missing; `scripts/parts full` installs them"));
    }
    missing.is_empty()
}

pub struct Desk {
    pub driver: Arc<DesktopDriver>,
    pub mark: Mark,
    pub temp: tempfile::TempDir,
    pub supervisor: Supervisor,
}

pub fn budget() -> Budget {
    Budget::new(Instant::now() + PATIENCE, CancellationToken::new())
}

impl Desk {
    pub async fn open() -> Desk {
        let place = DesktopPlace::Xvfb { size: Size { width: 1024, height: 768 } };
        Desk::open_in(place, tempfile::tempdir().expect("a folder"), Mark::new(), &[]).await
    }

    /// The session of these variables, or one of its own.
    pub async fn open_in(
        place: DesktopPlace,
        temp: tempfile::TempDir,
        mark: Mark,
        session: &[(&str, OsString)],
    ) -> Desk {
        let is_foreign = |name: &OsString| name == "DBUS_SESSION_BUS_ADDRESS" || name == "DISPLAY";
        let variables = std::env::vars_os().filter(|(name, _)| !is_foreign(name)).chain([mark.variable()]);
        let session = session.iter().map(|(name, value)| (OsString::from(name), value.clone()));
        let variables: Vec<(OsString, OsString)> = variables.chain(session).collect();
        let supervisor = Supervisor::with_guardian(PROGRAM).in_environment(variables.clone());
        let machine = Machine::new(supervisor.clone(), Arc::new(variables.into_iter().collect()));
        let settings = DesktopSettings { place, app: None };
        let spec = desktop_device("desktop/xvfb", None, &[], settings.clone());
        let driver = DesktopDriver::open(&spec, settings, &machine, &budget()).await.expect("the desktop starts");
        Desk { driver: Arc::new(driver), mark, temp, supervisor }
    }

    pub async fn close(self) {
        self.driver.close().await;
        self.supervisor.settled().await;
        self.mark.wait_until_none_left().await;
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub async fn send(&self, command: DeviceCommand) -> ActionOutput {
        let name = command.name();
        command.carry_out(&*self.driver, &budget()).await.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub async fn launch(&self, app: &str) {
        self.send(DeviceCommand::LaunchApp { app: app.to_string(), mode: LaunchMode::ForceRestart }).await;
    }

    pub async fn screen(&self) -> String {
        let mut screen = self.driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
        trailblaze_core::refs::assign(&mut screen.root, false);
        text(&screen, &Details::default())
    }

    /// The element with a text, as soon as it can be used.
    pub async fn find(&self, name: &str) -> Found {
        let wanted =
            ElementProperties { text: Some(TextMatch::Exact(name.to_string())), ..ElementProperties::default() };
        let query = Query { what: QueryTarget::Element(wanted), index: Some(0) };
        let until = Instant::now() + PATIENCE;
        loop {
            match self.driver.find(&budget(), &query, Checks::Actionable).await.expect("it can be searched") {
                Find::Found(found) => return found,
                Find::Not(why) if Instant::now() > until => panic!("{why}\n{}", self.screen().await),
                Find::Not(_) => tokio::time::sleep(Duration::from_millis(30)).await,
            }
        }
    }

    pub async fn act(&self, target: ActionTarget, action: Action) -> Result<ActionOutput, DriverError> {
        self.driver.act(&budget(), &target, &action).await
    }

    /// Does something with the element that has a text. Another try is made if it moved away, as the engine makes it.
    pub async fn on(&self, name: &str, action: Action) {
        for _ in 0..20 {
            let found = self.find(name).await;
            match self.act(ActionTarget::Element(found), action.clone()).await {
                Err(DriverError::Evaded { .. }) => {}
                done => return drop(done.unwrap_or_else(|error| panic!("{name}: {error}"))),
            }
        }
        panic!("{name} gets away");
    }

    pub async fn tap(&self, name: &str) {
        self.on(name, Action::Tap).await;
    }

    pub async fn type_text(&self, text: &str) {
        let action = Action::InputText { text: text.to_string() };
        self.act(ActionTarget::Device, action).await.expect("it is typed");
    }

    pub async fn press(&self, chord: &str) {
        let action = Action::PressChord { chord: chord.to_string(), count: 1, repeats: 0 };
        self.act(ActionTarget::Device, action).await.unwrap_or_else(|error| panic!("{chord}: {error}"));
    }

    pub async fn menu(&self, path: &[&str]) {
        self.send(DeviceCommand::ChooseMenu { path: path.iter().map(|name| name.to_string()).collect() }).await;
    }

    /// The titles of the windows.
    pub async fn titles(&self) -> Vec<String> {
        let value = self.send(DeviceCommand::Windows).await.value.expect("windows");
        let windows = value["windows"].as_array().expect("a list");
        windows.iter().map(|window| window["title"].as_str().unwrap_or_default().to_string()).collect()
    }

    /// Waits until something is true of the screen.
    pub async fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen().await;
            if is_so(&screen) {
                return screen;
            }
            assert!(Instant::now() < until, "{what}\n{screen}");
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }
}
