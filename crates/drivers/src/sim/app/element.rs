//! One element of a screen.

use serde_json::{Value, json};
use trailblaze_core::yaml::{Decode, Problems, Spanned, YamlNode};
use trailblaze_core::{table, words};
use trailblaze_protocol::driver::Platform;

use super::colour::Colour;
use super::effect::{Conditions, Effects};
use super::value::Values;

words! {
    /// The kind of an element.
    pub enum Role {
        "text" => Text,
        "heading" => Heading,
        "button" => Button,
        "link" => Link,
        "field" => Field,
        "switch" => Switch,
        "checkbox" => Checkbox,
        "image" => Image,
        "icon" => Icon,
        "list" => List,
        "row" => Row,
        "column" => Column,
        "card" => Card,
        "tab" => Tab,
        "spinner" => Spinner,
        "divider" => Divider,
    }
}

impl Role {
    /// Whether the element stores a value in the state.
    pub fn keeps_value(self) -> bool {
        matches!(self, Role::Field | Role::Switch | Role::Checkbox)
    }

    pub fn is_toggle(self) -> bool {
        matches!(self, Role::Switch | Role::Checkbox)
    }
}

words! {
    /// How prominent an element is.
    pub enum Look {
        "plain" => Plain,
        "primary" => Primary,
        "quiet" => Quiet,
        "danger" => Danger,
        "large" => Large,
        "small" => Small,
    }
}

table! {
    /// An element of a screen.
    pub struct Element {
        /// The developer's name for the element; inputs store their value in the state under it.
        "id" => id: Option<Spanned<String>> = None,
        /// The kind of element.
        "role" => role: Role = Role::Text,
        /// The text of the element. `{{name}}` is a value of the state, `{{item.name}}` one of the row.
        "text" => text: Option<String> = None,
        /// The label for screen readers.
        "label" => label: Option<String> = None,
        /// The hint that a field shows while it is empty.
        "hint" => hint: Option<String> = None,
        /// Whether a field shows dots instead of its text.
        "password" => password: bool = false,
        /// How prominent the element is.
        "look" => look: Look = Look::Plain,
        "color" | "colour" => colour: Option<Colour> = None,
        /// Shown only if the state has all of these values.
        "when" => when: Values = Values::default(),
        /// Hidden if the state has any of these values.
        "unless" => unless: Values = Values::default(),
        /// Enabled only if the state has all of these values.
        "enabledWhen" => enabled_when: Values = Values::default(),
        /// Disabled if the state has any of these values.
        "disabledWhen" => disabled_when: Values = Values::default(),
        /// Selected if the state has all of these values.
        "selectedWhen" => selected_when: Values = Values::default(),
        /// Repeated for each row of this list.
        "repeat" => repeat: Option<Spanned<String>> = None,
        /// The elements inside.
        "elements" => elements: Children = Children::default(),
        "tap" => tap: Effects = Effects::default(),
        "doubleTap" => double_tap: Effects = Effects::default(),
        "longPress" => long_press: Effects = Effects::default(),
        /// Effects when the user has changed its text or state.
        "change" => change: Effects = Effects::default(),
        /// Effects of ENTER while the element has the focus.
        "enter" => enter: Effects = Effects::default(),
        /// Effects of a swipe over the element.
        "swipe" => swipe: Swipes = Swipes::none(),
        /// The platforms that have the element.
        "only" => only: Vec<On> = Vec::new(),
        /// The platforms that do not have the element.
        "except" => except: Vec<On> = Vec::new(),
        /// Differences on Android.
        "android" => android: Option<Difference> = None,
        /// Differences on iOS.
        "ios" => ios: Option<Difference> = None,
        /// Differences in a browser.
        "web" => web: Option<Difference> = None,
        /// Differences on the desktop.
        "desktop" => desktop: Option<Difference> = None,
    }
}

table! {
    /// The effects of a swipe, by the direction of the finger.
    pub struct Swipes {
        "up" => up: Effects = Effects::default(),
        "down" => down: Effects = Effects::default(),
        "left" => left: Effects = Effects::default(),
        "right" => right: Effects = Effects::default(),
    }
}

impl Swipes {
    pub fn none() -> Swipes {
        let none = Effects::default;
        Swipes { up: none(), down: none(), left: none(), right: none(), span: Default::default() }
    }

    pub fn all(&self) -> [&Effects; 4] {
        [&self.up, &self.down, &self.left, &self.right]
    }
}

table! {
    /// The differences of an element on one platform.
    pub struct Difference {
        "role" => role: Option<Role> = None,
        "text" => text: Option<String> = None,
        "label" => label: Option<String> = None,
        "hint" => hint: Option<String> = None,
    }
}

/// A platform, as named in the file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct On(pub Platform);

impl Decode for On {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let text = String::decode(node, problems)?;
        let platform = Platform::parse(&text);
        if platform.is_none() {
            problems.unknown(node.span, "platform", &text, Platform::ALL.map(Platform::name));
        }
        platform.map(On)
    }

    fn schema() -> Value {
        json!({"enum": Platform::ALL.map(Platform::name)})
    }
}

/// Elements inside an element; a separate type because a schema cannot contain itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Children(pub Vec<Element>);

impl Decode for Children {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        Vec::decode(node, problems).map(Children)
    }

    fn schema() -> Value {
        json!({"type": "array", "items": {"$ref": "#/$defs/element"}})
    }
}

impl Element {
    pub fn is_on(&self, platform: Platform) -> bool {
        (self.only.is_empty() || self.only.contains(&On(platform))) && !self.except.contains(&On(platform))
    }

    pub fn shown(&self) -> Conditions {
        Conditions { when: self.when.clone(), unless: self.unless.clone() }
    }

    pub fn role_on(&self, platform: Platform) -> Role {
        self.difference(platform).and_then(|own| own.role).unwrap_or(self.role)
    }

    pub fn text_on(&self, platform: Platform) -> Option<&str> {
        self.difference(platform).and_then(|own| own.text.as_deref()).or(self.text.as_deref())
    }

    pub fn label_on(&self, platform: Platform) -> Option<&str> {
        self.difference(platform).and_then(|own| own.label.as_deref()).or(self.label.as_deref())
    }

    pub fn hint_on(&self, platform: Platform) -> Option<&str> {
        self.difference(platform).and_then(|own| own.hint.as_deref()).or(self.hint.as_deref())
    }

    fn difference(&self, platform: Platform) -> Option<&Difference> {
        match platform {
            Platform::Android => self.android.as_ref(),
            Platform::Ios => self.ios.as_ref(),
            Platform::Web => self.web.as_ref(),
            Platform::Desktop => self.desktop.as_ref(),
        }
    }

    pub fn effects(&self) -> impl Iterator<Item = &Effects> {
        [&self.tap, &self.double_tap, &self.long_press, &self.change, &self.enter].into_iter().chain(self.swipe.all())
    }
}
