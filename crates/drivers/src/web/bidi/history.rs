//! The history of tabs, as documents tell of it while a person is followed.

use super::super::backend::{BrowserEvent, TabHistory};
use super::BidiSession;

/// What a message of a document begins with that tells of its history.
const TOLD: &str = "history:";
/// How many entries of a tab are known.
const ENTRIES: usize = 1000;

/// The entries of a tab, by the keys that the browser gives them.
#[derive(Debug, Default)]
pub struct KeyedHistory {
    /// With the numbers that stand for them.
    entries: Vec<(String, i64)>,
    index: usize,
    last_number: i64,
}

impl KeyedHistory {
    /// Notes the entry that a tab is at now, and how it came there.
    fn visit(&mut self, how: &str, key: &str) {
        if let Some(index) = self.entries.iter().position(|(known, _)| known == key) {
            self.index = index;
            return;
        }
        self.last_number += 1;
        let entry = (key.to_string(), self.last_number);
        match self.entries.get_mut(self.index) {
            Some(replaced) if how.ends_with("replace") => *replaced = entry,
            // What was ahead is gone.
            Some(_) => {
                self.entries.truncate(self.index + 1);
                self.entries.push(entry);
                if self.entries.len() > ENTRIES {
                    self.entries.remove(0);
                }
                self.index = self.entries.len() - 1;
            }
            None => self.entries.push(entry),
        }
    }

    pub fn told(&self) -> TabHistory {
        let entries = self.entries.iter().map(|(_, number)| *number).collect();
        TabHistory { index: i64::try_from(self.index).unwrap_or(0), entries }
    }
}

impl BidiSession {
    /// Takes a message of a main document about its history. False if it is about something else.
    pub(super) fn take_history(&self, tab: &str, message: &str) -> bool {
        let Some(told) = message.strip_prefix(TOLD) else { return false };
        let mut words = told.splitn(3, ' ');
        let (what, how, rest) =
            (words.next().unwrap_or_default(), words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let tab = tab.to_string();
        let started = |kind: &str, url: &str| BrowserEvent::NavigationStarted {
            tab: tab.clone(),
            kind: kind.to_string(),
            url: url.to_string(),
        };
        match what {
            "asks" => self.sink.take(BrowserEvent::NavigationRequested { tab }),
            "document" => {
                let kind = match how {
                    "reload" => "reload",
                    "back_forward" => "historyDifferentDocument",
                    _ => "differentDocument",
                };
                self.sink.take(started(kind, rest));
            }
            "entry" => {
                self.known.lock().histories.entry(tab.clone()).or_default().visit(how, rest);
                if how == "within-traverse" {
                    self.sink.take(started("historySameDocument", ""));
                    self.sink.take(BrowserEvent::NavigatedWithinDocument { tab });
                }
            }
            _ => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_goes_back_and_opens_another_page() {
        let mut history = KeyedHistory::default();
        for (how, key) in [("navigate", "a"), ("navigate", "b"), ("within-push", "c"), ("back_forward", "b")] {
            history.visit(how, key);
        }
        assert_eq!(history.told(), TabHistory { index: 1, entries: vec![1, 2, 3] });
        history.visit("within-replace", "d");
        assert_eq!(history.told(), TabHistory { index: 1, entries: vec![1, 4, 3] });
        history.visit("navigate", "e");
        assert_eq!(history.told(), TabHistory { index: 2, entries: vec![1, 4, 5] });
        history.visit("reload", "e");
        assert_eq!(history.told(), TabHistory { index: 2, entries: vec![1, 4, 5] });
    }
}
