//! A session in a page: what is seen, and what pointing, editing and saving do.

use serde_json::{Value, json};

use crate::browser::studio::opening::{on_session, open};
use crate::browser::studio::page::{Page, element, has};
use crate::support::Project;
use crate::support::home::Home;

/// A page on the counter, which is started.
fn on_counter(home: &Home) -> (Page, String) {
    on_session(home, &["-d", "android/sim-1", "--launch", "com.example.counter"])
}

fn texts(steps: &Value) -> Vec<&str> {
    steps["steps"].as_array().expect("steps").iter().map(|step| step["text"].as_str().expect("text")).collect()
}

#[test]
fn pointing_acts_and_becomes_steps_that_are_saved_and_replay() {
    let home = Home::counter();
    let (page, session) = on_counter(&home);
    let mut screens = page.watch("screen", &session);
    let screen =
        screens.until("the counter with a picture", |screen| has(screen, "Add one") && screen.get("picture").is_some());
    assert!(screen["picture"].as_str().expect("base64").len() > 1000);
    let add = element(&screen, "Add one");
    assert!(add["isInteractive"] == true && add["width"].as_i64() > Some(0), "{add}");
    let place = json!({"session": session, "generation": screen["generation"], "element": add["index"]});
    let found = page.call("Inspect", place.clone());
    let best = json!({"text": "id add", "arguments": {"id": "add"}, "matches": 1, "written": "{id: add}"});
    assert_eq!(found["descriptions"][0], best);
    assert!(found["descriptions"].as_array().expect("several").len() > 1, "{found:#}");
    let act = |place: &Value, more: Value| {
        let mut params = place.clone();
        params.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        page.call("Act", params)
    };
    let tapped = act(&place, json!({"action": "tap"}));
    assert_eq!((&tapped["isDone"], &tapped["text"]), (&json!(true), &json!("Tap \"Add one\"")), "{tapped:#}");
    let screen = screens.until("the next count", |screen| has(screen, "Count: 1"));
    let proposed = page.watch("steps", &session).next().expect("steps");
    let expected = json!([{"text": "\"Count: 1\" is shown", "call": {"assertVisible": {"id": "count", "expectedText": "Count: 1"}}}]);
    assert_eq!(proposed["proposals"], expected);
    let count = element(&screen, "Count: 1");
    let place = json!({"session": session, "generation": screen["generation"], "element": count["index"]});
    let found = page.call("Inspect", place.clone());
    let offered: Vec<&str> =
        found["assertions"].as_array().expect("assertions").iter().filter_map(|one| one["text"].as_str()).collect();
    assert_eq!(offered, ["\"Count: 1\" is visible", "count says \"Count: 1\""]);
    assert_eq!(act(&place, json!({"action": "assert", "assertion": 1}))["isDone"], true);
    let mut steps = page.watch("steps", &session);
    let shown = steps.until("the steps", |steps| texts(steps).len() == 3);
    assert_eq!(texts(&shown), ["Start the app", "Tap \"Add one\"", "count says \"Count: 1\""]);
    let kinds: Vec<&Value> = shown["steps"].as_array().expect("steps").iter().map(|step| &step["kind"]).collect();
    assert_eq!(kinds, ["trailhead", "step", "verify"]);
    let save = json!({"session": session, "path": "trails/pointed.trail.yaml", "title": "Pointed at"});
    assert_eq!(page.call("SaveTrail", save.clone())["exists"], false);
    assert_eq!(page.call("SaveTrail", save)["exists"], true, "an existing trail is not replaced without a word");
    let saved = steps.until("that it is saved", |steps| steps["savedAs"] == "trails/pointed.trail.yaml");
    assert_eq!(saved["lost"], "");
    let replayed = page.call("ReplaySteps", json!({"session": session}));
    assert_eq!((&replayed["isDone"], &replayed["text"]), (&json!(true), &json!("replayed 3 steps")), "{replayed:#}");
    home.run(&["run", "trails/pointed.trail.yaml"]).exits(0);
}

