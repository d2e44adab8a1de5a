//! Mistakes that many people make, and what they are told.

use crate::command_line::invalid_input::refused_trail;
use crate::support::{Project, Ran};

/// A trail of one step that calls these tools, one a line.
fn trail(calls: &[&str]) -> String {
    let calls: String = calls.iter().map(|call| format!("      - {call}\n")).collect();
    format!("trail:\n  - step: Do it\n    tools:\n{calls}")
}

fn check(config: &str, calls: &[&str], args: &[&str]) -> Ran {
    let project = Project::counter().with("trails/a.trail.yaml", format!("{config}{}", trail(calls)));
    project.run(&[&["check"], args].concat())
}

#[test]
fn a_template_without_quotes() {
    insta::assert_snapshot!(refused_trail(&trail(&["assertVisible: {text: {{who}}}"])), @"
    exit 3
    error: `{{who}}` must be quoted, because YAML reads an unquoted `{` as a mapping
     --> trails/a.trail.yaml:4:31
      |
    4 |       - assertVisible: {text: {{who}}}
      |                               ^^^^^^^
      |
      = help: quote the whole value, as in '{{who}}'

    error: 1 problem
    ");
    let places = ["{text: Hi {{who}}}", "{text: {{ args.who }} there}", "{text: ${who}}", "{id: a, text: {{?who}}}"];
    for args in places {
        let refusal = refused_trail(&trail(&[&format!("assertVisible: {args}")]));
        assert!(refusal.contains("must be quoted") && refusal.contains("4:"), "{args}: {refusal}");
    }
    let block = refused_trail("trail:\n  - step: Do it\n    tools:\n      - assertVisible:\n          text: {{who}}\n");
    assert!(block.contains("quote the whole value, as in '{{who}}'"), "{block}");
}

#[test]
fn a_call_that_lacks_what_it_needs() {
    let mistakes = [
        ("assertText: {id: total}", "`assertText`: nothing to compare with: pass `is`, `contains` or `matches`"),
        ("assertText: {is: '5'}", "`assertText`: no element: pass `text`, `id`, `ref` or `nodeSelector`"),
        ("assertText: {id: total, matches: '('}", "`assertText`: `matches`: `(` is not a valid regular expression"),
        ("assertNumber: {id: total}", "`assertNumber`: nothing to compare with: pass `equals`,"),
        ("assertState: {id: total}", "`assertState`: nothing to check: pass `"),
        ("assertCount: {text: Pay}", "`assertCount`: nothing to compare with: pass `equals`, `atLeast` or `atMost`"),
        ("assertVisible: {timeoutMs: 0}", "`assertVisible`: nothing to look for: pass `text`, `id` or `ref`"),
        ("tap: {longPress: true}", "`tap`: nothing to tap: pass `ref`, `text`, `id`, or `x` and `y`"),
        ("scrollUntilTextIsVisible: {direction: DOWN}", "nothing to scroll to: pass `text`, `textRegex` or `id`"),
        ("scrollUntilTextIsVisible: {textRegex: '['}", "`textRegex`: `[` is not a valid regular expression"),
    ];
    for (call, expected) in mistakes {
        let refusal = check("", &[call], &[]).refusal();
        let is_placed = refusal.contains("--> trails/a.trail.yaml:4:");
        assert!(refusal.contains(expected) && is_placed, "{call}: expected {expected}, got {refusal}");
    }
    let sound = ["assertText: {id: total, matches: '{{memory.pattern}}('}", "assertNumber: {id: total, atLeast: 1}"];
    check("", &sound, &[]).exits(0);
}

#[test]
fn two_expected_pictures_of_one_name() {
    let refusal = check("", &["assertPicture: {name: home}", "assertPicture: {name: home}"], &[]).refusal();
    assert!(refusal.contains("the picture `home` is already that of trails/a.trail.yaml:4"), "{refusal}");
    assert!(refusal.contains("--> trails/a.trail.yaml:5:31"), "{refusal}");
    check("", &["assertPicture: {name: home}", "assertPicture: {name: cart}"], &[]).exits(0);
}

#[test]
fn an_argument_that_is_not_declared() {
    let config = "config:\n  args: {user: string}\n";
    let calls = ["inputText: {text: 'Hi {{args.usr}}'}", "assertVisible: {text: '${args.colour}'}"];
    insta::assert_snapshot!(check(config, &calls, &[]).refusal(), @"
    exit 3
    error: `{{args.usr}}` refers to an argument that the trail does not declare
     --> trails/a.trail.yaml:6:27
      |
    6 |       - inputText: {text: 'Hi {{args.usr}}'}
      |                           ^^^^^^^^^^^^^^^^^
      |
      = help: did you mean `{{args.user}}`?

    error: `${args.colour}` refers to an argument that the trail does not declare
     --> trails/a.trail.yaml:7:31
      |
    7 |       - assertVisible: {text: '${args.colour}'}
      |                               ^^^^^^^^^^^^^^^^
      |
      = help: declare it under `args:` of `config:`, as `colour: string`

    error: 2 problems
    ");
    check(config, &["inputText: {text: '{{args.user}}'}"], &[]).exits(0);
}

#[test]
fn an_argument_of_a_tool_in_yaml_that_the_trail_does_not_declare() {
    let tool = "id: greet\ndescription: Greets.\nparameters: []\ntools:\n  - inputText: {text: '{{args.who}}'}\n";
    let project = Project::counter()
        .with("trailblaze-config/tools/greet.yaml", tool)
        .with("trails/a.trail.yaml", trail(&["greet: {}"]));
    insta::assert_snapshot!(project.run(&["check"]).refusal(), @"
    exit 3
    error: `greet` uses `{{args.who}}` (trailblaze-config/tools/greet.yaml:5:23), which the trail does not declare
     --> trails/a.trail.yaml:4:9
      |
    4 |       - greet: {}
      |         ^^^^^
      |
      = help: declare it under `args:` of `config:`, as `who: string`

    error: 1 problem
    ");
    project.write("trails/a.trail.yaml", format!("config:\n  args: {{who: string}}\n{}", trail(&["greet: {}"])));
    project.run(&["check"]).exits(0);
}

#[test]
fn tools_of_another_platform_are_one_problem() {
    let calls = ["web_navigate: {url: 'https://example.com'}", "web_click: {ref: Go}", "web_type: {text: x}"];
    insta::assert_snapshot!(check("", &calls, &[]).refusal(), @"
    exit 3
    error: `web_navigate` and 2 more calls are for web, but this runs on android
     --> trails/a.trail.yaml:4:9
      |
    4 |       - web_navigate: {url: 'https://example.com'}
      |         ^^^^^^^^^^^^
      |
      = help: choose a device of web with `-d`; `trailblaze device list` lists them

    error: 1 problem
    ");
    check("", &calls, &["-d", "web/chromium"]).exits(0);
    // The trail says itself where it runs.
    let pinned = "config:\n  devices: {web: PLAYWRIGHT_NATIVE}\n";
    let ran = check(pinned, &calls, &[]).exits(0);
    assert_eq!(ran.stdout, "1 trail, no problems on web/chromium\n");
}

#[test]
fn names_of_other_test_tools() {
    let calls = ["clickOn: {text: More}", "click: {text: More}", "type: {text: x}"];
    let suggested = |device: &str| -> Vec<String> {
        let ran = check("", &calls, &["-d", device]).exits(3);
        let hints = ran.stderr.lines().filter_map(|line| line.split_once("did you mean "));
        hints.map(|(_, name)| name.to_string()).collect()
    };
    assert_eq!(suggested("android/sim-1"), ["`tap`?", "`tap`?", "`inputText`?"]);
    assert_eq!(suggested("web/sim-1"), ["`web_click`?", "`web_click`?", "`web_type`?"]);
}

#[test]
fn a_template_that_names_nothing() {
    let failed = |call: &str| {
        let project = Project::counter().with("trails/a.trail.yaml", trail(&[call]));
        project.run(&["run", "--pictures", "off"])
    };
    let ran = failed("assertVisible: {text: '{{nme}}', timeoutMs: 0}").exits(1);
    assert!(ran.stdout.contains("; `{{nme}}` is unknown: no value is remembered under that name\n"), "{}", ran.stdout);
    let ran = failed("tap: {text: Add one, index: '{{which}}'}").exits(3);
    assert!(ran.stdout.contains("`{{which}}` is unknown: no value is remembered under that name\n"), "{}", ran.stdout);
    // A call that passes all the same may not have done what was meant.
    let ran = failed("remember: {variable: copy, value: '{{PASSWORD}}'}").exits(0);
    let warning = "warning: android/sim-1: `{{PASSWORD}}` is unknown: no value is remembered under that name; it is left unchanged";
    let place = " (trails/a.trail.yaml:4:43)\n";
    assert!(ran.stderr.contains(&format!("{warning}{place}")), "{}\n{}", ran.stdout, ran.stderr);
    // What a custom tool says is shown too, but not the same twice.
    let tool = "id: keeps\ndescription: Keeps.\nparameters: [{name: value, type: string}]\ntools:\n  - remember: {variable: copy, value: '{{value}}'}\n";
    let project = Project::counter()
        .with("trailblaze-config/tools/keeps.yaml", tool)
        .with("trails/a.trail.yaml", trail(&["keeps: {value: '{{PASSWORD}}'}"]));
    let ran = project.run(&["run", "--verbose", "--pictures", "off"]).exits(0);
    assert_eq!(ran.stderr.matches("`{{PASSWORD}}` is unknown").count(), 1, "{}", ran.stderr);
}

#[test]
fn keys_that_a_maestro_command_does_not_take() {
    let calls = [
        "maestro: {commands: [{tapOn: {text: Add one, retryTapIfNoChange: 3}}]}",
        "maestro: {commands: [back, {tapOn: {txt: Add one}}]}",
        "maestro: {commands: [{repeat: {times: 3}}]}",
    ];
    insta::assert_snapshot!(check("", &calls, &[]).refusal(), @"
    exit 3
    error: `maestro`: `commands.0.tapOn`: unknown key `retryTapIfNoChange`; expected one of: text, id, index, enabled, selected, point, repeat, label, optional
     --> trails/a.trail.yaml:4:18
      |
    4 |       - maestro: {commands: [{tapOn: {text: Add one, retryTapIfNoChange: 3}}]}
      |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    error: `maestro`: `commands.1.tapOn`: unknown key `txt`; did you mean `text`?
     --> trails/a.trail.yaml:5:18
      |
    5 |       - maestro: {commands: [back, {tapOn: {txt: Add one}}]}
      |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    error: `maestro`: `commands.0`: unknown key `repeat`; expected one of: tapOn, doubleTapOn, longPressOn, inputText, eraseText, pasteText, copyTextFrom, hideKeyboard, pressKey, back, assertVisible, assertNotVisible, extendedWaitUntil, waitForAnimationToEnd, scroll, scrollUntilVisible, swipe, launchApp, stopApp, killApp, clearState, openLink, takeScreenshot
     --> trails/a.trail.yaml:6:18
      |
    6 |       - maestro: {commands: [{repeat: {times: 3}}]}
      |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    error: 3 problems
    ");
}

#[test]
fn a_driver_that_a_browser_does_not_have() {
    let pinned = "config:\n  devices: {web: PLAYWRIGHT_ELECTRON}\n";
    insta::assert_snapshot!(check(pinned, &["wait: {}"], &[]).refusal(), @"
    exit 3
    error: `playwright-electron` cannot be used on web/chromium: browsers are driven by `playwright-native`
     --> trails/a.trail.yaml:2:13
      |
    2 |   devices: {web: PLAYWRIGHT_ELECTRON}
      |             ^^^

    error: 1 problem
    ");
    // A simulated device stands for any driver.
    check(pinned, &["wait: {}"], &["-d", "web/sim-1"]).exits(0);
    let project = Project::empty()
        .with("trailblaze.yaml", "devices: [{id: web/app, driver: playwright-electron}]\n")
        .with("trails/a.trail.yaml", trail(&["wait: {}"]));
    insta::assert_snapshot!(project.run(&["run"]).refusal(), @"
    exit 3
    error: `playwright-electron` cannot be used on web/app: browsers are driven by `playwright-native` (trailblaze.yaml:1:16)
    ");
}

#[test]
fn settings_of_a_browser_on_a_simulated_device() {
    let project = Project::counter()
        .with("trailblaze.yaml", "devices: [{id: web/sim-1, viewport: 800x600}]\n")
        .with("trails/a.trail.yaml", trail(&["wait: {}"]));
    insta::assert_snapshot!(project.run(&["check"]).refusal(), @"
    exit 3
    error: `viewport` of `web/sim-1` is for browsers, not for simulated devices (trailblaze.yaml:1:16)
    ");
}

#[test]
fn a_selector_that_says_nothing_about_the_device() {
    let calls = [
        "tapOnElementBySelector: {nodeSelector: {web: {cssSelector: '#pay'}}}",
        "assertVisibleBySelector: {reason: It is there, nodeSelector: {}}",
    ];
    insta::assert_snapshot!(check("", &calls, &[]).refusal(), @"
    exit 3
    error: `nodeSelector` has no `androidAccessibility`, so it matches nothing on this device
     --> trails/a.trail.yaml:4:48
      |
    4 |       - tapOnElementBySelector: {nodeSelector: {web: {cssSelector: '#pay'}}}
      |                                                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: record this step on this platform

    error: `nodeSelector` is empty
     --> trails/a.trail.yaml:5:70
      |
    5 |       - assertVisibleBySelector: {reason: It is there, nodeSelector: {}}
      |                                                                      ^^
      |
      = help: record this step on this platform

    error: 2 problems
    ");
    check("", &calls[..1], &["-d", "web/sim-1"]).exits(0);
    // A description says which element it is.
    let both = "web_click: {ref: 'button \"Add one\"', nodeSelector: {androidAccessibility: {textRegex: Add one}}}";
    let empty = "web_click: {ref: 'button \"Add one\"', nodeSelector: {}}";
    check("", &[both, empty], &["-d", "web/sim-1"]).exits(0);
}

#[test]
fn a_ref_that_no_run_can_resolve() {
    let calls = ["web_click: {ref: e4, nodeSelector: {index: 0}}", "captureScreen: {}", "web_click: {ref: e5}"];
    insta::assert_snapshot!(check("", &calls, &["-d", "web/sim-1"]).refusal(), @r#"
    exit 3
    error: `e4` is a ref of a snapshot that no run takes, so nothing can be found
     --> trails/a.trail.yaml:4:26
      |
    4 |       - web_click: {ref: e4, nodeSelector: {index: 0}}
      |                          ^^
      |
      = help: record this step again, or describe the element, as in `button "Pay"`

    error: 1 problem
    "#);
    let both = "web_click: {ref: e4, nodeSelector: {web: {cssSelector: '#pay'}}}";
    check("", &[both], &["-d", "web/sim-1"]).exits(0);
}
