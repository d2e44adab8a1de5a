//! Tools that ask a model: with the official libraries, in both generations of the protocol, and with our packages.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};
use trailblaze_protocol::event::{Event, ModelPurpose};
use trailblaze_protocol::ids::Parent;

use crate::support::lab::{Lab, Runtime, python, python_with_fastmcp_2};
use crate::support::{RunFolder, Running, wait_until};

/// A project with this server and these replies of a model.
fn project(lab: &Lab, entry: &str, keys: &str, replies: &str) {
    let entry = entry.replacen('}', &format!("{keys}}}"), 1);
    lab.with("replies.yaml", replies);
    lab.configured(&format!("llm: {{defaults: {{model: scripted/replies.yaml}}}}\nmcpServers: [{entry}]\n"));
}

fn script(name: &str) -> String {
    format!("{{name: asks, script: tools/{name}}}")
}

/// What was asked: the tool that asked, the messages, and the reply or why there is none.
fn asked(run: &RunFolder) -> Vec<(String, String, String)> {
    let (mut tools, mut lines, mut index_of) = (HashMap::new(), Vec::<(String, String, String)>::new(), HashMap::new());
    for event in run.events() {
        match event {
            Event::Called(called) => drop(tools.insert(called.call.clone(), called.tool.clone())),
            Event::ModelAsked(asked) => {
                assert_eq!(asked.purpose, ModelPurpose::Sampling);
                let Parent::Call(call) = &asked.about else { panic!("{asked:?} belongs to no call") };
                index_of.insert(asked.request.clone(), lines.len());
                lines.push((tools[call].clone(), asked.messages.join(" | "), String::new()));
            }
            Event::ModelReplied(replied) => {
                lines[index_of[&replied.request]].2 = replied.problem.unwrap_or(replied.text);
            }
            _ => {}
        }
    }
    lines
}

fn line(tool: &str, asked: &str, replied: &str) -> (String, String, String) {
    (tool.to_string(), asked.to_string(), replied.to_string())
}

const SAMPLING: &str = ", sampling: true";

