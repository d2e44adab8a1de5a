//! What people do with a session by pointing: actions that are aimed at a screen, edits of the steps, and undo.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use trailblaze_core::record::fold::RecordedStep;
use trailblaze_core::trail::{NewCalls, NewStep};
use trailblaze_protocol::event::{EditedStep, Event, Plan, StepKind};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::outcome::Delegate;

use super::appeared::proposals;
use super::{CallArguments, CommandReply, Interactive, done, refused};
use crate::output::words::count;
use crate::sessions::viewing::{Mistaken, TouchRequest, delegate_of};

/// How many changes of the steps can be undone.
const MOST_PAST: usize = 100;
/// How many steps a session may have after an edit, and how long the words of one may be, in bytes.
const MOST_STEPS: usize = 1_000;
const LONGEST_TEXT: usize = 10_000;
/// How long the screen must not change after an action before it is looked at, and how long that may take.
const QUIET: Duration = Duration::from_millis(50);
const SETTLE: Duration = Duration::from_millis(500);

/// A request of a person who sees the screen and the steps.
#[derive(Debug, Clone, PartialEq)]
pub enum StudioCommand {
    /// Act on what is shown, as a new step.
    Act(Box<TouchRequest>),
    /// Call a tool, as a new step with these words.
    Call { tool: String, args: Map<String, Value>, text: String },
    /// Let the model carry out a step.
    Do { kind: StepKind, text: String },
    /// Replace the steps, if they are still those with this number.
    Edit { revision: i32, steps: Vec<EditedStep> },
    /// Undo the last change of the steps, or redo what was undone.
    Undo { revision: i32, redo: bool },
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Handled {
    pub reply: CommandReply,
    /// Whether it was refused because what the person saw is out of date.
    pub is_stale: bool,
}

/// The steps as people see them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepsState {
    /// Counts the changes.
    pub revision: i32,
    pub steps: Vec<EditedStep>,
    pub memory: Map<String, Value>,
    pub can_undo: bool,
    pub can_redo: bool,
    /// Whether these steps were saved as a trail.
    pub is_saved: bool,
    /// Whether a model can carry out steps.
    pub has_model: bool,
}

/// The steps before and after each change.
#[derive(Default)]
pub struct EditHistory {
    revision: i32,
    current: Vec<EditedStep>,
    past: VecDeque<Vec<EditedStep>>,
    future: Vec<Vec<EditedStep>>,
}

impl Interactive {
    /// Carries out a request, unless it is cancelled. Nothing in the reply is secret.
    pub async fn handle(&mut self, asked: StudioCommand, cancel: &CancellationToken) -> Handled {
        if let Some(lost) =
            self.lost().filter(|_| !matches!(asked, StudioCommand::Edit { .. } | StudioCommand::Undo { .. }))
        {
            let message = format!("{lost}\nclose the session and open it again; its steps can still be saved");
            return Handled { reply: CommandReply::Failed { message, exit: Exit::Environment }, is_stale: false };
        }
        let (reply, is_stale) = match asked {
            StudioCommand::Act(aim) => self.act(&aim, cancel).await,
            StudioCommand::Call { tool, args, text } => {
                let text = if text.trim().is_empty() { words(&tool, &args) } else { text };
                self.begin(StepKind::Step, &text, Plan::Interactive);
                let reply = self.make_call(&tool, CallArguments::Json(args), cancel).await;
                (reply, false)
            }
            StudioCommand::Do { kind, text } => (self.carry_out(kind, &text, cancel).await, false),
            StudioCommand::Edit { revision, .. } | StudioCommand::Undo { revision, .. }
                if revision != self.history.revision =>
            {
                (refused("the steps changed in the meantime; nothing was changed"), true)
            }
            StudioCommand::Edit { steps, .. } => (self.edit(steps), false),
            StudioCommand::Undo { redo, .. } => (self.go_through_history(redo), false),
        };
        self.note_steps();
        self.keep();
        Handled { reply: self.fit_to_show(reply), is_stale }
    }

    /// The steps, the memory, and what can be undone.
    pub fn steps_state(&mut self) -> StepsState {
        self.note_steps();
        let mut memory = Value::Object(self.attempt.memory().values().clone());
        self.session.secrets.redact_value(&mut memory);
        let mut steps = self.history.current.clone();
        for step in &mut steps {
            self.session.secrets.redact_in_place(&mut step.text);
            step.calls.iter_mut().for_each(|call| self.session.secrets.redact_value(call));
        }
        StepsState {
            revision: self.history.revision,
            steps,
            memory: memory.as_object().cloned().unwrap_or_default(),
            can_undo: !self.history.past.is_empty(),
            can_redo: !self.history.future.is_empty(),
            has_model: self.attempt.model().is_some(),
            is_saved: !self.saved.is_empty() && self.saved == self.steps(),
        }
    }

    /// Assertions for what appeared after the last action: in words, and the call.
    pub fn proposals(&self) -> Vec<(String, Value)> {
        self.proposals.clone()
    }

