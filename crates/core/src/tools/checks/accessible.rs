//! Audits the accessibility of the screen, or of an element of a page.

use futures::FutureExt;
use serde_json::json;
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::super::arguments::texts;
use super::super::assertions::differs;
use super::except::{exceptions, find_each};
use super::target::{CheckTarget, restate};
use super::text::find;
use super::wait;
use crate::driver::{AuditScope, DeviceCommand};
use crate::engine::cx::Cx;
use crate::engine::fault::Stop;
use crate::engine::tool::Args;
use crate::query::Query;

pub async fn accessible(cx: &Cx, args: &Args) -> Result<Outcome, Stop> {
    let (wait, target, except) = (wait(args), CheckTarget::optional(cx, args)?, exceptions(cx, args, "except"));
    let scope = AuditScope { rules: texts(args, "rules"), tags: texts(args, "tags"), ..AuditScope::default() };
    let element = match target {
        Some(CheckTarget::Ref(reference)) => return restate(cx, "assertAccessible", &reference, false).await,
        Some(CheckTarget::Stable(query)) => Some(query),
        None => None,
    };
    let (element, except, scope) = (element.as_ref(), &except?, &scope);
    let ask = |_| audit(cx, element, except, scope).boxed();
    cx.session.device.await_answer(cx, wait, ask).await
}

/// One audit. The faults are the text of the failure, and its value.
async fn audit(
    cx: &Cx,
    element: Option<&Query>,
    except: &[Query],
    scope: &AuditScope,
) -> Result<Result<Outcome, Box<Outcome>>, Stop> {
    let mut scope = scope.clone();
    let mut place = String::new();
    if let Some(query) = element {
        match find(cx, query).await? {
            Ok(found) => {
                place = format!(" in {}", found.summary);
                scope.within = Some(found);
            }
            Err(why) => return Ok(Err(differs(&query.to_string(), &why))),
        }
    }
    scope.except = match find_each(cx, except).await? {
        Ok(found) => found,
        Err(no) => return Ok(Err(no)),
    };
    let found = cx.session.device.command(cx, &DeviceCommand::Audit(scope), None).await?;
    let faults = found.value.unwrap_or_default();
    let count = faults.as_array().map_or(0, Vec::len);
    if count == 0 {
        return Ok(Ok(Outcome::value(format!("the audit found no faults{place}"), faults)));
    }
    let structured = json!({"expected": format!("no faults{place}"), "saw": found.text, "faults": faults});
    let n_faults = if count == 1 { "1 fault".to_string() } else { format!("{count} faults") };
    let text = format!("the accessibility audit found {n_faults}{place}:\n{}", found.text);
    let outcome = Outcome { structured: Some(structured), ..Outcome::error(Variant::AssertionFailed, text) };
    Ok(Err(Box::new(outcome)))
}
