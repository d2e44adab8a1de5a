//! Pages that another program shows and lets others inspect, such as those in the web views of an app. They are only looked into, by the
//! walker of every page: nothing is opened, closed or emulated, and who touches them does so from outside.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use trailblaze_core::screen::{Screen, SnapshotId};
use trailblaze_protocol::geometry::Rect;

use super::super::backend::{BackendError, ExecutionWorld, FrameId};
use super::super::look::{PagePart, WalkerAnswer};
use super::super::scripts::walker;
use super::WORLD;
use super::attach::{DevToolsStream, ask_over, attach_over};
use super::cdp::Cdp;
use super::scripts;

/// How deep frames may be nested.
const DEPTH: usize = 4;

/// A page of another program.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectablePage {
    pub id: String,
    /// Where it is on the screen, in pixels, if the program says so.
    pub area: Option<Rect>,
    /// False if the program says that it does not show it.
    pub is_shown: bool,
}

impl InspectablePage {
    /// The pages of the program at the other end of a stream.
    pub async fn list(stream: impl DevToolsStream) -> Result<Vec<InspectablePage>, String> {
        let listed = ask_over(stream, "/json/list").await?;
        Ok(listed.as_array().into_iter().flatten().filter_map(InspectablePage::read).collect())
    }

    fn read(target: &Value) -> Option<InspectablePage> {
        let text = |key: &str| target.get(key).and_then(Value::as_str);
        if text("type") != Some("page") {
            return None;
        }
        // Web views of Android say here where they are.
        let about: Value = text("description").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let side = |key: &str| about.get(key).and_then(Value::as_i64).and_then(|value| i32::try_from(value).ok());
        let area = || Some(Rect::new(side("screenX")?, side("screenY")?, side("width")?, side("height")?));
        let is = |key: &str, value: bool| about.get(key).and_then(Value::as_bool) == Some(value);
        let is_shown = !is("visible", false) && !is("attached", false) && !is("empty", true);
        Some(InspectablePage { id: text("id")?.to_string(), area: area(), is_shown })
    }
}

/// A page that is looked into, for as long as its stream is open.
pub struct InspectedPage {
    cdp: Arc<Cdp>,
    /// Our world in the document of each frame.
    worlds: Mutex<HashMap<FrameId, i64>>,
}

impl InspectedPage {
    /// Opens a page over a stream to its program.
    pub async fn open(stream: impl DevToolsStream, id: &str) -> Result<InspectedPage, String> {
        let messages = attach_over(stream, &format!("/devtools/page/{id}")).await?;
        let (from, to) = tokio::io::split(messages);
        Ok(InspectedPage { cdp: Cdp::open(from, to), worlds: Mutex::default() })
    }

    pub fn is_gone(&self) -> bool {
        self.cdp.is_gone()
    }

    /// What its window shows, with its frames. The caller limits the wait.
    pub async fn look(&self) -> Result<Screen, BackendError> {
        let tree = self.call("Page.getFrameTree", json!({})).await?;
        let seen = self.look_into(&tree["frameTree"], 0).await?;
        Ok(seen.screen(SnapshotId(0), PagePart::Window))
    }

    fn look_into<'a>(&'a self, tree: &'a Value, depth: usize) -> BoxFuture<'a, Result<WalkerAnswer, BackendError>> {
        Box::pin(async move {
            let frame = frame_of(tree)?;
            let mut seen = self.look_in(&frame).await?;
            let frames = tree["childFrames"].as_array().filter(|_| seen.has_frames() && depth < DEPTH);
            for (child, number) in frames.into_iter().flatten().zip(1..) {
                // One that is gone, or is another process's, stays empty.
                let Ok(owner) = self.owner(&frame, child).await else { continue };
                let Ok(inner) = self.look_into(child, depth + 1).await else { continue };
                if let Some(node) = seen.find(owner) {
                    node.hold(number, inner);
                }
            }
            Ok(seen)
        })
    }

