//! Looks into all frames of a page, and acts on elements in them. Each document is read by its own walker; the contents
//! of a frame are placed where its parent shows the frame.

use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use serde::Deserialize;
use serde_json::Value;
use trailblaze_core::driver::{Budget, DriverError};

use super::backend::{ExecutionWorld, FrameId, Realm};
use super::look::{Contact, ElementUse, Ready, WalkerAnswer, parts_of};
use super::page::Page;
use super::scripts;
use super::state::Frame;

/// How deep frames may be nested.
const DEPTH: usize = 8;

impl Page {
    /// One look at the page and its frames. `want` is the request to the walker.
    pub async fn look(&self, budget: &Budget, want: &Value) -> Result<WalkerAnswer, DriverError> {
        self.look_with(budget, "look", want).await
    }

    /// Like [`Page::look`], for elements that may match. If there is just one, it is made ready to be touched.
    pub async fn look_for(&self, budget: &Budget, want: &Value) -> Result<WalkerAnswer, DriverError> {
        self.look_with(budget, "find", want).await
    }

    async fn look_with(&self, budget: &Budget, how: &str, want: &Value) -> Result<WalkerAnswer, DriverError> {
        let expression = format!("trailblaze.{how}({want})");
        let mut seen = loop {
            let realm = self.main_realm(budget).await?;
            match self.look_in(budget, &realm, &expression).await? {
                Some(seen) => break seen,
                None => self.settle(budget).await?,
            }
        };
        self.look_into_frames(budget, &mut seen, want).await?;
        Ok(seen)
    }

    /// What the walker of one document sees; `None` if the document is gone. Opens closed shadow roots for it.
    async fn look_in(
        &self,
        budget: &Budget,
        realm: &Realm,
        expression: &str,
    ) -> Result<Option<WalkerAnswer>, DriverError> {
        loop {
            let Some(answer) = self.ask_in(budget, realm, expression).await? else { return Ok(None) };
            let seen = parse(&answer)?;
            if seen.shut.is_empty() || self.open_roots(budget, realm, &seen.shut).await == 0 {
                return Ok(Some(seen));
            }
        }
    }

    /// Passes closed shadow roots to the walker, which cannot access them itself. Returns how many there were.
    async fn open_roots(&self, budget: &Budget, realm: &Realm, hosts: &[u64]) -> usize {
        let opened = join_all(hosts.iter().map(|host| self.open_root(budget, realm, *host))).await;
        opened.into_iter().filter(|is_opened| *is_opened).count()
    }

    /// Adds what the frames of the front document contain.
    pub async fn look_into_frames(
        &self,
        budget: &Budget,
        seen: &mut WalkerAnswer,
        want: &Value,
    ) -> Result<(), DriverError> {
        if !seen.has_frames() {
            return Ok(());
        }
        let main = self.shared.state().front().map(|tab| tab.main_frame.clone()).unwrap_or_default();
        self.fill(budget, main, seen, want, 0).await
    }

