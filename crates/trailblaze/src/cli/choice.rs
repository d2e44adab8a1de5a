//! How trails are spread over devices, and what happens when they fail.

use std::time::Duration;

use trailblaze_core::yaml::Millis;
use trailblaze_protocol::ids::DeviceId;

use crate::project::devices::{DeviceSpec, Devices};
use crate::project::loaded::Loaded;
use crate::run::history::{self, History, Shard};
use crate::run::job::{Job, Rules};
use crate::run::queue::{self, Kind};

#[derive(Debug, Clone, Default, clap::Args)]
pub struct Choice {
    /// How many devices work at once; more of the same kind are opened until there are as many
    #[arg(long, value_name = "N", value_parser = parse_workers)]
    pub workers: Option<usize>,
    /// Retry a failed trail up to N times; a fatal error is never retried
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub retries: u32,
    /// Run each trail N times
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub repeat_each: u32,
    /// Start no further trail after the first failure
    #[arg(long)]
    pub fail_fast: bool,
    /// Only trails that failed when they last ran
    #[arg(long)]
    pub last_failed: bool,
    /// Run one part of several, such as 2/5, balanced by how long trails took before
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// How long one try of a trail may take, such as 90s
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// Say what would run, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Run again whatever a changed file affects, and swap tools that change into a run that goes on
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    pub watch: bool,
}

fn parse_workers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a whole number from 1".to_string()),
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    Millis::parse(text).map(Millis::duration).ok_or_else(|| "write it as 500ms, 90s or 2m".to_string())
}

impl Choice {
    pub fn rules(&self) -> Rules {
        Rules { retries: self.retries, fail_fast: self.fail_fast, timeout: self.timeout, repeat_each: self.repeat_each }
    }

    /// The devices by kind, each with the trails that it is to run.
    pub fn kinds(&self, loaded: &Loaded, devices: &Devices, jobs: &[Job], on_every_device: bool) -> Vec<Kind> {
        let mut kinds = match on_every_device {
            true => devices.all.iter().flat_map(|device| queue::kinds(vec![device.clone()])).collect(),
            false => queue::kinds(self.with_workers(loaded, devices.all.clone())),
        };
        for kind in &mut kinds {
            let takes = |job: &usize| devices.takes(&jobs[*job].trail, &kind.devices[0]);
            kind.jobs = (0..jobs.len()).filter(takes).collect();
        }
        let history = History::read(&loaded.root);
        for kind in &mut kinds {
            let platform = kind.devices[0].platform.name();
            let key = |job: &usize| history::key(&jobs[*job].trail.source.path, platform);
            if self.last_failed {
                kind.jobs.retain(|job| history.failed.contains(&key(job)));
            }
            if let Some(shard) = self.shard {
                let durations: Vec<u64> = kind.jobs.iter().map(|job| history.expected(&key(job))).collect();
                kind.jobs = shard.of(&durations).into_iter().map(|place| kind.jobs[place]).collect();
            }
        }
        kinds.retain(|kind| !kind.jobs.is_empty());
        kinds
    }

    /// Adds devices like those that were named, in turn, until there is one for each worker.
    fn with_workers(&self, loaded: &Loaded, mut devices: Vec<DeviceSpec>) -> Vec<DeviceSpec> {
        let named = devices.clone();
        for like in named.iter().cycle() {
            if devices.len() >= self.workers.unwrap_or(0) {
                break;
            }
            let is_taken = |id: &DeviceId| {
                let configured = loaded.project.devices.iter().any(|entry| entry.id.value == id.as_str());
                configured || devices.iter().any(|device| device.id == *id)
            };
            devices.push(like.another(is_taken));
        }
        devices
    }
}
