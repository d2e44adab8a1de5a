//! What the agent sends to a model, and how long it takes itself. The model replies at once, so all time is ours. Prints a table; no
//! number fails it. `docs/benchmarks.md` says what was measured where. The page needs Node and Chromium.

#[path = "support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use support::{Measure, Row, quantile};
use tokio_util::sync::CancellationToken;
use trailblaze::output::expected_pictures::ExpectedPictureFiles;
use trailblaze::output::run_folder::RunFolder;
use trailblaze::project::environment::Environment;
use trailblaze::project::loaded::Loaded;
use trailblaze::sessions::wiring::Wiring;
use trailblaze_core::callers::agent::{self, Task};
use trailblaze_core::driver::Budget;
use trailblaze_core::engine::ask::{Allowance, ModelAccess, ModelSettings, Vision};
use trailblaze_core::engine::cx::{Attempt, Cx};
use trailblaze_core::engine::dispatch::{Arguments as Args, Call, dispatch};
use trailblaze_core::engine::registry::Offer;
use trailblaze_core::engine::session::{Session, SessionParts};
use trailblaze_core::ids;
use trailblaze_core::model::{
    ChatMessage, ContentPart, Model, ModelError, ModelInfo, ModelReply, ModelRequest, RequestedArguments, RequestedCall,
};
use trailblaze_core::record::artifacts::PicturePolicy;
use trailblaze_core::values::memory::Memory;
use trailblaze_protocol::event::{CallOrigin, StepKind};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::StepId;

const TURNS: usize = 20;
/// The turns of which the time is measured.
const TIMED: usize = 200;

fn main() -> ExitCode {
    // Guardians are this program, started again.
    if let Some(code) = trailblaze_supervise::guardian_main() {
        return code;
    }
    support::head();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(phone());
    let Some(shop) = Shop::start() else {
        println!("the web shop did not start; its rows are missing");
        return ExitCode::FAILURE;
    };
    runtime.block_on(page(&shop.address));
    ExitCode::SUCCESS
}

/// Replies at once, and keeps when and what it was asked.
struct Instantly {
    info: ModelInfo,
    /// The calls of each reply; the last is repeated.
    replies: Vec<Vec<(&'static str, Value)>>,
    asked: Mutex<Vec<(Instant, String)>>,
}

impl Instantly {
    fn new(replies: Vec<Vec<(&'static str, Value)>>) -> Arc<Instantly> {
        let info = ModelInfo { id: "bench/instant".to_string(), ..ModelInfo::default() };
        Arc::new(Instantly { info, replies, asked: Mutex::default() })
    }
}

#[async_trait]
impl Model for Instantly {
    fn describe(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(&self, _: &Budget, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let mut asked = self.asked.lock();
        let calls = &self.replies[asked.len().min(self.replies.len() - 1)];
        asked.push((Instant::now(), text(request)));
        let call = |(name, args): &(&'static str, Value)| RequestedCall {
            id: "1".to_string(),
            name: name.to_string(),
            arguments: RequestedArguments::Object(args.as_object().cloned().unwrap_or_default()),
        };
        Ok(ModelReply { calls: calls.iter().map(call).collect(), ..ModelReply::default() })
    }
}

/// Everything that is sent, in the order in which it is sent.
fn text(request: &ModelRequest) -> String {
    let tools = serde_json::to_string(&*request.tools).expect("tools are JSON");
    let parts = request.messages.iter().flat_map(|message| match message {
        ChatMessage::User(parts) => parts.clone(),
        ChatMessage::Assistant(_) | ChatMessage::Results(_) => Vec::new(),
    });
    let texts = parts.filter_map(|part| match part {
        ContentPart::Text(text) => Some(text),
        ContentPart::Picture(_) => None,
    });
    format!("{tools}{}{}", request.system, texts.collect::<String>())
}

fn tokens(text: &str) -> f64 {
    text.chars().count() as f64 / 4.0
}

struct Stage {
    session: Arc<Session>,
    wiring: Wiring,
    folder: Arc<RunFolder>,
    _project: tempfile::TempDir,
}

impl Stage {
    fn open(device: &str, root: Option<&Path>) -> Stage {
        let project = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(project.path().join("trailblaze.yaml"), "").expect("a project");
        let root = root.unwrap_or(project.path());
        let loaded = Loaded::read(root, &Environment::of_process().into()).expect("the project is read");
        let loaded = Arc::new(loaded);
        let wiring = Wiring::new(&loaded, &support::host(), None);
        let device = loaded.devices(&[device.to_string()]).expect("a device").remove(0);
        let folder = RunFolder::create(&project.path().join("logs")).expect("a run folder");
        let session = Session::open(SessionParts {
            id: ids::session(),
            driver: support::driver(&wiring, &device),
            claim: None,
            registry: wiring.file_registry(&device, None),
            reloader: None,
            sources: Vec::new(),
            events: Arc::clone(&folder) as _,
            artifacts: Arc::clone(&folder) as _,
            expected_pictures: Arc::new(ExpectedPictureFiles::new(std::path::Path::new(""), false)),
            secrets: Arc::default(),
            invocations: Arc::default(),
            pictures: PicturePolicy::Off,
            is_recording: false,
            strictness: Arc::default(),
            home: String::new(),
        });
        Stage { session, wiring, folder, _project: project }
    }

    fn cx(&self, model: Option<Arc<dyn Model>>) -> Cx {
        let none = Allowance::default();
        let settings = ModelSettings { vision: Vision::Auto, per_step: none, per_run: none, nonce: "nonce".into() };
        let access = model.map(|model| Arc::new(ModelAccess { model, spent: Arc::default(), settings }));
        let attempt = Attempt::with_model(ids::attempt(), Memory::new(Map::new(), Map::new()), "", access);
        Cx::for_step(&self.session, &attempt, StepId::new("bench/1.1"), CancellationToken::new())
    }

