//! The first process of the phone: it answers commands, runs the real adbd, and lets the test reach it, whose network is another.

use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, WaitOptions};
use tokio::net::{TcpStream, UnixListener};

use crate::commands;
use crate::phone::SimulatedPhone;
use crate::serve::{serve, until_stdin_ends};
use crate::wire::SOCKET;

/// Where the test connects; what arrives goes to adbd.
pub const ADBD_SOCKET: &str = "/dev/socket/adbd";
const TOYBOX: &str = "/usr/bin/toybox";
const ADBD: &str = "/usr/lib/android-sdk/platform-tools/adbd";
const ADBD_PORT: u16 = 5555;

pub async fn boot(phone: Arc<SimulatedPhone>) -> io::Result<()> {
    link_commands()?;
    let up = Command::new(TOYBOX).args(["ifconfig", "lo", "up"]).status()?;
    if !up.success() {
        return Err(io::Error::other("the loopback interface cannot be used"));
    }
    let adbd = start_adbd()?;
    std::thread::spawn(move || reap(adbd));
    let work = async { tokio::try_join!(serve(phone, Path::new(SOCKET)), forward()).map(drop) };
    until_stdin_ends(work).await
}

/// Each command of toybox has a name of its own, unless it is one of ours.
fn link_commands() -> io::Result<()> {
    let toybox = Command::new(TOYBOX).output()?;
    let toybox = String::from_utf8_lossy(&toybox.stdout).into_owned();
    let toybox = toybox.split_whitespace().filter(|name| !commands::NAMES.contains(name)).map(|name| (name, TOYBOX));
    let own = commands::NAMES.iter().map(|name| (*name, "android-stand-in"));
    toybox.chain(own).try_for_each(|(name, program)| symlink(program, Path::new("/system/bin").join(name)))
}

fn start_adbd() -> io::Result<Pid> {
    let log = std::fs::File::create("/dev/socket/adbd.log")?;
    let mut adbd = Command::new(ADBD);
    adbd.env_clear()
        .env("ADBD_PORT", ADBD_PORT.to_string())
        .env("PATH", "/system/bin")
        .env("ANDROID_DATA", "/data")
        .env("EXTERNAL_STORAGE", "/sdcard")
        .env("TMPDIR", "/data/local/tmp");
    let child = adbd.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).current_dir("/").spawn()?;
    Ok(Pid::from_child(&child))
}

/// The first process inherits what others leave behind. What an adbd started ends with it, and it is started again, as `init` does.
fn reap(mut adbd: Pid) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, _))) if pid == adbd => {
                kill_others();
                match start_adbd() {
                    Ok(again) => adbd = again,
                    Err(_) => break,
                }
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
}

/// Everything but this process was started by adbd.
fn kill_others() {
    let own = rustix::process::getpid();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw));
    for pid in pids.filter(|pid| *pid != own) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

async fn forward() -> io::Result<()> {
    let listener = UnixListener::bind(ADBD_SOCKET)?;
    loop {
        let (mut outside, _) = listener.accept().await?;
        // Detached: ends when either end of the connection does.
        tokio::spawn(async move {
            let mut inside = TcpStream::connect(("127.0.0.1", ADBD_PORT)).await?;
            inside.set_nodelay(true)?;
            tokio::io::copy_bidirectional(&mut outside, &mut inside).await
        });
    }
}
