//! What tool servers listed and answered is kept on cassettes, and played back without the servers.

use std::collections::HashMap;

use crate::support::lab::{Lab, Played, Runtime, parts};
use crate::support::{Project, RunFolder, files};
use serde_json::{Value, json};
use trailblaze_core::yaml::{Problems, Source, loose, read};
use trailblaze_protocol::event::{CallResult, Event};
use trailblaze_protocol::ids::Parent;

const CASSETTE: &str = "cassettes/calls.cassette.yaml";
const RECORD: [&str; 2] = ["--cassette", "record"];
const REPLAY: [&str; 2] = ["--cassette", "replay"];
const LAUNCH: &str = "launchApp: {packageId: com.example.counter}";

/// A project whose server runs under Node.
fn calls(calls: &[&str]) -> Option<Lab> {
    let lab = Lab::under(Runtime::Node)?;
    lab.fixture("calls.ts").configured("mcpServers: [{name: calls, script: tools/calls.ts, secrets: [PIN]}]\n");
    lab.calls(calls);
    Some(lab)
}

/// From now on no server could start, whatever it is written in.
fn without_runtimes(lab: &Lab) -> &Lab {
    lab.env("PATH", lab.path("nowhere"))
}

/// Every call with its place in the tree, its arguments and what became of it, less ids and times.
fn story(run: &RunFolder) -> Vec<Value> {
    let mut depths: HashMap<String, usize> = HashMap::new();
    let mut story = Vec::new();
    for event in run.events() {
        match event {
            Event::Called(called) => {
                let depth = match &called.parent {
                    Parent::Step(_) => 0,
                    Parent::Call(above) => depths[above.as_str()] + 1,
                };
                depths.insert(called.call.as_str().to_string(), depth);
                story.push(json!([
                    depth,
                    called.tool,
                    called.args,
                    called.origin,
                    called.source,
                    called.is_delegating
                ]));
            }
            Event::Answered { call, answer, .. } => match answer {
                CallResult::Outcome(outcome) => story.push(json!([depths[call.as_str()], outcome])),
                CallResult::Fault { message, .. } => story.push(json!([depths[call.as_str()], message])),
            },
            _ => {}
        }
    }
    story
}

fn has_started_servers(run: &RunFolder) -> bool {
    run.events().iter().any(|event| matches!(event, Event::ServerStarted { .. })) || run.has("servers")
}

/// The cassette, as anything that reads YAML sees it.
fn cassette(project: &Project, file: &str) -> Value {
    let source = Source::new(file, project.read(file));
    loose(&read(&source, &mut Problems::new(&source)).expect("it is YAML"))
}

fn told(played: &Played) -> String {
    format!("{}{}", played.ran.stdout, played.ran.stderr)
}

#[test]
fn what_other_trails_recorded_stays_until_it_is_recorded_again() {
    let Some(lab) = calls(&[LAUNCH, "call_remember: {who: Ada}", "call_remember: {who: Ada}"]) else { return };
    lab.run(&RECORD, 0);
    lab.calls(&[LAUNCH, "call_remember: {who: Grace}", "call_remember: {who: Ada}"]);
    lab.run(&RECORD, 0);
    let kept = cassette(&lab.project, CASSETTE);
    let who: Vec<&Value> = kept["calls"].as_array().expect("calls").iter().map(|call| &call["args"]["who"]).collect();
    assert_eq!(who, ["Grace", "Ada"], "the two of the first trail were recorded anew, once");
    lab.calls(&[LAUNCH, "call_remember: {who: Linus}"]);
    lab.run(&RECORD, 0);
    lab.calls(&[LAUNCH, "call_remember: {who: Grace}", "call_remember: {who: Ada}", "call_remember: {who: Linus}"]);
    without_runtimes(&lab).run(&REPLAY, 0);
}

