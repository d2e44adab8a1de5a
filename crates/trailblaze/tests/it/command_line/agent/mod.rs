//! Steps in plain words, carried out by a model whose replies are in a file: through the program, on simulated devices and on a
//! real Chromium.

mod limits;
mod offering;
mod recording;
mod shell;
mod web;

use crate::support::{Project, Ran};

/// The counter app with one trail, and the replies of a model.
pub fn counter(trail: &str, replies: &str) -> Project {
    Project::counter().with("trails/a.trail.yaml", trail).with("replies.yaml", format!("replies:\n{replies}"))
}

pub const MODEL: &str = "scripted/replies.yaml";

/// Runs the trail on one simulated phone.
pub fn run(project: &Project, args: &[&str]) -> Ran {
    project.run(&[&["run", "-d", "android/sim-1", "--pictures", "off", "--model", MODEL], args].concat())
}

/// A reply with one call, for requests that contain a text.
pub fn reply(expected: &str, call: &str) -> String {
    format!("  - expect: {{contains: '{expected}'}}\n    reply: {{calls: [{call}]}}\n")
}

/// A trail that starts the counter and has these steps.
pub fn trail(steps: &str) -> String {
    format!("trailhead:\n  step: Start\n  tools: [{{launchApp: {{packageId: com.example.counter}}}}]\ntrail:\n{steps}")
}
