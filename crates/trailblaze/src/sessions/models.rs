//! The model of a run or an interactive session, and what it may spend.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use trailblaze_core::config::{Agent, AgentLimits, VisionWord};
use trailblaze_core::engine::ask::{Allowance, ModelAccess, ModelSettings, Spending, Vision};
use trailblaze_core::ids;
use trailblaze_core::model::Model;

use crate::project::loaded::Loaded;
use crate::project::models::{self, ModelChoiceError, ModelOptions, Models, TrailModel};

/// What one step may spend unless the project says otherwise.
const STEP: Allowance =
    Allowance { calls: Some(30), tokens: Some(300_000), dollars: None, time: Some(Duration::from_secs(300)) };

/// Marks text of the app if requests must be the same in every run.
const FIXED_NONCE: &str = "replayed";

/// What the command line says about models.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentOptions {
    pub model: ModelOptions,
    pub vision: Option<Vision>,
    /// What the run may spend; takes precedence over the project's limits.
    pub budget: Allowance,
    /// Which tools models are offered.
    pub groups: Vec<String>,
    pub prefixes: Vec<String>,
}

/// The model that carries out steps, if one is chosen and can be used.
pub struct SessionModels {
    models: Option<Models>,
    /// Why there is none, and what the user can do about it.
    absence: String,
    settings: ModelSettings,
    spent: Arc<Spending>,
}

/// The model of one attempt.
#[derive(Default)]
pub struct AttemptModel {
    pub access: Option<Arc<ModelAccess>>,
    /// Its cassette, to be saved afterwards.
    pub cassette: Option<TrailModel>,
}

impl SessionModels {
    /// No model, for sessions that do not carry out steps.
    pub fn none() -> SessionModels {
        SessionModels {
            models: None,
            absence: "no model is chosen".to_string(),
            settings: settings(None, &AgentOptions::default()),
            spent: Arc::default(),
        }
    }

    /// The chosen model. One that the command line names must be usable; one that the environment or the project names is only
    /// missed by trails that need it.
    pub fn resolve(loaded: &Loaded, options: &AgentOptions) -> Result<SessionModels, ModelChoiceError> {
        let is_named = options.model.model.is_some() || options.model.cassette.is_some();
        let (models, absence) = match Models::resolve(loaded, &options.model) {
            Ok(models) if models.has_any() => (Some(models), String::new()),
            Ok(_) => (None, "choose a model with --model".to_string()),
            Err(error) if is_named => return Err(error),
            Err(error) => {
                let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
                (None, format!("{error}{hint}"))
            }
        };
        let settings = settings(loaded.project.agent.as_ref(), options);
        let limits_dollars = settings.per_run.dollars.or(settings.per_step.dollars).is_some();
        let model = models.as_ref().filter(|_| limits_dollars).and_then(Models::model);
        if let Some(info) = model.as_ref().map(|model| model.describe()).filter(|info| info.price.is_none()) {
            return Err(ModelChoiceError::NoPrice { model: info.id.clone() });
        }
        Ok(SessionModels { models, absence, settings, spent: Arc::default() })
    }

    /// Why steps without a recording cannot be carried out; `None` if they can.
    pub fn absence(&self) -> Option<&str> {
        self.models.is_none().then_some(&self.absence)
    }

    /// The model for one trail on one kind of device, such as `android-phone`.
    pub fn for_trail(&self, trail: &str, kind: &str) -> Result<AttemptModel, ModelChoiceError> {
        let Some(models) = &self.models else { return Ok(AttemptModel::default()) };
        let Some(own) = models.for_trail(trail, kind)? else { return Ok(AttemptModel::default()) };
        let access = Some(self.access(Arc::clone(&own.model)));
        Ok(AttemptModel { access, cassette: Some(own) })
    }

    /// The model for a session without a trail.
    pub fn for_session(&self) -> Option<Arc<ModelAccess>> {
        self.models.as_ref().and_then(models::Models::model).map(|model| self.access(model))
    }

    fn access(&self, model: Arc<dyn Model>) -> Arc<ModelAccess> {
        let mut settings = self.settings.clone();
        if model.describe().is_replayed {
            settings.nonce = FIXED_NONCE.to_string();
        }
        Arc::new(ModelAccess { model, spent: Arc::clone(&self.spent), settings })
    }
}

fn settings(agent: Option<&Agent>, options: &AgentOptions) -> ModelSettings {
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
    ModelSettings {
        vision: options.vision.unwrap_or(vision),
        per_step: limits(agent.and_then(|agent| agent.step.as_ref()), STEP),
        per_run: Allowance {
            calls: options.budget.calls.or(run.calls),
            tokens: options.budget.tokens.or(run.tokens),
            dollars: options.budget.dollars.or(run.dollars),
            time: options.budget.time.or(run.time),
        },
        nonce: ids::nonce(),
    }
}
