//! What a device shows: a tree of elements in the words of its platform, and a picture.

use std::sync::Arc;

use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::{Rect, Size};

/// Names one observation; a later one has a greater number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SnapshotId(pub u64);

#[derive(Debug, Clone)]
pub struct Screen {
    pub snapshot: SnapshotId,
    pub size: Size,
    /// The app in front: a package, a bundle, a web address.
    pub app: Option<String>,
    pub root: Node,
    pub picture: Option<Picture>,
}

impl Screen {
    /// The rectangle that it shows.
    pub fn frame(&self) -> Rect {
        let width = i32::try_from(self.size.width).unwrap_or(i32::MAX);
        let height = i32::try_from(self.size.height).unwrap_or(i32::MAX);
        Rect { left: 0, top: 0, right: width, bottom: height }
    }

    /// The part of an element that can be seen.
    pub fn visible_part(&self, node: &Node) -> Option<Rect> {
        if node.is_clipped || node.hidden().is_some() {
            return None;
        }
        let bounds = node.bounds.filter(|bounds| bounds.left < bounds.right && bounds.top < bounds.bottom)?;
        bounds.intersect(&self.frame())
    }
}

/// Pixels as the driver has them. Encoding happens off the critical path.
#[derive(Debug, Clone)]
pub struct Picture {
    pub size: Size,
    pub pixels: Pixels,
}

