//! Searches for an element on a screen.

use trailblaze_protocol::geometry::Point;

use super::near::near;
use super::whereabouts::describe_all;
use super::{Checks, ElementProperties, Find, Found, Query, QueryTarget, Reason, TextMatch, WhyNot};
use crate::screen::{Field, Node, Screen, Shape, fold};
use crate::selector::{Case, Outline, Patience, Pattern};

/// How many of several matches a message lists.
const CANDIDATES: usize = 5;

impl Query {
    /// Searches for the element.
    pub fn search(&self, screen: &Screen, checks: Checks) -> Find {
        match self.choose(screen, checks) {
            Ok(found) => Find::Found(found),
            Err(reason) => Find::Not(WhyNot { snapshot: screen.snapshot, asked: self.clone(), reason }),
        }
    }

    fn choose(&self, screen: &Screen, checks: Checks) -> Result<Found, Reason> {
        let outline = Outline::new(&screen.root);
        let is_by_words = matches!(
            &self.what,
            QueryTarget::Element(ElementProperties { text: Some(_), .. }) | QueryTarget::Described(_)
        );
        let mut matching = self.matching(&outline);
        if is_by_words {
            prefer_listed(&outline, &mut matching);
        }
        let mut places: Vec<usize> =
            matching.iter().copied().filter(|place| screen.visible_part(outline.node(*place)).is_some()).collect();
        if places.is_empty() {
            return Err(match (matching.first(), &self.what) {
                (Some(place), _) => unseen(outline.node(*place)),
                (None, QueryTarget::Reference(reference)) => Reason::StaleReference { reference: reference.clone() },
                (None, _) => Reason::NoMatch { near: near(self, screen, &outline) },
            });
        }
        if is_by_words {
            keep_innermost(&outline, &mut places);
        }
        // On a page, descriptions and texts are counted as a snapshot lists them; recordings count in reading order.
        let is_page = screen.root.props.shape == Shape::Web && !matches!(self.what, QueryTarget::Selector(_));
        if is_page {
            places.sort_unstable();
        } else {
            outline.sort_for_reading(&mut places);
        }
        let place = self.pick(screen, &outline, &places)?;
        let node = outline.node(place);
        let Some(visible) = screen.visible_part(node) else {
            return Err(unseen(node));
        };
        let point = visible.center();
        if matches!(checks, Checks::Enabled | Checks::Actionable) && !is_enabled(&outline, place) {
            return Err(Reason::Disabled { element: node.summary() });
        }
        if let (Checks::Actionable, Some(by)) = (checks, cover(screen, &outline, place, point)) {
            return Err(Reason::Covered { element: node.summary(), by: by.summary() });
        }
        Ok(Found {
            snapshot: screen.snapshot,
            node: node.id,
            reference: node.reference.clone(),
            bounds: node.bounds.unwrap_or(visible),
            point,
            exact: None,
            summary: node.summary(),
            text: node.text().map(str::to_string),
            count: places.len(),
        })
    }

    /// All matches, on the screen or off-screen.
    fn matching(&self, outline: &Outline<'_>) -> Vec<usize> {
        match &self.what {
            QueryTarget::Element(element) => element.matching(outline),
            QueryTarget::Selector(selector) => selector.places(outline),
            QueryTarget::Described(description) => description.matching(outline),
            QueryTarget::Reference(reference) => {
                outline.places().filter(|place| outline.node(*place).reference.as_ref() == Some(reference)).collect()
            }
            QueryTarget::Node(id) => outline.find(*id).into_iter().collect(),
        }
    }

    fn pick(&self, screen: &Screen, outline: &Outline<'_>, places: &[usize]) -> Result<usize, Reason> {
        match (self.index, &self.what, places) {
            (Some(index), ..) => places.get(index).copied().ok_or(Reason::OutOfRange { index, count: places.len() }),
            // Recordings of other versions rely on the first match.
            (None, QueryTarget::Selector(_), [first, ..]) => Ok(topmost(screen, outline, *first, places)),
            (None, _, [first, others @ ..])
                if others.iter().all(|other| is_at_same_place(screen, outline, *first, *other)) =>
            {
                Ok(topmost(screen, outline, *first, places))
            }
            (None, ..) => {
                let first = &places[..places.len().min(CANDIDATES)];
                Err(Reason::Several { candidates: describe_all(outline, first), count: places.len() })
            }
        }
    }
}

