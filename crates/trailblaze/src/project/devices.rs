//! Which devices there are, and which a command means.

use trailblaze_core::callers::preflight::example_device;
use trailblaze_core::config::{ColorScheme, DeviceEntry};
use trailblaze_core::trail::Trail;
use trailblaze_core::yaml::nearest;
use trailblaze_drivers::web::{Emulation, Start};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use crate::project::loaded::{Loaded, PROJECT_FILE};

/// Browsers that are not based on Chromium.
const OTHER_BROWSERS: [&str; 3] = ["firefox", "safari", "webkit"];

/// A device to be opened.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSpec {
    pub id: DeviceId,
    pub platform: Platform,
    pub driver: DriverKey,
    /// What kind of device of its platform it is; the driver's own classifiers if empty.
    pub classifiers: Vec<String>,
    pub kind: DeviceKind,
}

/// What a device is made of, with what only such a device has.
#[derive(Debug, Clone, PartialEq)]
pub enum DeviceKind {
    /// Part of this program.
    Simulated,
    /// A browser context in Chromium.
    Chromium(Start),
}

impl DeviceKind {
    /// The key of the driver that opens such a device.
    pub fn key(&self) -> &'static str {
        match self {
            DeviceKind::Simulated => DriverKey::SIM,
            DeviceKind::Chromium(_) => "playwright-native",
        }
    }
}

impl DeviceSpec {
    pub fn is_simulated(&self) -> bool {
        self.kind == DeviceKind::Simulated
    }

    pub fn is_browser(&self) -> bool {
        matches!(self.kind, DeviceKind::Chromium(_))
    }

    /// Whether the two can stand in for each other: they differ in nothing but their names.
    pub fn is_like(&self, other: &DeviceSpec) -> bool {
        *self == DeviceSpec { id: self.id.clone(), ..other.clone() }
    }

    /// Why it cannot have its driver, if that is so. A simulated device stands for any.
    pub fn unsupported_driver(&self) -> Option<&'static str> {
        match (&self.kind, self.driver.as_str()) {
            (DeviceKind::Simulated, _) => None,
            (kind, key) if key == kind.key() => None,
            (DeviceKind::Chromium(_), "playwright-electron") => {
                Some("this build drives Chromium, not Electron apps; use `playwright-native`")
            }
            (DeviceKind::Chromium(_), _) => Some("a browser is driven by `playwright-native`"),
        }
    }

    /// A further device of the same kind, under a name that is not taken.
    pub fn another(&self, is_taken: impl Fn(&DeviceId) -> bool) -> DeviceSpec {
        let name = self.id.as_str().split_once('/').map_or(self.id.as_str(), |(_, name)| name);
        let (stem, first) = match self.kind {
            DeviceKind::Simulated => ("sim", 1),
            DeviceKind::Chromium(_) => (name, 2),
        };
        let mut ids = (first..).map(|number: u32| DeviceId::new(format!("{}/{stem}-{number}", self.platform)));
        let id = ids.find(|id| !is_taken(id)).unwrap_or_else(|| self.id.clone());
        DeviceSpec { id, ..self.clone() }
    }
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
    #[error("`{text}` cannot be driven: this build drives Chromium and browsers based on it; write web/chromium")]
    OtherBrowser { text: String },
    #[error("`{text}` is no device to emulate; there are {}", Emulation::names().collect::<Vec<_>>().join(", "))]
    Emulation { text: String },
    #[error("`{text}` is no size of a window; write it as 1280x800")]
    Viewport { text: String },
    #[error("`{key}` of `{text}` is for browsers, and this device is simulated")]
    NoBrowser { text: String, key: &'static str },
    #[error("`{driver}` cannot be used on {text}: {why}")]
    Driver { text: String, driver: DriverKey, why: &'static str },
    #[error("unknown driver `{text}`; there are {}", DriverKey::known_keys().collect::<Vec<_>>().join(", "))]
    UnknownDriver { text: String },
    #[error("the device `{text}` is named twice")]
    Twice { text: String },
    #[error("{error} ({PROJECT_FILE}:{line}:{column})")]
    Configured { error: Box<DeviceError>, line: usize, column: usize },
}

/// The devices of a command, and which of them a trail runs on.
pub struct Devices {
    pub all: Vec<DeviceSpec>,
    /// The platform of a trail that asks for none, where no device was named.
    default: Option<Platform>,
    /// The platforms of the project's devices, where no device was named.
    own: Vec<Platform>,
}

impl Devices {
    /// Every trail runs on these.
    pub fn named(all: Vec<DeviceSpec>) -> Devices {
        Devices { all, default: None, own: Vec::new() }
    }

    /// Where no device was named, takes those that the trails ask for by `devices:` of their `config:`.
    pub fn take_those_of<'t>(
        &mut self,
        loaded: &Loaded,
        trails: impl Iterator<Item = &'t Trail>,
    ) -> Result<(), DeviceError> {
        if !self.own.is_empty() {
            return self.add_those_of(loaded, trails);
        }
        let Some(default) = self.default else { return Ok(()) };
        let mut platforms: Vec<Platform> = trails.map(|trail| platform(trail, default)).collect();
        platforms.sort();
        platforms.dedup();
        if platforms.is_empty() {
            return Ok(());
        }
        let spec = |platform: Platform| match self.all.iter().find(|device| device.platform == platform) {
            Some(device) => Ok(device.clone()),
            None => loaded.spec(&example_device(platform)),
        };
        self.all = platforms.into_iter().map(spec).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Adds a device for trails that have drivers only for platforms that the project has no device of.
    fn add_those_of<'t>(
        &mut self,
        loaded: &Loaded,
        trails: impl Iterator<Item = &'t Trail>,
    ) -> Result<(), DeviceError> {
        let mut platforms: Vec<Platform> = trails.filter_map(|trail| elsewhere(trail, &self.own)).collect();
        platforms.sort();
        platforms.dedup();
        for platform in platforms {
            self.all.push(loaded.spec(&example_device(platform))?);
        }
        Ok(())
    }

    pub fn takes(&self, trail: &Trail, device: &DeviceSpec) -> bool {
        if !self.own.is_empty() {
            return match elsewhere(trail, &self.own) {
                Some(platform) => device.platform == platform,
                None => self.own.contains(&device.platform),
            };
        }
        self.default.is_none_or(|default| platform(trail, default) == device.platform)
    }
}

