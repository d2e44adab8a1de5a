//! The device of a session, behind a lease. Screens returned from here are redacted and have refs; the values of secrets
//! only appear in what is sent to the driver. The one waiting loop is here too.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::event::{Event, Level, Moment};
use trailblaze_protocol::geometry::{Rect, Size};
use trailblaze_protocol::heal::ElementIdentity;
use trailblaze_protocol::ids::{AttemptId, Parent};
use trailblaze_protocol::outcome::Outcome;

use crate::driver::{
    Action, ActionOutput, ActionTarget, Budget, DeviceCommand, DeviceDescription, Driver, DriverError, LateFile,
    LaunchMode, ObserveOptions, ObservedAction, OpenTab, Person, PersonAction, Redact, ScreenFrame, TrailStart,
};
use crate::engine::attempt_trace::AttemptTrace;
use crate::engine::cx::Cx;
use crate::engine::destination;
use crate::engine::device_history::DeviceHistory;
use crate::engine::dispatch::ExpectedName;
use crate::engine::fault::{Fault, Stop};
use crate::engine::reveal::{self, Sent};
use crate::engine::session::Session;
use crate::limits;
use crate::query::{Checks, ElementDescription, Find, Found, Query, QueryTarget, Reason, WhyNot, identity, meaning};
use crate::record::artifacts::{ArtifactStore, PicturePolicy, Shot};
use crate::screen::{Node, Screen, Shape, SnapshotId, quoted, shorten};
use crate::values::secret::Secrets;
use crate::{refs, snapshot};

/// The key in the structured result of a call that failed because nothing on the screen was its element.
pub const NOT_FOUND: &str = "notFound";
/// The key in the structured result of a call that failed because its element has another name than when it was recorded.
pub const OTHER_NAME: &str = "otherName";

/// The device of a session. Serializes access to its driver.
pub struct Device {
    pub(super) driver: Arc<dyn Driver>,
    pub(super) secrets: Arc<Secrets>,
    /// Held during one find and act, and released between polls.
    lease: tokio::sync::Mutex<()>,
    /// The last screen that was shown, whose refs callers may use.
    shown: Mutex<Option<Arc<Screen>>>,
    /// What the device said so far.
    pub(super) history: Mutex<DeviceHistory>,
}

/// The properties by which an element is recognized on a later screen.
#[derive(Debug, Clone, PartialEq)]
struct ScreenFingerprint {
    class: Option<String>,
    text: Option<String>,
    id: Option<String>,
    bounds: Option<Rect>,
}

/// The condition to wait for.
pub enum Goal<'a> {
    /// The element is there, even if nobody can see it because it is transparent.
    Present,
    /// The element is visible.
    Visible,
    /// The element is visible and has this text.
    Text(&'a str),
    /// The element is not visible.
    Gone,
    /// The element can be acted on, and the action is performed.
    Acted(&'a Action),
}

/// The result of a wait.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Reached {
    Met {
        found: Option<Found>,
        acted: ActionOutput,
    },
    /// The time ran out. `saw` describes what was on the screen instead.
    Missed {
        saw: String,
        waited: Duration,
        /// Whether nothing on the screen, visible or hidden, was what was searched for.
        is_absent: bool,
        /// Whether there was only an element with another name than when the call was recorded.
        is_renamed: bool,
    },
}

impl Device {
    pub fn new(driver: Arc<dyn Driver>, secrets: Arc<Secrets>) -> Device {
        Device {
            driver,
            secrets,
            lease: tokio::sync::Mutex::new(()),
            shown: Mutex::default(),
            history: Mutex::default(),
        }
    }

    pub fn description(&self) -> &DeviceDescription {
        self.driver.describe()
    }

    pub async fn close(&self) {
        self.driver.close().await;
    }

    /// Follows the screen with pictures; see [`Driver::frames`]. `None` also if the session has secrets, because these pictures
    /// cannot be masked.
    pub fn frames(&self) -> Option<watch::Receiver<Option<ScreenFrame>>> {
        if self.secrets.is_empty() { self.driver.frames() } else { None }
    }

