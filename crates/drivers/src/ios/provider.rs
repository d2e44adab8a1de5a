//! iPhones, iPads and simulators whose WebDriverAgent answers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;
use trailblaze_core::device_source::{DeviceSettings, DeviceSource, DeviceSpec};
use trailblaze_core::driver::{Budget, Driver, DriverError};
use trailblaze_core::finding::Finding;
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Table};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use super::driver::IosDriver;
use super::facts::{WdaStatus, device_name};
use super::wda::{WdaAddress, WdaClient, WdaError};
use crate::provider::{ConfigKeys, DeviceProvider, Machine, ProviderConfig, WantedDevice};

const DRIVER: &str = "ios-host";
/// What findings are about.
const ABOUT: &str = "iphone";
/// How long WebDriverAgent may take to say that it is there.
const ASKING: Duration = Duration::from_secs(5);

pub const PROVIDER: DeviceProvider = DeviceProvider {
    name: "ios",
    plural: "iPhones and iPads",
    drivers: &[DRIVER],
    project_keys: ConfigKeys::NONE,
    device_keys: ConfigKeys { names: IosEntry::KEYS, schema: IosEntry::schema },
    default_device: |_| None,
    read: |part, found| Arc::new(IosConfig { entries: part.decode_devices(found) }),
};

table! {
    /// What the entry of a device says if it is an iPhone or an iPad.
    pub struct IosEntry {
        /// Where WebDriverAgent answers for an iPhone, an iPad or a simulator (default http://127.0.0.1:8100).
        "wda" => wda: Option<String> = None,
        /// Arguments with which an app on an iPhone clears its data when it is launched; without them, its data cannot be cleared.
        "clearDataArguments" => clear_data_arguments: Vec<String> = Vec::new(),
    }
}

impl IosEntry {
    fn settings(&self, classifiers: &[String]) -> Result<IosSettings, String> {
        let address = self.wda.as_deref().map_or(Ok(WdaAddress::usual()), WdaAddress::parse)?;
        let clear_data_arguments = self.clear_data_arguments.clone();
        Ok(IosSettings { address, clear_data_arguments, classifiers: classifiers.to_vec() })
    }
}

struct IosConfig {
    entries: HashMap<String, IosEntry>,
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
            Some(entry) => entry.settings(classifiers),
            None => Ok(IosSettings { classifiers: classifiers.to_vec(), ..IosSettings::default() }),
        };
        Some(settings.map(|settings| spec(id, driver, settings, "iPhone".to_string())))
    }

    fn open(&self, _: &Machine) -> Result<Arc<dyn DeviceSource>, String> {
        let mut addresses = BTreeMap::new();
        for (id, entry) in self.entries.iter().filter(|(id, _)| is_own(id)) {
            // A project whose other devices are in order must not fail because of this one.
            if let Ok(settings) = entry.settings(&[]) {
                addresses.insert(id.clone(), settings);
            }
        }
        Ok(Arc::new(IosDevices { entries: addresses }))
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
    pub clear_data_arguments: Vec<String>,
    /// Its kind; empty if that is left to the device.
    pub classifiers: Vec<String>,
}

impl Default for IosSettings {
    fn default() -> IosSettings {
        IosSettings { address: WdaAddress::usual(), clear_data_arguments: Vec::new(), classifiers: Vec::new() }
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

/// The devices whose WebDriverAgent answers: those of the project, and one at the usual address.
struct IosDevices {
    entries: BTreeMap<String, IosSettings>,
}

impl IosDevices {
    /// Those that may be there. One without an id is named by itself.
    fn candidates(&self) -> Vec<(Option<&str>, IosSettings)> {
        let usual = WdaAddress::usual();
        let is_listed = self.entries.values().any(|settings| settings.address == usual);
        let listed = self.entries.iter().map(|(id, settings)| (Some(id.as_str()), settings.clone()));
        listed.chain((!is_listed).then(|| (None, IosSettings::default()))).collect()
    }
}

/// One that answers: its name and what it says about itself.
async fn ask(settings: &IosSettings, budget: &Budget) -> Result<(String, WdaStatus), WdaError> {
    let brief = Budget { deadline: budget.deadline.min(Instant::now() + ASKING), ..budget.clone() };
    let wda = WdaClient::new(settings.address.clone());
    let status = WdaStatus::ask(&wda, &brief).await?;
    let name = wda.get(&brief, "/wda/device/info").await.map(|device| device_name(&device)).unwrap_or_default();
    Ok((name, status))
}

/// A name as part of a device's id: `Adas-iPhone`.
fn id_of(name: &str) -> String {
    let kept: String = name
        .chars()
        .filter(|sign| !matches!(sign, '\'' | '’'))
        .map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '-' })
        .collect();
    let words: Vec<&str> = kept.split('-').filter(|word| !word.is_empty()).collect();
    let name = if words.is_empty() { "iphone".to_string() } else { words.join("-") };
    // `sim-` is the name of simulated devices.
    let prefix = if name.starts_with("sim-") { "ios-" } else { "" };
    format!("ios/{prefix}{name}")
}

#[async_trait]
impl DeviceSource for IosDevices {
    async fn discover(&self, budget: &Budget) -> Result<Vec<DeviceSpec>, DriverError> {
        let candidates = self.candidates();
        let asked = candidates.iter().map(|(_, settings)| ask(settings, budget));
        let answers = futures::future::join_all(asked).await;
        let mut found = Vec::new();
        for ((id, settings), answer) in candidates.iter().zip(answers) {
            // Who does not answer is not there.
            let Ok((name, status)) = answer else { continue };
            let id = id.map_or_else(|| id_of(&name), str::to_string);
            let classifiers = ["ios", status.kind].map(str::to_string).to_vec();
            found.push(DeviceSpec { classifiers, ..spec(&id, None, settings.clone(), status.summary(&name)) });
        }
        Ok(found)
    }

    async fn acquire(&self, device: &DeviceSpec, budget: &Budget) -> Result<Arc<dyn Driver>, DriverError> {
        let settings = device.settings.get::<IosSettings>().cloned().unwrap_or_default();
        Ok(Arc::new(IosDriver::open(device, settings, budget).await?))
    }

    async fn check(&self, budget: &Budget, is_needed: bool) -> Vec<Finding> {
        let candidates = self.candidates();
        let asked = candidates.iter().map(|(_, settings)| ask(settings, budget));
        let answers = futures::future::join_all(asked).await;
        let mut found = Vec::new();
        for ((id, settings), answer) in candidates.iter().zip(answers) {
            let is_wanted = is_needed && (id.is_some() || self.entries.is_empty());
            found.extend(match answer {
                Ok((name, status)) => Some(good(settings, &name, &status)),
                Err(error) if is_wanted => Some(Finding::bad(ABOUT, error.to_string()).hint(
                    "start WebDriverAgent on the device; for one behind a cable, forward its port: `iproxy 8100 8100`",
                )),
                // Few projects have an iPhone, and those know where it is.
                Err(WdaError::Unreachable { .. }) => None,
                Err(error) => Some(Finding::note(ABOUT, format!("{error}; this project does not need it"))),
            });
        }
        found
    }

    async fn close(&self) {}
}

fn good(settings: &IosSettings, name: &str, status: &WdaStatus) -> Finding {
    let version = if status.version.is_empty() { String::new() } else { format!(" {}", status.version) };
    Finding::good(ABOUT, format!("{}, WebDriverAgent{version} at {}", status.summary(name), settings.address))
}
