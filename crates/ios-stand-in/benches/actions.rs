//! What 30 actions cost on an iPhone, against the bare requests that they consist of and against facebook-wda, all on the same stand-in, one
//! after the other, in turns. The stand-in answers at once: the numbers say what we add, not how fast an iPhone is. Prints a table; no
//! number fails it. `docs/benchmarks.md` says what was measured where. Needs `scripts/parts bench` for facebook-wda.

#[path = "../../trailblaze/benches/support/table.rs"]
#[allow(dead_code, reason = "this benchmark uses a part of it")]
mod table;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use table::{Measure, Row, head, quantile};
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Action, ActionTarget, Budget, DeviceCommand, Driver, LaunchMode};
use trailblaze_core::query::{Checks, ElementProperties, Find, Query, QueryTarget};
use trailblaze_core::yaml::{Problems, Source, YamlKind, YamlNode, read};
use trailblaze_drivers::ios::{PROVIDER, put_back_main};
use trailblaze_drivers::provider::{FileError, Machine, ProjectPart, WantedDevice};
use trailblaze_ios_stand_in::{StandIn, start};
use trailblaze_protocol::driver::Platform;
use trailblaze_supervise::{Supervisor, guardian_main};

const ACTIONS: usize = 30;
/// How many stand-ins each client meets, and how often it does the actions on each: the first time counts apart.
const ROUNDS: usize = 7;
const TIMES: usize = 5;
const WALLET: &str = "com.example.Wallet";
const FIELDS: [&str; 2] = ["email", "pin"];
/// What the driver asks for when it searches.
const SOURCE: &str = "/source?format=json&excluded_attributes=frame,nativeFrame,accessible,nativeAccessibilityElement,minValue,maxValue,visible";

fn main() -> ExitCode {
    // Guardians, and what puts things back, are this program, started again.
    if let Some(code) = guardian_main().or_else(put_back_main) {
        return code;
    }
    head();
    let mut all: [Times; 3] = Default::default();
    let [own, bare, theirs] = &mut all;
    for _ in 0..ROUNDS {
        let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wallet/wallet.app.yaml");
        let stand_in = start(&[app]).expect("a stand-in");
        own.add(&stand_in, of_driver);
        bare.add(&stand_in, of_bare_requests);
        theirs.add(&stand_in, of_facebook_wda);
    }
    own.print(bare, "≤ 1.3 × requests", 1.3);
    if theirs.warm.is_empty() {
        println!("facebook-wda is missing; `scripts/parts bench` installs it");
    } else {
        own.print(theirs, "≤ 0.5 × facebook-wda", 0.5);
    }
    for (whose, times) in [("ours", &*own), ("the bare ones", bare), ("those of facebook-wda", theirs)] {
        let what = format!("requests for 30 actions: {whose}");
        let measured = Measure::Count(times.n_requests as f64);
        Row { what: &what, measured, against: None, goal: "", is_met: None }.print();
    }
    ExitCode::SUCCESS
}

/// How long one of the clients takes, and how much it asks for.
#[derive(Default)]
struct Times {
    first: Vec<Duration>,
    warm: Vec<Duration>,
    /// For all actions, once.
    n_requests: usize,
}

impl Times {
    fn add(&mut self, stand_in: &StandIn, measure: impl FnOnce(&StandIn) -> Vec<Duration>) {
        let before = stand_in.requests().len();
        let times = measure(stand_in);
        self.first.extend(times.first());
        self.warm.extend(times.iter().skip(1));
        // What opens and ends a session is a few requests, and not one for each time.
        self.n_requests = (stand_in.requests().len() - before) / TIMES;
    }

    fn print(&mut self, others: &mut Times, goal: &str, most: f64) {
        for (what, own, others) in [
            ("30 actions, the first of a session, p50", &mut self.first, &mut others.first),
            ("30 actions, p50", &mut self.warm, &mut others.warm),
        ] {
            let (own, others) = (quantile(own, 0.5), quantile(others, 0.5));
            let is_met = Some(own.as_secs_f64() <= others.as_secs_f64() * most);
            Row { what, measured: Measure::Time(own), against: Some(Measure::Time(others)), goal, is_met }.print();
        }
    }
}

fn budget() -> Budget {
    Budget::new(tokio::time::Instant::now() + Duration::from_secs(60), CancellationToken::new())
}

fn of_driver(stand_in: &StandIn) -> Vec<Duration> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let driver = open(stand_in).await;
        let mut times = Vec::new();
        for _ in 0..TIMES {
            let began = Instant::now();
            actions(&*driver).await;
            times.push(began.elapsed());
        }
        driver.close().await;
        times
    })
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

fn of_bare_requests(stand_in: &StandIn) -> Vec<Duration> {
    let mut client = BareClient::open(stand_in);
    let made = client.request("POST", "/session", r#"{"capabilities": {"alwaysMatch": {}, "firstMatch": [{}]}}"#);
    let made: Value = serde_json::from_slice(&made).expect("JSON");
    let session = format!("/session/{}", made["sessionId"].as_str().expect("a session"));
    client.request("POST", &format!("{session}/wda/apps/launch"), &json!({"bundleId": WALLET}).to_string());
    let tree: Value = serde_json::from_slice(&client.request("GET", SOURCE, "")).expect("JSON");
    let places = FIELDS.map(|id| centre(&tree["value"], id).expect("the field").to_string());
    let tap = format!("{session}/wda/tap");
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let began = Instant::now();
        for index in 0..ACTIONS {
            client.request("GET", SOURCE, "");
            client.request("POST", &tap, &places[index % 2]);
        }
        times.push(began.elapsed());
    }
    client.request("DELETE", &session, "");
    times
}

/// Where the element with an id is.
fn centre(node: &Value, id: &str) -> Option<Value> {
    if node["name"] == id {
        let side = |name: &str| node["rect"][name].as_f64();
        return Some(json!({"x": side("x")? + side("width")? / 2.0, "y": side("y")? + side("height")? / 2.0}));
    }
    node["children"].as_array()?.iter().find_map(|child| centre(child, id))
}

/// Sends requests over a connection that is kept open; what they return is read and not looked at.
struct BareClient {
    connection: BufReader<TcpStream>,
}

impl BareClient {
    fn open(stand_in: &StandIn) -> BareClient {
        let connection = TcpStream::connect(("127.0.0.1", stand_in.port())).expect("it answers");
        connection.set_nodelay(true).expect("a socket");
        BareClient { connection: BufReader::new(connection) }
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

/// facebook-wda measures itself, and prints seconds. Nothing if it is missing.
fn of_facebook_wda(stand_in: &StandIn) -> Vec<Duration> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = folder.join("../../.parts/facebook-wda/bin/python");
    if !python.exists() {
        return Vec::new();
    }
    let mut command = Command::new(python);
    command.arg(folder.join("benches/facebook_wda_actions.py")).arg(stand_in.address());
    command.args([ACTIONS, TIMES].map(|count| count.to_string()));
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout);
    printed.lines().map(|line| Duration::from_secs_f64(line.trim().parse().expect("seconds"))).collect()
}
