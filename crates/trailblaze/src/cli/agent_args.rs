//! The options of commands that carry out steps with a model.

use clap::{Args, ValueEnum};
use trailblaze_core::engine::ask::{Allowance, Vision};
use trailblaze_core::yaml::Millis;

use super::Refusal;
use super::model::ModelArgs;
use crate::sessions::models::AgentOptions;

#[derive(Debug, Clone, Default, Args)]
pub struct AgentArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// When the model gets a picture of the screen, besides its text [default: auto]
    #[arg(long, value_enum, value_name = "WHEN")]
    vision: Option<VisionArg>,
    /// Limit what the run may spend on models: calls=100, tokens=1000000, dollars=2.50 or time=10m
    #[arg(long = "model-budget", value_name = "KEY=VALUE")]
    budget: Vec<String>,
    /// Offer the model these groups of tools instead of the default ones
    #[arg(long = "group", value_name = "GROUP")]
    groups: Vec<String>,
    /// Offer the model only tools whose names begin with this, such as myapp_*
    #[arg(long = "prefix", value_name = "PREFIX")]
    prefixes: Vec<String>,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
enum VisionArg {
    /// If the text is not enough: drawings, unnamed icons, steps about looks
    Auto,
    Always,
    Never,
}

impl AgentArgs {
    pub fn options(&self) -> Result<AgentOptions, Refusal> {
        Ok(AgentOptions {
            model: self.model.options(),
            vision: self.vision.map(|vision| match vision {
                VisionArg::Auto => Vision::Auto,
                VisionArg::Always => Vision::Always,
                VisionArg::Never => Vision::Never,
            }),
            budget: self.budget.iter().try_fold(Allowance::default(), |budget, limit| limited(budget, limit))?,
            groups: self.groups.clone(),
            prefixes: self.prefixes.clone(),
        })
    }
}

fn limited(mut budget: Allowance, limit: &str) -> Result<Allowance, Refusal> {
    let invalid = || {
        let message = format!("`--model-budget` does not take `{limit}`");
        let hint = Some("pass calls=N, tokens=N, dollars=N or time=10m".to_string());
        Refusal::Usage { message, hint }
    };
    let (key, value) = limit.split_once('=').ok_or_else(invalid)?;
    match key.trim() {
        "calls" => budget.calls = Some(value.trim().parse().map_err(|_| invalid())?),
        "tokens" => budget.tokens = Some(value.trim().parse().map_err(|_| invalid())?),
        "dollars" => {
            let dollars: f64 = value.trim().trim_start_matches('$').parse().map_err(|_| invalid())?;
            budget.dollars = Some(dollars).filter(|dollars| dollars.is_finite() && *dollars >= 0.0);
            if budget.dollars.is_none() {
                return Err(invalid());
            }
        }
        "time" => budget.time = Some(Millis::parse(value.trim()).ok_or_else(invalid)?.duration()),
        _ => return Err(invalid()),
    }
    Ok(budget)
}