    /// Begins the trace of an attempt; `None` if traces are not collected.
    pub(crate) fn begin_trace(&self, attempt: &AttemptId, store: &Arc<dyn ArtifactStore>) -> Option<Arc<AttemptTrace>> {
        store.traces()?;
        AttemptTrace::begin(attempt.clone(), Arc::clone(&self.driver), self.frames(), (store, &self.secrets))
    }

    /// Starts to follow what a person does on the device itself; see [`Driver::follow_person`].
    pub async fn follow_person(&self, cx: &Cx) -> Result<Person, Stop> {
        let _lease = self.lease(cx).await?;
        Ok(self.driver.follow_person(&cx.budget()).await?)
    }

    /// Removes secrets from what a person did. A secret that was typed becomes its placeholder.
    pub fn redact_observed(&self, observed: &mut ObservedAction) {
        refs::assign(&mut observed.screen.root, false);
        if self.secrets.is_empty() {
            return;
        }
        observed.screen.app.iter_mut().for_each(|app| self.secrets.redact_in_place(app));
        self.redact(&mut observed.screen.root, &mut Vec::new());
        match &mut observed.what {
            PersonAction::Type { text } | PersonAction::Append { text } | PersonAction::Open { url: text } => {
                self.secrets.redact_in_place(text)
            }
            PersonAction::Choose { values: texts } | PersonAction::Upload { names: texts } => {
                texts.iter_mut().for_each(|text| self.secrets.redact_in_place(text));
            }
            PersonAction::AnswerDialog { message, text, accept: _ } => {
                std::iter::once(message).chain(text).for_each(|text| self.secrets.redact_in_place(text));
            }
            _ => {}
        }
    }

    /// Looks at the screen.
    pub async fn look(&self, cx: &Cx) -> Result<Screen, Stop> {
        let (screen, _) = self.observe(cx, ObserveOptions::TREE).await?;
        Ok(screen)
    }

    /// The same with the elements that have neither text nor function.
    pub async fn look_at_all(&self, cx: &Cx) -> Result<Screen, Stop> {
        let (screen, _) = self.observe(cx, ObserveOptions { all: true, ..ObserveOptions::TREE }).await?;
        Ok(screen)
    }

    /// The same with a picture, and the parts of the screen that must be masked in it.
    pub async fn look_pictured(&self, cx: &Cx) -> Result<(Screen, Vec<Rect>), Stop> {
        self.observe(cx, ObserveOptions::PICTURE).await
    }

    /// Looks at the screen once it has not changed for `quiet`, after `most` at the latest.
    pub async fn look_settled(&self, cx: &Cx, quiet: Duration, most: Duration) -> Result<Screen, Stop> {
        let end = Instant::now() + most;
        loop {
            let screen = self.look(cx).await?;
            if Instant::now() >= end || !self.await_change(cx, screen.snapshot, quiet).await? {
                return Ok(screen);
            }
        }
    }

    /// Looks at the screen for a caller that may then use the refs of this snapshot.
    pub async fn show(&self, cx: &Cx) -> Result<Screen, Stop> {
        self.show_with(cx, &snapshot::Details::default()).await
    }

    /// The same, with the data that these details need.
    pub async fn show_with(&self, cx: &Cx, details: &snapshot::Details) -> Result<Screen, Stop> {
        let (screen, _) = self.show_all(cx, ObserveOptions::for_snapshot(details)).await?;
        Ok(screen)
    }

    /// The same with a picture, and the parts of the screen that must be masked in it.
    pub async fn show_pictured(&self, cx: &Cx, details: &snapshot::Details) -> Result<(Screen, Vec<Rect>), Stop> {
        self.show_all(cx, ObserveOptions { picture: true, ..ObserveOptions::for_snapshot(details) }).await
    }

    async fn show_all(&self, cx: &Cx, want: ObserveOptions) -> Result<(Screen, Vec<Rect>), Stop> {
        let (mut screen, mut masks) = self.observe(cx, want).await?;
        let end = Instant::now() + limits::LOADING;
        while screen.is_loading() && Instant::now() < end {
            self.wait_for_change(cx, screen.snapshot, end).await?;
            (screen, masks) = self.observe(cx, want).await?;
        }
        *self.shown.lock() = Some(Arc::new(Screen { picture: None, ..screen.clone() }));
        Ok((screen, masks))
    }

