//! The words of steps that are made of calls.

use serde_json::Value;

/// What a call does, in words: `tap "Pay"`.
pub fn phrase(call: &Value) -> String {
    let Some((tool, args)) = call.as_object().and_then(|map| map.iter().next()) else { return String::new() };
    let element = element(args);
    let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default();
    match tool.as_str() {
        "tap" if args.get("longPress") == Some(&Value::Bool(true)) => format!("long-press {element}"),
        "tap" | "tapOnElementBySelector" => format!("tap {element}"),
        "web_click" if args.get("clickCount").is_some() => format!("double-click {element}"),
        "web_click" => format!("click {element}"),
        "web_type" => format!("fill in {element}"),
        "web_check" if args.get("checked") == Some(&Value::Bool(false)) => format!("uncheck {element}"),
        "web_check" => format!("check {element}"),
        "web_selectOption" => format!("select in {element}"),
        "web_hover" => format!("move over {element}"),
        "web_drag" => format!("drag {element}"),
        "web_upload" => format!("choose files for {element}"),
        "web_navigate" => match args.get("action").and_then(Value::as_str) {
            Some("BACK") => "go back".to_string(),
            Some("FORWARD") => "go forward".to_string(),
            Some("RELOAD") => "reload the page".to_string(),
            _ => format!("open {}", text("url")),
        },
        "web_pressKey" => format!("press {}", text("key")),
        "pressKey" => format!("press {}", text("keyCode").to_lowercase()),
        "inputText" => format!("type \"{}\"", text("text")),
        "launchApp" => format!("start {}", text("packageId")),
        "stopApp" => "stop the app".to_string(),
        "clearAppData" => "clear the app's data".to_string(),
        "openUrl" => format!("open {}", text("url")),
        "pressBack" => "go back".to_string(),
        "scroll" | "web_scroll" => "scroll".to_string(),
        "scrollUntilTextIsVisible" => format!("scroll to {element}"),
        "swipe" => format!("swipe {}", text("direction").to_lowercase()),
        "eraseText" | "clearText" => "erase the text".to_string(),
        "hideKeyboard" => "hide the keyboard".to_string(),
        "waitForChange" => "wait until the screen is still".to_string(),
        "remember" | "rememberElementText" => format!("remember {}", text("variable")),
        "assertVisible" | "assertVisibleWithText" | "web_verifyTextVisible" | "assertVisibleBySelector" => {
            format!("{element} is visible")
        }
        "assertNotVisible" | "assertNotVisibleWithText" | "assertNotVisibleBySelector" => {
            format!("{element} is not visible")
        }
        "assertText" => format!("the text of {element} is right"),
        "assertValue" => format!("the value of {element} is right"),
        "assertCount" => format!("the number of {element} is right"),
        "assertState" => format!("the state of {element} is right"),
        "assertAttribute" => format!("the attribute of {element} is right"),
        "web_assertUrl" | "web_waitForUrl" => "the address is right".to_string(),
        "web_assertTitle" => "the title is right".to_string(),
        "web_verifyListVisible" => "the list is right".to_string(),
        "assertEquals" => format!("{} is {}", text("actual"), text("expected")),
        "verifyVisually" => text("statement").to_string(),
        "maestro" => maestro(args),
        other => apart(other),
    }
}

/// The words of a step with these calls.
pub fn of_calls<'c>(calls: impl IntoIterator<Item = &'c Value>) -> String {
    const LONG: usize = 90;
    let mut words = String::new();
    for phrase in calls.into_iter().map(phrase).filter(|phrase| !phrase.is_empty()) {
        if words.is_empty() {
            words = phrase;
        } else if words.len() + phrase.len() < LONG {
            words = format!("{words}, {phrase}");
        } else {
            words.push_str(", …");
            break;
        }
    }
    capital(&one_line(&words))
}

/// A text on one line, without what would be a template in words.
pub fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.replace("{{", "").replace("}}", "").replace("${", "");
    if text.chars().count() <= 160 { text } else { format!("{}…", text.chars().take(159).collect::<String>()) }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn element(args: &Value) -> String {
    let quoted = |value: &Value| value.as_str().map(|text| format!("\"{text}\""));
    for name in ["text", "textRegex", "id"] {
        if let Some(text) = args.get(name).and_then(quoted).filter(|_| args.get("ref").is_none()) {
            return text;
        }
    }
    if let Some(reference) = args.get("ref").and_then(Value::as_str) {
        return reference.strip_prefix("css=").unwrap_or(reference).to_string();
    }
    let mut found = None;
    if let Some(selector) = args.get("nodeSelector") {
        first_text(selector, &mut found);
    }
    found.map_or("an element".to_string(), |text| format!("\"{text}\""))
}

fn first_text(value: &Value, found: &mut Option<String>) {
    match value {
        Value::String(text) if found.is_none() => *found = Some(text.replace("\\Q", "").replace("\\E", "")),
        Value::Object(map) => map.values().for_each(|value| first_text(value, found)),
        _ => {}
    }
}

fn maestro(args: &Value) -> String {
    let first = args.pointer("/commands/0");
    let Some((name, given)) = first.and_then(Value::as_object).and_then(|map| map.iter().next()) else {
        return first.and_then(Value::as_str).map(apart).unwrap_or_default();
    };
    let given = given.as_str().map_or_else(|| element(given), |text| format!("\"{text}\""));
    match name.as_str() {
        "tapOn" => format!("tap {given}"),
        "doubleTapOn" => format!("double-tap {given}"),
        "longPressOn" => format!("long-press {given}"),
        "assertVisible" => format!("{given} is visible"),
        "assertNotVisible" => format!("{given} is not visible"),
        other => apart(other),
    }
}

/// `waitForChange` as `wait for change`.
fn apart(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        match c {
            '_' => words.push_str(": "),
            c if c.is_uppercase() => words.extend(std::iter::once(' ').chain(c.to_lowercase())),
            c => words.push(c),
        }
    }
    words
}
