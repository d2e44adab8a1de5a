//! Healing: by what an element is recognized after the app has changed, and what can replace a call that did not find it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{CallId, StepId};

/// The properties by which an element is recognized later. Typed values are left out, and in the texts near it numbers
/// are `#`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ElementIdentity {
    /// What can be done with it.
    pub kind: ElementKind,
    /// Its role or class, as its platform calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The id that its developer assigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its text or label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many elements of its kind had the same name. Absent if it was the only one.
    #[serde(skip_serializing_if = "is_one")]
    pub alike: usize,
    /// What it is about, closest first: the other texts in it, the text before it, those of its container, and those before
    /// it in the containers around that, up to its dialog, list item, card, frame or page. Absent in older recordings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<Vec<Vec<String>>>,
    /// The origin of the frame that it is in, if that is not the page's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// The name of the list item or table row that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// The containers that have an id or a name, closest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<String>,
    /// The texts before and after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<String>,
    /// Other elements of its kind on the screen, closest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

fn is_one(count: &usize) -> bool {
    *count <= 1
}

/// What can be done with an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ElementKind {
    /// It reacts to a touch.
    Press,
    /// Text can be typed into it.
    Field,
    /// It is on or off.
    Toggle,
    /// One of several options can be selected in it.
    Choice,
    /// None of these.
    #[default]
    Plain,
}

/// A call that could replace one that did not find its element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HealSuggestion {
    /// The call, as `{tool: args}`.
    pub call: Value,
    /// The element that it acts on, for people to read.
    pub element: String,
    /// Why it may be the element that was meant.
    pub reason: String,
    /// How well it fits, from 0 to 100. Absent if a model chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u8>,
    /// Whether a model chose it. Absent (false) if it was found from recorded properties.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_by_model: bool,
    /// By what the element is recognized from now on.
    pub identity: Box<ElementIdentity>,
}

/// A recorded call did not find its element, and healing searched for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HealSought {
    /// The step that made the call.
    pub step: StepId,
    /// The call that failed.
    pub call: CallId,
    /// The position of the call in its step, from 0.
    pub index: usize,
    /// The call as written in the trail, as `{tool: args}`.
    pub written: Value,
    /// A hash of the texts and calls of the trail's steps, in hexadecimal. Absent in older runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fingerprint: String,
    /// What could replace it, best first; at most five.
    pub suggestions: Vec<HealSuggestion>,
    /// Whether the first suggestion fits clearly enough to be used.
    pub is_clear: bool,
    /// Why no suggestion is used. Empty if the first one is.
    pub message: String,
}

/// A call that was made instead of one that did not find its element, at the end of its step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HealTried {
    /// The step that made the call.
    pub step: StepId,
    /// The call that failed.
    pub failed: CallId,
    /// The call that was made instead.
    pub call: CallId,
    /// Whether the step ended as it was recorded. If not, the step fails as if nothing had been tried.
    pub is_kept: bool,
    /// Why it is not kept. Empty if it is.
    pub message: String,
}
