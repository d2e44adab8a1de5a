//! The real program with its daemon, as agents use it.

use serde_json::{Value, json};

use crate::command_line::mcp::client::{BOTH, Client, Daemon, Generation, reference};
use crate::command_line::mcp::http::post;
use crate::support::Project;

#[test]
fn an_agent_that_knows_only_the_server_saves_a_trail_that_replays() {
    for generation in BOTH {
        let project = Project::counter();
        let _daemon = Daemon(&project);
        let mut client = Client::program(&project, &["-d", "android/sim-1"], generation);
        let devices = client.call("devices", json!({}));
        assert!(devices.contains("android/sim-1: "), "{devices}");
        let opened = client.call("session", json!({"action": "open", "url": "com.example.counter"}));
        let calls = json!([{"tool": "tap", "args": {"ref": reference(&opened, "Add one")}}]);
        let acted = client.call("act", json!({"step": "Add one", "calls": calls}));
        assert!(acted.contains("\"Count: 1\""), "{acted}");
        let check = json!([{"tool": "assertVisible", "args": {"text": "Count: 1"}}]);
        client.call("act", json!({"verify": "The count is one", "calls": check}));
        client.call("trail", json!({"action": "save", "path": "trails/one.trail.yaml"}));
        assert!(
            client
                .call("trail", json!({"action": "read", "path": "trails/one.trail.yaml"}))
                .contains("The count is one")
        );
        assert!(client.call("trail", json!({"action": "check"})).contains("no errors"));
        let ran =
            client.call("trail", json!({"action": "run", "path": "trails/one.trail.yaml", "device": "android/sim-1"}));
        assert!(ran.contains("passed"), "{ran}");
        assert!(client.call("report", json!({})).contains("1 passed"));
        assert!(client.call("session", json!({"action": "replay"})).contains("replayed"));
        let list = client.request("resources/list", json!({}));
        assert!(list.to_string().contains("trailblaze://trails/trails/one.trail.yaml"), "{list}");
        assert!(client.call("session", json!({"action": "close"})).starts_with("closed session"));
        assert_eq!(client.close(), Some(0));
    }
}

#[test]
fn trails_are_saved_only_in_the_project() {
    let project = Project::counter();
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &["-d", "android/sim-1"], Generation::Initialize);
    client.call("session", json!({"action": "open", "url": "com.example.counter"}));
    let outside = project.root().with_extension("trail.yaml");
    for path in ["../x.trail.yaml", outside.to_str().expect("a path"), "home/.profile", "trails/x.yaml", ""] {
        let refused = client.failure("trail", json!({"action": "save", "path": path}));
        assert!(
            refused.contains("is not in the project") || refused.contains("is not the name of a trail"),
            "{refused}"
        );
    }
    assert!(!outside.exists());
    std::fs::write(&outside, "password: hunter2\n").expect("it is written");
    for (action, path) in [("check", outside.to_str().expect("a path")), ("run", "../.."), ("check", "/etc/*")] {
        let refused = client.failure("trail", json!({"action": action, "path": path}));
        assert!(refused.contains("is not in the project") && !refused.contains("hunter2"), "{refused}");
    }
    let _ = std::fs::remove_file(&outside);
    client.call("trail", json!({"action": "save", "path": "trails/x.trail.yaml"}));
    let exists = client.failure("trail", json!({"action": "save", "path": "trails/x.trail.yaml"}));
    assert!(exists.contains("`merge: append`"), "{exists}");
}

#[test]
fn a_page_is_opened_in_a_browser_and_what_fails_leaves_no_session() {
    let project = Project::counter();
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let failed = client.failure("session", json!({"action": "open", "url": "com.example.nothing"}));
    assert!(failed.starts_with("no session was opened"), "{failed}");
    assert!(client.call("session", json!({"action": "list"})).starts_with("no session is open"));
    project.write("page.html", "<h1>Tea</h1><script>localStorage.n = 1 + Number(localStorage.n ?? 0)</script>");
    let url = format!("file://{}", project.root().join("page.html").display());
    let opened = client.call("session", json!({"action": "open", "url": url}));
    assert!(opened.contains("on web/chromium") && opened.contains("Tea"), "{opened}");
    assert!(client.call("devices", json!({})).contains("web/chromium"));
    assert!(client.call("session", json!({"action": "steps"})).contains("launchApp"));
}

#[test]
fn a_session_outlives_its_client() {
    let project = Project::counter();
    let _daemon = Daemon(&project);
    let mut first = Client::program(&project, &["-d", "android/sim-1", "--session", "mine"], Generation::Initialize);
    first.call("act", json!({"calls": [{"tool": "launchApp", "args": {"packageId": "com.example.counter"}}]}));
    assert_eq!(first.close(), Some(0));
    let mut second = Client::program(&project, &["--session", "mine"], Generation::Discover);
    assert!(second.call("session", json!({"action": "list"})).starts_with("session `mine` on android/sim-1 (1 step;"));
    assert!(second.call("snapshot", json!({"find": "count"})).contains("Count: 0"));
    let taken = second.failure("session", json!({"action": "open", "session": "other", "device": "android/sim-1"}));
    assert!(taken.contains("is used by session `mine`") && taken.contains("`takeOver`"), "{taken}");
}

#[test]
fn a_project_with_several_devices_says_how_to_choose_one() {
    let project = Project::wallet();
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let refused = client.failure("snapshot", json!({}));
    assert!(refused.ends_with(r#"`session` {"action":"open","device":"android/sim-1"}"#), "{refused}");
}

#[test]
fn team_tools_are_offered_under_their_own_names() {
    let project = Project::wallet();
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &["--tools", "flat", "-d", "android/sim-1"], Generation::Initialize);
    let list = client.request("tools/list", json!({}));
    let names = list_names(&list);
    assert!(names.starts_with(&["session", "snapshot"]) && names.contains(&"tap"), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("wallet_")), "{names:?}");
    let shown = client.call("launchApp", json!({}));
    assert!(shown.contains("Welcome back"), "{shown}");
    assert_eq!(names, list_names(&client.request("tools/list", json!({}))));
}

fn list_names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn only_bearers_of_the_key_are_served_over_http() {
    let project = Project::counter();
    let daemon = Daemon(&project);
    let mut client = Client::program(&project, &["-d", "android/sim-1"], Generation::Initialize);
    client.call("devices", json!({}));
    let (address, key) = daemon.address_and_key();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let version = ("MCP-Protocol-Version", "2025-11-25");
    let bearer = format!("Bearer {key}");
    assert_eq!(post(&address, &[version], &list).0, 401);
    assert_eq!(post(&address, &[version, ("Authorization", "Bearer wrong")], &list).0, 401);
    assert_eq!(
        post(&address, &[version, ("Authorization", &bearer), ("Origin", "https://evil.example")], &list).0,
        403
    );
    let (status, list) = post(&address, &[version, ("Authorization", &bearer)], &list);
    assert_eq!((status, list["result"]["tools"].as_array().map(Vec::len)), (200, Some(10)), "{list}");
    let args = json!({"action": "open", "project": project.root(), "device": "android/sim-1"});
    let open =
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "session", "arguments": args}});
    let (_, opened) = post(&address, &[version, ("Authorization", &bearer)], &open);
    assert!(opened["result"]["content"][0]["text"].as_str().is_some_and(|text| text.starts_with("opened")), "{opened}");
    assert!(client.call("session", json!({"action": "list"})).contains("on android/sim-1"));
}
