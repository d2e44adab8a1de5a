//! What the error of a provider means, and whether to try again. Where a provider has no code for a situation, the text of its
//! message is all there is; those texts are here and nowhere else.

use std::time::Duration;

use hyper::header::HeaderMap;
use trailblaze_core::model::{ModelError, ModelErrorKind};

use crate::settings::Settings;

/// An error as a provider describes it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProviderError {
    pub message: String,
    /// The words for programs: a code, a type, a status.
    pub codes: Vec<String>,
    /// The parameter that it is about.
    pub param: Option<String>,
    /// The HTTP status that the body itself names.
    pub status: Option<u16>,
    pub retry_after: Option<Duration>,
    /// It says that a quota is used up for long.
    pub is_used_up: bool,
}

impl ProviderError {
    pub fn has_code(&self, code: &str) -> bool {
        self.codes.iter().any(|known| known == code)
    }
}

/// What an error means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Quota,
    TooLong,
    /// The content was refused, not the form of the request.
    Refused,
    Key,
    NoModel,
    BadRequest,
    Elsewhere,
    /// Worth another try.
    Temporary,
}

const USED_UP: [&str; 5] =
    ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", "insufficient_credits"];
const TOO_LONG: [&str; 3] = ["context_length_exceeded", "exceed_context_size_error", "request_too_large"];
const FILTERED: [&str; 2] = ["content_filter", "content_policy_violation"];
/// Anthropic has no code for a spent credit.
const USED_UP_WORDS: [&str; 1] = ["credit balance is too low"];
/// Anthropic, Google, Ollama and many compatible servers have no code for a request that is too long.
const TOO_LONG_WORDS: [&str; 7] = [
    "prompt is too long",
    "input is too long",
    "context length",
    "context limit",
    "context size",
    "context window",
    "maximum number of tokens",
];

pub fn meaning(status: u16, error: &ProviderError) -> Meaning {
    let has_code = |codes: &[&str]| codes.iter().any(|code| error.has_code(code));
    let message = error.message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    match status {
        _ if error.is_used_up || has_code(&USED_UP) || says(&USED_UP_WORDS) => Meaning::Quota,
        402 => Meaning::Quota,
        _ if has_code(&TOO_LONG) => Meaning::TooLong,
        400 | 413 | 422 | 500 if says(&TOO_LONG_WORDS) => Meaning::TooLong,
        413 => Meaning::TooLong,
        400 | 403 if has_code(&FILTERED) => Meaning::Refused,
        401 | 403 | 407 => Meaning::Key,
        400 if error.has_code("API_KEY_INVALID") => Meaning::Key,
        404 => Meaning::NoModel,
        408 | 409 | 429 | 500.. => Meaning::Temporary,
        300..=399 => Meaning::Elsewhere,
        _ => Meaning::BadRequest,
    }
}

/// The error for the caller. `detail` is what the provider said, made safe.
pub fn model_error(
    settings: &Settings,
    key_variable: Option<&str>,
    status: u16,
    meaning: Meaning,
    detail: &str,
) -> ModelError {
    let Settings { provider, model, .. } = settings;
    let said = if detail.is_empty() { format!(" ({status})") } else { format!(" ({status}): {detail}") };
    let (kind, message, hint) = match meaning {
        Meaning::Quota => (ModelErrorKind::Quota, format!("the quota of `{provider}` is used up{said}"), None),
        Meaning::TooLong => {
            let text = format!("the request is longer than the context of `{}`{said}", settings.id());
            (ModelErrorKind::TooLong, text, None)
        }
        Meaning::Refused => (ModelErrorKind::Setup, format!("`{provider}` refused the content{said}"), None),
        Meaning::Key => {
            let hint = key_variable.map(|name| format!("check the key in `{name}`"));
            (ModelErrorKind::Setup, format!("`{provider}` refused the key{said}"), hint)
        }
        Meaning::NoModel => {
            let hint = match provider.as_str() {
                "ollama" => format!("`ollama pull {model}` downloads it"),
                _ => format!("check the name of the model, and `base_url` of `{provider}`"),
            };
            (ModelErrorKind::Setup, format!("`{provider}` has no model `{model}`{said}"), Some(hint))
        }
        Meaning::BadRequest => (ModelErrorKind::Setup, format!("`{provider}` refused the request{said}"), None),
        Meaning::Elsewhere => {
            let hint = Some(format!("check `base_url` of `{provider}`; redirects are not followed"));
            (ModelErrorKind::Setup, format!("`{provider}` is at another address{said}"), hint)
        }
        Meaning::Temporary if status == 429 => {
            (ModelErrorKind::Unavailable, format!("`{provider}` limits the rate of requests{said}"), None)
        }
        Meaning::Temporary => (ModelErrorKind::Unavailable, format!("`{provider}` failed{said}"), None),
    };
    ModelError { kind, message, hint }
}

/// How long the provider asks to wait.
pub fn retry_after(headers: &HeaderMap, error: &ProviderError) -> Option<Duration> {
    let number = |name: &str| -> Option<f64> { headers.get(name)?.to_str().ok()?.trim().parse().ok() };
    let seconds = number("retry-after-ms").map(|millis| millis / 1_000.0).or_else(|| number("retry-after"));
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).or(error.retry_after)
}

/// Whether the provider says that another try is in vain.
pub fn forbids_retry(headers: &HeaderMap) -> bool {
    headers.get("x-should-retry").is_some_and(|value| value == "false")
}
