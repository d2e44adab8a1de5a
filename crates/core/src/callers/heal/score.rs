//! Ranks the elements of a screen by how well they fit a recorded identity, and decides whether one of them means the same.
//! Points only order the suggestions. An element is used if everything that was recorded about its meaning agrees: an id
//! does not say what an element does.

use trailblaze_protocol::heal::{ElementIdentity, ElementKind};

use super::likeness::{Likeness, has_common, ids, names};
use crate::query::{Surroundings, described, meaning};

/// The points from which an element without anything in common is worth a look.
const ENOUGH: i32 = 30;

/// An element that may be the recorded one.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub node: u64,
    pub identity: ElementIdentity,
    pub points: i32,
    /// What speaks for it, and what differs.
    pub reason: String,
    /// Why it must not be used, although it may be worth a look.
    doubt: Option<String>,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Best first.
    pub candidates: Vec<Candidate>,
    /// Why the first must not be used; `None` if it clearly wins.
    pub doubt: Option<String>,
}

/// The elements that may be the recorded one. Only visible and enabled elements count, with which the same can be done, and
/// never those in a frame of another origin.
pub fn rank(recorded: &ElementIdentity, surroundings: &Surroundings<'_>) -> Ranking {
    let usable = surroundings.usable(recorded.kind).into_iter().map(|place| (place, surroundings.identity(place)));
    let known: Vec<(usize, ElementIdentity)> =
        usable.filter(|(_, identity)| identity.frame == recorded.frame).collect();
    let known = outermost(recorded, surroundings, known);
    let (others, known): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|(_, identity)| was_another(recorded, identity));
    let candidates = known.into_iter().filter_map(|(place, identity)| {
        let node = surroundings.node(place).id;
        candidate(recorded, identity, node)
    });
    let mut candidates: Vec<Candidate> = candidates.collect();
    candidates.sort_by_key(|candidate| (candidate.doubt.is_some(), std::cmp::Reverse(candidate.points)));
    let mut doubt = best_doubt(&candidates);
    let has_id = |(_, other): &&(usize, ElementIdentity)| recorded.id.is_some() && other.id == recorded.id;
    if let Some(doubt) = &mut doubt
        && let Some((other, _)) = others.iter().find(has_id)
    {
        *doubt = format!("{doubt}; {} has its id, but {WAS_ANOTHER}", surroundings.describe(*other));
    }
    Ranking { candidates, doubt }
}

/// A row and the label in it often have the same name. They count as one element: the one with the recorded role, or the
/// inner one.
fn outermost(
    recorded: &ElementIdentity,
    surroundings: &Surroundings<'_>,
    known: Vec<(usize, ElementIdentity)>,
) -> Vec<(usize, ElementIdentity)> {
    let is_kept = |(place, own): &(usize, ElementIdentity)| {
        !known.iter().any(|(other, identity)| {
            let is_twin =
                identity.name == own.name && own.name.is_some() && (own.id.is_none() || identity.id == own.id);
            let has_role = |identity: &ElementIdentity| identity.role == recorded.role;
            let is_inner = surroundings.is_nested(*place, *other);
            let is_outer = surroundings.is_nested(*other, *place);
            is_twin && (is_inner && !has_role(own) || is_outer && has_role(identity) && !has_role(own))
        })
    };
    let kept: Vec<bool> = known.iter().map(is_kept).collect();
    known.into_iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(known, _)| known).collect()
}

