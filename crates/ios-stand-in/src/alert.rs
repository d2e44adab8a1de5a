//! Alerts: of the system, which are in front of every app, and of the app itself.

use serde_json::{Value, json};
use trailblaze_core::driver::{Action, ActionTarget, ObserveOptions};
use trailblaze_core::screen::Node;
use trailblaze_protocol::geometry::Point;

use crate::answer::{WdaAnswer, WebDriverError};
use crate::iphone::Iphone;

/// The alert of the app in front.
struct AppAlert {
    texts: Vec<String>,
    buttons: Vec<(String, Point)>,
}

async fn app_alert(iphone: &Iphone) -> Option<AppAlert> {
    let screen = iphone.screen(ObserveOptions::TREE).await;
    let alert = screen.root.walk().find(|node| node.class() == Some("Alert"))?;
    let of = |class: &'static str| alert.walk().filter(move |node| node.class() == Some(class));
    let texts = of("StaticText").filter_map(Node::text).map(str::to_string).collect();
    let button = |node: &Node| Some((node.text()?.to_string(), screen.visible_part(node)?.center()));
    Some(AppAlert { texts, buttons: of("Button").filter_map(button).collect() })
}

pub async fn text(iphone: &Iphone) -> WdaAnswer {
    if let Some(alert) = &iphone.state().alert {
        return Ok(json!(alert.text));
    }
    let alert = app_alert(iphone).await.ok_or_else(WebDriverError::no_alert)?;
    Ok(json!(alert.texts.join("\n")))
}

pub async fn buttons(iphone: &Iphone) -> WdaAnswer {
    if let Some(alert) = &iphone.state().alert {
        return Ok(json!(alert.buttons));
    }
    let alert = app_alert(iphone).await.ok_or_else(WebDriverError::no_alert)?;
    Ok(json!(alert.buttons.into_iter().map(|(label, _)| label).collect::<Vec<_>>()))
}

/// Taps the button of this name; without a name, the last one to accept and the first one to dismiss.
pub async fn answer(iphone: &Iphone, name: Option<&str>, is_accepted: bool) -> WdaAnswer {
    let missing =
        |name: &str| WebDriverError::invalid_element_state(format!("Failed to find button '{name}' in the alert"));
    let of_system = iphone.state().alert.clone();
    if let Some(alert) = of_system {
        if let Some(name) = name.filter(|name| !alert.buttons.iter().any(|button| button == name)) {
            return Err(missing(name));
        }
        iphone.state().alert = None;
        return Ok(Value::Null);
    }
    let alert = app_alert(iphone).await.ok_or_else(WebDriverError::no_alert)?;
    let chosen = match (name, is_accepted) {
        (Some(name), _) => alert.buttons.iter().find(|(label, _)| label == name),
        (None, true) => alert.buttons.last(),
        (None, false) => alert.buttons.first(),
    };
    let (_, point) = chosen.ok_or_else(|| missing(name.unwrap_or_default()))?;
    let _ = iphone.act(ActionTarget::Point(*point), Action::Tap).await;
    Ok(Value::Null)
}
