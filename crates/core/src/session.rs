//! One device's lane of a run: its tools, its device, its place in the record.

use std::sync::{Arc, RwLock};

use serde::Deserialize;
use trailblaze_protocol::event::Event;
use trailblaze_protocol::ids::SessionId;
use trailblaze_protocol::outcome::Outcome;

use crate::device::Device;
use crate::driver::Driver;
use crate::events::{EventSink, PicturePolicy};
use crate::fault::Fault;
use crate::ids;
use crate::invocations::Invocations;
use crate::registry::Registry;
use crate::secret::Secrets;
use crate::source::SourceError;

pub struct Session {
    pub id: SessionId,
    pub device: Device,
    pub secrets: Arc<Secrets>,
    pub pictures: PicturePolicy,
    pub invocations: Arc<Invocations>,
    registry: RwLock<Arc<Registry>>,
    events: Arc<dyn EventSink>,
    /// Top-level calls take turns, first come, first served.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

/// What a session is made of.
pub struct Parts {
    pub driver: Arc<dyn Driver>,
    pub registry: Registry,
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
            events: parts.events,
            turn: tokio::sync::Mutex::new(()),
        })
    }

    /// The current registry. A call pins the one it starts with.
    pub fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub fn replace_registry(&self, registry: Registry) {
        *self.registry.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Arc::new(registry);
    }

    pub fn sink(&self) -> &Arc<dyn EventSink> {
        &self.events
    }

    /// The one way into the record: nothing passes unredacted.
    pub fn emit(&self, event: Event) {
        self.events.emit(self.redacted(event));
    }

    fn redacted(&self, event: Event) -> Event {
        if self.secrets.is_empty() {
            return event;
        }
        let value = serde_json::to_value(&event).expect("an event is JSON");
        let mut redacted = value.clone();
        self.secrets.redact_value(&mut redacted);
        serde_json::from_value(redacted).unwrap_or_else(|_| {
            let mut redacted = value;
            self.secrets.redact_parts(&mut redacted, |value| Event::deserialize(value).is_ok());
            Event::deserialize(redacted).unwrap_or(event)
        })
    }

    pub(crate) fn redact_fault(&self, fault: Fault) -> Fault {
        let redact = |text: String| self.secrets.redact(&text).into_owned();
        match fault {
            Fault::DeviceLost { evidence } => Fault::DeviceLost { evidence: redact(evidence) },
            Fault::DeviceSilent { what } => Fault::DeviceSilent { what: redact(what) },
            Fault::Source(SourceError::NotStarted { source_name, evidence }) => {
                SourceError::NotStarted { source_name, evidence: redact(evidence) }.into()
            }
            Fault::Source(SourceError::Died { source_name, evidence }) => {
                SourceError::Died { source_name, evidence: redact(evidence) }.into()
            }
            Fault::Bug { tool, message } => Fault::Bug { tool, message: redact(message) },
            // The rest speak of what was authored, where secrets are placeholders.
            other => other,
        }
    }

    pub(crate) fn redact_outcome(&self, mut outcome: Outcome) -> Outcome {
        if self.secrets.is_empty() {
            return outcome;
        }
        self.secrets.redact_in_place(&mut outcome.text);
        if let Some(structured) = &mut outcome.structured {
            self.secrets.redact_value(structured);
        }
        for delegate in &mut outcome.delegates {
            delegate.args.values_mut().for_each(|value| self.secrets.redact_value(value));
        }
        outcome.memory.set.values_mut().for_each(|value| self.secrets.redact_value(value));
        outcome
    }
}
