//! The browser of the tests. One serves every test that is not about the life of a browser: each device has a context of its own there,
//! and starting a browser costs more than most tests.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use trailblaze_drivers::web::{Browser, BrowserOptions};
use trailblaze_supervise::Supervisor;

use super::{PATIENCE, PROGRAM, skip, wait_until};

/// Where Chromium is. Without one, the test is skipped locally and fails in CI.
pub fn find() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        if let Some(path) = std::env::var_os("TRAILBLAZE_TEST_CHROMIUM").filter(|path| !path.is_empty()) {
            return Some(PathBuf::from(path));
        }
        on_path(&["chromium", "chromium-browser", "google-chrome"])
    });
    if found.is_none() {
        skip::without_part(
            "there is no Chromium: `scripts/parts` installs one, or name it in TRAILBLAZE_TEST_CHROMIUM",
        );
    }
    found.clone()
}

fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut places = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.find(|place| place.is_file())
}

/// Whether tests for every browser are run on Firefox: to see what differs there.
pub fn is_replaced_by_firefox() -> bool {
    std::env::var_os("TRAILBLAZE_TEST_ENGINE").is_some_and(|engine| engine == "firefox")
}

/// The address of the browser that tests share, for `attach`. It starts with the first test that asks, and ends with the program. Where
/// there is a build without windows, it is that one, because it needs half of the processor time; browsers that runs start are whole.
pub fn shared() -> Option<&'static str> {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    let is_named = std::env::var_os("TRAILBLAZE_TEST_CHROMIUM").is_some_and(|path| !path.is_empty());
    let whole = find()?;
    let program = if is_named { whole } else { on_path(&["chromium-headless-shell"]).unwrap_or(whole) };
    Some(ADDRESS.get_or_init(|| {
        let (told, address) = channel();
        std::thread::spawn(move || serve(program, told));
        address.recv_timeout(PATIENCE).expect("the shared browser starts")
    }))
}

/// A project file for these devices, which are pages of the shared browser: `[{id: web/chromium}]`.
pub fn devices(devices: &str) -> String {
    if is_replaced_by_firefox() {
        return own(devices);
    }
    let address = shared().expect("the test found Chromium");
    format!("devices: {devices}\nbrowser: {{attach: '{address}'}}\n")
}

/// A project file for these devices, with a browser that its runs start and end.
pub fn own(devices: &str) -> String {
    match is_replaced_by_firefox() {
        true => format!("devices: {}\n", devices.replace('}', ", browser: firefox}")),
        false => format!("devices: {devices}\n"),
    }
}

/// Keeps the browser, whose guardian ends it when this process ends.
fn serve(program: PathBuf, address: Sender<String>) {
    let options = BrowserOptions {
        program: Some(program),
        args: vec!["--remote-debugging-port=0".to_string()],
        is_root: rustix::process::geteuid().is_root(),
        ..BrowserOptions::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let browser = Browser::start(&options, &Supervisor::with_guardian(PROGRAM)).await;
        let browser = browser.unwrap_or_else(|error| panic!("{error}"));
        let profile = browser.downloads.parent().expect("downloads are in the profile").to_path_buf();
        let port = wait_until("the browser tells its port", || {
            let told = std::fs::read_to_string(profile.join("DevToolsActivePort")).ok()?;
            told.lines().next()?.parse::<u16>().ok()
        });
        let _ = address.send(format!("http://127.0.0.1:{port}"));
        std::future::pending::<()>().await;
    });
}