#[test]
fn what_a_server_did_is_played_back_without_it() {
    let Some(lab) = calls(&[
        LAUNCH,
        "call_remember: {who: Ada}",
        "call_work: {}",
        "call_delegate: {}",
        "call_delegateInText: {}",
        "call_delegateAndAct: {}",
        "call_picture: {}",
        "call_type: {text: '{{who}}'}",
        "call_forget: {name: who}",
        "assertVisible: {id: greeting, expectedText: 'Hello, Ada'}",
        "assertVisible: {text: 'Count: 9'}",
    ]) else {
        return;
    };
    let recorded = lab.run(&RECORD, 0);
    let said = format!("saved 9 calls to server `calls` in {CASSETTE}\n");
    assert!(recorded.ran.stderr.contains(&said), "{}", recorded.ran.stderr);
    let kept = cassette(&lab.project, CASSETTE);
    let schema = trailblaze::cli::schemas().into_iter().find(|(kind, _)| *kind == "cassette").expect("a schema").1;
    assert!(jsonschema::validator_for(&schema).expect("a schema").is_valid(&kept), "{kept}");
    assert_eq!(kept["cassette"], 1);
    let tools: Vec<&Value> = kept["calls"].as_array().expect("calls").iter().map(|call| &call["tool"]).collect();
    assert_eq!(tools[..3], ["call_remember", "call_delegate", "call_work"], "in the order of the answers");
    let work = &kept["calls"][2]["callbacks"];
    let expected = json!([
        {"tool": "tap", "args": {"id": "add"}},
        {"tool": "call_delegate"},
        {"tool": "getElementText", "args": {"id": "count"}},
    ]);
    assert_eq!(work, &expected);
    let acted = &kept["calls"].as_array().unwrap().iter().find(|call| call["tool"] == "call_delegateAndAct").unwrap();
    assert_eq!(acted["callbacks"][1], json!({"tool": "tap", "args": {"id": "add"}, "failed": true}));
    assert!(!lab.project.read(CASSETTE).contains("device:"), "there was only one");

    let before = lab.project.read(CASSETTE);
    let replayed = without_runtimes(&lab).run(&REPLAY, 0);
    assert!(!has_started_servers(&replayed.run));
    assert_eq!(story(&replayed.run), story(&recorded.run));
    assert_eq!(replayed.run.text("recording.trail.yaml"), recorded.run.text("recording.trail.yaml"));
    assert_eq!(replayed.run.summary()["counts"], recorded.run.summary()["counts"]);
    let picture = replayed.outcomes("call_picture").remove(0).attachments.remove(0);
    assert!(replayed.run.has(&picture.file.expect("it is stored")));
    assert_eq!(lab.project.read(CASSETTE), before, "playing changes nothing");
    let left: Vec<_> = files(&lab.project.root().join("cassettes"));
    assert_eq!(left.len(), 1, "nothing else is left: {left:?}");
}

/// The fixture, with one of its tools replaced.
fn with_tool(lab: &Lab, tool: &str) {
    let fixture = crate::support::repository().join("crates/trailblaze/tests/servers/calls.ts");
    let fixture = std::fs::read_to_string(fixture).expect("a fixture");
    let other = fixture.replace("call_device: { call: ({ meta }) => text(meta.device.id) }", tool);
    assert_ne!(fixture, other);
    lab.with("tools/calls.ts", &other);
}

#[test]
fn ids_and_addresses_are_not_on_a_cassette() {
    let Some(lab) = calls(&["call_meta: {}"]) else { return };
    let answer = "{ ...text(`${meta.baseUrl}/x`), structuredContent: { ...meta } }";
    with_tool(&lab, &format!("call_meta: {{ call: ({{ meta }}) => ({answer}) }}"));
    let meta = lab.run(&RECORD, 0).structured("call_meta");
    let text = lab.project.read(CASSETTE);
    for own in ["baseUrl", "sessionId", "invocationId"] {
        let own = meta[own].as_str().expect("a text");
        assert!(!own.is_empty() && !text.contains(own), "{own} in {text}");
    }
    let played = without_runtimes(&lab).run(&REPLAY, 0);
    assert_eq!(played.texts("call_meta"), ["[base url]/x"]);
}

