//! Healing: repairs a recorded call whose element was not found, or has another name, because the app has changed. The element
//! is searched for by its recorded identity, then by a model. A repair is only made if something would show that it is wrong,
//! and counts only if the step ends as it was recorded.

mod ask;
mod likeness;
mod reaim;
mod score;

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use trailblaze_protocol::event::{Event, StepKind};
use trailblaze_protocol::heal::{ElementIdentity, HealSought, HealSuggestion, HealTried};
use trailblaze_protocol::ids::CallId;
use trailblaze_protocol::outcome::Outcome;

use self::score::{Candidate, Ranking};
use crate::engine::cx::Cx;
use crate::engine::device::{NOT_FOUND, OTHER_NAME};
use crate::engine::fault::Stop;
use crate::limits;
use crate::query::{EndState, Surroundings, end_state};
use crate::record::healing::Identities;
use crate::screen::Screen;
use crate::trail::Repair;

/// How many suggestions are shown.
const SUGGESTIONS: usize = 5;
/// How much of the recorded state before a step must be on the screen for its first call to be healed.
const RIGHT_SCREEN: f64 = 0.5;
/// How a trail is healed.
#[derive(Clone, Copy)]
pub struct Healer<'a> {
    pub mode: HealMode,
    pub identities: &'a Identities,
    /// Whether the model is asked if the recorded properties do not decide.
    pub may_ask: bool,
    /// Identifies the steps of the trail; see [`crate::trail::fingerprint`].
    pub fingerprint: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealMode {
    /// The call fails, and suggestions say what could replace it.
    Suggest,
    /// The best suggestion is used if it is clear.
    Apply,
}

/// A call that failed.
pub(super) struct FailedCall<'a> {
    /// The index of the step, including the trailhead.
    pub step: usize,
    pub kind: StepKind,
    pub text: &'a str,
    /// The position of the call in its step.
    pub index: usize,
    pub id: &'a CallId,
    /// The call as written, typed by the tool's schema.
    pub tool: &'a str,
    pub args: &'a Map<String, Value>,
    pub outcome: &'a Outcome,
    /// Whether something is checked after it.
    pub is_checked: bool,
}

/// What healing found for a failed call.
pub(super) struct Sought {
    pub suggestions: Vec<HealSuggestion>,
    /// The call to make instead, if it may be made.
    pub call: Option<(String, Map<String, Value>)>,
}

/// The calls of a step that were replaced by others.
#[derive(Default)]
pub(super) struct StepHeals(Vec<Tried>);

struct Tried {
    repair: Repair,
    failed: CallId,
    call: CallId,
}

/// Whether a call failed because its element was not found.
pub(super) fn is_missing_element(outcome: &Outcome) -> bool {
    tells(outcome, NOT_FOUND)
}

/// Whether a call failed because its element has another name than when it was recorded.
pub(super) fn is_renamed_element(outcome: &Outcome) -> bool {
    tells(outcome, OTHER_NAME)
}

fn tells(outcome: &Outcome, key: &str) -> bool {
    let told = outcome.structured.as_ref().and_then(|value| value.get(key)?.as_bool());
    outcome.is_error() && told == Some(true)
}

impl Healer<'_> {
    /// Searches for the element of a call that failed. `None` if calls of this kind are never healed, or if nothing is known
    /// about the element.
    pub(super) async fn seek(&self, cx: &Cx, failed: &FailedCall<'_>) -> Option<Sought> {
        let is_healable = failed.kind == StepKind::Step
            && is_missing_element(failed.outcome)
            && reaim::names_element(failed.tool, failed.args);
        if !is_healable {
            return None;
        }
        let recorded = self.identities.element(failed.step, failed.index);
        let may_ask = self.may_ask && cx.attempt.model().is_some();
        if recorded.is_none() && !may_ask {
            return None;
        }
        // A device that cannot be looked at has other problems.
        let screen = cx.session.device.show(cx).await.ok()?;
        let start = end_state(&screen);
        let (mut suggestions, mut doubt) = match recorded {
            Some(recorded) => self.search(failed, recorded, &screen, &start),
            None => (Vec::new(), Some("nothing is recorded about the element".to_string())),
        };
        if doubt.is_some() && may_ask {
            match ask::ask_model(cx, failed, recorded, &screen).await {
                Ok(suggestion) => {
                    suggestions.retain(|known| known.call != suggestion.call);
                    suggestions.insert(0, suggestion);
                    suggestions.truncate(SUGGESTIONS);
                    doubt = doubt.filter(|_| recorded.is_none());
                }
                Err(why) => doubt = Some(doubt.map_or_else(|| why.clone(), |doubt| format!("{doubt}; {why}"))),
            }
        }
        if doubt.is_none() && !failed.is_checked && !self.tells_end(failed.step, &start) {
            doubt = Some(
                "nothing would show that it is wrong: the recorded end of the step does not differ from its start, and no \
                 check follows"
                    .to_string(),
            );
        }
        let is_clear = doubt.is_none();
        cx.emit(Event::HealSought(Box::new(HealSought {
            step: cx.step().clone(),
            call: failed.id.clone(),
            index: failed.index,
            written: json!({ failed.tool: failed.args }),
            fingerprint: format!("{:016x}", self.fingerprint),
            suggestions: suggestions.clone(),
            is_clear,
            message: doubt.unwrap_or_default(),
        })));
        let call = suggestions.first().filter(|_| is_clear && self.mode == HealMode::Apply);
        let call = call.and_then(|suggestion| parts(&suggestion.call));
        Some(Sought { suggestions, call })
    }

    /// The suggestions from the recorded properties, and why the first must not be used.
    fn search(
        &self,
        failed: &FailedCall<'_>,
        recorded: &ElementIdentity,
        screen: &Screen,
        start: &EndState,
    ) -> (Vec<HealSuggestion>, Option<String>) {
        if !score::is_healable(recorded.kind) {
            return (Vec::new(), Some("the recorded element did not react to touches".to_string()));
        }
        let Ranking { candidates, mut doubt } = score::rank(recorded, &Surroundings::new(screen));
        let mut suggestions = Vec::new();
        for (place, candidate) in candidates.iter().enumerate() {
            match suggestion(failed, screen, candidate) {
                Some(suggestion) => suggestions.push(suggestion),
                None if place == 0 => {
                    doubt.get_or_insert_with(|| "no description finds just that element".to_string());
                }
                None => {}
            }
        }
        suggestions.truncate(SUGGESTIONS);
        let before = self.before(failed.step);
        // Later calls of a step start on screens that are not recorded.
        if failed.index == 0
            && let Some(before) = before
            && before.share_on(start) < RIGHT_SCREEN
        {
            doubt.get_or_insert_with(|| "the screen is not the one that the step started on".to_string());
        }
        (suggestions, doubt)
    }

    /// The recorded state before a step.
    fn before(&self, step: usize) -> Option<&EndState> {
        self.identities.end(step.checked_sub(1)?)
    }

    /// Whether the recorded end of a step, which now starts on this screen, tells whether the step did what it should.
    fn tells_end(&self, step: usize, start: &EndState) -> bool {
        self.identities.end(step).is_some_and(|end| end.differs_from(self.before(step).unwrap_or(start)))
    }

    /// Waits until the step has ended as it was recorded. Returns the repairs, or why they are withdrawn.
    pub(super) async fn confirm(&self, cx: &Cx, step: usize, heals: StepHeals) -> Result<Vec<Repair>, Withdrawn> {
        let before = self.before(step);
        let is_reached = match self.identities.end(step) {
            Some(end) => reaches(cx, limits::HEAL_WAIT, |now| end.is_reached(before, now)).await.unwrap_or(false),
            // A check follows.
            None => true,
        };
        if !is_reached {
            return Err(heals.withdraw(cx, "the step did not end as it was recorded"));
        }
        heals.0.iter().for_each(|tried| tried.emit(cx, ""));
        Ok(heals.0.into_iter().map(|tried| tried.repair).collect())
    }
}

