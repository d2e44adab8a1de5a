//! The results of calls to tool servers: answers, memory, pictures, progress, log messages, cancellation.

use serde_json::{Value, json};
use trailblaze_protocol::event::{Event, Level};
use trailblaze_protocol::ids::Parent;
use trailblaze_protocol::outcome::Variant;

use crate::support::lab::Lab;
use crate::support::{Running, wait_until};

fn lab() -> Option<Lab> {
    let lab = Lab::new()?;
    lab.fixture("calls.ts").configured("target: fixture\n").target(&["{name: calls, script: tools/calls.ts}"]);
    Some(lab)
}

const LAUNCH: &str = "launchApp: {packageId: com.example.counter}";

#[test]
fn pictures_become_attachments_and_the_structured_value_is_kept() {
    let Some(lab) = lab() else { return };
    let played = lab.calls(&["call_picture: {}"]).run(&[], 0);
    let outcome = played.outcomes("call_picture").remove(0);
    assert_eq!((outcome.text.as_str(), outcome.structured), ("a pixel", Some(json!({"width": 1}))));
    let kept: Vec<(&str, Vec<u8>)> = outcome
        .attachments
        .iter()
        .map(|kept| (kept.mime.as_str(), std::fs::read(played.run.path.join(kept.file.as_ref().unwrap())).unwrap()))
        .collect();
    assert_eq!(kept[0].0, "image/png");
    assert!(kept[0].1.starts_with(b"\x89PNG"), "the bytes of the picture");
    assert_eq!((kept.len(), &kept[1]), (2, &("text/plain", b"and more".to_vec())));
}

#[test]
fn memory_changes_of_a_tool_are_seen_by_later_calls() {
    let Some(lab) = lab() else { return };
    let recall = "call_recall: {name: user}";
    let lab = lab.calls(&[
        "call_remember: {user: ada, age: !!int 36}",
        recall,
        "assertEquals: {actual: '{{user}} {{age}}', expected: ada 36}",
        "call_forget: {name: user}",
        recall,
    ]);
    let played = lab.run(&[], 0);
    assert_eq!(played.texts("call_recall"), ["\"ada\"", "null"]);
}

#[test]
fn a_tool_that_fails_changes_no_memory_and_its_variant_decides_what_is_next() {
    let Some(lab) = lab() else { return };
    let two = "trail:\n  - step: Go\n    tools: [{call_rememberAndFail: {user: ada, variant: FatalError}}]\n";
    let lab = lab.with("trails/a.trail.yaml", two);
    let played = lab.run(&[], 1);
    let outcome = played.outcomes("call_rememberAndFail").remove(0);
    assert_eq!((outcome.variant, outcome.memory.is_empty()), (Variant::FatalError, true));
    let played = lab.calls(&["call_rememberAndFail: {variant: NeverHeardOf}"]).run(&[], 1);
    assert_eq!(played.outcomes("call_rememberAndFail").remove(0).variant, Variant::ExceptionThrown);
}

#[test]
fn a_fatal_error_ends_the_trail_and_is_never_retried() {
    let Some(lab) = lab() else { return };
    let calls = |variant: &str| {
        let call = format!("call_rememberAndFail: {{user: ada, variant: {variant}}}");
        lab.calls(&[&call]).run(&["--retries", "2"], 1).outcomes("call_rememberAndFail").len()
    };
    assert_eq!((calls("FatalError"), calls("ExceptionThrown")), (1, 3));
}

#[test]
fn memory_ends_with_its_attempt_and_is_seen_on_no_other_device() {
    let Some(lab) = lab() else { return };
    let recall = "      - call_recall: {name: who}\n";
    let one = format!("trail:\n  - step: Go\n    tools:\n{recall}      - call_rememberDevice: {{}}\n{recall}");
    let lab = lab.with("trails/a.trail.yaml", &one).with("trails/b.trail.yaml", &one);
    for is_shared in [false, true] {
        place(lab, is_shared);
        let played = lab.run(&["-d", "android/sim-1,ios/sim-1"], 0);
        let mut texts = played.texts("call_recall");
        texts.sort();
        let seen = |text: &str| texts.iter().filter(|seen| *seen == text).count();
        assert_eq!((seen("null"), seen("\"android/sim-1\""), seen("\"ios/sim-1\"")), (4, 2, 2), "{texts:?}");
    }
}

/// Makes the server the target's own, or one that all devices share.
fn place(lab: &Lab, is_shared: bool) {
    let entry = "{name: calls, script: tools/calls.ts}";
    let app = |platform: &str, id: &str| format!("  {platform}: {{app_ids: ['{id}']}}\n");
    let mut target = "id: fixture\nplatforms:\n".to_string();
    ["android", "ios", "desktop"].iter().for_each(|platform| target.push_str(&app(platform, "com.example.counter")));
    target.push_str(&app("web", "https://counter.example"));
    let mut project = "target: fixture\n".to_string();
    let (file, key) = if is_shared { (&mut project, "mcpServers") } else { (&mut target, "mcp_servers") };
    file.push_str(&format!("{key}: [{entry}]\n"));
    lab.configured(&project).with("trailblaze-config/targets/fixture.yaml", &target);
}

