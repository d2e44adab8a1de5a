//! Thirty actions on Firefox, on WebKit and through chromedriver, beside selenium-webdriver on the same browser and page; and the memory of
//! many sessions at an endpoint. Prints a table; no number fails it. Needs `scripts/parts bench`.

mod hub;
#[path = "../support/mod.rs"]
mod support;

use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use hub::SimulatedHub;
use serde_json::{Value, json};
use support::session::thirty_actions;
use support::{Measure, Row};
use trailblaze_core::record::artifacts::PicturePolicy;

const RUNS: usize = 20;
const WARM_UP: usize = 3;
/// How long a driver may take to listen.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    // Guardians are this program, started again; so is what ends sessions at endpoints.
    if let Some(code) = trailblaze_supervise::guardian_main().or_else(trailblaze_drivers::web::end_sessions_main) {
        return code;
    }
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let is_wanted = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches");
    let parts = benches.join("../../../.parts");
    support::head();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let form = format!("file://{}", benches.join("web/form.html").display());
    let bench =
        Bench { node: parts.join("node/node_modules/.bin/node"), script: benches.join("browsers/selenium.mjs"), form };
    let mut is_done = true;
    if is_wanted("firefox") {
        let driver = LocalDriver::start(&parts.join("geckodriver/bin/geckodriver"), |port| vec!["--port".into(), port]);
        is_done &=
            bench.compare(&runtime, ("Firefox", "≤ 0.7 ×", 0.7), "web/firefox", ("firefox", "firefox-esr"), driver);
    }
    if is_wanted("webkit") {
        let driver = LocalDriver::under_xvfb(Path::new("WebKitWebDriver"));
        is_done &=
            bench.compare(&runtime, ("WebKit", "≤ 0.7 ×", 0.7), "web/webkit", ("MiniBrowser", MINI_BROWSER), driver);
    }
    if is_wanted("chromedriver") {
        let driver = LocalDriver::start(Path::new("chromedriver"), |port| vec![format!("--port={port}")]);
        let args = ["--headless=new", "--no-sandbox", "--disable-background-networking", "--disable-component-update"];
        let capabilities =
            json!({"browserName": "chrome", "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": args}});
        let address = driver.as_ref().map_or_else(String::new, |driver| driver.address.clone());
        let device = json!({"id": "web/grid", "webdriver": address, "capabilities": capabilities}).to_string();
        is_done &=
            bench.compare(&runtime, ("chromedriver", "≤ 0.5 ×", 0.5), &device, ("chrome", "/usr/bin/chromium"), driver);
    }
    for (name, slots, most) in [("memory", 50, Some(80.0)), ("thousand", 1000, None)] {
        if is_wanted(name) {
            is_done &= many_sessions(&bench.form, slots, most).is_some();
        }
    }
    if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What one process needs for many sessions at a hub that answers as chromedriver did, and as fast.
fn many_sessions(form: &str, slots: u32, most: Option<f64>) -> Option<()> {
    let driver = LocalDriver::start(Path::new("chromedriver"), |port| vec![format!("--port={port}")])?;
    let hub = SimulatedHub::before(&driver.address);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: String| std::fs::write(folder.path().join(path), text).expect("a file");
    std::fs::create_dir(folder.path().join("trails")).expect("a folder");
    let args = ["--headless=new", "--no-sandbox", "--disable-background-networking", "--disable-component-update"];
    let capabilities =
        json!({"browserName": "chrome", "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": args}});
    let entry = json!({"id": "web/grid", "webdriver": hub.address, "slots": slots, "capabilities": capabilities});
    write("trailblaze.yaml", format!("devices: [{entry}]\n"));
    let mut trail = format!("trail:\n  - step: Fill\n    tools:\n      - web_navigate: {{url: '{form}'}}\n");
    for n in 1..=10 {
        trail +=
            &format!("      - web_click: {{nodeSelector: {{web: {{ariaRole: button, ariaName: 'Button {n}'}}}}}}\n");
    }
    write("trails/a.trail.yaml", trail);
    let run = |repeats: u32| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trailblaze"));
        command.args(["run", "--pictures", "off", "--trace", "off", "--repeat-each", &repeats.to_string()]);
        let output = folder.path().join("output");
        let file = std::fs::File::create(&output).expect("a file");
        command.stdout(file.try_clone().expect("a file")).stderr(file).current_dir(folder.path());
        let started = Instant::now();
        let mut child = command.spawn().expect("the program runs");
        let mut used = ProcessUse::default();
        while child.try_wait().expect("it can be waited for").is_none() {
            used.look(child.id());
            std::thread::sleep(Duration::from_millis(20));
        }
        let is_passed = child.wait().expect("it has ended").success();
        if !is_passed {
            let told = std::fs::read_to_string(&output).unwrap_or_default();
            println!("the run failed: {}", told.lines().take(20).collect::<Vec<_>>().join("\n"));
        }
        is_passed.then_some((used, started.elapsed()))
    };
    run(1)?;
    hub.replay();
    drop(driver);
    let (used, took) = run(2 * slots)?;
    let (goal, is_met) = (most.map(|most| format!("< {most} MB")), most.map(|most| used.peak_megabytes < most));
    let what = format!("our own memory with {slots} sessions at a grid, peak");
    let measured = Measure::Megabytes(used.peak_megabytes);
    Row { what: &what, measured, against: None, goal: &goal.unwrap_or_default(), is_met }.print();
    let row = |what: &str, measured: Measure| {
        Row { what: &format!("  {what}"), measured, against: None, goal: "", is_met: None }.print();
    };
    row(&format!("{} trails of 11 calls, in all", 2 * slots), Measure::Time(took));
    row("processor time of the run", Measure::Time(used.processor));
    row("connections to the hub", Measure::Count(hub.n_connections() as f64));
    row("a command of the hub takes, median", Measure::Time(hub.median_delay()));
    Some(())
}

