//! Finds names of values that nothing ever sets, which would always be empty.

use std::collections::BTreeSet;

use trailblaze_core::yaml::{Problems, Span};

use super::effect::{AppEffect, Does, Effects};
use super::element::Element;
use super::file::{AppScreen, SimApp};
use super::value::Values;

/// Set by the device.
const OF_THE_DEVICE: [&str; 5] = ["zoom", "network", "appearance", "locale", "location"];
const PERMISSION: &str = "permission.";
const ITEM: &str = "item.";

pub fn check_uses(app: &SimApp, problems: &mut Problems) {
    let mut seen = SeenUses::default();
    seen.known.extend(app.state.iter().map(|(name, _)| name).chain(OF_THE_DEVICE));
    for (_, screen) in app.screens.iter().chain(app.dialogs.iter()) {
        seen.screen(screen);
    }
    for tab in &app.tabs.0 {
        seen.element(tab);
    }
    for (name, span) in &seen.used {
        let is_elsewhere = name.starts_with(ITEM) || name.starts_with(PERMISSION);
        if !is_elsewhere && !seen.known.contains(name) {
            problems.unknown(*span, "value of the state", name, seen.known.iter().copied());
        }
    }
}

#[derive(Default)]
struct SeenUses<'a> {
    known: BTreeSet<&'a str>,
    used: Vec<(&'a str, Span)>,
}

impl<'a> SeenUses<'a> {
    fn screen(&mut self, screen: &'a AppScreen) {
        self.text(screen.title.as_deref(), screen.span);
        for effects in [&screen.arrive, &screen.back, &screen.enter].into_iter().chain(screen.swipe.all()) {
            self.effects(effects, screen.span);
        }
        for element in &screen.elements.0 {
            self.element(element);
        }
    }

    fn element(&mut self, element: &'a Element) {
        if let Some(id) = element.id.as_ref().filter(|_| element.role.keeps_value()) {
            self.known.insert(&id.value);
        }
        let own = [&element.android, &element.ios, &element.web, &element.desktop].into_iter().flatten();
        let texts = own.flat_map(|own| [&own.text, &own.label, &own.hint]);
        for text in texts.chain([&element.text, &element.label, &element.hint]) {
            self.text(text.as_deref(), element.span);
        }
        for values in
            [&element.when, &element.unless, &element.enabled_when, &element.disabled_when, &element.selected_when]
        {
            self.condition(values);
        }
        for effects in element.effects() {
            self.effects(effects, element.span);
        }
        for child in &element.elements.0 {
            self.element(child);
        }
    }

    fn effects(&mut self, effects: &'a Effects, span: Span) {
        for AppEffect { conditions, does, .. } in &effects.0 {
            self.condition(&conditions.when);
            self.condition(&conditions.unless);
            match does {
                Does::Set(values) | Does::Add(values) => {
                    self.known.extend(values.iter().map(|(name, _)| name));
                    self.values(values);
                }
                Does::Toggle(name) => {
                    self.known.insert(name);
                }
                Does::Toast(text) | Does::Open(text) => self.text(Some(text), span),
                Does::Append(append) => self.values(&append.item),
                _ => {}
            }
        }
    }

    fn condition(&mut self, values: &'a Values) {
        self.used.extend(values.0.iter().map(|(name, _)| (name.value.as_str(), name.span)));
        self.values(values);
    }

    fn values(&mut self, values: &'a Values) {
        for (name, value) in &values.0 {
            self.text(Some(&value.0), name.span);
        }
    }

    fn text(&mut self, text: Option<&'a str>, span: Span) {
        let tokens = text.unwrap_or_default().split("{{").skip(1);
        self.used.extend(tokens.filter_map(|rest| rest.split_once("}}")).map(|(name, _)| (name.trim(), span)));
    }
}
