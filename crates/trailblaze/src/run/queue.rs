//! Runs trails on devices. Devices of one kind share a queue; every trail runs once on each kind. A trail that fails may
//! be retried; the trail of a lost device is moved to another device of its kind.
//!
//! A trail with roles runs on a set of devices. A worker takes all devices of its set before it starts, in the order of their
//! ids, so that sets that share a device wait for each other without a deadlock.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::callers::attempt_sessions::{AttemptSessions, RoleSession};
use trailblaze_core::callers::heal::Healer;
use trailblaze_core::callers::preflight::{called_servers, missing};
use trailblaze_core::callers::recorded_effects::{Custom, RecordedEffects};
use trailblaze_core::callers::replay::{AttemptResult, RecordedNames, Try, fail_before_start, replay};
use trailblaze_core::driver::TrailStart;
use trailblaze_core::engine::registry::Offer;
use trailblaze_core::engine::session::Session;
use trailblaze_core::record::artifacts::ArtifactStore;
use trailblaze_core::record::events::EventSink;
use trailblaze_core::record::healing::Identities;
use trailblaze_core::trail::{Repair, Trail, TrailDevice, fingerprint, repair};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::{TrailRef, Verdict};
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::DeviceId;

use crate::output::console::Console;
use crate::project::devices::{DeviceSet, DeviceSpec};
use crate::run::history::{History, key_of};
use crate::run::job::storage_state;
use crate::run::job::{Done, DoneOn, Healing, Job, Replay, Rules};
use crate::run::late_files::LateFiles;
use crate::run::slow_slots::{SlotPace, slow_slots};
use crate::sessions::device_log::DeviceLog;
use crate::sessions::models::AttemptModel;
use crate::sessions::wiring::{NotOpened, SessionSinks, Wiring};

/// What all devices of a run share.
pub struct SharedRun {
    pub wiring: Wiring,
    pub jobs: Vec<Job>,
    pub memory: Vec<(String, String)>,
    pub rules: Rules,
    pub replay: Replay,
    pub healing: Healing,
    /// Whether a call fails if its element has another name than when the trail was recorded.
    pub strict_names: bool,
    pub events: Arc<dyn EventSink>,
    pub artifacts: Arc<dyn ArtifactStore>,
    pub console: Arc<dyn Console>,
    pub cancel: CancellationToken,
    /// How long trails took in earlier runs.
    pub history: History,
}

impl SharedRun {
    /// Starts the tool servers that a trail needs. Most are running already: what the trails of a run need is started when they are
    /// checked.
    async fn start_servers(&self, trail: &Trail, session: &Session, device: &TrailDevice) {
        let has_model = self.wiring.models.absence().is_none();
        match called_servers(trail, &session.registry(), device, has_model) {
            _ if self.replay == Replay::Effects => {}
            Some(servers) => session.start_sources(|name| servers.contains(name)).await,
            None => session.start_sources(|_| true).await,
        }
    }

    /// The effects that are played or compared. Their problems were found before the run started.
    fn recorded_effects(&self, job: &Job, sessions: &AttemptSessions) -> RecordedEffects {
        let mut recorded = RecordedEffects::default();
        if self.replay != Replay::Intent {
            let of = |on: &RoleSession| job.kept.recorded_effects(&job.trail, &on.session.registry(), &on.device);
            sessions.iter().filter_map(|on| of(on).ok()).for_each(|own| recorded.extend(own));
        }
        recorded
    }

    /// What models are offered for a trail besides its toolsets, as far as the command line does not say that for all of them.
    fn offer(&self, trail: &Trail) -> Offer {
        let unless_given =
            |given: &[String], own: &Vec<String>| if given.is_empty() { own.clone() } else { Vec::new() };
        Offer {
            groups: unless_given(&self.wiring.groups, &trail.config.groups),
            prefixes: unless_given(&self.wiring.prefixes, &trail.config.prefixes),
        }
    }
}

/// How the trails of a run ended.
pub struct QueueResult {
    pub done: Vec<Done>,
    /// Trails that were never started, because the run was cancelled or stopped early.
    pub not_run: Vec<NotRunJob>,
}

