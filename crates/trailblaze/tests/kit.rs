//! What tool authors are given: a tool to start from, its tests, a look at what it costs, and at what is odd about it.

#[path = "servers/lab.rs"]
mod lab;
#[path = "processes/marked.rs"]
mod marked;
mod support;

use lab::{Lab, Runtime, parts};
use serde_json::{Value, json};
use support::Project;

/// A lab with Python on the PATH too.
fn with_python(runtime: Runtime) -> Option<Lab> {
    let lab = Lab::under(runtime)?;
    let path = format!("{}:{}", lab.path("bin"), parts()?.join("python/bin").display());
    lab.env("PATH", path);
    Some(lab)
}

/// The rule and the words of each finding.
fn findings(answer: &Value) -> Vec<(String, String)> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_string();
    let all = answer["findings"].as_array().expect("a list of findings").iter();
    all.map(|finding| (text(finding, "rule"), text(finding, "message"))).collect()
}

#[test]
fn commands_win_over_tools_of_their_name_and_flags_do_not_hide_them() {
    let project = Project::counter();
    insta::assert_snapshot!(project.run(&["tool", "-d", "android/sim-1", "lint"]).refusal(), @"
    exit 3
    error: unknown tool `lint`
    hint: `lint` is a command, and comes before any flag: trailblaze tool lint
    ");
    let help = project.run(&["tool", "--help"]).exits(0).stdout;
    assert!(help.contains("A first word that is a command is never taken for a tool."), "{help}");
    project.run(&["tool"]).exits(3);
    project.run(&["tool", "isVisible", "text=x"]).exits(0);
}

#[test]
fn a_failing_test_of_a_tool_is_a_failed_test() {
    let Some(lab) = with_python(Runtime::Bun) else { return };
    lab.configured("");
    lab.with(
        "tools/a.test.ts",
        "import { test } from 'node:test';\ntest('a', () => { throw new Error('acme_a'); });\n",
    );
    lab.with("tools/b.test.ts", "import { test } from 'node:test';\ntest('acme_b', () => {});\n");
    lab.with(
        "tools/test_c.py",
        "import unittest\nclass C(unittest.TestCase):\n  def test_c(self): self.fail('acme_c')\n",
    );
    lab.with(
        "trails/d.trail.yaml",
        "trail:\n  - step: Go\n    tools:\n      - assertVisible: {text: acme_d, timeoutMs: 0}\n",
    );
    assert_eq!(lab.go(&["tool", "test", "acme_a"]).exits(1).stdout, "failed  tools/a.test.ts\n");
    assert_eq!(lab.go(&["tool", "test", "acme_b"]).exits(0).stdout, "passed  tools/b.test.ts\n");
    let python = lab.go(&["tool", "test", "tools/test_c.py"]).exits(1);
    assert_eq!(python.stdout, "failed  tools/test_c.py\n");
    assert!(python.stderr.contains("acme_c"), "what the runner says is shown: {}", python.stderr);
    assert!(!python.stderr.contains("panicked"), "{}", python.stderr);
    lab.go(&["tool", "test", "trails/d.trail.yaml"]).exits(1);
    insta::assert_snapshot!(lab.go(&["tool", "test", "acme_e"]).refusal(), @"
    exit 3
    error: there is no test of a tool `acme_e`
    hint: a test file beside the tools that names it, such as tools/acme_e.test.ts, or a trail that calls it, is a test
    ");
    insta::assert_snapshot!(lab.go(&["tool", "test", "tools/x.test.ts"]).refusal(), @"
    exit 3
    error: `tools/x.test.ts` is not there
    hint: test files are named *.test.ts (or .js) and test_*.py, trails *.trail.yaml
    ");
    insta::assert_snapshot!(Project::counter().run(&["tool", "test"]).refusal(), @"
    exit 3
    error: the project has no tests of tools
    hint: a test is beside its tool, as *.test.ts or test_*.py, or is a trail that calls it
    ");
}

#[test]
fn a_test_that_never_ends_is_ended() {
    let Some(lab) = Lab::new() else { return };
    lab.configured("").with("tools/a.test.ts", "setInterval(() => {}, 1000);\nawait new Promise(() => {});\n");
    let ran = lab.go(&["tool", "test", "--timeout", "1s"]).exits(2);
    assert!(ran.stderr.contains("ran tests for longer than 1s"), "{}", ran.stderr);
}

#[test]
fn lint_names_what_a_model_would_stumble_over() {
    let long = "word ".repeat(300);
    let yaml = format!(
        "id: acme_long\ndescription: {long}\nparameters:\n  - {{name: x, type: string}}\nsupportedDrivers: [andriod-host]\n\
         tools:\n  - pressBack: {{}}\n"
    );
    let project = Project::counter().with("trailblaze-config/tools/acme_long.yaml", yaml);
    let linted = project.run(&["tool", "lint", "--json"]).exits(0).json();
    let found = findings(&linted);
    let has = |rule: &str, words: &str| found.iter().any(|(known, message)| known == rule && message.contains(words));
    assert!(has("description", "has 1499 characters"), "{found:?}");
    assert!(has("description", "the parameter `x` of `acme_long` has no description"), "{found:?}");
    assert!(has("metadata", "the driver `andriod-host`, which nobody knows"), "{found:?}");
    assert_eq!(found.len(), 3, "{found:?}");
    project.run(&["tool", "lint", "--strict"]).exits(3);
    insta::assert_snapshot!(project.run(&["tool", "lint", "acme_lnog"]).refusal(), @"
    exit 3
    error: the project has no tool `acme_lnog` of its own
    hint: did you mean `acme_long`?
    ");
    project.write(
        "trailblaze-config/tools/web_bad.yaml",
        "id: web_bad\ndescription: Bad.\nparameters: []\ntools: [pressBack: {}]\n",
    );
    let linted = project.run(&["tool", "lint", "--json"]).exits(3).json();
    assert_eq!(linted["errors"], 1, "{linted}");
}

/// A server that answers what it is told to, in one generation.
const SMALL: &str = r#"
import json, sys
TOOLS = json.load(open("tools.json"))
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif asked["method"] == "tools/list":
        answer["result"] = {"tools": TOOLS}
    else:
        answer["error"] = {"code": -32601, "message": "method not found"}
    print(json.dumps(answer), flush=True)
if "--stay" in sys.argv:
    sys.exit(7)
"#;

#[test]
fn lint_asks_servers_and_doctor_says_what_to_mend() {
    let Some(lab) = with_python(Runtime::Nothing) else { return };
    let small = "mcpServers:\n  small: {command: python3, args: [small.py]}\n  odd: {command: python3, args: [small.py, --stay]}\n  gone: {command: no-such-program}\n";
    let tools = json!([
        {"name": "acme_good", "description": "Good.", "inputSchema": {"type": "object"}},
        {"name": "acme bad", "description": "Bad.", "inputSchema": {"type": "object"}},
        {"name": "acme_silent", "inputSchema": {"type": "object", "properties": {"x": {}}, "required": ["y"]}},
        {"name": "acme_none", "description": "None.", "inputSchema": {"type": "string"}},
        {"name": "acme_meta", "description": "Meta.", "inputSchema": {"type": "object"}, "_meta": {"trailblaze/isForLlm": "yes", "trailblaze/groups": ["g"]}},
    ]);
    lab.configured(small).with("small.py", SMALL).with("tools.json", &tools.to_string());
    let doctor = |server: &str, code: i32| lab.go(&["tool", "doctor", server, "--json"]).exits(code).json();
    let signs = |answer: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let signs = answer["signs"].as_array().expect("signs").iter();
        signs.map(|sign| (text(&sign["state"]), text(&sign["message"]))).collect()
    };
    let found = signs(&doctor("small", 3));
    let has = |state: &str, words: &str| found.iter().any(|(known, message)| known == state && message.contains(words));
    assert!(has("ok", "it starts, and agrees on version 2025-06-18 of the protocol"), "{found:?}");
    assert!(has("note", "it does not speak version 2026-07-28, which is no harm"), "{found:?}");
    assert!(has("ok", "it lists 4 tools"), "{found:?}");
    assert!(has("error", "`acme bad` is no name that models can call"), "{found:?}");
    assert!(has("error", "`acme_none` cannot be used: its `inputSchema` is for \"string\""), "{found:?}");
    assert!(has("warning", "`acme_silent` has no description"), "{found:?}");
    assert!(has("warning", "the parameter `x` of `acme_silent` has no type"), "{found:?}");
    assert!(has("warning", "`acme_silent` requires `y`, which its schema does not describe"), "{found:?}");
    assert!(has("warning", "`isForLlm` in its _meta is \"yes\""), "{found:?}");
    assert!(has("warning", "the group `g`, which nobody declares"), "{found:?}");
    assert!(has("ok", "it ends when its stdin closes"), "{found:?}");

    lab.with("tools.json", &json!([tools[0]]).to_string());
    let found = signs(&doctor("odd", 0));
    assert!(found.contains(&("warning".into(), "when its stdin closed, it exited with code 7".into())), "{found:?}");
    let found = signs(&doctor("gone", 2));
    assert!(found[0].0 == "error" && found[0].1.contains("there is no program `no-such-program`"), "{found:?}");
    insta::assert_snapshot!(lab.go(&["tool", "doctor", "smal"]).refusal(), @"
    exit 3
    error: the project has no tool server `smal`
    hint: did you mean `small`?
    ");
    insta::assert_snapshot!(lab.go(&["tool", "doctor", "small"]).exits(0).stdout, @"
    server `small`
      ok       it starts, and agrees on version 2025-06-18 of the protocol
      note     it does not speak version 2026-07-28, which is no harm: it refuses version 2026-07-28 of the protocol, which its entry pins: method not found (-32601)
      ok       it lists 1 tool
      ok       it ends when its stdin closes
    ");
    // A server that cannot be asked cannot be judged.
    lab.go(&["tool", "lint"]).exits(2);
}

#[test]
fn doctor_finds_both_generations_of_a_server_that_speaks_them() {
    let Some(lab) = Lab::new() else { return };
    lab.fixture("newer.ts").configured("mcpServers:\n  newer: {script: ./tools/newer.ts}\n");
    let answer = lab.go(&["tool", "doctor", "newer", "--json"]).exits(0).json();
    let first = answer["signs"][0]["message"].as_str().expect("a message");
    assert!(
        first.contains("2026-07-28") || answer.to_string().contains("it speaks version 2026-07-28 too"),
        "{answer}"
    );
}

#[test]
fn the_budget_counts_what_models_are_offered() {
    let project = Project::wallet();
    let budget = project.run(&["toolbox", "budget", "-d", "android/sim-1", "--json"]).exits(0).json();
    let toolbox = project.run(&["toolbox", "-d", "android/sim-1", "--json"]).exits(0).json();
    let offered = toolbox[0]["tools"].as_array().unwrap();
    assert_eq!(budget[0]["total"]["tools"], offered.len());
    let row = |kind: &str, name: &str| -> Value {
        let rows = budget[0][kind].as_array().unwrap().iter();
        rows.filter(|row| row["name"] == name).cloned().collect()
    };
    // The count can be made by hand from the toolbox.
    let tool = offered.iter().find(|tool| tool["name"] == "wallet_signIn").unwrap();
    let text = json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]});
    let characters = text.to_string().chars().count();
    let expected =
        json!([{"name": "wallet_signIn", "tools": 1, "characters": characters, "tokens": characters.div_ceil(4)}]);
    assert_eq!(row("tools", "wallet_signIn"), expected);
    assert_eq!(row("toolsets", "wallet")[0]["tools"], 2);
    assert_eq!(row("sources", "trailblaze-config/tools/wallet_signIn.yaml")[0]["tokens"], expected[0]["tokens"]);
    let sum: u64 = budget[0]["tools"].as_array().unwrap().iter().map(|row| row["tokens"].as_u64().unwrap()).sum();
    assert_eq!(budget[0]["total"]["tokens"], sum);

    let max = |tokens: u64| {
        vec![
            "toolbox".to_string(),
            "budget".into(),
            "-d".into(),
            "ios/sim-1".into(),
            "--max".into(),
            tokens.to_string(),
        ]
    };
    let run = |args: Vec<String>| project.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    run(max(1_000_000)).exits(0);
    let over = run(max(10)).exits(1);
    assert!(over.stderr.contains("error: the tools of ios/sim-1 cost about "), "{}", over.stderr);
    assert!(over.stderr.contains("one token for 4 characters"), "how it is counted is said: {}", over.stderr);
}
