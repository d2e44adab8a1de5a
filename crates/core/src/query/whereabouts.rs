//! Describes where an element is, to distinguish it from others of the same name.

use crate::screen::{Field, Node, quoted, shorten};
use crate::selector::Outline;
use crate::snapshot::{is_layout_box, shown_label};

/// Repeating elements, which are named by the first text in them.
const ITEMS: [&str; 8] = ["listitem", "row", "article", "treeitem", "gridcell", "cell", "Cell", "group"];

/// Describes an element with its id and where it is: `button "Delete" [id=d2] in listitem "Mug"`.
pub(super) fn describe(outline: &Outline<'_>, place: usize) -> String {
    let node = outline.node(place);
    let summary = node.summary();
    let id = node.short_id().map(|id| format!("[id={id}]")).filter(|id| !summary.contains(id.as_str()));
    let parts = [Some(summary), id, whereabouts(outline, place)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Describes several elements. Adds positions if two descriptions are equal.
pub(super) fn describe_all(outline: &Outline<'_>, places: &[usize]) -> Vec<String> {
    let told: Vec<String> = places.iter().map(|place| describe(outline, *place)).collect();
    let with_place = |(words, place): (&String, &usize)| match outline.node(*place).bounds {
        Some(bounds) if told.iter().filter(|other| *other == words).count() > 1 => {
            let center = bounds.center();
            format!("{words} at {},{}", center.x, center.y)
        }
        _ => words.clone(),
    };
    told.iter().zip(places).map(with_place).collect()
}

/// The container that an element is in, or the heading above it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Around {
    Container { role: String, name: Option<String> },
    Heading { name: String },
}

/// The closest ancestor that has a name, or the heading above it.
fn whereabouts(outline: &Outline<'_>, place: usize) -> Option<String> {
    let own = shown_label(outline, place);
    let around = outline.ancestors(place).filter(|around| *around != 0 && !is_layout_box(outline.node(*around)));
    let container = around.into_iter().find_map(|around| {
        let class = outline.node(around).class()?;
        let label = container_label(outline, around, own.as_deref())?;
        Some(format!("in {class} {}", quoted(&shorten(&label))))
    });
    container.or_else(|| {
        let heading = headings_above(outline, place).next()?;
        Some(format!("under heading {}", quoted(&shorten(&shown_label(outline, heading)?))))
    })
}

/// The name of a container of an element, if it differs from the element's name.
pub(super) fn container_label(outline: &Outline<'_>, container: usize, own: Option<&str>) -> Option<String> {
    let differs = |label: &String| Some(label.as_str()) != own;
    let is_item = outline.node(container).class().is_some_and(|class| ITEMS.contains(&class));
    let first = || outline.beneath(container).find_map(|inner| shown_label(outline, inner).filter(differs));
    shown_label(outline, container).filter(differs).or_else(|| is_item.then(first).flatten())
}

/// The headings above an element, closest first. Each outranks the previous one (a smaller `HeadingLevel`).
pub(super) fn headings_above(outline: &Outline<'_>, place: usize) -> impl Iterator<Item = usize> {
    let mut lowest = i64::MAX;
    (0..place).rev().filter(move |before| {
        let node = outline.node(*before);
        let level = node.props.number(Field::HeadingLevel).unwrap_or(1);
        let is_above = is_heading(node) && level < lowest;
        if is_above {
            lowest = level;
        }
        is_above
    })
}

fn is_heading(node: &Node) -> bool {
    let is_marked = node.props.flag(Field::IsHeading).unwrap_or(false);
    is_marked || node.props.number(Field::HeadingLevel).is_some()
}
