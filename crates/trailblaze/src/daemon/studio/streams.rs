//! What a page follows: the screen, the steps and the log of a session, and runs. Each stream sends the present state first. A page
//! that reads slowly misses intermediate states, never the last one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use futures::stream::{BoxStream, select_all, unfold};
use tokio::sync::watch;
use tokio::time::Instant;
use trailblaze_core::driver::OpenTab;
use trailblaze_core::record::feed::{Feed, NextEvent};
use trailblaze_protocol::event::{Event, StepKind};

use super::super::live::{Live, SessionProgress};
use super::super::service::{Counted, LocalService};
use super::log::LogFold;
use super::runs::{READ_EVERY, Runs, size};
use super::yaml_text::write_call;
use crate::sessions::service::ServiceError;
use crate::sessions::service::generated::{
    BrowserTab, LogEntry, LogUpdate, Proposal, RunUpdate, ScreenUpdate, SessionUpdate, StepsUpdate, StudioStep, Updates,
};
use crate::sessions::viewing::ViewedScreen;

/// How many entries of a log are sent at once.
const MOST_ENTRIES: usize = 200;
/// How often a page gets a sign of life when nothing happens, so that it notices a connection that is gone.
const ALIVE_EVERY: Duration = Duration::from_secs(20);

type Guard = Counted<Arc<LocalService>>;

/// Everything about a session in one stream, which ends with the session.
pub fn session(counted: Guard, live: &Arc<Live>) -> Updates<SessionUpdate> {
    let screens = screens(live).map(|screen| SessionUpdate { screen: Some(screen), ..SessionUpdate::default() });
    let steps = steps(live).map(|steps| SessionUpdate { steps: Some(steps), ..SessionUpdate::default() });
    let log = log(live).map(|log| SessionUpdate { log: Some(log), ..SessionUpdate::default() });
    let all = select_all([screens.boxed(), steps.boxed(), log.boxed()]);
    // The request counts until the page stops reading.
    all.map(move |update| {
        let _counted = &counted;
        Ok(update)
    })
    .boxed()
}

struct ScreenStream {
    live: Arc<Live>,
    view: watch::Receiver<ViewedScreen>,
    /// The generation and the picture that were sent last.
    sent: (i32, u64),
    is_first: bool,
}

fn screens(live: &Arc<Live>) -> BoxStream<'static, ScreenUpdate> {
    let view = live.viewer.watch();
    let state = ScreenStream { live: Arc::clone(live), view, sent: (0, 0), is_first: true };
    let next = |mut state: ScreenStream| async move {
        let has_any = |view: &ViewedScreen| view.sight.is_some() || view.lost.is_some();
        if !(std::mem::take(&mut state.is_first) && has_any(&state.view.borrow())) {
            tokio::select! {
                changed = state.view.changed() => changed.ok()?,
                () = state.live.until_ended() => return None,
                () = tokio::time::sleep(ALIVE_EVERY) => {}
            }
        }
        let view = state.view.borrow_and_update().clone();
        let mut update = ScreenUpdate { lost: view.lost.unwrap_or_default(), ..ScreenUpdate::default() };
        if let Some(sight) = view.sight {
            update.generation = sight.generation;
            update.width = i32::try_from(sight.screen.size.width).unwrap_or(i32::MAX);
            update.height = i32::try_from(sight.screen.size.height).unwrap_or(i32::MAX);
            update.app = sight.screen.app.clone().unwrap_or_default();
            let tab = |OpenTab { url, is_front }: &OpenTab| BrowserTab { address: url.clone(), is_front: *is_front };
            update.tabs = sight.tabs.iter().map(tab).collect();
            update.left_out = i32::try_from(sight.n_left_out).unwrap_or(i32::MAX);
            if state.sent.0 != sight.generation {
                state.sent.0 = sight.generation;
                update.has_elements = true;
                update.elements = sight.elements.clone();
            }
        }
        if let Some(picture) = view.picture.filter(|picture| picture.number != state.sent.1) {
            state.sent.1 = picture.number;
            update.picture = STANDARD.encode(&picture.bytes);
            update.picture_type = picture.mime.to_string();
        }
        Some((update, state))
    };
    unfold(state, next).boxed()
}

fn steps(live: &Arc<Live>) -> BoxStream<'static, StepsUpdate> {
    let state = (Arc::clone(live), live.progress(), true);
    let next = |(live, mut progress, is_first): (Arc<Live>, watch::Receiver<SessionProgress>, bool)| async move {
        if !is_first {
            tokio::select! {
                changed = progress.changed() => changed.ok()?,
                () = live.until_ended() => return None,
            }
        }
        let update = steps_update(progress.borrow_and_update().clone());
        Some((update, (live, progress, false)))
    };
    unfold(state, next).boxed()
}

