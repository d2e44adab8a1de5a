//! `trailblaze run`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use trailblaze_core::callers::heal::HealMode;
use trailblaze_core::record::artifacts::PicturePolicy;
use trailblaze_protocol::exit::Exit;

use super::agent_args::AgentArgs;
use super::cassette::{CassetteArgs, CassetteUse};
use super::choice::{FilterArgs, TrailChoice};
use super::conclude::conclude;
use super::device::DeviceArgs;
use super::interrupt::Interrupt;
use super::sim_args::SimArgs;
use super::studio::{PageArgs, open_page};
use super::watch;
use super::{Context, Refusal, pairs};
use crate::output::progress::Progress;
use crate::output::report::turns::ModelUse;
use crate::output::run_folder::TracePolicy;
use crate::output::{github, print, report};
use crate::project::models;
use crate::run::execute::{RunCompletion, RunResult, Sinks, execute};
use crate::run::job::{Healing, Replay};
use crate::run::plan::{DeviceChoice, RunOptions, RunPlan};
use crate::run::preflight;
use crate::run::queue::DeviceKind;
use crate::run::record::save::RecordLevel;
use crate::run::watch::Watch;
use crate::sessions::service::StudioRequest;

/// Run trails on devices
#[derive(Args, Clone)]
pub struct RunArgs {
    /// Trails, folders of trails, or patterns such as trails/**/pay*.trail.yaml [default: all trails of the project]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    devices: DeviceArgs,
    /// Run every trail on every device of the project, or on one simulated device of each platform if it has none
    #[arg(long, conflicts_with = "device")]
    all_devices: bool,
    /// The app under test, by its id in trailblaze-config/targets [default: the project's target]
    #[arg(long, env = "TRAILBLAZE_TARGET")]
    target: Option<String>,
    /// Run only the first N steps of each trail
    #[arg(long, value_name = "N", conflicts_with = "record")]
    until: Option<NonZeroUsize>,
    /// Save recordings of passing trails: `calls` writes the calls into the trails, `effects` also saves what custom
    /// tools did in files next to them [default: calls]
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "calls")]
    record: Option<RecordWord>,
    /// How to replay calls to custom tools
    #[arg(long, value_enum, default_value = "intent")]
    replay: ReplayArg,
    /// What to do if a call does not find its element because the app has changed
    #[arg(long, value_enum, default_value = "suggest")]
    heal: HealArg,
    /// Heal only by what was recorded, without asking the model
    #[arg(long)]
    heal_without_model: bool,
    #[command(flatten)]
    cassettes: CassetteArgs,
    #[command(flatten)]
    agent: AgentArgs,
    /// What is an error instead of a warning; --strict alone means tools
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, value_delimiter = ',',
        default_missing_value = "tools")]
    strict: Vec<Strict>,
    /// When to take screenshots [default: step]
    #[arg(long, value_enum)]
    pictures: Option<Pictures>,
    /// Which attempts keep a trace: how the screen and its documents looked all along [default: failure]
    #[arg(long, value_enum)]
    trace: Option<Traces>,
    /// Write the expected pictures of assertPicture that are missing or differ, instead of failing
    #[arg(long)]
    update_snapshots: bool,
    /// Set a value in memory before the start, as name=value
    #[arg(long, value_name = "NAME=VALUE")]
    memory: Vec<String>,
    /// Pass an argument to the trails, as name=value
    #[arg(long, value_name = "NAME=VALUE")]
    arg: Vec<String>,
    /// Use an environment variable as a secret: {{NAME}} types its value, which is never shown
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    choice: TrailChoice,
    #[command(flatten)]
    sim: SimArgs,
    /// Create run folders here [default: logs/ in the project]
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// The port on 127.0.0.1 that tools call back to [default: 52525, or a free port]
    #[arg(long, env = "TRAILBLAZE_PORT")]
    port: Option<u16>,
    /// Choose, run and watch trails in a browser page instead; the given trails are selected there
    #[arg(long, conflicts_with_all = ["json", "watch"])]
    ui: bool,
    /// Show what custom tools log and print
    #[arg(short, long)]
    verbose: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

impl RunArgs {
    /// The folder in which run folders are created.
    pub fn logs(&self, context: &Context, root: &Path) -> PathBuf {
        self.logs.as_ref().map_or_else(|| root.join("logs"), |logs| context.absolute(logs))
    }

    /// The same for the trails whose titles or paths contain this.
    pub fn about(&self, words: &str) -> RunArgs {
        let mut args = self.clone();
        args.filter.grep = Some(words.to_string());
        args
    }

    /// The same, writing expected pictures.
    pub fn updating_snapshots(&self) -> RunArgs {
        RunArgs { update_snapshots: true, ..self.clone() }
    }

