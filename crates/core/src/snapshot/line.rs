//! Formats one element as one line of a snapshot.

use super::Details;
use crate::screen::{Field, Node, Shape, fold, quoted};
use crate::selector::Outline;

/// Classes of layout containers.
const GENERIC: [&str; 20] = [
    "View",
    "ViewGroup",
    "FrameLayout",
    "LinearLayout",
    "RelativeLayout",
    "ConstraintLayout",
    "CoordinatorLayout",
    "ComposeView",
    "AndroidComposeView",
    "DecorView",
    "ScrollView",
    "HorizontalScrollView",
    "NestedScrollView",
    "Other",
    "XCUIElementTypeOther",
    "AXGroup",
    "Group",
    "generic",
    "none",
    "presentation",
];

/// Text classes, which are omitted because the quotes around the text say enough.
const PLAIN_TEXT: [&str; 18] = [
    "TextView",
    "StaticText",
    "XCUIElementTypeStaticText",
    "AXStaticText",
    "Text",
    "text",
    "paragraph",
    "strong",
    "emphasis",
    "mark",
    "code",
    "time",
    "subscript",
    "superscript",
    "insertion",
    "deletion",
    "term",
    "definition",
];

/// Classes of lists.
const LISTS: [&str; 13] = [
    "RecyclerView",
    "ListView",
    "GridView",
    "LazyColumn",
    "LazyRow",
    "CollectionView",
    "TableView",
    "Table",
    "XCUIElementTypeCollectionView",
    "XCUIElementTypeTable",
    "AXTable",
    "AXList",
    "list",
];

const LANDMARKS: [&str; 8] =
    ["banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search"];

/// Controls that are on or off even if the platform only reports the on state.
const SWITCHES: [&str; 8] =
    ["CheckBox", "Checkbox", "checkbox", "RadioButton", "radio", "Switch", "switch", "ToggleButton"];

/// `[y778] Button "Sign in" [id=submit] [disabled]`.
pub(super) fn element(node: &Node, label: Option<&str>, details: &Details) -> String {
    let reference = node.reference.as_ref().map(|reference| format!("[{reference}]"));
    let is_plain = |class: &&str| PLAIN_TEXT.contains(class) || GENERIC.contains(class);
    let says_enough = label.is_some() && !node.is_interactive();
    let class = node.class().filter(|class| !(says_enough && is_plain(class))).map(|class| fold(class).to_string());
    let class = class.or_else(|| label.is_none().then(|| "element".to_string()));
    let mut parts: Vec<String> = [reference, class, label.map(quoted)].into_iter().flatten().collect();
    parts.extend(marks(node));
    let mut line = parts.join(" ");
    if let Some(bounds) = node.bounds.filter(|_| details.bounds) {
        let (left, top) = (bounds.left, bounds.top);
        line.push_str(&format!(" {{x:{left},y:{top},w:{},h:{}}}", bounds.width(), bounds.height()));
    }
    if let Some(css) = node.props.text(Field::CssSelector).filter(|_| details.css) {
        line.push_str(&format!(" [css={css}]"));
    }
    line
}

/// The heading of a list or a landmark, which has no ref.
pub(super) fn group(node: &Node) -> Option<String> {
    let class = node.class().filter(|_| !node.children.is_empty())?;
    if is_plain_list(node) {
        return None;
    }
    if LISTS.contains(&class) {
        return Some(format!("{class} [{}]:", item_count(node.children.len())));
    }
    (node.props.shape == Shape::Web && is_landmark(node)).then(|| match label(node) {
        Some(label) => format!("{class} {}:", quoted(&label)),
        None => format!("{class}:"),
    })
}

pub(super) fn item_count(items: usize) -> String {
    format!("{items} {}", if items == 1 { "item" } else { "items" })
}

pub(super) fn is_landmark(node: &Node) -> bool {
    node.props.flag(Field::IsLandmark).unwrap_or(false) || node.class().is_some_and(|class| LANDMARKS.contains(&class))
}