#[test]
fn calls_act_on_the_device_that_they_were_made_for() {
    let Some(lab) = lab() else { return };
    let n_calls = if crate::support::is_full_tier() { 200 } else { 12 };
    let launch = "      - launchApp: {packageId: '{{target.appId}}'}\n";
    let calls: String = (0..n_calls).map(|_| "      - call_count: {}\n      - call_device: {}\n").collect();
    let lab = lab.with("trails/a.trail.yaml", &format!("trail:\n  - step: Go\n    tools:\n{launch}{calls}"));
    let devices = ["android/sim-1", "ios/sim-1", "desktop/sim-1", "web/sim-1"];
    for is_shared in [false, true] {
        place(lab, is_shared);
        let played = lab.run(&["-d", &devices.join(",")], 0);
        let (servers, sessions) = counts(&played.run.events());
        assert_eq!((servers, sessions), (if is_shared { 1 } else { 4 }, 4));
        let mut texts = played.texts("call_count");
        texts.sort();
        let mut expected: Vec<String> = devices
            .iter()
            .flat_map(|device| (1..=n_calls).map(move |count| format!("{device} Count: {count}")))
            .collect();
        expected.sort();
        assert_eq!(texts, expected, "every device counted its own taps");
        assert_answered_by_own_device(&played.run.events());
    }
}

/// How many servers were started, and how many sessions were opened.
fn counts(events: &[Event]) -> (usize, usize) {
    let servers = events.iter().filter(|event| matches!(event, Event::ServerStarted { .. })).count();
    (servers, events.iter().filter(|event| matches!(event, Event::SessionOpened { .. })).count())
}

#[track_caller]
fn assert_answered_by_own_device(events: &[Event]) {
    let device_of = |wanted: &_| {
        let opened = events.iter().find_map(|event| match event {
            Event::SessionOpened { session, device, .. } if session == wanted => Some(device.id.to_string()),
            _ => None,
        });
        opened.expect("a session")
    };
    for called in events.iter().filter_map(|event| match event {
        Event::Called(called) if called.tool == "call_device" => Some(called),
        _ => None,
    }) {
        let answer = events.iter().find_map(|event| match event {
            Event::Answered { call, answer: trailblaze_protocol::event::CallResult::Outcome(outcome), .. }
                if *call == called.call =>
            {
                Some(outcome.text.clone())
            }
            _ => None,
        });
        assert_eq!(answer, Some(device_of(&called.session)));
    }
}

#[test]
fn a_hundred_concurrent_calls_get_their_own_answers() {
    let Some(lab) = lab() else { return };
    let played = lab.calls(&["call_many: {n: 100}"]).run(&[], 0);
    assert_eq!(played.texts("call_many"), ["100 answers, 0 crooked"]);
    assert_eq!(played.texts("call_doublePart").len(), 100);
}

#[test]
fn progress_and_log_messages_are_noted_with_their_level_beneath_their_call() {
    let Some(lab) = lab() else { return };
    let played = lab.calls(&["call_progress: {}", "call_log: {}"]).run(&[], 0);
    let calls = played.run.calls();
    let noted = |tool: &str| -> Vec<(Level, String)> {
        let call = calls.iter().find(|call| call.tool == tool).expect("it was called").call.clone();
        let note = |event: Event| match event {
            Event::Noted { about: Some(Parent::Call(about)), level, text, .. } if about == call => Some((level, text)),
            _ => None,
        };
        played.run.events().into_iter().filter_map(note).collect()
    };
    let progress = [(Level::Info, "1/2 part 1".to_string()), (Level::Info, "2/2 part 2".to_string())];
    assert_eq!(noted("call_progress"), progress);
    let expected = [
        (Level::Debug, "debug"),
        (Level::Info, "info"),
        (Level::Info, "notice"),
        (Level::Warning, "warning"),
        (Level::Error, "error"),
        (Level::Error, "emergency"),
    ];
    assert_eq!(noted("call_log"), expected.map(|(level, word)| (level, format!("a word of {word}"))));
}

#[test]
fn a_tool_is_notified_when_its_run_is_interrupted() {
    let Some(lab) = lab() else { return };
    let lab = lab.calls(&["call_wait: {}"]);
    let running = Running::of(lab.command(&["run", "--pictures", "off"]).spawn().expect("the program starts"));
    wait_until("the tool waits", || lab.project.root().join("tools/waiting").exists().then_some(()));
    running.interrupt();
    let ran = lab.project.ended(running).exits(2);
    assert!(lab.project.root().join("tools/called-off").exists(), "the handler saw it: {ran:?}");
    let run = lab.project.last_run();
    run.assert_finished(2);
    run.assert_calls_have_parents();
}

