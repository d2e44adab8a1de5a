//! `llm:` in `trailblaze.yaml`: providers of language models, their models and prices.

use serde_json::{Value, json};

use crate::template;
use crate::yaml::{Decode, Entries, Problems, Spanned, YamlKind, YamlNode};
use crate::{table, words};

table! {
    /// Language models.
    pub struct Llm {
        /// Providers by id: openai, anthropic, google, ollama and openrouter are known; any other id needs a type.
        "providers" => providers: Providers = Providers::default(),
        /// What is used if nothing else is chosen.
        "defaults" => defaults: Option<LlmDefaults> = None,
    }
}

table! {
    /// What is used if nothing else is chosen.
    pub struct LlmDefaults {
        /// The model, as provider/model; none for no model.
        "model" => model: Option<Spanned<String>> = None,
    }
}

table! {
    /// A provider of language models.
    pub struct Provider {
        /// The protocol that it speaks; default: the one of its id.
        "type" => kind: Option<ProviderKind> = None,
        /// The URL that requests are sent to; default: the one of the provider.
        "base_url" => base_url: Option<Spanned<String>> = None,
        /// The path of chat completions, behind base_url; for providers that speak the protocol of OpenAI.
        "chat_completions_path" => chat_completions_path: Option<String> = None,
        /// Headers to send with every request; {{NAME}} is an environment variable.
        "headers" => headers: Entries<String> = Entries::default(),
        /// Where its key comes from.
        "auth" => auth: Option<Auth> = None,
        /// What is known about its models. Others can be used too.
        "models" => models: Vec<ModelEntry> = Vec::new(),
        /// The file of replies, for the type scripted.
        "file" => file: Option<Spanned<String>> = None,
    }
}

words! {
    /// The protocol of a provider.
    pub enum ProviderKind {
        "openai" => OpenAi,
        "anthropic" => Anthropic,
        "google" => Google,
        "ollama" => Ollama,
        "openrouter" => OpenRouter,
        "openai_compatible" => OpenAiCompatible,
        "scripted" => Scripted,
    }
}

impl ProviderKind {
    pub const ALL: [(ProviderKind, &'static str); 7] = [
        (ProviderKind::OpenAi, "openai"),
        (ProviderKind::Anthropic, "anthropic"),
        (ProviderKind::Google, "google"),
        (ProviderKind::Ollama, "ollama"),
        (ProviderKind::OpenRouter, "openrouter"),
        (ProviderKind::OpenAiCompatible, "openai_compatible"),
        (ProviderKind::Scripted, "scripted"),
    ];

    pub fn name(self) -> &'static str {
        ProviderKind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// The kind of a provider with this id, if the id says it all.
    pub fn of_id(id: &str) -> Option<ProviderKind> {
        let known = ProviderKind::ALL.iter().find(|(_, name)| *name == id).map(|(kind, _)| *kind);
        known.filter(|kind| *kind != ProviderKind::OpenAiCompatible)
    }
}

table! {
    /// Where the key of a provider comes from.
    pub struct AuthEntry {
        /// The environment variable that contains the key.
        "env_var" => env_var: Option<Spanned<String>> = None,
        /// Whether requests need a key.
        "required" => required: Option<bool> = None,
    }
}

/// Where the key of a provider comes from. Keys themselves are refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Auth(pub AuthEntry);

impl Decode for Auth {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let entries = node.entries().into_iter().flatten();
        let keys: Vec<_> = entries.filter(|(key, _)| is_key_word(key.raw().unwrap_or_default())).collect();
        for (key, value) in &keys {
            problems.hide(value.span);
            let text = format!("`{}` would put a key into a file", key.raw().unwrap_or_default());
            problems.error_with_hint(key.span, text, KEY_HINT);
        }
        if !keys.is_empty() {
            return None;
        }
        AuthEntry::decode(node, problems).map(Auth)
    }

    fn schema() -> Value {
        AuthEntry::schema()
    }
}

const KEY_HINT: &str = "keys come from the environment only: set a variable and name it in `auth.env_var`";

fn is_key_word(key: &str) -> bool {
    let plain = key.to_ascii_lowercase().replace(['_', '-'], "");
    matches!(plain.as_str(), "key" | "apikey" | "token" | "apitoken" | "bearertoken" | "secret" | "value" | "password")
}

