//! Refs: short names by which people and models refer to elements.

use std::collections::HashMap;

use crate::screen::{Node, Shape, fold};

/// Assigns a ref to every element that a person may refer to, or, with `is_for_all`, to every element that has a place. The same tree always gets the same refs, and an element
/// keeps its ref as long as its class, text and position stay the same, regardless of changes around it.
pub fn assign(root: &mut Node, is_for_all: bool) {
    let mut taken: HashMap<String, u32> = HashMap::new();
    let mut sequence = 0;
    // A driver that tracks its elements has already assigned refs.
    let is_named = root.walk().any(|node| node.reference.is_some());
    let mut todo = vec![root];
    while let Some(node) = todo.pop() {
        let is_leaf = is_named && node.children.is_empty();
        let is_named_one = is_for_all || is_leaf || has_content_or_function(node);
        node.reference = if node.bounds.is_none() || !is_named_one {
            None
        } else if is_named {
            node.reference.take()
        } else if node.props.shape == Shape::Web {
            sequence += 1;
            Some(format!("e{sequence}"))
        } else {
            let mut reference = reference(&identity(node));
            let copies = taken.entry(reference.clone()).or_default();
            reference.push_str(&suffix(*copies));
            *copies += 1;
            Some(reference)
        };
        todo.extend(node.children.iter_mut().rev());
    }
}

/// Whether a text is a ref of an element in a page: `e7`, or in a frame `f1e7`.
pub fn is_of_page(text: &str) -> bool {
    let own = text.strip_prefix('f').map_or(text, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let number = own.strip_prefix('e').filter(|number| !number.is_empty());
    number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

/// The ref in brackets at the start of a line of a snapshot: `e7` in `[e7] button "Pay"`.
pub fn of_line(line: &str) -> Option<&str> {
    split_line(line).map(|(reference, _)| reference)
}

/// The ref at the start of a line of a snapshot, and the rest of the line.
pub fn split_line(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    // The line of an off-screen field starts with how to scroll to it.
    let line = line.strip_prefix("(scroll ").and_then(|rest| rest.split_once(") ")).map_or(line, |(_, line)| line);
    let (reference, rest) = line.strip_prefix('[')?.split_once(']')?;
    let is_ref = reference.starts_with(char::is_alphabetic) && reference.chars().all(|c| c.is_ascii_alphanumeric());
    is_ref.then_some((reference, rest.trim()))
}

fn has_content_or_function(node: &Node) -> bool {
    node.is_interactive() || node.text().is_some() || node.label().is_some() || node.developer_id().is_some()
}

fn identity(node: &Node) -> String {
    let class = node.class().unwrap_or_default();
    let label = fold(node.text().or(node.label()).unwrap_or_default());
    // Rounded, so that an element that moves by a few pixels keeps its ref.
    let (x, y) = node.bounds.map_or((0, 0), |bounds| (bounds.left / 10 * 10, bounds.top / 10 * 10));
    format!("{class}|{label}|{x},{y}")
}

fn reference(identity: &str) -> String {
    let hash = java_hash(identity).unsigned_abs();
    let letter = char::from(b'a' + (hash % 26) as u8);
    format!("{letter}{}", hash / 26 % 1000)
}

/// Java's `String.hashCode`, so that both implementations assign the same refs.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// Empty for the first, then b, c, … z, bb, bc, …
fn suffix(copies: u32) -> String {
    const LETTERS: u32 = 25;
    let mut letters = Vec::new();
    let mut rest = copies;
    while rest > 0 {
        letters.push(char::from(b'b' + ((rest - 1) % LETTERS) as u8));
        rest = (rest - 1) / LETTERS;
    }
    letters.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::screen::Field;
    use crate::selector::samples::{Build, android, any_screen, node, screen};

    fn check(root: Node, expected: &[&str]) {
        let screen = screen(root);
        let found: Vec<&str> = screen.root.walk().filter_map(|node| node.reference.as_deref()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_hash_is_that_of_java() {
        assert_eq!(java_hash("hello"), 99_162_322);
        assert_eq!(java_hash("polygenelubricants"), i32::MIN);
        assert_eq!(java_hash("😀"), 1_772_899);
        assert_eq!(reference("polygenelubricants"), "y524");
    }

    #[test]
    fn equal_elements_at_one_place_are_told_apart() {
        let button = || android("Button", "Pay").at(12, 17, 50, 20);
        let base = reference("Button|Pay|10,10");
        check(button().holding([button(), button()]), &[&base, &format!("{base}b"), &format!("{base}c")]);
        assert_eq!([24, 25, 26, 27].map(suffix), ["y", "z", "bb", "bc"]);
    }

    #[test]
    fn a_nudge_does_not_change_a_reference() {
        let base = reference("Button|Pay now|10,10");
        check(android("Button", "Pay  now").at(11, 19, 50, 20), &[&base]);
        check(android("Button", " Pay now\n").at(19, 11, 80, 30), &[&base]);
    }

    #[test]
    fn what_nobody_can_point_at_has_none() {
        check(android("FrameLayout", "").at(0, 0, 50, 50), &[]);
        check(android("Button", "Pay"), &[]);
    }

    #[test]
    fn every_element_with_a_place_has_one_on_request() {
        let mut root = android("FrameLayout", "").at(0, 0, 50, 50).holding([android("View", "")]);
        assign(&mut root, true);
        let named: Vec<bool> = root.walk().map(|node| node.reference.is_some()).collect();
        assert_eq!(named, [true, false]);
    }

    #[test]
    fn a_driver_that_names_its_elements_names_all_of_them() {
        let mut link = node(Shape::Web).with(Field::AriaName, "a").at(0, 0, 10, 10);
        link.reference = Some("e1".into());
        check(node(Shape::Web).with(Field::AriaName, "Title").at(0, 0, 400, 800).holding([link]), &["e1"]);
    }

    #[test]
    fn a_line_of_a_snapshot_begins_with_a_ref() {
        for (line, expected) in [
            ("[e12]", Some("e12")),
            (" [y778b] Button \"Pay\" [id=pay]", Some("y778b")),
            ("(scroll down to reveal) [f1e9] textbox \"Note\"", Some("f1e9")),
            ("e12", None),
            ("[id=e7]", None),
            ("[12]", None),
            ("\"[e7]\"", None),
        ] {
            assert_eq!(of_line(line), expected, "{line}");
        }
    }

    #[test]
    fn web_elements_are_counted() {
        let link = |name: &str| node(Shape::Web).with(Field::AriaName, name).at(0, 0, 10, 10);
        check(node(Shape::Web).holding([link("a").holding([link("b")]), link("c")]), &["e1", "e2", "e3"]);
    }

    proptest! {
        #[test]
        fn references_are_unique(screen in any_screen()) {
            let references: Vec<_> = screen.root.walk().filter_map(|node| node.reference.clone()).collect();
            let distinct: HashSet<_> = references.iter().collect();
            prop_assert_eq!(distinct.len(), references.len());
        }
    }
}
