//! The flags for simulated devices.

use clap::Args;

use crate::project::sim::SimOptions;

#[derive(Args, Clone, Default)]
pub struct SimArgs {
    /// Seed for jitter, drift and faults of simulated devices; if random, it is printed
    #[arg(long)]
    pub seed: Option<u64>,
    /// Configure simulated devices: latency=20ms, jitter=5ms, drift=3, slowScreen=1s, refuse=0.05, lostAfter=12, lostAt=0.01
    #[arg(long = "sim", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
}

impl From<SimArgs> for SimOptions {
    fn from(args: SimArgs) -> SimOptions {
        SimOptions { seed: args.seed, settings: args.settings }
    }
}
