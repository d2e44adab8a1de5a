//! The screen as text, for models and for people on the command line.

mod line;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::diff;
use crate::screen::{Field, Node, Screen, Shape, fold, quoted};
use crate::selector::Outline;

/// What to show in addition to visible elements that have a ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Details {
    pub bounds: bool,
    pub offscreen: bool,
    /// Which elements are covered by others.
    pub covered: bool,
    /// A CSS selector for each element of a page.
    pub css: bool,
    /// All elements, including layout containers and system bars.
    pub all: bool,
    /// Only the subtree of this node.
    pub within: Option<u64>,
    /// Only this many levels.
    pub depth: Option<usize>,
}

/// The text of a screen. Every element that can be acted on is listed with its ref.
pub fn text(screen: &Screen, details: &Details) -> String {
    let outline = Outline::new(&screen.root);
    let mut page = SnapshotPage::new(&outline);
    let scope = details.within.and_then(|node| outline.find(node)).map(|place| place..outline.beneath(place).end);
    let scope = scope.unwrap_or(outline.places());
    let mut place = scope.start;
    while place < scope.end {
        if !details.all && is_of_system(outline.node(place)) {
            place = outline.beneath(place).end;
            continue;
        }
        page.visit(screen, details, place);
        place += 1;
    }
    let mut lines = header(screen);
    if page.lines.is_empty() {
        lines.push("(no interactive elements found)".to_string());
    }
    lines.append(&mut page.lines);
    match page.hidden {
        0 => {}
        1 => lines.push("(1 offscreen element hidden — use --offscreen to show)".to_string()),
        n_hidden => lines.push(format!("({n_hidden} offscreen elements hidden — use --offscreen to show)")),
    }
    lines.join("\n")
}

/// The elements that have refs, for programs.
pub fn elements(screen: &Screen) -> Vec<Value> {
    let pointable = screen.root.walk().filter(|node| node.reference.is_some());
    pointable
        .map(|node| {
            let mut element = json!({
                "ref": node.reference, "nodeId": node.id, "role": node.class(), "text": node.text(),
                "id": node.developer_id(), "bounds": node.bounds, "enabled": node.is_enabled(),
            });
            if let Some(label) = node.label().filter(|label| Some(*label) != node.text()) {
                element["label"] = label.into();
            }
            if let Some(checked) = node.is_checked() {
                element["checked"] = checked.into();
            }
            for (is_so, name) in [(node.is_selected(), "selected"), (node.is_focused(), "focused")] {
                if is_so {
                    element[name] = true.into();
                }
            }
            element
        })
        .collect()
}

/// How deeply elements are nested for programs: readers of protobuf refuse messages that are nested deeper than 100.
const TREE_DEPTH: usize = 60;

/// An element and the elements in it, for programs. Elements that are nested too deeply become children of the deepest one above
/// them.
pub fn tree(root: &Node) -> Value {
    nested(root, TREE_DEPTH, &mut 0)
}

/// `next` is the number of the element in document order: its node id.
fn nested(node: &Node, depth: usize, next: &mut usize) -> Value {
    let mut element = fields(node, next);
    let children: Vec<Value> = match depth {
        0 => node.walk().skip(1).map(|inner| Value::Object(fields(inner, next))).collect(),
        _ => node.children.iter().map(|child| nested(child, depth - 1, next)).collect(),
    };
    if !children.is_empty() {
        element.insert("children".into(), children.into());
    }
    Value::Object(element)
}

/// The properties of an element. What is absent or false is left out: a screen has hundreds of elements.
fn fields(node: &Node, next: &mut usize) -> Map<String, Value> {
    let label = node.label().filter(|label| Some(*label) != node.text());
    let element = json!({
        "ref": node.reference, "role": node.class(), "text": node.text(), "label": label, "id": node.developer_id(),
        "bounds": node.bounds, "enabled": node.is_enabled(), "checked": node.is_checked(),
        "selected": node.is_selected(), "focused": node.is_focused(), "clipped": node.is_clipped, "nodeId": *next,
    });
    *next += 1;
    let Value::Object(mut fields) = element else { unreachable!("an object") };
    let is_told = |name: &str| matches!(name, "enabled" | "checked");
    fields.retain(|name, value| !value.is_null() && (*value != Value::Bool(false) || is_told(name)));
    fields
}

