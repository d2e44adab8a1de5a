//! The world that the pages of a device see, as the trail has changed it: rules for requests, HAR files, the network's speed, the clock,
//! permissions and the like. It outlives a page: a new one is given the same world, until the trail ends.

mod clock;
mod exchanges;
mod har;
mod held;
mod rules;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use trailblaze_core::driver::{
    DeviceEvents, DriverError, ExchangeQuery, MediaFeatures, MissingInHar, NetworkExchange, NetworkRule,
    PermissionState, Redact,
};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;

use super::backend::{Backend, BackendError, PageConditions};
use super::backend_world::{GeoLocation, NetworkConditions, TrafficEvent};
pub use clock::PageClock;
use exchanges::ExchangeLog;
pub use exchanges::{BodyWanted, FoundExchange};
use har::{HarRecording, HarReplay};
use rules::{ActiveRule, ReadyChange};

/// The name of the script that sets the clock of documents.
const CLOCK: &str = "clock";
/// How many origins are remembered.
const ORIGINS: usize = 100;
/// How many questions for credentials are remembered.
const QUESTIONS: usize = 100;

#[derive(Default)]
pub struct PageWorld {
    state: Mutex<WorldState>,
    events: Arc<DeviceEvents>,
}

#[derive(Default)]
struct WorldState {
    /// The newest last.
    rules: Vec<ActiveRule>,
    replays: Vec<HarReplay>,
    recording: Option<HarRecording>,
    credentials: Vec<ServerCredentials>,
    conditions: NetworkConditions,
    /// Tabs without a network, in a browser that has no other conditions.
    offline_tabs: BTreeSet<String>,
    clock: Option<PageClock>,
    location: Option<GeoLocation>,
    permissions: Vec<PagePermission>,
    media: MediaFeatures,
    exchanges: ExchangeLog,
    /// Changes of responses that have not come yet, by the request.
    changing: Vec<(String, ReadyChange)>,
    /// The questions for credentials that were answered.
    answered_questions: Vec<String>,
    /// Whose documents were shown since the context began.
    origins: BTreeSet<String>,
}

/// What servers of an origin are told.
#[derive(Clone)]
struct ServerCredentials {
    origin: String,
    username: String,
    password: String,
}

#[derive(Clone, PartialEq)]
pub struct PagePermission {
    pub name: String,
    pub state: PermissionState,
    /// `None` for all.
    pub origin: Option<String>,
}

impl WorldState {
    fn holds_requests(&self) -> bool {
        !(self.rules.is_empty() && self.replays.is_empty() && self.credentials.is_empty())
    }
}

impl PageWorld {
    pub fn new(events: Arc<DeviceEvents>) -> PageWorld {
        PageWorld { state: Mutex::default(), events }
    }

    /// Gives a page that is new what the trail has changed so far.
    pub async fn apply(&self, backend: &dyn Backend) -> Result<(), BackendError> {
        self.hold_requests(backend).await?;
        let Some(page_conditions) = backend.page_conditions() else { return Ok(()) };
        let (conditions, location, media, permissions, clock) = {
            let state = self.state.lock();
            (state.conditions, state.location, state.media.clone(), state.permissions.clone(), state.clock.clone())
        };
        if conditions != NetworkConditions::default() {
            page_conditions.set_conditions(&conditions).await?;
        }
        if location.is_some() {
            page_conditions.set_location(location).await?;
        }
        if media != MediaFeatures::default() {
            page_conditions.set_media(&media).await?;
        }
        for PagePermission { name, state, origin } in &permissions {
            page_conditions.set_permission(name, *state, origin.as_deref()).await?;
        }
        if let Some(clock) = clock {
            page_conditions.set_page_script(CLOCK, Some(&clock.script(false))).await?;
        }
        Ok(())
    }

    /// Has requests held if there is a rule for some of them.
    pub async fn hold_requests(&self, backend: &dyn Backend) -> Result<(), BackendError> {
        let is_on = self.state.lock().holds_requests();
        match backend.routing() {
            Some(routing) => routing.hold(is_on).await,
            None => Ok(()),
        }
    }

