//! Descriptions of elements in the format of a snapshot, so that its lines can be used as input: `button "Pay"`.

use trailblaze_protocol::geometry::Point;

use super::search::is_folded_equal;
use super::whereabouts::{Around, container_label, headings_above};
use crate::screen::{Field, Node, fold};
use crate::selector::Outline;
use crate::snapshot::{has_mark, shown_label, shown_row};

/// A line of a snapshot or part of one: a role, a name, marks such as `[id=pay]` or `[checked]`; or a CSS selector and a
/// text; and what it is in, as in an error about several matches. All given parts must match.
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
    /// Marks as printed in a snapshot, without brackets.
    marks: Vec<String>,
    around: Option<Around>,
    /// The center of the element.
    at: Option<Point>,
}

/// Why a text is not a description of an element.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoDescription {
    #[error("it is empty")]
    Empty,
    #[error(
        "`[{0}]` is not a mark of a snapshot; marks are [id=ID], [checked], [unchecked], [selected], [focused], \
         [disabled] and the like\nhint: put a name that has brackets in quotes"
    )]
    UnknownMark(String),
    #[error(
        "`{0}` is not understood there; a name in quotes may be followed by marks such as [checked], and by \
         `in ROLE \"NAME\"` or `under heading \"NAME\"`"
    )]
    NotUnderstood(String),
}

/// Marks that are one word, and the prefixes of other marks.
const MARKS: [&str; 7] = ["selected", "focused", "disabled", "checked", "unchecked", "password", "heading"];
const MARKS_WITH_VALUE: [&str; 6] = ["id=", "css=", "level=", "value: ", "state: ", "options: "];

impl Description {
    pub fn parse(text: &str) -> Result<Description, NoDescription> {
        let written = text.trim();
        if written.is_empty() {
            return Err(NoDescription::Empty);
        }
        let mut description = Description {
            written: written.to_string(),
            role: None,
            css: None,
            name: None,
            id: None,
            may_be_role: false,
            marks: Vec::new(),
            around: None,
            at: None,
        };
        if let Some(css) = written.strip_prefix("css=") {
            let (css, name) = css.split_at(css_end(css));
            description.css = Some(css.trim().to_string());
            let (name, rest) = unquote(name).unwrap_or_default();
            description.name = named(&name);
            description.read_marks_and_place(rest)?;
            return Ok(description);
        }
        // Headings and list items are printed without their roles.
        if let Some((role, words)) = reading(written) {
            let (name, rest) = unquote(words).unwrap_or((words.to_string(), ""));
            description.role = Some(role.to_string());
            description.name = named(&name);
            description.read_marks_and_place(rest)?;
            return Ok(description);
        }
        // The line of an off-screen field starts with how to scroll to it.
        let line =
            written.strip_prefix("(scroll ").and_then(|rest| rest.split_once(") ")).map_or(written, |(_, line)| line);
        // The first bracket outside of quotes starts the marks, such as `[id=pay]` or `[state: "On"]`.
        let bracket = if line.starts_with('[') { 0 } else { line.find(" [").unwrap_or(line.len()) };
        let opening = line[..bracket].match_indices('"').map(|(at, _)| at);
        let opening = opening.into_iter().find(|at| *at == 0 || line[..*at].ends_with(char::is_whitespace));
        let (head, rest) = line.split_at(opening.unwrap_or(bracket));
        let head = head.trim();
        // `button in listitem "Mug"` has no name.
        let place = opening.and_then(|_| place_in(head));
        match (opening, place) {
            (Some(_), Some(at)) => {
                description.role = named(&head[..at]);
                description.read_marks_and_place(&line[at..])?;
            }
            (Some(_), None) => {
                let (name, rest) = unquote(rest).unwrap_or_default();
                description.name = named(&name);
                description.role = named(head);
                description.read_marks_and_place(rest)?;
            }
            // The heading of a group ends with a colon, and a text that does so is printed in quotes.
            (None, _) if rest.is_empty() => {
                description.may_be_role = true;
                description.name = named(head.strip_suffix(':').unwrap_or(head));
            }
            (None, _) => {
                description.role = named(head);
                description.read_marks_and_place(rest)?;
            }
        }
        Ok(description)
    }