    /// Looks at the document of a frame. If it is another one than before, our world there is made again.
    async fn look_in(&self, frame: &str) -> Result<WalkerAnswer, BackendError> {
        let known = self.worlds.lock().get(frame).copied();
        if let Some(world) = known {
            match self.evaluate(world, LOOK).await {
                Err(BackendError::Refused(_)) => drop(self.worlds.lock().remove(frame)),
                looked => return read(&looked?),
            }
        }
        let params = json!({"frameId": frame, "worldName": WORLD});
        let made = self.call("Page.createIsolatedWorld", params).await?;
        let world = made.get("executionContextId").and_then(Value::as_i64);
        let world = world.ok_or_else(|| BackendError::Refused("no world was created".to_string()))?;
        self.evaluate(world, &walker(ExecutionWorld::Isolated)).await?;
        self.worlds.lock().insert(frame.to_string(), world);
        read(&self.evaluate(world, LOOK).await?)
    }

    /// The id of the element that contains a frame, in the walker of its parent.
    async fn owner(&self, parent: &str, child: &Value) -> Result<u64, BackendError> {
        let world = self.worlds.lock().get(parent).copied();
        let owner = self.call("DOM.getFrameOwner", json!({"frameId": frame_of(child)?})).await?;
        let params = json!({"backendNodeId": owner["backendNodeId"], "executionContextId": world});
        let node = self.call("DOM.resolveNode", params).await?;
        let params = json!({
            "objectId": node["object"]["objectId"], "returnByValue": true,
            "functionDeclaration": "function() { return trailblaze.idOf(this); }",
        });
        let id = scripts::value_of(&self.call("Runtime.callFunctionOn", params).await?)?;
        id.as_u64().ok_or_else(|| BackendError::Refused("no element contains the frame".to_string()))
    }

    async fn evaluate(&self, world: i64, expression: &str) -> Result<Value, BackendError> {
        let params = json!({"expression": expression, "contextId": world, "returnByValue": true, "awaitPromise": true});
        scripts::value_of(&self.call("Runtime.evaluate", params).await?)
    }

    /// Sends a command of the protocol.
    pub async fn call(&self, method: &str, params: Value) -> Result<Value, BackendError> {
        Ok(self.cdp.call(None, method, params).await?)
    }
}

const LOOK: &str = "trailblaze.look({visible: true, shown: true})";

fn frame_of(tree: &Value) -> Result<FrameId, BackendError> {
    let id = tree.pointer("/frame/id").and_then(Value::as_str);
    id.map(str::to_string).ok_or_else(|| BackendError::Refused("the page has no frame".to_string()))
}

fn read(answer: &Value) -> Result<WalkerAnswer, BackendError> {
    let invalid = |error| BackendError::Refused(format!("the page returned an invalid answer: {error}"));
    serde_json::from_str(answer.as_str().unwrap_or_default()).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_an_app_says_where_it_is() {
        let read = |target: Value| InspectablePage::read(&target);
        let about =
            r#"{"attached":true,"empty":false,"height":2000,"screenX":0,"screenY":220,"visible":true,"width":1080}"#;
        let page = read(json!({"type": "page", "id": "A1", "description": about})).unwrap();
        assert_eq!(
            page,
            InspectablePage { id: "A1".into(), area: Some(Rect::new(0, 220, 1080, 2000)), is_shown: true }
        );
        let hidden = read(json!({"type": "page", "id": "A2", "description": r#"{"attached":true,"visible":false}"#}));
        assert!(hidden.is_some_and(|page| !page.is_shown && page.area.is_none()));
        let plain = read(json!({"type": "page", "id": "A3", "description": ""}));
        assert!(plain.is_some_and(|page| page.is_shown && page.area.is_none()));
        assert_eq!(read(json!({"type": "service_worker", "id": "A4"})), None);
    }
}