fn steps_update(progress: SessionProgress) -> StepsUpdate {
    let kind = |kind: StepKind| match kind {
        StepKind::Step => "step",
        StepKind::Verify => "verify",
        StepKind::Trailhead => "trailhead",
    };
    let state = progress.steps;
    let steps = state.steps.into_iter().map(|step| StudioStep {
        kind: kind(step.kind).to_string(),
        text: step.text,
        needs_model: step.calls.is_empty(),
        written: step.calls.iter().map(write_call).collect(),
        calls: step.calls,
    });
    let proposals = progress.proposals.into_iter().map(|(text, call)| Proposal { text, call });
    StepsUpdate {
        revision: state.revision,
        steps: steps.collect(),
        memory: state.memory,
        working: progress.working,
        proposals: proposals.collect(),
        can_undo: state.can_undo,
        can_redo: state.can_redo,
        saved_as: progress.saved_as,
        lost: progress.lost.unwrap_or_default(),
        has_model: state.has_model,
    }
}

struct LogStream {
    live: Arc<Live>,
    feed: Arc<Feed>,
    last: watch::Receiver<i32>,
    after: i32,
    fold: LogFold,
    is_first: bool,
    has_ended: bool,
}

fn log(live: &Arc<Live>) -> BoxStream<'static, LogUpdate> {
    let feed = Arc::clone(live.viewer.session().feed());
    let state = LogStream {
        live: Arc::clone(live),
        last: feed.subscribe(),
        feed,
        after: 0,
        fold: LogFold::default(),
        is_first: true,
        has_ended: false,
    };
    let next = |mut state: LogStream| async move {
        loop {
            if state.has_ended {
                return None;
            }
            let mut entries: Vec<LogEntry> = Vec::new();
            let mut is_reset = std::mem::take(&mut state.is_first);
            while entries.len() < MOST_ENTRIES {
                match state.feed.next(state.after) {
                    Ok(NextEvent::Event(event)) => {
                        state.after = event.number;
                        let at = event.at.saturating_duration_since(state.live.opened()).as_secs_f64();
                        let parsed: Option<Event> = serde_json::from_str(&event.json).ok();
                        entries.extend(parsed.and_then(|parsed| state.fold.take(event.number, at, &parsed)));
                    }
                    Ok(NextEvent::Wait) => break,
                    Ok(NextEvent::End) => {
                        state.has_ended = true;
                        break;
                    }
                    Err(lagged) => {
                        state.after = lagged.oldest - 1;
                        is_reset = true;
                    }
                }
            }
            if !entries.is_empty() || is_reset {
                return Some((LogUpdate { is_reset, entries }, state));
            }
            tokio::select! {
                changed = state.last.changed() => changed.ok()?,
                () = state.live.until_ended() => return None,
            }
        }
    };
    unfold(state, next).boxed()
}

struct RunStream {
    _counted: Guard,
    runs: Arc<Runs>,
    workspace: String,
    folder: PathBuf,
    /// The size of the record that was sent last.
    sent: Option<u64>,
    is_over: bool,
    alive: Instant,
}

pub fn run(counted: Guard, runs: Arc<Runs>, workspace: String, folder: PathBuf) -> Updates<RunUpdate> {
    let state = RunStream {
        _counted: counted,
        runs,
        workspace,
        folder,
        sent: None,
        is_over: false,
        alive: Instant::now() + ALIVE_EVERY,
    };
    let next = |mut state: RunStream| async move {
        if state.is_over {
            return None;
        }
        let mut pause = READ_EVERY;
        loop {
            let now = size(&state.folder);
            if state.sent != Some(now) || Instant::now() >= state.alive {
                let (runs, folder, workspace) =
                    (Arc::clone(&state.runs), state.folder.clone(), state.workspace.clone());
                let started = Instant::now();
                let read = tokio::task::spawn_blocking(move || runs.update(&folder, &workspace)).await;
                let Ok(update) = read else { return None };
                // A large record is read less often.
                pause = pause.max(started.elapsed() * 4);
                if state.sent.is_some() {
                    tokio::time::sleep(pause).await;
                }
                state.sent = Some(now);
                state.is_over = update.is_over;
                state.alive = Instant::now() + ALIVE_EVERY;
                return Some((Ok::<_, ServiceError>(update), state));
            }
            tokio::time::sleep(pause).await;
        }
    };
    unfold(state, next).boxed()
}
