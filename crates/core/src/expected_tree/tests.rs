//! What fits an expected tree, what does not, and what is told about it.

use proptest::prelude::*;

use super::*;
use crate::screen::{Field, Shape};
use crate::selector::samples::{Build, android, any_screen, node, screen};

fn web(role: &str, name: &str) -> Node {
    let node = node(Shape::Web).with(Field::AriaRole, role);
    if name.is_empty() { node } else { node.with(Field::AriaName, name) }
}

/// A cart on a page, in boxes that only lay it out.
fn cart() -> Node {
    let item = |name: &str| web("listitem", "").holding([web("text", name), web("button", "Remove")]);
    let list = web("list", "").holding([item("Mug"), item("Tea, 20 bags")]);
    let heading = web("heading", "Cart").with(Field::HeadingLevel, 1);
    let city = web("textbox", "City").with(Field::IsEditable, true).with(Field::Value, "Rome");
    let pay = web("button", "Pay").with(Field::IsEnabled, false);
    web("document", "Shop").holding([web("generic", "").holding([heading, list]), city, pay])
}

#[track_caller]
fn fits(root: Node, tree: &str) {
    let compared = ExpectedTree::parse(tree).expect("a tree").compare(&screen(root).root);
    assert_eq!(compared, Ok(()), "{tree}");
}

#[track_caller]
fn differs(root: Node, tree: &str, line: usize, difference: &[&str]) {
    let mismatch = ExpectedTree::parse(tree).expect("a tree").compare(&screen(root).root).expect_err(tree);
    assert_eq!((mismatch.line, mismatch.difference.lines().collect::<Vec<_>>()), (line, difference.to_vec()), "{tree}");
}

#[test]
fn a_screen_is_written_as_the_tree_that_expects_it() {
    let text = expected_of(&screen(cart()).root);
    let expected = "\
- heading \"Cart\" [level=1]
- list:
  - listitem:
    - text \"Mug\"
    - button \"Remove\"
  - listitem:
    - text \"Tea, 20 bags\"
    - button \"Remove\"
- textbox \"City\": Rome
- button \"Pay\" [disabled]";
    assert_eq!(text, expected);
    fits(cart(), &text);
}

#[test]
fn listed_lines_must_be_there_in_this_order_and_others_may_be_between() {
    for tree in [
        "- heading\n- button \"Pay\"",
        "- list:\n  - text \"Mug\"\n  - text /Tea, \\d+ bags/",
        "- list:\n    - listitem:\n        - button \"Remove\"\n    - button \"Remove\"",
        "# A note\n\n- \"Cart\"\n- textbox \"City\": Rome\n- button [disabled]",
        "- heading \"Cart\" [level=1]",
        "- textbox: /R.*e/",
        "- text: Mug",
        "- BUTTON \"Pay\":",
        "- list:\n- button \"Pay\"",
    ] {
        fits(cart(), tree);
    }
}

#[test]
fn the_same_tree_fits_the_classes_of_apps() {
    let title = android("TextView", "Cart").with(Field::IsHeading, true);
    let row = android("LinearLayout", "").with(Field::IsClickable, true).holding([
        android("TextView", "Mug"),
        android("ImageButton", "").with(Field::ContentDescription, "Remove").with(Field::IsClickable, true),
    ]);
    let list = android("RecyclerView", "").holding([row]);
    let city = android("EditText", "Rome").with(Field::IsEditable, true).with(Field::HintText, "City");
    let root = || android("FrameLayout", "").holding([title.clone(), list.clone(), city.clone()]);
    fits(
        root(),
        "- heading \"Cart\"\n- list:\n  - \"Mug\":\n    - text \"Mug\"\n    - button \"Remove\"\n- textbox: Rome",
    );
    fits(root(), "- TextView \"Cart\"\n- RecyclerView");
    differs(
        root(),
        "- button \"Cart\"",
        1,
        &[
            "- - button \"Cart\"",
            "+ - heading \"Cart\"",
            "+ - list:",
            "+   - \"Mug\":",
            "+     - button \"Remove\"",
            "+ - textbox \"City\": Rome",
        ],
    );
}