    /// Whether the last snapshot that was shown contains this ref.
    pub fn has_shown(&self, reference: &str) -> bool {
        self.shown.lock().as_ref().is_some_and(|screen| with_reference(&screen.root, reference).is_some())
    }

    /// Finds the element that a ref, or a line of a snapshot that starts with one, refers to on the current screen.
    pub async fn resolve_ref(&self, cx: &Cx, reference: &str) -> Result<(Screen, u64), Stop> {
        let (reference, words) = refs::split_line(reference).unwrap_or((reference.trim(), ""));
        let unknown = || {
            Stop::failed(format!(
                "unknown ref `{reference}`: no snapshot has shown it; take a snapshot and use a ref from it"
            ))
        };
        let shown = self.shown.lock().clone();
        let was = shown.as_deref().and_then(|shown| Some((shown, with_reference(&shown.root, reference)?)));
        let Some((shown, was)) = was else {
            // A role alone, such as `textbox`, means the only such element. Every ref has a number.
            if reference.chars().any(|c| c.is_ascii_digit()) {
                return Err(unknown());
            }
            let screen = self.look(cx).await?;
            let node = only_described(&screen, reference).ok_or_else(unknown)?;
            return Ok((screen, node));
        };
        if !words.is_empty() && !is_line_of(shown, was, &self.secrets.redact(words)) {
            let is = format!("ref `{reference}` is {} in the last snapshot, not {words}", was.summary());
            return Err(Stop::failed(format!("{is}; take a new snapshot")));
        }
        let found = self.find_shown(cx, was, |node| node.reference.as_deref() == Some(reference)).await?;
        found.ok_or_else(|| Stop::failed(Reason::StaleReference { reference: reference.to_string() }.to_string()))
    }

    /// Finds the element that a node id refers to on the current screen: the number of the element in what was last shown.
    pub async fn resolve_node(&self, cx: &Cx, id: u64) -> Result<(Screen, u64), Stop> {
        let failed = |what: String| {
            Stop::failed(format!("{what}; node ids are valid for one screen only, so call `captureScreen` again"))
        };
        let unknown = || failed(format!("no element of the last `captureScreen` has the node id {id}"));
        let shown = self.shown.lock().clone().ok_or_else(unknown)?;
        let was = usize::try_from(id).ok().and_then(|id| shown.root.walk().nth(id)).ok_or_else(unknown)?;
        let found = self.find_shown(cx, was, |node| node.id == was.id).await?;
        found.ok_or_else(|| failed(format!("the element with the node id {id} is no longer on the screen")))
    }

    /// Finds an element that was shown, on the current screen.
    async fn find_shown(
        &self,
        cx: &Cx,
        was: &Node,
        is_it: impl Fn(&Node) -> bool,
    ) -> Result<Option<(Screen, u64)>, Stop> {
        let knows_elements = self.description().knows_elements;
        let find = |screen: &Screen| {
            let node = if knows_elements {
                screen.root.walk().find(|node| is_it(node) && node.document == was.document)
            } else {
                ScreenFingerprint::of(was).nearest(&screen.root)
            };
            node.map(|node| node.id)
        };
        let screen = self.look(cx).await?;
        match find(&screen) {
            Some(node) => return Ok(Some((screen, node))),
            None if !knows_elements => return Ok(None),
            None => {}
        }
        // Only a snapshot of everything shows elements without text and function. There, selectors tell them apart.
        let (screen, _) =
            self.observe(cx, ObserveOptions { all: true, selectors: true, ..ObserveOptions::TREE }).await?;
        Ok(find(&screen).map(|node| (screen, node)))
    }

