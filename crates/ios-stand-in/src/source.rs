//! The tree of the screen as `GET /source?format=json` returns it.

use serde_json::{Map, Value, json};
use trailblaze_core::driver::ObserveOptions;
use trailblaze_core::screen::{Field, Node, Screen};
use trailblaze_protocol::geometry::Rect;

use crate::answer::{WdaAnswer, WebDriverError};
use crate::behaviour::use_up;
use crate::http::HttpRequest;
use crate::iphone::{Iphone, SCALE};
use crate::system_alert::SystemAlert;

const FIELDS: [&str; 4] = ["SearchField", "SecureTextField", "TextField", "TextView"];

pub async fn source(iphone: &Iphone, request: &HttpRequest, extra: u32) -> WdaAnswer {
    let excluded: Vec<&str> = request.parameter("excluded_attributes").unwrap_or_default().split(',').collect();
    let format = request.parameter("format").unwrap_or("xml");
    if !["xml", "json"].contains(&format) {
        let message = format!("Unknown source format '{format}'. Only ( xml, json ) source formats are supported.");
        return Err(WebDriverError::invalid_argument(message));
    }
    let mut tree = tree(iphone).await;
    lengthen(&mut tree, extra);
    Ok(match format {
        "json" => tree.json(&excluded),
        _ => json!(format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", tree.xml(&excluded, 0))),
    })
}

/// The tree of the app in front, or of the system if it shows an alert.
pub async fn tree(iphone: &Iphone) -> XcElement {
    let screen = iphone.screen(ObserveOptions::TREE).await;
    let alert = iphone.state().alert.clone();
    let mut tree = match alert {
        Some(alert) => system_alert(&alert, points(screen.frame())),
        None => {
            let name = screen.app.as_ref().and_then(|app| iphone.installed.get(app));
            application(&screen, name.map_or(" ", String::as_str))
        }
    };
    let is_turned = {
        let mut state = iphone.state();
        state.is_landscape && !use_up(&mut state.n_unturned)
    };
    if is_turned {
        tree.turn(tree.frame.width());
    }
    tree
}

/// Adds cells below the screen, as a long list has them.
fn lengthen(tree: &mut XcElement, count: u32) {
    let Some(window) = tree.children.first_mut() else { return };
    let below = window.frame.bottom;
    let cell = |row: u32| {
        let frame = Rect::new(0, below + 44 * i32::try_from(row).unwrap_or_default(), window.frame.width(), 44);
        XcElement { identifier: Some(format!("row{row}")), ..XcElement::new("Cell", &format!("Row {row}"), frame) }
    };
    window.children.extend((0..count).map(cell));
}

/// An element as XCTest sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct XcElement {
    /// Without `XCUIElementType`.
    pub kind: String,
    pub identifier: Option<String>,
    pub label: String,
    /// What XCTest calls the value, before WebDriverAgent makes another of it.
    pub value: Option<String>,
    pub placeholder: Option<String>,
    pub is_enabled: bool,
    pub is_selected: bool,
    pub is_focused: bool,
    pub is_visible: bool,
    pub has_button_trait: bool,
    /// In points.
    pub frame: Rect,
    pub children: Vec<XcElement>,
}

impl XcElement {
    fn new(kind: &str, label: &str, frame: Rect) -> XcElement {
        XcElement {
            kind: kind.to_string(),
            identifier: None,
            label: label.to_string(),
            value: None,
            placeholder: None,
            is_enabled: true,
            is_selected: false,
            is_focused: false,
            is_visible: true,
            has_button_trait: kind == "Button",
            frame,
            children: Vec::new(),
        }
    }

    /// The id that its developer assigned, or else its label.
    pub fn name(&self) -> Option<&str> {
        let label = Some(self.label.as_str()).filter(|label| !label.is_empty());
        self.identifier.as_deref().or(label)
    }

    /// The value as WebDriverAgent reports it.
    pub fn wd_value(&self) -> Option<String> {
        let own = self.value.clone().filter(|value| !value.is_empty());
        let value = match self.kind.as_str() {
            "StaticText" => own.or_else(|| Some(self.label.clone())),
            "Button" => own.or_else(|| self.is_selected.then(|| "1".to_string())),
            "Switch" => Some(if own.as_deref() == Some("1") { "1" } else { "0" }.to_string()),
            kind if FIELDS.contains(&kind) => own.or_else(|| self.placeholder.clone()),
            _ => own,
        };
        value.filter(|value| !value.is_empty())
    }