pub struct NotRunJob {
    /// The index of the job.
    pub job: usize,
    pub platform: Platform,
    /// Which of several runs of the trail, from 1.
    pub repeat: Option<u32>,
}

/// Interchangeable devices, and the trails that they share.
pub struct DeviceKind {
    /// Sets of one device, unless the trails have roles.
    pub devices: Vec<DeviceSet>,
    /// Indices of jobs, in the order in which they start.
    pub jobs: Vec<usize>,
}

/// Groups interchangeable devices. Their trails are assigned later.
pub fn kinds(devices: Vec<DeviceSpec>) -> Vec<DeviceKind> {
    let mut kinds: Vec<DeviceKind> = Vec::new();
    for device in devices {
        match kinds.iter_mut().find(|kind| kind.devices[0].first().is_like(&device)) {
            Some(kind) => kind.devices.push(DeviceSet::one(device)),
            None => kinds.push(DeviceKind { devices: vec![DeviceSet::one(device)], jobs: Vec::new() }),
        }
    }
    kinds
}

/// Runs every kind's jobs, on `n_workers` devices in parallel, or on all of them.
pub async fn run(shared: Arc<SharedRun>, kinds: Vec<DeviceKind>, n_workers: Option<usize>) -> QueueResult {
    let mut workers = Vec::new();
    let mut queues = Vec::new();
    let mut turns = Turns::new(n_workers);
    for kind in kinds {
        let queue = Arc::new(TaskQueue::new(&kind, &shared.rules));
        let platform = kind.devices[0].first().platform;
        for devices in kind.devices {
            let turn = turns.of(&devices);
            workers.push(tokio::spawn(worker(Arc::clone(&shared), Arc::clone(&queue), devices, turn)));
        }
        queues.push((queue, platform));
    }
    for worker in workers {
        if let Err(panic) = worker.await {
            std::panic::resume_unwind(panic.into_panic());
        }
    }
    let mut ran = QueueResult { done: Vec::new(), not_run: Vec::new() };
    for (queue, platform) in queues {
        let mut state = queue.state.lock();
        for message in slow_slots(&state.paces) {
            shared.console.say(&message);
        }
        ran.done.append(&mut state.done);
        let missed = state.waiting.iter().filter(|task| task.number == 1);
        ran.not_run.extend(missed.map(|task| NotRunJob { job: task.job, platform, repeat: task.repeat }));
    }
    ran
}

/// Which workers may use which devices at the same time.
struct Turns {
    n_workers: Option<usize>,
    permits: Arc<Semaphore>,
    devices: BTreeMap<DeviceId, Arc<tokio::sync::Mutex<()>>>,
}

/// The turn of one worker.
struct Turn {
    n_permits: u32,
    permits: Arc<Semaphore>,
    /// In the order of their ids.
    devices: Vec<Arc<tokio::sync::Mutex<()>>>,
}

/// Held by a worker while it uses its devices.
struct Taken {
    _permits: OwnedSemaphorePermit,
    _devices: Vec<OwnedMutexGuard<()>>,
}

impl Turns {
    fn new(n_workers: Option<usize>) -> Turns {
        let permits = Arc::new(Semaphore::new(n_workers.unwrap_or(Semaphore::MAX_PERMITS)));
        Turns { n_workers, permits, devices: BTreeMap::new() }
    }

    fn of(&mut self, devices: &DeviceSet) -> Turn {
        let mut ids: Vec<DeviceId> = devices.iter().map(|(_, device)| device.id.clone()).collect();
        ids.sort();
        let n_permits = devices.n_devices().min(self.n_workers.unwrap_or(usize::MAX));
        Turn {
            n_permits: u32::try_from(n_permits).unwrap_or(u32::MAX),
            permits: Arc::clone(&self.permits),
            devices: ids.into_iter().map(|id| Arc::clone(self.devices.entry(id).or_default())).collect(),
        }
    }
}

impl Turn {
    /// Waits until all of its devices are free. Permits are taken before devices, so that a worker that holds a device never waits for
    /// permits.
    async fn take(self) -> Option<Taken> {
        let permits = self.permits.acquire_many_owned(self.n_permits).await.ok()?;
        let mut devices = Vec::new();
        for device in self.devices {
            devices.push(device.lock_owned().await);
        }
        Some(Taken { _permits: permits, _devices: devices })
    }
}

