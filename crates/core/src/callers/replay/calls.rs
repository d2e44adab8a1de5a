//! The calls of a step: made one after another, healed where that is allowed, and compared with what was recorded.

use tokio::time::Instant;
use trailblaze_protocol::event::{CallOrigin, Event, Failure, Level, Moment, Verdict};
use trailblaze_protocol::ids::{CallId, Parent};
use trailblaze_protocol::outcome::Outcome;

use super::{StepPlace, TrailRunner};
use crate::callers::heal::{FailedCall, HealMode, StepHeals, is_renamed_element};
use crate::callers::recorded_effects::Custom;
use crate::callers::shadow::typed_calls;
use crate::callers::step_result::StepResult;
use crate::engine::cx::Cx;
use crate::engine::dispatch::{Arguments, Call, ExpectedName, dispatch_named};
use crate::limits;
use crate::record::artifacts::PicturePolicy;
use crate::record::effects::differences;
use crate::template;
use crate::trail::{Step, ToolCall, excerpt};
use crate::yaml::loose;

impl TrailRunner<'_> {
    /// Makes calls of a step. Those that are its own and made once are the ones that recordings of elements and effects are about.
    pub(super) async fn calls(
        &self,
        cx: &Cx,
        at: StepPlace<'_>,
        calls: &[ToolCall],
        are_own: bool,
    ) -> Result<(), StepResult> {
        let StepPlace { index, step, .. } = at;
        self.picture_before(cx).await?;
        let mut heals = StepHeals::default();
        // The first failure that was healed.
        let mut healed: Option<StepResult> = None;
        for (number, call) in calls.iter().enumerate() {
            let tool = &call.tool.value;
            let played = match self.custom {
                Custom::Play(recorded) if are_own => recorded.playing(index, number, call),
                Custom::Run | Custom::Verify(..) | Custom::Play(_) => None,
            };
            let mut made = played.unwrap_or_else(|| Call::written(call, CallOrigin::Step));
            made.expects = self.expected_name((index, number), call).filter(|_| are_own);
            let again = made.clone();
            let started = Instant::now();
            let (id, answer) = dispatch_named(cx, made).await;
            if are_own {
                self.verify((index, number), tool, id.as_ref());
            }
            let (mut ended, outcome) = match answer {
                Ok(outcome) if !outcome.is_error() => continue,
                Ok(outcome) => (StepResult::failed(tool, &outcome), Some(outcome)),
                Err(fault) => (StepResult::fault(tool, &fault), None),
            };
            if let Some(failure) = &mut ended.failure {
                failure.call = id.clone();
                failure.just_before = just_before(cx, started);
                set_place(failure, call);
            }
            // The original failure matters more than a failure to take a screenshot.
            let _ = self.picture(cx, PicturePolicy::Failure, Moment::Failure).await;
            // A repair would change a file that other trails share.
            let is_healed = are_own && at.within.is_none();
            if let (Some(outcome), Some(id), true) = (&outcome, &id, is_healed)
                && self.heal_call(cx, (index, step), (number, call), (id, outcome), &mut ended, &mut heals).await
            {
                healed.get_or_insert(ended);
                continue;
            }
            // Only healing required the recorded name. Without a repair, the call is made as it is written.
            if outcome.as_ref().is_some_and(is_renamed_element) && !self.names.is_some_and(|names| names.is_strict) {
                let expects = again.expects.clone().map(|expects| ExpectedName { is_required: false, ..expects });
                let (again, answer) = dispatch_named(cx, Call { expects, ..again }).await;
                ended = match answer {
                    Ok(outcome) if !outcome.is_error() => continue,
                    Ok(outcome) => StepResult::failed(tool, &outcome),
                    Err(fault) => StepResult::fault(tool, &fault),
                };
                if let Some(failure) = &mut ended.failure {
                    failure.call = again;
                    failure.just_before = just_before(cx, started);
                    set_place(failure, call);
                }
            }
            if call.is_soft && ended.verdict == Verdict::Failed && !ended.is_fatal {
                let what = ended.message.clone();
                self.soft.add(index, what, self.placed(cx, at, ended));
                continue;
            }
            return Err(match healed.filter(|_| ended.verdict == Verdict::Failed) {
                Some(first) => first.withdrawn(&heals.withdraw(cx, &format!("then {}", ended.message)).0),
                None => ended,
            });
        }
        if let (Some(healer), Some(first)) = (&self.heal, healed) {
            match healer.confirm(cx, index, heals).await {
                Ok(repairs) => drop(self.repairs.lock().insert(index, repairs)),
                Err(withdrawn) => {
                    let _ = self.picture(cx, PicturePolicy::Failure, Moment::Failure).await;
                    return Err(first.withdrawn(&withdrawn.0));
                }
            }
        }
        let after = self.picture(cx, PicturePolicy::Step, Moment::After).await?;
        *self.after.lock() = after.map(|shot| (cx.session.id.clone(), shot));
        Ok(())
    }

    /// Makes another call instead of one that did not find its element. Returns whether that passed; otherwise the failure
    /// gets suggestions.
    async fn heal_call(
        &self,
        cx: &Cx,
        (index, step): (usize, &Step),
        (number, call): (usize, &ToolCall),
        (id, outcome): (&CallId, &Outcome),
        ended: &mut StepResult,
        heals: &mut StepHeals,
    ) -> bool {
        // A repair has no place for the name of the result.
        let Some(healer) = self.heal.as_ref().filter(|_| call.result_name.is_none()) else { return false };
        let typed = typed_calls(std::slice::from_ref(call), &cx.session.registry());
        let args = typed.first().and_then(|typed| typed.get(&call.tool.value)?.as_object());
        let Some(args) = args else { return false };
        let (kind, text, tool) = (step.kind, step.text.value.as_str(), call.tool.value.as_str());
        let is_checked = self.last_check > Some((index, number));
        let failed = FailedCall { step: index, kind, text, index: number, id, tool, args, outcome, is_checked };
        let Some(sought) = healer.seek(cx, &failed).await else { return false };
        if let Some(failure) = &mut ended.failure {
            failure.suggestions = sought.suggestions.clone();
        }
        let Some((tool, args)) = sought.call.clone() else { return false };
        let (made, answer) = dispatch_named(cx, Call::new(&tool, Arguments::Json(args), CallOrigin::Step)).await;
        match (made, answer) {
            (Some(made), Ok(outcome)) if !outcome.is_error() => {
                heals.add(&failed, sought, made);
                true
            }
            _ => false,
        }
    }

    /// The name that the element of a call should have. A call whose arguments are made during the run may mean another
    /// element each time.
    fn expected_name(&self, (step, number): (usize, usize), call: &ToolCall) -> Option<ExpectedName> {
        let names = self.names?;
        let name = names.identities.element(step, number)?.name.clone()?;
        let is_fixed = !template::has_token(&loose(&call.args).to_string());
        let is_healing = self.heal.is_some_and(|healer| healer.mode == HealMode::Apply);
        is_fixed.then_some(ExpectedName { name, is_required: names.is_strict || is_healing })
    }

    /// Notes how the effects of a call differ from its recorded effects.
    fn verify(&self, (step, number): (usize, usize), tool: &str, call: Option<&CallId>) {
        let Custom::Verify(all, journal) = self.custom else { return };
        let (Some(recorded), Some(call)) = (all.of(step, number), call) else { return };
        let Some(diff) = differences(recorded, &journal.effects(call)) else { return };
        let diff = diff.lines().map(|line| format!("\n  {line}")).collect::<String>();
        let text = format!("`{tool}` behaved differently from its recording:{diff}");
        let about = Some(Parent::Call(call.clone()));
        self.sessions.first().emit(Event::note(about, Level::Warning, text.clone()));
        let place =
            if self.has_head && step == 0 { "trailhead".to_string() } else { format!("step {}", self.number(step)) };
        let mut differences = self.differences.lock();
        differences.entry(step).or_default().push(format!("{place}: {text}"));
    }
}

/// Says where a failed call is written.
pub(super) fn set_place(failure: &mut Failure, call: &ToolCall) {
    failure.place = Some(call.position());
    failure.excerpt = excerpt(&call.source.text, call.tool.span.line);
}

/// What went wrong on the device by itself shortly before something failed that started then, and while it ran.
pub(super) fn just_before(cx: &Cx, started: Instant) -> Vec<String> {
    let since = started.checked_sub(limits::JUST_BEFORE).unwrap_or(started);
    cx.session.device.trouble_since(cx, since)
}
