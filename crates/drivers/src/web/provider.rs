//! Browsers: how they are configured, and the one that all devices of a run share.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use trailblaze_core::device_source::{DeviceSettings, DeviceSource, DeviceSpec};
use trailblaze_core::driver::{Budget, DialogAnswer, Driver, DriverError};
use trailblaze_core::finding::Finding;
use trailblaze_core::limits;
use trailblaze_core::yaml::{Decode, Entries, Millis, Problem, Problems, Spanned, Table, YamlNode, loose};
use trailblaze_core::{table, words};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use super::audit::AxeFile;
use super::devtools::browser::{BrowserOptions, find};
use super::devtools::browsers::Browsers;
use super::driver::{InitialState, Web};
use super::emulation::Emulation;
use super::engine::BrowserEngine;
use super::firefox::browser::{self as firefox, FirefoxOptions};
use super::firefox::connector::FirefoxConnector;
use super::webdriver::{
    AT_A_TIME, EXPLAINING, EndpointCredentials, EndpointEntry, SESSION_WAIT, SLOTS, SessionEndings, WebDriverConnector,
    proxies,
};
use super::webkit::{self, WebKitBrowsers, WebKitOptions};
use crate::provider::{ConfigKeys, DeviceProvider, Machine, ProjectPart, ProviderConfig, WantedDevice};

const DRIVER: &str = "playwright-native";
/// The browser that needs no entry in a project.
const CHROMIUM: &str = "web/chromium";
const FIREFOX: &str = "web/firefox";
const WEBKIT: &str = "web/webkit";
/// A browser that this build does not drive.
const OTHER_BROWSER: &str = "safari";

pub const PROVIDER: DeviceProvider = DeviceProvider {
    name: "chromium",
    plural: "browsers",
    drivers: &[DRIVER],
    project_keys: ConfigKeys { names: WebProject::KEYS, schema: WebProject::schema },
    device_keys: ConfigKeys { names: WebEntry::KEYS, schema: WebEntry::schema },
    default_device: |platform| (platform == Platform::Web).then_some(CHROMIUM),
    read: |part, found| Arc::new(WebConfig::read(part, found)),
};

table! {
    /// What a project says about web devices.
    pub struct WebProject {
        /// How the dialogs of web pages are answered, unless a device, a trail or a step says otherwise.
        "dialogs" => dialogs: Option<DialogAnswer> = None,
        /// The browser for web devices.
        "browser" => browser: Option<BrowserEntry> = None,
        /// How Firefox is started, for web devices whose browser it is.
        "firefox" => firefox: Option<FirefoxEntry> = None,
        /// The file of axe-core with which assertAccessible audits web pages; by default that of the npm package in node_modules.
        "axe" => axe: Option<String> = None,
    }
}

table! {
    /// The browser for web devices.
    pub struct BrowserEntry {
        /// The path of the browser; searched for by default.
        "program" => program: Option<String> = None,
        /// Whether its window is shown.
        "headed" => headed: bool = false,
        /// The DevTools URL of a browser that is already running: http://127.0.0.1:9222.
        "attach" => attach: Option<String> = None,
        /// Open pages with invalid certificates.
        "ignoreCertificateErrors" => ignore_certificate_errors: bool = false,
        /// The memory that each process of the browser may use, in MB; one that uses more is ended. Default: 2048.
        "memoryLimitMb" => memory_limit_mb: Option<u32> = None,
        /// Additional command-line arguments for the browser.
        "args" => args: Vec<String> = Vec::new(),
    }
}

table! {
    /// How Firefox is started.
    pub struct FirefoxEntry {
        /// The path of Firefox; searched for by default.
        "program" => program: Option<String> = None,
        /// Whether its window is shown.
        "headed" => headed: bool = false,
        /// Open pages with invalid certificates.
        "ignoreCertificateErrors" => ignore_certificate_errors: bool = false,
        /// Additional command-line arguments for Firefox.
        "args" => args: Vec<String> = Vec::new(),
    }
}

