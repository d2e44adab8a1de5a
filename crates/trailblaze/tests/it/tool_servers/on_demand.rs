//! Which servers a run starts: those that its trails need, and no others.

use crate::support::{Project, Ran};

/// A server that notes each start, and offers the tools that a file names.
const SERVER: &str = r#"
import json, pathlib, sys

name = sys.argv[1]
with open("starts", "a") as starts:
    starts.write(name + "\n")
tools = [{"name": tool, "description": "Acts.", "inputSchema": {"type": "object"}}
         for tool in pathlib.Path(f"tools/{name}.txt").read_text().split()]

def answer(method, params):
    if method == "initialize":
        info = {"name": name, "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": tools}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"{name} did {params['name']}"}]}

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params") or {})
        reply = {"result": result} if result else {"error": {"code": -32601, "message": "Method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
"#;

/// A project with the servers `bank` and `mail`.
fn project() -> Project {
    let entry = |name: &str| format!("  {name}: {{command: python3, args: [tools/server.py, {name}]}}\n");
    let project = Project::counter()
        .with("tools/server.py", SERVER)
        .with("tools/bank.txt", "bank_pay")
        .with("tools/mail.txt", "mail_send")
        .with("starts", "");
    let config = format!("{}mcpServers:\n{}{}", project.read("trailblaze.yaml"), entry("bank"), entry("mail"));
    project.with("trailblaze.yaml", config)
}

/// Runs a trail that makes these calls.
#[track_caller]
fn run(project: &Project, calls: &[&str], code: i32) -> Ran {
    let calls: String = calls.iter().map(|call| format!("      - {call}\n")).collect();
    project.write("trails/a.trail.yaml", format!("trail:\n  - step: Go\n    tools:\n{calls}"));
    project.run(&["run", "--pictures", "off", "-d", "android/sim-1"]).exits(code)
}

/// The servers that were started since the last question, by name.
fn starts(project: &Project) -> Vec<String> {
    let starts = project.read("starts");
    project.write("starts", "");
    let mut starts: Vec<String> = starts.lines().map(str::to_string).collect();
    starts.sort();
    starts
}

const LAUNCH: &str = "launchApp: {packageId: com.example.counter}";

#[test]
fn a_run_starts_the_servers_that_its_trails_call() {
    let project = project();
    run(&project, &[LAUNCH], 0);
    assert_eq!(starts(&project), [""; 0], "nothing of theirs is called");
    run(&project, &[LAUNCH, "bank_pay: {}"], 0);
    assert_eq!(starts(&project), ["bank", "mail"], "it is not known yet whose tool it is");
    run(&project, &[LAUNCH, "bank_pay: {}"], 0);
    assert_eq!(starts(&project), ["bank"]);
    project.write(
        "trailblaze-config/tools/notify.yaml",
        "id: notify\ndescription: Notifies.\nparameters: []\ntools:\n  - mail_send: {}\n",
    );
    run(&project, &["notify: {}"], 0);
    assert_eq!(starts(&project), ["mail"], "a tool of the project calls it");
    run(&project, &[LAUNCH], 0);
    assert_eq!(starts(&project), [""; 0]);
    project.run(&["toolbox"]).exits(0);
    assert_eq!(starts(&project), ["bank", "mail"], "a list of tools needs them all");
}

#[test]
fn the_code_of_a_tool_starts_the_server_whose_tool_it_calls() {
    let project = project().with(
        "trailblaze-config/tools/pay.yaml",
        "id: pay\ndescription: Pays.\nparameters: []\nscript:\n  source: return await callTool('bank' + '_pay', {});\n",
    );
    run(&project, &["pay: {}"], 0);
    assert_eq!(starts(&project), ["bank", "mail"], "nothing is known about either");
    run(&project, &["pay: {}"], 0);
    assert_eq!(starts(&project), ["bank"], "it is known from the last time whose tool it is");
}

#[test]
fn a_list_of_tools_from_an_earlier_start_is_verified() {
    let project = project();
    run(&project, &["bank_pay: {}"], 0);
    starts(&project);
    project.write("tools/bank.txt", "bank_open");
    project.write("tools/mail.txt", "mail_send bank_pay");
    run(&project, &["bank_pay: {}"], 0);
    assert_eq!(starts(&project), ["bank", "mail"], "the tool has moved");
    run(&project, &["bank_pay: {}"], 0);
    assert_eq!(starts(&project), ["mail"]);
    // Nothing starts to run with a tool that nobody has, or that two servers have.
    let unknown = run(&project, &[LAUNCH, "bank_pray: {}"], 3);
    assert!(unknown.stderr.contains("unknown tool `bank_pray`"), "{}", unknown.stderr);
    project.write("tools/bank.txt", "bank_pay");
    starts(&project);
    let twice = project.run(&["check"]).exits(3);
    let expected =
        "the tool `bank_pay` is offered twice: by server bank (tools/server.py) and by server mail (tools/server.py)";
    assert!(twice.stderr.contains(expected), "{}", twice.stderr);
    let twice = run(&project, &["bank_pay: {}"], 3);
    assert!(twice.stderr.contains(expected), "{}", twice.stderr);
}
