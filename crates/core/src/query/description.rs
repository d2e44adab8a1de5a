//! Descriptions of elements in the format of a snapshot, so that its lines can be used as input: `button "Pay"`.

use super::search::is_folded_equal;
use crate::screen::{Field, Node, fold};
use crate::selector::Outline;
use crate::snapshot::shown_label;

/// A line of a snapshot or part of one: a role, a name, an id; or a CSS selector and a text. All given parts must match.
///
/// The name may be any part of what a snapshot shows, ignoring case. Elements with exactly this name are preferred to those
/// that differ in case, and these to those that merely contain it.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    written: String,
    pub role: Option<String>,
    pub css: Option<String>,
    pub name: Option<String>,
    pub id: Option<String>,
    /// A single word without quotes: a role if any element on the screen has it, otherwise a name.
    pub may_be_role: bool,
}

impl Description {
    /// Returns `None` if the text is blank.
    pub fn parse(text: &str) -> Option<Description> {
        let written = text.trim();
        let mut description = Description {
            written: written.to_string(),
            role: None,
            css: None,
            name: None,
            id: None,
            may_be_role: false,
        };
        let named = |text: &str| Some(text.to_string()).filter(|text| !text.trim().is_empty());
        if let Some(css) = written.strip_prefix("css=") {
            let (css, name) = split_css(css);
            description.css = Some(css.trim().to_string());
            description.name = name.and_then(|name| named(&name));
            return Some(description);
        }
        // Headings and list items are printed without their roles.
        if let Some((role, words)) = reading(written) {
            let (name, _) = unquote(words).unwrap_or((words.to_string(), ""));
            description.role = Some(role.to_string());
            description.name = named(&name);
            return Some(description);
        }
        // The first bracket outside of quotes starts the marks, such as `[id=pay]` or `[state: "On"]`.
        let bracket = written.find(" [").unwrap_or(written.len());
        let opening = written[..bracket].match_indices('"').map(|(at, _)| at);
        let opening = opening.into_iter().find(|at| *at == 0 || written[..*at].ends_with(char::is_whitespace));
        let (head, marks) = match opening {
            Some(at) => {
                let (name, rest) = unquote(&written[at..])?;
                description.name = named(&name);
                (&written[..at], rest)
            }
            None => written.split_at(bracket),
        };
        description.id = id_mark(marks);
        let head = head.trim();
        if opening.is_none() && marks.is_empty() {
            description.may_be_role = true;
            description.name = named(head);
        } else if !head.is_empty() {
            description.role = Some(head.to_string());
        }
        (!written.is_empty()).then_some(description)
    }

    /// The elements that match best.
    pub(super) fn matching(&self, outline: &Outline<'_>) -> Vec<usize> {
        // Snapshots print `element` for one without class and name.
        let is_a = |node: &Node, role: &str| fold(node.class().unwrap_or("element")).eq_ignore_ascii_case(role);
        let is_role = |word: &str| outline.places().any(|place| is_a(outline.node(place), word));
        let (role, name) = match (self.role.as_deref(), self.name.as_deref()) {
            (None, Some(word)) if self.may_be_role && is_role(word) => (Some(word), None),
            both => both,
        };
        let fits = outline.places().filter(|place| {
            let node = outline.node(*place);
            role.is_none_or(|role| is_a(node, role))
                && self.css.as_deref().is_none_or(|css| node.props.text(Field::CssSelector) == Some(css))
                && self.id.as_deref().is_none_or(|id| node.short_id().is_some_and(|own| is_folded_equal(own, id)))
        });
        let Some(name) = name.map(fold) else { return fits.collect() };
        let lower = name.to_lowercase();
        let fits: Vec<(Fit, usize)> =
            fits.filter_map(|place| Some((fit(outline, place, &name, &lower)?, place))).collect();
        let best = fits.iter().map(|(fit, _)| *fit).min();
        fits.into_iter().filter(|(fit, _)| Some(*fit) == best).map(|(_, place)| place).collect()
    }
}

/// Prints the description as written.
impl std::fmt::Display for Description {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.written)
    }
}

/// How well a name matches, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Whole,
    WholeInOtherCase,
    Part,
}

