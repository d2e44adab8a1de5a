//! What an element is about: the texts that tell a button of one dialog, row or card from the same button of another one.

use super::identity::is_item;
use super::stable::lasting_text;
use super::steady::steady;
use super::whereabouts::headings_above;
use crate::screen::{Field, Node, fold};
use crate::selector::Outline;

/// A container with more texts is a page, of which only the closest texts are noted.
const WIDE: usize = 8;
/// How many texts before an element are noted on a page.
const BEFORE: usize = 3;
/// How many containers are noted.
const LEVELS: usize = 4;
/// A text with less than so many pixels in a direction is hidden for people.
const LEAST_PIXELS: i32 = 3;
/// Longer texts are noted as their beginning and a hash.
const CHARS: usize = 120;

/// The texts of a screen, prepared for telling what its elements are about.
pub(super) struct Labels {
    labels: Vec<Label>,
    /// How many texts, and how many controls, are before each place.
    n_labels: Vec<usize>,
    n_controls: Vec<usize>,
}

/// A text, which may be in a control.
struct Label {
    place: usize,
    text: String,
    /// The control that it is in, if it is in one.
    control: Option<usize>,
}

impl Labels {
    pub fn new(outline: &Outline<'_>) -> Labels {
        let mut found = Labels { labels: Vec::new(), n_labels: vec![0], n_controls: vec![0] };
        for place in outline.places() {
            let node = outline.node(place);
            let mut around = std::iter::once(place).chain(outline.ancestors(place));
            let control = around.find(|around| is_control(outline.node(*around)));
            if let Some(text) = lasting_text(node).filter(|_| place > 0 && is_legible(node)) {
                found.labels.push(Label { place, text, control });
            }
            let is_text = found.labels.last().is_some_and(|label| label.place == place && label.control.is_none());
            found.n_labels.push(found.n_labels[place] + usize::from(is_text));
            found.n_controls.push(found.n_controls[place] + usize::from(is_control(node)));
        }
        found
    }

    /// What an element is about, closest first: the other texts in it, the text before it, the other texts of its
    /// container, and those before it in the containers around that, up to the dialog, list item, card, frame or page.
    pub fn about(&self, outline: &Outline<'_>, place: usize, name: Option<&str>) -> Vec<Vec<String>> {
        let own = place..outline.beneath(place).end;
        let is_about = |label: &&Label| match label.control {
            None => true,
            Some(control) => own.contains(&label.place) || outline.beneath(control).contains(&place),
        };
        let labels: Vec<&Label> = self.labels.iter().filter(is_about).collect();
        let is_name = |label: &Label| Some(exact(&label.text).as_str()) == name;
        let inner = labels.iter().filter(|label| own.contains(&label.place) && !is_name(label));
        let mut levels: Vec<Vec<String>> = Vec::new();
        add(&mut levels, inner.map(|label| exact(&label.text)));
        let mut has_closest = false;
        let mut known = own;
        for around in outline.ancestors(place) {
            let range = around..outline.beneath(around).end;
            let is_new = |label: &&&Label| range.contains(&label.place) && !known.contains(&label.place);
            let of_other = |label: &&&Label| is_in_other_item(outline, label.place, around);
            let new: Vec<&Label> = labels.iter().filter(is_new).filter(|label| !of_other(label)).copied().collect();
            known = range;
            if !new.is_empty() {
                let before = new.iter().rev().filter(|label| label.place < place);
                match (has_closest, new.len() > WIDE) {
                    (false, true) => add(&mut levels, before.take(BEFORE).map(|label| exact(&label.text))),
                    (false, false) => {
                        let closest = before.map(|label| label.place).next();
                        let is_closest = |label: &&&Label| Some(label.place) == closest;
                        add(&mut levels, new.iter().filter(is_closest).map(|label| exact(&label.text)));
                        let others = new.iter().filter(|label| !is_closest(label));
                        add(&mut levels, others.map(|label| exact(&label.text)));
                    }
                    (true, true) => {}
                    (true, false) if is_item(outline.node(around)) || is_in_item(outline, around) => {
                        add(&mut levels, new.iter().map(|label| exact(&label.text)));
                    }
                    // Further away, titles come before, and numbers are often clocks and counters.
                    (true, false) => add(&mut levels, before.filter_map(|label| Some(exact(&steady(&label.text)?)))),
                }
                has_closest = true;
            }
            let is_end = new.len() > WIDE || levels.len() > LEVELS || self.is_whole(outline, around);
            if has_closest && is_end {
                break;
            }
        }
        let heading = headings_above(outline, place).next();
        let heading = heading.and_then(|at| steady(&lasting_text(outline.node(at))?)).map(|text| exact(&text));
        let is_known = |text: &String| levels.iter().flatten().any(|known| steady(known).as_ref() == Some(text));
        let heading: Vec<String> = heading.into_iter().filter(|text| !is_known(text)).collect();
        add(&mut levels, heading.into_iter());
        levels
    }

