//! Finds a stable description of an element: the simplest one that matches it and nothing else.

use trailblaze_protocol::geometry::Point;

use super::library_ids::is_generated;
use crate::query::{Checks, ElementProperties, Find, Query, QueryTarget, TextMatch};
use crate::screen::{Field, FieldKind, Node, Screen, Shape, fold};
use crate::selector::{Case, FieldMatch, Match, Outline, Pattern, Selector};
use crate::template;

#[derive(Debug, Clone, PartialEq)]
pub enum Stable {
    /// The developer's id, in the short form that all platforms share.
    Id(String),
    Text(String),
    Selector(Selector),
    /// No property distinguishes it from others.
    Point(Point),
}

/// How many descriptions are kept for repairs.
const ALTERNATIVES: usize = 5;
/// How far above an element its row may be, and how many texts of it are tried.
const ROW_DEPTH: usize = 6;
const ROW_TEXTS: usize = 20;

/// A stable description of `node` on this screen.
pub fn stable(screen: &Screen, node: &Node) -> Stable {
    let finds = |element: ElementProperties| {
        let query = Query { what: QueryTarget::Element(element), index: None };
        matches!(query.search(screen, Checks::Visible), Find::Found(found) if found.node == node.id && found.count == 1)
    };
    if let Some(id) = lasting_id(node)
        .filter(|id| finds(ElementProperties { id: Some(id.to_string()), ..ElementProperties::default() }))
    {
        return Stable::Id(id.to_string());
    }
    if let Some(text) = lasting_text(node) {
        let text_match = Some(TextMatch::Exact(text.clone()));
        if finds(ElementProperties { text: text_match, ..ElementProperties::default() }) {
            return Stable::Text(text);
        }
    }
    let outline = Outline::new(&screen.root);
    let selector = outline.find(node.id).and_then(|place| unique(&outline, place).next());
    match selector {
        Some(selector) => Stable::Selector(selector),
        None => Stable::Point(screen.visible_part(node).unwrap_or(screen.frame()).center()),
    }
}

/// The selectors that match `node` and nothing else, most stable first.
pub fn alternatives(screen: &Screen, node: &Node) -> Vec<Selector> {
    let outline = Outline::new(&screen.root);
    let Some(place) = outline.find(node.id) else { return Vec::new() };
    let mut found: Vec<Selector> = Vec::new();
    for selector in unique(&outline, place) {
        if !found.contains(&selector) {
            found.push(selector);
        }
        if found.len() == ALTERNATIVES {
            break;
        }
    }
    found
}

impl Stable {
    /// The description with which the element is asserted. A position among others says nothing about what is there, so the text
    /// is taken instead, wherever it is.
    pub fn asserted(self, screen: &Screen, node: u64) -> Stable {
        let Stable::Selector(selector) = &self else { return self };
        let counts = |wanted: &Match| wanted.wants.iter().any(|(field, _)| *field == Field::NthIndex);
        if selector.index.is_none() && !selector.matcher.as_ref().is_some_and(counts) {
            return self;
        }
        let node = screen.root.walk().find(|candidate| candidate.id == node);
        node.and_then(lasting_text).map_or(self, Stable::Text)
    }
}

/// Ways to find `node`, the best one first, each with the number of elements that it matches.
pub fn descriptions(screen: &Screen, node: &Node) -> Vec<(Stable, usize)> {
    let count = |element: ElementProperties| {
        let query = Query { what: QueryTarget::Element(element), index: Some(0) };
        match query.search(screen, Checks::Visible) {
            Find::Found(found) => found.count,
            Find::Not(_) => 0,
        }
    };
    let id = lasting_id(node).map(|id| {
        (
            Stable::Id(id.to_string()),
            count(ElementProperties { id: Some(id.to_string()), ..ElementProperties::default() }),
        )
    });
    let text = lasting_text(node).map(|text| {
        let matched = Some(TextMatch::Exact(text.clone()));
        (Stable::Text(text), count(ElementProperties { text: matched, ..ElementProperties::default() }))
    });
    let selectors = alternatives(screen, node).into_iter().map(|selector| (Stable::Selector(selector), 1));
    let mut found = vec![(stable(screen, node), 1)];
    for other in id.into_iter().chain(text).chain(selectors) {
        if other.1 > 0 && !found.iter().any(|(known, _)| *known == other.0) {
            found.push(other);
        }
    }
    found
}

