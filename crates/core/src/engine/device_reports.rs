//! What the device of a session says and does by itself: as events, and for those who ask later.

use tokio::time::Instant;
use trailblaze_protocol::device_event::{DeviceEvent, SentRequest};
use trailblaze_protocol::event::Event;

use crate::driver::{BrowserControl, DeviceEvents, DriverError, NetworkExchange, WorldControl};
use crate::engine::cx::Cx;
use crate::engine::device::Device;
use crate::engine::device_history::ConsoleLine;
use crate::engine::fault::Stop;
use crate::engine::session::Session;

impl Device {
    fn take_events(&self) -> Vec<DeviceEvent> {
        self.driver.events().map(DeviceEvents::take).unwrap_or_default()
    }

    /// Emits what the device said and did by itself, as events of the current call.
    pub(super) fn emit_events(&self, cx: &Cx) {
        for happened in self.take_events() {
            self.history.lock().add(&happened, &self.secrets);
            let (session, about) = (cx.session.id.clone(), Some(cx.parent()));
            cx.emit(Event::Device { session, about, happened });
        }
    }

    /// The same between calls.
    pub(crate) fn emit_events_of_no_call(&self, session: &Session) {
        for happened in self.take_events() {
            self.history.lock().add(&happened, &self.secrets);
            session.emit(Event::Device { session: session.id.clone(), about: None, happened });
        }
    }

    /// The dialogs, errors and downloads of the device's pages since there were `seen` of them, redacted. Sets `seen` to
    /// how many there are now.
    pub fn remarks_since(&self, seen: &mut usize) -> Vec<String> {
        let history = self.history.lock();
        let new = history.remarks_since(*seen);
        *seen = history.n_remarks();
        new
    }

    /// How many dialogs, errors and downloads there were so far.
    pub fn n_remarks(&self) -> usize {
        self.history.lock().n_remarks()
    }

    /// How many crashes and dialogs of the system there were so far.
    pub(crate) fn n_obstacles(&self) -> usize {
        self.history.lock().n_obstacles()
    }

    /// What a failed call may be due to, since there were `seen` of them.
    pub(crate) fn obstacles_since(&self, cx: &Cx, seen: usize) -> Vec<String> {
        self.emit_events(cx);
        self.history.lock().obstacles_since(seen)
    }

    /// What went wrong on the device by itself since then, in words, redacted: what a failure may be due to.
    pub(crate) fn trouble_since(&self, cx: &Cx, since: Instant) -> Vec<String> {
        self.emit_events(cx);
        self.history.lock().signs_since(since)
    }

    /// What the pages wrote to their console since the trail began or the app was launched.
    pub fn console(&self, cx: &Cx) -> Result<Vec<ConsoleLine>, Stop> {
        self.check_reports_pages("console")?;
        self.emit_events(cx);
        let mut lines: Vec<ConsoleLine> = self.history.lock().console().cloned().collect();
        lines.iter_mut().for_each(|line| self.secrets.defuse(&mut line.text));
        Ok(lines)
    }

    /// The requests of the pages since the trail began or the app was launched. They may contain values of secrets.
    pub fn requests(&self, cx: &Cx) -> Result<Vec<SentRequest>, Stop> {
        self.check_reports_pages("requests")?;
        self.emit_events(cx);
        Ok(self.history.lock().requests().cloned().collect())
    }

    /// The requests of the device's pages since the trail began, redacted, for those who show them. Bounded.
    pub fn exchanges(&self) -> Vec<NetworkExchange> {
        let mut exchanges = self.driver.world().map(WorldControl::exchanges).unwrap_or_default();
        let redact = |text: &mut String| self.secrets.redact_in_place(text);
        exchanges.iter_mut().for_each(|exchange| exchange.redact(&redact));
        exchanges
    }

    fn check_reports_pages(&self, action: &str) -> Result<(), DriverError> {
        if self.driver.browser().is_some_and(BrowserControl::reports_pages) {
            return Ok(());
        }
        let platform = self.driver.describe().platform;
        Err(DriverError::Unsupported { action: action.to_string(), platform })
    }
}