    /// The resolved options of the run, independent of the command line.
    fn options(&self, context: &Context, root: &Path) -> Result<RunOptions, Refusal> {
        let args = pairs("arg", &self.arg)?.into_iter().map(|(name, value)| (name, value.into()));
        let agent = self.agent.options()?;
        if self.until.is_some() && agent.model.cassette == Some(models::ModelCassetteMode::Record) {
            let message =
                "`--until` cannot be used with `--model-cassette record`: the replies to the other steps would be lost";
            return Err(Refusal::usage(message));
        }
        Ok(RunOptions {
            paths: self.paths.clone(),
            only: None,
            filter: self.filter.clone().into(),
            until: self.until.map(NonZeroUsize::get),
            devices: if self.all_devices {
                DeviceChoice::All
            } else {
                DeviceChoice::Named(self.devices.device.clone())
            },
            is_headed: self.devices.headed,
            target: self.target.clone(),
            record: match &self.record {
                Some(RecordWord::Level(level)) => Some(*level),
                Some(RecordWord::Path(_)) => Some(RecordLevel::Calls),
                None => None,
            },
            replay: self.replay.into(),
            agent,
            healing: Healing { mode: self.heal.mode(), may_ask: !self.heal_without_model },
            cassette: self.cassettes.wanted(),
            changes: preflight::strictness(self.strict.contains(&Strict::Tools)),
            strict_results: self.strict.contains(&Strict::Results),
            strict_names: self.strict.contains(&Strict::Names),
            notes_leniency: !self.strict.is_empty(),
            pictures: self.pictures.unwrap_or(Pictures::Step).into(),
            // Without pictures, there is little to keep.
            traces: match (self.trace, self.pictures) {
                (Some(trace), _) => trace.into(),
                (None, Some(Pictures::Off)) => TracePolicy::Off,
                (None, _) => TracePolicy::default(),
            },
            update_snapshots: self.update_snapshots,
            memory: pairs("memory", &self.memory)?,
            args: args.collect(),
            secrets: self.secret.clone(),
            rules: self.choice.rules(),
            workers: self.choice.workers,
            last_failed: self.choice.last_failed,
            shard: self.choice.shard,
            sim: self.sim.clone().into(),
            logs: self.logs(context, root),
            command: context.command_line(),
        })
    }
}

/// How calls to custom tools are replayed.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum ReplayArg {
    /// Run the tools
    Intent,
    /// Play their recorded effects instead, and start no tool servers
    Effects,
    /// Run the tools, and fail the trail if they behave differently from their recording
    Verify,
}

impl From<ReplayArg> for Replay {
    fn from(replay: ReplayArg) -> Replay {
        match replay {
            ReplayArg::Intent => Replay::Intent,
            ReplayArg::Effects => Replay::Effects,
            ReplayArg::Verify => Replay::Verify,
        }
    }
}

/// What to do if a call does not find its element.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum HealArg {
    /// Fail
    Off,
    /// Fail, and suggest other calls
    Suggest,
    /// Use the best other call if it is clear, and then run the repaired trail from its start
    Apply,
}

impl HealArg {
    fn mode(self) -> Option<HealMode> {
        match self {
            HealArg::Off => None,
            HealArg::Suggest => Some(HealMode::Suggest),
            HealArg::Apply => Some(HealMode::Apply),
        }
    }
}

/// What is treated as an error.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Strict {
    /// A custom tool that changed since recording
    Tools,
    /// A tool that returns success: false
    Results,
    /// An element with another name than when the trail was recorded
    Names,
}

/// Which traces are kept.
#[derive(ValueEnum, Clone, Copy)]
enum Traces {
    /// All
    On,
    /// Those of attempts that do not pass
    Failure,
    /// None, and nothing is collected for them
    Off,
}

impl From<Traces> for TracePolicy {
    fn from(traces: Traces) -> TracePolicy {
        match traces {
            Traces::On => TracePolicy::On,
            Traces::Failure => TracePolicy::Failure,
            Traces::Off => TracePolicy::Off,
        }
    }
}

#[derive(ValueEnum, Clone, Copy)]
enum Pictures {
    /// Never
    Off,
    /// When something fails
    Failure,
    /// Also before and after each step
    Step,
    /// Also before each touch
    Action,
}

impl From<Pictures> for PicturePolicy {
    fn from(pictures: Pictures) -> PicturePolicy {
        match pictures {
            Pictures::Off => PicturePolicy::Off,
            Pictures::Failure => PicturePolicy::Failure,
            Pictures::Step => PicturePolicy::Step,
            Pictures::Action => PicturePolicy::Action,
        }
    }
}

/// The value after `--record`: the level, or the first path, because the level is optional.
#[derive(Clone)]
enum RecordWord {
    Level(RecordLevel),
    Path(PathBuf),
}

impl From<String> for RecordWord {
    fn from(word: String) -> RecordWord {
        match word.as_str() {
            "calls" => RecordWord::Level(RecordLevel::Calls),
            "effects" => RecordWord::Level(RecordLevel::Effects),
            _ => RecordWord::Path(word.into()),
        }
    }
}