table! {
    /// What the entry of a device says if it is a web device.
    pub struct WebEntry {
        /// The browser of a web device; web/firefox is Firefox, web/webkit is WebKit, and any other name Chromium.
        "browser" => browser: Option<BrowserEngine> = None,
        /// The WebDriver endpoint that a device is behind, such as a grid or a farm; phones need Appium there: http://127.0.0.1:4444.
        "webdriver" => webdriver: Option<Spanned<String>> = None,
        /// What is asked of each session at the endpoint: W3C capabilities, and options of its vendor; {{NAME}} is an environment variable.
        "capabilities" => capabilities: Option<YamlNode> = None,
        /// Who we are for the endpoint.
        "credentials" => credentials: Option<EndpointCredentials> = None,
        /// How many sessions a run may have at the endpoint at a time; it spreads its trails over them (default 1).
        "slots" => slots: Option<Spanned<u32>> = None,
        /// How long a session may take to get, for example while others use the endpoint (default 2m).
        "sessionWait" => session_wait: Option<Millis> = None,
        /// Files that the endpoint keeps of each session, by name: {video: "http://127.0.0.1:4444/video/{sessionId}.mp4"}. They are fetched
        /// into the run folder when the session has ended.
        "artifacts" => artifacts: Option<Entries<String>> = None,
        /// The phone or tablet that a web device emulates: iPhone 14.
        "emulate" => emulate: Option<EmulatedDevice> = None,
        /// The size of a web device's window: 1280x800.
        "viewport" => viewport: Option<Viewport> = None,
        /// The language of a web device: de-DE.
        "locale" => locale: Option<String> = None,
        /// The time zone of a web device: Europe/Berlin.
        "timezone" => timezone: Option<String> = None,
        /// Whether a web device prefers dark or light pages.
        "colorScheme" => color_scheme: Option<ColorScheme> = None,
        /// How a web device answers the dialogs of pages, unless a trail or a step says otherwise.
        "dialogs" => dialogs: Option<DialogAnswer> = None,
        /// A file with the cookies and local storage that a web device starts with, as web_saveStorageState writes it.
        "storageState" => storage_state: Option<Spanned<String>> = None,
        /// Whether each trail on a web device starts with fresh cookies and storage, or with those that the trail before it left.
        "storage" => storage: StorageRule = StorageRule::Fresh,
    }
}

words! {
    /// What a trail finds of the cookies and storage of the trail before it.
    pub enum StorageRule {
        "fresh" => Fresh,
        "shared" => Shared,
    }
}

/// What a browser is like that stands for a phone or a tablet.
#[derive(Debug, Clone, PartialEq)]
pub struct EmulatedDevice(Emulation);

impl Decode for EmulatedDevice {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let name = String::decode(node, problems)?;
        let emulation = Emulation::device(&name);
        if emulation.is_none() {
            let names = Emulation::names().collect::<Vec<_>>().join(", ");
            problems.error(node.span, format!("`{name}` cannot be emulated; choose one of {names}"));
        }
        emulation.map(EmulatedDevice)
    }

    fn schema() -> Value {
        String::schema()
    }
}

/// The size of a window, such as 1280x800.
#[derive(Debug, Clone, PartialEq)]
pub struct Viewport(Size);

impl Decode for Viewport {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let text = String::decode(node, problems)?;
        let side = |text: &str| text.trim().parse::<u32>().ok().filter(|side| (1..=10_000).contains(side));
        let size = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
        if size.is_none() {
            problems.error(node.span, format!("`{text}` is not a window size; write it as 1280x800"));
        }
        size.map(|(width, height)| Viewport(Size { width, height }))
    }

    fn schema() -> Value {
        String::schema()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorScheme {
    Light,
    Dark,
}

impl Decode for ColorScheme {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        match node.raw() {
            Some("light") => Some(ColorScheme::Light),
            Some("dark") => Some(ColorScheme::Dark),
            other => {
                problems.unknown(node.span, "colour scheme", other.unwrap_or(node.noun()), ["light", "dark"]);
                None
            }
        }
    }

    fn schema() -> Value {
        json!({"enum": ["light", "dark"]})
    }
}

impl WebEntry {
    /// A key that only a device behind an endpoint has, if there is no endpoint.
    fn without_endpoint(&self) -> Option<&'static str> {
        let own = [
            ("capabilities", self.capabilities.is_some()),
            ("credentials", self.credentials.is_some()),
            ("slots", self.slots.is_some()),
            ("sessionWait", self.session_wait.is_some()),
            ("artifacts", self.artifacts.is_some()),
        ];
        let given = own.into_iter().find(|(_, is_given)| *is_given).map(|(key, _)| key);
        given.filter(|_| self.webdriver.is_none())
    }
}

struct WebConfig {
    root: PathBuf,
    browser: Option<BrowserEntry>,
    firefox: Option<FirefoxEntry>,
    dialogs: Option<DialogAnswer>,
    axe: AxeFile,
    entries: HashMap<String, WebEntry>,
}

