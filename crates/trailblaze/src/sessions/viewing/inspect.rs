//! How an element can be found and what can be asserted about it, and what a selector matches.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trailblaze_core::driver::AssertedPart;
use trailblaze_core::engine::fault::Stop;
use trailblaze_core::engine::session::Session;
use trailblaze_core::expected_tree;
use trailblaze_core::query::{
    Checks, ElementDescription, ElementProperties, Find, Query, QueryTarget, Stable, TextMatch, alternatives,
    descriptions, element_state, stable,
};
use trailblaze_core::screen::{Field, Node, Prop, Screen, Shape};
use trailblaze_core::selector::Selector;
use trailblaze_core::tools::visible_at;
use trailblaze_core::trail::{CallParts, parts_of};
use trailblaze_core::yaml;
use trailblaze_protocol::outcome::Delegate;

use super::{KnownScreen, element};
use crate::sessions::service::generated::{self as studio, Inspection, Proposal};

/// How many elements a device is asked for.
const MOST_FOUND: usize = 100;
/// The most lines of a tree that are proposed as a check.
const MOST_LINES: usize = 30;

/// An element: how it can be found, its properties, and assertions that hold for it.
pub fn inspect(screen: &Screen, node: &Node) -> Inspection {
    let found = descriptions(screen, node);
    let assertions = assertions(screen, node, &found[0].0);
    let description = |(stable, count): &(Stable, usize)| {
        let arguments = arguments(stable);
        studio::Description {
            text: words(stable),
            matches: i32::try_from(*count).unwrap_or(i32::MAX),
            written: yaml::inline(&Value::Object(arguments.clone())),
            arguments,
        }
    };
    Inspection {
        descriptions: found.iter().map(description).collect(),
        properties: properties(node),
        is_stale: false,
        assertions,
    }
}

/// `text "Pay"`, for people.
fn words(stable: &Stable) -> String {
    match stable {
        Stable::Id(id) => format!("id {id}"),
        Stable::Text(text) => format!("text \"{text}\""),
        Stable::Selector(selector) => short(&selector.to_json()),
        Stable::Point(point) => format!("point {}, {}", point.x, point.y),
    }
}

