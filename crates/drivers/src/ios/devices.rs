//! The iPhones, iPads and simulators that can be had now.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::device_source::{DeviceSource, DeviceSpec};
use trailblaze_core::driver::{Budget, Driver, DriverError};
use trailblaze_core::finding::Finding;
use trailblaze_core::limits;
use trailblaze_supervise::Supervisor;

use super::config::{IosSettings, spec};
use super::driver::{IosDriver, IosHost};
use super::facts::{WdaStatus, device_name};
use super::mac::{KnownSimulator, XcodeTools};
use super::usb::{AttachedDevice, Usbmuxd};
use super::wda::{WdaAddress, WdaClient, WdaError};
use crate::provider::Machine;

/// What findings are about.
const ABOUT: &str = "iphone";
/// How long WebDriverAgent may take to say that it is there.
const ASKING: Duration = Duration::from_secs(5);
/// How long usbmuxd may take to list what is on cables.
const LISTING: Duration = Duration::from_secs(2);
/// How long WebDriverAgent may take to be built and to start.
const BUILDING: Duration = Duration::from_secs(15 * 60);
/// How long to wait before usbmuxd is asked again to report changes.
const AGAIN: Duration = Duration::from_secs(2);

/// The devices whose WebDriverAgent answers: those of the project, those on cables, and one at the usual address.
pub struct IosDevices {
    entries: BTreeMap<String, IosSettings>,
    usbmuxd: Usbmuxd,
    xcode: XcodeTools,
    supervisor: Supervisor,
    /// Once somebody has asked for it.
    followed: Mutex<Option<FollowedCables>>,
}

/// What is on cables as it changes, and the task that follows it.
struct FollowedCables {
    changes: watch::Receiver<Vec<DeviceSpec>>,
    _following: AbortOnDropHandle<()>,
}

/// A device that may be there. One without an id is named by itself.
struct Candidate {
    id: Option<String>,
    settings: IosSettings,
    /// Whether it is there even if its WebDriverAgent does not answer.
    is_attached: bool,
}

/// What a device whose WebDriverAgent answers says about itself.
struct IntroducedDevice {
    name: String,
    status: WdaStatus,
    is_simulator: bool,
}

impl IosDevices {
    pub fn new(entries: BTreeMap<String, IosSettings>, machine: &Machine) -> IosDevices {
        let usbmuxd = Usbmuxd::of_environment(machine.var("USBMUXD_SOCKET_ADDRESS"));
        let (xcode, supervisor) = (XcodeTools::find(machine), machine.supervisor.clone());
        IosDevices { entries, usbmuxd, xcode, supervisor, followed: Mutex::default() }
    }

    /// Whether this machine may have simulators. Elsewhere, a program called `xcrun` is another one, unless the project names a simulator.
    fn is_on_mac(&self) -> bool {
        cfg!(target_os = "macos") || self.entries.values().any(|settings| settings.simulator.is_some())
    }

    async fn attached(&self, budget: &Budget) -> Vec<AttachedDevice> {
        let limit = LISTING.min(budget.remaining());
        // Where no usbmuxd runs, nothing is on a cable.
        let listed = tokio::time::timeout(limit, self.usbmuxd.attached()).await;
        listed.ok().and_then(Result::ok).unwrap_or_default()
    }

    async fn candidates(&self, budget: &Budget) -> Vec<Candidate> {
        let attached = self.attached(budget).await;
        let is_on_cable = |settings: &IosSettings| {
            settings.address.cabled().is_some_and(|port| attached.iter().any(|device| device.has_udid(&port.udid)))
        };
        let is_listed = |address: &WdaAddress| self.entries.values().any(|settings| settings.address == *address);
        let listed = self.entries.iter().map(|(id, settings)| Candidate {
            id: Some(id.clone()),
            is_attached: is_on_cable(settings),
            settings: settings.clone(),
        });
        let cabled = attached.iter().filter(|device| !is_listed(&WdaAddress::cable(&device.udid))).map(|device| {
            let id = format!("ios/{}", device.udid);
            Candidate { settings: IosSettings::named(&id, &[]), id: Some(id), is_attached: true }
        });
        let usual = (!is_listed(&WdaAddress::usual())).then(|| Candidate {
            id: None,
            settings: IosSettings::default(),
            is_attached: false,
        });
        listed.chain(cabled).chain(usual).collect()
    }

    /// What one that answers says about itself.
    async fn ask(&self, settings: &IosSettings, budget: &Budget) -> Result<IntroducedDevice, WdaError> {
        let brief = Budget { deadline: budget.deadline.min(Instant::now() + ASKING), ..budget.clone() };
        let wda = WdaClient::new(settings.address.clone(), &self.usbmuxd);
        let status = WdaStatus::ask(&wda, &brief).await?;
        let device = wda.get(&brief, "/wda/device/info").await.unwrap_or_default();
        let is_simulator = device.get("isSimulator").and_then(Value::as_bool).unwrap_or(false);
        Ok(IntroducedDevice { name: device_name(&device), status, is_simulator })
    }

