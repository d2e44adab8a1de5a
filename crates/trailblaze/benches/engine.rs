//! What the engine costs, each number beside what it is to be judged by. Prints a table; no number fails it, because a
//! number depends on the machine. `docs/benchmarks.md` says what was measured where.

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use support::{Measure, Row, head, quantile};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use trailblaze::output::expected_pictures::ExpectedPictureFiles;
use trailblaze::output::progress::Progress;
use trailblaze::output::run_folder::RunFolder;
use trailblaze::project::compiled_in::CompiledIn;
use trailblaze::project::devices::DeviceSet;
use trailblaze::project::loaded::Loaded;
use trailblaze::project::sim::SimOptions;
use trailblaze::run::history::History;
use trailblaze::run::job::{Healing, Job, Replay, Rules};
use trailblaze::run::queue::{self, DeviceKind, SharedRun, about};
use trailblaze::run::record::effects_file::EffectsFile;
use trailblaze::sessions::device_log::DeviceLog;
use trailblaze::sessions::wiring::Wiring;
use trailblaze_core::callers::attempt_sessions::AttemptSessions;
use trailblaze_core::callers::replay::{Try, replay};
use trailblaze_core::driver::{Action, ActionTarget, Budget, Driver};
use trailblaze_core::engine::registry::{Batch, Registry};
use trailblaze_core::engine::session::{Session, SessionParts};
use trailblaze_core::engine::tool::{Body, Contributor, Tool};
use trailblaze_core::names;
use trailblaze_core::query::{Checks, ElementProperties, Find, Query, QueryTarget};
use trailblaze_core::record::artifacts::PicturePolicy;
use trailblaze_core::record::events::EventSink;
use trailblaze_core::schema::{Param, Schema};
use trailblaze_core::testing::{FakeDriver, TestPage, button, label, scope};
use trailblaze_core::trail::Trail;
use trailblaze_core::values::memory::Memory;
use trailblaze_core::yaml::Source;
use trailblaze_core::{ids, tools};
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::{CallOrigin, CallResult, Called, Event, ToolKind, Verdict};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::{AttemptId, Parent, StepId};
use trailblaze_protocol::outcome::Outcome;
use trailblaze_tools::{ToolError, ToolResult, toolset};

/// The steps of a trail, wherever many devices or many trails are measured.
const STEPS: usize = 20;
/// How long a command takes on a phone that is not simulated, roughly.
const PHONE: &str = "latency=50ms";

const APP: &str = "\
app: {id: com.example.counter, name: Counter}
start: counter
state: {count: 0}
screens:
  counter:
    title: Counter
    elements:
      - {id: count, role: heading, text: 'Count: {{count}}'}
      - {id: add, role: button, text: Add one, tap: {add: {count: 1}}}
      - {id: name, role: field, hint: Your name}
";

fn main() {
    // `cargo bench` adds a flag of its own.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    // Peak memory belongs to a process, so what is measured by it gets one of its own.
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["devices", n_devices, pictures, settings @ ..] => devices(n_devices, pictures, settings),
        ["steps"] => steps(),
        ["compiled_in"] => compiled_in(),
        _ => table(),
    }
}

fn table() {
    head();
    steps();
    compiled_in();
    many_devices();
    ten_thousand_tools();
    long_trail();
    start();
    pictures();
}

fn median(n_runs: usize, mut work: impl FnMut()) -> Duration {
    let time = |_| {
        let started = Instant::now();
        work();
        started.elapsed()
    };
    quantile(&mut (0..n_runs).map(time).collect::<Vec<_>>(), 0.5)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime")
}

fn trail(text: &str) -> Trail {
    let (trail, problems) = Trail::read(&Source::new("bench.trail.yaml", text));
    assert!(problems.is_empty(), "{problems:?}");
    trail.expect("the trail is sound")
}

// Steps.

