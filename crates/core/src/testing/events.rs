//! A sink that keeps all events.

use parking_lot::Mutex;
use trailblaze_protocol::event::{CallResult, Called, Event, Level};
use trailblaze_protocol::ids::{CallId, Parent};
use trailblaze_protocol::outcome::Attachment;

use crate::record::artifacts::{ArtifactKind, ArtifactStore, Shot};
use crate::record::effects::{self, Effect, Journal};
use crate::record::events::EventSink;

#[derive(Default)]
pub struct TestEvents {
    events: Mutex<Vec<Event>>,
    shots: Mutex<Vec<Shot>>,
}

impl TestEvents {
    pub fn all(&self) -> Vec<Event> {
        self.events.lock().clone()
    }

    pub fn shots(&self) -> Vec<Shot> {
        self.shots.lock().clone()
    }

    /// The calls as a tree, one per line: `tool {arguments} origin: result`, nested calls indented.
    pub fn calls(&self) -> Vec<String> {
        let events = self.all();
        let mut lines = Vec::new();
        let mut depths: Vec<(&Called, usize)> = Vec::new();
        for event in &events {
            let Event::Called(called) = event else { continue };
            let above = depths.iter().find(|(earlier, _)| Parent::Call(earlier.call.clone()) == called.parent);
            let depth = above.map_or(0, |(_, depth)| depth + 1);
            depths.push((called, depth));
            let origin = format!("{:?}", called.origin).to_lowercase();
            let args = serde_json::Value::Object(serde_json::Map::clone(&called.args));
            lines.push(format!("{}{} {args} {origin}: {}", "  ".repeat(depth), called.tool, answer(&events, called)));
        }
        lines
    }

    /// The texts of notes that are warnings or worse.
    pub fn warnings(&self) -> Vec<String> {
        let warning = |event: Event| match event {
            Event::Noted { level: Level::Warning | Level::Error, text, .. } => Some(text),
            Event::Device { happened, .. } if happened.level() >= Level::Warning => Some(happened.to_string()),
            _ => None,
        };
        self.all().into_iter().filter_map(warning).collect()
    }

    /// Everything that is recorded as text: events, and the trees of screenshots.
    pub fn text(&self) -> String {
        let events = serde_json::to_string(&self.all()).expect("events are JSON");
        let trees: Vec<String> = self.shots().into_iter().map(|shot| shot.tree).collect();
        format!("{events}\n{}", trees.join("\n"))
    }
}

fn answer(events: &[Event], called: &Called) -> String {
    let answers = events.iter().filter_map(|event| match event {
        Event::Answered { call, answer, .. } if *call == called.call => Some(answer),
        _ => None,
    });
    let answers: Vec<String> = answers
        .map(|answer| match answer {
            CallResult::Outcome(outcome) if outcome.is_error() => format!("failed: {}", outcome.text),
            CallResult::Outcome(_) => "ok".to_string(),
            CallResult::Fault { exit, message } => format!("exit {}: {message}", exit.code()),
        })
        .collect();
    if answers.is_empty() { "open".to_string() } else { answers.join(" AND ") }
}

impl EventSink for TestEvents {
    fn emit(&self, event: Event) {
        self.events.lock().push(event);
    }
}

impl ArtifactStore for TestEvents {
    fn keep_picture(&self, shot: Shot) {
        self.shots.lock().push(shot);
    }

    fn picture_file(&self, _: &Shot) -> Option<String> {
        None
    }

    fn keep(&self, _: ArtifactKind, file: &Attachment) -> String {
        format!("attachments/{}", file.name)
    }
}

impl Journal for TestEvents {
    fn effects(&self, call: &CallId) -> Vec<Effect> {
        effects::of_call(call, &self.all())
    }
}