/// The name of an element in a snapshot, if it has one: its text, its value or, for a container that is clickable, the
/// first text in it.
pub(crate) fn shown_label(outline: &Outline<'_>, place: usize) -> Option<String> {
    let node = outline.node(place);
    line::label(node).or_else(|| {
        let lender = node.is_interactive().then(|| line::lender(outline, place)).flatten()?;
        line::label(outline.node(lender))
    })
}

/// A table row in one line, as in a snapshot.
pub(crate) fn shown_row(node: &Node) -> Option<String> {
    line::row(node)
}

/// Whether the line of an element has this mark, written without brackets, such as `checked`.
pub(crate) fn has_mark(node: &Node, mark: &str) -> bool {
    let items = || line::item_count(node.children.len());
    line::marks(node).any(|own| own[1..own.len() - 1] == *mark) || items() == mark
}

/// Whether the element is only a layout container.
pub(crate) fn is_layout_box(node: &Node) -> bool {
    line::is_box(node)
}

/// Whether the element only shows a text.
pub(crate) fn is_plain_text(node: &Node) -> bool {
    line::is_plain_text(node)
}

/// The difference between two texts of a screen: removed lines, then added lines. A line that is there several times counts several
/// times, and one that moved is removed and added. Indentation and empty lines do not count.
pub fn changes(before: &str, after: &str) -> String {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_string).collect()
    };
    let (old, new) = (lines(before), lines(after));
    let edits = diff::edits(&old, &new);
    let marked = |mark: char| edits.iter().filter(move |(sign, _)| *sign == mark);
    let changed: Vec<String> = marked('-').chain(marked('+')).map(|(sign, line)| format!("{sign} {line}")).collect();
    if changed.is_empty() { "(nothing changed)".to_string() } else { changed.join("\n") }
}

fn header(screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    if screen.root.props.shape == Shape::Web {
        lines.push("### Page".to_string());
        lines.extend(screen.app.as_ref().map(|url| format!("URL: {url}")));
        lines.extend(screen.root.text().map(|title| format!("Title: {}", fold(title))));
        lines.push(String::new());
        lines.push("### Screen".to_string());
        lines.push(format!("Viewport: {}x{}", screen.size.width, screen.size.height));
    } else {
        lines.push("### Screen".to_string());
        lines.extend(screen.app.as_ref().map(|app| format!("App: {app}")));
    }
    lines.push(String::new());
    lines
}

/// Whether an element belongs to the device and not to the app.
pub(crate) fn is_of_system(node: &Node) -> bool {
    const STATUS_BAR: i32 = 50;
    let id = node.props.text(Field::ResourceId).unwrap_or_default();
    let is_ios = matches!(node.props.shape, Shape::IosMaestro | Shape::IosAxe);
    let is_plain_leaf = node.children.is_empty() && !node.is_interactive();
    // The text of the iOS clock varies, so it is only recognized by its position.
    let is_status_bar = is_ios && is_plain_leaf && node.bounds.is_some_and(|bounds| bounds.bottom <= STATUS_BAR);
    id.starts_with("com.android.systemui:") || is_status_bar
}

/// The lines so far, and the state that nested elements need.
struct SnapshotPage<'a> {
    outline: &'a Outline<'a>,
    lines: Vec<String>,
    hidden: usize,
    /// Whether the last line was of an off-screen element.
    is_off: bool,
    /// The indentation of the children of each node.
    indents: Vec<usize>,
    /// The closest element that receives the touches of each node, which may be the node itself.
    bearers: Vec<Option<usize>>,
    /// The nodes whose text was already used as the name of an enclosing element.
    lent: Vec<bool>,
}

