//! An agent that uses a phone over MCP: through `trailblaze mcp`, and through mobile-mcp, which asks Android's commands by adb as we do.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use trailblaze_android_stand_in::launch::{StandInPhone, TestAdbServer};

use crate::support::mcp::Client;
use crate::support::{Measure, Row, quantile};
use crate::{FIELDS, WALLET};

const ACTIONS: usize = 10;
const RUNS: usize = 5;

pub fn rows(server: &TestAdbServer, phone: &StandInPhone) {
    let part = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.parts").join(path);
    let program = part("bench/node_modules/@mobilenext/mobile-mcp/lib/index.js");
    if !program.is_file() {
        println!("mobile-mcp is missing; `scripts/parts bench` installs it");
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut theirs = match mobile_mcp(server, phone, program) {
        Ok(times) => times,
        Err(said) => return println!("mobile-mcp could not look at the phone: {said}"),
    };
    let mut own = ours(server, phone, folder.path());
    let (own, theirs) = (quantile(&mut own, 0.5), quantile(&mut theirs, 0.5));
    Row {
        what: "an agent looks and taps ten times",
        measured: Measure::Time(own),
        against: Some(Measure::Time(theirs)),
        goal: "≤ 0.5 × mobile-mcp",
        is_met: Some(own.as_secs_f64() <= theirs.as_secs_f64() * 0.5),
    }
    .print();
}

/// The first run warms up.
fn timed(mut actions: impl FnMut()) -> Vec<Duration> {
    actions();
    let once = |_| {
        let began = Instant::now();
        actions();
        began.elapsed()
    };
    (0..RUNS).map(once).collect()
}

fn ours(server: &TestAdbServer, phone: &StandInPhone, folder: &Path) -> Vec<Duration> {
    let [runtime, project, home] = ["runtime", "project", "home"].map(|name| folder.join(name));
    for folder in [&runtime, &project, &home] {
        std::fs::create_dir(folder).expect("a folder");
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).expect("a private folder");
    }
    std::fs::write(project.join("trailblaze.yaml"), "").expect("a project");
    let command = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trailblaze"));
        command.args(args).current_dir(&project).env("XDG_RUNTIME_DIR", &runtime).env("HOME", &home);
        command.env("ADB_SERVER_SOCKET", server.socket());
        command
    };
    let mut client = Client::start(command(&["mcp", "-d", &format!("android/{}", phone.serial())]));
    client.initialize();
    client
        .call("act", json!({"calls": [{"tool": "launchApp", "args": {"packageId": WALLET, "launchMode": "RESUME"}}]}));
    let times = timed(|| {
        for index in 0..ACTIONS {
            client.call("snapshot", json!({}));
            let field = ["email", "pin"][index % 2];
            client.call("act", json!({"calls": [{"tool": "tap", "args": {"id": field}}]}));
        }
    });
    drop(client);
    let _ = command(&["daemon", "stop"]).output();
    times
}

/// The error is what it says instead of what is on the screen: its errors look like answers.
fn mobile_mcp(server: &TestAdbServer, phone: &StandInPhone, program: PathBuf) -> Result<Vec<Duration>, String> {
    let node = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.parts/node/node_modules/.bin/node");
    let mut command = Command::new(node);
    let adb = server.adb();
    let folder = Path::new(adb.get_program()).parent().expect("the folder of adb");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&path));
    command.arg(program).env("PATH", std::env::join_paths(folders).expect("a search path"));
    command.env("ADB_SERVER_SOCKET", server.socket()).env("MOBILEMCP_DISABLE_TELEMETRY", "1");
    // Otherwise it installs a program of its own on the phone.
    command.env("MOBILEMCP_LEGACY_ROBOT", "1");
    let mut client = Client::start(command);
    client.initialize();
    let device = phone.serial();
    let seen = client.call("mobile_list_elements_on_screen", json!({"device": device}));
    if !seen.contains("email") {
        return Err(seen);
    }
    Ok(timed(|| {
        for index in 0..ACTIONS {
            client.call("mobile_list_elements_on_screen", json!({"device": device}));
            let at = FIELDS[index % 2];
            let args = json!({"device": device, "x": at.x, "y": at.y});
            client.call("mobile_click_on_screen_at_coordinates", args);
        }
    }))
}
