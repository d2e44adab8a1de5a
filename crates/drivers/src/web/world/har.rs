//! HAR files: reading one to answer requests from it, and writing one.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use trailblaze_core::driver::{
    DriverError, ExchangeBody, MissingInHar, NetworkExchange, REMOVED, Redact, RequestPattern, har,
};

use super::super::backend_world::HeldRequest;
use super::super::private_file::write_private;
use super::rules::{ReadyResponse, asked_method, permission};

/// The largest HAR file that is read, in bytes.
const FILE: u64 = 256 << 20;

/// A HAR file that requests are answered from.
pub struct HarReplay {
    file: PathBuf,
    pattern: RequestPattern,
    missing: MissingInHar,
    redact: Redact,
    entries: Vec<HarEntry>,
}

struct HarEntry {
    method: String,
    url: String,
    body: Option<String>,
    /// `None` if it had no answer.
    response: Option<ReadyResponse>,
    /// How often it was used.
    n_uses: u64,
}

/// What a HAR file says about a request.
#[derive(Debug, PartialEq)]
pub enum HarAnswer {
    Respond(ReadyResponse),
    /// It failed when it was recorded.
    Failed,
    Missing(MissingInHar),
}

#[derive(Deserialize)]
struct HarFile {
    log: HarLog,
}

#[derive(Deserialize)]
struct HarLog {
    entries: Vec<WrittenEntry>,
}

