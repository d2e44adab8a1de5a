//! What a session is for: calls over several commands, a trail of any stretch of them, one session per device.

use super::programs::write_typescript;
use crate::support::home::Home;
use crate::support::{repository, wait_until};
use crate::tool_servers::scripts::{tool, with_tool};

const LAUNCH: &[&str] = &["tool", "launchApp", "packageId=com.example.counter"];

#[test]
fn a_device_stays_open_between_commands() {
    let home = Home::counter();
    let first = home.run(LAUNCH).exits(0);
    assert!(first.stderr.contains("opened session"), "{}", first.stderr);
    home.run(&["tool", "tap", "id=add"]).exits(0);
    let second = home.run(&["tool", "tap", "id=add"]).exits(0);
    assert_eq!(second.stderr, "", "nothing is opened again");
    let snapshot = home.run(&["snapshot"]).exits(0).stdout;
    assert!(snapshot.contains("Count: 2"), "{snapshot}");
    let changes = home.run(&["snapshot", "--changes"]).exits(0).stdout;
    assert_eq!(changes.trim(), "(nothing changed)");
    let found = home.run(&["snapshot", "--find", "add"]).exits(0).stdout;
    assert!(found.contains("Add one") && !found.contains("Count: 2"), "{found}");
    let list = home.run(&["session", "list", "--json"]).exits(0).json();
    assert_eq!((list.as_array().map(Vec::len), &list[0]["device"]), (Some(1), &"android/sim-1".into()), "{list:#}");
    let closed = home.run(&["session", "close"]).exits(0);
    assert!(closed.stderr.contains("recording.trail.yaml"), "{}", closed.stderr);
    home.project.last_run().assert_finished(0);
    assert!(home.run(&["session", "list"]).exits(0).stdout.is_empty());
}

