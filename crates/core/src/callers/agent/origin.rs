//! Keeps a model inside the app: it opens only URLs of the app, of the target's list, or that the test itself names.

use serde_json::{Map, Value};

use super::prompt::Task;
use crate::engine::registry::Registry;

/// What is wrong with the URL of a call, if there is one.
pub fn check(
    registry: &Registry,
    task: &Task<'_>,
    here: Option<&str>,
    tool: &str,
    args: &Map<String, Value>,
) -> Result<(), String> {
    let is_built_in = registry.get(tool).is_some_and(|tool| !tool.is_custom());
    let Some(url) = args.get("url").and_then(Value::as_str).filter(|_| is_built_in) else { return Ok(()) };
    let Some(wanted) = origin(url) else { return Ok(()) };
    let own = registry.own_urls.iter().map(String::as_str).chain(here).filter_map(origin);
    let host = wanted.split_once("://").map_or(wanted.as_str(), |(_, host)| host);
    let texts = [Some(task.text), task.context].into_iter().flatten();
    let is_named = !host.is_empty() && texts.into_iter().any(|text| text.contains(host));
    if is_named || own.into_iter().any(|own| own == wanted) {
        return Ok(());
    }
    Err(format!("`{url}` is not part of the app; the target may allow it with `allowed_urls:`"))
}

/// The scheme, host and port of a URL. A path or a fragment of the same page has none.
fn origin(url: &str) -> Option<String> {
    let url = url.trim();
    let (scheme, rest) = url.split_once(':')?;
    let is_scheme = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) && !scheme.is_empty();
    if !is_scheme {
        return None;
    }
    if scheme.eq_ignore_ascii_case("file") {
        return Some("file://".to_string());
    }
    let host = rest.trim_start_matches(['/', '\\']).split(['/', '?', '#', '\\']).next().unwrap_or_default();
    // What is before an `@` is not the host.
    let host = host.rsplit('@').next().unwrap_or_default();
    Some(format!("{}://{}", scheme.to_lowercase(), host.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::origin;

    #[test]
    fn a_host_cannot_be_disguised() {
        for (url, expected) in [
            ("https://shop.example/cart?a=b", Some("https://shop.example")),
            ("HTTPS://Shop.Example:8443/", Some("https://shop.example:8443")),
            ("https://shop.example@evil.example/", Some("https://evil.example")),
            ("https:\\\\evil.example\\shop.example", Some("https://evil.example")),
            ("javascript:alert(1)", Some("javascript://alert(1)")),
            ("file:///etc/passwd", Some("file://")),
            ("/cart", None),
            ("cart.html", None),
        ] {
            assert_eq!(origin(url).as_deref(), expected, "{url}");
        }
    }
}
