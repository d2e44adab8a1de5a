//! Commands that are one call or a few.

use serde_json::{Map, Value, json};
use trailblaze_core::yaml::YamlNode;

use super::elements::{CommandCalls, call, check, maestro, scroll_until, touch};
use super::scripts::assigned;
use super::selector::FlowElement;
use super::text::{operand, template};
use super::{Translation, text};
use crate::draft::{StepDraft, StepPart};
use crate::naming::picture_name;
use crate::{ImportedStatement, StatementFate};

/// The name of a command and its parameters, which are nothing in `- back`.
pub fn named(node: &YamlNode) -> Option<(&str, Option<&YamlNode>)> {
    if let Some(name) = node.raw() {
        return Some((name, None));
    }
    match node.entries()? {
        [(name, value)] => Some((name.raw()?, Some(value))),
        _ => None,
    }
}

impl Translation<'_, '_> {
    /// The units of a list of commands: each is a step with the calls of one command.
    pub fn commands(&mut self, nodes: &[YamlNode]) -> Vec<StepDraft> {
        nodes.iter().flat_map(|node| self.command(node)).collect()
    }

    fn command(&mut self, node: &YamlNode) -> Vec<StepDraft> {
        let Some((name, value)) = named(node) else {
            return vec![self.keep(node, "?", "this is no command")];
        };
        let label = value.and_then(|value| value.get("label")).and_then(YamlNode::raw).map(str::to_string);
        let words = label.filter(|label| !label.contains("${")).or_else(|| self.comment_above(node));
        let is_optional = value.and_then(|value| value.get("optional")).and_then(YamlNode::raw) == Some("true");
        let mut units = match name {
            "repeat" | "retry" | "runFlow" => self.block(name, value, node),
            "runScript" => self.run_script(value, node),
            _ => match self.calls(name, value) {
                Ok(calls) => {
                    let fate = match calls.missing.is_empty() {
                        true => StatementFate::Translated,
                        false => StatementFate::Partly(calls.missing.join(", ")),
                    };
                    let mut parts = calls.parts;
                    if let StatementFate::Partly(note) = &fate {
                        parts.insert(0, StepPart::Comment(vec![format!("{}: {note}", self.place(node))]));
                    }
                    self.note(ImportedStatement::new(self.path(), node.span, name, fate));
                    vec![StepDraft::of(parts)]
                }
                Err(reason) => vec![self.keep(node, name, &reason)],
            },
        };
        if let Some(first) = units.first_mut().filter(|_| words.is_some()) {
            first.words = words;
        }
        if is_optional {
            units.iter_mut().for_each(|unit| unit.is_optional = true);
        }
        units
    }

    /// A command as a comment, with those in it.
    pub fn keep(&mut self, node: &YamlNode, name: &str, reason: &str) -> StepDraft {
        let path = self.path().to_string();
        self.note(ImportedStatement::new(&path, node.span, name, StatementFate::Kept(reason.to_string())));
        if let Some((_, Some(value))) = named(node) {
            for inner in value.get("commands").and_then(YamlNode::items).unwrap_or_default() {
                self.note_kept(inner);
            }
        }
        let mut lines = vec![format!("Not imported, {}: {reason}:", self.place(node))];
        lines.extend(self.lines_of(node).into_iter().map(|line| format!("  {line}")));
        StepDraft::of(vec![StepPart::Comment(lines)])
    }

    fn note_kept(&mut self, node: &YamlNode) {
        let name = named(node).map_or("?", |(name, _)| name).to_string();
        let fate = StatementFate::Kept("it is in a block that is kept".to_string());
        self.note(ImportedStatement::new(self.path(), node.span, name, fate));
        let inner = named(node).and_then(|(_, value)| value?.get("commands")?.items()).unwrap_or_default();
        inner.iter().for_each(|inner| self.note_kept(inner));
    }

    pub fn place(&self, node: &YamlNode) -> String {
        format!("{}:{}:{}", self.path(), node.span.line, node.span.column)
    }