/// The trails that the devices of one kind share.
struct TaskQueue {
    state: Mutex<QueueState>,
    changed: Notify,
}

struct QueueState {
    waiting: VecDeque<TrailTask>,
    at_work: usize,
    /// Devices that are not lost.
    alive: usize,
    done: Vec<Done>,
    /// Of slots, how long trails took that passed.
    paces: Vec<SlotPace>,
    is_stopped: bool,
}

#[derive(Debug, Clone)]
struct TrailTask {
    job: usize,
    /// The number of the next attempt, from 1.
    number: u32,
    /// Which of several runs of the trail, from 1.
    repeat: Option<u32>,
    /// How many retries are left.
    retries: u32,
    /// The trail as repaired by the previous attempt, which has to pass from its start.
    repaired: Option<Arc<Repaired>>,
    /// Whether it was started again because its session was lost, which happens once.
    has_moved: bool,
}

/// A trail with healed calls.
#[derive(Debug)]
struct Repaired {
    trail: Trail,
    repairs: Vec<Repair>,
}

impl TaskQueue {
    fn new(kind: &DeviceKind, rules: &Rules) -> TaskQueue {
        let repeats = rules.repeat_each.max(1);
        let task = |job, repeat| {
            let repeat = (repeats > 1).then_some(repeat);
            TrailTask { job, number: 1, repeat, retries: rules.retries, repaired: None, has_moved: false }
        };
        let repeated = |job: &usize| (1..=repeats).map(move |repeat| task(*job, repeat)).collect::<Vec<_>>();
        let waiting = kind.jobs.iter().flat_map(repeated).collect();
        let state = QueueState {
            waiting,
            at_work: 0,
            alive: kind.devices.len(),
            done: Vec::new(),
            paces: Vec::new(),
            is_stopped: false,
        };
        TaskQueue { state: Mutex::new(state), changed: Notify::new() }
    }

    /// The next task, or `None` when there will be no more.
    async fn next(&self, shared: &SharedRun) -> Option<TrailTask> {
        loop {
            let changed = self.changed.notified();
            {
                let mut state = self.state.lock();
                if shared.cancel.is_cancelled() || state.is_stopped {
                    return None;
                }
                if let Some(task) = state.waiting.pop_front() {
                    state.at_work += 1;
                    return Some(task);
                }
                // A task that is running on another device may be queued again.
                if state.at_work == 0 {
                    return None;
                }
            }
            tokio::select! {
                () = changed => {}
                () = shared.cancel.cancelled() => return None,
            }
        }
    }
}

