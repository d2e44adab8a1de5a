//! iPhones behind a stand-in for WebDriverAgent, which serves the simulated app: neither WebDriverAgent nor an iPhone was used.

mod mac;
mod together;

use serde_json::Value;
use trailblaze_ios_stand_in::{Behaviour, CLEAR_DATA, StandIn};

use crate::support::{Project, Ran, is_full_tier, wait_until};

const DEVICE: &str = "ios/stand-in";

/// The wallet, and a stand-in that it uses.
struct ProjectIphone {
    project: Project,
    stand_in: StandIn,
}

impl ProjectIphone {
    fn connect() -> ProjectIphone {
        let project = Project::wallet();
        let stand_in = trailblaze_ios_stand_in::start(&[project.root().join("wallet.app.yaml")]).expect("a stand-in");
        let text = project.read("trailblaze.yaml");
        let (before, others) = text.split_once("devices:\n").expect("its devices");
        let entry = format!(
            "{before}devices:\n  - id: {DEVICE}\n    wda: {}\n    clearDataArguments: [{CLEAR_DATA}]\n{others}",
            stand_in.address()
        );
        project.write("trailblaze.yaml", entry);
        ProjectIphone { project, stand_in }
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.project.finish(self.project.command(args))
    }
}

#[test]
fn trails_run_on_a_stand_in_for_an_iphone_and_leave_no_session() {
    let wallet = ProjectIphone::connect();
    let listed = wallet.run(&["device", "list"]).exits(0);
    assert!(listed.stdout.contains(DEVICE), "{}", listed.stdout);
    let ran = wallet.run(&["run", "-d", DEVICE]).exits(0);
    assert!(ran.stdout.contains("3 passed"), "{}", ran.stdout);
    assert!(!wallet.stand_in.has_session());
}

#[test]
fn a_stand_in_that_drops_its_session_does_not_fail_a_trail() {
    let wallet = ProjectIphone::connect();
    wallet.stand_in.behave(Behaviour { dropped_sessions: 1, ..Behaviour::default() });
    let ran = wallet.run(&["run", "trails/send-money.trail.yaml", "-d", DEVICE]).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
}

#[test]
fn an_iphone_that_is_gone_is_named_with_what_to_do() {
    let ProjectIphone { project, stand_in } = ProjectIphone::connect();
    let address = stand_in.address();
    drop(stand_in);
    let ran = project.run(&["run", "trails/send-money.trail.yaml", "-d", DEVICE]).exits(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains(&format!("no WebDriverAgent answers at {address}")), "{said}");
}

#[test]
fn the_doctor_tries_one_iphone_and_says_what_is_wrong_with_it() {
    let ProjectIphone { project, stand_in } = ProjectIphone::connect();
    let well = project.run(&["device", "doctor", DEVICE]).exits(0);
    assert!(well.stdout.contains("its screen was looked at in "), "{}", well.stdout);
    drop(stand_in);
    let found = project.run(&["device", "doctor", DEVICE, "--json"]).exits(2).json();
    let is_bad = |finding: &Value| {
        finding["state"] == "error" && finding["message"].to_string().contains("no WebDriverAgent answers")
    };
    assert!(found["findings"].as_array().expect("findings").iter().any(is_bad), "{found}");
}

#[test]
fn an_address_that_is_none_is_a_mistake_of_the_project() {
    let project = Project::wallet();
    let text = project.read("trailblaze.yaml");
    let entry = text.replacen("devices:\n", &format!("devices:\n  - id: {DEVICE}\n    wda: somewhere\n"), 1);
    project.write("trailblaze.yaml", entry);
    let ran = project.run(&["run", "trails/send-money.trail.yaml", "-d", DEVICE]).exits(3);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("`wda: somewhere`") && said.contains("http://127.0.0.1:8100"), "{said}");
}

const WAITS: &str = "trail:\n  - step: Wait\n    tools:\n      - launchApp: {packageId: com.example.Wallet}\n      - waitUntilVisible: {text: Nowhere, timeoutMs: 300000}\n";

/// A run that waits on the stand-in, in a session.
fn waiting(wallet: &ProjectIphone) -> crate::support::Running {
    wallet.project.write("trails/waits.trail.yaml", WAITS);
    let running = wallet.project.start(&["run", "trails/waits.trail.yaml", "-d", DEVICE]);
    wait_until("the app is looked at", || {
        let requests = wallet.stand_in.requests();
        let launched = requests.iter().position(|request| request.ends_with("/wda/apps/launch"))?;
        requests[launched..].iter().any(|request| request == "GET /source").then_some(())
    });
    running
}

#[test]
fn a_run_that_is_interrupted_leaves_no_session() {
    let wallet = ProjectIphone::connect();
    let running = waiting(&wallet);
    assert!(wallet.stand_in.has_session());
    running.interrupt();
    wallet.project.ended(running).exits(2);
    assert!(!wallet.stand_in.has_session());
}

/// Nobody can end the session of a run that was killed, because only it knew of it. The next run takes it over, and ends it.
#[test]
fn a_run_after_killed_ones_leaves_no_session() {
    let wallet = ProjectIphone::connect();
    for _ in 0..if is_full_tier() { 20 } else { 1 } {
        let mut running = waiting(&wallet);
        running.kill();
        running.status();
        let ran = wallet.run(&["run", "trails/wrong-pin.trail.yaml", "-d", DEVICE]).exits(0);
        assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
        assert!(!wallet.stand_in.has_session());
    }
}
