//! `trailblaze run`: what it leaves behind, how it ends, and what it plays again.

mod large;
mod pictures;
mod recording;
mod several_devices;
mod stretches;
mod together;
mod watch_keys;
mod steps;
mod trees;

use crate::support::{Pixels, Project, files, parcels};
use serde_json::{Value, json};
use trailblaze_protocol::event::{Event, Verdict};

/// A trail of one step that calls these tools.
fn trail(tools: &str) -> String {
    format!("trail:\n  - step: Do it\n    tools:\n{tools}")
}

const PASSES: &str = "      - launchApp: {packageId: com.example.counter}\n      - assertVisible: {text: 'Count: 0'}\n";
/// The same, with a call whose delegates are recorded in its place.
const DELEGATES: &str = "      - launchApp: {packageId: com.example.counter}\n      - parcel_tap: {id: add}\n";
const FAILS: &str = "      - assertVisible: {text: Nowhere, timeoutMs: 10}\n";

#[test]
fn the_wallet_runs_on_two_phones_at_once_and_leaves_a_whole_folder() {
    let project = Project::wallet();
    let ran = project.run(&["run"]).exits(0);
    insta::assert_snapshot!(ran.normal(ran.stdout.trim_start()), @"
    6 passed in [time]
    Report: [project]/logs/[run]/report.html
    ");

    let run = project.last_run();
    run.assert_finished(0);
    run.assert_calls_have_parents();
    let summary = run.summary();
    assert_eq!(devices(&summary), ["android/sim-1", "ios/sim-1"]);
    assert_eq!((&summary["counts"]["total"], &summary["counts"]["passed"]), (&json!(6), &json!(6)));

    // Both lanes were under way before either had ended.
    let events = run.events();
    let started: Vec<usize> = places(&events, |event| matches!(event, Event::SessionOpened { .. }));
    let ended: Vec<usize> = places(&events, |event| matches!(event, Event::SessionClosed { .. }));
    assert_eq!((started.len(), ended.len()), (2, 2));
    assert!(started[1] < ended[0], "the devices take turns");

    let pictures = files(&run.path.join("pictures"));
    assert!(pictures.len() > 10, "{} pictures", pictures.len());
    for picture in &pictures {
        let pixels = Pixels::read(picture);
        assert!(pixels.width > 300 && pixels.height > 300);
    }
    for event in &events {
        if let Event::Pictured(pictured) = event {
            assert!(run.has(&pictured.file) && pictured.tree.as_ref().is_some_and(|tree| run.has(tree)));
        }
    }
    let junit = quick_junit::Report::deserialize_from_str(&run.text("junit.xml")).unwrap();
    assert_eq!((junit.tests, junit.failures, junit.errors), (6, 0, 0));
    let page = run.text("report.html");
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "the page needs no network");
    for trail in ["activity", "send-money", "wrong-pin"] {
        assert!(run.has(&format!("recordings/{trail}.trail.yaml")), "{trail} is recorded in the folder");
    }
}

