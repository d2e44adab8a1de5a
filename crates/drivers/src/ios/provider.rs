//! What a project says about its iPhones, iPads and simulators.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trailblaze_core::device_source::{DeviceSource, DeviceSpec};
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Table};
use trailblaze_protocol::driver::{DriverKey, Platform};

use super::config::{DRIVER, IosSettings, NAME, spec};
use super::devices::IosDevices;
use super::wda::WdaAddress;
use crate::provider::{ConfigKeys, DeviceProvider, Machine, ProviderConfig, WantedDevice};

pub const PROVIDER: DeviceProvider = DeviceProvider {
    name: NAME,
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
        /// The WebDriver endpoint that a device is behind, such as a grid or a farm; phones need Appium there: http://127.0.0.1:4444.
        "webdriver" => webdriver: Option<String> = None,
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
        // What is behind an endpoint is no iPhone of this machine.
        for (id, entry) in self.entries.iter().filter(|(id, entry)| is_own(id) && entry.webdriver.is_none()) {
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
