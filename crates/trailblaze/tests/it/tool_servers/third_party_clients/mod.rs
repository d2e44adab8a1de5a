//! Clients that others maintain, generated from the contract: all of them get the same answers from the typed API. The programs and
//! the list of calls are in `tests/peers`; `scripts/parts` builds them.

mod contract;
mod page;
mod served;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use crate::support::{Project, Running, repository, skip, wait_until};
use serde_json::{Map, Value, json};
use served::{Served, has_curl};

/// A program that makes the calls with some library, over one or more protocols.
struct Peer {
    name: &'static str,
    program: &'static str,
    /// Paths are relative to the repository.
    args: &'static [&'static str],
    /// The folder with its generated Python modules.
    modules: &'static str,
}

const PEERS: &[Peer] = &[
    Peer {
        name: "grpcio",
        program: ".parts/grpc/bin/python",
        args: &["tests/peers/grpcio_peer.py"],
        modules: ".parts/peers/grpcio",
    },
    Peer {
        name: "connectrpc for Python",
        program: ".parts/grpc/bin/python",
        args: &["tests/peers/connect_peer.py"],
        modules: ".parts/peers/connect",
    },
    Peer {
        name: "connect-node",
        program: ".parts/node/node_modules/node/bin/node",
        args: &[".parts/peers/es/peer.mjs"],
        modules: "",
    },
    Peer {
        name: "connect-node under Bun",
        program: ".parts/node/node_modules/.bin/bun",
        args: &[".parts/peers/es/peer.mjs"],
        modules: "",
    },
    Peer { name: "Connect for Go", program: ".parts/peers/go/bin/peer", args: &[], modules: "" },
];

/// Whether the programs are to be run. They belong to the full tier: if they are not installed there, the test is skipped, or fails in CI.
fn is_installed() -> bool {
    if !crate::support::is_full_tier() {
        return false;
    }
    let is_installed = ["grpc", "connect", "node", "peers"]
        .iter()
        .all(|part| repository().join(".parts").join(part).join("stamp").is_file());
    if !is_installed {
        skip::without_part("clients of the typed API are missing: `scripts/parts full` installs them");
    }
    is_installed
}

fn cases() -> Vec<Value> {
    let path = repository().join("tests/peers/cases.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the list of calls")).expect("the list is JSON")
}

#[test]
fn the_list_has_every_method_of_the_contract() {
    let called: BTreeSet<String> =
        cases().iter().map(|case| format!("/trailblaze.v1.{}", case["call"].as_str().expect("a call"))).collect();
    let methods: BTreeSet<String> =
        trailblaze_contract::METHODS.iter().map(|method| format!("/{}", method.path.trim_start_matches('/'))).collect();
    assert_eq!(called, methods);
}

/// What one program got over one protocol, comparable with the others.
struct Heard {
    who: String,
    results: Vec<Value>,
}

#[test]
fn all_clients_get_the_same_answers() {
    if !is_installed() {
        return;
    }
    let cases = cases();
    let heard: Vec<Heard> = std::thread::scope(|scope| {
        let running: Vec<_> = PEERS.iter().map(|peer| scope.spawn(|| run(peer, &cases))).collect();
        running.into_iter().flat_map(|peer| peer.join().expect("the program was run")).collect()
    });
    let mut wrong = String::new();
    for Heard { who, results } in &heard {
        assert_eq!(results.len(), cases.len(), "{who} made every call");
        for ((case, got), first) in cases.iter().zip(results).zip(&heard[0].results) {
            let is_expected = case.get("answer").is_none_or(|answer| got["answer"] == comparable(answer))
                && case.get("error").is_none_or(|code| got["error"]["code"] == *code)
                && (case.get("error").is_some() || got.get("error").is_none());
            if !is_expected || got != first {
                wrong += &format!("\n{who}\n  case  {case}\n  got   {got}\n  first {first}\n");
            }
        }
    }
    assert_eq!(wrong, "");
    assert_eq!(heard.len(), 19, "each program used all its protocols");
}