    /// Reads the marks and the place after a name.
    fn read_marks_and_place(&mut self, text: &str) -> Result<(), NoDescription> {
        let mut rest = text.trim();
        while !rest.is_empty() && rest != ":" {
            let unclear = || NoDescription::NotUnderstood(rest.to_string());
            let after = if let Some(inner) = rest.strip_prefix('[') {
                let (mark, after) = split_mark(inner).ok_or_else(unclear)?;
                self.read_mark(mark)?;
                after
            } else if let (Some(words), None) = (rest.strip_prefix("in "), &self.around) {
                let end = words.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(words.len());
                let (role, after) = words.split_at(end);
                let (name, after) =
                    unquote(after.trim_start()).map_or((None, after), |(name, after)| (named(&name), after));
                self.around = Some(Around::Container { role: role.to_string(), name });
                after
            } else if let (Some(words), None) = (rest.strip_prefix("under heading "), &self.around) {
                let (name, after) = unquote(words.trim_start()).ok_or_else(unclear)?;
                self.around = Some(Around::Heading { name });
                after
            } else if let (Some(place), None) = (rest.strip_prefix("at "), self.at) {
                self.at = Some(point(place).ok_or_else(unclear)?);
                ""
            } else {
                return Err(unclear());
            };
            rest = after.trim();
        }
        Ok(())
    }

    fn read_mark(&mut self, mark: &str) -> Result<(), NoDescription> {
        let value = |prefix: &str| {
            let value = mark.strip_prefix(prefix)?;
            Some(unquote(value).map_or(value.to_string(), |(value, _)| value))
        };
        if let Some(id) = value("id=") {
            self.id = Some(id);
        } else if let Some(css) = value("css=") {
            self.css = Some(css);
        } else if MARKS.contains(&mark)
            || MARKS_WITH_VALUE.iter().any(|begin| mark.starts_with(begin))
            || is_count(mark)
        {
            self.marks.push(fold(mark));
        } else {
            return Err(NoDescription::UnknownMark(mark.to_string()));
        }
        Ok(())
    }

    /// Whether a match depends on other elements: on ancestors, headings or descendants.
    pub fn depends_on_others(&self) -> bool {
        self.around.is_some() || self.marks.iter().any(|mark| is_count(mark))
    }

    /// The elements that match best.
    pub(super) fn matching(&self, outline: &Outline<'_>) -> Vec<usize> {
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
                && self.marks.iter().all(|mark| has_mark(node, mark))
                && self.at.is_none_or(|at| node.bounds.is_some_and(|bounds| bounds.center() == at))
        });
        let name = name.map(Name::new);
        let fits: Vec<(Fit, Fit, usize)> = fits
            .filter_map(|place| {
                let own = name.as_ref().map_or(Some(Fit::Whole), |name| fit(outline, place, name))?;
                let around =
                    self.around.as_ref().map_or(Some(Fit::Whole), |around| fit_around(outline, place, around))?;
                Some((around, own, place))
            })
            .collect();
        let best = fits.iter().map(|(around, own, _)| (*around, *own)).min();
        fits.into_iter().filter(|(around, own, _)| Some((*around, *own)) == best).map(|(.., place)| place).collect()
    }
}

