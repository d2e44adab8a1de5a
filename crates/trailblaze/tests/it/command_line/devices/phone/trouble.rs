//! Phones that are lost in the middle, full, asleep or noisy; and what is left on them.

use trailblaze_android_stand_in::control::Control;

use super::ProjectPhone;
use crate::support::{Ran, Running, is_full_tier, wait_until};

/// Changes what there is to change, and then looks at the screen until it is stopped.
const WAITING: &str = "\
trail:
  - step: Wait for what never comes
    tools:
      - launchApp: {packageId: com.example.wallet}
      - mobile_setAppearance: {appearance: DARK}
      - mobile_setLocation: {latitude: 52.52, longitude: 13.405}
      - mobile_startRecording: {}
      - waitUntilVisible: {text: never, timeoutMs: 100000}
";

fn settings(wallet: &ProjectPhone) -> String {
    wallet.phone.control(Control::Settings).expect("the phone answers")
}

fn start_waiting(wallet: &ProjectPhone) -> Running {
    wallet.project.write("trails/waiting.trail.yaml", WAITING);
    let mut command = wallet.project.command(&["run", "trails/waiting.trail.yaml", "-d", &wallet.device()]);
    command.env("ADB_SERVER_SOCKET", wallet.server.socket());
    wallet.project.start_of(command)
}

fn until_changed(wallet: &ProjectPhone) {
    wait_until("the trail has changed the phone", || settings(wallet).contains("location gps=52").then_some(()));
}

fn until_put_back(wallet: &ProjectPhone, before: &str) {
    wait_until("the phone is as it was", || (settings(wallet) == before).then_some(()));
    wait_until("no file is left", || (wallet.shell("ls /data/local/tmp").is_empty()).then_some(()));
}

fn said(ran: &Ran) -> String {
    format!("{}{}", ran.stdout, ran.stderr)
}

#[test]
fn a_phone_that_is_lost_in_the_middle_is_named_and_put_back() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    let before = settings(&wallet);

    let running = start_waiting(&wallet);
    until_changed(&wallet);
    wallet.phone.unplug();
    let ran = wallet.project.ended(running).exits(2);
    assert!(said(&ran).contains(&wallet.phone.serial()), "{}", said(&ran));
    wallet.phone.plug_in();
    wallet.server.connect(&wallet.phone).expect("it is connected again");
    until_put_back(&wallet, &before);

    // Android ends with its daemon what that had started, also the shell that would put everything back.
    let running = start_waiting(&wallet);
    until_changed(&wallet);
    wallet.shell("kill -9 $(ps -A -o PID,NAME | grep ' adbd$' | sed 's/ adbd//')");
    let ran = wallet.project.ended(running);
    assert!(ran.code != Some(0) && !said(&ran).contains("bug"), "{}", said(&ran));
    wallet.server.connect(&wallet.phone).expect("it is connected again");
    wallet.run(&["run", "trails/send-money.trail.yaml", "-d", &wallet.device()]).exits(0);
    until_put_back(&wallet, &before);
}

#[test]
fn an_adb_server_that_ends_in_the_middle_is_named_and_the_phone_put_back() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    let before = settings(&wallet);
    let running = start_waiting(&wallet);
    until_changed(&wallet);
    let ProjectPhone { project, server, phone } = wallet;
    let address = server.socket();
    drop(server);
    let ran = project.ended(running).exits(2);
    assert!(said(&ran).contains(address.trim_start_matches("tcp:")), "{}", said(&ran));
    wait_until("the phone is as it was", || {
        (phone.control(Control::Settings).expect("the phone answers") == before).then_some(())
    });
}

#[test]
fn a_phone_that_sleeps_logs_much_or_is_full_is_used_or_named() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    wallet.phone.control(Control::Sleep { locked: true }).expect("the phone answers");
    wallet.project.write(
        "trails/noisy.trail.yaml",
        "trail:\n  - step: Look\n    tools:\n      - launchApp: {packageId: com.example.wallet}\n      \
         - mobile_setAppearance: {appearance: DARK}\n      - waitUntilVisible: {text: Hello, timeoutMs: 100000}\n",
    );
    let mut command = wallet.project.command(&["run", "trails/noisy.trail.yaml", "-d", &wallet.device()]);
    command.env("ADB_SERVER_SOCKET", wallet.server.socket());
    let running = wallet.project.start_of(command);
    wait_until("the trail has launched the app", || settings(&wallet).contains("night=true").then_some(()));
    let noise = Control::Log { level: 'I', tag: "Noise".into(), message: "line {}".into(), count: 50_000 };
    wallet.phone.control(noise).expect("the phone answers");
    wallet.shell("input keyevent KEYCODE_HOME");
    let ran = wallet.project.ended(running).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);

    wallet.shell("cat /dev/zero >/data/filler");
    wallet.project.write("trails/note.txt", "x".repeat(100_000));
    wallet.project.write(
        "trails/full.trail.yaml",
        "trail:\n  - step: Copy\n    tools:\n      - mobile_pushFile: {file: note.txt, path: /sdcard/note.txt}\n",
    );
    let ran = wallet.run(&["run", "trails/full.trail.yaml", "-d", &wallet.device()]).exits(1);
    assert!(said(&ran).contains("has only 0 MB left"), "{}", said(&ran));
    let found = wallet.run(&["device", "doctor", &wallet.device()]);
    assert!(said(&found).contains("MB left"), "{}", said(&found));
}

/// With `SOAK=1` a hundred times, otherwise twice.
#[test]
fn killed_runs_leave_nothing_on_the_phone() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    let before = settings(&wallet);
    let count = if is_full_tier() { 100 } else { 2 };
    for number in 0..count {
        let mut running = start_waiting(&wallet);
        // At another moment each time: at the start, while it changes the phone, and while it waits.
        match number % 4 {
            0 => wait_until("it has begun", || settings(&wallet).contains("animator_duration_scale=0\n").then_some(())),
            1 => until_changed(&wallet),
            2 => wait_until("it is dark", || settings(&wallet).contains("night=true").then_some(())),
            _ => {}
        }
        running.kill();
        running.status();
        until_put_back(&wallet, &before);
    }
    let adb = |words: &[&str]| {
        let output = wallet.server.adb().args(words).output().expect("adb runs");
        String::from_utf8(output.stdout).expect("text")
    };
    assert_eq!(adb(&["forward", "--list"]).trim(), "");
    assert_eq!(adb(&["-s", &wallet.phone.serial(), "reverse", "--list"]).trim(), "");
    wait_until("no process is left", || {
        let processes = wallet.shell("ps -A -o ARGS");
        let is_ours =
            |line: &str| ["screenrecord", "logcat", "trap", "trailblaze"].iter().any(|name| line.contains(name));
        (!processes.lines().any(is_ours)).then_some(())
    });
}
