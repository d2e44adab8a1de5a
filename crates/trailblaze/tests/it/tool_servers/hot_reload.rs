//! Tools that their author edits while they are at work: `shell --watch` and `run --watch` swap them.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::support::lab::{Lab, Runtime, python};
use crate::support::{PATIENCE, RunFolder, Running, repository, wait_until};
use serde_json::{Value, json};

const ACME: &str = include_str!("../../servers/acme.ts");

/// The server that says this word.
fn saying(word: &str) -> String {
    ACME.replace("@WORD@", word)
}

/// A project with the server, which says `one`.
fn acme() -> Option<Lab> {
    let lab = Lab::under(Runtime::Node)?;
    lab.configured("mcpServers:\n  acme: {script: tools/acme.ts}\n");
    lab.with("tools/acme.ts", &saying("one"));
    Some(lab)
}

/// How many processes of a server are running.
fn alive(lab: &Lab, script: &str) -> usize {
    lab.alive().iter().filter(|line| line.contains(script)).count()
}

/// A tool author at `shell --watch`.
struct Author<'l> {
    lab: &'l Lab,
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<Value>,
    heard: Arc<Mutex<String>>,
}

impl Author<'_> {
    fn at<'l>(lab: &'l Lab, args: &[&str]) -> Author<'l> {
        Author::of_shell(lab, &[&["--watch"], args].concat())
    }

    fn of_shell<'l>(lab: &'l Lab, args: &[&str]) -> Author<'l> {
        let mut command = lab.command(&[&["shell", "--json", "-d", "android/sim-1"], args].concat());
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the program starts");
        let (send, answers) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("its output is ours"));
        std::thread::spawn(move || {
            let parse = |line: String| serde_json::from_str(&line).unwrap_or_else(|_| json!({"broken": line}));
            stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(parse(line)))
        });
        let heard = Arc::new(Mutex::new(String::new()));
        let mut stderr = child.stderr.take().expect("its talk is ours");
        std::thread::spawn({
            let heard = Arc::clone(&heard);
            move || {
                let mut buffer = [0; 4096];
                while let Ok(n @ 1..) = stderr.read(&mut buffer) {
                    heard.lock().expect("a lock").push_str(&String::from_utf8_lossy(&buffer[..n]));
                }
            }
        });
        let stdin = child.stdin.take().expect("its input is ours");
        Author { lab, child, stdin, answers, heard }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").expect("the shell reads");
    }

    #[track_caller]
    fn answer(&self) -> Value {
        self.answers.recv_timeout(PATIENCE).expect("the shell answers")
    }

    /// What the shell answers: a tool's text, or the error.
    #[track_caller]
    fn ask(&mut self, line: &str) -> String {
        self.say(line);
        text(&self.answer())
    }

    fn heard(&self) -> String {
        self.heard.lock().expect("a lock").clone()
    }

    /// Waits until these words were said, and takes all that was said.
    #[track_caller]
    fn hears(&self, words: &str) -> String {
        wait_until(&format!("somebody says `{words}`"), || self.heard().contains(words).then_some(()));
        std::mem::take(&mut *self.heard.lock().expect("a lock"))
    }

    /// Leaves; nothing is left behind.
    #[track_caller]
    fn leaves(mut self) -> RunFolder {
        self.say("quit");
        wait_until("the shell ends", || self.child.try_wait().expect("it can be waited for"));
        self.lab.assert_none_left();
        let run = self.lab.project.last_run();
        assert_eq!(run.summary()["leakedProcesses"], 0);
        run
    }
}

impl Drop for Author<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the shell said\n{}", self.heard());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(answer: &Value) -> String {
    let text = if answer["ok"] == true { &answer["answer"]["text"] } else { &answer["error"] };
    text.as_str().map_or_else(|| answer.to_string(), str::to_string)
}

