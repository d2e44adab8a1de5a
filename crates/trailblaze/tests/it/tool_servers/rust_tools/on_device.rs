//! Where the device is: no host, no server process, no open port.

use std::collections::HashSet;
use std::path::Path;

use super::Team;
use crate::support::{Project, wait_until};

const ON_DEVICE: &str = "agentMode: onDevice\n\
                         devices:\n  - {id: android/sim-1, driver: android-ondevice-accessibility}\n\
                         sim:\n  apps: [counter.app.yaml]\n";

#[test]
fn tools_that_need_the_host_are_left_out_on_the_device() {
    let project = Project::counter().with("trailblaze.yaml", ON_DEVICE);
    let why = project.team("team", &["toolbox", "why", "team_host", "-d", "android/sim-1"]);
    assert!(why.stdout.contains("it requires the host, but the agent runs on the device"), "{why:?}");
    let trail = "trail:\n  - step: Count\n    tools:\n      - team_count: {times: 2}\n      - assertVisible: {text: 'Count: 2'}\n";
    project.write("trails/count.trail.yaml", trail);
    project.team("team", &["run"]).exits(0);
}

#[test]
fn no_port_is_opened_and_no_process_started() {
    let trail = "trail:\n  - step: Wait\n    tools:\n      - team_count: {}\n      - team_fail: {how: sleep}\n";
    let project = Project::counter().with("trailblaze.yaml", ON_DEVICE).with("trails/wait.trail.yaml", trail);
    let running = project.team_start("team", &["run"]);
    wait_until("the tool sleeps", || (project.runs().pop()?.mentions("asleep") > 0).then_some(()));
    let process = Path::new("/proc").join(running.id().to_string());
    assert_eq!(listening(&process), Vec::<String>::new());
    let children =
        std::fs::read_to_string(process.join(format!("task/{}/children", running.id()))).expect("its children");
    assert_eq!(children.trim(), "");
    running.interrupt();
    project.ended(running).exits(2);
}

/// The addresses that a process listens on, over TCP.
fn listening(process: &Path) -> Vec<String> {
    let links = std::fs::read_dir(process.join("fd"))
        .expect("its files")
        .filter_map(|entry| entry.ok()?.path().read_link().ok());
    let inode =
        |link: std::path::PathBuf| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_string());
    let sockets: HashSet<String> = links.filter_map(inode).collect();
    let mut found = Vec::new();
    for table in ["net/tcp", "net/tcp6"] {
        let text = std::fs::read_to_string(process.join(table)).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // Field 3 is the state; 0A means that it listens.
            if fields[3] == "0A" && sockets.contains(fields[9]) {
                found.push(fields[1].to_string());
            }
        }
    }
    found
}
