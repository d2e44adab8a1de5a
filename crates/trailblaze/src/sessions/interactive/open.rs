//! Opens and closes an interactive session and its run folder.

use std::path::PathBuf;
use std::sync::Arc;

use trailblaze_core::record::artifacts::PicturePolicy;
use trailblaze_core::record::events::{EventSink, Redacted};
use trailblaze_core::values::secret::Secrets;
use trailblaze_core::yaml::{Problem, Severity};
use trailblaze_protocol::event::Event;
use trailblaze_protocol::exit::Exit;

use super::{Interactive, SavePlace};
use crate::files::check_links;
use crate::output::console::Console;
use crate::output::report::{self, Written};
use crate::output::run_folder::RunFolder;
use crate::output::tool_output::OnlyToolOutput;
use crate::project::devices::DeviceSpec;
use crate::project::loaded::Loaded;
use crate::project::models::ModelChoiceError;
use crate::project::sim::SimOptions;
use crate::servers::cassettes::{CassetteMode, Cassettes};
use crate::servers::tool_servers::{Outlets, ServerMode};
use crate::sessions::device_log::DeviceLog;
use crate::sessions::devices::SettingError;
use crate::sessions::host::SessionHost;
use crate::sessions::models::AgentOptions;
use crate::sessions::wiring::{NotOpened, NotOpenedError, SessionSinks, UnknownTarget, Wiring};

/// How an interactive session is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    Shell,
    /// One call.
    Tool,
    /// By other programs.
    Serve,
    /// By several commands, one after the other.
    Daemon,
}

impl Usage {
    /// Its name in the record, which is that of the command.
    pub fn name(self) -> &'static str {
        match self {
            Usage::Shell => "shell",
            Usage::Tool => "tool",
            Usage::Serve => "serve",
            Usage::Daemon => "session",
        }
    }

    /// The title of a trail with its steps.
    pub fn title(self) -> &'static str {
        match self {
            Usage::Shell => "Explored in a shell",
            Usage::Tool => "A call of a tool",
            Usage::Serve => "Recorded from the typed API",
            Usage::Daemon => "Recorded in a session",
        }
    }
}

/// Options of an interactive session.
pub struct InteractiveOptions {
    pub usage: Usage,
    pub device: DeviceSpec,
    /// Show browser windows.
    pub is_headed: bool,
    pub target: Option<String>,
    pub memory: Vec<(String, String)>,
    pub secrets: Arc<Secrets>,
    /// How the model acts, if one is chosen.
    pub agent: AgentOptions,
    pub cassette: Option<CassetteMode>,
    pub sim: SimOptions,
    /// The folder in which run folders are created.
    pub logs: PathBuf,
    /// The folder that paths of commands are relative to.
    pub current_dir: PathBuf,
    /// The command line, for the record.
    pub command: Vec<String>,
}