    /// Puts back what the trail has changed. It is forgotten even if the browser cannot do so any more.
    pub async fn put_back(&self, backend: Option<&dyn Backend>) -> Result<(), BackendError> {
        let changed = {
            let mut state = self.state.lock();
            let (exchanges, origins) = (std::mem::take(&mut state.exchanges), std::mem::take(&mut state.origins));
            std::mem::replace(&mut *state, WorldState { exchanges, origins, ..WorldState::default() })
        };
        let Some(backend) = backend else { return Ok(()) };
        if changed.holds_requests()
            && let Some(routing) = backend.routing()
        {
            routing.hold(false).await?;
        }
        if let Some(interception) = backend.interception() {
            for tab in &changed.offline_tabs {
                // A tab that is closed has nothing to put back.
                let _ = interception.set_offline(tab, false).await;
            }
        }
        let Some(page_conditions) = backend.page_conditions() else { return Ok(()) };
        if changed.conditions != NetworkConditions::default() {
            page_conditions.set_conditions(&NetworkConditions::default()).await?;
        }
        if changed.location.is_some() {
            page_conditions.set_location(None).await?;
        }
        if changed.media != MediaFeatures::default() {
            page_conditions.set_media(&MediaFeatures::default()).await?;
        }
        if !changed.permissions.is_empty() {
            page_conditions.reset_permissions().await?;
        }
        if changed.clock.is_some() {
            page_conditions.set_page_script(CLOCK, Some(&PageClock::removal())).await?;
            page_conditions.set_page_script(CLOCK, None).await?;
        }
        Ok(())
    }

    // Requests.

    pub fn add_rule(&self, rule: &NetworkRule) -> Result<(), DriverError> {
        let rule = ActiveRule::new(rule)?;
        self.state.lock().rules.push(rule);
        Ok(())
    }

    /// Removes the rules with this pattern, or all and the HAR files too. Returns how many there were.
    pub fn remove_rules(&self, url: Option<&str>) -> usize {
        let mut state = self.state.lock();
        let n = state.rules.len() + state.replays.len();
        match url {
            Some(url) => state.rules.retain(|rule| !rule.has_pattern(url)),
            None => {
                state.rules.clear();
                state.replays.clear();
            }
        }
        n - state.rules.len() - state.replays.len()
    }

    /// Answers requests from a HAR file. Returns how many of its entries can be used.
    pub fn replay_har(
        &self,
        file: &str,
        url: &str,
        missing: MissingInHar,
        redact: &Redact,
    ) -> Result<usize, DriverError> {
        let replay = HarReplay::read(Path::new(file), url, missing, redact.clone())?;
        let n = replay.n_entries();
        self.state.lock().replays.push(replay);
        Ok(n)
    }

    pub fn record_har(&self, file: &str, url: &str, redact: &Redact) -> Result<(), DriverError> {
        let mut state = self.state.lock();
        if let Some(recording) = &state.recording {
            let reason = format!("`{}` is being recorded already; end that with web_saveHar", recording.file());
            return Err(DriverError::Refused { reason });
        }
        state.exchanges.begin_recording();
        state.recording = Some(HarRecording::new(file, url, redact.clone()));
        Ok(())
    }

    /// Whether bodies are still missing that the HAR file needs.
    pub fn is_har_incomplete(&self) -> bool {
        let state = self.state.lock();
        state.recording.is_some() && state.exchanges.awaits_bodies()
    }

    /// Writes the HAR file that is being recorded; `None` if there is none. Returns how many requests it has.
    pub fn save_har(&self) -> Option<Result<(String, usize), DriverError>> {
        let (recording, exchanges) = {
            let mut state = self.state.lock();
            let recording = state.recording.take()?;
            (recording, state.exchanges.end_recording())
        };
        Some(recording.write(exchanges))
    }

    pub fn set_credentials(&self, origin: &str, username: &str, password: &str) {
        let [origin, username, password] = [origin, username, password].map(str::to_string);
        let mut state = self.state.lock();
        state.credentials.retain(|known| known.origin != origin);
        state.credentials.push(ServerCredentials { origin, username, password });
    }

    // What the browser reports.

    /// Takes an event about a request, whose number in the record is known once it was sent. Returns the body to get, if one is
    /// wanted.
    pub fn take_traffic(&self, event: TrafficEvent, number: Option<u64>) -> Option<BodyWanted> {
        let mut state = self.state.lock();
        let is_recording = state.recording.is_some();
        state.exchanges.take(event, number, is_recording)
    }

