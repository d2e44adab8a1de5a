//! Which devices there are, and which a command means.

use trailblaze_core::config::DeviceEntry;
pub use trailblaze_core::device_source::DeviceSpec;
use trailblaze_core::trail::{Trail, lineage};
use trailblaze_core::yaml::{Problem, Problems, nearest};
use trailblaze_drivers::provider::WantedDevice;
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::ids::DeviceId;

use crate::project::loaded::{Loaded, PROJECT_FILE};
use crate::project::providers::default_device;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DeviceError {
    #[error("`{text}` is not a device; write platform/name, such as android/sim-1, or a platform")]
    Form { text: String },
    #[error("unknown platform `{platform}` in `{text}`{}", .near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Platform { text: String, platform: String, near: Option<&'static str> },
    #[error("there is no device `{text}`; there are {platform}/sim-1, {platform}/sim-2 and so on{}", real_devices(*.platform))]
    Unknown { text: String, platform: Platform },
    #[error("{why}")]
    Refused { why: String },
    #[error("`{key}` of `{text}` is for {others}, not for {own}")]
    ForeignKey { text: String, key: String, others: &'static str, own: &'static str },
    #[error("`{driver}` cannot be used on {text}: {why}")]
    Driver { text: String, driver: DriverKey, why: String },
    #[error("unknown driver `{text}`; there are {}", DriverKey::known_keys().collect::<Vec<_>>().join(", "))]
    UnknownDriver { text: String },
    #[error("the device `{text}` is named twice")]
    Twice { text: String },
    #[error("there are several {platform} devices; name one of {}", ids.join(", "))]
    Several { platform: Platform, ids: Vec<String> },
    #[error("no device matches `{wanted}`; add one to `devices:` of {PROJECT_FILE}")]
    NoneFit { wanted: String },
    #[error(
        "every device that matches `{wanted}` has another role; add one with `-d` or to `devices:` of {PROJECT_FILE}"
    )]
    TooFew { wanted: String },
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
        let trails = trails.filter(|trail| !trail.has_roles());
        let mut platforms: Vec<Platform> = trails.map(|trail| platform(trail, default)).collect();
        platforms.sort();
        platforms.dedup();
        if platforms.is_empty() {
            return Ok(());
        }
        let spec = |platform: Platform| match self.all.iter().find(|device| device.platform == platform) {
            Some(device) => Ok(device.clone()),
            None => loaded.spec(default_device(platform)),
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
            self.all.push(loaded.spec(default_device(platform))?);
        }
        Ok(())
    }

    /// Whether a trail without roles runs on a device.
    pub fn takes(&self, trail: &Trail, device: &DeviceSpec) -> bool {
        if trail.has_roles() {
            return false;
        }
        if !self.own.is_empty() {
            return match elsewhere(trail, &self.own) {
                Some(platform) => device.platform == platform,
                None => self.own.contains(&device.platform),
            };
        }
        self.default.is_none_or(|default| platform(trail, default) == device.platform)
    }
}

/// The devices that a trail runs on together, by role: one without a role, unless the trail names roles.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSet {
    first: (Option<String>, DeviceSpec),
    others: Vec<(Option<String>, DeviceSpec)>,
}

impl DeviceSet {
    pub fn one(device: DeviceSpec) -> DeviceSet {
        DeviceSet { first: (None, device), others: Vec::new() }
    }

    pub fn first(&self) -> &DeviceSpec {
        &self.first.1
    }

    /// The devices with their roles, in the order of the trail.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&str>, &DeviceSpec)> {
        std::iter::once(&self.first).chain(&self.others).map(|(role, device)| (role.as_deref(), device))
    }

    pub fn n_devices(&self) -> usize {
        1 + self.others.len()
    }

    /// The same roles with other devices.
    pub fn map(&self, mut device: impl FnMut(&DeviceSpec) -> DeviceSpec) -> DeviceSet {
        let mut one = |(role, spec): &(Option<String>, DeviceSpec)| (role.clone(), device(spec));
        DeviceSet { first: one(&self.first), others: self.others.iter().map(one).collect() }
    }

    /// All of its devices in one name.
    pub fn name(&self) -> DeviceId {
        let names: Vec<&str> = self.iter().map(|(_, device)| device.id.as_str()).collect();
        DeviceId::new(names.join(" + "))
    }
}

impl Devices {
    /// The devices of a trail's roles; `None` if it has none. Each device plays one role. Those of the command come first,
    /// then others like them.
    pub fn in_roles(&self, loaded: &Loaded, trail: &Trail) -> Result<Option<DeviceSet>, Vec<Problem>> {
        let mut problems = Problems::new(&trail.source);
        let mut taken: Vec<(Option<String>, DeviceSpec)> = Vec::new();
        for (role, wanted) in &trail.config.devices.roles.0 {
            match self.in_role(loaded, &wanted.value, &taken) {
                Ok(device) => taken.push((Some(role.value.clone()), device)),
                Err(error) => problems.error(wanted.span, format!("`{}` has no device: {error}", role.value)),
            }
        }
        if problems.has_errors() {
            return Err(problems.into_vec());
        }
        let mut taken = taken.into_iter();
        Ok(taken.next().map(|first| DeviceSet { first, others: taken.collect() }))
    }