/// Snapshots print `element` for one without class and name.
fn is_a(node: &Node, role: &str) -> bool {
    fold(node.class().unwrap_or("element")).eq_ignore_ascii_case(role)
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

/// A name to search for, prepared once for all nodes.
struct Name {
    folded: String,
    lower: String,
}

impl Name {
    fn new(name: &str) -> Name {
        let folded = fold(name);
        Name { lower: folded.to_lowercase(), folded }
    }

    fn fit(&self, own: &str) -> Option<Fit> {
        if is_folded_equal(own, &self.folded) {
            return Some(Fit::Whole);
        }
        let own = fold(own).to_lowercase();
        if own == self.lower {
            return Some(Fit::WholeInOtherCase);
        }
        // Messages shorten long names.
        let is_cut = || self.lower.strip_suffix('…').is_some_and(|begin| own.starts_with(begin));
        (own.contains(&self.lower) || is_cut()).then_some(Fit::Part)
    }
}

fn fit(outline: &Outline<'_>, place: usize, name: &Name) -> Option<Fit> {
    let node = outline.node(place);
    let text = node.text().filter(|_| !node.is_password());
    let (shown, row) = (shown_label(outline, place), shown_row(node));
    let names = [shown.as_deref(), row.as_deref(), text, node.label()];
    names.into_iter().flatten().filter_map(|own| name.fit(own)).min()
}

/// How well the surroundings of an element match.
fn fit_around(outline: &Outline<'_>, place: usize, around: &Around) -> Option<Fit> {
    match around {
        Around::Container { role, name } => {
            let name = name.as_deref().map(Name::new);
            let own = shown_label(outline, place);
            let fit_one = |container: usize| match &name {
                None => Some(Fit::Whole),
                Some(name) => {
                    let label = container_label(outline, container, own.as_deref());
                    [fit(outline, container, name), label.and_then(|label| name.fit(&label))]
                        .into_iter()
                        .flatten()
                        .min()
                }
            };
            let containers = outline.ancestors(place).filter(|container| is_a(outline.node(*container), role));
            containers.filter_map(fit_one).min()
        }
        Around::Heading { name } => {
            let name = Name::new(name);
            headings_above(outline, place).filter_map(|heading| fit(outline, heading, &name)).min()
        }
    }
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

fn named(text: &str) -> Option<String> {
    Some(text.trim().to_string()).filter(|text| !text.is_empty())
}

/// The start of a place at the end of these words: `in listitem` in `button in listitem`.
fn place_in(words: &str) -> Option<usize> {
    let begin = |word: &str| match words.rfind(&format!(" {word}")) {
        Some(at) => Some(at + 1),
        None => words.starts_with(word).then_some(0),
    };
    let is_role =
        |at: &usize| !words[at + 3..].trim().is_empty() && !words[at + 3..].trim().contains(char::is_whitespace);
    begin("under heading").filter(|at| words[*at..] == *"under heading").or_else(|| begin("in ").filter(is_role))
}

/// The mark at the start of the text, after its bracket, and the rest. It ends at the first bracket that is followed by a
/// space or nothing, unless its value is quoted.
fn split_mark(text: &str) -> Option<(&str, &str)> {
    let value = MARKS_WITH_VALUE.iter().find(|begin| text.starts_with(**begin)).map_or(0, |begin| begin.len());
    let quoted = unquote(&text[value..]).filter(|(_, rest)| value > 0 && rest.starts_with(']'));
    let from = quoted.map_or(0, |(_, rest)| text.len() - rest.len());
    let is_end = |at: &usize| matches!(text[at + 1..].chars().next(), None | Some(' ')) || &text[at + 1..] == ":";
    let end = text.match_indices(']').map(|(at, _)| at).filter(|at| *at >= from).find(is_end)?;
    Some((&text[..end], &text[end + 1..]))
}

/// `2 items`, as in the heading of a list.
fn is_count(mark: &str) -> bool {
    let count = mark.strip_suffix(" items").or_else(|| mark.strip_suffix(" item"));
    count.is_some_and(|count| !count.is_empty() && count.chars().all(|c| c.is_ascii_digit()))
}

fn point(text: &str) -> Option<Point> {
    let (x, y) = text.split_once(',')?;
    Some(Point { x: x.trim().parse().ok()?, y: y.trim().parse().ok()? })
}

/// Where a CSS selector ends and a quoted text starts. Within a selector, quotes only occur in brackets.
fn css_end(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match (quote, char) {
            (_, '\\') => drop(chars.next()),
            (Some(open), char) if char == open => quote = None,
            (Some(_), _) => {}
            (None, '"') if depth == 0 => return at,
            (None, '"' | '\'') => quote = Some(char),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    text.len()
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
        assert_eq!(parts("button \"Pay\" [css=#a > b]"), (some("button"), some("#a > b"), some("Pay"), None));
        assert_eq!(parts("button [id=\"a] b\"]"), (some("button"), None, None, some("a] b")));
        assert_eq!(parts("navigation \"Main\":"), (some("navigation"), None, some("Main"), None));
        assert_eq!(parts("main:"), (None, None, some("main"), None));
        assert_eq!(parts("(scroll down to reveal) textbox \"City\""), (some("textbox"), None, some("City"), None));
        assert_eq!(parts("Sign in"), (None, None, some("Sign in"), None));
        assert_eq!(Description::parse("  "), Err(NoDescription::Empty));
    }

    #[test]
    fn unknown_parts_are_rejected() {
        let check = |text: &str, expected: NoDescription| assert_eq!(Description::parse(text), Err(expected), "{text}");
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
        let near =
            "the nearest are button \"Delete all\" under heading \"Rest\", button \"Delete\" in listitem \"Mug\"";
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
        (any_screen(), proptest::collection::vec((roles(), any::<bool>(), marks), 30)).prop_map(
            |(mut screen, kinds)| {
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
            },
        )
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
            prop_assert_eq!(Description::parse(&text) == Err(NoDescription::Empty), text.trim().is_empty());
        }
    }
}
