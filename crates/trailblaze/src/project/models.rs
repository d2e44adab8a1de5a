//! Which language model a command uses: the flag decides, then the environment, then `trailblaze.yaml`.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use trailblaze_core::config::{Llm, Provider, ProviderKind};
use trailblaze_core::driver::Budget;
use trailblaze_core::model::{Model, ModelError, ModelErrorKind, ModelInfo, ModelReply, ModelRequest, Price};
use trailblaze_core::template::tokens;
use trailblaze_core::values::secret::Secrets;
use trailblaze_core::yaml::{Problem, ReadBackError, nearest};
use trailblaze_models::canned::{CannedModel, CannedReplies, Recorder};
use trailblaze_models::{Endpoint, Secret, Settings, open};

use crate::files::{slug, write_in_project};
use crate::project::environment::Environment;
use crate::project::loaded::{Loaded, PROJECT_FILE};
use crate::project::source::read_source;

/// The variable that chooses a model if the command line does not.
pub const VARIABLE: &str = "TRAILBLAZE_DEFAULT_MODEL";
/// Instead of a model: use none.
pub const NONE: &str = "none";
/// The folder of model cassettes, in the project.
pub const CASSETTES: &str = "cassettes/models";

/// What the command line says about models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelOptions {
    /// `provider/model`, or `none`.
    pub model: Option<String>,
    pub cassette: Option<ModelCassetteMode>,
}

/// Whether replies are recorded or replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ModelCassetteMode {
    Record,
    /// No model is asked.
    Replay,
}

/// What chose a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoiceReason {
    Flag,
    Variable,
    /// With its place, `file:line:column`.
    Config(String),
}

impl std::fmt::Display for ModelChoiceReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ModelChoiceReason::Flag => f.write_str("the command line"),
            ModelChoiceReason::Variable => f.write_str(VARIABLE),
            ModelChoiceReason::Config(place) => write!(f, "`llm.defaults.model`, {place}"),
        }
    }
}

/// The name of the chosen model, and what chose it. `None` if no model is chosen, or `none` is.
pub fn choice(loaded: &Loaded, flag: Option<&str>) -> Option<(String, ModelChoiceReason)> {
    let variable = || loaded.environment.text(VARIABLE).map(str::trim).filter(|name| !name.is_empty());
    let default = || loaded.project.llm.as_ref()?.defaults.as_ref()?.model.as_ref();
    let chosen = match (flag, variable(), default()) {
        (Some(name), _, _) => (name.to_string(), ModelChoiceReason::Flag),
        (None, Some(name), _) => (name.to_string(), ModelChoiceReason::Variable),
        (None, None, Some(model)) => {
            let place = format!("{PROJECT_FILE}:{}:{}", model.span.line, model.span.column);
            (model.value.clone(), ModelChoiceReason::Config(place))
        }
        (None, None, None) => return None,
    };
    Some(chosen).filter(|(name, _)| name != NONE)
}

/// Why the chosen model cannot be used. Nothing was sent yet.
#[derive(Debug, thiserror::Error)]
pub enum ModelChoiceError {
    #[error("expected a model as provider/model, got `{name}` from {reason}")]
    NoProvider { name: String, reason: ModelChoiceReason, near: Option<String> },
    #[error("unknown provider `{provider}` of the model `{name}` from {reason}")]
    UnknownProvider { provider: String, name: String, reason: ModelChoiceReason, near: Option<String> },
    #[error("`{provider}` needs a key in the environment variable `{variable}`")]
    NoKey { provider: String, variable: String },
    #[error("`{provider}` needs a key, and its `auth` names no `env_var`")]
    NoKeyVariable { provider: String },
    #[error("the header `{header}` of `{provider}` needs the environment variable `{variable}`")]
    NoHeader { provider: String, header: String, variable: String },
    #[error("`{file}` is not a file of replies")]
    Replies { file: String, problems: Vec<Problem> },
    #[error("{0}")]
    Model(ModelError),
    #[error("the price of `{model}` is unknown, so dollars cannot be limited")]
    NoPrice { model: String },
}

impl ModelChoiceError {
    /// Whether only the environment has to change, not the project.
    pub fn is_environment(&self) -> bool {
        matches!(self, ModelChoiceError::NoKey { .. } | ModelChoiceError::NoHeader { .. })
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            ModelChoiceError::NoProvider { near, .. } | ModelChoiceError::UnknownProvider { near, .. } => {
                Some(match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`trailblaze model list` lists providers and models".to_string(),
                })
            }
            ModelChoiceError::NoKey { variable, .. } => {
                Some(format!("set it for this command: {variable}=… trailblaze …, or use --model none"))
            }
            ModelChoiceError::Model(error) => error.hint.clone(),
            ModelChoiceError::NoPrice { .. } => {
                Some("set `cost:` of the model in `llm:`, or limit calls, tokens or time".to_string())
            }
            _ => None,
        }
    }
}

