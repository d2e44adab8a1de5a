//! Starts the real adb server and phones for a test. Everything ends with the values here, however the test ends: the first process of
//! each group of namespaces ends when its standard input does, and with it all others there.

mod cable;
mod passage;

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use trailblaze_protocol::geometry::Rect;

use self::cable::Cable;
use self::passage::Passage;
use crate::control::Control;
use crate::web_view::BROWSER;
use crate::wire::{ShellFrame, StandInRequest, send_request};

/// How long something may take that only a hung program exceeds.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is asked whether something is ready.
const TICK: Duration = Duration::from_millis(20);

#[derive(Debug, thiserror::Error)]
pub enum StandInStartError {
    #[error("the Android programs are missing in {}; `scripts/parts` installs them", .0.display())]
    NotInstalled(PathBuf),
    #[error("this machine does not let `unshare` make namespaces: {0}")]
    NoNamespaces(String),
    #[error("{what}: {error}")]
    Io { what: &'static str, error: io::Error },
    #[error("{what} was not ready after {} s: {last}", PATIENCE.as_secs())]
    NotReady { what: &'static str, last: String },
}

fn io_error(what: &'static str) -> impl Fn(io::Error) -> StandInStartError {
    move |error| StandInStartError::Io { what, error }
}

/// The real adb and adbd, as `scripts/parts` unpacked them.
#[derive(Debug, Clone)]
pub struct AndroidParts {
    folder: PathBuf,
}

impl AndroidParts {
    /// Checks that they are there, and that this machine can confine them.
    pub fn find(folder: &Path) -> Result<AndroidParts, StandInStartError> {
        let parts = AndroidParts { folder: folder.to_path_buf() };
        if !parts.adb().is_file() || !parts.folder.join("adbd/usr/bin/mksh-static").is_file() {
            return Err(StandInStartError::NotInstalled(parts.folder));
        }
        let tried =
            Command::new("unshare").args(namespaces(true)).args(["mount", "-t", "tmpfs", "none", "/tmp"]).output();
        match tried {
            Ok(output) if output.status.success() => Ok(parts),
            Ok(output) => {
                Err(StandInStartError::NoNamespaces(String::from_utf8_lossy(&output.stderr).trim().to_string()))
            }
            Err(error) => Err(StandInStartError::NoNamespaces(error.to_string())),
        }
    }

    /// The real adb, with its libraries.
    pub fn adb(&self) -> PathBuf {
        self.folder.join("bin/adb")
    }
}

/// Namespaces that all end with the first process in them. It is root there, and nowhere else.
fn namespaces(has_own_network: bool) -> impl Iterator<Item = &'static str> {
    let network = has_own_network.then_some("--net");
    ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child"].into_iter().chain(network).chain(["--"])
}

/// A command in namespaces of its own. Its folder is removed after it, also if the test was killed.
fn confined(has_own_network: bool, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    // adbd ends commands by SIGHUP, which they must not ignore because a test was started by `nohup`.
    command
        .args(["-c", "folder=$1; shift; env --default-signal=HUP unshare \"$@\"; rm -rf \"$folder\"", "sh"])
        .arg(folder);
    command.args(namespaces(has_own_network));
    command
}

/// Namespaces with a first process that ends when its standard input does.
#[derive(Debug)]
struct Confined(Child);

impl Drop for Confined {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let since = Instant::now();
        while matches!(self.0.try_wait(), Ok(None)) {
            if since.elapsed() > PATIENCE {
                let _ = self.0.kill();
            }
            std::thread::sleep(TICK);
        }
    }
}

/// A real adb server on a port of its own, which sees no phone but those of the test.
#[derive(Debug)]
pub struct TestAdbServer {
    port: u16,
    parts: AndroidParts,
    // Ends before its folder is removed.
    _process: Confined,
    home: TempDir,
}

