//! Looks into all frames of a page, and acts on elements in them. Each document is read by its own walker; the contents
//! of a frame are placed where its parent shows the frame.

use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use serde::Deserialize;
use serde_json::{Value, json};
use trailblaze_core::driver::{Budget, DriverError};

use super::look::{Contact, Look, Ready, Use, parts_of};
use super::page::{Page, World};
use super::state::Frame;

/// How deep frames may be nested.
const DEPTH: usize = 8;

impl Page {
    /// One look at the page and its frames. `want` is the request to the walker.
    pub async fn look(&self, budget: &Budget, want: &Value) -> Result<Look, DriverError> {
        self.look_with(budget, "look", want).await
    }

    /// Like [`Page::look`], for elements that may match. If there is just one, it is made ready to be touched.
    pub async fn look_for(&self, budget: &Budget, want: &Value) -> Result<Look, DriverError> {
        self.look_with(budget, "find", want).await
    }

    async fn look_with(&self, budget: &Budget, how: &str, want: &Value) -> Result<Look, DriverError> {
        let expression = format!("trailblaze.{how}({want})");
        let mut seen = loop {
            let world = self.main_world(budget).await?;
            match self.look_in(budget, &world, &expression).await? {
                Some(seen) => break seen,
                None => self.settle(budget).await?,
            }
        };
        self.look_into_frames(budget, &mut seen, want).await?;
        Ok(seen)
    }

    /// What the walker of one document sees; `None` if the document is gone. Opens closed shadow roots for it.
    async fn look_in(&self, budget: &Budget, world: &World, expression: &str) -> Result<Option<Look>, DriverError> {
        loop {
            let Some(answer) = self.ask_in(budget, world, expression).await? else { return Ok(None) };
            let seen = parse(&answer)?;
            if seen.shut.is_empty() || self.open_roots(budget, world, &seen.shut).await == 0 {
                return Ok(Some(seen));
            }
        }
    }

    /// Passes closed shadow roots to the walker, which cannot access them itself. Returns how many there were.
    async fn open_roots(&self, budget: &Budget, world: &World, hosts: &[u64]) -> usize {
        let opened = hosts.iter().map(|host| async move {
            let to = |method: &'static str, params: Value| self.command_to(budget, &world.session, method, params);
            let params = json!({"expression": format!("trailblaze.elementOf({host})"), "contextId": world.context});
            let host = to("Runtime.evaluate", params).await.ok()?.pointer("/result/objectId")?.clone();
            let about = to("DOM.describeNode", json!({"objectId": host, "depth": 1, "pierce": true})).await.ok()?;
            let roots = about.pointer("/node/shadowRoots")?.as_array()?;
            let root = roots.iter().find(|root| root["shadowRootType"] == "closed")?.get("backendNodeId")?;
            let params = json!({"backendNodeId": root, "executionContextId": world.context});
            let root = to("DOM.resolveNode", params).await.ok()?.pointer("/object/objectId")?.clone();
            let params = json!({
                "objectId": host, "arguments": [{"objectId": root}],
                "functionDeclaration": "function(root) { trailblaze.open(this, root); }",
            });
            to("Runtime.callFunctionOn", params).await.ok()
        });
        join_all(opened).await.into_iter().flatten().count()
    }

    /// Adds what the frames of the front document contain.
    pub async fn look_into_frames(&self, budget: &Budget, seen: &mut Look, want: &Value) -> Result<(), DriverError> {
        if !seen.has_frames() {
            return Ok(());
        }
        let main = self.shared.state().front().map(|tab| tab.main_frame.clone()).unwrap_or_default();
        self.fill(budget, main, seen, want, 0).await
    }

