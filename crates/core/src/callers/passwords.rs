//! Keeps passwords out of the record that a caller wrote out instead of naming a secret.

use serde_json::{Map, Value};

use crate::engine::cx::Cx;
use crate::engine::tool::Tool;
use crate::query::{Checks, Description, Find, Query, What};
use crate::screen::{Node, Screen};
use crate::selector::Selector;
use crate::{refs, template};

/// Replaces what a call would type into password fields by the names of secrets, which are made up here. Returns these names.
pub async fn hide(cx: &Cx, tool: &Tool, args: &mut Map<String, Value>) -> Vec<String> {
    let Some(typed) = tool.typed_param else { return Vec::new() };
    // A form has several fields, each with a value.
    let mut texts: Vec<(&mut Map<String, Value>, &str)> = match args.get(typed) {
        Some(Value::Array(_)) => {
            let fields = args.get_mut(typed).and_then(Value::as_array_mut).into_iter().flatten();
            fields.filter_map(Value::as_object_mut).map(|field| (field, "value")).collect()
        }
        _ => vec![(args, typed)],
    };
    let is_literal = |text: &str| !text.is_empty() && !template::has_token(text);
    texts.retain(|(args, text)| args.get(*text).and_then(Value::as_str).is_some_and(is_literal));
    if texts.is_empty() {
        return Vec::new();
    }
    // If the screen cannot be read, neither can the call be made.
    let Ok(screen) = cx.session.device.look(cx).await else { return Vec::new() };
    let mut names = Vec::new();
    for (args, text) in texts {
        let Some(field) = field(&screen, args).filter(|field| field.is_password()) else { continue };
        let typed = args.get(text).and_then(Value::as_str).unwrap_or_default();
        let name = cx.session.secrets.add(&secret_name(Some(field)), typed);
        args.insert(text.to_string(), format!("{{{{{name}}}}}").into());
        names.push(name);
    }
    names
}

/// What the caller should know about passwords that were hidden.
pub fn warning(names: &[String]) -> String {
    let placeholders: Vec<String> = names.iter().map(|name| format!("{{{{{name}}}}}")).collect();
    let (placeholders, first) = (placeholders.join(", "), names.first().map_or("", String::as_str));
    format!(
        "what was typed into a password field is saved as {placeholders}; a run of the trail needs `--secret {first}`. Name a secret \
         instead of writing a password out"
    )
}

/// The field that a call types into: the one that it names, or the focused one.
fn field<'s>(screen: &'s Screen, args: &Map<String, Value>) -> Option<&'s Node> {
    let by_id = |id: u64| screen.root.walk().find(|node| node.id == id);
    let search = |what: What| match (Query { what, index: Some(0) }).search(screen, Checks::Visible) {
        Find::Found(found) => by_id(found.node),
        Find::Not(_) => None,
    };
    if let Some(selector) = args.get("nodeSelector") {
        return search(What::Selector(Box::new(Selector::parse(selector).ok()?)));
    }
    let Some(reference) = args.get("ref").and_then(Value::as_str) else {
        return screen.root.walk().filter(|node| node.is_focused()).last();
    };
    let key = refs::of_line(reference).unwrap_or(reference.trim());
    let named = screen.root.walk().find(|node| node.reference.as_deref() == Some(key));
    named.or_else(|| search(What::Described(Box::new(Description::parse(reference).ok()?))))
}

/// The name of the secret for a field: `NEW_PASSWORD` for one that is called "New password".
pub fn secret_name(field: Option<&Node>) -> String {
    let label = field.and_then(Node::label).unwrap_or_default();
    let words = label.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.take(4).map(str::to_ascii_uppercase).collect::<Vec<_>>().join("_");
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => name,
        _ => "PASSWORD".to_string(),
    }
}
