//! Assertions. They wait until they hold, and fail with what they saw instead.

use std::time::Duration;

use serde_json::json;
use trailblaze_protocol::outcome::{Delegate, Outcome, Variant};

use super::arguments::{element, millis, timeout};
use super::contract::AssertVisible;
use super::elements::{by_selector, delegate, described, find_stable, index, missed};
use super::row::{ParamRow, ParamType, Preset, REASON, Row, TIMEOUT, WHY, defaulted, optional, required};
use crate::callers::preflight::ASSERT_ABSENT;
use crate::engine::cx::Cx;
use crate::engine::device::{Goal, Reached};
use crate::engine::fault::Stop;
use crate::engine::tool::{Args, Need};
use crate::limits;
use crate::query::Stable;
use crate::query::{ElementProperties, Query, QueryTarget, TextMatch};
use crate::selector::invalid_pattern;

const SELECTOR: ParamRow =
    required("nodeSelector", ParamType::Selector, "A selector for the element, in its platform's properties.");
const EXPECTED: ParamRow = optional("expectedText", ParamType::Text, "The text that the element must have.");
const TEXT_PATTERN: ParamRow =
    required("text", ParamType::Text, "The element's full text, or a regular expression that matches it.");
const INDEX: ParamRow = defaulted("index", ParamType::Integer, Preset::Integer(0), "Which match to use, from 0.");
const ID: ParamRow = optional("id", ParamType::Text, "The element's id.");
const ENABLED: ParamRow =
    optional("enabled", ParamType::Flag, "Only match an enabled (true) or disabled (false) element.");
const SELECTED: ParamRow =
    optional("selected", ParamType::Flag, "Only match a selected (true) or unselected (false) element.");
pub const SEEN: Need =
    Need { one_of: &["text", "id", "ref"], otherwise: "nothing to look for: pass `text`, `id` or `ref`" };
pub const LOOKED_FOR: Need = Need { one_of: &["text", "id"], otherwise: "nothing to look for: pass `text` or `id`" };

pub const ROWS: &[Row] = &[
    Row::assertion(
        "assertVisibleBySelector",
        "Assert that the element that a selector matches is visible.",
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
        ASSERT_ABSENT,
        "Assert that the element that a selector matches is not visible.",
        &[SELECTOR, TIMEOUT, WHY, REASON],
        |cx, args| {
            Box::pin(async move { expect_gone(cx, by_selector(args)?, timeout(args, limits::ASSERT_WAIT)).await })
        },
    )
    .hidden(),
    Row::assertion(
        "assertVisibleWithText",
        "Assert that an element with the text is visible.",
        &[TEXT_PATTERN, INDEX, ID, ENABLED, SELECTED, TIMEOUT, WHY, REASON],
        |cx, args| {
            Box::pin(
                async move { expect_visible(cx, by_pattern(args)?, timeout(args, limits::ASSERT_WAIT), None).await },
            )
        },
    ),
    Row::assertion(
        "assertNotVisibleWithText",
        "Assert that no element with the text is visible.",
        &[TEXT_PATTERN, INDEX, ID, ENABLED, SELECTED, TIMEOUT, WHY, REASON],
        |cx, args| {
            Box::pin(async move { expect_gone(cx, by_pattern(args)?, timeout(args, limits::ASSERT_WAIT)).await })
        },
    ),
    Row::assertion(
        "waitUntilNotVisible",
        "Wait until an element is no longer visible; fail if it stays.",
        &[optional("text", ParamType::Text, "The element's full text."), ID, TIMEOUT, REASON],
        |cx, args| {
            Box::pin(async move {
                expect_gone(
                    cx,
                    Query { index: Some(0), ..element(args.text("text"), args.text("id")) },
                    timeout(args, limits::ASSERT_WAIT),
                )
                .await
            })
        },
    )
    .needing(&[LOOKED_FOR]),
    Row::assertion(
        "assertEquals",
        "Assert that two values are equal.",
        &[
            required("actual", ParamType::Text, "The value to check, such as {{total}}."),
            required("expected", ParamType::Text, "The expected value."),
        ],
        |cx, args| Box::pin(async move { compare(cx, args, true) }),
    ),
    Row::assertion(
        "assertNotEquals",
        "Assert that two values are not equal.",
        &[
            required("actual", ParamType::Text, "The value to check, such as {{total}}."),
            required("expected", ParamType::Text, "The value that it must differ from."),
        ],
        |cx, args| Box::pin(async move { compare(cx, args, false) }),
    ),
];

