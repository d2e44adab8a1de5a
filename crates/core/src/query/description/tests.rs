//! Descriptions, and that every line of a snapshot is one.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::query::{Checks, Find, Query, QueryTarget, Reason};
use crate::screen::{Screen, Shape};
use crate::selector::samples::{Build, any_screen, node, screen};
use crate::snapshot::{self, Details};

fn query(text: &str) -> Query {
    Query { what: QueryTarget::Described(Box::new(ElementDescription::parse(text).unwrap())), index: None }
}

/// Checks the id of the node that a description finds, or the message.
#[track_caller]
fn check(root: &Node, text: &str, expected: Result<u64, &str>) {
    let found = match query(text).search(&screen(root.clone()), Checks::Visible) {
        Find::Found(found) => Ok(found.node),
        Find::Not(why) => Err(why.to_string()),
    };
    assert_eq!(found, expected.map_err(str::to_string), "{text}");
}

fn web(role: &str, name: &str) -> Node {
    let node = node(Shape::Web).with(Field::AriaRole, role).at(0, 0, 100, 20);
    if name.is_empty() { node } else { node.with(Field::AriaName, name) }
}

fn control(role: &str, name: &str) -> Node {
    web(role, name).with(Field::IsInteractive, true)
}

fn page(children: impl IntoIterator<Item = Node>) -> Node {
    web("document", "").at(0, 0, 400, 800).holding(children)
}

