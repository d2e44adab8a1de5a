//! Collects the trace of an attempt on one device: the pictures that the device sends, and the documents before and after its calls.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use trailblaze_protocol::event::Moment;
use trailblaze_protocol::ids::{AttemptId, CallId};

use crate::driver::{Budget, DocumentContent, Driver, NetworkExchange, ScreenFrame};
use crate::record::artifacts::ArtifactStore;
use crate::record::trace::TraceEntry;
use crate::values::secret::Secrets;

/// The least time between two pictures, apart from those at calls.
const BETWEEN_FRAMES: Duration = Duration::from_millis(250);
/// How long the documents may take to be read.
const SNAPSHOT: Duration = Duration::from_secs(5);

/// The trace of a running attempt on one device.
pub struct AttemptTrace {
    pub attempt: AttemptId,
    driver: Arc<dyn Driver>,
    secrets: Arc<Secrets>,
    store: Arc<dyn ArtifactStore>,
    frames: Option<Frames>,
    /// The last call that passed, after which the documents were not read yet.
    passed: Mutex<Option<CallId>>,
    /// Whether documents are being read. Another request waits for the next call.
    is_reading: Arc<AtomicBool>,
    reading: TaskTracker,
    cancel: CancellationToken,
}

/// The pictures that a device sends.
struct Frames {
    newest: watch::Receiver<Option<ScreenFrame>>,
    /// The number of the last one that was added.
    added: Arc<Mutex<u64>>,
    _follow: AbortOnDropHandle<()>,
}

impl AttemptTrace {
    /// Begins to collect; `None` if traces are not collected. `frames` are the pictures that may be kept.
    pub(crate) fn begin(
        attempt: AttemptId,
        driver: Arc<dyn Driver>,
        frames: Option<watch::Receiver<Option<ScreenFrame>>>,
        (store, secrets): (&Arc<dyn ArtifactStore>, &Arc<Secrets>),
    ) -> Option<Arc<AttemptTrace>> {
        store.traces()?;
        let frames = frames.map(|newest| {
            let added = Arc::default();
            let follow = follow(attempt.clone(), newest.clone(), Arc::clone(&added), Arc::clone(store));
            Frames { newest, added, _follow: AbortOnDropHandle::new(tokio::spawn(follow)) }
        });
        Some(Arc::new(AttemptTrace {
            attempt,
            driver,
            secrets: Arc::clone(secrets),
            store: Arc::clone(store),
            frames,
            passed: Mutex::default(),
            is_reading: Arc::default(),
            reading: TaskTracker::new(),
            cancel: CancellationToken::new(),
        }))
    }

    /// Whether pictures must be taken, because the device sends none and they are wanted in any case.
    pub(crate) fn wants_pictures(&self) -> bool {
        self.frames.is_none() && self.store.traces().is_some_and(|traces| traces.keeps_all())
    }

    /// Adds the newest picture, however recent the last one is: something is about to happen, or has happened.
    pub(crate) fn mark(&self) {
        if let Some(frames) = &self.frames {
            add_newest(&self.attempt, &frames.newest, &frames.added, &self.store);
        }
    }

    /// Marks the end of a call. What it left behind is what the next one finds, unless none follows.
    pub(crate) fn pass(&self, call: &CallId) {
        self.mark();
        *self.passed.lock() = Some(call.clone());
    }

    /// Marks a moment, and reads the documents as they are now while the call goes on.
    pub(crate) async fn see(self: &Arc<Self>, call: &CallId, moment: Moment) {
        self.mark();
        self.passed.lock().take();
        if self.driver.documents().is_none() || self.is_reading.swap(true, Ordering::AcqRel) {
            return;
        }
        let (trace, call) = (Arc::clone(self), call.clone());
        let mut read = async move {
            trace.read(call, moment).await;
            trace.is_reading.store(false, Ordering::Release);
        }
        .boxed();
        // Polled once here, so that the device is asked before the call acts.
        if poll_fn(|task| Poll::Ready(read.poll_unpin(task))).await.is_pending() {
            self.reading.spawn(read);
        }
    }

