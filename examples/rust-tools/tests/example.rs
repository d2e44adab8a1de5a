//! The example does what it says, through its own program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wallet-tools");

/// A copy of the project, without its sources and without what was recorded.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for part in
        ["trailblaze.yaml", "trailblaze-config/targets/wallet.yaml"].map(PathBuf::from).into_iter().chain(trails())
    {
        let to = folder.path().join(&part);
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        let text = std::fs::read_to_string(here().join(&part)).expect("a file");
        if !part.to_string_lossy().ends_with(".effects.yaml") {
            std::fs::write(to, without_recordings(&text)).expect("a copy");
        }
    }
    folder
}

fn without_recordings(trail: &str) -> String {
    let mut is_recording = false;
    let mut lines: Vec<&str> = trail.lines().collect();
    lines.retain(|line| {
        is_recording = line.starts_with("    recording:") || is_recording && line.starts_with("      ");
        !is_recording
    });
    lines.join("\n") + "\n"
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn trails() -> Vec<PathBuf> {
    let files = std::fs::read_dir(here().join("trails")).expect("the trails");
    files.map(|file| Path::new("trails").join(file.expect("a file").file_name())).collect()
}

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(PROGRAM).args(args).current_dir(folder).stdin(Stdio::null()).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn trails_pass_and_their_recordings_are_up_to_date() {
    let project = copy();
    // Once more: a trail that has a recording no longer calls the tools that it replaces.
    for _ in 0..2 {
        let ran = run(project.path(), &["run", "--record"]);
        assert!(ran.status.success(), "{}{}", text(&ran.stdout), text(&ran.stderr));
    }
    for trail in trails() {
        let read = |root: &Path| std::fs::read_to_string(root.join(&trail)).expect("a file");
        let hint = "record again: `cargo run -p wallet-tools -- run -C examples/rust-tools --record`";
        assert_eq!(read(project.path()), read(here()), "{}: {hint}", trail.display());
    }
    assert!(text(&run(project.path(), &["check"]).stdout).contains("no problems"));
}

#[test]
fn both_toolsets_are_in_one_list() {
    let listed = text(&run(here(), &["toolbox", "-d", "android/sim-1"]).stdout);
    for tool in ["wallet_login", "wallet_send", "buttons_tapAll", "tap("] {
        assert!(listed.contains(tool), "{tool}: {listed}");
    }
    let why = text(&run(here(), &["toolbox", "why", "wallet_send", "-d", "ios/sim-1"]).stdout);
    assert!(why.contains("toolset Wallet (compiled in) offers it"), "{why}");
}

#[test]
fn the_same_tools_are_a_server() {
    let mut server = Command::new(PROGRAM)
        .arg("serve-tools")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let requests = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"buttons_tapAll","arguments":{"texts":["Pay"]}}}"#,
    ];
    let mut input = server.stdin.take().expect("its input");
    // The server may stop reading once its input has ended, so that is left open until it has answered.
    writeln!(input, "{}", requests.join("\n")).expect("it reads");
    let output = server.stdout.take().expect("its output");
    let lines = std::io::BufRead::lines(std::io::BufReader::new(output)).map(|line| line.expect("a line"));
    let answers: Vec<serde_json::Value> =
        lines.take(3).map(|line| serde_json::from_str(&line).expect("JSON")).collect();
    drop(input);
    assert!(server.wait().expect("it ends").success());
    let answer = |id: u64| answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{answers:?}"));
    assert_eq!(answer(1)["result"]["serverInfo"]["name"], "wallet-tools");
    let names: Vec<&str> = answer(2)["result"]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names.len(), 8, "{names:?}");
    let delegates = &answer(3)["result"]["structuredContent"]["_trailblaze_delegates"];
    assert_eq!(delegates, &serde_json::json!([{"tool": "tap", "args": {"text": "Pay"}}]));
}
