//! Follows what a person does in the window of the browser. Pages report clicks and texts (recorder.js); the browser reports
//! addresses, the history and tabs, without saying who caused that: what neither a page nor the driver asked for is a person's.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_core::driver::{
    AssertedPart, Budget, Button, ClickOptions, DriverError, DropTarget, Modifier, ObservedAction, Offset, Person,
    PersonAction,
};
use trailblaze_core::query::{Stable, descriptions};
use trailblaze_core::screen::Screen;
use trailblaze_protocol::geometry::Point;

use super::backend::{ExecutionWorld, Realm, ScriptScope, TabHistory, TabId, TabInfo};
use super::look::{PagePart, WalkerAnswer, node_id, screen_of};
use super::page::Page;
use super::person_events::{PageReport, PersonEvent};

/// How many reports of pages, and how many actions, wait to be handled.
const WAITING: usize = 256;
/// How long a click may be the first half of a double click.
const DOUBLE: Duration = Duration::from_millis(500);
/// How long a page may take to open a dialog after an action that causes it.
const OPENS: Duration = Duration::from_millis(100);
/// How long a page may take to open a tab after an action that causes it.
const CAUSED: Duration = Duration::from_millis(1500);
/// A page asks for a document in its own process, and the browser may report that it loads before that.
const ASKING: Duration = Duration::from_millis(150);
/// How long ago a page may have asked for the document that loads.
const ASKED: Duration = Duration::from_secs(3);
/// How long a window may take to close all of its tabs.
const CLOSING: Duration = Duration::from_millis(300);
/// How long looking at the rest of a page may take.
const LOOKING: Duration = Duration::from_secs(2);
/// How long the bar of a page may take to show something.
const SHOWING: Duration = Duration::from_millis(500);
/// What a click in a page means: it is an action, which is recorded or not.
const RECORD: &str = "record";
const PAUSE: &str = "pause";
/// The person sees how an element is found.
const PICK: &str = "pick";
/// How long the history may take to change.
const MOVING: Duration = Duration::from_secs(2);

/// Tells the recorder when a page goes back or forward, or closes its window: the browser reports only that it happens, and a person
/// may do the same at any time. It must run in the world of the page.
const MAIN: &str = r#"(() => {
  const tell = (kind) => dispatchEvent(new Event(`trailblaze-${kind}`));
  for (const name of ["back", "forward", "go"]) {
    const own = History.prototype[name];
    History.prototype[name] = function (...args) { tell("travels"); return own.apply(this, args); };
  }
  const close = window.close;
  window.close = function () { tell("closes"); return close.call(window); };
})()"#;

/// Starts to follow a person in all tabs.
pub async fn follow(page: &Arc<Page>, budget: &Budget) -> Result<Person, DriverError> {
    let (told, messages) = mpsc::channel(WAITING);
    let (sender, actions) = mpsc::channel(WAITING);
    let (flush, flushes) = mpsc::channel(1);
    let (said, sayings) = mpsc::channel(WAITING);
    page.shared.bump(|state| state.person = Some(told));
    for (world, script) in [(ExecutionWorld::Isolated, "trailblaze.record()"), (ExecutionWorld::Page, MAIN)] {
        page.run_in_documents(budget, ScriptScope::Session, world, script).await?;
    }
    let mut follower = PersonFollower {
        page: Arc::clone(page),
        actions: sender,
        held: None,
        asked: None,
        last_action: None,
        mode: RECORD.to_string(),
        said: String::new(),
        travels: None,
        closes: None,
        last_opened: String::new(),
        history: HashMap::new(),
    };
    follower.learn_history().await;
    let follower = AbortOnDropHandle::new(tokio::spawn(follower.run(messages, flushes, sayings)));
    let begun = page.shared.state().begun.subscribe();
    Ok(Person { actions, begun, flush, said, follower })
}

struct PersonFollower {
    page: Arc<Page>,
    actions: mpsc::Sender<ObservedAction>,
    /// The last action, and until when it is held: a click may be the first half of a double click, and anything may open a
    /// dialog, whose answer has to be known before.
    held: Option<(ObservedAction, Instant)>,
    /// The kind and the message of the dialog that is open.
    asked: Option<(String, String)>,
    /// When a person last did something that a page may react to.
    last_action: Option<Instant>,
    /// What a click in a page means.
    mode: String,
    /// What the bars of the pages say.
    said: String,
    /// When a page last said that it goes back or forward, and that it closes its window.
    travels: Option<Instant>,
    closes: Option<Instant>,
    /// The address that was last opened in a new tab.
    last_opened: String,
    /// The position of each tab in its history.
    history: HashMap<TabId, TabHistory>,
}

