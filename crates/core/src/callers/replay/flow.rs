//! Whether and how often the calls of a step are made, as its `when:` and `repeat:` say.

use serde_json::Value;
use trailblaze_protocol::event::{CallOrigin, Level, StepChoice, ToolKind, Verdict};
use trailblaze_protocol::outcome::{Outcome, Variant};

use super::calls::set_place;
use super::{StepPlace, TrailRunner};
use crate::callers::step_result::{StepResult, failure};
use crate::engine::cx::Cx;
use crate::engine::dispatch::{Call, dispatch_named};
use crate::trail::{Repeat, ToolCall};
use crate::yaml::{inline, loose};

impl TrailRunner<'_> {
    /// Makes the calls of a step, or those of its `else:`, or lets a model carry it out. Notes what was decided.
    pub(super) async fn follow(
        &self,
        cx: &Cx,
        at: StepPlace<'_>,
        calls: Option<&[ToolCall]>,
        choice: &mut StepChoice,
    ) -> Result<(), StepResult> {
        let flow = &at.step.flow;
        if let Some(when) = &flow.when {
            let held = self.holds(cx, &when.call).await?;
            choice.held = Some(held.is_ok());
            if held.is_ok() {
                cx.note(Level::Info, "`when` holds");
            }
            if let Err(saw) = held {
                let Some(otherwise) = &when.otherwise else {
                    return Err(StepResult::ended(Verdict::Skipped, format!("`when` does not hold: {saw}")));
                };
                cx.note(Level::Info, format!("`when` does not hold, so the calls of `else` are made: {saw}"));
                return self.calls(cx, at, otherwise, false).await;
            }
        }
        match (&flow.repeat, calls) {
            (Some(repeat), calls) => self.repeat(cx, at, (repeat, calls.unwrap_or_default()), choice).await,
            (None, Some(calls)) => self.calls(cx, at, calls, true).await,
            (None, None) => self.carry_out(cx, at.step).await,
        }
    }

    async fn repeat(
        &self,
        cx: &Cx,
        at: StepPlace<'_>,
        (repeat, calls): (&Repeat, &[ToolCall]),
        choice: &mut StepChoice,
    ) -> Result<(), StepResult> {
        let times = repeat.times.value;
        for round in 0..=times {
            choice.rounds = Some(round);
            let Err(saw) = self.holds(cx, &repeat.until).await? else {
                cx.note(Level::Info, format!("`until` holds after {}", rounds(round)));
                return Ok(());
            };
            if round < times {
                self.calls(cx, at, calls, false).await?;
                continue;
            }
            let message = format!("`until` does not hold after {}: {saw}", rounds(times));
            let mut failure = failure(Some(&repeat.until.tool.value), &message, None);
            set_place(&mut failure, &repeat.until);
            return Err(StepResult { failure: Some(Box::new(failure)), ..StepResult::ended(Verdict::Failed, message) });
        }
        Ok(())
    }

    /// Whether a condition holds; otherwise, what was seen instead. A call that answers neither yes nor no fails the step.
    async fn holds(&self, cx: &Cx, call: &ToolCall) -> Result<Result<(), String>, StepResult> {
        let tool = &call.tool.value;
        let made = Call { is_condition: true, ..Call::written(call, CallOrigin::Step) };
        let is_question = cx.session.registry().get(tool).is_some_and(|tool| tool.kind == ToolKind::Query);
        let (id, answer) = dispatch_named(cx, made).await;
        let mut ended = match answer {
            Ok(outcome) if outcome.variant == Variant::AssertionFailed => return Ok(Err(outcome.text)),
            Ok(outcome) if outcome.is_error() => StepResult::failed(tool, &outcome),
            Ok(outcome) => match truth(&outcome) {
                Some(true) => return Ok(Ok(())),
                Some(false) => {
                    let args = loose(&call.args);
                    return Ok(Err(format!("`{tool} {}` answered false", inline(&args))));
                }
                None if !is_question => return Ok(Ok(())),
                None => {
                    let text = format!("a condition needs true or false, and `{tool}` answered \"{}\"", outcome.text);
                    StepResult::failed(tool, &Outcome::failed(text))
                }
            },
            Err(fault) => StepResult::fault(tool, &fault),
        };
        if let Some(failure) = &mut ended.failure {
            failure.call = id;
            set_place(failure, call);
        }
        Err(ended)
    }
}

fn rounds(count: u32) -> String {
    if count == 1 { "1 round".to_string() } else { format!("{count} rounds") }
}

/// Whether a result says yes or no.
fn truth(outcome: &Outcome) -> Option<bool> {
    match &outcome.structured {
        Some(Value::Bool(answer)) => Some(*answer),
        // Libraries for Python wrap a result that is no object this way.
        Some(Value::Object(wrapped)) if wrapped.len() == 1 => wrapped.get("result").and_then(Value::as_bool),
        Some(_) => None,
        None => outcome.text.trim().parse().ok(),
    }
}