    async fn read(&self, call: CallId, moment: Moment) {
        let Some(documents) = self.driver.documents() else { return };
        let budget = Budget::new(Instant::now() + SNAPSHOT, self.cancel.clone());
        let Ok(content) = documents.snapshot(&budget).await else { return };
        // What cannot be redacted is not kept.
        if let Some(content) = redacted(content, &self.secrets)
            && let Some(traces) = self.store.traces()
        {
            traces.add(&self.attempt, TraceEntry::Document { call, moment, content });
        }
    }

    pub(crate) fn add_exchanges(&self, exchanges: Vec<NetworkExchange>) {
        if let Some(traces) = self.store.traces().filter(|_| !exchanges.is_empty()) {
            traces.add(&self.attempt, TraceEntry::Exchanges(exchanges));
        }
    }

    /// Waits until all has been added.
    pub(crate) async fn end(self: &Arc<Self>) {
        let passed = self.passed.lock().take();
        match passed {
            Some(call) => self.see(&call, Moment::After).await,
            None => self.mark(),
        }
        self.reading.close();
        if tokio::time::timeout(SNAPSHOT, self.reading.wait()).await.is_err() {
            self.cancel.cancel();
        }
    }
}

async fn follow(
    attempt: AttemptId,
    mut frames: watch::Receiver<Option<ScreenFrame>>,
    added: Arc<Mutex<u64>>,
    store: Arc<dyn ArtifactStore>,
) {
    while frames.changed().await.is_ok() {
        add_newest(&attempt, &frames, &added, &store);
        tokio::time::sleep(BETWEEN_FRAMES).await;
    }
}

fn add_newest(
    attempt: &AttemptId,
    frames: &watch::Receiver<Option<ScreenFrame>>,
    added: &Mutex<u64>,
    store: &Arc<dyn ArtifactStore>,
) {
    let mut added = added.lock();
    let newest = frames.borrow().clone();
    if let Some(frame) = newest.filter(|frame| frame.number > *added)
        && let Some(traces) = store.traces()
    {
        *added = frame.number;
        traces.add(attempt, TraceEntry::Frame(frame));
    }
}

/// Removes secrets; `None` if one remains that is spread over several elements.
fn redacted(mut content: DocumentContent, secrets: &Secrets) -> Option<DocumentContent> {
    if secrets.is_empty() {
        return Some(content);
    }
    secrets.redact_in_place(&mut content.url);
    secrets.redact_in_place(&mut content.title);
    for frame in &mut content.frames {
        secrets.redact_value(frame);
        let mut text = String::new();
        texts(frame.get("node").unwrap_or(&Value::Null), &mut text);
        if secrets.is_in(&text) {
            return None;
        }
    }
    for sheet in &mut content.sheets {
        if secrets.is_in(sheet) {
            *sheet = secrets.redact(sheet).into_owned().into();
        }
    }
    Some(content)
}

/// The texts beneath a node, one after another.
fn texts(node: &Value, into: &mut String) {
    match node {
        Value::String(text) => into.push_str(text),
        // The first item of an element is its tag.
        Value::Array(parts) => parts.iter().skip(1).for_each(|part| texts(part, into)),
        Value::Object(attributes) => attributes.get(":shadow").into_iter().for_each(|shadow| {
            shadow.as_array().into_iter().flatten().for_each(|node| texts(node, into));
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_is_redacted_or_left_out_if_a_secret_is_spread_over_it() {
        let secrets = Secrets::new([("PIN".to_string(), "hunter2".to_string())]);
        let with = |node: Value| {
            let content = DocumentContent { frames: vec![json!({ "node": node })], ..DocumentContent::default() };
            redacted(content, &secrets).map(|content| content.frames[0]["node"].clone())
        };
        let plain = with(json!(["p", { "title": "hunter2" }, "is hunter2"]));
        assert_eq!(plain, Some(json!(["p", { "title": "{{PIN}}" }, "is {{PIN}}"])));
        assert_eq!(with(json!(["p", ["b", "hun"], ["i", "ter2"]])), None);
        assert_eq!(with(json!(["p", { ":shadow": ["hun", ["b", "ter2"]] }])), None);
    }
}
