//! Assertions: they wait until they hold, and fail with what they saw instead.

use std::time::Duration;

use serde_json::json;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::commands::{element, timeout};
use super::elements::{by_selector, delegate, described, find_stable, index, missed};
use super::row::{P, Preset, REASON, Row, TIMEOUT, Ty, WHY, defaulted, optional, required};
use crate::engine::cx::Cx;
use crate::engine::device::{Goal, Reached};
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::limits;
use crate::query::Stable;
use crate::query::{Element, Query, TextMatch, What};

const SELECTOR: P = required("nodeSelector", Ty::Selector, "The element, in the words of its platform.");
const EXPECTED: P = optional("expectedText", Ty::Text, "What its text must be.");
const TEXT_PATTERN: P = required("text", Ty::Text, "Its whole text, or a regular expression for it.");
const INDEX: P = defaulted("index", Ty::Integer, Preset::Integer(0), "Which of several, from 0.");
const ID: P = optional("id", Ty::Text, "Its id.");
const ENABLED: P = optional("enabled", Ty::Flag, "Only if it is enabled, or is not.");
const SELECTED: P = optional("selected", Ty::Flag, "Only if it is selected, or is not.");

pub const ROWS: &[Row] = &[
    Row::assertion(
        "assertVisibleBySelector",
        "Fail unless the element that a selector names is on the screen.",
        &[SELECTOR, TIMEOUT, EXPECTED, WHY, REASON],
        |cx, args| {
            Box::pin(async move {
                expect_visible(cx, by_selector(args)?, timeout(args, limits::ASSERT_WAIT), args.text("expectedText"))
                    .await
            })
        },
    )
    .hidden(),
    Row::assertion(
        "assertNotVisibleBySelector",
        "Fail if the element that a selector names stays on the screen.",
        &[SELECTOR, TIMEOUT, WHY, REASON],
        |cx, args| {
            Box::pin(async move { expect_gone(cx, by_selector(args)?, timeout(args, limits::ASSERT_WAIT)).await })
        },
    )
    .hidden(),
    Row::assertion(
        "assertVisibleWithText",
        "Fail unless an element with the text is on the screen.",
        &[TEXT_PATTERN, INDEX, ID, ENABLED, SELECTED, TIMEOUT, WHY, REASON],
        |cx, args| {
            Box::pin(
                async move { expect_visible(cx, by_pattern(args)?, timeout(args, limits::ASSERT_WAIT), None).await },
            )
        },
    ),
    Row::assertion(
        "assertNotVisibleWithText",
        "Fail if an element with the text stays on the screen.",
        &[TEXT_PATTERN, INDEX, ID, ENABLED, SELECTED, TIMEOUT, WHY, REASON],
        |cx, args| {
            Box::pin(async move { expect_gone(cx, by_pattern(args)?, timeout(args, limits::ASSERT_WAIT)).await })
        },
    ),
    Row::assertion(
        "waitUntilNotVisible",
        "Wait until an element has gone from the screen; fail if it stays.",
        &[optional("text", Ty::Text, "The element's whole text."), ID, TIMEOUT, REASON],
        |cx, args| {
            Box::pin(async move {
                expect_gone(cx, Query { index: Some(0), ..element(args)? }, timeout(args, limits::ASSERT_WAIT)).await
            })
        },
    ),
    Row::assertion(
        "assertEquals",
        "Fail unless two values are the same.",
        &[
            required("actual", Ty::Text, "A value, such as {{total}}."),
            required("expected", Ty::Text, "What it must be."),
        ],
        |_, args| Box::pin(async move { compare(args, true) }),
    ),
    Row::assertion(
        "assertNotEquals",
        "Fail if two values are the same.",
        &[
            required("actual", Ty::Text, "A value, such as {{total}}."),
            required("expected", Ty::Text, "What it must not be."),
        ],
        |_, args| Box::pin(async move { compare(args, false) }),
    ),
];