/// The devices of a summary, which tells them in the order in which they were opened.
fn devices(summary: &Value) -> Vec<&str> {
    let mut devices: Vec<&str> = summary["devices"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    devices.sort_unstable();
    devices
}

fn places(events: &[Event], is_wanted: impl Fn(&Event) -> bool) -> Vec<usize> {
    events.iter().enumerate().filter(|(_, event)| is_wanted(event)).map(|(place, _)| place).collect()
}

#[test]
fn one_trail_leaves_one_recording_that_runs() {
    let project = Project::wallet();
    project.run(&["run", "trails/wrong-pin.trail.yaml", "-d", "ios/sim-1"]).exits(0);
    let recording = project.last_run().text("recording.trail.yaml");
    project.write("again.trail.yaml", recording);
    project.run(&["run", "again.trail.yaml", "-d", "ios/sim-2"]).exits(0);
}

#[test]
fn a_yaml_tool_is_called_once_and_its_expansion_hangs_beneath_it() {
    let project = Project::wallet();
    project.run(&["run", "trails/wrong-pin.trail.yaml", "-d", "android/sim-1"]).exits(0);
    let calls = project.last_run().calls();
    let sign_in = calls.iter().find(|call| call.tool == "wallet_signIn").unwrap();
    assert_eq!(&*sign_in.source, "trailblaze-config/tools/wallet_signIn.yaml");
    let parent = trailblaze_protocol::ids::Parent::Call(sign_in.call.clone());
    let beneath: Vec<&str> = calls.iter().filter(|call| call.parent == parent).map(|call| call.tool.as_str()).collect();
    assert_eq!(beneath, ["wallet_fillField", "wallet_fillField", "tap"]);
}

#[test]
fn the_exit_code_is_that_of_the_worst_ending() {
    let check = |trails: &[(&str, &str)], flags: &[&str], code: i32| {
        let project = Project::counter();
        for (name, text) in trails {
            project.write(&format!("trails/{name}.trail.yaml"), text);
        }
        let args: Vec<&str> = [&["run", "--pictures", "off"], flags].concat();
        project.run(&args).exits(code);
        project.last_run().assert_finished(code);
    };
    let (passes, fails) = (trail(PASSES), trail(FAILS));
    let model = "trail:\n  - step: Guess what I mean\n";
    check(&[("a", &passes)], &[], 0);
    check(&[("a", &passes), ("b", &fails)], &[], 1);
    check(&[("a", &passes)], &["--sim", "lostAfter=0"], 2);
    check(&[("a", &passes), ("b", &fails)], &["--sim", "lostAfter=0"], 2);
    check(&[("a", &passes), ("b", &fails), ("c", model)], &[], 3);
}

#[test]
fn the_summary_is_printed_as_json_and_nothing_else() {
    let project =
        Project::counter().with("trails/a.trail.yaml", trail(PASSES)).with("trails/b.trail.yaml", trail(FAILS));
    let ran = project.run(&["run", "--json", "--seed", "7"]).exits(1);
    assert_eq!(ran.stderr, "");
    let summary = ran.json();
    assert_eq!(summary, project.last_run().summary());
    assert_eq!((&summary["seed"], &summary["code"]), (&json!(7), &json!(1)));
    let verdicts: Vec<&Value> = summary["attempts"].as_array().unwrap().iter().map(|a| &a["verdict"]).collect();
    assert_eq!(verdicts, ["passed", "failed"]);
}

#[test]
fn a_trail_that_cannot_be_carried_out_is_invalid_in_every_result() {
    let project =
        Project::counter().with("trails/b.trail.yaml", trail("      - tap: {text: Add one, index: '{{which}}'}\n"));
    let ran = project.run(&["run"]).exits(3);
    assert!(ran.stdout.contains("0 passed, 1 invalid in"), "{}", ran.stdout);
    let run = project.last_run();
    let summary = run.summary();
    assert_eq!((&summary["exit"], &summary["counts"]["invalid"]), (&json!("invalid"), &json!(1)));
    assert_eq!(summary["attempts"][0]["verdict"], "invalid");
    assert!(run.text("junit.xml").contains("type=\"invalid\""), "{}", run.text("junit.xml"));
    assert!(project.run(&["report", "--markdown"]).exits(0).stdout.starts_with("## Trailblaze: invalid"));
}

#[test]
fn a_failure_says_what_was_expected_and_what_was_seen() {
    let project = Project::counter().with("trails/b.trail.yaml", trail(&format!("{PASSES}{FAILS}")));
    let ran = project.run(&["run"]).exits(1);
    insta::assert_snapshot!(ran.normal(ran.stdout.trim_start()), @r#"
    trails/b on android/sim-1 (trails/b.trail.yaml:6:9)
      step 1 "Do it": `assertVisible` failed: could not see text "Nowhere": nothing on the screen has the text "Nowhere"

    0 passed, 1 failed in [time]
    Report: [project]/logs/[run]/report.html
    "#);
    let run = project.last_run();
    let failure = run.events().into_iter().find_map(|event| match event {
        Event::AttemptEnded { verdict: Verdict::Failed, failure, .. } => failure,
        _ => None,
    });
    let failure = failure.unwrap();
    assert_eq!(failure.tool.as_deref(), Some("assertVisible"));
    assert!(failure.step.is_some() && failure.expected.is_some() && failure.saw.is_some(), "{failure:?}");
    assert!(run.mentions(r#""moment":"failure""#) > 0, "there is a picture of the failure");
}

#[test]
fn steps_have_the_same_numbers_everywhere() {
    let head = "trailhead:\n  step: Start\n  tools: [{launchApp: {packageId: com.example.counter}}]\n";
    let project = Project::counter().with("trails/b.trail.yaml", format!("{head}{}", trail(FAILS)));
    let ran = project.run(&["run"]).exits(1);
    assert!(ran.stdout.contains("step 1 \"Do it\""), "{}", ran.stdout);
    let markdown = project.run(&["report", "--markdown"]).exits(0).stdout;
    assert!(markdown.contains("| 1. Do it |"), "{markdown}");
    let page = project.last_run().text("report.html");
    assert!(page.contains(r#""stepNumber":1,"stepKind":"step""#), "the page counts the same");
}

#[test]
fn a_simulated_phone_keeps_the_focus_and_does_not_scroll_where_nothing_does() {
    let types = "      - launchApp: {packageId: com.example.counter}\n      - tap: {id: name}\n      \
                 - inputText: {text: A}\n      - inputText: {text: da}\n      - assertVisible: {text: 'Hello, Ada'}\n";
    let project = Project::counter()
        .with("trails/a.trail.yaml", trail(types))
        .with("trails/b.trail.yaml", trail(&format!("{PASSES}      - scroll: {{direction: LEFT}}\n")));
    let ran = project.run(&["run", "--pictures", "off", "-d", "android/sim-1,ios/sim-1"]).exits(1);
    assert!(ran.stdout.contains("`scroll` failed: nothing here scrolls sideways"), "{}", ran.stdout);
    assert!(ran.stdout.contains("2 passed, 2 failed in"), "{}", ran.stdout);
}

#[test]
fn devices_are_any_number_of_any_platform() {
    let project = Project::counter()
        .with("trails/a.trail.yaml", "trail:\n  - step: Look\n    tools:\n      - assertVisible: {text: Counter}\n");
    let check = |args: &[&str], expected: &[&str]| {
        let args: Vec<&str> = [&["run", "--json", "--pictures", "off"], args].concat();
        assert_eq!(devices(&project.run(&args).exits(0).json()), expected);
    };
    check(&[], &["android/sim-1"]);
    check(&["--all-devices"], &["android/sim-1", "desktop/sim-1", "ios/sim-1", "web/sim-1"]);
    check(&["-d", "ios/sim-31", "-d", "web/sim-2,desktop/sim-4000"], &["desktop/sim-4000", "ios/sim-31", "web/sim-2"]);
}

#[test]
fn a_failing_trail_is_not_recorded() {
    let text = trail(&format!("{DELEGATES}{FAILS}"));
    let project = parcels().with("trails/b.trail.yaml", &text);
    project.run(&["run", "--record"]).exits(1);
    assert_eq!(project.read("trails/b.trail.yaml"), text);
}

const MEMORY: &str = "\
config:
  memory: {who: Ada, page: More}
  args:
    times: integer
    word: {type: string, default: bye}
trail:
  - step: Say who
    tools:
      - launchApp: {packageId: com.example.counter}
      - tap: {id: name}
      - inputText: {text: '${who} {{who}} {{memory.who}} {{args.times}} {{args.word}}'}
  - verify: It was heard
    tools:
      - assertVisible: {id: greeting, expectedText: 'Hello, Ada Ada Ada 3 bye'}
      - rememberElementText: {id: greeting, variable: heard}
      - assertEquals: {actual: '{{heard}}', expected: 'Hello, ${who} ${who} ${who} {{args.times}} bye'}
";

#[test]
fn memory_and_arguments_are_put_into_calls_and_stay_templates_in_the_record() {
    let project = Project::counter().with("trails/a.trail.yaml", MEMORY);
    project.run(&["run", "--arg", "times=3"]).exits(0);
    let calls = project.last_run().calls();
    let typed = calls.iter().find(|call| call.tool == "inputText").unwrap();
    assert_eq!(typed.args["text"], "${who} {{who}} {{memory.who}} {{args.times}} {{args.word}}");

    // The command line wins over the trail.
    let ran = project.run(&["run", "--arg", "times=3", "--memory", "who=Grace"]).exits(1);
    assert!(ran.stdout.contains("Hello, Grace Grace Grace 3 bye"), "{}", ran.stdout);
}

#[test]
fn unquoted_scalars_arrive_as_the_text_that_was_written() {
    let tools = "      - assertEquals: {actual: no, expected: 'no'}\n      - assertEquals: {actual: 010, expected: '010'}\n      \
                 - assertEquals: {actual: 1_000, expected: '1_000'}\n      - remember: {variable: a, value: 0123}\n      \
                 - assertEquals: {actual: '{{a}}', expected: '0123'}\n";
    Project::counter().with("trails/a.trail.yaml", trail(tools)).run(&["run"]).exits(0);
}

#[test]
fn arguments_are_declared_typed_and_required() {
    let project = Project::counter().with("trails/a.trail.yaml", MEMORY);
    insta::assert_snapshot!(project.run(&["run"]).refusal(), @"
    exit 3
    error: the argument `times` is missing; pass it with --arg times=…
     --> trails/a.trail.yaml:2:3
      |
    2 |   memory: {who: Ada, page: More}
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    error: 1 problem
    ");
    insta::assert_snapshot!(project.run(&["run", "--arg", "times=often"]).refusal(), @r#"
    exit 3
    error: the argument `times` must be a whole number, not "often"
     --> trails/a.trail.yaml:2:3
      |
    2 |   memory: {who: Ada, page: More}
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    error: 1 problem
    "#);
    insta::assert_snapshot!(project.run(&["run", "--arg", "times=1", "--arg", "tims=1"]).refusal(), @"
    exit 3
    error: no trail declares the argument `tims`
    ");
    insta::assert_snapshot!(project.run(&["run", "--arg", "times"]).refusal(), @"
    exit 3
    error: `--arg` takes name=value, got `times`
    ");
    insta::assert_snapshot!(project.run(&["run", "--memory", "=x"]).refusal(), @"
    exit 3
    error: `--memory` takes name=value, got `=x`
    ");
}

#[test]
fn a_skipped_trail_is_neither_run_nor_failed() {
    let text = format!("config:\n  skip: {{ios: not yet}}\n{}", trail(PASSES));
    let project = Project::counter().with("trails/a.trail.yaml", text);
    let summary = project.run(&["run", "--json", "-d", "ios/sim-1,android/sim-1"]).exits(0).json();
    assert_eq!((&summary["counts"]["passed"], &summary["counts"]["skipped"]), (&json!(1), &json!(1)));
}

#[test]
fn a_flaky_step_is_tried_again_as_often_as_it_says() {
    let project = Project::counter().with(
        "trails/a.trail.yaml",
        "trail:\n  - step: Try\n    maxRetries: 2\n    tools:\n      - assertVisible: {text: Nowhere, timeoutMs: 10}\n",
    );
    project.run(&["run"]).exits(1);
    assert_eq!(project.last_run().calls().len(), 3);
}

/// A device may stand for another driver: its tree is in that driver's words, and filters go by it.
#[test]
fn a_device_stands_for_the_driver_that_it_is_given() {
    let project = Project::counter()
        .with(
            "trailblaze.yaml",
            "devices:\n  - {id: android/sim-1, driver: android-ondevice-instrumentation}\n  - {id: android/sim-2}\n\
             sim:\n  apps: [counter.app.yaml]\n",
        )
        .with(
            "trailblaze-config/toolsets/inside.yaml",
            "id: inside\ndescription: Only inside.\ndrivers: [android-ondevice-instrumentation]\ntools: [inside]\n",
        )
        .with(
            "trailblaze-config/tools/inside.yaml",
            "id: inside\ndescription: Go on.\nparameters: []\ntools:\n  - tap: {id: add}\n",
        )
        .with("trails/a.trail.yaml", trail(PASSES));
    let devices = project.run(&["device", "list", "--json"]).exits(0).json();
    assert_eq!(devices[0]["driver"], "android-ondevice-instrumentation");
    assert_eq!(devices[1]["driver"], "android-ondevice-accessibility");

    // Instrumentation does not know of headings; accessibility does.
    let snapshot =
        |device: &str| project.run(&["snapshot", "-d", device, "--launch", "com.example.counter"]).exits(0).stdout;
    assert!(!snapshot("android/sim-1").contains("[heading]") && snapshot("android/sim-2").contains("[heading]"));

    let offered = |device: &str| -> Vec<String> {
        let toolbox = project.run(&["toolbox", "-d", device, "--json"]).exits(0).json();
        toolbox[0]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_string()).collect()
    };
    assert!(offered("android/sim-1").contains(&"inside".to_string()));
    assert!(!offered("android/sim-2").contains(&"inside".to_string()));

    project.run(&["run"]).exits(0);
    let opened: Vec<String> = project
        .last_run()
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::SessionOpened { device, .. } => Some(format!("{} {}", device.id, device.driver)),
            _ => None,
        })
        .collect();
    assert_eq!(opened.len(), 2);
    assert!(opened.contains(&"android/sim-1 android-ondevice-instrumentation".to_string()), "{opened:?}");
}

#[test]
fn a_trail_outside_the_project_is_recorded_where_it_is() {
    let elsewhere = Project::empty().with("a.trail.yaml", trail(DELEGATES));
    let project = parcels();
    let mut command = elsewhere.command(&["run", "a.trail.yaml", "--record", "-C"]);
    command.arg(project.root());
    elsewhere.finish(command).exits(0);
    assert!(elsewhere.read("a.trail.yaml").contains("recording:"));
}

#[test]
fn two_trails_with_one_id_have_two_recordings() {
    let text = |step: &str| format!("config: {{id: same}}\ntrail:\n  - step: {step}\n    tools:\n{PASSES}");
    let project = Project::counter().with("trails/a.trail.yaml", text("A")).with("trails/b.trail.yaml", text("B"));
    project.run(&["run"]).exits(0);
    let run = project.last_run();
    assert!(run.text("recordings/same.trail.yaml").contains("step: A"));
    assert!(run.text("recordings/same-2.trail.yaml").contains("step: B"));
}

#[test]
fn a_trailhead_of_several_calls_stays_authored_while_the_steps_are_recorded() {
    let text = "trailhead:\n  step: Begin\n  tools:\n    - launchApp: {packageId: com.example.counter}\n    \
                - parcel_tap: {id: add}\ntrail:\n  - step: Count\n    tools:\n      - parcel_tap: {id: add}\n";
    let project = parcels().with("trails/a.trail.yaml", text);
    let ran = project.run(&["run", "--record", "-d", "android/sim-1"]).exits(0);
    assert!(ran.stderr.contains("warning: trails/a.trail.yaml: the trailhead made 2 calls"), "{}", ran.stderr);
    let recorded = project.read("trails/a.trail.yaml");
    assert_eq!(recorded.matches("recording:").count(), 1, "{recorded}");
    project.run(&["run", "-d", "android/sim-1"]).exits(0);
}

#[test]
fn a_recording_that_cannot_be_kept_fails_the_run() {
    // Beside a name of this length there is no room for the name that is written first.
    let name = format!("trails/{}.trail.yaml", "x".repeat(240));
    let project = parcels().with(&name, trail(DELEGATES));
    let ran = project.run(&["run", "--record", "-d", "android/sim-1"]).exits(2);
    assert!(
        ran.stderr.contains(&format!("error: the recording was not saved: cannot write `{name}`")),
        "{}",
        ran.stderr
    );
    assert_eq!(project.read(&name), trail(DELEGATES));
}

#[test]
fn maestro_commands_are_carried_out_by_our_own_actions() {
    let project = Project::wallet().with(
        "trails/maestro.trail.yaml",
        "trail:
  - step: Everything that Maestro has
    tools:
      - maestro:
          commands:
            - launchApp: {clearState: true}
            - tapOn: {id: email, point: '10%,50%', repeat: 2, label: The left end of the field}
            - inputText: ada@example.com
            - tapOn: {id: pin}
            - inputText: 12345
            - eraseText: 1
            - hideKeyboard
            - tapOn: Sign.in
            - extendedWaitUntil: {visible: {id: notNow}, timeout: 60000}
            - tapOn: {text: Not now, index: 0, enabled: true}
            - assertVisible: {id: balance}
            - assertNotVisible: Wrong PIN.*
            - copyTextFrom: {id: balance}
            - tapOn: Activity
            - scrollUntilVisible: {element: {text: Tony Hoare}, direction: DOWN, timeout: 60000}
            - scroll
            - swipe: {direction: DOWN, duration: 100}
            - swipe: {start: '50%, 40%', end: '50%, 80%'}
            - waitForAnimationToEnd: {timeout: 400}
            - doubleTapOn: {point: '50%,5%'}
            - longPressOn: {text: All payments}
            - takeScreenshot: payments
            - openLink: wallet://send
            - tapOn: {id: note}
            - pasteText
            - assertVisible: €120.00
      - maestro:
          timeoutMs: 100
          commands:
            - tapOn: {text: Nobody, optional: true, index: 7}
      - maestro:
          commands:
            - pressKey: Home
            - launchApp: {stopApp: false}
            - back
            - stopApp
            - killApp
            - clearState
  - verify: What was copied is remembered
    tools:
      - assertEquals: {actual: '{{maestro.copiedText}}', expected: €120.00}
",
    );
    let ran = project.run(&["run", "trails/maestro.trail.yaml", "-d", "android/sim-1", "--pictures", "off"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_maestro_command_that_makes_no_sense_is_refused() {
    let check = |command: &str, expected: &str| {
        let text =
            format!("trail:\n  - step: Try\n    tools:\n      - maestro: {{commands: [{command}], timeoutMs: 100}}\n");
        let project = Project::wallet().with("trails/m.trail.yaml", text);
        let ran = project.run(&["run", "trails/m.trail.yaml", "-d", "android/sim-1", "--pictures", "off"]).exits(1);
        assert!(ran.stdout.contains(expected), "{command}: {}", ran.stdout);
    };
    check("{tapOn: {enabled: true}}", "`tapOn` needs `text` or `id`");
    check("{pressKey: Volume}", "unknown key `Volume` for `pressKey`");
    check("{tapOn: {point: '150%,2%'}}", "is not a point within 1080×2400");
    check(
        "{tapOn: {point: '50%,2%', id: submit, label: Sign in, repeat: 0}}",
        "`repeat` of `tapOn` must be between 1 and 100, got 0",
    );
    check("{assertVisible: {text: Nowhere, label: Look}}", "`assertVisible` \"Look\": could not see");
    check("back, {swipe: {start: '1,1', end: '2,2', direction: UP}}", "`direction` of `swipe` has no effect here");
    check("{extendedWaitUntil: {timeout: 5}}", "needs `visible` or `notVisible`");
}
