//! Finds the matches of a selector in a tree.

use trailblaze_protocol::geometry::Rect;

use super::{FieldMatch, Match, Outline, Patience, Selector};
use crate::screen::{Field, Node, Prop};

impl Selector {
    /// The matches, in reading order.
    pub fn resolve<'a>(&self, root: &'a Node) -> Vec<&'a Node> {
        let outline = Outline::new(root);
        self.places(&outline).into_iter().map(|place| outline.node(place)).collect()
    }

    /// Same as [`Selector::resolve`], by index in an outline. Inner selectors are resolved once for the whole tree.
    pub(crate) fn places(&self, outline: &Outline<'_>) -> Vec<usize> {
        let mut places: Vec<usize> = match &self.matcher {
            Some(matcher) => {
                let mut patience = Patience::default();
                let matching = outline.places().filter(|place| matcher.matches(&mut patience, outline.node(*place)));
                match matcher.nth() {
                    Some(nth) => matching.skip(nth).take(1).collect(),
                    None => matching.collect(),
                }
            }
            None => outline.places().collect(),
        };
        if let Some(native) = &self.native {
            places.retain(|place| native.found.contains(&outline.node(*place).id));
        }
        self.keep_spatial(outline, &mut places);
        if let Some(parent) = self.child_of.as_ref().filter(|_| !places.is_empty()) {
            let parents = in_document_order(parent, outline);
            keep_beneath(outline, &mut places, &parents);
        }
        if let Some(child) = self.contains_child.as_ref().filter(|_| !places.is_empty()) {
            let matching = in_document_order(child, outline);
            places.retain(|place| outline.children(*place).any(|child| matching.binary_search(&child).is_ok()));
        }
        for descendant in &self.contains_descendants {
            if places.is_empty() {
                break;
            }
            let matching = in_document_order(descendant, outline);
            places.retain(|place| {
                let beneath = outline.beneath(*place);
                let next = matching.partition_point(|found| *found < beneath.start);
                matching.get(next).is_some_and(|found| *found < beneath.end)
            });
        }
        outline.sort_for_reading(&mut places);
        match self.index {
            Some(index) => places.get(index).copied().into_iter().collect(),
            None => places,
        }
    }

    fn keep_spatial(&self, outline: &Outline<'_>, places: &mut Vec<usize>) {
        type Holds = fn(&Rect, &Rect) -> bool;
        let relations: [(&Option<Box<Selector>>, Holds); 4] = [
            (&self.below, |bounds, anchor| bounds.top >= anchor.bottom),
            (&self.above, |bounds, anchor| bounds.bottom <= anchor.top),
            (&self.left_of, |bounds, anchor| bounds.right <= anchor.left),
            (&self.right_of, |bounds, anchor| bounds.left >= anchor.right),
        ];
        for (anchor, holds) in relations {
            let Some(anchor) = anchor.as_ref().filter(|_| !places.is_empty()) else { continue };
            let first = anchor.places(outline).first().copied();
            let Some(anchor) = first.and_then(|place| outline.node(place).bounds) else {
                places.clear();
                return;
            };
            places.retain(|place| outline.node(*place).bounds.is_some_and(|bounds| holds(&bounds, &anchor)));
        }
    }
}

fn in_document_order(selector: &Selector, outline: &Outline<'_>) -> Vec<usize> {
    let mut places = selector.places(outline);
    places.sort_unstable();
    places
}

/// Both lists are in document order, so one pass is enough.
fn keep_beneath(outline: &Outline<'_>, places: &mut Vec<usize>, parents: &[usize]) {
    let mut parents = parents.iter().map(|parent| outline.beneath(*parent)).peekable();
    // Ranges are nested or disjoint, so the furthest end so far covers them all.
    let mut end = 0;
    places.retain(|place| {
        while let Some(beneath) = parents.next_if(|beneath| beneath.start <= *place) {
            end = end.max(beneath.end);
        }
        *place < end
    });
}

impl Match {
    /// Counts the nodes that match all other conditions, in document order.
    fn nth(&self) -> Option<usize> {
        self.wants.iter().find_map(|(field, want)| match want {
            FieldMatch::Number(nth) if *field == Field::NthIndex => Some(usize::try_from(*nth).unwrap_or(usize::MAX)),
            _ => None,
        })
    }