    fn in_role(
        &self,
        loaded: &Loaded,
        wanted: &str,
        taken: &[(Option<String>, DeviceSpec)],
    ) -> Result<DeviceSpec, DeviceError> {
        let is_taken = |id: &str| taken.iter().any(|(_, device)| device.id.as_str() == id);
        if wanted.contains('/') {
            return match is_taken(wanted) {
                true => Err(DeviceError::Twice { text: wanted.to_string() }),
                false => loaded.spec(wanted),
            };
        }
        let is_fit = |device: &DeviceSpec| lineage(&device.classifiers).iter().any(|classifier| classifier == wanted);
        let own: Vec<&DeviceSpec> = self.all.iter().filter(|device| is_fit(device)).collect();
        if let Some(free) = own.iter().find(|device| !is_taken(device.id.as_str())) {
            return Ok((*free).clone());
        }
        let default = match own.first() {
            Some(device) => (*device).clone(),
            None => {
                let platform = wanted.split('-').next().and_then(Platform::parse);
                let default = loaded.spec(default_device(platform.unwrap_or(Platform::Android)))?;
                if !is_fit(&default) {
                    return Err(DeviceError::NoneFit { wanted: wanted.to_string() });
                }
                default
            }
        };
        if !is_taken(default.id.as_str()) {
            return Ok(default);
        }
        // One that exists only once has no second like it.
        if default.machine_id.is_some() {
            return Err(DeviceError::TooFew { wanted: wanted.to_string() });
        }
        let is_known = |id: &str| {
            let configured = loaded.project.devices.iter().any(|entry| entry.id.value == id);
            is_taken(id) || configured || self.all.iter().any(|device| device.id.as_str() == id)
        };
        Ok(loaded.providers.another(&default, is_known))
    }
}

/// The platform of a trail that has drivers, but none for these platforms.
fn elsewhere(trail: &Trail, own: &[Platform]) -> Option<Platform> {
    let platforms = pinned(trail);
    if platforms.iter().any(|platform| own.contains(platform)) { None } else { platforms.first().copied() }
}

/// The platforms that a trail has drivers for.
fn pinned(trail: &Trail) -> Vec<Platform> {
    let classifiers = trail.config.devices.drivers.iter().map(|(classifier, _)| classifier);
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
        let default = default_device(self.project.platform.unwrap_or(Platform::Android));
        let names: Vec<&str> = match (named, configured.as_slice()) {
            ([], []) => vec![default],
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
            let why = (!is_of_platform(&spec)).then(|| "it is a driver of another platform".to_string());
            let spec = DeviceSpec { driver: key.clone(), ..spec };
            match why.or_else(|| self.providers.unsupported_driver(&spec)) {
                Some(why) => Err(DeviceError::Driver { text: spec.id.to_string(), driver: spec.driver, why }),
                None => Ok(spec),
            }
        };
        specs.into_iter().map(with_driver).collect()
    }

    /// Every device of the project, or one of each platform.
    pub fn all_devices(&self) -> Result<Vec<DeviceSpec>, DeviceError> {
        if self.project.devices.is_empty() {
            let web =
                if self.project.platform == Some(Platform::Web) { default_device(Platform::Web) } else { "web/sim-1" };
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

    /// The ids of the project's devices of a platform.
    pub fn own_devices(&self, platform: Platform) -> Vec<String> {
        let is_of_platform = |id: &&String| id.split_once('/').is_some_and(|(name, _)| name == platform.name());
        self.project.devices.iter().map(|entry| &entry.id.value).filter(is_of_platform).cloned().collect()
    }

    fn spec(&self, text: &str) -> Result<DeviceSpec, DeviceError> {
        if let Some(platform) = Platform::parse(text) {
            let own = self.own_devices(platform);
            return self.spec(own.first().map_or(default_device(platform), String::as_str));
        }
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
        let driver = entry.and_then(|entry| entry.driver.as_ref());
        let classifiers = entry.map(|entry| entry.classifiers.as_slice()).unwrap_or_default();
        let wanted = WantedDevice { id: text, platform, name, driver, classifiers };
        let known = self.providers.device(&wanted);
        let known = known.ok_or_else(|| DeviceError::Unknown { text: text.to_string(), platform })?;
        let spec = known.map_err(|why| DeviceError::Refused { why })?;
        let provider = self.providers.of(&spec);
        if let Some((key, owner)) = entry.and_then(|entry| self.providers.foreign_key(entry, provider)) {
            let (text, others, own) = (text.to_string(), owner.plural, provider.plural);
            return Err(DeviceError::ForeignKey { text, key, others, own });
        }
        match self.providers.unsupported_driver(&spec) {
            Some(why) => Err(DeviceError::Driver { text: text.to_string(), driver: spec.driver, why }),
            None => Ok(spec),
        }
    }
}

/// What may be written instead of a simulated device.
fn real_devices(platform: Platform) -> String {
    match default_device(platform) {
        default if default.ends_with("/sim-1") => String::new(),
        default => format!(", and {default}"),
    }
}