#[test]
fn the_line_that_does_not_fit_is_shown_with_what_is_there_instead() {
    differs(
        cart(),
        "- heading \"Cart\"\n- list:\n  - text \"Mug\"\n  - text \"Coffee\"\n- button \"Pay\"",
        4,
        &[
            "  - list:",
            "    - text \"Mug\"",
            "-   - text \"Coffee\"",
            "+     - button \"Remove\"",
            "+   - listitem:",
            "+     - text \"Tea, 20 bags\"",
            "+     - button \"Remove\"",
        ],
    );
    differs(
        cart(),
        "- button \"Pay\"\n- heading \"Cart\"",
        2,
        &["  - button \"Pay\"", "- - heading \"Cart\"", "+ (nothing else)"],
    );
    differs(web("document", "Empty"), "- button", 1, &["- - button", "+ (nothing)"]);
    // Whole texts count, and their case.
    for tree in ["- button \"pay\"", "- button \"Pa\"", "- text /Tea/", "- button \"Pay\" [checked]"] {
        assert!(ExpectedTree::parse(tree).expect("a tree").compare(&screen(cart()).root).is_err(), "{tree}");
    }
}

#[test]
fn mistakes_have_their_line_and_column() {
    for (text, line, column, message) in [
        ("", 1, 1, "the tree is empty"),
        ("# nothing", 1, 1, "the tree is empty"),
        ("- list:\n  button", 2, 3, "each line starts with `- `"),
        ("- list:\n\t- button", 2, 1, "indent with spaces only"),
        ("- list:\n    - button\n  - button", 3, 3, "this indentation is that of no line above it"),
        ("  - list\n- button", 2, 1, "this indentation is that of no line above it"),
        ("- headng \"Cart\"", 1, 3, "there is no role `headng`; did you mean `heading`?"),
        ("- heading Cart", 1, 3, "put the name in quotes: `- heading \"Cart\"`"),
        ("- text /(/", 1, 8, "`(` is not a valid regular expression"),
        ("- text /abc", 1, 8, "the pattern does not end"),
        ("- button \"Pay", 1, 10, "the name does not end"),
        ("- button \"Pay\" [chekced]", 1, 16, "`[chekced]` is no mark of a snapshot"),
        ("- button \"Pay\" [checked", 1, 16, "the mark does not end"),
        ("- button \"Pay\" now", 1, 16, "expected a name in quotes, a mark in brackets, or `:`"),
        ("- Straße (x)", 1, 10, "`Straße (x)` is no role"),
        ("- :", 1, 4, "a line needs a role or a name"),
    ] {
        let error = ExpectedTree::parse(text).expect_err(text);
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
        assert!(error.message.starts_with(message), "{text}: {error}");
    }
}

#[test]
fn many_elements_that_are_nested_alike_are_compared_quickly() {
    let deep = (0..300).fold(web("list", ""), |inner, _| web("list", "").holding([inner]));
    let tree: String = (0..40).map(|depth| format!("{}- list:\n", "  ".repeat(depth))).collect();
    fits(deep.clone(), &tree);
    let tree = format!("{tree}{}- button", "  ".repeat(40));
    let mismatch = ExpectedTree::parse(&tree).expect("a tree").compare(&screen(deep).root).expect_err("no button");
    assert_eq!(mismatch.line, 41);
}

proptest! {
    #[test]
    fn any_screen_fits_its_own_text(screen in any_screen()) {
        let text = expected_of(&screen.root);
        if !text.is_empty() {
            let tree = ExpectedTree::parse(&text).map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
            prop_assert_eq!(tree.compare(&screen.root), Ok(()), "{}", text);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[- \\n\"/:\\[\\]a-c{}\\\\#\\t]{0,40}") {
        if let Err(error) = ExpectedTree::parse(&text) {
            prop_assert!(error.line >= 1 && error.column >= 1);
        }
    }
}
