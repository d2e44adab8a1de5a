//! What a tool is aimed at: a ref of a snapshot, a description, a CSS selector, or the selector of a recording.

use serde_json::{Map, Value, json};
use trailblaze_protocol::outcome::{Delegate, Outcome, Variant};

use super::super::elements::{delegate, describing, is_unknown_line};
use super::super::row::{P, Ty, optional};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::query::alternatives;
use crate::query::{Query, What};
use crate::refs;
use crate::screen::{Screen, Shape};
use crate::selector::Selector;

pub const REF: P = optional(
    "ref",
    Ty::Text,
    "The element: its ref in the last snapshot, such as e7; a description such as button \"Submit\", where a part of the \
     name will do; css=SELECTOR; or css=SELECTOR \"TEXT\".",
);
pub const SELECTOR: P = optional("nodeSelector", Ty::Selector, "The element, as recordings name it.");
pub const INDEX: P = optional("index", Ty::Integer, "Which of several elements that match, from 0.");

/// The parameters that name an element.
pub struct Names {
    pub reference: &'static str,
    pub selector: &'static str,
    pub index: &'static str,
}

/// What most tools call them.
pub const ELEMENT: Names = Names { reference: "ref", selector: "nodeSelector", index: "index" };

pub enum Aim {
    /// Something that finds the element on another day too.
    Lasting(Query),
    /// A ref means what was last shown, and no more.
    Passing(String),
}

impl Aim {
    pub fn of(cx: &Cx, args: &Args) -> Result<Aim, Stop> {
        Aim::under(cx, args, &ELEMENT)?.ok_or_else(|| {
            let missing = vec!["ref".to_string(), "nodeSelector".to_string()];
            Stop::error(Variant::MissingRequiredArgs { missing }, "say which element: `ref` or `nodeSelector`")
        })
    }

    /// What these parameters name. A recording that kept both is followed by its selector, if that is one for the web; it
    /// takes the first match.
    pub fn under(cx: &Cx, args: &Args, names: &Names) -> Result<Option<Aim>, Stop> {
        let index = args.count(names.index)?.map(|index| usize::try_from(index).unwrap_or(usize::MAX));
        let has_reference = args.value(names.reference).is_some();
        let is_used = |selector: &&Value| !has_reference || Selector::is_for(selector, Shape::Web);
        if let Some(selector) = args.value(names.selector).filter(is_used) {
            return lasting(selector).map(|query| Some(Aim::Lasting(Query { index, ..query })));
        }
        let Some(text) = args.text(names.reference) else { return Ok(None) };
        match (reference(text), index) {
            (Some(reference), index) if !is_unknown_line(cx, text) => match index {
                None => Ok(Some(Aim::Passing(reference.to_string()))),
                Some(_) => {
                    Err(Stop::failed(format!("`{reference}` is one element; `{}` is for descriptions", names.index)))
                }
            },
            (_, index) => Ok(Some(Aim::Lasting(describing(names.reference, text, index)?))),
        }
    }
}

/// The ref that a text is, or that a line of a snapshot begins with.
fn reference(text: &str) -> Option<&str> {
    let text = text.trim();
    // In a frame it is `f1e7`.
    let own = text.strip_prefix('f').map_or(text, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let number = own.strip_prefix('e').filter(|number| !number.is_empty());
    let is_ref = number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()));
    if is_ref { Some(text) } else { refs::of_line(text) }
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

#[cfg(test)]
mod tests {
    use super::reference;

    #[test]
    fn a_ref_is_told_from_a_description() {
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