impl<'a> SnapshotPage<'a> {
    fn new(outline: &'a Outline<'a>) -> SnapshotPage<'a> {
        let count = outline.places().end;
        SnapshotPage {
            outline,
            lines: Vec::new(),
            hidden: 0,
            is_off: false,
            indents: vec![0; count],
            bearers: vec![None; count],
            lent: vec![false; count],
        }
    }

    fn visit(&mut self, screen: &Screen, details: &Details, place: usize) {
        let node = self.outline.node(place);
        let parent = self.outline.ancestors(place).next();
        let indent = parent.map_or(0, |parent| self.indents[parent]);
        let bearer = parent.and_then(|parent| self.bearers[parent]);
        // What merely takes the focus has its content as any other box.
        let is_bearer = node.is_interactive() && !node.props.flag(Field::IsFocusOnly).unwrap_or(false);
        self.bearers[place] = if is_bearer { Some(place) } else { bearer };
        self.indents[place] = indent;
        let is_offscreen = screen.visible_part(node).is_none();
        let Some(mut line) = self.line(details, place, bearer, is_offscreen) else { return };
        let is_web = node.props.shape == Shape::Web;
        if is_offscreen && details.offscreen && !is_web {
            line.push_str(" (offscreen)");
        } else if is_web && details.offscreen {
            // Pages have many off-screen elements, so only the start and end of a group is marked.
            if is_offscreen != self.is_off {
                self.is_off = is_offscreen;
                let mark = if is_offscreen { "(offscreen:)" } else { "(on the screen:)" };
                self.lines.push(mark.to_string());
            }
        } else if is_offscreen && node.is_editable() {
            // Forms are filled in as a whole, so fields are listed even if they are off-screen.
            line = format!("({}) {line}", way_to(screen, node));
        } else if is_offscreen {
            self.hidden += usize::from(node.is_interactive() || bearer.is_none() && line::group(node).is_none());
            return;
        }
        if details.covered && node.props.flag(Field::IsCovered).unwrap_or(false) {
            line.push_str(" (covered)");
        }
        // Pages are long, so indentation is kept small.
        if details.depth.is_none_or(|depth| indent < depth) {
            self.lines.push(format!("{}{line}", if is_web { " " } else { "  " }.repeat(indent)));
        }
        self.indents[place] = indent + usize::from(!(is_web && line::is_landmark(node)));
    }

    /// The line of an element, if it has one.
    fn line(&mut self, details: &Details, place: usize, bearer: Option<usize>, is_offscreen: bool) -> Option<String> {
        let node = self.outline.node(place);
        if node.is_interactive() {
            let label = line::label(node).or_else(|| {
                let lender = line::lender(self.outline, place)?;
                self.lent[lender] = true;
                line::label(self.outline.node(lender))
            });
            return Some(line::element(node, label.as_deref(), details));
        }
        // The header already contains the title.
        if place == 0 && node.props.shape == Shape::Web && !details.all {
            return None;
        }
        if let Some(group) = line::group(node) {
            let reference = node.reference.as_ref().filter(|_| details.all);
            return Some(reference.map_or_else(|| group.clone(), |reference| format!("[{reference}] {group}")));
        }
        let label = line::label(node);
        let stands_alone = details.all || line::is_title(node, bearer.map(|bearer| self.outline.node(bearer)));
        if self.lent[place] && !stands_alone {
            return None;
        }
        if let Some((bearer, label)) = bearer.zip(label.as_ref()).filter(|_| !stands_alone) {
            let is_said = line::contains_words(self.outline.node(bearer), label);
            return (!is_said).then(|| quoted(label));
        }
        if !details.all && !details.bounds && !details.css {
            if let Some((row, cells)) = line::row(node).zip(line::cells(node)) {
                let is_said = |words: String| cells.iter().any(|cell| cell.contains(&words));
                for inner in self.outline.beneath(place) {
                    self.lent[inner] = line::label(self.outline.node(inner)).is_some_and(is_said);
                }
                return Some(row);
            }
            let text = label.as_deref().map(|text| if is_offscreen { line::cut(text) } else { text.to_string() });
            if let Some(line) = text.and_then(|text| line::reading(node, &text)) {
                return Some(line);
            }
        }
        let is_worth_a_line = label.is_some() || line::is_nameable_leaf(node) || details.all;
        is_worth_a_line.then(|| line::element(node, label.as_deref(), details))
    }
}

