//! The registry, trails, reports and pictures as resources.

use serde_json::{Value, json};

use crate::command_line::mcp::client::{BOTH, Client, Daemon, Generation};
use crate::command_line::mcp::service::client;
use crate::support::Project;

fn read(client: &mut Client, uri: &str) -> Value {
    let result = client.request("resources/read", json!({"uri": uri}));
    let contents = result["contents"].as_array().expect("contents");
    assert_eq!(contents.len(), 1);
    assert_eq!(contents[0]["uri"], uri);
    contents[0].clone()
}

#[test]
fn trails_reports_and_pictures_are_listed_and_read() {
    let project = Project::counter()
        .with("b/c d.trail.yaml", "- prompts: []\n")
        .with("logs/2026-11-16_1/summary.json", "{}")
        .with("logs/2026-11-16_1/pictures/ab.png", "picture");
    for generation in BOTH {
        let mut client = client(&project, generation);
        let list = client.request("resources/list", json!({}));
        let uris: Vec<&str> =
            list["resources"].as_array().expect("resources").iter().filter_map(|one| one["uri"].as_str()).collect();
        assert_eq!(
            uris,
            [
                "trailblaze://registry",
                "trailblaze://trails/a.trail.yaml",
                "trailblaze://trails/b/c%20d.trail.yaml",
                "trailblaze://reports/2026-11-16_1",
            ]
        );
        let trail = read(&mut client, "trailblaze://trails/b/c%20d.trail.yaml");
        assert_eq!(trail["text"], "- prompts: []\n");
        let report = read(&mut client, "trailblaze://reports/2026-11-16_1");
        assert!(report["text"].as_str().is_some_and(|text| text.contains("\"exit\":\"failed\"")), "{report}");
        let picture = read(&mut client, "trailblaze://pictures/2026-11-16_1/pictures/ab.png");
        assert_eq!((&picture["mimeType"], &picture["blob"]), (&json!("image/png"), &json!("cGljdHVyZQ==")));
        let templates = client.request("resources/templates/list", json!({}));
        assert_eq!(templates["resourceTemplates"].as_array().map(Vec::len), Some(3));
    }
}

/// A tool server with tools in groups.
const GROUPED: &str = r#"
import json, sys
tool = lambda name: {"name": name, "inputSchema": {"type": "object"}}
registry = {
    "tools": {"shop_pay": {"groups": ["checkout"]}, "shop_setUp": {"exposedToLlm": False, "isRecordable": False}},
    "groups": {"checkout": {"description": "Paying", "defaultEnabled": False}, "auth": {"description": "Signing in", "defaultEnabled": True}},
}
results = {
    "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "resources": {}}, "serverInfo": {"name": "shop", "version": "1"}},
    "tools/list": {"tools": [tool("shop_pay"), tool("shop_setUp")]},
    "resources/read": {"contents": [{"uri": "trailblaze://registry", "text": json.dumps(registry)}]},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": results.get(request["method"], {"content": []})}), flush=True)
"#;

#[test]
fn the_registry_names_all_tools_and_groups() {
    let project = Project::counter().with("server.py", GROUPED);
    let servers = "mcpServers: {shop: {command: python3, args: [server.py]}}\n";
    project.write("trailblaze.yaml", format!("{}{servers}", project.read("trailblaze.yaml")));
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &["-d", "android/sim-1"], Generation::Initialize);
    client.call("session", json!({"action": "open"}));
    let registry = read(&mut client, "trailblaze://registry");
    let registry: Value = serde_json::from_str(registry["text"].as_str().expect("text")).expect("JSON");
    let groups = json!({
        "auth": {"description": "Signing in", "defaultEnabled": true},
        "checkout": {"description": "Paying", "defaultEnabled": false},
    });
    assert_eq!(registry["groups"], groups);
    // Its group is not enabled, so that models are not offered it, but it is for them.
    let pay = &registry["tools"]["shop_pay"];
    let expected = (&json!(["checkout"]), &json!(true), &json!(false));
    assert_eq!((&pay["groups"], &pay["exposedToLlm"], &pay["isOffered"]), expected, "{pay}");
    let set_up = &registry["tools"]["shop_setUp"];
    assert_eq!((&set_up["exposedToLlm"], &set_up["isRecordable"]), (&json!(false), &json!(false)), "{set_up}");
    assert_eq!(registry["tools"]["tapOnElementByNodeId"]["exposedToLlm"], false);
    assert_eq!(registry["tools"]["tapOnElementByNodeId"]["isDelegating"], true);
}

#[test]
fn the_registry_names_the_tools_with_their_sources() {
    let project = Project::counter();
    let mut client = client(&project, Generation::Initialize);
    client.call("session", json!({"action": "open"}));
    let registry = read(&mut client, "trailblaze://registry");
    let registry: Value = serde_json::from_str(registry["text"].as_str().expect("text")).expect("JSON");
    assert_eq!(registry["serverInfo"]["name"], "trailblaze");
    let tap = &registry["tools"]["tap"];
    assert_eq!((&tap["source"], &tap["exposedToLlm"]), (&json!("built-in"), &json!(true)), "{tap}");
    assert!(registry["tools"]["act"].is_object());
}

#[test]
fn nothing_outside_the_project_is_read() {
    let project = Project::counter().with("notes.yaml", "secret").with("logs/loose.png", "no");
    let mut client = client(&project, Generation::Initialize);
    for uri in [
        "trailblaze://trails/notes.yaml",
        "trailblaze://trails/../a.trail.yaml",
        "trailblaze://trails/%2e%2e/a.trail.yaml",
        "trailblaze://trails//etc/trail.yaml",
        "trailblaze://pictures/../loose.png",
        "trailblaze://pictures/loose.png",
        "trailblaze://reports/a/b",
        "trailblaze://other",
        "file:///etc/passwd",
    ] {
        let error = client.error("resources/read", json!({"uri": uri}));
        assert_eq!(error["message"], format!("no resource `{uri}`"));
    }
}