#[test]
fn a_call_in_flight_ends_on_the_old_server_and_the_next_one_is_for_the_new() {
    let Some(lab) = acme() else { return };
    let mut author = Author::at(&lab, &[]);
    assert_eq!(author.ask("acme_say"), "one");
    author.say("acme_wait");
    wait_until("the call is at work", || lab.project.root().join("tools/waiting").exists().then_some(()));
    let next = saying("two")
        .replace("/*@PROPERTIES@*/", "loud: { type: 'boolean' }")
        .replace("/*@TOOLS@*/", ", tool('acme_more')");
    lab.with("tools/acme.ts", &next);
    let said = author.hears("`acme_say`: schema changed (added `loud`)\n");
    assert!(said.contains("server `acme` was swapped:\n  added `acme_more`\n"), "{said}");
    assert_eq!(alive(&lab, "tools/acme.ts"), 2, "one for the call in flight, one for what comes");
    lab.with("tools/go", "");
    assert_eq!(text(&author.answer()), "one", "the call ends where it began");
    assert_eq!(author.ask("acme_say loud=true"), "two");
    assert_eq!(author.ask("acme_more"), "two");
    wait_until("the old server is gone", || (alive(&lab, "tools/acme.ts") == 1).then_some(()));
    let run = author.leaves();
    assert_eq!(run.mentions("was swapped"), 1, "the record has it too");
    assert_eq!(
        (run.mentions("\"serverStarted\""), run.mentions("\"serverEnded\"")),
        (2, 2),
        "{}",
        run.text("events.jsonl")
    );
}

#[test]
fn a_broken_edit_fails_the_calls_of_its_tools_and_a_mended_one_swaps() {
    let Some(lab) = acme() else { return };
    let mut author = Author::at(&lab, &[]);
    assert_eq!(author.ask("acme_say"), "one");
    lab.with("tools/acme.ts", "throw new Error('half an edit');\n");
    let said = author.hears("half an edit");
    assert!(
        said.contains("warning: server `acme` was not swapped: it exited with code 1 before it answered"),
        "{said}"
    );
    let failed = author.ask("acme_say");
    let expected =
        "server `acme` changed, and its new version cannot be used: it exited with code 1 before it answered";
    assert!(failed.contains(expected) && failed.contains("half an edit"), "{failed}");
    // Some editors write a new file and rename it over the old one.
    lab.with("tools/.acme.ts.new", &saying("two"));
    std::fs::rename(lab.path("tools/.acme.ts.new"), lab.path("tools/acme.ts")).expect("a rename");
    author.hears("server `acme` was swapped: its list of tools is unchanged\n");
    assert_eq!(author.ask("acme_say"), "two");
    author.leaves();
}

#[test]
fn a_toolset_in_the_engine_is_swapped_too() {
    let Some(lab) = Lab::under(Runtime::Nothing) else { return };
    lab.configured("mcpServers:\n  acme: {script: tools/acme.ts, runtime: embedded}\n");
    let saying = |word: &str| {
        format!(
            "import {{ run, tool }} from '@trailblaze/scripting';\nimport {{ name }} from './name.ts';\n\
             let n = 0;\ntool('acme_say', {{ description: 'Says it.' }}, () => `${{name}} {word} ${{++n}}`);\nrun();\n"
        )
    };
    lab.with("tools/acme.ts", &saying("one")).with("tools/name.ts", "export const name = 'a';\n");
    let mut author = Author::at(&lab, &[]);
    assert_eq!(author.ask("acme_say"), "a one 1");
    assert_eq!(author.ask("acme_say"), "a one 2");
    lab.with("tools/name.ts", "export const name = ;\n");
    let said = author.hears("(imported by tools/acme.ts:2:22)");
    assert!(said.contains("warning: server `acme` was not swapped: it cannot run in the script engine:"), "{said}");
    assert!(said.contains("tools/name.ts:1:21: "), "{said}");
    assert!(author.ask("acme_say").contains("tools/name.ts:1:21: "));
    lab.with("tools/name.ts", "export const name = 'b';\n");
    author.hears("server `acme` was swapped: its list of tools is unchanged\n");
    assert_eq!(author.ask("acme_say"), "b one 1");
    lab.with(
        "tools/acme.ts",
        &saying("two").replace("run();", "tool('acme_more', { description: '' }, () => 'more');\nrun();"),
    );
    author.hears("server `acme` was swapped: added `acme_more`\n");
    assert_eq!(author.ask("acme_more"), "more");
    author.leaves();
}

