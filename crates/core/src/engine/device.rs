//! The device of a session, behind a lease. Screens returned from here are redacted and have refs; the values of secrets
//! only appear in what is sent to the driver. The one waiting loop is here too.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use trailblaze_protocol::event::{Event, Moment};
use trailblaze_protocol::geometry::Rect;
use trailblaze_protocol::heal::ElementIdentity;
use trailblaze_protocol::ids::Parent;
use trailblaze_protocol::outcome::Outcome;

use crate::driver::{
    Acted, Action, Budget, Deed, Description, Driver, DriverError, Frame, NetworkRequest, Person, PersonAction, Target,
    Want,
};
use crate::engine::cx::Cx;
use crate::engine::fault::{Fault, Stop};
use crate::limits;
use crate::query::{self, Checks, Find, Found, Query, Reason, TextMatch, What, WhyNot, identity};
use crate::record::events::{PicturePolicy, Shot};
use crate::screen::{Node, Screen, Shape, SnapshotId};
use crate::values::secret::Secrets;
use crate::{refs, snapshot};

/// The key in the structured result of a call that failed because nothing on the screen was its element.
pub const NOT_FOUND: &str = "notFound";

/// The device of a session. Serializes access to its driver.
pub struct Device {
    driver: Arc<dyn Driver>,
    secrets: Arc<Secrets>,
    /// Held during one find and act, and released between polls.
    lease: tokio::sync::Mutex<()>,
    /// The elements that refs referred to in the last snapshot that was shown.
    shown: Mutex<HashMap<String, Fingerprint>>,
}

/// The properties by which an element is recognized on a later screen.
#[derive(Debug, Clone, PartialEq)]
struct Fingerprint {
    document: Option<u64>,
    class: Option<String>,
    text: Option<String>,
    id: Option<String>,
    bounds: Option<Rect>,
}

/// The condition to wait for.
pub enum Goal<'a> {
    /// The element is visible.
    Visible,
    /// The element is not visible.
    Gone,
    /// The element can be acted on, and the action is performed.
    Acted(&'a Action),
}

/// The result of a wait.
#[derive(Debug, Clone, PartialEq)]
pub enum Reached {
    Met {
        found: Option<Found>,
        acted: Acted,
    },
    /// The time ran out. `saw` describes what was on the screen instead.
    Missed {
        saw: String,
        waited: Duration,
        /// Whether nothing on the screen, visible or hidden, was what was searched for.
        is_absent: bool,
    },
}

impl Device {
    pub fn new(driver: Arc<dyn Driver>, secrets: Arc<Secrets>) -> Device {
        Device { driver, secrets, lease: tokio::sync::Mutex::new(()), shown: Mutex::default() }
    }

    pub fn description(&self) -> &Description {
        self.driver.describe()
    }

    pub async fn close(&self) {
        self.driver.close().await;
    }

    /// Follows the screen with pictures; see [`Driver::frames`]. `None` also if the session has secrets, because these pictures
    /// cannot be masked.
    pub fn frames(&self) -> Option<watch::Receiver<Option<Frame>>> {
        if self.secrets.is_empty() { self.driver.frames() } else { None }
    }

    /// The newest requests of the device's page; see [`Driver::requests`].
    pub fn requests(&self, after: u64) -> Vec<NetworkRequest> {
        let mut requests = self.driver.requests(after);
        for request in &mut requests {
            self.secrets.redact_in_place(&mut request.url);
            request.failure.iter_mut().for_each(|failure| self.secrets.redact_in_place(failure));
        }
        requests
    }

    /// Starts to follow what a person does on the device itself; see [`Driver::follow_person`].
    pub async fn follow_person(&self, cx: &Cx) -> Result<Person, Stop> {
        let _lease = self.lease(cx).await?;
        Ok(self.driver.follow_person(&cx.budget()).await?)
    }

