//! The element of a check: by its text, its id, a ref or a selector.

use serde_json::{Value, json};
use trailblaze_protocol::outcome::Outcome;

use super::super::arguments::element;
use super::super::elements::{by_selector, delegate, describing, find_stable, index, is_plain_ref};
use super::super::row::{ParamRow, ParamType, optional};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, Need};
use crate::query::{Query, Stable, alternatives};
use crate::screen::Screen;

pub const TEXT: ParamRow = optional("text", ParamType::Text, "The element's whole text or label.");
pub const ID: ParamRow = optional("id", ParamType::Text, "The element's id.");
pub const REF: ParamRow =
    optional("ref", ParamType::Text, "The element's ref in the last snapshot, or its description there.");
pub const SELECTOR: ParamRow =
    optional("nodeSelector", ParamType::Selector, "A selector for the element, as used in recordings.");
pub const INDEX: ParamRow = optional("index", ParamType::Integer, "Which match to use, from 0.");
pub const ELEMENT: Need = Need {
    one_of: &["text", "id", "ref", "nodeSelector"],
    otherwise: "no element: pass `text`, `id`, `ref` or `nodeSelector`",
};

pub enum CheckTarget {
    /// A description that finds the element in later runs too.
    Stable(Query),
    /// A ref, which is only valid for the last snapshot.
    Ref(String),
}

impl CheckTarget {
    pub fn of(cx: &Cx, args: &Args) -> Result<CheckTarget, Stop> {
        CheckTarget::optional(cx, args)?.ok_or_else(|| ELEMENT.stop())
    }

    /// The same for a check that may be about the whole screen.
    pub fn optional(cx: &Cx, args: &Args) -> Result<Option<CheckTarget>, Stop> {
        let (text, id, reference) = (args.text("text"), args.text("id"), args.text("ref"));
        let has_selector = args.value("nodeSelector").is_some();
        let index = index(args)?;
        if [text.is_some() || id.is_some(), reference.is_some(), has_selector].into_iter().filter(|is| *is).count() > 1
        {
            return Err(Stop::failed("pass only one of: `text` and `id`; `ref`; `nodeSelector`"));
        }
        if let Some(reference) = reference {
            return match (is_plain_ref(cx, reference), index) {
                (true, None) => Ok(Some(CheckTarget::Ref(reference.to_string()))),
                (true, Some(_)) => Err(Stop::failed(format!(
                    "`{reference}` is a ref to one element; `index` only applies to descriptions"
                ))),
                (false, _) => describing("ref", reference, index).map(|query| Some(CheckTarget::Stable(query))),
            };
        }
        let query = match (text, id) {
            (None, None) if has_selector => by_selector(args)?,
            (None, None) => return Ok(None),
            (text, id) => element(text, id),
        };
        Ok(Some(CheckTarget::Stable(Query { index, ..query })))
    }
}

/// Delegates to the same call with a description of the element that holds in later runs. A check of a text must not find its
/// element by that text: it would say nothing, or fail as soon as the text is another one.
pub async fn restate(cx: &Cx, tool: &str, reference: &str, is_about_text: bool) -> Result<Outcome, Stop> {
    let (screen, node) = cx.session.device.resolve_ref(cx, reference).await?;
    let mut args = cx.authored();
    args.shift_remove("ref");
    let (name, value) = describe(&screen, node, is_about_text)?.ok_or_else(|| {
        let without = if is_about_text { " without its text" } else { "" };
        Stop::failed(format!(
            "`{reference}` cannot be told apart from similar elements{without}; pass its `id` or a `nodeSelector`"
        ))
    })?;
    args.insert(name.to_string(), value);
    let mut delegate = delegate(tool, json!({}));
    delegate.args = args;
    Ok(Outcome::delegating(vec![delegate]))
}

fn describe(screen: &Screen, node: u64, is_about_text: bool) -> Result<Option<(&'static str, Value)>, Stop> {
    let found = find_stable(screen, node)?;
    let found = if is_about_text { found } else { found.asserted(screen, node) };
    let Some(node) = screen.root.walk().find(|candidate| candidate.id == node) else { return Ok(None) };
    Ok(match found {
        Stable::Id(id) => Some(("id", id.into())),
        Stable::Text(text) if !is_about_text => Some(("text", text.into())),
        Stable::Selector(selector) if !is_about_text => Some(("nodeSelector", selector.to_json())),
        Stable::Text(_) | Stable::Selector(_) => {
            let text = node.text().unwrap_or_default();
            let written = |value: &Value| value.to_string();
            let own = written(&text.into());
            let is_free_of_text =
                |selector: &Value| text.is_empty() || !written(selector).contains(own.trim_matches('"'));
            let selectors = alternatives(screen, node);
            selectors
                .iter()
                .map(crate::selector::Selector::to_json)
                .find(is_free_of_text)
                .map(|json| ("nodeSelector", json))
        }
        Stable::Point(_) => None,
    })
}