/// The platform of a trail that has drivers, but none for these platforms.
fn elsewhere(trail: &Trail, own: &[Platform]) -> Option<Platform> {
    let platforms = pinned(trail);
    if platforms.iter().any(|platform| own.contains(platform)) { None } else { platforms.first().copied() }
}

/// The platforms that a trail has drivers for.
fn pinned(trail: &Trail) -> Vec<Platform> {
    let classifiers = trail.config.devices.iter().map(|(classifier, _)| classifier);
    classifiers.filter_map(|classifier| Platform::parse(classifier.split('-').next()?)).collect()
}

/// The platform that a trail runs on where no device was named: the default one, unless the trail has drivers for others
/// only.
fn platform(trail: &Trail, default: Platform) -> Platform {
    let platforms = pinned(trail);
    if platforms.contains(&default) { default } else { platforms.first().copied().unwrap_or(default) }
}

impl Loaded {
    /// The devices that were named; else those of the project; else what each trail asks for, or one simulated device.
    pub fn devices_of_trails(&self, named: &[String]) -> Result<Devices, DeviceError> {
        let is_default = named.is_empty() && self.project.devices.is_empty();
        let default = is_default.then(|| self.project.platform.unwrap_or(Platform::Android));
        let all = self.devices(named)?;
        let own = if named.is_empty() && !is_default {
            all.iter().map(|device| device.platform).collect()
        } else {
            Vec::new()
        };
        Ok(Devices { all, default, own })
    }

    /// The devices that were named; else those of the project; else one of the project's platform: a browser, or a simulated device.
    pub fn devices(&self, named: &[String]) -> Result<Vec<DeviceSpec>, DeviceError> {
        let configured: Vec<&str> = self.project.devices.iter().map(|entry| entry.id.value.as_str()).collect();
        let default = example_device(self.project.platform.unwrap_or(Platform::Android));
        let names: Vec<&str> = match (named, configured.as_slice()) {
            ([], []) => vec![&default],
            ([], configured) => configured.to_vec(),
            (named, _) => named.iter().map(String::as_str).collect(),
        };
        self.specs(&names)
    }