    /// Removes secrets from what a person did. A secret that was typed becomes its placeholder.
    pub fn redact_deed(&self, deed: &mut Deed) {
        refs::assign(&mut deed.screen.root);
        if self.secrets.is_empty() {
            return;
        }
        deed.screen.app.iter_mut().for_each(|app| self.secrets.redact_in_place(app));
        self.redact(&mut deed.screen.root, &mut Vec::new());
        match &mut deed.what {
            PersonAction::Type { text } | PersonAction::Open { url: text } => self.secrets.redact_in_place(text),
            PersonAction::Choose { values: texts } | PersonAction::Upload { names: texts } => {
                texts.iter_mut().for_each(|text| self.secrets.redact_in_place(text));
            }
            _ => {}
        }
    }

    /// Looks at the screen.
    pub async fn look(&self, cx: &Cx) -> Result<Screen, Stop> {
        let (screen, _) = self.observe(cx, Want::TREE).await?;
        Ok(screen)
    }

    /// The same with a picture, and the parts of the screen that must be masked in it.
    pub async fn look_pictured(&self, cx: &Cx) -> Result<(Screen, Vec<Rect>), Stop> {
        self.observe(cx, Want::PICTURE).await
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
        let (screen, _) = self.show_all(cx, Want::for_snapshot(details)).await?;
        Ok(screen)
    }

    /// The same with a picture, and the parts of the screen that must be masked in it.
    pub async fn show_pictured(&self, cx: &Cx, details: &snapshot::Details) -> Result<(Screen, Vec<Rect>), Stop> {
        self.show_all(cx, Want { picture: true, ..Want::for_snapshot(details) }).await
    }

    async fn show_all(&self, cx: &Cx, want: Want) -> Result<(Screen, Vec<Rect>), Stop> {
        let (screen, masks) = self.observe(cx, want).await?;
        let names =
            |node: &Node| [node.reference.clone(), Some(node_name(node.id))].into_iter().flatten().collect::<Vec<_>>();
        let fingerprintes =
            screen.root.walk().flat_map(|node| names(node).into_iter().map(|name| (name, Fingerprint::of(node))));
        *self.shown.lock() = fingerprintes.collect();
        Ok((screen, masks))
    }

    /// Whether the last snapshot that was shown contains this ref.
    pub fn has_shown(&self, reference: &str) -> bool {
        self.shown.lock().contains_key(reference)
    }

    /// Finds the element that a ref refers to on the current screen.
    pub async fn resolve_ref(&self, cx: &Cx, reference: &str) -> Result<(Screen, u64), Stop> {
        let reference = refs::of_line(reference).unwrap_or(reference.trim());
        let fingerprint = self.shown.lock().get(reference).cloned();
        let screen = self.look(cx).await?;
        let stale = || Stop::failed(Reason::StaleReference { reference: reference.to_string() }.to_string());
        let unknown = || {
            Stop::failed(format!(
                "unknown ref `{reference}`: no snapshot has shown it; take a snapshot and use a ref from it"
            ))
        };
        // A role alone, such as `textbox`, means the only such element. Every ref has a number.
        if fingerprint.is_none() && !reference.chars().any(|c| c.is_ascii_digit()) {
            let node = only_described(&screen, reference).ok_or_else(unknown)?;
            return Ok((screen, node));
        }
        let fingerprint = fingerprint.ok_or_else(unknown)?;
        let is_named = |node: &&Node| {
            node.reference.as_deref() == Some(reference) || reference.strip_prefix('#') == Some(&node.id.to_string())
        };
        let node = if self.description().knows_elements {
            screen.root.walk().find(is_named).filter(|node| node.document == fingerprint.document)
        } else {
            fingerprint.nearest(&screen.root)
        };
        let node = node.ok_or_else(stale)?.id;
        Ok((screen, node))
    }

    /// Finds the element that a node id refers to on the current screen.
    pub async fn resolve_node(&self, cx: &Cx, node: u64) -> Result<(Screen, u64), Stop> {
        self.resolve_ref(cx, &node_name(node)).await
    }

    /// Stores a screenshot and the element tree. Returns `None` if the device has no screenshots.
    pub async fn shoot(&self, cx: &Cx, about: Parent, moment: Moment) -> Result<Option<Shot>, Stop> {
        let (mut screen, masks) = self.observe(cx, Want::PICTURE).await?;
        let Some(picture) = screen.picture.take() else { return Ok(None) };
        let tree = snapshot::text(&screen, &snapshot::Details::default());
        let shot = Shot { about, moment, picture, masks, screen: screen.size, tree };
        cx.session.sink().picture(shot.clone());
        Ok(Some(shot))
    }