/// Whether a list on a page has only plain text items, which are recognizable by their bullets.
fn is_plain_list(list: &Node) -> bool {
    let is_plain = |item: &Node| {
        let has_list = item.children.iter().any(|inner| inner.class() == Some("list"));
        item.class() == Some("listitem") && !has_list && label(item).is_some() && is_to_be_read(item)
    };
    list.props.shape == Shape::Web && list.class() == Some("list") && list.children.iter().all(is_plain)
}

/// Whether the element is only for reading and needs no ref.
fn is_to_be_read(node: &Node) -> bool {
    node.props.shape == Shape::Web && !node.is_interactive() && node.short_id().is_none() && node.is_enabled()
}

/// The line of a text on a page: a heading, a text or a list item, without a ref. It is quoted if it could be mistaken for
/// something else.
pub(super) fn reading(node: &Node, text: &str) -> Option<String> {
    if !is_to_be_read(node) {
        return None;
    }
    let class = node.class().unwrap_or_default();
    let words = plain_or_quoted(text);
    match class {
        "heading" => {
            let level = usize::try_from(node.props.number(Field::HeadingLevel).unwrap_or(2)).unwrap_or(2);
            Some(format!("{} {words}", "#".repeat(level.clamp(1, 6))))
        }
        "listitem" => Some(format!("•{words}")),
        _ => (PLAIN_TEXT.contains(&class) || GENERIC.contains(&class)).then_some(words),
    }
}

/// A text, in quotes if it could be mistaken for something else, such as the line of an element.
fn plain_or_quoted(text: &str) -> String {
    let is_plain = text.starts_with(char::is_alphanumeric) && !text.ends_with(':') && !text.contains(['"', '[']);
    if is_plain { text.to_string() } else { quoted(text) }
}

/// Shortens the text of an off-screen element.
pub(super) fn cut(text: &str) -> String {
    const CHARS: usize = 50;
    let Some((end, _)) = text.char_indices().nth(CHARS) else { return text.to_string() };
    let kept = &text[..end];
    // Cuts between words if possible.
    format!("{}…", kept.rsplit_once(' ').map_or(kept, |(words, _)| words))
}

/// A table row with plain text cells, in one line: `Ada | 36`.
pub(super) fn row(node: &Node) -> Option<String> {
    let cells = cells(node)?;
    let words = |cell: &String| if cell.is_empty() { String::new() } else { plain_or_quoted(cell) };
    Some(cells.iter().map(words).collect::<Vec<_>>().join(" | "))
}

/// The texts of a table row that has only plain text cells.
pub(super) fn cells(node: &Node) -> Option<Vec<String>> {
    const CELLS: [&str; 3] = ["cell", "columnheader", "rowheader"];
    let is_cell = |cell: &Node| cell.class().is_some_and(|class| CELLS.contains(&class)) && is_to_be_read(cell);
    let is_row = node.class() == Some("row") && is_to_be_read(node) && !node.children.is_empty();
    if !is_row || !node.children.iter().all(is_cell) {
        return None;
    }
    Some(node.children.iter().map(|cell| label(cell).unwrap_or_default()).collect())
}

/// The descendant whose text names an element without text: the first one in it. What merely takes the focus may contain
/// anything, and is named by its content only if that is one text.
pub(super) fn lender(outline: &Outline<'_>, place: usize) -> Option<usize> {
    let node = outline.node(place);
    // On a page, only containers are named by their content; a list is not named by its first item.
    if node.props.shape == Shape::Web && !is_box(node) {
        return None;
    }
    let is_focus_only = node.props.flag(Field::IsFocusOnly).unwrap_or(false);
    let beneath = outline.beneath(place);
    let mut found = None;
    let mut inner = beneath.start;
    while inner < beneath.end {
        let node = outline.node(inner);
        let is_text = label(node).is_some() && !node.is_unlisted() && !node.is_interactive();
        if is_focus_only && (node.is_interactive() || is_text && found.is_some()) {
            return None;
        }
        if is_text {
            found.get_or_insert(inner);
            if !is_focus_only {
                break;
            }
        }
        inner = if is_text || node.is_interactive() { outline.beneath(inner).end } else { inner + 1 };
    }
    found
}

/// Whether the element is only a layout container.
pub(super) fn is_box(node: &Node) -> bool {
    node.class().is_none_or(|class| GENERIC.contains(&class))
}

