//! Simulators and a WebDriverAgent that we start: `xcrun` and `xcodebuild` are stand-ins on the PATH. No Mac was used.

use std::ffi::OsString;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::support::{Project, Ran, example};

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
        let mut command = self.project.command(args);
        let own = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.project.root().join("mac/bin")].into_iter().chain(std::env::split_paths(&own));
        command
            .env("PATH", std::env::join_paths(folders.collect::<Vec<PathBuf>>()).unwrap_or_else(|_| OsString::new()));
        self.project.finish(command)
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
