//! Checks of several elements: how many there are, and in which order.

use std::time::Duration;

use futures::FutureExt;
use trailblaze_protocol::geometry::Rect;
use trailblaze_protocol::outcome::Outcome;

use super::super::arguments::texts;
use super::super::assertions::differs;
use super::super::elements::containing;
use super::target::{CheckTarget, restate};
use super::wait;
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, Need};
use crate::query::{Checks, Find, Found, Query, Reason};

pub const COUNTED: Need = Need {
    one_of: &["equals", "atLeast", "atMost"],
    otherwise: "nothing to compare with: pass `equals`, `atLeast` or `atMost`",
};

/// Checks how many elements match.
pub async fn count(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let (wait, target) = (wait(args), CheckTarget::of(cx, args)?);
    let (equals, least, most) = (args.count("equals")?, args.count("atLeast")?, args.count("atMost")?);
    if equals.is_none() && least.is_none() && most.is_none() {
        return Err(COUNTED.stop());
    }
    let query = match target {
        CheckTarget::Ref(_) => {
            return Err(Stop::failed("a ref means one element; describe those to count, as in `listitem`"));
        }
        CheckTarget::Stable(query) => Query { index: Some(0), ..query },
    };
    let bounds = [("", equals), ("at least ", least), ("at most ", most)];
    let words = bounds.into_iter().filter_map(|(word, bound)| bound.map(|bound| format!("{word}{bound}")));
    let words = words.collect::<Vec<_>>().join(" and ");
    let holds = |count: u64| {
        equals.is_none_or(|wanted| count == wanted)
            && least.is_none_or(|least| count >= least)
            && most.is_none_or(|most| count <= most)
    };
    let (query, words, holds) = (&query, &words, &holds);
    let ask = |_| {
        async move {
            let count = match cx.session.device.find(cx, query, Checks::Visible).await? {
                Find::Found(found) => found.count,
                Find::Not(why) => match why.reason {
                    Reason::OutOfRange { count, .. } => count,
                    _ => 0,
                },
            };
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            Ok(if holds(count) {
                Ok(Outcome::success(format!("{query} is there {count} times")))
            } else {
                Err(differs(&format!("{query} {words} times"), &format!("{count}")))
            })
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait, ask).await
}

/// Checks that texts are visible in an order.
pub async fn order(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let (wait, items) = (wait(args), texts(args, "items"));
    let list = match CheckTarget::optional(cx, args)? {
        Some(CheckTarget::Ref(reference)) => return restate(cx, "assertOrder", &reference, false).await,
        Some(CheckTarget::Stable(query)) => Some(query),
        None => None,
    };
    if items.len() < 2 {
        return Err(Stop::failed("`items` needs two texts or more, whose order is checked"));
    }
    expect_list(cx, &items, list.as_ref(), true, wait).await
}

/// Waits until all items are visible, on the screen or in a list, in their order if that counts.
pub async fn expect_list(
    cx: &Cx,
    items: &[String],
    list: Option<&Query>,
    is_ordered: bool,
    wait: Duration,
) -> Result<Outcome, Stop> {
    let ask = |_| {
        async move {
            let list = match list {
                None => None,
                Some(query) => match cx.session.device.find(cx, query, Checks::Visible).await? {
                    Find::Found(found) => Some(found),
                    Find::Not(why) => return Ok(Err(differs(&query.to_string(), &why.to_string()))),
                },
            };
            let place = list.as_ref().map(|list| format!(" in {}", list.summary)).unwrap_or_default();
            let mut last: Option<(&str, Rect)> = None;
            for item in items {
                let (next, saw) = match (places(cx, item, list.as_ref(), is_ordered).await?, last) {
                    (Err(saw), _) => (None, saw),
                    (Ok(places), None) => (places.first().copied(), String::new()),
                    (Ok(places), Some((before, last))) => {
                        let next = places.into_iter().find(|place| !is_ordered || comes_after(*place, last));
                        (next, format!("no such item after \"{before}\""))
                    }
                };
                let Some(next) = next else { return Ok(Err(differs(&format!("\"{item}\"{place}"), &saw))) };
                last = Some((item.as_str(), next));
            }
            let how = if is_ordered { "all items are visible, in this order" } else { "all items are visible" };
            Ok(Ok(Outcome::success(how)))
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait, ask).await
}

/// Where an item is, within the list if there is one: its first place, or all; or what was seen instead.
async fn places(cx: &Cx, item: &str, list: Option<&Found>, wants_all: bool) -> Result<Result<Vec<Rect>, String>, Stop> {
    let mut places = Vec::new();
    for index in 0.. {
        let query = Query { index: Some(index), ..containing(item) };
        match cx.session.device.find(cx, &query, Checks::Visible).await? {
            Find::Found(found) if list.is_none_or(|list| list.bounds.contains(found.bounds.center())) => {
                places.push(found.bounds);
                if !wants_all {
                    break;
                }
            }
            Find::Found(_) => {}
            Find::Not(_) if !places.is_empty() => break,
            Find::Not(_) if index > 0 => return Ok(Err("the item elsewhere on the page".to_string())),
            Find::Not(why) => return Ok(Err(why.to_string())),
        }
    }
    Ok(Ok(places))
}

/// Whether a place is read after another one: it is below it, or beside it in the same row.
fn comes_after(place: Rect, other: Rect) -> bool {
    let middle = place.center().y;
    middle >= other.bottom || (middle >= other.top && place.left > other.left)
}
