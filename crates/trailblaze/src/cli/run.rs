//! `trailblaze run`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use trailblaze_core::events::{EventSink, PicturePolicy};
use trailblaze_core::preflight::preflight;
use trailblaze_core::trail::{Trail, lineage};
use trailblaze_core::yaml::{Problem, Problems};
use trailblaze_protocol::event::{Event, Level, Verdict};
use trailblaze_protocol::exit::Exit;

use super::{Refusal, load, pairs};
use crate::devices::{DeviceArgs, DeviceSpec};
use crate::github;
use crate::print;
use crate::progress::Progress;
use crate::project::Loaded;
use crate::report;
use crate::run_folder::RunFolder;
use crate::runner::{self, Done, Job, Shared};
use crate::wire::{self, Wiring};

/// Run trails on devices
#[derive(Args)]
pub struct RunArgs {
    /// Trails, or folders of trails; the project's own unless given
    paths: Vec<PathBuf>,
    #[command(flatten)]
    devices: DeviceArgs,
    /// Run on every device of the project; without any, on one simulated device of each platform
    #[arg(long, conflicts_with = "device")]
    all_devices: bool,
    /// The app under test, by its id in trailblaze-config/targets; the project's unless given
    #[arg(long, env = "TRAILBLAZE_TARGET")]
    target: Option<String>,
    /// Write what passing devices did into the trails, as recordings
    #[arg(long)]
    record: bool,
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
    sim: SimArgs,
    /// Where run folders go; logs/ of the project unless given
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
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

pub async fn run(project: Option<PathBuf>, args: RunArgs) -> Result<Exit, Refusal> {
    let loaded = load(project, args.paths.first())?;
    let devices = if args.all_devices { loaded.all_devices()? } else { loaded.devices(&args.devices.device)? };
    let mut wiring = Wiring::new(&loaded, args.target.clone());
    if args.target.is_some() {
        Refusal::unless_known(&wiring)?;
    }
    wiring.secrets = Arc::new(wire::secrets(&args.secret)?);
    wiring.pictures = args.pictures.into();
    args.sim.apply(&mut wiring)?;
    let memory = pairs("memory", &args.memory)?;
    let given: Map<String, Value> =
        pairs("arg", &args.arg)?.into_iter().map(|(name, value)| (name, value.into())).collect();
    let (jobs, mut problems) = jobs(&loaded, &args.paths, &given)?;
    problems.extend(before_start(&wiring, &jobs, &devices));
    problems.sort_by_key(|problem| (problem.source.path.clone(), problem.span.start));
    problems.dedup();

    let logs = args.logs.clone().unwrap_or_else(|| loaded.root.join("logs"));
    let folder = RunFolder::create(&logs)
        .map_err(|source| Refusal::Io { what: format!("cannot create a folder in `{}`", logs.display()), source })?;
    folder.emit(Event::RunStarted {
        command: std::env::args().map(|arg| wiring.secrets.redact(&arg).into_owned()).collect(),
        project: loaded.root.display().to_string(),
        seed: wiring.seed,
        trails: jobs.len(),
    });
    // A run that is killed still leaves a page that opens.
    let _ = report::write(&folder.path);
    if let Err(refusal) = Refusal::unless_sound(&problems) {
        for problem in &problems {
            folder.emit(Event::Noted { about: None, level: Level::Error, text: problem.to_string() });
        }
        finish(&folder, Exit::Misused)?;
        return Err(refusal);
    }
    let progress = Arc::new(Progress::new(args.json));
    if args.sim.seed.is_none() {
        progress.say(&format!("seed {}", wiring.seed));
    }
    let shared = Arc::new(Shared {
        wiring,
        jobs,
        memory,
        events: Arc::clone(&folder) as Arc<dyn EventSink>,
        progress: Arc::clone(&progress),
        cancel: cancel_on_interrupt(Arc::clone(&progress)),
    });
    let done = runner::run(Arc::clone(&shared), devices.clone()).await;
    save_recordings(&shared, &done, &folder, &loaded, args.record);
    let not_run = shared.jobs.len() * devices.len() - done.len();
    let mut exit = done.iter().map(|done| done.verdict.exit()).fold(Exit::Passed, Exit::worst);
    if not_run > 0 {
        exit = exit.worst(Exit::Environment);
    }
    let written = finish(&folder, exit)?;
    match args.json {
        true => print::json(&report::summary::summary(&written.run)),
        false => conclude(&shared.jobs, &done, not_run, &folder, &written.html),
    }
    Ok(exit)
}

fn finish(folder: &RunFolder, exit: Exit) -> Result<report::Written, Refusal> {
    folder.finish(exit).map_err(|message| Refusal::Environment { message })?;
    let written = report::write(&folder.path).map_err(|error| Refusal::Environment { message: error.to_string() })?;
    github::tell(&written.run);
    Ok(written)
}

/// The trails to run, and what is wrong with files and arguments.
fn jobs(loaded: &Loaded, paths: &[PathBuf], given: &Map<String, Value>) -> Result<(Vec<Job>, Vec<Problem>), Refusal> {
    let mut problems = loaded.problems.clone();
    let mut jobs = Vec::new();
    for (trail, found) in loaded.trails(paths)? {
        problems.extend(found);
        let Some(trail) = trail.filter(|trail| !trail.steps.is_empty()) else { continue };
        // An argument is for the trails that declare it; one that none declares is a mistake of all.
        let own: Map<String, Value> = given
            .iter()
            .filter(|(name, _)| trail.config.args.get(name).is_some())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        match trail.config.bind_args(&own) {
            Ok(args) => jobs.push(Job { trail, args }),
            Err(wrong) => problems.extend(at_config(&trail, wrong)),
        }
    }
    let is_declared = |name: &String| jobs.iter().any(|job| job.trail.config.args.get(name).is_some());
    if let Some(name) = given.keys().find(|name| !is_declared(name)).filter(|_| problems.is_empty()) {
        return Err(Refusal::usage(format!("no trail declares the argument `{name}`")));
    }
    Ok((jobs, problems))
}

/// What is wrong with the target that a trail names itself. Flags and the project answer for theirs.
fn own_target(loaded: &Loaded, trail: &Trail) -> Vec<Problem> {
    let mut problems = Problems::new(&trail.source);
    if let Some(target) = trail.config.target.as_ref().filter(|target| loaded.target(&target.value).is_err()) {
        let known = loaded.targets.iter().map(|target| target.id.value.as_str());
        problems.unknown(target.span, "target", &target.value, known);
    }
    problems.into_vec()
}

fn at_config(trail: &Trail, wrong: Vec<String>) -> Vec<Problem> {
    let mut problems = Problems::new(&trail.source);
    wrong.into_iter().for_each(|message| problems.error(trail.config.span, message));
    problems.into_vec()
}

/// Everything that would go wrong for want of a tool, an argument or a model, for all trails at once.
pub fn before_start(wiring: &Wiring, jobs: &[Job], devices: &[DeviceSpec]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for device in devices {
        for job in jobs {
            problems.extend(own_target(&wiring.loaded, &job.trail));
            let target = wiring.target_of(&job.trail);
            let device = wiring.device_for(&job.trail, device);
            let registry = wiring.registry(&device, target);
            problems.extend(wiring.loaded.tool_problems(&registry));
            let lineage = lineage(&wiring.driver(&device).describe().classifiers);
            problems.extend(preflight(&job.trail, &registry, &lineage));
        }
    }
    problems
}

/// Ctrl-C ends the run in good order; a second one ends it at once.
fn cancel_on_interrupt(progress: Arc<Progress>) -> CancellationToken {
    let cancel = CancellationToken::new();
    let token = cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            progress.say("cancelling; press Ctrl-C again to stop at once");
            token.cancel();
        }
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(i32::from(Exit::Environment.code()));
        }
    });
    cancel
}