    pub fn keep_body(&self, wanted: &BodyWanted, body: Option<Vec<u8>>) {
        self.state.lock().exchanges.keep_body(wanted, body);
    }

    /// Finds an exchange that no earlier search has found; otherwise says what there was.
    pub fn find_exchange(&self, query: &ExchangeQuery) -> Result<FoundExchange, String> {
        self.state.lock().exchanges.find(query)
    }

    pub fn exchanges(&self) -> Vec<NetworkExchange> {
        self.state.lock().exchanges.all()
    }

    pub fn forget_exchanges(&self) {
        let mut state = self.state.lock();
        if state.recording.is_none() {
            state.exchanges.forget();
        }
    }

    /// Notes that a document of this origin was shown.
    pub fn visited(&self, origin: String) {
        let mut state = self.state.lock();
        if state.origins.len() < ORIGINS {
            state.origins.insert(origin);
        }
    }

    pub fn origins(&self) -> BTreeSet<String> {
        self.state.lock().origins.clone()
    }

    pub fn forget_origins(&self) {
        self.state.lock().origins.clear();
    }

    // What pages are told.

    pub async fn change_conditions(
        &self,
        page_conditions: &dyn PageConditions,
        change: impl FnOnce(&mut NetworkConditions) + Send,
    ) -> Result<(), BackendError> {
        let conditions = {
            let mut state = self.state.lock();
            change(&mut state.conditions);
            state.conditions
        };
        page_conditions.set_conditions(&conditions).await
    }

    /// Notes that a tab has no network, to be put back.
    pub fn note_offline(&self, tab: &str) {
        self.state.lock().offline_tabs.insert(tab.to_string());
    }

    pub async fn set_location(
        &self,
        page_conditions: &dyn PageConditions,
        location: GeoLocation,
    ) -> Result<(), BackendError> {
        self.state.lock().location = Some(location);
        page_conditions.set_location(Some(location)).await?;
        // A page that may not ask would not learn it.
        let name = "geolocation".to_string();
        let is_decided = self.state.lock().permissions.iter().any(|known| known.name == name);
        if is_decided {
            return Ok(());
        }
        self.set_permission(page_conditions, PagePermission { name, state: PermissionState::Granted, origin: None })
            .await
    }

    pub async fn set_permission(
        &self,
        page_conditions: &dyn PageConditions,
        new: PagePermission,
    ) -> Result<(), BackendError> {
        page_conditions.set_permission(&new.name, new.state, new.origin.as_deref()).await?;
        let mut state = self.state.lock();
        state.permissions.retain(|known| (&known.name, &known.origin) != (&new.name, &new.origin));
        state.permissions.push(new);
        Ok(())
    }

    /// What the trail has decided about a permission for all origins.
    pub fn permission(&self, name: &str) -> Option<PermissionState> {
        let state = self.state.lock();
        let known = state.permissions.iter().find(|known| known.name == name && known.origin.is_none());
        known.map(|known| known.state)
    }

    pub async fn set_media(
        &self,
        page_conditions: &dyn PageConditions,
        change: &MediaFeatures,
    ) -> Result<(), BackendError> {
        let media = {
            let mut state = self.state.lock();
            state.media.update(change);
            state.media.clone()
        };
        page_conditions.set_media(&media).await
    }

    pub async fn set_clock(&self, page_conditions: &dyn PageConditions, clock: PageClock) -> Result<(), BackendError> {
        let script = clock.script(false);
        self.state.lock().clock = Some(clock);
        page_conditions.set_page_script(CLOCK, Some(&script)).await
    }

    /// Advances the clock. `None` if it is not set.
    pub async fn advance_clock(
        &self,
        page_conditions: &dyn PageConditions,
        millis: f64,
    ) -> Result<Option<()>, BackendError> {
        let script = {
            let mut state = self.state.lock();
            let Some(clock) = &mut state.clock else { return Ok(None) };
            clock.advance(millis);
            clock.script(true)
        };
        page_conditions.set_page_script(CLOCK, Some(&script)).await.map(Some)
    }

    fn say(&self, text: String) {
        self.events.add(DeviceEvent::Log { level: Level::Debug, text });
    }
}