async fn worker(shared: Arc<SharedRun>, queue: Arc<TaskQueue>, devices: DeviceSet, turn: Turn) {
    let Some(_taken) = turn.take().await else { return };
    let name = devices.name();
    // Behind an endpoint, a session that was lost is replaced by another.
    let is_renewed = devices.iter().all(|(_, device)| shared.wiring.loaded.providers.is_renewed(device));
    let sink = Arc::new(DeviceLog::new(name.clone(), Arc::clone(&shared.events), Arc::clone(&shared.console)));
    let mut worker =
        DeviceWorker { shared: &shared, devices: &devices, sink: &sink, open: None, late_files: LateFiles::default() };
    while let Some(task) = queue.next(&shared).await {
        let mut done = worker.attempt(&task).await;
        let repaired = shared.repaired(&task, &mut done);
        // A broken device or tool server must not affect the next trail.
        if done.verdict == Verdict::Errored && done.is_begun {
            worker.close("the environment failed").await;
        }
        let mut counted = None;
        let is_moved = done.is_device_lost && is_renewed && !task.has_moved && done.verdict == Verdict::Errored;
        let is_retired = {
            let mut state = queue.state.lock();
            state.at_work -= 1;
            let is_gone = if is_renewed { done.is_unopened } else { done.is_device_lost };
            let is_retired = is_gone && state.alive > 1;
            state.alive -= usize::from(is_retired);
            let is_free = is_retired || is_moved;
            let is_tried_again = match done.verdict {
                Verdict::Failed => task.retries > 0 && !done.is_fatal,
                Verdict::Errored => is_free || task.retries > 0,
                _ => false,
            };
            if let Some(repaired) = repaired.filter(|_| !shared.cancel.is_cancelled()) {
                state.waiting.push_front(TrailTask { number: task.number + 1, repaired: Some(repaired), ..task });
            } else if is_tried_again && !shared.cancel.is_cancelled() {
                let retries = task.retries - u32::from(!is_free);
                let has_moved = task.has_moved || is_moved;
                state.waiting.push_back(TrailTask { number: task.number + 1, retries, has_moved, ..task });
            } else {
                let has_failed = done.verdict.exit() != Exit::Passed;
                let platform = done.on.first().and_then(|on| on.device.platform()).unwrap_or_default();
                let key = key_of(&shared.jobs[done.job].trail, platform);
                if is_renewed && done.verdict == Verdict::Passed {
                    let expected = shared.history.expected(&key);
                    state.paces.push(SlotPace { slot: name.to_string(), took: done.millis, expected });
                }
                counted = Some((!has_failed, key));
                state.done.push(done);
                state.is_stopped |= has_failed && shared.rules.fail_fast;
            }
            is_retired
        };
        queue.changed.notify_waiters();
        if let Some((is_good, key)) = counted {
            shared.console.trail_done(is_good, Duration::from_millis(shared.history.expected(&key)));
        }
        if is_moved {
            shared.console.say(&format!("{name} was lost; its trail moves to another session"));
        }
        if is_retired {
            shared.console.say(&format!("{name} was lost; its trails move to other devices"));
            break;
        }
    }
    if let Some(open) = &worker.open {
        for ((_, device), on) in open.devices.iter().zip(open.sessions.iter()) {
            shared.wiring.keep_servers(&on.session, device, open.target.as_deref());
        }
    }
    worker.late_files.all().await;
    worker.close("").await;
    queue.changed.notify_waiters();
}

impl SharedRun {
    /// The trail with the calls that an attempt healed, to be run from its start.
    fn repaired(&self, task: &TrailTask, done: &mut Done) -> Option<Arc<Repaired>> {
        if done.repairs.is_empty() || task.repaired.is_some() {
            return None;
        }
        let job = &self.jobs[task.job];
        let text = repair(&job.trail, &done.devices(), &done.repairs);
        let trail = text.map(|text| Trail::read(&Source::new(job.trail.source.path.as_str(), text)).0);
        match trail {
            Ok(Some(mut trail)) => {
                // `--until` leaves out the last steps.
                trail.steps.truncate(job.trail.steps.len());
                let trail = trail.completed_by(&job.trail);
                Some(Arc::new(Repaired { trail, repairs: done.repairs.clone() }))
            }
            Ok(None) => {
                done.explain("calls were healed, but the repaired trail cannot be read");
                None
            }
            Err(error) => {
                done.explain(&format!("calls were healed, but the trail cannot be repaired: {error}"));
                None
            }
        }
    }
}

/// The devices of a worker, with their open sessions.
struct DeviceWorker<'a> {
    shared: &'a Arc<SharedRun>,
    devices: &'a DeviceSet,
    sink: &'a Arc<DeviceLog>,
    open: Option<OpenDevices>,
    late_files: LateFiles,
}

struct OpenDevices {
    /// With the drivers that the trail wanted.
    devices: DeviceSet,
    target: Option<String>,
    sessions: AttemptSessions,
}

impl OpenDevices {
    async fn close(self, message: &str) {
        join_all(self.sessions.iter().map(|on| on.session.close(message))).await;
    }
}