/// Replaying against the least that a replay could do: look for the element, touch it, make an id, write two lines.
fn steps() {
    const ROUNDS: usize = 1_000;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let runtime = runtime();
    // One after the other and twice, so that both see the machine in the same moods.
    let (mut own, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        own.extend(runtime.block_on(replayed(folder.path(), ROUNDS, "tap: {id: add}")));
        floor.extend(runtime.block_on(least(folder.path(), ROUNDS * STEPS)));
    }
    let (p50, floor50) = (quantile(&mut own, 0.5), quantile(&mut floor, 0.5));
    Row {
        what: "step, p50: replay | driver + id + 2 lines",
        measured: Measure::Time(p50),
        against: Some(Measure::Time(floor50)),
        goal: "≤ 30 µs and ≤ 2 ×",
        is_met: Some(p50 <= Duration::from_micros(30) && p50 <= floor50 * 2),
    }
    .print();
    Row {
        what: "step, p99",
        measured: Measure::Time(quantile(&mut own, 0.99)),
        against: Some(Measure::Time(quantile(&mut floor, 0.99))),
        goal: "",
        is_met: None,
    }
    .print();
}

/// A tool in Rust that is compiled in, against a built-in one, neither of which uses the device.
fn compiled_in() {
    const ROUNDS: usize = 1_000;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let runtime = runtime();
    let (mut own, mut built_in) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        own.extend(runtime.block_on(replayed(folder.path(), ROUNDS, "bench_same: {actual: a, expected: a}")));
        built_in.extend(runtime.block_on(replayed(folder.path(), ROUNDS, "assertEquals: {actual: a, expected: a}")));
    }
    let (own, built_in) = (quantile(&mut own, 0.5), quantile(&mut built_in, 0.5));
    Row {
        what: "a tool in Rust, p50: compiled in | built in",
        measured: Measure::Time(own),
        against: Some(Measure::Time(built_in)),
        goal: "≤ 1.5 ×",
        is_met: Some(own.as_secs_f64() <= built_in.as_secs_f64() * 1.5),
    }
    .print();
}

struct Compiled;

#[toolset]
impl Compiled {
    /// Assert that two texts are equal.
    #[tool(name = "bench_same")]
    async fn same(&self, actual: &str, expected: &str) -> ToolResult<()> {
        if actual != expected {
            return Err(ToolError::assertion(format!("got {actual:?}, expected {expected:?}")));
        }
        Ok(())
    }
}

/// A phone that takes no time, showing a page of ordinary size.
fn phone() -> FakeDriver {
    let rows = (0..12).map(|row| label(&format!("row{row}"), &format!("Row {row}")));
    FakeDriver::new("android/bench", [TestPage::new("home", rows.chain([button("add", "Add one")]))])
}

/// How long each step of a trail took, from the end of the one before it.
async fn replayed(logs: &Path, rounds: usize, call: &str) -> Vec<Duration> {
    let compiled = CompiledIn::new([Arc::new(Compiled) as _]);
    let batches: Vec<Batch> = tools::batches().into_iter().chain(compiled.batches().iter().cloned()).collect();
    let folder = RunFolder::create(logs).expect("a run folder");
    let driver = phone().share();
    let device = driver.describe().id.clone();
    let log = DeviceLog::new(device, Arc::clone(&folder) as _, Arc::new(Progress::new(true)));
    let clock = Arc::new(Clock { sink: log, last: Mutex::new(Instant::now()), times: Mutex::default() });
    let session = Session::open(SessionParts {
        registry: Registry::build(1, &batches, &scope(driver.describe())),
        reloader: None,
        sources: Vec::new(),
        id: ids::session(),
        driver,
        claim: None,
        events: Arc::clone(&clock) as _,
        artifacts: Arc::clone(&folder) as _,
        expected_pictures: Arc::new(ExpectedPictureFiles::new(std::path::Path::new(""), false)),
        secrets: Arc::default(),
        invocations: Arc::default(),
        pictures: PicturePolicy::Off,
        is_recording: false,
        strictness: Arc::default(),
        home: String::new(),
    });
    let trail = trail(&format!("trail:\n{}", format!("  - step: Count\n    tools:\n      - {call}\n").repeat(STEPS)));
    for _ in 0..rounds {
        let (memory, cancel) = (Memory::new(Map::new(), Map::new()), CancellationToken::new());
        let attempt = Try {
            trail: &trail,
            about: about(&trail),
            number: 1,
            repeat: None,
            memory,
            timeout: None,
            cancel,
            custom: Default::default(),
            model: None,
            offer: Default::default(),
            heal: None,
            names: None,
            is_repaired: false,
        };
        let ended = replay(&AttemptSessions::one(&session), attempt).await;
        assert_eq!((ended.verdict, ended.message.as_str()), (Verdict::Passed, ""));
    }
    folder.finish(Exit::Passed, 0).expect("the folder is written");
    std::mem::take(&mut *clock.times.lock())
}

