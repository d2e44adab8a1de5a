//! An agent opens a device, acts on it, and saves a trail.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use trailblaze::api::mcp::{McpOptions, Offering};

use crate::command_line::mcp::client::{BOTH, Client, Daemon, Generation, reference};
use crate::command_line::mcp::service::{OneSession, client, client_of};
use crate::support::{Project, chromium, wait_until};

#[test]
fn an_agent_goes_from_nothing_to_a_trail_that_replays() {
    for generation in BOTH {
        let project = Project::counter();
        let mut client = client(&project, generation);
        let opened = client.call("session", json!({"action": "open", "url": "com.example.counter"}));
        assert!(opened.starts_with("opened session `main` on android/sim-1 (no steps; project "), "{opened}");
        let add = reference(&opened, "Add one");
        let acted = client.call(
            "act",
            json!({"step": "Count to two", "calls": [
                {"tool": "tap", "args": {"ref": add}}, {"tool": "tap", "args": {"ref": add}},
            ]}),
        );
        assert!(acted.contains("snapshot 2, what changed:\n"), "{acted}");
        assert!(acted.contains("+ ") && acted.contains("\"Count: 2\"") && acted.contains("- "), "{acted}");
        assert!(!acted.contains("Add one\""), "only the changes are shown: {acted}");
        let count = client.call(
            "act",
            json!({"verify": "The count is two", "calls": [{"tool": "assertVisible", "args": {"text": "Count: 2"}}]}),
        );
        assert!(count.ends_with("(nothing changed)"), "{count}");
        let steps = client.call("session", json!({"action": "steps"}));
        assert!(steps.contains("Count to two") && steps.contains("The count is two"), "{steps}");
        client.call("trail", json!({"action": "save", "path": "count.trail.yaml", "title": "Counting"}));
        let trail = project.read("count.trail.yaml");
        assert!(trail.contains("verify: The count is two"), "{trail}");
        project.run(&["run", "count.trail.yaml", "-d", "android/sim-1"]).exits(0);
        let closed = client.call("session", json!({"action": "close"}));
        assert!(closed.starts_with("closed session `main`\nreport: "), "{closed}");
    }
}

#[test]
fn a_session_is_opened_when_it_is_needed() {
    let project = Project::counter();
    let mut client = client(&project, Generation::Initialize);
    assert!(client.call("session", json!({"action": "list"})).starts_with("no session is open"));
    let hint = client.failure("session", json!({"action": "steps"}));
    assert_eq!(hint, "no session is open\nhint: open one with `session` {\"action\":\"open\"}");
    let screen = client.call("snapshot", json!({}));
    assert!(screen.contains("### Screen") && screen.ends_with("snapshot 1"), "{screen}");
    assert!(client.call("session", json!({"action": "list"})).contains("session `main` on android/sim-1"));
    let missing = client.failure("snapshot", json!({"session": "other"}));
    assert!(missing.contains("hint: open one"), "{missing}");
}

#[test]
fn calls_stop_at_the_first_failure() {
    let project = Project::counter();
    let mut client = client(&project, Generation::Initialize);
    let opened = client.call("session", json!({"action": "open", "url": "com.example.counter"}));
    let add = reference(&opened, "Add one");
    let tap = json!({"tool": "tap", "args": {"ref": add}});
    let wrong = json!({"tool": "assertVisible", "args": {"text": "Nothing", "timeoutMs": 0}});
    let failed = client.failure("act", json!({"calls": [tap, wrong, tap, tap]}));
    assert!(failed.contains("`assertVisible` failed: "), "{failed}");
    assert!(failed.contains("This is call 2 of 4; call 1 was made; calls 3 to 4 were not made."), "{failed}");
    assert!(failed.contains("\"Count: 1\""), "the screen after the call that was made is shown: {failed}");
    let unknown = client.failure("act", json!({"calls": [{"tool": "tapp", "args": {}}]}));
    assert!(unknown.contains("`tapp`") && unknown.contains("tap"), "{unknown}");
    let undone = client.call("session", json!({"action": "undo"}));
    assert!(undone.contains("the device is not changed"), "{undone}");
}

