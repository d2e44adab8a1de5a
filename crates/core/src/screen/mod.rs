//! What a device shows: a tree of elements with the properties of its platform, and a screenshot.

mod vocabulary;

use std::sync::Arc;

use trailblaze_protocol::geometry::{Rect, Size};

use self::vocabulary::Vocabulary;
pub use self::vocabulary::{Field, FieldKind, Shape};

/// Identifies one observation. Later observations have greater numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SnapshotId(pub u64);

/// One observation of a device's screen.
#[derive(Debug, Clone)]
pub struct Screen {
    pub snapshot: SnapshotId,
    pub size: Size,
    /// The app in the foreground: a package, a bundle id or a URL.
    pub app: Option<String>,
    pub root: Node,
    pub picture: Option<Picture>,
    /// Whether it is about to change by itself, as while a notice fades out.
    pub is_moving: bool,
}

impl Screen {
    /// The bounds of the screen.
    pub fn frame(&self) -> Rect {
        let width = i32::try_from(self.size.width).unwrap_or(i32::MAX);
        let height = i32::try_from(self.size.height).unwrap_or(i32::MAX);
        Rect { left: 0, top: 0, right: width, bottom: height }
    }

    /// Whether an app is in front that shows nothing yet, such as a page whose script has not filled it.
    pub fn is_loading(&self) -> bool {
        let is_blank = self.app.as_deref().is_none_or(|app| app.starts_with("about:"));
        let is_empty = |node: &Node| {
            let is_plain = node.class().is_none_or(|class| class == "generic");
            is_plain && node.text().is_none() && node.label().is_none() && !node.is_interactive()
        };
        !is_blank && self.root.walk().skip(1).all(is_empty)
    }

    /// The visible part of an element.
    pub fn visible_part(&self, node: &Node) -> Option<Rect> {
        if node.is_clipped || node.hidden().is_some() {
            return None;
        }
        let bounds = node.bounds.filter(|bounds| bounds.left < bounds.right && bounds.top < bounds.bottom)?;
        bounds.intersect(&self.frame())
    }
}

/// A screenshot as the driver provides it. It is encoded off the critical path.
#[derive(Debug, Clone)]
pub struct Picture {
    pub size: Size,
    pub pixels: Pixels,
}

#[derive(Debug, Clone)]
pub enum Pixels {
    /// Four bytes per pixel, row by row, without padding.
    Rgba(Arc<[u8]>),
    Png(Arc<[u8]>),
}

/// An element.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Unique within its screen.
    pub id: u64,
    /// The ref by which people and models refer to the element. Assigned by [`crate::refs`] unless the driver does so.
    pub reference: Option<String>,
    /// Which load of which page it is in. A driver may assign the same id and ref again in another document.
    pub document: Option<u64>,
    pub bounds: Option<Rect>,
    /// Whether it is scrolled out of its container or frame, even if its bounds are on the screen.
    pub is_clipped: bool,
    pub props: Props,
    pub children: Vec<Node>,
}

/// The properties of an element, in the vocabulary of its shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Props {
    pub shape: Shape,
    values: Vec<(Field, Prop)>,
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum Prop {
    Text(String),
    Flag(bool),
    Number(i64),
}

impl Props {
    pub fn new(shape: Shape) -> Props {
        Props { shape, values: Vec::new() }
    }

    pub fn with(mut self, field: Field, value: impl Into<Prop>) -> Props {
        self.set(field, value);
        self
    }

    pub fn set(&mut self, field: Field, value: impl Into<Prop>) {
        let value = value.into();
        match self.values.iter_mut().find(|(known, _)| *known == field) {
            Some((_, old)) => *old = value,
            None => self.values.push((field, value)),
        }
    }

    pub fn get(&self, field: Field) -> Option<&Prop> {
        self.values.iter().find(|(known, _)| *known == field).map(|(_, value)| value)
    }