impl DeviceWorker<'_> {
    async fn attempt(&mut self, task: &TrailTask) -> Done {
        let shared = self.shared;
        let job = &shared.jobs[task.job];
        let trail = task.repaired.as_ref().map_or(&job.trail, |repaired| &repaired.trail);
        let wanted = self.devices.map(|device| shared.wiring.device_for(trail, device));
        let target = shared.wiring.target_of(trail).map(str::to_string);
        let about = about(trail);
        let started = Instant::now();
        if let Err(NotOpened { session, error }) = self.make_ready(&wanted, target.as_deref()).await {
            let ended = fail_before_start(&session, about, (task.number, task.repeat), &error);
            session.close("its device or tool servers did not start").await;
            let on = |(role, device): (Option<&str>, &DeviceSpec)| DoneOn {
                device: TrailDevice::new(role, &device.classifiers),
                registry: session.registry(),
            };
            let on = wanted.iter().map(on).collect();
            return Done { is_unopened: true, ..self.done(task, ended, started, on) };
        }
        let Some(OpenDevices { sessions, .. }) = &self.open else { unreachable!("the sessions were opened") };
        for RoleSession { device, session, .. } in sessions.iter() {
            shared.start_servers(trail, session, device).await;
            if let Some(error) = missing(trail, &session.registry(), device).first() {
                let ended = fail_before_start(session, about, (task.number, task.repeat), error);
                return Done { is_begun: false, ..self.done(task, ended, started, done_on(sessions)) };
            }
        }
        let memory =
            shared.wiring.memory((wanted.first(), target.as_deref()), Some(trail), &shared.memory, job.args.clone());
        let recorded = shared.recorded_effects(job, sessions);
        let custom = match shared.replay {
            Replay::Intent => Custom::Run,
            Replay::Effects => Custom::Play(&recorded),
            Replay::Verify => Custom::Verify(&recorded, &**self.sink),
        };
        let devices = sessions.devices();
        let kind = devices.0.first().and_then(|device| device.lineage.first());
        let kind = kind.map_or(wanted.first().id.as_str(), String::as_str);
        let own = shared.wiring.models.for_trail(&trail.source.path, kind);
        let AttemptModel { access: model, cassette } = own.unwrap_or_else(|error| {
            shared.console.error(&error.to_string());
            AttemptModel::default()
        });
        let identities_in = |trail: &Trail| {
            let mut identities = Identities::default();
            devices.0.iter().for_each(|device| identities.extend(job.kept.identities(trail, device)));
            identities
        };
        let identities = identities_in(&job.trail);
        let Healing { mode, may_ask } = shared.healing;
        // A repaired trail has to pass as it is.
        let mode = mode.filter(|_| task.repaired.is_none() && shared.replay == Replay::Intent);
        let heal = mode.map(|mode| Healer {
            mode,
            identities: &identities,
            may_ask,
            fingerprint: fingerprint(&job.trail, &devices),
        });
        // A call that was repaired is not the recorded one.
        let known = identities_in(trail);
        let attempt = Try {
            trail,
            about,
            number: task.number,
            repeat: task.repeat,
            memory,
            timeout: shared.rules.timeout,
            cancel: shared.cancel.child_token(),
            custom,
            model,
            offer: shared.offer(trail),
            heal,
            names: Some(RecordedNames { identities: &known, is_strict: shared.strict_names }),
            is_repaired: task.repaired.is_some(),
        };
        let storage_state = storage_state(&shared.wiring.loaded.root, &job.trail);
        let start = TrailStart { dialogs: trail.config.dialogs, storage_state };
        let begin = |on: &RoleSession| {
            let session = Arc::clone(&on.session);
            let start = &start;
            async move { session.device.begin_trail(&session, &shared.cancel, start).await }
        };
        join_all(sessions.iter().map(begin)).await;
        let ended = replay(sessions, attempt).await;
        let put_back = |on: &RoleSession| {
            let session = Arc::clone(&on.session);
            async move { session.device.end_trail(&session, &shared.cancel).await }
        };
        join_all(sessions.iter().map(put_back)).await;
        sessions.iter().for_each(|on| self.late_files.keep(&on.session, &ended.attempt, &shared.cancel));
        match cassette.map_or(Ok(None), |cassette| cassette.save(&shared.wiring.secrets)) {
            Ok(Some(file)) => shared.console.say(&format!("recorded the model's replies in {file}")),
            Ok(None) => {}
            Err(error) => shared.console.error(&error.to_string()),
        }
        self.done(task, ended, started, done_on(sessions))
    }

    /// Opens the sessions that a trail wants, unless they are open.
    async fn make_ready(&mut self, wanted: &DeviceSet, target: Option<&str>) -> Result<(), NotOpened> {
        // A session belongs to a driver and a target; another trail may need others.
        if self.open.as_ref().is_some_and(|open| open.devices != *wanted || open.target.as_deref() != target) {
            self.close("the next trail needs another driver or target").await;
        }
        // A server that died while it was idle must not break the next trail.
        if let Some(open) = &self.open {
            join_all(open.sessions.iter().map(|on| on.session.settled())).await;
            let died = open.sessions.iter().find_map(|on| on.session.check_alive().err());
            if let Some(died) = died {
                self.shared.console.warn(&died.to_string());
                self.close("a tool server died").await;
            }
        }
        if self.open.is_none() {
            self.open = Some(self.open(wanted.clone(), target.map(str::to_string)).await?);
        }
        Ok(())
    }

    /// Opens a session on each device, or on none, in the order of their ids.
    async fn open(&self, devices: DeviceSet, target: Option<String>) -> Result<OpenDevices, NotOpened> {
        let wiring = &self.shared.wiring;
        let mut opened: BTreeMap<DeviceId, Arc<Session>> = BTreeMap::new();
        let mut in_order: Vec<&DeviceSpec> = devices.iter().map(|(_, device)| device).collect();
        in_order.sort_by(|a, b| a.id.cmp(&b.id));
        for device in in_order {
            let events = Arc::clone(self.sink) as Arc<dyn EventSink>;
            let sinks = SessionSinks { events, artifacts: Arc::clone(&self.shared.artifacts) };
            match wiring.open(device, target.as_deref(), sinks).await {
                Ok(session) => drop(opened.insert(device.id.clone(), session)),
                Err(not_opened) => {
                    let message = format!("{} could not be opened", device.id);
                    join_all(opened.values().map(|session| session.close(&message))).await;
                    return Err(not_opened);
                }
            }
        }
        let on = |(role, device): (Option<&str>, &DeviceSpec)| {
            let app_id = wiring.app_id(device, target.as_deref()).map(str::to_string);
            RoleSession::new(role, &opened[&device.id], app_id)
        };
        let mut sessions = devices.iter().map(on);
        let first = sessions.next().unwrap_or_else(|| unreachable!("a set has a device"));
        let sessions = AttemptSessions::new(first, sessions.collect());
        Ok(OpenDevices { devices, target, sessions })
    }

    fn done(&self, task: &TrailTask, ended: AttemptResult, started: Instant, on: Vec<DoneOn>) -> Done {
        let AttemptResult { attempt, verdict, message, failure, place, is_fatal, is_device_lost, repairs, .. } = ended;
        let (recording, effects, seen) = match verdict {
            Verdict::Passed => (self.sink.recording(&attempt), self.sink.effects(&attempt), self.sink.seen(&attempt)),
            _ => (Vec::new(), Vec::new(), Vec::new()),
        };
        let (repairs, message) = match &task.repaired {
            None => (repairs, message),
            Some(repaired) if verdict == Verdict::Passed => (repaired.repairs.clone(), message),
            Some(repaired) => (repaired.repairs.clone(), format!("the repaired trail did not pass: {message}")),
        };
        Done {
            job: task.job,
            device: self.devices.name(),
            verdict,
            message,
            failure,
            place,
            just_before: ended.just_before,
            tries: task.number,
            repeat: task.repeat,
            millis: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            recording,
            effects,
            seen,
            repairs,
            unconfirmed: ended.unconfirmed,
            suggestions: ended.suggestions,
            custom_tools: self.sink.custom_tools(),
            on,
            is_fatal,
            is_device_lost,
            is_begun: true,
            is_unopened: false,
        }
    }

    async fn close(&mut self, message: &str) {
        if let Some(open) = self.open.take() {
            open.close(message).await;
        }
    }
}

fn done_on(sessions: &AttemptSessions) -> Vec<DoneOn> {
    sessions.iter().map(|on| DoneOn { device: on.device.clone(), registry: on.session.registry() }).collect()
}

pub fn about(trail: &Trail) -> TrailRef {
    TrailRef {
        id: trail.id(),
        title: trail.title(),
        path: trail.source.path.clone(),
        tags: trail.config.tags.clone(),
        row: trail.row.as_ref().map(|row| row.number),
    }
}
