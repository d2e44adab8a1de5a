//! The tools as a model is offered them. They are the registered tools, called through the same `dispatch`; only their
//! schemas are smaller: an element is a ref or a short description, and rarely used parameters are left out.

use serde_json::{Map, Value, json};
use trailblaze_protocol::event::ToolKind;

use crate::engine::registry::{Offer, Registry};
use crate::engine::tool::Tool;
use crate::model::OfferedTool;
use crate::names::ToolOrigin;
use crate::screen::Shape;

/// The flag with which a call completes its step.
pub const COMPLETES: &str = "completesStep";

/// The tool with which a model ends a step explicitly.
pub const STATUS: &str = "objectiveStatus";

/// Built-in tools that a step does not need: every request contains the screen, and other tools do the same with fewer
/// parameters. They stay registered, and a target that names one of them under `tools:` offers it.
const OMITTED: &[&str] = &[
    "captureScreen",
    "takeSnapshot",
    "web_snapshot",
    "web_requestDetails",
    "web_currentUrl",
    // Without the text of the element, a recording would prove less than the model saw.
    "web_verifyElementVisible",
    "isVisible",
    "hasText",
    "getElementText",
    "getElementCount",
    "dumpMemory",
    "reloadTools",
    "tapOnElementWithText",
    "tapOnPoint",
    "longPress",
    "clearText",
    "forget",
    "inputTextRandom",
    "waitForChange",
    "web_wait",
    "assertVisibleWithText",
    "waitUntilVisible",
    "waitUntilNotVisible",
    "assertNotVisible",
    // The checks that all platforms have do the same.
    "web_verifyValue",
    "web_verifyListVisible",
];

/// Built-in tools that have a better counterpart for web pages.
const OMITTED_ON_WEB: &[&str] =
    &["tap", "inputText", "eraseText", "pressKey", "scroll", "swipe", "openUrl", "hideKeyboard", "launchApp"];

/// Parameters that models are offered although other tools have unimportant ones of the same name.
const SHOWN: &[(&str, &[&str])] = &[("assertState", &["enabled", "selected"])];

/// Built-in tools that reach beyond the app under test. Offered only if the target names them under `tools:`.
pub const LEAVING: &[&str] = &[
    "adbShell",
    "evaluateJs",
    "web_evaluate",
    "openUrl",
    "runCommand",
    "web_applyCookies",
    "web_getStorageState",
    "web_saveStorageState",
    "mobile_installApp",
    "mobile_uninstallApp",
    "mobile_pushFile",
    "mobile_pullFile",
];

/// Tools that change the world around the pages of a browser, or look behind it. Offered only if the target names them under
/// `tools:`.
pub const WORLD_TOOLS: &[&str] = &[
    "web_mockRequest",
    "web_abortRequest",
    "web_delayRequest",
    "web_changeResponse",
    "web_removeNetworkRules",
    "web_throttle",
    "web_setOffline",
    "web_recordHar",
    "web_saveHar",
    "web_replayHar",
    "web_waitForRequest",
    "web_waitForResponse",
    "web_setClock",
    "web_advanceClock",
    "web_setGeolocation",
    "web_setPermissions",
    "web_setMedia",
    "web_getClipboard",
    "web_setClipboard",
    "web_setCredentials",
    "web_savePdf",
    "web_getLocalStorage",
    "web_setLocalStorage",
];

/// Parameters of built-in tools that models are not offered.
const HIDDEN: &[&str] = &[
    "nodeSelector",
    "toNodeSelector",
    "index",
    "toIndex",
    "reason",
    "reasoning",
    "timeoutMs",
    "offsetX",
    "offsetY",
    "toX",
    "toY",
    "byX",
    "byY",
    "appId",
    "id",
    "enabled",
    "selected",
    "textRegex",
    "hideKeyboardAfter",
    "repeats",
    "count",
    "modifiers",
    "durationMs",
    "x",
    "y",
];

/// Parameters whose names say enough.
const OBVIOUS: &[&str] = &[
    "ref",
    "toRef",
    "text",
    "url",
    "value",
    "values",
    "files",
    "direction",
    "longPress",
    "variable",
    "width",
    "height",
    "actual",
    "expected",
    "explanation",
    "amount",
    "clearFirst",
    "clickCount",
    "seconds",
    "timeToWaitInSeconds",
];

