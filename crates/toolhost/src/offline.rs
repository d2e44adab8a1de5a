//! A server known only from its last listing: its tools can be checked but not called.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use serde_json::{Map, Value};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::engine::source::{Listing, SourceError, ToolSource};
use trailblaze_core::engine::tool::Contributor;
use trailblaze_protocol::outcome::Outcome;

use crate::listing::{RawListing, interpret};

pub struct Remembered {
    name: String,
    contributor: Contributor,
    toolset: Option<String>,
    raw: RawListing,
    /// Why it is not running; `None` if it was not supposed to be started.
    absence: Option<SourceError>,
    me: Weak<Remembered>,
}

impl Remembered {
    pub fn new(name: &str, contributor: Contributor, toolset: Option<&str>, raw: RawListing) -> Arc<Remembered> {
        Remembered::with((name, contributor, toolset), raw, None)
    }

    /// A server that should be running but is not.
    pub fn absent(
        name: &str,
        contributor: Contributor,
        toolset: Option<&str>,
        raw: RawListing,
        absence: SourceError,
    ) -> Arc<Remembered> {
        Remembered::with((name, contributor, toolset), raw, Some(absence))
    }

    fn with(
        (name, contributor, toolset): (&str, Contributor, Option<&str>),
        raw: RawListing,
        absence: Option<SourceError>,
    ) -> Arc<Remembered> {
        let (name, toolset) = (name.to_string(), toolset.map(str::to_string));
        Arc::new_cyclic(|me| Remembered { name, contributor, toolset, raw, absence, me: Weak::clone(me) })
    }
}

#[async_trait]
impl ToolSource for Remembered {
    fn name(&self) -> &str {
        &self.name
    }

    fn contributor(&self) -> Contributor {
        self.contributor.clone()
    }

    async fn start(&self) -> Result<(), SourceError> {
        Ok(())
    }

    async fn list(&self) -> Result<Listing, SourceError> {
        let Some(me) = self.me.upgrade() else { return Ok(Listing::default()) };
        let me: Arc<dyn ToolSource> = me;
        Ok(interpret(&self.raw, &self.contributor(), self.toolset.as_deref(), &me))
    }

    async fn call(&self, _: &Cx, _: &str, _: &Map<String, Value>) -> Result<Outcome, SourceError> {
        let evidence = "it is not running: only its last listing is known, which is enough for checks".to_string();
        let offline = SourceError::NotStarted { source_name: self.name.clone(), evidence };
        Err(self.absence.clone().unwrap_or(offline))
    }

    fn death(&self) -> Option<SourceError> {
        self.absence.clone()
    }
}
