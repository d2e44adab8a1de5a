//! The table of device providers, and what each of them implements.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncReadExt;
use trailblaze_core::device_source::{DeviceSource, DeviceSpec};
use trailblaze_core::driver::Budget;
use trailblaze_core::yaml::{Decode, Problem, Problems, Source, YamlKind, YamlNode};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_supervise::{Launch, Supervisor};

/// How long a program may take to print its version.
const VERSION: Duration = Duration::from_secs(10);

/// Every provider of this build, in the order in which they are asked for a device. A new one is a folder with its configuration, its
/// source of devices and its driver, and a line here.
pub const PROVIDERS: &[&DeviceProvider] = &[
    &crate::sim::PROVIDER,
    &crate::web::PROVIDER,
    // Before those of phones: it takes only phones whose entry has an endpoint.
    &crate::appium::PROVIDER,
    &crate::android::PROVIDER,
    &crate::ios::PROVIDER,
    &crate::desktop::PROVIDER,
];

/// A kind of devices.
pub struct DeviceProvider {
    pub name: &'static str,
    /// For messages: `browsers`.
    pub plural: &'static str,
    /// The keys of the drivers that its devices have. Empty if a device stands for one with any driver.
    pub drivers: &'static [&'static str],
    /// The keys that it reads at the top of `trailblaze.yaml`.
    pub project_keys: ConfigKeys,
    /// The keys that it reads in the entry of a device.
    pub device_keys: ConfigKeys,
    /// The device of a platform that is used if neither the project nor the command names one.
    pub default_device: fn(Platform) -> Option<&'static str>,
    pub read: fn(&ProjectPart<'_>, &mut Vec<Problem>) -> Arc<dyn ProviderConfig>,
}

/// Keys of a mapping.
pub struct ConfigKeys {
    pub names: &'static [&'static str],
    /// The JSON Schema of a mapping that has only these keys.
    pub schema: fn() -> Value,
}

impl ConfigKeys {
    pub const NONE: ConfigKeys = ConfigKeys { names: &[], schema: || serde_json::json!({"properties": {}}) };

    /// The entries of a mapping that have these keys.
    pub fn of(&self, node: &YamlNode) -> YamlNode {
        let own = |(key, _): &&(YamlNode, YamlNode)| self.names.contains(&key.raw().unwrap_or_default());
        let entries = node.entries().unwrap_or_default().iter().filter(own).cloned().collect();
        YamlNode { span: node.span, kind: YamlKind::Map(entries) }
    }
}

impl DeviceProvider {
    /// Why a device of this provider cannot have a driver, if that is so.
    pub fn unsupported_driver(&self, driver: &DriverKey) -> Option<String> {
        let is_served = self.drivers.is_empty() || self.drivers.contains(&driver.as_str());
        let names = || self.drivers.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        (!is_served).then(|| format!("{} are driven by {}", self.plural, names()))
    }
}

/// What a project says about one provider.
pub struct ProjectPart<'a> {
    pub root: &'a Path,
    /// The project file, which the nodes are from.
    pub source: &'a Arc<Source>,
    /// The provider's keys at the top of it.
    pub section: YamlNode,
    /// The provider's keys in the entry of each device, by the device's id.
    pub devices: Vec<(&'a str, YamlNode)>,
    /// Reads a text file of the project.
    pub read: &'a dyn Fn(&str) -> Result<Arc<Source>, FileError>,
}

impl ProjectPart<'_> {
    /// Decodes the provider's keys: those at the top, and those of each device by its id.
    pub fn decode<P: Decode, E: Decode>(&self, found: &mut Vec<Problem>) -> (Option<P>, HashMap<String, E>) {
        let mut problems = Problems::new(self.source);
        let project = P::decode(&self.section, &mut problems);
        found.extend(problems.into_vec());
        (project, self.decode_devices(found))
    }

    /// Decodes the provider's keys of each device, by its id.
    pub fn decode_devices<E: Decode>(&self, found: &mut Vec<Problem>) -> HashMap<String, E> {
        let mut problems = Problems::new(self.source);
        let entry = |(id, node): &(&str, YamlNode)| Some((id.to_string(), E::decode(node, &mut problems)?));
        let entries = self.devices.iter().filter_map(entry).collect();
        found.extend(problems.into_vec());
        entries
    }
}