#[test]
fn fastmcp_2_asks_about_text_and_pictures() {
    let Some(lab) = Lab::new() else { return };
    let Some(entry) = python_with_fastmcp_2("asks_second") else { return };
    lab.fixture("asks_second.py").calls(&["asks_sample: {question: 'What is it?'}", "asks_about_a_picture: {}"]);
    let replies = "replies:\n  \
        - {expect: {contains: ['What is it?', Be brief.]}, reply: {text: A cat.}}\n  \
        - {expect: {contains: What colour}, reply: {text: Red.}}\n";
    project(&lab, &entry, ", sampling: true, context: meta", replies);
    let played = lab.run(&["-d", "android/sim-1"], 0);
    assert_eq!(
        (played.texts("asks_sample"), played.texts("asks_about_a_picture")),
        (vec!["A cat.".into()], vec!["Red.".into()])
    );
    let expected =
        [line("asks_sample", "What is it?", "A cat."), line("asks_about_a_picture", "What colour is it?", "Red.")];
    assert_eq!(asked(&played.run), expected);
    let pictures = played.run.events().into_iter().filter_map(|event| match event {
        Event::ModelAsked(asked) => Some(asked.pictures.len()),
        _ => None,
    });
    assert_eq!(pictures.collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn over_http_a_request_belongs_to_the_call_that_it_came_with() {
    let Some(lab) = Lab::new() else { return };
    let Some(entry) = python_with_fastmcp_2("asks_second") else { return };
    lab.fixture("asks_second.py").calls(&["asks_together: {}"]);
    let replies = "replies:\n  \
        - {expect: {contains: 'Who is android/sim-1?'}, reply: {text: The first.}}\n  \
        - {expect: {contains: 'Who is ios/sim-1?'}, reply: {text: The second.}}\n";
    project(&lab, &entry, ", sampling: true, context: meta, multiDevice: http", replies);
    let played = lab.run(&["-d", "android/sim-1", "-d", "ios/sim-1"], 0);
    let mut told = played.texts("asks_together");
    told.sort();
    assert_eq!(told, ["The first.", "The second."]);
    // Each request is recorded in the session of its own device.
    let events = played.run.events();
    let device_of: HashMap<_, _> = events
        .iter()
        .filter_map(|event| match event {
            Event::SessionOpened { session, device, .. } => Some((session.clone(), device.id.to_string())),
            _ => None,
        })
        .collect();
    let session_of: HashMap<_, _> = events
        .iter()
        .filter_map(|event| match event {
            Event::Called(called) => Some((Parent::Call(called.call.clone()), called.session.clone())),
            _ => None,
        })
        .collect();
    for event in &events {
        if let Event::ModelAsked(asked) = event {
            assert_eq!(asked.messages, [format!("Who is {}?", device_of[&session_of[&asked.about]])]);
        }
    }
}

#[test]
fn the_python_sdk_asks_in_either_generation_and_all_rounds_are_one_call() {
    let Some(lab) = Lab::new() else { return };
    lab.fixture("asks.py").calls(&["asks_twice: {question: 'What is it?'}"]);
    let replies = "replies:\n  \
        - {expect: {contains: ['What is it?', Be brief.]}, reply: {text: a cat}}\n  \
        - {expect: {contains: Why a cat?}, reply: {text: it meows, stop: cutOff}}\n";
    for keys in ["", ", protocol: '2026-07-28'", ", multiDevice: http", ", multiDevice: http, protocol: '2026-07-28'"] {
        project(&lab, &python("asks"), &format!("{SAMPLING}{keys}"), replies);
        let played = lab.run(&["-d", "android/sim-1"], 0);
        assert_eq!(played.texts("asks_twice"), ["scripted/replies.yaml: a cat, it meows (maxTokens)"], "{keys}");
        assert_eq!(played.run.calls().len(), 1, "{keys}");
        let cut_off = "the reply was cut off at the limit of output tokens";
        let expected = [line("asks_twice", "What is it?", "a cat"), line("asks_twice", "Why a cat?", cut_off)];
        assert_eq!(asked(&played.run), expected, "{keys}");
    }
}

#[test]
fn the_newer_typescript_sdk_asks_in_either_generation() {
    let Some(lab) = Lab::new() else { return };
    let replies = "replies:\n  - {repeat: true, reply: {text: A cat.}}\n";
    let told = r#"scripted/replies.yaml: {"type":"text","text":"A cat."}"#;
    project(&lab, &script("asks.ts"), SAMPLING, replies);
    let played =
        lab.fixture("asks.ts").calls(&["asks_push: {question: 'What is it?'}"]).run(&["-d", "android/sim-1"], 0);
    assert_eq!(played.texts("asks_push"), [told]);

    project(&lab, &script("asks.ts"), ", sampling: true, protocol: '2026-07-28'", replies);
    let lab = lab.calls(&["asks_rounds: {question: 'What is it?'}", "asks_waiting: {}"]);
    let played = lab.run(&["-d", "android/sim-1"], 0);
    assert_eq!(played.texts("asks_rounds"), [format!("{told} kept")]);
    assert_eq!(played.texts("asks_waiting"), ["waited 3 times"]);
    assert_eq!(asked(&played.run), [line("asks_rounds", "What is it?", "A cat.")]);
}

#[test]
fn rounds_that_do_not_end_and_requests_for_other_input_fail_the_call() {
    let Some(lab) = Lab::new() else { return };
    lab.fixture("asks.ts");
    let replies = "replies:\n  - {repeat: true, reply: {text: Yes.}}\n";
    let check = |keys: &str, call: &str, expected: &str| {
        project(&lab, &script("asks.ts"), &format!("{keys}, protocol: '2026-07-28'"), replies);
        let played = lab.calls(&[&format!("{call}: {{}}")]).run(&["-d", "android/sim-1"], 1);
        let told = played.texts(call).remove(0);
        assert!(told.contains(expected), "{told}");
        asked(&played.run).len()
    };
    assert_eq!(check(SAMPLING, "asks_forever", "it asked for input: more than 10 times in one call"), 10);
    // A library does not send what the client has not offered; one that does is tested with a hostile server.
    assert_eq!(check(SAMPLING, "asks_a_person", "elicitation"), 0);
    assert_eq!(check("", "asks_forever", "sampling"), 0);
}

#[test]
fn the_older_typescript_sdk_asks_and_each_call_has_its_quota() {
    let Some(lab) = Lab::new() else { return };
    let replies = "replies:\n  - {repeat: true, reply: {text: A cat.}}\n";
    project(&lab, &script("asks_older.ts"), SAMPLING, replies);
    lab.fixture("asks_older.ts").calls(&[
        "asks_older: {question: 'What is it?'}",
        "asks_often: {times: 50}",
        "asks_often: {times: 2}",
        "asks_at_length: {}",
    ]);
    let played = lab.run(&["-d", "android/sim-1"], 0);
    assert_eq!(played.texts("asks_older"), [r#"scripted/replies.yaml: {"type":"text","text":"A cat."}"#]);
    let counted: Vec<Value> =
        played.texts("asks_often").iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
    let over = "MCP error -1: `asks_often` was refused: one call may ask a model at most 20 times";
    assert_eq!(counted, [json!({"answered": 20, over: 30}), json!({"answered": 2})]);
    let over = "MCP error -1: `asks_at_length` was refused: the requests of one call to a model may take at most 100000 tokens";
    assert_eq!(played.texts("asks_at_length"), [over]);
    assert_eq!(asked(&played.run).len(), 23);
}

#[test]
fn a_request_outside_of_a_call_is_refused() {
    let Some(lab) = Lab::new() else { return };
    let replies = "replies: [{repeat: true, reply: {text: A cat.}}]\n";
    project(&lab, &script("asks_older.ts"), SAMPLING, replies);
    lab.fixture("asks_older.ts");
    let mut command = lab.command(&["shell", "--json", "-d", "android/sim-1"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("its stdin");
    let mut answers = BufReader::new(child.stdout.take().expect("its stdout")).lines();
    let mut running = Running::of(child);
    let mut say = |line: &str| -> Value {
        writeln!(input, "{line}").expect("it reads");
        serde_json::from_str(&answers.next().expect("an answer").expect("text")).expect("JSON")
    };
    assert_eq!(say("asks_afterwards")["answer"]["text"], "done");
    // The question is asked while no call is in flight.
    lab.with("tools/ask", "");
    wait_until("the question is answered", || lab.project.root().join("tools/asked").exists().then_some(()));
    let told = "MCP error -32602: a server can ask a model only while one of its tools is being called";
    assert_eq!(say("asks_what_became_of_it")["answer"]["text"], told);
    drop(input);
    assert!(running.status().success());
    lab.assert_none_left();
    assert_eq!(asked(&lab.project.last_run()), []);
}

#[test]
fn a_server_that_may_not_ask_is_told_how_to_allow_it() {
    let Some(lab) = Lab::new() else { return };
    let replies = "replies: [{repeat: true, reply: {text: A cat.}}]\n";
    project(&lab, &script("asks_scripting.ts"), "", replies);
    let played = lab.fixture("asks_scripting.ts").calls(&["asks_llm: {}"]).run(&["-d", "android/sim-1"], 1);
    let told = played.texts("asks_llm").remove(0);
    let expected = "`asks_llm` may not ask a model: set `sampling: true` in the entry of its server to allow that";
    assert!(told.contains(expected), "{told}");
    assert_eq!(asked(&played.run), []);
}

#[test]
fn without_a_model_a_tool_is_told_how_to_choose_one() {
    let Some(lab) = Lab::new() else { return };
    project(&lab, &script("asks_scripting.ts"), SAMPLING, "replies: []\n");
    let lab = lab.fixture("asks_scripting.ts").calls(&["asks_llm: {}"]);
    let told = lab.run(&["-d", "android/sim-1", "--model", "none"], 1).texts("asks_llm").remove(0);
    assert!(told.contains("no model is configured; choose one with --model"), "{told}");
}

#[test]
fn tools_of_our_package_ask_as_a_process_and_in_the_engine() {
    let Some(lab) = Lab::under(Runtime::Bun) else { return };
    let replies = "replies:\n  \
        - {expect: {contains: Is the button green?}, reply: {text: 'Yes, it is.'}}\n  \
        - {expect: {contains: [Is it late?, Be brief.]}, reply: {text: No.}}\n  \
        - {expect: {contains: Sure?}, reply: {text: Quite.}}\n";
    lab.fixture("asks_scripting.ts").calls(&["asks_llm: {}", "asks_message: {}"]);
    for keys in [SAMPLING, ", sampling: true, runtime: embedded"] {
        project(&lab, &script("asks_scripting.ts"), keys, replies);
        let played = lab.run(&["-d", "android/sim-1"], 0);
        assert_eq!(played.texts("asks_llm"), ["true scripted/replies.yaml: Yes, it is."], "{keys}");
        assert_eq!(played.texts("asks_message"), ["No. Quite."], "{keys}");
        let pictures = played.run.events().into_iter().filter_map(|event| match event {
            Event::ModelAsked(asked) => Some(asked.pictures.len()),
            _ => None,
        });
        assert_eq!(pictures.collect::<Vec<_>>(), [1, 0, 0], "{keys}: the screenshot is sent on request");
    }
}

#[test]
fn a_model_without_vision_gets_the_screen_as_text() {
    let Some(lab) = Lab::new() else { return };
    let replies = "model: {id: blind, vision: false}\nreplies:\n  - {reply: {text: 'Yes.'}}\n";
    project(&lab, &script("asks_scripting.ts"), SAMPLING, replies);
    lab.fixture("asks_scripting.ts").calls(&["launchApp: {packageId: com.example.counter}", "asks_llm: {}"]);
    let played = lab.run(&["-d", "android/sim-1"], 0);
    let (_, messages, _) = asked(&played.run).remove(0);
    assert!(messages.starts_with("Is the button green?") && messages.contains("<app replayed>"), "{messages}");
    assert!(messages.contains("Count"), "{messages}");
}