    fn fill<'a>(
        &'a self,
        budget: &'a Budget,
        frame: String,
        seen: &'a mut Look,
        want: &'a Value,
        depth: usize,
    ) -> BoxFuture<'a, Result<(), DriverError>> {
        Box::pin(async move {
            let children: Vec<(String, Frame)> = {
                let state = self.shared.state();
                let tab = state.front();
                let children = tab.into_iter().flat_map(|tab| &tab.frames);
                let is_child = |(_, child): &(&String, &Frame)| child.parent.as_deref() == Some(&frame);
                children.filter(is_child).map(|(id, child)| (id.clone(), child.clone())).collect()
            };
            let Some(parent) = self.world_of(&frame) else { return Ok(()) };
            let looks = children.into_iter().map(|(id, child)| {
                let parent = parent.clone();
                async move {
                    let owner = self.owner_of(budget, &id, &child, &parent).await?;
                    let world = self.world_in(budget, &id).await?;
                    let looked = self.look_in(budget, &world, &format!("trailblaze.look({want})")).await;
                    let mut inner = looked.ok()??;
                    if depth < DEPTH && inner.has_frames() {
                        self.fill(budget, id, &mut inner, want, depth + 1).await.ok()?;
                    }
                    Some((owner, child.number, inner))
                }
            });
            for (owner, number, inner) in join_all(looks).await.into_iter().flatten() {
                if let Some(node) = seen.find(owner) {
                    node.hold(number, inner);
                }
            }
            Ok(())
        })
    }

    /// The worlds of all documents of all tabs.
    pub fn worlds(&self) -> Vec<World> {
        let state = self.shared.state();
        let frames = state.tabs.iter().flat_map(|tab| tab.frames.values());
        frames.filter_map(|frame| Some(World { session: frame.session.clone(), context: frame.world? })).collect()
    }

    fn world_of(&self, frame: &str) -> Option<World> {
        let state = self.shared.state();
        let frame = state.front()?.frames.get(frame)?;
        Some(World { session: frame.session.clone(), context: frame.world? })
    }

    fn world_numbered(&self, number: u64) -> Option<World> {
        let state = self.shared.state();
        let frame = state.front()?.numbered(number)?;
        Some(World { session: frame.session.clone(), context: frame.world? })
    }

    /// The walker's world in a frame. A document written by a script does not have one yet.
    async fn world_in(&self, budget: &Budget, frame: &str) -> Option<World> {
        if let Some(world) = self.world_of(frame) {
            return Some(world);
        }
        let session = self.shared.state().front()?.frames.get(frame)?.session.clone();
        let params = json!({"frameId": frame, "worldName": super::page::WORLD});
        let made = self.command_to(budget, &session, "Page.createIsolatedWorld", params).await.ok()?;
        let context = made.get("executionContextId").and_then(Value::as_i64)?;
        let world = World { session, context };
        self.ask_in(budget, &world, super::page::WALKER).await.ok()??;
        if self.shared.state().person.is_some() {
            self.ask_in(budget, &world, "trailblaze.record()").await.ok()??;
        }
        Some(world)
    }

    /// The id of the element that contains a frame, in its parent's walker.
    async fn owner_of(&self, budget: &Budget, id: &str, frame: &Frame, parent: &World) -> Option<u64> {
        if frame.owner.is_some() {
            return frame.owner;
        }
        let to = |method: &'static str, params: Value| self.command_to(budget, &parent.session, method, params);
        let owner = to("DOM.getFrameOwner", json!({"frameId": id})).await.ok()?;
        let params = json!({"backendNodeId": owner.get("backendNodeId")?, "executionContextId": parent.context});
        let node = to("DOM.resolveNode", params).await.ok()?;
        let params = json!({
            "objectId": node.pointer("/object/objectId")?, "returnByValue": true,
            "functionDeclaration": "function() { return trailblaze.idOf(this); }",
        });
        let number = to("Runtime.callFunctionOn", params).await.ok()?.pointer("/result/value")?.as_u64()?;
        self.shared.bump(|state| {
            let front = state.front.clone();
            let tab = state.tabs.iter_mut().find(|tab| tab.target == front);
            if let Some(frame) = tab.and_then(|tab| tab.frames.get_mut(id)) {
                frame.owner = Some(number);
            }
        });
        Some(number)
    }

    /// Makes an element, and every frame around it, ready for its use.
    pub async fn ready(&self, budget: &Budget, node: u64, needed: Use) -> Result<Ready, DriverError> {
        let (number, element) = parts_of(node);
        let expression = format!("trailblaze.ready({element}, {})", needed.json());
        if number == 0 {
            return read(&self.ask(budget, &expression).await?);
        }
        let ready: Option<Ready> = self.ask_frame(budget, number, &expression).await?;
        let Some(mut ready) = ready else { return Ok(gone()) };
        ready.id = Some(node);
        self.climb(budget, number, ready, needed).await
    }

    /// Converts a point in a frame to a point in the window, unless something covers the frame.
    async fn climb(&self, budget: &Budget, number: u64, mut ready: Ready, needed: Use) -> Result<Ready, DriverError> {
        let mut number = number;
        while number != 0 && ready.why.is_none() {
            let Some((owner, parent)) = self.holder(number) else { return Ok(gone()) };
            let Ready { x, y, is_scrolled, .. } = ready;
            let how = needed.name();
            let expression = format!("trailblaze.through({owner}, {x}, {y}, {is_scrolled}, \"{how}\")");
            let through = match parent {
                0 => Some(read(&self.ask(budget, &expression).await?)?),
                parent => self.ask_frame(budget, parent, &expression).await?,
            };
            let Some(through): Option<Ready> = through else { return Ok(gone()) };
            let (dx, dy) = ((through.x - ready.x).round() as i32, (through.y - ready.y).round() as i32);
            let bounds = ready.b.map(|[left, top, right, bottom]| [left + dx, top + dy, right + dx, bottom + dy]);
            ready = Ready { id: ready.id, b: bounds, ..through };
            number = parent;
        }
        Ok(ready)
    }

    /// The element that contains a frame, and the number of the frame that this element is in.
    pub fn holder(&self, number: u64) -> Option<(u64, u64)> {
        let state = self.shared.state();
        let tab = state.front()?;
        let frame = tab.numbered(number)?;
        let parent = tab.frames.get(frame.parent.as_ref()?)?;
        Some((frame.owner?, parent.number))
    }

    /// The frame that an element contains. Frames of a page in the back-forward cache have no world.
    pub fn frame_held_by(&self, number: u64, owner: u64) -> Option<u64> {
        let state = self.shared.state();
        let tab = state.front()?;
        let is_held = |frame: &&Frame| {
            let parent = frame.parent.as_ref().and_then(|parent| tab.frames.get(parent));
            frame.owner == Some(owner) && frame.world.is_some() && parent.is_some_and(|parent| parent.number == number)
        };
        tab.frames.values().find(is_held).map(|frame| frame.number)
    }

    async fn ask_frame<T: for<'d> Deserialize<'d>>(
        &self,
        budget: &Budget,
        number: u64,
        expression: &str,
    ) -> Result<Option<T>, DriverError> {
        let Some(world) = self.world_numbered(number) else { return Ok(None) };
        self.ask_in(budget, &world, expression).await?.map(|value| read(&value)).transpose()
    }

    /// Evaluates `expression` in the frame of an element; it receives the element's id there.
    pub async fn ask_about<T: for<'d> Deserialize<'d>>(
        &self,
        budget: &Budget,
        node: u64,
        expression: impl FnOnce(u64) -> String,
    ) -> Result<T, DriverError> {
        let (number, element) = parts_of(node);
        let expression = expression(element);
        match number {
            0 => read(&self.ask(budget, &expression).await?),
            number => {
                let answer = self.ask_frame(budget, number, &expression).await?;
                answer.ok_or_else(|| DriverError::Refused { reason: "its frame is gone".to_string() })
            }
        }
    }

    /// Waits until the finger on an element has been down for this long. A document that goes away when it is touched needs no more of it.
    pub async fn held(&self, budget: &Budget, node: u64, long: Duration) -> Result<(), DriverError> {
        let held = format!("trailblaze.held({})", long.as_millis());
        self.ask_frame::<Value>(budget, parts_of(node).0, &held).await.map(drop)
    }

    /// How a touch went wrong, if it did. If the document is gone, the touch reached it.
    pub async fn landed(&self, budget: &Budget, node: u64, contact: Contact) -> Result<Option<String>, DriverError> {
        let (mut number, _) = parts_of(node);
        let landed = |contact: Contact| format!("trailblaze.landed('{}')", contact.name());
        let own: Option<Option<String>> = self.ask_frame(budget, number, &landed(contact)).await?;
        let mut how = own.flatten();
        let of_frame = if contact == Contact::Hover { Contact::Hover } else { Contact::None };
        while let Some((_, parent)) = self.holder(number).filter(|_| number != 0) {
            let around: Option<Option<String>> = self.ask_frame(budget, parent, &landed(of_frame)).await?;
            // Another element received the touch, in a parent document. Only a press is missed by a frame that does not get it.
            how = match how {
                None if contact == Contact::Hover => around.flatten(),
                how => how.map(|lost| around.flatten().unwrap_or(lost)),
            };
            number = parent;
        }
        Ok(how)
    }

    /// A handle to an element, for commands that need one.
    pub async fn handle(&self, budget: &Budget, node: u64) -> Result<(String, Value), DriverError> {
        let (number, element) = parts_of(node);
        let gone = || DriverError::Refused { reason: "its page is gone".to_string() };
        let world = self.world_numbered(number).ok_or_else(gone)?;
        let params = json!({"expression": format!("trailblaze.elementOf({element})"), "contextId": world.context});
        let answer = self.command_to(budget, &world.session, "Runtime.evaluate", params).await?;
        let handle = answer.pointer("/result/objectId").cloned().ok_or_else(gone)?;
        Ok((world.session, handle))
    }
}

fn gone() -> Ready {
    Ready { id: None, why: Some("gone".to_string()), by: String::new(), x: 0.0, y: 0.0, b: None, is_scrolled: false }
}

fn parse(answer: &Value) -> Result<Look, DriverError> {
    let text = answer.as_str().unwrap_or_default();
    serde_json::from_str(text).map_err(|error| {
        let wrong: Option<String> =
            serde_json::from_str::<Value>(text).ok().and_then(|value| value["wrong"].as_str().map(str::to_string));
        let reason = wrong.unwrap_or_else(|| format!("the page returned an invalid answer: {error}"));
        DriverError::Refused { reason }
    })
}

fn read<T: for<'d> Deserialize<'d>>(value: &Value) -> Result<T, DriverError> {
    T::deserialize(value)
        .map_err(|error| DriverError::Refused { reason: format!("the page returned an invalid answer: {error}") })
}