impl PersonFollower {
    async fn run(
        mut self,
        mut messages: mpsc::Receiver<PersonEvent>,
        mut flushes: mpsc::Receiver<tokio::sync::oneshot::Sender<()>>,
        mut sayings: mpsc::Receiver<String>,
    ) {
        loop {
            let until = self.held.as_ref().map(|(_, until)| *until).filter(|_| self.asked.is_none());
            tokio::select! {
                biased;
                () = self.actions.closed() => return,
                message = messages.recv() => match message {
                    Some(PersonEvent::Closed { is_last: true, .. }) | None => return self.release().await,
                    Some(message) => self.take(message).await,
                },
                Some(done) = flushes.recv() => {
                    self.flush(&mut messages).await;
                    let _ = done.send(());
                }
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => self.release().await,
                Some(said) = sayings.recv() => {
                    self.said = said;
                    self.steer(&self.main_realms()).await;
                }
                () = self.page.backend.gone() => return self.release().await,
            }
        }
    }

    /// Passes on the action that is held.
    async fn release(&mut self) {
        if let Some((observed, _)) = self.held.take() {
            let _ = self.actions.send(observed).await;
        }
    }

    async fn send(&mut self, observed: ObservedAction) {
        self.release().await;
        self.held = Some((observed, Instant::now() + OPENS));
    }

    /// An action that is not about an element.
    async fn did(&mut self, what: PersonAction) {
        if self.mode == PAUSE {
            return;
        }
        let (screen, begun) = (screen_of(Vec::new(), self.page.version()), self.n_begun());
        self.send(ObservedAction { screen, node: None, over: Vec::new(), what, begun }).await;
    }

    /// Lets all pages report what they have not reported, and handles that.
    async fn flush(&mut self, messages: &mut mpsc::Receiver<PersonEvent>) {
        let budget = budget();
        for realm in self.page.realms() {
            let _ = self.page.ask_in(&budget, &realm, "trailblaze.flush()").await;
        }
        while let Ok(message) = messages.try_recv() {
            self.take(message).await;
        }
        self.release().await;
    }

    async fn take(&mut self, told: PersonEvent) {
        match told {
            PersonEvent::InPage { tab, frame, message, begun } => self.done_in_page(tab, frame, *message, begun).await,
            PersonEvent::Navigating { tab, kind, url, at } => self.navigating(&tab, &kind, url, at).await,
            PersonEvent::Opened { tab, has_opener } => self.opened(tab, has_opener).await,
            PersonEvent::Asked { kind, message } => self.asked = Some((kind, message)),
            PersonEvent::Answered { accept, text } => self.answered(accept, text).await,
            PersonEvent::Closed { index, .. } => {
                if is_recent(&mut self.closes) || self.page.shared.state().acting.is_now() {
                    return;
                }
                // All tabs close with their window, one after the other.
                sleep(CLOSING).await;
                if !self.page.shared.state().tabs.is_empty() {
                    self.did(PersonAction::CloseTab { index }).await;
                }
            }
        }
    }

    /// Passes on the answer to a dialog before the action that opened it, because a trail has to say in advance how dialogs are
    /// answered. An alert has only one answer.
    async fn answered(&mut self, accept: bool, text: String) {
        let Some((kind, message)) = self.asked.take() else { return };
        if kind != "alert" {
            let text = (kind == "prompt" && accept).then_some(text);
            let what = PersonAction::AnswerDialog { message, accept, text };
            let (screen, begun) = (screen_of(Vec::new(), self.page.version()), self.n_begun());
            if self.mode != PAUSE {
                let _ = self.actions.send(ObservedAction { screen, node: None, over: Vec::new(), what, begun }).await;
            }
        }
        self.release().await;
    }

    /// Whether a page, or the driver, is likely to have caused what just happened.
    fn is_caused(&self) -> bool {
        self.last_action.is_some_and(|at| at.elapsed() < CAUSED) || self.page.shared.state().acting.is_now()
    }

