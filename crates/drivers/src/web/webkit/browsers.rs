//! The programs that devices with WebKit need: an X server without a screen and a bus, which they share, and a driver with its browser for
//! each session.

use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyper::Method;
use serde_json::json;
use tokio::time::{Instant, sleep};
use trailblaze_core::driver::{Budget, DriverError};
use trailblaze_http::ProxySettings;
use trailblaze_protocol::geometry::Size;
use trailblaze_supervise::{Child, Grace, Launch, Running, Supervisor};

use super::super::backend::{Backend, BrowserConnector, Setup};
use super::super::webdriver::{
    EndpointAddress, SessionOwner, WarnedDialogs, WebDriverBackend, WebDriverHttp, WebDriverRequest, new_session,
};
use crate::desktop::{PrivateSession, ProgramOutput, Programs};

/// The program, and the package of Debian that has it.
const PROGRAM: &str = "WebKitWebDriver";
/// How long the driver may take to answer, and the browser to open.
const STARTUP: Duration = Duration::from_secs(30);
const TICK: Duration = Duration::from_millis(20);
/// How often another port is tried, because somebody else took the one that was free.
const PORTS: u32 = 3;
/// The screen that windows are on. Windows that are larger are cut off.
const SCREEN: Size = Size { width: 3840, height: 2160 };

#[derive(Debug, Clone, Default)]
pub struct WebKitOptions {
    /// The program; searched for if not set.
    pub program: Option<PathBuf>,
    /// The folders to search for programs, in the format of PATH.
    pub path: OsString,
    pub data_dirs: Option<OsString>,
    /// Whether windows are shown, on the display of the user.
    pub is_headed: bool,
}

/// The program that would be started.
pub fn find(options: &WebKitOptions) -> Result<PathBuf, String> {
    if let Some(program) = &options.program {
        let missing =
            || format!("`{}` is not a program; set TRAILBLAZE_WEBKIT to the path of {PROGRAM}", program.display());
        return program.is_file().then(|| program.clone()).ok_or_else(missing);
    }
    let programs = Programs::new(&options.path, options.data_dirs.as_deref(), None);
    programs.find(PROGRAM).ok_or_else(|| {
        format!(
            "no {PROGRAM} found on PATH; install it (`apt-get install webkit2gtk-driver`), or set its path in TRAILBLAZE_WEBKIT"
        )
    })
}

/// What devices with WebKit share.
pub struct WebKitBrowsers {
    options: WebKitOptions,
    supervisor: Supervisor,
    display: tokio::sync::Mutex<Option<Arc<PrivateSession>>>,
    warned: Arc<WarnedDialogs>,
}

impl WebKitBrowsers {
    pub fn new(options: WebKitOptions, supervisor: Supervisor) -> WebKitBrowsers {
        let (display, warned) = Default::default();
        WebKitBrowsers { options, supervisor, display, warned }
    }

    /// Ends what is shared.
    pub async fn close(&self) {
        if let Some(display) = self.display.lock().await.take() {
            display.close().await;
        }
    }

    /// The X server and the bus, started by the first device that needs them, and again if they ended.
    async fn display(&self, budget: &Budget) -> Result<Arc<PrivateSession>, DriverError> {
        let mut display = self.display.lock().await;
        if let Some(display) = display.as_ref().filter(|display| display.ended().is_none()) {
            return Ok(Arc::clone(display));
        }
        let programs = Programs::new(&self.options.path, self.options.data_dirs.as_deref(), None);
        let started = Arc::new(PrivateSession::start(SCREEN, &self.supervisor, &programs, budget).await?);
        *display = Some(Arc::clone(&started));
        Ok(started)
    }

