//! What the walker is asked for in a search. It returns everything that may match; the search itself is the engine's,
//! so that elements are found by the same rules on every platform.

use serde_json::{Map, Value, json};
use trailblaze_core::query::{Checks, ElementDescription, ElementProperties, Query, QueryTarget, TextMatch};
use trailblaze_core::screen::Field;
use trailblaze_core::selector::{FieldMatch, Selector};

use super::look::ElementUse;

/// What an element must be ready for to pass these checks.
pub fn needed(checks: Checks) -> Option<ElementUse> {
    match checks {
        Checks::Present | Checks::Visible | Checks::InView => None,
        Checks::Enabled => Some(ElementUse::Focus),
        Checks::Actionable => Some(ElementUse::Touch { at: None }),
    }
}

/// The walker's part of a search, and whether it leaves anything out.
pub fn want(query: &Query, checks: Checks) -> (Value, bool) {
    let mut want = Map::new();
    let css = match &query.what {
        QueryTarget::Selector(selector) => css_of(selector),
        QueryTarget::Described(description) => description.css.iter().cloned().collect(),
        _ => Vec::new(),
    };
    // A text may be split over several elements, or be part of a longer one.
    let has_text = match &query.what {
        QueryTarget::Element(element) => element.text.is_some(),
        QueryTarget::Described(description) => description.role.is_none() && description.css.is_none(),
        _ => false,
    };
    if has_text {
        want.insert("texts".to_string(), true.into());
    }
    if let Some(target) = target(query) {
        want.insert("target".to_string(), target.into());
    }
    let only = only(query);
    let is_partial = only.is_some();
    if let Some(only) = only {
        want.insert("only".to_string(), only);
        want.extend(needed(checks).map(|needed| ("ready".to_string(), needed.json())));
    }
    if matches!(checks, Checks::Visible | Checks::InView) {
        want.insert("visible".to_string(), true.into());
    }
    if checks == Checks::InView {
        want.insert("shown".to_string(), true.into());
    }
    if !css.is_empty() {
        want.insert("css".to_string(), css.into());
    }
    (Value::Object(want), is_partial)
}

fn only(query: &Query) -> Option<Value> {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let text = |text: &TextMatch| match text {
        TextMatch::Exact(text) => Some(("is", bare(text))),
        TextMatch::Contains(text) => Some(("has", bare(text))),
        TextMatch::Pattern(_) => None,
    };
    match &query.what {
        // The surroundings of an element may decide whether it is enabled or selected.
        QueryTarget::Element(ElementProperties { text: words, id, enabled: None, selected: None }) => {
            let words = words.as_ref().and_then(text);
            if words.is_none() && id.is_none() {
                return None;
            }
            let mut only = Map::new();
            only.extend(words.map(|(key, words)| (key.to_string(), words.into())));
            only.extend(id.iter().map(|id| ("id".to_string(), id.as_str().into())));
            Some(Value::Object(only))
        }
        QueryTarget::Selector(selector) => only_selected(selector),
        QueryTarget::Described(description) => only_described(description),
        _ => None,
    }
}

/// The CSS selector that the element itself must match.
fn target(query: &Query) -> Option<&str> {
    match &query.what {
        QueryTarget::Described(description) => description.css.as_deref(),
        QueryTarget::Selector(selector) => {
            let wants = selector.matcher.iter().flat_map(|matcher| &matcher.wants);
            wants.into_iter().find_map(|(field, want)| match want {
                FieldMatch::Exact(css) if *field == Field::CssSelector => Some(css.as_str()),
                _ => None,
            })
        }
        _ => None,
    }
}

/// What a description requires of the element itself. A box may be named by its contents.
fn only_described(description: &ElementDescription) -> Option<Value> {
    if description.depends_on_others() {
        return None;
    }
    let mut only = Map::new();
    match (&description.css, &description.role) {
        (Some(css), _) => only.insert("css".to_string(), css.as_str().into()),
        (None, Some(role)) if role != "generic" => only.insert("role".to_string(), role.as_str().into()),
        _ => return None,
    };
    // A message cuts long names short.
    let whole = |text: &str| text.strip_suffix('…').unwrap_or(text).to_string();
    let bare = |text: &String| whole(text).split_whitespace().collect::<String>().to_lowercase();
    only.extend(description.name.as_ref().map(|name| ("like".to_string(), bare(name).into())));
    Some(Value::Object(only))
}

