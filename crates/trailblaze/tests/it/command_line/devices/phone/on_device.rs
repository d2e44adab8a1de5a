//! Trailblaze on the phone itself: adb copies and starts it, and is not there while the trails run. The phone's commands are stand-ins on
//! the simulated app, and the program is that of this machine: it did not run on Android.

use std::path::Path;

use trailblaze_android_stand_in::control::Control;

use super::ProjectPhone;
use crate::support::wait_until;

#[test]
fn trails_run_on_the_phone_itself_without_adb() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    let settings = || wallet.phone.control(Control::Settings).expect("the phone answers");
    let before = settings();
    // The phone shows this folder as /dev/socket. As a copy of so large a program would fill its disk, that has it.
    let shared = wallet.phone.folder();
    let program = Path::new(env!("CARGO_BIN_EXE_trailblaze"));
    if std::fs::hard_link(program, shared.join("trailblaze")).is_err() {
        std::fs::copy(program, shared.join("trailblaze")).expect("the program is copied");
    }
    let mut push = wallet.server.adb();
    push.args(["-s", &wallet.phone.serial(), "push"]).arg(wallet.project.root()).arg("/data/local/tmp/wallet");
    let pushed = push.output().expect("adb runs");
    assert!(pushed.status.success(), "{pushed:?}");
    let run = "cd /data/local/tmp/wallet; mkdir ../home; export HOME=/data/local/tmp/home TMPDIR=/data/local/tmp/home; \
               for command in 'device list' 'run -d android/local'; do /dev/socket/trailblaze $command; done; echo $? >/dev/socket/code.new; \
               mv /dev/socket/code.new /dev/socket/code";
    wallet.shell(&format!("nohup setsid sh -c \"{}\" >/dev/socket/said 2>&1 </dev/null &", run.replace('$', "\\$")));
    wallet.phone.unplug();
    let read = |name: &str| std::fs::read_to_string(shared.join(name)).unwrap_or_default();
    let code = wait_until("the trails have run", || Some(read("code")).filter(|code| !code.is_empty()));
    let said = read("said");
    assert_eq!(code.trim(), "0", "{said}");
    assert!(said.contains("android/local") && said.contains("3 passed"), "{said}");
    assert_eq!(settings(), before);
}
