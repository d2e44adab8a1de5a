//! The command line: one file per command. One `match` decides the exit code and the hint.

pub mod app;
mod agent_args;
mod batch;
mod cassette;
mod check;
mod child;
mod choice;
mod completions;
mod conclude;
mod config;
mod daemon;
mod device;
mod docs;
mod doctor;
mod findings;
mod heal;
mod import;
mod in_session;
mod init;
mod interrupt;
mod log;
mod lsp;
mod mcp;
mod mcp_install;
mod model;
mod record;
mod record_check;
mod report;
mod run;
mod runs;
mod schema;
mod serve;
mod session;
mod shell;
mod sim_args;
mod skill;
mod snapshot;
mod studio;
mod tool;
mod tool_bundle;
mod tool_doctor;
mod tool_install;
mod tool_lint;
mod tool_new;
mod tool_test;
mod toolbox;
mod toolbox_budget;
mod trail;
mod types;
mod watch;
mod watch_keys;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use trailblaze_core::driver::DriverError;
use trailblaze_core::engine::source::SourceError;
use trailblaze_core::model::ModelError;
use trailblaze_core::yaml::Problem;
use trailblaze_protocol::exit::Exit;

use crate::api::ApiListener;
use crate::daemon::Version;
use crate::output::print;
use crate::project::compiled_in::CompiledIn;
use crate::project::devices::DeviceError;
use crate::project::environment::Environment;
use crate::project::loaded::{LoadError, Loaded, find_root};
use crate::project::select::SelectError;
use crate::run::execute::{RecordLost, RunError};
use crate::run::plan::PlanError;
use crate::run::preflight::n_errors;
use crate::sessions::host::SessionHost;
use crate::sessions::interactive::OpenError;
use crate::sessions::service::ServiceError;
use crate::sessions::wiring::{NotOpenedError, SecretError, UnknownTarget, Wiring, resolve_devices};

pub use schema::schemas;