    async fn start(&self, budget: &Budget) -> Result<(LocalDriver, Arc<WebDriverHttp>), DriverError> {
        let not_started = |evidence: String| DriverError::NotStarted { evidence };
        let program = find(&self.options).map_err(not_started)?;
        let mut variables = Vec::new();
        let display = match self.options.is_headed {
            true => None,
            false => Some(self.display(budget).await?),
        };
        if let Some(display) = &display {
            variables.extend(display.variables.iter().cloned());
        }
        let mut why = String::new();
        for _ in 0..PORTS {
            let port = free_port().map_err(|error| not_started(format!("no port is free: {error}")))?;
            let mut launch = Launch::new(program.clone(), std::env::temp_dir());
            launch.args = vec![format!("--port={port}").into()];
            launch.set_env.clone_from(&variables);
            launch.grace = Grace { after_stdin: Duration::ZERO, after_term: Duration::from_secs(2) };
            let started = self.supervisor.start(launch).await.map_err(|error| not_started(error.to_string()))?;
            let Running { stdout, stderr, child, .. } = started;
            let driver = LocalDriver { child, output: ProgramOutput::of(stdout, stderr), _display: display.clone() };
            let address =
                EndpointAddress::parse(&format!("http://127.0.0.1:{port}"), None, &[]).map_err(not_started)?;
            let http = WebDriverHttp::new(address, &ProxySettings::default()).map_err(not_started)?;
            match driver.answers(&http, budget).await? {
                true => return Ok((driver, http)),
                false => why = driver.words(),
            }
        }
        Err(not_started(format!("`{}` does not start: {why}", program.display())))
    }
}

/// A port that nobody listens at now.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// A driver that we started, which has one session.
struct LocalDriver {
    child: Child,
    output: ProgramOutput,
    _display: Option<Arc<PrivateSession>>,
}

impl LocalDriver {
    /// Waits until it answers. False if it ended.
    async fn answers(&self, http: &WebDriverHttp, budget: &Budget) -> Result<bool, DriverError> {
        let until = budget.until(STARTUP);
        let limited = Budget { deadline: until, ..budget.clone() };
        let status = WebDriverRequest {
            method: Method::GET,
            path: "/status".to_string(),
            shown: "/status".to_string(),
            body: None,
            is_repeatable: false,
        };
        while Instant::now() < until && self.child.exited().is_none() {
            if limited.run("WebKitWebDriver to answer", http.send(status.clone())).await?.is_ok() {
                return Ok(true);
            }
            limited.run("WebKitWebDriver to answer", sleep(TICK)).await?;
        }
        Ok(false)
    }

    /// Why it does not answer.
    fn words(&self) -> String {
        match self.child.exited() {
            Some(exit) => format!("it {exit}{}", self.output.quoted()),
            None => format!("it does not answer{}", self.output.quoted()),
        }
    }
}

#[async_trait]
impl SessionOwner for LocalDriver {
    async fn has_ended(&self, _: &str) {
        self.child.terminate().await;
    }

    fn end(&self) -> Option<String> {
        self.child.exited().map(|exit| format!("{PROGRAM} {exit}{}", self.output.quoted()))
    }
}

#[async_trait]
impl BrowserConnector for WebKitBrowsers {
    fn name(&self) -> &'static str {
        "WebKit"
    }

    async fn open(&self, setup: Setup, budget: &Budget) -> Result<Arc<dyn Backend>, DriverError> {
        let (driver, http) = self.start(budget).await?;
        let wanted = json!({
            // Otherwise WebKitWebDriver waits for a document that does not come, such as a download, in each command.
            "pageLoadStrategy": "none", "unhandledPromptBehavior": "ignore",
            "timeouts": {"pageLoad": 14_000, "script": 60_000, "implicit": 0},
        });
        let session = match new_session(&http, &wanted, None, budget).await {
            Ok(session) => session,
            Err(error) => {
                driver.child.terminate().await;
                return Err(error);
            }
        };
        let owner = Arc::new(driver);
        Ok(Arc::new(WebDriverBackend::new(Arc::new(session.keeping_focus()), setup, Arc::clone(&self.warned), owner)))
    }
}
