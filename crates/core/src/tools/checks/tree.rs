//! Compares the screen, or an element, with expected text: roles and names, nested by indentation.

use futures::FutureExt;
use serde_json::json;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::super::assertions::differs;
use super::state::with_node;
use super::target::{CheckTarget, restate};
use super::text::find;
use super::wait;
use crate::callers::preflight::ASSERT_TREE;
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::expected_tree::{ExpectedTree, TreeMismatch};
use crate::query::Query;
use crate::screen::{Node, Screen};

pub async fn tree(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let (wait, target) = (wait(args), CheckTarget::optional(cx, args)?);
    // What is observed contains placeholders for secrets.
    let text = cx.session.secrets.redact(args.required("tree")).into_owned();
    let expected = &ExpectedTree::parse(&text).map_err(|error| Stop::failed(format!("`tree`: {error}")))?;
    let element = &match target {
        Some(CheckTarget::Ref(reference)) => return restate(cx, ASSERT_TREE, &reference, false).await,
        Some(CheckTarget::Stable(query)) => Some(query),
        None => None,
    };
    let ask = |screen: Screen| {
        async move {
            let place = element.as_ref().map(|element| format!(" in {element}")).unwrap_or_default();
            Ok(match compare(cx, expected, element.as_ref(), &screen).await? {
                Ok(Ok(())) => {
                    Ok(Outcome::success(format!("all {} lines of the tree are there{place}", expected.n_lines())))
                }
                Ok(Err(mismatch)) => Err(told(&mismatch, &place)),
                Err(why) => Err(differs(&format!("the tree{place}"), &why)),
            })
        }
        .boxed()
    };
    cx.session.device.await_answer(cx, wait, ask).await
}

/// What came of comparing; `Err` if the element is not there.
async fn compare(
    cx: &Cx,
    expected: &ExpectedTree,
    element: Option<&Query>,
    screen: &Screen,
) -> Result<Result<Result<(), TreeMismatch>, String>, Stop> {
    let Some(query) = element else { return Ok(Ok(expected.compare(&screen.root))) };
    let found = match find(cx, query).await? {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    let read = |_: &Screen, node: &Node| expected.compare(node);
    Ok(with_node(cx, &found, read).await?.ok_or_else(|| "an element that changes".to_string()))
}

fn told(mismatch: &TreeMismatch, place: &str) -> Box<Outcome> {
    let TreeMismatch { line, written, difference } = mismatch;
    let expected = format!("`{written}` (line {line} of the tree){place}");
    let structured = json!({"expected": expected, "saw": difference, "line": line});
    let text = format!("expected {expected}, saw\n{difference}");
    Box::new(Outcome { variant: Variant::AssertionFailed, text, structured: Some(structured), ..Outcome::default() })
}
