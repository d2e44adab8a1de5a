//! The page source of `fake`: the file of its app, whose elements have places and states as attributes. What was typed is not in it, and
//! neither is which alert is open.

use quick_xml::events::{BytesStart, Event};
use trailblaze_core::screen::{Field as F, Node, Props, Shape};
use trailblaze_protocol::geometry::{Rect, Size};

use super::{AppSource, DEEPEST, MOST_ELEMENTS, attributes};

/// The only type that takes text.
const FIELD: &str = "MockInputField";
const BUTTON: &str = "MockButton";
const ALERT: &str = "alert";
const APP: &str = "app";

/// A field, whose text has to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FakeField {
    pub node: u64,
    pub is_password: bool,
}

/// Ids of nodes are their places among all elements of the document, from 1.
pub fn read(source: &str, shape: Shape, alert: Option<&str>) -> Result<AppSource, String> {
    let mut reader = quick_xml::Reader::from_str(source);
    let mut reading = FakeSourceReader { shape, alert, open: Vec::new(), count: 0, app: None, fields: Vec::new() };
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) => reading.begin(&tag)?,
            Event::Empty(tag) => {
                reading.begin(&tag)?;
                reading.end();
            }
            Event::End(_) => reading.end(),
            Event::Eof => break,
            _ => {}
        }
    }
    let root = reading.app.ok_or_else(|| "it has no element `app`".to_string())?;
    let side = |length: i32| u32::try_from(length).unwrap_or_default();
    let size = root.bounds.map(|bounds| Size { width: side(bounds.width()), height: side(bounds.height()) });
    let size = size.filter(|size| size.width > 0 && size.height > 0);
    let size = size.ok_or_else(|| "its `app` has no width and height".to_string())?;
    let app = root.props.text(F::ResourceId).map(str::to_string);
    Ok(AppSource { root, size, app, fields: reading.fields })
}

struct FakeSourceReader<'a> {
    shape: Shape,
    alert: Option<&'a str>,
    /// With whether each is shown.
    open: Vec<(Node, bool)>,
    count: usize,
    app: Option<Node>,
    fields: Vec<FakeField>,
}

impl FakeSourceReader<'_> {
    fn begin(&mut self, tag: &BytesStart<'_>) -> Result<(), String> {
        self.count += 1;
        if self.count > MOST_ELEMENTS || self.open.len() >= DEEPEST {
            return Err(format!("it has more than {MOST_ELEMENTS} elements, or is nested more than {DEEPEST} deep"));
        }
        let element =
            FakeElement { kind: String::from_utf8_lossy(tag.name().as_ref()).into_owned(), all: attributes(tag)? };
        let mut node = Node::new(self.count as u64, element.props(self.shape));
        node.bounds = element.bounds();
        node.is_clipped = element.get("visible") == Some("false");
        let is_shown = element.kind != ALERT || self.alert.is_some_and(|text| element.get("text") == Some(text));
        if element.kind == FIELD {
            self.fields.push(FakeField { node: node.id, is_password: element.is("password") });
        }
        self.open.push((node, is_shown));
        Ok(())
    }

    fn end(&mut self) {
        let Some((node, is_shown)) = self.open.pop() else { return };
        if node.props.text(F::ClassName) == Some(APP) {
            self.app = Some(node);
        } else if let (Some((parent, _)), true) = (self.open.last_mut(), is_shown) {
            parent.children.push(node);
        }
    }
}

struct FakeElement {
    kind: String,
    all: Vec<(String, String)>,
}

impl FakeElement {
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.all.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    fn is(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    fn bounds(&self) -> Option<Rect> {
        let number = |name: &str| self.get(name).map_or(Some(0.0), |text| text.parse::<f64>().ok());
        let (left, top) = (number("left")? as i32, number("top")? as i32);
        let (width, height) = (number("width")? as i32, number("height")? as i32);
        Some(Rect { left, top, right: left.saturating_add(width), bottom: top.saturating_add(height) })
    }

    fn props(&self, shape: Shape) -> Props {
        let (description, enabled, clickable, selected) = match shape {
            Shape::AndroidAccessibility => (F::ContentDescription, F::IsEnabled, F::IsClickable, F::IsSelected),
            _ => (F::AccessibilityText, F::Enabled, F::Clickable, F::Selected),
        };
        let mut props = Props::new(shape);
        props.set(F::ClassName, self.kind.as_str());
        let texts = [(F::ResourceId, "id"), (F::Text, "text"), (description, "label"), (F::HintText, "hint")];
        for (field, name) in texts {
            if let Some(text) = self.get(name) {
                props.set(field, text);
            }
        }
        props.set(enabled, self.get("enabled") != Some("false"));
        props.set(clickable, self.kind == BUTTON || self.get("showAlert").is_some());
        for (field, holds) in
            [(selected, self.is("selected")), (F::IsEditable, self.kind == FIELD), (F::IsPassword, self.is("password"))]
        {
            if holds {
                props.set(field, true);
            }
        }
        props
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP_FILE: &str = r#"<?xml version="1.0"?><AppiumAUT><app id="wallet" width="100" height="200">
        <MockInputField id="name" label="Name" left="10" top="20" width="80" height="20"/>
        <MockButton id="pay" text="Pay" showAlert="paid" left="10" top="50" width="80" height="20" enabled="false"/>
        <alert id="paid" text="It is paid"/>
        </app></AppiumAUT>"#;

    #[test]
    fn elements_have_what_their_attributes_say_in_the_words_of_the_platform() {
        for (shape, description) in
            [(Shape::AndroidAccessibility, F::ContentDescription), (Shape::IosMaestro, F::AccessibilityText)]
        {
            let app = read(APP_FILE, shape, None).expect("a tree");
            assert_eq!((app.size.width, app.size.height, app.app.as_deref()), (100, 200, Some("wallet")));
            let [field, button] = &app.root.children[..] else { panic!("a closed alert is not shown: {:?}", app.root) };
            assert_eq!(field.props.text(description), Some("Name"));
            assert!(field.is_editable() && !button.is_enabled());
            assert_eq!(button.bounds, Some(Rect { left: 10, top: 50, right: 90, bottom: 70 }));
            assert_eq!(app.fields, [FakeField { node: 3, is_password: false }], "its place among all elements");
        }
    }

    #[test]
    fn an_open_alert_is_on_the_screen() {
        let app = read(APP_FILE, Shape::IosMaestro, Some("It is paid")).expect("a tree");
        assert_eq!(app.root.children[2].text(), Some("It is paid"));
        assert!(read("<html/>", Shape::IosMaestro, None).is_err_and(|why| why.contains("no element `app`")));
    }
}