    fn fill<'a>(
        &'a self,
        budget: &'a Budget,
        frame: FrameId,
        seen: &'a mut WalkerAnswer,
        want: &'a Value,
        depth: usize,
    ) -> BoxFuture<'a, Result<(), DriverError>> {
        Box::pin(async move {
            let children: Vec<(FrameId, Frame)> = {
                let state = self.shared.state();
                let tab = state.front();
                let children = tab.into_iter().flat_map(|tab| &tab.frames);
                let is_child = |(_, child): &(&FrameId, &Frame)| child.parent.as_deref() == Some(&frame);
                children.filter(is_child).map(|(id, child)| (id.clone(), child.clone())).collect()
            };
            let Some(parent) = self.realm_of(&frame) else { return Ok(()) };
            let looks = children.into_iter().map(|(id, child)| {
                let parent = parent.clone();
                async move {
                    let owner = self.owner_of(budget, &id, &child, &parent).await?;
                    let realm = self.realm_in(budget, &id).await?;
                    let looked = self.look_in(budget, &realm, &format!("trailblaze.look({want})")).await;
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

    /// The realms of all documents of all tabs.
    pub fn realms(&self) -> Vec<Realm> {
        let state = self.shared.state();
        let frames = state.tabs.iter().flat_map(|tab| tab.frames.values());
        frames.filter_map(|frame| frame.realm.clone()).collect()
    }

    fn realm_of(&self, frame: &str) -> Option<Realm> {
        self.shared.state().front()?.frames.get(frame)?.realm.clone()
    }

    /// Our world in a document of the front tab, by the number of its frame.
    pub fn realm_numbered(&self, number: u64) -> Option<Realm> {
        self.shared.state().front()?.numbered(number)?.realm.clone()
    }

    /// The walker's realm in a frame. A document written by a script does not have one yet.
    async fn realm_in(&self, budget: &Budget, frame: &str) -> Option<Realm> {
        if let Some(realm) = self.realm_of(frame) {
            return Some(realm);
        }
        let realm = self.make_realm(budget, frame).await?;
        self.ask_in(budget, &realm, &scripts::walker(ExecutionWorld::Isolated)).await.ok()??;
        if self.shared.state().person.is_some() {
            self.ask_in(budget, &realm, "trailblaze.record()").await.ok()??;
        }
        Some(realm)
    }

    /// The id of the element that contains a frame, in its parent's walker.
    pub(super) async fn owner_of(&self, budget: &Budget, id: &str, frame: &Frame, parent: &Realm) -> Option<u64> {
        if frame.owner.is_some() {
            return frame.owner;
        }
        let owner = self.backend.frame_owner(id, parent, "(element) => trailblaze.idOf(element)");
        let number = self.call(budget, "a frame", owner).await.ok()?.as_u64()?;
        self.shared.bump(|state| {
            let front = state.front.clone();
            if let Some(frame) = state.tab_mut(&front).and_then(|tab| tab.frames.get_mut(id)) {
                frame.owner = Some(number);
            }
        });
        Some(number)
    }

    /// Makes an element, and every frame around it, ready for its use.
    pub async fn ready(&self, budget: &Budget, node: u64, needed: ElementUse) -> Result<Ready, DriverError> {
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
    async fn climb(
        &self,
        budget: &Budget,
        number: u64,
        mut ready: Ready,
        needed: ElementUse,
    ) -> Result<Ready, DriverError> {
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

    /// The frame that an element contains. Frames of a page in the back-forward cache have no realm.
    pub fn frame_held_by(&self, number: u64, owner: u64) -> Option<u64> {
        let state = self.shared.state();
        let tab = state.front()?;
        let is_held = |frame: &&Frame| {
            let parent = frame.parent.as_ref().and_then(|parent| tab.frames.get(parent));
            frame.owner == Some(owner) && frame.realm.is_some() && parent.is_some_and(|parent| parent.number == number)
        };
        tab.frames.values().find(is_held).map(|frame| frame.number)
    }

    async fn ask_frame<T: for<'d> Deserialize<'d>>(
        &self,
        budget: &Budget,
        number: u64,
        expression: &str,
    ) -> Result<Option<T>, DriverError> {
        let Some(realm) = self.realm_numbered(number) else { return Ok(None) };
        self.ask_in(budget, &realm, expression).await?.map(|value| read(&value)).transpose()
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

    /// Sets the files of a file field; `Refused` if it is none.
    pub async fn set_files(&self, budget: &Budget, node: u64, files: &[String]) -> Result<(), DriverError> {
        let (number, element) = parts_of(node);
        let realm = self.realm_numbered(number);
        let realm = realm.ok_or_else(|| DriverError::Refused { reason: "its page is gone".to_string() })?;
        let element = format!("trailblaze.elementOf({element})");
        self.call(budget, "the files", self.backend.set_files(&realm, &element, files)).await
    }
}

fn gone() -> Ready {
    Ready { id: None, why: Some("gone".to_string()), by: String::new(), x: 0.0, y: 0.0, b: None, is_scrolled: false }
}

fn parse(answer: &Value) -> Result<WalkerAnswer, DriverError> {
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