/// Passes everything on, and reads the clock at the ends of steps.
struct Clock {
    sink: DeviceLog,
    last: Mutex<Instant>,
    times: Mutex<Vec<Duration>>,
}

impl EventSink for Clock {
    fn emit(&self, event: Event) {
        let is_start = matches!(event, Event::AttemptStarted { .. });
        let is_end = matches!(event, Event::StepEnded { .. });
        self.sink.emit(event);
        if is_start || is_end {
            let last = std::mem::replace(&mut *self.last.lock(), Instant::now());
            if is_end {
                self.times.lock().push(last.elapsed());
            }
        }
    }
}

async fn least(logs: &Path, rounds: usize) -> Vec<Duration> {
    let folder = RunFolder::create(logs).expect("a run folder");
    let driver = phone();
    let query = Query {
        what: QueryTarget::Element(ElementProperties { id: Some("add".into()), ..ElementProperties::default() }),
        index: None,
    };
    let (session, attempt) = (ids::session(), ids::attempt());
    let mut times = Vec::with_capacity(rounds);
    for round in 0..rounds {
        let started = Instant::now();
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        let budget = Budget::new(deadline, CancellationToken::new());
        let Find::Found(found) = driver.find(&budget, &query, Checks::Actionable).await.expect("the phone answers")
        else {
            panic!("the button is there")
        };
        driver.act(&budget, &ActionTarget::Element(found), &Action::Tap).await.expect("the phone is tapped");
        let call = ids::call();
        folder.emit(Event::Called(Arc::new(Called {
            place: None,
            call: call.clone(),
            parent: Parent::Step(step_id(&attempt, round)),
            session: session.clone(),
            attempt: attempt.clone(),
            tool: "tap".into(),
            args: Arc::new(Map::from_iter([("id".to_string(), Value::from("add"))])),
            origin: CallOrigin::Step,
            kind: ToolKind::Action,
            is_recordable: true,
            is_delegating: false,
            is_custom: false,
            result_name: None,
            is_soft: false,
            is_condition: false,
            is_always_recorded: false,
            source: "built-in".into(),
        })));
        let answer = CallResult::Outcome(Box::new(Outcome::success("tapped Button \"Add one\"")));
        folder.emit(Event::Answered { call, micros: 1, answer });
        times.push(started.elapsed());
    }
    folder.finish(Exit::Passed, 0).expect("the folder is written");
    times
}

fn step_id(attempt: &AttemptId, round: usize) -> StepId {
    StepId::new(format!("{attempt}/{round}.1"))
}

// Many devices, in processes of their own.

