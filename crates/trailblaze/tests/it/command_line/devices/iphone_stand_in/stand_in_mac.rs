//! Simulators and a WebDriverAgent that we start: `xcrun` and `xcodebuild` are stand-ins on the PATH. No Mac was used.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{Project, Ran, example, files, wait_until};

const UDID: &str = "F0A1B2C3-0000-4000-8000-000000000001";
const APP: &str = "com.example.Wallet";

/// A project on a Mac that has one simulator, which does not run.
struct StandInMac {
    project: Project,
    address: String,
}

impl StandInMac {
    fn new() -> StandInMac {
        let project = Project::wallet();
        let port = TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("its address").port();
        let mac = StandInMac { project, address: format!("http://127.0.0.1:{port}") };
        let root = mac.project.root().display().to_string();
        let list = format!(
            r#"{{"devices": {{"com.apple.CoreSimulator.SimRuntime.iOS-18-1": [{{"udid": "{UDID}", "name": "iPhone 16", "state": "Shutdown"}}]}}}}"#
        );
        mac.project.write("mac/simulators.json", list);
        let data = format!("{root}/mac/Devices/{UDID}/data/Containers/Data/Application/0F");
        mac.project.write(&format!("mac/Devices/{UDID}/data/Containers/Data/Application/0F/Documents/old"), "data");
        mac.program(
            "xcrun",
            &format!(
                r#"echo "$*" >>'{root}/mac/calls'
case "$2" in
list) cat '{root}/mac/simulators.json' ;;
boot) sed -i.bak s/Shutdown/Booted/ '{root}/mac/simulators.json' ;;
get_app_container) if [ "$5" = data ]; then echo '{data}'; else echo '{root}/mac/Wallet.app'; fi ;;
io) for file; do :; done
    trap 'printf "a video" >"$file"; echo "Recording completed. Writing to disk." >&2; exit 0' INT
    echo 'Recording started' >&2
    while :; do sleep 1; done ;;
