//! One open session: a task owns it and executes the requests of clients one after the other.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::engine::session_key::SessionKey;
use trailblaze_core::values::secret::Secrets;
use trailblaze_core::yaml::Problem;
use trailblaze_protocol::event::Event;
use trailblaze_protocol::exit::Exit;
use trailblaze_protocol::ids::DeviceId;

use crate::output::console::Console;
use crate::sessions::hot_swap;
use crate::sessions::interactive::{
    ClosedInteractive, CommandReply, Handled, Interactive, InteractiveCommand, Opened, StepsState, StudioCommand,
};
use crate::sessions::service::{ClosedSession, OpenRequest, ServiceError, SessionAccess, SessionInfo};
use crate::sessions::viewing::Viewer;

/// How many requests of a session wait for their turn.
const MOST_WAITING: usize = 64;
/// How often the steps of programs are saved in the run folder, if there are new ones.
const KEEP_EVERY: Duration = Duration::from_secs(1);

/// A handle to an open session.
pub struct Live {
    pub name: String,
    pub id: String,
    pub device: DeviceId,
    pub platform: String,
    pub project: PathBuf,
    pub target: Option<String>,
    pub run_folder: PathBuf,
    /// What it was opened with.
    pub request: OpenRequest,
    key: SessionKey,
    opened: Instant,
    used: Mutex<Instant>,
    n_steps: AtomicUsize,
    lost: Mutex<Option<String>>,
    jobs: mpsc::Sender<SessionJob>,
    /// Cancels the commands in flight when the session is closed.
    abort: CancellationToken,
    /// Shows the screen to people.
    pub viewer: Arc<Viewer>,
    /// The steps as people see them, and what the session is doing.
    progress: watch::Sender<SessionProgress>,
    /// Stops what it is doing.
    working: Mutex<CancellationToken>,
    /// What people should know and no reply has told them yet.
    notices: Arc<LogConsole>,
    /// Becomes true when the session has ended.
    ended: watch::Receiver<bool>,
}

/// What a session has done and is doing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionProgress {
    pub steps: StepsState,
    /// What it is doing; empty if nothing.
    pub working: String,
    /// The trail that the steps were saved as.
    pub saved_as: String,
    /// Why its device can no longer be used.
    pub lost: Option<String>,
    /// Assertions for what appeared after the last action: in words, and the call.
    pub proposals: Vec<(String, Value)>,
}

enum SessionJob {
    Handle {
        asked: StudioCommand,
        cancel: CancellationToken,
        reply: oneshot::Sender<Handled>,
    },
    Execute {
        commands: Vec<InteractiveCommand>,
        current_dir: Option<PathBuf>,
        cancel: CancellationToken,
        reply: oneshot::Sender<Vec<CommandReply>>,
    },
    Replay {
        stretch: (Option<usize>, Option<usize>),
        cancel: CancellationToken,
        reply: oneshot::Sender<CommandReply>,
    },
    Trail {
        stretch: (Option<usize>, Option<usize>),
        reply: oneshot::Sender<Result<String, ServiceError>>,
    },
    Close {
        reply: oneshot::Sender<ClosedSession>,
    },
}

impl SessionJob {
    /// What the session is doing, for people.
    fn describe(&self) -> String {
        let shorten = |text: &str| text.chars().take(200).collect::<String>();
        match self {
            SessionJob::Handle { asked, .. } => match asked {
                StudioCommand::Act(aim) => aim.action.clone(),
                StudioCommand::Call { tool, .. } => tool.clone(),
                StudioCommand::Do { text, .. } => shorten(text),
                StudioCommand::Edit { .. } | StudioCommand::Undo { .. } => String::new(),
            },
            SessionJob::Execute { commands, .. } => match commands.first() {
                Some(InteractiveCommand::Do { text, .. }) => shorten(text),
                Some(InteractiveCommand::Call { tool, .. }) => tool.clone(),
                Some(InteractiveCommand::Ask { question }) => shorten(question),
                _ => String::new(),
            },
            SessionJob::Replay { .. } => "replaying".to_string(),
            SessionJob::Trail { .. } | SessionJob::Close { .. } => String::new(),
        }
    }
}

