//! Through the real adb client, the real adb server and the real adbd.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use trailblaze_android_stand_in::control::{Control, PhoneBehaviour};

use crate::support::{Connected, elements, find, has_text, until};

#[test]
fn the_real_adb_uses_the_phone() {
    let Some(connected) = Connected::start() else { return };

    let output = connected.adb(&["shell", "echo out; echo err >&2; exit 7"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!((&*output.stdout, &*output.stderr), (&b"out\n"[..], &b"err\n"[..]));
    assert_eq!(connected.shell("getprop ro.build.version.sdk"), "34\n");
    assert_eq!(connected.shell("cat /proc/self/comm; echo $KSH_VERSION").lines().next(), Some("cat"));
    assert!(connected.shell("echo $KSH_VERSION").contains("MIRBSD KSH"), "the shell is a phone's");

    assert_eq!(
        connected.shell("am start -n com.example.wallet/.MainActivity"),
        "Starting: Intent { cmp=com.example.wallet/.MainActivity }\n"
    );
    let dump = || {
        let output = connected.adb(&["exec-out", "uiautomator", "dump", "/dev/tty"]);
        let text = String::from_utf8(output.stdout).unwrap();
        let xml = text.strip_suffix("UI hierchary dumped to: /dev/tty\n");
        elements(xml.unwrap_or_else(|| panic!("{text}")))
    };
    let tap = |id: &str| {
        let (x, y) = find(&dump(), id).center();
        connected.shell(&format!("input tap {x} {y}"));
    };
    assert!(has_text(&dump(), "Welcome back"));
    tap("email");
    connected.shell("input text ada@example.com");
    tap("pin");
    connected.shell("input text 1234");
    tap("submit");
    until(|| has_text(&dump(), "Stay up to date?"));
    tap("notNow");
    assert_eq!(find(&dump(), "balance").get("text"), "€120.00");

    let picture = connected.adb(&["exec-out", "screencap", "-p"]).stdout;
    let mut reader = png::Decoder::new(std::io::Cursor::new(&picture)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (1080, 2400));
    assert!(pixels.chunks(4).any(|pixel| pixel != &pixels[..4]), "it shows something");

    let folder = tempfile::TempDir::new().unwrap();
    let (here, back) = (folder.path().join("here"), folder.path().join("back"));
    std::fs::write(&here, &picture).unwrap();
    let pushed = connected.adb(&["push", here.to_str().unwrap(), "/sdcard/picture.png"]);
    assert!(pushed.status.success(), "{pushed:?}");
    connected.shell("screencap -p /data/local/tmp/again.png");
    let pulled = connected.adb(&["pull", "/sdcard/picture.png", back.to_str().unwrap()]);
    assert!(pulled.status.success(), "{pulled:?}");
    assert_eq!(std::fs::read(&back).unwrap(), picture);
    assert_eq!(connected.shell("cmp /sdcard/picture.png /data/local/tmp/again.png && echo same"), "same\n");

    let port = connected.adb(&["forward", "tcp:0", "localfilesystem:/dev/socket/stand-in"]).stdout;
    let port: u16 = String::from_utf8(port).unwrap().trim().parse().unwrap();
    let mut forwarded = TcpStream::connect(("127.0.0.1", port)).unwrap();
    forwarded.write_all(b"{\"Control\":\"Settings\"}\n").unwrap();
    let mut settings = String::new();
    forwarded.read_to_string(&mut settings).unwrap();
    assert!(settings.contains("global window_animation_scale=1.0"), "{settings}");
    connected.adb(&["forward", "--remove-all"]);
}

#[test]
fn a_phone_in_trouble_recovers_and_leaves_nothing_behind() {
    let Some(connected) = Connected::start() else { return };
    the_cable_is_pulled(&connected);
    adbd_is_killed(&connected);
    the_disk_is_full(&connected);

    let folder = connected.phone.folder().to_path_buf();
    assert!(connected.phone.adbd_log().contains("adbd started"));
    assert!(processes_with_mounts_of(&folder) >= 2, "adbd and the first process");
    drop(connected);
    assert_eq!(processes_with_mounts_of(&folder), 0);
    assert!(!folder.exists());
}

#[test]
fn a_killed_test_leaves_nothing_behind() {
    let Some(parts) = crate::support::parts() else { return };
    drop(parts);
    let folder = tempfile::TempDir::new().unwrap();
    let mut starting = Command::new(crate::support::PROGRAM);
    starting.args(["phone", "--parts"]).arg(crate::support::parts_folder()).env("TMPDIR", folder.path());
    let mut test = starting.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(test.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("export ADB_SERVER_SOCKET=tcp:127.0.0.1:"), "{said}");
    assert!(processes_with_mounts_of(folder.path()) >= 2);
    test.kill().unwrap();
    test.wait().unwrap();
    until(|| processes_with_mounts_of(folder.path()) == 0 && std::fs::read_dir(folder.path()).unwrap().count() == 0);
}

fn the_cable_is_pulled(connected: &Connected) {
    let state = || String::from_utf8(connected.adb(&["get-state"]).stdout).unwrap();
    assert_eq!(state(), "device\n");
    connected.phone.unplug();
    until(|| state() != "device\n");
    connected.phone.plug_in();
    answers_again(connected);
}

fn answers_again(connected: &Connected) {
    connected.server.connect(&connected.phone).unwrap();
    until(|| connected.adb(&["shell", "wm size"]).stdout == b"Physical size: 1080x2400\n");
}

/// A command that waits ends with it.
fn adbd_is_killed(connected: &Connected) {
    let slow = PhoneBehaviour { slow_dump: 600_000, ..PhoneBehaviour::default() };
    connected.phone.control(Control::Behave(slow)).unwrap();
    let mut dump = connected.server.adb();
    let mut dump = dump.args(["-s", &connected.phone.serial(), "shell", "uiautomator dump"]).spawn().unwrap();
    until(|| connected.shell("ps -A -o NAME").contains("uiautomator"));
    connected.adb(&["shell", "kill -9 $(ps -A -o PID,NAME | grep ' adbd$' | sed 's/ adbd//')"]);
    dump.wait().unwrap();
    answers_again(connected);
    until(|| !connected.shell("ps -A -o NAME").contains("uiautomator"));
}

fn the_disk_is_full(connected: &Connected) {
    connected.adb(&["shell", "cat /dev/zero >/data/filler"]);
    assert!(connected.shell("df /data").contains("100%"));
    let output = connected.adb(&["shell", "screencap -p /sdcard/picture.png"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "Failed to compress PNG (error code: -2)\n");
    let pushed = connected.adb(&["push", crate::support::PROGRAM, "/sdcard/program"]);
    let said = [pushed.stdout, pushed.stderr].concat();
    assert!(String::from_utf8_lossy(&said).contains("No space left on device"), "{}", String::from_utf8_lossy(&said));
}

fn processes_with_mounts_of(folder: &Path) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let has_folder = |mounts: String| mounts.contains(folder.to_str().unwrap());
    processes.filter(|path| std::fs::read_to_string(path.join("mountinfo")).is_ok_and(has_folder)).count()
}
