//! Entries of servers that change while sessions are open. A session keeps the settings that it was opened with.

use std::collections::BTreeMap;

use trailblaze_protocol::event::Level;

use super::ToolServers;
use crate::project::loaded::Loaded;
use crate::servers::entries::{Named, entries};

impl ToolServers {
    /// Warns of entries that differ from those that the open sessions of a target use, each change once.
    pub fn warn_of_changed_entries(&self, loaded: &Loaded, target: Option<&str>) {
        // In other sessions nobody makes the calls, and the next run uses the new entries.
        if !self.is_interactive || loaded.has_errors() {
            return;
        }
        let changes = self.changed_entries(&entries(loaded), target);
        let mut told = self.changed_entries.lock();
        let told = told.entry(target.map(str::to_string)).or_default();
        let outdated = told.iter().filter(|(about, text)| changes.get(*about) != Some(text));
        outdated.for_each(|(about, _)| self.settle(about));
        for (about, text) in changes.iter().filter(|(about, text)| told.get(*about) != Some(text)) {
            self.tell(about, Level::Warning, text);
        }
        *told = changes;
    }

    /// What is different now, by what it is about.
    fn changed_entries(&self, now: &[Named], target: Option<&str>) -> BTreeMap<String, String> {
        let mut changes = BTreeMap::new();
        let mut add = |named: &Named, what: &str| {
            let about = format!("the entry of server `{}`", named.name);
            let place = named.place().map(|place| format!(" ({place})")).unwrap_or_default();
            let text = format!("{about} {what}{place}; it takes effect when the session is opened again");
            changes.insert(about, text);
        };
        for named in self.of(target) {
            match now.iter().find(|new| new.key() == named.key()) {
                None => add(named, "was removed"),
                Some(new) if !new.entry.says_the_same_as(&named.entry) => add(new, "changed"),
                Some(_) => {}
            }
        }
        let is_of_target = |named: &&Named| named.target.is_none() || named.target.as_deref() == target;
        let is_new = |named: &&Named| !self.entries.iter().any(|known| known.key() == named.key());
        now.iter().filter(is_of_target).filter(is_new).for_each(|named| add(named, "was added"));
        changes
    }
}