#[test]
fn delegates_are_called_and_recorded_in_place_of_the_call_that_requested_them() {
    let Some(lab) = lab() else { return };
    let check = |tool: &str, count: &str, recorded: &[&str]| {
        let count = format!("assertVisible: {{text: 'Count: {count}'}}");
        lab.project.write(
            "trails/a.trail.yaml",
            format!("trail:\n  - step: Go\n    tools:\n      - {LAUNCH}\n      - {tool}: {{}}\n      - {count}\n"),
        );
        let played = lab.run(&["-d", "android/sim-1"], 0);
        let recording = played.run.text("recording.trail.yaml");
        assert_eq!(recorded_tools(&recording), [&["launchApp"], recorded, &["assertVisible"]].concat(), "{recording}");
    };
    check("call_delegate", "2", &["tap", "tap"]);
    check("call_delegateInText", "2", &["tap", "tap"]);
    // Text that a tool merely read must not drive the device.
    check("call_readPage", "0", &["call_readPage"]);
    // It acted by calling back: one tap, and two that another tool delegated. Its own call is recorded.
    check("call_work", "3", &["call_work"]);
}

/// The names of the calls in a recording: keys at the depth of tools. A call as authored is not recorded again.
fn recorded_tools(recording: &str) -> Vec<&str> {
    let key = if recording.contains("recording:") { "recording:" } else { "tools:" };
    let recorded = recording.lines().skip_while(|line| line.trim() != key);
    let calls = recorded.filter_map(|line| line.trim_start().strip_prefix("- "));
    calls.map(|call| call.split(':').next().unwrap_or(call)).collect()
}

#[test]
fn a_delegating_tool_may_look_but_not_act() {
    let Some(lab) = lab() else { return };
    let count = "assertVisible: {text: 'Count: 2'}";
    let played = lab.calls(&[LAUNCH, "call_delegateAndAct: {}", count]).run(&["-d", "android/sim-1"], 0);
    let refused =
        "`call_delegateAndAct` is a delegating tool and may not act by itself; return `tap` as a delegate instead";
    assert_eq!(played.texts("call_delegateAndAct"), [format!("Count: 0; {refused}")]);
}

const CANARY: &str = "canary-52a1f0";

#[test]
fn a_secret_is_a_template_to_a_server_that_may_not_have_it_and_resolves_when_it_calls_back() {
    let Some(lab) = lab() else { return };
    let calls =
        [LAUNCH, "call_type: {text: '{{PIN}}'}", "assertVisible: {id: greeting, expectedText: 'Hello, {{PIN}}'}"];
    let lab = lab.env("PIN", CANARY).calls(&calls);
    let args = ["-d", "android/sim-1", "--secret", "PIN", "--record"];
    let played = lab.run(&args, 0);
    assert_eq!(played.texts("call_type"), ["typed {{PIN}}"]);
    assert_eq!(played.log("calls"), "asked to type {{PIN}}\n", "it never had the value");
    assert_nowhere(lab, &played.ran.stdout, &played.ran.stderr);

    // A server that may have the secret gets it, and it still appears nowhere.
    let lab = lab.target(&["{name: calls, script: tools/calls.ts, secrets: [PIN]}"]).calls(&calls);
    let script = lab.project.read("tools/calls.ts");
    let tell = "console.error(`asked to type ${args['text']}`);";
    lab.project.write(
        "tools/calls.ts",
        script.replace(tell, &format!("{tell}\n      writeFileSync('had', String(args['text']));")),
    );
    let played = lab.run(&args, 0);
    assert_eq!(std::fs::read_to_string(lab.path("tools/had")).unwrap(), CANARY);
    assert_eq!(played.texts("call_type"), ["typed {{PIN}}"]);
    assert_eq!(played.log("calls"), "asked to type {{PIN}}\n", "what it says is redacted");
    assert_nowhere(lab, &played.ran.stdout, &played.ran.stderr);
}

#[track_caller]
fn assert_nowhere(lab: &Lab, stdout: &str, stderr: &str) {
    assert!(!stdout.contains(CANARY) && !stderr.contains(CANARY), "{stdout}{stderr}");
    let folders = ["logs", "trails", ".trailblaze"].map(|name| lab.project.root().join(name));
    for file in folders.iter().flat_map(|folder| crate::support::files(folder)) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes()), "{}", file.display());
    }
    let events = lab.project.last_run().text("events.jsonl");
    assert!(events.contains("{{PIN}}"), "the placeholder is there: {:?}", Value::from(events.lines().count()));
}
