//! Selectors: how recordings identify elements.

mod emit;
mod native;
mod outline;
mod parse;
mod pattern;
mod resolve;
#[cfg(test)]
pub(crate) mod samples;
mod schema;

pub use native::{NativeCondition, NativeLanguage};
pub(crate) use outline::Outline;
pub use parse::SelectorError;
pub(crate) use pattern::Patience;
pub use pattern::{Case, Pattern, invalid_pattern};
pub use schema::json_schema;

use crate::screen::{Field, Shape};

/// A selector, as in trail files. All given conditions must match.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selector {
    pub matcher: Option<Match>,
    /// A condition that the device evaluates.
    pub native: Option<NativeCondition>,
    pub below: Option<Box<Selector>>,
    pub above: Option<Box<Selector>>,
    pub left_of: Option<Box<Selector>>,
    pub right_of: Option<Box<Selector>>,
    /// The element is a descendant of a match of this selector.
    pub child_of: Option<Box<Selector>>,
    /// One of its direct children matches this selector.
    pub contains_child: Option<Box<Selector>>,
    /// Each of these selectors matches a descendant.
    pub contains_descendants: Vec<Selector>,
    /// Which of several matches, from 0 in reading order.
    pub index: Option<usize>,
}

/// Conditions for the element itself, in the properties of one platform.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    pub shape: Shape,
    pub wants: Vec<(Field, FieldMatch)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FieldMatch {
    /// `<name>Regex`.
    Pattern(Pattern),
    /// `<name>`: the exact text.
    Exact(String),
    Flag(bool),
    Number(i64),
}

impl Selector {
    /// The source of a pattern, in it or in a selector nested in it, that is not a valid regular expression.
    pub fn invalid_pattern(&self) -> Option<&str> {
        let own = self.matcher.iter().flat_map(|matcher| &matcher.wants).find_map(|(_, want)| match want {
            FieldMatch::Pattern(pattern) if pattern.is_invalid() => Some(pattern.source()),
            _ => None,
        });
        let mut nested = self.relations().into_iter().flatten().chain(&self.contains_descendants);
        own.or_else(|| nested.find_map(Selector::invalid_pattern))
    }

    /// Changes every text to search for, and the source of every pattern.
    pub(crate) fn for_each_text(&mut self, change: &impl Fn(&mut String), pattern: &impl Fn(&str) -> String) {
        let Selector {
            matcher,
            native,
            below,
            above,
            left_of,
            right_of,
            child_of,
            contains_child,
            contains_descendants,
            index: _,
        } = self;
        for (_, want) in matcher.iter_mut().flat_map(|matcher| &mut matcher.wants) {
            match want {
                FieldMatch::Exact(text) => change(text),
                FieldMatch::Pattern(old) => *old = old.with_source(pattern(old.source())),
                FieldMatch::Flag(_) | FieldMatch::Number(_) => {}
            }
        }
        native.iter_mut().for_each(|condition| change(&mut condition.text));
        let others = [below, above, left_of, right_of, child_of, contains_child].into_iter().flatten();
        others.map(AsMut::as_mut).chain(contains_descendants).for_each(|other| other.for_each_text(change, pattern));
    }
}
