//! What a script may do besides calling tools, and how that is done.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, Uri};
use serde_json::{Value, json};
use trailblaze_http::HttpClient;
use trailblaze_script::HostError;
use trailblaze_script::link::normalized;

use crate::http::TIMEOUTS;
use crate::limits;

/// What a script was granted.
#[derive(Debug, Clone, Default)]
pub struct Granted {
    /// The folder that its patterns are relative to.
    root: PathBuf,
    patterns: Vec<String>,
    files: GlobSet,
    origins: Vec<Origin>,
    /// The variables that it may read; `None` for those that are not set.
    variables: BTreeMap<String, Option<String>>,
    pub clock: bool,
}

/// The part of an address that says who is asked: `https://api.example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an origin such as `https://api.example.com`")]
pub struct OriginError(String);

impl Origin {
    /// Reads an origin. Unlike the address of a request, it has no path.
    pub fn parse(text: &str) -> Result<Origin, OriginError> {
        let refuse = || OriginError(text.to_string());
        let uri: Uri = text.parse().map_err(|_| refuse())?;
        let has_path = !matches!(uri.path(), "" | "/") || uri.query().is_some() || text.ends_with('/');
        if has_path || uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(refuse());
        }
        Origin::of(&uri).ok_or_else(refuse)
    }

    fn of(uri: &Uri) -> Option<Origin> {
        let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
        let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
        Some(Origin { scheme: scheme.to_string(), host: uri.host()?.to_ascii_lowercase(), port })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        let usual = if self.scheme == "https" { 443 } else { 80 };
        if self.port == usual { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

impl Granted {
    pub fn new(root: &Path) -> Granted {
        Granted { root: root.to_path_buf(), ..Granted::default() }
    }

    /// Allows files by patterns; the error says which pattern is invalid.
    pub fn allow_files(&mut self, patterns: &[String]) -> Result<(), (usize, globset::Error)> {
        let mut set = GlobSetBuilder::new();
        for (index, pattern) in patterns.iter().enumerate() {
            let glob = GlobBuilder::new(pattern.trim_start_matches("./")).literal_separator(true).build();
            set.add(glob.map_err(|error| (index, error))?);
        }
        self.files = set.build().map_err(|error| (0, error))?;
        self.patterns = patterns.to_vec();
        Ok(())
    }

    pub fn allow_origin(&mut self, origin: Origin) {
        self.origins.push(origin);
    }

    pub fn allow_variable(&mut self, name: &str, value: Option<String>) {
        self.variables.insert(name.to_string(), value);
    }

    /// One line for each grant.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut list = |what: &str, items: Vec<String>| {
            if !items.is_empty() {
                lines.push(format!("{what} {}", items.join(", ")));
            }
        };
        list("reads files:", self.patterns.clone());
        list("sends requests to:", self.origins.iter().map(ToString::to_string).collect());
        list("reads environment variables:", self.variables.keys().cloned().collect());
        if self.clock {
            lines.push("reads the clock".to_string());
        }
        lines
    }

    pub async fn read_file(&self, path: &str) -> Result<String, HostError> {
        let refuse = |reason: String| HostError::Refused(format!("`{path}` cannot be read: {reason}"));
        let not_granted = || refuse("it is not granted; add it to `readFile:` under `grants:`".to_string());
        if self.patterns.is_empty() {
            return Err(not_granted());
        }
        let broken = |error: std::io::Error| refuse(error.to_string());
        // Compared after links and `..` were followed, so that a pattern means what it says.
        let root = tokio::fs::canonicalize(&self.root).await.map_err(broken)?;
        let lexical = normalized(&root.join(path));
        let inside = lexical.strip_prefix(&root).map_err(|_| not_granted())?;
        if !self.files.is_match(inside) {
            return Err(not_granted());
        }
        let file = tokio::fs::canonicalize(&lexical).await.map_err(broken)?;
        if !file.strip_prefix(&root).is_ok_and(|inside| self.files.is_match(inside)) {
            return Err(not_granted());
        }
        let size = tokio::fs::metadata(&file).await.map_err(broken)?;
        if !size.is_file() {
            return Err(refuse("it is not a file".to_string()));
        }
        if size.len() > limits::SCRIPT_INPUT_BYTES as u64 {
            return Err(refuse(format!("it has {} bytes; the limit is {}", size.len(), limits::SCRIPT_INPUT_BYTES)));
        }
        tokio::fs::read_to_string(&file).await.map_err(broken)
    }

    pub fn env(&self, name: &str) -> Result<Option<&str>, HostError> {
        match self.variables.get(name) {
            Some(value) => Ok(value.as_deref()),
            None => {
                let text = format!("the variable `{name}` is not granted; add it to `env:` under `grants:`");
                Err(HostError::Refused(text))
            }
        }
    }

    pub async fn fetch(&self, asked: &Value) -> Result<Value, HostError> {
        let url = asked["url"].as_str().unwrap_or_default();
        let refuse = |reason: String| HostError::Refused(format!("`{url}` cannot be fetched: {reason}"));
        let uri: Uri = url.parse().map_err(|_| refuse("it is not an address".to_string()))?;
        let origin = Origin::of(&uri).ok_or_else(|| refuse("it must start with http:// or https://".to_string()))?;
        if !self.origins.contains(&origin) {
            return Err(refuse(format!("`{origin}` is not granted; add it to `fetch:` under `grants:`")));
        }
        let client = HttpClient::new(&uri, None, TIMEOUTS);
        let request = request(uri, asked).map_err(refuse)?;
        let exchange = async {
            let response = client.request(request).await.map_err(|error| refuse(error.reason))?;
            let (parts, body) = response.into_parts();
            let body = Limited::new(body, limits::SCRIPT_INPUT_BYTES).collect().await;
            let body = body.map_err(|error| refuse(error.to_string()))?.to_bytes();
            let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
            let headers: Vec<Value> =
                parts.headers.iter().map(|(name, value)| json!([name.as_str(), text(value)])).collect();
            let body = String::from_utf8_lossy(&body);
            Ok(json!({"status": parts.status.as_u16(), "headers": headers, "body": body}))
        };
        let too_slow = || refuse(format!("it took longer than {} s", limits::SCRIPT_FETCH.as_secs()));
        tokio::time::timeout(limits::SCRIPT_FETCH, exchange).await.map_err(|_| too_slow())?
    }
}