/// Whether the element only shows a text.
pub(super) fn is_plain_text(node: &Node) -> bool {
    node.class().is_some_and(|class| PLAIN_TEXT.contains(&class)) && !node.is_editable()
}

/// The text of the element in one line; for a field, both its label and its value.
pub(super) fn label(node: &Node) -> Option<String> {
    let (text, label) = (node.text().map(fold), node.label().map(fold));
    if node.is_password() {
        return label;
    }
    match (text, label) {
        (Some(text), Some(label)) if holds_value(node) && text != label => Some(format!("{label}: {text}")),
        // The accessible name "Close" says more than the cross on the button.
        (text, label) if node.props.shape == Shape::Web && node.is_interactive() => label.or(text),
        (text, label) => text.or(label),
    }
}

/// Whether an element of a page is a heading that its container does not replace, even if the container has the same name. The
/// name of a link or button consists of all that is in it.
pub(super) fn is_title(node: &Node, bearer: Option<&Node>) -> bool {
    const NAMED_BY_CONTENT: [&str; 11] = [
        "button",
        "checkbox",
        "link",
        "menuitem",
        "menuitemcheckbox",
        "menuitemradio",
        "option",
        "radio",
        "switch",
        "tab",
        "treeitem",
    ];
    let is_control = |bearer: &Node| bearer.class().is_some_and(|class| NAMED_BY_CONTENT.contains(&class));
    node.props.shape == Shape::Web && node.class() == Some("heading") && !bearer.is_some_and(is_control)
}

/// Whether the line of an element already contains these words.
pub(super) fn contains_words(node: &Node, words: &str) -> bool {
    // On a page, the name of a link or button consists of all the text in it.
    label(node).is_some_and(|label| label == words || node.props.shape == Shape::Web && label.contains(words))
}

/// Whether the text of the element is a value that was entered.
fn holds_value(node: &Node) -> bool {
    node.is_editable() || node.props.shape == Shape::Web && node.props.text(Field::Value).is_some()
}

/// The name of an image or similar element without text.
pub(super) fn is_nameable_leaf(node: &Node) -> bool {
    node.children.is_empty() && node.developer_id().is_some() && node.class().is_some_and(|c| !GENERIC.contains(&c))
}

/// The value of a mark, in quotes if it could end the mark or starts with a quote.
fn mark_text(text: &str) -> String {
    if text.contains("] ") || text.contains("]:") || text.starts_with('"') { quoted(text) } else { text.to_string() }
}

/// The marks of an element, which follow its name in brackets.
pub(super) fn marks(node: &Node) -> impl Iterator<Item = String> {
    let flag = |is: bool, mark: &str| is.then(|| format!("[{mark}]"));
    let text = |field: Field| node.props.text(field).map(fold).filter(|text| !text.is_empty());
    let id = node.short_id().map(|id| format!("[id={}]", mark_text(&fold(id))));
    let is_switch = node.props.flag(Field::IsCheckable).unwrap_or(false)
        || node.class().is_some_and(|class| SWITCHES.contains(&class));
    let checked = match node.is_checked() {
        Some(true) => Some("[checked]".to_string()),
        Some(false) if is_switch => Some("[unchecked]".to_string()),
        _ => None,
    };
    let value = text(Field::Value).filter(|value| !node.is_password() && node.text().map(fold).as_ref() != Some(value));
    let state = text(Field::StateDescription).or_else(|| text(Field::ToggleableState));
    [
        id,
        flag(node.is_selected(), "selected"),
        flag(node.is_focused(), "focused"),
        flag(!node.is_enabled(), "disabled"),
        checked,
        flag(node.is_password(), "password"),
        flag(node.props.flag(Field::IsHeading).unwrap_or(false), "heading"),
        node.props.number(Field::HeadingLevel).map(|level| format!("[level={level}]")),
        value.map(|value| format!("[value: {}]", mark_text(&value))),
        state.map(|state| format!("[state: {}]", quoted(&state))),
        text(Field::Options).map(|options| format!("[options: {}]", mark_text(&options))),
    ]
    .into_iter()
    .flatten()
}