/// A provider that can be used: built in, or of the project.
pub struct KnownProvider<'l> {
    pub id: String,
    pub kind: ProviderKind,
    pub base_url: String,
    /// The variable of its key.
    pub variable: Option<String>,
    pub needs_key: bool,
    pub config: Option<&'l Provider>,
}

/// Their default URL, and the variable of their key.
const BUILT_IN: [(ProviderKind, &str, &str); 5] = [
    (ProviderKind::OpenAi, "https://api.openai.com/v1", "OPENAI_API_KEY"),
    (ProviderKind::Anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    (ProviderKind::Google, "https://generativelanguage.googleapis.com", "GOOGLE_API_KEY"),
    (ProviderKind::OpenRouter, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    (ProviderKind::Ollama, "http://localhost:11434", ""),
];

/// All providers: those of the project, then the built-in ones that it does not mention.
pub fn providers(llm: Option<&Llm>) -> Vec<KnownProvider<'_>> {
    let of_project = llm.into_iter().flat_map(|llm| &llm.providers.0);
    let mut known: Vec<KnownProvider<'_>> =
        of_project.map(|(id, kind, provider)| provider_of(&id.value, *kind, Some(provider))).collect();
    for (kind, _, _) in BUILT_IN {
        if !known.iter().any(|provider| provider.id == kind.name()) {
            known.push(provider_of(kind.name(), kind, None));
        }
    }
    known
}

fn provider_of<'l>(id: &str, kind: ProviderKind, config: Option<&'l Provider>) -> KnownProvider<'l> {
    let built_in = BUILT_IN.iter().find(|(built_in, _, _)| *built_in == kind);
    let auth = config.and_then(|config| config.auth.as_ref()).map(|auth| &auth.0);
    let named = auth.and_then(|auth| auth.env_var.as_ref()).map(|variable| variable.value.clone());
    let usual = built_in.map(|(_, _, variable)| variable.to_string()).filter(|variable| !variable.is_empty());
    // Another server at the usual provider's protocol must not get the usual provider's key by accident.
    let has_own_url = config.is_some_and(|config| config.base_url.is_some()) && id != kind.name();
    let variable = named.or(usual.filter(|_| !has_own_url));
    let url = config.and_then(|config| config.base_url.as_ref()).map(|url| url.value.clone());
    KnownProvider {
        id: id.to_string(),
        kind,
        base_url: url.or(built_in.map(|(_, url, _)| url.to_string())).unwrap_or_default(),
        needs_key: auth.and_then(|auth| auth.required).unwrap_or(variable.is_some()),
        variable,
        config,
    }
}

/// The models of a run: the chosen one, and how its replies are recorded or replayed.
pub struct Models {
    chosen: Option<ChosenModel>,
    cassette: Option<ModelCassetteMode>,
    root: PathBuf,
}

/// The chosen model.
struct ChosenModel {
    id: String,
    origin: ModelOrigin,
}

enum ModelOrigin {
    Canned(Arc<CannedReplies>),
    Provider(Arc<dyn Model>),
}

impl Models {
    /// Prepares the chosen model. Nothing is sent.
    pub fn resolve(loaded: &Loaded, options: &ModelOptions) -> Result<Models, ModelChoiceError> {
        // A replay needs neither a key nor a network.
        let chosen = match (options.cassette, choice(loaded, options.model.as_deref())) {
            (Some(ModelCassetteMode::Replay), _) | (_, None) => None,
            (_, Some((name, reason))) => Some(find(loaded, &name, reason)?),
        };
        Ok(Models { chosen, cassette: options.cassette, root: loaded.root.clone() })
    }

    /// Whether steps can be carried out by a model.
    pub fn has_any(&self) -> bool {
        self.chosen.is_some() || self.cassette == Some(ModelCassetteMode::Replay)
    }

    /// The model without a cassette: a shell has no trail. Replies of a file start from the beginning.
    pub fn model(&self) -> Option<Arc<dyn Model>> {
        let ChosenModel { id, origin } = self.chosen.as_ref()?;
        Some(match origin {
            ModelOrigin::Provider(model) => Arc::clone(model),
            ModelOrigin::Canned(replies) => Arc::new(CannedModel::new(replies, id)),
        })
    }

    /// The model for one trail on one kind of device.
    pub fn for_trail(&self, trail: &str, kind: &str) -> Result<Option<TrailModel>, ModelChoiceError> {
        let file = cassette_file(trail, kind);
        match self.cassette {
            None => Ok(self.model().map(|model| TrailModel { model, recording: None })),
            Some(ModelCassetteMode::Replay) => Ok(Some(TrailModel { model: self.replay(file)?, recording: None })),
            Some(ModelCassetteMode::Record) => Ok(self.model().map(|model| {
                let recorder = Arc::new(Recorder::new(model));
                let recording = Some(ModelRecording { recorder: Arc::clone(&recorder), root: self.root.clone(), file });
                TrailModel { model: recorder, recording }
            })),
        }
    }