    async fn call(&self, tool: &str, args: Value) {
        let args = Args::Json(args.as_object().cloned().unwrap_or_default());
        let outcome =
            dispatch(&self.cx(None), Call::new(tool, args, CallOrigin::Step)).await.expect("the call is made");
        assert!(!outcome.is_error(), "{outcome:?}");
    }

    /// Lets the model carry out a step; what it was asked, and when.
    async fn step(&self, text: &str, replies: Vec<Vec<(&'static str, Value)>>) -> Vec<(Instant, String)> {
        let model = Instantly::new(replies);
        let cx = self.cx(Some(Arc::clone(&model) as _));
        let task = Task { kind: StepKind::Step, text, context: None, earlier: &[] };
        // A step that is never completed ends when the model has repeated itself too often.
        let _ = agent::carry_out(&cx, task, &Offer::default()).await;
        std::mem::take(&mut model.asked.lock())
    }

    async fn close(self) {
        self.session.close("").await;
        self.wiring.close().await;
        self.folder.finish(Exit::Passed, 0).expect("the folder is written");
    }
}

/// Turns that do nothing to the screen, each different, so that they are not taken for a loop.
fn idle(turns: usize) -> Vec<Vec<(&'static str, Value)>> {
    let status = |number: usize| json!({"status": "IN_PROGRESS", "explanation": format!("still looking, {number}")});
    let done = json!({"status": "COMPLETED", "explanation": "done"});
    (0..turns)
        .map(|number| vec![("objectiveStatus", status(number))])
        .chain([vec![("objectiveStatus", done)]])
        .collect()
}

fn between(asked: &[(Instant, String)]) -> Duration {
    let mut times: Vec<Duration> = asked.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    quantile(&mut times, 0.5)
}

async fn phone() {
    let wallet = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/wallet");
    let stage = Stage::open("android/sim-1", Some(&wallet));
    stage.call("launchApp", json!({"packageId": "com.example.wallet"})).await;
    let asked = stage.step("Look around", idle(TIMED)).await;
    let time = between(&asked);
    let is_met = Some(time <= Duration::from_millis(5));
    let what = "simulated phone: a turn, without the model, p50";
    Row { what, measured: Measure::Time(time), against: None, goal: "≤ 5 ms", is_met }.print();
    stage.close().await;
}

async fn page(address: &str) {
    let stage = Stage::open("web/chromium", None);
    stage.call("web_navigate", json!({"url": format!("{address}/checkout")})).await;
    let one = vec![vec![("web_click", json!({"ref": "radio \"Invoice\"", "completesStep": true}))]];
    let asked = stage.step("Pay by invoice", one).await;
    let count = |number: f64| Measure::Thousands(number);
    let row = |what: &str, measured: f64, goal: &str, is_met: bool| {
        Row { what, measured: count(measured), against: None, goal, is_met: Some(is_met) }.print();
    };
    row("checkout page, one action: model calls", asked.len() as f64, "1", asked.len() == 1);
    let size = tokens(&asked[0].1);
    row("checkout page, one action: tokens in", size, "≤ 3000", size <= 3000.0);

    let fill =
        |number: usize| vec![("web_type", json!({"ref": "textbox \"Full name\"", "text": format!("Ada {number}")}))];
    let mut replies: Vec<_> = (0..TURNS).map(fill).collect();
    replies.push(vec![("objectiveStatus", json!({"status": "COMPLETED", "explanation": "done"}))]);
    let asked = stage.step("Fill in the name, again and again", replies).await;
    let sizes: Vec<f64> = asked.iter().map(|(_, text)| tokens(text)).collect();
    if let [_, second, .., last] = sizes[..TURNS.min(sizes.len())] {
        let is_met = Some(last <= second * 1.3);
        let what = "one page, tokens in: turn 20 | turn 2";
        Row { what, measured: count(last), against: Some(count(second)), goal: "≤ 1.3 ×", is_met }.print();
    }
    let share = |pair: &[(Instant, String)]| {
        let same = pair[0].1.bytes().zip(pair[1].1.bytes()).take_while(|(a, b)| a == b).count();
        same as f64 / pair[0].1.len() as f64 * 100.0
    };
    let least = asked.windows(2).map(share).fold(100.0, f64::min);
    row("percent of a request that is a prefix of the next, least", least, "≥ 70", least >= 70.0);

    let mut looks = Vec::new();
    let cx = stage.cx(None);
    for _ in 0..TIMED / 4 {
        let started = Instant::now();
        stage.session.device.show(&cx).await.expect("a look");
        looks.push(started.elapsed());
    }
    let look = quantile(&mut looks, 0.5);
    let time = between(&stage.step("Look around", idle(TIMED / 4)).await);
    let is_met = Some(time <= look + Duration::from_millis(10));
    let what = "checkout page: a turn, without the model, p50 | a look";
    Row { what, measured: Measure::Time(time), against: Some(Measure::Time(look)), goal: "≤ 1 look + 10 ms", is_met }
        .print();
    stage.close().await;
}

/// The web shop of the examples. It does not outlive the benchmark.
struct Shop {
    child: Child,
    address: String,
}

impl Shop {
    fn start() -> Option<Shop> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/web-shop");
        let mut command = Command::new("node");
        command.args(["server.mjs", "0"]).current_dir(folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
        let address = line.trim().strip_prefix("listening on ")?.to_string();
        Some(Shop { child, address })
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
