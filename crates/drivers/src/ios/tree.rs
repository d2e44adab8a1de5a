//! The tree of elements that WebDriverAgent returns as JSON, as a screen has it.

use serde_json::{Map, Value};
use trailblaze_core::screen::{Field as F, Node, Props, Shape};
use trailblaze_protocol::geometry::{Rect, Size};

/// The most elements that a screen may have.
const MOST_ELEMENTS: usize = 20_000;
/// The deepest nesting of elements.
const DEEPEST: usize = 120;
/// The largest coordinate that is taken for one. WebDriverAgent reports broken frames with larger ones.
const FARTHEST: f64 = 100_000.0;

/// Types whose elements take text.
const FIELDS: [&str; 4] = ["SearchField", "SecureTextField", "TextField", "TextView"];
const PASSWORD: &str = "SecureTextField";
/// Types whose value is 1 or 0.
const TOGGLES: [&str; 3] = ["CheckBox", "Switch", "Toggle"];
/// Types that cut off what is scrolled out of them.
const SCROLLING: [&str; 4] = ["CollectionView", "ScrollView", "Table", "WebView"];
/// Types that hold others or show a picture: what they are called is not a text on the screen.
const NAMED: [&str; 11] = [
    "Alert",
    "CollectionView",
    "Image",
    "Keyboard",
    "NavigationBar",
    "ScrollView",
    "Sheet",
    "TabBar",
    "Table",
    "Toolbar",
    "WebView",
];
/// The app and its windows are called like the app, which is no text on the screen either.
const NAMELESS: [&str; 2] = ["Application", "Window"];
/// Types whose value is what they show, and whose label says what it is about.
const VALUED: [&str; 6] = ["DatePicker", "PageIndicator", "Picker", "PickerWheel", "ProgressIndicator", "Slider"];
/// The keyboard covers what is behind it.
const KEYS: [&str; 2] = ["Key", "Keyboard"];

/// What an iPhone shows: the elements of the app in front.
#[derive(Debug, Clone, PartialEq)]
pub struct ElementTree {
    pub root: Node,
    /// What the app in front is called.
    pub name: Option<String>,
    /// The size of the screen as the device is turned, in pixels.
    pub size: Size,
}

/// Why there is no tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeFault {
    #[error("WebDriverAgent returned a tree without elements; the app in front may be starting or not responding")]
    Empty,
    #[error("the tree has more than {MOST_ELEMENTS} elements, or is nested more than {DEEPEST} deep")]
    TooLarge,
}

impl ElementTree {
    /// Reads what `GET /source?format=json` returns. WebDriverAgent counts in points, each of which has `scale` pixels in a row.
    pub fn read(source: &Value, scale: f64, shape: Shape) -> Result<ElementTree, TreeFault> {
        let Value::Object(fields) = source else { return Err(TreeFault::Empty) };
        let mut reading = Reading { scale, shape, count: 0 };
        let root = reading.element(fields, None, 1)?;
        let side = |length: i32| u32::try_from(length).unwrap_or_default();
        let size = root.bounds.map(|bounds| Size { width: side(bounds.width()), height: side(bounds.height()) });
        match size.filter(|size| size.width > 0 && size.height > 0) {
            Some(size) => Ok(ElementTree { root, name: Element(fields).text("label").map(str::to_string), size }),
            None => Err(TreeFault::Empty),
        }
    }
}

struct Reading {
    scale: f64,
    shape: Shape,
    count: u64,
}