#[derive(Deserialize)]
struct WrittenEntry {
    request: WrittenRequest,
    response: WrittenResponse,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenRequest {
    method: String,
    url: String,
    post_data: Option<WrittenBody>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenResponse {
    /// Some programs write -1 if there was none.
    status: i64,
    #[serde(default)]
    headers: Vec<WrittenHeader>,
    #[serde(default)]
    content: WrittenBody,
}

#[derive(Deserialize)]
struct WrittenHeader {
    name: String,
    value: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct WrittenBody {
    text: Option<String>,
    encoding: Option<String>,
    mime_type: Option<String>,
    #[serde(default, rename = "_cut")]
    is_cut: bool,
}

impl HarReplay {
    pub fn read(file: &Path, url: &str, missing: MissingInHar, redact: Redact) -> Result<HarReplay, DriverError> {
        let wrong = |place: &str, why: &str, advice: &str| DriverError::Refused {
            reason: format!("`{}`{place} cannot be replayed: {why}; {advice}", file.display()),
        };
        let again = "record it with web_recordHar, or export it from the browser's own tools as HAR 1.2";
        let unreadable = |error: std::io::Error| {
            wrong("", &error.to_string(), "`file` is relative to the trail; web_recordHar makes one")
        };
        let length = std::fs::metadata(file).map_err(unreadable)?.len();
        if length > FILE {
            let why = format!("it has {length} bytes, and at most {FILE} are read");
            return Err(wrong("", &why, "record less, with `pattern`"));
        }
        let text = std::fs::read_to_string(file).map_err(unreadable)?;
        // Some programs write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let parsed: HarFile = serde_json::from_str(text).map_err(|error| {
            let said = error.to_string();
            let why = said.rsplit_once(" at line ").map_or(said.as_str(), |(why, _)| why);
            wrong(&format!(", line {}, column {},", error.line(), error.column()), why, again)
        })?;
        let mut entries = Vec::new();
        for (index, entry) in parsed.log.entries.into_iter().enumerate() {
            let entry = HarEntry::of(entry).map_err(|why| wrong(&format!(", entry {index},"), &why, again))?;
            entries.push(entry);
        }
        let pattern = RequestPattern { url: url.to_string(), method: None };
        Ok(HarReplay { file: file.to_path_buf(), pattern, missing, redact, entries })
    }

    pub fn n_entries(&self) -> usize {
        self.entries.len()
    }

    /// The name of the file, for people.
    pub fn name(&self) -> String {
        self.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub fn is_for(&self, url: &str) -> bool {
        let has_host = url.starts_with("http://") || url.starts_with("https://");
        has_host && self.pattern.matches("", url)
    }

    /// The next answer to such a request; the last one is given again and again.
    pub fn answer(&mut self, request: &HeldRequest) -> HarAnswer {
        // The file has the names of secrets in place of their values.
        let redacted = |text: &str| {
            let mut text = text.to_string();
            (self.redact.0)(&mut text);
            text
        };
        let (url, body) = (redacted(&request.url), redacted(&request.body));
        let asked = asked_method(request);
        let method = asked.unwrap_or(&request.method);
        // Its fragment is not sent.
        let url = url.split('#').next().unwrap_or_default();
        let is_it = |entry: &&mut HarEntry| entry.method.eq_ignore_ascii_case(method) && entry.url == url;
        let found: Vec<&mut HarEntry> = self.entries.iter_mut().filter(is_it).collect();
        let has_same_body = found.iter().any(|entry| entry.body.as_deref() == Some(body.as_str()));
        let is_same = |entry: &&mut HarEntry| !has_same_body || entry.body.as_deref() == Some(body.as_str());
        let fewest = found.into_iter().filter(is_same).enumerate();
        // The first that was not used, or else the last.
        let next = fewest.min_by_key(|(index, entry)| match entry.n_uses {
            0 => (0, *index),
            _ => (1, usize::MAX - index),
        });
        let Some((_, entry)) = next else { return HarAnswer::Missing(self.missing) };
        if asked.is_some() {
            return HarAnswer::Respond(permission(request));
        }
        entry.n_uses += 1;
        entry.response.clone().map_or(HarAnswer::Failed, HarAnswer::Respond)
    }
}

impl HarEntry {
    fn of(entry: WrittenEntry) -> Result<HarEntry, String> {
        let WrittenEntry { request, response } = entry;
        let content = response.content;
        if content.is_cut {
            return Err(format!("the body of {} was cut off", request.url));
        }
        let text = content.text.unwrap_or_default();
        let body = match content.encoding.as_deref() {
            Some("base64") => BASE64_STANDARD.decode(text.trim()).map_err(|error| {
                format!("the body of {} is not base64, as its `encoding` says: {error}", request.url)
            })?,
            _ => text.into_bytes(),
        };
        let status = u16::try_from(response.status).ok().filter(|status| (200..=599).contains(status));
        // A cookie without its value would sign somebody out.
        let is_kept = |header: &WrittenHeader| {
            let dropped = ["content-length", "content-encoding", "transfer-encoding"];
            !dropped.iter().any(|name| header.name.eq_ignore_ascii_case(name))
                && !header.name.starts_with(':')
                && !header.value.contains(REMOVED)
        };
        let kept = response.headers.into_iter().filter(is_kept);
        let mut headers: Vec<(String, String)> = kept.map(|header| (header.name, header.value)).collect();
        let kind = content.mime_type.filter(|kind| !kind.is_empty());
        if let Some(kind) = kind
            && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        {
            headers.push(("Content-Type".to_string(), kind));
        }
        let response = status.map(|status| ReadyResponse { status, headers, body });
        let url = request.url.split('#').next().unwrap_or_default().to_string();
        let body = request.post_data.and_then(|body| body.text);
        Ok(HarEntry { method: request.method, url, body, response, n_uses: 0 })
    }
}

/// A HAR file that is being recorded.
pub struct HarRecording {
    file: PathBuf,
    pattern: RequestPattern,
    redact: Redact,
}

impl HarRecording {
    pub fn new(file: &str, url: &str, redact: Redact) -> HarRecording {
        let pattern = RequestPattern { url: url.to_string(), method: None };
        HarRecording { file: PathBuf::from(file), pattern, redact }
    }

    pub fn file(&self) -> String {
        self.file.display().to_string()
    }

    /// Writes the file without secrets. Returns its path, and how many requests it has.
    pub fn write(&self, exchanges: Vec<NetworkExchange>) -> Result<(String, usize), DriverError> {
        let is_it = |exchange: &NetworkExchange| {
            exchange.url.starts_with("http") && self.pattern.matches(&exchange.method, &exchange.url)
        };
        let mut recorded: Vec<NetworkExchange> = exchanges.into_iter().filter(is_it).collect();
        for exchange in &mut recorded {
            exchange.redact(&|text| (self.redact.0)(text));
            // Half of a body would be replayed as if it were whole.
            if let Some(response) = &mut exchange.response {
                response.body.take_if(|body| matches!(body, ExchangeBody::Text { is_cut: true, .. }));
            }
        }
        write_private(&self.file, &format!("{:#}\n", har(&recorded))).map_err(|error| DriverError::Refused {
            reason: format!("the HAR file cannot be written to `{}`: {error}", self.file.display()),
        })?;
        Ok((self.file(), recorded.len()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn no_secrets() -> Redact {
        Redact(Arc::new(|_| {}))
    }

    fn read(text: &str) -> Result<HarReplay, DriverError> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("shop.har");
        std::fs::write(&file, text).expect("a file");
        HarReplay::read(&file, "", MissingInHar::Abort, no_secrets())
    }

    fn wrong(text: &str) -> String {
        let Err(error) = read(text) else { panic!("{text} is read") };
        error.to_string()
    }

    #[test]
    fn a_broken_file_is_named_with_the_place_and_what_to_do() {
        let broken = wrong("{\"log\": {\n  \"entries\": [,]}}");
        assert!(broken.contains("shop.har`, line 2, column 15, cannot be replayed"), "{broken}");
        assert!(broken.contains("web_recordHar"), "{broken}");
        let broken = wrong("{\"log\": {\n\"entries\": [{\"request\": {\"method\": \"GET\"}}]}}");
        assert!(broken.contains("line 2, column 43") && broken.contains("missing field `url`"), "{broken}");
        let entry = "{\"request\": {\"method\": \"GET\", \"url\": \"http://a/\"}, \"response\": {\"status\": 200, \"content\": \
                     {\"text\": \"%\", \"encoding\": \"base64\"}}}";
        let broken = wrong(&format!("{{\"log\": {{\"entries\": [{entry}]}}}}"));
        assert!(broken.contains("entry 0") && broken.contains("not base64"), "{broken}");
    }

    #[test]
    fn the_answers_to_the_same_request_follow_each_other() {
        let entry = |url: &str, status: i64, body: &str| {
            format!(
                "{{\"request\": {{\"method\": \"GET\", \"url\": \"{url}\"}}, \"response\": {{\"status\": {status}, \"content\": \
                 {{\"text\": \"{body}\", \"mimeType\": \"text/plain\"}}}}}}"
            )
        };
        let entries = [entry("http://a/n", 200, "one"), entry("http://a/n", 200, "two"), entry("http://a/gone", 0, "")];
        let mut replay = read(&format!("{{\"log\": {{\"entries\": [{}]}}}}", entries.join(","))).expect("a HAR file");
        let mut ask = |url: &str| {
            let request = HeldRequest { method: "GET".into(), url: url.into(), ..HeldRequest::default() };
            match replay.answer(&request) {
                HarAnswer::Respond(response) => String::from_utf8(response.body).expect("text"),
                HarAnswer::Failed => "failed".to_string(),
                HarAnswer::Missing(_) => "missing".to_string(),
            }
        };
        let asked = ["http://a/n#top", "http://a/n", "http://a/n", "http://a/gone", "http://b/"].map(&mut ask);
        assert_eq!(asked, ["one", "two", "two", "failed", "missing"]);
    }

    #[test]
    fn a_file_has_no_secrets_and_is_answered_from_nevertheless() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("shop.har");
        let redact = Redact(Arc::new(|text| *text = text.replace("hunter2", "{{PIN}}")));
        let exchange = NetworkExchange {
            method: "GET".into(),
            url: "http://a/?pin=hunter2".into(),
            response: Some(trailblaze_core::driver::ExchangeResponse {
                status: 200,
                body: ExchangeBody::of(b"yours is hunter2".to_vec(), 100),
                ..Default::default()
            }),
            ..NetworkExchange::default()
        };
        let recording = HarRecording::new(&file.display().to_string(), "", redact.clone());
        assert_eq!(recording.write(vec![exchange]).expect("a file").1, 1);
        assert!(!std::fs::read_to_string(&file).expect("a file").contains("hunter2"));
        let mut replay = HarReplay::read(&file, "", MissingInHar::Abort, redact).expect("a HAR file");
        let request =
            HeldRequest { method: "GET".into(), url: "http://a/?pin=hunter2".into(), ..HeldRequest::default() };
        let HarAnswer::Respond(response) = replay.answer(&request) else { panic!("it is answered") };
        assert_eq!(response.body, b"yours is {{PIN}}");
    }
}