#[test]
fn a_secret_in_a_file_of_an_answer_is_its_name_too() {
    let Some(lab) = calls(&["call_file: {text: '{{PIN}}'}"]) else { return };
    let blob = "Buffer.from(`pin ${args['text']}`).toString('base64')";
    let content = format!("[{{ type: 'resource', resource: {{ uri: 'x:y', blob: {blob} }} }}]");
    with_tool(&lab, &format!("call_file: {{ call: ({{ args }}) => ({{ content: {content} }}) }}"));
    lab.env("PIN", "canary-90b1c5").run(&["--secret", "PIN", "--cassette", "record"], 0);
    let kept = cassette(&lab.project, CASSETTE);
    // pin {{PIN}}
    assert_eq!(kept["calls"][0]["answer"]["content"][0]["resource"]["blob"], "cGluIHt7UElOfX0=");
}

#[test]
fn half_of_a_run_does_not_take_the_place_of_a_whole_one() {
    let Some(lab) = calls(&["call_remember: {who: Ada}"]) else { return };
    lab.run(&RECORD, 0);
    let before = lab.project.read(CASSETTE);
    lab.calls(&["call_remember: {who: Grace}", "call_wait: {}"]);
    let child = lab.command(&["run", "--cassette", "record"]).spawn().expect("the program starts");
    let running = crate::support::Running::of(child);
    let waiting = lab.project.root().join("tools/waiting");
    crate::support::wait_until("the tool waits", || waiting.is_file().then_some(()));
    running.interrupt();
    let ran = lab.project.ended(running).exits(2);
    assert!(ran.stderr.contains("the run was cancelled, so its cassettes were not saved"), "{}", ran.stderr);
    assert_eq!(lab.project.read(CASSETTE), before);
}

#[test]
fn a_failed_run_leaves_its_cassettes_and_fails_the_same_way_when_played() {
    let Some(lab) = calls(&["call_rememberAndFail: {variant: FatalError}"]) else { return };
    let recorded = lab.run(&RECORD, 1);
    let played = without_runtimes(&lab).run(&REPLAY, 1);
    assert_eq!(story(&played.run), story(&recorded.run));
    assert_eq!(played.outcomes("call_rememberAndFail")[0].text, "no");
}

#[test]
fn a_run_that_calls_nothing_leaves_an_old_cassette_alone() {
    let Some(lab) = calls(&[LAUNCH]) else { return };
    let ran = lab.run(&RECORD, 0).ran;
    assert!(ran.stderr.contains(&format!("saved 0 calls to server `calls` in {CASSETTE}")), "{}", ran.stderr);
    lab.calls(&["call_remember: {who: Ada}"]).run(&RECORD, 0);
    let before = lab.project.read(CASSETTE);
    let ran = lab.calls(&[LAUNCH]).run(&RECORD, 0).ran;
    assert!(!ran.stderr.contains("kept"), "{}", ran.stderr);
    assert_eq!(lab.project.read(CASSETTE), before);
    // Nor does one that was refused.
    lab.calls(&["no_such_tool: {}"]).run(&RECORD, 3);
    assert_eq!(lab.project.read(CASSETTE), before);
}

#[test]
fn a_secret_is_kept_by_its_name_and_matched_by_it() {
    const CANARY: &str = "canary-41c9e2";
    let Some(lab) = calls(&[
        LAUNCH,
        "call_type: {text: '{{PIN}}'}",
        "call_remember: {pin: 'my {{PIN}}'}",
        "assertVisible: {id: greeting, expectedText: 'Hello, {{PIN}}'}",
    ]) else {
        return;
    };
    lab.env("PIN", CANARY);
    let recorded = lab.run(&["--secret", "PIN", "--cassette", "record"], 0);
    let kept = lab.project.read(CASSETTE);
    assert!(kept.contains("      text: '{{PIN}}'\n"), "{kept}");
    assert!(kept.contains("          text: 'typed {{PIN}}'\n"), "{kept}");
    let played = without_runtimes(&lab).run(&["--secret", "PIN", "--cassette", "replay"], 0);
    assert_eq!(story(&played.run), story(&recorded.run));
    for file in ["logs", "cassettes"].iter().flat_map(|folder| files(&lab.project.root().join(folder))) {
        let bytes = std::fs::read(&file).expect("a file");
        assert!(!bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes()), "{}", file.display());
    }
}

