use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use trailblaze::output::report::model::{RunRecord, Standing};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::{Event, Line, Parsed, Verdict};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::geometry::Size;

use crate::support::Project;
use crate::support::run_fixture::{Recorder, failing, flaky, passing, write_files};

const PHONE: Size = Size { width: 1080, height: 2340 };

/// Two shards; the second started 90 s after the first.
fn shards(root: &Path) -> [PathBuf; 2] {
    let one = shard(root, "one", "2026-03-04T09:15:00Z", Exit::Passed, |run| {
        let session = run.session("android/pixel-8", Platform::Android, PHONE);
        passing(run, &session);
    });
    let two = shard(root, "two", "2026-03-04T09:16:30Z", Exit::Failed, |run| {
        let session = run.session("ios/iphone-17", Platform::Ios, PHONE);
        failing(run, &session);
        flaky(run, &session);
        run.raw(r#"{"at":7,"event":{"dreamt":{"of":"sheep"}}}"#);
    });
    [one, two]
}

fn shard(root: &Path, name: &str, started_at: &str, exit: Exit, tell: impl Fn(&mut Recorder)) -> PathBuf {
    let folder = root.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    write_files(&folder);
    let mut run = Recorder::shard(name, started_at);
    run.start(2);
    tell(&mut run);
    run.end(exit);
    std::fs::write(folder.join("events.jsonl"), run.text()).unwrap();
    folder
}

fn summary(project: &Project, folder: &str) -> Value {
    serde_json::from_str(&project.read(&format!("{folder}/summary.json"))).unwrap()
}

#[test]
fn shards_become_one_run_that_opens_like_any_other() {
    let project = Project::empty();
    let [one, two] = shards(project.root());
    let ran = project.run(&["report", "merge", "two", "one", "-o", "all"]).exits(0);
    assert_eq!(ran.stdout, "Report: all/report.html\n");

    let all = RunRecord::read(&project.root().join("all")).unwrap();
    let (one, two) = (RunRecord::read(&one).unwrap(), RunRecord::read(&two).unwrap());
    let header = all.header.as_ref().unwrap();
    assert_eq!(header.started_at, "2026-03-04T09:15:00Z");
    let start = all.start.as_ref().unwrap();
    assert_eq!(
        (start.trails, start.seed, start.command[1..4].join(" ").as_str()),
        (4, 18_446_744_073_709_551_557, "report merge two")
    );
    let end = all.end.unwrap();
    assert_eq!((end.exit, end.micros), (Exit::Failed, 90_000_000 + two.end.unwrap().micros));

    let told =
        |run: &RunRecord| run.attempts.iter().map(|a| (a.id.clone(), a.calls.len(), a.standing)).collect::<Vec<_>>();
    assert_eq!(told(&all), [told(&one), told(&two)].concat());
    let first = |run: &RunRecord| run.attempts[0].started_at;
    assert_eq!((first(&all), all.attempts[1].started_at), (first(&one), 90_000_000 + first(&two)));
    assert_eq!((all.unread.unknown, all.unread.torn, all.unread.stray), (1, 0, 0));
    assert!(project.read("all/events.jsonl").contains(r#"{"at":90000007,"event":{"dreamt":{"of":"sheep"}}}"#));

    for file in ["pictures/start.png", "trees/start.txt", "attachments/shelf.png", "junit.xml", "report.html"] {
        assert!(project.root().join("all").join(file).is_file(), "{file}");
    }
    assert_eq!(summary(&project, "all")["counts"]["passed"], 2);
}

#[test]
fn a_merged_run_has_one_frame() {
    let project = Project::empty();
    shards(project.root());
    project.run(&["report", "merge", "one", "two", "-o", "all"]).exits(0);
    let text = project.read("all/events.jsonl");
    let events: Vec<Event> = text
        .lines()
        .filter_map(|line| match Line::parse(line) {
            Parsed::Line(line) => Some(line.event),
            _ => None,
        })
        .collect();
    let frame = |event: &&Event| matches!(event, Event::RunStarted { .. } | Event::RunEnded { .. });
    assert_eq!(events.iter().filter(frame).count(), 2);
    assert_eq!(text.matches("trailblazeEvents").count(), 1);
    assert!(matches!(events.last(), Some(Event::RunEnded { .. })));
}

#[test]
fn a_later_run_of_the_same_trail_is_a_further_try() {
    let project = Project::empty();
    let trail = |verdict: Verdict| {
        move |run: &mut Recorder| {
            let session = run.session("android/pixel-8", Platform::Android, PHONE);
            let attempt = run.attempt(&session, "Pay", 1, &[]);
            run.end_attempt(&attempt, verdict, "", None);
        }
    };
    shard(project.root(), "again", "2026-03-04T11:00:00.5Z", Exit::Passed, trail(Verdict::Passed));
    shard(project.root(), "first", "2026-03-04T09:00:00Z", Exit::Failed, trail(Verdict::Failed));
    project.run(&["report", "merge", "again", "first", "-o", "all"]).exits(0);
    let all = RunRecord::read(&project.root().join("all")).unwrap();
    let standings: Vec<Standing> = all.attempts.iter().map(|attempt| attempt.standing).collect();
    assert_eq!(standings, [Standing::Retried, Standing::Flaky]);
}

#[test]
fn the_exit_code_is_that_of_the_runs_only_if_asked_for() {
    let project = Project::empty();
    shards(project.root());
    project.run(&["report", "merge", "one", "two", "-o", "all", "--exit-code"]).exits(1);
    let ran = project.run(&["report", "merge", "one", "two", "--json"]).exits(0);
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&summary["code"], &summary["devices"]), (&json!(1), &json!(["android/pixel-8", "ios/iphone-17"])));
    let name = summary["run"].as_str().unwrap();
    assert!(project.root().join("logs").join(name).join("report.html").is_file());
    project.run(&["report"]).exits(0);
}

#[test]
fn a_run_that_did_not_finish_keeps_the_whole_unfinished() {
    let project = Project::empty();
    let [_, two] = shards(project.root());
    let text = std::fs::read_to_string(two.join("events.jsonl")).unwrap();
    std::fs::write(two.join("events.jsonl"), &text[..text.rfind("attemptEnded").unwrap()]).unwrap();
    let ran = project.run(&["report", "merge", "one", "two", "-o", "all", "--exit-code"]).exits(2);
    assert_eq!(ran.stderr, "warning: the run in `two` did not finish\n");
    let all = RunRecord::read(&project.root().join("all")).unwrap();
    assert_eq!((all.end, all.unread.torn, all.attempts.len()), (None, 1, 4));
    assert_eq!(all.notes.last().unwrap().text, "the run in `two` did not finish");

    std::fs::write(two.join("events.jsonl"), text + "{\"at\":").unwrap();
    let ran = project.run(&["report", "merge", "one", "two", "-o", "torn"]).exits(0);
    assert_eq!(ran.stderr, "warning: the events in `two` are damaged\n");
    assert_eq!(summary(&project, "torn")["isFinished"], false);
}

#[test]
fn what_cannot_be_merged_is_named() {
    let project = Project::empty();
    let [one, _] = shards(project.root());
    std::fs::create_dir(project.root().join("empty")).unwrap();
    std::fs::create_dir(project.root().join("copy")).unwrap();
    std::fs::copy(one.join("events.jsonl"), project.root().join("copy/events.jsonl")).unwrap();
    let check = |args: &[&str], expected: &str| {
        let ran = project.run(&[&["report", "merge"], args].concat()).exits(3);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", expected), "{args:?}");
    };
    check(&["one", "./one", "-o", "all"], "error: `one` and `./one` are the same run\n");
    check(&["one", "copy", "-o", "all"], "error: `one` and `copy` are the same run\n");
    check(&["one", "empty", "-o", "all"], "error: no `events.jsonl` in `empty`\n");
    check(&["one", "two", "-o", "two"], "error: `two` already contains a run\nhint: name a new folder with `-o`\n");
    std::fs::write(project.root().join("two/trees/start.txt"), "something else").unwrap();
    check(&["one", "two", "-o", "all"], "error: `trees/start.txt` in `two` differs from that of another run\n");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_a_run_is_not_followed() {
    let project = Project::empty();
    let [one, _] = shards(project.root());
    std::os::unix::fs::symlink("/etc/passwd", one.join("pictures/passwd.png")).unwrap();
    project.run(&["report", "merge", "one", "two", "-o", "all"]).exits(0);
    assert!(!project.root().join("all/pictures/passwd.png").exists());
}
