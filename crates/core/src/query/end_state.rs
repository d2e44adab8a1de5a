//! The state that a step leaves a screen in: hashes of its stable parts.

use std::collections::BTreeSet;

use super::identity::is_item;
use super::stable::{lasting_id, lasting_text};
use super::steady::steady;
use crate::screen::{Node, Screen, Shape};
use crate::selector::Outline;

/// How many parts are kept. Of more, those with the smallest hashes are kept, which are the same on every screen.
const PARTS: usize = 60;
/// A screen with fewer stable parts cannot be recognized.
const LEAST_PARTS: usize = 2;
/// How much of a recorded state must be on a screen, and how much of the screen must be recorded.
const COVERED: f64 = 0.6;
/// How much of what a step made appear must have appeared.
const APPEARED: f64 = 0.5;

/// What is stable on a screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndState(BTreeSet<u32>);

/// The stable parts of a screen: the roles, ids and texts of its elements. What changes by itself or with the data is left
/// out: typed values, numbers, short-lived messages, and the contents of list items.
pub fn end_state(screen: &Screen) -> EndState {
    let outline = Outline::new(&screen.root);
    let is_seen = |place: &usize| {
        let node = outline.node(*place);
        screen.visible_part(node).is_some() && !node.is_unlisted() && !is_passing(node)
    };
    let is_in_item = |place: &usize| outline.ancestors(*place).chain([*place]).any(|at| is_item(outline.node(at)));
    let parts = |places: &mut dyn Iterator<Item = usize>| -> BTreeSet<u32> {
        places.filter(is_seen).filter_map(|place| part(outline.node(place))).collect()
    };
    let mut found = parts(&mut outline.places().skip(1).filter(|place| !is_in_item(place)));
    if found.len() <= LEAST_PARTS {
        found = parts(&mut outline.places().skip(1));
    }
    found.extend(screen.app.as_deref().and_then(|app| address(app, screen.root.props.shape)).map(|app| hash(&app)));
    EndState(found)
}

impl EndState {
    /// The recorded form.
    pub fn parts(&self) -> Vec<String> {
        self.0.iter().take(PARTS).map(|part| format!("{part:08x}")).collect()
    }

    /// Reads the recorded form. `None` if something in it is not a hash.
    pub fn parse<'p>(parts: impl IntoIterator<Item = &'p str>) -> Option<EndState> {
        let parts = parts.into_iter().map(|part| u32::from_str_radix(part, 16).ok());
        parts.collect::<Option<BTreeSet<u32>>>().map(EndState)
    }

    /// Whether it says enough about a screen to recognize it.
    pub fn is_telling(&self) -> bool {
        self.0.len() >= LEAST_PARTS
    }

    /// How much of this recorded state is on a screen, from 0 to 1.
    pub fn share_on(&self, now: &EndState) -> f64 {
        share(self.0.intersection(&now.0).count(), self.0.len())
    }

    /// Whether a screen is in this recorded state.
    pub fn is_on(&self, now: &EndState) -> bool {
        // Of a large screen only the parts with the smallest hashes were recorded.
        let last = if self.0.len() < PARTS { u32::MAX } else { self.0.last().copied().unwrap_or(u32::MAX) };
        let comparable = now.0.range(..=last).count();
        self.share_on(now) >= COVERED && share(self.0.intersection(&now.0).count(), comparable) >= COVERED
    }

    /// Whether a step that was recorded to lead from `before` to this state has led from the screen `start` to the
    /// screen `now`. `before` is `None` if it was not recorded.
    pub fn is_reached(&self, before: Option<&EndState>, start: &EndState, now: &EndState) -> bool {
        // What the step made appear in its recording. What was renamed since is missing from both states.
        let appeared: Vec<&u32> = match before {
            Some(before) => self.0.iter().filter(|part| !before.0.contains(part) && !start.0.contains(part)).collect(),
            None => Vec::new(),
        };
        let seen = appeared.iter().filter(|part| now.0.contains(part)).count();
        self.is_on(now) && share(seen, appeared.len()) >= APPEARED
    }
}

fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 1.0 } else { part as f64 / of as f64 }
}

fn part(node: &Node) -> Option<u32> {
    let (id, text) = (lasting_id(node), lasting_text(node).and_then(|text| steady(&text)));
    if id.is_none() && text.is_none() {
        return None;
    }
    let role = node.class().unwrap_or_default();
    Some(hash(&format!("{role}|{}|{}", id.unwrap_or_default(), text.unwrap_or_default())))
}

/// Messages that disappear by themselves.
fn is_passing(node: &Node) -> bool {
    const PASSING: [&str; 7] = ["Toast", "Snackbar", "status", "alert", "log", "timer", "progressbar"];
    node.class().is_some_and(|class| PASSING.contains(&class))
}

/// The app, or the last part of a page's path.
fn address(app: &str, shape: Shape) -> Option<String> {
    if shape != Shape::Web {
        return Some(app.to_string());
    }
    let path = app.split(['?', '#']).next().unwrap_or(app);
    let (_, path) = path.split_once("://")?;
    let (_, path) = path.split_once('/').unwrap_or_default();
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    Some(format!("/{}", steady(last).unwrap_or_default()))
}

/// FNV-1a: the same in every build.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Field;
    use crate::selector::samples::{Build, android, screen};

    fn button(text: &str, top: i32) -> Node {
        android("Button", text).with(Field::IsClickable, true).at(0, top, 100, 50)
    }

    fn state(children: impl IntoIterator<Item = Node>) -> EndState {
        end_state(&screen(android("FrameLayout", "").at(0, 0, 400, 800).holding(children)))
    }

    fn home(balance: &str, clock: &str, typed: &str, more: impl IntoIterator<Item = Node>) -> EndState {
        let field = android("EditText", typed).with(Field::IsEditable, true).with(Field::HintText, "Amount");
        let usual = [
            android("TextView", "Your account").at(0, 0, 100, 50),
            android("TextView", balance).at(0, 60, 100, 50),
            android("TextView", clock).at(0, 120, 100, 50),
            field.at(0, 180, 100, 50),
            button("Send", 240),
            button("Request", 300),
        ];
        state(usual.into_iter().chain(more))
    }

    #[test]
    fn a_clock_a_balance_a_typed_value_and_a_message_do_not_change_the_state() {
        let one = home("Balance: €120.00", "10:45 AM", "", []);
        let toast = android("Toast", "It was sent").at(0, 400, 100, 50);
        let other = home("Balance: €7.50", "Mon 16 Nov, 11:02", "12.50", [toast]);
        assert_eq!(one, other);
        assert!(one.is_telling());
        assert_eq!(EndState::parse(one.parts().iter().map(String::as_str)), Some(one));
    }

    #[test]
    fn another_screen_is_another_state_and_a_renamed_button_is_not() {
        let then = home("Balance: €1.00", "10:45", "", []);
        let renamed = state([
            android("TextView", "Your account").at(0, 0, 100, 50),
            android("TextView", "Balance: €1.00").at(0, 60, 100, 50),
            android("EditText", "").with(Field::IsEditable, true).with(Field::HintText, "Amount").at(0, 180, 100, 50),
            button("Send money", 240),
            button("Request", 300),
        ]);
        assert!(then.is_on(&renamed));
        let elsewhere = state([
            android("TextView", "Your account").at(0, 0, 100, 50),
            android("TextView", "Settings").at(0, 60, 100, 50),
            button("Sign out", 240),
        ]);
        assert!(!then.is_on(&elsewhere) && !elsewhere.is_on(&then));
        // What the step made appear has to appear, even if most of the screen stays the same.
        let sent = home("Balance: €1.00", "10:45", "", [android("TextView", "Sent to Grace").at(0, 360, 100, 50)]);
        assert!(sent.is_on(&then), "most of it is there");
        assert!(!sent.is_reached(Some(&then), &then, &then));
        assert!(sent.is_reached(Some(&then), &then, &sent));
    }
}
