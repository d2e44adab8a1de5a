//! One element in one line.

use super::Details;
use crate::screen::{Field, Node, Shape, fold};

/// Boxes that only arrange others.
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

/// Classes that say no more than the quotes around the text do.
const PLAIN_TEXT: [&str; 7] =
    ["TextView", "StaticText", "XCUIElementTypeStaticText", "AXStaticText", "Text", "text", "paragraph"];

/// Containers of alike things.
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

/// Controls that are on or off even where the platform only says so when they are on.
const SWITCHES: [&str; 8] =
    ["CheckBox", "Checkbox", "checkbox", "RadioButton", "radio", "Switch", "switch", "ToggleButton"];

/// `[y778] Button "Sign in" [id=submit] [disabled]`.
pub(super) fn element(node: &Node, label: Option<&str>, details: &Details) -> String {
    let reference = node.reference.as_ref().map(|reference| format!("[{reference}]"));
    let is_plain = |class: &&str| PLAIN_TEXT.contains(class) || GENERIC.contains(class);
    let says_enough = label.is_some() && !node.is_interactive();
    let class = node.class().filter(|class| !(says_enough && is_plain(class))).map(str::to_string);
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

/// The heading of a list or a part of a page, which is there to be read and not to be pointed at.
pub(super) fn group(node: &Node) -> Option<String> {
    let class = node.class().filter(|_| !node.children.is_empty())?;
    if LISTS.contains(&class) {
        let items = node.children.len();
        return Some(format!("{class} [{items} {}]:", if items == 1 { "item" } else { "items" }));
    }
    (node.props.shape == Shape::Web && is_landmark(node)).then(|| match label(node) {
        Some(label) => format!("{class} {}:", quoted(&label)),
        None => format!("{class}:"),
    })
}

pub(super) fn is_landmark(node: &Node) -> bool {
    node.props.flag(Field::IsLandmark).unwrap_or(false) || node.class().is_some_and(|class| LANDMARKS.contains(&class))
}

/// What is there to be read on a page: a heading or a text, without a ref. What could be taken for something else is quoted.
pub(super) fn reading(node: &Node, text: &str) -> Option<String> {
    if node.props.shape != Shape::Web || node.short_id().is_some() || !node.is_enabled() {
        return None;
    }
    let class = node.class().unwrap_or_default();
    let is_plain = text.starts_with(char::is_alphanumeric) && !text.ends_with(':');
    let words = if is_plain { text.to_string() } else { quoted(text) };
    if class == "heading" {
        let level = usize::try_from(node.props.number(Field::HeadingLevel).unwrap_or(2)).unwrap_or(2);
        return Some(format!("{} {words}", "#".repeat(level.clamp(1, 6))));
    }
    (PLAIN_TEXT.contains(&class) || GENERIC.contains(&class)).then_some(words)
}

/// What the element says, in one line; for a field both what it is for and what is in it.
pub(super) fn label(node: &Node) -> Option<String> {
    let (text, label) = (node.text().map(fold), node.label().map(fold));
    if node.is_password() {
        return label;
    }
    match (text, label) {
        (Some(text), Some(label)) if holds_value(node) && text != label => Some(format!("{label}: {text}")),
        (text, label) => text.or(label),
    }
}

/// Whether what it says is what somebody put there.
fn holds_value(node: &Node) -> bool {
    node.is_editable() || node.props.shape == Shape::Web && node.props.text(Field::Value).is_some()
}

/// A picture or the like that has a name, but no words.
pub(super) fn is_nameable_leaf(node: &Node) -> bool {
    node.children.is_empty() && node.developer_id().is_some() && node.class().is_some_and(|c| !GENERIC.contains(&c))
}

pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\\\""))
}

fn marks(node: &Node) -> impl Iterator<Item = String> {
    let flag = |is: bool, mark: &str| is.then(|| format!("[{mark}]"));
    let text = |field: Field| node.props.text(field).map(fold).filter(|text| !text.is_empty());
    // A path through a web page would drown the rest.
    let is_path = |id: &&str| node.props.shape == Shape::Web && id.contains([' ', '>', '[', '(']);
    let id = node.short_id().filter(|id| !is_path(id)).map(|id| format!("[id={}]", fold(id)));
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
        value.map(|value| format!("[value: {value}]")),
        state.map(|state| format!("[state: {}]", quoted(&state))),
        text(Field::Options).map(|options| format!("[options: {options}]")),
    ]
    .into_iter()
    .flatten()
}
