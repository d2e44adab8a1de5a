//! What a trail can do to a phone besides touching it, and that the phone is as it was afterwards.

use trailblaze_android_stand_in::control::Control;
use trailblaze_protocol::event::{CallResult, Event};

use super::ProjectPhone;
use crate::support::{RunFolder, files};

/// Sets, installs, copies and records everything that can be.
const TRAIL: &str = "\
trailhead:
  step: Start the wallet
  tools:
    - launchApp: {packageId: '{{target.appId}}'}
trail:
  - step: Change what is set
    tools:
      - mobile_setAppearance: {appearance: DARK}
      - mobile_setOrientation: {orientation: LANDSCAPE}
      - mobile_setLocale: {locale: de-DE}
      - mobile_setLocation: {latitude: 52.52, longitude: 13.405}
      - mobile_setLocation: {latitude: 48.137, longitude: 11.575}
      - adbShell: {command: settings get system user_rotation}
  - step: Copy a file there and back
    tools:
      - mobile_pushFile: {file: note.txt, path: /sdcard/Download/note.txt}
      - mobile_pullFile: {path: /sdcard/Download/note.txt}
      - adbShell: {command: rm /sdcard/Download/note.txt}
  - step: Leave the app, and record that
    tools:
      - mobile_startRecording: {}
      - mobile_backgroundApp: {seconds: 0}
      - mobile_stopRecording: {}
      - mobile_currentApp: {}
  - step: Lock the phone and unlock it
    tools:
      - mobile_getAppState: {appId: com.example.wallet}
      - mobile_lock: {}
      - adbShell: {command: dumpsys power}
      - mobile_unlock: {}
      - adbShell: {command: dumpsys power}
  - step: Give it a permission and take it away
    tools:
      - grantPermission: {packageId: com.example.wallet, permission: CAMERA}
      - mobile_revokePermission: {permission: CAMERA}
  - step: Remove it and install it again
    tools:
      - mobile_uninstallApp: {appId: com.example.wallet}
      - mobile_getAppState: {appId: com.example.wallet}
      - mobile_installApp: {file: wallet.apk}
      - launchApp: {packageId: com.example.wallet, launchMode: RESUME}
  - verify: It is there
    tools:
      - assertVisible: {text: Welcome back}
";

#[test]
fn a_trail_sets_installs_copies_and_records_and_leaves_the_phone_as_it_was() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    wallet.project.write("trails/all.trail.yaml", TRAIL);
    wallet.project.write("trails/note.txt", "grüße\n");
    // The stand-in for `pm install` reads no APKs, but looks for the id of a package that it knows.
    wallet.project.write("trails/wallet.apk", "com.example.wallet");
    let settings = || wallet.phone.control(Control::Settings).expect("the phone answers");
    let before = settings();
    let ran = wallet.run(&["run", "trails/all.trail.yaml", "-d", &wallet.device()]).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
    assert_eq!(settings(), before);
    assert_eq!(wallet.shell("ls /data/local/tmp /sdcard/Download"), "/data/local/tmp:\n\n/sdcard/Download:\n");
    let granted = wallet.phone.control(Control::Permissions { package: "com.example.wallet".to_string() });
    assert_eq!(granted.expect("the phone answers"), "");

    let run = wallet.project.last_run();
    let told = |tool: &str| answers(&run, tool).remove(0);
    assert_eq!(told("mobile_pullFile"), "grüße\n");
    assert_eq!(told("mobile_currentApp"), "com.example.wallet com.example.wallet.MainActivity");
    let commands = answers(&run, "adbShell");
    assert_eq!(commands[0].trim(), "1");
    assert!(commands[2].contains("mWakefulness=Asleep") && commands[3].contains("mWakefulness=Awake"), "{commands:?}");
    assert_eq!(answers(&run, "mobile_getAppState"), ["FOREGROUND", "NOT_INSTALLED"]);
    let has_ending = |ending: &str| files(&run.path).iter().any(|file| file.extension().is_some_and(|it| it == ending));
    assert!(has_ending("mp4") && has_ending("txt"), "{:?}", files(&run.path));
}

/// What the calls of a tool answered.
fn answers(run: &RunFolder, tool: &str) -> Vec<String> {
    let calls: Vec<_> =
        run.calls().into_iter().filter(|called| called.tool == tool).map(|called| called.call).collect();
    let text = |event| match event {
        Event::Answered { call, answer: CallResult::Outcome(outcome), .. } if calls.contains(&call) => {
            Some(outcome.text)
        }
        _ => None,
    };
    run.events().into_iter().filter_map(text).collect()
}

#[test]
fn a_crash_is_named_in_the_failure_with_the_start_of_its_stack_trace() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    wallet.project.write(
        "trails/crash.trail.yaml",
        "trail:\n  - step: Break it\n    tools:\n      - launchApp: {packageId: com.example.wallet}\n      \
         - adbShell: {command: am crash com.example.wallet}\n      - tap: {id: submit, timeoutMs: 1000}\n",
    );
    let ran = wallet.run(&["run", "trails/crash.trail.yaml", "-d", &wallet.device()]).exits(1);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("FATAL EXCEPTION: main"), "{said}");
    assert!(said.contains("CrashedByAdbException: shell-induced crash"), "{said}");
    assert!(said.contains("MainActivity.onClick(MainActivity.java:42)"), "{said}");
}