#[derive(Debug, Clone)]
pub enum Pixels {
    /// Four bytes a pixel, row by row, no padding.
    Rgba(Arc<[u8]>),
    Png(Arc<[u8]>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Unique within its screen.
    pub id: u64,
    /// How people and models point at it; stays with the element while it is there. Given by [`crate::refs`].
    pub reference: Option<String>,
    pub bounds: Option<Rect>,
    /// Whether it is scrolled out of the box or frame that holds it, though its bounds may lie on the screen.
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

#[derive(Debug, Clone, PartialEq)]
pub enum Prop {
    Text(String),
    Flag(bool),
    Number(i64),
}

macro_rules! fields {
    ($($variant:ident $name:literal $kind:ident,)*) => {
        /// Everything that any platform says of an element.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Field { $($variant,)* }

        impl Field {
            pub const ALL: &[Field] = &[$(Field::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $(Field::$variant => $name,)* }
            }

            pub fn kind(self) -> FieldKind {
                match self { $(Field::$variant => FieldKind::$kind,)* }
            }
        }
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Matched by `<name>Regex`, or exactly by `<name>`.
    Text,
    Flag,
    Number,
}

fields! {
    ClassName "className" Text,
    ResourceId "resourceId" Text,
    UniqueId "uniqueId" Text,
    ComposeTestTag "composeTestTag" Text,
    Text "text" Text,
    ContentDescription "contentDescription" Text,
    AccessibilityText "accessibilityText" Text,
    HintText "hintText" Text,
    LabeledByText "labeledByText" Text,
    StateDescription "stateDescription" Text,
    PaneTitle "paneTitle" Text,
    RoleDescription "roleDescription" Text,
    IsEnabled "isEnabled" Flag,
    IsClickable "isClickable" Flag,
    IsCheckable "isCheckable" Flag,
    IsChecked "isChecked" Flag,
    IsSelected "isSelected" Flag,
    IsFocused "isFocused" Flag,
    IsEditable "isEditable" Flag,
    IsScrollable "isScrollable" Flag,
    IsPassword "isPassword" Flag,
    IsHeading "isHeading" Flag,
    IsMultiLine "isMultiLine" Flag,
    InputType "inputType" Number,
    CollectionItemRowIndex "collectionItemRowIndex" Number,
    CollectionItemColumnIndex "collectionItemColumnIndex" Number,
    Enabled "enabled" Flag,
    Clickable "clickable" Flag,
    Checked "checked" Flag,
    Selected "selected" Flag,
    Focused "focused" Flag,
    AriaRole "ariaRole" Text,
    AriaName "ariaName" Text,
    AriaDescriptor "ariaDescriptor" Text,
    HeadingLevel "headingLevel" Number,
    CssSelector "cssSelector" Text,
    ElementId "elementId" Text,
    DataTestId "dataTestId" Text,
    NthIndex "nthIndex" Number,
    IsInteractive "isInteractive" Flag,
    IsLandmark "isLandmark" Flag,
    IsCovered "isCovered" Flag,
    IsUnlisted "isUnlisted" Flag,
    Hidden "hidden" Text,
    Options "options" Text,
    Role "role" Text,
    Subrole "subrole" Text,
    Label "label" Text,
    Value "value" Text,
    Type "type" Text,
    Title "title" Text,
    CustomAction "customAction" Text,
    TestTag "testTag" Text,
    EditableText "editableText" Text,
    ToggleableState "toggleableState" Text,
}

impl Field {
    /// What a flag is where the driver does not say.
    pub fn default_flag(self) -> bool {
        matches!(self, Field::IsEnabled | Field::Enabled)
    }
}

/// The vocabulary in which a driver describes elements. A selector in one never matches an element in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    AndroidAccessibility,
    AndroidMaestro,
    IosMaestro,
    IosAxe,
    Web,
    Compose,
}

/// What a shape calls the things that every platform has.
struct Vocabulary {
    key: &'static str,
    matchable: &'static [Field],
    /// What a reader sees, first found wins.
    text: &'static [Field],
    /// What a screen reader says besides.
    label: &'static [Field],
    /// Names given by developers.
    id: &'static [Field],
    class: &'static [Field],
    enabled: &'static [Field],
    clickable: &'static [Field],
    checked: &'static [Field],
    selected: &'static [Field],
    focused: &'static [Field],
    editable: &'static [Field],
    /// `false` where regular expressions ignore case.
    is_case_sensitive: bool,
}

use Field as F;

const ANDROID_ACCESSIBILITY: Vocabulary = Vocabulary {
    key: "androidAccessibility",
    matchable: &[
        F::UniqueId,
        F::ResourceId,
        F::ComposeTestTag,
        F::Text,
        F::ContentDescription,
        F::HintText,
        F::LabeledByText,
        F::ClassName,
        F::StateDescription,
        F::RoleDescription,
        F::PaneTitle,
        F::CollectionItemRowIndex,
        F::CollectionItemColumnIndex,
        F::InputType,
        F::IsMultiLine,
        F::IsHeading,
        F::IsPassword,
        F::IsScrollable,
        F::IsEditable,
        F::IsClickable,
        F::IsEnabled,
        F::IsCheckable,
        F::IsChecked,
        F::IsFocused,
        F::IsSelected,
    ],
    text: &[F::Text, F::HintText, F::ContentDescription],
    label: &[F::ContentDescription, F::LabeledByText, F::HintText],
    id: &[F::UniqueId, F::ResourceId, F::ComposeTestTag],
    class: &[F::ClassName],
    enabled: &[F::IsEnabled],
    clickable: &[F::IsClickable],
    checked: &[F::IsChecked],
    selected: &[F::IsSelected],
    focused: &[F::IsFocused],
    editable: &[F::IsEditable],
    is_case_sensitive: true,
};

const ANDROID_MAESTRO: Vocabulary = Vocabulary {
    key: "androidMaestro",
    matchable: &[
        F::ResourceId,
        F::Text,
        F::AccessibilityText,
        F::HintText,
        F::ClassName,
        F::Clickable,
        F::Enabled,
        F::Checked,
        F::Focused,
        F::Selected,
    ],
    text: &[F::Text, F::HintText, F::AccessibilityText],
    label: &[F::AccessibilityText, F::HintText],
    id: &[F::ResourceId],
    class: &[F::ClassName],
    enabled: &[F::Enabled],
    clickable: &[F::Clickable],
    checked: &[F::Checked],
    selected: &[F::Selected],
    focused: &[F::Focused],
    editable: &[F::IsEditable],
    is_case_sensitive: false,
};

const IOS_MAESTRO: Vocabulary = Vocabulary {
    key: "iosMaestro",
    matchable: &[
        F::ResourceId,
        F::Text,
        F::AccessibilityText,
        F::HintText,
        F::ClassName,
        F::Enabled,
        F::Focused,
        F::Selected,
    ],
    text: &[F::Text, F::AccessibilityText, F::HintText],
    label: &[F::AccessibilityText, F::HintText],
    id: &[F::ResourceId],
    class: &[F::ClassName],
    enabled: &[F::Enabled],
    clickable: &[F::Clickable],
    checked: &[F::Checked],
    selected: &[F::Selected],
    focused: &[F::Focused],
    editable: &[F::IsEditable],
    is_case_sensitive: false,
};

const IOS_AXE: Vocabulary = Vocabulary {
    key: "iosAxe",
    matchable: &[F::UniqueId, F::Label, F::Value, F::Title, F::Type, F::Role, F::Subrole, F::CustomAction, F::Enabled],
    text: &[F::Label, F::Value, F::Title],
    label: &[F::Label, F::Title],
    id: &[F::UniqueId],
    class: &[F::Type, F::Role],
    enabled: &[F::Enabled],
    clickable: &[F::Clickable],
    checked: &[F::Checked],
    selected: &[F::Selected],
    focused: &[F::Focused],
    editable: &[F::IsEditable],
    is_case_sensitive: true,
};

const WEB: Vocabulary = Vocabulary {
    key: "web",
    matchable: &[
        F::DataTestId,
        F::CssSelector,
        F::AriaName,
        F::AriaRole,
        F::AriaDescriptor,
        F::HeadingLevel,
        F::NthIndex,
        F::Text,
    ],
    text: &[F::Text, F::Value, F::AriaName],
    label: &[F::AriaName],
    id: &[F::DataTestId, F::ElementId],
    class: &[F::AriaRole],
    enabled: &[F::IsEnabled],
    clickable: &[F::IsInteractive],
    checked: &[F::IsChecked],
    selected: &[F::IsSelected],
    focused: &[F::IsFocused],
    editable: &[F::IsEditable],
    is_case_sensitive: true,
};

const COMPOSE: Vocabulary = Vocabulary {
    key: "compose",
    matchable: &[
        F::TestTag,
        F::Text,
        F::ContentDescription,
        F::EditableText,
        F::Role,
        F::ToggleableState,
        F::IsPassword,
        F::IsEnabled,
        F::IsFocused,
        F::IsSelected,
    ],
    text: &[F::EditableText, F::Text, F::ContentDescription],
    // A field keeps its hint as its text, and what was typed apart.
    label: &[F::ContentDescription, F::Text],
    id: &[F::TestTag],
    class: &[F::Role],
    enabled: &[F::IsEnabled],
    clickable: &[F::IsClickable],
    checked: &[F::IsChecked],
    selected: &[F::IsSelected],
    focused: &[F::IsFocused],
    editable: &[F::IsEditable],
    is_case_sensitive: true,
};

impl Shape {
    pub const ALL: [Shape; 6] = [
        Shape::AndroidAccessibility,
        Shape::AndroidMaestro,
        Shape::IosMaestro,
        Shape::IosAxe,
        Shape::Web,
        Shape::Compose,
    ];

    /// The shape that a driver answers in.
    pub fn for_driver(driver: &DriverKey, platform: Platform) -> Shape {
        match (driver.as_str(), platform) {
            ("android-ondevice-instrumentation", _) => Shape::AndroidMaestro,
            ("ios-axe", _) => Shape::IosAxe,
            (_, Platform::Android) => Shape::AndroidAccessibility,
            (_, Platform::Ios) => Shape::IosMaestro,
            (_, Platform::Web) => Shape::Web,
            (_, Platform::Desktop) => Shape::Compose,
        }
    }

    /// Its key in a selector.
    pub fn key(self) -> &'static str {
        self.vocabulary().key
    }

    pub fn from_key(key: &str) -> Option<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.key() == key)
    }

    /// The fields that a selector may use, the most stable first.
    pub fn matchable(self) -> &'static [Field] {
        self.vocabulary().matchable
    }

    pub fn is_case_sensitive(self) -> bool {
        self.vocabulary().is_case_sensitive
    }

    pub fn id_fields(self) -> &'static [Field] {
        self.vocabulary().id
    }

    pub fn text_fields(self) -> &'static [Field] {
        self.vocabulary().text
    }

    pub fn class_fields(self) -> &'static [Field] {
        self.vocabulary().class
    }

    fn vocabulary(self) -> &'static Vocabulary {
        match self {
            Shape::AndroidAccessibility => &ANDROID_ACCESSIBILITY,
            Shape::AndroidMaestro => &ANDROID_MAESTRO,
            Shape::IosMaestro => &IOS_MAESTRO,
            Shape::IosAxe => &IOS_AXE,
            Shape::Web => &WEB,
            Shape::Compose => &COMPOSE,
        }
    }
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

