//! Files that an endpoint keeps of its sessions, such as videos and logs: fetched when the session has ended, because most are not complete
//! before that.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, Uri};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};
use trailblaze_core::driver::LateFile;
use trailblaze_http::{HttpClient, ProxySettings, Timeouts, USER_AGENT};
use trailblaze_protocol::outcome::Attachment;

use super::http::EndpointAddress;

/// What stands for the id of the session in an address.
pub const SESSION_ID: &str = "{sessionId}";
/// The largest file that is fetched, and how many are at a time: each is in memory.
const LARGEST: usize = 64 << 20;
pub const AT_A_TIME: usize = 4;
/// How long a file may take, from the end of its session, and the pauses between two requests for one that is not there yet.
const FETCHING: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);
/// How often an answer may lead to another address, as the storage of a farm does.
const REDIRECTS: usize = 5;
const TIMEOUTS: Timeouts = Timeouts { connect: Duration::from_secs(10), idle: Duration::from_secs(5) };

/// Where an endpoint has a file of each session.
#[derive(Clone, PartialEq)]
pub struct ArtifactPlace {
    /// What it is: `video`.
    pub name: String,
    /// With the values of variables.
    pub url: String,
    /// As it is written in the project, for messages.
    pub shown: String,
}

/// The files that an endpoint keeps of each session.
pub struct SessionArtifacts {
    places: Vec<ArtifactPlace>,
    endpoint: EndpointAddress,
    proxies: ProxySettings,
    permits: Arc<Semaphore>,
}

/// Why a file was not fetched.
enum FetchFault {
    /// It may be there later.
    NotYet(String),
    Final(String),
}

impl SessionArtifacts {
    /// `None` if there are none.
    pub fn new(
        places: &[ArtifactPlace],
        endpoint: &EndpointAddress,
        proxies: &ProxySettings,
        permits: &Arc<Semaphore>,
    ) -> Option<Arc<SessionArtifacts>> {
        let (endpoint, proxies, permits) = (endpoint.clone(), proxies.clone(), Arc::clone(permits));
        let artifacts = SessionArtifacts { places: places.to_vec(), endpoint, proxies, permits };
        (!places.is_empty()).then(|| Arc::new(artifacts))
    }

    /// The files of a session that has ended.
    pub fn of_session(self: &Arc<Self>, session: &str) -> Vec<LateFile> {
        let ended = Instant::now();
        let file = |index: usize| {
            let (own, session) = (Arc::clone(self), session.to_string());
            let coming = Box::pin(async move {
                let place = &own.places[index];
                let url = place.url.replace(SESSION_ID, &session);
                own.fetch(place, &url, ended + FETCHING).await
            });
            LateFile { name: self.places[index].name.clone(), coming }
        };
        (0..self.places.len()).map(file).collect()
    }