#[test]
fn words_are_taken_apart() {
    let parts = |text: &str| {
        let found = ElementDescription::parse(text).unwrap();
        (found.role, found.css, found.name, found.id)
    };
    let some = |text: &str| Some(text.to_string());
    assert_eq!(parts("button \"Pay\""), (some("button"), None, some("Pay"), None));
    assert_eq!(parts("\"Pay\""), (None, None, some("Pay"), None));
    assert_eq!(parts("Pay now"), (None, None, some("Pay now"), None));
    assert_eq!(parts("button"), (None, None, some("button"), None));
    assert_eq!(parts("generic [id=a]b] [focused]"), (some("generic"), None, None, some("a]b")));
    assert_eq!(
        parts(r#"link "Say \"hi\" \\ [id=x]" [id=y]"#),
        (some("link"), None, some(r#"Say "hi" \ [id=x]"#), some("y"))
    );
    assert_eq!(parts("combobox \"Size: S\" [options: S | \"M\"]"), (some("combobox"), None, some("Size: S"), None));
    assert_eq!(parts("## News"), (some("heading"), None, some("News"), None));
    assert_eq!(parts("•\"- Mug\""), (some("listitem"), None, some("- Mug"), None));
    assert_eq!(parts("#news"), (None, None, some("#news"), None));
    assert_eq!(parts("css=ul > li[title=\"a b\"]"), (None, some("ul > li[title=\"a b\"]"), None, None));
    assert_eq!(parts("css=li:is(.a, .b) \"Mug\""), (None, some("li:is(.a, .b)"), some("Mug"), None));
    assert_eq!(parts("button \"Pay\" [css=#a > b]"), (some("button"), some("#a > b"), some("Pay"), None));
    assert_eq!(parts("button [id=\"a] b\"]"), (some("button"), None, None, some("a] b")));
    assert_eq!(parts("navigation \"Main\":"), (some("navigation"), None, some("Main"), None));
    assert_eq!(parts("main:"), (None, None, some("main"), None));
    assert_eq!(parts("(scroll down to reveal) textbox \"City\""), (some("textbox"), None, some("City"), None));
    assert_eq!(parts("Sign in"), (None, None, some("Sign in"), None));
    for row in ["Mug | 2", "\"[e1] x\" | 2", "Mug | \"[2]\"", "\"a | b\" | \"-\" | c"] {
        assert_eq!(parts(row), (None, None, some(row), None));
    }
    assert_eq!(ElementDescription::parse("  "), Err(NoDescription::Empty));
}

#[test]
fn unknown_parts_are_rejected() {
    let check =
        |text: &str, expected: NoDescription| assert_eq!(ElementDescription::parse(text), Err(expected), "{text}");
    let mark = |mark: &str| NoDescription::UnknownMark(mark.to_string());
    let rest = |rest: &str| NoDescription::NotUnderstood(rest.to_string());
    check("button \"Save\" [nonsense]", mark("nonsense"));
    check("button \"Save\" [disabled] [Checked]", mark("Checked"));
    check("Agree [really]", mark("really"));
    check("button \"Save\" [disabled", rest("[disabled"));
    check("button \"Save\" now", rest("now"));
    check("css=li \"Cup\" button", rest("button"));
    check("# \"News\" today", rest("today"));
    check("button \"Save\" under heading News", rest("under heading News"));
    check("button \"Save\" in list in main", rest("in main"));
    check("button \"Save\" at 5", rest("at 5"));
}

#[test]
fn marks_are_states_that_must_hold() {
    let news = control("checkbox", "News").with(Field::IsChecked, false);
    let terms = control("checkbox", "Terms").with(Field::IsChecked, true).with(Field::IsFocused, true);
    let save = control("button", "Save").with(Field::IsEnabled, false);
    let size = control("combobox", "Size").with(Field::Options, "S [x] | M");
    let list = web("list", "").holding([control("link", "One"), control("link", "Two")]);
    let root = page([news, terms, save, size, list]);
    check(&root, "checkbox [checked]", Ok(2));
    check(&root, "checkbox \"News\" [unchecked]", Ok(1));
    check(&root, "checkbox [checked] [focused]", Ok(2));
    check(&root, "button \"Save\" [disabled]", Ok(3));
    check(&root, "combobox [options: \"S [x] | M\"]", Ok(4));
    check(&root, "list [2 items]:", Ok(5));
    let none = |text: &str| format!("nothing on the screen matches {text}");
    for (text, near) in [
        ("checkbox \"News\" [checked]", "; the nearest is checkbox \"News\""),
        ("button \"Save\" [selected]", "; the nearest is button \"Save\""),
        ("combobox [options: S]", ""),
        ("list [3 items]", ""),
    ] {
        check(&root, text, Err(&(none(text) + near)));
    }
}

#[test]
fn surroundings_distinguish_elements() {
    let item = |name: &str| web("listitem", "").holding([web("generic", name), control("button", "Delete")]);
    let list = web("list", "Cart").holding([item("Mug"), item("Mug \"big\"")]);
    let heading = |name: &str, level: i64| web("heading", name).with(Field::HeadingLevel, level);
    let root = page([
        heading("Shop", 1),
        list,
        heading("Danger", 2),
        heading("Forever", 3),
        control("button", "Delete"),
        heading("Rest", 2),
        control("button", "Delete all"),
    ]);
    check(&root, "button \"Delete\" in listitem \"Mug\"", Ok(5));
    check(&root, "button \"Delete\" in listitem \"mug \\\"BIG\\\"\"", Ok(8));
    check(&root, "button in listitem \"big\"", Ok(8));
    check(
        &root,
        "\"Delete\" [disabled] in list",
        Err(
            "nothing on the screen matches \"Delete\" [disabled] in list; the nearest are button \"Delete\" in listitem \"Mug\", button \"Delete all\" under heading \"Rest\"",
        ),
    );
    for heading in ["Danger", "Forever"] {
        check(&root, &format!("button \"Delete\" under heading \"{heading}\""), Ok(11));
    }
    check(&root, "button under heading \"Rest\"", Ok(13));
    let nowhere = "button \"Delete all\" in region \"Mug\"";
    let near = "the nearest are button \"Delete all\" under heading \"Rest\", button \"Delete\" in listitem \"Mug\"";
    check(&root, nowhere, Err(&format!("nothing on the screen matches {nowhere}; {near}")));
}

#[test]
fn a_part_of_a_name_matches_if_no_name_matches_better() {
    let root = page([control("button", "Pay now"), control("button", "PAY"), control("link", "Payments")]);
    check(&root, "button \"PAY\"", Ok(2));
    check(&root, "button \"pay\"", Ok(2));
    check(&root, "button \"NOW\"", Ok(1));
    check(&root, "payments", Ok(3));
    check(&root, "link", Ok(3));
    check(&root, "button \"Pey\"", Err("nothing on the screen matches button \"Pey\"; the nearest is button \"PAY\""));
}

#[test]
fn a_field_is_found_by_its_name_its_value_and_both() {
    let field = control("textbox", "City").with(Field::Value, "Rome").with(Field::IsEditable, true);
    let draft = control("textbox", "").with(Field::Value, "New Tiddler").with(Field::IsEditable, true);
    let root = page([field, draft]);
    for text in ["textbox \"City\"", "textbox \"Rome\"", "textbox \"City: Rome\""] {
        check(&root, text, Ok(1));
    }
    check(&root, "textbox \"New Tiddler\"", Ok(2));
}

#[test]
fn several_matches_are_described_with_their_surroundings() {
    let delete = |top: i32| control("button", "Delete").at(0, top, 100, 20);
    let item = |name: &str, top: i32| web("listitem", "").holding([web("generic", name), delete(top)]);
    let form = web("form", "Danger").holding([delete(90).with(Field::ElementId, "all")]);
    let heading = web("heading", "Rest").with(Field::HeadingLevel, 2);
    let root = page([web("list", "").holding([item("Mug", 30), item("Cup", 60)]), form, heading, delete(120)]);
    let expected = "several elements match button \"Delete\": 0: button \"Delete\" in listitem \"Mug\", \
                    1: button \"Delete\" in listitem \"Cup\", 2: button \"Delete\" [id=all] in form \"Danger\", \
                    3: button \"Delete\" under heading \"Rest\"; choose one with `index`";
    check(&root, "button \"Delete\"", Err(expected));
    check(&root, "button \"Delete\" [id=all]", Ok(9));
    let at = Query { index: Some(1), ..query("button \"Delete\"") };
    assert!(matches!(at.search(&screen(root), Checks::Visible), Find::Found(found) if found.node == 7));
}

/// The lines of a snapshot that have a ref, without it.
fn lines(screen: &Screen) -> Vec<(u64, String)> {
    let text = snapshot::text(screen, &Details::default());
    let told = screen.root.walk().filter(|node| node.is_interactive() && screen.visible_part(node).is_some());
    told.map(|node| {
        let mark = format!("[{}] ", node.reference.as_ref().unwrap());
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(&mark));
        (node.id, line.unwrap_or_else(|| panic!("{mark} in {text}")).to_string())
    })
    .collect()
}

/// Random screens, with roles as drivers report them and values in fields.
fn any_page() -> impl Strategy<Value = Screen> {
    let roles =
        || select(vec!["button", "generic", "textbox", "list", "listitem", "row", "cell", "heading", "link", ""]);
    let states = || {
        select(vec![
            Field::IsSelected,
            Field::IsFocused,
            Field::IsEnabled,
            Field::IsChecked,
            Field::IsPassword,
            Field::IsHeading,
        ])
    };
    let texts = || select(vec![Field::Value, Field::Options, Field::StateDescription, Field::HintText]);
    let odd = || select(vec!["a", "a] b", "[x] y]:", "\"a\" b", "a\\", "]", "a | b [c]"]);
    let marks = (proptest::option::of((states(), any::<bool>())), proptest::option::of((texts(), odd())));
    (any_screen(), proptest::collection::vec((roles(), any::<bool>(), marks), 30)).prop_map(|(mut screen, kinds)| {
        let mut todo = vec![&mut screen.root];
        let mut kinds = kinds.into_iter().cycle();
        while let Some(node) = todo.pop() {
            let (role, is_field, (state, text)) = kinds.next().unwrap();
            state.into_iter().for_each(|(field, is_so)| node.props.set(field, is_so));
            text.into_iter().for_each(|(field, text)| node.props.set(field, text));
            let class = node.props.shape.class_fields()[0];
            node.reference = None;
            node.props.set(class, role);
            node.props.set(Field::IsEditable, is_field);
            todo.extend(node.children.iter_mut().rev());
        }
        crate::selector::samples::screen(screen.root)
    })
}

proptest! {
    #[test]
    fn a_line_of_a_snapshot_finds_its_element(screen in any_page()) {
        for (id, line) in lines(&screen) {
            let query = query(&line);
            let outline = Outline::new(&screen.root);
            let QueryTarget::Described(description) = &query.what else { unreachable!() };
            let matching: Vec<u64> = description.matching(&outline).iter().map(|place| outline.node(*place).id).collect();
            prop_assert!(matching.contains(&id), "{} finds {:?}, not {}", line, matching, id);
            prop_assert!(description.is_of(&screen.root, id), "{} is not the line of {}", line, id);
            match query.search(&screen, Checks::Visible) {
                Find::Found(found) if found.node == id => {}
                // A container and one in it with the same name look like one element.
                Find::Found(_) => prop_assert!(matching.len() > 1, "{}", line),
                Find::Not(why) => prop_assert!(matches!(why.reason, Reason::Several { .. }), "{}: {}", line, why),
            }
        }
    }

    #[test]
    fn any_text_parses_without_panicking(text in r#"\PC{0,24}|[ \["\]=#•\\a-c]{0,16}|css=[ \["\]()'\\a-c]{0,16}"#) {
        prop_assert_eq!(ElementDescription::parse(&text) == Err(NoDescription::Empty), text.trim().is_empty());
    }
}
