//! Ranks the elements of a screen by how well they fit a recorded identity, and decides whether one clearly wins.

use trailblaze_protocol::heal::{ElementIdentity, ElementKind};

use super::likeness::{Likeness, ids, names, words};
use crate::query::{Surroundings, described};

/// The points that an element needs to be used without asking, and its lead over the next one.
const ENOUGH: i32 = 60;
const LEAD: i32 = 15;
/// How much of what was around the element must still be on the screen if only its name speaks for it.
const STILL_THERE: f64 = 0.5;
/// Words of actions that are hard to take back. An element that has gained one is never used.
const HARMFUL: [&str; 36] = [
    "abort",
    "block",
    "cancel",
    "clear",
    "close",
    "deactivate",
    "decline",
    "delete",
    "deny",
    "destroy",
    "disable",
    "discard",
    "disconnect",
    "empty",
    "erase",
    "log off",
    "log out",
    "logout",
    "opt out",
    "purge",
    "quit",
    "reject",
    "remove",
    "reset",
    "revoke",
    "sign out",
    "start over",
    "terminate",
    "trash",
    "turn off",
    "uninstall",
    "unlink",
    "unpublish",
    "unsubscribe",
    "wipe",
    "withdraw",
];

/// An element that may be the recorded one.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub node: u64,
    pub identity: ElementIdentity,
    pub points: i32,
    /// What speaks for it, and what differs.
    pub reason: String,
    evidence: Evidence,
    /// Why it must not be used, although it may be worth a look.
    doubt: Option<&'static str>,
}

/// The strongest property that speaks for an element, by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    None,
    /// An id or a name that is similar.
    Similar,
    Name,
    Id,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Best first.
    pub candidates: Vec<Candidate>,
    /// Why the first must not be used; `None` if it clearly wins.
    pub doubt: Option<String>,
}

/// The elements that may be the recorded one. Only visible and enabled elements count, with which the same can be done.
pub fn rank(recorded: &ElementIdentity, surroundings: &Surroundings<'_>) -> Ranking {
    let places = outermost(recorded, surroundings, surroundings.usable(recorded.kind));
    let (others, places): (Vec<usize>, Vec<usize>) =
        places.into_iter().partition(|place| was_another(recorded, &surroundings.identity(*place)));
    let mut candidates: Vec<Candidate> =
        places.into_iter().filter_map(|place| candidate(recorded, surroundings, place)).collect();
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.points));
    let mut doubt = doubt(&candidates);
    let has_id = |place: &&usize| recorded.id.is_some() && surroundings.identity(**place).id == recorded.id;
    if let Some(doubt) = &mut doubt
        && let Some(other) = others.iter().find(has_id)
    {
        *doubt = format!("{doubt}; {} has its id, but {WAS_ANOTHER}", surroundings.describe(*other));
    }
    Ranking { candidates, doubt }
}

/// A row and the label in it often have the same name. They count as one element: the one with the recorded role, or the
/// inner one.
fn outermost(recorded: &ElementIdentity, surroundings: &Surroundings<'_>, places: Vec<usize>) -> Vec<usize> {
    let known: Vec<(usize, ElementIdentity)> =
        places.into_iter().map(|place| (place, surroundings.identity(place))).collect();
    let is_kept = |(place, own): &&(usize, ElementIdentity)| {
        !known.iter().any(|(other, identity)| {
            let is_twin =
                identity.name == own.name && own.name.is_some() && (own.id.is_none() || identity.id == own.id);
            let has_role = |identity: &ElementIdentity| identity.role == recorded.role;
            let is_inner = surroundings.is_nested(*place, *other);
            let is_outer = surroundings.is_nested(*other, *place);
            is_twin && (is_inner && !has_role(own) || is_outer && has_role(identity) && !has_role(own))
        })
    };
    known.iter().filter(is_kept).map(|(place, _)| *place).collect()
}

