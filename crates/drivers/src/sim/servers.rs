//! What the servers of simulated apps keep: lists that all devices of a run share.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::app::{Item, SimApp};

/// The rows that apps on several devices share, by app and list.
#[derive(Debug, Default)]
pub struct SimServers {
    lists: Mutex<BTreeMap<(String, String), Vec<Item>>>,
    /// Tells devices of a change.
    pub changed: Notify,
}

impl SimServers {
    /// The rows of a list.
    pub fn rows(&self, app: &SimApp, list: &str) -> Vec<Item> {
        self.with(app, list, |rows| rows.clone())
    }

    /// Changes a list at one moment for all devices. Returns its new rows.
    pub fn change(&self, app: &SimApp, list: &str, change: impl FnOnce(&mut Vec<Item>)) -> Vec<Item> {
        let rows = self.with(app, list, |rows| {
            change(rows);
            rows.clone()
        });
        self.changed.notify_waiters();
        rows
    }

    /// At first, a list has the rows of the app file.
    fn with<T>(&self, app: &SimApp, list: &str, work: impl FnOnce(&mut Vec<Item>) -> T) -> T {
        let mut lists = self.lists.lock();
        let key = (app.about.id.value.clone(), list.to_string());
        work(lists.entry(key).or_insert_with(|| app.lists.get(list).cloned().unwrap_or_default()))
    }
}