/// What every platform can say of an element.
impl Node {
    pub fn new(id: u64, props: Props) -> Node {
        Node { id, reference: None, bounds: None, is_clipped: false, props, children: Vec::new() }
    }

    /// What a reader sees.
    pub fn text(&self) -> Option<&str> {
        self.props.first_text(self.vocabulary().text)
    }

    /// What a screen reader says besides the text.
    pub fn label(&self) -> Option<&str> {
        self.props.first_text(self.vocabulary().label)
    }

    /// The name that its developer gave it.
    pub fn developer_id(&self) -> Option<&str> {
        self.props.first_text(self.vocabulary().id)
    }

    /// Its developer's name for it without what platforms put in front: `submit` of `com.x:id/submit`.
    pub fn short_id(&self) -> Option<&str> {
        let id = self.developer_id()?;
        Some(id.rsplit('/').next().unwrap_or(id))
    }

    /// Whether `id` is one of its names: whole, or the last part of `package:id/name`. As in CSS, `#name` is `name`.
    pub fn has_id(&self, id: &str) -> bool {
        self.vocabulary().id.iter().filter_map(|field| self.props.text(*field)).any(|name| {
            name == id
                || name.rsplit_once('/').is_some_and(|(_, last)| last == id)
                || id.strip_prefix('#') == Some(name)
        })
    }