/// What is known of a session besides its device and tools.
pub struct SessionDetails {
    pub name: String,
    pub device: DeviceId,
    pub platform: String,
    pub project: PathBuf,
    pub logs: PathBuf,
    pub request: OpenRequest,
    pub console: Arc<LogConsole>,
}

impl Live {
    /// Starts the task that owns the session.
    pub fn start(mut opened: Opened, about: SessionDetails) -> Arc<Live> {
        let (jobs, waiting) = mpsc::channel(MOST_WAITING);
        let (end, ended) = watch::channel(false);
        let stop = CancellationToken::new();
        let id = opened.session.admit_calls(&stop);
        let (progress, _) = watch::channel(SessionProgress::default());
        let live = Arc::new(Live {
            name: about.name,
            id: id.to_string(),
            device: about.device,
            platform: about.platform,
            project: about.project,
            target: opened.wiring.target.clone(),
            run_folder: opened.session.run_folder().to_path_buf(),
            request: about.request,
            key: opened.session.key().clone(),
            opened: Instant::now(),
            used: Mutex::new(Instant::now()),
            n_steps: AtomicUsize::new(0),
            lost: Mutex::default(),
            jobs,
            abort: CancellationToken::new(),
            viewer: Arc::clone(opened.session.viewer()),
            progress,
            working: Mutex::default(),
            notices: about.console,
            ended,
        });
        let task = SessionTask { live: Arc::clone(&live), waiting, stop };
        tokio::spawn(async move {
            task.run(opened, &about.logs).await;
            let _ = end.send(true);
        });
        live
    }

    pub fn info(&self, is_new: bool) -> SessionInfo {
        SessionInfo {
            name: self.name.clone(),
            id: self.id.clone(),
            device: self.device.to_string(),
            platform: self.platform.clone(),
            project: self.project.clone(),
            target: self.target.clone(),
            run_folder: self.run_folder.clone(),
            opened_by: shown_command(&self.request.client.command),
            opened_in: self.request.client.current_dir.clone(),
            age_seconds: self.opened.elapsed().as_secs(),
            idle_seconds: self.idle().as_secs(),
            steps: self.n_steps.load(Ordering::Relaxed),
            is_new,
            lost: self.lost.lock().clone(),
            took_over: None,
        }
    }

    pub fn access(&self, address: &str) -> SessionAccess {
        SessionAccess {
            name: self.name.clone(),
            address: address.to_string(),
            key: self.key.expose().to_string(),
            session: self.id.clone(),
            device: self.device.to_string(),
        }
    }

    pub fn opened(&self) -> tokio::time::Instant {
        self.opened.into()
    }

    pub fn n_steps(&self) -> usize {
        self.n_steps.load(Ordering::Relaxed)
    }

    /// Notes that the steps were saved as this trail.
    pub fn note_saved(&self, path: &str) {
        self.progress.send_modify(|progress| progress.saved_as = path.to_string());
    }

    /// Returns when the session has ended.
    pub async fn until_ended(&self) {
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }

    pub fn has_ended(&self) -> bool {
        self.jobs.is_closed()
    }

    /// Why its device can no longer be used.
    pub fn lost(&self) -> Option<String> {
        self.lost.lock().clone()
    }

