//! The target of a tool: a ref from a snapshot, a description, a CSS selector, or the selector of a recording.

use serde_json::{Map, Value, json};
use trailblaze_protocol::outcome::{Delegate, Outcome};

use super::super::elements::{delegate, describing, is_unknown_line};
use super::super::row::{ParamRow, ParamType, optional};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, Need};
use crate::query::alternatives;
use crate::query::{Query, QueryTarget};
use crate::refs;
use crate::screen::{Screen, Shape};
use crate::selector::Selector;

pub const REF: ParamRow = optional(
    "ref",
    ParamType::Text,
    "The element: its ref in the last snapshot, such as e7; a description such as button \"Submit\", where part of the \
     name is enough; css=SELECTOR; or css=SELECTOR \"TEXT\".",
);
pub const SELECTOR: ParamRow =
    optional("nodeSelector", ParamType::Selector, "A selector for the element, as used in recordings.");
pub const INDEX: ParamRow = optional("index", ParamType::Integer, "Which match to use, from 0.");
pub const AIM: Need = Need { one_of: &["ref", "nodeSelector"], otherwise: "no element: pass `ref` or `nodeSelector`" };

/// The names of the parameters that identify an element.
pub struct ElementParamNames {
    pub reference: &'static str,
    pub selector: &'static str,
    pub index: &'static str,
}

/// The names that most tools use.
pub const ELEMENT: ElementParamNames = ElementParamNames { reference: "ref", selector: "nodeSelector", index: "index" };

pub enum WebTarget {
    /// A stable description, which finds the element in later runs too.
    Stable(Query),
    /// A ref, or a line that starts with one, which is only valid for the last snapshot.
    Ref(String),
}

impl WebTarget {
    pub fn of(cx: &Cx, args: &Args) -> Result<WebTarget, Stop> {
        WebTarget::under(cx, args, &ELEMENT)?.ok_or_else(|| AIM.stop())
    }

    /// Reads the target from the arguments. A recording that has both parameters uses its selector, if that is a web
    /// selector, and takes the first match.
    pub fn under(cx: &Cx, args: &Args, names: &ElementParamNames) -> Result<Option<WebTarget>, Stop> {
        let index = args.count(names.index)?.map(|index| usize::try_from(index).unwrap_or(usize::MAX));
        let has_reference = args.value(names.reference).is_some();
        let is_used = |selector: &&Value| !has_reference || Selector::is_for(selector, Shape::Web);
        if let Some(selector) = args.value(names.selector).filter(is_used) {
            return stable_query(selector).map(|query| Some(WebTarget::Stable(Query { index, ..query })));
        }
        let Some(text) = args.text(names.reference) else { return Ok(None) };
        match (reference(text), index) {
            (Some(reference), index) if !is_unknown_line(cx, text) => match index {
                None => Ok(Some(WebTarget::Ref(text.trim().to_string()))),
                Some(_) => Err(Stop::failed(format!(
                    "`{reference}` is a ref to one element; `{}` only applies to descriptions",
                    names.index
                ))),
            },
            (_, index) => Ok(Some(WebTarget::Stable(describing(names.reference, text, index)?))),
        }
    }
}

/// The ref in a text that is a ref, or a line of a snapshot that starts with one.
fn reference(text: &str) -> Option<&str> {
    let text = text.trim();
    if refs::is_of_page(text) { Some(text) } else { refs::of_line(text) }
}

pub fn stable_query(selector: &Value) -> Result<Query, Stop> {
    let selector = Selector::parse(selector).map_err(|error| Stop::failed(format!("invalid selector: {error}")))?;
    Ok(Query { what: QueryTarget::Selector(Box::new(selector)), index: None })
}

/// Delegates to the same call with a stable description of the element: the best of several, each of which currently
/// matches this element and no other. The others are kept in the structured result, for repairs.
pub async fn restate(cx: &Cx, tool: &str, reference: &str) -> Result<Outcome, Stop> {
    restate_under(cx, tool, &[("ref", "nodeSelector", reference)]).await
}

/// The same for several elements.
pub async fn restate_under(cx: &Cx, tool: &str, names: &[(&str, &str, &str)]) -> Result<Outcome, Stop> {
    // Use the authored arguments, so that templates stay templates.
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

/// Stable descriptions of an element, best first.
pub fn describe(screen: &Screen, node: u64, reference: &str) -> Result<Vec<Value>, Stop> {
    let node = screen.root.walk().find(|candidate| candidate.id == node);
    let found: Vec<Value> =
        node.map(|node| alternatives(screen, node)).unwrap_or_default().iter().map(Selector::to_json).collect();
    if found.is_empty() {
        Err(Stop::failed(format!("`{reference}` cannot be told apart from similar elements; use `tapOnPoint`")))
    } else {
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::reference;

    #[test]
    fn a_ref_is_distinguished_from_a_description() {
        for (text, expected) in [
            ("e7", Some("e7")),
            ("f3e4", Some("f3e4")),
            ("[e7] button \"Pay\" [id=pay]", Some("e7")),
            ("e", None),
            ("f3", None),
            ("e7x", None),
            ("Option1", None),
            ("element", None),
            ("button \"e7\"", None),
        ] {
            assert_eq!(reference(text), expected, "{text}");
        }
    }
}
