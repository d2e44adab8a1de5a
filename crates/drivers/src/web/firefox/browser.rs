//! A Firefox process that we start, with its own profile that is removed with it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::watch;
use tokio::time::timeout;
use trailblaze_protocol::geometry::Size;
use trailblaze_supervise::{Child, Grace, Launch, Running, StartError, Supervisor};

use super::super::bidi::BidiBrowser;
use super::super::bidi::connection::BidiConnection;
use super::super::emulation::Emulation;
use super::profile;

/// How long Firefox may take to listen, and to begin a session.
const STARTUP: Duration = Duration::from_secs(60);
/// How long it may take to close.
const CLOSING: Duration = Duration::from_secs(2);
/// How much of what it prints is kept, in bytes.
const KEPT: usize = 8 << 10;
/// The oldest version that has every command we need.
const OLDEST: u32 = 147;
/// What it prints before the address at which it listens.
const LISTENING: &str = "WebDriver BiDi listening on ";

const NAMES: [&str; 3] = ["firefox-esr", "firefox", "firefox-developer-edition"];
const PLACES: [&str; 4] = [
    "/usr/bin/firefox-esr",
    "/usr/bin/firefox",
    "/snap/bin/firefox",
    "/Applications/Firefox.app/Contents/MacOS/firefox",
];

/// How to start Firefox.
#[derive(Debug, Clone, Default)]
pub struct FirefoxOptions {
    /// The program; searched for if not set.
    pub program: Option<PathBuf>,
    pub is_headed: bool,
    pub ignores_certificates: bool,
    /// Additional arguments.
    pub args: Vec<String>,
    /// The folders to search for programs, in the format of PATH.
    pub path: OsString,
}

#[derive(Debug, thiserror::Error)]
pub enum FirefoxError {
    #[error(
        "no Firefox found on PATH or in the usual places; install it (`apt-get install firefox-esr`), or set its path in \
         TRAILBLAZE_FIREFOX"
    )]
    NotFound,
    #[error("`{}` is not a program; set TRAILBLAZE_FIREFOX to the path of the browser", .0.display())]
    NoProgram(PathBuf),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("cannot create a browser profile: {0}")]
    Profile(std::io::Error),
    #[error("{program} did not answer: {why}{stderr}")]
    Silent { program: String, why: String, stderr: String },
}

/// A running Firefox. It ends when the device that uses it is dropped.
pub struct Firefox {
    pub connection: Arc<BidiConnection>,
    child: Child,
    downloads: PathBuf,
}

impl Firefox {
    /// Starts one, and begins a session.
    pub async fn start(
        options: &FirefoxOptions,
        emulation: &Emulation,
        supervisor: &Supervisor,
    ) -> Result<Firefox, FirefoxError> {
        let program = find(options)?;
        let profile = profile::create(emulation).map_err(FirefoxError::Profile)?;
        let mut launch = Launch::new(program.clone().into_os_string(), profile.clone());
        launch.args = arguments(options, emulation.size, &profile);
        // Its temporary files are removed with the profile, even if it is killed.
        launch.set_env =
            vec![("TMPDIR".into(), profile.clone().into_os_string()), ("MOZ_CRASHREPORTER_DISABLE".into(), "1".into())];
        launch.grace = Grace { after_stdin: Duration::from_millis(0), after_term: Duration::from_secs(2) };
        let downloads = profile::downloads(&profile);
        launch.folders = vec![profile];
        let Running { stderr, child, .. } = supervisor.start(launch).await?;
        let mut printed = Printed::read(stderr);
        let connected = timeout(STARTUP, begin(&mut printed, options)).await;
        let why = match connected {
            Ok(Ok(connection)) => return Ok(Firefox { connection, child, downloads }),
            Ok(Err(why)) => why,
            Err(_) => format!("it was not ready within {} s", STARTUP.as_secs()),
        };
        let ended = child.exited();
        child.kill().await;
        let why = ended.map_or(why, |ended| format!("it {ended}"));
        let stderr = printed.text();
        let stderr = if stderr.trim().is_empty() { String::new() } else { format!("\n{}", stderr.trim_end()) };
        Err(FirefoxError::Silent { program: program.display().to_string(), why, stderr })
    }

    pub async fn stop(&self) {
        let close = self.connection.call("browser.close", json!({}));
        let _ = timeout(CLOSING, close).await;
        self.child.stop().await;
    }
}

#[async_trait]
impl BidiBrowser for Firefox {
    fn end(&self) -> Option<String> {
        self.child.exited().map(|ended| format!("the browser {ended}"))
    }

    fn downloads(&self) -> Option<PathBuf> {
        Some(self.downloads.clone())
    }