    /// The warnings since they were last asked for, such as those about tools whose files changed.
    pub fn notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.unread.lock()).into_iter().map(|notice| notice.text).collect()
    }

    /// What tools say from now on.
    pub fn tool_output(&self) -> ToolLines {
        let (listener, lines) = mpsc::channel(TOOL_OUTPUT_LINES);
        let n_dropped = Arc::new(AtomicUsize::new(0));
        self.notices.listeners.lock().push(OutputListener { lines: listener, n_dropped: Arc::clone(&n_dropped) });
        ToolLines { lines, n_dropped }
    }

    /// How long it was not used.
    pub fn idle(&self) -> Duration {
        self.used.lock().elapsed()
    }

    pub async fn execute(
        &self,
        commands: Vec<InteractiveCommand>,
        current_dir: Option<PathBuf>,
        cancel: &CancellationToken,
    ) -> Result<Vec<CommandReply>, ServiceError> {
        let (reply, answer) = oneshot::channel();
        self.ask(SessionJob::Execute { commands, current_dir, cancel: cancel.clone(), reply }, answer).await
    }

    pub async fn handle(&self, asked: StudioCommand, cancel: &CancellationToken) -> Result<Handled, ServiceError> {
        let (reply, answer) = oneshot::channel();
        self.ask(SessionJob::Handle { asked, cancel: cancel.clone(), reply }, answer).await
    }

    /// Follows the steps, and what the session is doing.
    pub fn progress(&self) -> watch::Receiver<SessionProgress> {
        self.progress.subscribe()
    }

    /// Stops what the session is doing. Returns false if it is doing nothing.
    pub fn stop_work(&self) -> bool {
        let is_working = !self.progress.borrow().working.is_empty();
        self.working.lock().cancel();
        is_working
    }

    fn begin_work(&self, what: String) -> CancellationToken {
        let stop = CancellationToken::new();
        *self.working.lock() = stop.clone();
        self.progress.send_modify(|progress| progress.working = what);
        stop
    }

    /// Publishes the steps.
    fn show(&self, session: &mut Interactive) {
        let (steps, lost) = (session.steps_state(), session.lost());
        self.progress.send_if_modified(|shown| {
            let saved_as = if steps.is_saved { std::mem::take(&mut shown.saved_as) } else { String::new() };
            let new = SessionProgress { steps, working: String::new(), saved_as, lost, proposals: session.proposals() };
            let is_new = *shown != new;
            *shown = new;
            is_new
        });
    }

    pub async fn replay(
        &self,
        stretch: (Option<usize>, Option<usize>),
        cancel: &CancellationToken,
    ) -> Result<CommandReply, ServiceError> {
        let (reply, answer) = oneshot::channel();
        self.ask(SessionJob::Replay { stretch, cancel: cancel.clone(), reply }, answer).await
    }

    /// The steps in the form of a trail.
    pub async fn trail(&self, stretch: (Option<usize>, Option<usize>)) -> Result<String, ServiceError> {
        let (reply, answer) = oneshot::channel();
        self.ask(SessionJob::Trail { stretch, reply }, answer).await?
    }

    /// Ends the session. What it recorded stays in its run folder.
    pub async fn close(&self) -> Result<ClosedSession, ServiceError> {
        self.abort.cancel();
        let (reply, answer) = oneshot::channel();
        let closed = self.ask(SessionJob::Close { reply }, answer).await;
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
        closed
    }

    async fn ask<T>(&self, job: SessionJob, answer: oneshot::Receiver<T>) -> Result<T, ServiceError> {
        let ended = || ServiceError::environment(format!("session `{}` has ended", self.name));
        self.jobs.try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Closed(_) => ended(),
            mpsc::error::TrySendError::Full(_) => {
                let text = format!("session `{}` has {MOST_WAITING} requests that wait for their turn", self.name);
                ServiceError::environment(text)
            }
        })?;
        answer.await.map_err(|_| ended())
    }

    fn touch(&self) {
        *self.used.lock() = Instant::now();
    }
}