    /// Stores a screenshot and the element tree. Returns `None` if the device has no screenshots.
    pub async fn shoot(&self, cx: &Cx, about: Parent, moment: Moment) -> Result<Option<Shot>, Stop> {
        let (mut screen, masks) = self.observe(cx, ObserveOptions::PICTURE).await?;
        let Some(picture) = screen.picture.take() else { return Ok(None) };
        let mut tree = snapshot::text(&screen, &snapshot::Details::default());
        self.secrets.redact_in_place(&mut tree);
        let shot = Shot { about, moment, picture, masks, screen: screen.size, tree };
        cx.session.artifacts.keep_picture(shot.clone());
        Ok(Some(shot))
    }

    async fn observe(&self, cx: &Cx, want: ObserveOptions) -> Result<(Screen, Vec<Rect>), Stop> {
        let _lease = self.lease(cx).await?;
        Ok(self.observe_leased(cx, want).await?)
    }

    async fn observe_leased(&self, cx: &Cx, want: ObserveOptions) -> Result<(Screen, Vec<Rect>), DriverError> {
        let observed = self.driver.observe(&cx.budget(), want).await;
        self.emit_events(cx);
        let mut screen = observed?;
        refs::assign(&mut screen.root, want.all);
        let mut masks = Vec::new();
        if !self.secrets.is_empty() {
            screen.app.iter_mut().for_each(|app| self.secrets.redact_in_place(app));
            self.redact(&mut screen.root, &mut masks);
            if screen.picture.is_some() {
                masks.extend(self.shown_secrets(cx, screen.size).await);
            }
        }
        Ok((screen, masks))
    }

    /// Where the screen displays secrets outside of elements. If that is not known, everything is masked.
    async fn shown_secrets(&self, cx: &Cx, screen: Size) -> Vec<Rect> {
        match self.driver.displayed_texts(&cx.budget()).await {
            Ok(None) => Vec::new(),
            Ok(Some(displayed)) => {
                let texts: Vec<&str> = displayed.iter().map(|displayed| displayed.text.as_str()).collect();
                self.secrets.shown_in(&texts).into_iter().flat_map(|index| displayed[index].boxes.clone()).collect()
            }
            Err(error) => {
                cx.note(
                    Level::Warning,
                    format!("a picture is masked as a whole, because its texts cannot be read: {error}"),
                );
                vec![Rect::new(0, 0, screen.width.cast_signed(), screen.height.cast_signed())]
            }
        }
    }

    fn redact(&self, node: &mut Node, masks: &mut Vec<Rect>) {
        let mut holds_secret = false;
        for text in node.props.texts_mut() {
            holds_secret |= self.secrets.is_in(text);
            self.secrets.redact_in_place(text);
        }
        // The title of a page is not visible in a screenshot.
        let is_page = node.props.shape == Shape::Web && node.class() == Some("document");
        if holds_secret && !is_page {
            masks.extend(node.bounds);
        }
        node.children.iter_mut().for_each(|child| self.redact(child, masks));
    }

    /// Acts on a target without searching for an element first.
    pub async fn act(&self, cx: &Cx, target: &ActionTarget, action: &Action) -> Result<ActionOutput, Stop> {
        self.act_within(cx, target, action, &cx.budget()).await
    }

    /// The same for an action in which the driver waits for up to `wait`.
    pub async fn act_waiting(
        &self,
        cx: &Cx,
        target: &ActionTarget,
        action: &Action,
        wait: Duration,
    ) -> Result<ActionOutput, Stop> {
        self.act_within(cx, target, action, &cx.budget_waiting(wait)).await
    }

    async fn act_within(
        &self,
        cx: &Cx,
        target: &ActionTarget,
        action: &Action,
        budget: &Budget,
    ) -> Result<ActionOutput, Stop> {
        self.before_touch(cx, target).await?;
        let _lease = self.lease(cx).await?;
        Ok(self.act_leased(cx, target, action, budget).await?)
    }

