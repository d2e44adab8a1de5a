//! The callback over the wire: a tool stays in its call while requests come in, and each is judged check by check, in the
//! order of the checks. Peers on other machines are covered by unit tests.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::stage::{Played, Stage};
use crate::support::{PATIENCE, Running, wait_until};
use serde_json::{Value, json};
use trailblaze_protocol::event::{CallOrigin, Event};
use trailblaze_protocol::ids::Parent;

/// A run whose tools stay in their calls, one on each device.
struct Open {
    stage: Stage,
    running: Running,
    /// What each call was told: its session, its id, where to call back.
    calls: Vec<Value>,
}

impl Open {
    fn on(devices: &[&str]) -> Open {
        let stage = Stage::new("stays_in_its_call").with("multiDevice: perDevice");
        let mut command = stage.command(&["run", "--pictures", "off", "-d", &devices.join(",")]);
        let running = Running::of(command.spawn().expect("the program starts"));
        let read = |device: &&str| {
            let path = stage.project().root().join(format!("{}.json", device.replace('/', "-")));
            wait_until("the tool is in its call", || std::fs::read_to_string(&path).ok())
        };
        let calls = devices.iter().map(|device| serde_json::from_str(&read(device)).expect("JSON")).collect();
        Open { stage, running, calls }
    }

    fn host(&self) -> String {
        let url = self.calls[0]["baseUrl"].as_str().expect("an address");
        url.strip_prefix("http://").expect("http").to_string()
    }

    /// A correct request.
    fn request(&self, tool: &str, arguments: &str) -> Value {
        json!({
            "version": 1,
            "session_id": self.calls[0]["sessionId"],
            "invocation_id": self.calls[0]["invocationId"],
            "action": {"type": "call_tool", "tool_name": tool, "arguments_json": arguments},
        })
    }

    /// Posts a body with the headers that it should have, or others.
    fn post(&self, headers: &[(&str, &str)], body: &[u8]) -> Heard {
        let host = self.host();
        let mut all = vec![("Host", host.as_str()), ("Content-Type", "application/json")];
        for (name, value) in headers {
            all.retain(|(usual, _)| usual != name);
            all.push((name, value));
        }
        let length = body.len().to_string();
        all.push(("Content-Length", &length));
        // A large body is refused by its length, so it is not sent: the connection might close before the answer is read.
        self.send(&all, if body.len() > 1 << 16 { b"" } else { body })
    }

    fn send(&self, headers: &[(&str, &str)], body: &[u8]) -> Heard {
        Heard::read(&String::from_utf8(self.exchange(headers, body)).expect("text"))
    }

    fn exchange(&self, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        self.exchange_at("/scripting/callback", headers, body)
    }

    fn exchange_at(&self, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
        let mut request = format!("POST {target} HTTP/1.1\r\nConnection: close\r\n");
        request.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        request.push_str("\r\n");
        let mut stream = TcpStream::connect(self.host()).expect("somebody listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.write_all(&[request.as_bytes(), body].concat()).expect("the request is taken");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    fn post_json(&self, body: &Value) -> Heard {
        self.post(&[], body.to_string().as_bytes())
    }

    /// Lets the tools answer, and the run end.
    fn close(self, code: i32) -> Played {
        self.stage.project().write("enough", "");
        let ran = self.stage.project().ended(self.running).exits(code);
        self.stage.judge(ran, code)
    }
}

/// A status, and a result.
#[derive(Debug, PartialEq)]
struct Heard(u16, Value);

impl Heard {
    fn read(answer: &str) -> Heard {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let body = body[body.find('{').unwrap_or(0)..].trim_end_matches(|c: char| c != '}');
        let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error} in {answer}"));
        Heard(status, body["result"].clone())
    }

    fn refused(status: u16, message: &str) -> Heard {
        Heard(status, json!({"type": "error", "message": message}))
    }

    fn called(success: bool, text: &str, error: &str) -> Heard {
        let result =
            json!({"type": "call_tool_result", "success": success, "textContent": text, "errorMessage": error});
        Heard(200, result)
    }
}

