//! Commands about elements: tapping, checking, scrolling to them.

use serde_json::{Map, Value, json};
use trailblaze_core::yaml::YamlNode;

use super::selector::FlowElement;
use super::text::plain;
use crate::draft::StepPart;

/// The calls of a command, and what of it is missing.
pub struct CommandCalls {
    pub parts: Vec<StepPart>,
    pub missing: Vec<String>,
}

impl CommandCalls {
    pub fn one(tool: &str, args: Value) -> CommandCalls {
        CommandCalls { parts: vec![call(tool, args)], missing: Vec::new() }
    }

    pub fn without(mut self, missing: Vec<String>) -> CommandCalls {
        self.missing = missing;
        self
    }
}

pub fn call(tool: &str, args: impl Into<Value>) -> StepPart {
    StepPart::Call(json!({tool: args.into()}))
}

/// A command of the tool `maestro`.
pub fn maestro(command: &str, params: impl Into<Value>) -> CommandCalls {
    CommandCalls::one("maestro", json!({"commands": [{command: params.into()}]}))
}

/// The keys that commands have beside an element.
pub const BESIDE: [&str; 7] =
    ["label", "optional", "repeat", "delay", "retryTapIfNoChange", "waitToSettleTimeoutMs", "waitUntilVisible"];

pub fn touch(command: &str, node: &YamlNode) -> Result<CommandCalls, String> {
    let element = FlowElement::read(node, &BESIDE)?;
    let repeat = node.get("repeat").and_then(YamlNode::raw);
    let missing: Vec<String> = ["delay", "retryTapIfNoChange", "waitToSettleTimeoutMs", "waitUntilVisible"]
        .into_iter()
        // A tap waits for its element and its screen anyway.
        .filter(|key| node.get(key).is_some_and(|value| value.raw() != Some("false")))
        .map(|key| format!("without `{key}`"))
        .collect();
    if let Some(css) = &element.css {
        let args = match command {
            "doubleTapOn" => json!({"ref": format!("css={css}"), "clickCount": 2}),
            "tapOn" => json!({"ref": format!("css={css}")}),
            _ => return Err("no long press by `css`".to_string()),
        };
        return Ok(CommandCalls::one("web_click", args).without(missing));
    }
    if let Some(mut args) =
        element.plain().filter(|_| element.states.is_empty() && repeat.is_none() && command != "doubleTapOn")
    {
        if let Some(index) = element.index {
            args.insert("index".to_string(), index.into());
        }
        if command == "longPressOn" {
            args.insert("longPress".to_string(), true.into());
        }
        return Ok(CommandCalls::one("tap", args.into()).without(missing));
    }
    if let Some(mut params) = element.maestro() {
        if let Some(times) = repeat {
            let times: u32 = times.parse().map_err(|_| "its `repeat` is not a number".to_string())?;
            params.insert("repeat".to_string(), times.into());
        }
        return Ok(maestro(command, params).without(missing));
    }
    if element.is_empty() {
        return Err("it names no element".to_string());
    }
    let (Some((android, ios)), "tapOn" | "longPressOn", None) = (element.selectors(), command, repeat) else {
        return Err("this element cannot be described here".to_string());
    };
    let args = |selector: Value| {
        let mut args = Map::from_iter([("nodeSelector".to_string(), selector)]);
        if command == "longPressOn" {
            args.insert("longPress".to_string(), true.into());
        }
        json!({"tapOnElementBySelector": args})
    };
    let part = StepPart::ByPlatform { android: args(android), ios: args(ios) };
    Ok(CommandCalls { parts: vec![part], missing })
}