#[test]
fn a_click_on_a_screen_that_is_gone_is_refused() {
    let home = Home::counter();
    let (page, session) = on_counter(&home);
    let screen = page.watch("screen", &session).until("the counter", |screen| has(screen, "Add one"));
    let count = element(&screen, "Count: 0")["index"].clone();
    let add = element(&screen, "Add one")["index"].clone();
    let generation = screen["generation"].clone();
    let act = |element: &Value, generation: &Value, x: i64| {
        let params = json!({
            "session": session, "generation": generation, "element": element, "x": x, "y": 5, "action": "tap"
        });
        page.call("Act", params)
    };
    // Another client changes the screen.
    home.run(&["tool", "tap", "id=add"]).exits(0);
    let refused = act(&count, &generation, 5);
    assert_eq!((&refused["isDone"], &refused["isStale"]), (&json!(false), &json!(true)), "{refused:#}");
    assert!(refused["text"].as_str().expect("text").contains("nothing was done"), "{refused:#}");
    assert_eq!(act(&json!(-1), &generation, 5)["isStale"], true, "a point of another screen");
    assert_eq!(act(&add, &json!(999), 5)["isStale"], true, "a screen that never was");
    // What is still there can still be meant.
    assert_eq!(act(&add, &generation, 5)["isDone"], true);
    let snapshot = home.run(&["snapshot"]).exits(0).stdout;
    assert!(snapshot.contains("Count: 2"), "{snapshot}");
    assert_eq!(page.call("Inspect", json!({"session": session, "generation": 999, "element": 0}))["isStale"], true);
}

#[test]
fn calls_and_values_are_read_as_in_a_trail() {
    let home = Home::counter();
    let page = open(&home, &[]);
    for (asked, value) in [
        (
            json!({"text": "- tap: {id: add}\n- getCount:\n  as: n", "isCalls": true}),
            json!([{"tap": {"id": "add"}}, {"getCount": {}, "as": "n"}]),
        ),
        (json!({"text": "[1, yes please]"}), json!([1, "yes please"])),
    ] {
        assert_eq!(page.call("ReadYaml", asked), json!({"value": value, "problem": ""}));
    }
    let refused = page.call("ReadYaml", json!({"text": "- back:\n- tap: add", "isCalls": true}));
    assert!(
        refused["problem"].as_str().is_some_and(|problem| problem.starts_with("line 2: the arguments of `tap`")),
        "{refused:#}"
    );
}

#[test]
fn steps_are_edited_undone_and_redone_and_two_pages_do_not_overwrite_each_other() {
    let home = Home::counter();
    let (page, session) = on_counter(&home);
    let tap = json!({"session": session, "tool": "tap", "arguments": {"id": "add"}, "text": ""});
    for _ in 0..2 {
        assert_eq!(page.call("CallStudioTool", tap.clone())["isDone"], true);
    }
    let mut watch = page.watch("steps", &session);
    let shown = watch.until("the steps", |steps| texts(steps).len() == 3);
    assert_eq!(texts(&shown), ["Start the app", "tap: id \"add\"", "tap: id \"add\""]);
    assert_eq!(shown["steps"][1]["written"], json!(["tap: {id: add}"]));
    let mut steps = shown["steps"].clone();
    steps[1]["text"] = "Add one".into();
    steps[2]["text"] = "Add another".into();
    let moved = json!([steps[0], steps[2], steps[1], {"kind": "verify", "text": "It is two"}]);
    let edit = |revision: &Value, steps: &Value| {
        page.call("EditSteps", json!({"session": session, "revision": revision, "steps": steps}))
    };
    assert_eq!(edit(&shown["revision"], &moved)["isDone"], true);
    let late = edit(&shown["revision"], &steps);
    assert_eq!((&late["isDone"], &late["isStale"]), (&json!(false), &json!(true)), "{late:#}");
    let shown = watch.until("the edit", |steps| texts(steps).len() == 4);
    assert_eq!(texts(&shown), ["Start the app", "Add another", "Add one", "It is two"]);
    assert_eq!(shown["steps"][3]["needsModel"], true);
    // Every page sees the same.
    let other = open(&home, &[]);
    let seen = other.watch("steps", &session).next().expect("steps");
    assert_eq!(texts(&seen), texts(&shown));
    // What is done next comes behind the edited steps.
    assert_eq!(page.call("CallStudioTool", tap)["isDone"], true);
    let shown = watch.until("one more", |steps| texts(steps).len() == 5);
    assert_eq!(texts(&shown)[3..], ["It is two", "tap: id \"add\""]);
    let undo = |revision: &Value, redo: bool| {
        page.call("UndoSteps", json!({"session": session, "revision": revision, "redo": redo}))
    };
    assert_eq!(undo(&shown["revision"], false)["isDone"], true);
    let shown = watch.until("the undo", |steps| texts(steps).len() == 4);
    assert_eq!(undo(&shown["revision"], false)["isDone"], true);
    let shown = watch.until("another undo", |steps| texts(steps).len() == 3);
    assert_eq!(texts(&shown)[1..], ["tap: id \"add\"", "tap: id \"add\""]);
    assert_eq!(undo(&shown["revision"], true)["isDone"], true);
    let shown = watch.until("the redo", |steps| texts(steps).len() == 4);
    assert_eq!(texts(&shown), ["Start the app", "Add another", "Add one", "It is two"]);
    for (steps, problem) in [
        (json!([{"text": " "}]), "needs words"),
        (json!([{"text": "a", "calls": ["tap"]}]), "a call is an object with one key"),
        (json!([{"text": "a", "calls": [{"tup": {}}]}]), "unknown tool `tup`"),
        (json!([{"text": "a"}, {"text": "b", "kind": "trailhead"}]), "only the first step can be one"),
    ] {
        let refused = edit(&shown["revision"], &steps);
        assert!(refused["text"].as_str().is_some_and(|text| text.contains(problem)), "{refused:#}");
    }
    // The edited steps are those of every other client too.
    let listed = home.run(&["session", "show"]).exits(0).stdout;
    assert!(listed.contains("1. Add another\n") && listed.contains("3. verify: It is two"), "{listed}");
    assert!(home.run(&["session", "undo"]).exits(0).stdout.contains("It is two"));
}