    /// What hides it, where a driver reports hidden elements.
    pub fn hidden(&self) -> Option<&str> {
        self.props.text(Field::Hidden)
    }

    /// Whether a driver reports it only to a search for a text: a part of the text around it, or a text that is split
    /// over several elements. Snapshots do not show it.
    pub fn is_unlisted(&self) -> bool {
        self.props.flag(Field::IsUnlisted).unwrap_or(false)
    }

    /// `android.widget.Button` is a `Button`.
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

    /// Whether it answers to touches of its own.
    pub fn is_interactive(&self) -> bool {
        let is_clickable = self.props.first_flag(self.vocabulary().clickable);
        is_clickable.unwrap_or_else(|| self.has_interactive_role())
            || self.is_editable()
            || self.props.flag(Field::IsCheckable).unwrap_or(false)
    }

    /// Some platforms do not say what can be tapped, only what it is.
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
        let says_only_roles = matches!(self.props.shape, Shape::IosMaestro | Shape::IosAxe | Shape::Compose);
        says_only_roles && self.class().is_some_and(|class| ROLES.contains(&plain_role(class)))
    }

    /// For people: `Button "Pay"`. What was typed into a password field is not for them.
    pub fn summary(&self) -> String {
        let text = if self.is_password() { None } else { self.text() };
        // A field is known by what it is for, not by what is in it; a control of a page by its name.
        let goes_by_label = self.is_editable() || self.props.shape == Shape::Web;
        let words = if goes_by_label { self.label().or(text) } else { text.or(self.label()) };
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

    /// Itself and everything beneath, parents first.
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

/// `XCUIElementTypeButton` and `AXButton` are a `Button`.
fn plain_role(class: &str) -> &str {
    let class = class.strip_prefix("XCUIElementType").unwrap_or(class);
    class.strip_prefix("AX").unwrap_or(class)
}

/// The text in one line, as a reader takes it: any white space is one space.
pub fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One line that is not too long for a message.
pub(crate) fn shorten(text: &str) -> String {
    const CHARS: usize = 80;
    let line = fold(text);
    match line.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// In quotes, as snapshots and messages print names, so that they can be read back.
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
