//! The network of a browser as a trail wants it to be: which requests are meant, and what becomes of them.

use std::time::Duration;

use serde_json::Value;

use super::named;

/// Which requests are meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestPattern {
    /// A part of the URL, or all of it with `*` as a wildcard. Empty for every URL.
    pub url: String,
    /// In capitals; `None` for every method.
    pub method: Option<String>,
}

impl RequestPattern {
    pub fn matches(&self, method: &str, url: &str) -> bool {
        self.method.as_ref().is_none_or(|own| own.eq_ignore_ascii_case(method)) && url_matches(url, &self.url)
    }
}

impl std::fmt::Display for RequestPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = if self.url.is_empty() { "any URL" } else { &self.url };
        match &self.method {
            Some(method) => write!(f, "{method} {url}"),
            None => write!(f, "{url}"),
        }
    }
}

/// Whether a URL contains the pattern, or matches it in full if the pattern has wildcards.
pub fn url_matches(url: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let Some((last, middle)) = rest.split_last() else { return url.contains(pattern) };
    let Some(mut left) = url.strip_prefix(first) else { return false };
    for part in middle {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

/// What becomes of the requests that match. The newest rule is asked first.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkRule {
    pub pattern: RequestPattern,
    pub effect: RuleEffect,
    /// How many requests it is for; `None` for all.
    pub times: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RuleEffect {
    /// Answers it without asking the server.
    Mock(MockedResponse),
    Abort(AbortReason),
    /// Waits before it goes on, with the rules after this one.
    Delay(Duration),
    /// Changes what the server answers.
    Change(ResponseChange),
}

#[derive(Debug, Clone, PartialEq)]
pub struct MockedResponse {
    pub status: u16,
    /// Names with values.
    pub headers: Vec<(String, String)>,
    pub body: BodySource,
}

/// Where the body of a response comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum BodySource {
    Text(String),
    Json(Value),
    /// The path of a file. Its ending says what it contains.
    File(String),
}

/// What is given differs from the server's response; the rest of it stays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResponseChange {
    pub status: Option<u16>,
    pub headers: Vec<(String, String)>,
    /// Replaces the body.
    pub body: Option<BodySource>,
    /// Is merged into a body of JSON: objects key by key, where null removes a key; anything else is replaced.
    pub merge: Option<Value>,
}

named! {
    /// How a request fails.
    pub enum AbortReason {
        Failed "FAILED",
        Refused "CONNECTION_REFUSED",
        Reset "CONNECTION_RESET",
        TimedOut "TIMED_OUT",
        NameNotResolved "NAME_NOT_RESOLVED",
        Offline "INTERNET_DISCONNECTED",
        Blocked "BLOCKED_BY_CLIENT",
    }
}

/// How fast the network is. Zero means as fast as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NetworkSpeed {
    /// How much longer each answer takes.
    pub latency: Duration,
    /// In bytes per second.
    pub download: u64,
    pub upload: u64,
}

named! {
    /// What becomes of a request that a HAR file does not answer.
    pub enum MissingInHar {
        Abort "ABORT",
        Continue "CONTINUE",
    }
}

/// Searches the requests so far for one that no earlier search has returned.
#[derive(Debug, Clone, PartialEq)]
pub struct ExchangeQuery {
    pub pattern: RequestPattern,
    pub side: ExchangeSide,
    /// Of the response.
    pub status: Option<u16>,
    /// What the body contains.
    pub contains: Option<String>,
    /// What the body, as JSON, has at least.
    pub json: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeSide {
    Request,
    Response,
}

/// Whether a value has everything that `wanted` has: of an object these keys, of a list these items in this order.
pub fn has_json(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| has_json(value, wanted)))
        }
        (Value::Array(value), Value::Array(wanted)) => {
            let mut items = value.iter();
            wanted.iter().all(|wanted| items.any(|item| has_json(item, wanted)))
        }
        (Value::Number(value), Value::Number(wanted)) => value == wanted || value.as_f64() == wanted.as_f64(),
        _ => value == wanted,
    }
}

/// Changes a value as RFC 7396 says: objects are merged, null removes a key, and anything else replaces what was there.
pub fn merge_json(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(serde_json::Map::new());
    }
    let Value::Object(map) = value else { return };
    for (key, patch) in patch {
        if patch.is_null() {
            map.remove(key);
        } else {
            merge_json(map.entry(key.clone()).or_insert(Value::Null), patch);
        }
    }
}

/// The value at a path of keys and numbers of items, separated by dots: `order.items.0.id`. The whole value if it is empty.
pub fn json_at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(value, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        value => value.get(part),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_url_matches_a_part_of_it_or_a_pattern_for_all_of_it() {
        let url = "https://shop.test/cart?id=7";
        for pattern in ["", "/cart", "https://*/cart*", "**/cart?id=7", "*", url] {
            assert!(url_matches(url, pattern), "{pattern}");
        }
        for pattern in ["/checkout", "https://*/cart", "*/cart/*", "http://*"] {
            assert!(!url_matches(url, pattern), "{pattern}");
        }
        let post = RequestPattern { url: "/cart".into(), method: Some("POST".into()) };
        assert!(post.matches("post", url) && !post.matches("GET", url));
    }

    #[test]
    fn a_body_has_the_keys_and_items_that_are_asked_for() {
        let body = json!({"id": 7, "items": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2.0}], "note": null});
        for wanted in
            [json!({}), json!({"id": 7.0}), json!({"items": [{"sku": "b"}]}), json!({"note": null}), body.clone()]
        {
            assert!(has_json(&body, &wanted), "{wanted}");
        }
        for wanted in
            [json!({"id": "7"}), json!({"items": [{"sku": "b"}, {"sku": "a"}]}), json!({"other": null}), json!([])]
        {
            assert!(!has_json(&body, &wanted), "{wanted}");
        }
        assert_eq!(json_at(&body, "items.1.sku"), Some(&json!("b")));
        assert_eq!(json_at(&body, "items.2.sku"), None);
        assert_eq!(json_at(&body, ""), Some(&body));
    }

    #[test]
    fn a_merge_changes_what_is_given_and_removes_what_is_null() {
        let mut body = json!({"id": 7, "user": {"name": "Ada", "age": 36}, "items": [1, 2]});
        merge_json(&mut body, &json!({"user": {"age": null, "role": {"admin": true}}, "items": [3]}));
        assert_eq!(body, json!({"id": 7, "user": {"name": "Ada", "role": {"admin": true}}, "items": [3]}));
    }
}
