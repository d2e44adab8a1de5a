//! Elements that a session has found, by their ids.

use serde_json::{Value, json};
use trailblaze_core::driver::{Action, ActionTarget};
use trailblaze_protocol::geometry::Rect;

use crate::answer::{WdaAnswer, WebDriverError};
use crate::iphone::{ElementKey, Iphone};
use crate::picture;
use crate::predicate::{ClassChain, Predicate};
use crate::source::{XcElement, tree};
use crate::touch::{text_of, type_text};

fn is_same(element: &XcElement, key: &ElementKey) -> bool {
    element.kind == key.kind && element.name() == key.name.as_deref()
}

/// Gives an element of a tree an id.
fn remember(iphone: &Iphone, all: &[&XcElement], found: &XcElement) -> Value {
    let mut key = ElementKey { kind: found.kind.clone(), name: found.name().map(str::to_string), index: 0 };
    let before = all.iter().take_while(|element| !std::ptr::eq(**element, found));
    key.index = before.filter(|element| is_same(element, &key)).count();
    let mut state = iphone.state();
    let id = state.new_id();
    state.elements.insert(id.clone(), key);
    json!({"element-6066-11e4-a52e-4f735466cecf": id, "ELEMENT": id})
}

/// The element of an id as it is now.
async fn again(iphone: &Iphone, id: &str) -> Result<XcElement, WebDriverError> {
    let key = iphone.state().elements.get(id).cloned().ok_or_else(WebDriverError::stale_element)?;
    let tree = tree(iphone).await;
    let found = tree.walk().into_iter().filter(|element| is_same(element, &key)).nth(key.index).cloned();
    found.ok_or_else(WebDriverError::stale_element)
}

/// The element that has the focus.
pub async fn active(iphone: &Iphone) -> WdaAnswer {
    let tree = tree(iphone).await;
    let all = tree.walk();
    let focused = all.iter().find(|element| element.is_focused);
    let focused = focused.ok_or_else(|| WebDriverError::no_element("No element has the keyboard focus"))?;
    Ok(remember(iphone, &all, focused))
}

/// Elements by id, type, label, predicate or class chain.
async fn matching(iphone: &Iphone, body: &Value) -> Result<Vec<Value>, WebDriverError> {
    let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
    let (using, value) = (text("using"), text("value"));
    let tree = tree(iphone).await;
    let all = tree.walk();
    let found: Vec<&XcElement> = match using {
        "id" | "name" | "accessibility id" => all.iter().copied().filter(|one| one.name() == Some(value)).collect(),
        "class name" => {
            let kind = value.strip_prefix("XCUIElementType");
            all.iter().copied().filter(|one| kind == Some(&one.kind)).collect()
        }
        "link text" => {
            let label = value.strip_prefix("label=");
            all.iter().copied().filter(|one| label == Some(&one.label)).collect()
        }
        "predicate string" => {
            let predicate = Predicate::parse(value).ok_or_else(|| invalid(value))?;
            all.iter().copied().filter(|one| predicate.holds(one)).collect()
        }
        "class chain" => ClassChain::parse(value).ok_or_else(|| invalid(value))?.find(&tree),
        _ => return Err(WebDriverError::invalid_selector(format!("the stand-in does not search by `{using}`"))),
    };
    Ok(found.into_iter().map(|element| remember(iphone, &all, element)).collect())
}

fn invalid(value: &str) -> WebDriverError {
    WebDriverError::invalid_selector(format!("Unable to parse the format string \"{value}\""))
}

pub async fn find(iphone: &Iphone, body: &Value) -> WdaAnswer {
    let found = matching(iphone, body).await?;
    let what = body.get("value").and_then(Value::as_str).unwrap_or_default();
    found
        .into_iter()
        .next()
        .ok_or_else(|| WebDriverError::no_element(format!("unable to find an element using '{what}'")))
}

pub async fn find_all(iphone: &Iphone, body: &Value) -> WdaAnswer {
    Ok(Value::Array(matching(iphone, body).await?))
}

/// What can be asked about an element.
pub async fn ask(iphone: &Iphone, id: &str, what: &[&str]) -> WdaAnswer {
    let element = again(iphone, id).await?;
    let Rect { left, top, .. } = element.frame;
    let kind = format!("XCUIElementType{}", element.kind);
    Ok(match what {
        ["rect"] => json!({"x": left, "y": top, "width": element.frame.width(), "height": element.frame.height()}),
        ["text"] => json!(element.wd_value().or_else(|| Some(element.label.clone()))),
        ["name"] => json!(kind),
        ["enabled"] => json!(element.is_enabled),
        ["displayed"] => json!(element.is_visible),
        ["selected"] => json!(element.is_selected),
        ["accessible"] => json!(!element.label.is_empty()),
        ["attribute", "label"] => json!(element.label),
        ["attribute", "name"] => json!(element.name()),
        ["attribute", "value"] => json!(element.wd_value()),
        ["attribute", "type"] => json!(kind),
        ["attribute", "enabled"] => json!(element.is_enabled.to_string()),
        ["attribute", "visible"] => json!(element.is_visible.to_string()),
        _ => return Err(WebDriverError::unknown_command(&what.join("/"))),
    })
}

/// The picture of an element: that of the screen, cut to it.
pub async fn picture(iphone: &Iphone, id: &str) -> WdaAnswer {
    let element = again(iphone, id).await?;
    picture::part(iphone, element.frame).await
}

/// What can be done with an element.
pub async fn act(iphone: &Iphone, id: &str, what: &str, body: &Value) -> WdaAnswer {
    let element = again(iphone, id).await?;
    match what {
        "click" => touch(iphone, &element).await,
        "clear" => {
            focus(iphone, &element).await?;
            let text = String::new();
            let _ = iphone.act(ActionTarget::Device, Action::SetText { text }).await;
        }
        "value" => {
            let text = text_of(body)?;
            iphone.state().typing_frequency = body["frequency"].as_u64();
            focus(iphone, &element).await?;
            type_text(iphone, &text).await;
        }
        _ => return Err(WebDriverError::unknown_command(what)),
    }
    Ok(Value::Null)
}

async fn touch(iphone: &Iphone, element: &XcElement) {
    let center = element.frame.center();
    let _ =
        iphone.act(ActionTarget::Point(iphone.in_pixels(f64::from(center.x), f64::from(center.y))), Action::Tap).await;
}

/// Typing taps the element first, unless it has the focus.
async fn focus(iphone: &Iphone, element: &XcElement) -> Result<(), WebDriverError> {
    if element.is_focused {
        return Ok(());
    }
    touch(iphone, element).await;
    let tree = tree(iphone).await;
    match tree.walk().iter().any(|element| element.is_focused) {
        true => Ok(()),
        false => Err(WebDriverError::invalid_element_state("The element has no keyboard focus")),
    }
}
