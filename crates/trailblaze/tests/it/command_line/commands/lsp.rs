//! `lsp`, as an editor uses it: messages over stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::support::{PATIENCE, Project};

const TRAIL: &str = "trails/pay.trail.yaml";

struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: mpsc::Receiver<Value>,
    n_requests: u64,
    root: String,
}

impl Editor {
    fn start(project: &Project) -> Editor {
        let mut command = project.command(&["lsp", "--stdio"]);
        // Not every editor starts the server in the folder that it has open.
        command.current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().expect("the program starts");
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let root = project.root().display().to_string();
        let mut editor = Editor { child, stdin, messages, n_requests: 0, root };
        let told = editor.ask("initialize", json!({"capabilities": {}, "rootUri": format!("file://{}", editor.root)}));
        assert_eq!(told["capabilities"]["definitionProvider"], true, "{told:#}");
        editor.note("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = json!({"jsonrpc": "2.0"}).as_object().cloned().map(|mut all| {
            all.extend(message.as_object().cloned().expect("an object"));
            Value::Object(all).to_string()
        });
        let text = text.expect("a message");
        let stdin = self.stdin.as_mut().expect("it is open");
        write!(stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server reads");
        stdin.flush().expect("the server reads");
    }

    fn note(&mut self, method: &str, params: Value) {
        self.send(&json!({"method": method, "params": params}));
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.n_requests += 1;
        let id = self.n_requests;
        self.send(&json!({"id": id, "method": method, "params": params}));
        let answer = self.until(method, |message| message["id"] == id);
        assert!(answer.get("error").is_none(), "{answer:#}");
        answer["result"].clone()
    }

    fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.messages.recv_timeout(PATIENCE);
            let message = message.unwrap_or_else(|_| panic!("{what} did not come"));
            if fits(&message) {
                return message;
            }
        }
    }

    fn uri(&self, file: &str) -> String {
        format!("file://{}/{file}", self.root)
    }

    fn open(&mut self, file: &str, text: &str) {
        let document = json!({"uri": self.uri(file), "languageId": "yaml", "version": 1, "text": text});
        self.note("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, file: &str, text: &str) {
        let document = json!({"uri": self.uri(file), "version": 2});
        self.note("textDocument/didChange", json!({"textDocument": document, "contentChanges": [{ "text": text }]}));
    }

    /// The problems of a file, once they fulfil a condition.
    fn problems(&mut self, file: &str, fits: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let uri = self.uri(file);
        let is_it = |message: &Value| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri.as_str()
                && fits(message["params"]["diagnostics"].as_array().expect("a list"))
        };
        let message = self.until("the problems", is_it);
        message["params"]["diagnostics"].as_array().cloned().expect("a list")
    }

    /// A request about the place of a word in an open file.
    fn ask_at(&mut self, method: &str, (file, text): (&str, &str), word: &str) -> Value {
        let at = text.find(word).expect("the word") + 1;
        let before = &text[..at];
        let line = before.matches('\n').count();
        let character = before.rsplit('\n').next().expect("a line").encode_utf16().count();
        let position = json!({"line": line, "character": character});
        let uri = self.uri(file);
        self.ask(method, json!({"textDocument": {"uri": uri}, "position": position}))
    }

    /// Sends something that is not a message. Returns the exit code.
    fn send_raw(mut self, text: &str) -> Option<i32> {
        write!(self.stdin.as_mut().expect("it is open"), "{text}").expect("the server reads");
        self.child.wait().expect("it ends").code()
    }

    fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.note("exit", Value::Null);
        let ended = self.child.wait().expect("it ends");
        assert!(ended.success(), "{ended}");
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(from: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            header => {
                if let Some(number) = header.strip_prefix("Content-Length: ") {
                    length = number.parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn project(calls: &str) -> (Project, String) {
    let project = Project::wallet();
    let text = format!("config: {{title: Pay}}\ntrail:\n  - step: Sign in\n    tools:\n{calls}");
    project.write(TRAIL, &text);
    (project, text)
}

#[test]
fn a_message_that_claims_to_be_huge_is_refused() {
    let project = Project::counter();
    for length in ["99999999999999", "18446744073709551615", "-1"] {
        let editor = Editor::start(&project);
        assert_eq!(editor.send_raw(&format!("Content-Length: {length}\r\n\r\n{{}}")), Some(3), "{length}");
    }
}

#[test]
fn an_editor_shows_the_problems_that_check_finds() {
    let (project, text) = project("      - wallet_signIn: {email: a, pin: '1'}\n      - tapp: {text: Pay}\n");
    let mut editor = Editor::start(&project);
    editor.open(TRAIL, &text);
    let found = editor.problems(TRAIL, |found| !found.is_empty());
    let message = found[0]["message"].as_str().expect("text");
    assert!(message.contains("unknown tool `tapp`") && message.contains("did you mean `tap`?"), "{found:#?}");
    assert_eq!((&found[0]["severity"], &found[0]["range"]["start"]), (&json!(1), &json!({"line": 5, "character": 8})));
    // While the text is being changed, what can be known without saving it.
    editor.change(TRAIL, &text.replace("step:", "stpe:"));
    let found = editor.problems(TRAIL, |found| !found.is_empty());
    assert!(found[0]["message"].as_str().expect("text").contains("stpe"), "{found:#?}");
    let text = text.replace("tapp", "tap");
    project.write(TRAIL, &text);
    editor.change(TRAIL, &text);
    let uri = editor.uri(TRAIL);
    editor.note("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    editor.problems(TRAIL, <[Value]>::is_empty);
    editor.end();
}

#[test]
fn the_calls_of_a_tool_file_are_checked_although_no_trail_is_open() {
    let (file, text) = (
        "trailblaze-config/tools/payTwice.yaml",
        "id: payTwice\ndescription: Pay.\nparameters: []\ntools:\n  - tapp: {text: Pay}\n",
    );
    let project = Project::wallet().with(file, text);
    let mut editor = Editor::start(&project);
    editor.open(file, text);
    let found = editor.problems(file, |found| !found.is_empty());
    assert!(found[0]["message"].as_str().expect("text").contains("unknown tool `tapp`"), "{found:#?}");
    assert_eq!(found[0]["range"]["start"], json!({"line": 4, "character": 4}));
    editor.end();
}

#[test]
fn what_concerns_the_whole_project_hides_no_problems_of_a_trail() {
    let (project, text) = project("      - tapp: {text: Pay}\n");
    let config = project.read("trailblaze.yaml");
    // An editor that is started from a desktop has no keys.
    project.write("trailblaze.yaml", format!("{config}\nllm: {{defaults: {{model: anthropic/claude-sonnet-4-5}}}}\n"));
    let mut editor = Editor::start(&project);
    editor.open(TRAIL, &text);
    let found = editor.problems(TRAIL, |found| !found.is_empty());
    assert!(found[0]["message"].as_str().is_some_and(|text| text.contains("unknown tool `tapp`")), "{found:#?}");
    project.write("trailblaze.yaml", "devices: [{id: ios/sim-0}]\n");
    let uri = editor.uri(TRAIL);
    editor.note("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
    let found = editor.problems("trailblaze.yaml", |found| !found.is_empty());
    assert!(found[0]["message"].as_str().is_some_and(|text| text.contains("no device `ios/sim-0`")), "{found:#?}");
    editor.end();
}

#[test]
fn tools_are_described_completed_and_found_where_they_are_defined() {
    let (project, text) =
        project("      - wallet_signIn: {email: ü😀, pin: '1'}\n      - tap: {text: Pay}\n      - wa\n");
    let mut editor = Editor::start(&project);
    editor.open(TRAIL, &text);
    let place = (TRAIL, text.as_str());
    let hover = editor.ask_at("textDocument/hover", place, "wallet_signIn");
    let words = hover["contents"]["value"].as_str().expect("Markdown");
    assert!(words.starts_with("**wallet_signIn**") && words.contains("- `pin` (string"), "{words}");
    let hover = editor.ask_at("textDocument/hover", place, "tap");
    assert!(hover["contents"]["value"].as_str().is_some_and(|words| words.contains("*built-in*")), "{hover:#}");
    let defined = editor.ask_at("textDocument/definition", place, "wallet_signIn");
    assert_eq!(defined["uri"], editor.uri("trailblaze-config/tools/wallet_signIn.yaml"), "{defined:#}");
    assert_eq!(defined["range"]["start"]["line"], 1, "{defined:#}");
    assert_eq!(editor.ask_at("textDocument/definition", place, "tap: {"), Value::Null);
    let offered = editor.ask_at("textDocument/completion", place, "wa\n");
    let labels: Vec<&str> =
        offered.as_array().expect("items").iter().filter_map(|item| item["label"].as_str()).collect();
    assert!(labels.contains(&"wallet_signIn") && labels.contains(&"tap"), "{labels:?}");
    assert_eq!(editor.ask_at("textDocument/completion", place, "Sign in"), Value::Null);
    editor.end();
}

#[test]
fn a_stretch_is_found_and_offered_where_it_is_used() {
    let (project, _) = project("");
    let text = "trail:\n  - use: stretches/pay.yaml\n    with: {who: Ada}\n  - use: \n";
    let stretch = "parameters: {who: string}\nsteps:\n  - step: Pay {{who}}\n    tools: [tap: {id: pay}]\n";
    let project = project.with("trails/stretches/pay.yaml", stretch).with(TRAIL, text.replace("  - use: \n", ""));
    let mut editor = Editor::start(&project);
    editor.open(TRAIL, text);
    let place = (TRAIL, text);
    let defined = editor.ask_at("textDocument/definition", place, "stretches/pay");
    assert_eq!(defined["uri"], editor.uri("trails/stretches/pay.yaml"), "{defined:#}");
    let offered = editor.ask_at("textDocument/completion", place, ": \n");
    assert_eq!(offered[0]["label"], "stretches/pay.yaml", "{offered:#}");
    let offered = editor.ask_at("textDocument/completion", place, "who: Ada");
    assert_eq!((&offered[0]["label"], &offered[0]["detail"]), (&json!("who"), &json!("string")), "{offered:#}");
    editor.end();
}

/// A tool server that needs nothing but Python.
pub const SERVER: &str = r#"import json, sys

TOOLS = [{"name": "acme_refund", "description": "Refund a payment.", "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}}}]

for line in sys.stdin:
    request = json.loads(line)
    if request.get("method") == "initialize":
        result = {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "acme", "version": "1"}}
    elif request.get("method") == "tools/list":
        result = {"tools": TOOLS}
    elif "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "unknown"}}), flush=True)
        continue
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"#;

#[test]
fn a_tool_of_a_server_is_found_in_the_servers_script() {
    let (project, text) = project("      - acme_refund: {id: '7'}\n");
    project.write("tools/acme.py", SERVER);
    let entry = "mcpServers:\n  acme: {command: python3, args: [tools/acme.py]}\n";
    project.write("trailblaze.yaml", format!("{}\n{entry}", project.read("trailblaze.yaml")));
    // Editors start no servers: they know the tools that a server listed when it last ran.
    project.run(&["toolbox"]).exits(0);
    let mut editor = Editor::start(&project);
    editor.open(TRAIL, &text);
    let defined = editor.ask_at("textDocument/definition", (TRAIL, &text), "acme_refund");
    assert_eq!(defined["uri"], editor.uri("tools/acme.py"), "{defined:#}");
    assert_eq!(defined["range"]["start"], json!({"line": 2, "character": 19}), "{defined:#}");
    let hover = editor.ask_at("textDocument/hover", (TRAIL, &text), "acme_refund");
    assert!(hover["contents"]["value"].as_str().is_some_and(|words| words.contains("Refund a payment.")), "{hover:#}");
    editor.end();
}

#[test]
fn a_trail_and_its_first_steps_are_run_from_the_editor() {
    let text = "config: {title: Two}\ntrailhead:\n  step: Start\n  tools:\n    - launchApp: {packageId: com.example.counter}\ntrail:\n  - step: Add\n    tools:\n      - tap: {id: add}\n  - verify: Nothing like it\n    tools:\n      - assertVisible: {text: Nowhere, timeoutMs: 10}\n";
    let project = Project::counter();
    project.write(TRAIL, text);
    let mut editor = Editor::start(&project);
    editor.open(TRAIL, text);
    let uri = editor.uri(TRAIL);
    let lenses = editor.ask("textDocument/codeLens", json!({"textDocument": {"uri": uri}}));
    let titles: Vec<&str> =
        lenses.as_array().expect("lenses").iter().filter_map(|lens| lens["command"]["title"].as_str()).collect();
    assert_eq!(titles, ["Run trail", "Run up to here", "Run up to here"]);
    assert_eq!(lenses[1]["range"]["start"]["line"], 6);
    let shown = |editor: &mut Editor, lens: usize| {
        let command = lenses[lens]["command"].clone();
        editor
            .ask("workspace/executeCommand", json!({"command": command["command"], "arguments": command["arguments"]}));
        editor.until("the result", |message| message["method"] == "window/showMessage")["params"].clone()
    };
    let first = shown(&mut editor, 1);
    assert_eq!(first["type"], 3, "{first:#}");
    assert!(first["message"].as_str().is_some_and(|text| text.starts_with("pay.trail.yaml: 1 passed")), "{first:#}");
    let whole = shown(&mut editor, 0);
    assert_eq!(whole["type"], 1, "{whole:#}");
    project.write("trailblaze.yaml", "platfrom: android\n");
    let refused = shown(&mut editor, 0);
    assert_eq!(refused["type"], 1, "{refused:#}");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("error: ")), "{refused:#}");
    let uri = editor.uri("trailblaze.yaml");
    assert_eq!(editor.ask("textDocument/codeLens", json!({"textDocument": {"uri": uri}})), json!([]));
    editor.end();
}

#[test]
fn an_editor_that_is_gone_ends_the_server_and_its_run() {
    let project = Project::counter();
    project.write(
        TRAIL,
        "config: {title: Long}\ntrail:\n  - step: Wait\n    tools:\n      - wait: {timeToWaitInSeconds: 50}\n",
    );
    let mut editor = Editor::start(&project);
    let file = Path::new(&editor.root).join(TRAIL);
    editor.ask("workspace/executeCommand", json!({"command": "trailblaze.run", "arguments": [{"file": file}]}));
    editor.stdin = None;
    let ended = editor.child.wait().expect("it ends");
    assert!(ended.success(), "{ended}");
}
