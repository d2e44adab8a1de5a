//! A Chromium process that we start, with its own profile that is removed with it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use trailblaze_supervise::{Child, Grace, Launch, Running, StartError, Supervisor};

use super::super::backend::BrowserEventSink;
use super::attach::attach;
use super::cdp::{Cdp, CdpError};

/// The most dialogs that warnings are given for.
const MOST_WARNED: usize = 100;
/// How long a browser may take to answer its first command.
const STARTUP: Duration = Duration::from_secs(30);

const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "microsoft-edge"];
const PLACES: [&str; 4] = [
    "/usr/bin/chromium",
    "/snap/bin/chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/// How to start a browser.
#[derive(Debug, Clone, Default)]
pub struct BrowserOptions {
    /// The program; searched for if not set.
    pub program: Option<PathBuf>,
    pub is_headed: bool,
    /// The address of a browser that is already running.
    pub attach: Option<String>,
    pub ignores_certificates: bool,
    /// The memory that each of its processes may use; not limited for a browser that is already running.
    pub memory_limit: Option<u64>,
    /// Additional arguments.
    pub args: Vec<String>,
    /// The folders to search for programs, in the format of PATH.
    pub path: OsString,
    /// Whether we run as root, where Chromium's sandbox does not work.
    pub is_root: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    #[error(
        "no Chromium found on PATH or in the usual places; install it (`apt-get install chromium`), or set its path in \
         TRAILBLAZE_CHROMIUM"
    )]
    NotFound,
    #[error("`{}` is not a program; set TRAILBLAZE_CHROMIUM to the path of the browser", .0.display())]
    NoProgram(PathBuf),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("cannot create a browser profile: {0}")]
    Profile(std::io::Error),
    #[error(
        "no browser could be reached at `{address}`: {why}; start one with `--remote-debugging-port=9222`, or remove \
         `attach`"
    )]
    Attach { address: String, why: String },
    #[error("{program} did not answer: {why}{stderr}")]
    Silent { program: String, why: String, stderr: String },
}

/// A running browser. It ends when the last device that uses it is dropped.
pub struct Browser {
    pub cdp: Arc<Cdp>,
    /// The folder for downloads, each named by its id.
    pub downloads: PathBuf,
    /// Whether its windows are shown.
    pub is_headed: bool,
    /// `None` if it was already running; then we do not stop it.
    child: Option<Child>,
    /// Its devices.
    devices: Mutex<Vec<Weak<dyn BrowserEventSink>>>,
    /// Why the process of a page was just killed.
    kill: Mutex<Option<String>>,
    /// Why it was ended.
    ended_for: Mutex<Option<String>>,
    /// Dialogs that a warning was given for.
    warned: Mutex<HashSet<String>>,
}

impl Browser {
    fn new(cdp: Arc<Cdp>, downloads: PathBuf, is_headed: bool, child: Option<Child>) -> Browser {
        let (devices, kill, ended_for, warned) = Default::default();
        Browser { cdp, downloads, is_headed, child, devices, kill, ended_for, warned }
    }

    pub async fn start(options: &BrowserOptions, supervisor: &Supervisor) -> Result<Browser, BrowserError> {
        match &options.attach {
            Some(address) => Browser::attach(address).await,
            None => Browser::launch(options, supervisor).await,
        }
    }

    async fn attach(address: &str) -> Result<Browser, BrowserError> {
        let wrong = |why: String| BrowserError::Attach { address: address.to_string(), why };
        let (from, to) = tokio::io::split(attach(address).await.map_err(wrong)?);
        let cdp = Cdp::open(from, to);
        let discover = cdp.call(None, "Target.setDiscoverTargets", json!({"discover": true}));
        let answer = tokio::time::timeout(STARTUP, discover).await;
        answer.map_err(|_| wrong("it did not answer".to_string()))?.map_err(|error| wrong(error.to_string()))?;
        let downloads = profile().map_err(BrowserError::Profile)?;
        Ok(Browser::new(cdp, downloads, false, None))
    }

