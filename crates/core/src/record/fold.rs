//! The recording of an attempt: a fold over its events. Every call knows its parent; nothing is guessed from times.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use trailblaze_protocol::event::{CallOrigin, CallResult, Called, EditedStep, Event, Plan, StepKind, ToolKind};
use trailblaze_protocol::ids::{AttemptId, CallId, Parent, StepId};

use crate::trail::written_call;

/// The recording of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedStep {
    pub index: usize,
    pub kind: StepKind,
    pub text: String,
    /// The calls, as they are written in trails.
    pub calls: Vec<Value>,
    /// Tools whose calls cannot be replayed, so that the step always needs a model.
    pub needs_model: Vec<String>,
    /// Whether a model was asked to carry it out.
    pub is_by_model: bool,
    /// Whether a person edited the list of steps. Such a step stays even without calls, and is then left to a model.
    pub is_edited: bool,
    /// Whether some calls were replaced by others: the delegates of a delegating tool. Otherwise `calls` are the calls
    /// that were made, without queries.
    pub has_stand_ins: bool,
    /// Tools that returned delegates and are recorded by their own calls nevertheless, because they did more than that.
    pub not_replaced: Vec<String>,
    /// Tools that failed after they had changed the device or memory; they are not recorded.
    pub failed_halfway: Vec<FailedHalfway>,
}

/// A call that failed after it had acted.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedHalfway {
    pub tool: String,
    /// The tools that it had called, and that passed.
    pub done: Vec<String>,
    /// How many calls of its step were recorded before it.
    pub n_before: usize,
}

impl RecordedStep {
    /// Says why delegates did not replace the tools that returned them, if there are such tools.
    pub fn why_not_replaced(&self) -> Option<String> {
        let tools = self.not_replaced.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ");
        (!tools.is_empty()).then(|| {
            format!(
                "step \"{}\" keeps its call of {tools}, which a replay makes again: its delegates alone would leave out what \
                 it remembered, or did before it returned them",
                self.text
            )
        })
    }
}

/// The recording of one attempt, step by step. Of a retried step, only the last try counts.
pub fn fold<'e>(attempt: &AttemptId, events: impl IntoIterator<Item = &'e Event>) -> Vec<RecordedStep> {
    let (steps, calls) = steps(attempt, events);
    steps
        .into_iter()
        .map(|(id, mut step)| {
            for call in calls.of_step(&id) {
                step.failed_halfway.extend(calls.failed_halfway(call, step.calls.len()));
                let Recorded { calls, needs_model, has_stand_ins, not_replaced } = calls.recorded(call);
                step.calls.extend(calls.into_iter().map(as_written));
                step.needs_model.extend(needs_model);
                step.has_stand_ins |= has_stand_ins;
                step.not_replaced.extend(not_replaced);
            }
            step
        })
        .collect()
}

/// The steps of an attempt, still empty, and all their calls.
pub(crate) fn steps<'e>(
    attempt: &AttemptId,
    events: impl IntoIterator<Item = &'e Event>,
) -> (Vec<(StepId, RecordedStep)>, Calls<'e>) {
    let mut steps: Vec<(StepId, RecordedStep)> = Vec::new();
    let mut calls = Calls::default();
    let mut n_edits = 0;
    for event in events {
        if let Event::StepStarted { step, attempt: of, index, kind, text, plan, .. } = event
            && of == attempt
        {
            let empty = RecordedStep {
                index: *index,
                kind: *kind,
                text: text.clone(),
                calls: Vec::new(),
                needs_model: Vec::new(),
                is_by_model: *plan == Plan::Model,
                is_edited: false,
                has_stand_ins: false,
                not_replaced: Vec::new(),
                failed_halfway: Vec::new(),
            };
            steps.retain(|(_, earlier)| (earlier.index, earlier.kind) != (*index, *kind));
            steps.push((step.clone(), empty));
        }
        if let Event::StepsEdited { attempt: of, steps: edited } = event
            && of == attempt
        {
            n_edits += 1;
            steps = edited.iter().enumerate().map(|(index, step)| as_edited(attempt, n_edits, index, step)).collect();
        }
        // The step made other calls than its own, or its own several times.
        if let Event::StepEnded { step, choice: Some(choice), .. } = event
            && choice.is_unusual()
        {
            steps.retain(|(id, _)| id != step);
        }
        calls.hear(event);
    }
    steps.retain(|(id, _)| !calls.undone.contains(&Parent::Step(id.clone())));
    (steps, calls)
}

