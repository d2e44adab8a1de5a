//! What a project says about its iPhones, iPads and simulators.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trailblaze_core::device_source::{DeviceSettings, DeviceSource, DeviceSpec};
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Table};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use super::devices::IosDevices;
use super::mac::is_simulator_udid;
use super::usb::is_udid;
use super::wda::WdaAddress;
use crate::provider::{ConfigKeys, DeviceProvider, Machine, ProviderConfig, WantedDevice};

const DRIVER: &str = "ios-host";

pub const PROVIDER: DeviceProvider = DeviceProvider {
    name: "ios",
    plural: "iPhones and iPads",
    drivers: &[DRIVER],
    project_keys: ConfigKeys::NONE,
    device_keys: ConfigKeys { names: IosEntry::KEYS, schema: IosEntry::schema },
    default_device: |_| None,
    read: |part, found| Arc::new(IosConfig { entries: part.decode_devices(found), root: part.root.to_path_buf() }),
};

table! {
    /// What the entry of a device says if it is an iPhone or an iPad.
    pub struct IosEntry {
        /// Where WebDriverAgent answers: http://host:port, or usb://UDID for an iPhone on a cable (default http://127.0.0.1:8100).
        "wda" => wda: Option<String> = None,
        /// The simulator that is started if it does not run, by its name or its UDID. Needs a Mac with Xcode.
        "simulator" => simulator: Option<String> = None,
        /// The folder of WebDriverAgent's Xcode project, which is started if WebDriverAgent does not answer. Needs a Mac with Xcode.
        "wdaProject" => wda_project: Option<String> = None,
        /// Where WebDriverAgent streams pictures of the screen (its port 9100), for the studio and other live views.
        "mjpeg" => mjpeg: Option<String> = None,
        /// How many keys a second are typed on an iPhone (default: as WebDriverAgent does).
        "typingFrequency" => typing_frequency: Option<u32> = None,
        /// Arguments with which an app on an iPhone clears its data when it is launched; without them, its data cannot be cleared.
        "clearDataArguments" => clear_data_arguments: Vec<String> = Vec::new(),
    }
}

impl IosEntry {
    fn settings(&self, id: &str, root: &Path, classifiers: &[String]) -> Result<IosSettings, String> {
        let named = IosSettings::named(id, classifiers);
        let address = self.wda.as_deref().map_or(Ok(named.address), |text| WdaAddress::parse("wda", text))?;
        let mjpeg = self.mjpeg.as_deref().map(|text| WdaAddress::parse("mjpeg", text)).transpose()?;
        Ok(IosSettings {
            address,
            mjpeg,
            simulator: self.simulator.clone().or(named.simulator),
            wda_project: self.wda_project.as_ref().map(|folder| root.join(folder)),
            typing_frequency: self.typing_frequency,
            clear_data_arguments: self.clear_data_arguments.clone(),
            classifiers: classifiers.to_vec(),
        })
    }
}

struct IosConfig {
    entries: HashMap<String, IosEntry>,
    root: PathBuf,
}

impl ProviderConfig for IosConfig {
    /// Any name that is not that of a simulated device is one that somebody gave to an iPhone.
    fn device(&self, wanted: &WantedDevice<'_>) -> Option<Result<DeviceSpec, String>> {
        let WantedDevice { id, platform, name, driver, classifiers } = *wanted;
        if platform != Platform::Ios || name.is_empty() || name.starts_with("sim-") {
            return None;
        }
        let driver = driver.filter(|driver| driver.as_str() != DriverKey::SIM);
        let settings = match self.entries.get(id) {
            Some(entry) => entry.settings(id, &self.root, classifiers),
            None => Ok(IosSettings::named(id, classifiers)),
        };
        Some(settings.map(|settings| spec(id, driver, settings, "iPhone".to_string())))
    }

    fn open(&self, machine: &Machine) -> Result<Arc<dyn DeviceSource>, String> {
        let mut entries = BTreeMap::new();
        for (id, entry) in self.entries.iter().filter(|(id, _)| is_own(id)) {
            // A project whose other devices are in order must not fail because of this one.
            if let Ok(settings) = entry.settings(id, &self.root, &[]) {
                entries.insert(id.clone(), settings);
            }
        }
        Ok(Arc::new(IosDevices::new(entries, machine)))
    }
}

/// Whether an entry of the project is about an iPhone, and not about a browser or a simulated device.
fn is_own(id: &str) -> bool {
    id.strip_prefix("ios/").is_some_and(|name| !name.is_empty() && !name.starts_with("sim-"))
}

/// What the entry of a device says.
#[derive(Debug, Clone, PartialEq)]
pub struct IosSettings {
    pub address: WdaAddress,
    pub mjpeg: Option<WdaAddress>,
    /// The simulator that is started, by its name or its UDID.
    pub simulator: Option<String>,
    pub wda_project: Option<PathBuf>,
    /// How many keys a second are typed; `None` leaves that to WebDriverAgent.
    pub typing_frequency: Option<u32>,
    pub clear_data_arguments: Vec<String>,
    /// Its kind; empty if that is left to the device.
    pub classifiers: Vec<String>,
}

impl Default for IosSettings {
    fn default() -> IosSettings {
        IosSettings {
            address: WdaAddress::usual(),
            mjpeg: None,
            simulator: None,
            wda_project: None,
            typing_frequency: None,
            clear_data_arguments: Vec::new(),
            classifiers: Vec::new(),
        }
    }
}

impl IosSettings {
    /// Those that follow from an id: the UDID of an iPhone stands for its cable, that of a simulator for the simulator.
    pub fn named(id: &str, classifiers: &[String]) -> IosSettings {
        let name = id.split_once('/').map_or(id, |(_, name)| name);
        IosSettings {
            address: if is_udid(name) { WdaAddress::cable(name) } else { WdaAddress::usual() },
            simulator: is_simulator_udid(name).then(|| name.to_string()),
            classifiers: classifiers.to_vec(),
            ..IosSettings::default()
        }
    }
}

pub(super) fn spec(id: &str, driver: Option<&DriverKey>, settings: IosSettings, summary: String) -> DeviceSpec {
    // Most are iPhones; the others say so once they are acquired.
    let stated = &settings.classifiers;
    let kind = if stated.is_empty() { vec!["iphone".to_string()] } else { stated.clone() };
    DeviceSpec {
        id: DeviceId::new(id.to_string()),
        platform: Platform::Ios,
        driver: driver.cloned().unwrap_or_else(|| DriverKey::new(DRIVER)),
        provider: PROVIDER.name,
        classifiers: [vec!["ios".to_string()], kind].concat(),
        size: Size { width: 0, height: 0 },
        summary,
        follows_person: false,
        // One WebDriverAgent has one session, whatever its device is called.
        machine_id: Some(format!("ios-{}", settings.address.authority())),
        settings: DeviceSettings::new(settings),
    }
}