/// The beginning of a command line, such as `trailblaze device connect`. The rest may contain secrets.
fn shown_command(command: &[String]) -> String {
    let program = command.first().map(|program| program.rsplit('/').next().unwrap_or(program));
    let is_word = |arg: &&str| arg.chars().all(|c| c.is_ascii_lowercase());
    let words = command.iter().skip(1).map(String::as_str).take_while(is_word).take(2);
    program.into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

struct SessionTask {
    live: Arc<Live>,
    waiting: mpsc::Receiver<SessionJob>,
    /// Cancels the calls of programs.
    stop: CancellationToken,
}

impl SessionTask {
    async fn run(mut self, mut opened: Opened, logs: &std::path::Path) {
        let root = opened.wiring.loaded.root.clone();
        let changes = opened.wiring.host.files.changes(&root, logs).inspect_err(|error| {
            tracing::warn!(target: "trailblaze::daemon", session = self.live.name, "tools are not hot-swapped: {error}");
        });
        let reply = {
            let Opened { session, wiring, .. } = &mut opened;
            let serving = self.serve(session);
            match changes {
                Ok(mut changes) => tokio::select! {
                    reply = serving => reply,
                    never = hot_swap::follow(wiring, &mut changes, |_| {}, || {}) => match never {},
                },
                Err(_) => serving.await,
            }
        };
        self.stop.cancel();
        opened.session.end_calls().await;
        opened.session.keep();
        let unsaved = opened.session.unsaved();
        let ClosedInteractive { written, .. } = opened.close(Exit::Passed, false).await;
        let report = match written {
            Ok(written) => Some(written.html),
            Err(error) => {
                tracing::warn!(target: "trailblaze::daemon", session = self.live.name, "it has no report: {error}");
                None
            }
        };
        tracing::info!(target: "trailblaze::daemon", session = self.live.name, "closed");
        if let Some(reply) = reply {
            let _ = reply.send(ClosedSession { name: self.live.name.clone(), report, unsaved });
        }
    }

    /// Executes requests until one of them ends the session.
    async fn serve(&mut self, session: &mut Interactive) -> Option<oneshot::Sender<ClosedSession>> {
        let mut keep = tokio::time::interval(KEEP_EVERY);
        let mut n_events = session.n_events();
        self.live.show(session);
        loop {
            let job = tokio::select! {
                job = self.waiting.recv() => job?,
                observed = session.next_observed() => {
                    session.record_observed(observed, &self.live.abort).await;
                    session.admit_calls(&self.stop);
                    self.live.touch();
                    self.publish(session);
                    n_events = session.n_events();
                    continue;
                }
                _ = keep.tick() => {
                    if std::mem::replace(&mut n_events, session.n_events()) != n_events {
                        self.live.touch();
                        session.keep();
                        self.live.show(session);
                    }
                    continue;
                }
            };
            self.live.touch();
            let stop = self.live.begin_work(job.describe());
            match job {
                SessionJob::Handle { asked, cancel, reply } => {
                    let (cancel, _linked) = linked(&cancel, &self.live.abort);
                    let (cancel, _also) = linked(&cancel, &stop);
                    let handled = session.handle(asked, &cancel).await;
                    session.admit_calls(&self.stop);
                    self.live.show(session);
                    let _ = reply.send(handled);
                }
                SessionJob::Execute { commands, current_dir, cancel, reply } => {
                    let (cancel, _linked) = linked(&cancel, &stop);
                    let replies = self.execute(session, commands, current_dir, &cancel).await;
                    let _ = reply.send(replies);
                }
                SessionJob::Replay { stretch: (from, to), cancel, reply } => {
                    let (cancel, _linked) = linked(&cancel, &self.live.abort);
                    let (cancel, _also) = linked(&cancel, &stop);
                    let _ = reply.send(session.replay(from, to, &cancel).await);
                    session.admit_calls(&self.stop);
                }
                SessionJob::Trail { stretch: (from, to), reply } => {
                    let text = session.trail_text(from, to);
                    let _ = reply.send(text.map_err(|error| ServiceError::new(error.exit(), error.to_string())));
                }
                SessionJob::Close { reply } => {
                    session.finish_deeds(&self.live.abort).await;
                    return Some(reply);
                }
            }
            self.live.touch();
            self.publish(session);
            n_events = session.n_events();
        }
    }

    /// Tells what clients may want to know.
    fn publish(&self, session: &mut Interactive) {
        self.live.n_steps.store(session.n_steps(), Ordering::Relaxed);
        *self.live.lost.lock() = session.lost();
        self.live.show(session);
    }

    /// Executes commands until one fails.
    async fn execute(
        &self,
        session: &mut Interactive,
        commands: Vec<InteractiveCommand>,
        current_dir: Option<PathBuf>,
        cancel: &CancellationToken,
    ) -> Vec<CommandReply> {
        if let Some(current_dir) = current_dir {
            session.set_current_dir(current_dir);
        }
        let (cancel, _linked) = linked(cancel, &self.live.abort);
        let cancel = &cancel;
        let mut replies = Vec::new();
        for command in commands {
            // The client went away while others had their turn, or after a command that it did not wait for.
            if cancel.is_cancelled() {
                break;
            }
            let reply = session.execute(command, cancel).await;
            let is_failed = matches!(reply, CommandReply::Failed { .. });
            replies.push(reply);
            if is_failed {
                break;
            }
        }
        session.admit_calls(&self.stop);
        replies
    }
}

/// A token that is cancelled with either of two.
fn linked(one: &CancellationToken, other: &CancellationToken) -> (CancellationToken, AbortOnDropHandle<()>) {
    let both = other.child_token();
    let (one, cancelled) = (one.clone(), both.clone());
    let task = tokio::spawn(async move {
        one.cancelled().await;
        cancelled.cancel();
    });
    (both, AbortOnDropHandle::new(task))
}

/// How many warnings wait to be told.
const MOST_NOTICES: usize = 20;

/// How many lines of tools wait for a client; the newest are dropped.
const TOOL_OUTPUT_LINES: usize = 4096;

/// What tools say while a client waits for its reply.
pub struct ToolLines {
    pub lines: mpsc::Receiver<String>,
    n_dropped: Arc<AtomicUsize>,
}

impl ToolLines {
    /// How many lines came faster than they were read.
    pub fn n_dropped(&self) -> usize {
        self.n_dropped.load(Ordering::Relaxed)
    }
}

struct OutputListener {
    lines: mpsc::Sender<String>,
    n_dropped: Arc<AtomicUsize>,
}

/// Writes what people would see into the daemon's log, and keeps warnings for the next reply.
pub struct LogConsole {
    session: String,
    unread: Mutex<Vec<UnreadWarning>>,
    /// What tools say, for the clients whose requests are in progress.
    listeners: Mutex<Vec<OutputListener>>,
    secrets: Mutex<Vec<Arc<Secrets>>>,
}

/// A warning that nobody has read yet.
struct UnreadWarning {
    /// What it is about, if that can be mended meanwhile.
    about: Option<String>,
    text: String,
}

impl LogConsole {
    pub fn new(session: &str) -> LogConsole {
        let (unread, listeners, secrets) = (Mutex::default(), Mutex::default(), Mutex::default());
        LogConsole { session: session.to_string(), unread, listeners, secrets }
    }

    /// From now on, clients get these secrets as their names.
    pub fn hide(&self, secrets: &Arc<Secrets>) {
        self.secrets.lock().push(Arc::clone(secrets));
    }

    fn keep(&self, about: Option<&str>, text: &str) {
        let mut unread = self.unread.lock();
        if unread.len() < MOST_NOTICES {
            unread.push(UnreadWarning { about: about.map(str::to_string), text: text.to_string() });
        }
    }
}

impl Console for LogConsole {
    fn say(&self, text: &str) {
        tracing::info!(target: "trailblaze::daemon", session = self.session, "{text}");
    }

    fn warn(&self, text: &str) {
        tracing::warn!(target: "trailblaze::daemon", session = self.session, "{text}");
        self.keep(None, text);
    }

    fn warn_about(&self, about: &str, text: &str) {
        tracing::warn!(target: "trailblaze::daemon", session = self.session, "{text}");
        self.keep(Some(about), text);
    }

    fn settle(&self, about: &str) {
        self.unread.lock().retain(|notice| notice.about.as_deref() != Some(about));
    }

    fn error(&self, text: &str) {
        tracing::error!(target: "trailblaze::daemon", session = self.session, "{text}");
        self.keep(None, text);
    }

    fn problems(&self, problems: &[Problem]) {
        for problem in problems {
            tracing::warn!(target: "trailblaze::daemon", session = self.session, "{problem}");
            self.keep(None, &problem.to_string());
        }
    }

    fn event(&self, _: &DeviceId, _: &Event) {}

    fn tool_output(&self, text: &str) {
        let mut said = text.to_string();
        self.secrets.lock().iter().for_each(|secrets| secrets.redact_in_place(&mut said));
        let mut listeners = self.listeners.lock();
        listeners.retain(|listener| !listener.lines.is_closed());
        for listener in listeners.iter() {
            if listener.lines.try_send(said.clone()).is_err() {
                listener.n_dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn rescue(&self, text: &str) {
        tracing::error!(target: "trailblaze::daemon", session = self.session, "not saved: {text}");
    }
}
