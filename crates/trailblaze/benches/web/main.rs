//! What the web device costs, beside Playwright, @playwright/mcp and a bare DevTools script on the same browser and pages.
//! Prints a table; no number fails it. `docs/benchmarks.md` says what was measured where. Needs `scripts/parts bench`.

#[path = "../support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::session::{BenchSession, thirty_actions};
use support::{Measure, Row, quantile};
use trailblaze_core::record::artifacts::PicturePolicy;
use trailblaze_core::snapshot::{self, Details};

const CHROMIUM: &str = "web/chromium";
const RUNS: usize = 20;
const WARM_UP: usize = 3;
/// How many fresh browsers the first run is measured in.
const FRESH: usize = 7;
/// Devices and trails of the last row.
const DEVICES: usize = 10;

fn main() -> ExitCode {
    // Guardians are this program, started again.
    if let Some(code) = trailblaze_supervise::guardian_main() {
        return code;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/web");
    let asked: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let is_wanted = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    support::head();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    if is_wanted("actions") {
        let Some(playwright) = peer(&folder, "playwright.mjs", &[]) else { return ExitCode::FAILURE };
        let Some(minimal) = peer(&folder, "minimal.mjs", &[]) else { return ExitCode::FAILURE };
        let own = runtime.block_on(actions(&folder, PicturePolicy::Off, (WARM_UP, RUNS)));
        let pictured = runtime.block_on(actions(&folder, PicturePolicy::Step, (WARM_UP, RUNS)));
        let row = |what: &str, own: Duration, against: &Peer, most: Option<f64>, goal: &str| {
            let is_met = most.map(|most| own.as_secs_f64() <= against.seconds() * most);
            Row { what, measured: Measure::Time(own), against: Some(against.time()), goal, is_met }.print();
        };
        row("30 actions | playwright-core", own, &playwright, Some(0.6), "≤ 0.6 ×");
        row("30 actions | a bare script, each input awaited", own, &minimal, Some(1.5), "≤ 1.5 ×");
        if let Some(at_once) = minimal.other("atOnceP50Ms") {
            row("30 actions | a bare script, a click sent at once", own, &at_once, None, "");
        }
        row("30 actions, pictures as by default | playwright-core", pictured, &playwright, None, "");
        let firsts = (0..FRESH).map(|_| runtime.block_on(actions(&folder, PicturePolicy::Off, (0, 1))));
        let first = quantile(&mut firsts.collect::<Vec<_>>(), 0.5);
        first_row("the first 30 actions in a fresh browser | later ones", first, own);
        if let Some(peer) = playwright.other("firstMs") {
            row("the first 30 actions in a fresh browser | playwright-core's first", first, &peer, None, "");
        }
    }
    if is_wanted("snapshot") {
        let is_done = LOOKED_AT.iter().all(|page| {
            let Some(peer) = peer(&folder, "mcp_snapshot.mjs", &[page.file]) else { return false };
            let own = runtime.block_on(snapshots(&folder, page, (WARM_UP, RUNS)));
            let firsts = (0..FRESH).map(|_| runtime.block_on(snapshots(&folder, page, (0, 1))).0);
            let first = quantile(&mut firsts.collect::<Vec<_>>(), 0.5);
            let later = own.0;
            compare_snapshots(page, &peer, own);
            first_row(&format!("the first snapshot of {} in a fresh browser | later ones", page.what), first, later);
            if let Some(peer) = peer.other("firstMs") {
                let (what, measured) = ("the same | @playwright/mcp's first", Measure::Time(first));
                Row { what, measured, against: Some(peer.time()), goal: "", is_met: None }.print();
            }
            true
        });
        if !is_done {
            return ExitCode::FAILURE;
        }
    }
    if is_wanted("devices") {
        devices(&folder);
    }
    if is_wanted("contexts") {
        contexts(&folder);
    }
    ExitCode::SUCCESS
}

/// A page that snapshots are taken of.
struct LookedAt {
    file: &'static str,
    what: &'static str,
    /// What a snapshot of all of it shows, among other things.
    shown: [&'static str; 3],
}

const LOOKED_AT: &[LookedAt] = &[
    LookedAt { file: "list.html", what: "1,000 items", shown: ["Item 1\n", "Buy item 1000", "Count of item 1000"] },
    LookedAt {
        file: "sections.html",
        what: "1,000 sections of text",
        shown: ["Section 1\n", "First point of 1000", "Note 1000"],
    },
];

fn first_row(what: &str, first: Duration, later: Duration) {
    let (measured, against) = (Measure::Time(first), Some(Measure::Time(later)));
    Row { what, measured, against, goal: "≤ 1.5 ×", is_met: Some(first <= later.mul_f64(1.5)) }.print();
}

fn compare_snapshots(page: &LookedAt, peer: &Peer, (took, text): (Duration, String)) {
    let is_met = Some(took.as_secs_f64() <= peer.seconds() * 0.3);
    let what = &format!("a snapshot of {} | @playwright/mcp", page.what);
    Row { what, measured: Measure::Time(took), against: Some(peer.time()), goal: "≤ 0.3 ×", is_met }.print();
    let (own, theirs) = (text.chars().count() as f64, peer.value["characters"].as_f64().unwrap_or(1.0));
    let (measured, against) = (Measure::Thousands(own / 1e3), Some(Measure::Thousands(theirs / 1e3)));
    let what = "characters of it, thousands | @playwright/mcp";
    Row { what, measured, against, goal: "≤ 0.4 ×", is_met: Some(own <= theirs * 0.4) }.print();
}

/// What a script of another tool measured.
struct Peer {
    value: Value,
}

impl Peer {
    fn seconds(&self) -> f64 {
        self.value["p50Ms"].as_f64().unwrap_or(f64::NAN) / 1e3
    }

    fn time(&self) -> Measure {
        Measure::Time(Duration::from_secs_f64(self.seconds()))
    }

    fn other(&self, key: &str) -> Option<Peer> {
        self.value[key].as_f64().map(|p50| Peer { value: json!({"p50Ms": p50}) })
    }
}

fn peer(folder: &Path, script: &str, args: &[&str]) -> Option<Peer> {
    let node = folder.join("../../../../.parts/node/node_modules/.bin/node");
    let output = Command::new(&node).arg(folder.join(script)).arg(RUNS.to_string()).args(args).output();
    let output = output.map_err(|error| println!("{}: {error}; run `./scripts/parts bench`", node.display())).ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let mut value = lines.first().cloned().or_else(|| {
        println!("{script} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        None
    })?;
    // A script may tell of a second way to do the same.
    if let Some(second) = lines.get(1) {
        value["atOnceP50Ms"] = second["p50Ms"].clone();
    }
    Some(Peer { value })
}

fn address(folder: &Path, page: &str) -> String {
    format!("file://{}", folder.join(page).display())
}

/// How long thirty actions take in Chromium.
async fn actions(folder: &Path, pictures: PicturePolicy, runs: (usize, usize)) -> Duration {
    thirty_actions(CHROMIUM, &address(folder, "form.html"), pictures, runs).await
}

/// As an agent gets it: the text of the whole page.
async fn snapshots(folder: &Path, page: &LookedAt, (warm_up, runs): (usize, usize)) -> (Duration, String) {
    let session = BenchSession::open(CHROMIUM, PicturePolicy::Off);
    session.call("web_navigate", json!({"url": address(folder, page.file)})).await;
    let details = Details { offscreen: true, ..Details::default() };
    let (mut times, mut text) = (Vec::new(), String::new());
    for run in 0..warm_up + runs {
        let started = Instant::now();
        let screen = session.session.device.show(&session.cx).await.expect("the page is seen");
        text = snapshot::text(&screen, &details);
        if run >= warm_up {
            times.push(started.elapsed());
        }
        for part in page.shown {
            assert!(text.contains(part), "the snapshot lacks `{part}`");
        }
    }
    session.close().await;
    (quantile(&mut times, 0.5), text)
}

/// What it costs that each trail finds a fresh browser, against trails that share cookies and storage.
fn contexts(folder: &Path) {
    const TRAILS: usize = 20;
    let project = tempfile::tempdir().expect("a temporary folder");
    let write = |path: String, text: String| std::fs::write(project.path().join(path), text).expect("a file");
    std::fs::create_dir(project.path().join("trails")).expect("a folder");
    write(
        "trailblaze.yaml".to_string(),
        "devices:\n  - id: web/fresh\n  - id: web/shared\n    storage: shared\n".to_string(),
    );
    for trail in 0..TRAILS {
        let url = address(folder, "form.html");
        let step = format!("trail:\n  - step: Open\n    tools:\n      - web_navigate: {{url: '{url}'}}\n");
        write(format!("trails/{trail}.trail.yaml"), step);
    }
    let run = |device: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trailblaze"));
        command.args(["run", "--pictures", "off", "-d", device]).current_dir(project.path());
        let started = Instant::now();
        let output = command.output().expect("the program runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        started.elapsed()
    };
    let (mut fresh, mut shared): (Vec<_>, Vec<_>) = (0..5).map(|_| (run("web/fresh"), run("web/shared"))).unzip();
    let cost = quantile(&mut fresh, 0.5).saturating_sub(quantile(&mut shared, 0.5)) / TRAILS as u32;
    Row {
        what: "a fresh context for each trail, more than a shared one",
        measured: Measure::Time(cost),
        against: None,
        goal: "≤ 50 ms",
        is_met: Some(cost <= Duration::from_millis(50)),
    }
    .print();
}

/// Ten trails of twenty steps on as many devices of one browser, against one after the other with a browser each.
fn devices(folder: &Path) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_trailblaze"));
    let project = tempfile::tempdir().expect("a temporary folder");
    let write = |path: String, text: String| std::fs::write(project.path().join(path), text).expect("a file");
    std::fs::create_dir(project.path().join("trails")).expect("a folder");
    write("trailblaze.yaml".to_string(), "platform: web\n".to_string());
    for trail in 0..DEVICES {
        let mut text = format!(
            "config: {{id: trail-{trail}}}\ntrail:\n  - step: Open\n    tools:\n      - web_navigate: {{url: '{}'}}\n",
            address(folder, "form.html")
        );
        for n in 1..20 {
            let (tool, role, name) = match n % 2 {
                0 => ("web_click", "button", "Button"),
                _ => ("web_check", "checkbox", "Option"),
            };
            let number = n / 2 + 1;
            text += &format!(
                "  - step: Do {n}\n    tools:\n      - {tool}: {{nodeSelector: {{web: {{ariaRole: {role}, ariaName: '{name} {number}'}}}}}}\n"
            );
        }
        write(format!("trails/{trail}.trail.yaml"), text);
    }
    let run = |args: &[String]| {
        let mut command = Command::new("/usr/bin/env");
        command.arg(&program).arg("run").args(["--pictures", "off"]).args(args);
        let started = Instant::now();
        let output = command.current_dir(project.path()).output().expect("the program runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        started.elapsed()
    };
    let all: Vec<String> = (0..DEVICES).flat_map(|n| ["-d".to_string(), format!("web/d{n}")]).collect();
    let mut together: Vec<Duration> = (0..3).map(|_| run(&all)).collect();
    let mut apart: Vec<Duration> = (0..3)
        .map(|_| {
            let one =
                |trail: usize| run(&[format!("trails/{trail}.trail.yaml"), "-d".to_string(), "web/one".to_string()]);
            (0..DEVICES).map(one).sum()
        })
        .collect();
    let (together, apart) = (quantile(&mut together, 0.5), quantile(&mut apart, 0.5));
    Row {
        what: "10 trails on 10 devices | one after the other, a browser each",
        measured: Measure::Time(together),
        against: Some(Measure::Time(apart)),
        goal: "≤ 0.5 ×",
        is_met: Some(together <= apart.mul_f64(0.5)),
    }
    .print();
    if let Some(peak) = peak_memory(&program, project.path(), &all) {
        let (what, goal) = ("our own memory with 10 devices, peak", "< 40 MB");
        Row { what, measured: Measure::Megabytes(peak), against: None, goal, is_met: Some(peak < 40.0) }.print();
    }
}

/// Of the program alone: its guardian and the browser are processes of their own.
fn peak_memory(program: &Path, project: &Path, args: &[String]) -> Option<f64> {
    let mut command = Command::new(program);
    command.arg("run").args(["--pictures", "off"]).args(args).current_dir(project);
    let mut child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().ok()?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = None;
    while child.try_wait().ok()?.is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
        peak = kilobytes.map(|kilobytes| kilobytes / 1e3).or(peak);
        std::thread::sleep(Duration::from_millis(20));
    }
    peak
}
