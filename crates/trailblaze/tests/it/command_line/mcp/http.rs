//! The server over HTTP, as the listener mounts it.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};
use trailblaze::api::mcp::{McpOptions, McpServer};

use crate::command_line::mcp::service::OneSession;
use crate::support::Project;

/// The address of a server without a folder of its own.
fn serve(project: &Project) -> String {
    let server = McpServer::new(OneSession::new(project), McpOptions::default());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    listener.set_nonblocking(true).expect("the socket can be used");
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a socket");
            let _ = axum::serve(listener, server.route()).await;
        });
    });
    address
}

/// The status of a response and its last message.
pub fn post(address: &str, headers: &[(&str, &str)], message: &Value) -> (u16, Value) {
    let (status, messages) = exchange(address, headers, message);
    (status, messages.into_iter().next_back().unwrap_or(Value::Null))
}

/// The status of a response and its messages.
fn exchange(address: &str, headers: &[(&str, &str)], message: &Value) -> (u16, Vec<Value>) {
    let body = message.to_string();
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(crate::support::PATIENCE)).expect("a deadline");
    write!(stream, "{request}\r\n{body}").expect("the request is sent");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("a response");
    let response = String::from_utf8_lossy(&response).into_owned();
    let status = response.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let messages = response.lines().filter_map(|line| {
        serde_json::from_str::<Value>(
            line.strip_prefix("data: ").or_else(|| line.strip_prefix("data:")).unwrap_or(line).trim(),
        )
        .ok()
    });
    (status, messages.filter(Value::is_object).collect())
}

fn newer(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

#[test]
fn both_generations_are_served_without_sessions_of_the_protocol() {
    let project = Project::counter();
    let address = serve(&project);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let (status, hello) = post(&address, &[], &hello);
    assert_eq!((status, &hello["result"]["protocolVersion"]), (200, &json!("2025-06-18")), "{hello}");
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let (status, older) = post(&address, &[("MCP-Protocol-Version", "2025-06-18")], &list);
    assert_eq!((status, older["result"]["tools"].as_array().map(Vec::len)), (200, Some(10)), "{older}");
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let (status, list) = post(&address, &[version, ("Mcp-Method", "tools/list")], &newer("tools/list", json!({})));
    assert_eq!((status, &list["result"]["tools"]), (200, &older["result"]["tools"]), "{list}");
}

#[test]
fn headers_that_contradict_the_message_are_refused() {
    let address = serve(&Project::counter());
    let version = ("MCP-Protocol-Version", "2026-07-28");
    let call = newer("tools/call", json!({"name": "session", "arguments": {"action": "list"}}));
    let right = [version, ("Mcp-Method", "tools/call"), ("Mcp-Name", "session")];
    assert_eq!(post(&address, &right, &call).0, 200);
    for wrong in [
        vec![version, ("Mcp-Method", "tools/list"), ("Mcp-Name", "session")],
        vec![version, ("Mcp-Method", "tools/call"), ("Mcp-Name", "act")],
        vec![version],
    ] {
        assert_eq!(post(&address, &wrong, &call).0, 400, "{wrong:?}");
    }
}

#[test]
fn what_one_client_asks_for_is_not_sent_to_another() {
    let project = Project::counter();
    let address = serve(&project);
    let version = [("MCP-Protocol-Version", "2025-11-25")];
    let level = json!({"jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": {"level": "debug"}});
    assert_eq!(post(&address, &version, &level).0, 200);
    let opened = json!({"name": "session", "arguments": {"action": "open", "project": project.root()}});
    let run = json!({"name": "trail", "arguments": {"action": "run"}});
    for params in [opened, run] {
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        let (_, messages) = exchange(&address, &version, &call);
        assert_eq!(messages.len(), 1, "{messages:?}");
    }
}

#[test]
fn a_client_without_a_folder_names_the_project() {
    let project = Project::counter();
    let address = serve(&project);
    let mut n_calls = 1;
    let mut call = |tool: &str, args: Value| {
        n_calls += 1;
        let params = json!({"name": tool, "arguments": args});
        let message = json!({"jsonrpc": "2.0", "id": n_calls, "method": "tools/call", "params": params});
        post(&address, &[("MCP-Protocol-Version", "2025-11-25")], &message).1["result"]["content"][0]["text"]
            .as_str()
            .expect("text")
            .to_string()
    };
    assert!(call("snapshot", json!({})).contains("\"project\":\"/the/project's/folder\""));
    assert!(call("devices", json!({})).starts_with("there is no project\nhint: open a session"));
    assert!(call("session", json!({"action": "open"})).starts_with("`project` is needed"));
    let relative = call("session", json!({"action": "open", "project": "shop"}));
    assert_eq!(relative, "`project` must be an absolute path, got `shop`");
    assert!(call("session", json!({"action": "open", "project": project.root()})).starts_with("opened session `main`"));
    assert!(call("snapshot", json!({})).starts_with("### Screen"));
    assert!(call("devices", json!({})).starts_with("android/sim-1"));
}