impl TestAdbServer {
    pub fn start(parts: &AndroidParts) -> Result<TestAdbServer, StandInStartError> {
        // Another program may take the port before adb does; then it is another port's turn.
        let mut last = String::new();
        for _ in 0..5 {
            let home = TempDir::new().map_err(io_error("a temporary folder"))?;
            let port = free_port().map_err(io_error("a free port"))?;
            let log = std::fs::File::create(home.path().join("adb.log")).map_err(io_error("a log"))?;
            let script = "mount -t tmpfs none /dev/bus 2>/dev/null; \"$1\" -P \"$2\" nodaemon server </dev/null & exec cat >/dev/null";
            let process = confined(false, home.path())
                .args(["sh", "-c", script, "sh"])
                .arg(parts.adb())
                .arg(port.to_string())
                .env_remove("ADB_SERVER_SOCKET")
                .env_remove("ANDROID_SERIAL")
                .env_remove("ADB_VENDOR_KEYS")
                .env("HOME", home.path())
                .env("TMPDIR", home.path())
                // It looks for emulators at ports up to this one.
                .env("ADB_LOCAL_TRANSPORT_MAX_PORT", "5554")
                .env("ADB_MDNS", "0")
                .stdin(Stdio::piped())
                .stdout(log.try_clone().map_err(io_error("a log"))?)
                .stderr(log)
                .spawn()
                .map_err(io_error("unshare"))?;
            let process = Confined(process);
            match wait_for("the adb server", || ask(port, "host:version").map(drop)) {
                Ok(()) => return Ok(TestAdbServer { port, parts: parts.clone(), _process: process, home }),
                Err(error) => last = error.to_string(),
            }
        }
        Err(StandInStartError::NotReady { what: "the adb server", last })
    }