#[test]
fn a_new_screen_is_shown_as_a_whole_or_by_its_changes() {
    let project = Project::counter();
    let mut client = client(&project, Generation::Initialize);
    client.call("session", json!({"action": "open"}));
    let launched =
        client.call("act", json!({"calls": [{"tool": "launchApp", "args": {"packageId": "com.example.counter"}}]}));
    assert!(launched.contains("the screen:\n### Screen\nApp: com.example.counter"), "{launched}");
    let found = client.call("snapshot", json!({"find": "add"}));
    assert!(found.contains("Add one") && !found.contains("More"), "{found}");
    let add = reference(&found, "Add one");
    let acted = client.call("act", json!({"calls": [{"tool": "tap", "args": {"ref": add}}]}));
    assert!(!acted.contains("Your name"), "a search does not count as a look: {acted}");
    let within = client.call("snapshot", json!({"within": reference(&found, "Add one")}));
    assert!(!within.contains("More"), "{within}");
    let missing = client.failure("snapshot", json!({"within": "zz9"}));
    assert_eq!(missing, "no element on the screen has the ref `zz9`");
    assert!(client.call("snapshot", json!({"since": 4})).contains("(nothing changed)"));
    assert!(client.call("snapshot", json!({"depth": 1})).contains("### Screen"));
}

#[test]
fn what_a_page_does_is_in_the_answer_of_act() {
    if chromium::find().is_none() {
        return;
    }
    let page = "<!doctype html><button onclick=\"alert('Stocks are low'); lost()\">Warn</button>";
    let project =
        Project::empty().with("trailblaze.yaml", chromium::devices("[{id: web/chromium}]")).with("page.html", page);
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let url = format!("file://{}/page.html", project.root().display());
    let opened = client.call("session", json!({"action": "open", "url": url}));
    let calls = json!([{"tool": "tap", "args": {"ref": reference(&opened, "Warn")}}]);
    let acted = client.call("act", json!({ "calls": calls }));
    for said in ["page: alert \"Stocks are low\" was accepted", "page: the page threw: ReferenceError: lost"] {
        assert_eq!(acted.matches(said).count(), 1, "{said} in {acted}");
    }
}

#[test]
fn act_answers_when_short_animations_have_ended() {
    if chromium::find().is_none() {
        return;
    }
    let page = "<!doctype html><style>@keyframes out { to { opacity: 0 } } .out { animation: out 400ms forwards }</style>
        <p id=draft>My draft</p><p id=note></p>
        <button onclick=\"draft.className = 'out'; draft.onanimationend = () => { draft.remove(); note.textContent = 'All sent' }\">Send</button>";
    let project =
        Project::empty().with("trailblaze.yaml", chromium::devices("[{id: web/chromium}]")).with("page.html", page);
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let url = format!("file://{}/page.html", project.root().display());
    let opened = client.call("session", json!({"action": "open", "url": url}));
    let calls = json!([{"tool": "tap", "args": {"ref": reference(&opened, "Send")}}]);
    let acted = client.call("act", json!({ "calls": calls }));
    assert!(acted.contains("All sent") && !acted.contains("My draft"), "{acted}");
}

#[test]
fn words_are_refused_without_a_model() {
    let project = Project::counter();
    let mut client = client(&project, Generation::Initialize);
    for tool in ["step", "verify"] {
        let refused = client.failure(tool, json!({"text": "Add one"}));
        assert!(refused.contains("model"), "{refused}");
    }
}

#[test]
fn a_screenshot_is_a_picture() {
    let project = Project::counter();
    let mut client = client(&project, Generation::Discover);
    let shot = client.request("tools/call", json!({"name": "screenshot", "arguments": {"marks": true}}));
    let picture = &shot["content"][0];
    assert_eq!((&picture["type"], &picture["mimeType"]), (&json!("image"), &json!("image/png")));
    assert!(picture["data"].as_str().is_some_and(|data| data.starts_with("iVBOR")), "a PNG");
}

#[test]
fn tools_are_found_and_described() {
    let project = Project::counter();
    let mut client = client(&project, Generation::Initialize);
    client.call("session", json!({"action": "open"}));
    let found = client.call("toolbox", json!({"search": "tap"}));
    assert!(found.lines().any(|line| line.starts_with("tap ")), "{found}");
    let described = client.call("toolbox", json!({"tool": "tap"}));
    assert!(described.contains("tap(ref? text?") && described.contains("\"properties\""), "{described}");
    assert!(client.call("toolbox", json!({"search": "no such words"})).contains("hint: fewer words"));
    assert!(client.failure("toolbox", json!({"tool": "tapp"})).contains("`tapp`"));
    assert_eq!(client.call("devices", json!({})), "android/sim-1: a simulated phone (1080×2400), used by session main");
}