/// Opens the page in which trails are chosen, run and watched.
async fn open_ui(context: &Context, args: &RunArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let mut params = Vec::new();
    if !args.paths.is_empty() {
        let trails = loaded.trails(&args.paths)?;
        let paths: Vec<&str> =
            trails.iter().filter_map(|(trail, _)| Some(trail.as_ref()?.source.path.as_str())).collect();
        params.push(("trails", paths.join(",")));
    }
    if !args.devices.device.is_empty() {
        params.push(("devices", args.devices.device.join(",")));
    }
    let client = context.place();
    open_page(context, StudioRequest { client, device: None }, &params, PageArgs::default()).await
}

pub async fn run(context: &Context, mut args: RunArgs) -> Result<Exit, Refusal> {
    if args.ui {
        return open_ui(context, &args).await;
    }
    if let Some(RecordWord::Path(path)) = &args.record {
        args.paths.insert(0, path.clone());
        args.record = Some(RecordWord::Level(RecordLevel::Calls));
    }
    if args.record.is_some() && args.replay != ReplayArg::Intent {
        return Err(Refusal::usage("`--record` requires `--replay intent`: only tools that run can be recorded"));
    }
    if args.heal == HealArg::Apply && args.replay != ReplayArg::Intent {
        return Err(Refusal::usage("`--heal apply` requires `--replay intent`: recorded effects are never healed"));
    }
    let cassette = args.cassettes.cassette;
    if cassette.is_some() && args.replay == ReplayArg::Effects {
        return Err(Refusal::usage("`--cassette` cannot be used with `--replay effects`, which calls no tool servers"));
    }
    if cassette == Some(CassetteUse::Record) && args.choice.watch {
        return Err(Refusal::usage(
            "`--cassette record` cannot be used with `--watch`, which runs only some of the trails each time",
        ));
    }
    match args.choice.watch {
        true => watch::watch(context, args).await,
        false => run_once(context, &args, None, None).await,
    }
}

/// Plans a run, executes it, and prints the result. `only` limits it to some trails, by their paths in the project.
pub async fn run_once(
    context: &Context,
    args: &RunArgs,
    only: Option<Vec<String>>,
    watch: Option<&mut Watch>,
) -> Result<Exit, Refusal> {
    let loaded = context.load(args.paths.first())?;
    let mut options = RunOptions { only, ..args.options(context, &loaded.root)? };
    if let DeviceChoice::Named(named) = &mut options.devices {
        *named = context.resolve_devices(&loaded, named).await?;
    }
    let mut plan = RunPlan::new(&loaded, &context.host(args.port), options)?;
    print::hide(&plan.wiring.secrets);
    if args.choice.dry_run {
        let problems = plan.check_offline().await;
        Refusal::unless_sound(&problems)?;
        list(&plan, args.json);
        return Ok(Exit::Passed);
    }
    let progress = Progress::new(args.json);
    let progress = Arc::new(if args.verbose { progress.with_tool_output().listing_all() } else { progress });
    let interrupt = Interrupt::listen(Arc::clone(&progress));
    let sinks = Sinks { console: progress, cancel: interrupt.cancel.clone() };
    let result = execute(plan, sinks, watch).await?;
    if let Ok(written) = &result.written {
        github::tell(&written.run, |name| context.environment.var(name));
    }
    let RunResult { exit, ended, written, folder: _, micros } = result;
    let (jobs, done, n_not_run) = match ended {
        RunCompletion::Ran { jobs, done, n_not_run } => (jobs, done, n_not_run),
        RunCompletion::Invalid { n_errors } => {
            written?;
            return Err(Refusal::Problems { n_errors });
        }
    };
    // The results of the trails are known even if the record was lost.
    match (&written, args.json) {
        (Ok(written), true) => print::json(&report::summary::summary(&written.run)),
        (Err(_), true) => {}
        (written, false) => {
            let html = written.as_ref().ok().map(|written| written.html.as_path());
            let model_use = written.as_ref().ok().and_then(|written| ModelUse::of_run(&written.run));
            conclude(&jobs, &done, n_not_run, micros, model_use, html);
        }
    }
    written?;
    Ok(exit)
}

/// Prints what would run, and on which devices.
fn list(plan: &RunPlan, as_json: bool) {
    let rows = plan.kinds.iter().flat_map(|kind| kind.jobs.iter().map(move |job| (&plan.jobs[*job].trail, kind)));
    let devices = |kind: &DeviceKind| kind.devices.iter().map(|set| set.name().to_string()).collect::<Vec<_>>();
    if as_json {
        let rows: Vec<Value> = rows
            .map(|(trail, kind)| json!({"trail": trail.source.path, "title": trail.title(), "devices": devices(kind)}))
            .collect();
        return print::json(&rows);
    }
    for (trail, kind) in rows {
        print::data(format!("{:<40} {} ({})", trail.source.path, trail.title(), devices(kind).join(", ")));
    }
}