fn fit(outline: &Outline<'_>, place: usize, name: &str, lower: &str) -> Option<Fit> {
    let node = outline.node(place);
    let text = node.text().filter(|_| !node.is_password());
    let shown = shown_label(outline, place);
    [shown.as_deref(), text, node.label()]
        .into_iter()
        .flatten()
        .filter_map(|own| {
            if is_folded_equal(own, name) {
                return Some(Fit::Whole);
            }
            let own = fold(own).to_lowercase();
            if own == lower { Some(Fit::WholeInOtherCase) } else { own.contains(lower).then_some(Fit::Part) }
        })
        .min()
}

/// The role and the text of a line without a ref.
fn reading(line: &str) -> Option<(&'static str, &str)> {
    if let Some(words) = line.strip_prefix('•') {
        return Some(("listitem", words.trim()));
    }
    let words = line.trim_start_matches('#');
    let is_heading = words.len() < line.len() && words.starts_with(' ');
    is_heading.then(|| ("heading", words.trim()))
}

/// The quoted text at the start, and the rest. An unclosed quote ends with the line.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('"')?.chars();
    let mut words = String::new();
    while let Some(char) = rest.next() {
        match char {
            '"' => break,
            '\\' => words.extend(rest.next()),
            char => words.push(char),
        }
    }
    Some((words, rest.as_str()))
}

/// The id in the marks of a line: `[id=submit] [disabled]`.
fn id_mark(marks: &str) -> Option<String> {
    let (_, rest) = marks.split_once("[id=")?;
    let is_end = |at: &usize| rest[at + 1..].is_empty() || rest[at + 1..].starts_with(' ');
    let end = rest.match_indices(']').map(|(at, _)| at).find(is_end)?;
    Some(rest[..end].to_string())
}

/// A CSS selector and the quoted text after it. Within a selector, quotes only occur in brackets.
fn split_css(text: &str) -> (&str, Option<String>) {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match (quote, char) {
            (_, '\\') => drop(chars.next()),
            (Some(open), char) if char == open => quote = None,
            (Some(_), _) => {}
            (None, '"') if depth == 0 => return (&text[..at], unquote(&text[at..]).map(|(name, _)| name)),
            (None, '"' | '\'') => quote = Some(char),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (text, None)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::query::{Checks, Find, Query, Reason, What};
    use crate::screen::{Screen, Shape};
    use crate::selector::samples::{Build, any_screen, node, screen};
    use crate::snapshot::{self, Details};

    fn query(text: &str) -> Query {
        Query { what: What::Described(Box::new(Description::parse(text).unwrap())), index: None }
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
            let found = Description::parse(text).unwrap();
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
        assert_eq!(Description::parse("  "), None);
    }

    #[test]
    fn a_part_of_a_name_matches_if_no_name_matches_better() {
        let root = page([control("button", "Pay now"), control("button", "PAY"), control("link", "Payments")]);
        check(&root, "button \"PAY\"", Ok(2));
        check(&root, "button \"pay\"", Ok(2));
        check(&root, "button \"NOW\"", Ok(1));
        check(&root, "payments", Ok(3));
        check(&root, "link", Ok(3));
        check(
            &root,
            "button \"Pey\"",
            Err("nothing on the screen matches button \"Pey\"; the nearest is button \"PAY\""),
        );
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
        let item = |name: &str| web("listitem", "").holding([web("generic", name), control("button", "Delete")]);
        let form = web("form", "Danger").holding([control("button", "Delete").with(Field::ElementId, "all")]);
        let heading = web("heading", "Rest").with(Field::HeadingLevel, 2);
        let root =
            page([web("list", "").holding([item("Mug"), item("Cup")]), form, heading, control("button", "Delete")]);
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
        let roles = || select(vec!["button", "generic", "textbox", "list", "listitem", "row", "heading", "link", ""]);
        (any_screen(), proptest::collection::vec((roles(), any::<bool>()), 30)).prop_map(|(mut screen, kinds)| {
            let mut todo = vec![&mut screen.root];
            let mut kinds = kinds.into_iter().cycle();
            while let Some(node) = todo.pop() {
                let (role, is_field) = kinds.next().unwrap();
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
                let What::Described(description) = &query.what else { unreachable!() };
                let matching: Vec<u64> = description.matching(&outline).iter().map(|place| outline.node(*place).id).collect();
                prop_assert!(matching.contains(&id), "{} finds {:?}, not {}", line, matching, id);
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
            prop_assert_eq!(Description::parse(&text).is_none(), text.trim().is_empty());
        }
    }
}