#[test]
fn several_devices_share_a_cassette_and_each_gets_its_own_answers() {
    let devices = ["-d", "android/sim-1,ios/sim-1"];
    let Some(lab) = calls(&[
        LAUNCH,
        "call_rememberDevice: {}",
        "call_count: {}",
        "call_count: {}",
        "call_many: {n: 20}",
        "assertVisible: {text: 'Count: 2'}",
    ]) else {
        return;
    };
    let recorded = lab.run(&[&devices[..], &RECORD].concat(), 0);
    let kept = cassette(&lab.project, CASSETTE);
    let kept = kept["calls"].as_array().expect("calls");
    assert_eq!(kept.len(), 2 * (1 + 2 + 1 + 20));
    assert!(kept.iter().all(|call| call["device"].is_string()), "there were several");
    let played = without_runtimes(&lab).run(&[&devices[..], &REPLAY].concat(), 0);
    let sorted = |played: &Played| {
        let mut texts = [played.texts("call_count"), played.texts("call_many")].concat();
        texts.sort();
        texts
    };
    assert_eq!(sorted(&played), sorted(&recorded));
    let remembered = |played: &Played| -> Vec<(Value, Value)> {
        let mut who: HashMap<String, String> = HashMap::new();
        let mut pairs = Vec::new();
        for event in played.run.events() {
            match event {
                Event::SessionOpened { session, device, .. } => {
                    drop(who.insert(session.to_string(), device.id.to_string()))
                }
                Event::Called(called) if called.tool == "call_rememberDevice" => {
                    let device = who[called.session.as_str()].clone();
                    who.insert(called.call.as_str().to_string(), device);
                }
                Event::Answered { call, answer: CallResult::Outcome(outcome), .. }
                    if who.contains_key(call.as_str()) =>
                {
                    pairs.push((who[call.as_str()].clone().into(), outcome.memory.set["who"].clone()));
                }
                _ => {}
            }
        }
        pairs
    };
    let pairs = remembered(&played);
    assert_eq!(pairs.len(), 2);
    assert!(pairs.iter().all(|(device, told)| device == told), "{pairs:?}");
    // Another device takes what is left.
    let other = lab.run(&["-d", "desktop/sim-1", "--cassette", "replay"], 0);
    assert_eq!(other.outcomes("call_count").len(), 2);
}

