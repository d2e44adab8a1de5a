//! What a model is sent: few tokens, and the tools that a session offers.

use serde_json::Value;

use super::{counter, reply, run, trail};
use crate::support::Project;

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// The tokens of the tools.
fn budget(project: &Project, device: &str) -> u64 {
    let budget = project.run(&["toolbox", "budget", "-d", device, "--json"]).exits(0).json();
    budget[0]["total"]["tokens"].as_u64().expect("a number")
}

#[test]
fn the_tools_of_a_request_cost_few_tokens() {
    let project = Project::counter();
    for (device, most) in [("web/chromium", 4_000), ("android/sim-1", 3_500), ("ios/sim-1", 3_500)] {
        let tokens = budget(&project, device);
        assert!(tokens <= most, "{device}: {tokens}");
    }
}

#[test]
fn the_toolbox_shows_exactly_what_is_sent() {
    let replies = reply("Check: The count is zero", "{assertVisible: {text: 'Count: 0', completesStep: true}}");
    let project = counter(&trail("  - verify: The count is zero\n"), &replies);
    run(&project, &[]).exits(0);
    let folder = project.last_run();
    let setup = folder.events().into_iter().find_map(|event| match event {
        trailblaze_protocol::event::Event::ModelAsked(asked) => Some(asked.setup),
        _ => None,
    });
    let sent: Value = serde_json::from_str(&folder.text(&setup.expect("the model was asked"))).unwrap();
    let shown = project.run(&["toolbox", "--for-model", "verify", "-d", "android/sim-1"]).exits(0).json();
    assert_eq!(sent["tools"], shown);
    assert!(!shown.to_string().contains("nodeSelector"), "{shown}");
    assert!(names(&shown).contains(&"assertVisible") && names(&shown).contains(&"tap"), "{shown}");
}

#[test]
fn prefixes_of_command_line_trail_and_target_decide_what_is_offered() {
    let project = Project::wallet();
    let offered = |args: &[&str]| {
        let shown = project.run(&[&["toolbox", "--for-model", "-d", "android/sim-1"], args].concat()).exits(0).json();
        names(&shown).into_iter().map(str::to_string).collect::<Vec<_>>()
    };
    let own = ["wallet_balanceFell", "wallet_fillField", "wallet_signIn", "objectiveStatus"];
    assert_eq!(offered(&["--prefix", "wallet_*"]), own);
    let target = project.read("trailblaze-config/targets/wallet.yaml");
    project.write(
        "trailblaze-config/targets/wallet.yaml",
        target.replace("  android:\n", "  android:\n    prefixes: [wallet_]\n"),
    );
    assert_eq!(offered(&[]), own);
    // What is not offered cannot be called by the model, and the command line wins over the target.
    project.write("trails/one.trail.yaml", "trail: [{step: Go home}]\n");
    project.write(
        "replies.yaml",
        format!(
            "replies:\n{}{}",
            reply("Step", "{pressHome: {}}"),
            reply("there is no tool `pressHome`", "{objectiveStatus: {status: FAILED, explanation: no}}")
        ),
    );
    let ran = run(&project, &["trails/one.trail.yaml"]).exits(1);
    assert!(ran.stdout.contains("the model says that it cannot be done: no"), "{}", ran.stdout);
    let ran = run(&project, &["trails/one.trail.yaml", "--prefix", "press"]).exits(3);
    assert!(ran.stdout.contains("has no reply for this request"), "{}", ran.stdout);
    // So does the trail itself.
    project.write("trails/one.trail.yaml", "config: {prefixes: [press]}\ntrail: [{step: Go home}]\n");
    let ran = run(&project, &["trails/one.trail.yaml"]).exits(3);
    assert!(ran.stdout.contains("has no reply for this request"), "{}", ran.stdout);
}

#[test]
fn only_a_tool_that_only_reads_may_be_called_in_a_check() {
    let server = r#"
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request: continue
    tool = lambda name, hint: {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": hint}}
    result = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"}},
              "tools/list": {"tools": [tool("stock_read", True), tool("stock_buy", False)]}}.get(request["method"], {"content": [{"type": "text", "text": "7 left"}]})
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"#;
    let project = Project::counter().with("server.py", server);
    let config =
        format!("{}mcpServers: {{stock: {{command: python3, args: [server.py]}}}}\n", project.read("trailblaze.yaml"));
    project.write("trailblaze.yaml", config);
    project.write("trails/a.trail.yaml", trail("  - verify: Seven are left\n"));
    let replies = [
        reply("Check: Seven are left", "{stock_buy: {}}"),
        reply("`stock_buy` acts; a check may only look and assert", "{stock_read: {}}"),
        reply("7 left", "{objectiveStatus: {status: FAILED, explanation: enough}}"),
    ];
    project.write("replies.yaml", format!("replies:\n{}", replies.concat()));
    let ran = run(&project, &[]).exits(1);
    assert!(ran.stdout.contains("the model says that it is not so: enough"), "{}", ran.stdout);
}
