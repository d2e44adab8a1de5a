//! Trailblaze on the phone itself: adb copies and starts it, and is not there while the trails run. The phone's commands are stand-ins on
//! the simulated app, and the programs are those for Linux: nothing ran on Android.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use trailblaze_android_stand_in::control::Control;
use trailblaze_android_stand_in::launch::TestAdbServer;

use super::{ProjectPhone, android_parts};
use crate::support::{repository, wait_until};

/// As in the header of a program.
const X86_64: u8 = 62;
const AARCH64: u8 = 183;

#[test]
fn trails_run_on_the_phone_itself_without_adb() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    // The phone shows this folder as /dev/socket. As a copy of so large a program would fill its disk, that has it.
    let shared = wallet.phone.folder().join("trailblaze");
    let program = Path::new(env!("CARGO_BIN_EXE_trailblaze"));
    if std::fs::hard_link(program, &shared).is_err() {
        std::fs::copy(program, &shared).expect("the program is copied");
    }
    run_the_wallet(wallet, "/dev/socket/trailblaze");
}

/// In the full tier, after `scripts/phone-binary x86_64`.
#[test]
fn trails_run_by_a_static_program_that_adb_copied() {
    let Some(program) = static_program("x86_64", X86_64) else { return };
    let Some(wallet) = ProjectPhone::connect() else { return };
    push(&wallet, &program, "trailblaze");
    run_the_wallet(wallet, "/data/local/tmp/trailblaze");
}

/// In the full tier, after `scripts/phone-binary aarch64`. Debian's qemu runs this program, and no other: the commands of the phone are
/// those of this machine.
#[test]
fn trails_run_by_a_static_program_for_arm_in_an_emulator() {
    let Some(program) = static_program("aarch64", AARCH64) else { return };
    let emulator = repository().join(".parts/phone-binary/usr/bin/qemu-aarch64-static");
    let Some(wallet) = ProjectPhone::connect_with_arm(&emulator) else { return };
    push(&wallet, &program, "trailblaze");
    run_the_wallet(wallet, "/data/local/tmp/trailblaze");
}

/// No APK was made of it, and no instrumentation started it.
#[test]
fn the_layout_of_a_test_apk_has_all_that_its_program_needs() {
    let Some(wallet) = ProjectPhone::connect() else { return };
    let package = wallet.phone.folder().join("package");
    let mut script = Command::new(repository().join("scripts/phone-package"));
    script.arg(wallet.project.root()).arg(&package).arg(env!("CARGO_BIN_EXE_trailblaze"));
    let packed = script.output().expect("the script starts");
    assert!(packed.status.success(), "{packed:?}");

    assert_eq!(files(&package.join("assets/project")), files(wallet.project.root()));
    let abi = if cfg!(target_arch = "aarch64") { "arm64-v8a" } else { "x86_64" };
    let program = format!("lib/{abi}/libtrailblaze.so");
    let others = ["AndroidManifest.xml", "README.md", "assets/run.sh", "java/dev/trailblaze/phone/RunTrails.java"];
    let mut expected: Vec<&str> = others.into_iter().chain([program.as_str()]).collect();
    expected.sort_unstable();
    let packed = files(&package);
    let packed: Vec<&String> = packed.keys().filter(|path| !path.starts_with("assets/project/")).collect();
    assert_eq!(packed, expected);

    let inside = "/dev/socket/package";
    let (wallet, said) =
        run_without_adb(wallet, &format!("sh {inside}/assets/run.sh {inside}/{program} {inside}/assets"));
    assert!(said.contains("android/local") && said.contains("3 passed"), "{said}");
    assert!(said.ends_with("exit code 0\n"), "{said}");
    let package = wallet.phone.folder().join("package");
    assert_eq!(records(&package.join("assets/logs")), 1);
    assert_eq!(wallet.shell("ls /data/local/tmp"), "");
}

/// What `scripts/phone-binary` built; `None` outside of the stage of the full tier that builds it.
fn static_program(processor: &str, machine: u8) -> Option<PathBuf> {
    let folder = std::env::var_os("TRAILBLAZE_TEST_PHONE_PROGRAMS")?;
    let program = Path::new(&folder).join(processor).join("trailblaze");
    let content = std::fs::read(&program).unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert_eq!((&content[..4], content[18]), (b"\x7fELF".as_slice(), machine), "{}", program.display());
    Some(program)
}

