//! Checks of the state of an element.

use futures::FutureExt;
use trailblaze_protocol::outcome::Outcome;

use super::super::assertions::differs;
use super::target::{CheckTarget, restate};
use super::text::find;
use super::wait;
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, Need};
use crate::query::{Checks, ElementState, Find, Found, Query, Reason, element_state};
use crate::screen::{Node, Screen};

pub const STATED: Need = Need {
    one_of: &["enabled", "checked", "selected", "focused", "inView"],
    otherwise: "nothing to check: pass `enabled`, `checked`, `selected`, `focused` or `inView`",
};

/// What the state of an element must be, as far as it is given.
#[derive(Default, PartialEq)]
struct ExpectedState {
    enabled: Option<bool>,
    checked: Option<bool>,
    selected: Option<bool>,
    focused: Option<bool>,
    in_view: Option<bool>,
}

impl ExpectedState {
    fn of(args: &Args) -> Result<ExpectedState, Stop> {
        let expected = ExpectedState {
            enabled: args.flag("enabled"),
            checked: args.flag("checked"),
            selected: args.flag("selected"),
            focused: args.flag("focused"),
            in_view: args.flag("inView"),
        };
        if expected == ExpectedState::default() {
            return Err(STATED.stop());
        }
        Ok(expected)
    }

    /// What is expected of the state that the element itself has.
    fn own(&self) -> Vec<&'static str> {
        let words = [
            (self.enabled, "enabled", "disabled"),
            (self.checked, "checked", "not checked"),
            (self.selected, "selected", "not selected"),
            (self.focused, "focused", "not focused"),
        ];
        words.into_iter().filter_map(|(wanted, yes, no)| wanted.map(|wanted| if wanted { yes } else { no })).collect()
    }

    /// The same parts of a state as they are.
    fn seen(&self, state: &ElementState) -> Vec<&'static str> {
        let checked = match state.is_checked {
            Some(true) => "checked",
            Some(false) => "not checked",
            None => "an element that cannot be checked",
        };
        let words = [
            (self.enabled, if state.is_enabled { "enabled" } else { "disabled" }),
            (self.checked, checked),
            (self.selected, if state.is_selected { "selected" } else { "not selected" }),
            (self.focused, if state.is_focused { "focused" } else { "not focused" }),
        ];
        words.into_iter().filter_map(|(wanted, is)| wanted.map(|_| is)).collect()
    }

    fn words(&self) -> String {
        let view = self.in_view.map(|wanted| if wanted { "in view" } else { "not in view" });
        self.own().into_iter().chain(view).collect::<Vec<_>>().join(" and ")
    }
}

pub async fn state(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let (wait, target, expected) = (wait(args), CheckTarget::of(cx, args)?, ExpectedState::of(args));
    let expected = &expected?;
    let query = &match target {
        CheckTarget::Ref(reference) => return restate(cx, "assertState", &reference, false).await,
        CheckTarget::Stable(query) => query,
    };
    let ask = |_| compare(cx, query, expected).boxed();
    cx.session.device.await_answer(cx, wait, ask).await
}

async fn compare(cx: &Cx, query: &Query, expected: &ExpectedState) -> Result<Result<Outcome, Box<Outcome>>, Stop> {
    let words = expected.words();
    if let Some(wanted) = expected.in_view {
        let found = cx.session.device.find(cx, query, Checks::InView).await?;
        match (&found, wanted) {
            (Find::Found(found), false) => {
                return Ok(Err(differs(&format!("{} {words}", found.summary), "it is in view")));
            }
            (Find::Not(why), true) => return Ok(Err(differs(&format!("{query} {words}"), &why.to_string()))),
            _ => {}
        }
    }
    let found = match find(cx, query).await? {
        Ok(found) => found,
        // An element that cannot be seen without scrolling is out of view, unless there is none.
        Err(_) if expected.own().is_empty() && is_out_of_view(cx, query).await? => {
            return Ok(Ok(Outcome::success(format!("{query} is {words}"))));
        }
        Err(why) => return Ok(Err(differs(&format!("{query} {words}"), &why))),
    };
    let summary = &found.summary;
    let read = |screen: &Screen, node: &Node| element_state(screen, node.id);
    let Some(state) = with_node(cx, &found, read).await?.flatten() else {
        return Ok(Err(differs(&format!("{summary} {words}"), "an element that changes")));
    };
    let seen = expected.seen(&state);
    Ok(if seen == expected.own() {
        Ok(Outcome::success(format!("{summary} is {words}")))
    } else {
        Err(differs(&format!("{summary} {words}"), &seen.join(" and ")))
    })
}

async fn is_out_of_view(cx: &Cx, query: &Query) -> Result<bool, Stop> {
    let found = cx.session.device.find(cx, query, Checks::Visible).await?;
    Ok(matches!(found, Find::Not(why) if matches!(why.reason, Reason::Offscreen { .. })))
}

/// Reads something of the node of an element that was just found; `None` if the screen has changed since. An element without text
/// and function is only part of a complete observation.
pub async fn with_node<T>(cx: &Cx, found: &Found, read: impl Fn(&Screen, &Node) -> T) -> Result<Option<T>, Stop> {
    let device = &cx.session.device;
    let summary = cx.session.secrets.redact(&found.summary).into_owned();
    let read = |screen: &Screen| {
        let node = screen.root.walk().find(|node| node.id == found.node && node.summary() == summary);
        node.map(|node| read(screen, node))
    };
    match read(&device.look(cx).await?) {
        Some(value) => Ok(Some(value)),
        None => Ok(read(&device.look_at_all(cx).await?)),
    }
}
