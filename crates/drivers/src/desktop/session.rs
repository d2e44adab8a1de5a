//! A session of our own for a desktop device: an X server without a screen, a D-Bus session bus, and an empty home folder. All of it ends
//! with us.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::pipe;
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_protocol::geometry::Size;
use trailblaze_supervise::{Child, Grace, Launch, Running, Supervisor};

use super::output::ProgramOutput;
use super::programs::{Programs, SESSION_PROGRAMS};
use super::x11::XAddress;

/// How long the X server and the bus may take to start.
const STARTUP: Duration = Duration::from_secs(30);
/// Programs of a session get as long as this after SIGTERM.
pub const AFTER_TERM: Duration = Duration::from_secs(2);
/// The X server outlives the programs that use it, so that its folder is removed last.
const XVFB_GRACE: Grace = Grace { after_stdin: Duration::from_secs(3), after_term: AFTER_TERM };

/// The X server, the bus and the folder of a device.
pub struct PrivateSession {
    pub x: XAddress,
    pub bus_address: String,
    pub folder: PathBuf,
    pub variables: Vec<(OsString, OsString)>,
    xvfb: Child,
    bus: Child,
    _output: [ProgramOutput; 2],
}

/// Variables of the surrounding session, which programs in ours must not see.
pub const FOREIGN: [&str; 9] = [
    "AT_SPI_BUS_ADDRESS",
    "DBUS_SESSION_BUS_PID",
    "DESKTOP_STARTUP_ID",
    "NO_AT_BRIDGE",
    "SESSION_MANAGER",
    "WAYLAND_DISPLAY",
    "XDG_ACTIVATION_TOKEN",
    "XDG_CURRENT_DESKTOP",
    "XDG_SESSION_TYPE",
];

/// What makes toolkits expose their trees.
pub const ACCESSIBLE: [(&str, &str); 4] = [
    ("ACCESSIBILITY_ENABLED", "1"),
    ("GTK_A11Y", "atspi"),
    ("QT_ACCESSIBILITY", "1"),
    ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1"),
];

impl PrivateSession {
    pub async fn start(
        size: Size,
        supervisor: &Supervisor,
        programs: &Programs,
        budget: &Budget,
    ) -> Result<PrivateSession, DriverError> {
        let not_started = |evidence: String| DriverError::NotStarted { evidence };
        let missing = programs.missing(&SESSION_PROGRAMS);
        if !missing.is_empty() {
            return Err(not_started(super::programs::missing_parts(&missing)));
        }
        let failed = |error: std::io::Error| not_started(format!("no folder for the desktop: {error}"));
        let folder = new_folder().map_err(failed)?;
        let started = async {
            let (cookie, file) = cookie(&folder).map_err(failed)?;
            let (xvfb, number, first) = start_xvfb(&folder, &file, size, supervisor).await?;
            let variables = variables(&folder, &file, number);
            let (bus, bus_address, second) = start_bus(&folder, &variables, supervisor).await?;
            let mut variables = variables;
            variables.push(("DBUS_SESSION_BUS_ADDRESS".into(), bus_address.clone().into()));
            let x = XAddress::Own { number, cookie };
            Ok((x, bus_address, variables, xvfb, bus, [first, second]))
        };
        let limited = Budget { deadline: budget.until(STARTUP), ..budget.clone() };
        let started = limited.run("the X server and the bus of the desktop did not start", started).await;
        match started.and_then(|started| started) {
            Ok((x, bus_address, variables, xvfb, bus, output)) => {
                Ok(PrivateSession { x, bus_address, folder, variables, xvfb, bus, _output: output })
            }
            Err(error) => {
                let _ = std::fs::remove_dir_all(&folder);
                Err(error)
            }
        }
    }

    /// What of it has ended, if something has.
    pub fn ended(&self) -> Option<String> {
        let ended = |what: &str, child: &Child| child.exited().map(|exit| format!("{what} {exit}"));
        ended("the X server of the desktop", &self.xvfb)
            .or_else(|| ended("the D-Bus session bus of the desktop", &self.bus))
    }

    pub async fn close(&self) {
        self.bus.terminate().await;
        self.xvfb.terminate().await;
    }
}

/// A new folder that only this user can read.
fn new_folder() -> std::io::Result<PathBuf> {
    let name = format!("trailblaze-desktop-{}", trailblaze_core::ids::run_suffix());
    let folder = std::path::absolute(std::env::temp_dir())?.join(name);
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    for folder in [folder.clone(), folder.join("run"), folder.join("home")] {
        builder.create(&folder)?;
    }
    Ok(folder)
}

