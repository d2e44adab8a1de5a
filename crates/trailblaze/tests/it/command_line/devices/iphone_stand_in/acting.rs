//! What a trail can do to an iPhone besides touching it, on a stand-in for WebDriverAgent, and that it is as it was afterwards.

use serde_json::json;

use super::{DEVICE, ProjectIphone};
use crate::support::wait_until;

const TRAIL: &str = "\
trailhead:
  step: Start the wallet
  tools:
    - ios_launchApp: {appId: com.example.Wallet, launchMode: REINSTALL, arguments: [--fast], environment: [API=test]}
trail:
  - step: Answer the alert of iOS
    tools:
      - waitUntilVisible: {text: Allow Once, timeoutMs: 150000}
      - ios_getAlert: {}
      - ios_acceptAlert: {button: Allow Once}
  - step: Sign in, and answer the alert of the app
    tools:
      - wallet_signIn: {pin: '1234'}
      - waitUntilVisible: {text: Not now, timeoutMs: 150000}
      - ios_dismissAlert: {}
      - assertVisible: {id: balance}
  - step: Change what is set
    tools:
      - mobile_setAppearance: {appearance: DARK}
      - mobile_setOrientation: {orientation: LANDSCAPE}
      - mobile_setLocale: {locale: de-DE, appId: com.example.Wallet}
      - mobile_setLocation: {latitude: 52.52, longitude: 13.405}
      - assertVisible: {id: balance}
  - step: Leave the app, come back and type
    tools:
      - mobile_backgroundApp: {seconds: 0}
      - openUrl: {url: 'wallet://send'}
      - tap: {id: recipient}
      - inputText: {text: Grace}
      - hideKeyboard: {}
      - mobile_twist: {degrees: 45}
  - step: Lock it, and look at what it keeps
    tools:
      - mobile_getAppState: {appId: com.example.Wallet}
      - mobile_setClipboard: {text: Zoë}
      - mobile_getClipboard: {}
      - mobile_lock: {}
      - mobile_unlock: {}
  - verify: XCTest finds no faults
    tools:
      - assertVisible: {text: Grace}
      - assertAccessible: {timeoutMs: 0}
";

#[test]
fn a_trail_answers_alerts_changes_settings_and_leaves_the_iphone_as_it_was() {
    let wallet = ProjectIphone::connect();
    wallet.project.write("trails/all.trail.yaml", TRAIL);
    let running = wallet.project.start(&["run", "trails/all.trail.yaml", "-d", DEVICE]);
    wait_until("the app is in front", || {
        let requests = wallet.stand_in.requests();
        let launched = requests.iter().position(|request| request.ends_with("/wda/apps/launch"))?;
        requests[launched..].iter().any(|request| request == "GET /source").then_some(())
    });
    let expected = json!({"arguments": ["--clear-data", "--fast"], "environment": {"API": "test"}});
    assert_eq!(wallet.stand_in.launched_with(), expected);
    wallet.stand_in.show_alert("“Wallet” Would Like to Use Your Location", &["Don’t Allow", "Allow Once"]);
    let ran = wallet.project.ended(running).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);

    let events = wallet.project.last_run().text("events.jsonl");
    let dialogs: Vec<&str> = events.lines().filter(|line| line.contains(r#""isAccepted""#)).collect();
    let [of_ios, of_the_app] = dialogs[..] else { panic!("two alerts were answered: {dialogs:#?}") };
    assert!(of_ios.contains("Would Like to Use Your Location") && of_ios.contains(r#""isAccepted":true"#), "{of_ios}");
    assert!(of_ios.contains("Allow Once"), "{of_ios}");
    let is_refused = of_the_app.contains("Stay up to date?") && of_the_app.contains(r#""isAccepted":false"#);
    assert!(is_refused, "{of_the_app}");

    let stand_in = &wallet.stand_in;
    let n_sent = |what: &str| stand_in.requests().iter().filter(|request| *request == what).count();
    for (what, n_times) in [
        ("POST /orientation", 2),
        ("POST /wda/device/appearance", 2),
        ("POST /wda/lock", 1),
        ("POST /wda/simulatedLocation", 1),
        ("DELETE /wda/simulatedLocation", 1),
    ] {
        assert_eq!(n_sent(what), n_times, "{what}");
    }
    assert_eq!(stand_in.twists(), [45]);
    let told = |text: &str| events.contains(&format!(r#""text":"{text}""#));
    assert!(told("FOREGROUND") && told("Zoë"), "what was asked for is in the record");
    assert!(!stand_in.is_landscape() && !stand_in.is_dark() && stand_in.location().is_none());
    assert!(!stand_in.has_session());
}

#[test]
fn faults_that_the_audit_finds_fail_the_trail() {
    let wallet = ProjectIphone::connect();
    wallet.stand_in.add_fault("XCUIAccessibilityAuditTypeContrast", "Contrast failed", "\"Sign in\" Button");
    wallet.project.write(
        "trails/audit.trail.yaml",
        "trail:\n  - verify: It is accessible\n    tools:\n      - launchApp: {packageId: com.example.Wallet}\n      \
         - assertAccessible: {timeoutMs: 0}\n",
    );
    let ran = wallet.run(&["run", "trails/audit.trail.yaml", "-d", DEVICE]).exits(1);
    assert!(ran.stdout.contains("Contrast failed (\"Sign in\" Button)"), "{}", ran.stdout);
}