    /// Carries out a command to the device as a whole. The driver waits for up to `wait` for what the command starts.
    pub async fn command(
        &self,
        cx: &Cx,
        command: &DeviceCommand,
        wait: Option<Duration>,
    ) -> Result<ActionOutput, Stop> {
        let budget = wait.map_or_else(|| cx.budget(), |wait| cx.budget_waiting(wait));
        let _lease = self.lease(cx).await?;
        destination::check(cx, &*self.driver, Sent::Command(command), &budget).await?;
        let command = reveal::command_with_values(&self.secrets, command);
        if matches!(&command, DeviceCommand::LaunchApp { mode, .. } if *mode != LaunchMode::Resume) {
            self.emit_events(cx);
            self.history.lock().forget_pages();
        }
        let acted = command.carry_out(&*self.driver, &budget).await;
        Ok(self.done(cx, acted)?)
    }

    async fn act_leased(
        &self,
        cx: &Cx,
        target: &ActionTarget,
        action: &Action,
        budget: &Budget,
    ) -> Result<ActionOutput, DriverError> {
        if let (Some(call), true) = (cx.call_id(), !matches!(target, ActionTarget::Device)) {
            let (bounds, what) = match target {
                ActionTarget::Element(found) => (Some(found.bounds), format!("{} on {}", action.name(), found.summary)),
                _ => (None, action.name().to_string()),
            };
            let element = match target {
                ActionTarget::Element(found) if cx.session.is_recording => self.identify(cx, found).await,
                _ => None,
            };
            cx.session.trace().iter().for_each(|trace| trace.mark());
            cx.emit(Event::Touched { call: call.clone(), point: target.point(), bounds, what, element });
        }
        destination::check(cx, &*self.driver, Sent::Action(target, action), budget).await?;
        let acted = self.driver.act(budget, target, &reveal::action_with_values(&self.secrets, action)).await;
        self.done(cx, acted)
    }

    /// What the device returned, in which no text is a seal.
    fn done(&self, cx: &Cx, acted: Result<ActionOutput, DriverError>) -> Result<ActionOutput, DriverError> {
        self.emit_events(cx);
        let mut acted = acted?;
        self.secrets.defuse(&mut acted.text);
        acted.value.iter_mut().for_each(|value| self.secrets.defuse_value(value));
        Ok(acted)
    }

    /// The identity of an element that was just found. Needs another look, because a search may not fetch the whole screen.
    async fn identify(&self, cx: &Cx, found: &Found) -> Option<Box<ElementIdentity>> {
        let (screen, _) = self.observe_leased(cx, ObserveOptions::TREE).await.ok()?;
        let summary = self.secrets.redact(&found.summary).into_owned();
        let is_it = |node: &&Node| node.id == found.node && node.summary() == summary;
        let node = screen.root.walk().find(is_it)?;
        identity(&screen, node.id).map(Box::new)
    }