fn run_the_wallet(wallet: ProjectPhone, program: &str) {
    push(&wallet, wallet.project.root(), "wallet");
    let pushed = wallet.shell("ls /data/local/tmp");
    let commands = format!(
        "mkdir /dev/socket/home; cd /data/local/tmp/wallet; export HOME=/dev/socket/home TMPDIR=/dev/socket/home; \
         for command in 'device list' 'run -d android/local'; do {program} $command; done"
    );
    let (wallet, said) = run_without_adb(wallet, &commands);
    assert!(said.contains("android/local") && said.contains("3 passed"), "{said}");
    assert_eq!(wallet.shell("ls /data/local/tmp"), pushed);
    let pulled = wallet.phone.folder().join("pulled");
    let logs = wallet
        .server
        .adb()
        .args(["-s", &wallet.phone.serial(), "pull", "/data/local/tmp/wallet/logs"])
        .arg(&pulled)
        .output();
    assert!(logs.as_ref().is_ok_and(|logs| logs.status.success()), "{logs:?}");
    assert_eq!(records(&pulled), 1);
}

/// Starts commands in the phone's shell, which wait until there is no adb any more: its server ends, and the cable is pulled. When they
/// have ended, there is another server. They must not fail, and must leave the phone as it was. Returns what they print.
fn run_without_adb(wallet: ProjectPhone, commands: &str) -> (ProjectPhone, String) {
    let settings = |phone: &trailblaze_android_stand_in::launch::StandInPhone| {
        phone.control(Control::Settings).expect("the phone answers")
    };
    let before = settings(&wallet.phone);
    let shared = wallet.phone.folder().to_path_buf();
    let script = format!(
        "until [ -e /dev/socket/go ]; do sleep 0.05; done\nps -A -o NAME >/dev/socket/processes\n({commands}); \
         echo $? >/dev/socket/code.new\nmv /dev/socket/code.new /dev/socket/code\n"
    );
    std::fs::write(shared.join("commands"), script).expect("it is written");
    wallet.shell("nohup setsid sh /dev/socket/commands >/dev/socket/said 2>&1 </dev/null &");
    let ProjectPhone { project, server, phone } = wallet;
    phone.unplug();
    let port = server.port();
    drop(server);
    assert_eq!(servers_at(port), Vec::<String>::new());
    std::fs::write(shared.join("go"), "").expect("it is written");

    let read = |name: &str| std::fs::read_to_string(shared.join(name)).unwrap_or_default();
    let code = wait_until("the trails have run", || Some(read("code")).filter(|code| !code.is_empty()));
    let said = read("said");
    assert_eq!(code.trim(), "0", "{said}");
    assert_eq!(settings(&phone), before);
    let processes = read("processes");
    let adb: Vec<&str> = processes.lines().filter(|name| name.contains("adb")).collect();
    assert_eq!(adb, ["adbd"], "{processes}");

    phone.plug_in();
    let server = TestAdbServer::start(&android_parts().expect("adb was there")).expect("an adb server");
    server.connect(&phone).expect("adb reaches it");
    let wallet = ProjectPhone { project, server, phone };
    wait_until("no process is left", || {
        let processes = wallet.shell("ps -A -o ARGS");
        let is_ours =
            |line: &str| ["libtrailblaze", "trailblaze run", "logcat", "trap"].iter().any(|name| line.contains(name));
        (!processes.lines().any(is_ours)).then_some(())
    });
    (wallet, said)
}

/// The command lines of adb servers at this port.
fn servers_at(port: u16) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("the processes").flatten();
    let lines = processes.filter_map(|process| std::fs::read_to_string(process.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(&format!("\0-P\0{port}\0"))).collect()
}

fn push(wallet: &ProjectPhone, from: &Path, name: &str) {
    let mut push = wallet.server.adb();
    push.args(["-s", &wallet.phone.serial(), "push"]).arg(from).arg(format!("/data/local/tmp/{name}"));
    let pushed = push.output().expect("adb runs");
    assert!(pushed.status.success(), "{pushed:?}");
}

/// How many runs on the phone itself have a record in this folder of logs.
fn records(logs: &Path) -> usize {
    let of_the_phone = |path: &String, content: &Vec<u8>| {
        path.ends_with("events.jsonl") && String::from_utf8_lossy(content).contains("\"android/local\"")
    };
    files(logs).iter().filter(|(path, content)| of_the_phone(path, content)).count()
}

/// All files below a folder, with what is in them.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_path_buf()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display())).flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it is below").display().to_string();
                found.insert(name, std::fs::read(&path).expect("it can be read"));
            }
        }
    }
    found
}
