//! What a tool is aimed at: a ref of a snapshot, a description, a CSS selector, or the selector of a recording.

use serde_json::{Map, Value, json};
use trailblaze_protocol::outcome::{Delegate, Outcome, Variant};

use super::super::elements::delegate;
use super::super::row::{P, Ty, optional};
use crate::cx::Cx;
use crate::fault::Stop;
use crate::query::{Query, What};
use crate::screen::{Screen, Shape};
use crate::selector::{Selector, alternatives};
use crate::tool::Args;

pub const REF: P = optional(
    "ref",
    Ty::Text,
    "The element: its ref in the last snapshot, such as e7; or a description such as button \"Submit\"; or css=SELECTOR.",
);
pub const SELECTOR: P = optional("nodeSelector", Ty::Selector, "The element, as recordings name it.");

pub enum Aim {
    /// Something that finds the element on another day too.
    Lasting(Query),
    /// A ref means what was last shown, and no more.
    Passing(String),
}

impl Aim {
    pub fn of(args: &Args) -> Result<Aim, Stop> {
        Aim::under(args, "ref", "nodeSelector")?.ok_or_else(|| {
            let missing = vec!["ref".to_string(), "nodeSelector".to_string()];
            Stop::error(Variant::MissingRequiredArgs { missing }, "say which element: `ref` or `nodeSelector`")
        })
    }

    /// What these parameters name. A recording that kept both is followed by its selector, if that is one for the web.
    pub fn under(args: &Args, reference: &str, selector: &str) -> Result<Option<Aim>, Stop> {
        let has_reference = args.value(reference).is_some();
        let is_used = |selector: &&Value| !has_reference || Selector::is_for(selector, Shape::Web);
        if let Some(selector) = args.value(selector).filter(is_used) {
            return lasting(selector).map(|query| Some(Aim::Lasting(query)));
        }
        let Some(reference) = args.text(reference).map(str::trim) else { return Ok(None) };
        if let Some(css) = reference.strip_prefix("css=") {
            return lasting(&json!({"web": {"cssSelector": css}})).map(|query| Some(Aim::Lasting(query)));
        }
        let is_ref = |text: &str| text.chars().all(|sign| sign.is_ascii_alphanumeric());
        let bare = reference.trim_matches(['[', ']']);
        if is_ref(bare) && bare.chars().any(|sign| sign.is_ascii_digit()) {
            return Ok(Some(Aim::Passing(bare.to_string())));
        }
        lasting(&json!({"web": {"ariaDescriptor": reference}})).map(|query| Some(Aim::Lasting(query)))
    }
}

pub fn lasting(selector: &Value) -> Result<Query, Stop> {
    let selector =
        Selector::parse(selector).map_err(|error| Stop::failed(format!("the selector makes no sense: {error}")))?;
    Ok(Query { what: What::Selector(Box::new(selector)), index: None })
}

/// The same call with what will find the element on another day: the best of several descriptions, each of which fits it
/// and nothing else now. The others are kept in the answer, for repair.
pub async fn restate(cx: &Cx, tool: &str, reference: &str) -> Result<Outcome, Stop> {
    restate_under(cx, tool, &[("ref", "nodeSelector", reference)]).await
}

/// The same where several elements are named.
pub async fn restate_under(cx: &Cx, tool: &str, names: &[(&str, &str, &str)]) -> Result<Outcome, Stop> {
    // Templates stay templates.
    let mut stated = cx.authored();
    let mut others = Map::new();
    for (parameter, selector, reference) in names {
        let (screen, node) = cx.session.device.resolve_ref(cx, reference).await?;
        let mut found = describe(&screen, node, reference)?.into_iter();
        stated.shift_remove(*parameter);
        stated.insert((*selector).to_string(), found.next().unwrap_or_default());
        others.insert((*selector).to_string(), found.collect());
    }
    let delegate = Delegate { args: stated, ..delegate(tool, json!({})) };
    let structured = Some(json!({"alternatives": others}));
    Ok(Outcome { structured, ..Outcome::delegating(vec![delegate]) })
}

/// Ways to name an element, the best first.
pub fn describe(screen: &Screen, node: u64, reference: &str) -> Result<Vec<Value>, Stop> {
    let node = screen.root.walk().find(|candidate| candidate.id == node);
    let found: Vec<Value> =
        node.map(|node| alternatives(screen, node)).unwrap_or_default().iter().map(Selector::to_json).collect();
    match found.is_empty() {
        true => Err(Stop::failed(format!("nothing tells `{reference}` from its likes; use `tapOnPoint`"))),
        false => Ok(found),
    }
}
