//! The properties of an element, as selectors and snapshots know them.

use trailblaze_core::screen::{Field, Props, Shape};

use super::atspi::{AccessibleNode, AtspiStates, RoleKind};

pub fn props(node: &AccessibleNode) -> Props {
    let (states, class) = (node.states, node.role.class);
    let mut props = Props::new(Shape::Compose).with(Field::Role, class);
    let mut text = |field: Field, text: &str| {
        if !text.trim().is_empty() {
            props.set(field, text);
        }
    };
    let is_field = states.has(AtspiStates::EDITABLE) && node.text.is_some() || node.is_password;
    text(Field::TestTag, &node.id);
    match &node.text {
        Some(typed) if is_field => {
            text(Field::EditableText, typed);
            text(Field::Text, &node.name);
        }
        Some(shown) if !shown.trim().is_empty() => text(Field::Text, shown),
        _ => text(Field::Text, &node.name),
    }
    if node.description != node.name {
        text(Field::ContentDescription, &node.description);
    }
    if let Some(value) = node.value {
        text(Field::Value, &number(value));
    }
    let is_clickable = is_field || matches!(node.role.kind, RoleKind::Control | RoleKind::Menu) || is_adjustable(class);
    let is_enabled = states.has(AtspiStates::SENSITIVE) || states.has(AtspiStates::ENABLED);
    props.set(Field::IsClickable, is_clickable);
    props.set(Field::IsEnabled, is_enabled || !is_clickable);
    for (field, holds) in [
        (Field::IsEditable, is_field),
        (Field::IsPassword, node.is_password),
        (Field::IsFocused, states.has(AtspiStates::FOCUSED)),
        (Field::IsSelected, states.has(AtspiStates::SELECTED)),
    ] {
        if holds {
            props.set(field, true);
        }
    }
    if let Some(is_on) = checked(node) {
        let state = match (states.has(AtspiStates::INDETERMINATE), is_on) {
            (true, _) => "Indeterminate",
            (false, true) => "On",
            (false, false) => "Off",
        };
        props.set(Field::ToggleableState, state);
        props.set(Field::IsChecked, is_on);
    }
    if let Some(state) = state(node) {
        props.set(Field::StateDescription, state);
    }
    props
}

/// Whether it is on, if it can be on or off.
fn checked(node: &AccessibleNode) -> Option<bool> {
    let is_switch = matches!(
        node.role.class,
        "Checkbox" | "RadioButton" | "Switch" | "ToggleButton" | "CheckMenuItem" | "RadioMenuItem"
    );
    let is_on = node.states.has(AtspiStates::CHECKED) || node.states.has(AtspiStates::PRESSED);
    (is_switch || node.states.has(AtspiStates::CHECKABLE)).then_some(is_on)
}

fn state(node: &AccessibleNode) -> Option<String> {
    let states = node.states;
    let is_expandable = states.has(AtspiStates::EXPANDABLE) && node.role.class != "DropdownList";
    match is_expandable {
        true if states.has(AtspiStates::EXPANDED) => Some("expanded".to_string()),
        true => Some("collapsed".to_string()),
        false => None,
    }
}

/// Ranges that a person can change.
fn is_adjustable(class: &str) -> bool {
    matches!(class, "Slider" | "Dial" | "SpinButton" | "Rating")
}

/// A number as people write it.
fn number(value: f64) -> String {
    let rounded = (value * 1000.0).round() / 1000.0;
    format!("{rounded}")
}
