//! The checks that all platforms have. Each waits until it holds, and fails with what was expected and what was seen instead.

mod accessible;
mod except;
mod expected;
mod list;
mod number;
mod picture;
mod state;
mod target;
mod text;
mod tree;

pub use except::element_schema;
pub use list::expect_list;

use std::time::Duration;

use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::outcome::Outcome;

use self::expected::{COMPARED, CONTAINS, IS, MATCHES};
use self::number::{AT_LEAST, AT_MOST, EQUALS, LESS_THAN, MORE_THAN};
use self::target::{CheckTarget, ELEMENT, ID, INDEX, REF, SELECTOR, TEXT, restate};
use super::arguments::timeout;
use super::assertions::expect_gone;
use super::row::{ParamRow, ParamType, REASON, Row, TIMEOUT, WEB, optional, required};
use crate::callers::preflight::{ASSERT_PICTURE, ASSERT_TREE};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::limits;
use crate::query::Query;

const ENABLED: ParamRow = optional("enabled", ParamType::Flag, "Whether it is enabled.");
const CHECKED: ParamRow = optional("checked", ParamType::Flag, "Whether it is checked.");
const SELECTED: ParamRow = optional("selected", ParamType::Flag, "Whether it is selected.");
const FOCUSED: ParamRow = optional("focused", ParamType::Flag, "Whether it has the keyboard focus.");
const IN_VIEW: ParamRow = optional("inView", ParamType::Flag, "Whether it is on the screen without scrolling.");

const PATTERN: ParamRow = optional(
    "pattern",
    ParamType::Pattern,
    "If the text has several numbers: a regular expression with the number that counts in its first group.",
);
const DECIMAL: ParamRow = optional(
    "decimal",
    ParamType::Word(&[".", ","]),
    "The character before the decimals, if the number can be read in two ways.",
);
const COUNT: ParamRow = optional("equals", ParamType::Integer, "The expected count.");
const MINIMUM: ParamRow = optional("atLeast", ParamType::Integer, "There are as many or more.");
const MAXIMUM: ParamRow = optional("atMost", ParamType::Integer, "There are as many or fewer.");