    fn traits(&self) -> String {
        let traits = [
            ("Button", self.has_button_trait),
            ("StaticText", self.kind == "StaticText"),
            ("Image", self.kind == "Image"),
            ("Selected", self.is_selected),
            ("NotEnabled", !self.is_enabled),
        ];
        traits.iter().filter(|(_, holds)| *holds).map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    fn json(&self, excluded: &[&str]) -> Value {
        let Rect { left, top, .. } = self.frame;
        let (width, height) = (self.frame.width(), self.frame.height());
        // Fields have a label even if it is empty.
        let is_field = FIELDS.contains(&self.kind.as_str());
        let label = Some(&self.label).filter(|label| is_field || !label.is_empty());
        let mut fields: Map<String, Value> = Map::new();
        let mut set = |key: &str, value: Value| drop(fields.insert(key.to_string(), value));
        set("type", json!(self.kind));
        set("rawIdentifier", json!(self.identifier));
        set("name", json!(self.name()));
        set("value", json!(self.wd_value()));
        set("label", json!(label));
        set("rect", json!({"x": left, "y": top, "width": width, "height": height}));
        set("customActions", Value::Null);
        let frame = format!("{{{{{left}, {top}}}, {{{width}, {height}}}}}");
        let digit = |flag: bool| json!(if flag { "1" } else { "0" });
        let attributes = [
            ("frame", "frame", json!(frame)),
            ("nativeFrame", "nativeFrame", json!(frame)),
            ("enabled", "isEnabled", digit(self.is_enabled)),
            ("visible", "isVisible", digit(self.is_visible)),
            ("accessible", "isAccessible", digit(!self.label.is_empty())),
            ("nativeAccessibilityElement", "isNativeAccessibilityElement", digit(!self.label.is_empty())),
            ("focused", "isFocused", digit(self.is_focused)),
            ("traits", "traits", json!(self.traits())),
        ];
        let hint = is_field.then(|| ("placeholderValue", "placeholderValue", json!(self.placeholder)));
        for (name, key, value) in attributes.into_iter().chain(hint) {
            if !excluded.contains(&name) {
                set(key, value);
            }
        }
        if !self.children.is_empty() {
            set("children", self.children.iter().map(|child| child.json(excluded)).collect());
        }
        Value::Object(fields)
    }

    /// As an element of XML, with its place among those beside it.
    fn xml(&self, excluded: &[&str], index: usize) -> String {
        let Rect { left, top, .. } = self.frame;
        let kind = format!("XCUIElementType{}", self.kind);
        let text = |text: &str| Some(text.to_string());
        let attributes = [
            ("type", Some(kind.clone())),
            ("value", self.wd_value()),
            ("name", self.name().map(str::to_string)),
            ("label", text(&self.label).filter(|label| !label.is_empty())),
            ("enabled", text(&self.is_enabled.to_string())),
            ("visible", text(&self.is_visible.to_string())),
            ("accessible", text(&(!self.label.is_empty()).to_string())),
            ("x", text(&left.to_string())),
            ("y", text(&top.to_string())),
            ("width", text(&self.frame.width().to_string())),
            ("height", text(&self.frame.height().to_string())),
            ("index", text(&index.to_string())),
            ("traits", text(&self.traits())),
        ];
        let wanted = attributes.into_iter().filter(|(name, _)| !excluded.contains(name));
        let written: String =
            wanted.filter_map(|(name, value)| Some(format!(" {name}=\"{}\"", escaped(&value?)))).collect();
        let children: String =
            self.children.iter().enumerate().map(|(index, child)| child.xml(excluded, index)).collect();
        format!("<{kind}{written}>{children}</{kind}>")
    }

    /// Turns the screen to the left: what was on the right is at the top.
    fn turn(&mut self, width: i32) {
        let Rect { left, top, right, bottom } = self.frame;
        self.frame = Rect { left: top, top: width - right, right: bottom, bottom: width - left };
        self.children.iter_mut().for_each(|child| child.turn(width));
    }

    pub fn walk(&self) -> Vec<&XcElement> {
        let mut all = vec![self];
        all.extend(self.children.iter().flat_map(XcElement::walk));
        all
    }
}

fn escaped(text: &str) -> String {
    let signs = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\n', "&#10;")];
    signs.iter().fold(text.to_string(), |text, (sign, escape)| text.replace(*sign, escape))
}

/// The smallest rectangle of whole points around one in pixels.
pub fn points(pixels: Rect) -> Rect {
    let floor = |length: i32| (f64::from(length) / SCALE).floor() as i32;
    let ceil = |length: i32| (f64::from(length) / SCALE).ceil() as i32;
    Rect { left: floor(pixels.left), top: floor(pixels.top), right: ceil(pixels.right), bottom: ceil(pixels.bottom) }
}

/// An app has a window, and its window has the rest.
fn application(screen: &Screen, name: &str) -> XcElement {
    let mut app = XcElement::new("Application", name, points(screen.frame()));
    let mut window = XcElement::new("Window", "", app.frame);
    window.children = screen.root.children.iter().map(|child| element(child, screen)).collect();
    app.children = vec![window];
    app
}

fn element(node: &Node, screen: &Screen) -> XcElement {
    let text = |field| node.props.text(field).filter(|text| !text.is_empty());
    let flag = |field| node.props.flag(field).unwrap_or(false);
    let kind = text(Field::ClassName).unwrap_or("Other");
    let is_field = FIELDS.contains(&kind);
    let (own, label) = (text(Field::Text), text(Field::AccessibilityText));
    // An iOS element has one label, which a screen reader says.
    let mut label = label.or(own.filter(|_| !is_field)).unwrap_or_default().to_string();
    // An alert is called like its title.
    if kind == "Alert" && label.is_empty() {
        let title = node.walk().skip(1).find_map(Node::text);
        label = title.unwrap_or_default().to_string();
    }
    let bounds = node.bounds.unwrap_or(Rect::new(0, 0, 0, 0));
    let checked = node.props.flag(Field::Checked).map(|checked| if checked { "1" } else { "0" }.to_string());
    let is_tappable = flag(Field::Clickable) && !is_field && checked.is_none();
    XcElement {
        identifier: text(Field::ResourceId).map(str::to_string),
        value: checked.or_else(|| own.filter(|_| is_field).map(str::to_string)),
        placeholder: text(Field::HintText).map(str::to_string),
        is_enabled: node.is_enabled(),
        is_selected: flag(Field::Selected),
        is_focused: flag(Field::Focused),
        is_visible: screen.visible_part(node).is_some(),
        has_button_trait: kind == "Button" || is_tappable,
        children: node.children.iter().map(|child| element(child, screen)).collect(),
        ..XcElement::new(kind, &label, points(bounds))
    }
}

fn system_alert(alert: &SystemAlert, frame: Rect) -> XcElement {
    let mut shown = XcElement::new("Alert", &alert.text, alert.frame());
    shown.children.push(XcElement::new("StaticText", &alert.text, SystemAlert::row(0)));
    let button = |(index, label): (usize, &String)| XcElement::new("Button", label, SystemAlert::row(index + 1));
    shown.children.extend(alert.buttons.iter().enumerate().map(button));
    let mut window = XcElement::new("Window", "", frame);
    window.children = vec![shown];
    let mut app = XcElement::new("Application", " ", frame);
    app.children = vec![window];
    app
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_web_driver_agent_makes() {
        let element = |kind: &str| XcElement::new(kind, "Pay", Rect::new(1, 2, 3, 4));
        assert_eq!(element("StaticText").wd_value().as_deref(), Some("Pay"));
        assert_eq!(element("Button").wd_value(), None);
        assert_eq!(XcElement { is_selected: true, ..element("Button") }.wd_value().as_deref(), Some("1"));
        assert_eq!(element("Switch").wd_value().as_deref(), Some("0"));
        let field = XcElement { placeholder: Some("Name".to_string()), ..element("TextField") };
        assert_eq!(field.wd_value().as_deref(), Some("Name"));
        let typed = XcElement { value: Some("Ada".to_string()), ..field };
        assert_eq!(typed.wd_value().as_deref(), Some("Ada"));
    }

    #[test]
    fn attributes_can_be_left_out_and_children_are_absent_if_there_are_none() {
        let button = XcElement::new("Button", "Pay", Rect::new(1, 2, 3, 4));
        let whole = button.json(&[]);
        assert_eq!((&whole["isVisible"], &whole["frame"]), (&json!("1"), &json!("{{1, 2}, {3, 4}}")));
        assert!(whole.get("children").is_none() && whole.get("placeholderValue").is_none());
        let short = button.json(&["visible", "frame"]);
        assert!(short.get("isVisible").is_none() && short.get("frame").is_none());
        assert_eq!(short["isEnabled"], json!("1"));
        assert_eq!(short["traits"], json!("Button"));
        let shown = XcElement::new("Button", "Pay & \"go\"", Rect::new(1, 2, 3, 4)).xml(&["visible", "accessible"], 0);
        let expected = "<XCUIElementTypeButton type=\"XCUIElementTypeButton\" name=\"Pay &amp; &quot;go&quot;\" \
                        label=\"Pay &amp; &quot;go&quot;\" enabled=\"true\" x=\"1\" y=\"2\" width=\"3\" height=\"4\" index=\"0\" \
                        traits=\"Button\"></XCUIElementTypeButton>";
        assert_eq!(shown, expected);
    }

    #[test]
    fn rectangles_are_in_whole_points() {
        assert_eq!(
            points(Rect { left: 1, top: 3, right: 10, bottom: 12 }),
            Rect { left: 0, top: 1, right: 4, bottom: 4 }
        );
    }
}