#[test]
fn tool_and_shell_record_and_replay_too() {
    let Some(lab) = calls(&[]) else { return };
    let call = |cassette: &str| {
        ["tool", "call_work", "--launch", "com.example.counter", "--cassette", cassette].map(str::to_string)
    };
    let go = |args: &[String]| lab.go(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(go(&call("record")).exits(0).stdout, "Count: 3\n");
    without_runtimes(&lab);
    assert_eq!(go(&call("replay")).exits(0).stdout, "Count: 3\n");
    let help = lab.go(&["tool", "call_many", "--help-tool", "--cassette", "replay"]).exits(0).stdout;
    assert!(help.contains("n "), "{help}");
    lab.go(&["tool", "call_work"]).exits(2);
    let mut shell = lab.command(&["shell", "--cassette", "replay"]);
    let lines = lab.project.root().join("lines");
    std::fs::write(&lines, "launchApp packageId=com.example.counter\ncall_work\n").expect("a file");
    shell.stdin(std::fs::File::open(lines).expect("a file"));
    assert!(lab.finish(shell).exits(0).stdout.contains("Count: 3"));
}

#[test]
fn servers_of_a_target_have_cassettes_of_their_own() {
    let Some(lab) = calls(&["call_device: {}"]) else { return };
    lab.configured("").target(&["{name: my calls, script: tools/calls.ts}"]);
    let args = ["--target", "fixture", "-d", "android/sim-1", "--cassette"];
    lab.run(&[&args[..], &["record"]].concat(), 0);
    assert!(lab.project.root().join("cassettes/fixture.my-calls.cassette.yaml").is_file());
    let played = without_runtimes(&lab).run(&[&args[..], &["replay"]].concat(), 0);
    assert_eq!(played.texts("call_device"), ["android/sim-1"]);
}

/// All servers of the example, in TypeScript and in Python, with their toolsets, groups and targets.
#[test]
fn an_example_plays_back_without_any_of_its_servers() {
    let Some(lab) = Lab::under(Runtime::Bun) else { return };
    let Some(parts) = parts() else { return };
    lab.example("acme-tools").env("PATH", format!("{}:{}", lab.path("bin"), parts.join("python/bin").display()));
    let recorded = lab.run(&RECORD, 0);
    let played = without_runtimes(&lab).run(&REPLAY, 0);
    assert_eq!(played.run.summary()["counts"], recorded.run.summary()["counts"]);
    assert!(!has_started_servers(&played.run));
}

/// A project with a server that is nowhere, and this cassette of it.
fn handmade(cassette: &str, calls: &[&str]) -> Project {
    let calls: String = calls.iter().map(|call| format!("      - {call}\n")).collect();
    Project::counter()
        .with(
            "trailblaze.yaml",
            format!(
                "{}mcpServers:\n  bank: {{transport: http, url: 'http://127.0.0.1:9/mcp', toolset: money}}\n",
                crate::support::COUNTER_PROJECT
            ),
        )
        .with("cassettes/bank.cassette.yaml", cassette)
        .with("trails/a.trail.yaml", format!("trail:\n  - step: Go\n    tools:\n{calls}"))
}

const BANK: &str = "\
cassette: 1
tools:
  - {name: bank_pay, inputSchema: {type: object, properties: {to: {type: string}, amount: {type: integer}}}}
  - {name: bank_close, inputSchema: {type: object}}
calls:
  - tool: bank_pay
    args: {to: Ada, amount: 5}
    answer: {content: [{type: text, text: first}]}
  - tool: bank_pay
    args: {to: Grace, amount: 7}
    callbacks:
      - {tool: tap, args: {id: add}}
    answer: {content: [{type: text, text: tapped}]}
  - tool: bank_pay
    args: {to: Ada, amount: 5}
    answer: {content: [{type: text, text: second}], isError: true}
  - tool: bank_pay
    args: {to: Linus, amount: 0}
    refusal: not to him
";

fn replay(project: &Project, code: i32) -> (crate::support::Ran, RunFolder) {
    let ran = project.run(&["run", "--pictures", "off", "--cassette", "replay"]).exits(code);
    let run = project.last_run();
    run.assert_finished(code);
    (ran, run)
}

/// How a call of a handmade project fails, and what is told of it: the last failure, which is that of the topmost call.
#[track_caller]
fn failure(project: &Project) -> String {
    let (ran, run) = replay(project, 1);
    let failed = run.events().into_iter().filter_map(|event| match event {
        Event::Answered { answer: CallResult::Outcome(outcome), .. } if outcome.is_error() => Some(outcome.text),
        _ => None,
    });
    let text = failed.last().expect("a call failed");
    assert!(text.lines().all(|line| ran.stdout.contains(line)), "{}", ran.stdout);
    text
}

#[test]
fn the_same_arguments_are_answered_in_order_and_in_any_order_of_keys() {
    let project = handmade(BANK, &[LAUNCH, "bank_pay: {amount: 5, to: Ada}", "bank_pay: {to: Grace, amount: 7}"]);
    let (_, run) = replay(&project, 0);
    assert_eq!(run.calls().last().map(|call| call.tool.clone()).as_deref(), Some("tap"), "beneath the last call");
    assert_eq!(
        failure(&handmade(BANK, &["bank_pay: {amount: 5, to: Ada}", "bank_pay: {amount: 5, to: Ada}"])),
        "second"
    );
    assert_eq!(failure(&handmade(BANK, &["bank_pay: {to: Linus, amount: 0}"])), "not to him");
}

#[test]
fn an_answer_is_not_given_more_often_than_it_was_recorded() {
    let twice = BANK.replace(", isError: true", "");
    let call = "bank_pay: {to: Ada, amount: 5}";
    let expected = "`bank_pay` was called with {to: Ada, amount: 5}, but `cassettes/bank.cassette.yaml` has only 2 answers \
                    for it, already used\nhint: record it with --cassette record";
    assert_eq!(failure(&handmade(&twice, &[call, call, call])), expected);
}

#[test]
fn a_call_that_is_not_on_the_cassette_fails_with_what_is_there() {
    let expected = "`bank_pay` was called with {to: Grace, amount: 8}, but `cassettes/bank.cassette.yaml` has 4 other calls \
                    of this tool; the closest has {to: Grace, amount: 7}\nhint: record it with --cassette record";
    assert_eq!(failure(&handmade(BANK, &["bank_pay: {to: Grace, amount: 8}"])), expected);
    let expected = "`bank_close` was called with {}, but `cassettes/bank.cassette.yaml` has no call of this tool\nhint: record it \
                    with --cassette record";
    assert_eq!(failure(&handmade(BANK, &["bank_close: {}"])), expected);
}

#[test]
fn a_callback_that_fails_where_it_had_passed_fails_the_call() {
    let bank = BANK.replace("{id: add}", "{id: add, timeoutMs: 50}");
    let project = handmade(&bank, &[LAUNCH, "bank_pay: {to: Grace, amount: 7}"]);
    project.write("counter.app.yaml", crate::support::COUNTER_APP.replace("id: add", "id: plus"));
    let last = failure(&project);
    let expected = "its callback to `tap`, which passed when the cassette was recorded, failed: ";
    assert!(last.starts_with(expected), "{last}");
}

#[test]
fn a_cassette_that_is_broken_stops_everything_with_its_place() {
    let check = |cassette: &str, place: &str, expected: &str| {
        let project = handmade(cassette, &["bank_pay: {to: Ada, amount: 5}"]);
        let (ran, run) = replay(&project, 3);
        run.assert_refused();
        assert!(ran.stderr.contains(&format!("cassettes/bank.cassette.yaml:{place}")), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert!(ran.stderr.contains("record it with --cassette record"), "{}", ran.stderr);
        let called = project.run(&["tool", "bank_close", "--cassette", "replay"]).exits(3);
        assert!(called.stderr.contains(expected), "{}", called.stderr);
    };
    let torn = &BANK[..BANK.find("first").expect("it is there")];
    check(torn, "", "error: ");
    let future = BANK.replace("cassette: 1", "cassette: 2");
    check(&future, "1:11", "the cassette has version 2; this build reads version 1");
    check(&BANK.replace("refusal: not to him", "refused: not to him"), "19:5", "unknown key `refused`");
    check(&BANK.replace("    refusal: not to him\n", ""), "17:5", "the call has neither an `answer` nor a `refusal`");
}

#[test]
fn a_server_without_a_cassette_is_missing_and_says_why() {
    let project = handmade(BANK, &["bank_pay: {to: Ada, amount: 5}"]);
    std::fs::remove_file(project.root().join("cassettes/bank.cassette.yaml")).expect("it was there");
    let (ran, _) = replay(&project, 2);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("there is no cassette `cassettes/bank.cassette.yaml`"), "{told}");
    assert!(told.contains("hint: record it with --cassette record"), "{told}");
    // A trail that does not need it runs.
    project.write("trails/a.trail.yaml", format!("trail:\n  - step: Go\n    tools: [{LAUNCH}]\n"));
    let (ran, _) = replay(&project, 0);
    assert!(ran.stderr.contains("no trail of this run needs it"), "{}", ran.stderr);
}

#[test]
fn what_makes_no_sense_together_is_refused() {
    let project = handmade(BANK, &[LAUNCH]);
    for (args, expected) in [
        (&["--replay", "effects", "--cassette", "replay"][..], "`--cassette` cannot be used with `--replay effects`"),
        (&["--watch", "--cassette", "record"][..], "`--cassette record` cannot be used with `--watch`"),
        (&["--cassette", "rewind"][..], "rewind"),
    ] {
        let ran = project.run(&[&["run"], args].concat()).exits(3);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

#[test]
fn a_cassette_that_cannot_be_written_is_said_and_fails_the_run() {
    let Some(lab) = calls(&["call_remember: {who: Ada}"]) else { return };
    lab.with("cassettes", "no folder\n");
    let played = lab.run(&RECORD, 2);
    let expected = format!("error: the cassette was not saved: cannot write `{CASSETTE}`: ");
    assert!(told(&played).contains(&expected), "{}", told(&played));
    assert_eq!(lab.project.read("cassettes"), "no folder\n");
}