    async fn observe(&self, cx: &Cx, want: Want) -> Result<(Screen, Vec<Rect>), Stop> {
        let _lease = self.lease(cx).await?;
        Ok(self.observe_leased(cx, want).await?)
    }

    async fn observe_leased(&self, cx: &Cx, want: Want) -> Result<(Screen, Vec<Rect>), DriverError> {
        let observed = self.driver.observe(&cx.budget(), want).await;
        self.emit_messages(cx);
        let mut screen = observed?;
        refs::assign(&mut screen.root);
        let mut masks = Vec::new();
        if !self.secrets.is_empty() {
            screen.app.iter_mut().for_each(|app| self.secrets.redact_in_place(app));
            self.redact(&mut screen.root, &mut masks);
        }
        Ok((screen, masks))
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
    pub async fn act(&self, cx: &Cx, target: &Target, action: &Action) -> Result<Acted, Stop> {
        self.act_within(cx, target, action, cx.budget()).await
    }

    /// The same for an action in which the driver waits for up to `wait`.
    pub async fn act_waiting(&self, cx: &Cx, target: &Target, action: &Action, wait: Duration) -> Result<Acted, Stop> {
        self.act_within(cx, target, action, cx.budget_waiting(wait)).await
    }

    async fn act_within(&self, cx: &Cx, target: &Target, action: &Action, budget: Budget) -> Result<Acted, Stop> {
        self.before_touch(cx, target).await?;
        let _lease = self.lease(cx).await?;
        Ok(self.act_leased(cx, target, action, &budget).await?)
    }

    async fn act_leased(
        &self,
        cx: &Cx,
        target: &Target,
        action: &Action,
        budget: &Budget,
    ) -> Result<Acted, DriverError> {
        if let (Some(call), true) = (cx.call_id(), !matches!(target, Target::Device)) {
            let (bounds, what) = match target {
                Target::Element(found) => (Some(found.bounds), format!("{} on {}", action.name(), found.summary)),
                _ => (None, action.name().to_string()),
            };
            let element = match target {
                Target::Element(found) if cx.session.is_recording => self.identify(cx, found).await,
                _ => None,
            };
            cx.emit(Event::Touched { call: call.clone(), point: target.point(), bounds, what, element });
        }
        let acted = self.driver.act(budget, target, &self.revealed(action)).await;
        self.emit_messages(cx);
        acted
    }

    /// The identity of an element that was just found. Needs another look, because a search may not fetch the whole screen.
    async fn identify(&self, cx: &Cx, found: &Found) -> Option<Box<ElementIdentity>> {
        let (screen, _) = self.observe_leased(cx, Want::TREE).await.ok()?;
        let summary = self.secrets.redact(&found.summary).into_owned();
        let is_it = |node: &&Node| node.id == found.node && node.summary() == summary;
        let node = screen.root.walk().find(is_it)?;
        identity(&screen, node.id).map(Box::new)
    }

    /// Emits the device's own messages as notes of the current call.
    fn emit_messages(&self, cx: &Cx) {
        for heard in self.driver.heard() {
            cx.note(heard.level, heard.text);
        }
    }

    async fn before_touch(&self, cx: &Cx, target: &Target) -> Result<(), Stop> {
        if cx.session.pictures >= PicturePolicy::Action && !matches!(target, Target::Device) {
            self.shoot(cx, cx.parent(), Moment::Before).await?;
        }
        Ok(())
    }

    /// Looks once, without waiting.
    pub async fn find(&self, cx: &Cx, query: &Query, checks: Checks) -> Result<Find, Stop> {
        let _lease = self.lease(cx).await?;
        Ok(self.driver.find(&cx.budget(), &self.revealed_query(query), checks).await?)
    }

    /// The waiting loop: find and act, else wait for the screen to change, or for a tick, until the time is up.
    pub async fn wait_for(&self, cx: &Cx, query: &Query, goal: Goal<'_>, timeout: Duration) -> Result<Reached, Stop> {
        let started = Instant::now();
        let end = started + timeout;
        let wanted = self.revealed_query(query);
        let checks = if let Goal::Acted(action) = goal { action.checks() } else { Checks::Visible };
        let mut looks = 0;
        let mut wants_picture = matches!(goal, Goal::Acted(_)) && cx.session.pictures >= PicturePolicy::Action;
        loop {
            looks += 1;
            let lease = self.lease(cx).await?;
            let find = self.driver.find(&cx.budget(), &wanted, checks).await?;
            let is_absent = matches!(&find, Find::Not(WhyNot { reason: Reason::NoMatch { .. }, .. }));
            let (snapshot, saw) = match (find, &goal) {
                (Find::Found(found), Goal::Visible) => {
                    self.waited(cx, query, &goal, started, looks, None);
                    return Ok(Reached::Met { found: Some(found), acted: Acted::default() });
                }
                (Find::Found(found), Goal::Acted(action)) => {
                    let target = Target::Element(found);
                    // A screenshot needs the lease; the element is searched for again afterwards.
                    if std::mem::take(&mut wants_picture) {
                        drop(lease);
                        Box::pin(self.before_touch(cx, &target)).await?;
                        looks -= 1;
                        continue;
                    }
                    let acted = self.act_leased(cx, &target, action, &cx.budget()).await;
                    let Target::Element(found) = target else { unreachable!("the target is an element") };
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
                    return Ok(Reached::Met { found: None, acted: Acted::default() });
                }
                (Find::Not(why), _) => (why.snapshot, why.to_string()),
            };
            drop(lease);
            if Instant::now() >= end {
                let saw = self.secrets.redact(&saw).into_owned();
                self.waited(cx, query, &goal, started, looks, Some(&saw));
                return Ok(Reached::Missed { saw, waited: started.elapsed(), is_absent });
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
            _ => query.to_string(),
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

    fn revealed(&self, action: &Action) -> Action {
        if self.secrets.is_empty() {
            return action.clone();
        }
        let reveal = |text: &String| self.secrets.reveal(text);
        match action {
            Action::InputText { text } => Action::InputText { text: reveal(text) },
            Action::SetText { text } => Action::SetText { text: reveal(text) },
            Action::SetClipboard { text } => Action::SetClipboard { text: reveal(text) },
            Action::Shell { command } => Action::Shell { command: reveal(command) },
            Action::EvaluateJs { script } => Action::EvaluateJs { script: reveal(script) },
            Action::OpenUrl { url } => Action::OpenUrl { url: reveal(url) },
            Action::Choose { values } => Action::Choose { values: values.iter().map(reveal).collect() },
            other => other.clone(),
        }
    }

    fn revealed_query(&self, query: &Query) -> Query {
        let mut query = query.clone();
        if self.secrets.is_empty() {
            return query;
        }
        match &mut query.what {
            What::Element(element) => {
                element.id = element.id.as_deref().map(|id| self.secrets.reveal(id));
                match &mut element.text {
                    Some(TextMatch::Exact(text) | TextMatch::Contains(text)) => *text = self.secrets.reveal(text),
                    Some(TextMatch::Pattern(pattern)) => *pattern = self.secrets.reveal_in_pattern(pattern),
                    None => {}
                }
            }
            What::Described(description) => {
                description.name = description.name.as_deref().map(|name| self.secrets.reveal(name));
            }
            What::Selector(_) | What::Reference(_) | What::Node(_) => {}
        }
        query
    }
}

/// The key of a node id among refs. Refs start with a letter.
fn node_name(id: u64) -> String {
    format!("#{id}")
}

/// The only visible element that a text describes.
fn only_described(screen: &Screen, text: &str) -> Option<u64> {
    let query = Query { what: What::Described(Box::new(query::Description::parse(text).ok()?)), index: None };
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

impl Fingerprint {
    fn of(node: &Node) -> Fingerprint {
        let own = |text: Option<&str>| text.map(str::to_string);
        Fingerprint {
            document: node.document,
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
                let other = Fingerprint::of(node);
                (&other.class, &other.text, &other.id) == (&self.class, &self.text, &self.id)
            })
            .min_by_key(|node| distance(node))
    }
}
