//! A screen in the words of an expected tree: roles that are the same on all platforms, and no boxes that only lay out others.

use crate::screen::{Field, Node, Shape, fold, quoted};
use crate::selector::Outline;
use crate::snapshot::{is_layout_box, is_of_system, is_plain_text, shown_label};

/// The elements that can be expected, parents first.
pub struct ShownTree<'a> {
    pub elements: Vec<ShownElement<'a>>,
}

pub struct ShownElement<'a> {
    pub node: &'a Node,
    pub depth: usize,
    /// The element after the last one in this one.
    pub end: usize,
    /// `None` if it is only a box.
    pub role: Option<String>,
    /// Its name, as a snapshot shows it.
    name: Option<String>,
    /// What was typed into it, or chosen.
    value: Option<String>,
    /// The texts that a name, and the text after a colon, may be compared with.
    pub names: Vec<String>,
    pub texts: Vec<String>,
    /// Whether it only repeats the name of what it is in.
    is_repeated: bool,
}

/// Roles by the classes of apps, without the prefixes of platforms.
const ROLES: &[(&str, &[&str])] = &[
    ("button", &["Button", "ImageButton", "MaterialButton", "FloatingActionButton"]),
    ("textbox", &["EditText", "TextField", "SecureTextField", "SearchField", "TextArea"]),
    ("checkbox", &["CheckBox"]),
    ("radio", &["RadioButton"]),
    ("switch", &["Switch", "ToggleButton"]),
    ("img", &["Image", "ImageView"]),
    ("list", &["RecyclerView", "ListView", "LazyColumn", "LazyRow", "CollectionView", "List"]),
    ("grid", &["GridView"]),
    ("table", &["Table", "TableView"]),
    ("cell", &["Cell"]),
    ("link", &["Link"]),
    ("slider", &["Slider", "SeekBar"]),
    ("progressbar", &["ProgressBar", "ProgressIndicator"]),
    ("combobox", &["Spinner", "DropdownList", "PopUpButton"]),
    ("tab", &["Tab"]),
];

impl<'a> ShownTree<'a> {
    pub fn new(outline: &Outline<'a>) -> ShownTree<'a> {
        let mut elements: Vec<ShownElement<'a>> = Vec::new();
        // What encloses the next node: the end of its range, and its element if it has one.
        let mut above: Vec<(usize, Option<usize>)> = Vec::new();
        let mut place = 0;
        while place < outline.places().end {
            let node = outline.node(place);
            let end = outline.beneath(place).end;
            if node.hidden().is_some() || is_of_system(node) {
                place = end;
                continue;
            }
            while above.last().is_some_and(|(last, _)| *last <= place) {
                above.pop();
            }
            let parent = above.iter().rev().find_map(|(_, element)| *element);
            let element = element_of(outline, place, parent.map(|parent| &elements[parent]));
            let own = element.map(|element| {
                elements.push(element);
                elements.len() - 1
            });
            above.push((end, own));
            place += 1;
        }
        for at in 0..elements.len() {
            let beneath = elements[at + 1..].iter().take_while(|inner| inner.depth > elements[at].depth).count();
            elements[at].end = at + 1 + beneath;
        }
        ShownTree { elements }
    }

    /// The text that expects all of it.
    pub fn text(&self) -> String {
        let lines: Vec<String> = (0..self.elements.len()).filter_map(|at| self.indented(at)).collect();
        lines.join("\n")
    }

    /// The line of an element, indented; `None` for one that says nothing new.
    pub fn indented(&self, at: usize) -> Option<String> {
        let element = &self.elements[at];
        if element.is_repeated && element.end == at + 1 {
            return None;
        }
        let line = element.line()?;
        let is_told = |inner: usize| !self.elements[inner].is_repeated || self.elements[inner].end > inner + 1;
        let has_more = (at + 1..element.end).any(is_told);
        let colon = if has_more && element.value.is_none() { ":" } else { "" };
        Some(format!("{}- {line}{colon}", "  ".repeat(element.depth)))
    }
}

impl ShownElement<'_> {
    /// The line of an expected tree that means it.
    fn line(&self) -> Option<String> {
        let name = self.name.as_deref().map(quoted);
        let mut parts: Vec<String> = [self.role.clone(), name].into_iter().flatten().collect();
        if parts.is_empty() {
            return None;
        }
        parts.extend(self.marks());
        let is_plain = |value: &str| value.starts_with(char::is_alphanumeric);
        let value = self.value.as_deref().map(|value| if is_plain(value) { value.to_string() } else { quoted(value) });
        Some(parts.join(" ") + &value.map(|value| format!(": {value}")).unwrap_or_default())
    }