/// The secret that the X server asks programs for, and the file from which they take it.
fn cookie(folder: &Path) -> std::io::Result<(Vec<u8>, PathBuf)> {
    const NAME: &[u8] = b"MIT-MAGIC-COOKIE-1";
    let mut secret = vec![0; 16];
    getrandom::fill(&mut secret).map_err(|error| std::io::Error::other(error.to_string()))?;
    // Any machine, any display.
    let mut entry = vec![0xff, 0xff, 0, 0, 0, 0];
    for part in [NAME, &secret] {
        entry.extend((part.len() as u16).to_be_bytes());
        entry.extend(part);
    }
    let path = folder.join("xauthority");
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(&entry)?;
    Ok((secret, path))
}

async fn start_xvfb(
    folder: &Path,
    cookie: &Path,
    size: Size,
    supervisor: &Supervisor,
) -> Result<(Child, u32, ProgramOutput), DriverError> {
    let not_started = |evidence: String| DriverError::NotStarted { evidence };
    let failed = |error: std::io::Error| not_started(format!("Xvfb cannot be started: {error}"));
    let (from, to) = std::io::pipe().map_err(failed)?;
    let mut launch = Launch::new("Xvfb", folder);
    launch.args = ["-displayfd", "3", "-nolisten", "tcp", "-noreset", "-screen", "0"].map(OsString::from).to_vec();
    launch.args.push(format!("{}x{}x24", size.width, size.height).into());
    launch.args.extend(["-auth".into(), cookie.as_os_str().to_os_string()]);
    launch.fds = vec![(3, to.into())];
    launch.folders = vec![folder.to_path_buf()];
    launch.grace = XVFB_GRACE;
    let running = supervisor.start(launch).await.map_err(|error| not_started(error.to_string()))?;
    let Running { stdout, stderr, child, .. } = running;
    let output = ProgramOutput::of(stdout, stderr);
    let mut from = BufReader::new(pipe::Receiver::from_owned_fd(from.into()).map_err(failed)?);
    // Xvfb chooses a free display and says which. The pipe is closed if it ends before.
    let mut number = String::new();
    from.read_line(&mut number).await.map_err(failed)?;
    match number.trim().parse() {
        Ok(number) => Ok((child, number, output)),
        Err(_) => {
            let ended = child.ended().await;
            Err(not_started(format!("Xvfb {ended}{}", output.quoted())))
        }
    }
}

async fn start_bus(
    folder: &Path,
    variables: &[(OsString, OsString)],
    supervisor: &Supervisor,
) -> Result<(Child, String, ProgramOutput), DriverError> {
    let not_started = |evidence: String| DriverError::NotStarted { evidence };
    let mut launch = Launch::new("dbus-daemon", folder);
    launch.args =
        ["--session", "--nofork", "--nopidfile", "--nosyslog", "--print-address=1"].map(OsString::from).to_vec();
    launch.args.push(format!("--address=unix:dir={}", folder.join("run").display()).into());
    launch.set_env = variables.to_vec();
    launch.drop_env = FOREIGN.map(OsString::from).to_vec();
    launch.grace = Grace { after_stdin: Duration::ZERO, after_term: AFTER_TERM };
    let running = supervisor.start(launch).await.map_err(|error| not_started(error.to_string()))?;
    let Running { stdout, stderr, child, .. } = running;
    let mut lines = BufReader::new(stdout);
    let mut address = String::new();
    let read = (&mut lines).take(4096).read_line(&mut address).await;
    let output = ProgramOutput::of(lines, stderr);
    match read {
        Ok(n) if n > 0 => Ok((child, address.trim().to_string(), output)),
        _ => {
            let ended = child.ended().await;
            Err(not_started(format!("dbus-daemon {ended}{}", output.quoted())))
        }
    }
}

/// What programs in the session see of their surroundings: always the same, whatever this machine's desktop is like.
fn variables(folder: &Path, cookie: &Path, number: u32) -> Vec<(OsString, OsString)> {
    let home = folder.join("home");
    let folders = [("HOME", home), ("XAUTHORITY", cookie.to_path_buf()), ("XDG_RUNTIME_DIR", folder.join("run"))];
    let texts = [
        ("DISPLAY", format!(":{number}")),
        ("GDK_BACKEND", "x11".to_string()),
        ("GIO_USE_VFS", "local".to_string()),
        ("GSETTINGS_BACKEND", "memory".to_string()),
        // Without a graphics card, drawing through OpenGL is slow.
        ("GSK_RENDERER", "cairo".to_string()),
        ("GTK_USE_PORTAL", "0".to_string()),
        ("QT_QPA_PLATFORM", "xcb".to_string()),
    ];
    let own = folders.into_iter().map(|(name, path)| (name.into(), path.into_os_string()));
    let texts = texts.into_iter().map(|(name, text)| (name.into(), text.into()));
    own.chain(texts).chain(ACCESSIBLE.map(|(name, text)| (name.into(), text.into()))).collect()
}