    /// Whether a container is something by itself: a dialog, a list item, the document of a frame, or one of several
    /// containers of a kind that each have texts and controls.
    fn is_whole(&self, outline: &Outline<'_>, around: usize) -> bool {
        let node = outline.node(around);
        let Some(parent) = outline.ancestors(around).next() else { return true };
        let is_like = |other: usize| {
            let (start, end) = (other, outline.beneath(other).end);
            outline.node(other).class() == node.class()
                && self.n_labels[end] > self.n_labels[start]
                && self.n_controls[end] > self.n_controls[start]
        };
        let is_one_of_many =
            || is_item(node) || outline.children(parent).any(|other| other != around && is_like(other));
        matches!(node.class(), Some("dialog" | "alertdialog"))
            || node.props.text(Field::FrameOrigin).is_some()
            // A cell is a part of its row.
            || !is_in_item(outline, around) && is_one_of_many()
    }
}

/// The origin of the frame that an element is in, if it is not that of the page.
pub(super) fn foreign_frame(outline: &Outline<'_>, place: usize) -> Option<String> {
    let origin = |place: usize| outline.node(place).props.text(Field::FrameOrigin);
    let own = outline.ancestors(place).find_map(origin)?;
    (Some(own) != origin(0)).then(|| own.to_string())
}

fn add(levels: &mut Vec<Vec<String>>, texts: impl Iterator<Item = String>) {
    let mut level: Vec<String> = Vec::new();
    texts.for_each(|text| {
        if !level.contains(&text) {
            level.push(text);
        }
    });
    levels.extend((!level.is_empty()).then_some(level));
}

fn is_in_item(outline: &Outline<'_>, place: usize) -> bool {
    outline.ancestors(place).any(|around| is_item(outline.node(around)))
}

/// Whether a text is in a list item of a list that this container is, or contains.
fn is_in_other_item(outline: &Outline<'_>, place: usize, container: usize) -> bool {
    if is_item(outline.node(container)) || is_in_item(outline, container) {
        return false;
    }
    let around = std::iter::once(place).chain(outline.ancestors(place));
    around.take_while(|around| *around != container).any(|around| is_item(outline.node(around)))
}

/// Whether it has a function of its own. A link is a text as well: the name of a person is often one.
fn is_control(node: &Node) -> bool {
    const LINKS: [&str; 6] = ["link", "Link", "TextView", "Text", "StaticText", "text"];
    node.is_interactive() && !node.class().is_some_and(|class| LINKS.contains(&class))
}

fn is_legible(node: &Node) -> bool {
    let bounds = node.bounds.filter(|bounds| bounds.width() >= LEAST_PIXELS && bounds.height() >= LEAST_PIXELS);
    bounds.is_some() && node.hidden().is_none() && !node.is_unlisted() && !is_passing(node)
}

/// Messages that disappear by themselves.
pub(super) fn is_passing(node: &Node) -> bool {
    const PASSING: [&str; 7] = ["Toast", "Snackbar", "status", "alert", "log", "timer", "progressbar"];
    node.class().is_some_and(|class| PASSING.contains(&class))
}

/// The text on one line. Of a long one, the beginning and a hash, which differs if any of it does.
pub(super) fn exact(text: &str) -> String {
    let line = fold(text);
    match line.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}… #{:08x}", &line[..end], hash(&line)),
        None => line,
    }
}

