//! Selectors: how a recording names an element so that it is found again.

mod emit;
mod outline;
mod parse;
mod pattern;
mod resolve;
#[cfg(test)]
pub(crate) mod samples;
mod schema;

pub(crate) use outline::Outline;
pub use parse::SelectorError;
pub(crate) use pattern::Patience;
pub use pattern::{Case, Pattern};
pub use schema::json_schema;

use crate::screen::{Field, Shape};

/// A selector in the grammar of trail files. All that is given must hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selector {
    pub matcher: Option<Match>,
    pub below: Option<Box<Selector>>,
    pub above: Option<Box<Selector>>,
    pub left_of: Option<Box<Selector>>,
    pub right_of: Option<Box<Selector>>,
    /// Somewhere beneath an element that this one matches.
    pub child_of: Option<Box<Selector>>,
    /// One of its direct children matches.
    pub contains_child: Option<Box<Selector>>,
    /// Each of these matches something beneath it.
    pub contains_descendants: Vec<Selector>,
    /// Which of several, from 0 in reading order.
    pub index: Option<usize>,
}

/// What the element itself must be like, in the words of one platform.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    pub shape: Shape,
    pub wants: Vec<(Field, Want)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Want {
    /// `<name>Regex`.
    Pattern(Pattern),
    /// `<name>`: the very text.
    Exact(String),
    Flag(bool),
    Number(i64),
}