    /// What is to be said about an element that has another name than when the call was recorded.
    async fn renamed<'c>(&self, cx: &'c Cx, found: &Found) -> Option<(String, &'c ExpectedName)> {
        let expects = cx.frame()?.expects.as_ref()?;
        let summary = self.secrets.redact(&found.summary);
        // In the usual case no further look is needed. A long name is shortened in a summary.
        if shorten(&expects.name) == expects.name && summary.ends_with(&quoted(&expects.name)) {
            return None;
        }
        let name = self.identify(cx, found).await?.name;
        if name.is_some_and(|name| meaning::is_same(&name, &expects.name)) {
            return None;
        }
        Some((
            format!("{summary} is not named {} any more, as when the trail was recorded", quoted(&expects.name)),
            expects,
        ))
    }

    /// Prepares the device for a trail. A device that cannot be prepared says so in the first call of the trail.
    pub async fn begin_trail(&self, session: &Session, cancel: &CancellationToken, trail: &TrailStart) {
        let budget = Budget::new(Instant::now() + self.driver.preparing_limit(), cancel.clone());
        self.emit_events_of_no_call(session);
        self.history.lock().forget_pages();
        let begun = {
            let _lease = self.lease.lock().await;
            self.driver.begin_trail(&budget, trail).await
        };
        self.emit_events_of_no_call(session);
        if let Err(error) = begun {
            let text = format!("the device could not be prepared for the trail: {error}");
            session.emit(Event::note(None, Level::Warning, text));
        }
    }

    /// Puts back what a trail has changed on the device.
    pub async fn end_trail(&self, session: &Session, cancel: &CancellationToken) {
        let budget = Budget::new(Instant::now() + limits::DRIVER_COMMAND, cancel.clone());
        let ended = {
            let _lease = self.lease.lock().await;
            self.driver.end_trail(&budget).await
        };
        self.emit_events_of_no_call(session);
        match ended {
            // What is gone has nothing to put back.
            Ok(()) | Err(DriverError::Lost { .. } | DriverError::Cancelled) => {}
            Err(error) => {
                let text = format!("what the trail changed on the device could not be put back: {error}");
                session.emit(Event::note(None, Level::Warning, text));
            }
        }
    }

    /// Files about the trail that ended last which come later.
    pub fn late_files(&self) -> Vec<LateFile> {
        self.driver.late_files()
    }

    /// The tabs of a browser.
    pub fn tabs(&self) -> Vec<OpenTab> {
        let redact = self.redacting();
        let mut tabs = self.driver.tabs();
        tabs.iter_mut().for_each(|tab| (redact.0)(&mut tab.url));
        tabs
    }

    /// Removes the values of this session's secrets.
    pub(crate) fn redacting(&self) -> Redact {
        let secrets = Arc::clone(&self.secrets);
        Redact(Arc::new(move |text| secrets.redact_in_place(text)))
    }

    async fn before_touch(&self, cx: &Cx, target: &ActionTarget) -> Result<(), Stop> {
        if wants_picture(cx) && !matches!(target, ActionTarget::Device) {
            self.shoot(cx, cx.parent(), Moment::Before).await?;
        }
        Ok(())
    }

    /// Looks once, without waiting.
    pub async fn find(&self, cx: &Cx, query: &Query, checks: Checks) -> Result<Find, Stop> {
        let _lease = self.lease(cx).await?;
        Ok(self.find_leased(cx, &reveal::query_with_values(&self.secrets, query), checks).await?)
    }

    /// The waiting loop: find and act, else wait for the screen to change, or for a tick, until the time is up.
    pub async fn wait_for(&self, cx: &Cx, query: &Query, goal: Goal<'_>, timeout: Duration) -> Result<Reached, Stop> {
        let started = Instant::now();
        let end = started + timeout;
        let wanted = reveal::query_with_values(&self.secrets, query);
        // The text on the screen contains the real values of secrets.
        let text = if let Goal::Text(text) = goal { self.secrets.reveal(text) } else { String::new() };
        let checks = match goal {
            Goal::Acted(action) => action.checks(),
            Goal::Present => Checks::Present,
            Goal::Visible | Goal::Text(_) | Goal::Gone => Checks::Visible,
        };
        let mut looks = 0;
        let mut wants_picture = matches!(goal, Goal::Acted(_)) && wants_picture(cx);
        loop {
            looks += 1;
            let lease = self.lease(cx).await?;
            let find = self.find_leased(cx, &wanted, checks).await?;
            let renamed = match (&find, &goal) {
                (Find::Found(found), Goal::Acted(_)) => self.renamed(cx, found).await,
                _ => None,
            };
            let is_renamed = renamed.as_ref().is_some_and(|(_, expects)| expects.is_required);
            let is_absent = is_renamed || matches!(&find, Find::Not(WhyNot { reason: Reason::NoMatch { .. }, .. }));
            let (snapshot, saw) = match (find, &goal) {
                (Find::Found(found), Goal::Acted(_)) if is_renamed => {
                    (found.snapshot, renamed.map(|(text, _)| text).unwrap_or_default())
                }
                (Find::Found(found), Goal::Text(_)) if found.text.as_deref() != Some(&text) => {
                    (found.snapshot, format!("the text \"{}\"", found.text.unwrap_or_default()))
                }
                (Find::Found(found), Goal::Present | Goal::Visible | Goal::Text(_)) => {
                    self.waited(cx, query, &goal, started, looks, None);
                    return Ok(Reached::Met { found: Some(found), acted: ActionOutput::default() });
                }
                (Find::Found(found), Goal::Acted(action)) => {
                    let target = ActionTarget::Element(found);
                    // A screenshot needs the lease; the element is searched for again afterwards.
                    if std::mem::take(&mut wants_picture) {
                        drop(lease);
                        Box::pin(self.before_touch(cx, &target)).await?;
                        looks -= 1;
                        continue;
                    }
                    if let Some((text, _)) = renamed {
                        cx.session.strictness.let_pass("names");
                        cx.doubt(text);
                    }
                    let acted = self.act_leased(cx, &target, action, &cx.budget()).await;
                    let ActionTarget::Element(found) = target else { unreachable!("the target is an element") };
                    // An element that moved away from the touch is searched for again.
                    let Err(DriverError::Evaded { how }) = acted else {
                        let acted = acted?;
                        self.waited(cx, query, &goal, started, looks, None);
                        return Ok(Reached::Met { found: Some(found), acted });
                    };
                    (found.snapshot, format!("{}: {how}", found.summary))
                }
                (Find::Found(found), Goal::Gone) => (found.snapshot, format!("{} is still there", found.summary)),
                (Find::Not(why), Goal::Gone) if is_absence(&why) => {
                    self.waited(cx, query, &goal, started, looks, None);
                    return Ok(Reached::Met { found: None, acted: ActionOutput::default() });
                }
                (Find::Not(why), _) => (why.snapshot, why.to_string()),
            };
            drop(lease);
            if Instant::now() >= end {
                let saw = self.secrets.redact(&saw).into_owned();
                self.waited(cx, query, &goal, started, looks, Some(&saw));
                return Ok(Reached::Missed { saw, waited: started.elapsed(), is_absent, is_renamed });
            }
            self.wait_for_change(cx, snapshot, end).await?;
        }
    }

    async fn wait_for_change(&self, cx: &Cx, since: SnapshotId, end: Instant) -> Result<(), Stop> {
        let deadline = end.min(Instant::now() + limits::POLL);
        let budget = Budget::new(deadline, cx.cancel.clone());
        cx.renew();
        Ok(self.driver.changed(&budget, since).await?)
    }

    /// Returns when the screen may differ from `since`, or after `timeout`.
    pub async fn may_have_changed(&self, cx: &Cx, since: SnapshotId, timeout: Duration) -> Result<(), Stop> {
        let budget = Budget::new(Instant::now() + timeout, cx.cancel.clone());
        Ok(self.driver.changed(&budget, since).await?)
    }

    /// Waits until the screen differs from `since`; false if it does not in time.
    pub async fn await_change(&self, cx: &Cx, since: SnapshotId, timeout: Duration) -> Result<bool, Stop> {
        let end = Instant::now() + timeout;
        loop {
            if self.look(cx).await?.snapshot != since {
                return Ok(true);
            }
            if Instant::now() >= end {
                return Ok(false);
            }
            self.wait_for_change(cx, since, end).await?;
        }
    }

    /// Calls `ask` again whenever the screen may have changed, until it succeeds or the time is up. Then the last failure is
    /// the outcome of the call.
    pub async fn await_answer<'a, T>(
        &self,
        cx: &Cx,
        timeout: Duration,
        ask: impl Fn(Screen) -> BoxFuture<'a, Result<Result<T, Box<Outcome>>, Stop>>,
    ) -> Result<T, Stop> {
        let end = Instant::now() + timeout;
        loop {
            let screen = self.look(cx).await?;
            let snapshot = screen.snapshot;
            match ask(screen).await? {
                Ok(answer) => return Ok(answer),
                Err(no) if Instant::now() >= end => return Err(Stop::Failed(no)),
                Err(_) => self.wait_for_change(cx, snapshot, end).await?,
            }
        }
    }

    fn waited(&self, cx: &Cx, query: &Query, goal: &Goal<'_>, started: Instant, looks: usize, saw: Option<&str>) {
        let Some(call) = cx.call_id() else { return };
        if looks == 1 && saw.is_none() {
            return;
        }
        let what = match goal {
            Goal::Gone => format!("{query} to disappear"),
            Goal::Text(text) => format!("{query} with the text \"{text}\""),
            Goal::Present | Goal::Visible | Goal::Acted(_) => query.to_string(),
        };
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let met = saw.is_none();
        cx.emit(Event::Waited { call: call.clone(), what, micros, met, saw: saw.unwrap_or_default().to_string() });
    }

    async fn lease(&self, cx: &Cx) -> Result<tokio::sync::MutexGuard<'_, ()>, Stop> {
        if cx.cancel.is_cancelled() {
            return Err(Fault::Cancelled.into());
        }
        if let Ok(lease) = self.lease.try_lock() {
            return Ok(lease);
        }
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => Err(Fault::Cancelled.into()),
            lease = self.lease.lock() => Ok(lease),
        }
    }

    /// Searches once. What a screen shows is never a secret on its way to the device.
    async fn find_leased(&self, cx: &Cx, query: &Query, checks: Checks) -> Result<Find, DriverError> {
        if query.is_native() && !self.driver.evaluates_native_conditions() {
            let platform = self.description().platform;
            let reason =
                format!("only iPhones, iPads and simulators evaluate `ios:`; this device is one of {platform}");
            return Err(DriverError::Refused { reason });
        }
        let mut find = self.driver.find(&cx.budget(), query, checks).await?;
        if let Find::Found(found) = &mut find {
            self.secrets.defuse(&mut found.summary);
            found.text.iter_mut().for_each(|text| self.secrets.defuse(text));
        }
        Ok(find)
    }
}

