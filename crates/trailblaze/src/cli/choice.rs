//! How trails are spread over devices, and what happens when they fail.

use std::time::Duration;

use trailblaze_core::yaml::Millis;

use crate::project::select::Filter;
use crate::run::history::Shard;
use crate::run::job::Rules;

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
}

#[derive(Debug, Clone, Default, clap::Args)]
pub struct FilterArgs {
    /// Only trails with one of these tags; !tag leaves trails out
    #[arg(long, value_delimiter = ',', value_name = "TAG")]
    tags: Vec<String>,
    /// Only trails whose id, title or path contains this, in any case
    #[arg(long, value_name = "WORDS")]
    grep: Option<String>,
}

impl From<FilterArgs> for Filter {
    fn from(FilterArgs { tags, grep }: FilterArgs) -> Filter {
        Filter { tags, grep }
    }
}
