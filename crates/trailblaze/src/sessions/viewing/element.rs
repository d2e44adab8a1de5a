//! The elements of a screen as a flat list.

use trailblaze_core::screen::{Field, Node, Screen, fold};
use trailblaze_protocol::geometry::Rect;

use super::MOST_ELEMENTS;
use crate::sessions::service::generated::ScreenElement;

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
    let options = options(node);
    let value = match options.is_empty() {
        true => node.text().filter(|_| is_field && !node.is_password()),
        false => node.props.text(Field::Value),
    };
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
        value: value.map(cut).unwrap_or_default(),
        x: left,
        y: top,
        width: right - left,
        height: bottom - top,
        is_interactive: node.is_interactive(),
        is_editable: is_field,
        is_disabled: !node.is_enabled(),
        state: state.join(" "),
        options,
    }
}

/// The options of a list on a web page. The browser shows them outside of the page, so that no picture has them.
fn options(node: &Node) -> Vec<String> {
    let listed = node.props.text(Field::Options).into_iter().flat_map(|options| options.split(" | "));
    // A long list ends with a mark.
    listed.filter(|option| !option.is_empty() && *option != "…").map(str::to_string).collect()
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