impl ElementProperties {
    fn matching(&self, outline: &Outline<'_>) -> Vec<usize> {
        let text = self.text.as_ref().map(|text| Wording::new(text, outline.node(0)));
        let mut patience = Patience::default();
        outline
            .places()
            .filter(|place| {
                let node = outline.node(*place);
                text.as_ref().is_none_or(|text| text.is_worn_by(&mut patience, node))
                    && self.id.as_ref().is_none_or(|id| node.has_id(id))
                    && self.enabled.is_none_or(|enabled| is_enabled(outline, *place) == enabled)
                    && self.selected.is_none_or(|selected| is_selected(outline, *place) == selected)
            })
            .collect()
    }
}

/// A text to search for, prepared once for all nodes.
enum Wording {
    Exact(String),
    Contains(String),
    Pattern(Pattern),
}

impl Wording {
    fn new(text: &TextMatch, root: &Node) -> Wording {
        match text {
            TextMatch::Exact(text) => Wording::Exact(fold(text)),
            TextMatch::Contains(text) => Wording::Contains(fold(text)),
            TextMatch::Pattern(source) => Wording::Pattern(Pattern::new(source, Case::of(root.props.shape))),
        }
    }

    fn is_worn_by(&self, patience: &mut Patience, node: &Node) -> bool {
        [node.text(), node.label()].into_iter().flatten().any(|text| match self {
            Wording::Exact(wanted) => is_folded_equal(text, wanted),
            Wording::Contains(wanted) => fold(text).contains(wanted),
            Wording::Pattern(pattern) => pattern.matches_within(patience, text),
        })
    }
}

/// Same as `fold(text) == folded`, without allocating for each node of a large tree.
pub(super) fn is_folded_equal(text: &str, folded: &str) -> bool {
    text == folded || text.split_whitespace().eq(folded.split_whitespace())
}

/// Unlisted nodes count only within a listed match, or if there is no listed match.
fn prefer_listed(outline: &Outline<'_>, places: &mut Vec<usize>) {
    if places.iter().all(|place| outline.node(*place).is_unlisted()) {
        return;
    }
    places.sort_unstable();
    // Ranges are nested or disjoint, so the furthest end so far covers them all.
    let mut end = 0;
    places.retain(|place| {
        let is_listed = !outline.node(*place).is_unlisted();
        if is_listed {
            end = end.max(outline.beneath(*place).end);
        }
        is_listed || *place < end
    });
}

/// A row and the label in it often have the same text; they count as one match.
fn keep_innermost(outline: &Outline<'_>, places: &mut Vec<usize>) {
    places.sort_unstable();
    let all = places.clone();
    let mut after = all.iter().skip(1);
    places.retain(|place| after.next().is_none_or(|next| !outline.beneath(*place).contains(next)));
}

/// Of the matches that lie exactly on this one, such as a shape and its copy, the one that is painted last: it gets the touch.
fn topmost(screen: &Screen, outline: &Outline<'_>, place: usize, places: &[usize]) -> usize {
    let is_over =
        |other: &&usize| **other >= outline.beneath(place).end && is_at_same_place(screen, outline, place, **other);
    places.iter().filter(is_over).max().copied().unwrap_or(place)
}

/// Whether two elements have the same bounds. A driver moves elements that are out of view to the edge of the screen, where only
/// one pixel of each is visible: that is not the same place.
fn is_at_same_place(screen: &Screen, outline: &Outline<'_>, one: usize, other: usize) -> bool {
    let (one, other) = (outline.node(one), outline.node(other));
    let is_large = screen.visible_part(one).is_some_and(|part| part.width() > 1 && part.height() > 1);
    is_large && one.bounds == other.bounds
}

/// Why an existing element is not visible.
fn unseen(node: &Node) -> Reason {
    let element = node.summary();
    match node.hidden() {
        Some(how) => Reason::Hidden { element, how: how.to_string() },
        None if !node.is_clipped && node.bounds.is_some_and(|bounds| bounds.width() == 0 || bounds.height() == 0) => {
            Reason::Hidden { element, how: "it has no size".to_string() }
        }
        None => Reason::Offscreen { element },
    }
}