impl WebConfig {
    fn read(part: &ProjectPart<'_>, found: &mut Vec<Problem>) -> WebConfig {
        let (project, entries) = part.decode::<WebProject, WebEntry>(found);
        let parts = |project: WebProject| (project.browser, project.firefox, project.dialogs, project.axe);
        let (browser, firefox, dialogs, axe) = project.map(parts).unwrap_or_default();
        let axe = AxeFile::of(part.root, axe.as_deref());
        WebConfig { root: part.root.to_path_buf(), browser, firefox, dialogs, axe, entries }
    }

    /// What the entry of a device says about an endpoint.
    fn endpoint(&self, id: &str) -> Option<EndpointEntry> {
        let entry = self.entries.get(id)?;
        let url = entry.webdriver.as_ref()?.value.clone();
        let artifacts = entry.artifacts.iter().flat_map(Entries::iter);
        Some(EndpointEntry {
            url,
            capabilities: entry.capabilities.as_ref().map_or_else(|| json!({}), loose),
            credentials: entry.credentials.clone(),
            slots: entry.slots.as_ref().map_or(SLOTS, |slots| slots.value),
            session_wait: entry.session_wait.map_or(SESSION_WAIT, Millis::duration),
            artifacts: artifacts.map(|(name, url)| (name.to_string(), url.clone())).collect(),
        })
    }

    fn webkit_options(&self, machine: &Machine) -> WebKitOptions {
        WebKitOptions {
            program: machine.var("TRAILBLAZE_WEBKIT").map(PathBuf::from),
            path: machine.var("PATH").unwrap_or_default().to_os_string(),
            data_dirs: machine.var("XDG_DATA_DIRS").map(OsStr::to_os_string),
            is_headed: machine.is_headed,
        }
    }

    fn spec(&self, wanted: &WantedDevice<'_>) -> DeviceSpec {
        let entry = self.entries.get(wanted.id);
        let start = InitialState {
            emulation: entry.map(emulation).unwrap_or_default(),
            dialogs: entry.and_then(|entry| entry.dialogs).or(self.dialogs),
            storage_state: entry.and_then(|entry| entry.storage_state.as_ref()).map(|file| self.root.join(&file.value)),
            is_shared: entry.is_some_and(|entry| entry.storage == StorageRule::Shared),
            axe: self.axe.clone(),
            engine: entry.and_then(|entry| entry.browser).unwrap_or_else(|| BrowserEngine::named(wanted.name)),
            endpoint: self.endpoint(wanted.id),
        };
        let id = DeviceId::new(format!("{}/{}", wanted.platform, wanted.name));
        let driver = wanted.driver.filter(|driver| driver.as_str() != DriverKey::SIM);
        web_device(id, driver, wanted.classifiers, start)
    }

    /// Which browser, and how it must be started here.
    fn options(&self, machine: &Machine) -> BrowserOptions {
        let entry = self.browser.as_ref();
        let program = entry.and_then(|entry| entry.program.clone()).map(PathBuf::from);
        BrowserOptions {
            program: machine.var("TRAILBLAZE_CHROMIUM").map(PathBuf::from).or(program),
            is_headed: machine.is_headed || entry.is_some_and(|entry| entry.headed),
            attach: entry.and_then(|entry| entry.attach.clone()),
            ignores_certificates: entry.is_some_and(|entry| entry.ignore_certificate_errors),
            memory_limit: entry.and_then(|entry| entry.memory_limit_mb).map(|megabytes| u64::from(megabytes) << 20),
            args: entry.map(|entry| entry.args.clone()).unwrap_or_default(),
            path: machine.var("PATH").unwrap_or_default().to_os_string(),
            is_root: machine.is_root,
        }
    }

    fn firefox_options(&self, machine: &Machine) -> FirefoxOptions {
        let entry = self.firefox.as_ref();
        let program = entry.and_then(|entry| entry.program.clone()).map(PathBuf::from);
        FirefoxOptions {
            program: machine.var("TRAILBLAZE_FIREFOX").map(PathBuf::from).or(program),
            is_headed: machine.is_headed || entry.is_some_and(|entry| entry.headed),
            ignores_certificates: entry.is_some_and(|entry| entry.ignore_certificate_errors),
            args: entry.map(|entry| entry.args.clone()).unwrap_or_default(),
            path: machine.var("PATH").unwrap_or_default().to_os_string(),
        }
    }
}