    /// What is worth expecting of its state.
    fn marks(&self) -> Vec<String> {
        let node = self.node;
        let checked = node.is_checked().filter(|checked| *checked).map(|_| "[checked]".to_string());
        let disabled = (!node.is_enabled()).then(|| "[disabled]".to_string());
        let selected = node.is_selected().then(|| "[selected]".to_string());
        let level = node.props.number(Field::HeadingLevel).map(|level| format!("[level={level}]"));
        [level, checked, selected, disabled].into_iter().flatten().collect()
    }

    pub fn has_role(&self, wanted: &str) -> bool {
        let is = |own: &str| fold(own).eq_ignore_ascii_case(wanted);
        let class = self.node.class();
        let is_image = |role: &str| role == "img" && wanted.eq_ignore_ascii_case("image");
        self.role.as_deref().is_some_and(|role| is(role) || is_image(role))
            || class.is_some_and(|class| is(class) || is(plain(class)))
            || wanted.eq_ignore_ascii_case("text") && is_plain_text(self.node)
    }
}

/// The element of a node; `None` if it is only there to lay out others, or has nothing that could be expected.
fn element_of<'a>(outline: &Outline<'a>, place: usize, parent: Option<&ShownElement<'a>>) -> Option<ShownElement<'a>> {
    let node = outline.node(place);
    let is_page = place == 0 && node.class() == Some("document");
    let (text, label) = (node.text().filter(|_| !node.is_password()).map(fold), node.label().map(fold));
    let has_value = node.is_editable() || node.props.text(Field::Value).is_some();
    let shown = shown_label(outline, place).map(|name| fold(&name));
    let name = if has_value { label.clone() } else { shown.clone() }.filter(|name| !name.is_empty());
    let role = role_of(node);
    if is_page || node.is_unlisted() || name.is_none() && (role.is_none() || is_plain_text(node)) {
        return None;
    }
    let own = node.props.text(Field::Value).filter(|_| !node.is_password()).map(fold);
    let value =
        own.clone().or(text.clone()).filter(|value| has_value && !value.is_empty() && Some(value) != name.as_ref());
    let is_said = |parent: &ShownElement<'_>| {
        parent.name.as_deref().zip(name.as_deref()).is_some_and(|(above, name)| above.contains(name))
    };
    let is_repeated = role.as_deref().is_none_or(|role| role == "text") && parent.is_some_and(is_said);
    let names = [name.clone(), shown.clone(), label, text.clone()].into_iter().flatten().collect();
    let texts = [text, own, shown].into_iter().flatten().collect();
    let depth = parent.map_or(0, |parent| parent.depth + 1);
    Some(ShownElement { node, depth, end: 0, role, name, value, names, texts, is_repeated })
}

/// The role in the words of the web, if it can be written in a line.
fn role_of(node: &Node) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    own_role(node).map(|role| fold(&role)).filter(|role| !role.is_empty() && role.chars().all(is_word))
}

fn own_role(node: &Node) -> Option<String> {
    if is_plain_text(node) && node.props.flag(Field::IsHeading).unwrap_or(false) {
        return Some("heading".to_string());
    }
    let class = node.class()?;
    if is_layout_box(node) {
        return None;
    }
    if node.props.shape == Shape::Web {
        return Some(if is_plain_text(node) { "text" } else { class }.to_string());
    }
    let class = plain(class);
    // The lists of iPhones are tables of cells.
    let is_iphone = matches!(node.props.shape, Shape::IosMaestro | Shape::IosAxe);
    let of_iphone = match class {
        _ if !is_iphone => None,
        "Table" | "TableView" => Some("list"),
        "Cell" => Some("listitem"),
        _ => None,
    };
    let known = of_iphone.or_else(|| of_apps(class));
    let role = match known {
        Some(role) => role,
        None if node.is_editable() => "textbox",
        None if is_plain_text(node) => "text",
        None => class,
    };
    Some(role.to_string())
}

fn of_apps(class: &str) -> Option<&'static str> {
    let is = |classes: &&[&str]| classes.iter().any(|known| known.eq_ignore_ascii_case(class));
    ROLES.iter().find(|(_, classes)| is(classes)).map(|(role, _)| *role)
}

/// The class without the prefix of its platform.
fn plain(class: &str) -> &str {
    let class = class.strip_prefix("XCUIElementType").unwrap_or(class);
    class.strip_prefix("AX").unwrap_or(class)
}
