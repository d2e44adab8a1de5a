//! Tools that stay in their calls while a test calls back on their behalf.

use serde_json::{Map, Value};
use trailblaze_protocol::event::Event;

use super::wire::{Caller, Protocol};
use crate::support::stage::Stage;
use crate::support::{Running, wait_until};

/// A run whose tools stay in their calls, one on each device.
pub struct InCalls {
    stage: Stage,
    running: Running,
    /// What each call was told: its session, its id, where to call back.
    pub calls: Vec<Value>,
}

impl InCalls {
    pub fn on(devices: &[&str]) -> InCalls {
        let stage = Stage::new("stays_in_its_call").with("multiDevice: perDevice");
        let mut command = stage.command(&["run", "--pictures", "off", "-d", &devices.join(",")]);
        let running = Running::of(command.spawn().expect("the program starts"));
        let read = |device: &&str| {
            let path = stage.project().root().join(format!("{}.json", device.replace('/', "-")));
            wait_until("the tool is in its call", || std::fs::read_to_string(&path).ok())
        };
        let calls = devices.iter().map(|device| serde_json::from_str(&read(device)).expect("JSON")).collect();
        InCalls { stage, running, calls }
    }

    pub fn caller(&self, protocol: Protocol) -> Caller {
        let url = self.calls[0]["baseUrl"].as_str().expect("an address");
        let host = url.strip_prefix("http://").expect("http").to_string();
        Caller { host, protocol, key: None, ids: Map::new(), headers: Vec::new(), content_type: None }
    }

    /// Lets the tools answer and the run end. Returns the names of the tools that were called.
    pub fn end(self) -> Vec<String> {
        self.stage.project().write("enough", "");
        self.stage.project().ended(self.running).exits(0);
        let events = self.stage.project().last_run().events();
        let called = events.into_iter().filter_map(|event| match event {
            Event::Called(called) => Some(called.tool.clone()),
            _ => None,
        });
        called.collect()
    }
}