/// A selector in one line, without the name of its platform: `class Button, in (text Cart)`.
fn short(selector: &Value) -> String {
    let Some(keys) = selector.as_object() else { return plain(selector) };
    let parts = keys.iter().map(|(key, value)| {
        let is_platform = value.is_object() && Shape::from_key(key).is_some();
        match (key.as_str(), value) {
            _ if is_platform => short(value),
            ("childOf", inner) => format!("in ({})", short(inner)),
            ("containsChild" | "containsDescendants", inner) => format!("with ({})", short(inner)),
            (key, Value::Object(_) | Value::Array(_)) => format!("{key} ({})", short(value)),
            (key, value) => format!("{} {}", key.strip_suffix("Regex").unwrap_or(key), plain(value)),
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace("\\Q", "").replace("\\E", ""),
        Value::Array(items) => items.iter().map(short).collect::<Vec<_>>().join("; "),
        value => value.to_string(),
    }
}

fn arguments(stable: &Stable) -> Map<String, Value> {
    let value = match stable {
        Stable::Id(id) => json!({ "id": id }),
        Stable::Text(text) => json!({ "text": text }),
        Stable::Selector(selector) => json!({"nodeSelector": selector.to_json()}),
        Stable::Point(point) => json!({"x": point.x, "y": point.y}),
    };
    value.as_object().cloned().unwrap_or_default()
}

fn properties(node: &Node) -> Map<String, Value> {
    let is_shown = |name: &str| !(node.is_password() && matches!(name, "value" | "text" | "editableText"));
    let value = |prop: &Prop| match prop {
        Prop::Text(text) => json!(text),
        Prop::Flag(flag) => json!(flag),
        Prop::Number(number) => json!(number),
    };
    let shown = node.props.iter().map(|(field, prop)| (field.name().to_string(), value(prop)));
    shown.filter(|(name, _)| is_shown(name)).collect()
}

/// The assertions that hold for an element now, the most useful first.
pub fn assertions(screen: &Screen, node: &Node, stable: &Stable) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    let name = element::name(node).unwrap_or_else(|| node.summary());
    if let Some(call) = visible_at(stable) {
        proposals.push(proposal(format!("\"{name}\" is visible"), &call));
    }
    // An element that is found by its text has it.
    let text = node.text().map(str::trim).filter(|text| !text.is_empty() && !node.is_password());
    if let (Some(text), Some(mut call)) = (text, visible_at(stable).filter(|_| !matches!(stable, Stable::Text(_))))
        && !node.is_editable()
    {
        call.args.insert("expectedText".into(), text.into());
        // What it says is no name for it.
        let name = node.short_id().or(node.class()).unwrap_or("the element");
        proposals.push(proposal(format!("{name} says \"{text}\""), &call));
    }
    if let Some(target) = lasting(screen, node, stable) {
        let check = |text: String, tool: &str, expected: Value| {
            let mut args = target.clone();
            args.extend(expected.as_object().cloned().unwrap_or_default());
            Proposal { text, call: json!({ tool: args }) }
        };
        // The placeholder of an empty field is a text, but not its value.
        let is_field = node.is_editable() || node.props.text(Field::Options).is_some();
        if is_field && !node.is_password() {
            let value = node.props.text(Field::Value).or(node.text().filter(|_| node.props.shape != Shape::Web));
            let value = value.unwrap_or_default();
            let text = match value {
                "" => format!("\"{name}\" is empty"),
                value => format!("\"{name}\" contains \"{value}\""),
            };
            // What a list of a page shows is not the value that it sends.
            proposals.extend(match node.props.text(Field::Options) {
                Some(_) => alternatives(screen, node).first().map(|selector| {
                    let args = json!({"nodeSelector": selector.to_json(), "expected": value, "type": "TEXT"});
                    Proposal { text, call: json!({ "web_verifyValue": args }) }
                }),
                None => Some(check(text, "assertValue", json!({ "is": value }))),
            });
        }
        let state = element_state(screen, node.id);
        if let Some(is_checked) = state.as_ref().and_then(|state| state.is_checked) {
            let word = if is_checked { "is checked" } else { "is not checked" };
            proposals.push(check(format!("\"{name}\" {word}"), "assertState", json!({ "checked": is_checked })));
        }
        if state.is_some_and(|state| !state.is_enabled) {
            proposals.push(check(format!("\"{name}\" is disabled"), "assertState", json!({ "enabled": false })));
        }
        let tree = expected_tree::expected_of(node);
        if (2..=MOST_LINES).contains(&tree.lines().count()) {
            proposals.push(check(format!("what is in \"{name}\""), "assertTree", json!({ "tree": tree })));
        }
    }
    proposals
}

/// The step and the call that check what a person has chosen about an element; `None` if nothing about it lasts.
pub fn asserted(screen: &Screen, node: &Node, part: AssertedPart) -> Option<(String, Delegate)> {
    let stable = stable(screen, node).asserted(screen, node.id);
    let all = assertions(screen, node, &stable);
    let is_about = |proposal: &&Proposal| {
        let (tool, args) = proposal.call.as_object().and_then(|call| call.iter().next())?;
        let has_text = args.get("expectedText").is_some();
        Some(match part {
            AssertedPart::Visible => !has_text && tool.starts_with("assertVisible"),
            AssertedPart::Text => has_text,
            AssertedPart::Value => tool == "assertValue" || tool == "web_verifyValue" || args.get("checked").is_some(),
        })
    };
    // What is found by its text has it.
    let found = all.iter().find(|proposal| is_about(proposal) == Some(true)).or(all.first())?;
    let CallParts { tool, args, .. } = parts_of(&found.call)?;
    Some((found.text.clone(), Delegate { tool: tool.to_string(), args: args.as_object()?.clone() }))
}

/// Arguments that find the element even when its own text is another.
fn lasting(screen: &Screen, node: &Node, stable: &Stable) -> Option<Map<String, Value>> {
    match stable {
        Stable::Id(_) | Stable::Selector(_) => Some(arguments(stable)),
        Stable::Text(_) | Stable::Point(_) => {
            alternatives(screen, node).into_iter().next().map(|selector| arguments(&Stable::Selector(selector)))
        }
    }
}

fn proposal(text: String, call: &Delegate) -> Proposal {
    Proposal { text, call: json!({ call.tool.as_str(): call.args }) }
}

/// What a selector matches on a screen.
pub struct MatchedElements {
    /// The places of the elements in the list.
    pub places: Vec<i32>,
    /// How many elements match that are not in the list, because they have neither text nor function.
    pub n_unlisted: usize,
    /// How the text was understood.
    pub understood: String,
}

/// Finds what a person typed: a selector as JSON or YAML, `css=` and a CSS selector, or a text.
pub async fn matches(session: &Arc<Session>, sight: &KnownScreen, typed: &str) -> Result<MatchedElements, String> {
    let typed = typed.trim();
    let (nodes, understood) = match as_object(typed) {
        Some(value) => {
            let value = value.get("nodeSelector").unwrap_or(&value);
            let by_name = ["text", "id"].iter().any(|key| value.get(key).is_some_and(Value::is_string));
            let nodes = if by_name {
                let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_string);
                let element = ElementProperties {
                    text: text("text").map(TextMatch::Exact),
                    id: text("id"),
                    ..ElementProperties::default()
                };
                all(&sight.screen, element)
            } else {
                let selector = Selector::parse(value).map_err(|error| error.to_string())?;
                // Only the browser can tell what CSS matches.
                match value.to_string().contains("\"cssSelector\"") {
                    true => ask(session, &QueryTarget::Selector(Box::new(selector))).await?,
                    false => selector.resolve(&sight.screen.root).iter().map(|node| node.id).collect(),
                }
            };
            (nodes, "a selector".to_string())
        }
        None if typed.starts_with("css=") => {
            let description = ElementDescription::parse(typed).map_err(|error| error.to_string())?;
            (ask(session, &QueryTarget::Described(Box::new(description))).await?, "CSS".to_string())
        }
        None => {
            let wanted = typed.to_lowercase();
            let contains = |text: Option<&str>| text.is_some_and(|text| text.to_lowercase().contains(&wanted));
            let is_named = |node: &&Node| {
                (contains(node.text()) && !node.is_password()) || contains(node.label()) || contains(node.short_id())
            };
            let nodes = sight.screen.root.walk().filter(is_named).map(|node| node.id).collect();
            (nodes, format!("elements whose text, label or id contains \"{typed}\""))
        }
    };
    let places = sight.screen.root.walk().take(sight.elements.len()).zip(0..);
    let places: Vec<i32> = places.filter(|(node, _)| nodes.contains(&node.id)).map(|(_, place)| place).collect();
    Ok(MatchedElements { n_unlisted: nodes.len().saturating_sub(places.len()), places, understood })
}

