//! A model behind HTTP: sends a request, tries again where that may help, and turns every failure into an error that says what to do.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{StatusCode, Uri};
use parking_lot::Mutex;
use serde_json::Value;
use trailblaze_core::driver::Budget;
use trailblaze_core::model::{
    Model, ModelError, ModelErrorKind, ModelInfo, ModelReply, ModelRequest, RequestedArguments, StopReason, TokenUsage,
};

use crate::api::{Api, ParsedReply, Quirks};
use crate::estimate::{estimated_output, estimated_pictures, estimated_tokens};
use crate::failure::{Meaning, ProviderError, forbids_retry, meaning, model_error, retry_after};
use crate::http::{Http, Response, SendError};
use crate::retry::{TRIES, UNREACHABLE_TRIES, pause};
use crate::settings::{Endpoint, Secret, Settings};
use crate::text::excerpt;

/// How much of what a provider said a message shows, in characters.
const SHOWN_CHARS: usize = 300;
/// What stands for a secret.
const MASK: &str = "***";

/// Prepares a model. Nothing is sent yet.
pub fn open(endpoint: &Endpoint, settings: Settings) -> Result<Arc<dyn Model>, ModelError> {
    let setup = |message: String, hint: Option<String>| ModelError { kind: ModelErrorKind::Setup, message, hint };
    let provider = &settings.provider;
    let Some(api) = Api::of(endpoint.kind) else {
        return Err(setup(format!("the replies of `{provider}` come from a file, not from a server"), None));
    };
    let url = api.url(&endpoint.base_url, endpoint.path.as_deref(), &settings.model);
    let uri: Option<Uri> = url.parse().ok();
    let is_fit = |uri: &Uri| {
        let has_scheme = matches!(uri.scheme_str(), Some("http" | "https"));
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        has_scheme && !authority.is_empty() && !authority.contains('@')
    };
    let Some(uri) = uri.filter(is_fit) else {
        let hint = "expected a URL such as https://host/v1, without a user name".to_string();
        return Err(setup(format!("the `base_url` of `{provider}` is not valid"), Some(hint)));
    };
    let key = endpoint.key.as_ref().map(|key| key.0.as_str());
    let own = api.headers(key).into_iter().map(|(name, value)| (name.to_string(), value));
    let configured = endpoint.headers.iter().map(|(name, value)| (name.clone(), value.0.clone()));
    let mut headers = HeaderMap::new();
    for (name, value) in own.chain(configured) {
        let key: HeaderName = name
            .parse()
            .map_err(|_| setup(format!("`{name}` in the `headers` of `{provider}` is not a header name"), None))?;
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| {
            setup(format!("the header `{name}` of `{provider}` cannot be sent: it has a line break or the like"), None)
        })?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    let http = Http::new(uri, headers, &endpoint.proxies)
        .map_err(|error| setup(error.to_string(), Some("see `HTTPS_PROXY` and `ALL_PROXY`".to_string())))?;
    // Shorter ones could not be told from ordinary text.
    let long_enough = |secret: &Secret| Some(secret.0.trim().to_string()).filter(|secret| secret.len() >= 4);
    let keys: Vec<String> = endpoint.in_headers.iter().chain(&endpoint.key).filter_map(long_enough).collect();
    let headers = endpoint.headers.iter().map(|(_, value)| value).filter_map(long_enough);
    Ok(Arc::new(ModelProvider {
        api,
        info: settings.info(api),
        settings,
        http,
        unshown: headers.chain(keys.iter().cloned()).collect(),
        keys,
        key_variable: endpoint.key_variable.clone(),
        quirks: Mutex::default(),
    }))
}

struct ModelProvider {
    api: Api,
    info: ModelInfo,
    settings: Settings,
    http: Http,
    /// What must not appear in a message.
    unshown: Vec<String>,
    /// What must not appear in a reply either.
    keys: Vec<String>,
    key_variable: Option<String>,
    quirks: Mutex<Quirks>,
}

#[async_trait]
impl Model for ModelProvider {
    fn describe(&self) -> &ModelInfo {
        &self.info
    }