    async fn done_in_page(&mut self, tab: TabId, frame: u64, mut message: PageReport, begun: u64) {
        let (is_own, is_front) = {
            let state = self.page.shared.state();
            (state.acting.was(message.at), state.front == tab)
        };
        if is_own {
            return;
        }
        match message.kind.as_str() {
            "shown" => return self.shown(&tab).await,
            "travels" => return self.travels = Some(Instant::now()),
            "closes" => return self.closes = Some(Instant::now()),
            "began" if self.mode == RECORD && self.said.is_empty() => return,
            "began" => {
                let realm = self.realm(&tab, frame);
                return self.steer(realm.as_slice()).await;
            }
            "mode" => return self.change_mode(std::mem::take(&mut message.mode)).await,
            "undo" => return self.did(PersonAction::Undo).await,
            "finish" => return self.finish().await,
            _ if self.mode == PAUSE => return,
            _ => {}
        }
        if !is_front && self.select(&tab) {
            // The page did not say that it is in front, or has not yet.
            let index = self.index_of(&tab);
            if let Some(index) = index {
                self.did(PersonAction::SelectTab { index }).await;
            }
        }
        let Some(seen) = message.seen.take() else { return };
        if let Some(realm) = self.realm(&tab, frame).filter(|_| message.kind == "upload") {
            let budget = budget();
            for (name, at) in message.names.iter_mut().zip(0..) {
                let path = self.page.file_path(&budget, &realm, &format!("trailblaze.uploaded({at})")).await;
                path.into_iter().for_each(|path| *name = path);
            }
        }
        let (screen, origin) = self.whole_screen(frame, seen).await;
        let find = |element: Option<u64>| {
            let id = element.map(|element| if frame == 0 { element } else { node_id(frame, element) });
            id.filter(|id| screen.root.walk().any(|node| node.id == *id))
        };
        let (node, onto) = (find(message.node), find(message.onto));
        let over = message.over.iter().filter_map(|element| find(Some(*element))).collect();
        let point = Point { x: message.x + origin.x, y: message.y + origin.y };
        if message.kind == "chosen" {
            return self.chosen(&message.mode, screen, node).await;
        }
        let Some(what) = message.action(node.is_some(), onto, point) else { return };
        self.last_action = Some(Instant::now());
        self.page.shared.state().acted_at = self.last_action;
        let observed = ObservedAction { screen, node, over, what, begun };
        match &observed.what {
            PersonAction::Click { click: ClickOptions { button: Button::Left, count: 1, .. }, .. } => {
                self.release().await;
                self.held = Some((observed, Instant::now() + DOUBLE));
            }
            PersonAction::Click { click: ClickOptions { count: 2, .. }, .. } => {
                let is_click = |first: &ObservedAction| matches!(first.what, PersonAction::Click { .. });
                if self.held.as_ref().is_some_and(|(first, _)| is_click(first) && first.node == observed.node) {
                    self.held = None;
                }
                self.send(observed).await;
            }
            _ => self.send(observed).await,
        }
    }

    /// An element was chosen in a page, to check something about it, or to see how it is found.
    async fn chosen(&mut self, mode: &str, screen: Screen, node: Option<u64>) {
        let part = match mode {
            "visible" => AssertedPart::Visible,
            "text" => AssertedPart::Text,
            "value" => AssertedPart::Value,
            _ => {
                let node = node.and_then(|id| screen.root.walk().find(|node| node.id == id));
                self.said = match node.map(|node| descriptions(&screen, node)) {
                    Some(found) => found.iter().map(|(stable, _)| words(stable)).collect::<Vec<_>>().join(" · "),
                    None => "nothing tells it apart".to_string(),
                };
                return self.steer(&self.main_realms()).await;
            }
        };
        let (what, begun) = (PersonAction::Assert { part }, self.n_begun());
        self.send(ObservedAction { screen, node, over: Vec::new(), what, begun }).await;
        self.change_mode(RECORD.to_string()).await;
    }

    /// Lets a click mean something else, in all documents.
    async fn change_mode(&mut self, mode: String) {
        if self.mode == PICK || mode == PICK {
            self.said.clear();
        }
        self.mode = mode;
        self.steer(&self.page.realms()).await;
    }

    fn n_begun(&self) -> u64 {
        *self.page.shared.state().begun.borrow()
    }

