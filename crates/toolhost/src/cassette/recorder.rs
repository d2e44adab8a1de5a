//! Records a server's listings and answers while it works. Only observes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};
use trailblaze_core::engine::cx::Cx;
use trailblaze_protocol::event::{CallOrigin, CallResult, Event};
use trailblaze_protocol::ids::{CallId, Parent};

use super::scrub::Scrub;
use super::{Callback, Cassette, RecordedAnswer, RecordedCall};
use crate::listing::{RawListing, without_place};

/// The recording of one server during a run, across all its instances and sessions.
pub struct Tape {
    listener: Arc<CallbackListener>,
    kept: Mutex<Cassette>,
}

impl Tape {
    /// `listener` must receive the events of the sessions that use the server.
    pub fn new(listener: &Arc<CallbackListener>) -> Tape {
        Tape { listener: Arc::clone(listener), kept: Mutex::default() }
    }

    /// Adds a listing. Keeps every tool in its latest version, because tools may disappear and devices may have
    /// different ones.
    pub(crate) fn listed(&self, raw: &RawListing) {
        let mut kept = self.kept.lock();
        let listing = &mut kept.listing;
        for tool in &raw.tools {
            match listing.tools.iter_mut().find(|known| known.get("name") == tool.get("name")) {
                Some(known) => *known = without_place(tool),
                None => listing.tools.push(without_place(tool)),
            }
        }
        if let Some(registry) = &raw.registry {
            listing.registry = Some(registry.clone());
        }
    }

    /// Adds an answered call. A cancelled call is not recorded: its answer could not be replayed.
    pub(crate) fn answered(
        &self,
        cx: &Cx,
        (tool, args): (&str, &Map<String, Value>),
        base_url: &str,
        mut answer: RecordedAnswer,
    ) {
        let callbacks = cx.call_id().map(|call| self.listener.take(call)).unwrap_or_default();
        if cx.cancel.is_cancelled() {
            return;
        }
        let scrub = Scrub::new(cx, Some(base_url));
        match &mut answer {
            RecordedAnswer::Result(value) => scrub.value(value),
            RecordedAnswer::Refusal(message) => scrub.text(message),
        }
        let callback = |callback: Callback| Callback { args: scrub.map(&callback.args), ..callback };
        self.kept.lock().calls.push(RecordedCall {
            tool: tool.to_string(),
            args: scrub.map(args),
            device: Some(cx.session.device.description().id.to_string()),
            callbacks: callbacks.into_iter().map(callback).collect(),
            answer,
        });
    }

    /// Everything recorded so far.
    pub fn cassette(&self) -> Cassette {
        let mut cassette = self.kept.lock().clone();
        let devices: BTreeSet<&Option<String>> = cassette.calls.iter().map(|call| &call.device).collect();
        // The name of a single device carries no information, and would differ on another machine.
        if devices.len() < 2 {
            cassette.calls.iter_mut().for_each(|call| call.device = None);
        }
        cassette
    }
}

/// Collects, from events, the callbacks that belong to calls in flight.
#[derive(Default)]
pub struct CallbackListener {
    observed: Mutex<ObservedCall>,
}

#[derive(Default)]
struct ObservedCall {
    /// By parent call, in the order in which they were made.
    callbacks: HashMap<CallId, Vec<PendingCall>>,
    /// The parents of callbacks that have not finished.
    above: HashMap<CallId, CallId>,
}

struct PendingCall {
    call: CallId,
    callback: Callback,
    is_over: bool,
}

impl CallbackListener {
    pub fn on_event(&self, event: &Event) {
        match event {
            Event::Called(called) if called.origin == CallOrigin::Callback => {
                let Parent::Call(above) = &called.parent else { return };
                let args = Map::clone(&called.args);
                let callback = Callback { tool: called.tool.clone(), args, has_failed: false };
                let mut observed = self.observed.lock();
                observed.above.insert(called.call.clone(), above.clone());
                let pending = PendingCall { call: called.call.clone(), callback, is_over: false };
                observed.callbacks.entry(above.clone()).or_default().push(pending);
            }
            Event::Answered { call, answer, .. } => {
                let mut observed = self.observed.lock();
                observed.callbacks.remove(call);
                let Some(above) = observed.above.remove(call) else { return };
                let beneath = observed.callbacks.get_mut(&above).into_iter().flatten();
                for pending in beneath.filter(|pending| pending.call == *call) {
                    pending.is_over = true;
                    pending.callback.has_failed = match answer {
                        CallResult::Outcome(outcome) => outcome.is_error(),
                        CallResult::Fault { .. } => true,
                    };
                }
            }
            _ => {}
        }
    }

    /// Removes and returns the callbacks of a call. A callback that had not finished was cut off at an unknown point,
    /// and is left out.
    fn take(&self, call: &CallId) -> Vec<Callback> {
        let observed = self.observed.lock().callbacks.remove(call).unwrap_or_default();
        observed.into_iter().filter(|pending| pending.is_over).map(|pending| pending.callback).collect()
    }
}