fn candidate(recorded: &ElementIdentity, surroundings: &Surroundings<'_>, place: usize) -> Option<Candidate> {
    let identity = surroundings.identity(place);
    let id = ids(recorded.id.as_deref(), identity.id.as_deref());
    let name = names(recorded.name.as_deref(), identity.name.as_deref());
    let within = overlap(&recorded.within, &identity.within);
    let near = overlap(&recorded.near, &identity.near);
    let evidence = match (id, name) {
        (Likeness::Same, _) => Evidence::Id,
        (_, Likeness::Same) if recorded.alike <= 1 || within.is_some_and(is_all) => Evidence::Name,
        (Likeness::Similar(share), _) if share >= 0.5 => Evidence::Similar,
        (_, Likeness::Similar(_) | Likeness::Same) => Evidence::Similar,
        _ => Evidence::None,
    };
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
    let present = recorded.near.iter().filter(|text| surroundings.has_text(text)).count();
    let is_elsewhere = !recorded.near.is_empty() && (present as f64) < recorded.near.len() as f64 * STILL_THERE;
    let doubt = if is_harmful(recorded.name.as_deref(), identity.name.as_deref()) {
        Some(DOES_ELSE)
    } else if id != Likeness::Same && recorded.item.is_some() && recorded.item != identity.item {
        Some("it is in another list item")
    } else if id != Likeness::Same && is_elsewhere {
        Some("what was around the element is no longer on the screen")
    } else if evidence == Evidence::None {
        Some("neither its id nor its name is that of the element")
    } else {
        None
    };
    // An element with nothing in common is no suggestion.
    let is_worth_showing = evidence > Evidence::None || points >= ENOUGH / 2;
    let node = surroundings.node(place).id;
    is_worth_showing.then(|| Candidate { node, identity, points, reason: says.join(", "), evidence, doubt })
}

/// Why the best one must not be used.
fn doubt(candidates: &[Candidate]) -> Option<String> {
    let Some(best) = candidates.first() else { return Some("no element of the screen fits".to_string()) };
    if let Some(doubt) = best.doubt {
        return Some(format!("the best fit is not used: {doubt}"));
    }
    if best.points < ENOUGH {
        return Some("no element fits well enough".to_string());
    }
    let rivals = candidates.iter().skip(1);
    // Two elements with the same name are never told apart by their place.
    let is_twin = |rival: &Candidate| rival.evidence >= best.evidence && best.evidence != Evidence::Similar;
    if rivals.clone().any(is_twin) {
        return Some("several elements fit".to_string());
    }
    let is_close = |rival: &Candidate| rival.evidence > Evidence::None && best.points - rival.points < LEAD;
    if rivals.clone().any(is_close) {
        return Some("several elements fit about equally well".to_string());
    }
    None
}

const WAS_ANOTHER: &str = "it was there when the trail was recorded, as another element";
const DOES_ELSE: &str = "its name says that it does something else";

/// Why an element must not be used, whatever speaks for it. Without a recorded identity, `said` is all that is known: the
/// text of the step and its call.
pub fn objection(recorded: Option<&ElementIdentity>, said: &str, now: &ElementIdentity) -> Option<&'static str> {
    let before = recorded.map_or(Some(said), |recorded| recorded.name.as_deref());
    if recorded.is_some_and(|recorded| was_another(recorded, now)) {
        Some(WAS_ANOTHER)
    } else if is_harmful(before, now.name.as_deref()) {
        Some(DOES_ELSE)
    } else {
        None
    }
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

fn is_harmful(recorded: Option<&str>, now: Option<&str>) -> bool {
    let harmful = |name: Option<&str>| -> Vec<String> {
        let words = words(name.unwrap_or_default());
        let pairs = words.windows(2).map(|pair| pair.join(" "));
        words.iter().cloned().chain(pairs).filter(|word| HARMFUL.contains(&word.as_str())).collect()
    };
    let before = harmful(recorded);
    harmful(now).iter().any(|word| !before.contains(word))
}

/// How many of the recorded texts are among the current ones; `None` if none were recorded.
fn overlap(recorded: &[String], now: &[String]) -> Option<f64> {
    let common = recorded.iter().filter(|text| now.contains(text)).count();
    (!recorded.is_empty()).then(|| common as f64 / recorded.len() as f64)
}

fn is_all(share: f64) -> bool {
    share >= 1.0
}

fn scaled(points: i32, share: f64) -> i32 {
    (f64::from(points) * share).round() as i32
}

/// Whether an element of this kind can be healed at all.
pub fn is_healable(kind: ElementKind) -> bool {
    kind != ElementKind::Plain
}
