//! From options to a plan: which trails run on which devices, with which tools and rules. Making a plan starts and prints
//! nothing.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use trailblaze_core::engine::strictness::Strictness;
use trailblaze_core::record::artifacts::PicturePolicy;
use trailblaze_core::trail::Trail;
use trailblaze_core::yaml::{Problem, Severity};

use crate::output::expected_pictures::ExpectedPictureFiles;
use crate::output::run_count::PlannedTrails;
use crate::output::run_folder::TracePolicy;
use crate::project::devices::{DeviceError, DeviceSpec, Devices};
use crate::project::loaded::{LoadError, Loaded};
use crate::project::models::ModelChoiceError;
use crate::project::select::Filter;
use crate::project::sim::SimOptions;
use crate::run::history::{self, History, Shard};
use crate::run::job::{Healing, Job, Replay, Rules};
use crate::run::preflight::{self, Jobs, Rule};
use crate::run::queue::{self, DeviceKind};
use crate::run::record::save::RecordLevel;
use crate::servers::cassettes::{CassetteMode, Cassettes};
use crate::servers::tool_servers::ServerMode;
use crate::sessions::devices::SettingError;
use crate::sessions::host::SessionHost;
use crate::sessions::models::AgentOptions;
use crate::sessions::wiring::{self, SecretError, UnknownTarget, Wiring};

/// What to run, and how.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Trails, folders and patterns; if empty, all trails of the project.
    pub paths: Vec<PathBuf>,
    /// Run only these trails, by their paths in the project.
    pub only: Option<Vec<String>>,
    pub filter: Filter,
    /// Only the first steps of each trail, up to this number.
    pub until: Option<usize>,
    pub devices: DeviceChoice,
    /// Show browser windows.
    pub is_headed: bool,
    pub target: Option<String>,
    /// What to record into passing trails.
    pub record: Option<RecordLevel>,
    pub replay: Replay,
    /// How steps without a recording are carried out.
    pub agent: AgentOptions,
    pub healing: Healing,
    pub cassette: Option<CassetteMode>,
    /// The severity of a tool that changed since recording.
    pub changes: Severity,
    /// Fail calls whose tools answer `success: false`, even if the project does not.
    pub strict_results: bool,
    /// Fail calls whose elements have other names than when the trail was recorded, even if the project does not.
    pub strict_names: bool,
    /// Say at the end which stricter rules would have failed the run.
    pub notes_leniency: bool,
    pub pictures: PicturePolicy,
    pub traces: TracePolicy,
    /// Write the expected pictures that are missing or differ.
    pub update_snapshots: bool,
    pub memory: Vec<(String, String)>,
    pub args: Map<String, Value>,
    /// The names of environment variables that contain secrets.
    pub secrets: Vec<String>,
    pub rules: Rules,
    /// How many devices to use in parallel; more devices of the same kind are opened as needed.
    pub workers: Option<usize>,
    /// Only trails that failed when they last ran.
    pub last_failed: bool,
    pub shard: Option<Shard>,
    pub sim: SimOptions,
    /// The folder in which run folders are created.
    pub logs: PathBuf,
    /// The command line, for the record.
    pub command: Vec<String>,
}

/// Which devices run the trails.
#[derive(Debug, Clone)]
pub enum DeviceChoice {
    /// These devices; if empty, those of the project, or those that each trail requires. Devices of one kind share the trails.
    Named(Vec<String>),
    /// Every device of the project; every trail runs on each of them.
    All,
}