    /// The comment on the lines right above a command.
    fn comment_above(&self, node: &YamlNode) -> Option<String> {
        let before = self.text.get(..node.span.start)?;
        let before = &before[..before.rfind('\n')?];
        let lines: Vec<&str> =
            before.lines().rev().map(str::trim).take_while(|line| line.starts_with('#')).take(3).collect();
        let words: Vec<&str> = lines.iter().rev().map(|line| line.trim_start_matches('#').trim()).collect();
        let words = words.join(" ");
        (!words.trim().is_empty()).then_some(words)
    }

    fn calls(&mut self, name: &str, value: Option<&YamlNode>) -> Result<CommandCalls, String> {
        let own_app = self.app.clone();
        let lone = value.and_then(YamlNode::raw);
        let get = |key: &str| value.and_then(|value| value.get(key));
        let unclear = |text: String| format!("the expression `{text}` needs a script");
        let text_of = |node: Option<&YamlNode>| node.and_then(YamlNode::raw).map(template).transpose().map_err(unclear);
        let given = |key: &str| match lone {
            Some(raw) => template(raw).map(Some).map_err(unclear),
            None => text_of(get(key)),
        };
        let element = || FlowElement::read(value.ok_or("it names no element")?, &["label", "optional", "timeout"]);
        let app = || given("appId").map(|app| app.filter(|app| !app.is_empty()).or(own_app.clone()));
        let number =
            |key: &str| get(key).and_then(YamlNode::raw).and_then(|raw| raw.replace('_', "").parse::<u32>().ok());
        let one = |tool: &str, args: Value| Ok(CommandCalls::one(tool, args));
        match name {
            "tapOn" | "doubleTapOn" | "longPressOn" => touch(name, value.ok_or("it names no element")?),
            "assertVisible" => check(true, &element()?, None),
            "assertNotVisible" => check(false, &element()?, None),
            "extendedWaitUntil" => self.wait_until(value),
            "scrollUntilVisible" => scroll_until(value.ok_or("it names no element")?),
            "inputText" => one("inputText", json!({"text": given("text")?.ok_or("it has no text")?})),
            "inputRandomText" | "inputRandomNumber" => {
                let digits = number("length").unwrap_or(8).clamp(1, 18);
                let args = json!({"variable": "randomText", "prefix": if name == "inputRandomText" { "T" } else { "" }, "digitCount": digits});
                let missing = (name == "inputRandomText").then(|| "digits instead of letters".to_string());
                Ok(CommandCalls::one("inputTextRandom", args).without(missing.into_iter().collect()))
            }
            "inputRandomPersonName" => Ok(CommandCalls::one(
                "inputTextRandom",
                json!({"variable": "randomText", "prefix": "Person ", "digitCount": 6}),
            )
            .without(vec!["a number instead of a name".to_string()])),
            "eraseText" => {
                let count = lone.and_then(|raw| raw.parse::<u32>().ok()).or(number("charactersToErase"));
                one("eraseText", count.map_or(json!({}), |count| json!({"charactersToErase": count})))
            }
            "hideKeyboard" if self.is_web() => Err("a browser has no keyboard on its screen".to_string()),
            "hideKeyboard" => one("hideKeyboard", json!({})),
            "pasteText" => one("mobile_pasteClipboard", json!({})),
            "setClipboard" => one("mobile_setClipboard", json!({"text": given("text")?.ok_or("it has no text")?})),
            "copyTextFrom" => {
                let params = element()?.maestro().ok_or("this element cannot be described here")?;
                Ok(maestro("copyTextFrom", params))
            }
            "back" if self.is_web() => one("web_navigate", json!({"action": "BACK"})),
            "back" => one("pressBack", json!({})),
            "pressKey" => press(given("key")?.or(given("code")?).ok_or("it names no key")?.as_str()),
            "scroll" => one("scroll", json!({"direction": "DOWN"})),
            "swipe" => swipe(value),
            "launchApp" => launch(value, app()?),
            "stopApp" | "killApp" => one("stopApp", json!({"appId": app()?.ok_or("it names no app")?})),
            "clearState" => one("clearAppData", json!({"packageId": app()?.ok_or("it names no app")?})),
            "openLink" => {
                let missing = ["autoVerify", "browser"].into_iter().filter(|key| get(key).is_some());
                let missing: Vec<String> = missing.map(|key| format!("without `{key}`")).collect();
                let args = json!({"url": given("link")?.ok_or("it has no link")?});
                Ok(CommandCalls::one("openUrl", args).without(missing))
            }
            "takeScreenshot" => {
                let missing = get("cropOn").map(|_| "without `cropOn`".to_string());
                let args = json!({"screenName": given("path")?.unwrap_or("screen".to_string())});
                Ok(CommandCalls::one("takeSnapshot", args).without(missing.into_iter().collect()))
            }
            "assertScreenshot" => screenshot(value, given("path")?),
            "waitForAnimationToEnd" => {
                one("waitForChange", number("timeout").map_or(json!({}), |timeout| json!({"timeoutMs": timeout})))
            }
            "setAirplaneMode" => match lone.map(str::to_lowercase).as_deref() {
                Some("enabled") => one("networkConnection", json!({"connected": false})),
                Some("disabled") => one("networkConnection", json!({"connected": true})),
                _ => Err("it says neither Enabled nor Disabled".to_string()),
            },
            "setLocation" => set_location(value),
            "setOrientation" => set_orientation(&given("orientation")?.unwrap_or_default()),
            "setPermissions" => {
                let calls = permissions(get("permissions"), app()?.as_deref());
                if calls.parts.is_empty() { Err(calls.missing.join(", ")) } else { Ok(calls) }
            }
            "startRecording" => one("mobile_startRecording", json!({})),
            "stopRecording" => one("mobile_stopRecording", json!({})),
            "assertTrue" => assert_true(lone.or(get("condition").and_then(YamlNode::raw)).unwrap_or_default()),
            "evalScript" => {
                let script = lone.or(get("script").and_then(YamlNode::raw)).unwrap_or_default();
                let (variable, value) =
                    assigned(script).ok_or("only an assignment of a plain value can be imported")?;
                one("remember", json!({"variable": variable, "value": value}))
            }
            "assertWithAI" => {
                let statement = given("assertion")?.ok_or("it has no assertion")?;
                one("verifyVisually", json!({"statement": statement}))
            }
            "assertNoDefectsWithAI" => {
                let statement = "Nothing on the screen is cut off, overlaps something else or is out of place";
                one("verifyVisually", json!({"statement": statement}))
            }
            other => Err(missing(other)),
        }
    }

