//! `trailblaze model`, and the options that choose a model.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::Budget;
use trailblaze_core::model::{
    ChatMessage, Choice, Model, ModelError, ModelErrorKind, ModelReply, ModelRequest, OfferedTool, Price,
};
use trailblaze_models::Settings;
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal};
use crate::output::print;
use crate::project::loaded::Loaded;
use crate::project::models::{
    self, KnownProvider, ModelCassetteMode, ModelChoiceError, ModelChoiceReason, ModelOptions, Models,
};

/// Options that choose the language model.
#[derive(Debug, Clone, Default, Args)]
pub struct ModelArgs {
    /// Carry out steps without recordings with this language model, written provider/model; none for no model
    /// [default: TRAILBLAZE_DEFAULT_MODEL, else llm.defaults.model of trailblaze.yaml]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Record what the model replies, in cassettes/models/ in the project, or replay it
    #[arg(long, value_enum, value_name = "USE")]
    pub model_cassette: Option<ModelCassetteUse>,
}

/// Whether to record model cassettes or replay them.
#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelCassetteUse {
    /// Ask the model, and record its replies
    Record,
    /// Ask no model: cassettes reply instead, to exactly the same requests
    Replay,
}

impl ModelArgs {
    pub fn options(&self) -> ModelOptions {
        let cassette = self.model_cassette.map(|wanted| match wanted {
            ModelCassetteUse::Record => ModelCassetteMode::Record,
            ModelCassetteUse::Replay => ModelCassetteMode::Replay,
        });
        ModelOptions { model: self.model.clone(), cassette }
    }
}

/// List and test language models
#[derive(Args)]
pub struct ModelCommand {
    #[command(subcommand)]
    verb: ModelVerb,
}

#[derive(Subcommand)]
enum ModelVerb {
    /// List the providers and models that `--model` accepts, whether their keys are set, and which model is the default
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Send one small request to a model: is it reached, does it call a tool, what does that cost?
    Test {
        /// The model, written provider/model [default: the one that other commands would use]
        model: Option<String>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
}

pub async fn model(context: &Context, command: ModelCommand) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    match command.verb {
        ModelVerb::List { json } => list(&loaded, json),
        ModelVerb::Test { model, json } => test(&loaded, model, json).await,
    }
}

fn list(loaded: &Loaded, as_json: bool) -> Result<Exit, Refusal> {
    let providers = models::providers(loaded.project.llm.as_ref());
    let default = models::choice(loaded, None);
    if as_json {
        let from = |reason: &ModelChoiceReason| match reason {
            ModelChoiceReason::Flag => "flag",
            ModelChoiceReason::Variable => "environment",
            ModelChoiceReason::Config(_) => "config",
        };
        print::json(&json!({
            "default": default.as_ref().map(|(model, reason)| json!({"model": model, "from": from(reason)})),
            "providers": providers.iter().map(|provider| provider_json(loaded, provider)).collect::<Vec<_>>(),
        }));
        return Ok(Exit::Passed);
    }
    for provider in &providers {
        print::data(format!("{:<16} {:<48} {}", provider.id, place(provider), key(loaded, provider)));
        for settings in models_of(provider) {
            let is_default = default.as_ref().is_some_and(|(model, _)| *model == settings.id());
            let mark = if is_default { "*" } else { " " };
            print::data(format!("{mark} {:<46} {}", settings.id(), about(&settings)));
        }
    }
    match &default {
        Some((model, reason)) => print::say(format!("\nThe default is {model}, from {reason}.")),
        None => print::say(format!(
            "\nThere is no default: use --model, {}, or llm.defaults.model in trailblaze.yaml.",
            models::VARIABLE
        )),
    }
    print::say("Models that are not listed can be used too: provider/model. Their price is unknown.");
    Ok(Exit::Passed)
}

fn models_of<'p>(provider: &'p KnownProvider<'_>) -> impl Iterator<Item = Settings> + 'p {
    let entries = provider.config.into_iter().flat_map(|config| &config.models);
    entries.map(|entry| Settings::listed(&provider.id, provider.kind, entry))
}

/// Where a provider is. Without the query, which may contain a key.
fn place(provider: &KnownProvider<'_>) -> String {
    match provider.config.and_then(|config| config.file.as_ref()) {
        Some(file) => file.value.clone(),
        None => provider.base_url.split('?').next().unwrap_or_default().to_string(),
    }
}

fn is_key_set(loaded: &Loaded, provider: &KnownProvider<'_>) -> bool {
    let variable = provider.variable.as_ref();
    variable.is_some_and(|name| loaded.environment.text(name).is_some_and(|key| !key.trim().is_empty()))
}

fn key(loaded: &Loaded, provider: &KnownProvider<'_>) -> String {
    match &provider.variable {
        Some(name) if is_key_set(loaded, provider) => format!("{name} is set"),
        Some(name) if provider.needs_key => format!("{name} is not set"),
        Some(name) => format!("{name} is not set, and not needed"),
        None => "needs no key".to_string(),
    }
}

