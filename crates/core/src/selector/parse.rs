//! Reads a selector from the arguments of a call.

use std::fmt;

use serde_json::{Map, Value};

use super::native::IOS;
use super::{Case, FieldMatch, Match, NativeCondition, NativeLanguage, Pattern, Selector};
use crate::limits;
use crate::screen::{Field, FieldKind, Shape};
use crate::yaml::nearest;

/// What is wrong with a selector, and where: `childOf.androidAccessibility`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SelectorError {
    pub path: String,
    pub message: String,
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

/// The keys of a selector other than those of the shapes.
pub(super) const RELATIONS: [&str; 6] = ["below", "above", "leftOf", "rightOf", "childOf", "containsChild"];
pub(super) const CONTAINS_DESCENDANTS: &str = "containsDescendants";
pub(super) const INDEX: &str = "index";
/// The suffix that turns the name of a text field into the name of its pattern.
pub(super) const REGEX: &str = "Regex";

impl Selector {
    pub fn parse(value: &Value) -> Result<Selector, SelectorError> {
        parse(value, &mut Path::default())
    }

    /// Whether an unparsed selector has conditions for elements of this shape. Recordings may have been made for another
    /// driver, or be empty.
    pub fn is_for(value: &Value, shape: Shape) -> bool {
        let Some(map) = value.as_object() else { return false };
        if map.contains_key(IOS) {
            return shape == Shape::IosMaestro;
        }
        let own = map.get(shape.key()).and_then(Value::as_object);
        let has_other = Shape::ALL.into_iter().any(|other| other != shape && map.contains_key(other.key()));
        let has_relation = map.contains_key(CONTAINS_DESCENDANTS) || RELATIONS.iter().any(|key| map.contains_key(*key));
        own.is_some_and(|own| !own.is_empty()) || (has_relation && (own.is_some() || !has_other))
    }

    /// The relation for a key.
    pub(super) fn relation_mut(&mut self, key: &str) -> Option<&mut Option<Box<Selector>>> {
        match key {
            "below" => Some(&mut self.below),
            "above" => Some(&mut self.above),
            "leftOf" => Some(&mut self.left_of),
            "rightOf" => Some(&mut self.right_of),
            "childOf" => Some(&mut self.child_of),
            "containsChild" => Some(&mut self.contains_child),
            _ => None,
        }
    }

    /// The relations in the order of [`RELATIONS`].
    pub(super) fn relations(&self) -> [Option<&Selector>; 6] {
        [&self.below, &self.above, &self.left_of, &self.right_of, &self.child_of, &self.contains_child]
            .map(Option::as_deref)
    }

    fn is_empty(&self) -> bool {
        self.matcher.as_ref().is_none_or(|matcher| matcher.wants.is_empty())
            && self.native.is_none()
            && self.relations().iter().all(Option::is_none)
            && self.contains_descendants.is_empty()
    }
}

/// The current position: the keys from the root, and the depth of nested selectors.
#[derive(Default)]
struct Path {
    keys: Vec<String>,
    depth: usize,
}

impl Path {
    fn error(&self, message: impl Into<String>) -> SelectorError {
        SelectorError { path: self.keys.join("."), message: message.into() }
    }

    fn unknown<'a>(&self, key: &str, known: impl IntoIterator<Item = &'a str>) -> SelectorError {
        let known: Vec<&str> = known.into_iter().collect();
        match nearest(key, known.iter().copied()) {
            Some(near) => self.error(format!("unknown key `{key}` (did you mean `{near}`?)")),
            None => self.error(format!("unknown key `{key}` (expected one of: {})", known.join(", "))),
        }
    }

    fn within<T>(
        &mut self,
        key: impl Into<String>,
        read: impl FnOnce(&mut Path) -> Result<T, SelectorError>,
    ) -> Result<T, SelectorError> {
        self.keys.push(key.into());
        let result = read(self);
        self.keys.pop();
        result
    }
}

fn parse(value: &Value, path: &mut Path) -> Result<Selector, SelectorError> {
    if path.depth == limits::SELECTOR_DEPTH {
        return Err(path.error(format!("selectors are nested deeper than {}", limits::SELECTOR_DEPTH)));
    }
    path.depth += 1;
    let mut selector = Selector::default();
    for (key, value) in object(value, path)? {
        path.within(key, |path| read_key(&mut selector, key, value, path))?;
    }
    if selector.is_empty() {
        return Err(path.error("the selector has no condition for the element"));
    }
    path.depth -= 1;
    Ok(selector)
}