/// The element that would receive a touch at `point` instead. Later elements of the document are painted above, so only those
/// that follow the element's subtree can cover it; its ancestors and descendants never do. Layout containers let touches
/// through, so only elements that react to touches count, and dialogs with their backdrop.
fn cover<'a>(screen: &Screen, outline: &Outline<'a>, place: usize, point: Point) -> Option<&'a Node> {
    let painted_later = outline.beneath(place).end..outline.places().end;
    // In reverse order, a dialog precedes the backdrop that contains it.
    let mut last_modal = None;
    for later in painted_later.rev() {
        let node = outline.node(later);
        // A closed drawer is not visible.
        let is_modal = is_modal(node) && screen.visible_part(node).is_some();
        if is_modal {
            last_modal = Some(later);
        }
        let modal_within = last_modal.filter(|modal| outline.beneath(later).contains(modal));
        let takes_touches = node.is_interactive() || is_modal || modal_within.is_some();
        if takes_touches && node.bounds.is_some_and(|bounds| bounds.contains(point)) {
            return Some(modal_within.map_or(node, |modal| outline.node(modal)));
        }
    }
    None
}

fn is_modal(node: &Node) -> bool {
    // In exact spelling: an `alert` on the web is just a message.
    const MODAL: [&str; 14] = [
        "AXDialog",
        "AXSheet",
        "AXSystemDialog",
        "Alert",
        "AlertDialog",
        "BottomSheet",
        "Dialog",
        "Popup",
        "PopupWindow",
        "Sheet",
        "XCUIElementTypeAlert",
        "XCUIElementTypeSheet",
        "alertdialog",
        "dialog",
    ];
    let is_modal = |text: &str| MODAL.contains(&text);
    let roles = [Field::Role, Field::Subrole, Field::AriaRole].map(|field| node.props.text(field));
    node.class().into_iter().chain(roles.into_iter().flatten()).any(is_modal)
        || node.props.text(Field::PaneTitle).is_some_and(|title| !title.trim().is_empty())
}

/// The element that decides about the state of an element: itself, or the closest ancestor that receives its touches. The label
/// in a button is as enabled as the button.
pub(super) fn bearer<'a>(outline: &Outline<'a>, place: usize) -> &'a Node {
    let node = outline.node(place);
    if node.is_interactive() {
        return node;
    }
    let ancestors = outline.ancestors(place).map(|place| outline.node(place));
    ancestors.into_iter().find(|ancestor| ancestor.is_interactive()).unwrap_or(node)
}

pub(super) fn is_enabled(outline: &Outline<'_>, place: usize) -> bool {
    outline.node(place).is_enabled() && bearer(outline, place).is_enabled()
}