    async fn finish(&mut self) {
        self.mode = RECORD.to_string();
        self.did(PersonAction::Finish).await;
    }

    fn realm(&self, tab: &str, frame: u64) -> Option<Realm> {
        self.page.shared.bump(|state| state.tab_mut(tab)?.numbered(frame)?.realm.clone())
    }

    /// The realms of the documents that have a bar.
    fn main_realms(&self) -> Vec<Realm> {
        self.page.shared.state().tabs.iter().filter_map(|tab| tab.main()?.realm.clone()).collect()
    }

    /// Tells documents what a click means, and what to show.
    async fn steer(&self, realms: &[Realm]) {
        let state = json!({"mode": self.mode, "said": self.said});
        for realm in realms {
            let budget = Budget::new(Instant::now() + SHOWING, CancellationToken::new());
            let _ = self.page.ask_in(&budget, realm, &format!("trailblaze.steer({state})")).await;
        }
    }

    /// A tab became visible.
    async fn shown(&mut self, tab: &str) {
        let is_other = {
            let state = self.page.shared.state();
            let is_ready = state.tabs.iter().any(|known| known.id == tab && known.is_ready);
            is_ready && state.front != tab && state.adopting.is_empty()
        };
        if !is_other || !self.select(tab) {
            return;
        }
        if let Some(index) = self.index_of(tab) {
            self.did(PersonAction::SelectTab { index }).await;
        }
    }

    /// Follows the person to a tab; false if it is gone.
    fn select(&self, tab: &str) -> bool {
        self.page.shared.bump(|state| {
            let is_there = state.tabs.iter().any(|known| known.id == tab && known.is_ready);
            if is_there {
                tab.clone_into(&mut state.front);
            }
            is_there
        })
    }

    fn index_of(&self, tab: &str) -> Option<usize> {
        self.page.shared.state().tabs.iter().position(|known| known.id == tab)
    }

    /// What a document showed, with the rest of the page around it or in it, and where the document begins.
    async fn whole_screen(&self, frame: u64, mut seen: WalkerAnswer) -> (Screen, Point) {
        let budget = budget();
        let want = json!({"shown": true});
        let start = Point { x: 0, y: 0 };
        let version = self.page.version();
        if frame == 0 {
            // The page may be gone already, and its frames with it.
            let _ = self.page.look_into_frames(&budget, &mut seen, &want).await;
            return (seen.screen(version, PagePart::Whole), start);
        }
        let around = timeout(LOOKING, self.page.look(&budget, &want)).await;
        if let Ok(Ok(mut around)) = around
            && let Some((owner, parent)) = self.page.holder(frame)
            && let Some(holder) = around.find(if parent == 0 { owner } else { node_id(parent, owner) })
            && let Some([x, y]) = holder.origin()
        {
            holder.hold(frame, seen);
            return (around.screen(version, PagePart::Whole), Point { x, y });
        }
        seen.number(frame);
        (seen.screen(version, PagePart::Whole), start)
    }

    async fn navigating(&mut self, tab: &str, kind: &str, url: String, at: Instant) {
        let is_ours = self.page.shared.state().acting.is_now();
        if kind.starts_with("history") {
            let is_asked = is_recent(&mut self.travels);
            return self.travelled(tab, is_ours || is_asked).await;
        }
        if is_ours || !matches!(kind, "differentDocument" | "reload" | "reloadBypassingCache") {
            return;
        }
        sleep(ASKING.saturating_sub(at.elapsed())).await;
        let is_asked = self.page.shared.bump(|state| {
            let tab = state.tab_mut(tab)?;
            // The first document of a tab that a page opened.
            let is_first = tab.opener.is_some() && tab.commits <= 1;
            Some(tab.requested_at.take().is_some_and(|asked| at.saturating_duration_since(asked) < ASKED) || is_first)
        });
        self.learn_history_of(tab).await;
        if is_asked != Some(false) || is_internal(&url) {
            return;
        }
        if kind != "differentDocument" {
            return self.did(PersonAction::Reload).await;
        }
        if std::mem::take(&mut self.last_opened) != url {
            self.did(PersonAction::Open { url }).await;
        }
    }