/// UI tests in natural language, recorded as they run and replayed without a model.
#[derive(Parser)]
#[command(name = "trailblaze", version, propagate_version = true, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// The project's folder [default: the nearest one upward that contains a trailblaze.yaml]
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Subcommand)]
enum CliCommand {
    Init(init::InitArgs),
    Run(run::RunArgs),
    Heal(heal::HealArgs),
    Check(check::CheckArgs),
    Doctor(doctor::DoctorArgs),
    Studio(studio::StudioArgs),
    Record(record::RecordArgs),
    Shell(shell::ShellArgs),
    Serve(serve::ServeArgs),
    Mcp(mcp::McpCommand),
    Skill(skill::SkillArgs),
    Tool(tool::ToolArgs),
    Snapshot(snapshot::SnapshotArgs),
    Do(batch::DoArgs),
    Ask(batch::AskArgs),
    Batch(batch::BatchArgs),
    Session(session::SessionCommand),
    Daemon(daemon::DaemonCommand),
    Toolbox(toolbox::ToolboxArgs),
    Types(types::TypesArgs),
    Device(device::DeviceVerbArgs),
    Model(model::ModelCommand),
    Runs(runs::RunsCommand),
    Report(report::ReportArgs),
    Config(config::ConfigArgs),
    Schema(schema::SchemaArgs),
    Lsp(lsp::LspArgs),
    Trail(trail::TrailCommand),
    Import(import::ImportCommand),
    Completions(completions::CompletionsArgs),
    Docs(docs::DocsCommand),
}

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("{0}")]
    Load(#[from] LoadError),
    #[error("{0}")]
    Device(#[from] DeviceError),
    #[error("{0}")]
    Secret(#[from] SecretError),
    #[error("{0}")]
    Target(#[from] UnknownTarget),
    #[error("{message}")]
    Usage { message: String, hint: Option<String> },
    /// The problems have already been printed.
    #[error("{}", print::count(*.n_errors, "problem"))]
    Problems { n_errors: usize },
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
    #[error("{0}")]
    Driver(#[from] DriverError),
    #[error("{0}")]
    Server(#[from] SourceError),
    #[error("{0}")]
    Model(ModelError),
    #[error("{message}")]
    Environment { message: String },
    /// The daemon refused.
    #[error("{0}")]
    Service(#[from] ServiceError),
}

impl Refusal {
    fn cannot_watch(root: &Path, error: &notify::Error) -> Refusal {
        Refusal::Environment { message: format!("cannot watch `{}`: {error}", root.display()) }
    }

    fn usage(message: impl Into<String>) -> Refusal {
        Refusal::Usage { message: message.into(), hint: None }
    }

    /// Prints the problems found in the files. Fails only if one of them is an error.
    fn unless_sound(problems: &[Problem]) -> Result<(), Refusal> {
        print::problems(problems);
        let n_errors =
            problems.iter().filter(|problem| problem.severity == trailblaze_core::yaml::Severity::Error).count();
        if n_errors == 0 { Ok(()) } else { Err(Refusal::Problems { n_errors }) }
    }

    fn show(&self) {
        print::error(self);
        if let Some(hint) = self.hint() {
            print::hint(hint);
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Refusal::Load(_)
            | Refusal::Device(_)
            | Refusal::Secret(_)
            | Refusal::Target(_)
            | Refusal::Usage { .. }
            | Refusal::Problems { .. } => Exit::Invalid,
            Refusal::Io { .. }
            | Refusal::Driver(_)
            | Refusal::Server(_)
            | Refusal::Model(_)
            | Refusal::Environment { .. } => Exit::Environment,
            Refusal::Service(error) => error.exit,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Refusal::Load(LoadError::Select(SelectError::NoTrails { .. })) => {
                Some("a trail is a file named trail.yaml or *.trail.yaml".to_string())
            }
            Refusal::Device(DeviceError::Unknown { .. }) => {
                Some("`trailblaze device list` lists the devices".to_string())
            }
            Refusal::Secret(SecretError::Unset { name }) => {
                Some(format!("set it for this command: {name}=… trailblaze run …"))
            }
            Refusal::Target(UnknownTarget { near, .. }) => near.as_ref().map(|near| format!("did you mean `{near}`?")),
            Refusal::Usage { hint, .. } => hint.clone(),
            Refusal::Model(error) => error.hint.clone(),
            Refusal::Service(error) => error.hint.clone(),
            _ => None,
        }
    }
}

impl From<PlanError> for Refusal {
    fn from(error: PlanError) -> Refusal {
        match error {
            PlanError::Load(error) => error.into(),
            PlanError::Device(error) => error.into(),
            PlanError::Secret(error) => error.into(),
            PlanError::Target(error) => error.into(),
            PlanError::Model(error) => error.into(),
            PlanError::Sim(_) | PlanError::UndeclaredArgument { .. } | PlanError::NothingToRun => {
                Refusal::usage(error.to_string())
            }
        }
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Refusal {
        match error {
            OpenError::Target(error) => error.into(),
            OpenError::Model(error) => error.into(),
            OpenError::Sim(_) => Refusal::usage(error.to_string()),
            OpenError::Invalid(problems) => {
                print::problems(&problems);
                Refusal::Problems { n_errors: n_errors(&problems) }
            }
            OpenError::Folder { logs, source } => {
                Refusal::Io { what: format!("cannot create a folder in `{}`", logs.display()), source }
            }
            OpenError::NotOpened(NotOpenedError::Server(error)) => error.into(),
            OpenError::NotOpened(NotOpenedError::Device(error)) => error.into(),
        }
    }
}

impl From<RunError> for Refusal {
    fn from(RunError::Folder { logs, source }: RunError) -> Refusal {
        Refusal::Io { what: format!("cannot create a folder in `{}`", logs.display()), source }
    }
}

impl From<RecordLost> for Refusal {
    fn from(lost: RecordLost) -> Refusal {
        Refusal::Environment { message: lost.to_string() }
    }
}

pub fn main() -> ExitCode {
    app::app().main()
}

/// The command line of the program with this name, which contains these tools.
fn start(program: ProgramName, compiled_in: CompiledIn) -> ExitCode {
    std::panic::set_hook(Box::new(print::panic));
    // Scripts often query the version first; answer without building the parser.
    let mut args = std::env::args_os().skip(1);
    if let (Some(flag), None) = (args.next(), args.next())
        && (flag == "--version" || flag == "-V")
    {
        print::data(format!("{} {}", program.name, program.version));
        return ExitCode::from(heard(Exit::Passed).code());
    }
    let cli = match program.parser().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            let is_help = !error.use_stderr();
            let _ = error.print();
            return ExitCode::from(if is_help { Exit::Passed.code() } else { Exit::Invalid.code() });
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            print::error(format!("cannot start: {error}"));
            return ExitCode::from(Exit::Environment.code());
        }
    };
    let result =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.block_on(run(cli, program, compiled_in))));
    let exit = match result {
        Ok(Ok(exit)) => exit,
        Ok(Err(refusal)) => {
            refusal.show();
            refusal.exit()
        }
        Err(_) => {
            print::error("this is a bug in Trailblaze; see the lines above");
            Exit::Bug
        }
    };
    // A task that is still waiting must not keep the process alive.
    runtime.shutdown_background();
    ExitCode::from(heard(exit).code())
}

/// How the program ends if its output may have been lost.
fn heard(exit: Exit) -> Exit {
    match print::lost() {
        None => exit,
        Some(error) => {
            print::error(format!("cannot write to standard output: {error}"));
            exit.worst(Exit::Environment)
        }
    }
}

/// What the program calls itself: `trailblaze`, or the name of a team's own build.
pub struct ProgramName {
    name: &'static str,
    version: &'static str,
}

impl ProgramName {
    fn parser(&self) -> clap::Command {
        Cli::command().name(self.name).bin_name(self.name).version(self.version)
    }
}

async fn run(cli: Cli, program: ProgramName, compiled_in: CompiledIn) -> Result<Exit, Refusal> {
    let environment = Environment::of_process().with(compiled_in);
    log::start(&environment);
    let version = Version::of_program(program.version, environment.program());
    let context = &Context::new(cli.project, environment, program.name, version);
    match cli.command {
        CliCommand::Init(args) => init::init(context, args),
        CliCommand::Run(args) => run::run(context, args).await,
        CliCommand::Heal(args) => heal::heal(context, &args),
        CliCommand::Check(args) => check::check(context, args).await,
        CliCommand::Studio(args) => studio::studio(context, args).await,
        CliCommand::Record(args) => record::record(context, args).await,
        CliCommand::Shell(args) => shell::shell(context, args).await,
        CliCommand::Serve(args) => serve::serve(context, args).await,
        CliCommand::Mcp(command) => mcp::mcp(context, command).await,
        CliCommand::Skill(args) => skill::skill(context, &args),
        CliCommand::Tool(args) => tool::tool(context, args).await,
        CliCommand::Snapshot(args) => snapshot::snapshot(context, args).await,
        CliCommand::Do(args) => batch::do_words(context, args).await,
        CliCommand::Ask(args) => batch::ask(context, args).await,
        CliCommand::Batch(args) => batch::batch(context, args).await,
        CliCommand::Session(command) => session::session(context, command).await,
        CliCommand::Daemon(command) => daemon::daemon(context, command).await,
        CliCommand::Toolbox(args) => toolbox::toolbox(context, args).await,
        CliCommand::Types(args) => types::types(context, args).await,
        CliCommand::Device(command) => device::device(context, command).await,
        CliCommand::Model(command) => model::model(context, command).await,
        CliCommand::Runs(command) => runs::runs(context, command),
        CliCommand::Report(args) => report::report(context, args),
        CliCommand::Config(args) => config::config(context, args),
        CliCommand::Schema(args) => schema::schema(context, args).await,
        CliCommand::Lsp(args) => lsp::lsp(context, args).await,
        CliCommand::Trail(command) => trail::trail(context, command),
        CliCommand::Import(command) => import::import(context, command),
        CliCommand::Completions(args) => completions::completions(&program, args),
        CliCommand::Doctor(args) => doctor::doctor(context, args).await,
        CliCommand::Docs(command) => docs::docs(command),
    }
}

/// What every command receives in addition to its own arguments.
#[derive(Clone)]
pub struct Context {
    /// The folder given by `--project`.
    project: Option<PathBuf>,
    environment: Arc<Environment>,
    /// Set by the first command that opens sessions; a process has one.
    host: Arc<OnceLock<SessionHost>>,
    /// The name and version of the program, by which it finds its daemon.
    program: &'static str,
    version: Version,
}

impl Context {
    fn new(project: Option<PathBuf>, environment: Environment, program: &'static str, version: Version) -> Context {
        Context { project, environment: Arc::new(environment), host: Arc::default(), program, version }
    }

    /// What sessions share. The first command that names a port sets the port.
    fn host(&self, port: Option<u16>) -> SessionHost {
        let new = || {
            let invocations = Arc::default();
            SessionHost::new(Arc::clone(&invocations), ApiListener::new(invocations, port))
        };
        self.host.get_or_init(new).clone()
    }

    /// The same for a project whose folder is known.
    fn within(&self, root: &Path) -> Context {
        Context { project: Some(root.to_path_buf()), ..self.clone() }
    }

    /// The project's folder: the one given by `--project`, or the nearest from `start` upward.
    fn root(&self, start: &Path) -> PathBuf {
        match &self.project {
            Some(project) => self.environment.absolute(project),
            None => find_root(start, &self.environment),
        }
    }

    /// Reads the project. It is searched for from the command's first path, if there is one.
    fn load(&self, first_path: Option<&PathBuf>) -> Result<Arc<Loaded>, Refusal> {
        self.read(first_path).map(Arc::new)
    }

    /// The same, for a command that changes what the project says.
    fn read(&self, first_path: Option<&PathBuf>) -> Result<Loaded, Refusal> {
        let root = self.root(first_path.map_or(Path::new("."), PathBuf::as_path));
        if let Some(project) = self.project.as_ref().filter(|_| !root.is_dir()) {
            return Err(Refusal::usage(format!("no such folder: `{}`", project.display())));
        }
        Ok(Loaded::read(&root, &self.environment)?)
    }

    /// Resolves a path given by the user.
    fn absolute(&self, path: &Path) -> PathBuf {
        self.environment.absolute(path)
    }

    /// The wiring of a project, for a command that needs no plan. Hides the project's secrets in printed text.
    fn wiring(&self, loaded: &Arc<Loaded>, target: Option<String>) -> Wiring {
        let wiring = Wiring::new(loaded, &self.host(None), target);
        print::hide(&wiring.secrets);
        wiring
    }

    /// The devices that a command names, where a platform stands for its only device.
    async fn resolve_devices(&self, loaded: &Arc<Loaded>, names: &[String]) -> Result<Vec<String>, Refusal> {
        Ok(resolve_devices(loaded, &self.host(None), names).await?)
    }

    /// The command line as it is recorded.
    fn command_line(&self) -> Vec<String> {
        self.environment.command_line().to_vec()
    }
}

/// Parses the `name=value` pairs of a flag, or of positional arguments if `flag` is empty.
fn pairs(flag: &str, texts: &[String]) -> Result<Vec<(String, String)>, Refusal> {
    texts
        .iter()
        .map(|text| match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_string(), value.to_string())),
            _ if flag.is_empty() => Err(Refusal::usage(format!("expected an argument as name=value, got `{text}`"))),
            _ => Err(Refusal::usage(format!("`--{flag}` takes name=value, got `{text}`"))),
        })
        .collect()
}