    fn replay(&self, file: String) -> Result<Arc<dyn Model>, ModelChoiceError> {
        let path = self.root.join(&file);
        if !path.is_file() {
            return Ok(Arc::new(MissingModel { info: missing_info(), file }));
        }
        let mut replies = read_replies(&self.root, &path)?;
        // Nobody is asked, so nothing is paid.
        replies.info.price =
            replies.info.price.map(|_| Price { input: 0.0, output: 0.0, cached_input: 0.0, cache_write: 0.0 });
        Ok(Arc::new(CannedModel::new(&Arc::new(replies), &file)))
    }
}

/// The cassette of a trail, by its id or path, on a kind of device; relative to the project. A trail in a folder has its cassette in a
/// folder too. Two devices of one kind look the same to a model, whatever they are called.
pub fn cassette_file(trail: &str, kind: &str) -> String {
    let trail = trail.strip_suffix(".trail.yaml").or(trail.strip_suffix("/trail.yaml")).unwrap_or(trail);
    let folders: Vec<String> = trail.split('/').map(slug).filter(|part| !part.is_empty()).collect();
    format!("{CASSETTES}/{}.{}.replies.yaml", folders.join("/"), slug(kind))
}

/// The model for one trail on one kind of device.
pub struct TrailModel {
    pub model: Arc<dyn Model>,
    recording: Option<ModelRecording>,
}

struct ModelRecording {
    recorder: Arc<Recorder>,
    root: PathBuf,
    file: String,
}

/// A cassette that was not written.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    #[error("cannot write `{file}`: {source}")]
    Write { file: String, source: std::io::Error },
    #[error("cannot write `{file}`: {source}")]
    Unfit { file: String, source: ReadBackError },
}

impl TrailModel {
    /// Writes the cassette, if one is recorded and the model was asked. Returns its path, relative to the project. A cassette that
    /// is already the same is left alone. Secrets that the model wrote out are placeholders in it.
    pub fn save(&self, secrets: &Secrets) -> Result<Option<String>, CassetteError> {
        let Some(ModelRecording { recorder, root, file }) = &self.recording else { return Ok(None) };
        let mut replies = recorder.replies(file);
        replies.replies_mut().for_each(|reply| reply.redact(secrets));
        if replies.is_empty() {
            return Ok(None);
        }
        let text = replies.text().map_err(|source| CassetteError::Unfit { file: file.clone(), source })?;
        let path = root.join(file);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(Some(file.clone()));
        }
        write_in_project(root, &path, text).map_err(|source| CassetteError::Write { file: file.clone(), source })?;
        Ok(Some(file.clone()))
    }
}

/// Stands for a cassette that does not exist, because most trails need none.
struct MissingModel {
    info: ModelInfo,
    file: String,
}

fn missing_info() -> ModelInfo {
    ModelInfo { id: "cassette".to_string(), has_vision: true, is_replayed: true, ..ModelInfo::default() }
}

