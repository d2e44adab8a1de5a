//! Options that select trails, spread them over devices, and decide what happens when they fail.

use std::time::Duration;

use trailblaze_core::yaml::Millis;

use crate::project::select::Filter;
use crate::run::history::Shard;
use crate::run::job::Rules;

#[derive(Debug, Clone, Default, clap::Args)]
pub struct TrailChoice {
    /// Use up to N devices in parallel; opens more devices of the same kind as needed
    #[arg(long, value_name = "N", value_parser = parse_workers)]
    pub workers: Option<usize>,
    /// Retry a failed trail up to N times; a fatal error is never retried
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub retries: u32,
    /// Run each trail N times
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub repeat_each: u32,
    /// Start no more trails after the first failure
    #[arg(long)]
    pub fail_fast: bool,
    /// Run only trails that failed when they last ran
    #[arg(long)]
    pub last_failed: bool,
    /// Run one shard of several, such as 2/5, balanced by how long trails took before
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Limit each attempt at a trail to this time, such as 90s
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// Print what would run, without running it
    #[arg(long)]
    pub dry_run: bool,
    /// Rerun the trails that a changed file affects, and hot-swap changed tools during a run
    #[arg(long, conflicts_with_all = ["dry_run", "json"])]
    pub watch: bool,
}

fn parse_workers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a whole number, 1 or more".to_string()),
    }
}

fn parse_time(text: &str) -> Result<Duration, String> {
    Millis::parse(text).map(Millis::duration).ok_or_else(|| "expected a time such as 500ms, 90s or 2m".to_string())
}

impl TrailChoice {
    pub fn rules(&self) -> Rules {
        Rules { retries: self.retries, fail_fast: self.fail_fast, timeout: self.timeout, repeat_each: self.repeat_each }
    }
}

#[derive(Debug, Clone, Default, clap::Args)]
pub struct FilterArgs {
    /// Run only trails with one of these tags; !tag excludes trails
    #[arg(long, value_delimiter = ',', value_name = "TAG")]
    tags: Vec<String>,
    /// Run only trails whose id, title or path contains this, ignoring case
    #[arg(long, value_name = "WORDS")]
    pub grep: Option<String>,
}

impl From<FilterArgs> for Filter {
    fn from(FilterArgs { tags, grep }: FilterArgs) -> Filter {
        Filter { tags, grep }
    }
}