    fn wait_until(&mut self, value: Option<&YamlNode>) -> Result<CommandCalls, String> {
        let value = value.ok_or("it names no element")?;
        let timeout = match value.get("timeout").and_then(YamlNode::raw) {
            Some(raw) => Some(raw.replace('_', "").parse().map_err(|_| "its `timeout` is not a number".to_string())?),
            None => None,
        };
        let mut found = CommandCalls { parts: Vec::new(), missing: Vec::new() };
        for (key, is_visible) in [("visible", true), ("notVisible", false)] {
            if let Some(node) = value.get(key) {
                found.parts.extend(check(is_visible, &FlowElement::read(node, &[])?, timeout)?.parts);
            }
        }
        if found.parts.is_empty() { Err("it waits for nothing".to_string()) } else { Ok(found) }
    }
}

fn press(key: &str) -> Result<CommandCalls, String> {
    match key.to_lowercase().as_str() {
        "home" => Ok(CommandCalls { parts: vec![call("pressHome", json!({}))], missing: Vec::new() }),
        code @ ("enter" | "back" | "backspace" | "tab" | "escape") => {
            Ok(CommandCalls::one("pressKey", json!({"keyCode": code.to_uppercase()})))
        }
        other => Err(format!("there is no key `{other}` here")),
    }
}

