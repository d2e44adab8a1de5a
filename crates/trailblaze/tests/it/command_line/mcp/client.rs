//! A client that speaks lines of JSON, with the real program or with a server in this process.

use std::fs::DirBuilder;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use trailblaze::api::mcp::McpServer;

use crate::support::{PATIENCE, Project};

/// Which generation of the protocol a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    Initialize,
    Discover,
}

pub const BOTH: [Generation; 2] = [Generation::Initialize, Generation::Discover];

pub struct Client {
    generation: Generation,
    to_server: Option<Box<dyn Write + Send>>,
    from_server: Receiver<String>,
    n_requests: u64,
    /// The notifications that have arrived.
    pub notices: Vec<Value>,
    /// What the server said about itself.
    pub hello: Value,
    child: Option<Child>,
}

impl Client {
    /// The real program, as an agent starts it.
    pub fn program(project: &Project, args: &[&str], generation: Generation) -> Client {
        Client::started(command(project, &[&["mcp"], args].concat()), generation)
    }

    /// The same, for a command that starts it.
    pub fn started(mut command: Command, generation: Generation) -> Client {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let stdin: ChildStdin = child.stdin.take().expect("its input is ours");
        let stdout = child.stdout.take().expect("its output is ours");
        Client::over(Box::new(stdin), stdout, Some(child), generation)
    }

    /// A server in this process.
    pub fn in_process(server: McpServer, generation: Generation) -> Client {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                theirs.set_nonblocking(true).expect("the socket can be used");
                let (reader, writer) = tokio::net::UnixStream::from_std(theirs).expect("a socket").into_split();
                let _ = server.serve_on(reader, writer).await;
            });
        });
        Client::over(Box::new(ours.try_clone().expect("a clone")), ours, None, generation)
    }

    fn over(
        to_server: Box<dyn Write + Send>,
        reader: impl std::io::Read + Send + 'static,
        child: Option<Child>,
        generation: Generation,
    ) -> Client {
        let (sender, from_server) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(reader).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let to_server = Some(to_server);
        let notices = Vec::new();
        let hello = Value::Null;
        let mut client = Client { generation, to_server, from_server, n_requests: 0, notices, hello, child };
        client.hello = match generation {
            Generation::Initialize => {
                let about = json!({
                    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
                });
                let hello = client.request("initialize", about);
                client.notify("notifications/initialized", json!({}));
                hello
            }
            Generation::Discover => client.request("server/discover", json!({})),
        };
        client
    }

    /// Sends a request, and returns its result.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let response = self.respond(method, params);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// Sends a request that is answered by an error.
    pub fn error(&mut self, method: &str, params: Value) -> Value {
        let response = self.respond(method, params);
        assert!(response["error"].is_object(), "{method}: {response}");
        response["error"].clone()
    }

    fn respond(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.response(id)
    }

    /// Sends a request without waiting for its response.
    pub fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.n_requests += 1;
        if self.generation == Generation::Discover {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.write(&json!({"jsonrpc": "2.0", "id": self.n_requests, "method": method, "params": params}));
        self.n_requests
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn write(&mut self, message: &Value) {
        let pipe = self.to_server.as_mut().expect("the connection is open");
        writeln!(pipe, "{message}").and_then(|()| pipe.flush()).expect("the server reads");
    }

    /// Waits for the response to a request.
    pub fn response(&mut self, id: u64) -> Value {
        loop {
            let message = self.message().unwrap_or_else(|| panic!("request {id} was not answered"));
            match message.get("id") {
                Some(answered) if *answered == id => return message,
                Some(_) => panic!("an answer to another request than {id}: {message}"),
                None => self.notices.push(message),
            }
        }
    }

    pub fn message(&mut self) -> Option<Value> {
        let line = self.from_server.recv_timeout(PATIENCE).ok()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: not JSON: {line}")))
    }

    /// Calls a tool that succeeds, and returns its text.
    pub fn call(&mut self, tool: &str, args: Value) -> String {
        let result = self.request("tools/call", json!({"name": tool, "arguments": args}));
        assert_ne!(result["isError"], true, "{tool}: {result}");
        text(&result)
    }

    /// Calls a tool that fails, and returns its text.
    pub fn failure(&mut self, tool: &str, args: Value) -> String {
        let result = self.request("tools/call", json!({"name": tool, "arguments": args}));
        assert_eq!(result["isError"], true, "{tool}: {result}");
        text(&result)
    }

    /// Closes the connection and waits until the program has ended. Returns its exit code.
    pub fn close(mut self) -> Option<i32> {
        self.to_server = None;
        let mut child = self.child.take()?;
        let ended = std::thread::spawn(move || child.wait().expect("the program ends").code());
        ended.join().expect("the program was awaited")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The program with a daemon of the project's own.
pub fn command(project: &Project, args: &[&str]) -> Command {
    let folder = project.root().join("run");
    if !folder.exists() {
        DirBuilder::new().mode(0o700).create(&folder).expect("a folder");
    }
    let mut command = project.command(args);
    command.env("XDG_RUNTIME_DIR", folder).env("TRAILBLAZE_DAEMON_IDLE", "2m").env_remove("TRAILBLAZE_FRESH");
    command
}

/// Ends the project's daemon with the test.
pub struct Daemon<'p>(pub &'p Project);

impl Daemon<'_> {
    /// What clients over HTTP need.
    pub fn address_and_key(&self) -> (String, String) {
        let file = self.0.read("run/trailblaze/trailblaze.daemon.json");
        let file: Value = serde_json::from_str(&file).expect("JSON");
        let word = |name: &str| file[name].as_str().expect("a word").to_string();
        (word("address").trim_start_matches("http://").to_string(), word("key"))
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        let _ = command(self.0, &["daemon", "stop"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

pub fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// A ref in a snapshot, by what stands behind it.
pub fn reference(snapshot: &str, words: &str) -> String {
    let line = snapshot.lines().find(|line| line.contains('[') && line.contains(words));
    let line = line.unwrap_or_else(|| panic!("no ref of {words} in\n{snapshot}"));
    let start = line.find('[').expect("a ref") + 1;
    line[start..].split(']').next().expect("a ref").to_string()
}
