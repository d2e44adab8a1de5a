//! Selectors: how a recording names an element so that it is found again.

/// A selector in the grammar of trail files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selector {}
