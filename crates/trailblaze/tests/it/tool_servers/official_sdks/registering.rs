//! What happens to the tools that servers list: filters, names, toolsets, groups, changes.

use serde_json::{Value, json};
use trailblaze_protocol::event::Level;

use crate::support::lab::{Lab, python};

const SCRIPT: &str = "{name: fixture, script: tools/toolset.ts}";

/// All tools of the fixture, in order.
const TOOLS: [&str; 10] = [
    "fixture_add",
    "fixture_crash",
    "fixture_echo",
    "fixture_environment",
    "fixture_onAccessibility",
    "fixture_onHost",
    "fixture_pulled",
    "fixture_pushed",
    "fixture_runtime",
    "fixture_whereAmI",
];

fn lab() -> Option<Lab> {
    let lab = Lab::new()?;
    lab.fixture("toolset.ts").configured("target: fixture\n").target(&[SCRIPT]);
    Some(lab)
}

fn registered(lab: &Lab, args: &[&str]) -> Vec<String> {
    lab.offered(&[&["--all", "--search", "fixture_"], args].concat())
}

/// The tools except one.
fn without(name: &str) -> Vec<&'static str> {
    TOOLS.into_iter().filter(|tool| *tool != name).collect()
}

#[test]
fn tools_are_registered_under_the_names_that_their_server_gives_them() {
    let Some(lab) = lab() else { return };
    assert_eq!(registered(&lab, &["-d", "android/sim-1"]), TOOLS);
    let toolbox = lab.go(&["toolbox", "--json", "--all", "--search", "fixture_add"]).exits(0).json();
    let tool = &toolbox[0]["tools"][0];
    let schema = json!({
        "type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"],
    });
    assert_eq!((&tool["source"], &tool["inputSchema"]), (&json!("server fixture"), &schema));
}

#[test]
fn a_tool_for_one_driver_is_absent_with_any_other() {
    let Some(lab) = lab() else { return };
    let devices = "devices: [{id: android/sim-2, driver: android-host}]\n";
    let lab = lab.configured(&format!("target: fixture\n{devices}")).calls(&["fixture_onAccessibility: {}"]);
    let absent = without("fixture_onAccessibility");
    assert_eq!(registered(lab, &["-d", "android/sim-1"]), TOOLS);
    assert_eq!(registered(lab, &["-d", "android/sim-2"]), absent);
    assert_eq!(registered(lab, &["-d", "ios/sim-1"]), absent);

    assert_eq!(lab.run(&["-d", "android/sim-1"], 0).texts("fixture_onAccessibility"), ["by accessibility"]);
    let ran = lab.go(&["run", "--pictures", "off", "-d", "android/sim-2"]).exits(3);
    let reason =
        "server fixture offers it, but it only supports the drivers android-ondevice-accessibility, not android-host";
    assert!(ran.stderr.contains(reason), "{}", ran.stderr);
    let why = lab.go(&["toolbox", "why", "fixture_onAccessibility", "-d", "android/sim-2"]).exits(0).stdout;
    assert_eq!(why, format!("`fixture_onAccessibility` on android/sim-2\n  {reason}\n"));
}

#[test]
fn a_tool_for_the_host_is_absent_where_the_agent_runs_on_the_device() {
    let Some(lab) = lab() else { return };
    assert_eq!(registered(&lab, &["-d", "android/sim-1"]), TOOLS);
    // It needs Node, so it cannot run in the engine, which is the default there.
    let entry = "{name: fixture, script: tools/toolset.ts, runtime: process}";
    let lab = lab.configured("target: fixture\nagentMode: onDevice\n").target(&[entry]);
    assert_eq!(registered(lab, &["-d", "android/sim-1"]), without("fixture_onHost"));
    // That driver cannot run an agent on its device.
    assert!(registered(lab, &["-d", "ios/sim-1"]).contains(&"fixture_onHost".to_string()));
    let why = lab.go(&["toolbox", "why", "fixture_onHost", "-d", "android/sim-1"]).exits(0).stdout;
    assert!(
        why.contains("server fixture offers it, but it requires the host, but the agent runs on the device"),
        "{why}"
    );
}

