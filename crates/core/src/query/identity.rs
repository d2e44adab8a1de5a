//! The identity of an element: by what it is recognized after the app has changed.

use trailblaze_protocol::heal::{ElementIdentity, ElementKind};

use super::about::{Labels, exact, foreign_frame};
use super::search::{bearer, is_enabled};
use super::stable::{lasting_id, lasting_text};
use super::steady::steady;
use super::whereabouts::{container_label, headings_above};
use crate::screen::{Field, Node, Screen, quoted, shorten};
use crate::selector::Outline;
use crate::snapshot::{is_layout_box, shown_label};

/// How many containers are noted.
const WITHIN: usize = 3;
/// How many texts are noted on each side.
const NEAR: usize = 3;
/// How many other elements of the same kind are noted.
const OTHERS: usize = 12;
/// A visible element has at least this many pixels in both directions. Smaller ones are hidden for people.
const LEAST_PIXELS: i32 = 3;

/// The identity of the element with this node id.
pub fn identity(screen: &Screen, node: u64) -> Option<ElementIdentity> {
    let surroundings = Surroundings::new(screen);
    let place = surroundings.outline.find(node)?;
    Some(surroundings.identity(place))
}

/// A screen, prepared for describing many of its elements.
pub struct Surroundings<'a> {
    outline: Outline<'a>,
    screen: &'a Screen,
    /// The visible texts without their numbers, with their places.
    texts: Vec<(usize, String)>,
    /// The visible elements that have an id or a name.
    known: Vec<KnownElement>,
    labels: Labels,
}

/// A visible element that has an id or a name.
struct KnownElement {
    place: usize,
    kind: ElementKind,
    name: Option<String>,
    /// Whether it can be acted on itself, or only through a container.
    is_own: bool,
}

impl<'a> Surroundings<'a> {
    pub fn new(screen: &'a Screen) -> Surroundings<'a> {
        let outline = Outline::new(&screen.root);
        let is_seen = |place: &usize| {
            let node = outline.node(*place);
            let part = screen.visible_part(node).filter(|_| !node.is_unlisted());
            part.is_some_and(|part| part.width() >= LEAST_PIXELS && part.height() >= LEAST_PIXELS)
        };
        let seen: Vec<usize> = outline.places().skip(1).filter(is_seen).collect();
        let text = |place: &usize| Some((*place, steady(&lasting_text(outline.node(*place))?)?));
        let texts = seen.iter().filter_map(text).collect();
        let known = |place: &usize| {
            let (node, name) = (outline.node(*place), name(&outline, *place));
            let is_known = name.is_some() || lasting_id(node).is_some();
            let (kind, is_own) = kind(&outline, *place);
            is_known.then_some(KnownElement { place: *place, kind, name, is_own })
        };
        let known = seen.iter().filter_map(known).collect();
        let labels = Labels::new(&outline);
        Surroundings { outline, screen, texts, known, labels }
    }

    pub fn screen(&self) -> &'a Screen {
        self.screen
    }