#[test]
fn a_tool_that_an_edit_removed_is_unknown() {
    let Some(lab) = acme() else { return };
    let mut author = Author::at(&lab, &[]);
    assert_eq!(author.ask("acme_say"), "one");
    lab.with("tools/acme.ts", &saying("two").replace("tool('acme_wait'), ", ""));
    author.hears("server `acme` was swapped: removed `acme_wait`\n");
    let refused = author.ask("acme_wait");
    assert!(refused.starts_with("unknown tool `acme_wait`"), "{refused}");
    assert_eq!(author.ask("acme_say"), "two");
    author.leaves();
}

#[test]
fn a_server_that_died_comes_back_with_the_next_edit_or_call() {
    let Some(lab) = acme() else { return };
    let mut author = Author::at(&lab, &[]);
    let died = author.ask("acme_die");
    assert!(died.contains("exited with code 3"), "{died}");
    lab.with("tools/acme.ts", &saying("two"));
    assert_eq!(author.ask("acme_say"), "two");
    assert!(author.ask("acme_die").contains("exited with code 3"));
    author.say("launchApp packageId=com.example.counter");
    assert_eq!(author.answer()["ok"], true, "other tools work");
    assert_eq!(author.ask("acme_say"), "two");
    author
        .hears("warning: server `acme`: it died, and was started again for this call; what it kept in memory is lost");
    author.leaves();
}

#[test]
fn a_server_that_keeps_dying_is_not_started_again_until_its_files_change() {
    let Some(lab) = acme() else { return };
    let mut author = Author::of_shell(&lab, &[]);
    for _ in 0..6 {
        assert!(author.ask("acme_die").contains("exited with code 3"));
    }
    let given_up = author.ask("acme_say");
    assert!(
        given_up.contains("it died 5 times within 5m and will not be restarted until its files change"),
        "{given_up}"
    );
    lab.with("tools/acme.ts", &saying("two"));
    author.ask("reloadTools");
    assert_eq!(author.ask("acme_say"), "two");
    author.leaves();
}

#[test]
fn a_new_version_that_did_not_start_is_tried_again_by_the_next_call() {
    let Some(lab) = acme() else { return };
    let mut author = Author::at(&lab, &[]);
    assert_eq!(author.ask("acme_say"), "one");
    // What it lacks is no source, so that nothing tells when it is there.
    let lacking = format!("{}\nif (!existsSync('parts')) throw new Error('no parts');\n", saying("two"));
    lab.with("tools/acme.ts", &lacking);
    assert!(author.ask("acme_say").contains("no parts"));
    lab.with("tools/parts", "");
    assert_eq!(author.ask("acme_say"), "two");
    author.leaves();
}

#[test]
fn a_call_says_once_for_each_change_that_its_server_was_built_from_older_sources() {
    let Some(lab) = Lab::under(Runtime::Nothing) else { return };
    let program = "tools/target/debug/tools";
    let server = repository().join("crates/trailblaze/tests/servers/parcels.py");
    let server = std::fs::read_to_string(server).expect("it is there");
    let python = repository().join(".parts/python/bin/python").canonicalize().expect("`scripts/parts` installs it");
    lab.with("tools/Cargo.toml", "").with("tools/src/main.rs", "");
    lab.with(program, &format!("#!{}\n{server}", python.display()));
    std::fs::set_permissions(lab.path(program), PermissionsExt::from_mode(0o755)).expect("it is ours");
    lab.configured(&format!("mcpServers:\n  built: {{command: {program}}}\n"));
    let mut author = Author::at(&lab, &[]);
    assert_eq!(author.ask("parcel_store"), "{}");
    assert_eq!(author.heard(), "");
    let source = std::fs::File::options().write(true).open(lab.path("tools/src/main.rs")).expect("it is there");
    let stale =
        format!("server `built`: `{program}` is older than `tools/src/main.rs`, so it has old code; run `cargo build");
    // Each change is told once.
    for change in 1..=2 {
        source.set_modified(SystemTime::now() + PATIENCE * change).expect("it is ours");
        for _ in 0..2 {
            assert_eq!(author.ask("parcel_store"), "{}");
        }
        let said = author.hears("so it has old code");
        assert_eq!(said.matches(&stale).count(), 1, "{said}");
    }
    author.leaves();
    // Others say it at once, although no trail calls its tools.
    lab.with("trails/a.trail.yaml", "trail:\n  - step: Wait\n    tools:\n      - dumpMemory: {}\n");
    for command in [&["check", "--offline"][..], &["check"], &["run"]] {
        let said = lab.project.run(command).exits(0).stderr;
        assert_eq!(said.matches(&stale).count(), 1, "{command:?}: {said}");
    }
    let said = lab.project.run(&["doctor"]).stdout;
    assert!(said.contains("so it has old code"), "{said}");
}

