//! What a project says about the providers of devices.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use trailblaze_core::config::{DeviceEntry, Project};
use trailblaze_core::yaml::{Decode, Problem, Problems, Source, Table, YamlNode};
use trailblaze_drivers::provider::{
    ConfigKeys, DeviceProvider, FileError, Machine, PROVIDERS, ProjectPart, ProviderConfig, WantedDevice,
};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::ids::DeviceId;

use crate::files::is_inside;
use crate::project::devices::DeviceSpec;
use crate::project::source::read_source;

/// The providers of this build, with their part of a project's configuration.
pub struct DeviceProviders(Vec<(&'static DeviceProvider, Arc<dyn ProviderConfig>)>);

impl DeviceProviders {
    /// Reads what each provider has in the project file, even if other parts of the file have errors. Keys that belong to nobody are
    /// problems.
    pub fn read(
        providers: &[&'static DeviceProvider],
        root: &Path,
        (source, file): (&Arc<Source>, &YamlNode),
        found: &mut Vec<Problem>,
    ) -> DeviceProviders {
        let entries: Vec<(&str, &YamlNode)> = file
            .get("devices")
            .and_then(YamlNode::items)
            .unwrap_or_default()
            .iter()
            .filter_map(|entry| Some((entry.get("id")?.raw()?, entry)))
            .collect();
        let mut problems = Problems::new(source);
        let of_providers =
            |keys: fn(&DeviceProvider) -> &ConfigKeys| providers.iter().flat_map(move |provider| keys(provider).names);
        refuse_others(file, Project::KEYS.iter().chain(of_providers(|provider| &provider.project_keys)), &mut problems);
        for (_, entry) in &entries {
            refuse_others(
                entry,
                DeviceEntry::KEYS.iter().chain(of_providers(|provider| &provider.device_keys)),
                &mut problems,
            );
        }
        found.extend(problems.into_vec());
        let read = |path: &str| {
            let file = root.join(path);
            if !is_inside(root, &file) {
                return Err(FileError::Outside);
            }
            if !file.is_file() {
                return Err(FileError::Missing);
            }
            let mut problems = Vec::new();
            read_source(root, &file, &mut problems).ok_or(FileError::Unreadable(problems))
        };
        let config = |provider: &&'static DeviceProvider| {
            let devices = entries.iter().map(|(id, entry)| (*id, provider.device_keys.of(entry))).collect();
            let section = provider.project_keys.of(file);
            (*provider, (provider.read)(&ProjectPart { root, source, section, devices, read: &read }, found))
        };
        DeviceProviders(providers.iter().map(config).collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static DeviceProvider, &dyn ProviderConfig)> {
        self.0.iter().map(|(provider, config)| (*provider, &**config))
    }

    /// The device of a name, if a provider knows it.
    pub fn device(&self, wanted: &WantedDevice<'_>) -> Option<Result<DeviceSpec, String>> {
        self.iter().find_map(|(_, config)| config.device(wanted))
    }

    /// A further device of the same kind, under a name that is not taken.
    pub fn another(&self, device: &DeviceSpec, is_taken: impl Fn(&str) -> bool) -> DeviceSpec {
        let Some(config) = self.config(device) else { return device.clone() };
        let mut names = (1..).map(|number| config.another(device, number));
        let name = names.find(|name| !is_taken(name)).unwrap_or_else(|| device.id.to_string());
        DeviceSpec { id: DeviceId::new(name), ..device.clone() }
    }

    /// How many devices like this one a run may use at a time without being told so.
    pub fn slots(&self, device: &DeviceSpec) -> u32 {
        self.config(device).map_or(1, |config| config.slots(device))
    }

    /// Whether a device that was lost can be had again.
    pub fn is_renewed(&self, device: &DeviceSpec) -> bool {
        self.config(device).is_some_and(|config| config.is_renewed(device))
    }

    fn config(&self, device: &DeviceSpec) -> Option<&dyn ProviderConfig> {
        self.iter().find(|(provider, _)| provider.name == device.provider).map(|(_, config)| config)
    }

    /// The provider of a device.
    pub fn of(&self, device: &DeviceSpec) -> &'static DeviceProvider {
        let provider = self.iter().map(|(provider, _)| provider).find(|provider| provider.name == device.provider);
        provider.expect("a device names its provider")
    }

    /// Why a device cannot have its driver, if that is so.
    pub fn unsupported_driver(&self, device: &DeviceSpec) -> Option<String> {
        self.of(device).unsupported_driver(&device.driver)
    }

    /// The first key of a device's entry that only the devices of another provider have.
    pub fn foreign_key(&self, entry: &DeviceEntry, own: &DeviceProvider) -> Option<(String, &'static DeviceProvider)> {
        let keys = entry.of_providers.entries().unwrap_or_default().iter().filter_map(|(key, _)| key.raw());
        let mut foreign = keys.filter(|key| !own.device_keys.names.contains(key));
        foreign.find_map(|key| {
            let mut others = self.iter().map(|(provider, _)| provider);
            Some((key.to_string(), others.find(|other| other.device_keys.names.contains(&key))?))
        })
    }

    /// Whether the seed decides what devices do.
    pub fn use_seed(&self, machine: &Machine) -> bool {
        self.iter().any(|(_, config)| config.uses_seed(machine))
    }
}

/// Reports keys of a mapping that are not known.
fn refuse_others<'k>(node: &YamlNode, known: impl Iterator<Item = &'k &'static str>, problems: &mut Problems) {
    let known: Vec<&str> = known.copied().collect();
    for (key, _) in node.entries().unwrap_or_default() {
        let name = key.raw().unwrap_or_default();
        if !known.contains(&name) {
            problems.unknown(key.span, "key", name, known.iter().copied());
        }
    }
}

/// The device of a platform that is used if none is named.
pub fn default_device(platform: Platform) -> &'static str {
    let device = PROVIDERS.iter().find_map(|provider| (provider.default_device)(platform));
    device.expect("every platform has a device")
}

/// The JSON Schema of a project file, with the keys of all providers.
pub fn project_schema() -> Value {
    let mut project = Project::schema();
    let mut devices = DeviceEntry::schema();
    for provider in PROVIDERS {
        add(&mut project, (provider.project_keys.schema)());
        add(&mut devices, (provider.device_keys.schema)());
    }
    let description = project["properties"]["devices"]["description"].take();
    project["properties"]["devices"]["items"] = devices;
    project["properties"]["devices"]["description"] = description;
    project
}

fn add(schema: &mut Value, mut keys: Value) {
    let (Some(all), Some(own)) = (schema["properties"].as_object_mut(), keys["properties"].as_object_mut()) else {
        return;
    };
    all.append(own);
}
