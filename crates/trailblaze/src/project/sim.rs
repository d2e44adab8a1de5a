//! What a command says about simulated devices.

use serde::{Deserialize, Serialize};

/// Changes to simulated devices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SimOptions {
    /// Seed for jitter, drift and faults; random if not given.
    pub seed: Option<u64>,
    /// Settings of the form `latency=20ms`.
    pub settings: Vec<String>,
}