impl Reading {
    /// `clip` is the visible part of the containers around it.
    fn element(&mut self, fields: &Map<String, Value>, clip: Option<Rect>, depth: usize) -> Result<Node, TreeFault> {
        self.count += 1;
        if self.count > MOST_ELEMENTS as u64 || depth > DEEPEST {
            return Err(TreeFault::TooLarge);
        }
        let element = Element(fields);
        let mut node = Node::new(self.count, element.props(self.shape));
        let frame = element.rect(self.scale);
        let visible = match (frame, clip) {
            (Some(frame), Some(clip)) => frame.intersect(&clip),
            (frame, None) => frame,
            (None, _) => None,
        };
        node.bounds = visible.or(frame);
        // An element without a size has nothing to cut off.
        let has_size = frame.is_some_and(|frame| frame.width() > 0 && frame.height() > 0);
        node.is_clipped = has_size && visible.is_none();
        if element.text("isVisible") == Some("0") && !node.is_clipped && has_size {
            node.props.set(F::IsCovered, true);
        }
        // What is in a container that is out of view is cut off at its edge.
        let inner = match SCROLLING.contains(&element.kind()) || depth == 1 {
            true => visible.or(frame.map(|frame| Rect { right: frame.left, bottom: frame.top, ..frame })),
            false => clip,
        };
        let children = fields.get("children").and_then(Value::as_array).into_iter().flatten();
        for child in children.filter_map(Value::as_object) {
            node.children.push(self.element(child, inner, depth + 1)?);
        }
        Ok(node)
    }
}

/// One element as WebDriverAgent describes it.
struct Element<'a>(&'a Map<String, Value>);

