//! Phones that are lost in the middle, full, asleep or noisy; and what is left on them.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use trailblaze_android_stand_in::control::{Control, PhoneBehaviour};

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

/// Another program that automates the phone has it for itself, until it ends.
#[test]
fn two_clients_of_one_phone_are_told_about_each_other_and_both_go_on() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    let run = || wallet.run(&["run", "trails/send-money.trail.yaml", "-d", &wallet.device()]);
    let slow = PhoneBehaviour { slow_dump: 400, ..PhoneBehaviour::default() };
    wallet.phone.control(Control::Behave(slow)).expect("the phone answers");
    // Uses the phone as another client of adb does, all the time: looking, copying, logging, forwarding.
    let other = "\"$@\" forward tcp:0 tcp:9; \
                 while [ ! -e stop ] && \"$@\" shell 'uiautomator dump /sdcard/other.xml; logcat -d -t 5; getprop'; do :; done";
    let adb = wallet.server.adb();
    let mut busy = Command::new("sh");
    busy.args(["-c", other, "sh"]).arg(adb.get_program()).args(["-s", &wallet.phone.serial()]);
    busy.envs(adb.get_envs().filter_map(|(name, value)| Some((name, value?))));
    busy.current_dir(wallet.project.root()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut busy = Running::of(busy.spawn().expect("it starts"));
    wait_until("the other has looked", || wallet.shell("ls /sdcard").contains("other.xml").then_some(()));
    let ran = run();
    // It ends with its last command, so that nothing of it is left on the phone.
    wallet.project.write("stop", "");
    assert!(busy.status().success());
    assert!(ran.exits(0).stdout.contains("1 passed"));
    let forwards = wallet.server.adb().args(["forward", "--list"]).output().expect("adb runs");
    assert_eq!(String::from_utf8_lossy(&forwards.stdout).matches(" tcp:9").count(), 1, "that of the other stays");

    // A program that keeps the connection for automation, as Appium does.
    let mut owner = wallet.server.adb();
    owner.args(["-s", &wallet.phone.serial(), "shell", "CLASSPATH=/x app_process / dev.trailblaze.server.Main other"]);
    let mut owner = owner.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("adb runs");
    let mut line = String::new();
    BufReader::new(owner.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    assert_eq!(line.trim(), "ready");
    let refused = run();
    assert!(refused.code != Some(0), "{}", said(&refused));
    assert!(said(&refused).contains("another program uses `uiautomator` on this phone"), "{}", said(&refused));
    owner.kill().expect("it ends");
    owner.wait().expect("it has ended");
    wait_until("the phone is free", || wallet.shell("uiautomator dump /dev/null").contains("dumped").then_some(()));
    run().exits(0);
}

/// Nothing compares a time of the phone with one of this machine.
#[test]
fn a_phone_with_a_wrong_clock_is_used_and_its_log_told() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    wallet.project.write(
        "trails/crash.trail.yaml",
        "trail:\n  - step: Break it\n    tools:\n      - launchApp: {packageId: com.example.wallet}\n      \
         - adbShell: {command: am crash com.example.wallet}\n      - tap: {id: submit, timeoutMs: 1000}\n",
    );
    let year = 365 * 24 * 60 * 60;
    for ahead in [-50 * year, 30 * year] {
        wallet.phone.control(Control::SetClock { ahead }).expect("the phone answers");
        let clock: i64 = wallet.shell("date +%s").trim().parse().expect("seconds");
        assert!(clock < year * 20 || clock > year * 80, "{clock}");
        let before = settings(&wallet);
        let ran = wallet.run(&["run", "trails/send-money.trail.yaml", "-d", &wallet.device()]).exits(0);
        assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
        let crashed = wallet.run(&["run", "trails/crash.trail.yaml", "-d", &wallet.device()]).exits(1);
        assert!(said(&crashed).contains("CrashedByAdbException: shell-induced crash"), "{}", said(&crashed));
        // Otherwise its dialog stays in front.
        wallet.shell("input keyevent KEYCODE_BACK");
        assert_eq!(settings(&wallet), before);
    }
}

/// While nothing can be written, a session changes nothing that it could not put back.
#[test]
fn a_session_on_a_full_phone_works_or_is_refused_and_leaves_it_as_it_was() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    let before = settings(&wallet);
    wallet.shell("cat /dev/zero >/data/filler");
    let ran = wallet.run(&["run", "trails/send-money.trail.yaml", "-d", &wallet.device()]).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
    assert_eq!(settings(&wallet), before);
    let mut running = start_waiting(&wallet);
    until_changed(&wallet);
    running.kill();
    running.status();
    wallet.shell("rm /data/filler");
    until_put_back(&wallet, &before);
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