pub const ROWS: &[Row] = &[
    Row::assertion(
        "assertNotVisible",
        "Assert that an element is not visible.",
        &[TEXT, ID, REF, SELECTOR, INDEX, TIMEOUT, REASON],
        |cx, args| Box::pin(not_visible(cx, args)),
    )
    .needing(&[ELEMENT]),
    Row::assertion(
        "assertText",
        "Assert what the text of an element is, contains or matches.",
        &[IS, CONTAINS, MATCHES, TEXT, ID, REF, SELECTOR, INDEX, TIMEOUT, REASON],
        |cx, args| Box::pin(text::text(cx, args)),
    )
    .needing(&[COMPARED, ELEMENT]),
    Row::assertion(
        "assertNumber",
        "Assert how large the number in the text of an element is.",
        &[
            EQUALS, AT_LEAST, AT_MOST, MORE_THAN, LESS_THAN, PATTERN, DECIMAL, TEXT, ID, REF, SELECTOR, INDEX, TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(text::number(cx, args)),
    )
    .needing(&[number::COMPARED, ELEMENT]),
    Row::assertion(
        "assertValue",
        "Assert what the value of a field is, contains or matches.",
        &[IS, CONTAINS, MATCHES, TEXT, ID, REF, SELECTOR, INDEX, TIMEOUT, REASON],
        |cx, args| Box::pin(text::value(cx, args)),
    )
    .needing(&[COMPARED, ELEMENT]),
    Row::assertion(
        "assertAttribute",
        "Assert what an attribute of an element is, contains or matches.",
        &[
            required("name", ParamType::Text, "The attribute of the page, or the property of the app's element."),
            IS,
            CONTAINS,
            MATCHES,
            TEXT,
            ID,
            REF,
            SELECTOR,
            INDEX,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(text::attribute(cx, args)),
    )
    .needing(&[COMPARED, ELEMENT]),
    Row::assertion(
        "assertState",
        "Assert whether an element is enabled, checked, selected, focused or in view.",
        &[ENABLED, CHECKED, SELECTED, FOCUSED, IN_VIEW, TEXT, ID, REF, SELECTOR, INDEX, TIMEOUT, REASON],
        |cx, args| Box::pin(state::state(cx, args)),
    )
    .needing(&[state::STATED, ELEMENT]),
    Row::assertion(
        "assertCount",
        "Assert how many elements match.",
        &[COUNT, MINIMUM, MAXIMUM, TEXT, ID, REF, SELECTOR, TIMEOUT, REASON],
        |cx, args| Box::pin(list::count(cx, args)),
    )
    .needing(&[list::COUNTED, ELEMENT]),
    Row::assertion(
        "assertOrder",
        "Assert that texts are visible in this order, on the screen or in an element.",
        &[
            required("items", ParamType::Texts, "The texts, or parts of them."),
            TEXT,
            ID,
            REF,
            SELECTOR,
            INDEX,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(list::order(cx, args)),
    ),
    Row::assertion(
        ASSERT_PICTURE,
        "Assert that the screen, or an element, looks like the expected picture that is kept beside the trail.",
        &[
            required("name", ParamType::Text, "The name of the picture, unique in the trail."),
            optional("masks", ParamType::Elements, "Elements that are not compared: all that match each of these."),
            optional("threshold", ParamType::Number, "The share of pixels that may differ, from 0 to 1 (default 0)."),
            optional(
                "tolerance",
                ParamType::Number,
                "How much the color of a pixel may differ, from 0 to 1 (default 0.2).",
            ),
            TEXT,
            ID,
            REF,
            SELECTOR,
            INDEX,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(picture::picture(cx, args)),
    )
    // A model could only check against a picture that somebody has accepted.
    .hidden(),
    Row::assertion(
        ASSERT_TREE,
        "Assert that the screen, or an element, contains the lines of a tree in this order: roles and names, nested \
         by indentation.",
        &[
            required(
                "tree",
                ParamType::Text,
                "Lines such as `- button \"Pay\"` or `- text /Total: \\d+/`. All of them must be there; others may be \
                 between them.",
            ),
            TEXT,
            ID,
            REF,
            SELECTOR,
            INDEX,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(tree::tree(cx, args)),
    )
    .hidden(),
    Row::assertion(
        "assertAccessible",
        "Assert that an audit of accessibility finds no faults on the screen, or in an element of a page.",
        &[
            optional(
                "rules",
                ParamType::Texts,
                "Only these rules: of axe-core for pages, such as image-alt; of XCTest for iPhones (default: all).",
            ),
            optional("tags", ParamType::Texts, "Only rules of axe-core with one of these tags, such as wcag2aa."),
            optional(
                "except",
                ParamType::Elements,
                "Elements of a page that are left out: all that match each of these.",
            ),
            TEXT,
            ID,
            REF,
            SELECTOR,
            INDEX,
            TIMEOUT,
            REASON,
        ],
        |cx, args| Box::pin(accessible::accessible(cx, args)),
    )
    .hidden()
    .on(&[Platform::Web, Platform::Ios]),
    Row::assertion(
        "web_assertUrl",
        "Assert what the address of the page is, contains or matches.",
        &[IS, CONTAINS, MATCHES, TIMEOUT, REASON],
        |cx, args| Box::pin(text::address(cx, args)),
    )
    .needing(&[COMPARED])
    .on(WEB),
    Row::assertion(
        "web_assertTitle",
        "Assert what the title of the page is, contains or matches.",
        &[IS, CONTAINS, MATCHES, TIMEOUT, REASON],
        |cx, args| Box::pin(text::title(cx, args)),
    )
    .needing(&[COMPARED])
    .on(WEB),
];

fn wait(args: &Args) -> Duration {
    timeout(args, limits::ASSERT_WAIT)
}

async fn not_visible(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let wait = wait(args);
    match CheckTarget::of(cx, args)? {
        CheckTarget::Ref(reference) => restate(cx, "assertNotVisible", &reference, false).await,
        // None of the elements may be there.
        CheckTarget::Stable(query) => expect_gone(cx, Query { index: query.index.or(Some(0)), ..query }, wait).await,
    }
}