/// Whether a picture is taken before each touch.
fn wants_picture(cx: &Cx) -> bool {
    cx.session.pictures >= PicturePolicy::Action || cx.session.trace().is_some_and(|trace| trace.wants_pictures())
}

/// The node with a ref.
fn with_reference<'n>(root: &'n Node, reference: &str) -> Option<&'n Node> {
    root.walk().find(|node| node.reference.as_deref() == Some(reference))
}

/// Whether a snapshot of the screen has these words in the line of the element. Text of a page may look like such a line.
fn is_line_of(screen: &Screen, node: &Node, words: &str) -> bool {
    // What follows depends on how the snapshot was taken.
    let words = words.split(" {x:").next().unwrap_or_default();
    let words = words.trim_end_matches(" (covered)").trim_end_matches(" (offscreen)");
    ElementDescription::parse(words).is_ok_and(|description| description.is_of(&screen.root, node.id))
}

/// The only visible element that a text describes.
fn only_described(screen: &Screen, text: &str) -> Option<u64> {
    let query = Query { what: QueryTarget::Described(Box::new(ElementDescription::parse(text).ok()?)), index: None };
    match query.search(screen, Checks::Visible) {
        Find::Found(found) if found.count == 1 => Some(found.node),
        Find::Found(_) | Find::Not(_) => None,
    }
}

