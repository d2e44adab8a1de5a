//! Keeps passwords out of the record that a caller wrote out instead of naming a secret.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::engine::cx::Cx;
use crate::engine::device::{Goal, Reached};
use crate::engine::tool::Tool;
use crate::query::{ElementDescription, Query, QueryTarget};
use crate::screen::{Node, Screen};
use crate::selector::Selector;
use crate::{limits, refs, template};

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
    let mut names = Vec::new();
    for (args, text) in texts {
        let Some(field) = field(cx, args).await.filter(Node::is_password) else { continue };
        let typed = args.get(text).and_then(Value::as_str).unwrap_or_default();
        let name = cx.session.secrets.add(&secret_name(Some(&field)), typed);
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

/// The field that a call types into: the one that it names, which is waited for as the call itself does, or the focused one. `None`
/// if there is none, in which case nothing is typed either.
async fn field(cx: &Cx, args: &Map<String, Value>) -> Option<Node> {
    let device = &cx.session.device;
    let word = |name: &str| args.get(name).and_then(Value::as_str);
    let (screen, node) = match (args.get("nodeSelector"), word("selector"), word("ref")) {
        (Some(selector), _, _) => {
            find(cx, args, QueryTarget::Selector(Box::new(Selector::parse(selector).ok()?))).await?
        }
        (_, Some(css), _) => {
            let selector = Selector::parse(&json!({"web": {"cssSelector": css}})).ok()?;
            find(cx, args, QueryTarget::Selector(Box::new(selector))).await?
        }
        (_, _, Some(reference)) => match device.resolve_ref(cx, reference).await {
            Ok(found) => found,
            Err(_) if refs::is_of_page(reference.trim()) => return None,
            Err(_) => {
                find(cx, args, QueryTarget::Described(Box::new(ElementDescription::parse(reference).ok()?))).await?
            }
        },
        (None, None, None) => {
            let screen = device.look(cx).await.ok()?;
            return screen.root.walk().filter(|node| node.is_focused()).last().cloned();
        }
    };
    screen.root.walk().find(|candidate| candidate.id == node).cloned()
}

/// The element that a call describes, and the screen that it is on.
async fn find(cx: &Cx, args: &Map<String, Value>, what: QueryTarget) -> Option<(Screen, u64)> {
    let device = &cx.session.device;
    let count = |name: &str| args.get(name).and_then(Value::as_u64);
    let index = count("index").and_then(|index| usize::try_from(index).ok());
    let query = Query { what, index: Some(index.unwrap_or_default()) };
    let wait = count("timeoutMs").map_or(limits::FIND_WAIT, Duration::from_millis);
    let Reached::Met { found: Some(found), .. } = device.wait_for(cx, &query, Goal::Present, wait).await.ok()? else {
        return None;
    };
    Some((device.look(cx).await.ok()?, found.node))
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
