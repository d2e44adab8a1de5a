//! The tools that are always offered, in this order, and what models are told about the server. Every character is read by a model in
//! every conversation, so there are few of them.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

/// Clients cut instructions at 2,000 bytes.
pub const INSTRUCTIONS: &str = r#"Trailblaze drives apps through their UI, in a browser or on a phone, and saves what you did as a trail: a UI test in plain words that replays without a model.

How to work:
1. `session` {"action":"open","url":"…"} opens a device and shows the screen. Other tools open the project's default device if none is open.
2. `snapshot` shows the screen as text. Elements have refs, as in [e7]. Refs belong to the latest snapshot or `act` answer; those of lines that did not change stay valid.
3. `act` {"step":"Add tea to the basket","calls":[{"tool":"tap","args":{"ref":"e7"}}]} makes calls and answers with what changed on the screen. Give each thing that a user would do its own `step`; it becomes a step of the trail.
   Everywhere: tap {ref}, inputText {text} (types into the focused field), scroll {direction}, assertVisible {text}. Browser: navigate {url}, web_type {ref,text}, web_selectOption, web_pressKey. Phone: launchApp {packageId}, pressBack. `toolbox` finds all others, also those of the team: prefer these, and call them through `act`.
4. Check results with assertion tools: `act` {"verify":"The order is placed","calls":[{"tool":"assertVisible","args":{"text":"Thank you"}}]}. What only a snapshot showed is not checked when the trail replays.
5. `session` {"action":"steps"} shows what would be saved; "undo" drops the last step.
6. `trail` {"action":"save","path":"trails/checkout.trail.yaml"} saves it; {"action":"run","path":"trails/checkout.trail.yaml"} replays it from a fresh start. `report` says why a run failed.

`step` and `verify` carry out a sentence with Trailblaze's own model, if one is configured. All tools take `session`, a name; without it, the project's only session is used."#;

/// The tools whose list never changes.
pub fn standard() -> Vec<Tool> {
    let text = || json!({"type": "string"});
    let about = |about: &str| json!({"type": "string", "description": about});
    let number = || json!({"type": "integer"});
    let flag = || json!({"type": "boolean"});
    let flag_about = |about: &str| json!({"type": "boolean", "description": about});
    let words = |words: &[&str]| json!({"type": "string", "enum": words});
    vec![
        tool("devices", "List the devices that can be opened, and the sessions that use them.", &[], &[])
            .with_annotations(reads()),
        tool(
            "session",
            "Sessions keep a device open between calls and record what is done on it.\nopen: open a device and show its screen; a session that is open already is returned.\nlist: the open sessions.\nclose: end a session.\nsteps: the recorded steps, with numbers.\nundo: drop the last step (the device is not changed).\nreplay: run the recorded steps from a fresh start.",
            &[
                ("action", words(&["open", "list", "close", "steps", "undo", "replay"])),
                ("device", about("Such as web/chromium or android/sim-1; see `devices`.")),
                ("url", about("Open this page, or on a phone this link or app id.")),
                ("target", about("The app under test, by its name in the project.")),
                ("project", about("The project's folder, if it is not the current one.")),
                ("secrets", json!({"type": "array", "items": {"type": "string"}, "description": "Secrets to type as {{NAME}}, by name."})),
                ("headed", flag_about("Show the browser window.")),
                ("takeOver", flag_about("End the session that uses the device.")),
                ("from", json!({"type": "integer", "description": "First step to replay, from 1."})),
                ("to", number()),
            ],
            &["action"],
        )
        .with_annotations(ToolAnnotations::new().destructive(false)),
        tool(
            "snapshot",
            "Show the screen as text, with a ref for each element. Narrow it to save tokens.",
            &[
                ("find", about("Only lines that contain this text, and what they are in.")),
                ("within", about("Only the element with this ref.")),
                ("depth", json!({"type": "integer", "description": "Only this many levels."})),
                ("since", json!({"type": "integer", "description": "Only what changed since the snapshot with this number."})),
                ("offscreen", flag_about("Also what has to be scrolled to.")),
            ],
            &[],
        )
        .with_annotations(reads()),
        tool(
            "act",
            "Make one or several tool calls, in order, until one fails; wait until the screen settles; answer with what changed (- gone, + new or changed) and fresh refs, or with the whole screen if it is a new page. Put calls that need no look in between into one `act`, such as filling a form.",
            &[
                (
                    "calls",
                    json!({
                        "type": "array", "minItems": 1,
                        "items": {
                            "type": "object",
                            "properties": {"tool": {"type": "string"}, "args": {"type": "object"}},
                            "required": ["tool"],
                        },
                    }),
                ),
                ("step", about("What the calls are for, in words: begins a new step of the trail.")),
                ("verify", about("The same for calls that only check something.")),
            ],
            &["calls"],
        ),
        tool(
            "step",
            "Let Trailblaze's own model carry out a step. Fails if no model is configured: use `act` then.",
            &[("text", about("Such as: Log in as ana@example.com"))],
            &["text"],
        ),
        tool(
            "verify",
            "Let Trailblaze's own model check a statement about the screen. Fails if no model is configured: use assertion tools in `act` then.",
            &[("text", about("Such as: The basket contains two items"))],
            &["text"],
        )
        .with_annotations(ToolAnnotations::new().destructive(false)),
        tool(
            "trail",
            "Trails are UI tests, in files such as trails/login.trail.yaml.\nlist: the trails of the project.\nread: the text of one.\nsave: write the session's steps to `path`; `merge` says how, if it exists.\nrun: run the trail, folder or pattern in `path` (all by default) on fresh devices.\ncheck: find mistakes without running.\nedit: replace `old`, which must occur once, with `new`, or write the whole `text`.",
            &[
                ("action", words(&["list", "read", "save", "run", "check", "edit"])),
                ("path", text()),
                ("title", text()),
                ("merge", words(&["append", "replace"])),
                ("from", json!({"type": "integer", "description": "First step to save, from 1."})),
                ("to", number()),
                ("text", text()),
                ("old", text()),
                ("new", text()),
                ("device", about("Where to run.")),
                ("record", flag_about("Write the calls of a passing run into the trail.")),
            ],
            &["action"],
        ),
        tool(
            "toolbox",
            "Find tools to call through `act`, the team's own among them; with `tool`, show its parameters.",
            &[("search", about("Words in names and descriptions; none lists all.")), ("tool", text())],
            &[],
        )
        .with_annotations(reads()),
        tool(
            "report",
            "The result of a run: what passed, what failed and why, and links to pictures.",
            &[("run", about("Its id; by default the last run."))],
            &[],
        )
        .with_annotations(reads()),
        tool(
            "screenshot",
            "Take a picture of the screen. A snapshot is cheaper and has refs; use pictures for what text cannot show.",
            &[("marks", flag())],
            &[],
        )
        .with_annotations(reads()),
    ]
}

fn tool(name: &'static str, about: &'static str, parameters: &[(&str, Value)], required: &[&str]) -> Tool {
    let own = parameters.iter().map(|(name, schema)| (name.to_string(), schema.clone()));
    let session = ("session".to_string(), json!({"type": "string"}));
    let properties: Map<String, Value> = own.chain([session]).collect();
    let mut schema =
        Map::from_iter([("type".to_string(), json!("object")), ("properties".to_string(), Value::Object(properties))]);
    if !required.is_empty() {
        schema.insert("required".to_string(), json!(required));
    }
    Tool::new(name, about, Arc::new(schema))
}

fn reads() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true)
}