fn candidate(recorded: &ElementIdentity, identity: ElementIdentity, node: u64) -> Option<Candidate> {
    let id = ids(recorded.id.as_deref(), identity.id.as_deref());
    let name = names(recorded.name.as_deref(), identity.name.as_deref());
    let within = overlap(&recorded.within, &identity.within);
    let near = overlap(&recorded.near, &identity.near);
    let mut points = 0;
    let mut says: Vec<String> = Vec::new();
    let mut add = |number: i32, text: &str| {
        points += number;
        if !text.is_empty() {
            says.push(text.to_string());
        }
    };
    match id {
        Likeness::Same => add(45, "same id"),
        Likeness::Similar(share) => add(scaled(25, share), "similar id"),
        Likeness::Family => add(-40, "id of another element"),
        Likeness::Different => add(-10, "another id"),
        Likeness::Unknown => {}
    }
    match name {
        Likeness::Same if recorded.alike > 1 => add(15, "same name"),
        Likeness::Same => add(if identity.alike <= 1 { 50 } else { 40 }, "same name"),
        Likeness::Similar(share) => add(scaled(40, share), "similar name"),
        Likeness::Family | Likeness::Different => add(-10, "another name"),
        Likeness::Unknown => {}
    }
    match recorded.role == identity.role {
        true => add(10, "same role"),
        false => add(-5, "another role"),
    }
    match (&recorded.item, &identity.item) {
        (Some(a), Some(b)) if a == b => add(10, "same list item"),
        (Some(_), _) => add(-15, "another list item"),
        (None, Some(_)) => add(-5, "in a list item"),
        (None, None) => {}
    }
    match within {
        Some(0.0) => add(-10, "another container"),
        Some(share) => add(scaled(20, share), "same container"),
        None => {}
    }
    match near {
        Some(0.0) => add(-5, "other neighbors"),
        Some(share) => add(scaled(20, share), "same neighbors"),
        None => {}
    }
    let about = recorded.about.as_deref().zip(identity.about.as_deref());
    if about.is_some_and(|(then, now)| !is_about_same(then, now)) {
        add(-10, "something else around it");
    }
    let is_alike = |likeness: Likeness| matches!(likeness, Likeness::Same | Likeness::Similar(_));
    // An element with nothing in common is no suggestion.
    let is_worth_showing = is_alike(id) || is_alike(name) || points >= ENOUGH;
    let doubt = doubt(recorded, &identity);
    is_worth_showing.then(|| Candidate { node, identity, points, reason: says.join(", "), doubt })
}

/// Why the best one must not be used.
fn best_doubt(candidates: &[Candidate]) -> Option<String> {
    let Some(best) = candidates.first() else { return Some("no element of the screen fits".to_string()) };
    if let Some(doubt) = &best.doubt {
        return Some(format!("the best fit is not used: {doubt}"));
    }
    let rivals = candidates.iter().skip(1).filter(|rival| rival.doubt.is_none()).count();
    (rivals > 0).then(|| "several elements fit".to_string())
}

/// Why it is not certain that an element means the same as the recorded one.
fn doubt(recorded: &ElementIdentity, now: &ElementIdentity) -> Option<String> {
    if let Some(why) = too_little(recorded) {
        return Some(why.to_string());
    }
    let name = recorded.name.as_deref().unwrap_or_default();
    match &now.name {
        Some(new) if meaning::is_same(name, new) => {}
        Some(new) => return Some(format!("its name is \"{new}\", not \"{name}\"")),
        None => return Some("it has no name".to_string()),
    }
    if now.alike > recorded.alike.max(1) {
        return Some("several elements have its name now".to_string());
    }
    differs_around(recorded, now)
}

/// Why nothing is certain about a recorded element.
fn too_little(recorded: &ElementIdentity) -> Option<&'static str> {
    if recorded.about.is_none() {
        Some("it was recorded by an older version, which noted less about it; record the trail again")
    } else if recorded.name.is_none() {
        Some("the recorded element has no name, so that nothing tells what it is for")
    } else {
        None
    }
}

/// Why an element is about something else than the recorded one.
fn differs_around(recorded: &ElementIdentity, now: &ElementIdentity) -> Option<String> {
    let (then, new) = (recorded.about.as_deref().unwrap_or_default(), now.about.as_deref().unwrap_or_default());
    if then.is_empty() && new.is_empty() && !has_same_id(recorded, now) {
        return Some("no text tells what the recorded element is about".to_string());
    }
    if is_about_same(then, new) || is_moved_out(recorded, now) {
        return None;
    }
    let text = |texts: Option<&Vec<String>>| {
        texts.map_or("nothing".to_string(), |texts| format!("\"{}\"", texts.join("\", \"")))
    };
    let differs = (0..then.len().max(new.len())).find(|level| {
        let (then, new) = (then.get(*level), new.get(*level));
        !then.zip(new).is_some_and(|(then, new)| meaning::are_same(then, new))
    });
    let level = differs.unwrap_or_default();
    Some(format!("around it is {}, not {}", text(new.get(level)), text(then.get(level))))
}

