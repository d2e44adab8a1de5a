//! Assertions about a page. They wait until they hold.

use std::time::Duration;

use futures::FutureExt;
use trailblaze_protocol::device_event::SentRequest;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::super::arguments::{texts, timeout};
use super::super::assertions::{differs, expect_visible};
use super::super::checks::expect_list;
use super::super::elements::containing;
use super::super::row::{ParamType, Preset, REASON, Row, TIMEOUT, WEB, defaulted, optional, required};
use super::aim::{AIM, ELEMENT, INDEX, REF, SELECTOR, WebTarget, restate};
use crate::driver::{Action, ActionTarget};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::limits;
use crate::query::{Checks, Find, Found};
use crate::screen::Node;

pub const ROWS: &[Row] = &[
    Row::assertion(
        "web_verifyTextVisible",
        "Assert that text is visible on the page, also as part of a longer text.",
        &[required("text", ParamType::Text, "The text."), TIMEOUT, REASON],
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
                match WebTarget::of(cx, args)? {
                    WebTarget::Ref(reference) => restate(cx, "web_verifyElementVisible", &reference).await,
                    WebTarget::Stable(query) => expect_visible(cx, query, wait(args), None).await,
                }
            })
        },
    )
    .needing(&[AIM])
    .on(WEB),
    Row::assertion(
        "web_verifyListVisible",
        "Assert that all of several texts are visible, on the page or in a list, in any order or with ordered in the given one.",
        &[
            required("items", ParamType::Texts, "The texts."),
            defaulted(
                "ordered",
                ParamType::Flag,
                Preset::Flag(false),
                "Whether they must be in this order: from top to bottom, and in a row from left to right.",
            ),
            REF,
            SELECTOR,
            INDEX,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(list_visible(cx, args)),
    )
    .on(WEB),
    Row::assertion(
        "web_verifyValue",
        "Assert that an element has the expected text, value or attribute, or is checked.",
        &[
            required("expected", ParamType::Text, "The expected value."),
            REF,
            SELECTOR,
            INDEX,
            optional(
                "type",
                ParamType::Word(&["TEXT", "VALUE", "ATTRIBUTE", "CHECKED"]),
                "What to compare (default: VALUE, or ATTRIBUTE if attribute is given). CHECKED is true or false.",
            ),
            optional("attribute", ParamType::Text, "The name of the attribute."),
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(verify_value(cx, args)),
    )
    .needing(&[AIM])
    .on(WEB),
    Row::assertion(
        "web_assertNetworkEvent",
        "Assert that the page sends, or has sent, a request whose URL or body contains a name.",
        &[required("eventName", ParamType::Text, "The name to look for."), TIMEOUT, REASON],
        |cx, args| Box::pin(network_event(cx, args)),
    )
    .on(WEB),
];

fn wait(args: &Args) -> Duration {
    timeout(args, limits::ASSERT_WAIT)
}

async fn list_visible(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let list = match WebTarget::under(cx, args, &ELEMENT)? {
        Some(WebTarget::Ref(reference)) => return restate(cx, "web_verifyListVisible", &reference).await,
        Some(WebTarget::Stable(query)) => Some(query),
        None => None,
    };
    let (items, is_ordered) = (texts(args, "items"), args.flag("ordered").unwrap_or(false));
    expect_list(cx, &items, list.as_ref(), is_ordered, wait(args)).await
}

async fn verify_value(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let query = match WebTarget::of(cx, args)? {
        WebTarget::Ref(reference) => return restate(cx, "web_verifyValue", &reference).await,
        WebTarget::Stable(query) => query,
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
    // The device returns the real values of secrets.
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
                    cx.session.device.act(cx, &ActionTarget::Element(found), &action).await?.text
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
    // A URL may spell the value of a secret in another way.
    let secrets = &cx.session.secrets;
    let name = &*secrets.redact(args.required("eventName"));
    let ask = |_| {
        async move {
            let requests = cx.session.device.requests(cx)?;
            let has_it = |request: &SentRequest| {
                [&request.url, &request.body].into_iter().any(|text| secrets.redact(text).contains(name))
            };
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