table! {
    /// A model of a provider.
    pub struct ModelEntry {
        /// The name that the provider gives it.
        "id" => id: Spanned<String>,
        /// Whether it accepts pictures.
        "vision" => vision: bool = true,
        /// The temperature. Without one, none is sent: the newest models refuse it.
        "temperature" => temperature: Option<f64> = None,
        /// How many tokens a request and its reply may have together.
        "context_length" => context_length: Option<u64> = None,
        /// The limit of a reply, in tokens.
        "max_output_tokens" => max_output_tokens: Option<u64> = None,
        /// What it costs; unknown without it.
        "cost" => cost: Option<Cost> = None,
        /// How screenshots are sent.
        "screenshot" => screenshot: Option<Screenshot> = None,
    }
}

table! {
    /// US dollars per million tokens.
    pub struct Cost {
        /// Input.
        "input_per_million" => input: f64,
        /// Output.
        "output_per_million" => output: f64,
        /// Input that is read from the provider's cache; default: as other input.
        "cached_input_per_million" => cached_input: Option<f64> = None,
        /// Input that is written to the provider's cache; default: as other input, 1.25 times that for anthropic.
        "cache_write_per_million" => cache_write: Option<f64> = None,
    }
}

table! {
    /// How screenshots are sent.
    pub struct Screenshot {
        /// Larger ones are scaled down: 1024, or 1536x768.
        "max_dimensions" => max_dimensions: Option<Dimensions> = None,
    }
}

/// The longest side of a picture, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimensions(pub u32);

impl Decode for Dimensions {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let raw = node.raw().unwrap_or_default();
        let sides: Option<Vec<u32>> = raw.split('x').map(|side| side.trim().parse().ok()).collect();
        match sides.as_deref() {
            Some([side]) if *side > 0 => Some(Dimensions(*side)),
            Some([width, height]) if *width > 0 && *height > 0 => Some(Dimensions(*width.max(height))),
            _ => {
                let found = node.raw().map_or_else(|| node.noun().to_string(), |raw| format!("`{raw}`"));
                problems.error(node.span, format!("expected a size such as 1024 or 1536x768, found {found}"));
                None
            }
        }
    }

    fn schema() -> Value {
        json!({"type": ["string", "integer"], "pattern": "^[0-9]+ *(x *[0-9]+)?$"})
    }
}

/// Providers by id. Each has a type, its own or that of its id.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Providers(pub Vec<(Spanned<String>, ProviderKind, Provider)>);

impl Providers {
    pub fn get(&self, id: &str) -> Option<(ProviderKind, &Provider)> {
        self.0.iter().find(|(known, _, _)| known.value == id).map(|(_, kind, provider)| (*kind, provider))
    }
}

impl Decode for Providers {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let entries = Entries::<Provider>::decode(node, problems)?;
        let mut providers = Vec::new();
        for (id, provider) in entries.0 {
            if id.value.contains('/') || id.value.is_empty() || id.value == "none" {
                problems.error(id.span, format!("`{}` cannot be the id of a provider", id.value));
                continue;
            }
            let Some(kind) = provider.kind.or(ProviderKind::of_id(&id.value)) else {
                let kinds = ProviderKind::ALL.map(|(_, name)| name).join(", ");
                let text = format!("`type` of the provider `{}` is missing", id.value);
                problems.error_with_hint(id.span, text, format!("one of {kinds}"));
                continue;
            };
            check(&id, kind, &provider, node, problems);
            providers.push((id, kind, provider));
        }
        Some(Providers(providers))
    }

    fn schema() -> Value {
        Entries::<Provider>::schema()
    }
}

