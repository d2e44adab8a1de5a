//! `trailblaze run`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use trailblaze_core::record::events::{EventSink, PicturePolicy, Redacted};
use trailblaze_core::yaml::Severity;
use trailblaze_protocol::event::{Event, Level as Gravity, Verdict};
use trailblaze_protocol::exit::Exit;

use super::cassette::{CassetteArgs, save_cassettes};
use super::choice::Choice;
use super::conclude::conclude;
use super::interrupt::Interrupt;
use super::saving::{Level, Wish, save_recordings};
use super::watch::{self, Watch};
use super::{Context, Refusal, pairs};
use crate::output::github;
use crate::output::print;
use crate::output::progress::Progress;
use crate::output::report;
use crate::output::run_folder::RunFolder;
use crate::project::devices::{DeviceArgs, Devices};
use crate::project::select::Filter;
use crate::run::history::{self, History};
use crate::run::job::{Done, Job, Replay};
use crate::run::preflight::{self, Jobs, Rule};
use crate::run::queue::{self, Kind, Shared};
use crate::servers::cassettes::Use;
use crate::servers::tool_servers::{Mode, Outlets};
use crate::sessions::wiring::{self, Wiring};

/// Run trails on devices
#[derive(Args)]
pub struct RunArgs {
    /// Trails, folders of trails, or patterns such as trails/**/pay*.trail.yaml; the project's own unless given
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    devices: DeviceArgs,
    /// Run every trail on every device of the project; without any, on one simulated device of each platform
    #[arg(long, conflicts_with = "device")]
    all_devices: bool,
    /// The app under test, by its id in trailblaze-config/targets; the project's unless given
    #[arg(long, env = "TRAILBLAZE_TARGET")]
    target: Option<String>,
    /// Write what passing devices did into the trails, as recordings: calls, or effects, which also keeps beside the
    /// trails what custom tools did; calls unless given
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "calls")]
    record: Option<RecordWord>,
    /// What becomes of calls of custom tools
    #[arg(long, value_enum, default_value = "intent")]
    replay: Replay,
    #[command(flatten)]
    cassettes: CassetteArgs,
    /// Treat a tool that changed since a trail was recorded as an error
    #[arg(long)]
    strict: bool,
    /// When to take pictures
    #[arg(long, value_enum, default_value = "step")]
    pictures: Pictures,
    /// Remember a value from the start, as name=value
    #[arg(long, value_name = "NAME=VALUE")]
    memory: Vec<String>,
    /// Pass an argument to the trails, as name=value
    #[arg(long, value_name = "NAME=VALUE")]
    arg: Vec<String>,
    /// Use an environment variable as a secret: {{NAME}} types it, and nothing shows it
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    sim: SimArgs,
    /// Where run folders go; logs/ of the project unless given
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// The port of 127.0.0.1 that tools call back to; 52525 or a free one unless given
    #[arg(long, env = "TRAILBLAZE_PORT")]
    port: Option<u16>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

impl RunArgs {
    /// Where run folders go.
    pub fn logs(&self, root: &Path) -> PathBuf {
        self.logs.clone().unwrap_or_else(|| root.join("logs"))
    }

    /// How much to record.
    fn level(&self) -> Option<Level> {
        match &self.record {
            Some(RecordWord::Level(level)) => Some(*level),
            Some(RecordWord::Path(_)) => Some(Level::Calls),
            None => None,
        }
    }

    /// What becomes of tool servers. Who plays effects needs none.
    fn servers(&self, otherwise: Mode) -> Mode {
        if self.replay == Replay::Effects { Mode::Absent } else { otherwise }
    }
}

#[derive(Args, Clone, Default)]
pub struct SimArgs {
    /// What jitter, drift and faults of simulated devices are drawn from; printed when chosen at random
    #[arg(long)]
    pub seed: Option<u64>,
    /// Change simulated devices: latency=20ms, jitter=5ms, drift=3, slowScreen=1s, refuse=0.05, lostAfter=12, lostAt=0.01
    #[arg(long = "sim", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
}

impl SimArgs {
    pub fn apply(&self, wiring: &mut Wiring) -> Result<(), Refusal> {
        for setting in &self.settings {
            wiring.sim.faults.set(setting).map_err(|error| Refusal::usage(format!("--sim: {error}")))?;
        }
        wiring.seed = self.seed.unwrap_or_else(random_seed);
        Ok(())
    }
}

fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // Six digits are easy to type again.
    std::collections::hash_map::RandomState::new().build_hasher().finish() % 1_000_000
}

