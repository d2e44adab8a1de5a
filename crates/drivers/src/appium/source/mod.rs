//! Page sources as the engine has screens: each of Appium's drivers writes its own XML.

mod fake;
mod xcuitest;

use trailblaze_core::screen::{Node, Shape};
use trailblaze_protocol::geometry::Size;

use super::automation::AppiumAutomation;
use crate::android::ViewHierarchy;
use crate::ios::ElementTree;

pub use fake::FakeField;

/// The deepest nesting of elements, and the most of them.
const DEEPEST: usize = 400;
const MOST_ELEMENTS: usize = 20_000;

/// What an app shows.
#[derive(Debug, Clone, PartialEq)]
pub struct AppSource {
    pub root: Node,
    pub size: Size,
    /// The package or the name of the app.
    pub app: Option<String>,
    /// Elements whose text is not in the page source.
    pub fields: Vec<FakeField>,
}

/// How a page source is read.
#[derive(Debug, Clone, Copy)]
pub struct SourceReader {
    pub automation: AppiumAutomation,
    pub shape: Shape,
    /// How many pixels a point has in a row, where the page source counts in points.
    pub scale: f64,
    /// Whether elements that the driver calls invisible are covered.
    pub covers: bool,
}

impl SourceReader {
    /// `alert` is the text of the one that is open.
    pub fn read(&self, source: &str, alert: Option<&str>) -> Result<AppSource, String> {
        let why =
            |fault: String| format!("the page source of Appium's {} cannot be read: {fault}", self.automation.name());
        match self.automation {
            AppiumAutomation::UiAutomator2 => {
                let hierarchy = ViewHierarchy::read_source(source, self.shape).map_err(why)?;
                let size = hierarchy
                    .screen
                    .or_else(|| hierarchy.root.bounds.map(|bounds| extent(bounds.right, bounds.bottom)));
                let size = size.ok_or_else(|| why("it has no size".to_string()))?;
                Ok(AppSource { root: hierarchy.root, size, app: hierarchy.package, fields: Vec::new() })
            }
            AppiumAutomation::XcuiTest => {
                let elements = xcuitest::elements(source, self.covers).map_err(why)?;
                let tree =
                    ElementTree::read(&elements, self.scale, self.shape).map_err(|fault| why(fault.to_string()))?;
                let app = elements.get("bundleId").or_else(|| elements.get("label"));
                let app = app.and_then(serde_json::Value::as_str).map(str::to_string);
                Ok(AppSource { root: tree.root, size: tree.size, app, fields: Vec::new() })
            }
            AppiumAutomation::Fake => fake::read(source, self.shape, alert).map_err(why),
        }
    }
}

fn extent(right: i32, bottom: i32) -> Size {
    let side = |length: i32| u32::try_from(length).unwrap_or_default();
    Size { width: side(right), height: side(bottom) }
}

/// The attributes of an element, decoded.
fn attributes(tag: &quick_xml::events::BytesStart<'_>) -> Result<Vec<(String, String)>, String> {
    let attribute = |attribute: Result<quick_xml::events::attributes::Attribute<'_>, _>| {
        let attribute = attribute.map_err(|error: quick_xml::events::attributes::AttrError| error.to_string())?;
        let name = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
        let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0);
        // A text that is no XML is shown as it came.
        let value =
            value.map_or_else(|_| String::from_utf8_lossy(&attribute.value).into_owned(), |text| text.into_owned());
        Ok((name, value))
    };
    tag.attributes().with_checks(false).map(attribute).collect()
}
