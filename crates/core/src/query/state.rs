//! The state of an element: what a person sees that is not its text.

use super::search::{bearer, is_enabled};
use crate::screen::{Node, Screen};
use crate::selector::Outline;

/// The state of an element, as its platform reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementState {
    pub is_enabled: bool,
    /// `None` if the element cannot be checked.
    pub is_checked: Option<bool>,
    pub is_selected: bool,
    pub is_focused: bool,
}

/// The state of a node of a screen. The label in a button is as enabled, checked and selected as the button.
pub fn element_state(screen: &Screen, node: u64) -> Option<ElementState> {
    let outline = Outline::new(&screen.root);
    let place = outline.find(node)?;
    let (node, bearer) = (outline.node(place), bearer(&outline, place));
    let either = |has: fn(&Node) -> bool| has(node) || has(bearer);
    Some(ElementState {
        is_enabled: is_enabled(&outline, place),
        is_checked: node.is_checked().or_else(|| bearer.is_checked()),
        is_selected: either(Node::is_selected),
        is_focused: either(Node::is_focused),
    })
}
