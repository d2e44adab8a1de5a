//! Where lamps come from, and how they are configured.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::watch;
use trailblaze_core::device_source::{DeviceSettings, DeviceSource, DeviceSpec};
use trailblaze_core::driver::{Budget, DeviceDescription, Driver, DriverError};
use trailblaze_core::finding::Finding;
use trailblaze_core::table;
use trailblaze_core::yaml::{Decode, Problem, Table};
use trailblaze_drivers::provider::{ConfigKeys, DeviceProvider, Machine, ProjectPart, ProviderConfig, WantedDevice};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use super::driver::Lamp;

pub const PROVIDER: DeviceProvider = DeviceProvider {
    name: "lamps",
    plural: "lamps",
    drivers: &["compose"],
    project_keys: ConfigKeys { names: LampProject::KEYS, schema: LampProject::schema },
    device_keys: ConfigKeys { names: LampEntry::KEYS, schema: LampEntry::schema },
    default_device: |_| None,
    read: |part, found| Arc::new(LampConfig::read(part, found)),
};

table! {
    /// What a project says about lamps.
    pub struct LampProject {
        /// The serial numbers of the lamps in this room.
        "lamps" => lamps: Vec<String> = Vec::new(),
    }
}

table! {
    /// What the entry of a lamp says.
    pub struct LampEntry {
        /// Whether it shines at the start.
        "lit" => lit: bool = false,
    }
}

struct LampConfig {
    serials: Vec<String>,
    entries: HashMap<String, LampEntry>,
}

impl LampConfig {
    fn read(part: &ProjectPart<'_>, found: &mut Vec<Problem>) -> LampConfig {
        let (project, entries) = part.decode::<LampProject, LampEntry>(found);
        LampConfig { serials: project.map(|project| project.lamps).unwrap_or_default(), entries }
    }
}

fn spec(serial: &str, is_lit: bool) -> DeviceSpec {
    DeviceSpec {
        id: DeviceId::new(format!("desktop/lamp-{serial}")),
        platform: Platform::Desktop,
        driver: DriverKey::new("compose"),
        provider: PROVIDER.name,
        classifiers: vec!["desktop".to_string(), "lamp".to_string()],
        size: Size { width: 0, height: 0 },
        summary: "lamp".to_string(),
        follows_person: false,
        machine_id: Some(format!("lamp {serial}")),
        settings: DeviceSettings::new(is_lit),
    }
}

impl ProviderConfig for LampConfig {
    fn device(&self, wanted: &WantedDevice<'_>) -> Option<Result<DeviceSpec, String>> {
        let serial = wanted.name.strip_prefix("lamp-").filter(|_| wanted.platform == Platform::Desktop)?;
        Some(Ok(spec(serial, self.entries.get(wanted.id).is_some_and(|entry| entry.lit))))
    }

    fn open(&self, _: &Machine) -> Result<Arc<dyn DeviceSource>, String> {
        let there = self.serials.iter().map(|serial| spec(serial, false)).collect();
        Ok(Arc::new(Lamps { there: watch::Sender::new(there) }))
    }
}

struct Lamps {
    there: watch::Sender<Vec<DeviceSpec>>,
}

#[async_trait]
impl DeviceSource for Lamps {
    async fn discover(&self, _: &Budget) -> Result<Vec<DeviceSpec>, DriverError> {
        Ok(self.there.borrow().clone())
    }

    fn changes(&self) -> Option<watch::Receiver<Vec<DeviceSpec>>> {
        Some(self.there.subscribe())
    }

    async fn acquire(&self, device: &DeviceSpec, _: &Budget) -> Result<Arc<dyn Driver>, DriverError> {
        if !self.there.borrow().iter().any(|lamp| lamp.id == device.id) {
            return Err(DriverError::NotStarted { evidence: format!("{} is not plugged in", device.id) });
        }
        // Only the lamp itself knows how large it is.
        let description = DeviceDescription { size: Size { width: 30, height: 40 }, ..device.description() };
        let is_on = Mutex::new(device.settings.get().copied().unwrap_or(false));
        Ok(Arc::new(Lamp { description, is_on }))
    }

    async fn check(&self, _: &Budget, is_needed: bool) -> Vec<Finding> {
        match self.there.borrow().len() {
            0 if is_needed => vec![Finding::bad("lamps", "no lamp is plugged in").hint("plug one in")],
            n => vec![Finding::good("lamps", format!("{n} plugged in"))],
        }
    }

    async fn close(&self) {
        self.there.send_replace(Vec::new());
    }
}