    async fn act(&mut self, aim: &TouchRequest, cancel: &CancellationToken) -> (CommandReply, bool) {
        let viewer = std::sync::Arc::clone(&self.viewer);
        let aimed = viewer.aim(&self.cx(cancel), aim).await;
        let aimed = match aimed {
            Ok(aimed) => aimed,
            Err(Mistaken::Stale(why)) => return (refused(why), true),
            Err(Mistaken::Invalid(why)) => return (refused(why), false),
            Err(Mistaken::Stop(stop)) => return (self.not_seen(&aim.action, stop), false),
        };
        let before = viewer.newest();
        self.proposals.clear();
        self.begin(aimed.kind, &aimed.text, Plan::Interactive);
        let mut said = Vec::new();
        for Delegate { tool, args } in aimed.calls {
            match self.make_call(&tool, CallArguments::Json(args), cancel).await {
                CommandReply::Done { text, .. } => said.push(text),
                failed => return (failed, false),
            }
        }
        let cx = self.cx(cancel);
        if aimed.kind == StepKind::Step
            && let Some(before) = before
            && let Ok(after) = self.session.device.look_settled(&cx, QUIET, SETTLE).await
        {
            self.proposals = proposals(&before.screen, &after);
        }
        (done(aimed.text, json!({ "calls": said })), false)
    }

    fn edit(&mut self, steps: Vec<EditedStep>) -> CommandReply {
        if let Err(problem) = self.check_edit(&steps) {
            return refused(problem);
        }
        let n_steps = steps.len();
        self.replace_steps(steps);
        done(format!("the session has {}", count(n_steps, "step")), json!({ "steps": n_steps }))
    }

    fn check_edit(&self, steps: &[EditedStep]) -> Result<(), String> {
        if steps.len() > MOST_STEPS {
            return Err(format!("a session has at most {MOST_STEPS} steps"));
        }
        let registry = self.session.registry();
        for (step, number) in steps.iter().zip(1..) {
            if step.text.trim().is_empty() || step.text.len() > LONGEST_TEXT {
                return Err(format!("step {number} needs words, of at most {LONGEST_TEXT} bytes"));
            }
            if step.kind == StepKind::Trailhead && number != 1 {
                return Err(format!("step {number} is a trailhead, but only the first step can be one"));
            }
            for written in &step.calls {
                let Some(call) = delegate_of(written) else {
                    return Err(format!(
                        "step {number}: a call is an object with one key, the tool, and perhaps `as`; got {written}"
                    ));
                };
                if registry.get(&call.tool).is_none() {
                    return Err(format!("step {number}: {}", registry.explain_missing(&call.tool)));
                }
            }
        }
        Ok(())
    }

    /// Replaces all steps. What comes next is a step of its own.
    pub(super) fn replace_steps(&mut self, steps: Vec<EditedStep>) {
        self.end_step();
        // New steps must have other places than the edited ones.
        self.n_steps = self.n_steps.max(steps.len());
        self.session.emit(Event::StepsEdited { attempt: self.attempt.id.clone(), steps });
    }

    fn go_through_history(&mut self, redo: bool) -> CommandReply {
        let EditHistory { past, future, current, .. } = &mut self.history;
        let wanted = if redo { future.pop() } else { past.pop_back() };
        let Some(wanted) = wanted else {
            return refused(if redo { "there is nothing to redo" } else { "there is nothing to undo" });
        };
        let left = std::mem::replace(current, wanted.clone());
        if redo {
            past.push_back(left);
        } else {
            future.push(left);
        }
        self.history.revision += 1;
        self.replace_steps(wanted);
        let text = if redo { "redone" } else { "undone; the device is not changed" };
        done(text.to_string(), json!({}))
    }

    /// Notes the steps after a change, so that it can be undone.
    pub(super) fn note_steps(&mut self) {
        let now: Vec<EditedStep> = self.steps().iter().map(as_shown).collect();
        if now == self.history.current {
            return;
        }
        let EditHistory { revision, current, past, future } = &mut self.history;
        *revision += 1;
        past.push_back(std::mem::replace(current, now));
        if past.len() > MOST_PAST {
            past.pop_front();
        }
        future.clear();
    }
}

/// A step as it would be saved.
fn as_shown(step: &NewStep) -> EditedStep {
    let calls = match &step.calls {
        NewCalls::Anywhere(calls) | NewCalls::Recorded { calls, .. } => calls.clone(),
        NewCalls::None => Vec::new(),
    };
    EditedStep { kind: step.kind, text: step.text.clone(), calls }
}

/// A recorded step in a list that replaces the recorded one.
pub(super) fn as_edited(step: &RecordedStep) -> EditedStep {
    let calls = if step.needs_model.is_empty() { step.calls.clone() } else { Vec::new() };
    EditedStep { kind: step.kind, text: step.text.clone(), calls }
}

/// The words of a step that is one call.
fn words(tool: &str, args: &Map<String, Value>) -> String {
    let args: Vec<String> = args
        .iter()
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name} \"{text}\""),
            value => format!("{name} {value}"),
        })
        .collect();
    let text = if args.is_empty() { tool.to_string() } else { format!("{tool}: {}", args.join(", ")) };
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