/// Why a tool that the session offers to models is not part of the requests of a step.
pub fn why_omitted(registry: &Registry, tool: &Tool) -> Option<&'static str> {
    if tool.contributor.origin != ToolOrigin::BuiltIn || registry.is_named(&tool.name) {
        return None;
    }
    let name = tool.name.as_str();
    if LEAVING.contains(&name) {
        Some("it reaches beyond the app; name it under `tools:` of the target to offer it")
    } else if WORLD_TOOLS.contains(&name) {
        Some("it changes the world around the app; name it under `tools:` of the target to offer it")
    } else if OMITTED.contains(&name) {
        Some("every request to a model contains the screen, or another tool does the same with fewer parameters")
    } else if registry.shape == Shape::Web && OMITTED_ON_WEB.contains(&name) {
        Some("another tool does the same on web pages")
    } else {
        None
    }
}

/// The tools that a model is offered: the same for steps and checks and in the same order every time, so that providers can cache
/// them.
pub fn offered(registry: &Registry, offer: &Offer) -> Vec<OfferedTool> {
    let tools = registry.offered_with(offer).filter(|tool| why_omitted(registry, tool).is_none());
    let mut tools: Vec<OfferedTool> = tools.map(|tool| for_model(tool)).collect();
    // Without it, a step that is complete already could not be ended.
    if !tools.iter().any(|tool| tool.name == STATUS) {
        tools.extend(registry.get(STATUS).map(|tool| for_model(tool)));
    }
    tools
}

/// A tool as a model is offered it.
pub fn for_model(tool: &Tool) -> OfferedTool {
    let is_built_in = tool.contributor.origin == ToolOrigin::BuiltIn;
    let mut parameters = parameters(tool);
    if matches!(tool.kind, ToolKind::Action | ToolKind::Assertion) && parameters["properties"].get(COMPLETES).is_none()
    {
        parameters["properties"][COMPLETES] = json!({"type": "boolean"});
    }
    OfferedTool { name: tool.name.clone(), description: described(tool, is_built_in), parameters }
}

/// The parameters of a tool that models are offered.
pub fn parameters(tool: &Tool) -> Value {
    let mut parameters = compact(tool.schema.json(), tool.contributor.origin == ToolOrigin::BuiltIn);
    let shown = SHOWN.iter().filter(|(name, _)| *name == tool.name).flat_map(|(_, shown)| *shown);
    for name in shown {
        parameters["properties"][*name] = json!({"type": "boolean"});
    }
    parameters
}

fn described(tool: &Tool, is_built_in: bool) -> String {
    let short = match tool.name.as_str() {
        _ if !is_built_in => return tool.description.clone(),
        "tap" => "Tap an element.",
        "eraseText" => "Erase text from the end of the focused field; all of it by default.",
        "web_type" => "Type text into a field.",
        "web_click" => "Click an element.",
        "launchApp" => "Launch an app; REINSTALL clears its data.",
        "assertVisible" => "Assert that an element is visible: by ref, or by its full text.",
        "objectiveStatus" => "End the step without another action.",
        _ => return tool.description.clone(),
    };
    short.to_string()
}

/// A smaller schema that allows a part of what the original does.
fn compact(schema: &Value, is_built_in: bool) -> Value {
    let mut properties = Map::new();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if !is_built_in {
            properties.insert(name.clone(), property.clone());
        } else if !HIDDEN.contains(&name.as_str()) {
            properties.insert(name.clone(), smaller(name, property));
        }
    }
    let required: Vec<&Value> = schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    let required: Vec<Value> = required
        .into_iter()
        .filter(|name| name.as_str().is_some_and(|name| properties.contains_key(name)))
        .cloned()
        .collect();
    let mut compact = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        compact["required"] = required.into();
    }
    // A custom tool's schema may refer to its own definitions.
    for definitions in ["$defs", "definitions"] {
        if let Some(own) = schema.get(definitions).filter(|_| !is_built_in) {
            compact[definitions] = own.clone();
        }
    }
    compact
}

/// A property of a built-in tool without its default, and without a description that says nothing new.
fn smaller(name: &str, property: &Value) -> Value {
    let mut smaller = property.as_object().cloned().unwrap_or_default();
    smaller.shift_remove("default");
    if OBVIOUS.contains(&name) || smaller.contains_key("enum") {
        smaller.shift_remove("description");
    }
    if let Some(items) = smaller.get_mut("items").filter(|items| items.get("properties").is_some()) {
        let mut inner = compact(items, true);
        // The element is the one thing that has to be given.
        if inner["properties"].get("ref").is_some() {
            inner["required"] = json!(["ref", "value"]);
        }
        *items = inner;
        smaller.shift_remove("description");
        smaller.shift_remove("minItems");
    }
    Value::Object(smaller)
}

/// How many tokens a text takes, roughly: one for four characters.
pub fn tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}