    fn matches(&self, patience: &mut Patience, node: &Node) -> bool {
        node.props.shape == self.shape
            && self.wants.iter().all(|(field, want)| match (want, node.props.get(*field)) {
                _ if *field == Field::NthIndex => true,
                (FieldMatch::Pattern(pattern), Some(Prop::Text(text))) => pattern.matches_within(patience, text),
                (FieldMatch::Exact(wanted), Some(Prop::Text(text))) => wanted == text,
                (FieldMatch::Flag(wanted), Some(Prop::Flag(flag))) => wanted == flag,
                // Drivers may omit flags that are false.
                (FieldMatch::Flag(wanted), None) => *wanted == field.default_flag(),
                (FieldMatch::Number(wanted), Some(Prop::Number(number))) => wanted == number,
                _ => false,
            })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::samples::{Build, android, any_screen, any_selector, node, screen};
    use super::*;
    use crate::screen::Shape;

    /// Checks the ids of the nodes that a selector matches, in order.
    fn check(root: &Node, selector: Value, expected: &[u64]) {
        let selector = Selector::parse(&selector).unwrap();
        let found: Vec<u64> = selector.resolve(root).iter().map(|node| node.id).collect();
        assert_eq!(found, expected, "{}", selector.to_json());
    }

    fn text(text: &str) -> Value {
        json!({"androidAccessibility": {"textRegex": text}})
    }

    fn with(mut selector: Value, key: &str, value: Value) -> Value {
        selector[key] = value;
        selector
    }

    /// 0 frame [1 left A, 2 right A, 3 row [4 label B, 5 box [6 A]], 7 A without bounds]
    fn sample() -> Node {
        let row = android("Row", "").at(0, 200, 400, 100).holding([
            android("Label", "B").at(0, 200, 100, 100),
            android("Box", "").at(200, 200, 100, 100).holding([android("Label", "A").at(210, 210, 20, 20)]),
        ]);
        let frame = android("Frame", "").at(0, 0, 400, 800).holding([
            android("Label", "A").at(0, 100, 50, 50),
            android("Label", "A").at(100, 100, 50, 50),
            row,
            android("Label", "A"),
        ]);
        screen(frame).root
    }

    #[test]
    fn matches_are_in_reading_order_and_the_index_selects_one() {
        check(&sample(), text("A"), &[1, 2, 6, 7]);
        check(&sample(), with(text("A"), "index", json!(1)), &[2]);
        check(&sample(), with(text("A"), "index", json!(4)), &[]);
        let swapped = android("Frame", "").holding([
            android("Label", "A").at(50, 10, 10, 10),
            android("Label", "A").at(0, 10, 10, 10),
            android("Label", "A").at(90, 0, 10, 10),
            android("Label", "A").at(0, 10, 20, 20),
        ]);
        check(&screen(swapped).root, text("A"), &[3, 2, 4, 1]);
    }

    #[test]
    fn an_nth_index_counts_what_the_rest_of_the_matcher_matches() {
        let link = |name: &str| node(Shape::Web).with(Field::AriaRole, "link").with(Field::AriaName, name);
        let page = node(Shape::Web).holding([link("A"), link("B").holding([link("A")]), link("B")]);
        let page = screen(page).root;
        check(&page, json!({"web": {"ariaRole": "link", "nthIndex": 2}}), &[3]);
        check(&page, json!({"web": {"ariaName": "B", "nthIndex": 1}}), &[4]);
        check(&page, json!({"web": {"ariaName": "B", "nthIndex": 2}}), &[]);
        check(&page, json!({"web": {"ariaName": "A", "nthIndex": 0}, "childOf": {"web": {"ariaName": "B"}}}), &[]);
    }

    #[test]
    fn spatial_relations_look_from_the_first_match() {
        check(&sample(), with(text("A"), "below", text("A")), &[6]);
        check(&sample(), with(text("A"), "above", text("B")), &[1, 2]);
        check(&sample(), with(text("A"), "leftOf", with(text("A"), "index", json!(1))), &[1]);
        check(&sample(), with(text("A"), "rightOf", text("A")), &[2, 6]);
        check(&sample(), with(text("A"), "below", text("nothing")), &[]);
        check(&sample(), with(text("A"), "below", with(text("A"), "index", json!(3))), &[]);
    }

    #[test]
    fn touching_edges_are_enough_for_a_spatial_relation() {
        let root = android("Frame", "")
            .holding([android("Label", "A").at(0, 0, 10, 10), android("Label", "B").at(10, 10, 10, 10)]);
        let root = screen(root).root;
        check(&root, with(text("B"), "below", text("A")), &[2]);
        check(&root, with(text("B"), "rightOf", text("A")), &[2]);
        check(&root, with(text("A"), "above", text("B")), &[1]);
        check(&root, with(text("A"), "leftOf", text("B")), &[1]);
    }

    #[test]
    fn child_of_looks_beneath_all_its_matches() {
        let class = |class: &str| json!({"androidAccessibility": {"classNameRegex": format!(".*\\.{class}")}});
        check(&sample(), with(text("A"), "childOf", class("Row")), &[6]);
        check(&sample(), with(text("A"), "childOf", class("(Row|Frame)")), &[1, 2, 6, 7]);
        check(&sample(), with(text("A"), "childOf", class("Label")), &[]);
        check(&sample(), json!({"childOf": class("Row")}), &[4, 5, 6]);
        check(&sample(), with(class("Row"), "childOf", class("Row")), &[]);
    }

    #[test]
    fn containing_is_about_children_or_anything_beneath() {
        check(&sample(), json!({"containsChild": text("A")}), &[0, 5]);
        check(&sample(), json!({"containsChild": text("B")}), &[3]);
        check(&sample(), json!({"containsDescendants": [text("A")]}), &[0, 3, 5]);
        check(&sample(), json!({"containsDescendants": [text("A"), text("B")]}), &[0, 3]);
        check(&sample(), json!({"containsDescendants": [text("A"), text("none")]}), &[]);
    }

    #[test]
    fn a_shape_is_only_matched_by_its_own_key() {
        let fields = [
            (Shape::AndroidAccessibility, Field::ComposeTestTag),
            (Shape::AndroidMaestro, Field::AccessibilityText),
            (Shape::IosMaestro, Field::HintText),
            (Shape::IosAxe, Field::Label),
            (Shape::Web, Field::AriaName),
            (Shape::Compose, Field::TestTag),
        ];
        for (shape, field) in fields {
            let root = screen(node(shape).with(field, "Pay")).root;
            for (other, asked) in fields {
                let selector = json!({other.key(): {format!("{}Regex", asked.name()): "P.y"}});
                check(&root, selector, if other == shape { &[0] } else { &[] });
            }
        }
        let root = screen(node(Shape::AndroidMaestro).with(Field::Text, "Pay")).root;
        check(&root, json!({"androidAccessibility": {"text": "Pay"}}), &[]);
        check(&root, json!({"iosMaestro": {"text": "Pay"}}), &[]);
    }

    #[test]
    fn maestro_shapes_ignore_case_in_patterns() {
        for shape in Shape::ALL {
            let field = if shape == Shape::Web { Field::AriaName } else { Field::Text };
            if !shape.matchable().contains(&field) {
                continue;
            }
            let root = screen(node(shape).with(field, "PAY")).root;
            let ignores = matches!(shape, Shape::AndroidMaestro | Shape::IosMaestro);
            check(
                &root,
                json!({shape.key(): {format!("{}Regex", field.name()): "pay"}}),
                if ignores { &[0] } else { &[] },
            );
            check(&root, json!({shape.key(): {field.name(): "pay"}}), &[]);
        }
    }

    #[test]
    fn flags_and_numbers_are_compared() {
        let root = android("Box", "").with(Field::IsChecked, true).with(Field::CollectionItemRowIndex, 3);
        let root = screen(root).root;
        let asked = |fields: Value| json!({"androidAccessibility": fields});
        check(&root, asked(json!({"isChecked": true, "collectionItemRowIndex": 3})), &[0]);
        check(&root, asked(json!({"isChecked": false})), &[]);
        check(&root, asked(json!({"collectionItemRowIndex": 2})), &[]);
        check(&root, asked(json!({"isSelected": false, "isEnabled": true})), &[0]);
        check(&root, asked(json!({"isEnabled": false})), &[]);
        check(&root, asked(json!({"text": ""})), &[]);
    }

    #[test]
    fn a_large_tree_takes_little_time() {
        let rows = (0..10_000).map(|row| {
            let top = row * 10;
            android("Row", "")
                .at(0, top, 400, 10)
                .holding((0..4).map(|cell| android("Cell", &format!("{row}:{cell}")).at(cell * 100, top, 100, 10)))
        });
        let root = screen(android("List", "").at(0, 0, 400, 100_000).holding(rows)).root;
        let started = Instant::now();
        check(&root, text("9999:3"), &[50_000]);
        let class = |class: &str| json!({"androidAccessibility": {"className": format!("android.widget.{class}")}});
        let row = with(class("Row"), "containsChild", text("9999:0"));
        check(&root, with(with(class("Cell"), "childOf", row), "index", json!(3)), &[50_000]);
        check(&root, with(text("9999:3"), "childOf", class("List")), &[50_000]);
        // Far more than it takes without optimisation, far less than quadratic work would.
        assert!(started.elapsed() < Duration::from_secs(60), "it ran away: {:?}", started.elapsed());
    }

    #[test]
    fn a_runaway_expression_is_limited_across_elements() {
        let labels = (0..500).map(|n| android("Label", &format!("{}b{n}", "a".repeat(60))));
        let root = screen(android("List", "").holding(labels)).root;
        let started = Instant::now();
        check(&root, text(r"(a*)*\1c"), &[]);
        assert!(started.elapsed() < Duration::from_secs(60), "it ran away: {:?}", started.elapsed());
    }

    proptest! {
        #[test]
        fn any_selector_resolves_on_any_tree(screen in any_screen(), selector in any_selector()) {
            let found = selector.resolve(&screen.root);
            let all = screen.root.walk().count();
            prop_assert!(found.len() <= all);
            if let Some(matcher) = &selector.matcher {
                prop_assert!(found.iter().all(|node| matcher.matches(&mut Patience::default(), node)));
            }
        }
    }
}
