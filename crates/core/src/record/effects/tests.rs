//! Tests of the fold, and of writing effects and reading them back.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use trailblaze_protocol::event::{CallOrigin, CallResult, Called, Event, Plan, StepKind, ToolKind};
use trailblaze_protocol::ids::{AttemptId, Parent, SessionId, StepId};
use trailblaze_protocol::outcome::{Delegate, Outcome};

use super::*;
use crate::yaml::decode;
use crate::yaml::{Source, block};

/// A call with the calls beneath it.
#[derive(Debug, Clone)]
struct Made {
    name: &'static str,
    kind: ToolKind,
    is_custom: bool,
    result_name: Option<&'static str>,
    outcome: Outcome,
    beneath: Vec<Made>,
}

fn built_in(name: &'static str) -> Made {
    Made {
        name,
        kind: ToolKind::Action,
        is_custom: false,
        result_name: None,
        outcome: Outcome::default(),
        beneath: vec![],
    }
}

fn custom(name: &'static str, beneath: Vec<Made>) -> Made {
    Made { is_custom: true, beneath, ..built_in(name) }
}

impl Made {
    fn remembering(mut self, set: Value, deleted: &[&str]) -> Made {
        self.outcome.memory.set = set.as_object().cloned().unwrap_or_default();
        self.outcome.memory.deleted = deleted.iter().map(ToString::to_string).collect();
        self
    }

    fn failing(mut self) -> Made {
        self.outcome = Outcome { memory: self.outcome.memory, ..Outcome::failed("no") };
        self
    }

    fn events(&self, parent: Parent, origin: CallOrigin, events: &mut Vec<Event>) {
        let call = CallId::new(format!("c{}", events.len()));
        events.push(Event::Called(Arc::new(Called {
            place: None,
            call: call.clone(),
            parent,
            session: SessionId::new("session"),
            attempt: AttemptId::new("a"),
            tool: self.name.into(),
            args: Default::default(),
            origin,
            kind: self.kind,
            is_recordable: true,
            is_always_recorded: false,
            is_delegating: false,
            is_custom: self.is_custom,
            result_name: self.result_name.map(str::to_string),
            is_soft: false,
            is_condition: false,
            source: "".into(),
        })));
        let origin = if self.outcome.delegates.is_empty() { CallOrigin::Callback } else { CallOrigin::Delegate };
        for made in &self.beneath {
            made.events(Parent::Call(call.clone()), origin, events);
        }
        let answer = CallResult::Outcome(Box::new(self.outcome.clone()));
        events.push(Event::Answered { call, micros: 1, answer });
    }

    fn all_events(&self) -> Vec<Event> {
        let mut events = vec![Event::StepStarted {
            step: StepId::new("s"),
            attempt: AttemptId::new("a"),
            index: 0,
            kind: StepKind::Step,
            text: "Do it".into(),
            plan: Plan::Authored,
            role: None,
            hook: None,
            heading: None,
            place: None,
        }];
        self.events(Parent::Step(StepId::new("s")), CallOrigin::Step, &mut events);
        events
    }

    fn effects(&self) -> Vec<Effect> {
        let events = self.all_events();
        let steps = fold(&AttemptId::new("a"), &events);
        let did = steps[0].made[0].did.clone().expect("a custom call");
        let Event::Called(first) = &events[1] else { panic!("a call comes first") };
        assert_eq!(of_call(&first.call, &events), did, "both folds agree");
        did
    }

    #[track_caller]
    fn check(self, expected: Value) {
        let effects: Vec<Value> = self.effects().iter().map(Effect::json).collect();
        assert_eq!(Value::from(effects), expected);
    }
}

#[test]
fn leaves_are_effects_and_queries_and_failures_are_not() {
    let query = Made { kind: ToolKind::Query, ..built_in("isVisible") };
    let assertion = Made { kind: ToolKind::Assertion, ..built_in("assertVisible") };
    custom("login", vec![query, built_in("tap").failing(), built_in("tap"), assertion])
        .check(json!([{"tap": {}}, {"assertVisible": {}}]));
}

#[test]
fn a_built_in_tool_that_delegates_is_replaced_and_one_that_does_not_is_a_leaf() {
    let mut by_ref = Made { beneath: vec![built_in("tap")], ..built_in("tapByRef") };
    by_ref.outcome = Outcome::delegating(vec![Delegate { tool: "tap".into(), args: Map::new() }]);
    let erase = Made { beneath: vec![built_in("pressKey")], ..built_in("eraseText") };
    custom("login", vec![by_ref, erase]).check(json!([{"tap": {}}, {"eraseText": {}}]));
}

#[test]
fn memory_changes_where_it_changed_and_not_where_a_tool_failed() {
    let share = custom("share", vec![]).remembering(json!({"share": "5", "old": 1}), &[]);
    let forgets = custom("forgets", vec![built_in("tap")]).remembering(json!({"old": 2}), &["share"]).failing();
    custom("pay", vec![share, forgets, custom("query", vec![])]).remembering(json!({"paid": true}), &["old"]).check(
        json!([{"memory": {"set": {"share": "5", "old": 1}}}, {"tap": {}}, {"memory": {"set": {"paid": true}, "deleted": ["old"]}}]),
    );
}