impl Element<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// `1` or `0` as a text; some versions return a number or a boolean.
    fn flag(&self, key: &str) -> Option<bool> {
        match self.0.get(key)? {
            Value::String(text) => Some(text == "1" || text == "true"),
            Value::Bool(flag) => Some(*flag),
            Value::Number(number) => Some(number.as_f64() != Some(0.0)),
            _ => None,
        }
    }

    /// The type without its prefix: `Button`.
    fn kind(&self) -> &str {
        let kind = self.text("type").unwrap_or("Other");
        kind.strip_prefix("XCUIElementType").unwrap_or(kind)
    }

    /// The id that its developer assigned. `name` is that id or else the label.
    fn id(&self) -> Option<&str> {
        match self.0.contains_key("rawIdentifier") {
            true => self.text("rawIdentifier"),
            false => self.text("name").filter(|name| Some(*name) != self.text("label")),
        }
    }

    fn has_trait(&self, name: &str) -> bool {
        self.text("traits").is_some_and(|traits| traits.split(',').any(|word| word.trim() == name))
    }

    /// Its frame in pixels. Points may have fractions.
    fn rect(&self, scale: f64) -> Option<Rect> {
        let rect = self.0.get("rect")?;
        let number = |key: &str| rect.get(key).and_then(Value::as_f64).filter(|number| number.abs() <= FARTHEST);
        let (x, y, width, height) = (number("x")?, number("y")?, number("width")?, number("height")?);
        let pixel = |points: f64| (points * scale).round() as i32;
        let (left, top) = (pixel(x), pixel(y));
        Some(Rect { left, top, right: pixel(x + width).max(left), bottom: pixel(y + height).max(top) })
    }

    fn props(&self, shape: Shape) -> Props {
        let mut props = Props::new(shape);
        let kind = self.kind();
        props.set(F::ClassName, kind);
        let mut set = |field: F, text: Option<&str>| {
            if let Some(text) = text {
                props.set(field, text);
            }
        };
        set(F::ResourceId, self.id());
        let (label, value) = (self.text("label"), self.text("value"));
        if FIELDS.contains(&kind) {
            let hint = self.text("placeholderValue");
            // An empty field reports its hint as its value.
            let typed = value.filter(|value| Some(*value) != hint);
            let dots = typed.map(|typed| "•".repeat(typed.chars().count()));
            set(F::Text, if kind == PASSWORD { dots.as_deref() } else { typed });
            set(F::AccessibilityText, label.filter(|label| Some(*label) != hint));
            set(F::HintText, hint);
        } else if NAMED.contains(&kind) {
            set(F::AccessibilityText, label);
        } else if VALUED.contains(&kind) && value.is_some() {
            set(F::Text, value);
            set(F::AccessibilityText, label);
        } else if !NAMELESS.contains(&kind) {
            let is_text = kind == "StaticText";
            set(F::Text, label.or(value.filter(|_| is_text)));
        }
        props.set(F::Enabled, self.flag("isEnabled").unwrap_or(true));
        // Other types say by themselves whether they react to touches.
        if KEYS.contains(&kind) || self.has_trait("Button") || self.has_trait("Link") {
            props.set(F::Clickable, true);
        }
        let is_toggle = TOGGLES.contains(&kind);
        if is_toggle {
            props.set(F::Checked, value.is_some_and(|value| value == "1" || value == "true"));
        }
        let is_pressed_button = kind == "Button" && value == Some("1");
        let flags = [
            (F::Focused, self.flag("isFocused").unwrap_or(false)),
            (F::Selected, self.has_trait("Selected") || is_pressed_button),
            (F::IsEditable, FIELDS.contains(&kind)),
            (F::IsPassword, kind == PASSWORD),
        ];
        for (field, holds) in flags {
            if holds {
                props.set(field, true);
            }
        }
        props
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trailblaze_core::screen::Screen;

    use super::*;

    fn rect(x: f64, y: f64, width: f64, height: f64) -> Value {
        json!({"x": x, "y": y, "width": width, "height": height})
    }

    fn app(children: Vec<Value>) -> Value {
        json!({"type": "Application", "label": "Wallet", "rect": rect(0.0, 0.0, 390.0, 844.0), "children": children})
    }

    fn read(children: Vec<Value>) -> ElementTree {
        ElementTree::read(&app(children), 3.0, Shape::IosMaestro).expect("a tree")
    }

    fn only(child: Value) -> Node {
        read(vec![child]).root.children.remove(0)
    }

    #[test]
    fn points_become_pixels() {
        let tree = read(vec![json!({"type": "Button", "label": "Pay", "rect": rect(10.5, 20.0, 100.0, 44.0)})]);
        assert_eq!((tree.size.width, tree.size.height), (1170, 2532));
        let button = &tree.root.children[0];
        assert_eq!(button.bounds, Some(Rect { left: 32, top: 60, right: 332, bottom: 192 }));
        assert_eq!(button.summary(), "Button \"Pay\"");
        assert!(button.is_interactive() && button.is_enabled());
        assert_eq!(tree.root.text(), None, "the name of the app is not on the screen");
    }

    #[test]
    fn a_field_has_what_was_typed_or_its_hint() {
        let field = |kind: &str, value: &str| {
            only(json!({
                "type": kind, "rawIdentifier": "email", "name": "email", "label": "", "value": value,
                "placeholderValue": "Email", "isEnabled": "1", "isFocused": "1", "rect": rect(0.0, 0.0, 9.0, 9.0),
            }))
        };
        let empty = field("TextField", "Email");
        assert_eq!((empty.props.text(F::Text), empty.props.text(F::HintText)), (None, Some("Email")));
        assert!(empty.is_editable() && empty.is_focused());
        assert_eq!(empty.developer_id(), Some("email"));
        assert_eq!(field("TextField", "a@b.c").text(), Some("a@b.c"));
        let password = field("SecureTextField", "1234");
        assert!(password.is_password());
        assert_eq!(password.text(), Some("••••"), "what was typed is not told");
    }

    #[test]
    fn states_are_read_from_values_and_traits() {
        let element = |kind: &str, value: Value, traits: &str| {
            only(json!({
                "type": kind, "label": "Alerts", "value": value, "traits": traits, "isEnabled": "0",
                "rect": rect(0.0, 0.0, 9.0, 9.0),
            }))
        };
        let switch = element("Switch", json!("1"), "");
        assert_eq!((switch.is_checked(), switch.text(), switch.is_enabled()), (Some(true), Some("Alerts"), false));
        assert_eq!(element("Switch", json!("0"), "").is_checked(), Some(false));
        assert!(element("Button", json!("1"), "").is_selected());
        assert!(element("Button", Value::Null, "Button, Selected").is_selected());
        assert!(!element("Button", Value::Null, "Button").is_selected());
        assert!(element("Other", Value::Null, "Button").is_interactive());
        assert!(!element("Other", Value::Null, "").is_interactive());
        let slider = element("Slider", json!("50 %"), "Adjustable");
        assert_eq!((slider.text(), slider.label()), (Some("50 %"), Some("Alerts")));
    }

    #[test]
    fn what_holds_others_is_named_without_a_text_of_its_own() {
        let alert = only(json!({"type": "Alert", "label": "Sure?", "rect": rect(0.0, 0.0, 9.0, 9.0)}));
        assert_eq!((alert.props.text(F::Text), alert.label()), (None, Some("Sure?")));
        let window = only(json!({"type": "Window", "label": "Wallet", "rect": rect(0.0, 0.0, 9.0, 9.0)}));
        assert_eq!(window.label(), None);
    }

    #[test]
    fn an_id_is_no_label() {
        let old = |name: &str| {
            only(json!({"type": "Button", "name": name, "label": "Pay", "rect": rect(0.0, 0.0, 9.0, 9.0)}))
        };
        assert_eq!(old("Pay").developer_id(), None);
        assert_eq!(old("submit").developer_id(), Some("submit"));
    }

    #[test]
    fn what_is_scrolled_out_of_its_container_is_not_visible() {
        let row = |label: &str, y: f64| json!({"type": "Cell", "label": label, "rect": rect(0.0, y, 390.0, 60.0)});
        let rows = vec![row("first", 40.0), row("second", 120.0), row("third", 400.0), row("fourth", 700.0)];
        let table = json!({"type": "Table", "rect": rect(0.0, 100.0, 390.0, 320.0), "children": rows});
        let ElementTree { root, size, .. } = read(vec![table]);
        let screen = Screen { snapshot: Default::default(), size, app: None, root, picture: None, is_moving: false };
        let parts: Vec<Option<(i32, i32)>> = screen.root.children[0]
            .children
            .iter()
            .map(|row| screen.visible_part(row).map(|part| (part.top, part.bottom)))
            .collect();
        // The first ends where the table begins.
        assert_eq!(parts, [None, Some((360, 540)), Some((1200, 1260)), None]);
        assert!(screen.root.children[0].children[3].is_clipped);
    }

    #[test]
    fn what_is_in_a_container_out_of_view_is_not_visible() {
        let text = json!({"type": "StaticText", "label": "far", "rect": rect(0.0, 910.0, 50.0, 20.0)});
        let scroll = json!({"type": "ScrollView", "rect": rect(0.0, 900.0, 390.0, 100.0), "children": [text]});
        let tree = read(vec![scroll]);
        assert!(tree.root.children[0].is_clipped && tree.root.children[0].children[0].is_clipped);
    }

    #[test]
    fn a_covered_element_says_so_if_that_was_asked_for() {
        let button = |visible: &str| {
            only(json!({"type": "Button", "label": "Pay", "isVisible": visible, "rect": rect(0.0, 0.0, 9.0, 9.0)}))
        };
        assert_eq!(button("0").props.flag(F::IsCovered), Some(true));
        assert_eq!(button("1").props.flag(F::IsCovered), None);
    }

    #[test]
    fn a_tree_that_is_none_is_refused() {
        let fault = |source: &Value| ElementTree::read(source, 3.0, Shape::IosMaestro).expect_err("no tree");
        assert_eq!(fault(&Value::Null), TreeFault::Empty);
        assert_eq!(fault(&json!({"type": "Application"})), TreeFault::Empty);
        assert_eq!(fault(&json!({"type": "Application", "rect": rect(0.0, 0.0, 1e300, 5.0)})), TreeFault::Empty);
        let mut deep = json!({"type": "Other"});
        for _ in 0..DEEPEST {
            deep = json!({"type": "Other", "children": [deep]});
        }
        assert_eq!(fault(&app(vec![deep])), TreeFault::TooLarge);
        let wide = vec![json!({"type": "Other"}); MOST_ELEMENTS];
        assert_eq!(fault(&app(wide)), TreeFault::TooLarge);
    }

    #[test]
    fn a_broken_frame_is_no_place() {
        let odd = only(json!({"type": "Button", "label": "Pay", "rect": rect(-1e9, 0.0, 10.0, 10.0)}));
        assert_eq!(odd.bounds, None);
    }
}
