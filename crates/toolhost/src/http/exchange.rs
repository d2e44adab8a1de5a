//! Sends one message over HTTP and handles the response: an answer, a stream of messages, or an error.

use std::sync::{Arc, Weak};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap};
use hyper::{Method, Response, StatusCode};
use serde_json::Value;
use trailblaze_core::foreign_json;
use trailblaze_http::reason;

use super::sse::{Events, TooLong};
use super::{Http, HttpError, RequestParts, SESSION, STREAM};
use crate::connection::{RpcError, Shared, Wire, shown};
use crate::limits;

/// A message to send.
pub(crate) struct Post {
    /// The id of a request; `None` for a notification.
    pub id: Option<u64>,
    pub method: String,
    /// Extra headers.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The token of the call that it makes.
    pub call: Option<u64>,
}

impl Post {
    /// A notification, or a response to a request of the peer.
    pub fn notice(method: &str, body: Vec<u8>) -> Post {
        Post { id: None, method: method.into(), headers: Vec::new(), body, call: None }
    }

    /// Sends it in the background. The request is always completed, if only with an error.
    pub fn send(self, shared: &Arc<Shared>) {
        let Wire::Http(http) = &shared.wire else { unreachable!("only http sends posts") };
        let (id, sender) = (self.id, Arc::clone(shared));
        // Held until the task is registered, so that a task that has already finished does not stay registered.
        let mut in_flight = http.in_flight.lock();
        let task = tokio::spawn(async move {
            let Some(id) = self.id else {
                // A notification has no caller that would bound it.
                let _ = tokio::time::timeout(limits::NOTICE, self.exchange(&sender)).await;
                return;
            };
            let lost = self.exchange(&sender).await.err().unwrap_or(HttpError::NoResult);
            sender.settle(id, Err(lost.into()));
            if let Wire::Http(http) = &sender.wire {
                http.in_flight.lock().remove(&id);
            }
        });
        match id {
            Some(id) => drop(in_flight.insert(id, task.abort_handle())),
            None => {
                let mut notices = http.notices.lock();
                notices.retain(|notice| !notice.is_finished());
                notices.push(task);
            }
        }
    }

    /// Sends it and handles the whole response.
    pub async fn exchange(&self, shared: &Arc<Shared>) -> Result<(), HttpError> {
        let Wire::Http(http) = &shared.wire else { unreachable!("only http sends posts") };
        let has_session = http.session.lock().is_some();
        let parts = RequestParts {
            method: Method::POST,
            body: Bytes::copy_from_slice(&self.body),
            headers: self.headers(http),
        };
        let response = http.send(&parts).await?;
        if self.method == "initialize" {
            *http.session.lock() = response.headers().get(SESSION).cloned();
        }
        let status = response.status();
        if status == StatusCode::NOT_FOUND && has_session {
            return Err(HttpError::SessionGone);
        }
        if !status.is_success() {
            return self.refused(shared, http, response).await;
        }
        let Some(id) = self.id else { return Ok(()) };
        match kind(response.headers()).as_str() {
            STREAM => follow(shared, http, (id, self.call), response).await,
            "application/json" => {
                let body = body(response, limits::LINE_BYTES).await?;
                shared.take_message(body.trim_ascii(), self.call).map_err(HttpError::Broke)
            }
            // Accepted without a body: no answer will come.
            "" => Err(HttpError::NoResult),
            kind => {
                let kind = shown(kind.as_bytes());
                let said = first_words(response).await;
                Err(HttpError::Kind { url: http.address.shown(), kind, said })
            }
        }
    }

    /// Handles a status other than success. The body may still contain an answer.
    async fn refused(&self, shared: &Arc<Shared>, http: &Http, response: Response<Incoming>) -> Result<(), HttpError> {
        let (status, url) = (response.status(), http.address.shown());
        if let Some(to) = response.headers().get(header::LOCATION).filter(|_| status.is_redirection()) {
            return Err(HttpError::Redirected { url, to: shown(to.as_bytes()) });
        }
        let text = body(response, limits::REFUSAL_BYTES).await.unwrap_or_default();
        let answer = foreign_json::read::<Value>(&text).ok().map(|answer| answer.value);
        let error = answer.filter(|answer| answer.get("jsonrpc").is_some());
        let error =
            error.and_then(|mut answer| serde_json::from_value::<RpcError>(answer.get_mut("error")?.take()).ok());
        match (self.id, error) {
            // The id may be missing if the peer did not parse the request.
            (Some(id), Some(error)) => {
                shared.settle(id, Err(error.into()));
                Ok(())
            }
            _ => Err(HttpError::Status { status, url, said: shown(text.trim_ascii()) }),
        }
    }

    fn headers(&self, http: &Http) -> Vec<(&str, String)> {
        if !http.is_stateless() || self.method.is_empty() {
            return Vec::new();
        }
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), plain(value)));
        [("mcp-method", self.method.clone())].into_iter().chain(own).collect()
    }
}

/// A value as a header can carry it.
fn plain(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && value.trim() == value;
    let is_ambiguous = value.starts_with("=?base64?") && value.ends_with("?=");
    if is_plain && !is_ambiguous { value.to_string() } else { format!("=?base64?{}?=", BASE64_STANDARD.encode(value)) }
}

