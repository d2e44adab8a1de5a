//! The state of one app on one device. Only values that differ from the app file are stored, so that a thousand devices
//! can share one file.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;

use super::app::{AppEffect, AppScreen, Conditions, Item, SimApp, Values};
use super::servers::SimServers;

#[derive(Debug)]
pub struct AppState {
    pub shown: Shown,
    pub timers: Vec<Timer>,
    /// Counts the screens that were opened; a timer belongs to one of them.
    pub visit: u64,
    pub arrived: Instant,
    pub toast_until: Option<Instant>,
    pub servers: Arc<SimServers>,
}

/// Everything visible. Two equal values look the same.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shown {
    /// The open screens, the visible one last. Empty while the app is not running.
    pub screens: Vec<String>,
    /// The open dialogs, the visible one last.
    pub dialogs: Vec<String>,
    pub values: BTreeMap<String, String>,
    pub lists: BTreeMap<String, Vec<Item>>,
    /// The id of the focused field.
    pub focus: Option<String>,
    /// The scroll offset of each container in pixels, by the container's place in the file.
    pub scrolls: BTreeMap<u64, i32>,
    pub toast: Option<String>,
    /// Whether the elements of the screen have appeared.
    pub is_ready: bool,
}

#[derive(Debug)]
pub struct Timer {
    pub due: Instant,
    pub visit: u64,
    pub effect: AppEffect,
    pub item: Option<Item>,
}

impl AppState {
    pub fn new(now: Instant) -> AppState {
        AppState {
            shown: Shown::default(),
            timers: Vec::new(),
            visit: 0,
            arrived: now,
            toast_until: None,
            servers: Arc::default(),
        }
    }

    /// Takes over what other devices have changed.
    pub fn hear(&mut self, app: &SimApp) {
        for list in &app.shared {
            let rows = self.servers.rows(app, &list.value);
            if self.shown.lists.get(&list.value) != Some(&rows) {
                self.shown.lists.insert(list.value.clone(), rows);
            }
        }
    }

    pub fn is_running(&self) -> bool {
        !self.shown.screens.is_empty()
    }

    /// Resets everything, like a fresh install.
    pub fn clear(&mut self) {
        self.stop();
        self.shown = Shown::default();
    }

    /// Stops the app; its values survive.
    pub fn stop(&mut self) {
        let shown = std::mem::take(&mut self.shown);
        self.shown = Shown { values: shown.values, lists: shown.lists, ..Shown::default() };
        self.timers.clear();
        self.toast_until = None;
        self.visit += 1;
    }

    pub fn scope<'a>(&'a self, app: &'a SimApp, item: Option<&'a Item>) -> ValueScope<'a> {
        ValueScope { app, shown: &self.shown, item }
    }
}

/// Resolves the names in templates and conditions.
#[derive(Clone, Copy)]
pub struct ValueScope<'a> {
    pub app: &'a SimApp,
    pub shown: &'a Shown,
    pub item: Option<&'a Item>,
}

impl<'a> ValueScope<'a> {
    pub fn screen_name(&self) -> &'a str {
        self.shown.screens.last().map_or(self.app.start.value.as_str(), String::as_str)
    }

    pub fn screen(&self) -> &'a AppScreen {
        self.app.screens.get(self.screen_name()).expect("every screen that is opened exists: `check` verified it")
    }

    pub fn dialog(&self) -> Option<&'a AppScreen> {
        self.app.dialogs.get(self.shown.dialogs.last()?)
    }

    /// The value of a name; empty if it was never set.
    pub fn value(&self, name: &str) -> &'a str {
        if let Some(field) = name.strip_prefix("item.") {
            return self.item.and_then(|item| item.get(field)).map_or("", |value| &value.0);
        }
        match self.shown.values.get(name) {
            Some(value) => value,
            None => self.app.state.get(name).map_or("", |value| &value.0),
        }
    }

    pub fn list(&self, name: &str) -> &'a [Item] {
        match self.shown.lists.get(name) {
            Some(items) => items,
            None => self.app.lists.get(name).map_or(&[], Vec::as_slice),
        }
    }

    /// Replaces `{{name}}` by values.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            filled.push_str(before);
            filled.push_str(self.value(name.trim()));
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    pub fn holds(&self, conditions: &Conditions) -> bool {
        self.all(&conditions.when) && !self.any(&conditions.unless)
    }

    pub fn all(&self, values: &Values) -> bool {
        values.iter().all(|(name, expected)| self.value(name) == self.fill(&expected.0))
    }

    pub fn any(&self, values: &Values) -> bool {
        values.iter().any(|(name, expected)| self.value(name) == self.fill(&expected.0))
    }
}
