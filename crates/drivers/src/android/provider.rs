//! Phones and tablets with Android: which are connected, and what is wrong with one that cannot be used.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::device_source::{DeviceSettings, DeviceSource, DeviceSpec};
use trailblaze_core::driver::{Budget, Driver, DriverError};
use trailblaze_core::finding::Finding;
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Table};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use super::adb::{AdbAddress, AdbClient, AdbDevice, AdbDeviceInfo, AdbError, AdbServer};
use super::automation::Looking;
use super::driver::AndroidDriver;
use super::phone::Phone;
use super::program::find_adb;
use super::readiness;
use crate::provider::{ConfigKeys, DeviceProvider, Machine, ProviderConfig, WantedDevice};

const DRIVER: &str = "android-host";
/// What findings about the program and the server are about.
const ADB: &str = "adb";
/// The one device that is meant, for adb and for us.
const SERIAL: &str = "ANDROID_SERIAL";
/// How long a list of devices may take, and the pause before a server that ended is asked again.
const LISTING: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_secs(2);

pub const PROVIDER: DeviceProvider = DeviceProvider {
    name: "android",
    plural: "Android devices",
    drivers: &[DRIVER, "android-ondevice-accessibility", "android-ondevice-instrumentation", "revyl-android"],
    project_keys: ConfigKeys::NONE,
    device_keys: ConfigKeys { names: AndroidEntry::KEYS, schema: AndroidEntry::schema },
    default_device: |_| None,
    read: |part, found| Arc::new(AndroidConfig { entries: part.decode_devices(found) }),
};

table! {
    /// What the entry of a device says if it is a phone.
    pub struct AndroidEntry {
        /// How an Android device is looked at: plain (the default), fast, which is experimental, or auto, fast where that works.
        "looking" => looking: Option<Looking> = None,
    }
}

/// Where the adb server is, projects do not say: the variables of adb do.
struct AndroidConfig {
    entries: HashMap<String, AndroidEntry>,
}

impl ProviderConfig for AndroidConfig {
    /// Any name that is not that of a simulated device is a serial.
    fn device(&self, wanted: &WantedDevice<'_>) -> Option<Result<DeviceSpec, String>> {
        let WantedDevice { id, platform, name, driver, classifiers } = *wanted;
        let is_serial = platform == Platform::Android && !name.is_empty() && !name.starts_with("sim-");
        let driver = driver.filter(|driver| driver.as_str() != DriverKey::SIM);
        let looking = self.entries.get(id).and_then(|entry| entry.looking).unwrap_or_default();
        let settings = PhoneSettings { classifiers: classifiers.to_vec(), looking };
        is_serial.then(|| Ok(spec(name, driver, settings, "Android device".to_string())))
    }

    fn open(&self, machine: &Machine) -> Result<Arc<dyn DeviceSource>, String> {
        let text = |name: &str| machine.var(name).map(|value| value.to_string_lossy().into_owned());
        // A project without phones must not fail because of these variables.
        let client = AdbAddress::of_environment(text).map(|address| {
            let variables = machine.variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            AdbClient::new(match find_adb(machine) {
                Some(program) => AdbServer::started_by(address, program, variables),
                None => AdbServer::at(address),
            })
        });
        let only = text(SERIAL).filter(|serial| !serial.is_empty());
        let (machine, closed) = (machine.clone(), CancellationToken::new());
        Ok(Arc::new(AndroidDevices { machine, client, only, closed, followed: Mutex::default() }))
    }
}

/// What the entry of a device says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PhoneSettings {
    /// Its kind; empty if that is left to the device.
    pub classifiers: Vec<String>,
    pub looking: Looking,
}

pub(super) fn spec(serial: &str, driver: Option<&DriverKey>, settings: PhoneSettings, summary: String) -> DeviceSpec {
    // Most are phones; the others say so once they are acquired.
    let stated = &settings.classifiers;
    let kind = if stated.is_empty() { vec!["phone".to_string()] } else { stated.clone() };
    DeviceSpec {
        id: DeviceId::new(format!("{}/{serial}", Platform::Android)),
        platform: Platform::Android,
        driver: driver.cloned().unwrap_or_else(|| DriverKey::new(DRIVER)),
        provider: PROVIDER.name,
        classifiers: [vec!["android".to_string()], kind].concat(),
        size: Size { width: 0, height: 0 },
        summary,
        follows_person: false,
        machine_id: Some(format!("android-{serial}")),
        settings: DeviceSettings::new(settings),
    }
}

/// The devices behind one adb server.
struct AndroidDevices {
    machine: Machine,
    client: Result<AdbClient, AdbError>,
    only: Option<String>,
    closed: CancellationToken,
    /// Once somebody has asked for it.
    followed: Mutex<Option<FollowedList>>,
}

/// The list of the server as it changes, and the task that follows it.
struct FollowedList {
    changes: watch::Receiver<Vec<DeviceSpec>>,
    _following: AbortOnDropHandle<()>,
}

impl AndroidDevices {
    fn client(&self) -> Result<&AdbClient, AdbError> {
        self.client.as_ref().map_err(Clone::clone)
    }

    async fn listed(&self, budget: &Budget) -> Result<Vec<AdbDeviceInfo>, AdbError> {
        let mut devices = self.client()?.devices(budget).await?;
        devices.retain(|device| self.only.as_ref().is_none_or(|only| device.serial == *only));
        Ok(devices)
    }

    /// The version of the program `adb`, if there is one.
    async fn check_program(&self, client: &AdbClient, budget: &Budget) -> Option<Finding> {
        let program = client.server().program.as_ref()?;
        Some(match self.machine.version_of(program, "version", budget).await {
            Ok(version) => Finding::good(ADB, format!("{version}, {}", program.display())),
            Err(why) => Finding::warning(ADB, format!("`{}` does not start: {why}", program.display())),
        })
    }