    async fn close(&self) {
        self.stop().await;
    }

    async fn kill(&self) {
        self.child.kill().await;
    }
}

/// Waits until Firefox listens, and begins a session.
async fn begin(printed: &mut Printed, options: &FirefoxOptions) -> Result<Arc<BidiConnection>, String> {
    let address = printed.address().await.ok_or("it ended before it listened")?;
    let connection = BidiConnection::connect(&format!("{address}/session")).await?;
    // Nobody is there to choose a file in a browser that is not shown.
    let files = if options.is_headed { "ignore" } else { "dismiss" };
    let capabilities = json!({
        "acceptInsecureCerts": options.ignores_certificates,
        "unhandledPromptBehavior": {"default": "ignore", "file": files},
    });
    let begun = connection.call("session.new", json!({"capabilities": {"alwaysMatch": capabilities}})).await;
    let begun = begun.map_err(|error| error.to_string())?;
    let version = begun.pointer("/capabilities/browserVersion").and_then(Value::as_str).unwrap_or_default();
    too_old(version).map_or(Ok(connection), Err)
}

/// Why this version cannot be driven, if it cannot.
fn too_old(version: &str) -> Option<String> {
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major < OLDEST).then(|| format!("it is Firefox {version}, and {OLDEST} or newer is needed"))
}

/// What Firefox prints, read until it has ended, even if nothing waits for it: a full pipe would block it.
struct Printed(watch::Receiver<String>);

impl Printed {
    fn read(stderr: impl AsyncRead + Send + Unpin + 'static) -> Printed {
        let (kept, printed) = watch::channel(String::new());
        // Detached: ends with the browser, which closes its end.
        tokio::spawn(async move {
            let mut lines = BufReader::new(stderr).split(b'\n');
            while let Ok(Some(line)) = lines.next_segment().await {
                // A browser logs a lot; only the beginning explains why it does not start.
                kept.send_if_modified(|text| {
                    let has_room = text.len() < KEPT;
                    if has_room {
                        text.push_str(&String::from_utf8_lossy(&line));
                        text.push('\n');
                    }
                    has_room
                });
            }
        });
        Printed(printed)
    }

    /// The address at which it listens; `None` if it ended before.
    async fn address(&mut self) -> Option<String> {
        let printed = self.0.wait_for(|text| address_in(text).is_some()).await.ok()?;
        address_in(&printed)
    }

    fn text(&self) -> String {
        self.0.borrow().clone()
    }
}

fn address_in(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.split_once(LISTENING))?.1;
    // A line that is not whole has no end yet.
    text.ends_with('\n').then(|| line.trim().to_string())
}

/// The program that would be started.
pub fn find(options: &FirefoxOptions) -> Result<PathBuf, FirefoxError> {
    if let Some(program) = &options.program {
        return match program.is_file() {
            true => Ok(program.clone()),
            false => Err(FirefoxError::NoProgram(program.clone())),
        };
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&options.path).collect();
    let on_path = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = on_path.chain(PLACES.iter().map(PathBuf::from)).find(|place| place.is_file());
    found.ok_or(FirefoxError::NotFound)
}

fn arguments(options: &FirefoxOptions, size: Size, profile: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        ["--remote-debugging-port=0", "--no-remote", "--new-instance", "--profile"].map(OsString::from).to_vec();
    arguments.push(profile.into());
    match options.is_headed {
        // The window has room for the page and the bars above it.
        true => arguments.extend([
            "--width".into(),
            size.width.to_string().into(),
            "--height".into(),
            (size.height + 90).to_string().into(),
        ]),
        false => arguments.push("--headless".into()),
    }
    arguments.extend(options.args.iter().map(OsString::from));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_in_what_firefox_prints() {
        let whole = "*** You are running in headless mode.\nWebDriver BiDi listening on ws://127.0.0.1:4711\n";
        assert_eq!(address_in(whole).as_deref(), Some("ws://127.0.0.1:4711"));
        assert_eq!(address_in(whole.trim_end()), None);
        assert_eq!(address_in("Unable to init server\n"), None);
    }

    #[test]
    fn a_firefox_that_lacks_commands_is_refused() {
        assert_eq!(too_old("128.5.0").as_deref(), Some("it is Firefox 128.5.0, and 147 or newer is needed"));
        assert_eq!((too_old("153.7.0"), too_old("")), (None, None));
    }

    #[test]
    fn a_program_that_is_none_is_named() {
        let options = FirefoxOptions { program: Some("/no/firefox".into()), ..FirefoxOptions::default() };
        let error = find(&options).unwrap_err().to_string();
        assert_eq!(error, "`/no/firefox` is not a program; set TRAILBLAZE_FIREFOX to the path of the browser");
    }
}