/// Whether two elements are about the same: each container says the same.
fn is_about_same(then: &[Vec<String>], now: &[Vec<String>]) -> bool {
    then.len() == now.len() && then.iter().zip(now).all(|(then, now)| meaning::are_same(then, now))
}

fn has_same_id(recorded: &ElementIdentity, now: &ElementIdentity) -> bool {
    recorded.id.is_some() && recorded.id == now.id
}

/// Whether an element left its container for the page around it. Its id has to be the same then, everything that was around
/// it must be around it still, and nothing else may be.
fn is_moved_out(recorded: &ElementIdentity, now: &ElementIdentity) -> bool {
    let (Some(then), Some(new)) = (&recorded.about, &now.about) else { return false };
    let is_alone = recorded.alike <= 1 && now.alike <= 1 && recorded.item.is_none() && now.item.is_none();
    let is_there = |noted: &String| new.iter().flatten().any(|text| meaning::says(text, noted));
    let was_there = |text: &String| then.iter().flatten().chain(&recorded.near).any(|noted| meaning::says(text, noted));
    let is_same = then.iter().flatten().all(is_there) && new.iter().flatten().all(was_there);
    has_same_id(recorded, now) && is_alone && !then.is_empty() && is_same
}

const WAS_ANOTHER: &str = "it was there when the trail was recorded, as another element";

/// Why an element that a model chose must not be used. The model may find that other words mean the same, but not that another
/// amount, row, dialog or frame does; and a name that was changed in part was changed on purpose.
pub fn objection(recorded: &ElementIdentity, now: &ElementIdentity) -> Option<String> {
    if was_another(recorded, now) {
        return Some(WAS_ANOTHER.to_string());
    }
    if let Some(why) = too_little(recorded) {
        return Some(why.to_string());
    }
    if recorded.frame != now.frame {
        return Some("it is in a frame of another origin".to_string());
    }
    let (then, new) = (recorded.name.as_deref().unwrap_or_default(), now.name.as_deref().unwrap_or_default());
    let is_other = meaning::numbers(then) != meaning::numbers(new) || has_common(then, new);
    if !meaning::is_same(then, new) && is_other {
        return Some(format!("its name is \"{new}\", not \"{then}\""));
    }
    differs_around(recorded, now)
}

/// Whether an element was on the screen when the trail was recorded, as another one than the recorded. Its name decides:
/// ids are often numbers, which move on to the next element if one is removed.
fn was_another(recorded: &ElementIdentity, now: &ElementIdentity) -> bool {
    let is_own_name = names(recorded.name.as_deref(), now.name.as_deref()) == Likeness::Same;
    let is_own_id = ids(recorded.id.as_deref(), now.id.as_deref()) == Likeness::Same;
    recorded.others.iter().map(|other| described(other)).any(|(name, id)| {
        let is_its_name = names(name, now.name.as_deref()) == Likeness::Same;
        let is_its_id = ids(id, now.id.as_deref()) == Likeness::Same;
        match is_own_name {
            false => is_its_name || is_its_id,
            // Several elements have this name.
            true => is_its_name && is_its_id && !is_own_id,
        }
    })
}

/// How many of the recorded texts are among the current ones; `None` if none were recorded.
fn overlap(recorded: &[String], now: &[String]) -> Option<f64> {
    let common = recorded.iter().filter(|text| now.contains(text)).count();
    (!recorded.is_empty()).then(|| common as f64 / recorded.len() as f64)
}

fn scaled(points: i32, share: f64) -> i32 {
    (f64::from(points) * share).round() as i32
}

/// Whether an element of this kind can be healed at all.
pub fn is_healable(kind: ElementKind) -> bool {
    kind != ElementKind::Plain
}