    async fn launch(options: &BrowserOptions, supervisor: &Supervisor) -> Result<Browser, BrowserError> {
        let program = find(options)?;
        let profile = profile().map_err(BrowserError::Profile)?;
        let mut launch = Launch::new(program.clone().into_os_string(), profile.clone());
        launch.args = arguments(options, &profile);
        launch.set_env.extend(own_temp(&profile));
        launch.grace = Grace { after_stdin: Duration::from_millis(500), after_term: Duration::from_secs(2) };
        // The browser reads commands from descriptor 3 and writes answers to 4.
        let pipes = std::io::pipe().and_then(|ours| Ok((ours, std::io::pipe()?)));
        let ((their_in, our_out), (our_in, their_out)) = pipes.map_err(BrowserError::Profile)?;
        launch.fds = vec![(3, their_in.into()), (4, their_out.into())];
        let downloads = profile.join("downloads");
        launch.folders = vec![profile];
        let Running { mut stderr, child, .. } = supervisor.start(launch).await?;
        let opened = pipe::Receiver::from_owned_fd(our_in.into())
            .and_then(|from| Ok((from, pipe::Sender::from_owned_fd(our_out.into())?)));
        let (from, to) = opened.map_err(BrowserError::Profile)?;
        let cdp = Cdp::open(from, to);
        // Reads until the browser has ended, even if nothing waits for it: a full pipe would block the browser.
        let words = tokio::spawn(async move {
            let mut kept = Vec::new();
            let mut buffer = [0; 4096];
            while let Ok(n) = stderr.read(&mut buffer).await
                && n > 0
            {
                // A browser logs a lot; only the beginning explains why it does not start.
                if kept.len() < 8 << 10 {
                    kept.extend_from_slice(&buffer[..n]);
                }
            }
            String::from_utf8_lossy(&kept).into_owned()
        });
        let asked = tokio::time::timeout(STARTUP, cdp.call(None, "Browser.getVersion", json!({}))).await;
        let why = match asked {
            Ok(Ok(_)) => {
                // Reports the tabs that pages open.
                let _ = cdp.call(None, "Target.setDiscoverTargets", json!({"discover": true})).await;
                return Ok(Browser::new(cdp, downloads, options.is_headed, Some(child)));
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it did not answer within {} s", STARTUP.as_secs()),
        };
        child.kill().await;
        let stderr = tokio::time::timeout(Duration::from_secs(1), words).await.ok().and_then(Result::ok);
        let stderr = stderr.filter(|text| !text.trim().is_empty()).map(|text| format!("\n{}", text.trim_end()));
        let program = program.display().to_string();
        Err(BrowserError::Silent { program, why, stderr: stderr.unwrap_or_default() })
    }

    pub async fn close(&self) {
        let Some(child) = &self.child else {
            let _ = std::fs::remove_dir_all(&self.downloads);
            return;
        };
        let _ = tokio::time::timeout(Duration::from_secs(2), self.cdp.call(None, "Browser.close", json!({}))).await;
        child.stop().await;
    }

    /// Ends it at once. One that was already running is left alone.
    pub(super) async fn kill(&self) {
        if let Some(child) = &self.child {
            child.kill().await;
        }
    }

    pub(super) fn child(&self) -> Option<&Child> {
        self.child.as_ref()
    }

    /// Registers a device.
    pub(super) fn add(&self, device: &Arc<dyn BrowserEventSink>) {
        let mut devices = self.devices.lock();
        devices.retain(|device| device.strong_count() > 0);
        devices.push(Arc::downgrade(device));
    }

    /// The addresses that its devices show.
    pub(super) fn open_pages(&self) -> Vec<String> {
        let devices: Vec<Arc<dyn BrowserEventSink>> = self.devices.lock().iter().filter_map(Weak::upgrade).collect();
        devices.iter().filter_map(|device| device.url()).collect()
    }

    /// Notes why the process of a page is about to be killed.
    pub(super) fn note_kill(&self, why: String) {
        *self.kill.lock() = Some(why);
    }

    /// Why the process of a page was killed that has just crashed.
    pub(super) fn take_kill(&self) -> Option<String> {
        self.kill.lock().take()
    }

    /// Notes why it is about to be ended.
    pub(super) fn note_end(&self, why: String) {
        self.ended_for.lock().get_or_insert(why);
    }

    /// Whether no warning was given for this dialog yet.
    pub(super) fn is_new_dialog(&self, dialog: &str) -> bool {
        let mut warned = self.warned.lock();
        warned.len() < MOST_WARNED && warned.insert(dialog.to_string())
    }

    /// How it ended, if it has.
    pub fn end(&self) -> Option<String> {
        if let Some(why) = &*self.ended_for.lock() {
            return Some(why.clone());
        }
        let ended = self.child.as_ref().and_then(Child::exited);
        ended
            .map(|ended| format!("the browser {ended}"))
            .or_else(|| self.cdp.is_gone().then(|| CdpError::Gone.to_string()))
    }
}

/// The program that would be started.
pub fn find(options: &BrowserOptions) -> Result<PathBuf, BrowserError> {
    if let Some(program) = &options.program {
        return match program.is_file() {
            true => Ok(program.clone()),
            false => Err(BrowserError::NoProgram(program.clone())),
        };
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&options.path).collect();
    let on_path = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = on_path.chain(PLACES.iter().map(PathBuf::from)).find(|place| place.is_file());
    found.ok_or(BrowserError::NotFound)
}

/// A new folder that only this user can read, because it contains cookies, storage and downloads.
fn profile() -> std::io::Result<PathBuf> {
    let name = format!("trailblaze-chromium-{}", trailblaze_core::ids::run_suffix());
    let folder = std::path::absolute(std::env::temp_dir())?.join(name);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder)?;
    Ok(folder)
}