/// What a selector requires of the element itself, if it requires nothing of others.
fn only_selected(selector: &Selector) -> Option<Value> {
    let matcher = selector.matcher.as_ref()?;
    let bare = Selector { matcher: Some(matcher.clone()), index: selector.index, ..Selector::default() };
    let counts = matcher.wants.iter().any(|(field, _)| *field == Field::NthIndex);
    if *selector != bare || counts {
        return None;
    }
    let exact = |wanted: Field| {
        matcher.wants.iter().find_map(|(field, want)| match want {
            FieldMatch::Exact(text) if *field == wanted => Some(text.as_str()),
            _ => None,
        })
    };
    if let Some(css) = exact(Field::CssSelector) {
        return Some(json!({"css": css}));
    }
    if let Some(id) = exact(Field::DataTestId) {
        return Some(json!({"id": id}));
    }
    exact(Field::AriaRole).map(|role| json!({"role": role}))
}

/// All CSS selectors in a selector. Only the browser can tell what they match.
fn css_of(selector: &Selector) -> Vec<String> {
    let own = selector.matcher.iter().flat_map(|matcher| &matcher.wants).filter_map(|(field, want)| match want {
        FieldMatch::Exact(css) if *field == Field::CssSelector => Some(css.clone()),
        _ => None,
    });
    let others = [&selector.below, &selector.above, &selector.left_of, &selector.right_of, &selector.child_of];
    let others = others.into_iter().chain([&selector.contains_child]).flatten().map(AsRef::as_ref);
    own.chain(others.chain(&selector.contains_descendants).flat_map(css_of)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selector(value: Value) -> Query {
        Query { what: QueryTarget::Selector(Box::new(Selector::parse(&value).unwrap())), index: None }
    }

    #[test]
    fn the_walker_leaves_out_only_elements_that_cannot_match() {
        let element = |element: ElementProperties| Query { what: QueryTarget::Element(element), index: None };
        let exact =
            ElementProperties { text: Some(TextMatch::Exact("Sign  in".into())), ..ElementProperties::default() };
        assert_eq!(
            want(&element(exact.clone()), Checks::Actionable),
            (json!({"only": {"is": "Signin"}, "texts": true, "ready": {"how": "touch"}}), true)
        );
        let enabled = ElementProperties { enabled: Some(true), ..exact };
        assert_eq!(want(&element(enabled), Checks::Present), (json!({"texts": true}), false));
        let css = selector(json!({"web": {"cssSelector": "#a > b"}}));
        assert_eq!(
            want(&css, Checks::Visible).0,
            json!({"only": {"css": "#a > b"}, "css": ["#a > b"], "target": "#a > b", "visible": true})
        );
        let described = |text: &str| {
            let what = QueryTarget::Described(Box::new(ElementDescription::parse(text).unwrap()));
            want(&Query { what, index: None }, Checks::Present)
        };
        assert_eq!(described("textbox \"City: Rome\"").0, json!({"only": {"role": "textbox", "like": "city:rome"}}));
        assert_eq!(
            described("css=li \"Mug\"").0,
            json!({"only": {"css": "li", "like": "mug"}, "css": ["li"], "target": "li"})
        );
        assert_eq!(described("generic \"Card\""), (json!({}), false));
        assert_eq!(described("\"beta\""), (json!({"texts": true}), false));
        let nested = selector(json!({"web": {"ariaRole": "link"}, "childOf": {"web": {"cssSelector": "nav"}}}));
        assert_eq!(want(&nested, Checks::Present), (json!({"css": ["nav"]}), false));
        let nth = selector(json!({"web": {"ariaRole": "link", "nthIndex": 2}}));
        assert_eq!(want(&nth, Checks::Present), (json!({}), false));
    }
}
