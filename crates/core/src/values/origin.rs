//! The origin of a web page: who it belongs to.

/// The origin of a page that nobody has opened yet.
pub const BLANK: &str = "about://blank";

/// The scheme, host and port of a URL. A path or a fragment of the same page has none.
pub fn origin(url: &str) -> Option<String> {
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
            ("about:blank", Some("about://blank")),
            ("/cart", None),
            ("cart.html", None),
        ] {
            assert_eq!(origin(url).as_deref(), expected, "{url}");
        }
    }
}
