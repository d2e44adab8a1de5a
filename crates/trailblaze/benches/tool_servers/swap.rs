//! A server whose author saves a change: until a call is answered by the new tool, beside the server's own start.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Map;
use tokio_util::sync::CancellationToken;
use trailblaze::output::progress::Progress;
use trailblaze::output::run_folder::RunFolder;
use trailblaze::project::changes::FileChanges;
use trailblaze::project::loaded::Loaded;
use trailblaze::servers::tool_servers::{Outlets, ServerMode};
use trailblaze::sessions::device_log::DeviceLog;
use trailblaze::sessions::hot_swap;
use trailblaze::sessions::wiring::{SessionSinks, Wiring};
use trailblaze_core::engine::cx::{Attempt, Cx};
use trailblaze_core::engine::dispatch::{Arguments, Call, dispatch};
use trailblaze_core::engine::session::Session;
use trailblaze_core::ids;
use trailblaze_core::record::events::EventSink;
use trailblaze_core::values::memory::Memory;
use trailblaze_protocol::event::CallOrigin;
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::StepId;

use crate::stage::{Script, runtime};
use crate::support::{Measure, Row, quantile};

const TURNS: usize = 9;
const GOAL: Duration = Duration::from_millis(300);
/// What the author changes.
const ECHO: &str = "said(String(params.arguments?.['text']))";

pub fn row(script: &Script) {
    let (mut swaps, mut starts) = runtime().block_on(measure(script));
    let (swap, start) = (quantile(&mut swaps, 0.5), quantile(&mut starts, 0.5));
    let beyond = swap.saturating_sub(start);
    Row {
        what: &format!("{}: a saved change answers, against the bare start", script.runtime),
        measured: Measure::Time(swap),
        against: Some(Measure::Time(start)),
        goal: &format!("{:.0} ms beyond; < 300", beyond.as_secs_f64() * 1e3),
        is_met: Some(beyond < GOAL),
    }
    .print();
}

async fn measure(script: &Script) -> (Vec<Duration>, Vec<Duration>) {
    let project = tempfile::tempdir().expect("a temporary folder");
    let root = project.path().canonicalize().expect("it is there");
    let file = root.join("tools/server.ts");
    std::fs::create_dir(root.join("tools")).expect("a folder");
    std::os::unix::fs::symlink(script.path("node_modules"), root.join("node_modules")).expect("a link");
    std::fs::write(root.join("package.json"), r#"{"type": "module"}"#).expect("a manifest");
    save(&file, 0);
    let entry = format!("  - {{name: bench, command: '{}', args: [tools/server.ts]}}\n", script.program.display());
    std::fs::write(root.join("trailblaze.yaml"), format!("mcpServers:\n{entry}")).expect("a project");
    let loaded = Arc::new(
        Loaded::read(&root, &trailblaze::project::environment::Environment::of_process().into())
            .expect("the project is read"),
    );
    assert!(!loaded.has_errors(), "{:?}", loaded.problems);
    let folder = RunFolder::create(&root.join("logs")).expect("a run folder");
    let events = Arc::clone(&folder) as Arc<dyn EventSink>;
    let mut wiring = Wiring::new(&loaded, &crate::support::host(), None);
    let outlets = Outlets { events: Some(Arc::clone(&events)), console: None, folder: Some(folder.path.clone()) };
    wiring.servers = wiring.tool_servers(ServerMode::Start).with_outlets(outlets).into();
    let device = loaded.devices(&[]).expect("a device").remove(0);
    let sink = DeviceLog::new(device.id.clone(), events, Arc::new(Progress::new(true)));
    let sinks = SessionSinks { events: Arc::new(sink), artifacts: Arc::clone(&folder) as _ };
    let session = wiring.open_whole(&device, None, sinks).await;
    let session = session.unwrap_or_else(|not| panic!("{}", not.error));
    let mut changes = FileChanges::of(&root, &root.join("logs")).expect("the folder can be watched");
    let measured = async {
        let (mut swaps, mut starts) = (Vec::new(), Vec::new());
        for version in 1..=TURNS {
            // Spawned, agreed with and listed, in the same way, with nothing to swap.
            let started = Instant::now();
            let prepared = wiring.prepare_whole(&device, None).await.expect("the server starts");
            starts.push(started.elapsed());
            prepared.discard().await;
            let saved = Instant::now();
            save(&file, version);
            while answer(&session).await != version.to_string() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            swaps.push(saved.elapsed());
        }
        (swaps, starts)
    };
    let measured = tokio::select! {
        measured = measured => measured,
        never = hot_swap::follow(&wiring, &mut changes, |_| {}, || {}) => match never {},
    };
    session.close("").await;
    wiring.close().await;
    folder.finish(Exit::Passed, wiring.supervisor.leaked()).expect("the folder is written");
    measured
}

/// The server of the other rows, but that it tells its version.
fn save(file: &Path, version: usize) {
    let text = include_str!("scripts/server.ts").replace(ECHO, &format!("said('{version}')"));
    std::fs::write(file, text).expect("the file is saved");
}

async fn answer(session: &Arc<Session>) -> String {
    let attempt = Attempt::new(ids::attempt(), Memory::new(Map::new(), Map::new()), "");
    let cx = Cx::for_step(session, &attempt, StepId::new("bench/1.1"), CancellationToken::new());
    let args = Map::from_iter([("text".to_string(), "".into())]);
    let call = Call::new("bench_echo", Arguments::Json(args), CallOrigin::Step);
    dispatch(&cx, call).await.expect("the call is carried out").text
}
