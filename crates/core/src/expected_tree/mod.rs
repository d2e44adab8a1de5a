//! A screen as expected text: an indented list of roles and names, of which a screen must have each line in this order.
//!
//! ```text
//! - heading "Cart" [level=1]
//! - list:
//!   - listitem "Mug"
//!   - listitem /Tea, \d+ bags/
//! - textbox "City": Rome
//! ```

mod fit;
mod read;
mod shown;
#[cfg(test)]
mod tests;

pub use fit::TreeMismatch;
pub use read::TreeSyntaxError;

use crate::screen::Node;
use crate::selector::{Outline, Pattern};
use shown::ShownTree;

/// What a screen, or an element, must contain.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedTree {
    /// In the order of the text, parents first.
    items: Vec<ExpectedItem>,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
struct ExpectedItem {
    /// From 1.
    line: usize,
    /// As it is written, without indentation.
    written: String,
    depth: usize,
    /// The item after the last one beneath this one.
    end: usize,
    role: Option<String>,
    name: Option<ExpectedWords>,
    /// The text after the colon.
    text: Option<ExpectedWords>,
    /// Marks of a snapshot, without brackets.
    marks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum ExpectedWords {
    /// The whole text, with whitespace collapsed.
    Is(String),
    /// An expression for the whole text.
    Matches(Pattern),
}

impl ExpectedTree {
    /// Reads the text. The first mistake is reported with its line and column.
    pub fn parse(text: &str) -> Result<ExpectedTree, TreeSyntaxError> {
        read::read(text).map(|items| ExpectedTree { items })
    }

    /// Compares it with an element and what is in it.
    pub fn compare(&self, root: &Node) -> Result<(), TreeMismatch> {
        let outline = Outline::new(root);
        fit::compare(&self.items, &ShownTree::new(&outline))
    }

    /// How many lines it has.
    pub fn n_lines(&self) -> usize {
        self.items.len()
    }
}

/// The text that expects an element as it is now, and what is in it.
pub fn expected_of(root: &Node) -> String {
    ShownTree::new(&Outline::new(root)).text()
}
