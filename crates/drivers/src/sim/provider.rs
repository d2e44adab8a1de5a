//! Simulated devices: which there are, their apps and their faults.

use std::sync::Arc;

use async_trait::async_trait;
use trailblaze_core::device_source::{DeviceSettings, DeviceSource, DeviceSpec};
use trailblaze_core::driver::{Budget, Driver, DriverError};
use trailblaze_core::finding::Finding;
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Problem, Problems, Spanned, Table};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::ids::DeviceId;

use super::app::SimApp;
use super::demo_app;
use super::driver::{Options, Sim, traits_of};
use super::faults::Faults;
use super::layout::Metrics;
use super::servers::SimServers;
use crate::provider::{ConfigKeys, DeviceProvider, FileError, Machine, ProjectPart, ProviderConfig, WantedDevice};

pub const PROVIDER: DeviceProvider = DeviceProvider {
    name: "sim",
    plural: "simulated devices",
    drivers: &[],
    project_keys: ConfigKeys { names: SimProject::KEYS, schema: SimProject::schema },
    device_keys: ConfigKeys::NONE,
    default_device: |platform| match platform {
        Platform::Android => Some("android/sim-1"),
        Platform::Ios => Some("ios/sim-1"),
        Platform::Desktop => Some("desktop/sim-1"),
        Platform::Web => None,
    },
    read: |part, found| Arc::new(SimConfig::read(part, found)),
};

table! {
    /// What a project says about simulated devices.
    pub struct SimProject {
        /// Simulated devices: their apps and faults.
        "sim" => sim: Option<SimSection> = None,
    }
}

table! {
    /// Simulated devices.
    pub struct SimSection {
        /// The apps that are installed, as paths from the project's root.
        "apps" => apps: Vec<Spanned<String>> = Vec::new(),
        /// Latency and faults.
        "faults" => faults: Faults = Faults::default(),
    }
}

/// The settings of all simulated devices of a project.
struct SimConfig {
    apps: Vec<Arc<SimApp>>,
    faults: Faults,
}

impl SimConfig {
    /// Without apps, the built-in one is used.
    fn read(part: &ProjectPart<'_>, found: &mut Vec<Problem>) -> SimConfig {
        let mut problems = Problems::new(part.source);
        let section = SimProject::decode(&part.section, &mut problems).and_then(|project| project.sim);
        let mut apps = Vec::new();
        for path in section.iter().flat_map(|section| &section.apps) {
            match (part.read)(&path.value) {
                Ok(source) => {
                    let mut app_problems = Problems::new(&source);
                    apps.extend(SimApp::read(&source, &mut app_problems).map(Arc::new));
                    found.extend(app_problems.into_vec());
                }
                // What is wrong in a file is quoted, and the file may be another's.
                Err(FileError::Outside) => problems
                    .error(path.span, format!("the app `{}` is outside of the project; copy it into it", path.value)),
                Err(FileError::Missing) => problems.error(path.span, format!("there is no app `{}`", path.value)),
                Err(FileError::Unreadable(unreadable)) => found.extend(unreadable),
            }
        }
        found.extend(problems.into_vec());
        if apps.is_empty() {
            apps.push(demo_app());
        }
        SimConfig { apps, faults: section.map(|section| section.faults).unwrap_or_default() }
    }

    fn faults(&self, machine: &Machine) -> Result<Faults, String> {
        let mut faults = self.faults.clone();
        for setting in &machine.sim_settings {
            faults.set(setting).map_err(|error| error.to_string())?;
        }
        Ok(faults)
    }
}

impl ProviderConfig for SimConfig {
    fn device(&self, wanted: &WantedDevice<'_>) -> Option<Result<DeviceSpec, String>> {
        let id = DeviceId::new(format!("{}/{}", wanted.platform, wanted.name));
        // A simulated device stands for another driver, so that its filters and shapes can be tried.
        let driver = wanted.driver.filter(|driver| driver.as_str() != DriverKey::SIM);
        id.is_simulated().then(|| Ok(spec(id, wanted.platform, driver, wanted.classifiers)))
    }

    fn another(&self, device: &DeviceSpec, number: u32) -> String {
        format!("{}/sim-{number}", device.platform)
    }

    fn uses_seed(&self, machine: &Machine) -> bool {
        self.faults(machine).is_ok_and(|faults| faults != Faults::default())
    }

    fn open(&self, machine: &Machine) -> Result<Arc<dyn DeviceSource>, String> {
        let options = Options { seed: machine.seed, faults: self.faults(machine)? };
        Ok(Arc::new(SimDevices { apps: self.apps.clone(), servers: Arc::default(), options }))
    }
}

fn spec(id: DeviceId, platform: Platform, driver: Option<&DriverKey>, classifiers: &[String]) -> DeviceSpec {
    let (own, summary) = traits_of(platform);
    let mut all: Vec<String> = own.iter().map(|word| word.to_string()).collect();
    // `[tablet]` makes it an `android-tablet`.
    if !classifiers.is_empty() {
        all.truncate(1);
        all.extend(classifiers.iter().cloned());
    }
    DeviceSpec {
        id,
        platform,
        driver: driver.cloned().unwrap_or_else(|| DriverKey::default_for(platform)),
        provider: PROVIDER.name,
        classifiers: all,
        size: Metrics::of(platform).size,
        summary: summary.to_string(),
        follows_person: false,
        machine_id: None,
        settings: DeviceSettings::new(()),
    }
}

struct SimDevices {
    apps: Vec<Arc<SimApp>>,
    servers: Arc<SimServers>,
    options: Options,
}

#[async_trait]
impl DeviceSource for SimDevices {
    async fn discover(&self, _: &Budget) -> Result<Vec<DeviceSpec>, DriverError> {
        let one = |platform: Platform| spec(DeviceId::new(format!("{platform}/sim-1")), platform, None, &[]);
        Ok(Platform::ALL.map(one).to_vec())
    }

    async fn acquire(&self, device: &DeviceSpec, _: &Budget) -> Result<Arc<dyn Driver>, DriverError> {
        let (id, driver) = (device.id.clone(), device.driver.clone());
        let sim = Sim::open(id, device.platform, driver, self.apps.clone(), self.options.clone());
        Ok(Arc::new(sim.with_servers(&self.servers).with_classifiers(&device.classifiers)))
    }

    async fn check(&self, _: &Budget, _: bool) -> Vec<Finding> {
        Vec::new()
    }

    async fn close(&self) {}
}
