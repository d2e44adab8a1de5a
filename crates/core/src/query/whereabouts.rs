//! Describes where an element is, to distinguish it from others of the same name.

use crate::screen::{Field, Node, shorten};
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

/// The closest ancestor that has a name, or the heading above it.
fn whereabouts(outline: &Outline<'_>, place: usize) -> Option<String> {
    let own = shown_label(outline, place);
    let differs = |label: &String| Some(label) != own.as_ref();
    let around = outline.ancestors(place).filter(|around| *around != 0 && !is_layout_box(outline.node(*around)));
    let container = around.into_iter().find_map(|around| {
        let node = outline.node(around);
        let class = node.class()?;
        let is_item = ITEMS.contains(&class);
        let first = || outline.beneath(around).find_map(|inner| shown_label(outline, inner).filter(differs));
        let label = shown_label(outline, around).filter(differs);
        let label = label.or_else(|| is_item.then(first).flatten())?;
        Some(format!("in {class} \"{}\"", shorten(&label)))
    });
    container.or_else(|| {
        let heading = (0..place).rev().find(|before| is_heading(outline.node(*before)))?;
        Some(format!("under heading \"{}\"", shorten(&shown_label(outline, heading)?)))
    })
}

fn is_heading(node: &Node) -> bool {
    let is_marked = node.props.flag(Field::IsHeading).unwrap_or(false);
    is_marked || node.props.number(Field::HeadingLevel).is_some()
}
