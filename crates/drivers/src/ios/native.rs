//! Predicates and class chains, which XCTest itself evaluates.

use serde_json::{Value, json};
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_core::query::Query;
use trailblaze_core::screen::Node;
use trailblaze_core::selector::{NativeCondition, NativeLanguage};
use trailblaze_protocol::geometry::Rect;

use super::alerts::explained;
use super::driver::IosDriver;
use super::wda::WdaCode;

/// The most elements that one condition may find.
const MOST: usize = 50;
/// How far the place of an element may be from that in the tree, in pixels: points have fractions.
const NEAR: u32 = 3;

/// An element that WebDriverAgent has found.
struct FoundElement {
    kind: String,
    place: Rect,
}

impl IosDriver {
    /// Asks the device for what a search needs, and notes the nodes of the tree that it found.
    pub(super) async fn evaluate(&self, budget: &Budget, query: &mut Query, root: &Node) -> Result<(), DriverError> {
        for condition in query.native_conditions() {
            let found = self.search(budget, condition).await?;
            condition.found = found.iter().filter_map(|element| node_of(root, element)).collect();
        }
        Ok(())
    }

    async fn search(&self, budget: &Budget, condition: &NativeCondition) -> Result<Vec<FoundElement>, DriverError> {
        let using = match condition.language {
            NativeLanguage::Predicate => "predicate string",
            NativeLanguage::ClassChain => "class chain",
        };
        let body = json!({"using": using, "value": condition.text});
        let elements = match self.wda.session_post(budget, "/elements", body).await {
            Ok(elements) => elements,
            Err(error) if error.code() == Some(&WdaCode::NoSuchElement) => return Ok(Vec::new()),
            Err(error) if matches!(error.code(), Some(WdaCode::InvalidSelector | WdaCode::InvalidArgument)) => {
                let key = condition.language.key();
                return Err(DriverError::Refused { reason: format!("`ios: {{{key}: …}}` is not valid: {error}") });
            }
            Err(error) => return Err(explained(error, &self.wda, budget).await),
        };
        let elements = elements.as_array().map(Vec::as_slice).unwrap_or_default();
        if elements.len() > MOST {
            let (key, count) = (condition.language.key(), elements.len());
            let reason = format!("`ios: {{{key}: …}}` finds {count} elements, more than {MOST}; narrow it");
            return Err(DriverError::Refused { reason });
        }
        let mut found = Vec::new();
        for element in elements {
            let id = self.wda.element_id(element)?;
            let ask = async |what: &str| match self.wda.element_get(budget, &id, what).await {
                Ok(value) => Ok(Some(value)),
                // It went away in between.
                Err(error) if error.is_about_a_lost_element() => Ok(None),
                Err(error) => Err(explained(error, &self.wda, budget).await),
            };
            let (Some(place), Some(kind)) = (ask("rect").await?, ask("name").await?) else { continue };
            found.extend(self.place(&place).map(|place| FoundElement {
                kind: kind.as_str().unwrap_or_default().trim_start_matches("XCUIElementType").to_string(),
                place,
            }));
        }
        Ok(found)
    }

    /// A place in points, as one in pixels.
    fn place(&self, rect: &Value) -> Option<Rect> {
        let number = |key: &str| rect.get(key).and_then(Value::as_f64).filter(|number| number.abs() < 100_000.0);
        let (x, y, width, height) = (number("x")?, number("y")?, number("width")?, number("height")?);
        let ((left, top), (right, bottom)) = (self.in_pixels(x, y), self.in_pixels(x + width, y + height));
        Some(Rect { left, top, right, bottom })
    }
}

/// The element of the tree that is of the same type at the same place. Elements that are cut off begin there at least.
fn node_of(root: &Node, element: &FoundElement) -> Option<u64> {
    let is_near = |one: i32, other: i32| one.abs_diff(other) <= NEAR;
    let is_same = |node: &&Node| {
        node.class() == Some(element.kind.as_str())
            && node.bounds.is_some_and(|bounds| {
                let place = &element.place;
                let is_whole = is_near(bounds.right, place.right) && is_near(bounds.bottom, place.bottom);
                let is_start = is_near(bounds.left, place.left) && is_near(bounds.top, place.top);
                let is_inside = bounds.left + NEAR as i32 >= place.left
                    && bounds.top + NEAR as i32 >= place.top
                    && bounds.right <= place.right + NEAR as i32
                    && bounds.bottom <= place.bottom + NEAR as i32;
                (is_whole && is_start) || (is_inside && (is_whole || is_start))
            })
    };
    root.walk().find(is_same).map(|node| node.id)
}
