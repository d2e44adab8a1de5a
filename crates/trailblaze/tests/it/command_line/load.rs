//! Many trails on many devices that break: the run ends, and every attempt is accounted for.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::Project;
use serde_json::Value;
use trailblaze_protocol::event::Event;
use trailblaze_protocol::exit::Exit;

/// Steps of each trail, of one call each.
const STEPS: usize = 20;
/// The most memory that the program may take, in megabytes.
const MEMORY: u64 = 500;

struct Load {
    trails: usize,
    devices: usize,
    /// One in twenty actions is refused; losing a device for good is rarer, or soon only one would be left.
    faults: [&'static str; 2],
    patience: Duration,
}

impl Load {
    fn of_this_tier() -> Load {
        match std::env::var_os("SOAK") {
            Some(_) => Load {
                trails: 1_000,
                devices: 50,
                faults: ["refuse=0.05", "lostAt=0.001"],
                patience: Duration::from_secs(600),
            },
            None => Load {
                trails: 60,
                devices: 10,
                faults: ["refuse=0.05", "lostAt=0.005"],
                patience: Duration::from_secs(300),
            },
        }
    }
}

#[test]
fn under_load_every_attempt_is_accounted_for() {
    let load = Load::of_this_tier();
    let project = project(&load);
    let (code, peak) = run(&project, &load);
    assert!(peak < MEMORY, "the run took {peak} MB");

    let run = project.last_run();
    run.assert_finished(code);
    run.assert_calls_have_parents();
    let events = run.events();
    let n_started = assert_all_closed(&events);

    let summary = run.summary();
    let printed: Value = serde_json::from_str(&project.read("stdout")).expect("the summary is printed");
    assert_eq!(printed, summary);
    let count = |name: &str| summary["counts"][name].as_u64().expect("a count") as usize;
    let ended = ["passed", "failed", "errored", "invalid", "skipped", "cancelled", "bug", "unfinished"].map(count);
    assert_eq!((count("total"), ended.iter().sum()), (load.trails, load.trails), "{}", summary["counts"]);
    assert_eq!(ended[3..], [0; 5], "{}", summary["counts"]);
    assert_eq!(count("total") + count("retried"), n_started);
    assert!(count("passed") > 0 && count("failed") > 0, "some pass and some fail: {}", summary["counts"]);
    let worst = if count("errored") > 0 { Exit::Environment } else { Exit::Failed };
    assert_eq!(code, i32::from(worst.code()));
    assert_eq!(summary["unreadLines"], 0);
    assert_tries_in_order(&summary, load.trails);
}

fn project(load: &Load) -> Project {
    let project = Project::counter();
    let tap = "  - step: Count\n    tools:\n      - tap: {id: add}\n";
    let open = "  - step: Open it\n    tools:\n      - launchApp: {packageId: com.example.counter}\n";
    let verify = "  - verify: It counted\n    tools:\n      - assertVisible: {text: 'Count: 18'}\n";
    let trail = format!("trail:\n{open}{}{verify}", tap.repeat(STEPS - 2));
    for number in 0..load.trails {
        project.write(&format!("trails/load-{number:04}.trail.yaml"), &trail);
    }
    project
}

/// Runs all trails. Answers the exit code, and the most memory that was seen, in megabytes.
fn run(project: &Project, load: &Load) -> (i32, u64) {
    let devices: Vec<String> = (1..=load.devices).map(|number| format!("android/sim-{number}")).collect();
    let devices = devices.join(",");
    let [refuse, lost] = load.faults;
    let mut command = project.command(&["run", "--json", "--pictures", "off", "--retries", "1", "--seed", "7"]);
    command.args(["--sim", refuse, "--sim", lost, "-d", &devices]);
    // The summary of many trails does not fit into a pipe that is read only at the end.
    let file = |name: &str| File::create(project.root().join(name)).expect("a file");
    command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
    let mut child = command.spawn().expect("the program starts");
    let deadline = Instant::now() + load.patience;
    let mut peak = 0;
    loop {
        peak = peak.max(megabytes(child.id()));
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            let code = status.code().unwrap_or_else(|| panic!("{status}: {}", project.read("stderr")));
            assert!(matches!(code, 1 | 2), "exit {code}: {}", project.read("stderr"));
            return (code, peak);
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            panic!("the run did not end within {:?}", load.patience);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The most memory that a process has held; 0 where the system does not tell.
fn megabytes(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    peak.map_or(0, |kilobytes: u64| kilobytes / 1024)
}

/// Every session and attempt that was opened was closed, once. Answers how many attempts there were.
fn assert_all_closed(events: &[Event]) -> usize {
    let (mut sessions, mut attempts, mut n_attempts) = (HashSet::new(), HashSet::new(), 0);
    for event in events {
        match event {
            Event::SessionOpened { session, .. } => assert!(sessions.insert(session)),
            Event::SessionClosed { session, .. } => assert!(sessions.remove(session)),
            Event::AttemptStarted { attempt, session, .. } => {
                assert!(sessions.contains(session), "an attempt runs in an open session");
                assert!(attempts.insert(attempt));
                n_attempts += 1;
            }
            Event::AttemptEnded { attempt, .. } => assert!(attempts.remove(attempt)),
            _ => {}
        }
    }
    assert_eq!((sessions.len(), attempts.len()), (0, 0), "whatever was opened was closed");
    n_attempts
}

/// Every trail was tried first, second and so on; only the last try of each counts.
fn assert_tries_in_order(summary: &Value, n_trails: usize) {
    let mut tries: BTreeMap<&str, Vec<(u64, bool)>> = BTreeMap::new();
    for attempt in summary["attempts"].as_array().expect("attempts") {
        let path = attempt["trail"]["path"].as_str().expect("a path");
        let number = attempt["number"].as_u64().expect("a number");
        tries.entry(path).or_default().push((number, attempt["isRetried"] == true));
    }
    assert_eq!(tries.len(), n_trails, "every trail was tried");
    for (path, mut tries) in tries {
        tries.sort_unstable();
        let n_tries = tries.len() as u64;
        let expected: Vec<(u64, bool)> = (1..=n_tries).map(|number| (number, number < n_tries)).collect();
        assert_eq!(tries, expected, "{path}");
    }
}
