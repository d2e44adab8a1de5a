//! Which proxy a URL is reached through, as the environment says.

use std::fmt;
use std::net::IpAddr;

use hyper::Uri;
use hyper::header::HeaderValue;
use hyper_util::client::proxy::matcher::Matcher;

/// The values of `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`; empty if not set.
#[derive(Clone, Default)]
pub struct ProxySettings {
    pub https: String,
    pub http: String,
    pub all: String,
    pub no: String,
}

/// Proxies may contain a password.
impl fmt::Debug for ProxySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxySettings").field("no", &self.no).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    #[error(
        "the proxy of the environment is not a URL that starts with http://, got one that starts with `{scheme}://`"
    )]
    Scheme { scheme: String },
}

/// A proxy that was found for a URL.
#[derive(Debug, Clone)]
pub struct Proxy {
    pub(crate) uri: Uri,
    pub(crate) authorization: Option<HeaderValue>,
}

impl Proxy {
    /// Its host and port, for messages.
    pub(crate) fn shown(&self) -> String {
        self.uri.authority().map(ToString::to_string).unwrap_or_default()
    }
}

impl ProxySettings {
    /// The proxy for a URL. This machine is always reached directly.
    pub fn proxy_for(&self, url: &Uri) -> Result<Option<Proxy>, ProxyError> {
        if url.host().is_none_or(is_loopback) {
            return Ok(None);
        }
        let (https, http, all, no) = (&*self.https, &*self.http, &*self.all, &*self.no);
        let matcher = Matcher::builder().https(https).http(http).all(all).no(no).build();
        let Some(found) = matcher.intercept(url) else { return Ok(None) };
        match found.uri().scheme_str() {
            Some("http") | None => {}
            Some(scheme) => return Err(ProxyError::Scheme { scheme: scheme.to_string() }),
        }
        let authorization = found.basic_auth().cloned().map(|mut value| {
            value.set_sensitive(true);
            value
        });
        Ok(Some(Proxy { uri: found.uri().clone(), authorization }))
    }
}

fn is_loopback(host: &str) -> bool {
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    plain.eq_ignore_ascii_case("localhost") || plain.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: Option<&str>) {
        let settings = ProxySettings {
            https: "http://ada:pw@proxy.corp:3128".into(),
            http: "proxy.corp:8080".into(),
            all: String::new(),
            no: "internal.corp, 10.0.0.0/8".into(),
        };
        let proxy = settings.proxy_for(&url.parse().expect("a URL")).expect("a usable proxy");
        assert_eq!(proxy.map(|proxy| proxy.shown()).as_deref(), expected);
    }

    #[test]
    fn the_environment_decides_which_hosts_have_a_proxy() {
        check("https://api.openai.com/v1", Some("proxy.corp:3128"));
        check("http://models.example/v1", Some("proxy.corp:8080"));
        check("https://llm.internal.corp/v1", None);
        check("https://10.1.2.3/v1", None);
        for local in ["http://localhost:11434", "http://127.0.0.1:1", "http://[::1]:1", "https://LOCALHOST"] {
            check(local, None);
        }
    }

    #[test]
    fn a_proxy_of_another_kind_is_refused_without_its_password() {
        let settings = ProxySettings { all: "socks5://ada:pw@proxy:1080".into(), ..ProxySettings::default() };
        let error = settings.proxy_for(&"https://api.openai.com".parse().expect("a URL")).expect_err("not supported");
        assert!(error.to_string().ends_with("`socks5://`") && !error.to_string().contains("pw"), "{error}");
        assert!(!format!("{settings:?}").contains("pw"));
    }
}