    async fn travelled(&mut self, tab: &str, is_caused: bool) {
        let before = self.history.get(tab).cloned();
        let until = Instant::now() + MOVING;
        let moves = loop {
            sleep(Duration::from_millis(30)).await;
            self.learn_history_of(tab).await;
            let moves = match (&before, self.history.get(tab)) {
                (Some(before), Some(after)) => moves_since(after, before),
                _ => 0,
            };
            if moves != 0 || Instant::now() >= until {
                break moves;
            }
        };
        if is_caused {
            return;
        }
        for _ in 0..moves.abs() {
            self.did(if moves < 0 { PersonAction::Back } else { PersonAction::Forward }).await;
        }
    }

    async fn opened(&mut self, tab: TabId, has_opener: bool) {
        let is_caused = has_opener || self.is_caused();
        self.learn_history_of(&tab).await;
        if is_caused {
            return;
        }
        self.did(PersonAction::NewTab).await;
        let Ok(Ok(TabInfo { url, .. })) = timeout(LOOKING, self.page.backend.tab_info(&tab)).await else { return };
        if !is_internal(&url) {
            self.last_opened.clone_from(&url);
            self.did(PersonAction::Open { url }).await;
        }
    }

    async fn learn_history(&mut self) {
        let tabs: Vec<TabId> = self.page.shared.state().tabs.iter().map(|tab| tab.id.clone()).collect();
        for tab in tabs {
            self.learn_history_of(&tab).await;
        }
    }

    async fn learn_history_of(&mut self, tab: &str) {
        let Ok(Some(history)) = timeout(LOOKING, self.page.history(tab)).await else { return };
        self.history.insert(tab.to_string(), history);
    }
}

/// How far a tab moved in its history: negative for back. An address that was opened then may not have had its entry yet; it is where
/// the tab was.
fn moves_since(now: &TabHistory, before: &TabHistory) -> i64 {
    let added = now.entries.iter().rposition(|id| !before.entries.contains(id));
    let start = added.and_then(|index| i64::try_from(index).ok()).unwrap_or(before.index);
    now.index - start
}

impl PageReport {
    fn action(self, has_node: bool, onto: Option<u64>, point: Point) -> Option<PersonAction> {
        let click = ClickOptions {
            button: Button::parse(&self.button).unwrap_or(Button::Left),
            count: self.count.max(1),
            modifiers: self.modifiers.iter().filter_map(|name| Modifier::parse(name)).collect(),
            at: offset(self.spot),
        };
        let by = Offset { x: self.by_x, y: self.by_y };
        let onto = onto.map(|node| DropTarget { node, at: offset(self.onto_spot) });
        Some(match self.kind.as_str() {
            "click" => PersonAction::Click { click, point },
            // The box itself is not shown, only something that stands for it.
            "check" if !has_node => PersonAction::Click { click, point },
            "check" => PersonAction::SetChecked { checked: self.checked },
            "type" => PersonAction::Type { text: self.text },
            "append" => PersonAction::Append { text: self.text },
            "drag" if has_node => PersonAction::Drag { at: offset(self.spot), by, onto },
            "scroll" => PersonAction::Scroll { by },
            "secret" => PersonAction::TypeSecret,
            "press" => PersonAction::Press { chord: self.chord },
            "choose" => PersonAction::Choose { values: self.values },
            "upload" => PersonAction::Upload { names: self.names },
            _ => return None,
        })
    }
}

fn offset(spot: Option<[i32; 2]>) -> Option<Offset> {
    spot.map(|[x, y]| Offset { x, y })
}

/// How an element is found, as a person reads it.
fn words(stable: &Stable) -> String {
    match stable {
        Stable::Id(id) => format!("id: {id}"),
        Stable::Text(text) => format!("text: {text}"),
        Stable::Selector(selector) => selector.to_json().to_string(),
        Stable::Point(point) => format!("point: {}, {}", point.x, point.y),
    }
}

/// Whether a page asked for this just now. It asks once for each.
fn is_recent(asked: &mut Option<Instant>) -> bool {
    asked.take().is_some_and(|at| at.elapsed() < ASKED)
}

fn budget() -> Budget {
    Budget::new(Instant::now() + LOOKING, CancellationToken::new())
}

/// An address that nobody enters.
fn is_internal(url: &str) -> bool {
    url.is_empty() || ["about:", "chrome:", "chrome-error:", "edge:"].iter().any(|scheme| url.starts_with(scheme))
}