#[test]
fn results_of_runs_and_checks_say_what_is_wrong() {
    let project = Project::counter();
    let mut client = client(&project, Generation::Initialize);
    let why = "why a failed: no element has the text `Pay`\n  step: Pay\n  tool: tap\n  saw: Cancel\n  at a.trail.yaml:7\n  picture: trailblaze://pictures/2026-11-16_1/pictures/ab.png";
    assert_eq!(client.failure("trail", json!({"action": "run", "path": "a.trail.yaml"})), format!("1 failed\n{why}"));
    assert_eq!(
        client.call("report", json!({})),
        format!("run 2026-11-16_1: failed (1 total, 1 failed)\nfailed: a.trail.yaml on android/sim-1\n{why}")
    );
    assert_eq!(
        client.failure("trail", json!({"action": "check"})),
        "a.trail.yaml:3:5: error: unknown tool `tapp`\n  hint: did you mean `tap`?\nchecked 1 trail: 1 error"
    );
    assert_eq!(client.call("trail", json!({"action": "list"})), "a.trail.yaml: First\nb/c d.trail.yaml");
    let edit = json!({"action": "edit", "path": "a.trail.yaml", "old": "x", "new": "y"});
    assert_eq!(client.call("trail", edit), "wrote a.trail.yaml");
}

#[test]
fn long_work_reports_progress_only_if_asked() {
    for generation in BOTH {
        let project = Project::counter();
        let mut client = client(&project, generation);
        let run = json!({"name": "trail", "arguments": {"action": "run"}});
        client.request("tools/call", run.clone());
        assert_eq!(client.notices, Vec::<serde_json::Value>::new());
        let mut asked = run;
        asked["_meta"] = json!({"progressToken": "t"});
        client.request("tools/call", asked);
        let told: Vec<_> = client.notices.iter().map(|notice| notice["params"].clone()).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(told[0]["progressToken"], "t");
        assert_eq!(told[2]["message"], "trail 3 of 3");
    }
}

#[test]
fn a_cancelled_call_is_cancelled_in_the_service() {
    let project = Project::counter().with("slow", "");
    let service = OneSession::new(&project);
    let mut client = client_of(&project, Arc::clone(&service), Generation::Initialize, McpOptions::default());
    let run = json!({"name": "trail", "arguments": {"action": "run"}, "_meta": {"progressToken": 1}});
    let id = client.send("tools/call", run);
    client.message().expect("progress");
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
    wait_until("the service is cancelled", || service.was_cancelled.load(Ordering::SeqCst).then_some(()));
}

#[test]
fn flat_tools_have_their_own_names() {
    let project = Project::counter();
    let service = OneSession::new(&project);
    let options = McpOptions { offering: Offering::Flat, ..McpOptions::default() };
    let mut client = client_of(&project, Arc::clone(&service), Generation::Initialize, options);
    let opened = client.call("session", json!({"action": "open", "url": "com.example.counter"}));
    let list = client.request("tools/list", json!({}));
    let names: Vec<&str> =
        list["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names[..3], ["session", "snapshot", "trail"]);
    assert!(names[3..].is_sorted() && names.contains(&"tap") && names.contains(&"inputText"), "{names:?}");
    assert!(!names.contains(&"adbShell"), "it is not for models");
    let acted = client.call("tap", json!({"ref": reference(&opened, "Add one")}));
    assert!(acted.contains("\"Count: 1\""), "{acted}");
    let error = client.error("tools/call", json!({"name": "adbShell", "arguments": {"command": "ls"}}));
    assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!("unknown tool `adbShell`")));
    let registry = client.request("resources/read", json!({"uri": "trailblaze://registry"}));
    let registry: serde_json::Value =
        serde_json::from_str(registry["contents"][0]["text"].as_str().expect("text")).expect("JSON");
    assert!(names.iter().all(|name| registry["tools"][name]["exposedToLlm"] == true), "{names:?}");
    assert_eq!(registry["tools"]["adbShell"]["exposedToLlm"], false);
}