#[test]
fn tools_of_a_targets_servers_are_offered_through_toolsets_that_they_name_or_that_name_them() {
    let Some(lab) = lab() else { return };
    let offered = |lab: &Lab, args: &[&str]| lab.offered(&[&["--search", "fixture_"], args].concat());
    assert_eq!(offered(&lab, &["-d", "android/sim-1"]), ["fixture_pushed"]);
    let toolset = "id: mine\nplatforms: [android]\ntools: [fixture_pulled, fixture_add]\n";
    let lab = lab.with("trailblaze-config/toolsets/mine.yaml", toolset);
    assert_eq!(offered(lab, &["-d", "android/sim-1"]), ["fixture_add", "fixture_pulled", "fixture_pushed"]);
    assert_eq!(offered(lab, &["-d", "ios/sim-1"]), ["fixture_pushed"], "the toolset is for another platform");
    let text = lab.go(&["toolbox", "-d", "android/sim-1", "--search", "fixture_pushed"]).exits(0).stdout;
    assert!(text.contains("## otherToolset: \nfixture_pushed()"), "{text}");

    // A target that chooses its toolsets leaves out the others; their tools can still be called.
    let target = format!("id: fixture\nmcp_servers: [{SCRIPT}]\nplatforms: {{android: {{tool_sets: [mine]}}}}\n");
    let lab = lab.with("trailblaze-config/targets/fixture.yaml", &target).calls(&["fixture_pushed: {}"]);
    assert_eq!(offered(lab, &["-d", "android/sim-1"]), ["fixture_add", "fixture_pulled"]);
    let why = lab.go(&["toolbox", "why", "fixture_pushed", "-d", "android/sim-1"]).exits(0).stdout;
    assert!(
        why.contains("it is not offered to models: none of its toolsets (otherToolset) is in this session"),
        "{why}"
    );
    assert_eq!(lab.run(&["-d", "android/sim-1"], 0).texts("fixture_pushed"), ["pushed"]);
}