    async fn answers(&self, budget: &Budget) -> Vec<(Candidate, Result<IntroducedDevice, WdaError>)> {
        let candidates = self.candidates(budget).await;
        let answers = futures::future::join_all(candidates.iter().map(|one| self.ask(&one.settings, budget))).await;
        candidates.into_iter().zip(answers).collect()
    }
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

/// The id of the simulator that answers at the usual address: the one of its name, or else the only one that runs.
fn simulator_of(device: &IntroducedDevice, booted: &[KnownSimulator]) -> Option<String> {
    let named = booted.iter().find(|simulator| simulator.name == device.name);
    let simulator = named.or(match booted {
        [only] => Some(only),
        _ => None,
    });
    simulator.filter(|_| device.is_simulator).map(|simulator| format!("ios/{}", simulator.udid))
}

/// The simulators that run and are none of the devices that were found: two names of one WebDriverAgent would be one too many.
fn further_simulators(
    booted: &[KnownSimulator],
    found: &[DeviceSpec],
    entries: &BTreeMap<String, IosSettings>,
) -> Vec<DeviceSpec> {
    let is_entry = |simulator: &KnownSimulator| {
        let mut names = entries.values().filter_map(|settings| settings.simulator.as_ref());
        names.any(|name| simulator.is_called(name))
    };
    let described = booted.iter().filter(|simulator| !is_entry(simulator)).map(|simulator| {
        let id = format!("ios/{}", simulator.udid);
        spec(&id, None, IosSettings::named(&id, &[]), format!("{}, simulator", simulator.name))
    });
    described.filter(|own| found.iter().all(|other| other.machine_id != own.machine_id)).collect()
}

fn on_cable(device: &AttachedDevice) -> DeviceSpec {
    let id = format!("ios/{}", device.udid);
    let settings = IosSettings::named(&id, &[]);
    spec(&id, None, settings, "an iPhone on a cable".to_string())
}

/// Passes on which devices are on cables, also when usbmuxd starts again.
async fn follow(usbmuxd: Usbmuxd, sender: watch::Sender<Vec<DeviceSpec>>) {
    loop {
        if let Ok(mut listener) = usbmuxd.listen().await {
            while let Ok(attached) = listener.next().await {
                sender.send_replace(attached.iter().map(on_cable).collect());
            }
        }
        sender.send_replace(Vec::new());
        tokio::time::sleep(AGAIN).await;
    }
}

#[async_trait]
impl DeviceSource for IosDevices {
    async fn discover(&self, budget: &Budget) -> Result<Vec<DeviceSpec>, DriverError> {
        let booted = match self.is_on_mac() {
            true => self.xcode.booted(budget).await,
            false => Vec::new(),
        };
        let mut found = Vec::new();
        for (Candidate { id, settings, is_attached }, answer) in self.answers(budget).await {
            match answer {
                Ok(device) => {
                    // The simulator of this Mac that it is can do more.
                    let simulator = if id.is_none() { simulator_of(&device, &booted) } else { None };
                    let is_own_name = simulator.is_some();
                    let id = id.or(simulator).unwrap_or_else(|| id_of(&device.name));
                    let settings = if is_own_name { IosSettings::named(&id, &[]) } else { settings };
                    let classifiers = ["ios", device.status.kind].map(str::to_string).to_vec();
                    let summary = device.status.summary(&device.name);
                    found.push(DeviceSpec { classifiers, ..spec(&id, None, settings, summary) });
                }
                Err(_) if is_attached => {
                    let id = id.unwrap_or_default();
                    let summary = "an iPhone on a cable, whose WebDriverAgent does not answer".to_string();
                    found.push(spec(&id, None, settings, summary));
                }
                // One that does not answer is not there.
                Err(_) => {}
            }
        }
        found.extend(further_simulators(&booted, &found, &self.entries));
        Ok(found)
    }

    /// Follows what is on cables, from the first time that somebody asks.
    fn changes(&self) -> Option<watch::Receiver<Vec<DeviceSpec>>> {
        let mut followed = self.followed.lock();
        if let Some(cables) = followed.as_ref() {
            return Some(cables.changes.clone());
        }
        let (sender, changes) = watch::channel(Vec::new());
        let following = AbortOnDropHandle::new(tokio::spawn(follow(self.usbmuxd.clone(), sender)));
        *followed = Some(FollowedCables { changes: changes.clone(), _following: following });
        Some(changes)
    }