#[async_trait]
impl Model for MissingModel {
    fn describe(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(&self, _: &Budget, _: &ModelRequest) -> Result<ModelReply, ModelError> {
        Err(ModelError {
            kind: ModelErrorKind::Unscripted,
            message: format!("there is no cassette `{}` to replay", self.file),
            hint: Some("record it with --model-cassette record".to_string()),
        })
    }
}

fn find(loaded: &Loaded, name: &str, reason: ModelChoiceReason) -> Result<ChosenModel, ModelChoiceError> {
    let known = providers(loaded.project.llm.as_ref());
    let (provider, model) = name.split_once('/').unwrap_or((name, ""));
    let found = known.iter().find(|known| known.id == provider);
    if provider == ProviderKind::Scripted.name() && found.is_none() && !model.is_empty() {
        return scripted(loaded, name, model);
    }
    let names = || listed(&known);
    let Some(found) = found else {
        let near = match model {
            // A model without its provider.
            "" => names().into_iter().find(|id| id.split_once('/').is_some_and(|(_, model)| model == name)),
            _ => nearest(provider, known.iter().map(|known| known.id.as_str())).map(|near| format!("{near}/{model}")),
        };
        let name = name.to_string();
        return Err(match model {
            "" => ModelChoiceError::NoProvider { name, reason, near },
            _ => ModelChoiceError::UnknownProvider { provider: provider.to_string(), name, reason, near },
        });
    };
    let config = found.config;
    if let Some(file) = config.and_then(|config| config.file.as_ref()) {
        return scripted(loaded, name, &file.value);
    }
    if model.is_empty() {
        let near = names().into_iter().find(|id| id.starts_with(&format!("{provider}/")));
        return Err(ModelChoiceError::NoProvider { name: name.to_string(), reason, near });
    }
    let entry = config.and_then(|config| config.models.iter().find(|entry| entry.id.value == model));
    let settings = match entry {
        Some(entry) => Settings::listed(provider, found.kind, entry),
        None => Settings::unlisted(provider, model),
    };
    let endpoint = endpoint(found, &loaded.environment)?;
    let model = open(&endpoint, settings).map_err(ModelChoiceError::Model)?;
    Ok(ChosenModel { id: name.to_string(), origin: ModelOrigin::Provider(model) })
}

/// The models that the project lists, as `provider/model`.
fn listed(known: &[KnownProvider<'_>]) -> Vec<String> {
    let models = known.iter().flat_map(|provider| {
        provider.config.into_iter().flat_map(|config| &config.models).map(|model| (&provider.id, &model.id.value))
    });
    models.map(|(provider, model)| format!("{provider}/{model}")).collect()
}

fn scripted(loaded: &Loaded, id: &str, file: &str) -> Result<ChosenModel, ModelChoiceError> {
    let replies = read_replies(&loaded.root, &loaded.root.join(file))?;
    Ok(ChosenModel { id: id.to_string(), origin: ModelOrigin::Canned(Arc::new(replies)) })
}

fn read_replies(root: &std::path::Path, path: &std::path::Path) -> Result<CannedReplies, ModelChoiceError> {
    let mut problems = Vec::new();
    let file = crate::project::source::shown(root, path);
    match read_source(root, path, &mut problems) {
        Some(source) => CannedReplies::read(&source).map_err(|problems| ModelChoiceError::Replies { file, problems }),
        None => Err(ModelChoiceError::Replies { file, problems }),
    }
}

fn endpoint(provider: &KnownProvider<'_>, environment: &Environment) -> Result<Endpoint, ModelChoiceError> {
    let id = &provider.id;
    let key = provider.variable.as_ref().and_then(|variable| environment.text(variable));
    let key = key.map(str::trim).filter(|key| !key.is_empty());
    if key.is_none() && provider.needs_key {
        return Err(match &provider.variable {
            Some(variable) => ModelChoiceError::NoKey { provider: id.clone(), variable: variable.clone() },
            None => ModelChoiceError::NoKeyVariable { provider: id.clone() },
        });
    }
    let (mut headers, mut in_headers) = (Vec::new(), Vec::new());
    for (name, value) in provider.config.into_iter().flat_map(|config| &config.headers.0) {
        let mut filled = value.clone();
        for token in tokens(value).filter(|token| token.is_curly) {
            let variable = token.path;
            let text = environment.text(variable).ok_or_else(|| ModelChoiceError::NoHeader {
                provider: id.clone(),
                header: name.value.clone(),
                variable: variable.to_string(),
            })?;
            filled = filled.replace(token.raw, text);
            in_headers.push(Secret(text.to_string()));
        }
        headers.push((name.value.clone(), Secret(filled)));
    }
    Ok(Endpoint {
        kind: provider.kind,
        base_url: provider.base_url.clone(),
        path: provider.config.and_then(|config| config.chat_completions_path.clone()),
        headers,
        in_headers,
        key: key.map(|key| Secret(key.to_string())),
        key_variable: provider.variable.clone(),
        proxies: environment.proxies(),
    })
}

/// The variables that contain keys or parts of headers of the chosen model and of the providers that the project configures.
pub fn key_variables(loaded: &Loaded, flag: Option<&str>) -> Vec<String> {
    let chosen = choice(loaded, flag);
    let chosen = chosen.as_ref().and_then(|(name, _)| name.split('/').next());
    let mut known = providers(loaded.project.llm.as_ref());
    known.retain(|provider| provider.config.is_some() || Some(provider.id.as_str()) == chosen);
    variables_of(known)
}

/// The same of all providers, in use or not: no program that is started for a run needs them.
pub fn all_key_variables(loaded: &Loaded) -> Vec<String> {
    variables_of(providers(loaded.project.llm.as_ref()))
}

fn variables_of(known: Vec<KnownProvider<'_>>) -> Vec<String> {
    let in_headers = known.iter().filter_map(|provider| provider.config).flat_map(|config| &config.headers.0);
    let in_headers = in_headers.flat_map(|(_, value)| tokens(value)).filter(|token| token.is_curly);
    let in_headers: Vec<String> = in_headers.map(|token| token.path.to_string()).collect();
    known.into_iter().filter_map(|provider| provider.variable).chain(in_headers).collect()
}