fn request(uri: Uri, asked: &Value) -> Result<Request<Full<Bytes>>, String> {
    let method = asked["method"].as_str().unwrap_or("GET").to_ascii_uppercase();
    let method = Method::from_bytes(method.as_bytes()).map_err(|_| format!("`{method}` is not a method"))?;
    let body = asked["body"].as_str().unwrap_or_default().to_string();
    let mut request = Request::builder().method(method).uri(uri);
    for header in asked["headers"].as_array().into_iter().flatten() {
        let (name, value) = (header[0].as_str().unwrap_or_default(), header[1].as_str().unwrap_or_default());
        let valid = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
        let (Ok(name), Ok(value)) = valid else { return Err(format!("the header `{name}` is invalid")) };
        request = request.header(name, value);
    }
    request.body(Full::from(body)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_have_no_path() {
        for (text, expected) in [
            ("https://Api.example.com", Some("https://api.example.com")),
            ("http://localhost:8080", Some("http://localhost:8080")),
            ("https://a:443", Some("https://a")),
            ("https://a/b", None),
            ("https://user@a", None),
            ("ftp://a", None),
            ("api.example.com", None),
        ] {
            assert_eq!(Origin::parse(text).ok().map(|origin| origin.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[tokio::test]
    async fn only_granted_files_can_be_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("project");
        std::fs::create_dir_all(root.join("fixtures/deep")).expect("made");
        for (file, text) in
            [("fixtures/a.json", "1"), ("fixtures/deep/b.json", "2"), ("secret.txt", "3"), ("../out.json", "4")]
        {
            std::fs::write(root.join(file), text).expect("written");
        }
        std::os::unix::fs::symlink("../../out.json", root.join("fixtures/link.json")).expect("linked");
        std::os::unix::fs::symlink("../secret.txt", root.join("fixtures/inside.json")).expect("linked");
        let mut granted = Granted::new(&root);
        granted.allow_files(&["./fixtures/**/*.json".to_string()]).expect("valid");
        let read = async |path: &str| granted.read_file(path).await.ok();
        assert_eq!(read("fixtures/a.json").await.as_deref(), Some("1"));
        assert_eq!(read("./fixtures/../fixtures/deep/b.json").await.as_deref(), Some("2"));
        for path in [
            "secret.txt",
            "fixtures/../secret.txt",
            "../out.json",
            "fixtures/link.json",
            "fixtures/inside.json",
            "/etc/passwd",
            "fixtures",
            "",
        ] {
            assert_eq!(read(path).await, None, "{path}");
        }
    }
}