#[test]
fn memory_changes_before_delegates_are_called_even_if_one_of_them_fails() {
    let delegates = |made: Made| {
        let mut made = Made { beneath: vec![built_in("tap"), built_in("back").failing()], ..made };
        made.outcome.delegates = vec![Delegate { tool: "tap".into(), args: Map::new() }; 2];
        made.remembering(json!({"order": 7}), &[])
    };
    let expected = json!([{"memory": {"set": {"order": 7}}}, {"tap": {}}]);
    delegates(custom("open", vec![])).check(expected.clone());
    let mut failed = delegates(custom("open", vec![]));
    failed.outcome.variant = Outcome::failed("no").variant;
    failed.check(expected);
}

#[test]
fn the_result_of_a_built_in_tool_is_an_effect_where_it_has_a_name() {
    let query = Made { kind: ToolKind::Query, result_name: Some("seen"), ..built_in("isVisible") };
    custom("login", vec![query.remembering(json!({"seen": true}), &[]), built_in("tap")])
        .check(json!([{"memory": {"set": {"seen": true}}}, {"tap": {}}]));
}

#[test]
fn one_change_of_memory_after_another_is_one() {
    let first = custom("first", vec![]).remembering(json!({"a": 1, "b": 1}), &["c"]);
    custom("all", vec![first])
        .remembering(json!({"c": 2, "b": 2}), &["a"])
        .check(json!([{"memory": {"set": {"b": 2, "c": 2}, "deleted": ["a"]}}]));
}

#[test]
fn what_a_tool_did_before_it_failed_is_an_effect() {
    custom("outer", vec![custom("inner", vec![built_in("tap")]).failing(), built_in("back")])
        .check(json!([{"tap": {}}, {"back": {}}]));
}

fn any_made() -> impl Strategy<Value = Made> {
    let leaf =
        prop_oneof![
            (prop_oneof![Just("tap"), Just("inputText")], prop::bool::weighted(0.2))
                .prop_map(|(name, fails)| if fails { built_in(name).failing() } else { built_in(name) }),
            Just(Made { kind: ToolKind::Query, ..built_in("isVisible") }),
        ];
    let tree = leaf.prop_recursive(4, 32, 5, |inner| {
        let memory = (prop::collection::vec(("[a-c]", 0..3i32), 0..3), prop::collection::vec("[a-c]", 0..2));
        (prop::collection::vec(inner, 0..5), memory, prop::bool::weighted(0.2)).prop_map(
            |(beneath, (set, deleted), fails)| {
                let set: Map<String, Value> = set.into_iter().map(|(name, value)| (name, value.into())).collect();
                let deleted: Vec<&str> = deleted.iter().map(String::as_str).collect();
                let made = custom("tool", beneath).remembering(Value::Object(set), &deleted);
                if fails { made.failing() } else { made }
            },
        )
    });
    prop::collection::vec(tree, 0..4).prop_map(|beneath| custom("top", beneath))
}

/// The memory after a call, or after its effects.
fn memory_after(made: &Made, memory: &mut crate::values::memory::Memory) {
    made.beneath.iter().for_each(|child| memory_after(child, memory));
    if made.is_custom && !made.outcome.is_error() {
        memory.apply(&made.outcome.memory);
    }
}

fn any_effect() -> impl Strategy<Value = Effect> {
    let value = prop_oneof![
        ".*".prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from)
    ];
    let map = prop::collection::vec((".{0,8}", value), 0..4).prop_map(|pairs| pairs.into_iter().collect::<Map<_, _>>());
    prop_oneof![
        ("[a-z][a-zA-Z]{0,8}", map.clone())
            .prop_filter("not the name of a memory change", |(tool, _)| tool != MEMORY)
            .prop_map(|(tool, args)| Effect::Call { tool, args }),
        (map, prop::collection::vec(".{0,8}", 0..3))
            .prop_map(|(set, deleted)| Effect::Memory(MemoryChanges { set, deleted })),
    ]
}

proptest! {
    /// Playing the effects results in the same memory and the same calls as running the tool.
    #[test]
    fn effects_leave_what_the_tool_left(made in any_made()) {
        let effects = made.effects();
        let (mut then, mut now) = (crate::values::memory::Memory::default(), crate::values::memory::Memory::default());
        memory_after(&made, &mut then);
        for effect in &effects {
            if let Effect::Memory(changes) = effect {
                now.apply(changes);
            }
        }
        prop_assert_eq!(then.values(), now.values());
        let twice = effects.windows(2).any(|pair| matches!(pair, [Effect::Memory(_), Effect::Memory(_)]));
        prop_assert!(!twice, "{effects:?}");
    }

    #[test]
    fn effects_read_back_as_they_were_written(did in prop::collection::vec(any_effect(), 0..6)) {
        let written: Vec<Value> = did.iter().map(Effect::json).collect();
        let text = block(&json!({"call": {"pay": {"to": "Ada"}}, "did": written}), 0);
        let source = Source::new("a.effects.yaml", text.clone());
        let mut problems = Problems::new(&source);
        let read: Option<CallEffects> = decode(&source, &mut problems);
        prop_assert!(!problems.has_errors(), "{problems:?}\n{text}");
        prop_assert_eq!(read.unwrap().did, did);
    }

    #[test]
    fn what_differs_is_told_and_nothing_else(
        recorded in prop::collection::vec(any_effect(), 0..6), happened in prop::collection::vec(any_effect(), 0..6),
    ) {
        prop_assert_eq!(differences(&recorded, &recorded), None);
        prop_assert_eq!(differences(&recorded, &happened).is_some(), recorded != happened);
    }
}
