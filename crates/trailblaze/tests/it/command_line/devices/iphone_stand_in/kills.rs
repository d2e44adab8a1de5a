//! Runs that end early, on a stand-in for WebDriverAgent: they leave no session, and the device is as it was.

use super::{DEVICE, ProjectIphone};
use crate::support::{Running, is_full_tier, wait_until};

const WAITS: &str = "\
trail:
  - step: Change what is set, and wait
    tools:
      - launchApp: {packageId: com.example.Wallet}
      - mobile_setAppearance: {appearance: DARK}
      - mobile_setLocation: {latitude: 52.52, longitude: 13.405}
      - mobile_setOrientation: {orientation: LANDSCAPE}
      - waitUntilVisible: {text: Nowhere, timeoutMs: 300000}
";

/// A run that waits in a session, after it has turned the device.
fn waiting(wallet: &ProjectIphone) -> Running {
    wallet.project.write("trails/waits.trail.yaml", WAITS);
    let before = wallet.stand_in.requests().len();
    let running = wallet.project.start(&["run", "trails/waits.trail.yaml", "-d", DEVICE]);
    wait_until("the device is turned", || {
        let requests = wallet.stand_in.requests().split_off(before);
        let turned = requests.iter().rposition(|request| request == "POST /orientation")?;
        requests[turned..].iter().any(|request| request == "GET /source").then_some(())
    });
    assert!(is_changed(wallet));
    assert!(wallet.stand_in.has_session());
    running
}

fn is_changed(wallet: &ProjectIphone) -> bool {
    let stand_in = &wallet.stand_in;
    stand_in.is_landscape() && stand_in.is_dark() && stand_in.location().is_some()
}

fn is_as_it_was(wallet: &ProjectIphone) -> bool {
    let stand_in = &wallet.stand_in;
    !(stand_in.is_landscape() || stand_in.is_dark() || stand_in.location().is_some() || stand_in.has_session())
}

#[test]
fn a_run_that_is_interrupted_leaves_the_iphone_as_it_was() {
    let wallet = ProjectIphone::connect();
    let running = waiting(&wallet);
    running.interrupt();
    wallet.project.ended(running).exits(2);
    assert!(is_as_it_was(&wallet));
}

#[test]
fn a_run_that_is_killed_leaves_the_iphone_as_it_was() {
    let wallet = ProjectIphone::connect();
    for _ in 0..if is_full_tier() { 20 } else { 1 } {
        let mut running = waiting(&wallet);
        running.kill();
        running.status();
        wait_until("the iphone is as it was", || is_as_it_was(&wallet).then_some(()));
    }
    let ran = wallet.run(&["run", "trails/wrong-pin.trail.yaml", "-d", DEVICE]).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
    assert!(is_as_it_was(&wallet));
}
