//! The list of cases that every protocol and every client answers alike: `tests/parity/cases.json`.

use serde_json::{Map, Value, json};

use crate::support::{Project, repository};

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

pub const DEVICES: [&str; 4] = ["android/sim-1", "ios/sim-1", "web/sim-1", "desktop/sim-1"];

/// The project that the cases are for.
pub fn project() -> Project {
    Project::copy_of("tests/parity/project")
}

/// What a method returned: its message, or a code and a text.
pub type Answer = Result<Map<String, Value>, (String, String)>;

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

/// The answer in the form that all clients are compared in.
pub fn normal(method: &str, answer: Answer) -> Value {
    let fields = match answer {
        Ok(fields) => Value::Object(fields),
        Err((code, message)) => return json!({"error": code, "message": message}),
    };
    match method.split('/').next_back().expect("a method") {
        "CaptureScreen" => json!({"ok": {
            "platform": fields["platform"], "width": fields["width"], "height": fields["height"], "app": fields["app"],
            "texts": texts(&fields["root"]), "picture": fields["picture"]["mime"],
        }}),
        "Windows" => json!({"ok": fields["windows"].as_array().into_iter().flatten().map(window).collect::<Vec<_>>()}),
        _ if fields["success"] == false || fields.get("variant").is_some_and(|variant| variant != "") => {
            json!({"failed": text(&fields["variant"]), "message": without_times(&text(&fields["message"]))})
        }
        "AdbShell" => json!({"ok": {"output": fields["output"], "exitCode": fields["exitCode"].as_i64().unwrap_or(0)}}),
        "EvaluateJs" => json!({"ok": fields["value"]}),
        _ if fields["success"] == true => json!({"ok": fields["structured"]}),
        "IsVisible" | "HasText" => json!({"ok": fields["value"].as_bool().unwrap_or(false)}),
        "GetElementCount" => json!({"ok": fields["value"].as_i64().unwrap_or(0)}),
        _ => json!({"ok": fields["value"]}),
    }
}

/// How long a wait took depends on the machine.
pub fn without_times(text: &str) -> String {
    let Some((before, after)) = text.split_once(" within ") else { return text.to_string() };
    match after.split_once(" s") {
        Some((number, rest)) if number.parse::<f64>().is_ok() => format!("{before}{}", without_times(rest)),
        _ => text.to_string(),
    }
}

fn window(window: &Value) -> Value {
    let (bounds, is_active) = (&window["bounds"], window["active"] == true);
    json!([
        window["id"],
        window["title"],
        window["app"],
        bounds["right"].as_i64(),
        bounds["bottom"].as_i64(),
        is_active
    ])
}

fn texts(element: &Value) -> Vec<String> {
    let own = element["text"].as_str().map(str::to_string);
    let children = element["children"].as_array().into_iter().flatten();
    own.into_iter().chain(children.flat_map(texts)).collect()
}
