//! Checks that span tables: references to unknown names, and duplicate names.

use std::collections::HashMap;

use trailblaze_core::yaml::{Decode, Problems, Spanned, YamlNode};
use trailblaze_protocol::driver::Platform;

use super::effect::{Does, Effects};
use super::element::{Children, Element, Role};
use super::file::AppScreen;

/// Checks every part of a file that can be parsed, even if others cannot, so that all problems are reported in one go.
pub fn check(node: &YamlNode, problems: &mut Problems) {
    let check = AppCheck { screens: keys(node, "screens"), dialogs: keys(node, "dialogs"), lists: keys(node, "lists") };
    if let Some(start) = part::<Spanned<String>>(node.get("start"), problems) {
        check.screen_exists(&start, problems);
    }
    for list in part::<Vec<Spanned<String>>>(node.get("shared"), problems).unwrap_or_default() {
        check.list_exists(&list, problems);
    }
    for link in parts::<Spanned<String>>(node.get("links"), problems) {
        check.screen_exists(&link, problems);
    }
    for key in ["screens", "dialogs"] {
        for screen in parts::<AppScreen>(node.get(key), problems) {
            check.screen(&screen, problems);
        }
    }
    if let Some(tabs) = part::<Children>(node.get("tabs"), problems) {
        let mut ids = HashMap::new();
        for tab in &tabs.0 {
            check.element(tab, &mut ids, problems);
        }
    }
}

fn keys<'a>(node: &'a YamlNode, key: &str) -> Vec<&'a str> {
    let entries = node.get(key).and_then(YamlNode::entries).unwrap_or_default();
    entries.iter().filter_map(|(name, _)| name.raw()).collect()
}

/// A value, if it can be parsed; otherwise its problem has already been reported.
fn part<T: Decode>(node: Option<&YamlNode>, problems: &Problems) -> Option<T> {
    T::decode(node?, &mut Problems::new(problems.source()))
}

fn parts<T: Decode>(node: Option<&YamlNode>, problems: &Problems) -> Vec<T> {
    let entries = node.and_then(YamlNode::entries).unwrap_or_default();
    entries.iter().filter_map(|(_, value)| part(Some(value), problems)).collect()
}

/// The names that a file defines.
struct AppCheck<'n> {
    screens: Vec<&'n str>,
    dialogs: Vec<&'n str>,
    lists: Vec<&'n str>,
}

impl AppCheck<'_> {
    fn screen(&self, screen: &AppScreen, problems: &mut Problems) {
        for effects in [&screen.arrive, &screen.back, &screen.enter].into_iter().chain(screen.swipe.all()) {
            self.effects(effects, problems);
        }
        let mut ids = HashMap::new();
        for element in &screen.elements.0 {
            self.element(element, &mut ids, problems);
        }
    }

    fn element<'a>(&self, element: &'a Element, ids: &mut HashMap<&'a str, &'a Element>, problems: &mut Problems) {
        match &element.id {
            Some(id) => match ids.get(id.value.as_str()) {
                Some(first) if can_meet(first, element) => {
                    let message = format!("the id `{}` is used twice on this screen", id.value);
                    let hint = format!("the first is in line {}", first.span.line);
                    problems.error_with_hint(id.span, message, hint);
                }
                _ => {
                    ids.insert(&id.value, element);
                }
            },
            None if element.role.keeps_value() => {
                let message = format!("a {} needs an `id` under which its value is stored", noun(element.role));
                problems.error(element.span, message);
            }
            None => {}
        }
        if let Some(list) = &element.repeat {
            self.list_exists(list, problems);
        }
        for effects in element.effects() {
            self.effects(effects, problems);
        }
        for child in &element.elements.0 {
            self.element(child, ids, problems);
        }
    }

    fn effects(&self, effects: &Effects, problems: &mut Problems) {
        for effect in &effects.0 {
            match &effect.does {
                Does::Goto(screen) => self.screen_exists(screen, problems),
                Does::Dialog(dialog) => exists("dialog", dialog, &self.dialogs, problems),
                Does::Append(append) => self.list_exists(&append.to, problems),
                Does::Empty(list) => self.list_exists(list, problems),
                _ => {}
            }
        }
    }

    fn screen_exists(&self, screen: &Spanned<String>, problems: &mut Problems) {
        exists("screen", screen, &self.screens, problems);
    }

    fn list_exists(&self, list: &Spanned<String>, problems: &mut Problems) {
        exists("list", list, &self.lists, problems);
    }
}

fn exists(what: &str, name: &Spanned<String>, known: &[&str], problems: &mut Problems) {
    let Spanned { value, span } = name;
    if known.is_empty() {
        problems.error(*span, format!("unknown {what} `{value}`: the file has no {what}s"));
    } else if !known.contains(&value.as_str()) {
        problems.unknown(*span, what, value, known.iter().copied());
    }
}

/// Elements of different platforms may share an id.
fn can_meet(one: &Element, other: &Element) -> bool {
    Platform::ALL.into_iter().any(|platform| one.is_on(platform) && other.is_on(platform))
}

fn noun(role: Role) -> &'static str {
    match role {
        Role::Switch => "switch",
        Role::Checkbox => "checkbox",
        _ => "field",
    }
}
