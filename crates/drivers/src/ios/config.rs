//! What is known of an iPhone before it is asked.

use std::path::PathBuf;

use trailblaze_core::device_source::{DeviceSettings, DeviceSpec};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use super::mac::is_simulator_udid;
use super::usb::is_udid;
use super::wda::WdaAddress;

/// The name of the provider.
pub const NAME: &str = "ios";
pub const DRIVER: &str = "ios-host";

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

pub fn spec(id: &str, driver: Option<&DriverKey>, settings: IosSettings, summary: String) -> DeviceSpec {
    // Most are iPhones; the others say so once they are acquired.
    let stated = &settings.classifiers;
    let kind = if stated.is_empty() { vec!["iphone".to_string()] } else { stated.clone() };
    DeviceSpec {
        id: DeviceId::new(id.to_string()),
        platform: Platform::Ios,
        driver: driver.cloned().unwrap_or_else(|| DriverKey::new(DRIVER)),
        provider: NAME,
        classifiers: [vec!["ios".to_string()], kind].concat(),
        size: Size { width: 0, height: 0 },
        summary,
        follows_person: false,
        // One WebDriverAgent has one session, whatever its device is called.
        machine_id: Some(format!("ios-{}", settings.address.authority())),
        settings: DeviceSettings::new(settings),
    }
}
