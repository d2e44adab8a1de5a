//! What the program says about itself, before anything is opened.

use serde_json::{Value, json};

use crate::command_line::mcp::client::{BOTH, Client, Daemon, Generation};
use crate::support::Project;

const TOOLS: [&str; 10] =
    ["devices", "session", "snapshot", "act", "step", "verify", "trail", "toolbox", "report", "screenshot"];

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

#[test]
fn the_tools_are_few_and_always_the_same() {
    let project = Project::counter();
    for generation in BOTH {
        let mut client = Client::program(&project, &[], generation);
        let list = client.request("tools/list", json!({}));
        assert_eq!(names(&list), TOOLS);
        let size = list.to_string().chars().count();
        assert!(size <= 8_000, "the list has {size} characters");
        let read_only: Vec<&str> = list["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .filter(|tool| tool["annotations"]["readOnlyHint"] == true)
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!(read_only, ["devices", "snapshot", "toolbox", "report", "screenshot"]);
        assert_eq!(list, client.request("tools/list", json!({})));
        assert_eq!(client.close(), Some(0));
    }
}

#[test]
fn every_tool_has_a_short_description_and_takes_a_session() {
    let project = Project::empty();
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let list = client.request("tools/list", json!({}));
    for tool in list["tools"].as_array().expect("tools") {
        let name = &tool["name"];
        let about = tool["description"].as_str().expect("a description");
        assert!((20..700).contains(&about.len()), "{name}: {} bytes", about.len());
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["inputSchema"]["properties"]["session"]["type"], "string", "{name}");
    }
}

#[test]
fn the_instructions_fit_what_clients_show() {
    for (args, tools) in
        [(&[][..], &["session", "snapshot", "act", "toolbox", "trail"][..]), (&["--tools", "flat"], &["session"])]
    {
        for generation in BOTH {
            let project = Project::empty();
            let client = Client::program(&project, args, generation);
            let said = client.hello["instructions"].as_str().expect("instructions");
            assert!(said.len() <= 2_000, "the instructions have {} bytes", said.len());
            for tool in tools {
                assert!(said.contains(&format!("`{tool}`")), "{tool} in {said}");
            }
        }
    }
}

#[test]
fn the_newer_generation_is_told_what_it_may_keep() {
    let project = Project::empty();
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &[], Generation::Discover);
    let versions = client.hello["supportedVersions"].as_array().expect("versions");
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(versions.contains(&version.into()), "{versions:?}");
    }
    for method in ["tools/list", "resources/templates/list", "resources/list"] {
        let list = client.request(method, json!({}));
        assert_eq!(list["resultType"], "complete", "{method}");
        assert!(list["ttlMs"].is_u64() && list["cacheScope"].is_string(), "{method}: {list}");
    }
}

#[test]
fn unknown_tools_are_errors_and_wrong_arguments_are_failures() {
    let project = Project::empty();
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let error = client.error("tools/call", json!({"name": "tap", "arguments": {}}));
    assert_eq!(error["code"], -32602);
    assert_eq!(error["message"], "unknown tool `tap`; tools that `toolbox` finds are called through `act`");
    for (tool, args, said) in [
        ("act", json!({}), "missing field `calls`"),
        ("act", json!({"calls": []}), "at least one call"),
        ("act", json!({"calls": [{"tool": "tap"}], "step": "a", "verify": "b"}), "not both"),
        ("snapshot", json!({"deep": 1}), "unknown field `deep`, expected one of `find`"),
        ("session", json!({"action": "start"}), "unknown variant `start`, expected one of `open`"),
        ("trail", json!({"action": "read"}), "`path` is needed"),
        ("trail", json!({"action": "edit", "path": "a.trail.yaml", "old": "x"}), "give `old` and `new`"),
    ] {
        let failure = client.failure(tool, args);
        assert!(failure.contains(said), "{tool}: {failure}");
    }
}

#[test]
fn a_client_that_sends_nonsense_does_not_end_the_server() {
    let project = Project::empty();
    let ran = project.feed(&["mcp"], "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\nnot json\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n");
    let ran = ran.exits(0);
    for line in ran.stdout.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    assert!(ran.stdout.contains("\"tools\":["), "{}", ran.stdout);
}

#[test]
fn a_server_without_a_client_ends() {
    Project::empty().run(&["mcp"]).exits(0);
    let refused = Project::empty().run(&["mcp", "--tools", "many"]).exits(3);
    assert!(refused.stderr.contains("[possible values: standard, flat]"), "{}", refused.stderr);
}

#[test]
fn a_ping_is_answered_and_nothing_is_logged_unasked() {
    let project = Project::empty();
    let mut client = Client::program(&project, &[], Generation::Initialize);
    assert_eq!(client.request("ping", json!({})), json!({}));
    assert_eq!(client.request("logging/setLevel", json!({"level": "info"})), json!({}));
    assert_eq!(client.notices, Vec::<Value>::new());
}