/// A run, ready to be checked and started. Contains everything that can be resolved without starting anything.
pub struct RunPlan {
    pub options: RunOptions,
    pub wiring: Wiring,
    pub jobs: Vec<Job>,
    /// The readable parts of trails that cannot run.
    pub broken: Vec<Trail>,
    /// The problems in the files.
    pub problems: Vec<Problem>,
    pub devices: Devices,
    pub kinds: Vec<DeviceKind>,
    pub cassettes: Option<Cassettes>,
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Secret(#[from] SecretError),
    #[error(transparent)]
    Target(#[from] UnknownTarget),
    #[error(transparent)]
    Model(#[from] ModelChoiceError),
    #[error("--sim: {0}")]
    Sim(#[from] SettingError),
    #[error("no trail declares the argument `{name}`")]
    UndeclaredArgument { name: String },
    #[error("no trails match the filters")]
    NothingToRun,
}

impl RunPlan {
    pub fn new(loaded: &Arc<Loaded>, host: &SessionHost, mut options: RunOptions) -> Result<RunPlan, PlanError> {
        options.strict_names |= loaded.project.strict_names;
        let mut devices = match &options.devices {
            DeviceChoice::All => Devices::named(loaded.all_devices()?),
            DeviceChoice::Named(named) => loaded.devices_of_trails(named)?,
        };
        let mut wiring = Wiring::new(loaded, host, options.target.clone());
        if options.target.is_some() {
            wiring.check_target()?;
        }
        wiring.use_secrets(wiring::secrets(loaded, &options.secrets)?);
        wiring.pictures = options.pictures;
        wiring.expected_pictures = ExpectedPictureFiles::new(&loaded.root, options.update_snapshots);
        wiring.is_recording = options.record.is_some();
        wiring.strictness = Arc::new(Strictness::new(loaded.project.strict_results || options.strict_results));
        wiring.set_up_devices(options.is_headed, &options.sim)?;
        wiring.use_model(&options.agent)?;
        let Jobs { mut jobs, broken, mut problems, undeclared } =
            preflight::read(loaded, &options.paths, &options.filter, &options.args)?;
        if let Some(name) = undeclared {
            return Err(PlanError::UndeclaredArgument { name });
        }
        let cassettes = match options.cassette.map(|wanted| Cassettes::open(wanted, loaded)) {
            None => None,
            Some(Ok(cassettes)) => Some(cassettes),
            Some(Err(wrong)) => {
                problems.extend(wrong);
                None
            }
        };
        for job in &mut jobs {
            job.trail.keep_until(options.until.unwrap_or(usize::MAX));
        }
        jobs.retain(|job| options.only.as_ref().is_none_or(|only| only.contains(&job.trail.source.path)));
        devices.take_those_of(loaded, jobs.iter().map(|job| &job.trail).chain(&broken))?;
        let (kinds, unfit) = kinds(&options, loaded, &devices, &jobs);
        problems.extend(unfit);
        // A shard may be empty if there are more shards than trails.
        if problems.is_empty() && kinds.is_empty() && options.shard.is_none() {
            return Err(PlanError::NothingToRun);
        }
        Ok(RunPlan { options, wiring, jobs, broken, problems, devices, kinds, cassettes })
    }

    /// Whether the files have errors, in which case no server needs to be started.
    pub fn has_errors(&self) -> bool {
        preflight::has_errors(&self.problems)
    }

    /// How tool servers are used. A run that plays effects needs none.
    pub fn mode(&self, otherwise: ServerMode) -> ServerMode {
        if self.options.replay == Replay::Effects { ServerMode::Absent } else { otherwise }
    }

    pub fn rule(&self) -> Rule {
        Rule {
            changes: self.options.changes,
            replay: self.options.replay,
            no_model: self.wiring.models.absence().map(str::to_string),
            starts_all: false,
        }
    }

    /// The minimum number of attempts, if nothing stops the run.
    pub fn n_planned(&self) -> usize {
        let n_jobs: usize = self.kinds.iter().map(|kind| kind.jobs.len()).sum();
        n_jobs * self.options.rules.repeat_each.max(1) as usize
    }

    /// How many trails run, and how long that took before.
    pub fn planned_trails(&self, history: &History) -> PlannedTrails {
        let key = |kind: &DeviceKind, job: &usize| {
            history::key_of(&self.jobs[*job].trail, kind.devices[0].first().platform.name())
        };
        let keys: Vec<String> = self.kinds.iter().flat_map(|kind| kind.jobs.iter().map(|job| key(kind, job))).collect();
        let n_known = keys.iter().filter(|key| history.durations.contains_key(*key)).count();
        let millis: u64 = keys.iter().map(|key| history.expected(key)).sum();
        let repeats = u64::from(self.options.rules.repeat_each.max(1));
        let n_sets: usize = self.kinds.iter().map(|kind| kind.devices.len()).sum();
        PlannedTrails {
            count: self.n_planned(),
            took: (n_known * 2 > keys.len()).then(|| Duration::from_millis(millis.saturating_mul(repeats))),
            n_at_once: n_sets.min(self.options.workers.unwrap_or(n_sets)),
        }
    }

    /// Finds all problems, without starting a device or a server.
    pub async fn check_offline(&mut self) -> Vec<Problem> {
        let cassettes = self.cassettes.take();
        self.wiring.servers =
            self.wiring.tool_servers(self.mode(ServerMode::Remember)).with_cassettes(cassettes).into();
        let judgement =
            preflight::before_start(&self.wiring, (&self.jobs, &self.broken), &self.devices, &self.rule()).await;
        preflight::in_order(self.problems.iter().cloned().chain(judgement.problems).collect())
    }
}

/// The devices by kind, each kind with its trails; and the problems of trails whose roles cannot be filled.
fn kinds(options: &RunOptions, loaded: &Loaded, devices: &Devices, jobs: &[Job]) -> (Vec<DeviceKind>, Vec<Problem>) {
    let mut kinds: Vec<DeviceKind> = match options.devices {
        DeviceChoice::All => {
            let own_kinds = |device: &DeviceSpec| queue::kinds(with_slots(loaded, vec![device.clone()]));
            devices.all.iter().flat_map(own_kinds).collect()
        }
        DeviceChoice::Named(_) => {
            queue::kinds(with_workers(options.workers, loaded, with_slots(loaded, devices.all.clone())))
        }
    };
    for kind in &mut kinds {
        let takes = |job: &usize| devices.takes(&jobs[*job].trail, kind.devices[0].first());
        kind.jobs = (0..jobs.len()).filter(takes).collect();
        // A session for each trail is enough.
        if loaded.providers.slots(kind.devices[0].first()) > 1 {
            let n_tasks = kind.jobs.len().saturating_mul(options.rules.repeat_each.max(1) as usize);
            kind.devices.truncate(n_tasks.max(1));
        }
    }
    let mut problems = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        match devices.in_roles(loaded, &job.trail) {
            Ok(None) => {}
            Ok(Some(set)) => match kinds.iter_mut().find(|kind| kind.devices == [set.clone()]) {
                Some(kind) => kind.jobs.push(index),
                None => kinds.push(DeviceKind { devices: vec![set], jobs: vec![index] }),
            },
            Err(unfit) => problems.extend(unfit),
        }
    }
    let history = History::read(&loaded.root);
    for kind in &mut kinds {
        let platform = kind.devices[0].first().platform.name();
        let key = |job: &usize| history::key_of(&jobs[*job].trail, platform);
        if options.last_failed {
            kind.jobs.retain(|job| history.failed.contains(&key(job)));
        }
        if let Some(shard) = options.shard {
            let durations: Vec<u64> = kind.jobs.iter().map(|job| history.expected(&key(job))).collect();
            kind.jobs = shard.of(&durations).into_iter().map(|place| kind.jobs[place]).collect();
        }
        // The longest first, so that no device is left with one at the end.
        if kind.devices.len() > 1 {
            kind.jobs.sort_by_cached_key(|job| Reverse(history.expected(&key(job))));
        }
    }
    kinds.retain(|kind| !kind.jobs.is_empty());
    (kinds, problems)
}

/// Adds the further sessions that devices may have, each as a device of its own.
fn with_slots(loaded: &Loaded, devices: Vec<DeviceSpec>) -> Vec<DeviceSpec> {
    let mut taken: HashSet<String> = loaded.project.devices.iter().map(|entry| entry.id.value.clone()).collect();
    taken.extend(devices.iter().map(|device| device.id.to_string()));
    let mut all = Vec::new();
    for device in devices {
        let n_more = loaded.providers.slots(&device).saturating_sub(1);
        all.push(device.clone());
        for _ in 0..n_more {
            let another = loaded.providers.another(&device, |id| taken.contains(id));
            taken.insert(another.id.to_string());
            all.push(another);
        }
    }
    all
}

/// Adds devices like the given ones, in turn, until there is one for each worker. One that exists only once has no second like it.
fn with_workers(workers: Option<usize>, loaded: &Loaded, mut devices: Vec<DeviceSpec>) -> Vec<DeviceSpec> {
    let named: Vec<DeviceSpec> = devices.iter().filter(|device| device.machine_id.is_none()).cloned().collect();
    for like in named.iter().cycle() {
        if devices.len() >= workers.unwrap_or(0) {
            break;
        }
        let is_taken = |id: &str| {
            let configured = loaded.project.devices.iter().any(|entry| entry.id.value == id);
            configured || devices.iter().any(|device| device.id.as_str() == id)
        };
        devices.push(loaded.providers.another(like, is_taken));
    }
    devices
}
