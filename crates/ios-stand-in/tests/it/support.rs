//! A stand-in with the wallet on it, and a driver that uses it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::device_source::{DeviceSource, DeviceSpec};
use trailblaze_core::driver::{
    Action, ActionTarget, Budget, DeviceCommand, Driver, DriverError, LaunchMode, ObserveOptions,
};
use trailblaze_core::query::{Checks, ElementProperties, Find, Found, Query, QueryTarget, TextMatch};
use trailblaze_core::screen::Screen;
use trailblaze_core::yaml::{Problems, Source, YamlKind, YamlNode, read};
use trailblaze_drivers::ios::PROVIDER;
use trailblaze_drivers::provider::{FileError, Machine, ProjectPart, ProviderConfig, WantedDevice};
use trailblaze_ios_stand_in::{CLEAR_DATA, StandIn, start};
use trailblaze_protocol::driver::Platform;
use trailblaze_supervise::Supervisor;

pub const WALLET: &str = "com.example.Wallet";
const ID: &str = "ios/stand-in";

pub fn wallet_app() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wallet/wallet.app.yaml")
}

pub fn budget() -> Budget {
    Budget::new(Instant::now() + Duration::from_secs(60), CancellationToken::new())
}

/// A stand-in, and the driver of it.
pub struct Connected {
    pub stand_in: StandIn,
    pub driver: Arc<dyn Driver>,
}

impl Connected {
    pub async fn open() -> Connected {
        let stand_in = start(&[wallet_app()]).expect("a stand-in");
        let (source, spec) = device(&stand_in);
        let driver = source.acquire(&spec, &budget()).await.expect("it is ready");
        Connected { stand_in, driver }
    }

    pub async fn launch(&self, mode: LaunchMode) -> Result<(), DriverError> {
        let command = DeviceCommand::LaunchApp { app: WALLET.to_string(), mode };
        command.carry_out(&*self.driver, &budget()).await.map(drop)
    }

    pub async fn screen(&self) -> Screen {
        self.driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen")
    }

    async fn search(&self, element: ElementProperties) -> Found {
        let query = Query { what: QueryTarget::Element(element), index: None };
        let budget = budget();
        // What the app does takes its time.
        loop {
            match self.driver.find(&budget, &query, Checks::Actionable).await.expect("a search") {
                Find::Found(found) => return found,
                Find::Not(why) if budget.remaining().is_zero() => panic!("{why}"),
                Find::Not(_) => self.driver.changed(&budget, Default::default()).await.expect("a tick"),
            }
        }
    }

    pub async fn id(&self, id: &str) -> Found {
        self.search(ElementProperties { id: Some(id.to_string()), ..ElementProperties::default() }).await
    }

    pub async fn text(&self, text: &str) -> Found {
        self.search(ElementProperties {
            text: Some(TextMatch::Exact(text.to_string())),
            ..ElementProperties::default()
        })
        .await
    }

    pub async fn act(&self, found: Found, action: Action) {
        self.try_act(ActionTarget::Element(found), action).await.expect("it is done");
    }

    pub async fn try_act(&self, target: ActionTarget, action: Action) -> Result<(), DriverError> {
        self.driver.act(&budget(), &target, &action).await.map(drop)
    }

    pub async fn fill(&self, id: &str, text: &str) {
        self.act(self.id(id).await, Action::SetText { text: text.to_string() }).await;
    }
}

/// The device of a project that names the address of the stand-in.
pub fn device(stand_in: &StandIn) -> (Arc<dyn DeviceSource>, DeviceSpec) {
    device_with(stand_in, "")
}

/// The same, with further keys.
pub fn device_with(stand_in: &StandIn, keys: &str) -> (Arc<dyn DeviceSource>, DeviceSpec) {
    let keys = format!("wda: {}\nclearDataArguments: [{CLEAR_DATA}]\n{keys}", stand_in.address());
    let project = TestProject::of(ID, &keys);
    let machine = Machine::new(Supervisor::new(), Arc::new(HashMap::new()));
    (project.open(&machine), project.device(ID).expect("it can be had"))
}

/// What a project says about iPhones.
pub struct TestProject(Arc<dyn ProviderConfig>);

impl TestProject {
    /// One that lists no devices.
    pub fn empty() -> TestProject {
        TestProject::with(Vec::new())
    }

    /// One that lists a device with these keys.
    pub fn of(id: &str, keys: &str) -> TestProject {
        let entry = Source::new("trailblaze.yaml", keys);
        let entry = read(&entry, &mut Problems::new(&entry)).expect("keys");
        TestProject::with(vec![(id, entry)])
    }

    fn with(devices: Vec<(&str, YamlNode)>) -> TestProject {
        let source = Source::new("trailblaze.yaml", "");
        let section = YamlNode { span: Default::default(), kind: YamlKind::Map(Vec::new()) };
        let file = |_: &str| Err(FileError::Missing);
        let part = ProjectPart { root: "/".as_ref(), source: &source, section, devices, read: &file };
        TestProject((PROVIDER.read)(&part, &mut Vec::new()))
    }

    pub fn open(&self, machine: &Machine) -> Arc<dyn DeviceSource> {
        self.0.open(machine).expect("it opens")
    }

    pub fn device(&self, id: &str) -> Result<DeviceSpec, String> {
        let name = id.split_once('/').expect("platform/name").1;
        let wanted = WantedDevice { id, platform: Platform::Ios, name, driver: None, classifiers: &[] };
        self.0.device(&wanted).expect("an iPhone")
    }
}
