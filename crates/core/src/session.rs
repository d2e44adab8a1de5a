//! One device's lane of a run: its tools, its device, its place in the record.

use std::sync::{Arc, RwLock};

use trailblaze_protocol::event::Event;
use trailblaze_protocol::ids::SessionId;

use crate::device::Device;
use crate::driver::Driver;
use crate::events::{EventSink, PicturePolicy};
use crate::ids;
use crate::invocations::Invocations;
use crate::registry::Registry;
use crate::secret::Secrets;
use crate::source::Shelf;

pub struct Session {
    pub id: SessionId,
    pub device: Device,
    pub secrets: Arc<Secrets>,
    pub pictures: PicturePolicy,
    pub invocations: Arc<Invocations>,
    registry: RwLock<Arc<Registry>>,
    shelf: Option<Arc<dyn Shelf>>,
    events: Arc<dyn EventSink>,
    /// Top-level calls take turns, first come, first served.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

/// What reading the tools anew came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reloaded {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    pub total: usize,
}

/// What a session is made of.
pub struct Parts {
    pub driver: Arc<dyn Driver>,
    pub registry: Registry,
    /// Where the tools can be read anew.
    pub shelf: Option<Arc<dyn Shelf>>,
    pub events: Arc<dyn EventSink>,
    pub secrets: Arc<Secrets>,
    pub invocations: Arc<Invocations>,
    pub pictures: PicturePolicy,
}

impl Session {
    pub fn open(parts: Parts) -> Arc<Session> {
        Arc::new(Session {
            id: ids::session(),
            device: Device::new(parts.driver, Arc::clone(&parts.secrets)),
            secrets: parts.secrets,
            pictures: parts.pictures,
            invocations: parts.invocations,
            registry: RwLock::new(Arc::new(parts.registry)),
            shelf: parts.shelf,
            events: parts.events,
            turn: tokio::sync::Mutex::new(()),
        })
    }

    /// The current registry. A call pins the one it starts with.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Makes a new registry from what the shelf holds now. Calls in flight keep the old one.
    pub fn reload(&self) -> Result<Reloaded, String> {
        let shelf = self.shelf.as_ref().ok_or("this session has no tools that could be read again")?;
        let old = self.registry();
        let new = shelf.registry(old.generation + 1)?;
        let missing_from = |registry: &Registry, of: &Registry| -> Vec<String> {
            of.tools().filter(|tool| registry.get(&tool.name).is_none()).map(|tool| tool.name.clone()).collect()
        };
        let reloaded =
            Reloaded { added: missing_from(&old, &new), removed: missing_from(&new, &old), total: new.len() };
        self.replace_registry(new);
        Ok(reloaded)
    }

    pub fn replace_registry(&self, registry: Registry) {
        *self.registry.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Arc::new(registry);
    }

    pub fn sink(&self) -> &Arc<dyn EventSink> {
        &self.events
    }

    /// The one way into the record: nothing passes unredacted.
    pub fn emit(&self, mut event: Event) {
        self.secrets.redact_event(&mut event);
        self.events.emit(event);
    }
}