/// A step of an edited list. No calls of the attempt belong to its id.
fn as_edited(attempt: &AttemptId, edit: usize, index: usize, step: &EditedStep) -> (StepId, RecordedStep) {
    let recorded = RecordedStep {
        index,
        kind: step.kind,
        text: step.text.clone(),
        calls: step.calls.clone(),
        needs_model: Vec::new(),
        is_by_model: false,
        is_edited: true,
        has_stand_ins: false,
        not_replaced: Vec::new(),
        failed_halfway: Vec::new(),
    };
    (StepId::new(format!("{attempt}/edit{edit}.{index}")), recorded)
}

/// The last thing that the recording of an attempt contains, and its description for people. An undo removes it. A step
/// counts once it contains nothing else.
pub fn last<'e>(attempt: &AttemptId, events: impl IntoIterator<Item = &'e Event>) -> Option<(Parent, String)> {
    let (steps, calls) = steps(attempt, events);
    let (id, step) = steps.last()?;
    let is_recorded = |call: &&&Called| {
        let recorded = calls.recorded(call);
        !recorded.calls.is_empty() || !recorded.needs_model.is_empty()
    };
    let made = calls.of_step(id);
    Some(match made.iter().rev().find(is_recorded) {
        Some(call) => {
            let args = if call.args.is_empty() { String::new() } else { format!(" {}", json!(call.args)) };
            (Parent::Call(call.call.clone()), format!("{}{args}", call.tool))
        }
        None => (Parent::Step(id.clone()), step.text.clone()),
    })
}

/// Calls as a tree, with their results.
#[derive(Default)]
pub(crate) struct Calls<'e> {
    /// In the order in which they were made.
    children: HashMap<&'e Parent, Vec<&'e Called>>,
    answers: HashMap<&'e CallId, &'e CallResult>,
    /// The steps and calls that were undone.
    undone: HashSet<&'e Parent>,
}

/// The recording of one call.
#[derive(Default)]
pub(crate) struct Recorded<'e> {
    pub calls: Vec<&'e Called>,
    pub needs_model: Vec<String>,
    /// Whether a call is missing from `calls` because others replace it.
    pub has_stand_ins: bool,
    pub not_replaced: Vec<String>,
}

impl<'e> Calls<'e> {
    pub fn hear(&mut self, event: &'e Event) {
        match event {
            Event::Called(called) => self.children.entry(&called.parent).or_default().push(called),
            Event::Answered { call, answer, .. } => drop(self.answers.insert(call, answer)),
            Event::Undone { what, .. } => drop(self.undone.insert(what)),
            _ => {}
        }
    }