fn many_devices() {
    let (hundred, thousand) = (apart(100, "off", &[]), apart(1_000, "off", &[]));
    Row {
        what: "1,000 devices × 20 steps | 10 × the time of 100 devices",
        measured: Measure::Time(thousand.time),
        against: Some(Measure::Time(hundred.time * 10)),
        goal: "linear: ≤ 1.25 ×",
        is_met: Some(thousand.time <= hundred.time * 25 / 2),
    }
    .print();
    // Devices that take no time come and go one by one; these are all open at once.
    let slow = apart(1_000, "off", &["latency=20ms"]);
    Row {
        what: "1,000 devices at once, peak memory",
        measured: Measure::Megabytes(slow.megabytes),
        against: None,
        goal: "< 300 MB",
        is_met: Some(slow.megabytes < 300.0),
    }
    .print();
}

/// Steps a second, with pictures against without.
fn pictures() {
    let row = |what: &str, n_devices: usize, settings: &[&str], goal: &str| {
        let rate =
            |pictures: &str| (n_devices * STEPS) as f64 / apart(n_devices, pictures, settings).time.as_secs_f64();
        let (without, with) = (rate("off"), rate("step"));
        Row {
            what,
            measured: Measure::PerSecond(with),
            against: Some(Measure::PerSecond(without)),
            goal,
            is_met: (!goal.is_empty()).then_some(with >= without * 0.5),
        }
        .print();
    };
    row("pictures | none: 4 phones of 50 ms a command", 4, &[PHONE], "≥ 0.5 ×");
    row("pictures | none: 4 phones that take no time", 4, &[], "");
}

struct Apart {
    time: Duration,
    megabytes: f64,
}

fn apart(n_devices: usize, pictures: &str, settings: &[&str]) -> Apart {
    let own = std::env::current_exe().expect("the bench knows itself");
    let n_devices = n_devices.to_string();
    let output =
        Command::new(own).args(["devices", &n_devices, pictures]).args(settings).output().expect("the bench starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("the bench answers in JSON");
    let number = |name: &str| answer[name].as_f64().expect("a number");
    Apart { time: Duration::from_secs_f64(number("seconds")), megabytes: number("megabytes") }
}

/// The inner process: runs a trail on each device, as `trailblaze run` does, and tells what it took.
fn devices(n_devices: &str, pictures: &str, settings: &[&str]) {
    let n_devices: u32 = n_devices.parse().expect("a number of devices");
    let project = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(project.path().join("trailblaze.yaml"), "sim: {apps: [counter.app.yaml]}\n").expect("a project");
    std::fs::write(project.path().join("counter.app.yaml"), APP).expect("an app");
    let loaded = Arc::new(
        Loaded::read(project.path(), &trailblaze::project::environment::Environment::of_process().into())
            .expect("the project is read"),
    );
    assert!(!loaded.has_errors(), "{:?}", loaded.problems);
    let mut wiring = Wiring::new(&loaded, &support::host(), None);
    wiring.pictures = if pictures == "step" { PicturePolicy::Step } else { PicturePolicy::Off };
    let settings = settings.iter().map(ToString::to_string).collect();
    let options = SimOptions { seed: Some(0), settings };
    wiring.set_up_devices(false, &options).expect("settings");
    let launch = "  - step: Open it\n    tools:\n      - launchApp: {packageId: com.example.counter}\n";
    let count = "  - step: Count\n    tools:\n      - tap: {id: add}\n".repeat(STEPS - 1);
    let folder = RunFolder::create(&project.path().join("logs")).expect("a run folder");
    let trail = trail(&format!("trail:\n{launch}{count}"));
    let (kept, _) = EffectsFile::read(project.path(), &trail.source.path);
    let shared = Arc::new(SharedRun {
        wiring,
        jobs: vec![Job { trail, args: Map::new(), kept }],
        history: History::default(),
        memory: Vec::new(),
        rules: Rules::default(),
        replay: Replay::Intent,
        healing: Healing { mode: None, may_ask: false },
        strict_names: false,
        events: Arc::clone(&folder) as _,
        artifacts: Arc::clone(&folder) as _,
        console: Arc::new(Progress::new(true)),
        cancel: CancellationToken::new(),
    });
    // A kind for each, so that no device takes over the trail of another.
    let kind = |number: u32| {
        let devices = loaded.devices(&[format!("android/sim-{number}")]).expect("a device");
        DeviceKind { devices: devices.into_iter().map(DeviceSet::one).collect(), jobs: vec![0] }
    };
    let started = Instant::now();
    let done = runtime().block_on(queue::run(shared, (1..=n_devices).map(kind).collect(), None));
    folder.finish(Exit::Passed, 0).expect("the folder is written");
    let seconds = started.elapsed().as_secs_f64();
    assert!(done.done.iter().all(|done| done.verdict == Verdict::Passed), "every trail passes");
    println!("{}", json!({"seconds": seconds, "megabytes": peak_megabytes()}));
}

/// The most memory that this process ever held.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells of its processes");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the peak is told");
    let kilobytes: f64 = peak.trim().trim_end_matches("kB").trim().parse().expect("a number");
    kilobytes / 1024.0
}