    /// The value of ADB_SERVER_SOCKET for clients. They take an address for another machine's, and never start a server themselves.
    pub fn socket(&self) -> String {
        format!("tcp:127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The adb client, which uses this server.
    pub fn adb(&self) -> Command {
        let mut adb = Command::new(self.parts.adb());
        adb.env("ADB_SERVER_SOCKET", self.socket()).env("HOME", self.home.path()).env_remove("ANDROID_SERIAL");
        adb.stdin(Stdio::null());
        adb
    }

    /// Connects a phone, and waits until it can be used.
    pub fn connect(&self, phone: &StandInPhone) -> Result<(), StandInStartError> {
        let serial = phone.serial();
        wait_for("the phone", || {
            ask(self.port, &format!("host:connect:{serial}"))?;
            match ask(self.port, &format!("host-serial:{serial}:get-state"))?.as_str() {
                "device" => Ok(()),
                state => Err(io::Error::other(format!("its state is `{state}`"))),
            }
        })
    }
}

/// A phone: the real adbd and the commands of its shell.
#[derive(Debug)]
pub struct StandInPhone {
    cable: Cable,
    browser: Option<Passage>,
    _process: Confined,
    work: TempDir,
}

impl StandInPhone {
    /// `program` is this crate's program; without apps, the phone has the wallet of the examples.
    pub fn start(parts: &AndroidParts, program: &Path, apps: &[PathBuf]) -> Result<StandInPhone, StandInStartError> {
        StandInPhone::boot(parts, program, apps, None)
    }

    /// A phone that also runs programs for 64-bit ARM, in an emulator: the path of a static `qemu-aarch64`. Its own commands stay those of
    /// this machine. Needs Linux 6.7, where namespaces have settings of their own for this.
    pub fn start_with_arm(
        parts: &AndroidParts,
        program: &Path,
        apps: &[PathBuf],
        emulator: &Path,
    ) -> Result<StandInPhone, StandInStartError> {
        StandInPhone::boot(parts, program, apps, Some(emulator))
    }

    fn boot(
        parts: &AndroidParts,
        program: &Path,
        apps: &[PathBuf],
        emulator: Option<&Path>,
    ) -> Result<StandInPhone, StandInStartError> {
        let work = TempDir::new().map_err(io_error("a temporary folder"))?;
        let mut arguments = Vec::new();
        for (index, app) in apps.iter().enumerate() {
            let name = format!("{index}.app.yaml");
            std::fs::copy(app, work.path().join(&name)).map_err(io_error("the file of an app"))?;
            arguments.extend(["--app".to_string(), format!("/dev/socket/{name}")]);
        }
        let log = std::fs::File::create(work.path().join("boot.log")).map_err(io_error("a log"))?;
        let process = confined(true, work.path())
            .args(["sh", "-c", include_str!("../boot.sh"), "sh"])
            .args([work.path(), &parts.folder, program, emulator.unwrap_or(Path::new(""))])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().map_err(io_error("a log"))?)
            .stderr(log)
            .spawn()
            .map_err(io_error("unshare"))?;
        let process = Confined(process);
        let sockets = ["stand-in", "adbd"].map(|name| work.path().join(name));
        let is_up =
            wait_for("the phone", || sockets.iter().try_for_each(|socket| UnixStream::connect(socket).map(drop)));
        if let Err(error) = is_up {
            let said = std::fs::read_to_string(work.path().join("boot.log")).unwrap_or_default();
            return Err(StandInStartError::NotReady { what: "the phone", last: format!("{error}\n{said}") });
        }
        let cable = Cable::plug_in(work.path().join("adbd")).map_err(io_error("a port"))?;
        Ok(StandInPhone { cable, browser: None, _process: process, work })
    }

    /// By which adb knows the phone.
    pub fn serial(&self) -> String {
        format!("127.0.0.1:{}", self.cable.port())
    }

    /// Breaks all connections, and lets none be made until [`plug_in`](StandInPhone::plug_in).
    pub fn unplug(&self) {
        self.cable.set_plugged(false);
    }

    pub fn plug_in(&self) {
        self.cable.set_plugged(true);
    }

    /// Lets the app in front show a web view there, with the page of the browser whose debugging port this is.
    pub fn show_web_view(&mut self, browser: u16, area: Rect) -> io::Result<()> {
        self.browser = Some(Passage::open(self.work.path().join(BROWSER), browser)?);
        match self.control(Control::ShowWebView { area })?.as_str() {
            "" => Ok(()),
            said => Err(io::Error::other(said.to_string())),
        }
    }

    /// Does something to the phone that a user cannot do; returns what that answers.
    pub fn control(&self, control: Control) -> io::Result<String> {
        let mut connection = UnixStream::connect(self.work.path().join("stand-in"))?;
        send_request(&mut connection, &StandInRequest::Control(control), &[])?;
        let mut text = String::new();
        while let Some(frame) = ShellFrame::read(&mut connection)? {
            match frame {
                ShellFrame::Stdout(bytes) => text.push_str(&String::from_utf8_lossy(&bytes)),
                ShellFrame::Exit(_) => return Ok(text),
                _ => {}
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }

    /// The folder of its sockets and logs, which is removed with it.
    pub fn folder(&self) -> &Path {
        self.work.path()
    }

    /// What adbd logged.
    pub fn adbd_log(&self) -> String {
        std::fs::read_to_string(self.work.path().join("adbd.log")).unwrap_or_default()
    }
}

fn free_port() -> io::Result<u16> {
    TcpListener::bind(("127.0.0.1", 0))?.local_addr().map(|address| address.port())
}

fn wait_for(what: &'static str, is_ready: impl Fn() -> io::Result<()>) -> Result<(), StandInStartError> {
    let since = Instant::now();
    loop {
        match is_ready() {
            Ok(()) => return Ok(()),
            Err(error) if since.elapsed() > PATIENCE => {
                return Err(StandInStartError::NotReady { what, last: error.to_string() });
            }
            Err(_) => std::thread::sleep(TICK),
        }
    }
}

/// Asks the adb server.
fn ask(port: u16, request: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{:04x}{request}", request.len()).as_bytes())?;
    let mut status = [0; 4];
    stream.read_exact(&mut status)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = std::str::from_utf8(&length).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
    let mut text = String::new();
    stream.take(length.unwrap_or_default()).read_to_string(&mut text)?;
    if &status == b"OKAY" { Ok(text) } else { Err(io::Error::other(text)) }
}
