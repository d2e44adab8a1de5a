//! Passes the events of one device to the record.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use trailblaze_core::record::effects::{self, Effect, Journal, StepDid};
use trailblaze_core::record::events::{EventSink, Shot};
use trailblaze_core::record::fold::{self, RecordedStep};
use trailblaze_core::record::healing::{self, StepSeen};
use trailblaze_core::screen::Picture;
use trailblaze_protocol::event::Event;
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::ids::{AttemptId, CallId, DeviceId, Parent};
use trailblaze_protocol::outcome::Attachment;

use crate::output::console::Console;

/// The events of one device: passes them on to the record and the console, and keeps those that the recording of the current
/// attempt is made from.
pub struct DeviceLog {
    device: DeviceId,
    events: Arc<dyn EventSink>,
    console: Arc<dyn Console>,
    journal: Mutex<Vec<Event>>,
    /// Whether the events of earlier attempts are kept too.
    keeps_all: bool,
}

impl DeviceLog {
    pub fn new(device: DeviceId, events: Arc<dyn EventSink>, console: Arc<dyn Console>) -> DeviceLog {
        DeviceLog { device, events, console, journal: Mutex::default(), keeps_all: false }
    }

    /// Also keeps what earlier attempts were made of: an interactive session can be replayed while it is open.
    pub fn keeping_all(self) -> DeviceLog {
        DeviceLog { keeps_all: true, ..self }
    }

    pub fn recording(&self, attempt: &AttemptId) -> Vec<RecordedStep> {
        fold::fold(attempt, &*self.journal.lock())
    }

    /// What an undo would remove, and its description.
    pub fn last_recorded(&self, attempt: &AttemptId) -> Option<(Parent, String)> {
        fold::last(attempt, &*self.journal.lock())
    }

    /// The effects of an attempt's calls.
    pub fn effects(&self, attempt: &AttemptId) -> Vec<StepDid> {
        effects::fold(attempt, &*self.journal.lock())
    }

    /// What healing needs to know about an attempt.
    pub fn seen(&self, attempt: &AttemptId) -> Vec<StepSeen> {
        healing::fold(attempt, &*self.journal.lock())
    }

    /// The custom tools that were called since the attempt started, by any caller.
    pub fn custom_tools(&self) -> BTreeSet<String> {
        let custom = |event: &Event| match event {
            Event::Called(called) if called.is_custom => Some(called.tool.clone()),
            _ => None,
        };
        self.journal.lock().iter().filter_map(custom).collect()
    }
}

impl Journal for DeviceLog {
    fn effects(&self, call: &CallId) -> Vec<Effect> {
        effects::of_call(call, &*self.journal.lock())
    }
}

impl EventSink for DeviceLog {
    fn emit(&self, event: Event) {
        self.console.event(&self.device, &event);
        self.events.tell(&event);
        let mut journal = self.journal.lock();
        match event {
            Event::AttemptStarted { .. } if self.keeps_all => {}
            Event::AttemptStarted { .. } => journal.clear(),
            Event::StepStarted { .. }
            | Event::Called(_)
            | Event::Answered { .. }
            | Event::Undone { .. }
            | Event::StepsEdited { .. }
            | Event::Touched { element: Some(_), .. }
            | Event::EndState { .. } => journal.push(event),
            _ => {}
        }
    }

    fn picture(&self, shot: Shot) {
        self.events.picture(shot);
    }

    fn picture_file(&self, shot: &Shot) -> Option<String> {
        self.events.picture_file(shot)
    }

    fn store(&self, attachment: &Attachment) -> String {
        self.events.store(attachment)
    }

    fn encode_within(&self, picture: &Picture, masks: &[Rect], screen: Size, longest: u32) -> Option<Arc<[u8]>> {
        self.events.encode_within(picture, masks, screen, longest)
    }
}