    async fn complete(&self, budget: &Budget, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let mut reply = self.send(budget, request).await?;
        reply.usage = told_or_estimated(request, &reply);
        // A call that the provider could not parse is often right the next time.
        if reply.stop == StopReason::Malformed {
            let spent = reply.usage;
            reply = self.send(budget, request).await?;
            reply.usage = told_or_estimated(request, &reply);
            reply.usage += spent;
        }
        self.mask_reply(&mut reply);
        let TokenUsage { input, output, cached, cache_written } = reply.usage;
        tracing::debug!(target: "trailblaze::model", model = self.info.id, input, output, cached, cache_written, "replied");
        Ok(reply)
    }
}

/// Why a try failed.
struct Failed {
    error: ModelError,
    /// `None` if another try is in vain.
    retry: Option<Retry>,
}

struct Retry {
    most_tries: u32,
    after: Option<std::time::Duration>,
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Failed {
        Failed { error, retry: None }
    }
}

impl ModelProvider {
    async fn send(&self, budget: &Budget, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let mut n_tries = 0;
        loop {
            n_tries += 1;
            let Failed { mut error, retry } = match self.adapt_and_try(budget, request).await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let pause =
                retry.filter(|retry| n_tries < retry.most_tries).and_then(|retry| pause(n_tries, retry.after, budget));
            let Some(pause) = pause else {
                if n_tries > 1 {
                    error.message = format!("{} (tried {n_tries} times)", error.message);
                }
                return Err(error);
            };
            tracing::debug!(target: "trailblaze::model", model = self.info.id, ?pause, error = error.message, "trying again");
            if budget.run("the model", tokio::time::sleep(pause)).await.is_err() {
                return Err(self.over(budget));
            }
        }
    }

    /// Sends a request, and sends it differently if the provider refuses something that can be avoided.
    async fn adapt_and_try(&self, budget: &Budget, request: &ModelRequest) -> Result<ModelReply, Failed> {
        loop {
            let quirks = *self.quirks.lock();
            let body = self.api.body(&self.settings, quirks, request)?;
            let response = self.http.post(budget, Bytes::from(body.to_string())).await;
            let response = response.map_err(|error| self.unsent(budget, &error))?;
            match self.read(request, &response)? {
                Read::Reply(reply) => return Ok(reply),
                Read::Error(status, error) => match self.api.adapted(status, &error, quirks) {
                    Some(adapted) => *self.quirks.lock() = adapted,
                    None => return self.refused(&response, status, &error),
                },
            }
        }
    }

    fn read(&self, request: &ModelRequest, response: &Response) -> Result<Read, ModelError> {
        let body: Option<Value> = serde_json::from_slice(&response.body).ok();
        let described = body.as_ref().and_then(|body| self.api.error(body));
        if !response.status.is_success() {
            let error = described.unwrap_or_else(|| ProviderError {
                message: String::from_utf8_lossy(&response.body).into_owned(),
                ..ProviderError::default()
            });
            return Ok(Read::Error(response.status, error));
        }
        // Some gateways report errors behind a 200.
        if let Some(error) = described {
            let status = error.status.and_then(|status| StatusCode::from_u16(status).ok());
            return Ok(Read::Error(status.unwrap_or(StatusCode::BAD_GATEWAY), error));
        }
        let body = body.ok_or_else(|| self.unreadable(response, what_it_is(&response.body)))?;
        match self.api.answer(&self.settings, request, &body) {
            Ok(ParsedReply::Reply(reply)) => Ok(Read::Reply(reply)),
            Ok(ParsedReply::ContextFull(why)) => Err(ModelError {
                kind: ModelErrorKind::TooLong,
                message: format!("the request is too long for `{}`: {why}", self.info.id),
                hint: Some("send less, or set a larger `context_length` if the model allows it".to_string()),
            }),
            Err(unfit) => Err(self.unreadable(response, &unfit.to_string())),
        }
    }

    fn refused(&self, response: &Response, status: StatusCode, error: &ProviderError) -> Result<ModelReply, Failed> {
        let (meaning, detail) = (meaning(status.as_u16(), error), self.safe(&error.message));
        if meaning == Meaning::Refused {
            return Ok(ModelReply { stop: StopReason::Refused(detail), ..ModelReply::default() });
        }
        let key_variable = self.key_variable.as_deref();
        let failure = model_error(&self.settings, key_variable, status.as_u16(), meaning, &detail);
        let is_temporary = meaning == Meaning::Temporary && !forbids_retry(&response.headers);
        let after = retry_after(&response.headers, error);
        Err(Failed { error: failure, retry: is_temporary.then_some(Retry { most_tries: TRIES, after }) })
    }