pub async fn assert_visible(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let names_element = args.text("text").is_some() || args.text("id").is_some();
    if let Some(reference) = args.text("ref") {
        if names_element {
            return Err(Stop::failed("say what to look for in one way: `ref`, or `text` and `id`"));
        }
        return match described(cx, reference, None)? {
            Some(query) => {
                expect_visible(cx, query, timeout(args, limits::ASSERT_WAIT), args.text("expectedText")).await
            }
            None => delegate_by_ref(cx, args, reference).await,
        };
    }
    if !names_element {
        let missing = vec!["text".to_string(), "id".to_string()];
        return Err(Stop::error(
            Variant::MissingRequiredArgs { missing },
            "say what to look for: `text`, `id` or `ref`",
        ));
    }
    let query = Query { index: Some(0), ..element(args)? };
    expect_visible(cx, query, timeout(args, limits::ASSERT_WAIT), args.text("expectedText")).await
}

async fn delegate_by_ref(cx: &Cx, args: &Args, reference: &str) -> Result<Outcome, Stop> {
    let (screen, node) = cx.session.device.resolve_ref(cx, reference).await?;
    let mut delegate = match find_stable(&screen, node)? {
        Stable::Id(id) => delegate("assertVisible", json!({"id": id})),
        Stable::Text(text) => delegate("assertVisible", json!({"text": text})),
        Stable::Selector(selector) => delegate("assertVisibleBySelector", json!({"nodeSelector": selector.to_json()})),
        Stable::Point(_) => return Err(Stop::failed("nothing about this element is stable enough to assert on")),
    };
    for name in ["timeoutMs", "expectedText"] {
        if let Some(value) = args.value(name) {
            delegate.args.insert(name.to_string(), value.clone());
        }
    }
    Ok(Outcome::delegating(vec![delegate]))
}

fn by_pattern(args: &Args) -> Result<Query, Stop> {
    let element = Element {
        text: Some(TextMatch::Pattern(args.required("text").to_string())),
        id: args.text("id").map(str::to_string),
        enabled: args.flag("enabled"),
        selected: args.flag("selected"),
    };
    Ok(Query { what: What::Element(element), index: index(args)? })
}

pub async fn expect_visible(cx: &Cx, query: Query, timeout: Duration, text: Option<&str>) -> Result<Outcome, Stop> {
    match cx.session.device.wait_for(cx, &query, Goal::Visible, timeout).await? {
        Reached::Met { found, .. } => {
            let found = found.ok_or_else(|| Stop::failed("nothing was found"))?;
            match text {
                // What was found is as the screen shows it, and holds the values of secrets.
                Some(text) if found.text.as_deref() != Some(&cx.session.secrets.reveal(text)) => {
                    let saw = found.text.unwrap_or_default();
                    Err(Stop::Failed(differs(
                        &format!("{query} with the text \"{text}\""),
                        &format!("the text \"{saw}\""),
                    )))
                }
                _ => Ok(Outcome::success(format!("{} is visible", found.summary))),
            }
        }
        Reached::Missed { saw, waited } => Err(missed(&query, "see", &saw, waited, Variant::AssertionFailed)),
    }
}

pub async fn expect_gone(cx: &Cx, query: Query, timeout: Duration) -> Result<Outcome, Stop> {
    match cx.session.device.wait_for(cx, &query, Goal::Gone, timeout).await? {
        Reached::Met { .. } => Ok(Outcome::success(format!("{query} is not on the screen"))),
        Reached::Missed { saw, .. } => Err(Stop::Failed(differs(&format!("{query} to be gone"), &saw))),
    }
}

fn compare(args: &Args, wants_equal: bool) -> Result<Outcome, Stop> {
    let (actual, expected) = (args.required("actual"), args.required("expected"));
    if (actual == expected) == wants_equal {
        return Ok(Outcome::success(format!(
            "\"{actual}\" is {}\"{expected}\"",
            if wants_equal { "" } else { "not " }
        )));
    }
    let not = if wants_equal { "" } else { "anything but " };
    Err(Stop::Failed(differs(&format!("{not}\"{expected}\""), &format!("\"{actual}\""))))
}

/// What a check answers that did not hold.
pub fn differs(expected: &str, saw: &str) -> Box<Outcome> {
    let structured = json!({"expected": expected, "saw": saw});
    let text = format!("expected {expected}, saw {saw}");
    Box::new(Outcome { variant: Variant::AssertionFailed, text, structured: Some(structured), ..Outcome::default() })
}