/// Whether a failed search means that no such element is visible, as opposed to one that cannot be used.
fn is_absence(why: &WhyNot) -> bool {
    matches!(
        why.reason,
        Reason::NoMatch { .. } | Reason::OutOfRange { .. } | Reason::Offscreen { .. } | Reason::Hidden { .. }
    )
}

impl ScreenFingerprint {
    fn of(node: &Node) -> ScreenFingerprint {
        let own = |text: Option<&str>| text.map(str::to_string);
        ScreenFingerprint {
            class: own(node.class()),
            // The value of a field is not part of its identity.
            text: if node.is_editable() { None } else { own(node.text()) },
            id: own(node.developer_id()),
            bounds: node.bounds,
        }
    }

    /// The node with the same properties; of several, the one that moved least.
    fn nearest<'n>(&self, root: &'n Node) -> Option<&'n Node> {
        let distance = |node: &Node| match (self.bounds, node.bounds) {
            (Some(a), Some(b)) => i64::from((a.left - b.left).abs()) + i64::from((a.top - b.top).abs()),
            _ => i64::MAX,
        };
        root.walk()
            .filter(|node| {
                let other = ScreenFingerprint::of(node);
                (&other.class, &other.text, &other.id) == (&self.class, &self.text, &self.id)
            })
            .min_by_key(|node| distance(node))
    }
}
