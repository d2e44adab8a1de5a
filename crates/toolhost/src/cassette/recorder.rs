//! Keeps what a server lists and answers while it works. It listens, and changes nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};
use trailblaze_core::engine::cx::Cx;
use trailblaze_core::values::secret::Secrets;
use trailblaze_protocol::event::{CallOrigin, CallResult, Event};
use trailblaze_protocol::ids::{CallId, Parent};

use super::scrub::Scrub;
use super::{Answer, Callback, Cassette, Kept};
use crate::desk::lock;
use crate::listing::RawListing;

/// What one server did in a run, in all its lives and for all its sessions.
pub struct Tape {
    ear: Arc<Ear>,
    kept: Mutex<Cassette>,
}

impl Tape {
    /// `ear` hears the events of the sessions that the server works for.
    pub fn new(ear: &Arc<Ear>) -> Tape {
        Tape { ear: Arc::clone(ear), kept: Mutex::default() }
    }

    /// Keeps a list. Tools may come and go, and devices may have different ones: every tool stays, as it was listed last.
    pub(crate) fn listed(&self, raw: &RawListing, secrets: &Secrets) {
        let mut kept = lock(&self.kept);
        let listing = &mut kept.listing;
        for tool in &raw.tools {
            let mut tool = tool.clone();
            secrets.redact_value(&mut tool);
            match listing.tools.iter_mut().find(|known| known.get("name") == tool.get("name")) {
                Some(known) => *known = tool,
                None => listing.tools.push(tool),
            }
        }
        if let Some(registry) = &raw.registry {
            listing.registry = Some(secrets.redact(registry).into_owned());
        }
    }

    /// Keeps a call that was answered. One that was called off is none that can be asked for again.
    pub(crate) fn answered(
        &self,
        cx: &Cx,
        (tool, args): (&str, &Map<String, Value>),
        base_url: &str,
        mut answer: Answer,
    ) {
        let callbacks = cx.call_id().map(|call| self.ear.take(call)).unwrap_or_default();
        if cx.cancel.is_cancelled() {
            return;
        }
        let scrub = Scrub::new(cx, Some(base_url));
        match &mut answer {
            Answer::Result(value) => scrub.value(value),
            Answer::Refusal(message) => scrub.text(message),
        }
        let callback = |callback: Callback| Callback { args: scrub.map(&callback.args), ..callback };
        lock(&self.kept).calls.push(Kept {
            tool: tool.to_string(),
            args: scrub.map(args),
            device: Some(cx.session.device.description().id.to_string()),
            callbacks: callbacks.into_iter().map(callback).collect(),
            answer,
        });
    }

    /// All that was kept so far.
    pub fn cassette(&self) -> Cassette {
        let mut cassette = lock(&self.kept).clone();
        let devices: BTreeSet<&Option<String>> = cassette.calls.iter().map(|call| &call.device).collect();
        // The name of the only device says nothing, and would differ where another records.
        if devices.len() < 2 {
            cassette.calls.iter_mut().for_each(|call| call.device = None);
        }
        cassette
    }
}

/// Hears from the events which calls came back from the calls in flight.
#[derive(Default)]
pub struct Ear {
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    /// By the call that they are beneath, in the order in which they were made.
    callbacks: HashMap<CallId, Vec<Heeded>>,
    /// The calls above those that are not over.
    above: HashMap<CallId, CallId>,
}

struct Heeded {
    call: CallId,
    callback: Callback,
    is_over: bool,
}

impl Ear {
    pub fn hear(&self, event: &Event) {
        match event {
            Event::Called(called) if called.origin == CallOrigin::Callback => {
                let Parent::Call(above) = &called.parent else { return };
                let args = Map::clone(&called.args);
                let callback = Callback { tool: called.tool.clone(), args, has_failed: false };
                let mut heard = lock(&self.heard);
                heard.above.insert(called.call.clone(), above.clone());
                let heeded = Heeded { call: called.call.clone(), callback, is_over: false };
                heard.callbacks.entry(above.clone()).or_default().push(heeded);
            }
            Event::Answered { call, answer, .. } => {
                let mut heard = lock(&self.heard);
                heard.callbacks.remove(call);
                let Some(above) = heard.above.remove(call) else { return };
                let beneath = heard.callbacks.get_mut(&above).into_iter().flatten();
                for heeded in beneath.filter(|heeded| heeded.call == *call) {
                    heeded.is_over = true;
                    heeded.callback.has_failed = match answer {
                        CallResult::Outcome(outcome) => outcome.is_error(),
                        CallResult::Fault { .. } => true,
                    };
                }
            }
            _ => {}
        }
    }

    /// The callbacks of a call. What it did not wait for was cut off, and nobody can tell where.
    fn take(&self, call: &CallId) -> Vec<Callback> {
        let heard = lock(&self.heard).callbacks.remove(call).unwrap_or_default();
        heard.into_iter().filter(|heeded| heeded.is_over).map(|heeded| heeded.callback).collect()
    }
}
