//! Runs trails on devices: a lane per device, all of them at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use trailblaze_core::events::{EventSink, Shot};
use trailblaze_core::record::{self, RecordedStep};
use trailblaze_core::replay::{Try, replay};
use trailblaze_core::session::Session;
use trailblaze_core::trail::{SaveError, Slot, StepCalls, StepPlan, Trail, lineage, save};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::event::{Event, StepKind, TrailRef, Verdict};
use trailblaze_protocol::ids::DeviceId;
use trailblaze_protocol::outcome::Attachment;

use crate::devices::DeviceSpec;
use crate::progress::Progress;
use crate::wire::Wiring;

/// A trail to run, with what the command line passes in.
pub struct Job {
    pub trail: Trail,
    pub args: Map<String, Value>,
}

/// One trail on one device.
pub struct Done {
    pub job: usize,
    pub device: DeviceId,
    pub verdict: Verdict,
    pub message: String,
    pub recording: Vec<RecordedStep>,
    /// The classifiers of the device, the closest first.
    pub lineage: Vec<String>,
}

/// What all lanes of a run share.
pub struct Shared {
    pub wiring: Wiring,
    pub jobs: Vec<Job>,
    pub memory: Vec<(String, String)>,
    pub events: Arc<dyn EventSink>,
    pub progress: Arc<Progress>,
    pub cancel: CancellationToken,
}