fn read_key(selector: &mut Selector, key: &str, value: &Value, path: &mut Path) -> Result<(), SelectorError> {
    if let Some(shape) = Shape::from_key(key) {
        if let Some(first) = &selector.matcher {
            return Err(path.error(format!("an element cannot be both `{}` and `{key}`", first.shape.key())));
        }
        selector.matcher = Some(parse_match(shape, value, path)?);
    } else if key == IOS {
        selector.native = Some(parse_native(value, path)?);
    } else if let Some(relation) = selector.relation_mut(key) {
        *relation = Some(Box::new(parse(value, path)?));
    } else if key == CONTAINS_DESCENDANTS {
        let Value::Array(items) = value else {
            return Err(path.error(format!("expected a list of selectors, found {}", noun(value))));
        };
        for (idx, item) in items.iter().enumerate() {
            selector.contains_descendants.push(path.within(idx.to_string(), |path| parse(item, path))?);
        }
    } else if key == INDEX {
        let index = value.as_u64().and_then(|index| usize::try_from(index).ok());
        selector.index = Some(index.ok_or_else(|| path.error("expected a non-negative integer"))?);
    } else {
        path.keys.pop();
        let known = Shape::ALL.into_iter().map(Shape::key).chain(RELATIONS).chain([IOS, CONTAINS_DESCENDANTS, INDEX]);
        let error = path.unknown(key, known);
        path.keys.push(key.to_string());
        return Err(error);
    }
    Ok(())
}

fn parse_match(shape: Shape, value: &Value, path: &mut Path) -> Result<Match, SelectorError> {
    let mut wants = Vec::new();
    for (key, value) in object(value, path)? {
        let Some((field, is_pattern)) = field(shape, key) else {
            let known: Vec<String> = keys(shape).collect();
            return Err(path.unknown(key, known.iter().map(String::as_str)));
        };
        wants.push(path.within(key, |path| {
            let want = match (field.kind(), value) {
                (FieldKind::Text, Value::String(text)) if is_pattern => {
                    FieldMatch::Pattern(Pattern::new(text, Case::of(shape)))
                }
                (FieldKind::Text, Value::String(text)) => FieldMatch::Exact(text.clone()),
                (FieldKind::Flag, Value::Bool(flag)) => FieldMatch::Flag(*flag),
                (FieldKind::Number, Value::Number(number)) if number.is_i64() => {
                    FieldMatch::Number(number.as_i64().unwrap_or_default())
                }
                (kind, value) => {
                    let wanted = match kind {
                        FieldKind::Text => "a text",
                        FieldKind::Flag => "true or false",
                        FieldKind::Number => "a whole number",
                    };
                    return Err(path.error(format!("expected {wanted}, found {}", noun(value))));
                }
            };
            Ok((field, want))
        })?);
    }
    Ok(Match { shape, wants })
}

fn parse_native(value: &Value, path: &mut Path) -> Result<NativeCondition, SelectorError> {
    let map = object(value, path)?;
    let read = |key: &String| {
        let language = NativeLanguage::ALL.into_iter().find(|language| language.key() == key.as_str());
        language.ok_or_else(|| path.unknown(key, NativeLanguage::ALL.map(NativeLanguage::key)))
    };
    let languages = map.keys().map(read).collect::<Result<Vec<_>, _>>()?;
    let [language] = languages.as_slice() else {
        return Err(path.error("expected `predicate` or `classChain`"));
    };
    path.within(language.key(), |path| match map.get(language.key()) {
        Some(Value::String(text)) if text.trim().is_empty() => Err(path.error("it is empty")),
        Some(Value::String(text)) => Ok(NativeCondition { language: *language, text: text.clone(), found: Vec::new() }),
        other => Err(path.error(format!("expected a text, found {}", noun(other.unwrap_or(&Value::Null))))),
    })
}

impl Case {
    /// How the regular expressions of a shape treat case.
    pub fn of(shape: Shape) -> Case {
        if shape.is_case_sensitive() { Case::Sensitive } else { Case::Insensitive }
    }
}

/// The field that a key refers to, and whether it is a pattern.
fn field(shape: Shape, key: &str) -> Option<(Field, bool)> {
    shape.matchable().iter().find_map(|field| match key.strip_prefix(field.name())? {
        "" => Some((*field, false)),
        REGEX if field.kind() == FieldKind::Text => Some((*field, true)),
        _ => None,
    })
}

/// All keys that a matcher of this shape may have.
pub(super) fn keys(shape: Shape) -> impl Iterator<Item = String> {
    shape.matchable().iter().flat_map(|field| {
        let pattern = (field.kind() == FieldKind::Text).then(|| format!("{}{REGEX}", field.name()));
        pattern.into_iter().chain([field.name().to_string()])
    })
}