/// Why a file of a project was not read.
pub enum FileError {
    Outside,
    Missing,
    Unreadable(Vec<Problem>),
}

/// The part of a project's configuration that a provider has read.
pub trait ProviderConfig: Send + Sync {
    /// The device of this name. `None` if it is none of this provider's, `Err` if it cannot be had.
    fn device(&self, wanted: &WantedDevice<'_>) -> Option<Result<DeviceSpec, String>>;

    /// A further device like this one, whose name is not taken.
    fn another(&self, device: &DeviceSpec, number: u32) -> String {
        let name = device.id.as_str().split_once('/').map_or(device.id.as_str(), |(_, name)| name);
        format!("{}/{name}-{}", device.platform, number + 1)
    }

    /// How many devices like this one a run may use at a time without being told so, each with a session of its own.
    fn slots(&self, device: &DeviceSpec) -> u32 {
        let _ = device;
        1
    }

    /// Whether a device that was lost can be had again, because it is a session of which there can be many.
    fn is_renewed(&self, device: &DeviceSpec) -> bool {
        let _ = device;
        false
    }

    /// Whether the seed decides what its devices do.
    fn uses_seed(&self, machine: &Machine) -> bool {
        let _ = machine;
        false
    }

    /// The source of its devices. Starts nothing. Fails if a setting is not valid.
    fn open(&self, machine: &Machine) -> Result<Arc<dyn DeviceSource>, String>;
}

/// A device that a project or a command names.
pub struct WantedDevice<'a> {
    /// As platform/name.
    pub id: &'a str,
    pub platform: Platform,
    pub name: &'a str,
    /// The driver that its entry says.
    pub driver: Option<&'a DriverKey>,
    /// What kind of device of its platform it is, if its entry says so.
    pub classifiers: &'a [String],
}

/// What a process offers to providers, and what its command says about devices.
#[derive(Clone)]
pub struct Machine {
    /// Starts and owns every process.
    pub supervisor: Supervisor,
    pub variables: Arc<HashMap<OsString, OsString>>,
    /// Whether we run as root.
    pub is_root: bool,
    /// Whether the windows of browsers are shown.
    pub is_headed: bool,
    /// What jitter, drift and faults of simulated devices are drawn from.
    pub seed: u64,
    /// Settings of simulated devices, of the form `latency=20ms`.
    pub sim_settings: Vec<String>,
}

impl Machine {
    pub fn new(supervisor: Supervisor, variables: Arc<HashMap<OsString, OsString>>) -> Machine {
        let is_root = false;
        Machine { supervisor, variables, is_root, is_headed: false, seed: 0, sim_settings: Vec::new() }
    }

    /// An environment variable.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// The first line that a program prints about its version, or why it prints none.
    pub async fn version_of(&self, program: &Path, argument: &str, budget: &Budget) -> Result<String, String> {
        let mut launch = Launch::new(program.as_os_str().to_os_string(), std::env::temp_dir());
        launch.args = vec![argument.into()];
        let version = async {
            let mut running = self.supervisor.start(launch).await.map_err(|error| error.to_string())?;
            let mut text = String::new();
            let read = running.stdout.read_to_string(&mut text).await.map(|_| text);
            let ended = running.child.ended().await;
            let text = read.map_err(|error| error.to_string())?;
            let first = text.lines().find(|line| !line.trim().is_empty()).map(|line| line.trim().to_string());
            first.ok_or_else(|| format!("it {ended}, and printed nothing"))
        };
        let limit = budget.remaining().min(VERSION);
        let version = tokio::time::timeout(limit, version).await;
        version.unwrap_or_else(|_| Err(format!("it printed no version within {} s", limit.as_secs())))
    }
}
