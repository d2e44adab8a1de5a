//! The elements of a screen, as a list.

use crate::types::{Element, ScreenState};

impl ScreenState {
    /// All elements of the screen, each before its children.
    pub fn elements(&self) -> Vec<&Element> {
        let mut all = Vec::new();
        // What is left to visit, the next one last.
        let mut left: Vec<&Element> = self.root.iter().collect();
        while let Some(element) = left.pop() {
            all.push(element);
            left.extend(element.children.iter().rev());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_element_comes_before_its_children() {
        let named =
            |role: &str, children: Vec<Element>| Element { role: role.to_string(), children, ..Element::default() };
        let root = named("window", vec![named("list", vec![named("text", vec![])]), named("button", vec![])]);
        let screen = ScreenState { root: Some(root), ..ScreenState::default() };
        let roles: Vec<&str> = screen.elements().iter().map(|element| element.role.as_str()).collect();
        assert_eq!(roles, ["window", "list", "text", "button"]);
        assert!(ScreenState::default().elements().is_empty());
    }
}
