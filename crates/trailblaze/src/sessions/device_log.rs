//! Passes the events of a device, or of several that run a trail together, to the record.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use trailblaze_core::record::effects::{self, Effect, Journal, StepDid};
use trailblaze_core::record::events::EventSink;
use trailblaze_core::record::fold::{self, RecordedStep};
use trailblaze_core::record::healing::{self, StepSeen};
use trailblaze_protocol::event::{CallResult, Event, ToolKind};
use trailblaze_protocol::ids::{AttemptId, CallId, DeviceId, Parent};

use crate::output::console::Console;

/// The events of the devices of an attempt: passes them on to the record and the console, and keeps those that the recording of
/// the attempt is made from.
pub struct DeviceLog {
    /// The device, or all of them in one name.
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
            Event::Answered { call, micros, answer } => {
                let answer = without_result(answer);
                // An interactive session may last for days, and looks more than it acts. A run keeps all calls of its steps,
                // which are compared with those of the trail.
                if self.keeps_all && is_idle_query(journal.last(), &call, &answer) {
                    journal.pop();
                } else {
                    journal.push(Event::Answered { call, micros, answer });
                }
            }
            Event::StepStarted { .. }
            | Event::Called(_)
            | Event::Undone { .. }
            | Event::StepsEdited { .. }
            | Event::Touched { element: Some(_), .. }
            | Event::EndState { .. } => journal.push(event),
            _ => {}
        }
    }
}

/// What recordings need of an answer: how the call ended, its delegates and its changes of memory.
fn without_result(mut answer: CallResult) -> CallResult {
    if let CallResult::Outcome(outcome) = &mut answer {
        outcome.text = String::new();
        outcome.structured = None;
        outcome.attachments = Vec::new();
    }
    answer
}

/// Whether this answers a built-in query that made no calls and changed nothing. No recording contains it.
fn is_idle_query(last: Option<&Event>, call: &CallId, answer: &CallResult) -> bool {
    let Some(Event::Called(called)) = last else { return false };
    let is_query = matches!(called.kind, ToolKind::Query | ToolKind::Meta) && !called.is_custom;
    let is_idle = match answer {
        CallResult::Outcome(outcome) => outcome.delegates.is_empty() && outcome.memory.is_empty(),
        CallResult::Fault { .. } => true,
    };
    called.call == *call && is_query && is_idle
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};
    use trailblaze_protocol::event::{CallOrigin, Called};
    use trailblaze_protocol::ids::{SessionId, StepId};
    use trailblaze_protocol::outcome::Outcome;

    use super::*;
    use crate::output::console::Quiet;

    struct Nowhere;

    impl EventSink for Nowhere {
        fn emit(&self, _: Event) {}
    }

    fn called(n: usize, tool: &str, kind: ToolKind) -> Event {
        Event::Called(Arc::new(Called {
            place: None,
            call: CallId::new(n.to_string()),
            parent: Parent::Step(StepId::new("step")),
            session: SessionId::new("s"),
            attempt: AttemptId::new("a"),
            tool: tool.to_string(),
            args: Arc::new(Map::new()),
            origin: CallOrigin::Step,
            kind,
            is_recordable: kind == ToolKind::Action,
            is_always_recorded: false,
            is_delegating: false,
            is_custom: false,
            result_name: None,
            is_soft: false,
            is_condition: false,
            source: Arc::from("built-in"),
        }))
    }

    #[test]
    fn looking_at_an_open_session_again_and_again_keeps_nothing_in_memory() {
        let log = DeviceLog::new(DeviceId::new("web/one"), Arc::new(Nowhere), Arc::new(Quiet)).keeping_all();
        for n in 0..1000 {
            log.emit(called(n, "captureScreen", ToolKind::Query));
            let answer = CallResult::Outcome(Box::new(Outcome::value("x".repeat(20_000), json!({"root": "x"}))));
            log.emit(Event::Answered { call: CallId::new(n.to_string()), micros: 1, answer });
        }
        assert_eq!(log.journal.lock().len(), 0);
        log.emit(called(1000, "tap", ToolKind::Action));
        let answer = CallResult::Outcome(Box::new(Outcome::success("tapped")));
        log.emit(Event::Answered { call: CallId::new("1000"), micros: 1, answer });
        let journal = log.journal.lock();
        let [Event::Called(_), Event::Answered { answer: CallResult::Outcome(outcome), .. }] = &journal[..] else {
            panic!("{journal:?}")
        };
        assert_eq!(**outcome, Outcome::default());
    }
}
