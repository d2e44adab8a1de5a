//! A project with tool servers, and sessions on phones that take no time, as a run has them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use trailblaze::api::ApiListener;
use trailblaze::output::expected_pictures::ExpectedPictureFiles;
use trailblaze::output::progress::Progress;
use trailblaze::output::run_folder::RunFolder;
use trailblaze::project::loaded::Loaded;
use trailblaze::servers::process::ProcessParts;
use trailblaze::servers::tool_servers::{Needed, Outlets, ServerMode, ToolServers};
use trailblaze::sessions::device_log::DeviceLog;
use trailblaze_core::driver::Driver;
use trailblaze_core::engine::cx::{Attempt, Cx};
use trailblaze_core::engine::dispatch::{Arguments, Call, dispatch};
use trailblaze_core::engine::invocations::Invocations;
use trailblaze_core::engine::registry::{Batch, Registry};
use trailblaze_core::engine::session::{Session, SessionParts};
use trailblaze_core::ids;
use trailblaze_core::record::artifacts::PicturePolicy;
use trailblaze_core::testing::{FakeDriver, TestPage, button, scope};
use trailblaze_core::values::memory::Memory;
use trailblaze_core::values::secret::Secrets;
use trailblaze_protocol::event::CallOrigin;
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::StepId;
use trailblaze_protocol::outcome::Outcome;
use trailblaze_supervise::Supervisor;
use trailblaze_toolhost::spin_wait::SpinTurn;

/// A JavaScript runtime, with the scripts laid out so that it finds the official libraries.
pub struct Script {
    pub runtime: &'static str,
    pub program: PathBuf,
    folder: TempDir,
}

impl Script {
    pub fn find(runtime: &'static str) -> Option<Script> {
        let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.parts/node/node_modules");
        let modules = std::fs::canonicalize(modules).ok()?;
        let program = modules.join(".bin").join(runtime);
        program.is_file().then_some(())?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::os::unix::fs::symlink(modules, folder.path().join("node_modules")).expect("a link");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a script");
        write("package.json", r#"{"type": "module"}"#);
        write("server.ts", include_str!("scripts/server.ts"));
        write("client.ts", include_str!("scripts/client.ts"));
        Some(Script { runtime, program, folder })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// An entry of `mcpServers:` for the server.
    pub fn entry(&self, name: &str) -> String {
        let (program, server) = (self.program.display(), self.path("server.ts"));
        format!("  - {{name: {name}, command: '{program}', args: ['{}']}}\n", server.display())
    }
}

/// A run: its folder, its servers, and what its sessions share.
pub struct Stage {
    _project: TempDir,
    /// The tools of the project's files.
    batches: Vec<Batch>,
    folder: Arc<RunFolder>,
    servers: Arc<ToolServers>,
    supervisor: Supervisor,
    invocations: Arc<Invocations>,
    secrets: Arc<Secrets>,
}

impl Stage {
    pub fn new(entries: &str, n_devices: usize) -> Stage {
        Stage::with(entries, n_devices, SpinTurn::new())
    }

    /// The same with a turn to poll of the caller's choice.
    pub fn with(entries: &str, n_devices: usize, spin_turn: Arc<SpinTurn>) -> Stage {
        Stage::with_tools(entries, n_devices, spin_turn, &[])
    }

    /// The same with tool files: their names and texts.
    pub fn with_tools(entries: &str, n_devices: usize, spin_turn: Arc<SpinTurn>, tools: &[(&str, String)]) -> Stage {
        let project = tempfile::tempdir().expect("a temporary folder");
        let folder = project.path().join("trailblaze-config/tools");
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in tools {
            std::fs::write(folder.join(name), text).expect("a tool");
        }
        std::fs::write(
            project.path().join("trailblaze.yaml"),
            if entries.is_empty() { String::new() } else { format!("mcpServers:\n{entries}") },
        )
        .expect("a project");
        let loaded = Loaded::read(project.path(), &trailblaze::project::environment::Environment::of_process().into())
            .expect("the project is read");
        assert!(!loaded.has_errors(), "{:?}", loaded.problems);
        let folder = RunFolder::create(&project.path().join("logs")).expect("a run folder");
        let outlets =
            Outlets { events: Some(Arc::clone(&folder) as _), console: None, folder: Some(folder.path.clone()) };
        let supervisor = Supervisor::new();
        let invocations = Arc::default();
        let callback = ApiListener::new(Arc::clone(&invocations), None);
        let servers = ToolServers::new(&loaded, ServerMode::Start, &supervisor, ProcessParts { callback, spin_turn });
        let servers = Arc::new(servers.with_outlets(outlets).for_devices(n_devices));
        let batches = loaded.batches.clone();
        Stage { _project: project, batches, folder, servers, supervisor, invocations, secrets: Arc::default() }
    }

    /// Opens a session once its servers are ready.
    pub async fn session(&self) -> BenchSession {
        let driver = phone().share();
        let id = ids::session();
        let who = (&id, driver.describe());
        let mut servers = self.servers.of_session(None, who, &self.secrets).await.expect("the servers are known");
        self.servers.start(&mut servers, &Needed::All).await;
        assert!(servers.absent.errors.is_empty(), "{:?}", servers.absent.errors);
        let (sources, batches) = (servers.sources(), self.batches.iter().chain(servers.batches()));
        let registry = Registry::build(1, batches, &scope(driver.describe()));
        let device = driver.describe().id.clone();
        let log = DeviceLog::new(device, Arc::clone(&self.folder) as _, Arc::new(Progress::new(true)));
        let session = Session::open(SessionParts {
            registry,
            reloader: None,
            sources,
            id,
            driver,
            claim: None,
            events: Arc::new(log),
            artifacts: Arc::clone(&self.folder) as _,
            expected_pictures: Arc::new(ExpectedPictureFiles::new(std::path::Path::new(""), false)),
            secrets: Arc::clone(&self.secrets),
            invocations: Arc::clone(&self.invocations),
            pictures: PicturePolicy::Off,
            is_recording: false,
            strictness: Arc::default(),
            home: String::new(),
        });
        let attempt = Attempt::new(ids::attempt(), Memory::new(Map::new(), Map::new()), "");
        let cx = Cx::for_step(&session, &attempt, StepId::new("bench/1.1"), CancellationToken::new());
        BenchSession { session, cx }
    }

    pub async fn close(self) {
        self.servers.close().await;
        self.folder.finish(Exit::Passed, self.supervisor.leaked()).expect("the folder is written");
    }
}

/// A session in the middle of a step.
#[derive(Clone)]
pub struct BenchSession {
    session: Arc<Session>,
    cx: Cx,
}

impl BenchSession {
    /// A call as a step makes it.
    pub async fn call(&self, tool: &str, args: Map<String, Value>) -> Outcome {
        let call = Call::new(tool, Arguments::Json(args), CallOrigin::Step);
        let outcome = dispatch(&self.cx, call).await.expect("the call is carried out");
        assert!(!outcome.is_error(), "{outcome:?}");
        outcome
    }

    pub async fn close(self) {
        self.session.close("").await;
    }
}

/// A phone that takes no time and shows one button: what it costs to look at a screen is not the server's business.
fn phone() -> FakeDriver {
    FakeDriver::new("android/bench", [TestPage::new("home", [button("add", "Add one")])])
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime")
}