pub async fn assert_visible(cx: &Cx, args: AssertVisible<'_>) -> Result<Outcome, Stop> {
    let names_element = args.text().is_some() || args.id().is_some();
    let wait = millis(args.timeout_ms(), limits::ASSERT_WAIT);
    if let Some(reference) = args.reference() {
        if names_element {
            return Err(Stop::failed("pass either `ref`, or `text` and `id`, not both"));
        }
        return match described(cx, reference, None)? {
            Some(query) => expect_visible(cx, query, wait, args.expected_text()).await,
            None => delegate_by_ref(cx, args, reference).await,
        };
    }
    if !names_element {
        return Err(SEEN.stop());
    }
    let query = Query { index: Some(0), ..element(args.text(), args.id()) };
    expect_visible(cx, query, wait, args.expected_text()).await
}

/// The call that asserts that the element with this description is visible. `None` for a point.
pub fn visible_at(stable: &Stable) -> Option<Delegate> {
    Some(match stable {
        Stable::Id(id) => delegate("assertVisible", json!({"id": id})),
        Stable::Text(text) => delegate("assertVisible", json!({"text": text})),
        Stable::Selector(selector) => delegate("assertVisibleBySelector", json!({"nodeSelector": selector.to_json()})),
        Stable::Point(_) => return None,
    })
}

async fn delegate_by_ref(cx: &Cx, args: AssertVisible<'_>, reference: &str) -> Result<Outcome, Stop> {
    let (screen, node) = cx.session.device.resolve_ref(cx, reference).await?;
    let delegate = visible_at(&find_stable(&screen, node)?.asserted(&screen, node));
    let mut delegate = delegate.ok_or_else(|| Stop::failed("this element has no stable property to assert on"))?;
    delegate.args.extend(args.timeout_ms().map(|wait| ("timeoutMs".to_string(), wait.into())));
    delegate.args.extend(args.expected_text().map(|text| ("expectedText".to_string(), text.into())));
    Ok(Outcome::delegating(vec![delegate]))
}

fn by_pattern(args: &Args) -> Result<Query, Stop> {
    let element = ElementProperties {
        text: Some(TextMatch::Pattern(args.required("text").to_string())),
        id: args.text("id").map(str::to_string),
        enabled: args.flag("enabled"),
        selected: args.flag("selected"),
    };
    Ok(Query { what: QueryTarget::Element(element), index: index(args)? })
}

pub async fn expect_visible(cx: &Cx, query: Query, timeout: Duration, text: Option<&str>) -> Result<Outcome, Stop> {
    let goal = text.map_or(Goal::Visible, Goal::Text);
    match cx.session.device.wait_for(cx, &query, goal, timeout).await? {
        Reached::Met { found, .. } => {
            let found = found.ok_or_else(|| Stop::failed("nothing was found"))?;
            Ok(Outcome::success(format!("{} is visible", found.summary)))
        }
        Reached::Missed { saw, waited, .. } => Err(match text {
            Some(text) => Stop::Failed(differs(&format!("{query} with the text \"{text}\""), &saw)),
            None => missed(&query, "see", &saw, waited, Variant::AssertionFailed),
        }),
    }
}

pub async fn expect_gone(cx: &Cx, query: Query, timeout: Duration) -> Result<Outcome, Stop> {
    // An invalid pattern matches nearly nothing, so its absence would prove nothing.
    if let QueryTarget::Selector(selector) = &query.what
        && let Some(source) = selector.invalid_pattern()
    {
        return Err(Stop::failed(invalid_pattern(source)));
    }
    match cx.session.device.wait_for(cx, &query, Goal::Gone, timeout).await? {
        Reached::Met { .. } => Ok(Outcome::success(format!("{query} is not on the screen"))),
        Reached::Missed { saw, .. } => Err(Stop::Failed(differs(&format!("{query} to be gone"), &saw))),
    }
}

fn compare(cx: &Cx, args: &Args, wants_equal: bool) -> Result<Outcome, Stop> {
    // What was read from a screen contains placeholders for secrets.
    let redacted = |name: &str| cx.session.secrets.redact(args.required(name)).into_owned();
    let (actual, expected) = (redacted("actual"), redacted("expected"));
    if (actual == expected) == wants_equal {
        return Ok(Outcome::success(format!(
            "\"{actual}\" is {}\"{expected}\"",
            if wants_equal { "" } else { "not " }
        )));
    }
    let not = if wants_equal { "" } else { "anything but " };
    Err(Stop::Failed(differs(&format!("{not}\"{expected}\""), &format!("\"{actual}\""))))
}

/// The outcome of an assertion that does not hold.
pub fn differs(expected: &str, saw: &str) -> Box<Outcome> {
    let structured = json!({"expected": expected, "saw": saw});
    let text = format!("expected {expected}, saw {saw}");
    Box::new(Outcome { variant: Variant::AssertionFailed, text, structured: Some(structured), ..Outcome::default() })
}
