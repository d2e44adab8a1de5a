//! iPhones behind a stand-in for WebDriverAgent, which serves the simulated app: neither WebDriverAgent nor an iPhone was used.

mod acting;
#[cfg(target_os = "linux")]
mod everywhere;
mod kills;
mod stand_in_mac;
mod together;

use std::time::Duration;

use serde_json::Value;
use trailblaze_ios_stand_in::{Behaviour, CLEAR_DATA, StandIn};

use crate::support::{Project, Ran, is_full_tier};

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
fn html_in_place_of_an_answer_does_not_fail_a_trail() {
    let wallet = ProjectIphone::connect();
    wallet.stand_in.behave(Behaviour { html_errors: 1, ..Behaviour::default() });
    let ran = wallet.run(&["run", "trails/wrong-pin.trail.yaml", "-d", DEVICE]).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
}

/// In the full tier, because it takes as long as a trail waits.
#[test]
fn a_stand_in_whose_trees_take_half_a_minute_is_named_and_the_run_ends() {
    if !is_full_tier() {
        return;
    }
    let wallet = ProjectIphone::connect();
    wallet.stand_in.behave(Behaviour { slow_tree: Duration::from_secs(30), ..Behaviour::default() });
    let ran = wallet.run(&["run", "trails/wrong-pin.trail.yaml", "-d", DEVICE]).exits(2);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("WebDriverAgent did not answer `GET /source`") || said.contains("is slow"), "{said}");
    wallet.project.last_run().assert_finished(2);
}

#[test]
fn several_iphones_are_used_in_one_run() {
    let wallet = ProjectIphone::connect();
    let app = wallet.project.root().join("wallet.app.yaml");
    let other = trailblaze_ios_stand_in::start(&[app]).expect("a stand-in");
    let entry =
        format!("devices:\n  - id: ios/other\n    wda: {}\n    clearDataArguments: [{CLEAR_DATA}]\n", other.address());
    let text = wallet.project.read("trailblaze.yaml");
    wallet.project.write("trailblaze.yaml", text.replacen("devices:\n", &entry, 1));
    let devices = format!("{DEVICE},ios/other");
    let ran = wallet.run(&["run", "trails/wrong-pin.trail.yaml", "--pictures", "off", "-d", &devices]).exits(0);
    assert!(ran.stdout.contains("2 passed"), "{}", ran.stdout);
    for stand_in in [&wallet.stand_in, &other] {
        let launched = stand_in.requests().iter().filter(|request| request.ends_with("/wda/apps/launch")).count();
        assert_eq!(launched, 1, "the trail ran on each");
        assert!(!stand_in.has_session());
    }
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