fn swipe(value: Option<&YamlNode>) -> Result<CommandCalls, String> {
    let value = value.ok_or("it has no direction")?;
    let mut params = Map::new();
    let mut is_plain = true;
    for (key, node) in value.entries().ok_or("it has no direction")? {
        let raw = || node.raw().map(template).transpose().map_err(|text| format!("`{text}` needs a script"));
        match key.raw().unwrap_or_default() {
            "direction" => {
                params.insert("direction".into(), raw()?.unwrap_or_default().to_uppercase().into());
            }
            name @ ("start" | "end") => {
                params.insert(name.into(), raw()?.unwrap_or_default().replace(' ', "").into());
                is_plain = false;
            }
            "from" => {
                let from = FlowElement::read(node, &[])?.maestro().ok_or("this element cannot be described here")?;
                params.insert("from".into(), from.into());
                is_plain = false;
            }
            "duration" => {
                let duration = node.raw().and_then(|raw| raw.replace('_', "").parse::<u32>().ok());
                params.insert("duration".into(), duration.ok_or("its `duration` is not a number")?.into());
            }
            "label" | "optional" | "waitToSettleTimeoutMs" => {}
            other => return Err(format!("there is no `{other}` of swipes here")),
        }
    }
    if is_plain {
        if let Some(duration) = params.shift_remove("duration") {
            params.insert("durationMs".into(), duration);
        }
        return Ok(CommandCalls::one("swipe", params.into()));
    }
    Ok(maestro("swipe", params))
}

fn launch(value: Option<&YamlNode>, app: Option<String>) -> Result<CommandCalls, String> {
    let is =
        |key: &str, expected: &str| value.and_then(|value| value.get(key)).and_then(YamlNode::raw) == Some(expected);
    let mode = match (is("clearState", "true"), is("stopApp", "false")) {
        (true, _) => "REINSTALL",
        (false, true) => "RESUME",
        (false, false) => "FORCE_RESTART",
    };
    let mut args = Map::new();
    // Clearing the data of an app takes its permissions away, so they come between.
    let allowed = permissions(value.and_then(|value| value.get("permissions")), app.as_deref());
    let is_cleared = mode == "REINSTALL" && !allowed.parts.is_empty();
    if let Some(app) = &app {
        args.insert("packageId".to_string(), app.as_str().into());
    }
    args.insert("launchMode".to_string(), if is_cleared { "FORCE_RESTART" } else { mode }.into());
    let known = ["appId", "clearState", "stopApp", "label", "optional", "url", "permissions"];
    let others = value.and_then(YamlNode::entries).unwrap_or_default();
    let others = others.iter().filter_map(|(key, value)| Some((key.raw()?, value.raw())));
    let missing = others
        .filter(|(key, value)| !(known.contains(key) || *key == "clearKeychain" && *value == Some("false")))
        .map(|(key, _)| format!("without `{key}`"))
        .chain(allowed.missing);
    let missing = missing.collect();
    let clear = app.filter(|_| is_cleared).map(|app| call("clearAppData", json!({"packageId": app})));
    let parts = clear.into_iter().chain(allowed.parts).chain([call("launchApp", args)]).collect();
    Ok(CommandCalls { parts, missing })
}

/// Maestro's names of permissions, with those of Android, which all phones know here.
const PERMISSIONS: [(&str, &str); 8] = [
    ("camera", "CAMERA"),
    ("location", "ACCESS_FINE_LOCATION"),
    ("contacts", "READ_CONTACTS"),
    ("calendar", "READ_CALENDAR"),
    ("microphone", "RECORD_AUDIO"),
    ("notifications", "POST_NOTIFICATIONS"),
    ("phone", "CALL_PHONE"),
    ("sms", "READ_SMS"),
];

/// What an app may do. All that an app asks for is not known here, so that `all` has no counterpart.
fn permissions(given: Option<&YamlNode>, app: Option<&str>) -> CommandCalls {
    let mut calls = CommandCalls { parts: Vec::new(), missing: Vec::new() };
    for (name, value) in given.and_then(YamlNode::entries).unwrap_or_default() {
        let (name, value) = (name.raw().unwrap_or_default(), value.raw().unwrap_or_default());
        let known = PERMISSIONS.iter().find(|(own, _)| *own == name).map(|(_, android)| *android);
        let permission = known.or(name.starts_with("android.permission.").then_some(name));
        match (permission, value, app) {
            (Some(permission), "allow", Some(app)) => {
                calls.parts.push(call("grantPermission", json!({"packageId": app, "permission": permission})));
            }
            (Some(permission), "deny" | "unset", Some(app)) => {
                calls.parts.push(call("mobile_revokePermission", json!({"appId": app, "permission": permission})));
            }
            _ => calls.missing.push(format!("without the permission `{name}: {value}`")),
        }
    }
    calls
}