    /// The calls that a step consists of. Its conditions only decide about them.
    pub fn of_step(&self, step: &StepId) -> Vec<&'e Called> {
        let made = self.children.get(&Parent::Step(step.clone())).cloned().unwrap_or_default();
        made.into_iter().filter(|call| !call.is_condition).collect()
    }

    pub fn beneath(&self, call: &Called) -> Vec<&'e Called> {
        self.children.get(&Parent::Call(call.call.clone())).cloned().unwrap_or_default()
    }

    pub fn answer(&self, call: &Called) -> Option<&'e CallResult> {
        self.answers.get(&call.call).copied()
    }

    pub fn recorded(&self, call: &'e Called) -> Recorded<'e> {
        let mut recorded = Recorded::default();
        self.record(call, &mut recorded);
        recorded
    }

    fn record(&self, call: &'e Called, recorded: &mut Recorded<'e>) {
        if self.undone.contains(&Parent::Call(call.call.clone())) {
            return;
        }
        let Some(CallResult::Outcome(outcome)) = self.answer(call) else { return };
        let is_query = match call.kind {
            // A tool of a server that only reads may still act by calling back, or remember what it read.
            ToolKind::Query => !call.is_always_recorded && !self.acted_beneath(call) && outcome.memory.is_empty(),
            ToolKind::Meta => true,
            ToolKind::Action | ToolKind::Assertion => false,
        };
        if outcome.is_error() || is_query {
            return;
        }
        let has_delegates = !outcome.delegates.is_empty();
        let did_more = !outcome.memory.is_empty() || self.acted_before_delegates(call);
        // A built-in query is only worth recording for its result.
        let is_for_result = !call.is_custom && call.kind == ToolKind::Query && call.result_name.is_some();
        if !did_more && (has_delegates || call.is_delegating && !call.is_recordable) {
            recorded.has_stand_ins = true;
            let delegates = self.beneath(call).into_iter().filter(|child| child.origin == CallOrigin::Delegate);
            delegates.for_each(|child| self.record(child, recorded));
        } else if call.is_recordable || call.is_delegating || is_for_result {
            recorded.not_replaced.extend(has_delegates.then(|| call.tool.clone()));
            recorded.calls.push(call);
        } else {
            recorded.needs_model.push(call.tool.clone());
        }
    }

    /// What a call did before it failed, if that is why it is not recorded.
    fn failed_halfway(&self, call: &Called, n_before: usize) -> Option<FailedHalfway> {
        let is_undone = self.undone.contains(&Parent::Call(call.call.clone()));
        if is_undone || self.has_passed(call) {
            return None;
        }
        let mut done = Vec::new();
        self.done_beneath(call, &mut done);
        (!done.is_empty()).then(|| FailedHalfway { tool: call.tool.clone(), done, n_before })
    }

    fn has_passed(&self, call: &Called) -> bool {
        matches!(self.answer(call), Some(CallResult::Outcome(outcome)) if !outcome.is_error())
    }

    /// The calls beneath a call that passed and changed the device or memory.
    fn done_beneath(&self, call: &Called, done: &mut Vec<String>) {
        for child in self.beneath(call) {
            match self.has_passed(child) {
                true if self.acted(child) => done.push(child.tool.clone()),
                true => {}
                false => self.done_beneath(child, done),
            }
        }
    }

    /// Whether calls beneath this one changed the device or memory.
    fn acted_beneath(&self, call: &Called) -> bool {
        self.beneath(call).into_iter().any(|child| self.acted(child))
    }

    /// Whether the code of a tool changed something by itself, before its delegates were called.
    fn acted_before_delegates(&self, call: &Called) -> bool {
        self.beneath(call).into_iter().any(|child| child.origin != CallOrigin::Delegate && self.acted(child))
    }

    fn acted(&self, call: &Called) -> bool {
        let remembered =
            |answer: &CallResult| matches!(answer, CallResult::Outcome(outcome) if !outcome.memory.is_empty());
        call.kind == ToolKind::Action || self.answer(call).is_some_and(remembered) || self.acted_beneath(call)
    }
}

pub(crate) fn as_written(call: &Called) -> Value {
    written_call(&call.tool, Value::Object(Map::clone(&call.args)), call.result_name.as_deref(), call.is_soft)
}