#[test]
fn a_server_that_is_being_started_again_is_taken_over_from() {
    let Some(lab) = acme() else { return };
    lab.configured("mcpServers:\n  acme: {script: tools/acme.ts, restart: on-failure}\n");
    let mut author = Author::at(&lab, &[]);
    assert_eq!(author.ask("acme_say"), "one");
    lab.with("tools/acme.ts", "throw new Error('half an edit');\n");
    author.hears("half an edit");
    lab.with("tools/acme.ts", &saying("two"));
    author.hears("server `acme` was swapped");
    assert_eq!(author.ask("acme_say"), "two");
    assert!(author.ask("acme_die").contains("exited with code 3"));
    assert_eq!(author.ask("acme_say"), "two", "it is started again as before");
    author.leaves();
}

#[test]
fn a_server_on_a_port_is_swapped_too() {
    let Some(lab) = Lab::new() else { return };
    let entry = python("talk").replace('}', ", multiDevice: http}");
    lab.fixture("talk.py").configured(&format!("mcpServers:\n  - {entry}\n"));
    let mut author = Author::at(&lab, &[]);
    assert_eq!(author.ask("talk_work"), "worked");
    lab.with("tools/talk.py", &lab.project.read("tools/talk.py").replace("\"worked\"", "\"worked well\""));
    author.hears("server `talk` was swapped: its list of tools is unchanged\n");
    assert_eq!(author.ask("talk_work"), "worked well");
    wait_until("the old server is gone", || (alive(&lab, "tools/talk.py") == 1).then_some(()));
    author.leaves();
}

/// An author whose last edit hangs as it starts, for longer than a test may take.
fn hanging(lab: &Lab) -> Author<'_> {
    lab.configured("mcpServers:\n  acme: {script: tools/acme.ts, startupTimeout: 10m}\n");
    let mut author = Author::at(lab, &[]);
    assert_eq!(author.ask("acme_say"), "one");
    let hanging =
        "import { writeFileSync } from 'node:fs';\nwriteFileSync('hanging', '');\nsetInterval(() => {}, 1000);\n";
    lab.with("tools/acme.ts", hanging);
    wait_until("the new one hangs", || lab.project.root().join("tools/hanging").exists().then_some(()));
    author
}

#[test]
fn leaving_while_a_server_starts_leaves_nothing_behind() {
    let Some(lab) = acme() else { return };
    hanging(&lab).leaves();
}

#[test]
fn a_call_waits_for_a_start_that_hangs_until_the_next_edit() {
    let Some(lab) = acme() else { return };
    let mut author = hanging(&lab);
    author.say("acme_say");
    author.hears("waiting for `acme` to start");
    lab.with("tools/acme.ts", &saying("two"));
    assert_eq!(text(&author.answer()), "two");
    wait_until("the hanging one is gone", || (alive(&lab, "tools/acme.ts") == 1).then_some(()));
    author.leaves();
}

#[test]
fn a_python_server_is_swapped_too() {
    let Some(lab) = Lab::new() else { return };
    lab.fixture("talk.py").target(&[&python("talk")]);
    let mut author = Author::at(&lab, &["--target", "fixture"]);
    assert_eq!(author.ask("talk_work"), "worked");
    let script = lab.project.read("tools/talk.py");
    let next = script
        .replace("return \"worked\"", "return f\"worked {times} times\"")
        .replace("async def work(ctx: Context)", "async def work(ctx: Context, times: int)");
    lab.with("tools/talk.py", &next);
    let said = author.hears("was swapped");
    assert!(said.contains("`talk_work`: schema changed (added `times`, which is required"), "{said}");
    assert_eq!(author.ask("talk_work times=2"), "worked 2 times");
    wait_until("the old server is gone", || (alive(&lab, "tools/talk.py") == 1).then_some(()));
    author.leaves();
}