spawn) echo 'Filtering the log data'; echo '{{"eventMessage": "the log of the simulator", "messageType": "Error"}}'; exec sleep 600 ;;
privacy) [ "$6" = {APP} ] || {{ echo "no such app" >&2; exit 64; }} ;;
esac"#
            ),
        );
        let stand_in = example("ios_stand_in").display().to_string();
        mac.program(
            "xcodebuild",
            &format!(
                r#"echo "xcodebuild $* $USE_PORT" >>'{root}/mac/calls'
[ -e '{root}/mac/broken' ] && {{ echo 'error: no signing certificate' >&2; exit 65; }}
sleep 600 | '{stand_in}' --port "$USE_PORT" --app '{root}/wallet.app.yaml'"#
            ),
        );
        mac.project.write("mac/WebDriverAgent/WebDriverAgent.xcodeproj/project.pbxproj", "");
        mac
    }

    fn program(&self, name: &str, body: &str) {
        let path = format!("mac/bin/{name}");
        self.project.write(&path, format!("#!/bin/sh\n{body}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.project.root().join(path), mode).expect("it can be executed");
    }

    /// Lists the simulator in the project, with further keys.
    fn listing(self, simulator: &str, keys: &str) -> StandInMac {
        let text = self.project.read("trailblaze.yaml");
        let entry =
            format!("devices:\n  - id: ios/mine\n    wda: {}\n    simulator: {simulator}\n{keys}", self.address);
        self.project.write("trailblaze.yaml", text.replacen("devices:\n", &entry, 1));
        self
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.project.finish(self.command(args))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        let own = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.project.root().join("mac/bin")].into_iter().chain(std::env::split_paths(&own));
        command
            .env("PATH", std::env::join_paths(folders.collect::<Vec<PathBuf>>()).unwrap_or_else(|_| OsString::new()));
        command
    }

    /// Asks the WebDriverAgent that a run has started for something, as another program would.
    fn ask(&self, method: &str, path: &str, body: &str) -> Value {
        let mut connection = TcpStream::connect(self.address.trim_start_matches("http://")).expect("it answers");
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
        connection.write_all(&[head.as_bytes(), body.as_bytes()].concat()).expect("it is sent");
        let mut answer = BufReader::new(connection);
        let mut length = 0;
        for line in answer.by_ref().lines() {
            let line = line.expect("an answer").to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            length = line.strip_prefix("content-length:").map_or(length, |text| text.trim().parse().expect("a length"));
        }
        let mut body = vec![0; length];
        answer.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    fn calls(&self) -> String {
        self.project.read("mac/calls")
    }
}

const WDA: &str = "    wdaProject: mac/WebDriverAgent\n";

#[test]
fn a_simulator_and_its_web_driver_agent_are_started_and_trails_run() {
    let mac = StandInMac::new().listing("iPhone 16", WDA);
    let grant = "trail:\n  - step: Grant it\n    tools:\n      - launchApp: {packageId: com.example.Wallet}\n      \
                 - grantPermission: {packageId: com.example.Wallet, permission: camera}\n";
    mac.project.write("trails/grant.trail.yaml", grant);
    // The stand-in for WebDriverAgent does not know that the data is deleted, so that one trail signs in.
    let ran = mac.run(&["run", "trails/send-money.trail.yaml", "trails/grant.trail.yaml", "-d", "ios/mine"]).exits(0);
    assert!(ran.stdout.contains("2 passed"), "{}", ran.stdout);
    let calls = mac.calls();
    for expected in [
        format!("simctl boot {UDID}"),
        format!("simctl bootstatus {UDID} -b"),
        format!("-scheme WebDriverAgentRunner -destination id={UDID}"),
        format!("simctl privacy {UDID} grant camera {APP}"),
    ] {
        assert!(calls.contains(&expected), "{expected} is not among:\n{calls}");
    }
    let old = format!("mac/Devices/{UDID}/data/Containers/Data/Application/0F/Documents");
    assert!(!mac.project.root().join(old).exists(), "an app is launched with fresh data");
    let events = mac.project.last_run().text("events.jsonl");
    assert!(events.contains("the log of the simulator"), "what the app logs is in the record");
    let gone = std::net::TcpStream::connect(mac.address.trim_start_matches("http://"));
    assert!(gone.is_err(), "the WebDriverAgent that we started has ended");
}

#[test]
fn an_app_is_installed_recorded_and_removed() {
    let mac = StandInMac::new().listing("iPhone 16", WDA);
    mac.project.write(
        "trails/record.trail.yaml",
        "trail:\n  - step: Record it\n    tools:\n      - mobile_installApp: {file: Wallet.app}\n      \
         - launchApp: {packageId: com.example.Wallet}\n      - mobile_startRecording: {}\n      \
         - mobile_revokePermission: {appId: com.example.Wallet, permission: camera}\n      \
         - mobile_stopRecording: {}\n      - mobile_uninstallApp: {appId: com.example.Wallet}\n",
    );
    mac.project.write("trails/Wallet.app/Info.plist", "");
    let ran = mac.run(&["run", "trails/record.trail.yaml", "-d", "ios/mine"]).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
    let calls = mac.calls();
    for expected in [
        format!("simctl install {UDID} "),
        format!("simctl privacy {UDID} revoke camera {APP}"),
        format!("simctl uninstall {UDID} {APP}"),
    ] {
        assert!(calls.contains(&expected), "{expected} is not among:\n{calls}");
    }
    let run = mac.project.last_run();
    let video = files(&run.path).into_iter().find(|file| file.extension().is_some_and(|it| it == "mp4"));
    let video = std::fs::read_to_string(video.expect("a video")).expect("its content");
    assert_eq!(video, "a video", "the program was interrupted, and finished its file");
}

#[test]
fn a_simulator_that_runs_is_listed_by_its_udid() {
    let mac = StandInMac::new();
    let list = mac.project.read("mac/simulators.json").replace("Shutdown", "Booted");
    mac.project.write("mac/simulators.json", list);
    let before = mac.run(&["device", "list"]).exits(0).stdout;
    let is_asked = mac.project.root().join("mac/calls").exists();
    let is_mac = cfg!(target_os = "macos");
    assert_eq!(
        (is_asked, before.contains(UDID)),
        (is_mac, is_mac),
        "elsewhere, only a project that has a simulator asks: {before}"
    );
    let mac = mac.listing("iPad Air", "");
    let listed = mac.run(&["device", "list"]).exits(0).stdout;
    assert!(listed.contains(&format!("ios/{UDID}")) && listed.contains("iPhone 16"), "{listed}");
}

#[test]
fn a_crash_is_reported_with_the_reason_that_macos_writes_down() {
    let mac = StandInMac::new().listing("iPhone 16", WDA);
    mac.project.write(
        "trails/crash.trail.yaml",
        "trail:\n  - step: Wait for the crash\n    tools:\n      - launchApp: {packageId: com.example.Wallet}\n      \
         - assertVisible: {id: email}\n      - waitUntilNotVisible: {id: email, timeoutMs: 150000}\n",
    );
    let running = mac.project.start_of(mac.command(&["run", "trails/crash.trail.yaml", "-d", "ios/mine"]));
    let waits = r#""tool":"waitUntilNotVisible""#;
    wait_until("it waits", || (mac.project.runs().last()?.mentions(waits) > 0).then_some(()));
    let report = "{\"app_name\": \"Wallet\"}\n{\"exception\": {\"type\": \"EXC_BREAKPOINT\", \"signal\": \"SIGTRAP\"}}";
    mac.project.write("home/Library/Logs/DiagnosticReports/Wallet-2026-01-01-120000.ips", report);
    let status = mac.ask("GET", "/status", "");
    let session = status["sessionId"].as_str().expect("a session");
    let app = format!(r#"{{"bundleId": "{APP}"}}"#);
    mac.ask("POST", &format!("/session/{session}/wda/apps/terminate"), &app);
    mac.project.ended(running).exits(0);
    let events = mac.project.last_run().text("events.jsonl");
    assert!(events.contains("has ended by itself: EXC_BREAKPOINT SIGTRAP; see "), "the reason is in the record");
}

#[test]
fn what_is_missing_on_a_mac_is_named() {
    let mac = StandInMac::new().listing("iPhone 99", "");
    let ran = mac.run(&["run", "trails/send-money.trail.yaml", "-d", "ios/mine"]).exits(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("there is no simulator `iPhone 99`; this Mac has: iPhone 16"), "{said}");
    let mac = StandInMac::new().listing("iPhone 16", WDA);
    mac.project.write("mac/broken", "");
    let ran = mac.run(&["run", "trails/send-money.trail.yaml", "-d", "ios/mine"]).exits(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("exited with code 65: error: no signing certificate"), "{said}");
    let elsewhere = mac.project.run(&["run", "trails/send-money.trail.yaml", "-d", "ios/mine"]).exits(2);
    let said = format!("{}{}", elsewhere.stdout, elsewhere.stderr);
    assert!(
        said.contains("the simulator `iPhone 16` needs a Mac with Xcode: there is no `xcrun` on the PATH"),
        "{said}"
    );
}