/// The recordings go into the run folder, and into the trails if that was asked for.
fn save_recordings(shared: &Shared, done: &[Done], folder: &RunFolder, loaded: &Loaded, into_trails: bool) {
    let is_single = shared.jobs.len() == 1;
    for recorded in runner::recordings(&shared.jobs, done) {
        let recorded = match recorded {
            Ok(recorded) => recorded,
            Err(error) => {
                print::warning(format!("the recording was not saved: {error}"));
                continue;
            }
        };
        let trail = &shared.jobs[recorded.job].trail;
        recorded.warnings.iter().for_each(|warning| print::warning(format!("{}: {warning}", trail.source.path)));
        let name = if is_single {
            "recording.trail.yaml".to_string()
        } else {
            format!("recordings/{}.trail.yaml", slug(&trail.id()))
        };
        let path = folder.path.join(name);
        let stored = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| runner::write_atomically(&path, &recorded.text));
        if let Err(error) = stored {
            print::warning(format!("cannot write {}: {error}", path.display()));
        }
        if !into_trails {
            continue;
        }
        if recorded.classifiers.is_empty() {
            shared.progress.say(&format!("{} is recorded already", trail.source.path));
            continue;
        }
        match runner::write_atomically(&loaded.root.join(&trail.source.path), &recorded.text) {
            Ok(()) => {
                shared.progress.say(&format!("recorded {} in {}", recorded.classifiers.join(", "), trail.source.path))
            }
            Err(error) => print::warning(format!("cannot write {}: {error}", trail.source.path)),
        }
    }
}

fn slug(id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    id.chars().map(safe).collect::<String>().trim_start_matches('.').to_string()
}

/// What failed and where to look, on one screen.
fn conclude(jobs: &[Job], done: &[Done], not_run: usize, folder: &RunFolder, html: &std::path::Path) {
    const SHOWN: usize = 10;
    let bad = print::WORSE;
    let failed: Vec<&Done> = done.iter().filter(|done| done.verdict.exit() != Exit::Passed).collect();
    for done in failed.iter().take(SHOWN) {
        let trail = &jobs[done.job].trail;
        print::data(format!("\n{bad}{}{bad:#} on {} ({})", trail.title(), done.device, trail.source.path));
        print::data(format!("  {}", done.message.replace('\n', "\n  ")));
    }
    if failed.len() > SHOWN {
        print::data(format!("\n… and {} more", failed.len() - SHOWN));
    }
    let count = |verdicts: &[Verdict]| done.iter().filter(|done| verdicts.contains(&done.verdict)).count();
    let counts = [
        (count(&[Verdict::Passed]), "passed"),
        (count(&[Verdict::Failed]), "failed"),
        (count(&[Verdict::Errored, Verdict::Bug]), "broken by the environment"),
        (count(&[Verdict::Misused]), "refused"),
        (count(&[Verdict::Skipped]), "skipped"),
        (count(&[Verdict::Cancelled]) + not_run, "cancelled"),
    ];
    let words: Vec<String> =
        counts.iter().filter(|(n, word)| *n > 0 || *word == "passed").map(|(n, word)| format!("{n} {word}")).collect();
    print::data(format!("\n{} in {}", words.join(", "), print::seconds(folder.micros())));
    print::data(format!("Report: {}", html.display()));
}
