//! Finds elements on the screen that are similar to one that was not found.

use std::collections::HashSet;

use super::whereabouts::describe_all;
use super::{ElementProperties, Query, QueryTarget, TextMatch};
use crate::screen::{Field, Node, Screen, fold};
use crate::selector::{FieldMatch, Outline, Selector};

const SUGGESTIONS: usize = 3;
/// The most texts that are compared. A screen usually has fewer, and a waiting loop repeats the search.
const COMPARED: usize = 500;
/// Below this similarity, a suggestion only distracts: up to two letters in five may differ.
const LIKENESS: f64 = 0.6;
/// How many characters two texts must share, as a part or at the start, to count as similar.
const PART: usize = 3;

/// The visible elements whose texts or ids are most similar to the requested ones, most similar first.
pub(super) fn near(query: &Query, screen: &Screen, outline: &Outline<'_>) -> Vec<String> {
    let Some(asked) = asked(query) else { return Vec::new() };
    let names = |node: &Node| -> Vec<String> {
        match &asked {
            AskedWords::Id(_) => node.short_id().map(str::to_string).into_iter().collect(),
            AskedWords::Text(_) => [node.text(), node.label()].into_iter().flatten().map(fold).collect(),
        }
    };
    let (AskedWords::Id(wanted) | AskedWords::Text(wanted)) = &asked;
    let wanted = wanted.to_lowercase();
    let is_seen = |node: &Node| screen.visible_part(node).is_some() && !node.is_password() && !node.is_unlisted();
    let visible = outline.places().filter(|place| is_seen(outline.node(*place)));
    let mut seen = HashSet::new();
    let mut scored: Vec<(f64, usize)> = visible
        .flat_map(|place| names(outline.node(place)).into_iter().map(move |name| (place, name)))
        .filter(|(_, name)| seen.insert(name.clone()))
        .take(COMPARED)
        .filter_map(|(place, name)| Some((likeness(&wanted, &name.to_lowercase())?, place)))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut places: Vec<usize> = Vec::new();
    for (_, place) in scored {
        if !places.contains(&place) && places.len() < SUGGESTIONS {
            places.push(place);
        }
    }
    describe_all(outline, &places)
}

enum AskedWords {
    Id(String),
    Text(String),
}

fn asked(query: &Query) -> Option<AskedWords> {
    match &query.what {
        QueryTarget::Element(ElementProperties { text: Some(text), .. }) => {
            let (TextMatch::Exact(text) | TextMatch::Contains(text) | TextMatch::Pattern(text)) = text;
            Some(AskedWords::Text(fold(text)))
        }
        QueryTarget::Element(ElementProperties { id: Some(id), .. }) => Some(AskedWords::Id(id.clone())),
        QueryTarget::Selector(selector) => asked_by_selector(selector),
        QueryTarget::Described(description) => {
            let name = description.name.as_deref().map(|name| AskedWords::Text(fold(name)));
            name.or_else(|| description.id.clone().map(AskedWords::Id))
        }
        QueryTarget::Element(_) | QueryTarget::Reference(_) | QueryTarget::Node(_) => None,
    }
}

fn asked_by_selector(selector: &Selector) -> Option<AskedWords> {
    let matcher = selector.matcher.as_ref()?;
    let wanted = |fields: &[Field]| {
        matcher.wants.iter().find_map(|(field, want)| match want {
            FieldMatch::Pattern(pattern) if fields.contains(field) => Some(pattern.source().to_string()),
            FieldMatch::Exact(text) if fields.contains(field) => Some(text.clone()),
            _ => None,
        })
    };
    // The name in `button "Pay"` is the quoted part.
    let named = wanted(&[Field::AriaDescriptor]);
    let named = named.and_then(|words| words.split_once('"').map(|(_, name)| name.trim_end_matches('"').to_string()));
    let text = wanted(matcher.shape.text_fields()).or(named).map(AskedWords::Text);
    text.or_else(|| wanted(matcher.shape.id_fields()).map(AskedWords::Id))
}

/// The similarity of two texts, if it is high enough for a suggestion.
fn likeness(wanted: &str, name: &str) -> Option<f64> {
    let length = |text: &str| text.chars().count();
    let is_part = length(wanted) >= PART && name.contains(wanted) || length(name) >= PART && wanted.contains(name);
    // One of them starts like the other, except for its last letters.
    let n_same = wanted.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let begins_alike = n_same >= PART && n_same * 3 >= length(wanted).min(length(name)) * 2;
    let likeness = strsim::normalized_damerau_levenshtein(wanted, name);
    (is_part || begins_alike || likeness >= LIKENESS).then_some(likeness)
}
