//! The keyboard: typing into fields, filling them, pressing keys.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use trailblaze_core::driver::{ActionTarget, DriverError, Key};
use trailblaze_core::screen::SnapshotId;
use trailblaze_protocol::driver::Platform;

use super::act::{Actor, element};
use super::input::{BrowserInput, KeyInput};
use super::keys::Chord;
use super::look::{node_id, parts_of};

/// How long typing waits for a field to get the focus.
const FOCUSING: Duration = Duration::from_secs(5);
/// How often the focus is looked at, should the page not report that it moved.
const FOCUS_POLL: Duration = Duration::from_millis(100);

impl Actor<'_> {
    /// Types key by key into the target, or into the focused element. Text that no key types is inserted.
    pub async fn type_text(&self, target: &ActionTarget, text: &str) -> Result<(), DriverError> {
        if !matches!(target, ActionTarget::Device) {
            self.tap(target, 1).await?;
        }
        let Focus { node: focus, .. } = self.focus(target, TypedText::Keep).await?;
        if let ActionTarget::Element(found) = target {
            // The click put the caret into the middle of what is there.
            let _: Value =
                self.page.ask_about(self.budget, found.node, |id| format!("trailblaze.moveToEnd({id})")).await?;
        }
        let mut steps: Vec<Vec<BrowserInput>> = vec![Vec::new()];
        let mut count = 0;
        for sign in text.chars() {
            let Some(chord) = Chord::typing(sign) else {
                steps.push(vec![BrowserInput::Text(sign.to_string())]);
                continue;
            };
            count += 1;
            // A key is released when the next one is pressed: separate events, but only one answer to wait for per key.
            let last = steps.last_mut().expect("there is a first one");
            last.extend(chord.down().into_iter().map(BrowserInput::Key));
            steps.push(chord.up().into_iter().map(BrowserInput::Key).collect());
        }
        for step in steps {
            self.page.input(self.budget, &step).await?;
        }
        self.check_typed(target, focus, count).await
    }

    /// The focused element may disappear while a text is typed, and the rest of the text with it.
    async fn check_typed(&self, target: &ActionTarget, focus: u64, count: u64) -> Result<(), DriverError> {
        let lost = self.page.ask_about(self.budget, focus, |_| "trailblaze.lostKeys()".to_string()).await;
        match (lost, target) {
            // A frame that closed after the last key has received it.
            (Ok(0) | Err(DriverError::Refused { .. }), _) => Ok(()),
            (Ok(lost), ActionTarget::Element(_)) if lost == count => {
                Err(DriverError::Evaded { how: "no key reached it".to_string() })
            }
            (Ok(lost), _) => Err(DriverError::Refused {
                reason: format!("{lost} of {count} keys were lost: the field disappeared while the text was typed"),
            }),
            (Err(error), _) => Err(error),
        }
    }

    /// Replaces the whole text of a field: of the target, or of the focused element.
    pub async fn fill(&self, target: &ActionTarget, text: &str) -> Result<(), DriverError> {
        let ActionTarget::Element(found) = target else {
            let focus = self.focus(target, TypedText::Select).await?;
            if text.is_empty() {
                return self.delete_selected(focus.length).await;
            }
            self.insert(text).await?;
            let lost = self.took(focus.node).await?;
            return lost.map_or(Ok(()), |how| Err(DriverError::Refused { reason: how }));
        };
        let node = found.node;
        let taken: Value =
            self.page.ask_about(self.budget, node, |id| format!("trailblaze.take({id}, {})", json!(text))).await?;
        if taken.get("isGone").is_some() {
            return Err(DriverError::Evaded { how: "it was replaced when it got the focus".to_string() });
        }
        if let Some(why) = taken.get("why").and_then(Value::as_str) {
            return Err(DriverError::Refused { reason: format!("{} cannot be filled: {why}", found.summary) });
        }
        if taken.get("isSet").is_some() {
            return Ok(());
        }
        match text.is_empty() {
            true => self.keys(Chord::of("Delete").events()).await?,
            false => self.insert(text).await?,
        }
        let lost = self.took(node).await?;
        lost.map_or(Ok(()), |how| Err(DriverError::Evaded { how }))
    }

    /// Why a text is not in its field, if it is not.
    async fn took(&self, node: u64) -> Result<Option<String>, DriverError> {
        self.page.ask_about(self.budget, node, |_| "trailblaze.took()".to_string()).await
    }

    pub async fn insert(&self, text: &str) -> Result<(), DriverError> {
        self.page.input(self.budget, &[BrowserInput::Text(text.to_string())]).await
    }

    /// Clears the focused field.
    pub async fn clear(&self) -> Result<(), DriverError> {
        let focus = self.focus(&ActionTarget::Device, TypedText::Select).await?;
        self.delete_selected(focus.length).await
    }

    async fn delete_selected(&self, length: u64) -> Result<(), DriverError> {
        match length {
            // A page may react to a key in an empty field.
            0 => Ok(()),
            _ => self.keys(Chord::of("Backspace").events()).await,
        }
    }

    /// The focused element, in whichever frame. Many pages move the focus a moment after a click, so that without an element to type
    /// into, it is awaited. An error if none takes keys.
    async fn focus(&self, target: &ActionTarget, text: TypedText) -> Result<Focus, DriverError> {
        let until = match target {
            ActionTarget::Device => self.budget.until(FOCUSING),
            _ => Instant::now(),
        };
        loop {
            let version = self.page.version();
            let focus = self.focus_now(target, text).await;
            if !matches!(focus, Err(DriverError::Refused { .. })) || Instant::now() >= until {
                return focus;
            }
            let tick = until.min(Instant::now() + FOCUS_POLL);
            self.page.wait(self.budget, tick, |state| SnapshotId(state.version) != version).await?;
        }
    }

    async fn focus_now(&self, target: &ActionTarget, text: TypedText) -> Result<Focus, DriverError> {
        let expression = format!("trailblaze.focus({})", text == TypedText::Select);
        let mut number = 0;
        let mut has_looked = false;
        let answer = loop {
            let node = node_id(number, 0);
            let answer: Value = self.page.ask_about(self.budget, node, |_| expression.clone()).await?;
            let Some(owner) = answer.get("frame").and_then(Value::as_u64) else { break answer };
            match self.page.frame_held_by(number, owner) {
                Some(inner) => number = inner,
                // The frame of an element is known only after a look at the page.
                None if !has_looked => {
                    has_looked = true;
                    self.page.look(self.budget, &json!({"only": {"role": "iframe"}})).await?;
                }
                None => break answer,
            }
        };
        let Some(why) = answer.get("why").and_then(Value::as_str) else {
            let length = answer.get("length").and_then(Value::as_u64).unwrap_or(0);
            return Ok(Focus { node: node_id(number, 0), length });
        };
        if let ActionTarget::Element(found) = target {
            let is_there: bool =
                self.page.ask_about(self.budget, found.node, |id| format!("trailblaze.isThere({id})")).await?;
            if !is_there {
                return Err(DriverError::Evaded { how: "it was replaced when it was clicked".to_string() });
            }
        }
        Err(DriverError::Refused { reason: why.to_string() })
    }

    /// The number of the frame that has the focus.
    async fn focused_frame(&self) -> Result<u64, DriverError> {
        let mut number = 0;
        loop {
            let focus = |_| "trailblaze.focus(false)".to_string();
            let answer: Value = self.page.ask_about(self.budget, node_id(number, 0), focus).await?;
            let owner = answer.get("frame").and_then(Value::as_u64);
            match owner.and_then(|owner| self.page.frame_held_by(number, owner)) {
                Some(inner) => number = inner,
                None => return Ok(number),
            }
        }
    }

    /// The origin of the document that a text would be typed into.
    pub async fn origin(&self, target: &ActionTarget) -> Result<String, DriverError> {
        let frame = match target {
            ActionTarget::Element(found) => parts_of(found.node).0,
            ActionTarget::Device | ActionTarget::Point(_) => {
                // The frame of an element is known only after a look at the page.
                self.page.look(self.budget, &json!({"only": {"role": "iframe"}})).await?;
                self.focused_frame().await?
            }
        };
        let origin = r#"location.protocol === "file:" ? "file://" : self.origin"#;
        self.page.ask_about(self.budget, node_id(frame, 0), |_| origin.to_string()).await
    }

    /// Sends keys without pauses.
    async fn keys(&self, keys: impl IntoIterator<Item = KeyInput>) -> Result<(), DriverError> {
        let inputs: Vec<BrowserInput> = keys.into_iter().map(BrowserInput::Key).collect();
        self.page.input(self.budget, &inputs).await
    }

    /// Erases from the end of the focused element.
    pub async fn erase(&self, count: u32) -> Result<(), DriverError> {
        self.focus(&ActionTarget::Device, TypedText::Keep).await?;
        let backspace = Chord::of("Backspace");
        for _ in 0..count {
            self.keys(backspace.down()).await?;
            self.keys(backspace.up()).await?;
        }
        Ok(())
    }

    /// Presses keys and holds them for one frame, for pages that poll which keys are down once per frame. Waits one more
    /// frame after the release, so that they see the next press as another one.
    pub async fn press(&self, chord: &Chord, count: u32, repeats: u32) -> Result<(), DriverError> {
        for _ in 0..count {
            self.keys(chord.down()).await?;
            self.page.next_frame(self.budget).await?;
            for _ in 0..repeats {
                self.keys([chord.repeat()]).await?;
                self.page.next_frame(self.budget).await?;
            }
            self.keys(chord.up()).await?;
            self.page.next_frame(self.budget).await?;
        }
        Ok(())
    }

    pub async fn press_key(&self, key: Key) -> Result<(), DriverError> {
        let name = match key {
            Key::Enter => "Enter",
            Key::Tab => "Tab",
            Key::Escape => "Escape",
            Key::Backspace => "Backspace",
            Key::Back => return super::browse::travel(self, -1).await,
            Key::Home | Key::VolumeUp | Key::VolumeDown | Key::Power | Key::AppSwitch => {
                let action = format!("pressKey {}", key.name());
                return Err(DriverError::Unsupported { action, platform: Platform::Web });
            }
        };
        self.press(&Chord::of(name), 1, 0).await
    }

    pub async fn choose(&self, target: &ActionTarget, values: &[String]) -> Result<Value, DriverError> {
        let found = element(target)?;
        let answer: Value = self
            .page
            .ask_about(self.budget, found.node, |id| format!("trailblaze.choose({id}, {})", json!(values)))
            .await?;
        if answer.get("isGone").is_some() {
            return Err(DriverError::Evaded { how: "it was replaced".to_string() });
        }
        match answer.get("why").and_then(Value::as_str) {
            Some(why) => Err(DriverError::Refused { reason: format!("cannot choose from {}: {why}", found.summary) }),
            None => Ok(answer.get("chosen").cloned().unwrap_or_default()),
        }
    }
}

struct Focus {
    /// A node in its frame.
    node: u64,
    /// The length of its text.
    length: u64,
}

/// What happens to the existing text of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TypedText {
    Keep,
    Select,
}
