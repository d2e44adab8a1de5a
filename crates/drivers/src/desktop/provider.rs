//! Linux desktops: sessions of our own, each for one device, and that of the user.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use trailblaze_core::device_source::{DeviceSettings, DeviceSource, DeviceSpec};
use trailblaze_core::driver::{Budget, Driver, DriverError};
use trailblaze_core::finding::Finding;
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Problems, Table, YamlNode};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use super::driver::DesktopDriver;
use super::place::{DesktopPlace, DesktopSettings, USUAL_SIZE, own_session, programs};
use super::programs::{SESSION_PROGRAMS, missing_parts};
use crate::provider::{ConfigKeys, DeviceProvider, Machine, ProviderConfig, WantedDevice};

const DRIVER: &str = "desktop-atspi";
const ABOUT: &str = "desktop";
/// The device that needs no entry in a project.
const XVFB: &str = "desktop/xvfb";
/// The device that is the user's own desktop, without an entry.
const OWN: &str = "desktop/own";

pub const PROVIDER: DeviceProvider = DeviceProvider {
    name: "desktop",
    plural: "Linux desktops",
    drivers: &[DRIVER],
    project_keys: ConfigKeys::NONE,
    device_keys: ConfigKeys { names: DesktopEntry::KEYS, schema: DesktopEntry::schema },
    default_device: |_| None,
    read: |part, found| {
        let has_keys = |node: &YamlNode| node.entries().is_some_and(|entries| !entries.is_empty());
        let own = part.devices.iter().filter(|(_, node)| has_keys(node)).map(|(id, _)| id.to_string()).collect();
        Arc::new(DesktopConfig { entries: part.decode_devices(found), own })
    },
};

table! {
    /// What the entry of a device says if it is a Linux desktop.
    pub struct DesktopEntry {
        /// The program that a desktop starts with: the id of a .desktop file, such as org.gnome.Calculator, or a command line.
        "app" => app: Option<String> = None,
        /// Where the programs of a desktop run: in a session without a screen (xvfb, the default), or in yours (own).
        "display" => display: Option<DisplayChoice> = None,
        /// The size of the screen of a desktop under xvfb: 1280x800.
        "size" => size: Option<ScreenSize> = None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisplayChoice {
    Xvfb,
    Own,
}

impl Decode for DisplayChoice {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        match node.raw() {
            Some("xvfb") => Some(DisplayChoice::Xvfb),
            Some("own") => Some(DisplayChoice::Own),
            other => {
                problems.unknown(node.span, "display", other.unwrap_or(node.noun()), ["xvfb", "own"]);
                None
            }
        }
    }

    fn schema() -> Value {
        json!({"enum": ["xvfb", "own"]})
    }
}

/// The size of a screen, such as 1280x800.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreenSize(Size);

impl Decode for ScreenSize {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let text = String::decode(node, problems)?;
        let side = |text: &str| text.trim().parse::<u32>().ok().filter(|side| (64..=8192).contains(side));
        let size = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
        if size.is_none() {
            problems.error(node.span, format!("`{text}` is not the size of a screen; write it as 1280x800"));
        }
        size.map(|(width, height)| ScreenSize(Size { width, height }))
    }

    fn schema() -> Value {
        String::schema()
    }
}

struct DesktopConfig {
    entries: HashMap<String, DesktopEntry>,
    /// The devices whose entries have a key of ours, even one with a mistake.
    own: Vec<String>,
}

impl DesktopConfig {
    fn settings(&self, id: &str) -> Result<DesktopSettings, String> {
        let entry = self.entries.get(id);
        let choice = entry.and_then(|entry| entry.display);
        let usual = if id == OWN { DisplayChoice::Own } else { DisplayChoice::Xvfb };
        let size = entry.and_then(|entry| entry.size.as_ref()).map(|size| size.0);
        let place = match (choice.unwrap_or(usual), size) {
            (DisplayChoice::Xvfb, size) => DesktopPlace::Xvfb { size: size.unwrap_or(USUAL_SIZE) },
            (DisplayChoice::Own, None) => DesktopPlace::Own,
            (DisplayChoice::Own, Some(_)) => {
                return Err(format!(
                    "`{id}` is your own desktop, whose size cannot be set; remove `size`, or use `display: xvfb`"
                ));
            }
        };
        Ok(DesktopSettings { place, app: entry.and_then(|entry| entry.app.clone()) })
    }
}