/// Why repairs do not count, for the message of the step.
pub(super) struct Withdrawn(pub String);

impl StepHeals {
    /// Notes that a call was made instead of one that failed.
    pub fn add(&mut self, failed: &FailedCall<'_>, sought: Sought, call: CallId) {
        let Some(used) = sought.suggestions.into_iter().next() else { return };
        let repair = Repair {
            step: failed.step,
            text: failed.text.to_string(),
            index: failed.index,
            from: json!({ failed.tool: failed.args }),
            to: used.call,
            element: used.element,
        };
        self.0.push(Tried { repair, failed: failed.id.clone(), call });
    }

    /// Records that the repairs do not count.
    pub fn withdraw(self, cx: &Cx, why: &str) -> Withdrawn {
        self.0.iter().for_each(|tried| tried.emit(cx, why));
        let elements: Vec<&str> = self.0.iter().map(|tried| tried.repair.element.as_str()).collect();
        Withdrawn(format!("healing tried {} instead, but {why}", elements.join(", then ")))
    }
}

impl Tried {
    fn emit(&self, cx: &Cx, why_not: &str) {
        cx.emit(Event::HealTried(HealTried {
            step: cx.step().clone(),
            failed: self.failed.clone(),
            call: self.call.clone(),
            is_kept: why_not.is_empty(),
            message: why_not.to_string(),
        }));
    }
}

/// Emits the state that a step ended in, once the screen has settled.
pub async fn note_end_state(cx: &Cx) {
    let device = &cx.session.device;
    let end = Instant::now() + limits::SETTLE_WAIT;
    let Ok(mut screen) = device.look(cx).await else { return };
    let mut state = end_state(&screen);
    while Instant::now() < end {
        let Ok(true) = device.await_change(cx, screen.snapshot, limits::SETTLED).await else { break };
        let Ok(next) = device.look(cx).await else { return };
        screen = next;
        let now = end_state(&screen);
        // A clock or an animation changes the screen for ever, but not its state.
        if now == state {
            break;
        }
        state = now;
    }
    if state.is_telling() {
        cx.emit(Event::EndState { step: cx.step().clone(), parts: state.parts() });
    }
}

/// Waits until the state of the screen meets a condition; false if it does not in time.
async fn reaches(cx: &Cx, timeout: Duration, is_met: impl Fn(&EndState) -> bool) -> Result<bool, Stop> {
    let end = Instant::now() + timeout;
    loop {
        let screen = cx.session.device.look(cx).await?;
        if is_met(&end_state(&screen)) {
            return Ok(true);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || !cx.session.device.await_change(cx, screen.snapshot, left).await? {
            return Ok(false);
        }
    }
}

fn suggestion(failed: &FailedCall<'_>, screen: &Screen, candidate: &Candidate) -> Option<HealSuggestion> {
    let node = screen.root.walk().find(|node| node.id == candidate.node)?;
    let (tool, args) = reaim::reaim(failed.tool, failed.args, screen, node)?;
    Some(HealSuggestion {
        call: json!({ tool: args }),
        element: node.summary(),
        reason: candidate.reason.clone(),
        score: u8::try_from(candidate.points.clamp(0, 100)).ok(),
        is_by_model: false,
        identity: Box::new(candidate.identity.clone()),
    })
}

/// The tool and the arguments of `{tool: args}`.
fn parts(call: &Value) -> Option<(String, Map<String, Value>)> {
    let (tool, args) = call.as_object()?.iter().next()?;
    Some((tool.clone(), args.as_object()?.clone()))
}