#[test]
fn a_search_tries_selectors_and_texts() {
    let home = Home::counter();
    let (page, session) = on_counter(&home);
    let screen = page.watch("screen", &session).until("the counter", |screen| has(screen, "Add one"));
    let search = |selector: &str| page.call("TrySelector", json!({"session": session, "selector": selector}));
    let add = &element(&screen, "Add one")["index"];
    for selector in ["add one", "{id: add}", "{\"text\": \"Add one\"}", "androidAccessibility: {textRegex: Add.*}"] {
        let found = search(selector);
        assert_eq!((&found["elements"], &found["problem"]), (&json!([add]), &json!("")), "{selector}: {found:#}");
    }
    assert_eq!(search("nothing like it")["elements"], json!([]));
    let wrong = search("androidAccessibility: {textRegx: a}");
    assert!(wrong["problem"].as_str().is_some_and(|problem| problem.contains("did you mean `textRegex`")), "{wrong:#}");
}

#[test]
fn tools_memory_and_the_log_are_shown() {
    let home = Home::new(Project::wallet());
    let (page, session) = on_session(&home, &["-d", "android/sim-1"]);
    let palette = page.call("ListPalette", json!({"session": session}));
    let tools = palette["tools"].as_array().expect("tools");
    let sign_in = tools.iter().find(|tool| tool["name"] == "wallet_signIn").expect("a tool of the team");
    assert_eq!((&sign_in["isCustom"], &sign_in["schema"]["type"]), (&json!(true), &json!("object")), "{sign_in:#}");
    let call = |tool: &str, arguments: Value| {
        page.call("CallStudioTool", json!({"session": session, "tool": tool, "arguments": arguments}))
    };
    assert_eq!(call("remember", json!({"variable": "friend", "value": "Grace"}))["isDone"], true);
    let failed = call("tap", json!({"text": "Nowhere", "timeoutMs": 0}));
    assert_eq!(failed["isDone"], false, "{failed:#}");
    let unknown = call("nothing", json!({}));
    assert!(unknown["text"].as_str().is_some_and(|text| text.contains("unknown tool `nothing`")), "{unknown:#}");
    let memory = page.watch("steps", &session);
    let shown = { memory }.until("the memory", |steps| steps["memory"]["friend"] == "Grace");
    assert_eq!(texts(&shown), ["remember: variable \"friend\", value \"Grace\""], "what failed is no step");
    let mut log = page.watch("log", &session);
    let first = log.next().expect("the log");
    assert_eq!(first["isReset"], true);
    let entries = first["entries"].as_array().expect("entries");
    let of =
        |title: &str| entries.iter().rfind(|entry| entry["title"].as_str().is_some_and(|text| text.starts_with(title)));
    assert_eq!(of("remember").expect("a call")["level"], "ok");
    assert_eq!(of("tap").expect("a call")["level"], "error");
}