fn kind(headers: &HeaderMap) -> String {
    let kind = headers.get(header::CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()).to_lowercase());
    kind.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_string()
}

/// Reads a whole body, up to a limit.
async fn body(mut response: Response<Incoming>, limit: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(frame) = response.frame().await {
        let frame = frame.map_err(|error| HttpError::BrokeOff { reason: reason(&error) })?;
        if let Some(data) = frame.data_ref() {
            body.extend_from_slice(data);
        }
        if body.len() > limit {
            return Err(HttpError::TooLong);
        }
    }
    Ok(body)
}

/// The beginning of an unexpected body.
async fn first_words(mut response: Response<Incoming>) -> String {
    let frame = tokio::time::timeout(limits::END_GRACE, response.frame()).await;
    let data = frame.ok().flatten().and_then(Result::ok).and_then(|frame| frame.into_data().ok());
    data.map(|data| shown(data.trim_ascii())).unwrap_or_default()
}

/// Reads messages from a stream until the answer has arrived. Resumes a stream that breaks off, if possible.
async fn follow(
    shared: &Arc<Shared>,
    http: &Http,
    (id, call): (u64, Option<u64>),
    mut response: Response<Incoming>,
) -> Result<(), HttpError> {
    let mut place = ExchangePlace::default();
    let mut n_breaks = 0;
    loop {
        let broken = match read(shared, response, &mut place, Some((id, call))).await {
            Ok(()) if !shared.is_waiting(id) => return Ok(()),
            Ok(()) => HttpError::NoResult,
            Err(broken @ HttpError::BrokeOff { .. }) => broken,
            Err(lost) => return Err(lost),
        };
        n_breaks = if std::mem::take(&mut place.has_moved) { 1 } else { n_breaks + 1 };
        if place.last_id.is_none() || http.is_stateless() || n_breaks > limits::RESUMES {
            return Err(broken);
        }
        tokio::time::sleep(place.pause()).await;
        response = match http.send(&place.request()).await {
            Ok(response) if response.status() == StatusCode::OK && kind(response.headers()) == STREAM => response,
            // It cannot be resumed; why it broke off is the better error.
            _ => return Err(broken),
        };
    }
}

/// How far a stream has been read.
#[derive(Default)]
struct ExchangePlace {
    last_id: Option<String>,
    retry: Option<Duration>,
    /// Whether anything has arrived since the last check.
    has_moved: bool,
}

impl ExchangePlace {
    fn pause(&self) -> Duration {
        self.retry.unwrap_or(limits::RECONNECT_PAUSE).min(limits::LONGEST_RETRY)
    }

    fn request(&self) -> RequestParts<'static> {
        let headers = self.last_id.iter().map(|id| ("last-event-id", id.clone())).collect();
        RequestParts { method: Method::GET, body: Bytes::new(), headers }
    }
}

/// Reads the messages of a stream until it ends or, when waiting for one answer, until shortly after that has arrived.
async fn read(
    shared: &Arc<Shared>,
    mut response: Response<Incoming>,
    place: &mut ExchangePlace,
    waiting: Option<(u64, Option<u64>)>,
) -> Result<(), HttpError> {
    let mut events = Events::default();
    loop {
        let is_over = waiting.is_some_and(|(id, _)| !shared.is_waiting(id));
        let frame = if is_over {
            // Reading the stream to its end makes the connection reusable.
            match tokio::time::timeout(limits::END_GRACE, response.frame()).await {
                Ok(Some(Ok(frame))) => frame,
                _ => return Ok(()),
            }
        } else {
            match response.frame().await {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Err(HttpError::BrokeOff { reason: reason(&error) }),
                None => return Ok(()),
            }
        };
        let Some(data) = frame.data_ref() else { continue };
        let found = events.push(data).map_err(|TooLong| HttpError::TooLong)?;
        place.retry = events.retry.or(place.retry);
        for event in found {
            place.has_moved = true;
            place.last_id = event.id.or(place.last_id.take());
            if !event.data.is_empty() {
                shared
                    .take_message(event.data.as_bytes(), waiting.and_then(|(_, call)| call))
                    .map_err(HttpError::Broke)?;
            }
        }
    }
}

/// Reads messages that belong to no request, for as long as the connection exists and the peer offers such a stream.
pub(super) async fn listen(shared: Weak<Shared>) {
    let mut place = ExchangePlace::default();
    let mut n_failures = 0;
    while n_failures < limits::RESUMES {
        let Some(shared) = shared.upgrade() else { return };
        let Wire::Http(http) = &shared.wire else { return };
        let response = match http.send(&place.request()).await {
            Ok(response) if response.status() == StatusCode::OK && kind(response.headers()) == STREAM => response,
            // The peer offers no such stream, or no longer knows the session.
            Ok(_) => return,
            Err(_) => {
                n_failures += 1;
                tokio::time::sleep(place.pause()).await;
                continue;
            }
        };
        let _ = read(&shared, response, &mut place, None).await;
        n_failures = if std::mem::take(&mut place.has_moved) { 0 } else { n_failures + 1 };
        tokio::time::sleep(place.pause()).await;
    }
}