    /// The devices, with another driver: those that were named; else those of the project on the driver's platform; else a
    /// simulated one.
    pub fn devices_with(&self, named: &[String], driver: &str) -> Result<Vec<DeviceSpec>, DeviceError> {
        let key = DriverKey::new(driver);
        if !key.is_known() {
            return Err(DeviceError::UnknownDriver { text: driver.to_string() });
        }
        let is_of_platform = |spec: &DeviceSpec| key.platform().is_none_or(|platform| platform == spec.platform);
        let mut specs = self.devices(named)?;
        if named.is_empty() {
            specs.retain(is_of_platform);
        }
        if let (true, Some(platform)) = (specs.is_empty(), key.platform()) {
            specs = self.specs(&[&format!("{platform}/sim-1")])?;
        }
        let with_driver = |spec: DeviceSpec| {
            let why = if is_of_platform(&spec) { None } else { Some("it is a driver of another platform") };
            let spec = DeviceSpec { driver: key.clone(), ..spec };
            match why.or_else(|| spec.unsupported_driver()) {
                Some(why) => Err(DeviceError::Driver { text: spec.id.to_string(), driver: spec.driver, why }),
                None => Ok(spec),
            }
        };
        specs.into_iter().map(with_driver).collect()
    }

    /// Every device of the project, or one of each platform.
    pub fn all_devices(&self) -> Result<Vec<DeviceSpec>, DeviceError> {
        if self.project.devices.is_empty() {
            let web = if self.project.platform == Some(Platform::Web) { "web/chromium" } else { "web/sim-1" };
            return self.specs(&["android/sim-1", "ios/sim-1", web, "desktop/sim-1"]);
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
        let entry = self.project.devices.iter().find(|entry| entry.id.value == text);
        self.spec_with(text, entry).map_err(|error| match entry {
            Some(DeviceEntry { id, .. }) => {
                DeviceError::Configured { error: Box::new(error), line: id.span.line, column: id.span.column }
            }
            None => error,
        })
    }

    fn spec_with(&self, text: &str, entry: Option<&DeviceEntry>) -> Result<DeviceSpec, DeviceError> {
        let form = || DeviceError::Form { text: text.to_string() };
        let (platform_name, name) = text.split_once('/').ok_or_else(form)?;
        let platform = Platform::parse(platform_name).ok_or_else(|| DeviceError::Platform {
            text: text.to_string(),
            platform: platform_name.to_string(),
            near: nearest(platform_name, Platform::ALL.map(Platform::name)),
        })?;
        let kind = match name {
            _ if DeviceId::new(text).is_simulated() => match entry.and_then(browser_key) {
                Some(key) => return Err(DeviceError::NoBrowser { text: text.to_string(), key }),
                None => DeviceKind::Simulated,
            },
            // A browser that only has such a name would be mistaken for the real one.
            name if platform == Platform::Web
                && OTHER_BROWSERS.iter().any(|other| name.eq_ignore_ascii_case(other)) =>
            {
                return Err(DeviceError::OtherBrowser { text: text.to_string() });
            }
            // Any other name is a browser of the project.
            name if platform == Platform::Web && !name.is_empty() && !name.starts_with("sim-") => {
                DeviceKind::Chromium(self.start(entry)?)
            }
            _ => return Err(DeviceError::Unknown { text: text.to_string(), platform }),
        };
        let driver = entry.and_then(|entry| entry.driver.clone());
        // A simulated device stands for another driver, so that its filters and shapes can be tried.
        let driver = driver.filter(|driver| driver.as_str() != DriverKey::SIM);
        let spec = DeviceSpec {
            id: DeviceId::new(format!("{platform}/{name}")),
            platform,
            driver: driver.unwrap_or_else(|| DriverKey::default_for(platform)),
            classifiers: entry.map(|entry| entry.classifiers.clone()).unwrap_or_default(),
            kind,
        };
        match spec.unsupported_driver() {
            Some(why) => Err(DeviceError::Driver { text: text.to_string(), driver: spec.driver, why }),
            None => Ok(spec),
        }
    }

    /// How the pages of a browser start.
    fn start(&self, entry: Option<&DeviceEntry>) -> Result<Start, DeviceError> {
        Ok(Start {
            emulation: entry.map(emulation).transpose()?.unwrap_or_default(),
            dialogs: entry.and_then(|entry| entry.dialogs).or(self.project.dialogs),
            storage_state: entry.and_then(|entry| entry.storage_state.as_ref()).map(|file| self.root.join(&file.value)),
        })
    }
}

/// The first key of an entry that only a browser has a use for.
fn browser_key(entry: &DeviceEntry) -> Option<&'static str> {
    let keys = [
        ("emulate", entry.emulate.is_some()),
        ("viewport", entry.viewport.is_some()),
        ("locale", entry.locale.is_some()),
        ("timezone", entry.timezone.is_some()),
        ("colorScheme", entry.color_scheme.is_some()),
        ("dialogs", entry.dialogs.is_some()),
        ("storageState", entry.storage_state.is_some()),
    ];
    keys.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key)
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