// Reading and registering.

fn ten_thousand_tools() {
    let contributor = Contributor::new("bench", names::ToolOrigin::ProjectServer);
    let param = Param {
        name: "text".into(),
        schema: json!({"type": "string"}),
        is_required: true,
        default: None,
        description: "What to say.".into(),
    };
    let schema = Schema::from_params(&[param]);
    let tool = |number: usize| {
        let name = format!("acme_tool{number}");
        let schema = Schema::new(schema.json().clone());
        let mut tool = Tool::new(&name, "Says it.", schema, contributor.clone(), Body::Expansion(Arc::new([])));
        // Every other one is for another platform.
        tool.supported_platforms = vec![if number.is_multiple_of(2) { Platform::Android } else { Platform::Ios }];
        tool
    };
    let batch = Batch::new(contributor.clone(), (0..10_000).map(tool).collect());
    let mut batches = tools::batches();
    batches.push(batch);
    let scope = scope(phone().describe());
    let time = median(20, || {
        let registry = Registry::build(1, &batches, &scope);
        assert!(registry.refused.is_empty() && registry.len() > 5_000 && registry.filtered.len() >= 5_000);
    });
    let is_met = Some(time < Duration::from_millis(50));
    let what = "10,000 tools registered and filtered";
    Row { what, measured: Measure::Time(time), against: None, goal: "< 50 ms", is_met }.print();
}

fn long_trail() {
    let step = |number: usize| {
        format!(
            "  - step: Add one, for the {number}th time\n    recording:\n      android:\n        - tap: {{id: add}}\n"
        )
    };
    let text = format!("trail:\n{}", (0..10_000).map(step).collect::<String>());
    let time = median(10, || assert_eq!(trail(&text).steps.len(), 10_000));
    let is_met = Some(time < Duration::from_millis(150));
    Row {
        what: "a trail of 10,000 steps read",
        measured: Measure::Time(time),
        against: None,
        goal: "< 150 ms",
        is_met,
    }
    .print();
}

// Starting.

fn start() {
    let time = |program: &str, args: &[&str]| {
        let started = Instant::now();
        let mut command = Command::new(program);
        let status =
            command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).status().expect("the program starts");
        assert!(status.success());
        started.elapsed()
    };
    // In turns, so that both see the machine in the same moods.
    let turn = |_| (time(env!("CARGO_BIN_EXE_trailblaze"), &["--version"]), time("/bin/true", &[]));
    let (mut own, mut bare): (Vec<_>, Vec<_>) = (0..500).map(turn).unzip();
    let (own, bare) = (quantile(&mut own, 0.5), quantile(&mut bare, 0.5));
    Row {
        what: "trailblaze --version | /bin/true",
        measured: Measure::Time(own),
        against: Some(Measure::Time(bare)),
        goal: "≤ 2 ×",
        is_met: Some(own <= bare * 2),
    }
    .print();
}
