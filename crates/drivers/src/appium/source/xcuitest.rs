//! The page source of `xcuitest`, as the JSON in which WebDriverAgent describes the same elements.

use quick_xml::events::{BytesStart, Event};
use serde_json::{Map, Value, json};

use super::{DEEPEST, MOST_ELEMENTS, attributes};

const PREFIX: &str = "XCUIElementType";

/// The app, with the elements in it.
pub fn elements(source: &str, covers: bool) -> Result<Value, String> {
    let mut reader = quick_xml::Reader::from_str(source);
    let (mut open, mut count): (Vec<Map<String, Value>>, usize) = (Vec::new(), 0);
    loop {
        let (tag, is_empty) = match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) => (tag, false),
            Event::Empty(tag) => (tag, true),
            Event::End(tag) if tag.name().as_ref().starts_with(PREFIX.as_bytes()) => {
                if let Some(app) = end(&mut open) {
                    return Ok(app);
                }
                continue;
            }
            Event::Eof => return Err("it has no whole element; it may be the page of a web view".to_string()),
            _ => continue,
        };
        // Around the app is an element that stands for the session.
        if !tag.name().as_ref().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        count += 1;
        if count > MOST_ELEMENTS || open.len() >= DEEPEST {
            return Err(format!("it has more than {MOST_ELEMENTS} elements, or is nested more than {DEEPEST} deep"));
        }
        open.push(element(&tag, covers)?);
        if is_empty && let Some(app) = end(&mut open) {
            return Ok(app);
        }
    }
}

/// Adds the element that ends to the one around it. Returns it if there is none.
fn end(open: &mut Vec<Map<String, Value>>) -> Option<Value> {
    let ended = open.pop()?;
    let Some(parent) = open.last_mut() else { return Some(Value::Object(ended)) };
    let children = parent.entry("children").or_insert_with(|| json!([]));
    children.as_array_mut()?.push(Value::Object(ended));
    None
}

fn element(tag: &BytesStart<'_>, covers: bool) -> Result<Map<String, Value>, String> {
    let mut fields = Map::new();
    let kind = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
    fields.insert("type".to_string(), json!(kind.trim_start_matches(PREFIX)));
    let mut rect = Map::new();
    for (name, value) in attributes(tag)? {
        let flag = |value: &str| json!(if value == "true" || value == "1" { "1" } else { "0" });
        match name.as_str() {
            "name" | "label" | "value" | "placeholderValue" | "traits" | "bundleId" => {
                fields.insert(name, json!(value));
            }
            "enabled" => drop(fields.insert("isEnabled".to_string(), flag(&value))),
            "focused" => drop(fields.insert("isFocused".to_string(), flag(&value))),
            "visible" if covers => drop(fields.insert("isVisible".to_string(), flag(&value))),
            "x" | "y" | "width" | "height" => {
                // One that is no number is no place, as elsewhere.
                if let Ok(number) = value.parse::<f64>() {
                    rect.insert(name, json!(number));
                }
            }
            _ => {}
        }
    }
    fields.insert("rect".to_string(), Value::Object(rect));
    Ok(fields)
}
