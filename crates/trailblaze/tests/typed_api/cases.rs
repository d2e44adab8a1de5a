//! The list of cases that every protocol and every client answers alike: `tests/parity/cases.json`.

use serde_json::Value;

use super::support::{Project, repository};

pub struct Case {
    pub device: String,
    pub name: String,
    /// `Service/Method`.
    pub method: String,
    pub params: Value,
    /// `ok` and the value; `failed`, the variant, and the message; or `error`, the code, and the message.
    pub answer: Value,
}

pub fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(repository().join("tests/parity/cases.json")).expect("the cases");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let case = |case: &Value| Case {
        device: text(&case["on"]),
        name: text(&case["name"]),
        method: text(&case["method"]),
        params: case["params"].clone(),
        answer: case["answer"].clone(),
    };
    cases.iter().map(case).collect()
}

pub const DEVICES: [&str; 3] = ["android/sim-1", "ios/sim-1", "web/sim-1"];

/// The project that the cases are for.
pub fn project() -> Project {
    Project::copy_of("tests/parity/project")
}