/// Whether a recorded call depends on the selectors of one platform or on the coordinates of one screen.
pub fn is_bound_to_device(call: &Value) -> bool {
    let bound = ["nodeSelector", "x", "y"];
    call.as_object().into_iter().flatten().any(|(_, args)| bound.iter().any(|name| args.get(name).is_some()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trailblaze_protocol::ids::SessionId;
    use trailblaze_protocol::outcome::{Delegate, MemoryChanges, Outcome};

    use super::*;

    /// Events of one step, from a small tree of calls.
    struct EventList(Vec<Event>);

    struct Of<'s> {
        parent: Parent,
        origin: CallOrigin,
        kind: ToolKind,
        is_recordable: bool,
        is_always_recorded: bool,
        is_delegating: bool,
        outcome: Outcome,
        tool: &'s str,
    }

    fn top(tool: &str) -> Of<'_> {
        Of {
            parent: Parent::Step(StepId::new("s0")),
            origin: CallOrigin::Step,
            kind: ToolKind::Action,
            is_recordable: true,
            is_always_recorded: false,
            is_delegating: false,
            outcome: Outcome::default(),
            tool,
        }
    }

    fn remembering() -> Outcome {
        let set = Map::from_iter([("code".to_string(), json!("1234"))]);
        Outcome { memory: MemoryChanges { set, deleted: Vec::new() }, ..Outcome::default() }
    }

    fn beneath<'s>(parent: &str, tool: &'s str, origin: CallOrigin) -> Of<'s> {
        Of { parent: Parent::Call(CallId::new(parent)), origin, ..top(tool) }
    }

    fn delegating(tool: &str) -> Of<'_> {
        let delegate = Delegate { tool: "x".into(), args: Map::new() };
        Of { is_recordable: false, is_delegating: true, outcome: Outcome::delegating(vec![delegate]), ..top(tool) }
    }

    impl EventList {
        fn step(mut self, id: &str, index: usize) -> EventList {
            self.0.push(Event::StepStarted {
                step: StepId::new(id),
                attempt: AttemptId::new("a"),
                index,
                kind: StepKind::Step,
                text: "Do it".into(),
                plan: Plan::Interactive,
                role: None,
                hook: None,
                heading: None,
                place: None,
            });
            self
        }

        fn call(mut self, of: Of<'_>) -> EventList {
            self.0.push(Event::Called(Arc::new(Called {
                place: None,
                call: CallId::new(of.tool),
                parent: of.parent,
                session: SessionId::new("session"),
                attempt: AttemptId::new("a"),
                tool: of.tool.into(),
                args: Default::default(),
                origin: of.origin,
                kind: of.kind,
                is_recordable: of.is_recordable,
                is_delegating: of.is_delegating,
                is_custom: false,
                result_name: None,
                is_soft: false,
                is_condition: false,
                is_always_recorded: of.is_always_recorded,
                source: "built-in".into(),
            })));
            let answer = CallResult::Outcome(Box::new(of.outcome));
            self.0.push(Event::Answered { call: CallId::new(of.tool), micros: 1, answer });
            self
        }

        fn check(self, expected: &[&str], needs_model: &[&str]) {
            let steps = fold(&AttemptId::new("a"), &self.0);
            assert_eq!(steps.len(), 1);
            let names: Vec<&str> =
                steps[0].calls.iter().filter_map(|call| call.as_object()?.keys().next().map(String::as_str)).collect();
            assert_eq!(
                (names.as_slice(), steps[0].needs_model.iter().map(String::as_str).collect::<Vec<_>>().as_slice()),
                (expected, needs_model)
            );
        }
    }

    fn script() -> EventList {
        EventList(Vec::new()).step("s0", 0)
    }

    #[test]
    fn an_edit_replaces_what_was_recorded_before_it() {
        let called = json!({"tap": {"text": "Pay"}});
        let started = |step: &str, index, text: &str| Event::StepStarted {
            step: StepId::new(step),
            attempt: AttemptId::new("a"),
            index,
            kind: StepKind::Step,
            text: text.into(),
            plan: Plan::Interactive,
            role: None,
            hook: None,
            heading: None,
            place: None,
        };
        let edited = EditedStep { kind: StepKind::Verify, text: "Paid".into(), calls: vec![called.clone()] };
        let left = EditedStep { kind: StepKind::Step, text: "Log out".into(), calls: Vec::new() };
        let events = [
            started("s1", 0, "Open"),
            Event::StepsEdited { attempt: AttemptId::new("a"), steps: vec![edited, left] },
            started("s2", 2, "Go on"),
        ];
        let recorded = fold(&AttemptId::new("a"), &events);
        let found: Vec<(&str, usize)> = recorded.iter().map(|step| (step.text.as_str(), step.calls.len())).collect();
        assert_eq!(found, [("Paid", 1), ("Log out", 0), ("Go on", 0)]);
        let undone = Event::Undone { attempt: AttemptId::new("a"), what: Parent::Step(StepId::new("a/edit1.1")) };
        assert_eq!(fold(&AttemptId::new("a"), events.iter().chain([&undone])).len(), 2);
    }

    #[test]
    fn what_was_invoked_is_recorded_and_what_a_tool_did_itself_is_not() {
        script().call(top("login")).call(beneath("login", "tap", CallOrigin::Callback)).check(&["login"], &[]);
        script()
            .call(top("yamlTool"))
            .call(beneath("yamlTool", "tap", CallOrigin::Expansion))
            .check(&["yamlTool"], &[]);
    }

    #[test]
    fn failures_and_queries_leave_nothing_unless_they_acted_or_remembered() {
        script()
            .call(Of { outcome: Outcome::failed("no"), ..top("tap") })
            .call(Of { kind: ToolKind::Query, ..top("isVisible") })
            .call(Of { kind: ToolKind::Meta, is_recordable: false, ..top("objectiveStatus") })
            .call(Of { kind: ToolKind::Query, ..top("readAndTap") })
            .call(beneath("readAndTap", "press", CallOrigin::Callback))
            .call(Of { kind: ToolKind::Query, outcome: remembering(), ..top("readCode") })
            .call(Of { kind: ToolKind::Query, is_always_recorded: true, ..top("readAnyway") })
            .call(Of { kind: ToolKind::Assertion, ..top("assertVisible") })
            .check(&["readAndTap", "readCode", "readAnyway", "assertVisible"], &[]);
    }

    #[test]
    fn a_call_that_failed_after_it_had_acted_is_known() {
        let failed = |tool| Of { outcome: Outcome::failed("no"), ..top(tool) };
        let found = |list: EventList| fold(&AttemptId::new("a"), &list.0).remove(0).failed_halfway;
        let list = script()
            .call(top("tap"))
            .call(failed("pay"))
            .call(beneath("pay", "press", CallOrigin::Callback))
            .call(Of { kind: ToolKind::Query, ..beneath("pay", "isVisible", CallOrigin::Callback) })
            .call(Of { outcome: Outcome::failed("no"), ..beneath("pay", "swipe", CallOrigin::Callback) });
        let expected = FailedHalfway { tool: "pay".into(), done: vec!["press".into()], n_before: 1 };
        assert_eq!(found(list), [expected]);
        assert_eq!(found(script().call(failed("tap"))), []);
    }

    #[test]
    fn delegates_stand_in_for_their_tool_to_any_depth() {
        script()
            .call(delegating("flow"))
            .call(Of { kind: ToolKind::Query, ..beneath("flow", "isVisible", CallOrigin::Callback) })
            .call(Of { parent: Parent::Call(CallId::new("flow")), origin: CallOrigin::Delegate, ..delegating("login") })
            .call(beneath("login", "tap", CallOrigin::Delegate))
            .call(beneath("flow", "pay", CallOrigin::Delegate))
            .check(&["tap", "pay"], &[]);
    }

    #[test]
    fn an_unflagged_tool_that_answers_with_delegates_is_replaced_too() {
        let outcome = delegating("tap").outcome;
        script()
            .call(Of { outcome, ..top("tap") })
            .call(beneath("tap", "tapById", CallOrigin::Delegate))
            .check(&["tapById"], &[]);
    }

    #[test]
    fn a_tool_that_does_more_than_delegate_is_recorded_by_its_own_call() {
        let remembers = |of: Of<'static>| Of { outcome: Outcome { memory: remembering().memory, ..of.outcome }, ..of };
        script()
            .call(remembers(delegating("flow")))
            .call(beneath("flow", "tap", CallOrigin::Delegate))
            .check(&["flow"], &[]);
        let acting = |tool| Of { is_recordable: true, is_delegating: false, ..delegating(tool) };
        let callback = |kind, outcome| Of { kind, outcome, ..beneath("flow", "first", CallOrigin::Callback) };
        for (kind, outcome, expected) in [
            (ToolKind::Action, Outcome::default(), "flow"),
            (ToolKind::Query, remembering(), "flow"),
            (ToolKind::Query, Outcome::default(), "tap"),
        ] {
            script()
                .call(acting("flow"))
                .call(callback(kind, outcome))
                .call(beneath("flow", "tap", CallOrigin::Delegate))
                .check(&[expected], &[]);
        }
    }

    #[test]
    fn a_tool_that_cannot_be_replayed_makes_its_step_need_a_model() {
        script()
            .call(Of { is_recordable: false, ..top("judgeColours") })
            .call(beneath("judgeColours", "tap", CallOrigin::Callback))
            .check(&[], &["judgeColours"]);
    }

    #[test]
    fn a_step_whose_calls_were_recorded_as_they_were_made_has_no_stand_ins() {
        let has_stand_ins = |script: EventList| fold(&AttemptId::new("a"), &script.0)[0].has_stand_ins;
        let query = || Of { kind: ToolKind::Query, ..top("isVisible") };
        assert!(!has_stand_ins(script().call(query()).call(top("tap"))));
        assert!(has_stand_ins(script().call(delegating("flow")).call(beneath("flow", "tap", CallOrigin::Delegate))));
        assert!(has_stand_ins(script().call(Of { outcome: Outcome::default(), ..delegating("flow") })));
    }

    #[test]
    fn what_was_undone_is_not_recorded() {
        let undo = |mut script: EventList| {
            let (what, about) = last(&AttemptId::new("a"), &script.0).unwrap();
            script.0.push(Event::Undone { attempt: AttemptId::new("a"), what });
            (script, about)
        };
        let failed = Of { outcome: Outcome::failed("no"), ..top("missed") };
        let (script, about) = undo(script().call(top("first")).call(top("second")).call(failed));
        assert_eq!(about, "second");
        let (script, about) = undo(script);
        assert_eq!(about, "first");
        let (script, about) = undo(script);
        assert_eq!((about.as_str(), fold(&AttemptId::new("a"), &script.0)), ("Do it", vec![]));
        assert_eq!(last(&AttemptId::new("a"), &script.0), None);
    }

    #[test]
    fn only_the_last_try_of_a_step_counts() {
        script()
            .call(top("first"))
            .step("s1", 0)
            .call(Of { parent: Parent::Step(StepId::new("s1")), ..top("second") })
            .check(&["second"], &[]);
    }
}