    /// WebDriverAgent is built before it starts for the first time, which takes minutes.
    fn patience(&self, device: &DeviceSpec) -> Duration {
        let settings = device.settings.get::<IosSettings>();
        let starts_agent = settings.is_some_and(|settings| settings.wda_project.is_some());
        if starts_agent { BUILDING } else { limits::DEVICE_START }
    }

    async fn acquire(&self, device: &DeviceSpec, budget: &Budget) -> Result<Arc<dyn Driver>, DriverError> {
        let settings = device.settings.get::<IosSettings>().cloned().unwrap_or_default();
        let host = IosHost {
            device: self.xcode.make_ready(&settings, &self.usbmuxd, budget).await?,
            usbmuxd: self.usbmuxd.clone(),
            supervisor: Some(self.supervisor.clone()),
        };
        Ok(Arc::new(IosDriver::open(device, settings, host, budget).await?))
    }

    async fn check(&self, budget: &Budget, is_needed: bool) -> Vec<Finding> {
        let mut found = Vec::new();
        for (Candidate { id, settings, is_attached }, answer) in self.answers(budget).await {
            let is_wanted = is_needed && (id.is_some() || self.entries.is_empty());
            found.extend(match answer {
                Ok(device) => Some(good(&settings, &device)),
                Err(error) if is_wanted => Some(Finding::bad(ABOUT, error.to_string()).hint(advice(&settings))),
                Err(error) if is_attached => Some(Finding::warning(ABOUT, error.to_string()).hint(advice(&settings))),
                // Few projects have an iPhone, and those know where it is.
                Err(WdaError::Unreachable { .. }) => None,
                Err(error) => Some(Finding::note(ABOUT, format!("{error}; this project does not need it"))),
            });
        }
        found
    }

    async fn close(&self) {
        self.followed.lock().take();
    }
}

fn advice(settings: &IosSettings) -> &'static str {
    match settings.address {
        WdaAddress::Cable(_) => "start WebDriverAgent on the device; docs/guide/your-iphone.md says how",
        WdaAddress::Network(_) => {
            "start WebDriverAgent on the device; one behind a cable is found by its UDID, as in `ios/00008110-000A1D3C0E21001E`"
        }
    }
}

fn good(settings: &IosSettings, IntroducedDevice { name, status, .. }: &IntroducedDevice) -> Finding {
    let version = if status.version.is_empty() { String::new() } else { format!(" {}", status.version) };
    Finding::good(ABOUT, format!("{}, WebDriverAgent{version} at {}", status.summary(name), settings.address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulator(number: u8, name: &str) -> KnownSimulator {
        let udid = format!("F0A1B2C3-0000-4000-8000-00000000000{number}");
        KnownSimulator { udid, name: name.to_string(), version: vec![18, 1], is_booted: true }
    }

    fn answering(name: &str, is_simulator: bool) -> IntroducedDevice {
        let status = WdaStatus { kind: "iphone", ios: "18.1".to_string(), version: String::new() };
        IntroducedDevice { name: name.to_string(), status, is_simulator }
    }

    #[test]
    fn a_simulator_that_answers_has_one_name() {
        let (phone, other) = (simulator(1, "iPhone 16"), simulator(2, "iPad Air"));
        let both = [phone.clone(), other];
        let of = |name: &str, is_simulator, booted: &[KnownSimulator]| {
            simulator_of(&answering(name, is_simulator), booted).map(|id| id[id.len() - 1..].to_string())
        };
        assert_eq!(of("iPad Air", true, &both).as_deref(), Some("2"));
        assert_eq!(of("My phone", true, &both[..1]).as_deref(), Some("1"), "it is the only one");
        assert_eq!((of("My phone", true, &both), of("iPhone 16", false, &both)), (None, None));

        let id = format!("ios/{}", phone.udid);
        let found = [spec(&id, None, IosSettings::named(&id, &[]), String::new())];
        let further = |found: &[DeviceSpec], entries: &BTreeMap<String, IosSettings>| {
            further_simulators(&both, found, entries).into_iter().map(|spec| spec.summary).collect::<Vec<_>>()
        };
        assert!(
            further(&found, &BTreeMap::new()).is_empty(),
            "WebDriverAgent at the usual address is that of one only"
        );
        assert_eq!(further(&[], &BTreeMap::new()), ["iPhone 16, simulator", "iPad Air, simulator"]);
        let named = IosSettings { simulator: Some("iphone 16".to_string()), ..IosSettings::default() };
        let entries = BTreeMap::from([("ios/ci".to_string(), named)]);
        assert_eq!(further(&[], &entries), ["iPad Air, simulator"], "the project has a name for it");
    }
}
