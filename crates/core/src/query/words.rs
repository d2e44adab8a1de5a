//! Formats queries and their results for messages.

use std::fmt;

use super::{ElementProperties, Query, QueryTarget, Reason, TextMatch, WhyNot};
use crate::screen::{Field, Shape};
use crate::selector::{FieldMatch, Selector};

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(f)?;
        match self.index {
            Some(index) if index > 0 => write!(f, " at index {index}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for QueryTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryTarget::Element(element) => element.fmt(f),
            QueryTarget::Selector(selector) => match described(selector) {
                Some(words) => f.write_str(&words),
                None => write!(f, "selector {}", selector.to_json()),
            },
            QueryTarget::Described(description) => description.fmt(f),
            QueryTarget::Reference(reference) => write!(f, "ref {reference}"),
            QueryTarget::Node(id) => write!(f, "node {id}"),
        }
    }
}

/// The short form of a simple selector: `button "Pay"` or `css=#pay`.
fn described(selector: &Selector) -> Option<String> {
    let matcher = selector.matcher.as_ref().filter(|matcher| matcher.shape == Shape::Web)?;
    if *selector != (Selector { matcher: Some(matcher.clone()), ..Selector::default() }) {
        return None;
    }
    match matcher.wants.as_slice() {
        [(Field::AriaDescriptor, FieldMatch::Exact(words))] => Some(words.clone()),
        [(Field::CssSelector, FieldMatch::Exact(css))] => Some(format!("css={css}")),
        [(Field::AriaRole, FieldMatch::Exact(role)), (Field::AriaName, FieldMatch::Exact(name))]
        | [(Field::AriaName, FieldMatch::Exact(name)), (Field::AriaRole, FieldMatch::Exact(role))] => {
            Some(format!("{role} \"{name}\""))
        }
        _ => None,
    }
}

impl fmt::Display for ElementProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.as_ref().map(|text| match text {
            TextMatch::Exact(text) => format!("text \"{text}\""),
            TextMatch::Contains(text) => format!("text containing \"{text}\""),
            TextMatch::Pattern(source) => format!("text matching \"{source}\""),
        });
        let id = self.id.as_ref().map(|id| format!("id \"{id}\""));
        let state = |is: Option<bool>, word: &str| is.map(|is| format!("state {}{word}", if is { "" } else { "not " }));
        let parts = [text, id, state(self.enabled, "enabled"), state(self.selected, "selected")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(if parts.is_empty() { "any element" } else { "" })?;
        f.write_str(&parts.join(" and "))
    }
}

impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.reason, &self.asked.what) {
            (Reason::NoMatch { near }, QueryTarget::Element(element)) if *element != ElementProperties::default() => {
                write!(f, "nothing on the screen has the {element}")?;
                write_near(f, near)
            }
            (Reason::NoMatch { near }, what) => {
                write!(f, "nothing on the screen matches {what}")?;
                write_near(f, near)
            }
            (Reason::Several { candidates, count }, what) => {
                write!(f, "several elements match {what}: ")?;
                write_candidates(f, candidates, *count)
            }
            (Reason::OutOfRange { index, count }, what) => {
                write!(f, "index {index} is out of range: {count} match {what}")
            }
            (reason, _) => reason.fmt(f),
        }
    }
}

/// Without the query, for callers that know it.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoMatch { near } => {
                f.write_str("nothing on the screen matches")?;
                write_near(f, near)
            }
            Reason::Several { candidates, count } => {
                f.write_str("several elements match: ")?;
                write_candidates(f, candidates, *count)
            }
            Reason::OutOfRange { index, count } => write!(f, "index {index} is out of range: {count} match"),
            Reason::Offscreen { element } => {
                write!(f, "{element} exists, but is not on the visible part of the screen")
            }
            Reason::Hidden { element, how } => write!(f, "{element} exists, but is hidden: {how}"),
            Reason::Disabled { element } => write!(f, "{element} is disabled"),
            Reason::Covered { element, by } => write!(f, "{element} is covered by {by}"),
            Reason::Restless { element } => write!(f, "{element} keeps moving"),
            Reason::StaleReference { reference } => {
                write!(f, "ref {reference} is no longer on the screen; take a new snapshot")
            }
        }
    }
}

fn write_candidates(f: &mut fmt::Formatter<'_>, candidates: &[String], count: usize) -> fmt::Result {
    let told: Vec<String> = candidates.iter().enumerate().map(|(index, told)| format!("{index}: {told}")).collect();
    f.write_str(&told.join(", "))?;
    if count > candidates.len() {
        write!(f, " and {} more", count - candidates.len())?;
    }
    f.write_str("; choose one with `index`")
}

fn write_near(f: &mut fmt::Formatter<'_>, near: &[String]) -> fmt::Result {
    match near {
        [] => Ok(()),
        [one] => write!(f, "; the nearest is {one}"),
        several => write!(f, "; the nearest are {}", several.join(", ")),
    }
}