impl ProviderConfig for WebConfig {
    /// Any name that nothing else has is a browser of the project.
    fn device(&self, wanted: &WantedDevice<'_>) -> Option<Result<DeviceSpec, String>> {
        let WantedDevice { id, platform, name, .. } = *wanted;
        if platform != Platform::Web || name.is_empty() || name.starts_with("sim-") {
            return None;
        }
        // A browser that only has such a name would be mistaken for the real one.
        if name.eq_ignore_ascii_case(OTHER_BROWSER) {
            return Some(Err(format!(
                "`{id}` cannot be driven: this build drives Firefox, WebKit, Chromium and browsers based on it; write {CHROMIUM}, \
                 {FIREFOX} or {WEBKIT}"
            )));
        }
        if let Some(key) = self.entries.get(id).and_then(WebEntry::without_endpoint) {
            return Some(Err(format!("`{id}` has `{key}:`, but no `webdriver:` with the address of an endpoint")));
        }
        if let Some(Err(why)) = self.endpoint(id).map(|endpoint| endpoint.check()) {
            return Some(Err(format!("`{id}` cannot be used: {why}")));
        }
        Some(Ok(self.spec(wanted)))
    }

    fn slots(&self, device: &DeviceSpec) -> u32 {
        let start = device.settings.get::<InitialState>();
        start.and_then(|start| start.endpoint.as_ref()).map_or(1, |endpoint| endpoint.slots)
    }

    fn is_renewed(&self, device: &DeviceSpec) -> bool {
        device.settings.get::<InitialState>().is_some_and(|start| start.endpoint.is_some())
    }

    fn open(&self, machine: &Machine) -> Result<Arc<dyn DeviceSource>, String> {
        let options = self.options(machine);
        let browsers = Browsers::new(options.clone(), machine.supervisor.clone());
        let firefox_options = self.firefox_options(machine);
        let firefox = Arc::new(FirefoxConnector::new(firefox_options.clone(), machine.supervisor.clone()));
        let webkit_options = self.webkit_options(machine);
        let webkit = Arc::new(WebKitBrowsers::new(webkit_options.clone(), machine.supervisor.clone()));
        let endings = Arc::new(SessionEndings::new(machine.supervisor.clone(), proxies(machine)));
        let has_webkit = self.entries.iter().any(|(id, entry)| {
            let named = BrowserEngine::named(id.strip_prefix("web/").unwrap_or_default());
            entry.webdriver.is_none() && entry.browser.unwrap_or(named) == BrowserEngine::WebKit
        });
        Ok(Arc::new(WebDevices {
            options,
            browsers,
            firefox_options,
            firefox,
            webkit_options,
            webkit,
            has_webkit,
            endings,
            artifact_permits: Arc::new(Semaphore::new(AT_A_TIME)),
            machine: machine.clone(),
        }))
    }
}

/// A browser whose pages start like this.
pub fn web_device(id: DeviceId, driver: Option<&DriverKey>, classifiers: &[String], start: InitialState) -> DeviceSpec {
    let mut all = vec!["web".to_string()];
    all.extend(classifiers.iter().cloned());
    DeviceSpec {
        id,
        platform: Platform::Web,
        driver: driver.cloned().unwrap_or_else(|| DriverKey::new(DRIVER)),
        provider: PROVIDER.name,
        classifiers: all,
        size: start.emulation.size,
        summary: start.endpoint.as_ref().map_or(start.engine.title(), |_| "a browser behind WebDriver").to_string(),
        follows_person: start.endpoint.is_none() && start.engine != BrowserEngine::WebKit,
        machine_id: None,
        settings: DeviceSettings::new(start),
    }
}

fn emulation(entry: &WebEntry) -> Emulation {
    let mut emulation = entry.emulate.as_ref().map(|device| device.0.clone()).unwrap_or_default();
    if let Some(viewport) = &entry.viewport {
        emulation.size = viewport.0;
    }
    emulation.locale.clone_from(&entry.locale);
    emulation.timezone.clone_from(&entry.timezone);
    emulation.is_dark = entry.color_scheme.map(|scheme| scheme == ColorScheme::Dark);
    emulation
}

struct WebDevices {
    options: BrowserOptions,
    browsers: Arc<Browsers>,
    firefox_options: FirefoxOptions,
    firefox: Arc<FirefoxConnector>,
    webkit_options: WebKitOptions,
    webkit: Arc<WebKitBrowsers>,
    /// Whether the project has a device with WebKit.
    has_webkit: bool,
    /// Ends the sessions at endpoints.
    endings: Arc<SessionEndings>,
    /// How many files that endpoints keep may still be fetched at the same time.
    artifact_permits: Arc<Semaphore>,
    machine: Machine,
}