/// Reports what each key alone cannot show.
fn check(id: &Spanned<String>, kind: ProviderKind, provider: &Provider, node: &YamlNode, problems: &mut Problems) {
    match (kind, &provider.file, &provider.base_url) {
        (ProviderKind::Scripted, None, _) => {
            problems.error(provider.span, format!("the scripted provider `{}` needs a `file`", id.value));
        }
        (ProviderKind::OpenAiCompatible, _, None) => {
            problems.error(provider.span, format!("the provider `{}` needs a `base_url`", id.value));
        }
        (kind, Some(file), _) if kind != ProviderKind::Scripted => {
            problems.error(file.span, format!("`file` is for providers of type scripted, not {}", kind.name()));
        }
        _ => {}
    }
    if let Some(url) = &provider.base_url
        && !(url.value.starts_with("http://") || url.value.starts_with("https://"))
    {
        problems.error(url.span, format!("`base_url` must start with http:// or https://, got `{}`", url.value));
    }
    for (name, value) in &provider.headers.0 {
        let carries_key = matches!(
            name.value.to_ascii_lowercase().as_str(),
            "authorization" | "proxy-authorization" | "x-api-key" | "api-key" | "x-goog-api-key" | "cookie"
        );
        if carries_key && !template::has_token(value) {
            if let Some(YamlKind::Map(headers)) =
                node.get(&id.value).and_then(|entry| entry.get("headers")).map(|headers| &headers.kind)
            {
                let written = headers.iter().filter(|(key, _)| key.span == name.span);
                written.for_each(|(_, value)| problems.hide(value.span));
            }
            let text = format!("the header `{}` would put a key into a file", name.value);
            problems.error_with_hint(name.span, text, "write {{NAME}} for the value of an environment variable");
        }
    }
    for (index, model) in provider.models.iter().enumerate() {
        if provider.models[..index].iter().any(|earlier| earlier.id.value == model.id.value) {
            problems.error(model.id.span, format!("the model `{}` is listed twice", model.id.value));
        }
        let costs = model.cost.iter().flat_map(|cost| {
            [Some(cost.input), Some(cost.output), cost.cached_input, cost.cache_write].into_iter().flatten()
        });
        if costs.into_iter().any(|cost| !(cost >= 0.0 && cost.is_finite())) {
            problems.error(model.span, format!("a price of `{}` is negative", model.id.value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Source, decode};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let source = Source::new("trailblaze.yaml", text);
        let mut problems = Problems::new(&source);
        let _: Option<Llm> = decode(&source, &mut problems);
        let found = problems.into_vec();
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "{text}");
        assert!(found.iter().all(|problem| !problem.source.text.contains("sk-1")), "{text}");
    }

    #[test]
    fn the_form_that_kotlin_users_have_is_read() {
        check(
            "providers:\n  openai: {models: [{id: gpt-6, vision: true, temperature: 1, context_length: 400000,\n    \
             max_output_tokens: 8000, cost: {input_per_million: 1.25, output_per_million: 10,\n    \
             cached_input_per_million: 0.125}, screenshot: {max_dimensions: 1536x768}}]}\n  \
             corp: {type: openai_compatible, base_url: https://llm.corp, chat_completions_path: x/chat,\n    \
             headers: {X-Team: qa}, auth: {env_var: CORP_KEY, required: true}}\ndefaults: {model: openai/gpt-6}\n",
            &[],
        );
    }

    #[test]
    fn a_key_in_a_file_is_an_error_that_does_not_show_it() {
        check(
            "providers:\n  openai:\n    auth: {api_key: sk-1, env_var: X}\n",
            &[
                "trailblaze.yaml:3:12: `api_key` would put a key into a file (keys come from the environment only: set a \
               variable and name it in `auth.env_var`)",
            ],
        );
        check(
            "providers:\n  openai:\n    headers: {Authorization: Bearer sk-1}\n",
            &["trailblaze.yaml:3:15: the header `Authorization` would put a key into a file (write {{NAME}} for the \
               value of an environment variable)"],
        );
        check("providers:\n  openai:\n    headers: {Authorization: 'Bearer {{CORP}}'}\n", &[]);
    }

    #[test]
    fn a_provider_that_cannot_work_is_refused() {
        check(
            "providers:\n  corp: {}\n  other: {type: openai_compatible}\n  script: {type: scripted}\n  google: {file: a.yaml}\n",
            &[
                "trailblaze.yaml:2:3: `type` of the provider `corp` is missing (one of openai, anthropic, google, ollama, \
                 openrouter, openai_compatible, scripted)",
                "trailblaze.yaml:3:10: the provider `other` needs a `base_url`",
                "trailblaze.yaml:4:11: the scripted provider `script` needs a `file`",
                "trailblaze.yaml:5:18: `file` is for providers of type scripted, not google",
            ],
        );
        check(
            "providers:\n  openai: {base_url: api.corp, models: [{id: a, screenshot: {max_dimensions: big}}]}\n",
            &["trailblaze.yaml:2:78: expected a size such as 1024 or 1536x768, found `big`"],
        );
    }
}