#[derive(ValueEnum, Clone, Copy)]
enum Pictures {
    /// None
    Off,
    /// What was seen when something failed
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

/// What may stand behind `--record`: how much to record, or the first path, since the word may be left out.
#[derive(Clone)]
enum RecordWord {
    Level(Level),
    Path(PathBuf),
}

impl From<String> for RecordWord {
    fn from(word: String) -> RecordWord {
        match word.as_str() {
            "calls" => RecordWord::Level(Level::Calls),
            "effects" => RecordWord::Level(Level::Effects),
            _ => RecordWord::Path(word.into()),
        }
    }
}

pub async fn run(context: &Context, mut args: RunArgs) -> Result<Exit, Refusal> {
    if let Some(RecordWord::Path(path)) = &args.record {
        args.paths.insert(0, path.clone());
        args.record = Some(RecordWord::Level(Level::Calls));
    }
    if args.record.is_some() && args.replay != Replay::Intent {
        return Err(Refusal::usage("--record goes with --replay intent: only tools that run can be recorded"));
    }
    let cassette = args.cassettes.cassette;
    if cassette.is_some() && args.replay == Replay::Effects {
        return Err(Refusal::usage("--cassette does not go with --replay effects, which calls no tool servers"));
    }
    if cassette == Some(Use::Record) && args.choice.watch {
        return Err(Refusal::usage("--cassette record does not go with --watch, which runs some trails at a time"));
    }
    match args.choice.watch {
        true => watch::watch(context, args).await,
        false => run_once(context, &args, None, None).await,
    }
}

/// One run. `only` narrows it to some trails, by their paths in the project; `watch` goes on around it.
pub async fn run_once(
    context: &Context,
    args: &RunArgs,
    only: Option<&[String]>,
    mut watch: Option<&mut Watch>,
) -> Result<Exit, Refusal> {
    let loaded = context.load(args.paths.first())?;
    let mut devices = match args.all_devices {
        true => Devices::named(loaded.all_devices()?),
        false => loaded.devices_of_trails(&args.devices.device)?,
    };
    let mut wiring = Wiring::new(&loaded, &context.host(args.port), args.target.clone());
    wiring.show_browser(args.devices.headed);
    if args.target.is_some() {
        Refusal::unless_known(&wiring)?;
    }
    wiring.use_secrets(wiring::secrets(&loaded, &args.secret)?);
    wiring.pictures = args.pictures.into();
    args.sim.apply(&mut wiring)?;
    let memory = pairs("memory", &args.memory)?;
    let given: Map<String, Value> =
        pairs("arg", &args.arg)?.into_iter().map(|(name, value)| (name, value.into())).collect();
    let Jobs { mut jobs, broken, mut problems, undeclared } =
        preflight::read(&loaded, &args.paths, &args.filter, &given)?;
    if let Some(name) = undeclared {
        return Err(Refusal::usage(format!("no trail declares the argument `{name}`")));
    }
    let (mut cassettes, wrong) = args.cassettes.read(&loaded);
    problems.extend(wrong);
    // What is wrong in the files is wrong already; servers need not be started to say so.
    let has_errors = problems.iter().any(|problem| problem.severity == Severity::Error);
    if has_errors {
        cassettes = None;
    }
    jobs.retain(|job| only.is_none_or(|only| only.contains(&job.trail.source.path)));
    let rule = Rule { changes: preflight::strictness(args.strict), replay: args.replay };
    devices.take_those_of(&loaded, jobs.iter().map(|job| &job.trail).chain(&broken))?;
    let kinds = args.choice.kinds(&loaded, &devices, &jobs, args.all_devices);
    let n_planned: usize = kinds.iter().map(|kind| kind.jobs.len()).sum();
    // A shard may be empty where there are more of them than trails.
    if problems.is_empty() && n_planned == 0 && args.choice.shard.is_none() {
        return Err(Refusal::usage("no trail is left to run after the filters"));
    }
    if args.choice.dry_run {
        wiring.servers = wiring.tool_servers(args.servers(Mode::Remember)).with_cassettes(cassettes);
        problems.extend(preflight::before_start(&wiring, (&jobs, &broken), &devices, rule).await.problems);
        let problems = preflight::in_order(problems);
        Refusal::unless_sound(&problems)?;
        list(&jobs, &kinds, args.json);
        return Ok(Exit::Passed);
    }
    let logs = context.absolute(&args.logs(&loaded.root));
    let folder = RunFolder::create(&logs)
        .map_err(|source| Refusal::Io { what: format!("cannot create a folder in `{}`", logs.display()), source })?;
    let record: Arc<dyn EventSink> = Arc::new(Redacted::new(Arc::clone(&folder) as _, Arc::clone(&wiring.secrets)));
    record.emit(Event::RunStarted {
        command: context.command_line(),
        project: loaded.root.display().to_string(),
        seed: wiring.seed,
        trails: jobs.len(),
        shard: args.choice.shard.map(|shard| shard.to_string()),
    });
    // A run that is killed still leaves a page that opens.
    let _ = report::write_unfinished(&folder.path);
    let progress = Arc::new(Progress::new(args.json));
    let outlets = Outlets {
        events: Some(Arc::clone(&record)),
        progress: Some(Arc::clone(&progress)),
        folder: Some(folder.path.clone()),
    };
    let mode = args.servers(if has_errors { Mode::Remember } else { Mode::Start });
    wiring.servers = wiring
        .tool_servers(mode)
        .with_outlets(outlets)
        .with_cassettes(cassettes)
        .for_devices(kinds.iter().map(|kind| kind.devices.len()).sum());
    if let Some(watch) = watch.as_deref_mut() {
        watch.begin(&jobs, wiring.servers.concerns());
    }
    let interrupt = Interrupt::listen(Arc::clone(&progress));
    tokio::select! {
        judgement = preflight::before_start(&wiring, (&jobs, &broken), &devices, rule) => {
            problems.extend(judgement.problems);
            for error in &judgement.unneeded {
                let text = format!("{error}\nno trail of this run needs it, so it goes on");
                progress.warn(&text);
                record.emit(Event::Noted { about: None, level: Gravity::Warning, text });
            }
        }
        () = interrupt.cancel.cancelled() => {}
    }
    let problems = preflight::in_order(problems);
    if let Err(refusal) = Refusal::unless_sound(&problems) {
        for problem in &problems {
            record.emit(Event::Noted { about: None, level: Gravity::Error, text: problem.to_string() });
        }
        wiring.close().await;
        finish(context, &folder, Exit::Invalid, wiring.supervisor.leaked())?;
        return Err(refusal);
    }
    // Without faults nothing is drawn from it.
    if args.sim.seed.is_none() && wiring.sim.faults != Default::default() {
        progress.say(&format!("seed {}", wiring.seed));
    }
    let shared = Arc::new(Shared {
        wiring,
        jobs,
        memory,
        rules: args.choice.rules(),
        replay: args.replay,
        events: Arc::clone(&folder) as Arc<dyn EventSink>,
        progress: Arc::clone(&progress),
        cancel: interrupt.cancel.clone(),
    });
    let n_planned = n_planned * shared.rules.repeat_each.max(1) as usize;
    let running = queue::run(Arc::clone(&shared), kinds, args.choice.workers);
    let done = match watch {
        Some(watch) => watch.during(&shared.wiring, running, &shared.jobs).await,
        None => running.await,
    };
    shared.wiring.close().await;
    let kept = save_cassettes(&shared.wiring.servers, shared.cancel.is_cancelled(), |text| progress.say(text));
    let saved = save_recordings(&shared, &done, &folder, Wish { record: args.level(), is_stdout_data: args.json });
    // The other shards must come to the same division; `report merge` remembers what all of them took.
    if args.choice.shard.is_none() {
        remember(&loaded.root, &shared.jobs, &done);
    }
    let not_run = n_planned - done.len();
    let mut exit = done.iter().map(|done| done.verdict.exit()).fold(saved.worst(kept), Exit::worst);
    if shared.cancel.is_cancelled() {
        exit = exit.worst(Exit::Environment);
    }
    let leaked = shared.wiring.supervisor.leaked();
    if leaked > 0 {
        print::error(format!("processes could not be ended: {leaked}"));
        exit = exit.worst(Exit::Environment);
    }
    let written = finish(context, &folder, exit, leaked);
    // Whatever became of the record, how the trails ended is known.
    match (&written, args.json) {
        (Ok(written), true) => print::json(&report::summary::summary(&written.run)),
        (Err(_), true) => {}
        (written, false) => {
            let html = written.as_ref().ok().map(|written| written.html.as_path());
            conclude(&shared.jobs, &done, not_run, &folder, html);
        }
    }
    written.map(|_| exit)
}

/// What would run, and where.
fn list(jobs: &[Job], kinds: &[Kind], as_json: bool) {
    let rows = kinds.iter().flat_map(|kind| kind.jobs.iter().map(move |job| (&jobs[*job].trail, kind)));
    let devices = |kind: &Kind| kind.devices.iter().map(|device| device.id.to_string()).collect::<Vec<_>>();
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

/// Keeps how long trails took and which failed, for shards and `--last-failed`.
fn remember(root: &Path, jobs: &[Job], done: &[Done]) {
    let mut history = History::read(root);
    let over = done.iter().filter(|done| !matches!(done.verdict, Verdict::Cancelled | Verdict::Skipped));
    let noted = over.map(|done| {
        let platform = done.lineage.last().map(String::as_str).unwrap_or_default();
        let key = history::key(&jobs[done.job].trail.source.path, platform);
        (key, done.millis, done.verdict.exit() != Exit::Passed)
    });
    history.note(noted.collect());
    if let Err(error) = history.write(root) {
        print::warning(format!("cannot write {}: {error}", history::file(root).display()));
    }
}

fn finish(context: &Context, folder: &RunFolder, exit: Exit, leaked: usize) -> Result<report::Written, Refusal> {
    folder.finish(exit, leaked).map_err(|message| Refusal::Environment {
        message: format!("{message}\nthe record of the run is incomplete, so it has no junit.xml"),
    })?;
    let written = report::write(&folder.path).map_err(|error| Refusal::Environment { message: error.to_string() })?;
    github::tell(&written.run, |name| context.environment.var(name));
    Ok(written)
}