/// `${output.total == 'x'}`.
pub fn assert_true(condition: &str) -> Result<CommandCalls, String> {
    let unclear = || format!("the condition `{condition}` needs a script");
    let inside = condition.trim().strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or(condition);
    for (sign, tool) in
        [("!==", "assertNotEquals"), ("===", "assertEquals"), ("!=", "assertNotEquals"), ("==", "assertEquals")]
    {
        let Some((left, right)) = inside.split_once(sign) else { continue };
        let (left, right) = (operand(left).ok_or_else(unclear)?, operand(right).ok_or_else(unclear)?);
        return Ok(CommandCalls::one(tool, json!({"actual": left, "expected": right})));
    }
    match text::name(inside.trim()) {
        Some(name) => {
            Ok(CommandCalls::one("assertEquals", json!({"actual": format!("{{{{{name}}}}}"), "expected": "true"})))
        }
        None => Err(unclear()),
    }
}

fn set_location(value: Option<&YamlNode>) -> Result<CommandCalls, String> {
    let degrees = |key: &str| {
        let given = value.and_then(|value| value.get(key)).and_then(YamlNode::raw);
        given.and_then(|raw| raw.trim().parse::<f64>().ok()).ok_or(format!("its `{key}` is not a number"))
    };
    let args = json!({"latitude": degrees("latitude")?, "longitude": degrees("longitude")?});
    Ok(CommandCalls::one("mobile_setLocation", args))
}

fn set_orientation(orientation: &str) -> Result<CommandCalls, String> {
    match orientation.to_uppercase().as_str() {
        "PORTRAIT" => Ok(CommandCalls::one("mobile_setOrientation", json!({"orientation": "PORTRAIT"}))),
        wanted @ ("LANDSCAPE_LEFT" | "LANDSCAPE_RIGHT" | "LANDSCAPE") => {
            let missing = (wanted == "LANDSCAPE_RIGHT").then(|| "turned to the left".to_string());
            let calls = CommandCalls::one("mobile_setOrientation", json!({"orientation": "LANDSCAPE"}));
            Ok(calls.without(missing.into_iter().collect()))
        }
        other => Err(format!("there is no orientation `{other}` here")),
    }
}

/// A picture that is compared with an expected one, which has to be written again.
fn screenshot(value: Option<&YamlNode>, path: Option<String>) -> Result<CommandCalls, String> {
    let get = |key: &str| value.and_then(|value| value.get(key));
    let path = path.ok_or("it has no path")?;
    let mut args = match get("cropOn") {
        None => Map::new(),
        Some(node) => {
            let element = FlowElement::read(node, &[])?;
            let plain = element.plain().filter(|_| element.states.is_empty() && element.index.is_none());
            plain.ok_or("the element of `cropOn` cannot be described here")?
        }
    };
    args.insert("name".to_string(), picture_name(&path).into());
    if let Some(raw) = get("thresholdPercentage").and_then(YamlNode::raw) {
        let percent: f64 = raw.trim().parse().map_err(|_| "its `thresholdPercentage` is not a number".to_string())?;
        // Theirs is the share that must be the same. Tenths of a thousandth are exact enough.
        args.insert("threshold".to_string(), json!(((100.0 - percent.clamp(0.0, 100.0)) * 100.0).round() / 10_000.0));
    }
    Ok(CommandCalls::one("assertPicture", args.into()))
}

/// Why a command cannot be imported.
fn missing(name: &str) -> String {
    match name {
        "addMedia" | "travel" | "clearKeychain" | "toggleAirplaneMode" => "there is no tool for it".to_string(),
        "inputRandomEmail" => "there is no tool that makes addresses; use `inputTextRandom` or a script".to_string(),
        "extractTextWithAI" => "write a tool that asks a model".to_string(),
        other => format!("`{other}` is not known"),
    }
}
