//! Assertions about a page. They wait until they hold.

use std::time::Duration;

use futures::FutureExt;
use serde_json::Value;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::super::assertions::{differs, expect_visible};
use super::super::commands::{act, timeout};
use super::super::elements::containing;
use super::super::row::{REASON, Row, TIMEOUT, Ty, WEB, optional, required};
use super::aim::{Aim, ELEMENT, INDEX, REF, SELECTOR, restate};
use super::touching::texts;
use crate::driver::{Action, Browse, Target};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::limits;
use crate::query::{Checks, Find, Found, Query};
use crate::screen::Node;

pub const ROWS: &[Row] = &[
    Row::assertion(
        "web_verifyTextVisible",
        "Assert that text is visible on the page, also as part of a longer text.",
        &[required("text", Ty::Text, "The text."), TIMEOUT, REASON],
        |cx, args| {
            Box::pin(async move { expect_visible(cx, containing(args.required("text")), wait(args), None).await })
        },
    )
    .on(WEB),
    Row::assertion(
        "web_verifyElementVisible",
        "Assert that an element is visible on the page.",
        &[REF, SELECTOR, INDEX, TIMEOUT, REASON],
        |cx, args| {
            Box::pin(async move {
                match Aim::of(cx, args)? {
                    Aim::Ref(reference) => restate(cx, "web_verifyElementVisible", &reference).await,
                    Aim::Stable(query) => expect_visible(cx, query, wait(args), None).await,
                }
            })
        },
    )
    .on(WEB),
    Row::assertion(
        "web_verifyListVisible",
        "Assert that all of several texts are visible, on the page or in a list.",
        &[required("items", Ty::Texts, "The texts."), REF, SELECTOR, INDEX, TIMEOUT, REASON],
        |cx, args| Box::pin(list_visible(cx, args)),
    )
    .on(WEB),
    Row::assertion(
        "web_verifyValue",
        "Assert that an element has the expected text, value or attribute, or is checked.",
        &[
            required("expected", Ty::Text, "The expected value."),
            REF,
            SELECTOR,
            INDEX,
            optional(
                "type",
                Ty::Word(&["TEXT", "VALUE", "ATTRIBUTE", "CHECKED"]),
                "What to compare (default: VALUE, or ATTRIBUTE if attribute is given). CHECKED is true or false.",
            ),
            optional("attribute", Ty::Text, "The name of the attribute."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(verify_value(cx, args)),
    )
    .on(WEB),
    Row::assertion(
        "web_assertNetworkEvent",
        "Assert that the page sends, or has sent, a request whose URL or body contains a name.",
        &[required("eventName", Ty::Text, "The name to look for."), TIMEOUT, REASON],
        |cx, args| Box::pin(network_event(cx, args)),
    )
    .on(WEB),
];

fn wait(args: &Args) -> Duration {
    timeout(args, limits::ASSERT_WAIT)
}

async fn list_visible(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let list = match Aim::under(cx, args, &ELEMENT)? {
        Some(Aim::Ref(reference)) => return restate(cx, "web_verifyListVisible", &reference).await,
        Some(Aim::Stable(query)) => Some(query),
        None => None,
    };
    let items = texts(args, "items");
    let (items, list) = (&items, &list);
    let ask = |_| {
        async move {
            let list = match list {
                None => None,
                Some(query) => match cx.session.device.find(cx, query, Checks::Visible).await? {
                    Find::Found(found) => Some(found),
                    Find::Not(why) => return Ok(Err(differs(&query.to_string(), &why.to_string()))),
                },
            };
            for item in items {
                if let Some(saw) = absence(cx, item, list.as_ref()).await? {
                    let place = list.as_ref().map(|list| format!(" in {}", list.summary)).unwrap_or_default();
                    return Ok(Err(differs(&format!("\"{item}\"{place}"), &saw)));
                }
            }
            Ok(Ok(Outcome::success("all items are visible")))
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait(args), ask).await
}

/// What was seen instead of an item; `None` if the item is visible, within the list if there is one.
async fn absence(cx: &Cx, item: &str, list: Option<&Found>) -> Result<Option<String>, Stop> {
    for index in 0.. {
        let query = Query { index: Some(index), ..containing(item) };
        match cx.session.device.find(cx, &query, Checks::Visible).await? {
            Find::Found(found) if list.is_none_or(|list| list.bounds.contains(found.bounds.center())) => break,
            Find::Found(_) => {}
            Find::Not(_) if index > 0 => return Ok(Some("the item elsewhere on the page".to_string())),
            Find::Not(why) => return Ok(Some(why.to_string())),
        }
    }
    Ok(None)
}

async fn verify_value(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let query = match Aim::of(cx, args)? {
        Aim::Ref(reference) => return restate(cx, "web_verifyValue", &reference).await,
        Aim::Stable(query) => query,
    };
    let name = args.text("attribute");
    let kind = match (args.text("type"), name) {
        (Some("ATTRIBUTE"), None) => {
            let missing = Variant::MissingRequiredArgs { missing: vec!["attribute".to_string()] };
            return Err(Stop::error(missing, "`attribute` is required with the type `ATTRIBUTE`"));
        }
        (Some(kind @ ("TEXT" | "VALUE" | "CHECKED")), Some(_)) => {
            return Err(Stop::failed(format!("`attribute` cannot be used with the type `{kind}`")));
        }
        (Some("TEXT"), None) => "text",
        (Some("CHECKED"), None) => "checked",
        (_, Some(_)) => "attribute",
        (_, None) => "value",
    };
    // The device shows the real values of secrets.
    let expected = cx.session.secrets.reveal(args.required("expected"));
    let (query, expected) = (&query, &expected);
    let ask = |_| {
        async move {
            let found = match cx.session.device.find(cx, query, Checks::Visible).await? {
                Find::Found(found) => found,
                Find::Not(why) => return Ok(Err(differs(&query.to_string(), &why.to_string()))),
            };
            let summary = found.summary.clone();
            let saw = match kind {
                "text" => found.text.unwrap_or_default(),
                "checked" => return checked(cx, &found, expected).await,
                _ => {
                    let action = Action::Attribute { name: name.map(str::to_string) };
                    cx.session.device.act(cx, &Target::Element(found), &action).await?.text
                }
            };
            let what = name.map_or_else(|| kind.to_string(), |name| format!("attribute `{name}`"));
            Ok(if saw == *expected {
                Ok(Outcome::success(format!("{summary} has the {what} \"{saw}\"")))
            } else {
                Err(differs(&format!("{summary} with the {what} \"{expected}\""), &format!("\"{saw}\"")))
            })
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait(args), ask).await
}

/// Whether an element is checked as expected.
async fn checked(cx: &Cx, found: &Found, expected: &str) -> Result<Result<Outcome, Box<Outcome>>, Stop> {
    let Ok(expected) = expected.parse::<bool>() else {
        return Err(Stop::failed(format!(
            "with the type `CHECKED`, `expected` must be true or false, got `{expected}`"
        )));
    };
    let word = |is_checked: bool| if is_checked { "checked" } else { "not checked" };
    let screen = cx.session.device.look(cx).await?;
    let node = screen.root.walk().find(|node| node.id == found.node);
    let summary = &found.summary;
    Ok(match node.and_then(Node::is_checked) {
        Some(saw) if saw == expected => Ok(Outcome::success(format!("{summary} is {}", word(saw)))),
        Some(saw) => Err(differs(&format!("{summary} {}", word(expected)), word(saw))),
        None => Err(differs(&format!("{summary} {}", word(expected)), "an element that cannot be checked")),
    })
}

async fn network_event(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let name = args.required("eventName");
    let ask = |_| {
        async move {
            let requests = act(cx, &Action::Browse(Browse::Requests)).await?.structured.unwrap_or_default();
            let has_it = |request: &Value| {
                ["url", "body"].iter().any(|part| request[*part].as_str().is_some_and(|text| text.contains(name)))
            };
            let requests = requests.as_array().map(Vec::as_slice).unwrap_or_default();
            Ok(if requests.iter().any(has_it) {
                Ok(Outcome::success(format!("a request with `{name}` was made")))
            } else {
                let count = requests.len();
                Err(differs(&format!("a request with `{name}`"), &format!("{count} requests without it")))
            })
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait(args), ask).await
}