    pub fn node(&self, place: usize) -> &'a Node {
        self.outline.node(place)
    }

    /// The places of the visible, enabled elements of a kind that have an id or a name.
    pub fn usable(&self, kind: ElementKind) -> Vec<usize> {
        let of_kind = self.known.iter().filter(|known| known.kind == kind);
        of_kind.map(|known| known.place).filter(|place| is_enabled(&self.outline, *place)).collect()
    }

    /// Whether one of two elements contains the other.
    pub fn is_nested(&self, outer: usize, inner: usize) -> bool {
        self.outline.beneath(outer).contains(&inner)
    }

    pub fn identity(&self, place: usize) -> ElementIdentity {
        let node = self.outline.node(place);
        let (kind, _) = kind(&self.outline, place);
        let name = name(&self.outline, place);
        let is_alike = |known: &&KnownElement| known.kind == kind && known.name == name && known.name.is_some();
        let alike = self.known.iter().filter(is_alike).filter(|known| !self.is_part(known.place, place)).count() + 1;
        ElementIdentity {
            kind,
            role: node.class().map(str::to_string),
            id: lasting_id(node).map(str::to_string),
            about: Some(self.labels.about(&self.outline, place, name.as_deref())),
            frame: foreign_frame(&self.outline, place),
            alike,
            item: self.item(place, name.as_deref()),
            within: self.within(place, name.as_deref()),
            near: self.near(place),
            others: self.others(place, kind),
            name,
        }
    }

    /// Whether two places are the same element, or one contains the other.
    fn is_part(&self, one: usize, other: usize) -> bool {
        one == other || self.is_nested(one, other) || self.is_nested(other, one)
    }

    fn item(&self, place: usize, own: Option<&str>) -> Option<String> {
        let item = self.outline.ancestors(place).find(|around| is_item(self.outline.node(*around)))?;
        let is_other = |text: &String| Some(text.as_str()) != own;
        let inner = self.outline.beneath(item).filter(|inner| *inner != place);
        let label = container_label(&self.outline, item, own);
        label.or_else(|| inner.filter_map(|inner| shown_label(&self.outline, inner)).find(is_other)).map(cut)
    }

    fn within(&self, place: usize, own: Option<&str>) -> Vec<String> {
        let around = self.outline.ancestors(place).filter(|around| *around != 0);
        let described = around.filter_map(|around| {
            let node = self.outline.node(around);
            if let Some(id) = lasting_id(node) {
                return Some(format!("[id={id}]"));
            }
            if is_layout_box(node) {
                return None;
            }
            let label = steady(&container_label(&self.outline, around, own)?)?;
            Some(format!("{} {}", node.class()?, quoted(&cut(label))))
        });
        described.take(WITHIN).collect()
    }

    /// The texts before and after it, and the heading above it.
    fn near(&self, place: usize) -> Vec<String> {
        let is_apart = |(at, _): &&(usize, String)| !self.is_part(*at, place);
        let before = self.texts.iter().rev().filter(|(at, _)| *at < place).filter(is_apart).take(NEAR);
        let after = self.texts.iter().filter(|(at, _)| *at > place).filter(is_apart).take(NEAR);
        let heading = headings_above(&self.outline, place).next();
        let heading = heading.and_then(|at| self.texts.iter().find(|(text, _)| *text == at));
        let mut near: Vec<String> = Vec::new();
        for (_, text) in before.chain(after).chain(heading) {
            let text = cut(text.clone());
            if !near.contains(&text) {
                near.push(text);
            }
        }
        near
    }

    fn others(&self, place: usize, kind: ElementKind) -> Vec<String> {
        let of_kind = self.known.iter().filter(|known| known.kind == kind && known.is_own);
        let mut others: Vec<&KnownElement> = of_kind.filter(|known| !self.is_part(known.place, place)).collect();
        others.sort_by_key(|known| known.place.abs_diff(place));
        let mut described: Vec<String> = Vec::new();
        for other in others {
            let other = self.describe(other.place);
            if !described.contains(&other) && described.len() < OTHERS {
                described.push(other);
            }
        }
        described
    }

    /// An element as [`ElementIdentity::others`] lists it: `button "Cancel" [id=cancel]`.
    pub fn describe(&self, place: usize) -> String {
        let node = self.outline.node(place);
        let name = name(&self.outline, place).map(|name| quoted(&name));
        let id = lasting_id(node).map(|id| format!("[id={id}]"));
        [node.class().map(str::to_string), name, id].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// The name and the id of an element as [`Surroundings::describe`] writes it. The name is still escaped.
pub fn described(element: &str) -> (Option<&str>, Option<&str>) {
    let split = element.strip_suffix(']').and_then(|rest| rest.rsplit_once("[id="));
    // A name may end like an id.
    let (rest, id) = match split {
        Some((rest, id)) if !id.contains('"') => (rest.trim_end(), Some(id)),
        _ => (element, None),
    };
    let name = rest.split_once('"').and_then(|(_, name)| name.strip_suffix('"'));
    (name, id)
}

/// The name of an element: its label or text, unless that was typed.
fn name(outline: &Outline<'_>, place: usize) -> Option<String> {
    let node = outline.node(place);
    let own = lasting_text(node);
    own.or_else(|| if node.is_editable() { None } else { shown_label(outline, place) }).map(|name| exact(&name))
}

fn cut(text: String) -> String {
    shorten(&text)
}

/// What can be done with an element, and whether with itself or with a container of it.
fn kind(outline: &Outline<'_>, place: usize) -> (ElementKind, bool) {
    const CHOICES: [&str; 5] = ["combobox", "listbox", "Spinner", "DropdownList", "PopUpButton"];
    const TOGGLES: [&str; 7] =
        ["checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio", "Switch", "CheckBox"];
    let node = outline.node(place);
    let bearer = bearer(outline, place);
    let is_own = std::ptr::eq(node, bearer);
    let class = bearer.class().unwrap_or_default();
    let is_toggle = bearer.is_checked().is_some() || bearer.props.flag(Field::IsCheckable) == Some(true);
    let kind = if bearer.is_editable() {
        ElementKind::Field
    } else if CHOICES.contains(&class) {
        ElementKind::Choice
    } else if is_toggle || TOGGLES.contains(&class) {
        ElementKind::Toggle
    } else if bearer.is_interactive() {
        ElementKind::Press
    } else {
        ElementKind::Plain
    };
    (kind, is_own && kind != ElementKind::Plain)
}

/// Whether it is one of several alike: a list item or a table row.
pub(super) fn is_item(node: &Node) -> bool {
    const ITEMS: [&str; 7] = ["listitem", "row", "article", "treeitem", "gridcell", "cell", "Cell"];
    node.class().is_some_and(|class| ITEMS.contains(&class))
        || node.props.number(Field::CollectionItemRowIndex).is_some()
}