#[test]
fn a_stream_has_the_last_event_and_ends_with_its_session() {
    if !has_curl() {
        return;
    }
    let project = Project::counter();
    let served = Served::on(&project, "android/sim-1");
    project.write("request", b"\0\0\0\0\x02{}");
    project.write("remember", r#"{"variable": "a", "value": "b"}"#);
    let mut curl = served.curl("TrailblazeSession/WatchEvents", "application/connect+json", "request");
    let body = File::create(project.root().join("body")).expect("a file");
    let mut curl = Running::of(curl.arg("--no-buffer").stdout(body).spawn().expect("curl starts"));
    let remembered = served.curl("TrailblazeMemory/Remember", "application/json", "remember").output();
    assert!(remembered.expect("curl starts").status.success());
    let read = || std::fs::read(project.root().join("body")).expect("a file");
    wait_until("the stream has begun", || (!read().is_empty()).then_some(()));
    served.stop();
    wait_until("the stream ends", || curl.has_ended().then_some(()));
    assert!(curl.status().success());
    let read = String::from_utf8_lossy(&read()).into_owned();
    assert!(read.ends_with("\u{2}\0\0\0\u{2}{}"), "{read:?}");
    assert_eq!(read.matches(r#""type":"sessionClosed""#).count(), 1, "{read:?}");
}

/// Runs a program against sessions of its own.
fn run(peer: &Peer, cases: &[Value]) -> Vec<Heard> {
    let project = Project::counter();
    let [android, web, desktop] =
        ["android/sim-1", "web/sim-1", "desktop/sim-1"].map(|device| Served::on(&project, device));
    let servers = json!({"android": android.for_client(), "web": web.for_client(), "desktop": desktop.for_client()});
    project.write("task.json", json!({"cases": cases, "servers": servers}).to_string());
    let output = start_and_wait(peer, project.root());
    let lines = output.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let heard: Vec<Heard> = lines.map(|line| heard(peer, cases, &line, &android.session)).collect();
    for line in output.lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        let protocol = line["protocol"].as_str().expect("a protocol");
        wait_until("the call that took too long is cancelled on the device", || {
            android.is_cancelled(&format!("Never with {protocol}\"")).then_some(())
        });
    }
    [android, web, desktop].into_iter().for_each(Served::stop);
    heard
}

/// Runs the program to its end, and returns what it printed.
fn start_and_wait(peer: &Peer, folder: &Path) -> String {
    let file = |name: &str| File::create(folder.join(name)).expect("a file");
    let parts = |path: &str| repository().join(path);
    let mut command = Command::new(parts(peer.program));
    command.args(peer.args.iter().map(|path| parts(path))).env_clear().env("HOME", folder);
    command.env("PYTHONPATH", parts(peer.modules)).env("PYTHONDONTWRITEBYTECODE", "1");
    command.stdin(File::open(folder.join("task.json")).expect("a file"));
    command.stdout(file("stdout")).stderr(file("stderr"));
    let mut running = Running::of(command.spawn().unwrap_or_else(|error| panic!("{}: {error}", peer.name)));
    wait_until("the client has made all its calls", || running.has_ended().then_some(()));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("text");
    let status = running.status();
    assert!(status.success(), "{} ended with {status}\n{}", peer.name, read("stderr"));
    read("stdout")
}

/// Leaves out what differs from session to session and from protocol to protocol.
fn heard(peer: &Peer, cases: &[Value], line: &Value, session: &str) -> Heard {
    let protocol = line["protocol"].as_str().expect("a protocol");
    let results = line["results"].as_array().expect("results");
    assert_resumes(cases, results);
    let text = Value::from(results.clone()).to_string().replace(session, "[session]");
    let results: Vec<Value> =
        serde_json::from_str(&text.replace(&format!("with {protocol}"), "with PROTOCOL")).unwrap();
    let results = cases.iter().zip(results).map(|(case, mut result)| {
        // Either the client or the server may notice first, and their messages differ.
        if case.get("deadlineMs").is_some() && result.get("error").is_some() {
            result["error"]["message"] = Value::Null;
        }
        // The session has had more calls when a later protocol's turn comes.
        let is_numbered = case.get("until").is_none();
        for event in result["answers"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            let Some(json) = event.remove("json") else { continue };
            let json: Map<String, Value> = serde_json::from_str(json.as_str().expect("text")).expect("JSON");
            assert_eq!(json.keys().collect::<Vec<_>>(), [event["type"].as_str().expect("a type")]);
            if !is_numbered {
                event.remove("number");
            }
        }
        comparable(&result)
    });
    Heard { who: format!("{} ({protocol})", peer.name), results: results.collect() }
}

/// A stream that starts after event 2 begins with the same event 3 as one that starts at the beginning.
fn assert_resumes(cases: &[Value], results: &[Value]) {
    let of = |after: Value| {
        let is_it = |case: &&(usize, &Value)| case.1["request"] == after && case.1["take"].is_number();
        let streams = cases.iter().enumerate().filter(|(_, case)| case["call"] == "TrailblazeSession/WatchEvents");
        let (index, _) = streams.collect::<Vec<_>>().iter().rev().find(is_it).copied().expect("a stream");
        results[index]["answers"].as_array().expect("events").clone()
    };
    let (whole, resumed) = (of(json!({})), of(json!({"after": 2})));
    assert_eq!(whole.iter().map(|event| &event["number"]).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(resumed, whole[2..]);
}

/// The same JSON, with all numbers as floating-point numbers, as some libraries write them.
fn comparable(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(comparable).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), comparable(value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