    /// Checks one device, without changing anything on it.
    async fn check_device(&self, client: &AdbClient, device: &AdbDeviceInfo, budget: &Budget) -> Vec<Finding> {
        const ABOUT: &str = "phone";
        let serial = &device.serial;
        if !device.is_ready() {
            let message = format!("`{serial}` is {}", device.state);
            return vec![Finding::warning(ABOUT, message).hint(device.state.advice())];
        }
        let phone = Phone { device: client.device(serial.as_str()) };
        let (dark, full) = tokio::join!(readiness::why_dark(&phone, budget), readiness::why_full(&phone, budget));
        let problems: Vec<Finding> =
            dark.into_iter().chain(full).map(|message| Finding::warning(ABOUT, message)).collect();
        match problems.is_empty() {
            true => vec![Finding::good(ABOUT, format!("{}, `{serial}`", summary(device)))],
            false => problems,
        }
    }
}

/// Whether this program runs on an Android device.
fn is_android() -> bool {
    Path::new("/system/bin/app_process").exists()
}

/// The devices of a list as the project would name them.
fn specs(devices: &[AdbDeviceInfo]) -> Vec<DeviceSpec> {
    devices.iter().map(|device| spec(&device.serial, None, PhoneSettings::default(), summary(device))).collect()
}

fn summary(device: &AdbDeviceInfo) -> String {
    let model = device.model.as_ref().map_or("Android device".to_string(), |model| model.replace('_', " "));
    if device.is_ready() { model } else { format!("{model}, {}", device.state) }
}

#[async_trait]
impl DeviceSource for AndroidDevices {
    async fn discover(&self, budget: &Budget) -> Result<Vec<DeviceSpec>, DriverError> {
        let summary = "the device that this runs on".to_string();
        let here = is_android().then(|| spec(AdbDevice::HERE, None, PhoneSettings::default(), summary));
        match self.listed(budget).await {
            Ok(devices) => Ok(here.into_iter().chain(specs(&devices)).collect()),
            // Who has no adb has no other phones.
            Err(AdbError::NoProgram { .. }) => Ok(here.into_iter().collect()),
            Err(error) => Err(error.not_started()),
        }
    }

    /// Follows the list of the server from the first time that somebody asks, and across restarts of the server.
    fn changes(&self) -> Option<watch::Receiver<Vec<DeviceSpec>>> {
        let client = self.client.as_ref().ok()?.clone();
        let mut followed = self.followed.lock();
        if let Some(list) = followed.as_ref() {
            return Some(list.changes.clone());
        }
        let (sender, receiver) = watch::channel(Vec::new());
        let (only, closed) = (self.only.clone(), self.closed.clone());
        let following = tokio::spawn(async move {
            while !closed.is_cancelled() {
                let budget = Budget::new(Instant::now() + LISTING, closed.clone());
                if let Ok(mut tracker) = client.track(&budget).await {
                    while let Ok(mut devices) = tracker.next(&closed).await {
                        devices.retain(|device| only.as_ref().is_none_or(|only| device.serial == *only));
                        sender.send_replace(specs(&devices));
                    }
                }
                sender.send_replace(Vec::new());
                closed.run_until_cancelled(tokio::time::sleep(AGAIN)).await;
            }
        });
        *followed = Some(FollowedList { changes: receiver.clone(), _following: AbortOnDropHandle::new(following) });
        Some(receiver)
    }

    async fn acquire(&self, device: &DeviceSpec, budget: &Budget) -> Result<Arc<dyn Driver>, DriverError> {
        let serial = device.id.as_str().split_once('/').map_or(device.id.as_str(), |(_, serial)| serial);
        let phone = match serial {
            AdbDevice::HERE => AdbDevice::here(),
            serial => self.client().map_err(AdbError::not_started)?.device(serial),
        };
        Ok(Arc::new(AndroidDriver::open(device, phone, budget).await?))
    }

    async fn check(&self, budget: &Budget, is_needed: bool) -> Vec<Finding> {
        let missing = |message: String| match is_needed {
            true => Finding::bad(ADB, message),
            false => Finding::note(ADB, format!("{message}; this project does not need it")),
        };
        let client = match self.client() {
            Ok(client) => client,
            Err(error) => return vec![missing(error.to_string())],
        };
        let mut found: Vec<Finding> = self.check_program(client, budget).await.into_iter().collect();
        // A check starts nothing that stays.
        let address = &client.server().address;
        match client.server().try_connect(budget).await {
            Ok(Some(_)) => {}
            Ok(None) if found.is_empty() => {
                return vec![missing(AdbError::NoProgram { address: address.clone() }.to_string())];
            }
            Ok(None) => {
                let message = format!("no server runs at {address}; it is started with the first phone");
                found.push(Finding::note(ADB, message));
                return found;
            }
            Err(error) => return vec![missing(error.to_string())],
        }
        match tokio::try_join!(client.version(budget), self.listed(budget)) {
            Ok((version, devices)) => {
                found.push(Finding::good(ADB, format!("server at {address}, protocol {version}")));
                if devices.is_empty() {
                    found.push(missing(
                        "no phone is connected; plug one in and switch on \"USB debugging\"".to_string(),
                    ));
                }
                for device in &devices {
                    found.extend(self.check_device(client, device, budget).await);
                }
            }
            Err(error) => found.push(missing(error.to_string())),
        }
        found
    }

    async fn close(&self) {
        self.closed.cancel();
    }
}