    async fn fetch(&self, place: &ArtifactPlace, url: &str, deadline: Instant) -> Result<Attachment, String> {
        let _permit = self.permits.acquire().await;
        // One that had to wait for others has time, too.
        let deadline = deadline.max(Instant::now() + FETCHING / 2);
        let mut pause = FIRST_PAUSE;
        let mut why = "it does not answer".to_string();
        loop {
            match timeout_at(deadline, self.fetch_once(place, url)).await {
                Ok(Ok(file)) => return Ok(file),
                Ok(Err(FetchFault::Final(why))) => return Err(explain(place, &why)),
                Ok(Err(FetchFault::NotYet(last))) => why = last,
                Err(_) => {}
            }
            if Instant::now() + pause >= deadline {
                return Err(explain(place, &format!("{why}, {} seconds after the session", FETCHING.as_secs())));
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn fetch_once(&self, place: &ArtifactPlace, url: &str) -> Result<Attachment, FetchFault> {
        let mut url = url.to_string();
        for _ in 0..=REDIRECTS {
            let wrong = |why: String| FetchFault::Final(why);
            let own = EndpointAddress::with_query(&url).map_err(wrong)?;
            let uri: Uri = own.shown().parse().map_err(|_| wrong("it is not an address".to_string()))?;
            let proxy = self.proxies.proxy_for(&uri).map_err(|error| wrong(error.to_string()))?;
            let client = HttpClient::new(&uri, proxy, TIMEOUTS);
            let mut request = Request::new(Full::new(Bytes::new()));
            *request.uri_mut() = uri.clone();
            *request.headers_mut() = self.headers(&own, &uri);
            request.headers_mut().insert(header::USER_AGENT, USER_AGENT);
            let response = client.request(request).await.map_err(|error| FetchFault::NotYet(error.reason))?;
            let status = response.status();
            if status.is_redirection()
                && let Some(to) = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok())
            {
                url = target(&uri, to);
                continue;
            }
            if !status.is_success() {
                let why = format!("it answers {}", status.as_u16());
                return Err(match status.as_u16() {
                    404 | 408 | 409 | 425 | 429 | 500..=599 => FetchFault::NotYet(why),
                    _ => FetchFault::Final(why),
                });
            }
            let mime = mime(response.headers().get(header::CONTENT_TYPE), uri.path());
            let body = Limited::new(response.into_body(), LARGEST).collect().await.map_err(|error| {
                match error.downcast_ref::<http_body_util::LengthLimitError>() {
                    Some(_) => FetchFault::Final(format!("it has more than {} MB", LARGEST >> 20)),
                    None => FetchFault::NotYet(format!("it broke off: {error}")),
                }
            })?;
            let bytes = body.to_bytes().to_vec().into();
            return Ok(Attachment { name: place.name.clone(), mime, file: None, bytes });
        }
        Err(FetchFault::Final("it leads from one address to another".to_string()))
    }

    /// The credentials in the address itself, or those of the endpoint if the file is there.
    fn headers(&self, own: &EndpointAddress, uri: &Uri) -> HeaderMap {
        let endpoint: Option<Uri> = self.endpoint.shown().parse().ok();
        let is_there = endpoint.is_some_and(|endpoint| {
            endpoint.scheme() == uri.scheme() && endpoint.authority() == uri.authority() && own.headers().is_empty()
        });
        if is_there { self.endpoint.header_map() } else { own.header_map() }
    }
}

/// The address in a message is the one of the project: that of the session has its id, and maybe a key.
fn explain(place: &ArtifactPlace, why: &str) -> String {
    format!("the {} of the session was not fetched from {}: {why}", place.name, place.shown)
}

/// Where an answer leads to, which may be relative to where it comes from.
fn target(from: &Uri, to: &str) -> String {
    let origin =
        format!("{}://{}", from.scheme_str().unwrap_or("http"), from.authority().map_or("", |host| host.as_str()));
    match to {
        to if to.contains("://") => to.to_string(),
        to if to.starts_with("//") => format!("{}:{to}", from.scheme_str().unwrap_or("http")),
        to if to.starts_with('/') => format!("{origin}{to}"),
        to => {
            let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{origin}{folder}/{to}")
        }
    }
}

/// The type of a file, as its server says, or by the ending of its name if that says nothing.
fn mime(said: Option<&HeaderValue>, path: &str) -> String {
    let said = said.and_then(|said| said.to_str().ok()).unwrap_or_default();
    let essence = said.split(';').next().unwrap_or_default().trim();
    if !matches!(essence, "" | "application/octet-stream" | "binary/octet-stream") {
        return essence.to_string();
    }
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let known = [
        ("mp4", "video/mp4"),
        ("webm", "video/webm"),
        ("json", "application/json"),
        ("har", "application/json"),
        ("log", "text/plain"),
        ("txt", "text/plain"),
        ("zip", "application/zip"),
        ("png", "image/png"),
    ];
    let known = known.into_iter().find(|(known, _)| ending.eq_ignore_ascii_case(known));
    known.map_or("application/octet-stream", |(_, mime)| mime).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_leads_to_an_address_of_its_own_or_to_one_beside_it() {
        let from: Uri = "https://hub.example/videos/a.mp4".parse().unwrap();
        for (to, expected) in [
            ("https://store.example/b?key=1", "https://store.example/b?key=1"),
            ("/other/a.mp4", "https://hub.example/other/a.mp4"),
            ("b.mp4", "https://hub.example/videos/b.mp4"),
            ("//store.example/b", "https://store.example/b"),
        ] {
            assert_eq!(target(&from, to), expected);
        }
    }

    #[test]
    fn a_file_without_a_type_has_that_of_its_ending() {
        let said = HeaderValue::from_static("text/plain; charset=utf-8");
        assert_eq!(mime(Some(&said), "/a.mp4"), "text/plain");
        assert_eq!(mime(Some(&HeaderValue::from_static("application/octet-stream")), "/a.mp4"), "video/mp4");
        assert_eq!(mime(None, "/a"), "application/octet-stream");
    }
}
