//! Assertions about a page. They wait until they hold.

use std::time::Duration;

use futures::FutureExt;
use serde_json::Value;
use trailblaze_protocol::outcome::Outcome;

use super::super::assertions::expect_visible;
use super::super::commands::{act, timeout};
use super::super::elements::{containing, visible};
use super::super::row::{Preset, REASON, Row, TIMEOUT, Ty, WEB, defaulted, optional, required};
use super::aim::{Aim, REF, SELECTOR, restate};
use super::touching::texts;
use crate::cx::Cx;
use crate::driver::{Action, Browse, Target};
use crate::fault::Stop;
use crate::limits;
use crate::query::{Checks, Find, Query};
use crate::tool::Args;

pub const ROWS: &[Row] = &[
    Row::assertion(
        "web_verifyTextVisible",
        "Fail unless a text stands on the page, also within a longer one.",
        &[required("text", Ty::Text, "The text."), TIMEOUT, REASON],
        |cx, args| {
            Box::pin(async move { expect_visible(cx, containing(args.required("text")), wait(args), None).await })
        },
    )
    .on(WEB),
    Row::assertion(
        "web_verifyElementVisible",
        "Fail unless an element is on the page.",
        &[REF, SELECTOR, TIMEOUT, REASON],
        |cx, args| {
            Box::pin(async move {
                match Aim::of(args)? {
                    Aim::Passing(reference) => restate(cx, "web_verifyElementVisible", &reference).await,
                    Aim::Lasting(query) => expect_visible(cx, query, wait(args), None).await,
                }
            })
        },
    )
    .on(WEB),
    Row::assertion(
        "web_verifyListVisible",
        "Fail unless each of several texts stands on the page.",
        &[required("items", Ty::Texts, "The texts."), REF, SELECTOR, TIMEOUT, REASON],
        |cx, args| Box::pin(list_visible(cx, args)),
    )
    .on(WEB),
    Row::assertion(
        "web_verifyValue",
        "Fail unless an element has the text, value or attribute that is expected.",
        &[
            required("expected", Ty::Text, "What it must be."),
            REF,
            SELECTOR,
            defaulted("type", Ty::Word(&["TEXT", "VALUE", "ATTRIBUTE"]), Preset::Word("VALUE"), "What is compared."),
            optional("attribute", Ty::Text, "The name of the attribute."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(verify_value(cx, args)),
    )
    .on(WEB),
    Row::assertion(
        "web_assertNetworkEvent",
        "Fail unless the page has sent a request whose address or body contains a name, or does so in time.",
        &[required("eventName", Ty::Text, "The name."), TIMEOUT, REASON],
        |cx, args| Box::pin(network_event(cx, args)),
    )
    .on(WEB),
];

fn wait(args: &Args) -> Duration {
    timeout(args, limits::ASSERT_WAIT)
}

async fn list_visible(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let within = match Aim::under(args, "ref", "nodeSelector")? {
        Some(Aim::Passing(reference)) => return restate(cx, "web_verifyListVisible", &reference).await,
        Some(Aim::Lasting(query)) => Some(visible(cx, &query).await?.bounds),
        None => None,
    };
    for item in texts(args, "items") {
        let query = containing(&item);
        expect_visible(cx, query.clone(), wait(args), None).await?;
        let Some(within) = within else { continue };
        // Each of those that contain the text is tried: one of them has to lie in the list.
        let mut index = 0;
        loop {
            let next = Query { index: Some(index), ..query.clone() };
            match cx.session.device.find(cx, &next, Checks::Visible).await? {
                Find::Found(found) if within.contains(found.bounds.center()) => break,
                Find::Found(_) => index += 1,
                Find::Not(_) => {
                    return Err(Stop::failed(format!("\"{item}\" is on the page, but not in the list")));
                }
            }
        }
    }
    Ok(Outcome::success("all are there"))
}

async fn verify_value(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let query = match Aim::of(args)? {
        Aim::Passing(reference) => return restate(cx, "web_verifyValue", &reference).await,
        Aim::Lasting(query) => query,
    };
    let name = match (args.text("type"), args.text("attribute")) {
        (Some("ATTRIBUTE"), None) => return Err(Stop::failed("`attribute` says which one; it is missing")),
        (Some("ATTRIBUTE"), Some(name)) => Some(name.to_string()),
        _ => None,
    };
    let (expected, query, name) = (args.required("expected"), &query, &name);
    let ask = |_| {
        async move {
            let found = visible(cx, query).await?;
            let summary = found.summary.clone();
            let saw = match args.text("type") {
                Some("TEXT") => found.text.unwrap_or_default(),
                _ => {
                    let action = Action::Attribute { name: name.clone() };
                    cx.session.device.act(cx, &Target::Element(found), &action).await?.text
                }
            };
            Ok(match saw == expected {
                true => Ok(Outcome::success(format!("{summary} has it"))),
                false => Err(format!("expected \"{expected}\" of {summary}, saw \"{saw}\"")),
            })
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait(args), ask).await
}

async fn network_event(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let name = args.required("eventName");
    let ask = |_| {
        async move {
            let requests = act(cx, &Action::Browse(Browse::Requests)).await?.structured.unwrap_or_default();
            let has_it = |request: &Value| {
                ["url", "body"].iter().any(|part| request[*part].as_str().is_some_and(|text| text.contains(name)))
            };
            Ok(match requests.as_array().is_some_and(|requests| requests.iter().any(has_it)) {
                true => Ok(Outcome::success(format!("a request with `{name}` was made"))),
                false => Err(format!("no request with `{name}` was made")),
            })
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait(args), ask).await
}