#[test]
fn any_stretch_of_a_session_becomes_a_trail_that_replays() {
    let home = Home::counter();
    let batch = home.run(&[
        "batch",
        "step 'Start'",
        "launchApp packageId=com.example.counter",
        "step 'Add one'",
        "tap id=add",
        "step 'Add another'",
        "tap id=add",
        "verify 'It is two'",
        "assertVisible id=count text='Count: 2'",
    ]);
    batch.exits(0);
    let shown = home.run(&["session", "show"]).exits(0).stdout;
    insta::assert_snapshot!(shown, @r#"
    trailhead: Start
       launchApp {"packageId":"com.example.counter"}
    1. Add one
       tap {"id":"add"}
    2. Add another
       tap {"id":"add"}
    3. verify: It is two
       assertVisible {"id":"count","text":"Count: 2"}
    "#);
    home.run(&["session", "save", "trails/whole.trail.yaml"]).exits(0);
    home.run(&["session", "save", "trails/part.trail.yaml", "--to", "1"]).exits(0);
    let part = home.project.read("trails/part.trail.yaml");
    assert!(part.contains("Add one") && !part.contains("Add another"), "{part}");
    home.run(&["run", "trails"]).exits(0);
    let refused = home.run(&["session", "save", "trails/none.trail.yaml", "--from", "3", "--to", "9"]).exits(3);
    assert!(refused.stderr.contains("there are no steps 3 to 9; the session has 3 steps"), "{}", refused.stderr);
    // On the session's own device, and on another one.
    home.run(&["session", "replay"]).exits(0);
    let elsewhere = home.run(&["session", "replay", "--on", "android/sim-2", "--json"]).exits(0).json();
    assert_eq!(elsewhere["summary"]["counts"]["passed"], 1, "{elsewhere:#}");
    // A replay adds no steps, and the session goes on.
    assert_eq!(home.run(&["session", "show"]).exits(0).stdout, shown);
    let undone = home.run(&["session", "undo"]).exits(0).stdout;
    assert!(undone.contains("undid step \"It is two\""), "{undone}");
    assert_eq!(home.run(&["session", "show", "--json"]).exits(0).json()["answer"].as_array().map(Vec::len), Some(3));
    home.run(&["tool", "tap", "id=add"]).exits(0);
}

#[test]
fn a_replay_that_fails_says_where() {
    let home = Home::counter();
    let check = "assertVisible text='Count: 1' timeoutMs=10";
    home.run(&["batch", "launchApp packageId=com.example.counter", "tap id=add", check]).exits(0);
    // The app goes on where it is, so it is 2 now.
    home.run(&["session", "undo", "--call"]).exits(0);
    home.run(&["batch", "verify 'It is still one'", check]).exits(0);
    let failed = home.run(&["session", "replay", "--from", "1"]).exits(1);
    assert!(failed.stderr.contains("It is still one"), "{}", failed.stderr);
}

#[test]
fn a_batch_stops_at_the_first_failure_and_runs_nothing_if_a_line_is_wrong() {
    let home = Home::counter();
    let wrong = home.run(&["batch", "launchApp packageId=com.example.counter", "tap Pay"]).exits(3);
    assert!(wrong.stderr.contains("command 2: expected an argument as name=value, got `Pay`; nothing was run"));
    assert!(home.run(&["session", "list"]).exits(0).stdout.is_empty());
    let lines = ["launchApp packageId=com.example.counter", "assertVisible text=Nothing timeoutMs=100", "tap id=add"];
    let failed = home.run(&[&["batch", "--json"], lines.as_slice()].concat()).exits(1);
    assert_eq!(failed.json_lines().len(), 2, "{}", failed.stdout);
    assert!(failed.stderr.contains("1 command not run"), "{}", failed.stderr);
}

#[test]
fn a_device_has_one_session_unless_it_is_taken_over() {
    let home = Home::counter();
    home.run(&["device", "connect", "--session", "ada"]).exits(0);
    let refused = home.run(&["device", "connect", "--session", "bob"]).exits(3);
    assert!(refused.stderr.contains("android/sim-1 is used by session `ada`"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--take-over"), "{}", refused.stderr);
    home.run(&["device", "connect", "--session", "bob", "--take-over"]).exits(0);
    let unknown = home.run(&["session", "show", "--session", "ada"]).exits(3);
    assert!(unknown.stderr.contains("no session is named `ada`"), "{}", unknown.stderr);
    // Another device, another session; the name says which is meant.
    home.run(&["device", "connect", "-d", "android/sim-2"]).exits(0);
    let several = home.run(&["snapshot"]).exits(3);
    assert!(several.stderr.contains("2 sessions are open: `bob`"), "{}", several.stderr);
    home.run(&["snapshot", "--session", "bob"]).exits(0);
    home.run_with(&["snapshot"], &[("TRAILBLAZE_SESSION", "bob")]).exits(0);
    home.run(&["snapshot", "-d", "android/sim-2"]).exits(0);
    let other = home.run(&["snapshot", "--session", "bob", "-d", "ios/sim-1"]);
    assert_eq!(other.code, Some(0), "a name decides");
    let options = home.run(&["tool", "tap", "id=add", "--session", "bob", "--memory", "a=b"]).exits(3);
    assert!(options.stderr.contains("session `bob` is open already, without this `--memory`"), "{}", options.stderr);
    home.run(&["session", "close", "--all"]).exits(0);
    assert!(home.run(&["session", "list"]).exits(0).stdout.is_empty());
}

#[test]
fn tools_are_hot_swapped_while_a_session_is_open() {
    let home = Home::counter();
    let tool = |text: &str| {
        home.project.write(
            "trailblaze-config/tools/again.tool.yaml",
            format!("id: again\ndescription: Add.\nparameters: []\ntools:\n  - assertVisible: {{text: '{text}', timeoutMs: 0}}\n"),
        )
    };
    tool("Count: 0");
    home.run(LAUNCH).exits(0);
    home.run(&["tool", "again"]).exits(0);
    home.run(&["tool", "tap", "id=add"]).exits(0);
    tool("Count: 1");
    wait_until("the tool is swapped", || (home.run(&["tool", "again"]).code == Some(0)).then_some(()));
}

#[test]
fn programs_use_a_session_by_its_key() {
    let home = Home::counter();
    home.run(LAUNCH).exits(0);
    let access = home.run(&["session", "key", "key.txt", "--json"]).exits(0).json();
    let url = access["address"].as_str().expect("an address");
    let key = home.project.read("key.txt");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let client = trailblaze_client::Client::new(url).with_key(key.trim());
        client.tap().id("add").await.expect("it taps");
        assert!(client.is_visible().text("Count: 1").await.expect("it looks"));
    });
    // It is recorded with the rest.
    wait_until("the call is among the steps", || {
        home.run(&["session", "show"]).exits(0).stdout.contains("tap {\"id\":\"add\"}").then_some(())
    });
}

/// Clients send it their secrets. Trivially true for root, whom nothing is hidden from.
#[test]
#[cfg(target_os = "linux")]
fn the_memory_of_the_daemon_is_hidden_from_other_programs() {
    use std::os::unix::fs::MetadataExt;
    let home = Home::counter();
    home.run(&["device", "connect", "-d", "android/sim-1"]).exits(0);
    let facts = std::fs::metadata(format!("/proc/{}/environ", home.pid())).expect("it runs");
    assert_eq!(facts.uid(), 0);
}

#[test]
fn a_name_belongs_to_a_project() {
    let home = Home::counter();
    home.run(&["tool", "launchApp", "packageId=com.example.counter", "--session", "ci"]).exits(0);
    home.project.write("other/counter.app.yaml", home.project.read("counter.app.yaml"));
    for (path, text) in [("trailblaze.yaml", "sim:\n  apps: [counter.app.yaml]\n"), ("trails/.keep", "")] {
        home.project.write(&format!("other/{path}"), text);
    }
    let other = home.run(&["-C", "other", "snapshot", "--session", "ci"]).exits(0);
    assert!(other.stderr.contains("opened session `ci`") && !other.stdout.contains("Count: 0"), "{other:?}");
    assert!(home.run(&["snapshot", "--session", "ci"]).exits(0).stdout.contains("Count: 0"));
    home.run(&["-C", "other", "session", "close", "ci"]).exits(0);
    assert!(home.run(&["snapshot", "--session", "ci"]).exits(0).stdout.contains("Count: 0"));
    let refused = home.run(&["device", "connect", "--session", "../../x y"]).exits(3);
    assert!(refused.stderr.contains("is not the name of a session"), "{}", refused.stderr);
}

#[test]
fn taking_over_says_what_ended_and_where_its_steps_are() {
    let home = Home::counter();
    home.run(LAUNCH).exits(0);
    let taken = home.run(&["device", "connect", "--take-over"]).exits(0);
    assert!(
        taken.stderr.contains("ended session") && taken.stderr.contains("recording.trail.yaml"),
        "{}",
        taken.stderr
    );
    assert!(taken.stdout.starts_with("opened session"), "{}", taken.stdout);
}

#[test]
fn what_is_wrong_with_a_changed_tool_is_told() {
    let home = Home::counter();
    let path = "trailblaze-config/tools/again.tool.yaml";
    home.project.write(path, "id: again\ndescription: Add.\nparameters: []\ntools:\n  - tap: {id: add}\n");
    home.run(LAUNCH).exits(0);
    home.project.write(path, "id: again\ndescription: Add.\nparameters: []\ntools: 5\n");
    wait_until("the mistake is told", || {
        home.run(&["snapshot"]).exits(0).stderr.contains("again.tool.yaml").then_some(())
    });
}

#[test]
fn closing_a_session_cancels_its_call() {
    let home = Home::counter();
    home.run(LAUNCH).exits(0);
    let mut waiting = home.command(&["tool", "assertVisible", "text=Never", "timeoutMs=600000"]);
    waiting.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = waiting.spawn().expect("it starts");
    home.wait_for_call("assertVisible");
    home.run(&["session", "close"]).exits(0);
    let ended = home.project.ran(child.wait_with_output().expect("it ends"));
    assert!(ended.code == Some(2) && ended.stderr.contains("cancelled"), "{ended:?}");
}

#[test]
fn a_mistake_in_a_tool_file_is_told_until_it_is_mended() {
    let home = Home::new(with_tool("return 'one';"));
    let call = |words: &str| {
        let called = home.run(&["tool", "tryIt", "-d", "android/sim-1"]);
        assert!(format!("{}{}", called.stdout, called.stderr).contains(words), "{}{}", called.stdout, called.stderr);
        called.stderr
    };
    call("one");
    let file = "trailblaze-config/tools/tryIt.yaml";
    home.project.write(file, tool("tryIt", "return 'one' +;"));
    call("tryIt.yaml:7:");
    home.project.write(file, tool("tryIt", "return 'two';"));
    let told = call("two");
    assert!(!told.contains("tryIt.yaml:"), "{told}");
}

/// A session with a server in the engine, whose file begins with this code.
fn with_server(code: &str) -> Option<Home> {
    crate::support::lab::parts()?;
    let home = Home::counter();
    let server = "sim:\n  apps: [counter.app.yaml]\nmcpServers:\n  acme: {script: tools/acme.ts, runtime: embedded}\n";
    home.project.write("trailblaze.yaml", server);
    write_typescript(&home, "tools/acme.ts", &acme(code));
    Some(home)
}

fn acme(code: &str) -> String {
    let say = "tool('acme_say', { description: 'Says it.' }, () => 'one');";
    format!("import {{ run, tool }} from '@trailblaze/scripting';\n{code}\n{say}\nrun();\n")
}

#[test]
fn a_call_that_says_why_a_new_version_of_a_server_is_broken_is_the_only_one_to_say_it() {
    let Some(home) = with_server("") else { return };
    assert_eq!(home.run(&["tool", "acme_say"]).exits(0).stdout, "one\n");
    home.project.write("tools/acme.ts", acme("throw new Error('half an edit');"));
    let failed = home.run(&["tool", "acme_say"]).exits(1);
    let said = format!("{}{}", failed.stdout, failed.stderr);
    assert_eq!(said.matches("half an edit").count(), 1, "{said}");
    let other = home.run(&["snapshot"]).exits(0);
    assert!(!other.stderr.contains("half an edit"), "{}", other.stderr);
    home.project.write("tools/acme.ts", acme("throw new Error('another half');"));
    let other = home.run(&["tool", "launchApp", "packageId=com.example.counter"]).exits(0);
    assert_eq!(other.stderr.matches("another half").count(), 1, "{}", other.stderr);
}

#[test]
fn what_fails_between_two_commands_is_told_with_the_next() {
    let home = Home::counter();
    let script = repository().join("crates/trailblaze/tests/servers/hostile.py");
    let args = format!("['{}', fails_when_told, rogue]", script.display());
    let server =
        format!("sim:\n  apps: [counter.app.yaml]\nmcpServers:\n  rogue:\n    command: python3\n    args: {args}\n");
    home.project.write("trailblaze.yaml", server);
    assert_eq!(home.run(&["tool", "rogue_act", "-d", "android/sim-1"]).exits(0).stderr.matches("not paid").count(), 0);
    home.project.write("told", "");
    let told = wait_until("the failure is told", || {
        let told = home.run(&["snapshot"]).exits(0).stderr;
        told.contains("not paid (orders.go:42)").then_some(told)
    });
    assert_eq!(told.matches("not paid").count(), 1, "{told}");
    assert!(!home.run(&["snapshot"]).exits(0).stderr.contains("not paid"), "it is told once");
}

#[test]
fn a_changed_entry_of_a_server_takes_effect_when_the_session_is_opened_again() {
    let Some(home) = with_server("") else { return };
    assert_eq!(home.run(&["tool", "acme_say"]).exits(0).stdout, "one\n");
    let entry = home.project.read("trailblaze.yaml");
    let said = || home.run(&["tool", "acme_say"]).exits(0).stderr;
    let about = "the entry of server `acme`";
    home.project.write("trailblaze.yaml", format!("# A comment.\n{entry}"));
    assert!(!said().contains(about), "only its place is another one");
    home.project.write("trailblaze.yaml", entry.replace("embedded}", "embedded, callTimeout: 5s}"));
    let changed = format!("{about} changed (trailblaze.yaml:4:3); it takes effect when the session is opened again");
    let told = said();
    assert_eq!(told.matches(&changed).count(), 1, "{told}");
    assert!(!said().contains(about), "it is told once");
    home.project.write("trailblaze.yaml", &entry);
    assert!(!said().contains(about), "it is as before");
}
