//! The model of a run or an interactive session, and what it may spend.

use std::sync::Arc;
use std::time::Duration;

use trailblaze_core::config::{Agent, AgentLimits, VisionWord};
use trailblaze_core::engine::ask::{Allowance, ModelAccess, ModelSettings, Spending, Spent, Vision};
use trailblaze_core::ids;
use trailblaze_core::model::{Model, ModelInfo};

/// What one step may spend unless the project says otherwise.
const STEP: Allowance =
    Allowance { calls: Some(30), tokens: Some(300_000), dollars: None, time: Some(Duration::from_secs(300)) };

/// Marks text of the app if requests must be the same in every run.
const FIXED_NONCE: &str = "replayed";

/// The model that carries out steps, if one is chosen.
pub struct Models {
    model: Option<Arc<dyn Model>>,
    settings: ModelSettings,
    spent: Arc<Spending>,
}

/// What the command line says about models.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AgentOptions {
    pub vision: Option<Vision>,
    /// What the run may spend; takes precedence over the project's limits.
    pub budget: Allowance,
}

impl Models {
    pub fn none() -> Models {
        Models::new(None, None, &AgentOptions::default())
    }

    pub fn new(model: Option<Arc<dyn Model>>, agent: Option<&Agent>, options: &AgentOptions) -> Models {
        let limits = |limits: Option<&AgentLimits>, otherwise: Allowance| match limits {
            None => otherwise,
            Some(limits) => Allowance {
                calls: limits.calls.or(otherwise.calls),
                tokens: limits.tokens.or(otherwise.tokens),
                dollars: limits.dollars.or(otherwise.dollars),
                time: limits.time.map(|time| time.duration()).or(otherwise.time),
            },
        };
        let run = limits(agent.and_then(|agent| agent.run.as_ref()), Allowance::default());
        let vision = match agent.map(|agent| agent.vision) {
            None | Some(VisionWord::Auto) => Vision::Auto,
            Some(VisionWord::Always) => Vision::Always,
            Some(VisionWord::Never) => Vision::Never,
        };
        let is_replayed = model.as_ref().is_some_and(|model| model.describe().is_replayed);
        let settings = ModelSettings {
            vision: options.vision.unwrap_or(vision),
            per_step: limits(agent.and_then(|agent| agent.step.as_ref()), STEP),
            per_run: Allowance {
                calls: options.budget.calls.or(run.calls),
                tokens: options.budget.tokens.or(run.tokens),
                dollars: options.budget.dollars.or(run.dollars),
                time: options.budget.time.or(run.time),
            },
            nonce: if is_replayed { FIXED_NONCE.to_string() } else { ids::nonce() },
        };
        Models { model, settings, spent: Arc::default() }
    }

    /// Whether steps without a recording can be carried out.
    pub fn is_chosen(&self) -> bool {
        self.model.is_some()
    }

    /// The model for one attempt; `None` if none is chosen.
    pub fn access(&self) -> Option<Arc<ModelAccess>> {
        let model = Arc::clone(self.model.as_ref()?);
        let (spent, settings) = (Arc::clone(&self.spent), self.settings.clone());
        Some(Arc::new(ModelAccess { model, spent, settings }))
    }

    /// What is known about the model, and what was spent on it.
    pub fn bill(&self) -> Option<(ModelInfo, Spent)> {
        Some((self.model.as_ref()?.describe().clone(), self.spent.so_far()))
    }
}