    pub fn text(&self, field: Field) -> Option<&str> {
        match self.get(field) {
            Some(Prop::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn flag(&self, field: Field) -> Option<bool> {
        match self.get(field) {
            Some(Prop::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    pub fn number(&self, field: Field) -> Option<i64> {
        match self.get(field) {
            Some(Prop::Number(number)) => Some(*number),
            _ => None,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (Field, &Prop)> {
        self.values.iter().map(|(field, value)| (*field, value))
    }

    /// Every text, for redaction.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.values.iter_mut().filter_map(|(_, value)| match value {
            Prop::Text(text) => Some(text),
            _ => None,
        })
    }

    fn first_text(&self, fields: &[Field]) -> Option<&str> {
        fields.iter().filter_map(|field| self.text(*field)).find(|text| !text.trim().is_empty())
    }

    fn first_flag(&self, fields: &[Field]) -> Option<bool> {
        fields.iter().find_map(|field| self.flag(*field))
    }
}

/// Properties that every platform has.
impl Node {
    pub fn new(id: u64, props: Props) -> Node {
        Node { id, reference: None, document: None, bounds: None, is_clipped: false, props, children: Vec::new() }
    }

    /// The visible text.
    pub fn text(&self) -> Option<&str> {
        self.props.first_text(self.vocabulary().text)
    }

    /// What a screen reader says in addition to the text.
    pub fn label(&self) -> Option<&str> {
        self.props.first_text(self.vocabulary().label)
    }

    /// The id that its developer assigned.
    pub fn developer_id(&self) -> Option<&str> {
        self.props.first_text(self.vocabulary().id)
    }

    /// The developer's id without the prefix that platforms add: `submit` in `com.x:id/submit`.
    pub fn short_id(&self) -> Option<&str> {
        let id = self.developer_id()?;
        Some(id.rsplit('/').next().unwrap_or(id))
    }

    /// Whether `id` is one of its ids: in full, or the last part of `package:id/name`. As in CSS, `#name` means `name`.
    pub fn has_id(&self, id: &str) -> bool {
        self.vocabulary().id.iter().filter_map(|field| self.props.text(*field)).any(|name| {
            name == id
                || name.rsplit_once('/').is_some_and(|(_, last)| last == id)
                || id.strip_prefix('#') == Some(name)
        })
    }

    /// What hides the element, if it is hidden and the driver reports hidden elements.
    pub fn hidden(&self) -> Option<&str> {
        self.props.text(Field::Hidden)
    }

    /// Whether the driver only reports it to text searches: a part of the text around it, or a text that is split over
    /// several elements. Snapshots do not list it.
    pub fn is_unlisted(&self) -> bool {
        self.props.flag(Field::IsUnlisted).unwrap_or(false)
    }

    /// The class without its package: `Button` for `android.widget.Button`.
    pub fn class(&self) -> Option<&str> {
        self.props.first_text(self.vocabulary().class).map(|class| class.rsplit('.').next().unwrap_or(class))
    }

    pub fn is_enabled(&self) -> bool {
        self.props.first_flag(self.vocabulary().enabled).unwrap_or(true)
    }

    pub fn is_clickable(&self) -> bool {
        self.props.first_flag(self.vocabulary().clickable).unwrap_or(false)
    }

    pub fn is_checked(&self) -> Option<bool> {
        self.props.first_flag(self.vocabulary().checked)
    }

    pub fn is_selected(&self) -> bool {
        self.props.first_flag(self.vocabulary().selected).unwrap_or(false)
    }

    pub fn is_focused(&self) -> bool {
        self.props.first_flag(self.vocabulary().focused).unwrap_or(false)
    }

    pub fn is_editable(&self) -> bool {
        self.props.first_flag(self.vocabulary().editable).unwrap_or(false)
    }

    pub fn is_password(&self) -> bool {
        self.props.flag(Field::IsPassword).unwrap_or(false)
    }

    /// Whether the element itself reacts to touches.
    pub fn is_interactive(&self) -> bool {
        let is_clickable = self.props.first_flag(self.vocabulary().clickable);
        is_clickable.unwrap_or_else(|| self.has_interactive_role())
            || self.is_editable()
            || self.props.flag(Field::IsCheckable).unwrap_or(false)
    }

    /// Some platforms only report the role of an element, not whether it is clickable.
    fn has_interactive_role(&self) -> bool {
        const ROLES: [&str; 14] = [
            "Button",
            "Cell",
            "Checkbox",
            "CheckBox",
            "DropdownList",
            "Link",
            "RadioButton",
            "SearchField",
            "SecureTextField",
            "Slider",
            "Switch",
            "Tab",
            "TextArea",
            "TextField",
        ];
        let has_only_roles = matches!(self.props.shape, Shape::IosMaestro | Shape::IosAxe | Shape::Compose);
        has_only_roles && self.class().is_some_and(|class| ROLES.contains(&plain_role(class)))
    }

    /// A description for people: `Button "Pay"`. Never contains the value of a password field.
    pub fn summary(&self) -> String {
        let text = if self.is_password() { None } else { self.text() };
        // Fields are named by their label, not by their value; controls of a page by their accessible name.
        let uses_label = self.is_editable() || self.props.shape == Shape::Web;
        let words = if uses_label { self.label().or(text) } else { text.or(self.label()) };
        let name = match (words, self.short_id()) {
            (Some(text), _) => Some(quoted(&shorten(text))),
            (None, Some(id)) => Some(format!("[id={}]", shorten(id))),
            (None, None) => None,
        };
        match (self.class(), name) {
            (Some(class), Some(name)) => format!("{class} {name}"),
            (Some(class), None) => class.to_string(),
            (None, Some(name)) => name,
            (None, None) => "element".to_string(),
        }
    }

    /// The node and all its descendants, parents first.
    pub fn walk(&self) -> impl Iterator<Item = &Node> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let node = stack.pop()?;
            stack.extend(node.children.iter().rev());
            Some(node)
        })
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        self.props.shape.vocabulary()
    }
}

/// The role without the platform's prefix: `Button` for `XCUIElementTypeButton` and `AXButton`.
fn plain_role(class: &str) -> &str {
    let class = class.strip_prefix("XCUIElementType").unwrap_or(class);
    class.strip_prefix("AX").unwrap_or(class)
}

/// The text in one line, with all whitespace collapsed to single spaces.
pub fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text in one line, shortened for messages.
pub(crate) fn shorten(text: &str) -> String {
    const CHARS: usize = 80;
    let line = fold(text);
    match line.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The text in quotes, as names are printed in snapshots and messages, so that it can be parsed again.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl From<&str> for Prop {
    fn from(text: &str) -> Prop {
        Prop::Text(text.to_string())
    }
}

impl From<String> for Prop {
    fn from(text: String) -> Prop {
        Prop::Text(text)
    }
}

impl From<bool> for Prop {
    fn from(flag: bool) -> Prop {
        Prop::Flag(flag)
    }
}

impl From<i64> for Prop {
    fn from(number: i64) -> Prop {
        Prop::Number(number)
    }
}
