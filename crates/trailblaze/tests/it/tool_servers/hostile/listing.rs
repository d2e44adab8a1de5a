//! Servers with invalid lists of tools.

use crate::support::stage::{Stage, with_a_limit};

#[track_caller]
fn check_unusable(stage: Stage) -> String {
    let played = stage.play(2);
    played.assert_nothing_called();
    played.said()
}

/// Like [`check_unusable`], for a server that starts and then never answers a request.
#[track_caller]
fn check_silent(behaviour: &str, request: &str) -> String {
    with_a_limit(|limit| {
        let said = check_unusable(Stage::new(behaviour).with(&format!("startupTimeout: {limit}")));
        said.contains(request).then(|| said.replace(&format!("within {limit}"), "within [limit]"))
    })
}

#[track_caller]
fn check_refused(stage: Stage) -> String {
    let played = stage.play(3);
    played.run.assert_refused();
    played.said()
}

#[test]
fn a_server_that_never_lists_its_tools() {
    insta::assert_snapshot!(check_silent("never_lists", "`tools/list`"), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not list its tools: it did not answer `tools/list` within [limit]; raise `startupTimeout:` in its entry to allow more

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn a_server_that_refuses_to_list_its_tools() {
    insta::assert_snapshot!(check_unusable(Stage::new("refuses_to_list")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not list its tools: it refused `tools/list`: the catalogue is locked (-32603)

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn an_answer_without_a_list() {
    insta::assert_snapshot!(check_unusable(Stage::new("lists_no_list")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not list its tools: its answer to `tools/list` does not follow the protocol: it has no list of `tools`

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn endless_pages() {
    insta::assert_snapshot!(check_unusable(Stage::new("pages_without_end")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not list its tools: its list of tools does not end: more than 1000 pages

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn the_same_page_again() {
    insta::assert_snapshot!(check_unusable(Stage::new("pages_in_a_circle")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not list its tools: its list of tools does not end: the page after `again` is `again` again

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn too_many_tools() {
    insta::assert_snapshot!(check_unusable(Stage::new("lists_too_many")), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not list its tools: it lists more than 20000 tools

    0 passed, 1 broken by the environment in [time]
    ");
}

#[test]
fn ten_thousand_tools_are_not_an_error() {
    let played = Stage::new("lists_ten_thousand").then_the_other().play(0);
    played.assert_the_other_went_on();
    assert_eq!(played.answers("rogue_act"), ["did nothing"]);
}

#[test]
fn one_name_twice() {
    insta::assert_snapshot!(check_refused(Stage::new("lists_one_name_twice")), @r"
    error: server rogue offers the tool `rogue_act` twice
     --> trailblaze.yaml:7:3
      |
    7 |   rogue:
      |   ^^^^^

    error: unknown tool `rogue_act`
     --> trails/a.trail.yaml:4:9
      |
    4 |       - rogue_act: {}
      |         ^^^^^^^^^
      |
      = help: server rogue offers it, but none of its tools can be used

    error: 2 problems
    ");
}

#[test]
fn a_name_that_another_server_has() {
    insta::assert_snapshot!(check_refused(Stage::new("lists_the_name_of_another")), @r"
    error: the tool `good_act` is offered twice: by server good and by server rogue
     --> trailblaze.yaml:7:3
      |
    7 |   rogue:
      |   ^^^^^

    error: unknown tool `rogue_act`
     --> trails/a.trail.yaml:4:9
      |
    4 |       - rogue_act: {}
      |         ^^^^^^^^^

    error: 2 problems
    ");
}

/// Every command that uses the tools of servers refuses what a run refuses, even without trails.
#[test]
fn one_name_twice_is_refused_by_every_command() {
    for (behaviour, error) in [
        ("lists_one_name_twice", "server rogue offers the tool `rogue_act` twice"),
        ("lists_the_name_of_another", "the tool `good_act` is offered twice: by server good and by server rogue"),
    ] {
        let tool = error.split('`').nth(1).expect("the error names a tool");
        let stage = Stage::new(behaviour);
        std::fs::remove_dir_all(stage.project().root().join("trails")).expect("there are trails");
        let device = ["-d", "android/sim-1"];
        for args in [
            &["toolbox"][..],
            &["toolbox", "budget"],
            &["check"],
            &["shell"],
            &["tool", "good_rest"],
            &["tool", "hideKeyboard"],
            &["tool", "good_rest", "--help-tool"],
        ] {
            let ran = stage.finish(stage.command(&[args, &device].concat())).exits(3);
            assert_eq!(ran.stdout, "", "{args:?}");
            assert!(ran.stderr.contains(&format!("error: {error}\n --> trailblaze.yaml:7:3\n")), "{}", ran.stderr);
            stage.assert_none_left();
        }
        let why = stage.finish(stage.command(&["toolbox", "why", tool, "-d", "android/sim-1"])).exits(0);
        let refused = format!("server rogue offers it, but none of its tools can be used: {error}");
        assert!(why.stdout.contains(&refused), "{}", why.stdout);
    }
}

#[test]
fn only_the_tool_with_a_dot_in_its_name_is_left_out() {
    let played = Stage::new("lists_a_dot").then_the_other().play(0);
    played.assert_the_other_went_on();
    assert_eq!(played.answers("rogue_act"), ["did nothing"]);
    insta::assert_snapshot!(played.notes(), @"warning: server rogue: a tool was left out: `rogue.act` is not a valid tool name: use 1 to 64 of the characters a-z, A-Z, 0-9, _ and -");
}

#[test]
fn an_invalid_tool_name_is_explained() {
    let stage = Stage::new("lists_a_dot");
    let ran = stage.finish(stage.command(&["toolbox", "why", "rogue.act", "-d", "android/sim-1"])).exits(0);
    insta::assert_snapshot!(ran.stdout, @"
    `rogue.act` on android/sim-1
      server rogue offers it, but `rogue.act` is not a valid tool name: use 1 to 64 of the characters a-z, A-Z, 0-9, _ and -
    ");
    let ran = stage.finish(stage.command(&["tool", "rogue.act", "-d", "android/sim-1"])).exits(3);
    insta::assert_snapshot!(ran.normal(&ran.stderr), @"
    error: unknown tool `rogue.act`
    hint: server rogue offers it, but `rogue.act` is not a valid tool name: use 1 to 64 of the characters a-z, A-Z, 0-9, _ and -
    ");
}

#[test]
fn control_characters_in_a_name_are_made_safe() {
    let played = Stage::new("lists_an_unspeakable_name").then_the_other().play(0);
    played.assert_the_other_went_on();
    insta::assert_snapshot!(played.notes(), @r"warning: server rogue: a tool was left out: `rogue\n\u{1b}[31mxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` is not a valid tool name: use 1 to 64 of the characters a-z, A-Z, 0-9, _ and -");
}

#[test]
fn only_the_tool_with_an_invalid_schema_is_left_out() {
    let played = Stage::new("lists_schemas_that_are_none").then_the_other().play(0);
    played.assert_the_other_went_on();
    insta::assert_snapshot!(played.notes(), @r#"
    warning: server rogue: `rogue_text` is left out: its `inputSchema` must be a JSON Schema, got "string"
    warning: server rogue: `rogue_number` is left out: its `inputSchema` must be a JSON Schema, got 5
    warning: server rogue: `rogue_list` is left out: its `inputSchema` must be a JSON Schema, got []
    warning: server rogue: `rogue_array` is left out: its `inputSchema` must be for an object, got "array"
    warning: server rogue: `rogue_shape` is left out: its `inputSchema` is not a valid JSON Schema: 5 is not of type "object"
    warning: server rogue: `rogue_kind` is left out: its `inputSchema` is not a valid JSON Schema: "strnig" is not valid under any of the schemas listed in the 'anyOf' keyword
    warning: server rogue: `rogue_nowhere` is left out: its `inputSchema` is not a valid JSON Schema: Pointer '/nowhere' does not exist
    warning: server rogue: `rogue_elsewhere` is left out: its `inputSchema` is not a valid JSON Schema: Resource 'http://127.0.0.1:9/schema.json' is not present in a registry and retrieving it failed: `resolve-http` feature …
    warning: server rogue: `rogue_pattern` is left out: its `inputSchema` is not a valid JSON Schema: "(" is not a "regex"
    warning: server rogue: `rogue_flood` is left out: its `inputSchema` is not a valid JSON Schema: ["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    warning: server rogue: `rogue_none` is left out: it has no `inputSchema`
    "#);
}

#[test]
fn a_call_of_a_tool_that_was_left_out_is_explained() {
    let stage = Stage::new("lists_schemas_that_are_none");
    stage.project().write("trails/a.trail.yaml", "trail:\n  - step: Act\n    tools:\n      - rogue_array: {}\n");
    insta::assert_snapshot!(check_refused(stage), @r#"
    error: unknown tool `rogue_array`
     --> trails/a.trail.yaml:4:9
      |
    4 |       - rogue_array: {}
      |         ^^^^^^^^^^^
      |
      = help: server rogue offers it, but its `inputSchema` must be for an object, got "array"

    error: 1 problem
    "#);
}

#[test]
fn a_recursive_schema_is_accepted() {
    let stage = Stage::new("lists_schemas_that_are_none");
    stage
        .project()
        .write("trails/a.trail.yaml", "trail:\n  - step: Act\n    tools:\n      - rogue_circle: {x: word}\n");
    assert_eq!(stage.play(0).answers("rogue_circle"), ["rested"]);
}

#[test]
fn a_tool_without_a_name_is_left_out() {
    let played = Stage::new("lists_the_nameless").then_the_other().play(0);
    played.assert_the_other_went_on();
    insta::assert_snapshot!(played.notes(), @r#"
    warning: server rogue: a tool without a name is left out: {}
    warning: server rogue: a tool without a name is left out: 5
    warning: server rogue: a tool without a name is left out: null
    warning: server rogue: a tool without a name is left out: {"name":7,"inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}
    warning: server rogue: a tool without a name is left out: {"title":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    "#);
}

#[test]
fn tools_that_keep_changing_do_not_flood_the_record() {
    let played = Stage::new("changes_without_end").then_the_other().play(0);
    played.assert_the_other_went_on();
    let n_notes = played.notes().lines().count();
    assert!(n_notes < 5, "{n_notes} notes");
}

#[test]
fn a_registry_that_is_not_json() {
    let played = Stage::new("registers_no_json").play(0);
    insta::assert_snapshot!(played.notes(), @"warning: server rogue: its registry is not valid JSON, and is ignored: expected ident at line 1 column 2");
}

#[test]
fn a_registry_that_is_not_an_object() {
    let played = Stage::new("registers_a_list").play(0);
    insta::assert_snapshot!(played.notes(), @"warning: server rogue: its registry must be a JSON object, and is ignored");
}

#[test]
fn a_registry_with_values_of_wrong_types() {
    let played = Stage::new("registers_wrong_shapes").play(0);
    insta::assert_snapshot!(played.notes(), @r#"
    warning: server rogue: `defaultEnabled` of the group `extra` must be a boolean, got "no"; it is ignored
    warning: server rogue: `rogue_act`: `isRecordable` in its registry must be a boolean, got "yes"; it is ignored
    warning: server rogue: `rogue_act`: `platforms` in its registry must be a list of strings, got "all"; it is ignored
    warning: server rogue: `rogue_act`: `groups` in its registry must be a list of strings, got [1]; it is ignored
    warning: server rogue: `rogue_act`: `toolset` in its registry must be a string, got {}; it is ignored
    warning: server rogue: `rogue_rest`: its registry entry must be an object, got ["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…; it is ignored
    warning: server rogue: its registry mentions `rogue_gone`, which it does not list
    "#);
}

#[test]
fn a_registry_whose_parts_are_not_objects() {
    let played = Stage::new("registers_parts_that_are_none").play(0);
    insta::assert_snapshot!(played.notes(), @r#"
    warning: server rogue: `tools` of its registry must be an object, got 5; it is ignored
    warning: server rogue: `groups` of its registry must be an object, got "all"; it is ignored
    "#);
}

#[test]
fn an_unreadable_registry_is_reported() {
    for (behaviour, error) in [
        ("fails_to_read_its_registry", "KeyError: 'shelf' (-32603)"),
        ("fails_to_read_a_registry_that_it_lists", "KeyError: 'shelf' (0)"),
        ("registers_bytes", "it has no text"),
    ] {
        let played = Stage::new(behaviour).then_the_other().play(0);
        played.assert_the_other_went_on();
        let text =
            format!("warning: server `rogue`: its `trailblaze://registry` could not be read and is ignored: {error}");
        assert_eq!(played.notes(), text);
        assert!(played.said().starts_with(&text), "{}", played.said());
    }
}

#[test]
fn a_missing_registry_is_fine() {
    for behaviour in
        ["has_no_registry_in_the_older_way", "has_no_registry_in_the_newer_way", "has_no_registry_among_its_resources"]
    {
        assert_eq!(Stage::new(behaviour).play(0).notes(), "", "{behaviour}");
    }
}

#[test]
fn a_registry_that_never_arrives() {
    insta::assert_snapshot!(check_silent("never_shows_its_registry", "`resources/read`"), @r"
    trails/a on android/sim-1 (trails/a.trail.yaml)
      server `rogue` did not list its tools: it did not answer `resources/read` of its registry within [limit]; raise `startupTimeout:` in its entry to allow more

    0 passed, 1 broken by the environment in [time]
    ");
}