/// What a process has used so far.
#[derive(Default)]
struct ProcessUse {
    peak_megabytes: f64,
    processor: Duration,
}

impl ProcessUse {
    fn look(&mut self, pid: u32) {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
        self.peak_megabytes = kilobytes.map_or(self.peak_megabytes, |kilobytes| kilobytes / 1e3);
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The fields after the name, which may contain blanks: the 12th and 13th are ticks of a hundredth of a second.
        let fields: Vec<&str> = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect()).unwrap_or_default();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
        self.processor = self.processor.max(Duration::from_millis(10 * (ticks(11) + ticks(12))));
    }
}

/// Debian's browser of WebKitGTK, for each kind of machine.
const MINI_BROWSER: &str = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser";

struct Bench {
    node: PathBuf,
    script: PathBuf,
    form: String,
}

impl Bench {
    fn compare(
        &self,
        runtime: &tokio::runtime::Runtime,
        (what, goal, most): (&str, &str, f64),
        device: &str,
        (browser, program): (&str, &str),
        driver: Option<LocalDriver>,
    ) -> bool {
        let Some(driver) = driver else {
            println!("the driver of {what} is missing; run `./scripts/parts bench`");
            return false;
        };
        let Some(against) = self.selenium(browser, program, &driver.address) else { return false };
        let own = runtime.block_on(thirty_actions(device, &self.form, PicturePolicy::Off, (WARM_UP, RUNS)));
        let is_met = Some(own.as_secs_f64() <= against.as_secs_f64() * most);
        let what = &format!("30 actions, {what} | selenium-webdriver");
        Row { what, measured: Measure::Time(own), against: Some(Measure::Time(against)), goal, is_met }.print();
        true
    }

    fn selenium(&self, browser: &str, program: &str, endpoint: &str) -> Option<Duration> {
        let program = on_path(program)?;
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args([&RUNS.to_string(), browser]).arg(program).args([&self.form, endpoint]);
        let output = command.output().map_err(|error| println!("{}: {error}", self.node.display())).ok()?;
        let told: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        let Some(p50) = told.and_then(|told| told["p50Ms"].as_f64()) else {
            println!("selenium.mjs failed: {}", String::from_utf8_lossy(&output.stderr).trim());
            return None;
        };
        Some(Duration::from_secs_f64(p50 / 1e3))
    }
}

/// The driver of a browser, for selenium-webdriver. Ends when this is dropped.
struct LocalDriver {
    child: Child,
    address: String,
}

impl LocalDriver {
    fn start(program: &Path, args: impl Fn(String) -> Vec<String>) -> Option<LocalDriver> {
        let port = free_port();
        let mut command = Command::new(program);
        command.args(args(port.to_string()));
        LocalDriver::listening(command, port)
    }

    /// On an X server and a bus of its own.
    fn under_xvfb(program: &Path) -> Option<LocalDriver> {
        let port = free_port();
        let mut command = Command::new("dbus-run-session");
        command.args(["--", "xvfb-run", "-a"]).arg(program).arg(format!("--port={port}"));
        LocalDriver::listening(command, port)
    }

    fn listening(mut command: Command, port: u16) -> Option<LocalDriver> {
        // A group of its own, so that what it starts ends with it.
        let child =
            command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let driver = LocalDriver { child, address: format!("http://127.0.0.1:{port}") };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if started.elapsed() > PATIENCE {
                return None;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(driver)
    }
}

impl Drop for LocalDriver {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["--", &format!("-{}", self.child.id())]).status();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|place| place.is_file())
}