/// Why a session could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Target(#[from] UnknownTarget),
    #[error(transparent)]
    Model(#[from] ModelChoiceError),
    #[error("--sim: {0}")]
    Sim(#[from] SettingError),
    /// Cassettes or tools have errors.
    #[error("{} problems", .0.len())]
    Invalid(Vec<Problem>),
    #[error("cannot create a folder in `{}`: {source}", logs.display())]
    Folder { logs: PathBuf, source: std::io::Error },
    #[error(transparent)]
    NotOpened(NotOpenedError),
}

/// An open session, and the resources it uses.
pub struct Opened {
    pub session: Interactive,
    pub wiring: Wiring,
    folder: Arc<RunFolder>,
    console: Arc<dyn Console>,
}

/// How a session was closed.
pub struct ClosedInteractive {
    /// Whether everything could be stored, as an exit code.
    pub exit: Exit,
    /// The report, or why there is none.
    pub written: Result<Written, String>,
}

/// Opens a device with all of its tool servers.
pub async fn open(
    loaded: &Arc<Loaded>,
    host: &SessionHost,
    options: InteractiveOptions,
    console: Arc<dyn Console>,
) -> Result<Opened, OpenError> {
    let mut wiring = Wiring::new(loaded, host, options.target);
    wiring.check_target()?;
    wiring.use_secrets(options.secrets);
    // A picture before each touch takes ten times as long as the touch. A call that fails is shown anyway.
    wiring.pictures = PicturePolicy::Step;
    wiring.set_up_devices(options.is_headed, &options.sim)?;
    wiring.use_model(&options.agent)?;
    let cassettes = options.cassette.map(|wanted| Cassettes::open(wanted, loaded)).transpose();
    let cassettes = cassettes.map_err(OpenError::Invalid)?;
    let created = check_links(&loaded.root, &options.logs).and_then(|()| RunFolder::create(&options.logs));
    let folder = created.map_err(|source| OpenError::Folder { logs: options.logs.clone(), source })?;
    let record: Arc<dyn EventSink> = Arc::new(Redacted::new(Arc::clone(&folder) as _, Arc::clone(&wiring.secrets)));
    record.emit(Event::RunStarted {
        command: options.command,
        project: loaded.root.display().to_string(),
        seed: wiring.seed(),
        trails: 0,
        shard: None,
    });
    let _ = report::write_unfinished(&folder.path);
    let outlets =
        Outlets { events: Some(record), console: Some(Arc::clone(&console)), folder: Some(folder.path.clone()) };
    let servers = wiring.tool_servers(ServerMode::Start).with_outlets(outlets).with_cassettes(cassettes);
    wiring.servers = servers.interactive().into();
    let device = options.device;
    // The caller receives everything else in replies, so the console does not repeat it.
    let output = Arc::new(OnlyToolOutput::to(Arc::clone(&console)));
    let sink = DeviceLog::new(device.id.clone(), Arc::clone(&folder) as _, output).keeping_all();
    let sink = Arc::new(sink);
    let target = wiring.target.clone();
    let sinks = SessionSinks { events: Arc::clone(&sink) as _, artifacts: Arc::clone(&folder) as _ };
    let session = match wiring.open_whole(&device, target.as_deref(), sinks).await {
        Ok(session) => session,
        Err(NotOpened { session, error }) => {
            session.close(&error.to_string()).await;
            wiring.close().await;
            let _ = folder.finish(Exit::Environment, wiring.supervisor.leaked());
            return Err(OpenError::NotOpened(error));
        }
    };
    let problems = loaded.refused_tools(&session.registry());
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        session.close("its tools have errors").await;
        wiring.close().await;
        let _ = folder.finish(Exit::Invalid, wiring.supervisor.leaked());
        return Err(OpenError::Invalid(problems));
    }
    console.problems(&problems);
    let memory = wiring.memory((&device, target.as_deref()), None, &options.memory, Default::default());
    let place = SavePlace {
        root: loaded.root.clone(),
        current_dir: options.current_dir,
        folder: folder.path.clone(),
        target,
        driver: (!device.id.is_simulated()).then(|| device.driver.clone()),
    };
    let session = Interactive::new(
        options.usage,
        session,
        sink,
        memory,
        wiring.models.for_session(),
        place,
        Arc::clone(&console),
    );
    Ok(Opened { session, wiring, folder, console })
}

impl Opened {
    /// Ends the session and its record, and writes the report. `exit` is the result of the caller's part.
    pub async fn close(self, exit: Exit, is_cancelled: bool) -> ClosedInteractive {
        let Opened { session, wiring, folder, console } = self;
        // Failed calls are in the record, even if the caller ignored them.
        let ended = exit.worst(session.worst());
        session.close(ended, is_cancelled).await;
        wiring.close().await;
        let kept = wiring.servers.save_cassettes(is_cancelled, &*console);
        let finished = folder.finish(ended.worst(kept), wiring.supervisor.leaked());
        let written = finished.and_then(|()| report::write(&folder.path).map_err(|error| error.to_string()));
        ClosedInteractive { exit: kept, written }
    }
}