fn is_selected(outline: &Outline<'_>, place: usize) -> bool {
    outline.node(place).is_selected() || bearer(outline, place).is_selected()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trailblaze_protocol::geometry::Rect;

    use super::*;
    use crate::query::ElementDescription;
    use crate::selector::Selector;
    use crate::selector::samples::{Build, android, node, screen};

    fn text(text: &str) -> Query {
        element(ElementProperties { text: Some(TextMatch::Exact(text.into())), ..ElementProperties::default() })
    }

    fn element(element: ElementProperties) -> Query {
        Query { what: QueryTarget::Element(element), index: None }
    }

    fn frame(children: impl IntoIterator<Item = Node>) -> Node {
        android("FrameLayout", "").at(0, 0, 400, 800).holding(children)
    }

    fn button(text: &str, top: i32) -> Node {
        android("Button", text).with(Field::IsClickable, true).at(0, top, 100, 50)
    }

    /// Checks the id of the node that is found for an action, or the message.
    fn check(root: Node, query: &Query, expected: Result<u64, &str>) {
        let found = match query.search(&screen(root), Checks::Actionable) {
            Find::Found(found) => Ok(found.node),
            Find::Not(why) => Err(why.to_string()),
        };
        assert_eq!(found, expected.map_err(str::to_string), "{query}");
    }

    #[test]
    fn text_is_compared_with_whitespace_collapsed() {
        let root = || frame([button("Pay\n  now", 0), button("Payday", 100).with(Field::ContentDescription, "Loan")]);
        let mode = |text: TextMatch| element(ElementProperties { text: Some(text), ..ElementProperties::default() });
        check(root(), &text(" Pay now "), Ok(1));
        check(root(), &text("Loan"), Ok(2));
        check(
            root(),
            &text("pay now"),
            Err("nothing on the screen has the text \"pay now\"; the nearest is Button \"Pay now\""),
        );
        check(root(), &mode(TextMatch::Contains("day".into())), Ok(2));
        check(
            root(),
            &mode(TextMatch::Pattern("Pay.".into())),
            Err(
                "nothing on the screen has the text matching \"Pay.\"; the nearest are Button \"Payday\", Button \"Pay now\"",
            ),
        );
        check(root(), &mode(TextMatch::Pattern("Pay.*".into())), Ok(2));
        check(root(), &mode(TextMatch::Pattern(r"Pay\s+now".into())), Ok(1));
    }

    #[test]
    fn ids_refs_and_node_ids_find_their_element() {
        let root = || frame([button("A", 0).with(Field::ResourceId, "com.x:id/submit"), button("B", 100)]);
        let id = |id: &str| element(ElementProperties { id: Some(id.into()), ..ElementProperties::default() });
        check(root(), &id("submit"), Ok(1));
        check(root(), &id("com.x:id/submit"), Ok(1));
        check(
            root(),
            &id("sumbit"),
            Err("nothing on the screen has the id \"sumbit\"; the nearest is Button \"A\" [id=submit]"),
        );
        let reference = screen(root()).root.children[1].reference.clone().unwrap();
        check(root(), &Query { what: QueryTarget::Reference(reference), index: None }, Ok(2));
        let stale = Query { what: QueryTarget::Reference("z1".into()), index: None };
        check(root(), &stale, Err("ref z1 is no longer on the screen; take a new snapshot"));
        check(root(), &Query { what: QueryTarget::Node(2), index: None }, Ok(2));
        check(root(), &Query { what: QueryTarget::Node(9), index: None }, Err("nothing on the screen matches node 9"));
    }

    #[test]
    fn several_matches_need_an_index_but_a_selector_takes_the_first() {
        let root = || frame([button("Pay", 100), button("Pay", 0)]);
        let at = |index| Query { index: Some(index), ..text("Pay") };
        check(
            root(),
            &text("Pay"),
            Err(
                "several elements match text \"Pay\": 0: Button \"Pay\" at 50,25, 1: Button \"Pay\" at 50,125; choose one with `index`",
            ),
        );
        check(root(), &at(0), Ok(2));
        check(root(), &at(1), Ok(1));
        check(root(), &at(2), Err("index 2 is out of range: 2 match text \"Pay\""));
        let selector = Selector::parse(&json!({"androidAccessibility": {"text": "Pay"}})).unwrap();
        check(root(), &Query { what: QueryTarget::Selector(Box::new(selector)), index: None }, Ok(2));
        let selector = Selector::parse(&json!({"androidAccessibility": {"text": "Bay"}})).unwrap();
        check(
            root(),
            &Query { what: QueryTarget::Selector(Box::new(selector)), index: None },
            Err(
                "nothing on the screen matches selector {\"androidAccessibility\":{\"text\":\"Bay\"}}; the nearest is Button \"Pay\"",
            ),
        );
    }

    #[test]
    fn a_row_and_the_label_in_it_are_one_match() {
        let row = android("Row", "").with(Field::ContentDescription, "Pay").at(0, 0, 400, 50);
        check(frame([row.clone().holding([android("TextView", "Pay").at(0, 0, 50, 50)])]), &text("Pay"), Ok(2));
        let hidden = android("TextView", "Pay").at(0, 0, 0, 0);
        check(frame([row.clone().holding([hidden])]), &text("Pay"), Ok(1));
        let labels = [0, 100].map(|left| android("TextView", "Pay").at(left, 0, 50, 50));
        let message = "several elements match text \"Pay\": 0: TextView \"Pay\" at 25,25, 1: TextView \"Pay\" at 125,25; choose one with `index`";
        check(frame([row.holding(labels)]), &text("Pay"), Err(message));
    }

    #[test]
    fn of_elements_that_lie_on_one_another_the_topmost_is_meant() {
        let shape = |left: i32, top: i32| node(Shape::Web).with(Field::CssSelector, ".port").at(left, top, 20, 20);
        let page = |children: Vec<Node>| node(Shape::Web).at(0, 0, 400, 800).holding(children);
        let css = Query {
            what: QueryTarget::Described(Box::new(ElementDescription::parse("css=.port").unwrap())),
            index: None,
        };
        check(page(vec![shape(40, 40), shape(40, 40)]), &css, Ok(2));
        check(page(vec![shape(40, 40).holding([shape(40, 40)])]), &css, Ok(2));
        let message = "several elements match css=.port: 0: element at 50,50, 1: element at 50,50, 2: element at 110,50; choose one with `index`";
        check(page(vec![shape(40, 40), shape(40, 40), shape(100, 40)]), &css, Err(message));
        // Out of view, they only seem to lie on one another.
        let message =
            "several elements match css=.port: 0: element at 409,50, 1: element at 409,50; choose one with `index`";
        check(page(vec![shape(399, 40), shape(399, 40)]), &css, Err(message));
        let selector = Selector::parse(&json!({"web": {"cssSelector": ".port"}})).unwrap();
        let selector = Query { what: QueryTarget::Selector(Box::new(selector)), index: None };
        check(page(vec![shape(40, 40), shape(40, 40), shape(100, 40)]), &selector, Ok(2));
    }

    #[test]
    fn unlisted_nodes_count_if_no_listed_node_matches() {
        let words = |text: &str, top: i32| node(Shape::Web).with(Field::Text, text).at(0, top, 50, 50);
        let unlisted = |text: &str, top: i32| words(text, top).with(Field::IsUnlisted, true);
        let page = |children: [Node; 2]| node(Shape::Web).at(0, 0, 400, 800).holding(children);
        let part = |text: &str| {
            element(ElementProperties { text: Some(TextMatch::Contains(text.into())), ..ElementProperties::default() })
        };
        check(page([unlisted("Pay", 0), words("Pay", 100)]), &text("Pay"), Ok(2));
        check(page([unlisted("Pay", 0), words("Buy", 100)]), &text("Pay"), Ok(1));
        check(page([words("Please Pay now", 0).holding([unlisted("Pay", 0)]), words("Buy", 100)]), &part("Pay"), Ok(2));
        // A line that contains the text does not replace the off-screen element that has it.
        let line = unlisted("Pay Buy", 0).holding([words("Pay", 900)]);
        let message = "\"Pay\" exists, but is not on the visible part of the screen";
        check(page([line, words("Sell", 100)]), &part("Pay"), Err(message));
    }

    #[test]
    fn only_visible_elements_count() {
        let message = "Button \"Pay\" exists, but is not on the visible part of the screen";
        check(frame([button("Pay", 800)]), &text("Pay"), Err(message));
        check(frame([button("Pay", -50)]), &text("Pay"), Err(message));
        check(frame([android("Button", "Pay")]), &text("Pay"), Err(message));
        check(frame([button("Pay", 900), button("Pay", 0)]), &text("Pay"), Ok(2));
    }

    #[test]
    fn the_touch_is_at_the_center_of_the_visible_part() {
        let screen = screen(frame([button("Pay", 780)]));
        let Find::Found(found) = text("Pay").search(&screen, Checks::Actionable) else { panic!("it is there") };
        assert_eq!(found.point, Point { x: 50, y: 790 });
        assert_eq!(found.bounds, Rect::new(0, 780, 100, 50));
        assert_eq!((found.summary.as_str(), found.count), ("Button \"Pay\"", 1));
    }

    #[test]
    fn a_label_is_as_enabled_and_selected_as_its_button() {
        let root = |enabled: bool| {
            let label = android("TextView", "Pay").with(Field::IsEnabled, true).at(0, 0, 50, 50);
            let button = button("", 0).with(Field::IsEnabled, enabled).with(Field::IsSelected, true);
            frame([button.holding([label])])
        };
        let state = |enabled, selected| {
            element(ElementProperties {
                text: Some(TextMatch::Exact("Pay".into())),
                enabled,
                selected,
                ..ElementProperties::default()
            })
        };
        check(root(true), &text("Pay"), Ok(2));
        check(root(false), &text("Pay"), Err("TextView \"Pay\" is disabled"));
        check(root(true), &state(Some(true), Some(true)), Ok(2));
        check(
            root(false),
            &state(Some(true), None),
            Err("nothing on the screen has the text \"Pay\" and state enabled; the nearest is TextView \"Pay\""),
        );
        check(
            root(true),
            &state(None, Some(false)),
            Err("nothing on the screen has the text \"Pay\" and state not selected; the nearest is TextView \"Pay\""),
        );
    }

    #[test]
    fn elements_painted_above_that_receive_touches_cover() {
        let pay = || button("Pay", 0);
        let sheet = |class: &str| android(class, "Terms").at(0, 0, 400, 400);
        check(
            frame([pay(), sheet("FrameLayout").with(Field::IsClickable, true)]),
            &text("Pay"),
            Err("Button \"Pay\" is covered by FrameLayout \"Terms\""),
        );
        check(frame([pay(), sheet("Dialog")]), &text("Pay"), Err("Button \"Pay\" is covered by Dialog \"Terms\""));
        let dialog = node(Shape::Web).with(Field::AriaRole, "dialog").at(0, 0, 400, 400);
        let page = node(Shape::Web).holding([node(Shape::Web).with(Field::AriaName, "Pay").at(0, 0, 50, 50), dialog]);
        check(page, &text("Pay"), Err("\"Pay\" is covered by dialog"));
        // The backdrop of a dialog covers if it can be told apart from a layout container.
        let backdrop =
            |inner: Node| android("FrameLayout", "").at(0, 0, 400, 800).holding([inner.at(0, 300, 400, 400)]);
        check(
            frame([pay(), backdrop(sheet("Dialog"))]),
            &text("Pay"),
            Err("Button \"Pay\" is covered by Dialog \"Terms\""),
        );
        let shut = backdrop(android("Drawer", "")).holding([sheet("Dialog").at(-400, 0, 400, 800)]);
        check(frame([pay(), shut]), &text("Pay"), Ok(1));
        check(frame([pay(), backdrop(sheet("Card")), sheet("Dialog").at(0, 900, 50, 50)]), &text("Pay"), Ok(1));
        // Painted before, elsewhere, or letting touches through.
        check(frame([sheet("Dialog"), pay()]), &text("Pay"), Ok(2));
        check(frame([pay(), sheet("Dialog").at(0, 100, 400, 400)]), &text("Pay"), Ok(1));
        check(frame([pay(), sheet("FrameLayout")]), &text("Pay"), Ok(1));
        // Its descendants and ancestors.
        let part = button("inner", 0);
        check(frame([pay().holding([part])]), &text("Pay"), Ok(1));
        check(button("", 0).at(0, 0, 400, 800).holding([pay()]), &text("Pay"), Ok(1));
    }

    #[test]
    fn visibility_ignores_covers_and_disabled_state() {
        let dialog = android("Dialog", "").at(0, 0, 400, 400);
        let screen = screen(frame([button("Pay", 0).with(Field::IsEnabled, false), dialog]));
        assert!(matches!(text("Pay").search(&screen, Checks::Visible), Find::Found(_)));
    }

    #[test]
    fn a_query_can_be_told() {
        let all = ElementProperties {
            text: Some(TextMatch::Contains("Pay".into())),
            id: Some("submit".into()),
            enabled: Some(true),
            selected: Some(false),
        };
        let query = Query { index: Some(2), ..element(all) };
        let expected = "text containing \"Pay\" and id \"submit\" and state enabled and state not selected at index 2";
        assert_eq!(query.to_string(), expected);
        assert_eq!(element(ElementProperties::default()).to_string(), "any element");
        assert_eq!(Query { what: QueryTarget::Reference("y778".into()), index: None }.to_string(), "ref y778");
    }
}
