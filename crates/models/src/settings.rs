//! What is known about a provider and a model before the first request.

use std::fmt;

use trailblaze_core::config::{ModelEntry, ProviderKind};
use trailblaze_core::model::{ModelInfo, ModelRequest, Price};
use trailblaze_http::ProxySettings;

use crate::api::Api;

/// How a provider is reached.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub kind: ProviderKind,
    pub base_url: String,
    /// The path behind the base, if it is not the usual one.
    pub path: Option<String>,
    pub headers: Vec<(String, Secret)>,
    /// The values of variables that are parts of headers.
    pub in_headers: Vec<Secret>,
    pub key: Option<Secret>,
    /// The environment variable that the key comes from, for messages.
    pub key_variable: Option<String>,
    pub proxies: ProxySettings,
}

/// A text that appears in no message and no log.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What is known about a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The id of the provider.
    pub provider: String,
    /// The name that the provider gives the model.
    pub model: String,
    pub has_vision: bool,
    pub temperature: Option<f64>,
    pub context_length: Option<u64>,
    pub max_output_tokens: Option<u64>,
    pub price: Option<Price>,
    pub max_picture: Option<u32>,
}

impl Settings {
    /// A model that the project says nothing about.
    pub fn unlisted(provider: &str, model: &str) -> Settings {
        Settings {
            provider: provider.to_string(),
            model: model.to_string(),
            has_vision: true,
            temperature: None,
            context_length: None,
            max_output_tokens: None,
            price: None,
            max_picture: None,
        }
    }

    /// A model as the project lists it.
    pub fn listed(provider: &str, kind: ProviderKind, entry: &ModelEntry) -> Settings {
        let write_factor = Api::of(kind).map_or(1.0, Api::cache_write_factor);
        let price = entry.cost.as_ref().map(|cost| Price {
            input: cost.input,
            output: cost.output,
            cached_input: cost.cached_input.unwrap_or(cost.input),
            cache_write: cost.cache_write.unwrap_or(cost.input * write_factor),
        });
        Settings {
            has_vision: entry.vision,
            temperature: entry.temperature,
            context_length: entry.context_length,
            max_output_tokens: entry.max_output_tokens,
            price,
            max_picture: entry.screenshot.as_ref().and_then(|screenshot| screenshot.max_dimensions).map(|side| side.0),
            ..Settings::unlisted(provider, &entry.id.value)
        }
    }

    /// `provider/model`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    pub(crate) fn info(&self, api: Api) -> ModelInfo {
        ModelInfo {
            id: self.id(),
            has_vision: self.has_vision,
            context_length: self.context_length,
            price: self.price,
            max_picture: self.max_picture.or(api.max_picture()),
            is_replayed: false,
        }
    }

    /// The limit of a reply: the lower of the request's and the model's.
    pub(crate) fn output_limit(&self, request: &ModelRequest) -> Option<u64> {
        [request.max_output_tokens, self.max_output_tokens].into_iter().flatten().min()
    }

    /// The request's temperature, or the project's. The newest models refuse one, so it has no default.
    pub(crate) fn temperature_for(&self, request: &ModelRequest) -> Option<f64> {
        request.temperature.or(self.temperature)
    }
}