#[test]
fn a_secret_is_in_nothing_that_a_page_gets() {
    let home = Home::counter();
    let secret = "hunter-4711";
    let run = home.run_with(
        &["studio", "--json", "-d", "android/sim-1", "--launch", "com.example.counter", "--secret", "TOKEN"],
        &[("TOKEN", secret)],
    );
    let address = run.exits(0).json()["address"].as_str().expect("an address").to_string();
    let mut page = Page::at(&address);
    assert_eq!(page.enter(), 204);
    let session = page.session();
    let mut told = Vec::new();
    for arguments in [json!({"variable": "a", "value": "{{TOKEN}}"}), json!({"variable": "b", "value": secret})] {
        told.push(page.call("CallStudioTool", json!({"session": session, "tool": "remember", "arguments": arguments})));
    }
    told.push(page.call("CallStudioTool", json!({"session": session, "tool": "dumpMemory"})));
    let mut steps = page.watch("steps", &session);
    told.push(steps.until("the memory", |steps| steps["memory"].get("b").is_some()));
    told.push(page.watch("log", &session).next().expect("the log"));
    told.push(page.watch("screen", &session).next().expect("the screen"));
    told.push(page.follow("WatchWorkspace", json!({})).next().expect("the workspace"));
    for message in told {
        assert!(!message.to_string().contains(secret), "{message:#}");
    }
}

#[test]
fn a_session_that_ends_ends_its_streams_and_a_lost_device_is_told() {
    let home = Home::counter();
    let (page, session) = on_counter(&home);
    let mut screens = page.watch("screen", &session);
    screens.until("the counter", |screen| has(screen, "Add one"));
    let mut steps = page.watch("steps", &session);
    assert!(steps.next().is_some());
    home.run(&["session", "close"]).exits(0);
    while screens.next().is_some() {}
    while steps.next().is_some() {}
    let (code, message) = page.try_call("Inspect", json!({"session": session})).expect_err("it has ended");
    assert!(code == "not_found" && message.contains("no session is named"), "{code}: {message}");
    let page = open(&home, &[]);
    let opened = page.call("OpenSession", json!({"device": "android/sim-1"}));
    assert_eq!(opened["session"], session.as_str());
    let closed = page.call("CloseSession", json!({"session": session}));
    assert_eq!(closed["text"], format!("ended session `{session}`"));
}

#[test]
fn a_trail_is_edited_unless_it_changed_on_disk() {
    let home = Home::counter();
    let page = open(&home, &[]);
    home.run(&["batch", "step 'Add one'", "launchApp packageId=com.example.counter", "tap id=add"]).exits(0);
    home.run(&["session", "save", "trails/one.trail.yaml"]).exits(0);
    let path = json!({"path": "trails/one.trail.yaml"});
    let read = page.call("ReadTrail", path.clone());
    let text = read["text"].as_str().expect("text").to_string();
    let write = |text: &str, digest: &Value| {
        page.call("WriteTrail", json!({"path": "trails/one.trail.yaml", "text": text, "digest": digest}))
    };
    let wrong = write("config: [", &read["digest"]);
    assert!(wrong["isRefused"] == true && !wrong["problems"].as_array().expect("problems").is_empty(), "{wrong:#}");
    let edited = text.replace("Add one", "Add it");
    let written = write(&edited, &read["digest"]);
    assert_eq!(
        (&written["isRefused"], written["text"].as_str()),
        (&json!(false), Some(edited.as_str())),
        "{written:#}"
    );
    let late = write(&text, &read["digest"]);
    assert_eq!((&late["isRefused"], late["text"].as_str()), (&json!(true), Some(edited.as_str())), "{late:#}");
    assert_eq!(home.project.read("trails/one.trail.yaml"), edited);
    let outside = page.try_call("ReadTrail", json!({"path": "../../outside.trail.yaml"})).expect_err("outside");
    assert_eq!(outside.0, "failed_precondition", "{}", outside.1);
}
