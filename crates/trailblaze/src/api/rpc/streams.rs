//! The methods that return a stream: events and devices.

use std::sync::Arc;

use connectrpc::ConnectError;
use futures::stream::{BoxStream, unfold};
use futures::{Stream, StreamExt};
use serde_json::{Map, Value, json};
use trailblaze_contract::{SessionMethod, Target};
use trailblaze_core::engine::invocations::Invocations;
use trailblaze_core::record::feed::{Feed, NextEvent};
use trailblaze_toolhost::typed::devices;

use super::RpcRequest;

type Message = Map<String, Value>;

/// The messages of a method that returns a stream.
pub fn follow(
    invocations: Arc<Invocations>,
    request: RpcRequest,
) -> Result<BoxStream<'static, Result<Message, ConnectError>>, ConnectError> {
    let after = request.fields.get("after").and_then(Value::as_i64).unwrap_or(0);
    let after = i32::try_from(after).ok().filter(|after| *after >= 0);
    let after = after.ok_or_else(|| ConnectError::invalid_argument("`after` must not be negative"))?;
    match request.method.target {
        Target::Session(SessionMethod::WatchEvents) => {
            Ok(Box::pin(events(Arc::clone(request.caller.cx.session.feed()), after)))
        }
        Target::Session(SessionMethod::WatchDevices) => {
            let feed = Arc::clone(request.caller.cx.session.feed());
            // A client without its session has nothing to watch devices for.
            Ok(Box::pin(device_lists(invocations, after).take_until(async move { feed.ended().await })))
        }
        _ => Err(ConnectError::unimplemented(format!("{} does not return a stream", request.method.name))),
    }
}

/// The events of a session after a number, until it ends. A reader that is too slow gets an error with its last number.
fn events(feed: Arc<Feed>, after: i32) -> impl Stream<Item = Result<Message, ConnectError>> {
    let last = feed.subscribe();
    unfold(Some((feed, last, after)), |state| async move {
        let (feed, mut last, after) = state?;
        loop {
            match feed.next(after) {
                Ok(NextEvent::Event(event)) => {
                    // An event is written as `{"type": {fields}}`.
                    let kind = event.json.split('"').nth(1).unwrap_or_default();
                    let fields =
                        [("number", json!(event.number)), ("type", json!(kind)), ("json", json!(&*event.json))];
                    let fields = fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
                    return Some((Ok(fields), Some((feed, last, event.number))));
                }
                Ok(NextEvent::Wait) => last.changed().await.ok()?,
                Ok(NextEvent::End) => return None,
                Err(lagged) => return Some((Err(ConnectError::out_of_range(lagged.to_string())), None)),
            }
        }
    })
}

/// The list of devices, at once if it changed since the caller's, and then each time that it changes.
fn device_lists(invocations: Arc<Invocations>, after: i32) -> impl Stream<Item = Result<Message, ConnectError>> {
    let changes = invocations.changes();
    unfold((invocations, changes, after), |(invocations, mut changes, after)| async move {
        if *changes.borrow_and_update() <= after {
            changes.changed().await.ok()?;
        }
        let list = devices(&invocations);
        let number = list.get("number").and_then(Value::as_i64).and_then(|number| i32::try_from(number).ok());
        Some((Ok(list), (invocations, changes, number.unwrap_or(after))))
    })
}
