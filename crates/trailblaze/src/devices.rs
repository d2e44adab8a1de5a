//! Which devices there are, and which a command means.

use std::path::PathBuf;

use trailblaze_core::config::{ColorScheme, DeviceEntry};
use trailblaze_core::yaml::nearest;
use trailblaze_drivers::web::Emulation;
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use crate::project::Loaded;

/// A device to be opened.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSpec {
    pub id: DeviceId,
    pub platform: Platform,
    pub driver: DriverKey,
    /// What kind of device of its platform it is; as the driver says, unless given.
    pub classifiers: Vec<String>,
    /// What a web device pretends to be.
    pub emulation: Emulation,
    /// The file with the cookies and storage that a web device starts with.
    pub storage_state: Option<PathBuf>,
}

impl DeviceSpec {
    /// Whether it is one of our own making, and no real device.
    pub fn is_simulated(&self) -> bool {
        self.id.as_str().split_once('/').is_some_and(|(_, name)| is_simulated(name))
    }
}

/// `sim-1`, `sim-2` and so on.
fn is_simulated(name: &str) -> bool {
    let number = name.strip_prefix("sim-").and_then(|number| number.parse::<u32>().ok());
    number.is_some_and(|number| number > 0)
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DeviceError {
    #[error("`{text}` is not a device; write platform/name, such as android/sim-1")]
    Form { text: String },
    #[error("unknown platform `{platform}` in `{text}`{}", .near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Platform { text: String, platform: String, near: Option<&'static str> },
    #[error(
        "there is no device `{text}`; this build has simulated ones, {platform}/sim-1, {platform}/sim-2 and so on, and web/chromium"
    )]
    Unknown { text: String, platform: Platform },
    #[error("`{text}` is no device to emulate; there are {}", Emulation::names().collect::<Vec<_>>().join(", "))]
    Emulation { text: String },
    #[error("`{text}` is no size of a window; write it as 1280x800")]
    Viewport { text: String },
    #[error("the device `{text}` is named twice")]
    Twice { text: String },
}

/// What the command line says of devices.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct DeviceArgs {
    /// The device to use, as platform/name: android/sim-1. Repeat it, or separate by commas, for several
    #[arg(short, long = "device", value_name = "DEVICE", value_delimiter = ',', env = "TRAILBLAZE_DEVICE")]
    pub device: Vec<String>,
    /// Show the window of the browser that web devices use
    #[arg(long)]
    pub headed: bool,
}

impl Loaded {
    /// The devices that were named; else those of the project; else one simulated device.
    pub fn devices(&self, named: &[String]) -> Result<Vec<DeviceSpec>, DeviceError> {
        let configured: Vec<&str> = self.project.devices.iter().map(|entry| entry.id.value.as_str()).collect();
        let platform = self.project.platform.unwrap_or(Platform::Android);
        let default = format!("{platform}/sim-1");
        let names: Vec<&str> = match (named, configured.as_slice()) {
            ([], []) => vec![&default],
            ([], configured) => configured.to_vec(),
            (named, _) => named.iter().map(String::as_str).collect(),
        };
        self.specs(&names)
    }

    /// Every device of the project, or one of each platform.
    pub fn all_devices(&self) -> Result<Vec<DeviceSpec>, DeviceError> {
        if self.project.devices.is_empty() {
            return self.specs(&["android/sim-1", "ios/sim-1", "web/sim-1", "desktop/sim-1"]);
        }
        self.devices(&[])
    }

    fn specs(&self, names: &[&str]) -> Result<Vec<DeviceSpec>, DeviceError> {
        let specs: Vec<DeviceSpec> = names.iter().map(|name| self.spec(name)).collect::<Result<_, _>>()?;
        for (index, spec) in specs.iter().enumerate() {
            if specs[..index].iter().any(|earlier| earlier.id == spec.id) {
                return Err(DeviceError::Twice { text: spec.id.to_string() });
            }
        }
        Ok(specs)
    }

    fn spec(&self, text: &str) -> Result<DeviceSpec, DeviceError> {
        let form = || DeviceError::Form { text: text.to_string() };
        let (platform_name, name) = text.split_once('/').ok_or_else(form)?;
        let platform = Platform::parse(platform_name).ok_or_else(|| DeviceError::Platform {
            text: text.to_string(),
            platform: platform_name.to_string(),
            near: nearest(platform_name, Platform::ALL.map(Platform::name)),
        })?;
        let is_chromium = platform == Platform::Web && !name.is_empty() && !name.starts_with("sim-");
        if !is_simulated(name) && !is_chromium {
            return Err(DeviceError::Unknown { text: text.to_string(), platform });
        }
        let entry = self.project.devices.iter().find(|entry| entry.id.value == text);
        let driver = entry.and_then(|entry| entry.driver.clone());
        // A simulated device stands for another driver, so that its filters and shapes can be tried.
        let driver = driver.filter(|driver| driver.as_str() != DriverKey::SIM);
        Ok(DeviceSpec {
            id: DeviceId::new(format!("{platform}/{name}")),
            platform,
            driver: driver.unwrap_or_else(|| DriverKey::default_for(platform)),
            classifiers: entry.map(|entry| entry.classifiers.clone()).unwrap_or_default(),
            emulation: entry.map(emulation).transpose()?.unwrap_or_default(),
            storage_state: entry.and_then(|entry| entry.storage_state.as_ref()).map(|file| self.root.join(&file.value)),
        })
    }
}

fn emulation(entry: &DeviceEntry) -> Result<Emulation, DeviceError> {
    let mut emulation = match &entry.emulate {
        Some(name) => {
            Emulation::device(&name.value).ok_or_else(|| DeviceError::Emulation { text: name.value.clone() })?
        }
        None => Emulation::default(),
    };
    if let Some(viewport) = &entry.viewport {
        let side = |text: &str| text.trim().parse::<u32>().ok().filter(|side| (1..=10_000).contains(side));
        let size = viewport.value.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
        let (width, height) = size.ok_or_else(|| DeviceError::Viewport { text: viewport.value.clone() })?;
        emulation.size = Size { width, height };
    }
    emulation.locale.clone_from(&entry.locale);
    emulation.timezone.clone_from(&entry.timezone);
    emulation.is_dark = entry.color_scheme.map(|scheme| scheme == ColorScheme::Dark);
    Ok(emulation)
}
