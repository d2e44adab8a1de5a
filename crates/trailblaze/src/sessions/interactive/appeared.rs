//! Assertions for what appeared on a screen.

use std::collections::HashSet;

use serde_json::{Value, json};
use trailblaze_core::query::{Stable, stable};
use trailblaze_core::screen::{Node, Screen, fold};

/// How many assertions are proposed for one change.
const MOST: usize = 3;
/// The lengths of a text that is worth an assertion, in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=100;
/// A number with so many digits is probably another one next time.
const DIGITS: usize = 5;

/// Up to three assertions that hold after a change and did not before, the most telling first: in words, and the call. They are
/// about texts that can be found by a description that matches nothing else.
pub fn proposals(before: &Screen, after: &Screen) -> Vec<(String, Value)> {
    let known: HashSet<String> = before.root.walk().filter_map(text_of).collect();
    let mut new: Vec<(usize, String, &Node)> = Vec::new();
    for node in after.root.walk().skip(1) {
        let Some(text) = text_of(node).filter(|text| !known.contains(text) && is_lasting(text)) else { continue };
        let Some(rank) = rank(node).filter(|_| after.visible_part(node).is_some()) else { continue };
        match new.iter_mut().find(|(_, other, _)| *other == text) {
            Some(other) if other.0 > rank => *other = (rank, text, node),
            Some(_) => {}
            None => new.push((rank, text, node)),
        }
    }
    new.sort_by_key(|(rank, ..)| *rank);
    let proposal = |(_, text, node): (usize, String, &Node)| {
        let args = match stable(after, node) {
            Stable::Text(text) => json!({ "text": text }),
            Stable::Id(id) => json!({"id": id, "expectedText": text}),
            Stable::Selector(_) | Stable::Point(_) => return None,
        };
        Some((format!("\"{text}\" is shown"), json!({ "assertVisible": args })))
    };
    new.into_iter().filter_map(proposal).take(MOST).collect()
}

/// The text that an element shows, unless a person has typed it.
fn text_of(node: &Node) -> Option<String> {
    if node.is_editable() || node.is_password() {
        return None;
    }
    let text = fold(node.text().or(node.label())?);
    LENGTHS.contains(&text.chars().count()).then_some(text)
}

/// How much an element says about what happened; `None` for one that is only there to be used.
fn rank(node: &Node) -> Option<usize> {
    match node.class().unwrap_or_default() {
        "alert" | "alertdialog" | "dialog" | "status" => Some(0),
        "heading" => Some(1),
        "img" | "iframe" | "document" | "progressbar" | "timer" | "marquee" => None,
        _ if node.is_interactive() => None,
        _ => Some(2),
    }
}

/// Whether a text is likely to be the same next time: no time, no date, no long number.
fn is_lasting(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_clock = bytes
        .windows(3)
        .any(|three| three[0].is_ascii_digit() && matches!(three[1], b':' | b'-' | b'/') && three[2].is_ascii_digit());
    let longest = text.split(|sign: char| !sign.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    !is_clock && longest < DIGITS && !text.ends_with(" ago")
}

#[cfg(test)]
mod tests {
    use trailblaze_core::screen::{Field, Props, Shape, SnapshotId};
    use trailblaze_protocol::geometry::{Rect, Size};

    use super::*;

    fn element(id: u64, role: &str, text: &str) -> Node {
        let mut node = Node::new(id, Props::new(Shape::Web).with(Field::AriaRole, role).with(Field::Text, text));
        let top = i32::try_from(id).expect("a small number") * 20;
        node.bounds = Some(Rect { left: 0, top, right: 100, bottom: top + 20 });
        node
    }

    fn screen(nodes: Vec<Node>) -> Screen {
        let mut root = Node::new(0, Props::new(Shape::Web).with(Field::AriaRole, "document"));
        root.children = nodes;
        Screen {
            snapshot: SnapshotId(1),
            size: Size { width: 800, height: 600 },
            app: None,
            root,
            picture: None,
            is_moving: false,
        }
    }

    #[track_caller]
    fn check(before: Vec<Node>, after: Vec<Node>, expected: Value) {
        let proposed = proposals(&screen(before), &screen(after));
        let calls: Vec<Value> = proposed.into_iter().map(|(_, call)| call["assertVisible"].clone()).collect();
        assert_eq!(Value::from(calls), expected);
    }

    #[test]
    fn messages_come_before_headings_and_other_texts() {
        let old = || element(1, "heading", "Cart");
        let after = vec![
            old(),
            element(2, "paragraph", "Three items"),
            element(3, "heading", "Thank you"),
            element(4, "alert", "Saved"),
            element(5, "paragraph", "Come again"),
        ];
        let expected = json!([{"text": "Saved"}, {"text": "Thank you"}, {"text": "Three items"}]);
        check(vec![old()], after, expected);
    }

    #[test]
    fn nothing_is_proposed_that_was_there_or_is_not_visible() {
        let mut below = element(3, "paragraph", "Far below");
        below.bounds = Some(Rect { left: 0, top: 2000, right: 100, bottom: 2020 });
        let mut hidden = element(4, "paragraph", "Scrolled away");
        hidden.is_clipped = true;
        let same = || element(1, "paragraph", "Same");
        check(vec![same()], vec![same(), below, hidden], json!([]));
    }

    #[test]
    fn what_people_use_type_or_see_only_once_is_no_assertion() {
        let mut field = element(2, "textbox", "typed");
        field.props.set(Field::IsEditable, true);
        let mut button = element(3, "button", "Buy");
        button.props.set(Field::IsInteractive, true);
        let after = vec![
            field,
            button,
            element(4, "paragraph", "Order 8812345"),
            element(5, "paragraph", "At 12:30"),
            element(6, "paragraph", "2 minutes ago"),
            element(7, "paragraph", "{{NAME}}"),
            element(8, "paragraph", "x"),
            element(9, "paragraph", &"long ".repeat(50)),
        ];
        check(Vec::new(), after, json!([]));
    }

    #[test]
    fn a_text_is_proposed_once_and_only_if_it_can_be_found() {
        let twice = vec![element(1, "paragraph", "Twice"), element(2, "paragraph", "Twice")];
        check(Vec::new(), twice, json!([]));
        let mut outer = element(1, "status", "Saved");
        outer.children.push(element(2, "paragraph", "Saved"));
        outer.props.set(Field::ElementId, "note");
        check(Vec::new(), vec![outer], json!([{"id": "note", "expectedText": "Saved"}]));
    }
}