/// Makes the browser keep its temporary files in the profile, so that they are removed with it even if it is killed.
fn own_temp(profile: &Path) -> Option<(OsString, OsString)> {
    /// The longest path that every system accepts for a socket.
    const LONGEST_SOCKET: usize = 103;
    const SOCKET: &str = "/org.chromium.Chromium.XXXXXX/SingletonSocket";
    let fits = profile.as_os_str().len() + SOCKET.len() <= LONGEST_SOCKET;
    fits.then(|| ("TMPDIR".into(), profile.as_os_str().to_os_string()))
}

fn arguments(options: &BrowserOptions, profile: &Path) -> Vec<OsString> {
    let mut profile_flag = OsString::from("--user-data-dir=");
    profile_flag.push(profile);
    let mut arguments: Vec<OsString> = [
        "--remote-debugging-pipe",
        // Otherwise input before the first frame of a page is dropped.
        "--allow-pre-commit-input",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-background-networking",
        "--disable-background-timer-throttling",
        "--disable-backgrounding-occluded-windows",
        "--disable-renderer-backgrounding",
        "--disable-component-update",
        "--disable-default-apps",
        "--disable-extensions",
        "--disable-sync",
        "--disable-quic",
        // Otherwise a horizontal scroll at the edge of a page goes back or forward in its history.
        "--overscroll-history-navigation=0",
        // Each device opens its own window.
        "--no-startup-window",
        // A page that is opened once needs no spare renderer. The popup of the address bar is a page for each window,
        // and loading it takes a second of processor time from the page under test.
        "--disable-features=Translate,MediaRouter,OptimizationHints,PaintHolding,OverscrollHistoryNavigation,\
         SpareRendererForSitePerProcess,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
        "--force-color-profile=srgb",
        "--metrics-recording-only",
        "--mute-audio",
        "--password-store=basic",
        "--use-mock-keychain",
    ]
    .map(OsString::from)
    .to_vec();
    arguments.push(profile_flag);
    if !options.is_headed {
        arguments.extend(["--headless=new", "--hide-scrollbars"].map(OsString::from));
    }
    if options.is_root {
        arguments.push("--no-sandbox".into());
    }
    if options.ignores_certificates {
        arguments.push("--ignore-certificate-errors".into());
    }
    arguments.extend(options.args.iter().map(OsString::from));
    arguments
}