#[test]
fn two_servers_that_claim_one_name_are_both_named_and_nothing_runs() {
    let Some(lab) = lab() else { return };
    let other = "{name: other, script: tools/small.js, env: {SMALL_TOOLS: '[\"other_go\", \"fixture_add\"]'}}";
    let lab = lab.fixture("small.js").target(&[SCRIPT, other]).calls(&["fixture_add: {a: 1, b: 2}"]);
    let ran = lab.go(&["run", "--pictures", "off"]).exits(3);
    insta::assert_snapshot!(ran.normal(&ran.stderr), @r#"
    error: the tool `fixture_add` is offered twice: by server fixture (tools/toolset.ts) and by server other (tools/small.js)
     --> trailblaze-config/targets/fixture.yaml:4:12
      |
    4 |   - {name: other, script: tools/small.js, env: {SMALL_TOOLS: '["other_go", "fixture_add"]'}}
      |            ^^^^^

    error: 1 problem
    "#);
    assert_eq!(lab.project.last_run().calls().len(), 0);
    // Nothing of the second server is registered.
    let why = lab.go(&["toolbox", "why", "fixture_add"]).exits(0).stdout;
    assert!(why.contains("the tool `fixture_add` is offered twice: by server fixture (tools/toolset.ts) and by server other (tools/small.js)"), "{why}");
    let why = lab.go(&["toolbox", "why", "other_go"]).exits(0).stdout;
    assert!(why.contains("server other offers it, but none of its tools can be used: the tool `fixture_add`"), "{why}");
    assert!(!why.contains("it can be called by name"), "{why}");
}

#[test]
fn a_call_is_sent_to_the_server_that_listed_its_tool() {
    let Some(lab) = lab() else { return };
    let small = |name: &str| {
        format!("{{name: {name}, script: tools/small.js, env: {{SMALL_NAME: {name}, SMALL_TOOLS: '[\"{name}_go\"]'}}}}")
    };
    let lab = lab.fixture("small.js").target(&[SCRIPT, &small("left"), &small("right")]);
    let lab = lab.calls(&["right_go: {}", "fixture_add: {a: 40, b: 2}", "left_go: {}"]);
    let played = lab.run(&[], 0);
    let texts = [played.texts("left_go"), played.texts("right_go"), played.texts("fixture_add")];
    assert_eq!(texts, [["left_go of left"], ["right_go of right"], ["42"]]);
}

#[test]
fn a_list_of_several_pages_is_read_to_its_end() {
    let Some(lab) = Lab::new() else { return };
    let names: Vec<String> = (10..21).map(|number| format!("page_t{number}")).collect();
    let tools = serde_json::to_string(&names).unwrap();
    let entry = format!("{{name: pages, script: tools/small.js, env: {{SMALL_PAGE: '3', SMALL_TOOLS: '{tools}'}}}}");
    let lab = lab.fixture("small.js").configured(&format!("mcpServers: [{entry}]\n"));
    assert_eq!(lab.offered(&["--prefix", "page_*"]), names);
}

#[test]
fn the_metadata_of_a_tool_wins_over_the_registry_and_invalid_values_are_reported() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("registry.py").configured(&format!("mcpServers: [{}]\n", python("registry")));
    let ran = lab.go(&["toolbox", "--json", "-d", "android/sim-1", "--search", "lib_both"]).exits(0);
    let toolbox = ran.json();
    let tool = &toolbox[0]["tools"][0];
    assert_eq!(
        (&tool["isForLlm"], &tool["isRecordable"]),
        (&json!(true), &json!(false)),
        "its own word; the registry's"
    );
    insta::assert_snapshot!(ran.stderr, @r#"
    warning: server registry: `lib_wrong`: `isRecordable` in its registry must be a boolean, got "no"; it is ignored
    warning: server registry: `lib_wrong`: `platforms` in its registry must be a list of `android`, `ios`, `web` and `desktop`, got ["toaster"]; it is ignored
    warning: server registry: its registry mentions `lib_gone`, which it does not list
    "#);
    let why = lab.go(&["toolbox", "why", "lib_both", "-d", "web/sim-1"]).exits(0).stdout;
    assert!(why.contains("it is for android, ios, not web"), "{why}");
}

#[test]
fn requested_groups_replace_the_default_ones() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("registry.py").configured(&format!("mcpServers: [{}]\n", python("registry")));
    let always = ["lib_both", "lib_free", "lib_strict", "lib_undeclared", "lib_wrong"];
    let check = |args: &[&str], more: &[&str]| {
        let mut expected = [&always[..], more].concat();
        expected.sort_unstable();
        assert_eq!(lab.offered(&[&["--prefix", "lib_*"], args].concat()), expected, "{args:?}");
    };
    check(&[], &["lib_either", "lib_payments"]);
    check(&["--group", "admin"], &["lib_admin", "lib_either"]);
    check(&["--group", "admin", "--group", "payments"], &["lib_admin", "lib_either", "lib_payments"]);
}

#[test]
fn a_tool_that_a_server_adds_in_a_call_can_be_used_by_the_next() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("schemas.ts").configured("mcpServers: [{name: schemas, script: tools/schemas.ts}]\n");
    let mut command = lab.command(&["shell", "-d", "android/sim-1"]);
    lab.project.write("lines", "schema_grow\nschema_grown\nschema_shrink\nreloadTools\nschema_grown\nquit\n");
    command.stdin(std::fs::File::open(lab.path("lines")).unwrap());
    let ran = lab.finish(command);
    assert!(ran.stdout.contains("I am new"), "{ran:?}");
    assert!(
        ran.stdout.contains("unknown tool `schema_grown`") || ran.stderr.contains("unknown tool `schema_grown`"),
        "{ran:?}"
    );
}

#[test]
fn a_new_tool_of_a_shared_server_is_available_to_all_devices() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("schemas.ts").configured("mcpServers: [{name: schemas, script: tools/schemas.ts}]\n");
    let lab = lab.calls(&["schema_grow: {}", "schema_useGrown: {}"]);
    let played = lab.run(&["-d", "android/sim-1,ios/sim-1,web/sim-1"], 0);
    assert_eq!(played.texts("schema_grown"), ["I am new"; 3], "{:?}", played.texts("schema_useGrown"));
}