fn about(settings: &Settings) -> String {
    let price = match &settings.price {
        Some(price) => format!("${} in, ${} out per million tokens", price.input, price.output),
        None => "price unknown".to_string(),
    };
    let context = settings.context_length.map(|length| format!("; {length} tokens")).unwrap_or_default();
    let vision = if settings.has_vision { "" } else { "; no vision" };
    format!("{price}{context}{vision}")
}

fn provider_json(loaded: &Loaded, provider: &KnownProvider<'_>) -> Value {
    let models: Vec<Value> = models_of(provider)
        .map(|settings| {
            json!({
                "id": settings.id(),
                "vision": settings.has_vision,
                "contextLength": settings.context_length,
                "maxOutputTokens": settings.max_output_tokens,
                "price": settings.price.as_ref().map(price_json),
            })
        })
        .collect();
    json!({
        "id": provider.id,
        "type": provider.kind.name(),
        "at": place(provider),
        "isBuiltIn": provider.config.is_none(),
        "key": {
            "variable": provider.variable,
            "isRequired": provider.needs_key,
            "isSet": is_key_set(loaded, provider),
        },
        "models": models,
    })
}

fn price_json(price: &Price) -> Value {
    json!({
        "inputPerMillion": price.input,
        "outputPerMillion": price.output,
        "cachedInputPerMillion": price.cached_input,
        "cacheWritePerMillion": price.cache_write,
    })
}

/// How long a test may take. A local model may have to be loaded first.
const TEST_TIME: Duration = Duration::from_secs(120);

async fn test(loaded: &Loaded, name: Option<String>, as_json: bool) -> Result<Exit, Refusal> {
    let models = Models::resolve(loaded, &ModelOptions { model: name, cassette: None })?;
    let Some(model) = models.model() else {
        return Err(Refusal::Usage {
            message: "there is no model to test".to_string(),
            hint: Some("name one: trailblaze model test provider/model".to_string()),
        });
    };
    let started = Instant::now();
    let budget = Budget::new(started + TEST_TIME, CancellationToken::new());
    let reply = model.complete(&budget, &tiny_request()).await?;
    let time = started.elapsed();
    let has_called = reply.calls.iter().any(|call| call.name == TOOL);
    if as_json {
        print::json(&result_json(model.as_ref(), &reply, time, has_called));
    } else {
        print::data(result(model.as_ref(), &reply, time, has_called));
        if !has_called && !reply.text.trim().is_empty() {
            print::say(format!("It replied: {}", print::one_line(&reply.text)));
        }
    }
    Ok(if has_called { Exit::Passed } else { Exit::Failed })
}

const TOOL: &str = "say_hello";

fn tiny_request() -> ModelRequest {
    let parameters = json!({
        "type": "object",
        "properties": {"to": {"type": "string", "description": "Whom to greet."}},
        "required": ["to"],
    });
    let tool = OfferedTool { name: TOOL.to_string(), description: "Greets someone.".to_string(), parameters };
    ModelRequest {
        tools: [tool].into(),
        choice: Choice::Required,
        max_output_tokens: Some(1_024),
        ..ModelRequest::new(
            "You test whether tools can be called.",
            vec![ChatMessage::user("Call say_hello once, to Ada.")],
        )
    }
}

fn result(model: &dyn Model, reply: &ModelReply, time: Duration, has_called: bool) -> String {
    let info = model.describe();
    let cost = match &info.price {
        Some(price) => format!("${:.6}", reply.usage.cost(price)),
        None => "cost unknown".to_string(),
    };
    let called = if has_called { "called the tool" } else { "did not call the tool" };
    format!(
        "{} {called} in {:.1} s; {} tokens in, {} out; {cost}",
        info.id,
        time.as_secs_f64(),
        reply.usage.input,
        reply.usage.output
    )
}

fn result_json(model: &dyn Model, reply: &ModelReply, time: Duration, has_called: bool) -> Value {
    let info = model.describe();
    json!({
        "model": info.id,
        "calledTheTool": has_called,
        "millis": u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        "usage": reply.usage,
        "cost": info.price.as_ref().map(|price| reply.usage.cost(price)),
    })
}

impl From<ModelChoiceError> for Refusal {
    fn from(error: ModelChoiceError) -> Refusal {
        match error {
            ModelChoiceError::Replies { problems, .. } => {
                print::problems(&problems);
                Refusal::Problems { n_errors: problems.len() }
            }
            ModelChoiceError::Model(error) => error.into(),
            other => Refusal::Usage { message: other.to_string(), hint: other.hint() },
        }
    }
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Refusal {
        match error.kind {
            ModelErrorKind::Setup | ModelErrorKind::Unscripted => {
                Refusal::Usage { message: error.message, hint: error.hint }
            }
            _ => Refusal::Model(error),
        }
    }
}
