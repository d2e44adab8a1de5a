//! What 30 actions cost on an iPhone, against the bare requests that they consist of and against facebook-wda, all on the same stand-in.
//! Prints a table; no number fails it, because a number depends on the machine. `docs/benchmarks.md` says what was measured where.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Action, ActionTarget, Budget, DeviceCommand, Driver, LaunchMode};
use trailblaze_core::query::{Checks, ElementProperties, Find, Query, QueryTarget};
use trailblaze_core::yaml::{Problems, Source, YamlKind, YamlNode, read};
use trailblaze_drivers::ios::PROVIDER;
use trailblaze_drivers::provider::{FileError, Machine, ProjectPart, WantedDevice};
use trailblaze_ios_stand_in::{StandIn, start};
use trailblaze_protocol::driver::Platform;
use trailblaze_supervise::Supervisor;

const ACTIONS: usize = 30;
/// How often the actions are done before and while they are measured.
const WARM_UP: usize = 3;
const RUNS: usize = 15;
const WALLET: &str = "com.example.Wallet";
const FIELDS: [&str; 2] = ["email", "pin"];
/// What the driver asks for when it searches.
const SOURCE: &str = "/source?format=json&excluded_attributes=frame,nativeFrame,accessible,nativeAccessibilityElement,minValue,maxValue,visible";

fn main() {
    let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wallet/wallet.app.yaml");
    let stand_in = start(&[app]).expect("a stand-in");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let driver = runtime.block_on(open(&stand_in));
    let mut bare = BareClient::open(&stand_in);
    let (mut own, mut requests) = (Vec::new(), Vec::new());
    for run in 0..WARM_UP + RUNS {
        let began = Instant::now();
        runtime.block_on(actions(&*driver));
        let took = began.elapsed();
        bare.adopt_session();
        let began = Instant::now();
        bare.actions();
        if run >= WARM_UP {
            own.push(took);
            requests.push(began.elapsed());
        }
    }
    runtime.block_on(driver.close());
    let (own, requests) = (median(own), median(requests));
    row("the bare requests", own, requests, "at most 1.3");
    match facebook_wda(&stand_in) {
        Some(theirs) => row("facebook-wda", own, theirs, "at most 0.5"),
        None => println!("facebook-wda is missing; `scripts/parts full` installs it"),
    }
}

fn row(against: &str, own: Duration, theirs: Duration, goal: &str) {
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let ratio = own.as_secs_f64() / theirs.as_secs_f64();
    println!(
        "30 actions: {:.1} ms | {against}: {:.1} ms | ratio {ratio:.2} | goal: {goal}",
        millis(own),
        millis(theirs)
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn budget() -> Budget {
    Budget::new(tokio::time::Instant::now() + Duration::from_secs(60), CancellationToken::new())
}

/// The driver of a device whose project names the stand-in, with the wallet in front.
async fn open(stand_in: &StandIn) -> Arc<dyn Driver> {
    let entry = Source::new("trailblaze.yaml", format!("wda: {}\n", stand_in.address()));
    let entry = read(&entry, &mut Problems::new(&entry)).expect("keys");
    let source = Source::new("trailblaze.yaml", "");
    let section = YamlNode { span: Default::default(), kind: YamlKind::Map(Vec::new()) };
    let file = |_: &str| Err(FileError::Missing);
    let devices = vec![("ios/bench", entry)];
    let part = ProjectPart { root: "/".as_ref(), source: &source, section, devices, read: &file };
    let config = (PROVIDER.read)(&part, &mut Vec::new());
    let wanted =
        WantedDevice { id: "ios/bench", platform: Platform::Ios, name: "bench", driver: None, classifiers: &[] };
    let spec = config.device(&wanted).expect("an iPhone").expect("it can be had");
    let machine = Machine::new(Supervisor::new(), Arc::new(HashMap::new()));
    let devices = config.open(&machine).expect("it opens");
    let driver = devices.acquire(&spec, &budget()).await.expect("it is ready");
    let launch = DeviceCommand::LaunchApp { app: WALLET.to_string(), mode: LaunchMode::Resume };
    launch.carry_out(&*driver, &budget()).await.expect("it is launched");
    driver
}

/// Finds a field by its id and taps it.
async fn actions(driver: &dyn Driver) {
    for index in 0..ACTIONS {
        let id = Some(FIELDS[index % 2].to_string());
        let what = QueryTarget::Element(ElementProperties { id, ..ElementProperties::default() });
        let found = driver.find(&budget(), &Query { what, index: None }, Checks::Actionable).await;
        let Ok(Find::Found(found)) = found else { panic!("the field is not found: {found:?}") };
        driver.act(&budget(), &ActionTarget::Element(found), &Action::Tap).await.expect("it taps");
    }
}

/// The same requests over a connection that is kept open; what they return is read and not looked at.
struct BareClient {
    connection: BufReader<TcpStream>,
    session: String,
}

impl BareClient {
    fn open(stand_in: &StandIn) -> BareClient {
        let connection = TcpStream::connect(("127.0.0.1", stand_in.port())).expect("it answers");
        connection.set_nodelay(true).expect("a socket");
        BareClient { connection: BufReader::new(connection), session: String::new() }
    }

    /// Uses the session of the driver, which stays as it is.
    fn adopt_session(&mut self) {
        let status = self.request("GET", "/status", "");
        let status: serde_json::Value = serde_json::from_slice(&status).expect("JSON");
        self.session = status["sessionId"].as_str().expect("a session").to_string();
    }

    fn actions(&mut self) {
        let tap = format!("/session/{}/wda/tap", self.session);
        for _ in 0..ACTIONS {
            self.request("GET", SOURCE, "");
            self.request("POST", &tap, r#"{"x": 195, "y": 5}"#);
        }
    }

    fn request(&mut self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        self.connection.get_mut().write_all(head.as_bytes()).expect("it is sent");
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.connection.read_line(&mut line).expect("an answer");
            if line.trim().is_empty() {
                break;
            }
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.connection.read_exact(&mut body).expect("a body");
        body
    }
}

/// What facebook-wda needs for the same; it measures itself and prints seconds.
fn facebook_wda(stand_in: &StandIn) -> Option<Duration> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = folder.join("../../.parts/facebook-wda/bin/python");
    if !python.exists() {
        return None;
    }
    let mut command = Command::new(python);
    command.arg(folder.join("benches/facebook_wda_actions.py")).arg(stand_in.address());
    command.args([ACTIONS, WARM_UP, RUNS].map(|count| count.to_string()));
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().ok().map(Duration::from_secs_f64)
}
