//! Devices behind WebDriver endpoints, and WebKit, which is driven the same way.

mod dialogs;
mod example_shop;
mod faults;
mod hub;
mod life;
mod selenium;

use serde_json::{Value, json};

use crate::support::webdriver::{capabilities, chromedriver};
use crate::support::{Project, Ran};

/// Devices at an endpoint, as a project file.
fn devices(endpoint: &str, slots: u32) -> String {
    entry(json!({"webdriver": endpoint, "slots": slots, "capabilities": capabilities()}))
}

/// One device, `web/grid`, with these keys.
fn entry(mut keys: Value) -> String {
    keys["id"] = "web/grid".into();
    format!("devices: [{keys}]\n")
}

/// A project with a trail that opens a page and makes these calls, on chromedriver. `None` where there is none.
fn project(slots: u32, page: &str, calls: &[&str]) -> Option<(Project, &'static str)> {
    let endpoint = chromedriver()?;
    let project = Project::empty().with("trailblaze.yaml", devices(endpoint, slots)).with("trails/page.html", page);
    let calls = [&["web_navigate: {url: page.html}"], calls].concat();
    let calls: String = calls.iter().map(|call| format!("      - {call}\n")).collect();
    project.write("trails/a.trail.yaml", format!("trail:\n  - step: Go\n    tools:\n{calls}"));
    Some((project, endpoint))
}

fn run(project: &Project, args: &[&str]) -> Ran {
    project.run(&[&["run", "--pictures", "off"], args].concat())
}