/// FNV-1a: the same in every build.
pub(super) fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::identity;
    use crate::screen::{Screen, Shape};
    use crate::selector::samples::{Build, android, node, screen};

    fn text(text: &str) -> Node {
        android("TextView", text).at(0, 0, 100, 20)
    }

    fn button(name: &str) -> Node {
        android("Button", name).with(Field::IsClickable, true).at(0, 0, 100, 20)
    }

    fn group(children: impl IntoIterator<Item = Node>) -> Node {
        android("LinearLayout", "").at(0, 0, 400, 400).holding(children)
    }

    fn web(role: &str, name: &str, children: impl IntoIterator<Item = Node>) -> Node {
        let element = node(Shape::Web).with(Field::AriaRole, role).with(Field::IsInteractive, role == "button");
        let element = if name.is_empty() { element } else { element.with(Field::AriaName, name) };
        element.at(0, 0, 400, 400).holding(children)
    }

    /// What the button with this name is about.
    fn about(screen: &Screen, name: &str) -> String {
        let is_it = |node: &&Node| node.is_interactive() && (node.text() == Some(name) || node.label() == Some(name));
        let node = screen.root.walk().find(is_it).expect("it is there");
        let levels = identity(screen, node.id).and_then(|identity| identity.about).expect("something is noted");
        levels.iter().map(|level| level.join(", ")).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn a_button_is_about_its_dialog_card_or_row() {
        let dialog = |question: &str| screen(group([text(question), group([button("Cancel"), button("OK")])]));
        assert_eq!(about(&dialog("Save your changes?"), "OK"), "Save your changes?");
        let card =
            |name: &str, label: &str| group([group([text(name), button("More")]), text("Engineer"), button(label)]);
        let people = screen(group([text("People"), card("Bob", "Follow"), card("Mallory", "Unfollow")]));
        assert_eq!(about(&people, "Follow"), "Engineer | Bob");
        assert_eq!(about(&people, "Unfollow"), "Engineer | Mallory");
        let cells = |name: &str, label: &str| {
            web("row", "", [web("cell", name, []), web("cell", "3 days", [web("button", label, [])])])
        };
        let table =
            screen(web("document", "Page", [web("table", "", [cells("Bob", "Follow"), cells("Mallory", "Block")])]));
        assert_eq!(about(&table, "Block"), "3 days | Mallory");
    }

    #[test]
    fn without_containers_the_text_before_a_button_tells_it_from_others() {
        let flat =
            |first: &str, second: &str| screen(group([text("Bob"), button(first), text("Mallory"), button(second)]));
        assert_eq!(about(&flat("Follow", "Unfollow"), "Follow"), "Bob | Mallory");
        assert_eq!(about(&flat("Unfollow", "Follow"), "Follow"), "Mallory | Bob");
        let long = (0..20).flat_map(|n| [text(&format!("Person {n}")), button(&format!("Follow {n}"))]);
        assert_eq!(about(&screen(group(long)), "Follow 7"), "Person 7, Person 6, Person 5");
    }

    #[test]
    fn texts_around_a_container_count_if_they_come_first_and_without_their_numbers() {
        let form = group([text("Total: $12"), button("Pay")]);
        let page = screen(group([text("Your order at 10:45"), form, text("Terms of service")]));
        assert_eq!(about(&page, "Pay"), "Total: $12 | Your order at #");
    }

    #[test]
    fn a_frame_of_another_origin_is_noted() {
        let frame = |origin: &str| {
            let inside = web("iframe", "", [web("button", "Save", [])]).with(Field::FrameOrigin, origin);
            screen(web("document", "Page", [inside]).with(Field::FrameOrigin, "https://a.example"))
        };
        let noted = |screen: &Screen| {
            let node = screen.root.walk().find(|node| node.is_interactive()).expect("a button");
            identity(screen, node.id).and_then(|identity| identity.frame)
        };
        assert_eq!(noted(&frame("https://ads.example")).as_deref(), Some("https://ads.example"));
        assert_eq!(noted(&frame("https://a.example")), None);
    }

    #[test]
    fn a_long_text_is_noted_exactly() {
        let long = |end: &str| exact(&format!("{}{end}", "word ".repeat(40)));
        assert_ne!(long("Bob"), long("Mallory"));
        assert_eq!(long("Bob"), long("  Bob"));
        assert!(long("Bob").chars().count() < 140);
    }
}