fn way_to(screen: &Screen, node: &Node) -> &'static str {
    let frame = screen.frame();
    match node.bounds {
        Some(bounds) if bounds.bottom <= frame.top => "scroll up to reveal",
        Some(bounds) if bounds.right <= frame.left => "scroll left to reveal",
        Some(bounds) if bounds.left >= frame.right && bounds.top < frame.bottom => "scroll right to reveal",
        _ => "scroll down to reveal",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::selector::samples::{Build, android, any_screen, node, screen};

    const PLAIN: Details =
        Details { bounds: false, offscreen: false, covered: false, css: false, all: false, within: None, depth: None };

    #[test]
    fn the_tree_for_programs_has_every_element_and_a_limited_depth() {
        let deep = (1..200).fold(android("View", ""), |inner, _| {
            let mut outer = android("View", "");
            outer.children.push(inner);
            outer
        });
        fn depth(element: &Value) -> usize {
            let children = element["children"].as_array().into_iter().flatten();
            1 + children.map(depth).max().unwrap_or(0)
        }
        fn count(element: &Value) -> usize {
            1 + element["children"].as_array().into_iter().flatten().map(count).sum::<usize>()
        }
        let tree = tree(&deep);
        assert_eq!((depth(&tree), count(&tree)), (TREE_DEPTH + 2, 200));
    }

    /// Checks the text below the header, with refs written as `[#]`.
    fn check(root: Node, details: Details, expected: &[&str]) {
        let screen = screen(root);
        let mut found = text(&screen, &details);
        for reference in screen.root.walk().filter_map(|node| node.reference.as_ref()) {
            found = found.replace(&format!("[{reference}]"), "[#]");
        }
        let lines: Vec<&str> = found.lines().skip(3).collect();
        assert_eq!(lines, expected, "{found}");
    }

    fn frame(children: impl IntoIterator<Item = Node>) -> Node {
        android("FrameLayout", "").at(0, 0, 400, 800).holding(children)
    }

    fn button(text: &str) -> Node {
        android("Button", text).with(Field::IsClickable, true).at(0, 0, 100, 50)
    }

    #[test]
    fn the_header_names_the_app_or_the_page() {
        let app = screen(frame([]));
        assert_eq!(text(&app, &PLAIN), "### Screen\nApp: com.example\n\n(no interactive elements found)");
        let mut page = screen(node(Shape::Web).with(Field::AriaName, "Home"));
        page.app = Some("https://example.com".into());
        let expected = "### Page\nURL: https://example.com\nTitle: Home\n\n### Screen\nViewport: 400x800\n\n";
        assert!(text(&page, &PLAIN).starts_with(expected), "{}", text(&page, &PLAIN));
    }

    #[test]
    fn an_element_is_one_line_with_its_state() {
        let pay = button("Sign\n in").with(Field::ResourceId, "com.x:id/submit").with(Field::IsEnabled, false);
        check(frame([pay]), PLAIN, &["[#] Button \"Sign in\" [id=submit] [disabled]"]);
        let on = button("Wifi").with(Field::IsCheckable, true).with(Field::IsChecked, false);
        check(
            frame([on.with(Field::StateDescription, "Off")]),
            PLAIN,
            &["[#] Button \"Wifi\" [unchecked] [state: \"Off\"]"],
        );
        let tab = button("Say \"hi\"").with(Field::IsSelected, true).with(Field::IsFocused, true);
        check(frame([tab]), PLAIN, &["[#] Button \"Say \\\"hi\\\"\" [selected] [focused]"]);
        let title = android("TextView", "Bank").with(Field::IsHeading, true).at(0, 0, 50, 50);
        check(frame([title]), PLAIN, &["[#] \"Bank\" [heading]"]);
        let details = Details { bounds: true, ..PLAIN };
        check(frame([button("Pay")]), details, &["[#] Button \"Pay\" {x:0,y:0,w:100,h:50}"]);
    }

    #[test]
    fn a_field_says_what_it_is_for_and_what_is_in_it() {
        let field = |typed: &str| {
            let field = android("EditText", typed).with(Field::IsEditable, true).at(0, 0, 50, 50);
            field.with(Field::HintText, "Name")
        };
        let web = node(Shape::Web).with(Field::IsEditable, true).with(Field::AriaName, "Name").at(0, 0, 50, 50);
        let web = web.with(Field::AriaRole, "textbox").with(Field::Value, "joe");
        let page = |field: Node| text(&screen(node(Shape::Web).holding([field])), &PLAIN);
        assert!(page(web.clone()).ends_with("[e1] textbox \"Name: joe\""), "{}", page(web));
        check(frame([field("")]), PLAIN, &["[#] EditText \"Name\""]);
        check(frame([field("joe")]), PLAIN, &["[#] EditText \"Name: joe\""]);
        check(frame([field("secret").with(Field::IsPassword, true)]), PLAIN, &["[#] EditText \"Name\" [password]"]);
    }

    #[test]
    fn boxes_vanish_and_a_row_takes_the_first_words_in_it() {
        let label = |text: &str| android("TextView", text).at(0, 0, 50, 50);
        let row = android("LinearLayout", "").with(Field::IsClickable, true).at(0, 0, 400, 50);
        let row = row.holding([frame([label("Wifi"), label("Connected")]), button("Forget")]);
        let expected = ["[#] LinearLayout \"Wifi\"", "  \"Connected\"", "  [#] Button \"Forget\""];
        check(frame([frame([row])]), PLAIN, &expected);
        check(frame([button("Pay").holding([label("Pay")])]), PLAIN, &["[#] Button \"Pay\""]);
    }

    #[test]
    fn lists_and_landmarks_head_what_is_in_them() {
        let list = android("RecyclerView", "").at(0, 0, 400, 800).holding([button("A"), button("B")]);
        check(frame([list]), PLAIN, &["RecyclerView [2 items]:", "  [#] Button \"A\"", "  [#] Button \"B\""]);
        let web = |role: &str, name: &str| node(Shape::Web).with(Field::AriaRole, role).with(Field::AriaName, name);
        let link = web("link", "Learn more").with(Field::IsInteractive, true).at(0, 0, 50, 50);
        let heading = web("heading", "News").with(Field::HeadingLevel, 2).at(0, 0, 50, 50);
        let page = node(Shape::Web).holding([web("navigation", "Main").at(0, 0, 400, 50).holding([link, heading])]);
        let found = text(&screen(page), &PLAIN);
        let lines: Vec<&str> = found.lines().skip(6).collect();
        assert_eq!(lines, ["navigation \"Main\":", "[e2] link \"Learn more\"", "## News"]);
    }

    #[test]
    fn what_is_off_the_screen_is_counted_or_marked() {
        let field = android("EditText", "").with(Field::IsEditable, true).with(Field::HintText, "Name");
        let root = || frame([button("A"), button("B").at(0, 900, 50, 0), field.clone().at(0, 1000, 50, 50)]);
        check(
            root(),
            PLAIN,
            &[
                "[#] Button \"A\"",
                "(scroll down to reveal) [#] EditText \"Name\"",
                "(1 offscreen element hidden — use --offscreen to show)",
            ],
        );
        let details = Details { offscreen: true, ..PLAIN };
        check(
            root(),
            details,
            &["[#] Button \"A\"", "[#] Button \"B\" (offscreen)", "[#] EditText \"Name\" (offscreen)"],
        );
    }

    #[test]
    fn what_belongs_to_the_device_is_left_out() {
        let bar = frame([button("Battery")]).with(Field::ResourceId, "com.android.systemui:id/bar");
        check(frame([bar, button("Pay")]), PLAIN, &["[#] Button \"Pay\""]);
        let ios = |text: &str, top: i32| node(Shape::IosMaestro).with(Field::Text, text).at(0, top, 50, 20);
        let root = node(Shape::IosMaestro).at(0, 0, 400, 800).holding([ios("9:41", 10), ios("Pay", 100)]);
        check(root, PLAIN, &["[#] \"Pay\""]);
    }

    #[test]
    fn everything_is_shown_on_request() {
        let details = Details { all: true, ..PLAIN };
        check(frame([button("Pay")]), details, &["FrameLayout", "  [#] Button \"Pay\""]);
    }

    #[test]
    fn lines_that_are_there_several_times_are_counted() {
        let seven = ["• Milk"; 7].join("\n");
        let six = ["• Milk"; 6].join("\n");
        assert_eq!(changes(&seven, &six), "- • Milk");
        assert_eq!(changes(&six, &seven), "+ • Milk");
        assert_eq!(changes("a\nb\nc", "b\nc\na"), "- a\n+ a");
        assert_eq!(changes("a\n\n  b", "  a\nb\n"), "(nothing changed)");
    }

    proptest! {
        #[test]
        fn the_old_text_and_its_changes_make_the_new_text(
            old in proptest::collection::vec("[ab]{0,2}", 0..12), new in proptest::collection::vec("[ab]{0,2}", 0..12),
        ) {
            let changed = changes(&old.join("\n"), &new.join("\n"));
            let mut lines: Vec<&str> = old.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
            let mut expected: Vec<&str> = new.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
            prop_assert_eq!(changed == "(nothing changed)", lines == expected);
            for line in changed.lines() {
                if let Some(gone) = line.strip_prefix("- ") {
                    let at = lines.iter().position(|line| *line == gone);
                    lines.remove(at.expect("only what was there is removed"));
                } else if let Some(new) = line.strip_prefix("+ ") {
                    lines.push(new);
                }
            }
            lines.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(lines, expected, "{}", changed);
        }

        #[test]
        fn what_can_be_acted_on_is_shown_with_its_reference(screen in any_screen()) {
            let shown = text(&screen, &PLAIN);
            for node in screen.root.walk() {
                if node.is_interactive() && screen.visible_part(node).is_some() {
                    let reference = node.reference.as_ref().unwrap();
                    prop_assert!(shown.contains(&format!("[{reference}]")), "{reference} in {shown}");
                }
            }
        }
    }
}
