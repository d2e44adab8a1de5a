//! Devices that break, runs that are cancelled, processes that are killed.

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};

use crate::support::{Project, RunFolder, Running, wait_until};
use serde_json::json;
use trailblaze_protocol::event::{Event, Verdict};

const COUNTS: &str = "\
trail:
  - step: Open it
    tools:
      - launchApp: {packageId: com.example.counter}
  - step: Count
    tools:
      - tap: {id: add}
      - tap: {id: add}
  - verify: It counted
    tools:
      - assertVisible: {text: 'Count: 2'}
";

const WAITS: &str =
    "trail:\n  - step: Wait\n    tools:\n      - waitUntilVisible: {text: Nowhere, timeoutMs: 300000}\n";

fn verdicts(run: &RunFolder) -> Vec<(String, Verdict)> {
    let mut trail_of = std::collections::HashMap::new();
    let mut verdicts = Vec::new();
    for event in run.events() {
        match event {
            Event::AttemptStarted { attempt, trail, .. } => {
                trail_of.insert(attempt, trail.id);
            }
            Event::AttemptEnded { attempt, verdict, .. } => verdicts.push((trail_of[&attempt].clone(), verdict)),
            _ => {}
        }
    }
    verdicts
}

#[test]
fn a_device_lost_in_the_middle_of_a_step_breaks_that_trail_only() {
    let project = Project::counter()
        .with("trails/a.trail.yaml", COUNTS)
        .with("trails/b.trail.yaml", "trail:\n  - step: Look\n    tools:\n      - assertVisible: {text: Counter}\n");
    let ran = project.run(&["run", "--sim", "lostAfter=2", "--seed", "1"]).exits(2);
    insta::assert_snapshot!(ran.normal(ran.stdout.trim_start()), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:8:9)
      step 2 "Count": the device was lost: it disconnected after 2 actions (injected fault)

    1 passed, 1 broken by the environment in [time]
    Report: [project]/logs/[run]/report.html
    "#);
    let run = project.last_run();
    run.assert_finished(2);
    run.assert_calls_have_parents();
    assert_eq!(verdicts(&run), [("trails/a".to_string(), Verdict::Errored), ("trails/b".to_string(), Verdict::Passed)]);
    let junit = quick_junit::Report::deserialize_from_str(&run.text("junit.xml")).unwrap();
    assert_eq!((junit.tests, junit.failures, junit.errors), (2, 0, 1));
}

#[test]
fn a_device_lost_in_one_lane_leaves_the_other_alone() {
    let project = Project::counter().with("trails/a.trail.yaml", COUNTS);
    // The chance of each device is its own, so a seed is looked for that spares exactly one of them.
    let outcome = (0..40).map(|seed| {
        let seed = seed.to_string();
        let flags = ["--sim", "lostAt=0.3", "--seed", &seed, "-d", "android/sim-1,ios/sim-1"];
        let ran = project.run(&[&["run", "--json", "--pictures", "off"][..], &flags].concat());
        (ran.code, ran.json()["counts"].clone())
    });
    let (code, counts) = outcome.into_iter().find(|(_, counts)| counts["passed"] == 1).expect("a seed that spares one");
    assert_eq!((code, &counts["errored"]), (Some(2), &json!(1)));
}