/// All elements that the device finds, up to a limit.
async fn ask(session: &Arc<Session>, what: &QueryTarget) -> Result<Vec<u64>, String> {
    let cx = session.top_level().ok_or("the session has ended")?;
    let mut nodes = Vec::new();
    for index in 0..MOST_FOUND {
        let query = Query { what: what.clone(), index: Some(index) };
        match session.device.find(&cx, &query, Checks::Visible).await {
            Ok(Find::Found(found)) => nodes.push(found.node),
            Ok(Find::Not(_)) => break,
            Err(Stop::Failed(outcome)) => return Err(outcome.text),
            Err(Stop::Fault(fault)) => return Err(fault.to_string()),
        }
    }
    Ok(nodes)
}

/// What was typed as JSON or YAML, if it is an object.
fn as_object(typed: &str) -> Option<Value> {
    let source = yaml::Source::new("selector", typed);
    let node = yaml::read(&source, &mut yaml::Problems::new(&source))?;
    Some(yaml::loose(&node)).filter(Value::is_object)
}

/// All elements that a query matches.
fn all(screen: &Screen, element: ElementProperties) -> Vec<u64> {
    let search = |index| {
        let query = Query { what: QueryTarget::Element(element.clone()), index: Some(index) };
        match query.search(screen, Checks::Visible) {
            Find::Found(found) => Some(found.node),
            Find::Not(_) => None,
        }
    };
    (0..super::MOST_ELEMENTS).map_while(search).collect()
}