#[test]
fn each_check_has_its_answer() {
    let open = Open::on(&["android/sim-1"]);
    let fine = open.request("hasText", r#"{"text": "Nowhere"}"#);
    let bytes = fine.to_string().into_bytes();
    let changed = |key: &str, value: Value| {
        let mut request = fine.clone();
        request[key] = value;
        request
    };
    let without = |key: &str| {
        let mut request = fine.clone();
        request.as_object_mut().expect("an object").shift_remove(key);
        request
    };
    let invocation = open.calls[0]["invocationId"].as_str().expect("an id");

    // Who asks.
    let host = |host: &str| Heard::refused(403, &format!("the Host header `{host}` does not name this server"));
    assert_eq!(open.post(&[("Host", "evil.example")], &bytes), host("evil.example"));
    assert_eq!(open.post(&[("Host", "127.0.0.1:1")], &bytes), host("127.0.0.1:1"));
    let origin =
        |page: &str| Heard::refused(403, &format!("web pages may not call; this request comes from the page `{page}`"));
    for page in ["https://evil.example", "http://localhost:3000", "null"] {
        assert_eq!(open.post(&[("Origin", page)], &bytes), origin(page));
    }
    assert_eq!(open.post(&[("Origin", &format!("http://{}", open.host()))], &bytes).0, 200);

    // What was sent.
    let kind = "the content type must be application/json, not `text/plain`";
    assert_eq!(open.post(&[("Content-Type", "text/plain")], &bytes), Heard::refused(415, kind));
    let charset = [("Content-Type", "application/json; charset=utf-8")];
    assert_eq!(open.post(&charset, &bytes).0, 200);
    let large = changed("padding", "x".repeat(1 << 20).into()).to_string();
    let too_large = || Heard::refused(413, "a request has at most 1048576 bytes");
    assert_eq!(open.post(&[], large.as_bytes()), too_large());
    // So is one that does not say how large it is, as soon as it is too large: its last byte is one too many.
    let host = open.host();
    let chunked = [("Host", &*host), ("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")];
    let body = format!("{:x}\r\n{}", (1 << 20) + 1, " ".repeat((1 << 20) + 1));
    assert_eq!(open.send(&chunked, body.as_bytes()), too_large());
    let broken = "the request is not JSON: EOF while parsing an object at line 1 column 1";
    assert_eq!(open.post(&[], b"{"), Heard::refused(400, broken));
    assert_eq!(open.post_json(&json!([])), Heard::refused(200, "the request must be a JSON object"));
    let newer = "version 2 of the callback is newer than this Trailblaze, which speaks 1; upgrade Trailblaze";
    assert_eq!(open.post_json(&changed("version", 2.into())), Heard::refused(200, newer));
    let no_version = "`version` must be a positive integer, got -1";
    assert_eq!(open.post_json(&changed("version", (-1).into())), Heard::refused(200, no_version));
    assert_eq!(open.post_json(&without("version")).0, 200);
    for key in ["session_id", "invocation_id"] {
        let missing = format!("`{key}` is missing or not a string");
        assert_eq!(open.post_json(&changed(key, 5.into())), Heard::refused(200, &missing));
        let one = format!("`{key}` is missing: a callback names its session and its call, or neither");
        assert_eq!(open.post_json(&without(key)), Heard::refused(200, &one));
    }
    let mut bare = without("session_id");
    bare.as_object_mut().expect("an object").shift_remove("invocation_id");
    assert_eq!(open.post_json(&bare).1["success"], true, "only one tool is being called, so it is clear which");
    let missing = "`action.type` is missing or not a string";
    assert_eq!(open.post_json(&without("action")), Heard::refused(200, missing));
    let fly = "unknown action `fly`; this Trailblaze supports `call_tool`";
    assert_eq!(open.post_json(&changed("action", json!({"type": "fly"}))), Heard::refused(200, fly));

    // The session and the call that it names.
    let unknown = "Unknown invocation ID: c-x. The tool call may have completed or timed out.";
    assert_eq!(open.post_json(&changed("invocation_id", "c-x".into())), Heard::refused(200, unknown));
    let other = format!("The invocation {invocation} belongs to another session.");
    assert_eq!(open.post_json(&changed("session_id", "s-x".into())), Heard::refused(200, &other));

    // The tool and its arguments.
    let tool = "unknown tool `hasTxt`; did you mean `hasText`?";
    assert_eq!(open.post_json(&open.request("hasTxt", "{}")), Heard::refused(200, tool));
    let no_json = "`arguments_json` of `hasText` is not JSON: expected ident at line 1 column 2";
    assert_eq!(open.post_json(&open.request("hasText", "text=x")), Heard::refused(200, no_json));
    let no_object = "`arguments_json` of `hasText` must be a JSON object, got [1]";
    assert_eq!(open.post_json(&open.request("hasText", "[1]")), Heard::refused(200, no_object));
    let wrong = "`hasText`: missing argument `text`";
    assert_eq!(open.post_json(&open.request("hasText", "{}")), Heard::refused(200, wrong));

    // A tool that fails still counts as called.
    let failing = open.request("assertVisible", r#"{"text": "Nowhere", "timeoutMs": 1}"#);
    let failed = open.post_json(&failing);
    assert_eq!((failed.0, &failed.1["type"], &failed.1["success"]), (200, &"call_tool_result".into(), &false.into()));
    assert_eq!(open.post_json(&fine), Heard::called(true, "false", ""));

    open.close(0);
}

#[test]
fn a_command_that_the_platform_lacks_is_unsupported() {
    for (device, tool, arguments, platform) in [
        ("ios/sim-1", "adbShell", r#"{"command": "ls"}"#, "ios"),
        ("android/sim-1", "navigate", r#"{"url": "https://example.com"}"#, "android"),
        ("web/sim-1", "pressHome", "{}", "web"),
    ] {
        let open = Open::on(&[device]);
        let Heard(status, answer) = open.post_json(&open.request(tool, arguments));
        let message = answer["message"].as_str().unwrap_or_default();
        assert_eq!((status, &answer["type"]), (200, &json!("error")), "{answer}");
        assert!(message.starts_with(&format!("`{tool}` is unsupported on {platform}")), "{message}");
        let played = open.close(0);
        assert_eq!(played.run.calls().len(), 1, "it was not called");
    }
}

#[test]
fn a_screen_can_be_had_as_data() {
    let open = Open::on(&["android/sim-1"]);
    let launch = open.request("launchApp", r#"{"packageId": "com.example.counter"}"#);
    assert_eq!(open.post_json(&launch).1["success"], true);
    let text = open.post_json(&open.request("captureScreen", "{}")).1["textContent"].clone();
    assert!(text.as_str().is_some_and(|text| text.contains("Count: 0") && !text.contains("bounds")), "{text}");

    let Heard(_, answer) = open.post_json(&open.request("captureScreen", r#"{"format": "json"}"#));
    let keys: Vec<&String> = answer.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["type", "success", "textContent", "errorMessage"]);
    let screen: Value = serde_json::from_str(answer["textContent"].as_str().expect("text")).expect("JSON");
    assert_eq!((&screen["platform"], &screen["app"]), (&json!("android"), &json!("com.example.counter")));
    let children = screen["root"]["children"][1]["children"].as_array().expect("elements");
    let add = children.iter().find(|element| element["text"] == "Add one");
    let bounds = &add.unwrap_or_else(|| panic!("no button in {screen}"))["bounds"];
    assert_eq!(*bounds, json!({"left": 55, "top": 411, "right": 1025, "bottom": 543}));

    let wrong = "`captureScreen`: `format`: \"xml\" is not one of \"text\", \"json\"";
    assert_eq!(open.post_json(&open.request("captureScreen", r#"{"format": "xml"}"#)), Heard::refused(200, wrong));
    open.close(0);
}

#[test]
fn an_element_is_tapped_by_the_node_id_of_the_last_screen() {
    let open = Open::on(&["android/sim-1"]);
    let call = |tool: &str, arguments: &str| open.post_json(&open.request(tool, arguments)).1;
    call("launchApp", r#"{"packageId": "com.example.counter"}"#);
    let message = |answer: Value| answer["errorMessage"].as_str().unwrap_or_default().to_string();
    let again = "node ids are valid for one screen only, so call `captureScreen` again";
    let captured = call("captureScreen", r#"{"format": "json"}"#);
    let screen: Value = serde_json::from_str(captured["textContent"].as_str().expect("text")).expect("JSON");
    let children = screen["root"]["children"][1]["children"].as_array().expect("elements");
    let add = children.iter().find(|element| element["text"] == "Add one").expect("a button");
    let tap = format!(r#"{{"nodeId": {}}}"#, add["nodeId"]);
    assert_eq!(call("tapOnElementByNodeId", &tap)["success"], true);
    assert_eq!(call("hasText", r#"{"text": "Count: 1"}"#)["textContent"], "true");
    let unknown = message(call("tapOnElementByNodeId", r#"{"nodeId": 4711}"#));
    assert_eq!(unknown, format!("no element of the last `captureScreen` has the node id 4711; {again}"));
    call("launchApp", r#"{"packageId": "com.example.counter", "launchMode": "REINSTALL"}"#);
    call("tap", r#"{"id": "more"}"#);
    let gone = message(call("tapOnElementByNodeId", &tap));
    assert_eq!(gone, format!("the element with the node id {} is no longer on the screen; {again}", add["nodeId"]));
    open.close(0);
}

#[test]
fn half_of_an_emoji_in_a_request_is_replaced() {
    let open = Open::on(&["android/sim-1"]);
    // As JavaScript's `JSON.stringify` writes the arguments, and then the whole.
    let arguments = open.request("remember", r#"{"variable": "word", "value": "cut \ud83d"}"#).to_string();
    assert_eq!(open.post(&[], arguments.as_bytes()).1["success"], true);
    let whole = open.request("hasText", "{}").to_string().replace("{}", r#"{\"text\": \"\ud83d\"}"#);
    assert_eq!(open.post(&[], whole.as_bytes()), Heard::called(true, "false", ""));
    open.close(0);
}

#[test]
fn a_request_that_names_its_host_twice_or_in_its_target_is_refused() {
    let open = Open::on(&["android/sim-1"]);
    let body = open.request("hasText", r#"{"text": "Nowhere"}"#).to_string();
    let (host, length) = (open.host(), body.len().to_string());
    let post = |target: &str, hosts: &[&str], origins: &[&str]| {
        let mut headers = vec![("Content-Type", "application/json"), ("Content-Length", &*length)];
        headers.extend(hosts.iter().map(|host| ("Host", *host)).chain(origins.iter().map(|page| ("Origin", *page))));
        Heard::read(&String::from_utf8(open.exchange_at(target, &headers, body.as_bytes())).expect("text"))
    };
    let path = "/scripting/callback";
    assert_eq!(post(path, &[&host], &[]).0, 200);
    let twice = Heard::refused(403, "the request has 2 Host headers; exactly one is expected");
    assert_eq!(post(path, &[&host, "evil.example"], &[]), twice);
    assert_eq!(post(path, &["evil.example", &host], &[]), twice);
    assert_eq!(post(path, &[&host, &host], &[]), twice);
    for target in [format!("http://evil.example{path}"), format!("http://{host}{path}")] {
        let refused = format!("the request target `{target}` is not a path; absolute targets are only for proxies");
        assert_eq!(post(&target, &[&host], &[]), Heard::refused(403, &refused));
    }
    let ours = format!("http://{host}");
    let page = "web pages may not call; this request comes from the page `https://evil.example`";
    assert_eq!(post(path, &[&host], &[&ours, "https://evil.example"]), Heard::refused(403, page));
    let played = open.close(0);
    assert_eq!(played.run.calls().len(), 2, "only the one that nothing is wrong with was called");
}

#[test]
fn of_several_faults_the_first_is_told() {
    let open = Open::on(&["android/sim-1"]);
    let invocation = open.calls[0]["invocationId"].as_str().expect("an id");
    let action = json!({"type": "call_tool", "tool_name": "hasTxt", "arguments_json": "none"});
    let body = json!({"version": 2, "session_id": "s-x", "invocation_id": "c-x", "action": action});
    let large = format!("{{{}", "x".repeat(1 << 20));
    let headers = [("Host", "evil.example"), ("Origin", "https://evil.example"), ("Content-Type", "text/plain")];

    // Each fix reveals the next fault.
    let told = |heard: Heard| (heard.0, heard.1["message"].as_str().unwrap_or_default().to_string());
    let starts = |heard: Heard, status: u16, words: &str| {
        let told = told(heard);
        assert!(told.0 == status && told.1.starts_with(words), "{told:?} instead of {status} {words}");
    };
    starts(open.post(&headers, large.as_bytes()), 403, "the Host header");
    starts(open.post(&headers[1..], large.as_bytes()), 403, "web pages may not call");
    starts(open.post(&headers[2..], large.as_bytes()), 415, "the content type");
    starts(open.post(&[], large.as_bytes()), 413, "a request has at most");
    starts(open.post(&[], b"{x"), 400, "the request is not JSON");
    starts(open.post_json(&body), 200, "version 2");
    let mut body = body;
    body["version"] = 1.into();
    body["session_id"] = 5.into();
    starts(open.post_json(&body), 200, "`session_id` is missing");
    body["session_id"] = "s-x".into();
    starts(open.post_json(&body), 200, "Unknown invocation ID");
    body["invocation_id"] = invocation.into();
    starts(open.post_json(&body), 200, "The invocation");
    body["session_id"] = open.calls[0]["sessionId"].clone();
    starts(open.post_json(&body), 200, "unknown tool `hasTxt`");
    body["action"]["tool_name"] = "hasText".into();
    starts(open.post_json(&body), 200, "`arguments_json` of `hasText` is not JSON");

    let played = open.close(0);
    assert_eq!(played.run.calls().len(), 1, "nothing of all this was called");
}

#[test]
fn the_depth_is_checked_before_the_tool() {
    // Calls are nested: each is made by the one before, which waits for it.
    let open = Open::on(&["android/sim-1"]);
    let mut calls = vec![open.calls[0].clone()];
    let place = open.stage.project().root().join("android-sim-1.json");
    let refused = std::thread::scope(|scope| {
        let mut waiting = Vec::new();
        for _ in 1..16 {
            std::fs::remove_file(&place).expect("the last call said where it is");
            let mut request = open.request("rogue_act", "{}");
            request["invocation_id"] = calls[calls.len() - 1]["invocationId"].clone();
            let open = &open;
            waiting.push(scope.spawn(move || open.post_json(&request)));
            let text = wait_until("the next call is open", || std::fs::read_to_string(&place).ok());
            calls.push(serde_json::from_str(&text).expect("JSON"));
        }
        let mut request = open.request("no_such_tool", "{}");
        request["invocation_id"] = calls[15]["invocationId"].clone();
        let refused = open.post_json(&request);
        // The innermost answers first: a tool that answers before its own call has ended fails.
        for (call, waiting) in calls[1..].iter().zip(waiting).rev() {
            let id = call["invocationId"].as_str().expect("an id");
            open.stage.project().write(&format!("{id}.enough"), "");
            assert_eq!(waiting.join().expect("it was answered").0, 200);
        }
        refused
    });
    assert_eq!(refused, Heard::refused(200, "`no_such_tool` was not called: calls nest deeper than 16"));
    let played = open.close(0);
    assert_eq!(played.answers("rogue_act").len(), 16);
}

#[test]
fn a_call_of_one_session_is_none_of_the_other() {
    let open = Open::on(&["android/sim-1", "ios/sim-1"]);
    let mut request = open.request("launchApp", r#"{"packageId": "com.example.counter"}"#);
    request["session_id"] = open.calls[1]["sessionId"].clone();
    let invocation = open.calls[0]["invocationId"].as_str().expect("an id");
    let other = format!("The invocation {invocation} belongs to another session.");
    assert_eq!(open.post_json(&request), Heard::refused(200, &other));
    // With its own session and invocation, a call reaches its own device.
    request["invocation_id"] = open.calls[1]["invocationId"].clone();
    assert_eq!(open.post_json(&request).1["success"], true);
    let session = open.calls[1]["sessionId"].clone();
    let played = open.close(0);
    let launched: Vec<_> = played.run.calls().into_iter().filter(|call| call.tool == "launchApp").collect();
    assert_eq!(launched.len(), 1);
    assert_eq!(json!(launched[0].session), session);
}

#[test]
fn what_a_callback_did_is_beneath_its_call() {
    let open = Open::on(&["android/sim-1"]);
    let launch = open.request("launchApp", r#"{"packageId": "com.example.counter"}"#);
    assert_eq!(open.post_json(&launch).1["success"], true);
    assert_eq!(open.post_json(&open.request("tap", r#"{"id": "add"}"#)).1["success"], true);
    let invocation = open.calls[0]["invocationId"].clone();
    let played = open.close(0);
    let beneath: Vec<(String, CallOrigin)> = played
        .run
        .calls()
        .into_iter()
        .filter(|call| matches!(&call.parent, Parent::Call(parent) if json!(parent) == invocation))
        .map(|call| (call.tool, call.origin))
        .collect();
    let expected = [("launchApp".to_string(), CallOrigin::Callback), ("tap".to_string(), CallOrigin::Callback)];
    assert_eq!(beneath, expected);
    let answered = played.run.events().into_iter().filter(|event| matches!(event, Event::Answered { .. })).count();
    assert_eq!(answered, 3);
    // The recording is the tool's call, and not what it did by itself.
    let recording = played.run.text("recording.trail.yaml");
    assert!(recording.contains("- rogue_act: {}") && !recording.contains("- tap"), "{recording}");
}

#[test]
fn other_ways_in_lead_nowhere() {
    let open = Open::on(&["android/sim-1"]);
    let status = |head: &str| {
        let mut stream = TcpStream::connect(open.host()).expect("somebody listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        write!(stream, "{head} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", open.host()).expect("it is taken");
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer.split(' ').nth(1).map(str::to_string)
    };
    assert_eq!(status("GET /scripting/callback").as_deref(), Some("405"));
    assert_eq!(status("POST /").as_deref(), Some("404"));
    // An unfinished request holds nothing up.
    let mut stuck = TcpStream::connect(open.host()).expect("somebody listens");
    stuck.write_all(b"POST /scripting/callback HTTP/1.1\r\nHost: ").expect("it is taken");
    open.close(0);
}
