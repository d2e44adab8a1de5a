//! The same call for another element: the tool does the same, and only the arguments that name the element change.

use serde_json::{Map, Value, json};

use crate::query::{Checks, Find, Query, QueryTarget, Stable, alternatives, stable};
use crate::screen::{Node, Screen};
use crate::selector::Selector;

/// How the calls of a tool name their element.
enum Naming {
    /// `tap`, in any of its forms: the result is `tap` or `tapOnElementBySelector`.
    Tap { is_long: bool },
    /// By a selector only.
    Selector,
    /// By a CSS selector; the result is the tool of this name, with a selector.
    Css { becomes: &'static str, renamed: Option<(&'static str, &'static str)> },
}

/// The parameters that name an element.
const NAMES: [&str; 7] = ["ref", "text", "id", "index", "nodeSelector", "selector", "selected"];

fn naming(tool: &str, args: &Map<String, Value>) -> Option<Naming> {
    let is_long = args.get("longPress").and_then(Value::as_bool).unwrap_or(false);
    Some(match tool {
        // A point is not an element.
        "tap" if args.contains_key("x") => return None,
        "tap" | "tapOnElementWithText" => Naming::Tap { is_long },
        "longPress" | "longPressOnElementWithText" => Naming::Tap { is_long: true },
        "tapOnElementBySelector"
        | "web_click"
        | "web_hover"
        | "web_check"
        | "web_selectOption"
        | "web_upload"
        | "web_fillSecret" => Naming::Selector,
        // Without an element, it types into the focused field.
        "web_type" if args.contains_key("ref") || args.contains_key("nodeSelector") => Naming::Selector,
        "click" => Naming::Css { becomes: "web_click", renamed: None },
        "fill" => Naming::Css { becomes: "web_type", renamed: Some(("value", "text")) },
        _ => return None,
    })
}

/// Whether calls of this tool name an element that can be replaced by another one.
pub fn names_element(tool: &str, args: &Map<String, Value>) -> bool {
    naming(tool, args).is_some()
}

/// The call for another element, as a tool and its arguments. `None` if no description finds just that element.
pub fn reaim(
    tool: &str,
    args: &Map<String, Value>,
    screen: &Screen,
    node: &Node,
) -> Option<(String, Map<String, Value>)> {
    // `text` of `web_type` is what is typed.
    let keeps_text = matches!(tool, "web_type");
    let is_kept = |name: &str| !NAMES.contains(&name) || name == "text" && keeps_text;
    let mut kept: Map<String, Value> =
        args.iter().filter(|(name, _)| is_kept(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
    kept.remove("longPress");
    kept.remove("enabled");
    let (tool, mut named) = match naming(tool, args)? {
        Naming::Tap { is_long } => {
            let (tool, mut named) = match stable(screen, node) {
                Stable::Id(id) => ("tap", json!({"id": id})),
                Stable::Text(text) => ("tap", json!({"text": text})),
                Stable::Selector(selector) => ("tapOnElementBySelector", json!({"nodeSelector": selector.to_json()})),
                Stable::Point(_) => return None,
            };
            if is_long {
                named["longPress"] = Value::Bool(true);
            }
            (tool, named)
        }
        Naming::Selector => {
            if let Some(long) = args.get("longPress") {
                kept.insert("longPress".to_string(), long.clone());
            }
            (tool, json!({"nodeSelector": selector(screen, node)?.to_json()}))
        }
        Naming::Css { becomes, renamed } => {
            if let Some((from, to)) = renamed
                && let Some(value) = kept.remove(from)
            {
                kept.insert(to.to_string(), value);
            }
            (becomes, json!({"nodeSelector": selector(screen, node)?.to_json()}))
        }
    };
    let named = named.as_object_mut().map(std::mem::take).unwrap_or_default();
    Some((tool.to_string(), named.into_iter().chain(kept).collect()))
}

/// The most stable selector of an element, which finds only that element.
fn selector(screen: &Screen, node: &Node) -> Option<Selector> {
    alternatives(screen, node).into_iter().find(|selector| {
        let query = Query { what: QueryTarget::Selector(Box::new(selector.clone())), index: None };
        matches!(query.search(screen, Checks::Visible), Find::Found(found) if found.node == node.id && found.count == 1)
    })
}