#[test]
fn tools_are_listed_again_on_request() {
    let Some(lab) = lab() else { return };
    let lab = lab.calls(&["reloadTools: {}", "fixture_add: {a: 1, b: 2}"]);
    let played = lab.run(&[], 0);
    let total = played.texts("reloadTools");
    assert!(total[0].starts_with("added: none; removed: none; "), "{total:?}");
    assert_eq!(played.texts("fixture_add"), ["3"]);
    assert!(played.notes().iter().all(|(level, _)| *level < Level::Warning), "{:?}", played.notes());
}

#[test]
fn calls_of_server_tools_are_checked_before_anything_runs() {
    let Some(lab) = lab() else { return };
    let lab = lab.calls(&["fixture_add: {a: 1, b: many}", "fixture_add: {a: 1}", "fixture_ad: {}"]);
    let ran = lab.go(&["check"]).exits(3);
    insta::assert_snapshot!(ran.normal(&ran.stderr), @"
    error: `many` is not a number
     --> trails/a.trail.yaml:4:32
      |
    4 |       - fixture_add: {a: 1, b: many}
      |                                ^^^^

    error: `fixture_add` is missing the argument `b`
     --> trails/a.trail.yaml:5:9
      |
    5 |       - fixture_add: {a: 1}
      |         ^^^^^^^^^^^

    error: unknown tool `fixture_ad`
     --> trails/a.trail.yaml:6:9
      |
    6 |       - fixture_ad: {}
      |         ^^^^^^^^^^
      |
      = help: did you mean `fixture_add`?

    error: 3 problems
    ");
}

#[test]
fn offline_the_last_listing_counts_and_a_server_without_one_is_named() {
    let Some(lab) = lab() else { return };
    let lab = lab.calls(&["fixture_add: {a: 1, b: many}"]);
    // No listing is known yet.
    let ran = lab.go(&["check", "--offline"]).exits(0);
    insta::assert_snapshot!(ran.normal(&ran.stderr), @"
    warning: the tools of server `fixture` are not known; calls to them were not checked
    hint: run `trailblaze check` without `--offline` to start the server and cache its tools
    offline: servers were not started; their tools are those they listed when last started
    warning: `fixture_add` may be a tool of a server that was not queried; it was not checked
     --> trails/a.trail.yaml:4:9
      |
    4 |       - fixture_add: {a: 1, b: many}
      |         ^^^^^^^^^^^
    ");
    lab.go(&["toolbox"]).exits(0);
    // From here on, no server could start.
    std::fs::remove_file(lab.path("bin/bun")).unwrap();
    let ran = lab.go(&["check", "--offline"]).exits(3);
    insta::assert_snapshot!(ran.normal(&ran.stderr), @"
    offline: servers were not started; their tools are those they listed when last started
    error: `many` is not a number
     --> trails/a.trail.yaml:4:32
      |
    4 |       - fixture_add: {a: 1, b: many}
      |                                ^^^^

    error: 1 problem
    ");
    let lab = lab.calls(&["fixture_add: {a: 1, b: 2}"]);
    let ran = lab.go(&["check", "--offline"]).exits(0);
    insta::assert_snapshot!(ran.normal(&format!("{}{}", ran.stderr, ran.stdout)), @"
    offline: servers were not started; their tools are those they listed when last started
    1 trail, no problems on android/sim-1
    ");
    let listed = lab.offered(&["--offline", "--all", "--search", "fixture_"]);
    assert_eq!(listed, TOOLS);
    // An entry that starts something else has a listing of its own.
    let lab = lab.target(&["{name: fixture, script: tools/other.ts}"]);
    let told: Value = lab.go(&["check", "--offline", "--json"]).exits(0).json();
    assert_eq!((&told["isOffline"], &told["serversUnknown"]), (&json!(true), &json!(["fixture"])));
}