fn object<'a>(value: &'a Value, path: &Path) -> Result<&'a Map<String, Value>, SelectorError> {
    value.as_object().ok_or_else(|| path.error(format!("expected a mapping, found {}", noun(value))))
}

fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a mapping",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::samples::any_selector;
    use super::*;

    fn check(value: Value, expected: Result<(), &str>) {
        match (Selector::parse(&value), expected) {
            (Ok(selector), Ok(())) => assert_eq!(selector.to_json(), value),
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected, "{value}"),
            (found, expected) => panic!("{value}: expected {expected:?}, found {found:?}"),
        }
    }

    #[test]
    fn every_key_is_read_and_written_back() {
        check(json!({"androidAccessibility": {"resourceIdRegex": "android:id/text1", "text": "ALARM"}}), Ok(()));
        check(json!({"androidAccessibility": {"isChecked": false, "collectionItemRowIndex": 3}}), Ok(()));
        check(json!({"web": {"cssSelector": "#nav-form"}}), Ok(()));
        let inner = json!({"compose": {"testTag": "a"}});
        check(
            json!({
                "compose": {"textRegex": "Pay.*"},
                "below": inner, "above": inner, "leftOf": inner, "rightOf": inner, "childOf": inner,
                "containsChild": inner, "containsDescendants": [inner, inner], "index": 2,
            }),
            Ok(()),
        );
        check(json!({"childOf": inner}), Ok(()));
    }

    #[test]
    fn an_unknown_key_is_rejected_with_its_path() {
        check(
            json!({"childOf": {"androidAccessibility": {"textRegx": "a"}}}),
            Err("childOf.androidAccessibility: unknown key `textRegx` (did you mean `textRegex`?)"),
        );
        check(
            json!({"androidAccesibility": {}}),
            Err("unknown key `androidAccesibility` (did you mean `androidAccessibility`?)"),
        );
        check(
            json!({"iosAxe": {"zz": 1}}),
            Err(
                "iosAxe: unknown key `zz` (expected one of: uniqueIdRegex, uniqueId, labelRegex, label, valueRegex, value, \
                 titleRegex, title, typeRegex, type, roleRegex, role, subroleRegex, subrole, customActionRegex, \
                 customAction, enabled)",
            ),
        );
        check(
            json!({"web": {"nthIndexRegex": "1"}}),
            Err("web: unknown key `nthIndexRegex` (did you mean `nthIndex`?)"),
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_is_rejected() {
        check(json!("Pay"), Err("expected a mapping, found a text"));
        check(json!({"web": []}), Err("web: expected a mapping, found a list"));
        check(json!({"web": {"ariaName": 5}}), Err("web.ariaName: expected a text, found a number"));
        check(json!({"compose": {"isEnabled": "yes"}}), Err("compose.isEnabled: expected true or false, found a text"));
        check(json!({"web": {"nthIndex": 1.5}}), Err("web.nthIndex: expected a whole number, found a number"));
        check(json!({"web": {"ariaName": "a"}, "index": -1}), Err("index: expected a non-negative integer"));
        check(
            json!({"containsDescendants": {}}),
            Err("containsDescendants: expected a list of selectors, found a mapping"),
        );
        check(
            json!({"containsDescendants": [{}]}),
            Err("containsDescendants.0: the selector has no condition for the element"),
        );
    }

    #[test]
    fn a_selector_needs_a_condition_for_one_shape() {
        check(json!({}), Err("the selector has no condition for the element"));
        check(json!({"index": 0}), Err("the selector has no condition for the element"));
        check(json!({"web": {}}), Err("the selector has no condition for the element"));
        check(
            json!({"web": {"ariaName": "a"}, "compose": {"text": "a"}}),
            Err("compose: an element cannot be both `web` and `compose`"),
        );
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested =
            |depth: usize| (1..depth).fold(json!({"web": {"ariaName": "a"}}), |inner, _| json!({"childOf": inner}));
        check(nested(limits::SELECTOR_DEPTH), Ok(()));
        let path = ["childOf"; limits::SELECTOR_DEPTH].join(".");
        check(nested(limits::SELECTOR_DEPTH + 1), Err(&format!("{path}: selectors are nested deeper than 10")));
    }

    proptest! {
        #[test]
        fn a_written_selector_reads_back_the_same(selector in any_selector()) {
            let json = selector.to_json();
            let read = Selector::parse(&json).unwrap();
            prop_assert_eq!(&read, &selector);
            prop_assert_eq!(read.to_json(), json);
        }
    }
}