#[test]
fn a_refused_act_is_a_failed_test() {
    let project = Project::counter().with("trails/a.trail.yaml", COUNTS);
    let ran = project.run(&["run", "--sim", "refuse=1", "--seed", "1"]).exits(1);
    insta::assert_snapshot!(ran.normal(ran.stdout.trim_start()), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Open it": `launchApp` failed: the device refused `launchApp` (injected fault)

    0 passed, 1 failed in [time]
    Report: [project]/logs/[run]/report.html
    "#);
    project.last_run().assert_finished(1);
}

#[test]
fn slow_screens_are_waited_for() {
    let project = Project::counter();
    let run = |delay: &str, timeout: u32| {
        let trail = format!(
            "trail:\n  - step: Open it\n    tools:\n      - launchApp: {{packageId: com.example.counter}}\n      \
             - assertVisible: {{text: 'Count: 0', timeoutMs: {timeout}}}\n"
        );
        project.write("trails/a.trail.yaml", trail);
        project.run(&["run", "-d", "android/sim-1", "--pictures", "off", "--sim", &format!("slowScreen={delay}")])
    };
    run("600s", 10).exits(1);
    run("200ms", 600_000).exits(0);
}

#[test]
fn one_seed_gives_one_sequence_of_calls() {
    let project = Project::wallet();
    let run = |seed: &str| {
        let flags = ["--sim", "latency=4ms", "--sim", "jitter=4ms", "--sim", "drift=4", "--seed", seed];
        let args = [&["run", "-d", "android/sim-1", "--pictures", "off"][..], &flags].concat();
        project.run(&args).exits(0);
        let calls = project.last_run().calls();
        calls.into_iter().map(|call| (call.tool, call.args)).collect::<Vec<_>>()
    };
    assert_eq!(run("11"), run("11"));
    // Where refusals are drawn at random, one seed draws them in the same places.
    let refused = |seed: &str| {
        let flags = ["--sim", "refuse=0.1", "--seed", seed, "--json"];
        let args = [&["run", "-d", "android/sim-1", "--pictures", "off"][..], &flags].concat();
        let summary = project.run(&args).json();
        summary["attempts"].as_array().unwrap().iter().map(|attempt| attempt["message"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(refused("5"), refused("5"));
}

const WAITING: &str = r#""tool":"waitUntilVisible""#;

/// Starts a run and waits until so many devices wait for what will not come.
fn start_waiting(project: &Project, args: &[&str], n_devices: usize) -> Running {
    let running = project.start(args);
    wait_for_calls(project, n_devices);
    running
}

fn wait_for_calls(project: &Project, n_calls: usize) {
    wait_until("the calls are made", || (project.runs().first()?.mentions(WAITING) == n_calls).then_some(()));
}

/// Starts a shell and waits until it waits for what will not come. Its input stays open.
fn start_waiting_shell(project: &Project, mut command: Command) -> (Running, ChildStdin) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"waitUntilVisible text=Nowhere timeoutMs=300000\n").unwrap();
    let running = Running::of(child);
    wait_for_calls(project, 1);
    (running, stdin)
}

#[test]
fn ctrl_c_ends_a_long_wait_in_good_order() {
    let project = Project::counter().with("trails/a.trail.yaml", WAITS).with("trails/b.trail.yaml", COUNTS);
    let running = start_waiting(&project, &["run", "-d", "android/sim-1,ios/sim-1"], 2);
    running.interrupt();
    let ran = project.ended(running).exits(2);
    insta::assert_snapshot!(ran.normal(ran.stdout.trim_start()), @r#"
    trails/a on android/sim-1 (trails/a.trail.yaml:4:9)
      step 1 "Wait": cancelled
      same failure: trails/a on ios/sim-1

    0 passed, 2 cancelled, 2 not run in [time]
    Report: [project]/logs/[run]/report.html
    "#);
    let run = project.last_run();
    run.assert_finished(2);
    run.assert_calls_have_parents();
    assert!(verdicts(&run).iter().all(|(trail, verdict)| trail == "trails/a" && *verdict == Verdict::Cancelled));
    let listed = project.run(&["runs", "list"]).exits(0).stdout;
    assert!(listed.contains("  cancelled  ") && !listed.contains("environment failed"), "{listed}");
}

/// The kernel and the shell may both tell of a terminal that went away.
#[test]
fn a_terminal_that_goes_away_ends_a_run_in_good_order() {
    let project = Project::counter().with("trails/a.trail.yaml", WAITS);
    let running = project.start_of(project.command_that_hears_hangups(&["run", "-d", "android/sim-1"]));
    wait_for_calls(&project, 1);
    running.signal("HUP");
    running.signal("HUP");
    project.ended(running).exits(2);
    let run = project.last_run();
    run.assert_finished(2);
    assert_eq!(verdicts(&run), [("trails/a".to_string(), Verdict::Cancelled)]);
}

/// The same with a real terminal, to which nothing can be written any more.
#[cfg(target_os = "linux")]
#[test]
fn a_run_whose_terminal_is_closed_leaves_its_report() {
    const IN_A_TERMINAL: &str = "\
import glob, os, pty, signal, sys, time
pid, terminal = pty.fork()
if pid == 0:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
os.set_blocking(terminal, False)
def drain():
    try:
        os.read(terminal, 65536)
    except BlockingIOError:
        time.sleep(0.01)
while not any('waitUntilVisible' in open(file).read() for file in glob.glob('logs/*/events.jsonl')):
    drain()
os.close(terminal)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status))
";
    let project = Project::counter().with("trails/a.trail.yaml", WAITS);
    let program = project.command(&["run", "-d", "android/sim-1"]);
    let mut command = Command::new("python3");
    command.args(["-c", IN_A_TERMINAL]).arg(program.get_program()).args(program.get_args()).current_dir(project.root());
    let ran = project.finish(command).exits(0);
    assert_eq!(ran.stdout, "2\n", "{}", ran.stderr);
    project.last_run().assert_finished(2);
}

#[test]
fn a_terminal_that_goes_away_ends_a_shell_in_good_order() {
    let project = Project::counter();
    let command = project.command_that_hears_hangups(&["shell", "-d", "android/sim-1"]);
    let (running, stdin) = start_waiting_shell(&project, command);
    running.signal("HUP");
    project.ended(running).exits(2);
    project.last_run().assert_finished(2);
    drop(stdin);
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_ignores_its_terminal_goes_on_without_it() {
    let project = Project::counter().with("trails/a.trail.yaml", WAITS);
    let running = project.start_of(project.command_after("trap '' HUP", &["run", "-d", "android/sim-1"]));
    wait_for_calls(&project, 1);
    running.signal("HUP");
    running.interrupt();
    // Had it been told twice, it would have ended at once and left no report.
    let ran = project.ended(running).exits(2);
    assert!(ran.stderr.contains("cancelling"), "{}", ran.stderr);
    project.last_run().assert_finished(2);
}

#[test]
fn ctrl_c_ends_a_shell() {
    let project = Project::counter();
    let (running, stdin) = start_waiting_shell(&project, project.command(&["shell", "-d", "android/sim-1"]));
    running.interrupt();
    let ran = project.ended(running).exits(2);
    assert!(ran.stderr.contains("error: cancelled"), "{}", ran.stderr);
    project.last_run().assert_finished(2);
    // Its input was open to the end.
    drop(stdin);
}

#[test]
fn a_killed_run_still_opens_as_a_report() {
    let rounds: usize = if crate::support::is_full_tier() { 200 } else { 4 };
    let project = Project::wallet();
    let names = ["activity", "send-money", "wrong-pin"].map(|name| format!("trails/{name}.trail.yaml"));
    let endless = "trails/z-endless.trail.yaml";
    project.write(endless, WAITS);
    let flags = ["--record", "--pictures", "action", "-d", "android/sim-1,ios/sim-1", "--sim", "latency=1ms"];
    let ends = [&["run"], &names.each_ref().map(String::as_str)[..], &flags].concat();
    let does_not_end = [&ends[..], &[endless]].concat();
    // How many lines a whole run writes decides when to kill the others.
    let trail = project.read("trails/send-money.trail.yaml");
    // A copy of `tools:`, which every run removes.
    let copy = "    recording: {android: [{assertVisible: {id: balance}}, \
                {wallet_balanceFell: {from: €120.00, by: '{{amount}}'}}]}\n";
    let authored = format!("{trail}{copy}");
    project.write("trails/send-money.trail.yaml", &authored);
    project.run(&ends).exits(0);
    let whole = project.last_run().mentions("");
    let recorded = project.read("trails/send-money.trail.yaml");
    assert_eq!(recorded, trail);

    for round in 0..rounds {
        project.write("trails/send-money.trail.yaml", &authored);
        let before = project.runs().len();
        // Most are killed on the way, which they would not end by themselves; the others at about their end.
        let is_endless = round % 4 != 3;
        let moment = if is_endless { 1 + whole * round / rounds } else { whole };
        let mut running = project.start(if is_endless { &does_not_end } else { &ends });
        wait_until("the moment has come", || {
            let run = project.runs().into_iter().nth(before);
            let has_come = |run: RunFolder| run.mentions("") >= moment || run.mentions(r#""text":"Nowhere""#) == 2;
            (run.is_some_and(has_come) || running.has_ended()).then_some(())
        });
        running.kill();
        project.ended(running);

        let run = project.last_run();
        let folder = run.path.display().to_string();
        let ran = project.run(&["report", &folder]).exits(0);
        assert!(ran.stdout.starts_with("Report: "), "{}", ran.stdout);
        let summary = run.summary();
        let page = run.text("report.html");
        assert!(page.ends_with("</html>\n"));
        assert!(!is_endless || summary["isFinished"] == json!(false), "{summary:#}");
        if summary["isFinished"] == json!(false) {
            assert_eq!(summary["exit"], json!(null));
            assert!(page.contains(r#""exit":null"#), "the page says that the run did not finish");
        }
        let saved = project.read("trails/send-money.trail.yaml");
        assert!(saved == authored || saved == recorded, "a trail is whole: {saved}");
        // What a killed writer left beside a trail is taken for no trail.
        let checked = project.run(&["check", "--json"]).exits(0).json();
        assert_eq!(checked["trails"], names.len() + 1);
    }
}

/// The page is there from the start, for whoever opens the folder of a killed run by hand.
#[test]
fn a_killed_run_has_a_page_without_any_command() {
    let project = Project::counter().with("trails/a.trail.yaml", WAITS);
    let mut running = start_waiting(&project, &["run"], 1);
    running.kill();
    project.ended(running);
    let run = project.last_run();
    assert!(run.text("report.html").ends_with("</html>\n") && !run.summary()["isFinished"].as_bool().unwrap());
    // CI systems would take it for a run without failures.
    assert!(!run.has("junit.xml"));
    project.run(&["report"]).exits(0);
    let report = quick_junit::Report::deserialize_from_str(&run.text("junit.xml")).unwrap();
    assert_eq!((report.tests, report.errors), (1, 1));
}

#[test]
fn a_run_ends_when_its_last_lane_does() {
    // A lane that waits for long must not be cut short by one that is done.
    let project = Project::counter().with(
        "trails/a.trail.yaml",
        "trail:\n  - step: Open it\n    tools:\n      - launchApp: {packageId: com.example.counter}\n  - step: Wait\n    \
         recording:\n      ios:\n        - wait: {timeToWaitInSeconds: 0.5}\n      android: []\n",
    );
    project.run(&["run", "-d", "android/sim-1,ios/sim-1"]).exits(0);
    let run = project.last_run();
    let passed = ("trails/a".to_string(), Verdict::Passed);
    assert_eq!(verdicts(&run), [passed.clone(), passed]);
    assert_eq!(run.calls().iter().filter(|call| call.tool == "wait").count(), 1);
}