    fn unsent(&self, budget: &Budget, error: &SendError) -> Failed {
        let Settings { provider, .. } = &self.settings;
        let most_tries = match error {
            SendError::TimedOut | SendError::Cancelled => return Failed { error: self.over(budget), retry: None },
            SendError::TooLarge => {
                let message = format!("`{provider}` {error}");
                return ModelError { kind: ModelErrorKind::Unreadable, message, hint: None }.into();
            }
            SendError::Unreachable(_) => UNREACHABLE_TRIES,
            SendError::BrokeOff(_) => TRIES,
        };
        let hint = match (self.api, error) {
            (Api::Ollama, SendError::Unreachable(_)) => Some("`ollama serve` starts Ollama".to_string()),
            _ => None,
        };
        let message = format!("`{provider}` at {} {}", self.http.shown(), self.safe(&error.to_string()));
        let error = ModelError { kind: ModelErrorKind::Unavailable, message, hint };
        Failed { error, retry: Some(Retry { most_tries, after: None }) }
    }

    fn over(&self, budget: &Budget) -> ModelError {
        match budget.cancel.is_cancelled() {
            true => ModelError {
                kind: ModelErrorKind::Cancelled,
                message: format!("the request to `{}` was cancelled", self.info.id),
                hint: None,
            },
            false => ModelError {
                kind: ModelErrorKind::TimedOut,
                message: format!("`{}` did not reply in time", self.info.id),
                hint: None,
            },
        }
    }

    fn unreadable(&self, response: &Response, why: &str) -> ModelError {
        let body = self.safe(&String::from_utf8_lossy(&response.body));
        let shown = if body.is_empty() { String::new() } else { format!(": `{body}`") };
        ModelError {
            kind: ModelErrorKind::Unreadable,
            message: format!(
                "the response of `{}` ({}) cannot be read: {why}{shown}",
                self.settings.provider,
                response.status.as_u16()
            ),
            hint: Some(format!("is `base_url` of `{}` the address of its API?", self.settings.provider)),
        }
    }

    /// Text from outside: without secrets, on one line, and short.
    fn safe(&self, text: &str) -> String {
        let mut text = text.to_string();
        mask(&self.unshown, &mut text);
        excerpt(&text, SHOWN_CHARS)
    }

    /// A gateway or a model may repeat the key, and replies are recorded.
    fn mask_reply(&self, reply: &mut ModelReply) {
        mask(&self.keys, &mut reply.text);
        if let StopReason::Refused(why) = &mut reply.stop {
            mask(&self.keys, why);
        }
        for call in &mut reply.calls {
            match &mut call.arguments {
                RequestedArguments::Object(args) => args.values_mut().for_each(|value| mask_value(&self.keys, value)),
                RequestedArguments::Malformed(text) => mask(&self.keys, text),
            }
        }
        mask_value(&self.keys, &mut reply.raw);
    }
}

fn mask(secrets: &[String], text: &mut String) {
    for secret in secrets {
        if text.contains(secret.as_str()) {
            *text = text.replace(secret.as_str(), MASK);
        }
    }
}

fn mask_value(secrets: &[String], value: &mut Value) {
    match value {
        Value::String(text) => mask(secrets, text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(secrets, item)),
        Value::Object(map) => map.values_mut().for_each(|value| mask_value(secrets, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a reply took. What the provider does not tell is estimated, because budgets count it.
fn told_or_estimated(request: &ModelRequest, reply: &ModelReply) -> TokenUsage {
    let or = |told: u64, estimated: u64| if told > 0 { told } else { estimated };
    TokenUsage {
        input: or(reply.usage.input, estimated_tokens(request) + estimated_pictures(request)),
        output: or(reply.usage.output, estimated_output(reply)),
        ..reply.usage
    }
}

enum Read {
    Reply(ModelReply),
    Error(StatusCode, ProviderError),
}

/// What a body is that is not JSON.
fn what_it_is(body: &[u8]) -> &'static str {
    let start = String::from_utf8_lossy(&body[..body.len().min(200)]).trim_start().to_ascii_lowercase();
    match start.as_str() {
        "" => "it is empty",
        html if html.starts_with("<!doctype") || html.starts_with("<html") => "it is HTML",
        json if json.starts_with(['{', '[']) => "it is incomplete or broken JSON",
        _ => "it is not JSON",
    }
}