pub(super) fn lasting_id(node: &Node) -> Option<&str> {
    let short = node.short_id()?;
    let is_name = !short.is_empty() && short.chars().all(|char| char.is_alphanumeric() || "_-.:".contains(char));
    (is_name && !has_generated_id(node)).then_some(short)
}

/// Whether the only id of an element of a page is one that a library made up.
fn has_generated_id(node: &Node) -> bool {
    let is_web = node.props.shape == Shape::Web && node.props.text(Field::DataTestId).is_none();
    is_web && node.props.text(Field::ElementId).is_some_and(is_generated)
}

/// The text that will be the same next time, so not a typed value.
pub(super) fn lasting_text(node: &Node) -> Option<String> {
    let may_be_typed = node.is_editable() || node.is_password();
    let text = match node.props.shape {
        _ if may_be_typed => node.label(),
        // The selected option of a list is not its name.
        Shape::Web => node.label().or(node.props.text(Field::Text)),
        _ => node.text(),
    }?;
    let text = fold(text);
    (!text.is_empty() && !template::has_token(&text)).then_some(text)
}

/// The candidate descriptions of an element, most stable first.
const CASCADE: [fn(&Outline<'_>, usize) -> Vec<Selector>; 10] = [
    by_own_name,
    by_label,
    by_class_and_state,
    by_parent,
    by_row,
    by_place_in_collection,
    by_child,
    by_descendant,
    by_text_and_parent,
    by_index,
];

fn unique(outline: &Outline<'_>, place: usize) -> impl Iterator<Item = Selector> {
    CASCADE
        .iter()
        .flat_map(move |describe| describe(outline, place))
        .filter(move |selector| selector.places(outline) == [place])
}

fn by_own_name(outline: &Outline<'_>, place: usize) -> Vec<Selector> {
    let node = outline.node(place);
    let with_class = texts(node).into_iter().flat_map(|text| class(node).map(|class| vec![text, class]));
    let wants = ids(node).into_iter().chain(texts(node)).map(|want| vec![want]).chain(with_class);
    wants.map(|wants| own(node, wants)).collect()
}

fn by_label(outline: &Outline<'_>, place: usize) -> Vec<Selector> {
    let node = outline.node(place);
    let Some(label) = want(node, Field::LabeledByText) else { return Vec::new() };
    let with_class = class(node).map(|class| own(node, vec![label.clone(), class]));
    [own(node, vec![label])].into_iter().chain(with_class).collect()
}

fn by_class_and_state(outline: &Outline<'_>, place: usize) -> Vec<Selector> {
    let node = outline.node(place);
    let states = states(node);
    if states.is_empty() {
        return Vec::new();
    }
    vec![own(node, class(node).into_iter().chain(states).collect())]
}

fn by_parent(outline: &Outline<'_>, place: usize) -> Vec<Selector> {
    let Some(parent) = known_ancestor(outline, place) else { return Vec::new() };
    let node = outline.node(place);
    let wants = ids(node).into_iter().chain(class(node)).map(|want| vec![want]);
    let stateful = class(node).into_iter().chain(states(node)).collect();
    wants.chain([stateful]).filter(|wants| !wants.is_empty()).map(|wants| beneath(&parent, own(node, wants))).collect()
}

/// In the row that has a text which no other row has: the checkbox before `Buy milk`.
fn by_row(outline: &Outline<'_>, place: usize) -> Vec<Selector> {
    let Some(row) = outline.ancestors(place).take(ROW_DEPTH).find_map(|row| row_of(outline, row, place)) else {
        return Vec::new();
    };
    let node = outline.node(place);
    let wants = texts(node).into_iter().chain(class(node)).map(|want| vec![want]);
    let stateful = class(node).into_iter().chain(states(node)).collect();
    wants.chain([stateful]).filter(|wants| !wants.is_empty()).map(|wants| beneath(&row, own(node, wants))).collect()
}

/// A description of a row by the first of its other texts that says more than a number.
fn row_of(outline: &Outline<'_>, row: usize, place: usize) -> Option<Selector> {
    let of = outline.node(row);
    let class = class(of)?;
    // Boxes that only lay out others come and go.
    if of.props.text(Field::AriaRole).is_some_and(|role| matches!(role, "generic" | "none" | "presentation")) {
        return None;
    }
    let inner = place..outline.beneath(place).end;
    let others = outline.beneath(row).filter(|other| !inner.contains(other)).map(|other| outline.node(other));
    let says_more = |node: &&Node| lasting_text(node).is_some_and(|text| text.chars().any(char::is_alphabetic));
    let texts = others.filter(says_more).flat_map(texts).take(ROW_TEXTS);
    let rows = texts.map(|text| {
        let text =
            Selector { matcher: Some(Match { shape: of.props.shape, wants: vec![text] }), ..Selector::default() };
        Selector { contains_descendants: vec![text], ..own(of, vec![class.clone()]) }
    });
    rows.into_iter().find(|selector| selector.places(outline) == [row])
}

fn by_place_in_collection(outline: &Outline<'_>, place: usize) -> Vec<Selector> {
    let node = outline.node(place);
    let cell: Vec<_> = [Field::CollectionItemRowIndex, Field::CollectionItemColumnIndex, Field::NthIndex]
        .into_iter()
        .filter_map(|field| want(node, field))
        .collect();
    if cell.is_empty() {
        return Vec::new();
    }
    // The `nthIndex` of a web element counts elements with the same description. If that is only a role, a text says more.
    let is_bare = node.props.text(Field::AriaDescriptor) == node.props.text(Field::AriaRole);
    if node.props.shape == Shape::Web && is_bare && !texts(node).is_empty() {
        return Vec::new();
    }
    let kind = want(node, Field::AriaDescriptor).or_else(|| class(node));
    let selector = own(node, kind.into_iter().chain(cell).collect());
    let within = known_ancestor(outline, place).map(|parent| beneath(&parent, selector.clone()));
    [selector].into_iter().chain(within).collect()
}

fn by_child(outline: &Outline<'_>, place: usize) -> Vec<Selector> {
    let node = outline.node(place);
    let children = outline.children(place).flat_map(|child| names(outline.node(child))).take(ALTERNATIVES);
    children.map(|child| Selector { contains_child: Some(Box::new(child)), ..own_class(node) }).collect()
}

fn by_descendant(outline: &Outline<'_>, place: usize) -> Vec<Selector> {
    let node = outline.node(place);
    let beneath = outline.beneath(place).flat_map(|child| names(outline.node(child))).take(ALTERNATIVES);
    beneath.map(|child| Selector { contains_descendants: vec![child], ..own_class(node) }).collect()
}

fn by_text_and_parent(outline: &Outline<'_>, place: usize) -> Vec<Selector> {
    let Some(parent) = known_ancestor(outline, place) else { return Vec::new() };
    let node = outline.node(place);
    texts(node).into_iter().map(|text| beneath(&parent, own(node, vec![text]))).collect()
}

fn by_index(outline: &Outline<'_>, place: usize) -> Vec<Selector> {
    let node = outline.node(place);
    let stateful: Vec<_> = class(node).into_iter().chain(states(node)).collect();
    let wants = ids(node).into_iter().chain(texts(node)).chain(class(node)).map(|want| vec![want]).chain([stateful]);
    let named = wants.filter(|wants| !wants.is_empty()).map(|wants| own(node, wants));
    let within = known_ancestor(outline, place).map(|parent| beneath(&parent, Selector::default()));
    named
        .chain(within)
        .filter_map(|selector| {
            let index = selector.places(outline).iter().position(|found| *found == place)?;
            Some(Selector { index: Some(index), ..selector })
        })
        .collect()
}

/// The closest ancestor that has a name.
fn known_ancestor(outline: &Outline<'_>, place: usize) -> Option<Selector> {
    outline.ancestors(place).find_map(|place| {
        let is_unique = |selector: &Selector| selector.places(outline) == [place];
        names(outline.node(place)).into_iter().find(is_unique)
    })
}

fn names(node: &Node) -> Vec<Selector> {
    ids(node).into_iter().chain(texts(node)).map(|want| own(node, vec![want])).collect()
}

fn own(node: &Node, wants: Vec<(Field, FieldMatch)>) -> Selector {
    Selector { matcher: Some(Match { shape: node.props.shape, wants }), ..Selector::default() }
}

fn own_class(node: &Node) -> Selector {
    class(node).map(|class| own(node, vec![class])).unwrap_or_default()
}

fn beneath(parent: &Selector, selector: Selector) -> Selector {
    Selector { child_of: Some(Box::new(parent.clone())), ..selector }
}

/// Ids of web pages are written as CSS in selectors.
fn ids(node: &Node) -> Vec<(Field, FieldMatch)> {
    if has_generated_id(node) {
        return Vec::new();
    }
    let fields = node.props.shape.id_fields().iter().chain([&Field::CssSelector]);
    fields.filter_map(|field| want(node, *field)).collect()
}

fn texts(node: &Node) -> Vec<(Field, FieldMatch)> {
    let shape = node.props.shape;
    let may_be_typed = node.is_editable() || node.is_password();
    let is_typed = |field: Field| match field {
        Field::EditableText => may_be_typed,
        // The value of a list or a slider is not a name either.
        Field::Value => may_be_typed || shape == Shape::Web,
        // Compose reports the hint of a field there.
        Field::Text => may_be_typed && shape != Shape::Compose,
        _ => false,
    };
    let fields = shape.text_fields().iter().filter(|field| !is_typed(**field));
    fields.filter_map(|field| want(node, *field)).collect()
}

fn class(node: &Node) -> Option<(Field, FieldMatch)> {
    node.props.shape.class_fields().iter().find_map(|field| want(node, *field))
}

/// The states that distinguish it from similar elements, except for the focus, which moves.
fn states(node: &Node) -> Vec<(Field, FieldMatch)> {
    let shape = node.props.shape;
    let flags = shape.matchable().iter().filter(|field| {
        let is_told = node.props.flag(**field).is_some_and(|flag| flag != field.default_flag());
        is_told && !matches!(field, Field::IsFocused | Field::Focused)
    });
    let texts = [Field::StateDescription, Field::ToggleableState, Field::RoleDescription, Field::PaneTitle];
    let numbers = [Field::HeadingLevel, Field::InputType];
    flags.copied().chain(texts).chain(numbers).filter_map(|field| want(node, field)).collect()
}

/// The condition for this field that the element meets.
fn want(node: &Node, field: Field) -> Option<(Field, FieldMatch)> {
    let shape = node.props.shape;
    if !shape.matchable().contains(&field) {
        return None;
    }
    let want = match field.kind() {
        FieldKind::Text => {
            let text = node.props.text(field).filter(|text| !text.trim().is_empty())?;
            // Paths and names of web pages contain many special characters, and are never written as patterns.
            let is_verbatim = matches!(field, Field::CssSelector | Field::DataTestId | Field::AriaRole);
            if is_verbatim && shape == Shape::Web && !template::has_token(text) {
                FieldMatch::Exact(text.to_string())
            } else {
                FieldMatch::Pattern(Pattern::literal(text, Case::of(shape)))
            }
        }
        FieldKind::Flag => FieldMatch::Flag(node.props.flag(field)?),
        FieldKind::Number => FieldMatch::Number(node.props.number(field)?),
    };
    Some((field, want))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::selector::samples::{Build, android, any_screen, node, screen};

    /// Checks the stable description of the node with this id.
    fn check(root: Node, id: u64, expected: Stable) {
        let screen = screen(root);
        let node = screen.root.walk().find(|node| node.id == id).unwrap();
        assert_eq!(stable(&screen, node), expected, "{}", node.summary());
    }

    fn selector(value: Value) -> Stable {
        Stable::Selector(Selector::parse(&value).unwrap())
    }

    fn list(children: impl IntoIterator<Item = Node>) -> Node {
        android("ListView", "").at(0, 0, 400, 800).holding(children)
    }

    #[test]
    fn a_check_is_about_the_text_of_an_element_that_only_its_position_tells_apart() {
        let link = |nth: i64| {
            let link = node(Shape::Web).with(Field::AriaName, "Remove").with(Field::AriaDescriptor, "link \"Remove\"");
            link.with(Field::AriaRole, "link").with(Field::NthIndex, nth).at(0, 0, 50, 50)
        };
        let screen = screen(node(Shape::Web).holding([link(0), link(1)]));
        for node in screen.root.children.iter() {
            let found = stable(&screen, node);
            assert!(matches!(found, Stable::Selector(_)), "{found:?}");
            assert_eq!(found.asserted(&screen, node.id), Stable::Text("Remove".into()));
        }
    }

    #[test]
    fn a_developers_id_comes_first() {
        let button = || android("Button", "Pay").with(Field::ResourceId, "com.x:id/pay").at(0, 0, 50, 50);
        check(list([button()]), 1, Stable::Id("pay".into()));
        let link = node(Shape::Web).with(Field::AriaName, "Home").at(0, 0, 50, 50);
        check(link.clone().with(Field::ElementId, "nav.main:1"), 0, Stable::Id("nav.main:1".into()));
        check(link.clone().with(Field::CssSelector, "ul > li/a"), 0, Stable::Text("Home".into()));
        check(link.clone().with(Field::ElementId, ":r1:"), 0, Stable::Text("Home".into()));
        let tested = link.with(Field::ElementId, ":r1:").with(Field::DataTestId, "home");
        check(tested, 0, Stable::Id("home".into()));
        check(list([button(), button().with(Field::Text, "Now")]), 2, Stable::Text("Now".into()));
    }

    #[test]
    fn a_unique_text_comes_second_unless_it_was_typed() {
        check(list([android("Button", "Pay  now").at(0, 0, 50, 50)]), 1, Stable::Text("Pay now".into()));
        let field = android("EditText", "joe").with(Field::IsEditable, true).at(0, 0, 50, 50);
        check(list([field.clone().with(Field::HintText, "Name")]), 1, Stable::Text("Name".into()));
        check(
            list([field]),
            1,
            selector(
                json!({"androidAccessibility": {"classNameRegex": "\\Qandroid.widget.EditText\\E", "isEditable": true}}),
            ),
        );
    }

    #[test]
    fn a_compose_field_is_known_by_its_hint() {
        let field = node(Shape::Compose).with(Field::IsEditable, true).with(Field::Text, "Name").at(0, 0, 50, 50);
        check(field.with(Field::EditableText, "joe"), 0, Stable::Text("Name".into()));
    }

    #[test]
    fn all_descriptions_say_how_many_they_match() {
        let button = || android("Button", "Pay").at(0, 0, 50, 50);
        let root = list([button().with(Field::ResourceId, "com.x:id/pay"), button()]);
        let screen = screen(root);
        let node = screen.root.walk().find(|node| node.id == 1).unwrap();
        let found = descriptions(&screen, node);
        assert_eq!(found[..2], [(Stable::Id("pay".into()), 1), (Stable::Text("Pay".into()), 2)]);
        assert!(found[2..].iter().all(|(stable, count)| matches!(stable, Stable::Selector(_)) && *count == 1));
    }

    #[test]
    fn a_template_in_a_text_is_not_recorded_as_one() {
        let label = android("TextView", "{{user}}").at(0, 0, 50, 50);
        check(list([label]), 1, selector(json!({"androidAccessibility": {"textRegex": "\\{\\{user\\}\\}"}})));
    }

    #[test]
    fn the_cascade_goes_from_names_to_positions() {
        let asked = |fields: Value| json!({"androidAccessibility": fields});
        let view = || node(Shape::AndroidAccessibility).with(Field::ClassName, "View").at(0, 0, 50, 50);
        let root = || node(Shape::AndroidAccessibility).at(0, 0, 400, 800);
        // Text and class.
        let button = android("Button", "Pay").with(Field::ClassName, "Button").at(0, 100, 50, 50);
        check(
            root().holding([view().with(Field::Text, "Pay"), button]),
            2,
            selector(asked(json!({"textRegex": "Pay", "classNameRegex": "Button"}))),
        );
        // The label next to it.
        let labeled = view().with(Field::LabeledByText, "Name").with(Field::ContentDescription, "field");
        let other = view().with(Field::ContentDescription, "field");
        check(root().holding([other, labeled]), 2, selector(asked(json!({"labeledByTextRegex": "Name"}))));
        // Class and state.
        check(
            root().holding([view(), view().with(Field::IsChecked, true)]),
            2,
            selector(asked(json!({"classNameRegex": "View", "isChecked": true}))),
        );
        // A parent with a name.
        let row = |id: &str| root().with(Field::ResourceId, id).holding([view()]);
        check(
            root().holding([row("a"), row("b")]),
            4,
            selector(
                json!({"androidAccessibility": {"classNameRegex": "View"}, "childOf": asked(json!({"resourceIdRegex": "b"}))}),
            ),
        );
        // What is in the same row.
        let row = |about: &str, nth: i64| {
            let web = |role: &str| node(Shape::Web).with(Field::AriaRole, role).with(Field::AriaDescriptor, role);
            let checkbox = web("checkbox").with(Field::NthIndex, nth).at(0, 0, 10, 10);
            let price = web("text").with(Field::Text, "12");
            web("listitem").holding([web("generic").holding([checkbox, price, web("text").with(Field::Text, about)])])
        };
        let within = json!({"web": {"ariaRole": "listitem"}, "containsDescendants": [{"web": {"textRegex": "Tea"}}]});
        check(
            node(Shape::Web).holding([row("Milk", 0), row("Tea", 1)]),
            8,
            selector(json!({"web": {"ariaRole": "checkbox"}, "childOf": within})),
        );
        check(
            node(Shape::Web).holding([row("Tea", 0), row("Tea", 1)]),
            8,
            selector(json!({"web": {"ariaDescriptorRegex": "checkbox", "nthIndex": 1}})),
        );
        // A cell.
        let cell = |row: i64| view().with(Field::CollectionItemRowIndex, row);
        check(
            root().holding([cell(0), cell(1)]),
            2,
            selector(asked(json!({"classNameRegex": "View", "collectionItemRowIndex": 1}))),
        );
        let link = |nth: i64| {
            let link = node(Shape::Web).with(Field::AriaDescriptor, "link").with(Field::NthIndex, nth);
            link.with(Field::AriaRole, "link").at(0, 0, 50, 50)
        };
        check(
            node(Shape::Web).holding([link(0), link(1)]),
            2,
            selector(json!({"web": {"ariaDescriptorRegex": "link", "nthIndex": 1}})),
        );
        // A text says more than a position among all elements of its kind.
        let day = |nth: i64| {
            let day = node(Shape::Web).with(Field::AriaDescriptor, "generic").with(Field::NthIndex, nth);
            day.with(Field::AriaRole, "generic").with(Field::Text, "20").at(0, 0, 50, 50)
        };
        check(node(Shape::Web).holding([day(4), day(9)]), 2, selector(json!({"web": {"textRegex": "20"}, "index": 1})));
        // Its descendants.
        let holder = |text: &str| view().holding([node(Shape::AndroidAccessibility).with(Field::Text, text)]);
        check(
            root().holding([holder("a"), holder("b")]),
            3,
            selector(
                json!({"androidAccessibility": {"classNameRegex": "View"}, "containsChild": asked(json!({"textRegex": "b"}))}),
            ),
        );
        // The index.
        check(
            root().holding([view(), view()]),
            2,
            selector(json!({"androidAccessibility": {"classNameRegex": "View"}, "index": 1})),
        );
        // Nothing distinguishes it.
        check(root().holding([root(), root()]), 2, Stable::Point(Point { x: 200, y: 400 }));
    }

    #[test]
    fn alternatives_are_kept_in_order() {
        let pay = android("Button", "Pay").with(Field::ResourceId, "com.x:id/pay").with(Field::IsClickable, true);
        let screen = screen(list([pay.at(0, 0, 50, 50)]));
        let found: Vec<Value> = alternatives(&screen, &screen.root.children[0]).iter().map(Selector::to_json).collect();
        let class = "\\Qandroid.widget.Button\\E";
        let expected = [
            json!({"androidAccessibility": {"resourceIdRegex": "\\Qcom.x:id/pay\\E"}}),
            json!({"androidAccessibility": {"textRegex": "Pay"}}),
            json!({"androidAccessibility": {"textRegex": "Pay", "classNameRegex": class}}),
            json!({"androidAccessibility": {"classNameRegex": class, "isClickable": true}}),
            json!({"androidAccessibility": {"resourceIdRegex": "\\Qcom.x:id/pay\\E"}, "index": 0}),
        ];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn an_element_is_found_again(screen in any_screen()) {
            for node in screen.root.walk() {
                let element = match stable(&screen, node) {
                    Stable::Id(id) => ElementProperties { id: Some(id), ..ElementProperties::default() },
                    Stable::Text(text) => ElementProperties { text: Some(TextMatch::Exact(text)), ..ElementProperties::default() },
                    Stable::Selector(selector) => {
                        let read = Selector::parse(&selector.to_json()).unwrap();
                        let found: Vec<u64> = read.resolve(&screen.root).iter().map(|found| found.id).collect();
                        prop_assert_eq!(found, [node.id]);
                        continue;
                    }
                    Stable::Point(_) => {
                        prop_assert!(alternatives(&screen, node).is_empty());
                        continue;
                    }
                };
                let query = Query { what: QueryTarget::Element(element), index: None };
                match query.search(&screen, Checks::Visible) {
                    Find::Found(found) => prop_assert_eq!(found.node, node.id),
                    Find::Not(why) => prop_assert!(false, "{}", why),
                }
            }
        }
    }
}
