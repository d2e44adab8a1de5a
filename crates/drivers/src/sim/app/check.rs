//! What the tables cannot see: names that lead nowhere, and names given twice.

use std::collections::HashMap;

use trailblaze_core::yaml::{Problems, Spanned};

use super::effect::{Does, Effects};
use super::element::{Element, Role};
use super::file::{App, Screen};

pub fn check(app: &App, problems: &mut Problems) {
    let check = Check {
        screens: app.screens.iter().map(|(name, _)| name).collect(),
        dialogs: app.dialogs.iter().map(|(name, _)| name).collect(),
        lists: app.lists.iter().map(|(name, _)| name).collect(),
    };
    check.screen_exists(&app.start, problems);
    for (_, screen) in app.links.iter() {
        check.screen_exists(screen, problems);
    }
    for (_, screen) in app.screens.iter().chain(app.dialogs.iter()) {
        check.screen(screen, problems);
    }
    let mut ids = HashMap::new();
    for tab in &app.tabs.0 {
        check.element(tab, &mut ids, problems);
    }
}

struct Check<'a> {
    screens: Vec<&'a str>,
    dialogs: Vec<&'a str>,
    lists: Vec<&'a str>,
}

impl<'a> Check<'a> {
    fn screen(&self, screen: &'a Screen, problems: &mut Problems) {
        for effects in [&screen.arrive, &screen.back, &screen.enter].into_iter().chain(screen.swipe.all()) {
            self.effects(effects, problems);
        }
        let mut ids = HashMap::new();
        for element in &screen.elements.0 {
            self.element(element, &mut ids, problems);
        }
    }

    fn element(&self, element: &'a Element, ids: &mut HashMap<&'a str, &'a Element>, problems: &mut Problems) {
        match &element.id {
            Some(id) => match ids.get(id.value.as_str()) {
                Some(first) if can_meet(first, element) => {
                    let message = format!("the id `{}` is given twice on this screen", id.value);
                    let hint = format!("the first is in line {}", first.span.line);
                    problems.error_with_hint(id.span, message, hint);
                }
                _ => {
                    ids.insert(&id.value, element);
                }
            },
            None if element.role.keeps_value() => {
                let message = format!("a {} needs an `id` to keep its value under", noun(element.role));
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
                Does::Dialog(dialog) if !self.dialogs.contains(&dialog.value.as_str()) => {
                    problems.unknown(dialog.span, "dialog", &dialog.value, self.dialogs.iter().copied());
                }
                Does::Append(append) => self.list_exists(&append.to, problems),
                Does::Empty(list) => self.list_exists(list, problems),
                _ => {}
            }
        }
    }

    fn screen_exists(&self, screen: &Spanned<String>, problems: &mut Problems) {
        if !self.screens.contains(&screen.value.as_str()) {
            problems.unknown(screen.span, "screen", &screen.value, self.screens.iter().copied());
        }
    }

    fn list_exists(&self, list: &Spanned<String>, problems: &mut Problems) {
        if !self.lists.contains(&list.value.as_str()) {
            problems.unknown(list.span, "list", &list.value, self.lists.iter().copied());
        }
    }
}

/// Elements of different platforms may share an id.
fn can_meet(one: &Element, other: &Element) -> bool {
    trailblaze_protocol::driver::Platform::ALL.into_iter().any(|platform| one.is_on(platform) && other.is_on(platform))
}

fn noun(role: Role) -> &'static str {
    match role {
        Role::Switch => "switch",
        Role::Checkbox => "checkbox",
        _ => "field",
    }
}