#[test]
fn a_tool_of_a_file_is_swapped_and_a_broken_one_fails() {
    let Some(lab) = Lab::under(Runtime::Nothing) else { return };
    let file = "trailblaze-config/tools/greet.yaml";
    let greet = |calls: &str| format!("id: greet\ndescription: Greets.\nparameters: []\ntools:\n  - {calls}\n");
    lab.with(file, &greet("tap: {id: add}"));
    let mut author = Author::at(&lab, &[]);
    author.ask("launchApp packageId=com.example.counter");
    author.ask("greet");
    lab.with(file, &greet("tap: {id: nowhere, oops: 1}"));
    let failed = author.ask("greet");
    let expected = "the project's files changed, and `greet` cannot be used: ";
    assert!(failed.contains(expected) && failed.contains("trailblaze-config/tools/greet.yaml:5:"), "{failed}");
    assert!(author.hears("the tools were not reloaded").contains("trailblaze-config/tools/greet.yaml:5:"));
    assert!(author.ask("snapshot").contains("Count: 1"), "other tools work");
    lab.with(file, &greet("tap: {id: more}"));
    author.ask("greet");
    author.hears("the project's files changed: `greet`: calls changed\n");
    assert!(author.ask("snapshot").contains("Less is more"));
    author.leaves();
}

/// Waits until this many runs have ended.
fn runs_ended(lab: &Lab, n: usize) -> Vec<RunFolder> {
    wait_until(&format!("run {n} ends"), || {
        let runs = lab.project.runs();
        let is_finished = |run: &RunFolder| run.has("summary.json") && run.summary()["isFinished"] == true;
        (runs.len() == n && runs.iter().all(is_finished)).then_some(runs)
    })
}

#[test]
fn a_run_uses_the_servers_of_the_last_one_unless_their_files_changed() {
    let Some(lab) = acme() else { return };
    let trail = |title: &str| {
        lab.with("trails/a.trail.yaml", &format!("trail:\n  - step: {title}\n    tools: [{{acme_say: {{}}}}]\n"));
    };
    let servers = || -> Vec<String> {
        let processes = lab.alive().into_iter().filter(|process| process.contains("tools/acme.ts"));
        processes.filter_map(|process| process.split(' ').next().map(str::to_string)).collect()
    };
    trail("Say");
    let command = lab.command(&["run", "--pictures", "off", "-d", "android/sim-1", "--watch"]).spawn();
    let running = Running::of(command.expect("the program starts"));
    runs_ended(&lab, 1);
    let first = servers();
    assert_eq!(first.len(), 1, "{first:?}");
    trail("Say it");
    let second = runs_ended(&lab, 2).pop().expect("two runs");
    assert_eq!(crate::support::lab::texts(&second)["acme_say"], json!(["one"]));
    assert_eq!((second.mentions("\"serverStarted\""), second.mentions("\"serverEnded\"")), (1, 1));
    assert_eq!(servers(), first);
    lab.with("tools/acme.ts", &saying("two"));
    let third = runs_ended(&lab, 3).pop().expect("three runs");
    assert_eq!(crate::support::lab::texts(&third)["acme_say"], json!(["two"]));
    let second = servers();
    assert!(second.len() == 1 && second != first, "{second:?}");
    running.interrupt();
    lab.project.ended(running).exits(0);
    lab.assert_none_left();
}

