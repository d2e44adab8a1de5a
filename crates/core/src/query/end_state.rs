//! The state that a step leaves a screen in: hashes of its stable parts.

use std::collections::BTreeSet;

use super::about::{hash, is_passing};
use super::identity::is_item;
use super::meaning::words;
use super::stable::lasting_text;
use super::steady::steady;
use crate::screen::{Node, Screen, Shape};
use crate::selector::Outline;

/// How many parts are kept. Of more, those with the smallest hashes are kept, which are the same on every screen.
const PARTS: usize = 250;
/// A screen with fewer stable parts cannot be recognized.
const LEAST_PARTS: usize = 2;
/// How much of a recorded state must be on a screen, and how much of the screen must be recorded.
const COVERED: f64 = 0.6;
/// How much of what a step made appear or disappear may be otherwise: nothing, unless it is much.
const OTHERWISE: f64 = 0.1;

/// What is stable on a screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndState(BTreeSet<u32>);

/// The stable parts of a screen: what its elements say. What changes by itself or with the data is left out: typed values,
/// numbers, short-lived messages, and the contents of list items.
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
        let comparable = now.0.range(..=self.last()).count();
        self.share_on(now) >= COVERED && share(self.0.intersection(&now.0).count(), comparable) >= COVERED
    }

    /// Whether a step that ends in this recorded state changes what is on the screen, so that the state tells whether the
    /// step did what it should.
    pub fn differs_from(&self, before: &EndState) -> bool {
        self.0 != before.0
    }

    /// Whether a step that was recorded to lead from `before` to this state has led to the screen `now`. What the step made
    /// appear must be there, and what it made disappear must be gone, whatever the screen was like when the step started.
    /// `before` is `None` if it was not recorded; then all of this state must be there.
    pub fn is_reached(&self, before: Option<&EndState>, now: &EndState) -> bool {
        let nothing = EndState::default();
        let before = before.unwrap_or(&nothing);
        let appeared: Vec<&u32> = self.0.difference(&before.0).collect();
        // Of a large screen only some parts were recorded, so others may only seem to be gone.
        let gone: Vec<&u32> = before.0.difference(&self.0).filter(|part| **part <= self.last()).collect();
        let is_missing = |part: &&&u32| !now.0.contains(*part);
        let n_missing = appeared.iter().filter(is_missing).count();
        let n_left = gone.iter().filter(|part| !is_missing(part)).count();
        let is_little = |n: usize, of: usize| n as f64 <= of as f64 * OTHERWISE;
        self.is_on(now) && is_little(n_missing, appeared.len()) && is_little(n_left, gone.len())
    }

    /// The greatest part that would have been recorded.
    fn last(&self) -> u32 {
        if self.0.len() < PARTS { u32::MAX } else { self.0.last().copied().unwrap_or(u32::MAX) }
    }
}

fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 1.0 } else { part as f64 / of as f64 }
}

/// What an element says. Its role and its id may change without a change of the state.
fn part(node: &Node) -> Option<u32> {
    let text = steady(&lasting_text(node)?)?;
    Some(hash(&words(&text).join(" ")))
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
        assert!(!sent.is_reached(Some(&then), &then));
        assert!(sent.is_reached(Some(&then), &sent));
        assert!(!then.is_reached(Some(&sent), &sent), "what disappeared has to disappear");
        assert!(!sent.is_reached(None, &then), "without the state before, all of it has to be there");
    }

    #[test]
    fn a_step_that_undoes_what_it_should_do_has_not_reached_its_end() {
        let ada = |button_name: &str, text: &str| {
            let rest = (0..12).map(|n| {
                android("TextView", &format!("About {}", "x".repeat(n + 1))).at(0, 200 + 30 * n as i32, 100, 20)
            });
            state([button(button_name, 0), android("TextView", text).at(0, 60, 100, 50)].into_iter().chain(rest))
        };
        let (before, end) = (ada("Follow", "Ada is new"), ada("Unfollow", "You follow Ada"));
        assert!(end.differs_from(&before) && end.is_reached(Some(&before), &end));
        // The screen showed the end when the step started, and the step left it.
        assert!(!end.is_reached(Some(&before), &before));
        assert!(!end.is_reached(None, &before));
    }

    #[test]
    fn an_id_or_a_role_is_no_part_of_the_state() {
        let one = android("Button", "Send").with(Field::ResourceId, "com.x:id/send").at(0, 0, 100, 50);
        let other = android("TextView", "SEND…").at(0, 0, 100, 50);
        assert_eq!(state([one]), state([other]));
    }
}
