//! The elements of a screen as a flat list.

use trailblaze_core::screen::{Node, Screen, fold};
use trailblaze_protocol::geometry::Rect;

use super::MOST_ELEMENTS;
use crate::sessions::service::studio::ScreenElement;

/// The longest text of an element that is listed, in characters.
const LONGEST: usize = 500;

/// The elements in the order of the tree, and how many were left out.
pub fn list(screen: &Screen) -> (Vec<ScreenElement>, usize) {
    let mut elements = Vec::new();
    let mut n_all = 0;
    let mut todo: Vec<(&Node, i32)> = vec![(&screen.root, -1)];
    // In the order of `Node::walk`, so that the place in the list finds the node again.
    while let Some((node, parent)) = todo.pop() {
        let place = i32::try_from(n_all).unwrap_or(i32::MAX);
        n_all += 1;
        if n_all <= MOST_ELEMENTS {
            elements.push(element(screen, node, place, parent));
        }
        todo.extend(node.children.iter().rev().map(|child| (child, place)));
    }
    (elements, n_all.saturating_sub(MOST_ELEMENTS))
}

fn element(screen: &Screen, node: &Node, index: i32, parent: i32) -> ScreenElement {
    let Rect { left, top, right, bottom } =
        screen.visible_part(node).unwrap_or(Rect { left: 0, top: 0, right: 0, bottom: 0 });
    let is_field = node.is_editable();
    let name = name(node).map(|name| cut(&name)).unwrap_or_default();
    let value = node.text().filter(|_| is_field && !node.is_password()).map(cut).unwrap_or_default();
    let state = [
        (node.is_checked() == Some(true), "checked"),
        (node.is_selected(), "selected"),
        (node.is_focused(), "focused"),
        (node.is_password(), "password"),
    ];
    let state: Vec<&str> = state.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word).collect();
    ScreenElement {
        index,
        parent,
        role: node.class().unwrap_or_default().to_string(),
        name,
        id: node.short_id().unwrap_or_default().to_string(),
        value,
        x: left,
        y: top,
        width: right - left,
        height: bottom - top,
        is_interactive: node.is_interactive(),
        is_editable: is_field,
        is_disabled: !node.is_enabled(),
        state: state.join(" "),
    }
}

/// What people call an element: fields by their label, others by their text.
pub fn name(node: &Node) -> Option<String> {
    let text = node.text().filter(|_| !node.is_password());
    let words = if node.is_editable() { node.label() } else { node.label().or(text) };
    words.map(fold).filter(|words| !words.is_empty())
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
