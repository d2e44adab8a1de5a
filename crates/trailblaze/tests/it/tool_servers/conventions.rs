//! What the hints, names and results of a tool server mean, where conventions meet.

use serde_json::Value;

use crate::support::Project;
use crate::support::home::Home;

/// A server with the tools of a list, which all answer the same.
const SERVER: &str = r#"
import json, sys
tools, answer = json.loads(sys.argv[1]), json.loads(sys.argv[2])
about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}}
results = {"initialize": about, "tools/list": {"tools": tools}, "tools/call": answer}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": results.get(request["method"], {})}), flush=True)
"#;

/// The counter app and such a server, whose entry has these further keys.
fn project(tools: &Value, answer: &Value, keys: &str) -> Project {
    let project = Project::counter().with("server.py", SERVER);
    let server = format!(
        "mcpServers:\n  shop:\n    command: python3\n    args: [server.py, '{tools}', '{answer}']\n    multiDevice: stdio\n{keys}"
    );
    project.write("trailblaze.yaml", format!("{}{server}", project.read("trailblaze.yaml")));
    project
}

fn tool(name: &str) -> Value {
    serde_json::json!({"name": name, "description": "A tool.", "inputSchema": {"type": "object"}})
}

fn calling(project: &Project, tool: &str) {
    project.write("trails/a.trail.yaml", format!("trail:\n  - step: Go\n    tools:\n      - {tool}: {{}}\n"));
}

#[test]
fn a_tool_that_only_reads_is_recorded_if_its_author_says_so() {
    let states = [("Absent", None), ("False", Some(false)), ("True", Some(true))];
    let mut tools = Vec::new();
    for (hint_name, hint) in states {
        for (key_name, key) in states {
            let mut tool = tool(&format!("shop_hint{hint_name}Key{key_name}"));
            if let Some(hint) = hint {
                tool["annotations"]["readOnlyHint"] = hint.into();
            }
            if let Some(key) = key {
                tool["_meta"]["trailblaze/isRecordable"] = key.into();
            }
            tools.push(tool);
        }
    }
    let names: Vec<String> = tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_string())).collect();
    let answer = serde_json::json!({"content": [{"type": "text", "text": "7 left"}]});
    let home = Home::new(project(&tools.into(), &answer, ""));
    let recorded = |names: &[&str]| -> Vec<String> {
        home.run(&[&["batch"], names].concat()).exits(0);
        home.run(&["daemon", "stop"]).exits(0);
        let recording = home.project.last_run().text("recording.trail.yaml");
        let is_recorded = |name: &&&str| recording.contains(&format!("- {name}: {{}}"));
        names.iter().filter(is_recorded).map(ToString::to_string).collect()
    };
    // A step with a call that can never be recorded is left to a model as a whole.
    let (never, others): (Vec<&str>, Vec<&str>) =
        names.iter().map(String::as_str).partition(|name| name.ends_with("KeyFalse") && !name.contains("hintTrue"));
    assert_eq!(never, ["shop_hintAbsentKeyFalse", "shop_hintFalseKeyFalse"]);
    for name in never {
        assert!(recorded(&[name]).is_empty(), "{name}");
    }
    let expected = [
        "shop_hintAbsentKeyAbsent",
        "shop_hintAbsentKeyTrue",
        "shop_hintFalseKeyAbsent",
        "shop_hintFalseKeyTrue",
        "shop_hintTrueKeyTrue",
    ];
    assert_eq!(recorded(&others), expected);
    // It stays a query.
    let listed = home.project.run(&["toolbox", "--json", "-d", "android/sim-1"]).exits(0).json();
    let listed = listed[0]["tools"].as_array().expect("tools");
    let kind = |name: &str| listed.iter().find(|tool| tool["name"] == name).map(|tool| tool["kind"].clone());
    assert_eq!(kind("shop_hintTrueKeyTrue"), Some("query".into()));
    assert_eq!(kind("shop_hintFalseKeyTrue"), Some("action".into()));
}

#[test]
fn success_false_fails_a_call_if_results_are_strict() {
    let tools = serde_json::json!([tool("shop_pay")]);
    let said = r#"{"success": false, "error": "no money"}"#;
    for answer in [
        serde_json::json!({"content": [{"type": "text", "text": said}]}),
        serde_json::json!({"content": [], "structuredContent": {"success": false, "error": "no money"}}),
    ] {
        let project = project(&tools, &answer, "");
        calling(&project, "shop_pay");
        let lenient = project.run(&["run", "--pictures", "off", "-d", "android/sim-1"]).exits(0);
        assert!(lenient.stderr.contains("`strictResults: true` in trailblaze.yaml makes it a failure"), "{lenient:?}");
        assert!(!lenient.stderr.contains("note:"), "{lenient:?}");
        // The flag is about tools that changed, and says what else would have failed.
        let noted = project.run(&["run", "--pictures", "off", "-d", "android/sim-1", "--strict"]).exits(0);
        assert!(noted.stderr.contains("note: `--strict=results` would have failed this run"), "{noted:?}");

        project.write("trailblaze.yaml", format!("strictResults: true\n{}", project.read("trailblaze.yaml")));
        let strict = project.run(&["run", "--pictures", "off", "-d", "android/sim-1"]).exits(1);
        assert!(strict.stdout.contains("`shop_pay` answered `success: false`"), "{strict:?}");
        assert!(strict.stdout.contains("no money") && !strict.stderr.contains("counts as passed"), "{strict:?}");
    }
    let project = Project::empty();
    project.run(&["init"]).exits(0);
    assert!(project.read("trailblaze.yaml").contains("strictResults: true"));
}

#[test]
fn a_reserved_prefix_costs_a_server_that_tool_unless_it_is_granted() {
    let tools = serde_json::json!([tool("web_pay"), tool("shop_pay")]);
    let answer = serde_json::json!({"content": [{"type": "text", "text": "paid"}]});
    let run = ["run", "--pictures", "off", "-d", "android/sim-1"];
    let left_out = project(&tools, &answer, "");
    calling(&left_out, "shop_pay");
    let line = "to allow it, add `reservedPrefixes: [web_]` to trailblaze.yaml, or `allowReserved: true` to the server's entry";
    let ran = left_out.run(&["toolbox", "--search", "pay", "-d", "android/sim-1"]).exits(0);
    assert!(ran.stderr.contains(line) && !ran.stdout.contains("web_pay"), "{ran:?}");
    left_out.run(&run).exits(0);
    calling(&left_out, "web_pay");
    let refused = left_out.run(&run).exits(3);
    assert!(refused.stderr.contains("unknown tool `web_pay`") && refused.stderr.contains(line), "{refused:?}");

    let allowed = project(&tools, &answer, "    allowReserved: true\n");
    calling(&allowed, "web_pay");
    allowed.run(&run).exits(0);
    let granted = project(&tools, &answer, "reservedPrefixes: [web_]\n");
    calling(&granted, "web_pay");
    granted.run(&run).exits(0);
}
