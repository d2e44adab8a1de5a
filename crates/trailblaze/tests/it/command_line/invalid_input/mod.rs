//! What bad input gets: every problem at once, each with its place; exit code 3; nothing started, a finished folder.

mod hints;

use crate::support::Project;
use trailblaze_protocol::event::{Event, Level};

const TRAIL: &str = "trail:\n  - step: Look\n    tools:\n      - assertVisible: {text: Counter}\n";

fn tool(id: &str, tools: &str) -> String {
    format!("id: {id}\ndescription: Go on.\nparameters: []\ntools:\n{tools}")
}

/// Runs a project with these files besides the counter app, and says how it was refused.
fn refused(files: &[(&str, &str)]) -> String {
    let project = Project::counter().with("trails/a.trail.yaml", TRAIL);
    for (path, content) in files {
        project.write(path, content);
    }
    let ran = project.run(&["run"]);
    let run = project.last_run();
    run.assert_refused();
    let is_noted = |event: &Event| matches!(event, Event::Noted { level: Level::Error, .. });
    assert!(run.events().iter().any(is_noted), "the record says why");
    ran.refusal()
}

/// The same for the one trail.
fn refused_trail(text: &str) -> String {
    refused(&[("trails/a.trail.yaml", text)])
}

#[test]
fn a_browser_that_cannot_be_like_that() {
    let devices = "devices:\n  - {id: web/phone, emulate: Nokia}\n  - {id: web/wide, viewport: 1280}\n";
    insta::assert_snapshot!(refused(&[("trailblaze.yaml", devices)]), @"
    exit 3
    error: `Nokia` cannot be emulated; choose one of iPhone SE, iPhone 14, iPhone 15, iPhone 15 Pro Max, iPad, iPad Pro, Pixel 7, Pixel 9, Galaxy S24
     --> trailblaze.yaml:2:30
      |
    2 |   - {id: web/phone, emulate: Nokia}
      |                              ^^^^^

    error: `1280` is not a window size; write it as 1280x800
     --> trailblaze.yaml:3:30
      |
    3 |   - {id: web/wide, viewport: 1280}
      |                              ^^^^

    error: 2 problems
    ");
}

#[test]
fn a_tab() {
    insta::assert_snapshot!(refused_trail("trail:\n\t- step: Look\n"), @"
    exit 3
    error: this line is indented with a tab
     --> trails/a.trail.yaml:2:1
      |
    2 |     - step: Look
      | ^^^^
      |
      = help: use spaces to indent YAML

    error: 1 problem
    ");
}

#[test]
fn a_duplicate_key() {
    insta::assert_snapshot!(refused_trail("config: {id: a}\nconfig: {id: b}\ntrail:\n  - step: Look\n    tools: []\n"), @"
    exit 3
    error: the key `config` is duplicated
     --> trails/a.trail.yaml:2:1
      |
    2 | config: {id: b}
      | ^^^^^^
      |
      = help: the first one is on line 1; remove one of them

    error: 1 problem
    ");
}

#[test]
fn an_unknown_key() {
    insta::assert_snapshot!(refused_trail("confg: {id: a}\ntrail:\n  - step: Look\n    tols: []\n"), @"
    exit 3
    error: unknown key `confg`
     --> trails/a.trail.yaml:1:1
      |
    1 | confg: {id: a}
      | ^^^^^
      |
      = help: did you mean `config`?

    error: unknown key `tols`
     --> trails/a.trail.yaml:4:5
      |
    4 |     tols: []
      |     ^^^^
      |
      = help: did you mean `tools`?

    error: 2 problems
    ");
}

#[test]
fn an_unknown_key_hides_no_unknown_tool() {
    let text = "confg: {id: a}\ntrail:\n  - step: Look\n    tools: [{asertVisible: {text: Counter}}]\n  \
                - step: Go\n    tols: []\n";
    insta::assert_snapshot!(refused_trail(text), @"
    exit 3
    error: unknown key `confg`
     --> trails/a.trail.yaml:1:1
      |
    1 | confg: {id: a}
      | ^^^^^
      |
      = help: did you mean `config`?

    error: unknown tool `asertVisible`
     --> trails/a.trail.yaml:4:14
      |
    4 |     tools: [{asertVisible: {text: Counter}}]
      |              ^^^^^^^^^^^^
      |
      = help: did you mean `assertVisible`?

    error: unknown key `tols`
     --> trails/a.trail.yaml:6:5
      |
    6 |     tols: []
      |     ^^^^
      |
      = help: did you mean `tools`?

    error: 3 problems
    ");
}

#[test]
fn a_broken_mapping() {
    insta::assert_snapshot!(refused_trail("trail: {step: [\n"), @"
    exit 3
    error: invalid YAML: while parsing a node, did not find expected node content
     --> trails/a.trail.yaml:1:17
      |
    1 | trail: {step: [
      |                ^

    error: 1 problem
    ");
}

#[test]
fn two_modes_in_one_tool_file() {
    let text = "id: both\ndescription: Go on.\nclass: tap\ntools:\n  - pressBack: {}\nscript: {source: 'go()'}\n";
    insta::assert_snapshot!(refused(&[("trailblaze-config/tools/both.yaml", text)]), @"
    exit 3
    error: `parameters` is missing
     --> trailblaze-config/tools/both.yaml:1:1
      |
    1 | id: both
      | ^^^^^^^^
      |
      = help: use `parameters: []` for a tool without parameters

    error: a tool must have only one of `class`, `tools` or `script`; this one has class and tools and script
     --> trailblaze-config/tools/both.yaml:6:9
      |
    6 | script: {source: 'go()'}
      |         ^^^^^^^^^^^^^^^^
      |
      = help: keep one of them

    error: 2 problems
    ");
}

#[test]
fn an_unknown_tool_and_wrong_arguments() {
    let text = "trail:\n  - step: Look\n    tools:\n      - asertVisible: {text: Counter}\n      - tap: {txt: More}\n      \
                - inputText: {}\n      - adbShel: {}\n      - tap: {index: many}\n";
    insta::assert_snapshot!(refused_trail(text), @"
    exit 3
    error: unknown tool `asertVisible`
     --> trails/a.trail.yaml:4:9
      |
    4 |       - asertVisible: {text: Counter}
      |         ^^^^^^^^^^^^
      |
      = help: did you mean `assertVisible`?

    error: `tap`: unknown argument `txt`; did you mean `text`?
     --> trails/a.trail.yaml:5:14
      |
    5 |       - tap: {txt: More}
      |              ^^^^^^^^^^^

    error: `inputText` is missing the argument `text`
     --> trails/a.trail.yaml:6:9
      |
    6 |       - inputText: {}
      |         ^^^^^^^^^

    error: unknown tool `adbShel`
     --> trails/a.trail.yaml:7:9
      |
    7 |       - adbShel: {}
      |         ^^^^^^^
      |
      = help: did you mean `adbShell`?

    error: `many` is not a whole number
     --> trails/a.trail.yaml:8:22
      |
    8 |       - tap: {index: many}
      |                      ^^^^

    error: 5 problems
    ");
}

#[test]
fn a_target_that_adds_or_excludes_a_tool_that_does_not_exist() {
    let target = "id: acme\nplatforms:\n  android:\n    tools: [web_click]\n    excluded_tools: [tap, inputTxt]\n";
    let project = Project::counter()
        .with("trailblaze-config/targets/acme.yaml", target)
        .with("trails/a.trail.yaml", "trail:\n  - step: Go\n    tools: [{pressBack: {}}]\n");
    project.write("trailblaze.yaml", format!("target: acme\n{}", project.read("trailblaze.yaml")));
    for command in ["check", "run"] {
        let refused = project.run(&[command, "-d", "android/sim-1"]).exits(3).stderr;
        assert!(
            refused.contains("unknown tool `inputTxt`") && refused.contains("did you mean `inputText`?"),
            "{refused}"
        );
        assert!(refused.contains("--> trailblaze-config/targets/acme.yaml:5:27"), "{refused}");
        assert_eq!(refused.matches("unknown tool").count(), 1, "a tool of another platform exists: {refused}");
    }
    project.write("trailblaze-config/targets/acme.yaml", target.replace("inputTxt", "inputText"));
    project.run(&["check", "-d", "android/sim-1"]).exits(0);
}

#[test]
fn a_tool_of_another_platform() {
    let project = Project::counter()
        .with("trails/a.trail.yaml", "trail:\n  - step: Look inside\n    tools:\n      - adbShell: {command: ls}\n");
    insta::assert_snapshot!(project.run(&["run", "-d", "ios/sim-1"]).refusal(), @"
    exit 3
    error: `adbShell` is for android, but this runs on ios
     --> trails/a.trail.yaml:4:9
      |
    4 |       - adbShell: {command: ls}
      |         ^^^^^^^^
      |
      = help: choose a device of android with `-d`; `trailblaze device list` lists them

    error: 1 problem
    ");
    project.last_run().assert_refused();
}

#[test]
fn an_alias_bomb() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_string();
    for n in 1..12 {
        let alias = format!("*a{}", n - 1);
        text += &format!("a{n}: &a{n} [{}]\n", vec![alias; 10].join(", "));
    }
    insta::assert_snapshot!(refused_trail(&text), @"
    exit 3
    error: the anchors and aliases make this file many times as large as it is
     --> trails/a.trail.yaml:5:20
      |
    5 | a4: &a4 [*a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3, *a3]
      |                    ^^^
      |
      = help: write such values out where they are used

    error: 1 problem
    ");
}

/// Reading must take about as long as the file is large, whatever it contains.
#[test]
fn many_anchors_in_any_kind_of_file() {
    let anchors: String = (0..20_000).map(|n| format!("&a{n} x, ")).collect();
    let line = format!("nothing: [{anchors}]\n");
    for (path, text) in [
        ("trails/a.trail.yaml", format!("{TRAIL}{line}")),
        ("trailblaze.yaml", format!("sim: {{apps: [counter.app.yaml]}}\n{line}")),
        ("trailblaze-config/tools/a.yaml", format!("{}{line}", tool("acme_goOn", "  - pressBack: {}\n"))),
        ("trailblaze-config/targets/a.yaml", format!("id: a\n{line}")),
    ] {
        let said = refused(&[(path, &text)]);
        assert!(said.contains("error: unknown key `nothing`") && said.contains(path), "{path}: {}", &said[..1000]);
    }
}

#[test]
fn of_many_problems_the_first_are_printed_and_the_others_counted() {
    let keys: String = (0..2_000).map(|n| format!("key{n}: 1\n")).collect();
    let said = refused_trail(&format!("{TRAIL}{keys}"));
    assert_eq!(said.matches("error: unknown key").count(), 50, "{said}");
    assert!(said.contains("and 1950 more problems") && said.contains("error: 2000 problems"), "{said}");
}

/// It would match nearly nothing, so that its absence would always hold.
#[test]
fn an_invalid_pattern_whose_absence_is_asserted() {
    let trail = |pattern: &str| {
        let selector = format!("{{androidAccessibility: {{textRegex: '{pattern}'}}}}");
        format!(
            "trail:\n  - step: Look\n    tools:\n      - launchApp: {{packageId: com.example.counter}}\n      \
             - assertNotVisibleBySelector: {{nodeSelector: {selector}, timeoutMs: 100}}\n"
        )
    };
    insta::assert_snapshot!(refused_trail(&trail("(")), @r"
    exit 3
    error: `assertNotVisibleBySelector`: `(` is not a valid regular expression; to look for this text, write `\Q(\E`
     --> trails/a.trail.yaml:5:87
      |
    5 |       - assertNotVisibleBySelector: {nodeSelector: {androidAccessibility: {textRegex: '('}}, timeoutMs: 100}
      |                                                                                       ^^^

    error: 1 problem
    ");
    // A template is known only when the call is made.
    let project = Project::counter().with("trails/a.trail.yaml", trail("{{pattern}}"));
    let run = |pattern: &str| project.run(&["run", "-d", "android/sim-1", "--memory", &format!("pattern={pattern}")]);
    let failed = run("(?<=").exits(1);
    assert!(failed.stdout.contains("`(?<=` is not a valid regular expression"), "{failed:?}");
    // A look-ahead is one.
    assert!(run("(?=.*Count).*").exits(1).stdout.contains("to be gone"));
    run("(?!.*[CAYM]).+").exits(0);
}

#[test]
fn a_deep_nest() {
    insta::assert_snapshot!(refused_trail(&format!("trail: {}x{}\n", "[".repeat(110), "]".repeat(110))), @"
    exit 3
    error: the file is nested deeper than 100 levels
     --> trails/a.trail.yaml:1:108
      |
    1 | trail: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]...
      |                                                                                                            ^

    error: 1 problem
    ");
    let refusal = refused_trail(&format!("trail: {}\n", "[".repeat(100_000)));
    let place = "exit 3\nerror: the file is nested deeper than 100 levels\n --> trails/a.trail.yaml:1:108\n";
    assert!(refusal.starts_with(place), "{}", &refusal[..300]);
}

#[test]
fn files_that_are_too_large_or_no_text() {
    let project = Project::counter()
        .with("trails/a.trail.yaml", vec![b'#'; (16 << 20) + 1])
        .with("trails/b.trail.yaml", b"trail: \xff\xfe\n")
        .with("trailblaze-config/tools/c.yaml", b"\x00\xc3")
        .with("trails/d.trail.yaml", "");
    insta::assert_snapshot!(project.run(&["run"]).refusal(), @"
    exit 3
    error: the file is not UTF-8 text
     --> trailblaze-config/tools/c.yaml:1:1
      |
    1 |
      | ^

    error: the file has 16777217 bytes; the limit is 16777216
     --> trails/a.trail.yaml:1:1
      |
    1 |
      | ^

    error: the file is not UTF-8 text
     --> trails/b.trail.yaml:1:1
      |
    1 |
      | ^

    error: the file contains no trail
     --> trails/d.trail.yaml:1:1
      |
    1 |
      | ^

    error: 4 problems
    ");
    project.last_run().assert_refused();
}

#[test]
fn tools_that_call_each_other_without_end() {
    let files = [
        ("trailblaze-config/tools/ping.yaml", tool("ping", "  - pong: {}\n")),
        ("trailblaze-config/tools/pong.yaml", tool("pong", "  - ping: {}\n")),
    ];
    insta::assert_snapshot!(refused(&files.each_ref().map(|(path, text)| (*path, text.as_str()))), @"
    exit 3
    error: these tools call each other endlessly: ping → pong → ping
     --> trailblaze-config/tools/ping.yaml:5:5
      |
    5 |   - pong: {}
      |     ^^^^

    error: 1 problem
    ");
}

#[test]
fn steps_that_need_a_model() {
    let text = "trail:\n  - step: Open the counter\n    recording:\n      ios:\n        - launchApp: {packageId: com.example.counter}\n  \
                - step: Count to three\n  - verify: It says three\n    tools: []\n  - step: Nothing\n    recording: {android: []}\n";
    insta::assert_snapshot!(refused_trail(text), @"
    exit 3
    error: the step needs a model: it has no `tools` and no recording for android-phone
     --> trails/a.trail.yaml:2:11
      |
    2 |   - step: Open the counter
      |           ^^^^^^^^^^^^^^^^
      |
      = help: choose a model with --model; or record the step once in `trailblaze shell`, or write its `tools:`

    error: the step needs a model: it has no `tools` and no recording for android-phone
     --> trails/a.trail.yaml:6:11
      |
    6 |   - step: Count to three
      |           ^^^^^^^^^^^^^^
      |
      = help: choose a model with --model; or record the step once in `trailblaze shell`, or write its `tools:`

    error: 2 problems
    ");
}

#[test]
fn one_name_for_two_tools() {
    let files = [
        ("trailblaze-config/tools/a.yaml", tool("twice", "  - pressBack: {}\n")),
        ("trailblaze-config/tools/b.yaml", tool("twice", "  - pressHome: {}\n")),
        ("trailblaze-config/tools/c.yaml", tool("tap", "  - pressHome: {}\n")),
    ];
    insta::assert_snapshot!(refused(&files.each_ref().map(|(path, text)| (*path, text.as_str()))), @r#"
    exit 3
    error: the tool `twice` is offered twice: by trailblaze-config/tools/a.yaml and by trailblaze-config/tools/b.yaml
     --> trailblaze-config/tools/b.yaml:1:5
      |
    1 | id: twice
      |     ^^^^^

    error: `tap` is a built-in tool ("Tap an element, by its ref in a snapshot, its full text or its id, or tap a point. Waits until it can be tapped."); choose another id, or write `override: true` to replace it in this project
     --> trailblaze-config/tools/c.yaml:1:5
      |
    1 | id: tap
      |     ^^^

    error: 2 problems
    "#);
}

#[test]
fn a_reserved_prefix_unless_it_is_granted() {
    let text = tool("org_goOn", "  - pressBack: {}\n");
    insta::assert_snapshot!(refused(&[("trailblaze-config/tools/a.yaml", &text)]), @"
    exit 3
    error: the name `org_goOn` starts with the reserved prefix `org_`; to allow it, add `reservedPrefixes: [org_]` to trailblaze.yaml
     --> trailblaze-config/tools/a.yaml:1:5
      |
    1 | id: org_goOn
      |     ^^^^^^^^

    error: 1 problem
    ");
    let project = Project::counter()
        .with("trailblaze.yaml", format!("reservedPrefixes: [org_]\n{}", crate::support::COUNTER_PROJECT))
        .with("trailblaze-config/tools/a.yaml", &text)
        .with("trails/a.trail.yaml", TRAIL);
    project.run(&["run"]).exits(0);
}

#[test]
fn a_name_that_breaks_the_convention() {
    let text = tool("Go-On", "  - pressBack: {}\n");
    insta::assert_snapshot!(refused(&[("trailblaze-config/tools/a.yaml", &text)]), @"
    exit 3
    error: the name `Go-On` does not follow the convention: camelCase words joined by _
     --> trailblaze-config/tools/a.yaml:1:5
      |
    1 | id: Go-On
      |     ^^^^^

    error: 1 problem
    ");
}

#[test]
fn a_project_that_names_what_is_not_there() {
    let project = "target: wallt\nsim:\n  apps: [nowhere.app.yaml]\n";
    let target = "id: wallet\nplatforms:\n  android: {app_ids: [com.example.wallet]}\n";
    let files = [("trailblaze.yaml", project), ("trailblaze-config/targets/wallet.yaml", target)];
    insta::assert_snapshot!(refused(&files), @"
    exit 3
    error: unknown target `wallt`
     --> trailblaze.yaml:1:9
      |
    1 | target: wallt
      |         ^^^^^
      |
      = help: did you mean `wallet`?

    error: there is no app `nowhere.app.yaml`
     --> trailblaze.yaml:3:10
      |
    3 |   apps: [nowhere.app.yaml]
      |          ^^^^^^^^^^^^^^^^

    error: 2 problems
    ");
}

#[test]
fn a_project_with_wrong_keys_and_values() {
    let project = "platform: androd\nsim:\n  faults: {latency: soon}\ndevices:\n  - {id: android/sim-1, drver: sim}\n";
    insta::assert_snapshot!(refused(&[("trailblaze.yaml", project)]), @"
    exit 3
    error: unknown platform `androd`
     --> trailblaze.yaml:1:11
      |
    1 | platform: androd
      |           ^^^^^^
      |
      = help: did you mean `android`?

    error: expected a duration, found `soon`
     --> trailblaze.yaml:3:21
      |
    3 |   faults: {latency: soon}
      |                     ^^^^
      |
      = help: use a value such as `500ms`, `60s` or `2m`

    error: unknown key `drver`
     --> trailblaze.yaml:5:25
      |
    5 |   - {id: android/sim-1, drver: sim}
      |                         ^^^^^
      |
      = help: did you mean `driver`?

    error: 3 problems
    ");
}

#[test]
fn a_broken_app() {
    let app = "app: {id: a, name: A}\nstart: hme\nscreens:\n  home:\n    elements:\n      \
               - {id: b, role: button}\n      - {id: b, tap: {goto: nowhere}}\n";
    insta::assert_snapshot!(refused(&[("counter.app.yaml", app)]), @"
    exit 3
    error: unknown screen `hme`
     --> counter.app.yaml:2:8
      |
    2 | start: hme
      |        ^^^
      |
      = help: did you mean `home`?

    error: the id `b` is used twice on this screen
     --> counter.app.yaml:7:14
      |
    7 |       - {id: b, tap: {goto: nowhere}}
      |              ^
      |
      = help: the first is in line 6

    error: unknown screen `nowhere`
     --> counter.app.yaml:7:29
      |
    7 |       - {id: b, tap: {goto: nowhere}}
      |                             ^^^^^^^
      |
      = help: expected one of: home

    error: 3 problems
    ");
}

#[test]
fn all_problems_of_all_files_at_once() {
    let refusal = refused(&[
        ("trailblaze.yaml", "targt: x\nsim: {apps: [counter.app.yaml]}\n"),
        ("trailblaze-config/toolsets/a.yaml", "id: a\ntols: []\n"),
        ("trailblaze-config/tools/b.yaml", "id: b\ntools:\n  - tap: {txt: x}\n"),
        ("trails/c.trail.yaml", "trail:\n  - stp: Look\n"),
        ("trails/d.trail.yaml", "trail:\n  - step: Look\n    tools:\n      - tapp: {}\n"),
    ]);
    insta::assert_snapshot!(refusal, @"
    exit 3
    error: `description` is missing
     --> trailblaze-config/tools/b.yaml:1:1
      |
    1 | id: b
      | ^^^^^
      |
      = help: describe what the tool does, for people and models

    error: `parameters` is missing
     --> trailblaze-config/tools/b.yaml:1:1
      |
    1 | id: b
      | ^^^^^
      |
      = help: use `parameters: []` for a tool without parameters

    error: unknown key `tols`
     --> trailblaze-config/toolsets/a.yaml:2:1
      |
    2 | tols: []
      | ^^^^
      |
      = help: did you mean `tools`?

    error: unknown key `targt`
     --> trailblaze.yaml:1:1
      |
    1 | targt: x
      | ^^^^^
      |
      = help: did you mean `target`?

    error: unknown key `stp`
     --> trails/c.trail.yaml:2:5
      |
    2 |   - stp: Look
      |     ^^^
      |
      = help: did you mean `step`?

    error: a step requires `step` or `verify`
     --> trails/c.trail.yaml:2:5
      |
    2 |   - stp: Look
      |     ^^^^^^^^^

    error: unknown tool `tapp`
     --> trails/d.trail.yaml:4:9
      |
    4 |       - tapp: {}
      |         ^^^^
      |
      = help: did you mean `tap`?

    error: 7 problems
    ");
}

#[test]
fn devices_that_are_not_there() {
    let project = Project::counter().with("trails/a.trail.yaml", TRAIL);
    let refused = |device: &str| project.run(&["run", "-d", device]).refusal();
    insta::assert_snapshot!(refused("phone"), @"
    exit 3
    error: `phone` is not a device; write platform/name, such as android/sim-1, or a platform
    ");
    insta::assert_snapshot!(refused("andriod/sim-1"), @"
    exit 3
    error: unknown platform `andriod` in `andriod/sim-1`; did you mean `android`?
    ");
    insta::assert_snapshot!(refused("android/sim-0"), @"
    exit 3
    error: there is no device `android/sim-0`; there are android/sim-1, android/sim-2 and so on
    hint: `trailblaze device list` lists the devices
    ");
    insta::assert_snapshot!(refused("ios/sim-0"), @"
    exit 3
    error: there is no device `ios/sim-0`; there are ios/sim-1, ios/sim-2 and so on
    hint: `trailblaze device list` lists the devices
    ");
    insta::assert_snapshot!(refused("web/Safari"), @"
    exit 3
    error: `web/Safari` cannot be driven: this build drives Firefox, WebKit, Chromium and browsers based on it; write web/chromium, web/firefox or web/webkit
    ");
    insta::assert_snapshot!(refused("ios/sim-1,ios/sim-1"), @"
    exit 3
    error: the device `ios/sim-1` is named twice
    ");
    insta::assert_snapshot!(refused(""), @"
    exit 3
    error: `` is not a device; write platform/name, such as android/sim-1, or a platform
    ");
}

#[test]
fn targets_that_are_not_there() {
    let project = Project::wallet();
    insta::assert_snapshot!(project.run(&["run", "--target", "walet"]).refusal(), @"
    exit 3
    error: unknown target `walet`
    hint: did you mean `wallet`?
    ");
    let project = Project::counter().with("trails/a.trail.yaml", format!("config: {{target: shop}}\n{TRAIL}"));
    insta::assert_snapshot!(project.run(&["run"]).refusal(), @"
    exit 3
    error: unknown target `shop`
     --> trails/a.trail.yaml:1:18
      |
    1 | config: {target: shop}
      |                  ^^^^
      |
      = help: none exist yet

    error: 1 problem
    ");
    project.last_run().assert_refused();
}

#[test]
fn secrets_that_cannot_be_kept() {
    let project = Project::counter().with("trails/a.trail.yaml", TRAIL);
    let refused = |value: Option<&str>| {
        let mut command = project.command(&["run", "--secret", "PIN"]);
        command.envs(value.map(|value| ("PIN", value)));
        project.finish(command).refusal()
    };
    insta::assert_snapshot!(refused(None), @"
    exit 3
    error: the secret `PIN` is not in the environment
    hint: set it for this command: PIN=… trailblaze run …
    ");
    insta::assert_snapshot!(refused(Some("123")), @"
    exit 3
    error: the secret `PIN` is shorter than 4 characters, so it could not be kept out of the record
    ");
}

#[test]
#[cfg(unix)]
fn an_argument_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let project = Project::counter();
    for args in [&["run"][..], &["run", "--logs"], &[]] {
        let mut command = project.command(args);
        command.arg(std::ffi::OsStr::from_bytes(b"caf\xe9"));
        let ran = project.finish(command).exits(3);
        assert!(!ran.stderr.contains("panicked"), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn trails_that_are_not_there() {
    let project = Project::counter();
    insta::assert_snapshot!(project.run(&["run"]).refusal(), @"
    exit 3
    error: no such file or folder: `trails`
    ");
    insta::assert_snapshot!(project.run(&["run", "nowhere.trail.yaml"]).refusal(), @"
    exit 3
    error: no such file or folder: `nowhere.trail.yaml`
    ");
    project.write("trails/readme.md", "no trail\n");
    insta::assert_snapshot!(project.run(&["run"]).refusal(), @"
    exit 3
    error: no trails in `trails`
    hint: a trail is a file named trail.yaml or *.trail.yaml
    ");
    insta::assert_snapshot!(project.run(&["run", "-C", "nowhere"]).refusal(), @"
    exit 3
    error: no such folder: `nowhere`
    ");
}

#[test]
fn flags_that_make_no_sense() {
    let project = Project::counter().with("trails/a.trail.yaml", TRAIL);
    let refused = |args: &[&str]| project.run(args).refusal();
    insta::assert_snapshot!(refused(&["run", "--sim", "lateny=1ms"]), @"
    exit 3
    error: --sim: unknown fault `lateny`; did you mean `latency`?
    ");
    insta::assert_snapshot!(refused(&["run", "--sim", "refuse=2"]), @"
    exit 3
    error: --sim: `refuse`: expected a probability from 0 to 1, found `2`
    ");
    insta::assert_snapshot!(refused(&["run", "--sim", "drift"]), @"
    exit 3
    error: --sim: `drift` is not of the form key=value
    ");
    insta::assert_snapshot!(refused(&["run", "--seed", "lucky"]), @"
    exit 3
    error: invalid value 'lucky' for '--seed <SEED>': invalid digit found in string

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refused(&["run", "--all-devices", "-d", "ios/sim-1"]), @"
    exit 3
    error: the argument '--all-devices' cannot be used with '--device <DEVICE>'

    Usage: trailblaze run --all-devices [PATHS]...

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refused(&["rn"]), @"
    exit 3
    error: unrecognized subcommand 'rn'

      tip: a similar subcommand exists: 'runs'

    Usage: trailblaze [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn a_folder_that_cannot_be_made() {
    let project = Project::counter().with("trails/a.trail.yaml", TRAIL).with("logs", "a file\n");
    insta::assert_snapshot!(project.run(&["run"]).refusal(), @"
    exit 2
    error: cannot create a folder in `[project]/logs`: Not a directory (os error 20)
    ");
}

#[test]
fn a_broken_server_entry_is_not_blamed_on_the_trails() {
    let trail = "trail:\n  - step: Greet\n    tools:\n      - acme_hello: {}\n";
    let project = Project::empty()
        .with("trailblaze.yaml", "mcpServers:\n  acme: {comand: python3}\n")
        .with("trails/a.trail.yaml", trail);
    let refusal = project.run(&["check"]).refusal();
    assert!(refusal.contains("error: unknown key `comand`"), "{refusal}");
    assert!(!refusal.contains("error: unknown tool"), "{refusal}");
    assert!(refusal.contains("warning: `acme_hello` may be a tool of a server that was not queried"), "{refusal}");
}