impl WebDevices {
    /// A device behind an endpoint, with its first session.
    async fn acquire_session(
        &self,
        device: &DeviceSpec,
        endpoint: &EndpointEntry,
        budget: &Budget,
    ) -> Result<Arc<dyn Driver>, DriverError> {
        let variable = |name: &str| self.machine.var(name).map(|value| value.to_string_lossy().into_owned());
        let settings = endpoint.resolve(&variable).map_err(|evidence| DriverError::NotStarted { evidence })?;
        let connector = WebDriverConnector::new(
            &settings,
            endpoint.session_wait,
            &proxies(&self.machine),
            Arc::clone(&self.endings),
            &self.artifact_permits,
        )?;
        connector.prepare(budget).await?;
        Ok(Arc::new(Web::new(device, Arc::new(connector))))
    }

    async fn check_webkit(&self, budget: &Budget) -> Finding {
        const ABOUT: &str = "webkit";
        let found = match webkit::find(&self.webkit_options) {
            Ok(found) => found,
            Err(error) => return Finding::bad(ABOUT, error),
        };
        match self.machine.version_of(&found, "--version", budget).await {
            Ok(version) => Finding::good(ABOUT, format!("{version}, {}", found.display())),
            Err(why) => Finding::bad(ABOUT, format!("`{}` does not start: {why}", found.display())),
        }
    }
}

#[async_trait]
impl DeviceSource for WebDevices {
    async fn discover(&self, _: &Budget) -> Result<Vec<DeviceSpec>, DriverError> {
        let mut devices = vec![web_device(DeviceId::new(CHROMIUM), None, &[], InitialState::default())];
        if firefox::find(&self.firefox_options).is_ok() {
            let start = InitialState { engine: BrowserEngine::Firefox, ..InitialState::default() };
            devices.push(web_device(DeviceId::new(FIREFOX), None, &[], start));
        }
        Ok(devices)
    }

    fn patience(&self, device: &DeviceSpec) -> Duration {
        let endpoint = device.settings.get::<InitialState>().and_then(|start| start.endpoint.as_ref());
        endpoint.map_or(limits::DEVICE_START, |endpoint| endpoint.session_wait + EXPLAINING)
    }

    /// A browser on this machine is started by the first command.
    async fn acquire(&self, device: &DeviceSpec, budget: &Budget) -> Result<Arc<dyn Driver>, DriverError> {
        let start = device.settings.get::<InitialState>();
        if let Some(endpoint) = start.and_then(|start| start.endpoint.as_ref()) {
            return self.acquire_session(device, endpoint, budget).await;
        }
        Ok(match start.map(|start| start.engine).unwrap_or_default() {
            BrowserEngine::Chromium => Arc::new(Web::new(device, Arc::clone(&self.browsers))),
            BrowserEngine::Firefox => Arc::new(Web::new(device, Arc::clone(&self.firefox))),
            BrowserEngine::WebKit => Arc::new(Web::new(device, Arc::clone(&self.webkit))),
        })
    }

    async fn check(&self, budget: &Budget, is_needed: bool) -> Vec<Finding> {
        let mut found = self.check_chromium(budget, is_needed).await;
        if self.has_webkit {
            found.push(self.check_webkit(budget).await);
        }
        found
    }

    async fn close(&self) {
        self.browsers.close().await;
        self.firefox.close().await;
        self.webkit.close().await;
        self.endings.close().await;
    }
}

impl WebDevices {
    async fn check_chromium(&self, budget: &Budget, is_needed: bool) -> Vec<Finding> {
        const ABOUT: &str = "browser";
        if let Some(address) = &self.options.attach {
            let message = format!("a browser that runs at `{address}` is used; it was not contacted");
            return vec![Finding::note(ABOUT, message)];
        }
        let found = match find(&self.options) {
            Ok(found) => found,
            Err(error) if is_needed => return vec![Finding::bad(ABOUT, error.to_string())],
            Err(error) => return vec![Finding::note(ABOUT, format!("{error}; this project does not need it"))],
        };
        vec![match self.machine.version_of(&found, "--version", budget).await {
            Ok(version) => Finding::good(ABOUT, format!("{version}, {}", found.display())),
            Err(why) => {
                let message = format!("`{}` does not start: {why}", found.display());
                let finding = if is_needed { Finding::bad(ABOUT, message) } else { Finding::warning(ABOUT, message) };
                finding.hint("set TRAILBLAZE_CHROMIUM to the path of another browser")
            }
        }]
    }
}
