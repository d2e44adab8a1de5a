//! Records the life cycle of servers.

use trailblaze_protocol::event::{Event, Level};
use trailblaze_protocol::ids::SessionId;
use trailblaze_toolhost::notification_router::ServerEvents;

use super::Outlets;

/// Records the life cycle of a server.
pub(super) struct Record {
    pub session: Option<SessionId>,
    pub log: String,
    pub outlets: Outlets,
}

impl Record {
    fn emit(&self, event: Event) {
        if let Some(events) = &self.outlets.events {
            events.emit(event);
        }
    }
}

impl ServerEvents for Record {
    fn note(&self, server: &str, level: Level, text: String) {
        let text = format!("server `{server}`: {text}");
        if let (Level::Warning | Level::Error, Some(console)) = (level, &self.outlets.console) {
            console.warn(&text);
        }
        self.emit(Event::Noted { about: None, level, text });
    }

    fn started(&self, server: &str, version: &str) {
        self.emit(Event::ServerStarted {
            server: server.to_string(),
            session: self.session.clone(),
            protocol: version.to_string(),
            log: self.log.clone(),
        });
    }

    fn ended(&self, server: &str, message: String) {
        self.emit(Event::ServerEnded { server: server.to_string(), session: self.session.clone(), message });
    }
}