/// Runs every job on every device.
pub async fn run(shared: Arc<Shared>, devices: Vec<DeviceSpec>) -> Vec<Done> {
    let lanes: Vec<_> = devices.into_iter().map(|device| tokio::spawn(lane(Arc::clone(&shared), device))).collect();
    let mut done = Vec::new();
    for lane in lanes {
        match lane.await {
            Ok(results) => done.extend(results),
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }
    done
}

async fn lane(shared: Arc<Shared>, device: DeviceSpec) -> Vec<Done> {
    let sink = Arc::new(LaneSink::new(device.id.clone(), Arc::clone(&shared.events), Arc::clone(&shared.progress)));
    let mut open: Option<(DeviceSpec, Option<String>, Arc<Session>)> = None;
    let mut results = Vec::new();
    for (index, job) in shared.jobs.iter().enumerate() {
        if shared.cancel.is_cancelled() {
            break;
        }
        let wanted = shared.wiring.device_for(&job.trail, &device);
        let target = shared.wiring.target_of(&job.trail).map(str::to_string);
        // A session belongs to a driver and a target; another trail may want others.
        if let Some((_, _, session)) = open.take_if(|(device, of, _)| *device != wanted || *of != target) {
            close(&session, "the next trail needs another driver or target").await;
        }
        let (_, _, session) = open.get_or_insert_with(|| {
            let session = shared.wiring.open(&wanted, target.as_deref(), Arc::clone(&sink) as Arc<dyn EventSink>);
            (wanted.clone(), target.clone(), session)
        });
        let memory =
            shared.wiring.memory((&wanted, target.as_deref()), Some(&job.trail), &shared.memory, job.args.clone());
        let attempt = Try {
            trail: &job.trail,
            about: about(&job.trail),
            number: 1,
            memory,
            timeout: None,
            cancel: shared.cancel.clone(),
        };
        let ended = replay(session, attempt).await;
        let recording = match ended.verdict {
            Verdict::Passed => sink.recording(&ended.attempt),
            _ => Vec::new(),
        };
        let lineage = lineage(&session.device.description().classifiers);
        results.push(Done {
            job: index,
            device: device.id.clone(),
            verdict: ended.verdict,
            message: ended.message,
            recording,
            lineage,
        });
        // What broke the device must not spoil the next trail.
        if ended.verdict == Verdict::Errored {
            if let Some((_, _, session)) = open.take() {
                close(&session, "the environment failed").await;
            }
        }
    }
    if let Some((_, _, session)) = open {
        close(&session, "").await;
    }
    results
}

async fn close(session: &Session, message: &str) {
    session.device.close().await;
    session.emit(Event::SessionClosed { session: session.id.clone(), message: message.to_string() });
}

pub fn about(trail: &Trail) -> TrailRef {
    TrailRef { id: trail.id(), title: trail.title(), path: trail.source.path.clone(), tags: trail.config.tags.clone() }
}

/// One lane's way into the record. It keeps what the recording of the current attempt is made from.
pub struct LaneSink {
    device: DeviceId,
    events: Arc<dyn EventSink>,
    progress: Arc<Progress>,
    journal: Mutex<Vec<Event>>,
}

impl LaneSink {
    pub fn new(device: DeviceId, events: Arc<dyn EventSink>, progress: Arc<Progress>) -> LaneSink {
        LaneSink { device, events, progress, journal: Mutex::default() }
    }

    pub fn recording(&self, attempt: &trailblaze_protocol::ids::AttemptId) -> Vec<RecordedStep> {
        record::fold(attempt, &*self.journal.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EventSink for LaneSink {
    fn emit(&self, event: Event) {
        self.progress.event(&self.device, &event);
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        match &event {
            Event::AttemptStarted { .. } => journal.clear(),
            Event::StepStarted { .. } | Event::Called(_) | Event::Answered { .. } => journal.push(event.clone()),
            _ => {}
        }
        drop(journal);
        self.events.emit(event);
    }

    fn picture(&self, shot: Shot) {
        self.events.picture(shot);
    }

    fn store(&self, attachment: &Attachment) -> String {
        self.events.store(attachment)
    }
}

/// A trail with the recordings of a run in it.
pub struct Recorded {
    pub job: usize,
    pub text: String,
    /// The slots that differ from the file.
    pub classifiers: Vec<String>,
    /// Steps that cannot be replayed, and why.
    pub warnings: Vec<String>,
}

/// Puts the recordings of passing attempts into their trails.
pub fn recordings(jobs: &[Job], done: &[Done]) -> Vec<Result<Recorded, SaveError>> {
    let mut by_job: BTreeMap<usize, Vec<&Done>> = BTreeMap::new();
    for done in done.iter().filter(|done| done.verdict == Verdict::Passed) {
        by_job.entry(done.job).or_default().push(done);
    }
    by_job.into_iter().map(|(job, done)| record_job(job, &jobs[job].trail, &done)).collect()
}

fn record_job(job: usize, trail: &Trail, done: &[&Done]) -> Result<Recorded, SaveError> {
    let mut source = Arc::clone(&trail.source);
    let mut recorded = Recorded { job, text: source.text.clone(), classifiers: Vec::new(), warnings: Vec::new() };
    for done in done {
        let mut by_classifier: BTreeMap<String, Vec<StepCalls>> = BTreeMap::new();
        for step in &done.recording {
            if !step.needs_model.is_empty() {
                recorded.warnings.push(format!(
                    "step \"{}\" depends on a model: {} cannot be replayed",
                    step.text,
                    step.needs_model.join(", ")
                ));
                continue;
            }
            // The grammar gives a trailhead one call; the other steps are worth keeping all the same.
            if step.kind == StepKind::Trailhead && step.calls.len() > 1 {
                let n_calls = step.calls.len();
                let warning =
                    format!("the trailhead made {n_calls} calls, and a recording of it holds one; it stays as it is");
                if !recorded.warnings.contains(&warning) {
                    recorded.warnings.push(warning);
                }
                continue;
            }
            if let Some((classifier, calls)) = changed_slot(trail, step, &done.lineage) {
                by_classifier.entry(classifier).or_default().push(calls);
            }
        }
        for (classifier, calls) in by_classifier {
            let text = save(&source, &classifier, &calls)?;
            source = Source::new(source.path.as_str(), text);
            if !recorded.classifiers.contains(&classifier) {
                recorded.classifiers.push(classifier);
            }
        }
    }
    recorded.text = source.text.clone();
    Ok(recorded)
}

/// Where a step's recording goes, unless it is there already: the slot that the device used, else its platform's.
fn changed_slot(trail: &Trail, step: &RecordedStep, lineage: &[String]) -> Option<(String, StepCalls)> {
    let heads = usize::from(trail.trailhead.is_some());
    let (slot, written) = match step.kind {
        StepKind::Trailhead => (Slot::Trailhead, &trail.trailhead.as_ref()?.0),
        _ => (Slot::Step(step.index - heads), trail.steps.get(step.index - heads)?),
    };
    if !written.is_recordable {
        return None;
    }
    let calls = StepCalls { slot, calls: step.calls.clone() };
    match written.plan(lineage) {
        StepPlan::Recording { classifier, calls: old } => {
            let old: Vec<Value> = old
                .iter()
                .map(|call| serde_json::json!({ &call.tool.value: trailblaze_core::yaml::loose(&call.args) }))
                .collect();
            (!same(&old, &calls.calls)).then_some((classifier, calls))
        }
        _ => Some((lineage.last()?.clone(), calls)),
    }
}

/// Whether two lists of calls say the same, however their scalars are quoted.
fn same(a: &[Value], b: &[Value]) -> bool {
    fn text(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(text).collect(),
            Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (key.clone(), text(value))).collect()),
            Value::String(text) => Value::from(text.as_str()),
            other => Value::from(other.to_string()),
        }
    }
    a.iter().map(text).eq(b.iter().map(text))
}

/// Stores a file whole or not at all.
pub fn write_atomically(path: &Path, text: &str) -> std::io::Result<()> {
    let mut beside = PathBuf::from(path);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    beside.set_file_name(format!(".{name}.{}.part", std::process::id()));
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, path).inspect_err(|_| {
        let _ = std::fs::remove_file(&beside);
    })
}