impl ProviderConfig for DesktopConfig {
    /// The two names that need no entry, and those whose entries say what only such devices have. `desktop/xvfb-2` is another `desktop/xvfb`.
    fn device(&self, wanted: &WantedDevice<'_>) -> Option<Result<DeviceSpec, String>> {
        let WantedDevice { id, platform, name, driver, classifiers } = *wanted;
        let is_entry = self.own.iter().any(|own| own == id);
        let is_known = id == OWN || id == XVFB || id.starts_with("desktop/xvfb-");
        let is_driven = driver.is_some_and(|driver| driver.as_str() == DRIVER);
        let is_ours = is_entry || is_known || is_driven;
        if platform != Platform::Desktop || name.is_empty() || name.starts_with("sim-") || !is_ours {
            return None;
        }
        let driver = driver.filter(|driver| driver.as_str() != DriverKey::SIM);
        Some(self.settings(id).map(|settings| desktop_device(id, driver, classifiers, settings)))
    }

    fn open(&self, machine: &Machine) -> Result<Arc<dyn DeviceSource>, String> {
        let is_own_used = self.entries.values().any(|entry| entry.display == Some(DisplayChoice::Own));
        Ok(Arc::new(Desktops { machine: machine.clone(), is_own_used }))
    }
}

/// A desktop with these settings.
pub fn desktop_device(
    id: &str,
    driver: Option<&DriverKey>,
    classifiers: &[String],
    settings: DesktopSettings,
) -> DeviceSpec {
    let (size, summary, machine_id) = match settings.place {
        DesktopPlace::Xvfb { size } => (size, "desktop under Xvfb", None),
        // Two sessions would take each other's keys.
        DesktopPlace::Own => (Size { width: 0, height: 0 }, "this machine's desktop", Some("desktop-own".to_string())),
    };
    let mut all = vec!["desktop".to_string()];
    all.extend(if classifiers.is_empty() { vec!["linux".to_string()] } else { classifiers.to_vec() });
    DeviceSpec {
        id: DeviceId::new(id.to_string()),
        platform: Platform::Desktop,
        driver: driver.cloned().unwrap_or_else(|| DriverKey::new(DRIVER)),
        provider: PROVIDER.name,
        classifiers: all,
        size,
        summary: summary.to_string(),
        follows_person: false,
        machine_id,
        settings: DeviceSettings::new(settings),
    }
}

struct Desktops {
    machine: Machine,
    is_own_used: bool,
}

impl Desktops {
    /// What the packages say that a session of our own needs.
    fn check_parts(&self, is_needed: bool) -> Finding {
        let missing = programs(&self.machine).missing(&SESSION_PROGRAMS);
        let install = || format!("install them: `apt-get install {}`", missing.join(" "));
        match (missing.is_empty(), is_needed) {
            (true, _) => {
                Finding::good(ABOUT, "Xvfb, D-Bus and AT-SPI are here: programs can run in sessions of their own")
            }
            (false, true) => {
                Finding::bad(ABOUT, format!("parts of a desktop are missing: {}", missing.join(", "))).hint(install())
            }
            (false, false) => {
                Finding::note(ABOUT, format!("{}; this project does not need them", missing_parts(&missing)))
            }
        }
    }

    /// What works in the user's session.
    fn check_own(&self) -> Option<Finding> {
        match own_session(&self.machine) {
            Ok(own) if own.display.is_none() => Some(
                Finding::warning(
                    ABOUT,
                    "this desktop is Wayland: elements are seen and their own actions work, but the pointer, keys, pictures and the \
                     list of windows are unsupported on it",
                )
                .hint("use `display: xvfb`, or log in to an X session"),
            ),
            Ok(own) => {
                Some(Finding::good(ABOUT, format!("your desktop is X at {}", own.display.unwrap_or_default())))
            }
            Err(why) if self.is_own_used => Some(Finding::bad(ABOUT, why)),
            Err(_) => None,
        }
    }
}

#[async_trait]
impl DeviceSource for Desktops {
    async fn discover(&self, _: &Budget) -> Result<Vec<DeviceSpec>, DriverError> {
        let mut found = Vec::new();
        // As a browser, it is listed without a search for its parts.
        if cfg!(target_os = "linux") {
            let place = DesktopPlace::Xvfb { size: USUAL_SIZE };
            found.push(desktop_device(XVFB, None, &[], DesktopSettings { place, app: None }));
        }
        if own_session(&self.machine).is_ok() {
            found.push(desktop_device(OWN, None, &[], DesktopSettings { place: DesktopPlace::Own, app: None }));
        }
        Ok(found)
    }

    async fn acquire(&self, device: &DeviceSpec, budget: &Budget) -> Result<Arc<dyn Driver>, DriverError> {
        let settings = device.settings.get::<DesktopSettings>().cloned();
        let usual = DesktopSettings { place: DesktopPlace::Xvfb { size: USUAL_SIZE }, app: None };
        let settings = settings.unwrap_or(usual);
        Ok(Arc::new(DesktopDriver::open(device, settings, &self.machine, budget).await?))
    }

    async fn check(&self, _: &Budget, is_needed: bool) -> Vec<Finding> {
        [Some(self.check_parts(is_needed)), self.check_own()].into_iter().flatten().collect()
    }

    async fn close(&self) {}
}
