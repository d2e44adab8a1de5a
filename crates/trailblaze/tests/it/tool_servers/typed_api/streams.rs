//! Streams: events that a reader can resume, and devices.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::cases::project;
use super::served::Served;
use super::wire::{Caller, Protocol, frame};
use crate::support::PATIENCE;

/// A stream over Connect, as JSON.
struct Stream {
    response: Response<Incoming>,
    bytes: Vec<u8>,
}

impl Stream {
    async fn open(served: &Served, method: &str, params: Value) -> Stream {
        Stream::open_with(served, method, params, Vec::new()).await
    }

    async fn open_with(served: &Served, method: &str, params: Value, headers: Vec<(&'static str, String)>) -> Stream {
        let mut caller = Caller { headers, ..Caller::of(served, Protocol::ConnectJson) };
        caller.content_type = Some("application/connect+json");
        let body = frame(params.to_string().as_bytes()).into();
        let response = caller.send(&format!("trailblaze.v1.{method}"), body).await;
        assert_eq!(response.status(), 200);
        Stream { response, bytes: Vec::new() }
    }

    /// The next message; `Err` with what ended the stream.
    async fn next(&mut self) -> Result<Value, Value> {
        loop {
            if let Some((head, rest)) = self.bytes.split_at_checked(5) {
                let length = u32::from_be_bytes(head[1..].try_into().expect("four bytes")) as usize;
                if rest.len() >= length {
                    let (flags, message) = (head[0], serde_json::from_slice(&rest[..length]).expect("JSON"));
                    self.bytes.drain(..5 + length);
                    return if flags & 2 == 0 { Ok(message) } else { Err(message) };
                }
            }
            let frame = timeout(PATIENCE, self.response.frame()).await.expect("in time");
            let frame = frame.expect("the end is announced").expect("a frame");
            self.bytes.extend_from_slice(&frame.into_data().expect("data"));
        }
    }
}

#[tokio::test]
async fn events_are_followed_and_resumed_by_their_number() {
    let project = project();
    let served = Served::on(&project, "android/sim-1");
    let caller = Caller::of(&served, Protocol::ConnectJson);
    let mut events = Stream::open(&served, "TrailblazeSession/WatchEvents", json!({})).await;
    for _ in 0..3 {
        caller.call("TrailblazeCommands/HasText", json!({"text": "x"})).await.expect("an answer");
    }
    let mut seen = Vec::new();
    while seen.iter().filter(|event: &&Value| event["type"] == "answered").count() < 3 {
        seen.push(events.next().await.expect("an event"));
    }
    let numbers: Vec<i64> = seen.iter().map(|event| event["number"].as_i64().expect("a number")).collect();
    assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>(), "without gaps");
    let event: Value = serde_json::from_str(seen[0]["json"].as_str().expect("JSON")).expect("JSON");
    let keys: Vec<&String> = event.as_object().expect("an object").keys().collect();
    assert_eq!(keys, [seen[0]["type"].as_str().expect("a type")]);

    let mut resumed = Stream::open(&served, "TrailblazeSession/WatchEvents", json!({"after": 2})).await;
    assert_eq!(resumed.next().await.expect("an event"), seen[2]);
    drop(resumed);

    // The last event of a session ends its streams.
    served.end(&project).exits(0);
    let mut last = seen.pop().expect("events");
    let end = loop {
        match events.next().await {
            Ok(event) => last = event,
            Err(end) => break end,
        }
    };
    assert_eq!((&last["type"], end), (&json!("sessionClosed"), json!({})));
}

#[tokio::test]
async fn a_stream_ends_at_its_deadline() {
    let project = project();
    let served = Served::on(&project, "android/sim-1");
    let deadline = vec![("connect-timeout-ms", "300".to_string())];
    let mut events = Stream::open_with(&served, "TrailblazeSession/WatchEvents", json!({}), deadline).await;
    let end = loop {
        if let Err(end) = events.next().await {
            break end;
        }
    };
    assert_eq!(end["error"]["code"], "deadline_exceeded");
    served.end(&project).exits(0);
}

#[tokio::test]
async fn a_number_that_makes_no_sense_is_refused() {
    let project = project();
    let served = Served::on(&project, "android/sim-1");
    let mut events = Stream::open(&served, "TrailblazeSession/WatchEvents", json!({"after": -1})).await;
    let end = events.next().await.expect_err("an error");
    assert_eq!(end["error"]["code"], "invalid_argument");
    served.end(&project).exits(0);
}

#[tokio::test]
async fn devices_are_listed_at_once_and_whenever_they_change() {
    let project = project();
    let served = Served::on(&project, "web/sim-1");
    let mut lists = Stream::open(&served, "TrailblazeSession/WatchDevices", json!({})).await;
    let list = lists.next().await.expect("a list");
    assert_eq!(list["devices"][0]["id"], "web/sim-1");
    assert_eq!(list["devices"][0]["platform"], "web");
    let again = json!({"after": list["number"]});
    let mut later = Stream::open(&served, "TrailblazeSession/WatchDevices", again).await;
    // A stream that is opened later has already been answered.
    let mut latest = Stream::open(&served, "TrailblazeSession/WatchDevices", json!({})).await;
    assert_eq!(latest.next().await.expect("a list"), list);
    let nothing = timeout(Duration::ZERO, later.next()).await;
    assert!(nothing.is_err(), "nothing changed, so there is nothing to say");
    served.end(&project).exits(0);
}