/// Checks that an element is visible, or is not.
pub fn check(is_visible: bool, element: &FlowElement, timeout: Option<u32>) -> Result<CommandCalls, String> {
    let timed = |mut args: Map<String, Value>| {
        if let Some(timeout) = timeout {
            args.insert("timeoutMs".to_string(), timeout.into());
        }
        Value::from(args)
    };
    if let Some(css) = &element.css {
        let tool = if is_visible { "web_verifyElementVisible" } else { "assertCount" };
        let mut args = Map::from_iter([("ref".to_string(), format!("css={css}").into())]);
        if !is_visible {
            args.insert("equals".to_string(), 0.into());
        }
        return Ok(CommandCalls::one(tool, timed(args)));
    }
    let own = element.plain();
    if let Some(mut args) = own.filter(|_| element.index.is_none() || is_visible) {
        if element.states.is_empty() && element.index.is_none() {
            let tool = if is_visible { "assertVisible" } else { "assertNotVisible" };
            return Ok(CommandCalls::one(tool, timed(args)));
        }
        if is_visible {
            if let Some(index) = element.index {
                args.insert("index".to_string(), index.into());
            }
            for (state, is) in &element.states {
                args.insert(state.to_string(), (*is).into());
            }
            if element.states.is_empty() {
                args.insert("inView".to_string(), true.into());
            }
            return Ok(CommandCalls::one("assertState", timed(args)));
        }
    }
    if let Some(params) = element.maestro() {
        let (by_text, by_command) = match is_visible {
            true => ("assertVisibleWithText", "assertVisible"),
            false => ("assertNotVisibleWithText", "assertNotVisible"),
        };
        let has_plain_id = element.id.as_ref().is_none_or(|id| plain(id).is_some());
        if element.text.is_some() && has_plain_id {
            return Ok(CommandCalls::one(by_text, timed(params)));
        }
        return Ok(match timeout {
            None => maestro(by_command, params),
            Some(timeout) => {
                let key = if is_visible { "visible" } else { "notVisible" };
                maestro("extendedWaitUntil", json!({key: params, "timeout": timeout}))
            }
        });
    }
    let Some((android, ios)) = element.selectors() else {
        return Err("this element cannot be described here".to_string());
    };
    let tool = if is_visible { "assertVisibleBySelector" } else { "assertNotVisibleBySelector" };
    let args = |selector: Value| json!({tool: timed(Map::from_iter([("nodeSelector".to_string(), selector)]))});
    Ok(CommandCalls {
        parts: vec![StepPart::ByPlatform { android: args(android), ios: args(ios) }],
        missing: Vec::new(),
    })
}

pub fn scroll_until(node: &YamlNode) -> Result<CommandCalls, String> {
    let element = FlowElement::read(node.get("element").ok_or("it has no `element`")?, &[])?;
    let missing: Vec<String> = ["speed", "visibilityPercentage", "centerElement", "waitToSettleTimeoutMs"]
        .into_iter()
        .filter(|key| node.get(key).is_some())
        .map(|key| format!("without `{key}`"))
        .collect();
    let mut more = Map::new();
    if let Some(direction) = node.get("direction").and_then(YamlNode::raw) {
        more.insert("direction".to_string(), direction.to_uppercase().into());
    }
    let timeout = node.get("timeout").and_then(YamlNode::raw).and_then(|raw| raw.replace('_', "").parse::<u32>().ok());
    if let Some(mut args) = element.plain().filter(|_| element.states.is_empty()) {
        // The whole text, not a part of it.
        if let Some(text) = args.shift_remove("text").and_then(|text| text.as_str().map(escaped)) {
            args.insert("textRegex".to_string(), text.into());
        }
        if let Some(index) = element.index {
            args.insert("index".to_string(), index.into());
        }
        args.extend(more);
        if let Some(timeout) = timeout {
            args.insert("timeoutMs".to_string(), timeout.into());
        }
        return Ok(CommandCalls::one("scrollUntilTextIsVisible", args.into()).without(missing));
    }
    let element = element.maestro().ok_or("this element cannot be described here")?;
    let mut params = Map::from_iter([("element".to_string(), element.into())]);
    params.extend(more);
    if let Some(timeout) = timeout {
        params.insert("timeout".to_string(), timeout.into());
    }
    Ok(maestro("scrollUntilVisible", params).without(missing))
}

/// A regular expression for exactly this text. Templates in it stay templates.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((inside, after)) = after.split_once("}}") else { break };
        escape(&mut out, before);
        out.push_str(&format!("{{{{{inside}}}}}"));
        rest = after;
    }
    escape(&mut out, rest);
    out
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        if r"\.+*?()[]{}|^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
}