#[test]
fn a_run_goes_on_with_the_new_tool_and_only_what_it_affects_runs_again() {
    let Some(lab) = acme() else { return };
    lab.with(
        "trails/a.trail.yaml",
        "trail:\n  - step: Wait\n    tools: [{acme_wait: {}}]\n  - step: Say\n    tools: [{acme_say: {}}]\n",
    );
    lab.with(
        "trails/b.trail.yaml",
        "trail:\n  - step: Open\n    tools: [{launchApp: {packageId: com.example.counter}}]\n",
    );
    let command = lab.command(&["run", "--pictures", "off", "-d", "android/sim-1", "--watch"]).spawn();
    let running = Running::of(command.expect("the program starts"));
    wait_until("the call is at work", || lab.project.root().join("tools/waiting").exists().then_some(()));
    lab.with("tools/acme.ts", &saying("two"));
    wait_until("it is swapped", || (lab.project.last_run().mentions("was swapped") == 1).then_some(()));
    lab.with("tools/go", "");
    let ended = |n: usize| runs_ended(&lab, n);
    let trails = |run: &RunFolder| -> Vec<Value> {
        let attempts = run.summary()["attempts"].as_array().expect("a list").clone();
        attempts.iter().map(|attempt| attempt["trail"]["path"].clone()).collect()
    };
    let runs = ended(2);
    let first = crate::support::lab::texts(&runs[0]);
    assert_eq!((&first["acme_wait"], &first["acme_say"]), (&json!(["one"]), &json!(["two"])));
    assert_eq!(trails(&runs[0]), ["trails/a.trail.yaml", "trails/b.trail.yaml"]);
    assert_eq!(trails(&runs[1]), ["trails/a.trail.yaml"], "the other does not call the server");
    lab.with("tools/acme.ts", &saying("three"));
    let third = ended(3).pop().expect("three runs");
    assert_eq!(trails(&third), ["trails/a.trail.yaml"]);
    assert_eq!(crate::support::lab::texts(&third)["acme_say"], json!(["three"]));
    running.interrupt();
    lab.project.ended(running).exits(0);
    lab.assert_none_left();
}

#[test]
fn every_call_is_answered_while_a_server_is_edited_again_and_again() {
    let Some(lab) = acme() else { return };
    let n_edits = if crate::support::is_full_tier() { 50 } else { 4 };
    let mut author = Author::at(&lab, &[]);
    assert_eq!(author.ask("acme_say"), "one");
    for n in 0..n_edits {
        let next = format!("edit {n}");
        lab.with("tools/acme.ts", &saying(&next));
        assert_eq!(author.ask("acme_say"), next, "a call right after saving runs what was saved");
    }
    // Many edits in quick succession.
    for n in 0..10 {
        lab.with("tools/acme.ts", &saying(&format!("row {n}")));
    }
    assert_eq!(author.ask("acme_say"), "row 9");
    // What it imports from another folder belongs to it.
    lab.with("shared/word.ts", "export const word = 'shared one';\n");
    let sharing =
        format!("import {{ word as shared }} from '../shared/word.ts';\n{}", ACME.replace("'@WORD@'", "shared"));
    lab.with("tools/acme.ts", &sharing);
    assert_eq!(author.ask("acme_say"), "shared one");
    lab.with("shared/word.ts", "export const word = 'shared two';\n");
    assert_eq!(author.ask("acme_say"), "shared two");
    // A tool that only the new version has.
    let next = saying("more").replace("/*@TOOLS@*/", ", tool('acme_more')");
    lab.with("tools/acme.ts", &next);
    assert_eq!(author.ask("acme_more"), "more");
    wait_until("one server is left", || (alive(&lab, "tools/acme.ts") == 1).then_some(()));
    author.leaves();
}

#[test]
fn a_session_that_does_not_watch_gets_changed_tools_from_reload_tools() {
    let Some(lab) = acme() else { return };
    let mut author = Author::of_shell(&lab, &[]);
    assert_eq!(author.ask("acme_say"), "one");
    lab.with("tools/acme.ts", &saying("two").replace("/*@TOOLS@*/", ", tool('acme_more')"));
    assert_eq!(author.ask("acme_say"), "one");
    let reloaded = author.ask("reloadTools");
    assert!(reloaded.starts_with("added: acme_more; removed: none; "), "{reloaded}");
    assert_eq!((author.ask("acme_say"), author.ask("acme_more")), ("two".to_string(), "two".to_string()));
    lab.with("tools/acme.ts", "throw new Error('half an edit');\n");
    let failed = author.ask("reloadTools");
    assert!(failed.contains("server `acme`") && failed.contains("half an edit"), "{failed}");
    author.leaves();
}
