//! What a browser would do itself: native drags, file choosers, the network.

use async_trait::async_trait;
use futures::future::join_all;
use serde_json::{Value, json};

use super::super::backend::{BackendError, BrowserEvent, DragStep, Interception, Realm};
use super::super::input::Spot;
use super::{BidiSession, string, tabs, values};

/// What a message of a document begins with that tells of a drag.
const BEGUN: &str = "drag:";

#[async_trait]
impl Interception for BidiSession {
    async fn intercept_drags(&self, tab: &str, is_on: bool) -> Result<(), BackendError> {
        let realms = self.realms_of(tab);
        let take = format!("{}; trailblazeDrags.take({is_on})", include_str!("drags.js"));
        let take = &take;
        join_all(realms.iter().map(|realm| async move {
            let target = json!({"realm": realm.0});
            match self.evaluate_at(&target, take, json!({})).await {
                // A document that has just gone takes no drags.
                Ok(_) | Err(BackendError::Refused(_)) => Ok(()),
                Err(error) => Err(error),
            }
        }))
        .await
        .into_iter()
        .collect()
    }

    async fn drag(&self, tab: &str, step: DragStep, at: Spot, data: &Value) -> Result<(), BackendError> {
        let (mut frame, mut point) = (tab.to_string(), at);
        let mut effect = Value::Null;
        for _ in 0..tabs::DEPTH {
            let Spot { x, y } = point;
            let expression = format!("trailblazeDrags.move(\"{step:?}\", {x}, {y}, {})", data["data"]);
            let answer = self.evaluate_in(&frame, &expression).await?;
            let inner = answer.pointer("/result/value/0/value/context").and_then(Value::as_str);
            let Some(inner) = inner else {
                effect = values::value_of(&answer)?;
                break;
            };
            let side = |pointer| answer.pointer(pointer).and_then(Value::as_f64).unwrap_or_default();
            point = Spot { x: side("/result/value/1/value"), y: side("/result/value/2/value") };
            inner.clone_into(&mut frame);
        }
        let left = self.known.lock().dragged_over.replace(frame.clone()).filter(|left| *left != frame);
        if let Some(left) = left {
            self.evaluate_in(&left, "trailblazeDrags.leave()").await?;
        }
        let source = string(data, "realm");
        let tell = match step {
            DragStep::Enter => return Ok(()),
            DragStep::Over => format!("trailblazeDrags.during({}, {})", at.x, at.y),
            DragStep::Drop => {
                self.known.lock().dragged_over = None;
                format!("trailblazeDrags.end({effect}, {}, {})", at.x, at.y)
            }
        };
        match self.evaluate_at(&json!({"realm": source}), &tell, json!({})).await {
            // A drop may open another page.
            Ok(_) | Err(BackendError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The session asks for that from its start: no chooser is ever shown.
    async fn intercept_choosers(&self, _: &str, _: bool) -> Result<(), BackendError> {
        Ok(())
    }

    async fn choose_files(&self, chooser: &Value, files: &[String]) -> Result<(), BackendError> {
        let element = json!({"sharedId": chooser.pointer("/element/sharedId")});
        let params = json!({"context": string(chooser, "context"), "element": element, "files": files});
        self.call("input.setFiles", params).await.map(drop)
    }

    async fn set_offline(&self, tab: &str, is_offline: bool) -> Result<(), BackendError> {
        let conditions = if is_offline { json!({"type": "offline"}) } else { Value::Null };
        let params = json!({"networkConditions": conditions, "contexts": [tab]});
        self.call("emulation.setNetworkConditions", params).await.map(drop)
    }
}

impl BidiSession {
    fn realms_of(&self, tab: &str) -> Vec<Realm> {
        let known = self.known.lock();
        known.realms.iter().filter(|(_, of)| of.tab == tab).map(|(realm, _)| Realm(realm.clone())).collect()
    }
}

/// The event of a message that tells of a drag.
pub fn begun(realm: &str, message: &str) -> Option<BrowserEvent> {
    let data: Value = serde_json::from_str(message.strip_prefix(BEGUN)?).ok()?;
    Some(BrowserEvent::DragBegun { data: json!({"realm": realm, "data": data}) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_about_drags_begin_one() {
        let data = json!({"realm": "r", "data": {"allowed": "all", "items": []}});
        assert_eq!(begun("r", r#"drag:{"allowed": "all", "items": []}"#), Some(BrowserEvent::DragBegun { data }));
        assert_eq!(begun("r", "{}"), None);
        assert_eq!(begun("r", "drag:no"), None);
    }
}
