//! YAML tools, from the file to the device.

use serde_json::{Value, json};
use trailblaze_core::callers::preflight::check_tools;
use trailblaze_core::engine::registry::Batch;
use trailblaze_core::testing::{FakeDriver, FakeSource, TestPage, TestSession, TestWiring, field};
use trailblaze_core::tool_files::{FileTool, read};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::Event;
use trailblaze_protocol::outcome::Outcome;

/// A tool with one parameter of each kind, which calls `echo` with these arguments.
fn greet(arguments: &str) -> Batch {
    own(&format!(
        "id: greet
description: Greets.
parameters:
  - {{name: who, type: string}}
  - {{name: n, type: integer, required: false}}
  - {{name: size, type: number, default: 1.5}}
  - {{name: loud, type: boolean, required: false}}
tools:
  - echo: {arguments}
"
    ))
}

fn own(text: &str) -> Batch {
    match read(&Source::new("tool.yaml", text)) {
        (Some(FileTool::Own(batch)), _) => *batch,
        (_, problems) => panic!("{problems:?}"),
    }
}

fn problems(text: &str) -> Vec<String> {
    let (tool, problems) = read(&Source::new("tool.yaml", text));
    assert!(tool.is_none(), "{text}");
    problems.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_call_that_cannot_be_made_names_its_place_in_the_file() {
    for (call, expected) in [
        ("eco: {a: 1}", "tool.yaml:5:5: unknown tool `eco`; did you mean `echo`?"),
        ("tap: {indx: '{{x}}'}", "tool.yaml:5:5: `tap`: unknown argument `indx`; did you mean `index`?"),
    ] {
        let outer = format!(
            "id: outer\ndescription: Calls.\nparameters: [{{name: x, type: integer, default: 1}}]\ntools:\n  - {call}\n"
        );
        let called = session([own(&outer)]).call("outer", json!({})).await;
        let fault = called.err().map(|fault| fault.to_string()).unwrap_or_default();
        assert_eq!(fault, expected);
    }
}

#[test]
fn a_misspelled_parameter_is_a_warning_at_its_place() {
    let file = |text: &str| {
        format!(
            "id: pay\ndescription: Pays.\nparameters:\n  - {{name: amount, type: string}}\n  - {{name: user, type: string}}\ntools:\n  - echo: {{a: '{text}'}}\n"
        )
    };
    let (tool, problems) = read(&Source::new("tool.yaml", file("{{amount}} and {{amuont}} EUR")));
    assert!(tool.is_some_and(|tool| matches!(tool, FileTool::Own(_))), "the tool can be called");
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let expected = "tool.yaml:7:31: the tool has no parameter `amuont` (did you mean the parameter `amount`? if a trail remembers \
                    it, write `{{memory.amuont}}`)";
    assert_eq!(told, [expected]);
    // Anything else may be remembered, and `${…}` is never a parameter.
    for text in ["{{city}}", "{{username}}", "{{memory.amuont}}", "{{target.amuont}}", "${amuont}", "{{args.user}}"] {
        assert_eq!(read(&Source::new("tool.yaml", file(text))).1, [], "{text}");
    }
}

fn session(batches: impl IntoIterator<Item = Batch>) -> TestSession {
    let echo =
        FakeSource::new("acme").tool("echo", |_, args| async move { Outcome::value("echo", Value::Object(args)) });
    let phone = FakeDriver::new("android/one", [TestPage::new("home", [field("name")])]);
    let wiring = TestWiring::new(phone).with(echo.batch()).remembering(json!({"who": "nobody", "city": "Paris"}));
    batches.into_iter().fold(wiring, TestWiring::with).open()
}

/// Calls `greet`, and compares the arguments that are recorded for its call, and those that `echo` received.
async fn check(expansion: &str, given: Value, called: Value, got: Value) {
    let session = session([greet(expansion)]);
    let outcome = session.call("greet", given).await.unwrap();
    assert!(!outcome.is_error(), "{}", outcome.text);
    let echo = session.events.all().into_iter().find_map(|event| match event {
        Event::Called(called) if called.tool == "echo" => Some(called),
        _ => None,
    });
    let echo = echo.unwrap();
    assert_eq!(json!(*echo.args), called, "{expansion}");
    let answered = session.events.all().into_iter().find_map(|event| match event {
        Event::Answered { call, answer: trailblaze_protocol::event::CallResult::Outcome(outcome), .. }
            if call == echo.call =>
        {
            outcome.structured
        }
        _ => None,
    });
    assert_eq!(answered, Some(got), "{expansion}");
}

/// Same as `check`, for expansions that do not use memory.
async fn check_same(expansion: &str, given: Value, expected: Value) {
    check(expansion, given, expected.clone(), expected).await;
}

#[tokio::test(start_paused = true)]
async fn a_whole_value_keeps_its_type() {
    check_same(
        "{w: '{{who}}', n: '{{n}}', s: '{{ size }}', l: '{{loud}}'}",
        json!({"who": "Ada", "n": 3, "size": 2.5, "loud": true}),
        json!({"w": "Ada", "n": 3, "s": 2.5, "l": true}),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_parameter_within_text_is_inserted() {
    check_same(
        "{t: '{{who}} x{{n}} {{size}} {{loud}}', deep: [{a: '-{{n}}-'}]}",
        json!({"who": "Ada", "n": 3, "loud": false}),
        json!({"t": "Ada x3 1.5 false", "deep": [{"a": "-3-"}]}),
    )
    .await;
    check_same("{t: '<{{n}}>'}", json!({"who": "Ada"}), json!({"t": "<>"})).await;
}

#[tokio::test(start_paused = true)]
async fn an_omitted_parameter_is_its_default_or_null_or_dropped() {
    check_same(
        "{n: '{{n}}', s: '{{size}}', gone: '{{?n}}', kept: '{{?who}}', list: ['{{?n}}', '{{who}}']}",
        json!({"who": "Ada"}),
        json!({"n": null, "s": 1.5, "kept": "Ada", "list": ["Ada"]}),
    )
    .await;
    check_same(
        "{n: '{{n}}', s: '{{size}}'}",
        json!({"who": "Ada", "n": null, "size": null}),
        json!({"n": null, "s": 1.5}),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_parameter_has_a_long_name_and_keys_are_never_replaced() {
    check_same(
        "{a: '{{params.who}}', '{{who}}': '{{?params.n}}', '{{n}}': x}",
        json!({"who": "Ada"}),
        json!({"a": "Ada", "{{n}}": "x"}),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn inserted_text_is_not_expanded_again() {
    // The inserted text is now a memory template, and memory has no `n`.
    check("{t: '{{who}}'}", json!({"who": "{{n}}", "n": 3}), json!({"t": "{{n}}"}), json!({"t": "{{n}}"})).await;
}

#[tokio::test(start_paused = true)]
async fn parameters_shadow_memory_and_other_tokens_refer_to_memory() {
    check(
        "{a: '{{who}} in {{city}}', b: '${city}', c: '${who}', d: '{{memory.who}}', e: '{{unknown}}'}",
        json!({"who": "Ada"}),
        json!({"a": "Ada in {{city}}", "b": "${city}", "c": "${who}", "d": "{{memory.who}}", "e": "{{unknown}}"}),
        json!({"a": "Ada in Paris", "b": "Paris", "c": "nobody", "d": "nobody", "e": "{{unknown}}"}),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_template_that_the_caller_passes_is_resolved_once() {
    let session = session([greet("{t: '{{who}}!', n: '{{n}}'}")]);
    let outcome = session.call("greet", json!({"who": "{{city}}", "n": "{{unknown}}"})).await;
    // An unknown token is not a valid integer.
    let message = "`greet`: `n`: \"{{unknown}}\" is not of type \"integer\"; `{{unknown}}` is unknown: no value is \
                   remembered under that name";
    assert_eq!(outcome.unwrap_err().to_string(), message);
    check("{t: '{{who}}!'}", json!({"who": "{{city}}"}), json!({"t": "{{city}}!"}), json!({"t": "Paris!"})).await;
}

#[tokio::test(start_paused = true)]
async fn the_expansion_is_nested_in_the_call_and_its_last_text_is_the_result() {
    let session = session([own(
        "id: both\ndescription: d\nparameters: []\ntools: [{echo: {a: b}}, {remember: {variable: x, value: y}}]",
    )]);
    assert_eq!(session.call("both", json!({})).await.unwrap(), Outcome::success("x = y"));
    assert_eq!(
        session.events.calls(),
        [
            "both {} step: ok",
            r#"  echo {"a":"b"} expansion: ok"#,
            r#"  remember {"variable":"x","value":"y"} expansion: ok"#
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_failing_call_fails_the_tool() {
    let session = session([own(
        "id: both\ndescription: d\nparameters: []\ntools: [{assertEquals: {actual: a, expected: b}}, {echo: {}}]",
    )]);
    assert_eq!(
        session.call("both", json!({})).await.unwrap().text,
        "its call to `assertEquals` (tool.yaml:4:10) failed: expected \"b\", saw \"a\""
    );
    assert_eq!(session.events.calls().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_shipped_erase_text_erases_all_or_a_number_of_characters() {
    let session = session([]);
    session.call("inputText", json!({"text": "Grace", "hideKeyboardAfter": false})).await.unwrap();
    for arguments in [json!({"charactersToErase": 2}), json!({"charactersToErase": null}), json!({})] {
        let outcome = session.call("eraseText", arguments).await.unwrap();
        assert!(!outcome.is_error(), "{}", outcome.text);
    }
    assert_eq!(
        session.driver.done()[1..],
        ["EraseText { count: Some(2) }", "EraseText { count: None }", "EraseText { count: None }"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_optional_parameter_can_be_passed_on_to_a_built_in_tool() {
    let tool = own("id: tapIt
description: Taps.
parameters: [{name: id, type: string}, {name: index, type: integer, required: false}]
tools: [{tap: {id: '{{id}}', index: '{{index}}'}}]");
    let session = session([tool]);
    let outcome = session.call("tapIt", json!({"id": "name"})).await.unwrap();
    assert!(!outcome.is_error(), "{}", outcome.text);
    assert_eq!(session.driver.done(), ["Tap on EditText [id=name]"]);
}

#[test]
fn a_tool_moved_from_code_to_yaml_has_the_same_descriptor() {
    let moved = own("id: tapOnElementWithText
description: Tap an element whose text contains the given text.
parameters:
  - {name: text, type: string, description: A distinctive part of the element's text.}
  - {name: index, type: integer, default: 0, description: 'Which match to use, from 0.'}
  - {name: id, type: string, required: false, description: The element's id.}
  - {name: enabled, type: boolean, required: false, description: 'Only match an enabled (true) or disabled (false) element.'}
  - {name: selected, type: boolean, required: false, description: 'Only match a selected (true) or unselected (false) element.'}
  - {name: timeoutMs, type: integer, required: false, description: 'How long to wait, in milliseconds (default 5000).'}
  - {name: reasoning, type: string, required: false, description: Why you do this.}
tools:
  - tap: {text: '{{text}}', index: '{{index}}'}
");
    let session = session([]);
    let registry = session.inner.registry();
    let compiled = registry.get("tapOnElementWithText").unwrap();
    let moved = &moved.tools[0];
    assert_eq!(
        (&moved.name, &moved.description, moved.schema.json()),
        (&compiled.name, &compiled.description, compiled.schema.json())
    );
    assert_eq!(
        (moved.kind, moved.is_for_llm, moved.is_recordable, moved.is_delegating, moved.requires_host),
        (compiled.kind, compiled.is_for_llm, compiled.is_recordable, compiled.is_delegating, compiled.requires_host)
    );
}

#[test]
fn the_descriptor_of_a_file_matches_the_file() {
    let tool = &greet("{}").tools[0];
    assert_eq!((tool.name.as_str(), tool.description.as_str()), ("greet", "Greets."));
    assert_eq!(
        *tool.schema.json(),
        json!({
            "type": "object",
            "properties": {
                "who": {"type": "string"},
                "n": {"type": "integer"},
                "size": {"type": "number", "default": 1.5},
                "loud": {"type": "boolean"},
            },
            "required": ["who"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn all_problems_of_a_file_are_reported_with_their_places() {
    assert_eq!(
        problems(
            "id: greet
descripton: Greets.
parameters:
  - {name: who, type: text}
  - {name: 2nd, type: integer}
  - {name: n, type: integer, default: many}
  - {name: n, type: integer, default: 1, required: true}
tools:
  - echo: {a: '{{params.whom}}', b: '{{?m}}'}
  - echo
"
        ),
        [
            "tool.yaml:2:1: unknown key `descripton` (did you mean `description`?)",
            "tool.yaml:4:23: unknown value `text` (expected one of: string, integer, boolean, number, array, object)",
            "tool.yaml:10:5: a call must be written as `toolName: {arguments}`, with one tool per item; found a single value",
            "tool.yaml:1:1: `description` is missing (describe what the tool does, for people and models)",
            "tool.yaml:5:12: `2nd` is not a valid parameter name; use letters, digits and _",
            "tool.yaml:6:39: the default `many` is not a whole number",
            "tool.yaml:7:12: the parameter `n` is declared twice",
            "tool.yaml:7:39: a parameter with a default cannot be required",
            "tool.yaml:9:16: unknown parameter `whom` (did you mean `who`?)",
            "tool.yaml:9:38: unknown parameter `m` (expected one of: who, 2nd, n, n)",
        ]
    );
}

#[test]
fn a_file_has_exactly_one_mode() {
    let common = "id: greet\ndescription: d\nparameters: []\n";
    assert_eq!(
        problems(common),
        ["tool.yaml:1:1: a tool must have one of `class`, `tools` or `script`; this one has none"]
    );
    assert_eq!(
        problems(&format!("{common}tools: []\n")),
        ["tool.yaml:4:8: `tools` is empty, so the tool would do nothing (add a call to it)"]
    );
    assert_eq!(
        problems(&format!("{common}tools: []\nscript: {{source: '1'}}\n")),
        [
            "tool.yaml:5:9: a tool must have only one of `class`, `tools` or `script`; this one has tools and script (keep one of them)"
        ]
    );
    assert_eq!(
        problems(&format!("{common}script: {{source: '1', file: a.js}}\n")),
        ["tool.yaml:4:9: a script must have exactly one of `source` and `file`"]
    );
}

#[test]
fn description_and_parameters_are_required_or_forbidden_by_the_mode() {
    assert_eq!(
        problems("id: greet\ntools: [{echo: {}}]\n"),
        [
            "tool.yaml:1:1: `description` is missing (describe what the tool does, for people and models)",
            "tool.yaml:1:1: `parameters` is missing (use `parameters: []` for a tool without parameters)",
        ]
    );
    assert_eq!(
        problems("id: greet\nclass: tap\ndescription: d\nparameters: []\nisForLlm: false\n"),
        [
            "tool.yaml:3:1: `description` cannot be used with `class`: the compiled tool defines it",
            "tool.yaml:4:1: `parameters` cannot be used with `class`: the compiled tool defines it",
            "tool.yaml:5:1: `isForLlm` cannot be used with `class`: the compiled tool defines it",
        ]
    );
    let (alias, problems) = read(&Source::new("tool.yaml", "id: press\nclass: tap\n"));
    assert_eq!(problems, []);
    assert!(matches!(alias, Some(FileTool::Alias(alias)) if alias.id == "press" && alias.class.value == "tap"));
}

#[test]
fn problems_across_files_are_found_before_anything_runs() {
    let tool = |id: &str, calls: &str| own(&format!("id: {id}\ndescription: d\nparameters: []\ntools: {calls}\n"));
    let session = session([
        tool("a", "[{b: {}}]"),
        tool("b", "[{echo: {}}, {a: {}}, {c: {}}]"),
        tool("c", "[{c: {}}]"),
        tool("d", "[{a: {}}, {tapp: {}}, {inputText: {txt: x}}, {tap: {index: '{{n}}'}}]"),
    ]);
    let found: Vec<String> = check_tools(&session.inner.registry()).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "tool.yaml:4:19: unknown tool `tapp` (did you mean `tap`?)",
            "tool.yaml:4:31: `inputText` is missing the argument `text`",
            "tool.yaml:4:42: `inputText`: unknown argument `txt`; did you mean `text`?",
            "tool.yaml:4:10: these tools call each other endlessly: a → b → a",
            "tool.yaml:4:10: these tools call each other endlessly: c → c",
        ]
    );
}

#[test]
fn many_paths_through_the_same_tools_are_checked_quickly() {
    let tool = |n: usize| {
        let next = n + 1;
        own(&format!(
            "id: t{n}\ndescription: d\nparameters: []\ntools: [{{t{next}: {{}}}}, {{t{next}: {{}}}}, {{t{next}: {{}}}}]\n"
        ))
    };
    let mut batches: Vec<Batch> = (0..40).map(tool).collect();
    batches.push(own("id: t40\ndescription: d\nparameters: []\ntools: [{pressKey: {keyCode: BACK}}]\n"));
    assert_eq!(check_tools(&session(batches).inner.registry()), []);
}

#[tokio::test]
async fn a_parameter_is_converted_to_the_type_before_the_colon() {
    let both = |value: Value| (value.clone(), value);
    let (called, got) = both(json!({"count": 3, "text": "2", "loud": true}));
    check(
        r#"{count: "{{int:who}}", text: "{{string:n}}", loud: "{{bool:loud}}"}"#,
        json!({"who": "3", "n": 2, "loud": true}),
        called,
        got,
    )
    .await;
    // A template that the caller passes is converted when its value is known.
    check(
        r#"{city: "{{string:who}}"}"#,
        json!({"who": "{{city}}"}),
        json!({"city": "{{string:city}}"}),
        json!({"city": "Paris"}),
    )
    .await;
    let session = session([greet(r#"{count: "{{int:who}}"}"#)]);
    let outcome = session.call("greet", json!({"who": "three"})).await.unwrap();
    assert!(outcome.is_error(), "{outcome:?}");
    assert_eq!(outcome.text, "the value of `{{int:who}}` is not a whole number");
    let unknown = problems(
        "id: greet\ndescription: Greets.\nparameters: [{name: n, type: integer}]\ntools: [{echo: {count: '{{itn:n}}'}}]\n",
    );
    assert_eq!(unknown, ["tool.yaml:4:24: unknown type `itn` (expected one of: int, number, bool, string)"]);
}

#[tokio::test]
async fn a_tool_replaces_a_built_in_one_if_its_file_says_so() {
    let tap = "id: tap\ndescription: Taps more carefully.\nparameters: []\ntools: [{echo: {word: carefully}}]\n";
    let session = session([own(&format!("{tap}override: true\n"))]);
    let outcome = session.call("tap", json!({})).await.unwrap();
    assert!(!outcome.is_error(), "{}", outcome.text);
    let called =
        session.events.all().into_iter().any(|event| matches!(event, Event::Called(called) if called.tool == "echo"));
    assert!(called, "the built-in tool was called");
}
