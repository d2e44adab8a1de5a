//! Records the life cycle of servers.

use parking_lot::RwLock;
use trailblaze_protocol::event::{Event, Level};
use trailblaze_protocol::ids::SessionId;
use trailblaze_toolhost::notification_router::ServerEvents;

use super::Outlets;

/// What reports about a server are about.
pub fn about(server: &str) -> String {
    format!("server `{server}`")
}

/// Records the life cycle of a server, in the run that it is attached to.
#[derive(Default)]
pub(crate) struct Record(RwLock<RecordPlace>);

/// Where the life cycle of a server is recorded.
#[derive(Default)]
pub(super) struct RecordPlace {
    pub session: Option<SessionId>,
    pub log: String,
    pub outlets: Outlets,
}

impl Record {
    /// Records there from now on.
    pub(super) fn move_to(&self, place: RecordPlace) {
        *self.0.write() = place;
    }

    fn session(&self) -> Option<SessionId> {
        self.0.read().session.clone()
    }

    fn emit(&self, event: Event) {
        let events = self.0.read().outlets.events.clone();
        if let Some(events) = events {
            events.emit(event);
        }
    }
}

impl ServerEvents for Record {
    fn note(&self, server: &str, level: Level, text: String) {
        let text = format!("{}: {text}", about(server));
        let console = self.0.read().outlets.console.clone();
        if let (Level::Warning | Level::Error, Some(console)) = (level, console) {
            console.warn(&text);
        }
        self.emit(Event::note(None, level, text));
    }

    fn started(&self, server: &str, version: &str) {
        self.emit(Event::ServerStarted {
            server: server.to_string(),
            session: self.session(),
            protocol: version.to_string(),
            log: self.0.read().log.clone(),
        });
    }

    fn ended(&self, server: &str, message: String) {
        self.emit(Event::ServerEnded { server: server.to_string(), session: self.session(), message });
    }

    fn explained(&self, server: &str) {
        let console = self.0.read().outlets.console.clone();
        console.iter().for_each(|console| console.settle(&about(server)));
    }
}
