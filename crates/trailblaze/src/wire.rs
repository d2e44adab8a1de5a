//! The wiring: from what a project says to sessions that can be called. Here, once, and nowhere else.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value};
use trailblaze_core::driver::Driver;
use trailblaze_core::events::{EventSink, PicturePolicy};
use trailblaze_core::invocations::Invocations;
use trailblaze_core::limits;
use trailblaze_core::memory::Memory;
use trailblaze_core::registry::{Registry, Scope};
use trailblaze_core::secret::Secrets;
use trailblaze_core::session::{Parts, Session};
use trailblaze_core::source::Shelf;
use trailblaze_core::trail::{Trail, lineage};
use trailblaze_core::yaml::Severity;
use trailblaze_drivers::sim::{Options, Sim};
use trailblaze_protocol::event::{Device, Event};

use crate::devices::DeviceSpec;
use crate::project::Loaded;
use crate::sim::SimSetup;

/// What every session of a run shares.
pub struct Wiring {
    pub loaded: Arc<Loaded>,
    /// The target unless a trail names another.
    pub target: Option<String>,
    pub sim: SimSetup,
    pub seed: u64,
    pub secrets: Arc<Secrets>,
    pub pictures: PicturePolicy,
    pub invocations: Arc<Invocations>,
    pub groups: Vec<String>,
    pub prefixes: Vec<String>,
}

impl Wiring {
    pub fn new(loaded: &Arc<Loaded>, target: Option<String>) -> Wiring {
        Wiring {
            loaded: Arc::clone(loaded),
            target: target.or_else(|| loaded.project.target.as_ref().map(|target| target.value.clone())),
            sim: loaded.sim.clone(),
            seed: 0,
            secrets: Arc::default(),
            pictures: PicturePolicy::Off,
            invocations: Arc::default(),
            groups: Vec::new(),
            prefixes: Vec::new(),
        }
    }

    /// The tools that a session on this device has.
    pub fn registry(&self, device: &DeviceSpec, target: Option<&str>) -> Registry {
        let target = target.and_then(|id| self.loaded.target(id).ok());
        let scope = Scope {
            platform: device.platform,
            driver: device.driver.clone(),
            agent_mode: self.loaded.project.agent_mode,
            toolsets: self.loaded.toolsets.clone(),
            target: target.and_then(|target| target.on(device.platform)).cloned(),
            groups: self.groups.clone(),
            prefixes: self.prefixes.clone(),
            reserved_prefixes: self.loaded.project.reserved_prefixes.clone(),
        };
        Registry::build(1, &self.loaded.batches, &scope)
    }

    fn shelf(&self, device: &DeviceSpec, target: Option<&str>) -> DiskShelf {
        DiskShelf {
            root: self.loaded.root.clone(),
            device: device.clone(),
            target: target.map(str::to_string),
            groups: self.groups.clone(),
            prefixes: self.prefixes.clone(),
        }
    }

    pub fn driver(&self, device: &DeviceSpec) -> Arc<dyn Driver> {
        let options = Options { seed: self.seed, faults: self.sim.faults.clone() };
        let sim = Sim::open(device.id.clone(), device.platform, device.driver.clone(), self.sim.apps.clone(), options);
        Arc::new(sim.with_classifiers(&device.classifiers))
    }

    /// Opens a session, and tells the record.
    pub fn open(&self, device: &DeviceSpec, target: Option<&str>, events: Arc<dyn EventSink>) -> Arc<Session> {
        let session = Session::open(Parts {
            driver: self.driver(device),
            registry: self.registry(device, target),
            shelf: Some(Arc::new(self.shelf(device, target))),
            events,
            secrets: Arc::clone(&self.secrets),
            invocations: Arc::clone(&self.invocations),
            pictures: self.pictures,
        });
        let description = session.device.description();
        session.emit(Event::SessionOpened {
            session: session.id.clone(),
            device: Device {
                id: description.id.clone(),
                platform: description.platform,
                driver: description.driver.clone(),
                size: description.size,
                classifiers: description.classifiers.clone(),
            },
            target: target.map(str::to_string),
            agent_mode: self.loaded.project.agent_mode,
            tools: session.registry().len(),
        });
        session
    }

    /// The target of a trail.
    pub fn target_of<'t>(&'t self, trail: &'t Trail) -> Option<&'t str> {
        let own = trail.config.target.as_ref().map(|target| target.value.as_str());
        own.or(self.target.as_deref())
    }

    /// The device as a trail wants it: with the driver that the trail pins for it.
    pub fn device_for(&self, trail: &Trail, device: &DeviceSpec) -> DeviceSpec {
        let lineage = lineage(&self.driver(device).describe().classifiers);
        let pinned = lineage.iter().find_map(|classifier| trail.config.devices.get(classifier));
        DeviceSpec { driver: pinned.cloned().unwrap_or_else(|| device.driver.clone()), ..device.clone() }
    }

    /// What an attempt remembers from the start. The command line wins over the trail.
    pub fn memory(
        &self,
        lane: (&DeviceSpec, Option<&str>),
        trail: Option<&Trail>,
        given: &[(String, String)],
        args: Map<String, Value>,
    ) -> Memory {
        let (device, target) = lane;
        let mut values = Map::new();
        let target = target.and_then(|id| self.loaded.target(id).ok());
        if let Some(app) = target.and_then(|target| target.on(device.platform)?.app_ids.first()) {
            values.insert("target.appId".into(), app.as_str().into());
        }
        let own = trail.into_iter().flat_map(|trail| &trail.config.memory.0);
        for (name, value) in own.chain(given) {
            values.insert(name.clone(), value.as_str().into());
        }
        Memory::new(values, args)
    }
}

/// The tools of a project's files.
struct DiskShelf {
    root: PathBuf,
    device: DeviceSpec,
    target: Option<String>,
    groups: Vec<String>,
    prefixes: Vec<String>,
}

impl Shelf for DiskShelf {
    fn registry(&self, generation: u64) -> Result<Registry, String> {
        let loaded = Arc::new(Loaded::read(&self.root).map_err(|error| error.to_string())?);
        let mut wiring = Wiring::new(&loaded, self.target.clone());
        wiring.groups.clone_from(&self.groups);
        wiring.prefixes.clone_from(&self.prefixes);
        let mut registry = wiring.registry(&self.device, self.target.as_deref());
        let problems = loaded.problems.iter().cloned().chain(loaded.tool_problems(&registry));
        let errors: Vec<String> =
            problems.filter(|problem| problem.severity == Severity::Error).map(|problem| problem.to_string()).collect();
        if !errors.is_empty() {
            return Err(errors.join("\n"));
        }
        registry.generation = generation;
        Ok(registry)
    }
}

/// Reads secrets from the environment.
pub fn secrets(names: &[String]) -> Result<Secrets, SecretError> {
    let read = |name: &String| match std::env::var(name) {
        Ok(value) if value.chars().count() < limits::SECRET_CHARS => Err(SecretError::TooShort { name: name.clone() }),
        Ok(value) => Ok((name.clone(), value)),
        Err(_) => Err(SecretError::Unset { name: name.clone() }),
    };
    Ok(Secrets::new(names.iter().map(read).collect::<Result<Vec<_>, _>>()?))
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error("the secret `{name}` is not in the environment")]
    Unset { name: String },
    #[error(
        "the secret `{name}` is shorter than {} characters, so it could not be kept out of the record",
        limits::SECRET_CHARS
    )]
    TooShort { name: String },
}
