//! How fast the studio is: its files, its first paint, how soon a change of a page is seen, how soon an element is described, and what
//! an idle page costs. Prints a table; no number fails it. `docs/benchmarks.md` says what was measured where.

#[path = "../../tests/it/browser/studio/page.rs"]
#[allow(dead_code)]
mod page;
#[path = "../sessions/place.rs"]
#[allow(dead_code)]
mod place;
#[path = "../support/mod.rs"]
mod support;

mod change;

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use page::Page;
use place::{Missing, Place, timed};
use support::{Measure, Row, quantile};

const PROJECT: &str = "platform: web\ndevices:\n  - id: web/chromium\n  - id: web/other\n";
/// One frame of a screen that is drawn 60 times a second.
const FRAME: Duration = Duration::from_micros(16_667);

/// Prints the rows of one part, unless something is missing.
type Rows = fn(&Place) -> Result<(), Missing>;

fn main() -> ExitCode {
    support::head();
    let parts: [Rows; 5] = [files, paint, change::rows, hover, idle];
    for part in parts {
        let place = match Place::new(PROJECT) {
            Ok(place) => place,
            Err(missing) => {
                println!("{missing}");
                return ExitCode::FAILURE;
            }
        };
        if let Err(missing) = part(&place) {
            println!("{missing}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn address(place: &Place, args: &[&str]) -> String {
    let (_, text) = timed(place.own(&[&["studio", "--json"], args].concat()));
    let address: Value = serde_json::from_str(&text).expect("JSON");
    address["address"].as_str().expect("an address").to_string()
}

/// A page on a session that shows this address.
fn open(place: &Place, url: &str) -> (Page, String) {
    let mut page = Page::at(&address(place, &["-d", "web/chromium", "--launch", url]));
    assert_eq!(page.enter(), 204);
    let session = page.session();
    (page, session)
}

fn files(place: &Place) -> Result<(), Missing> {
    let page = Page::at(&address(place, &[]));
    let mut total = 0;
    for file in ["", "studio.js", "studio.css"] {
        let (_, _, bytes) = page.get(&format!("/studio/{file}"));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&bytes).expect("memory");
        total += encoder.finish().expect("memory").len();
    }
    let kilobytes = total as f64 / 1000.0;
    let (what, goal) = ("all files of the page, compressed, kB", "≤ 250 kB");
    Row { what, measured: Measure::Count(kilobytes), against: None, goal, is_met: Some(kilobytes <= 250.0) }.print();
    Ok(())
}

/// The first paint of the page in a real browser, in a fresh one and then again.
fn paint(place: &Place) -> Result<(), Missing> {
    let script = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1";
    let mut times = Vec::new();
    for _ in 0..6 {
        let url = address(place, &[]);
        timed(place.own(&["tool", "-d", "web/other", "launchApp", &format!("packageId={url}")]));
        timed(place.own(&["tool", "-d", "web/other", "web_verifyTextVisible", "text=Devices"]));
        let (_, told) =
            timed(place.own(&["tool", "-d", "web/other", "evaluateJs", &format!("script={script}"), "--json"]));
        let told: Value = serde_json::from_str(&told).expect("JSON");
        let millis = told.pointer("/answer/structured").and_then(Value::as_f64);
        times.push(Duration::from_secs_f64(millis.unwrap_or_else(|| panic!("no paint: {told}")) / 1000.0));
    }
    let (first, mut later) = (times[0], times.split_off(1));
    let later = quantile(&mut later, 0.5);
    let goal = "< 300 ms";
    let is_met = |time: Duration| Some(time < Duration::from_millis(300));
    let row = |what, time| Row { what, measured: Measure::Time(time), against: None, goal, is_met: is_met(time) };
    row("first paint, in a fresh browser", first).print();
    row("first paint, later, median of 5", later).print();
    Ok(())
}

/// Describing an element of a page with 500 of them, against a request that does nothing.
fn hover(place: &Place) -> Result<(), Missing> {
    let buttons: String = (0..500).map(|number| format!("<button>Button {number}</button>")).collect();
    let server = change::Server::start(format!("<!doctype html><title>Many</title>{buttons}"));
    let (page, session) = open(place, &server.address);
    let screen = page
        .watch("screen", &session)
        .until("the page", |screen| screen["elements"].as_array().is_some_and(|elements| elements.len() > 500));
    let ask = |element: usize| {
        let started = Instant::now();
        page.call("Inspect", json!({"session": session, "generation": screen["generation"], "element": element}));
        started.elapsed()
    };
    let floor = || {
        let started = Instant::now();
        page.call("StopWork", json!({"session": session}));
        started.elapsed()
    };
    let first = ask(400);
    let mut asked: Vec<Duration> = (0..100).map(|nth| ask(5 + nth * 4)).collect();
    let mut floors: Vec<Duration> = (0..100).map(|_| floor()).collect();
    let floor = Some(Measure::Time(quantile(&mut floors, 0.5)));
    let goal = "< 16.7 ms, one frame";
    let row = |what, time: Duration| {
        Row { what, measured: Measure::Time(time), against: floor, goal, is_met: Some(time < FRAME) }.print();
    };
    row("an element of 500 described, the first", first);
    row("the same, median of 100", quantile(&mut asked, 0.5));
    row("the same, 95 of 100 within", quantile(&mut asked, 0.95));
    Ok(())
}

/// The processor time of the daemon with an open page and a page that shows nothing new.
fn idle(place: &Place) -> Result<(), Missing> {
    let server = change::Server::start("<!doctype html><title>Still</title><h1>Still</h1>".to_string());
    let (page, session) = open(place, &server.address);
    let key: Value = serde_json::from_str(&std::fs::read_to_string(place.key_file()).expect("a file")).expect("JSON");
    let pid = key["pid"].as_u64().expect("a pid");
    let share = |seconds: u64| {
        let before = processor_time(pid);
        std::thread::sleep(Duration::from_secs(seconds));
        (processor_time(pid) - before).as_secs_f64() / seconds as f64 * 100.0
    };
    let without = share(10);
    let mut stream = page.watch("screen", &session);
    stream.until("the page", |screen| screen.get("picture").is_some());
    let _workspace = page.follow("WatchWorkspace", json!({}));
    std::thread::sleep(Duration::from_secs(2));
    let with = share(20);
    println!(
        "{:<58} {:>8.2} % {:>8.2} % {:>7}   {:<22} {}",
        "processor time of the daemon with an idle page, and without",
        with,
        without,
        "",
        "< 1 % of a core",
        if with < 1.0 { "yes" } else { "no" }
    );
    Ok(())
}

/// The time that a process has used so far.
fn processor_time(pid: u64) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().expect("a number") + fields[12].parse::<u64>().expect("a number");
    // The kernel counts in hundredths of a second.
    Duration::from_millis(ticks * 10)
}
