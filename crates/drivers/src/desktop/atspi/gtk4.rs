//! What GTK 4 says about its elements beyond what they are.

use super::walk::AccessibleNode;

/// Takes out what is no text: the name of a button is its label twice, and elements without a description have the name of their type.
pub fn clean(node: &mut AccessibleNode) {
    if let Some(name) = half_of(&node.name) {
        node.name = name.to_string();
    }
    if is_type(&node.description) {
        node.description.clear();
    }
    if is_type(&node.name) {
        node.name.clear();
    }
}

/// The half of a text that consists of the same words twice: `7` of `7 7`.
fn half_of(text: &str) -> Option<&str> {
    let (first, second) = (text.get(..text.len() / 2)?, text.get(text.len() / 2..)?);
    (!first.is_empty() && second.strip_prefix(' ') == Some(first)).then_some(first)
}

/// Whether a text is the name of a type, such as `GtkButton`.
fn is_type(text: &str) -> bool {
    let is_word = text.starts_with(|sign: char| sign.is_ascii_uppercase())
        && text.chars().all(|sign| sign.is_ascii_alphanumeric());
    is_word
        && text.chars().skip(1).any(|sign| sign.is_ascii_uppercase())
        && text.chars().any(|sign| sign.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_said_twice_is_said_once() {
        assert_eq!(half_of("7 7"), Some("7"));
        assert_eq!(half_of("√ √"), Some("√"));
        assert_eq!(half_of("Save as Save as"), Some("Save as"));
        for text in ["", " ", "7", "77", "7 8", "ab a"] {
            assert_eq!(half_of(text), None, "{text}");
        }
    }

    #[test]
    fn names_of_types_are_recognized() {
        assert!(["GtkButton", "AdwGizmo", "HistoryView"].into_iter().all(is_type));
        assert!(!["Undo", "OK", "Save As", "iPhone", ""].into_iter().any(is_type));
    }
}
