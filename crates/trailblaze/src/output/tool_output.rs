//! What custom tools say while they run: their log messages, and what they print.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use trailblaze_core::yaml::Problem;
use trailblaze_protocol::event::Event;
use trailblaze_protocol::ids::{CallId, DeviceId, Parent};

use crate::output::console::Console;

/// Finds it in the events of a session.
#[derive(Default)]
pub struct ToolOutput {
    /// The names of the calls in progress.
    tools: HashMap<CallId, String>,
}

impl ToolOutput {
    /// What a tool says in this event, after its name.
    pub fn read(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Called(called) if called.is_custom => {
                self.tools.insert(called.call.clone(), called.tool.clone());
                None
            }
            Event::Answered { call, .. } => {
                self.tools.remove(call);
                None
            }
            Event::Noted { about: Some(Parent::Call(call)), text, .. } => {
                self.tools.get(call).map(|tool| format!("{tool}: {text}"))
            }
            Event::Device { about: Some(Parent::Call(call)), happened, .. } if !happened.is_routine() => {
                self.tools.get(call).map(|tool| format!("{tool}: {happened}"))
            }
            _ => None,
        }
    }
}

/// Tells a console what tools say, and nothing else of what happens on the device.
pub struct OnlyToolOutput {
    console: Arc<dyn Console>,
    output: Mutex<ToolOutput>,
}

impl OnlyToolOutput {
    pub fn to(console: Arc<dyn Console>) -> OnlyToolOutput {
        OnlyToolOutput { console, output: Mutex::default() }
    }
}

impl Console for OnlyToolOutput {
    fn say(&self, _: &str) {}

    fn warn(&self, _: &str) {}

    fn error(&self, _: &str) {}

    fn problems(&self, _: &[Problem]) {}

    fn event(&self, _: &DeviceId, event: &Event) {
        // A tool failed after its call, perhaps between two commands: nobody may be there to hear it.
        if let Event::Noted { about: None, is_doubt: true, text, .. } = event {
            self.console.warn(text);
        }
        let said = self.output.lock().read(event);
        said.iter().for_each(|said| self.console.tool_output(said));
    }

    fn rescue(&self, _: &str) {}
}
