//! Hostile servers over HTTP. We did not start them, so a run reports what they did and continues without them.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::stage::{Played, Stage};

struct Far {
    child: Child,
    url: String,
}

impl Far {
    fn new(behaviour: &str) -> Far {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/hostile_http.py");
        let mut command = Command::new("python3");
        command.arg(script).arg(behaviour).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("its stdout")).read_line(&mut port).expect("a port");
        Far { child, url: format!("http://127.0.0.1:{}", port.trim()) }
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a trail that calls `far_act`, and expects this exit code.
#[track_caller]
fn play(behaviour: &str, keys: &[&str], code: i32) -> (Played, String) {
    let far = Far::new(behaviour);
    let stage = Stage::new("good").reached(&far.url);
    let stage = keys.iter().fold(stage, |stage, key| stage.with(key));
    stage.project().write("trails/a.trail.yaml", "trail:\n  - step: Act\n    tools:\n      - far_act: {}\n");
    let played = stage.play(code);
    let said = played.said().replace(&far.url, "[far]");
    (played, said)
}

/// The message of a run whose server does not start.
#[track_caller]
fn refused(behaviour: &str, keys: &[&str]) -> String {
    let (played, said) = play(behaviour, keys, 2);
    played.assert_nothing_called();
    let line = said.lines().find(|line| line.contains("did not start")).unwrap_or(&said);
    line.trim().trim_start_matches("server `rogue` did not start: ").to_string()
}

#[test]
fn a_server_that_refuses_the_connection_is_reported_with_a_hint() {
    let told = [
        "wants_to_know_who",
        "lets_nobody_in",
        "is_elsewhere",
        "is_older",
        "is_broken",
        "has_moved",
        "is_a_web_page",
        "speaks_no_json",
        "speaks_other_json",
        "says_nothing",
        "refuses_in_words",
    ]
    .map(|behaviour| refused(behaviour, &[]));
    insta::assert_snapshot!(told.join("\n"), @r#"
    [far]/mcp answers 401 Unauthorized: `token required`; set `headers:` in its entry if it needs credentials
    [far]/mcp answers 403 Forbidden: `not you`; set `headers:` in its entry if it needs credentials
    [far]/mcp answers 404 Not Found: `Not Found`; is its `url:` the MCP endpoint, which often ends in /mcp?
    [far]/mcp answers 405 Method Not Allowed: `Method Not Allowed`; is its `url:` the MCP endpoint, which often ends in /mcp?
    [far]/mcp answers 500 Internal Server Error: `Internal Server Error[31m`
    it redirects [far]/mcp to http://elsewhere.example/mcp; use that as its `url:` if you trust it
    [far]/mcp answers text/html, which is not MCP: `<!doctype html><title>Welcome</title>`; is its `url:` the MCP endpoint, which often ends in /mcp?
    it broke the protocol: not a JSON-RPC message: expected value at line 1 column 1 in `hello`
    it broke the protocol: not a JSON-RPC message: no `jsonrpc` in `{"hello": 1}`
    it ended its answer without a result
    it refuses `initialize` (not today (-32600)) and `server/discover` (not today (-32600))
    "#);
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let told = refused("hangs", &["startupTimeout: 300ms"]);
    insta::assert_snapshot!(told, @"it did not answer the MCP handshake within 300ms; raise `startupTimeout:` in its entry to allow more");
}

#[test]
fn a_call_that_a_server_breaks_is_reported() {
    let told =
        ["fails_calls", "breaks_off", "cuts_short", "floods", "forgets_always", "answers_another"].map(|behaviour| {
            let (played, _) = play(behaviour, &[], 2);
            let answers = played.answers("far_act");
            assert_eq!(answers.len(), 1, "it is not called twice: {answers:?}");
            let port = answers[0].split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or("none");
            answers[0].replace(port, "[port]")
        });
    insta::assert_snapshot!(told.join("\n"), @r"
    server `rogue` did not answer: http://127.0.0.1:[port]/mcp answers 503 Service Unavailable: `overloaded`
    server `rogue` did not answer: it ended its answer without a result
    server `rogue` did not answer: the connection broke during an answer: end of file before message length reached
    server `rogue` did not answer: its answer is longer than 32 MiB
    server `rogue` did not answer: it no longer knows our session
    server `rogue` did not answer: it broke the protocol: it answered a request that was never made (id 4711)
    ");
}

#[test]
fn a_server_that_repeats_a_secret_is_quoted_without_it() {
    let far = Far::new("repeats_the_token");
    let stage = Stage::new("good").reached(&far.url).with("headers: {x-token: '{{FAR_TOKEN}}'}");
    for (args, code) in [(&["toolbox"][..], 2), (&["check"], 2), (&["tool", "far_act"], 2), (&["run"], 2)] {
        let mut command = stage.command(args);
        command.env("FAR_TOKEN", "open-sesame-71");
        let ran = stage.finish(command).exits(code);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains("401 Unauthorized: `who is {{FAR_TOKEN}}?`"), "{args:?}: {told}");
        assert!(!told.contains("open-sesame"), "{args:?}: {told}");
    }
}

#[test]
fn a_stream_that_breaks_off_is_resumed() {
    let (played, _) = play("breaks_off_and_goes_on", &[], 0);
    assert_eq!(played.answers("far_act"), ["did it in two pieces"]);
}

#[test]
fn a_session_that_the_server_lost_is_reopened() {
    let (played, _) = play("forgets", &[], 0);
    assert_eq!(played.answers("far_act"), ["did it"]);
}

#[test]
fn a_server_may_send_requests_during_a_call() {
    let (played, _) = play("asks_in_return", &[], 0);
    assert_eq!(played.answers("far_act"), [r#"{"jsonrpc": "2.0", "id": "mine", "result": {}}"#]);
}

#[test]
fn a_call_that_is_never_answered_ends_in_time() {
    let (_, said) = play("never_answers", &["callTimeout: 300ms"], 1);
    assert!(said.contains("server `rogue` was silent for 300ms"), "{said}");
}

#[test]
fn a_server_that_hangs_is_reported_and_left_running() {
    let far = Far::new("never_answers");
    let stage = Stage::new("good").reached(&far.url).with("callTimeout: 500ms").then_the_other();
    stage.project().write("trails/a.trail.yaml", "trail:\n  - step: Act\n    tools:\n      - far_act: {}\n");
    let played = stage.play(1);
    played.assert_the_other_went_on();
    assert!(played.notes().contains("nor a ping within 5s; Trailblaze did not start it"), "{}", played.notes());
}
