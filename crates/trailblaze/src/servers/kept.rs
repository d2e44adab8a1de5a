//! Tool servers that outlive the run they were started in: `run --watch` uses them again in its next run.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::join_all;
use parking_lot::Mutex;
use trailblaze_core::engine::source::ToolSource;
use trailblaze_protocol::ids::SessionId;
use trailblaze_toolhost::server::ToolServer;
use trailblaze_toolhost::stderr::ServerLog;

use crate::servers::server_sources::{ServerKey, StartedFrom};
use crate::servers::tool_servers::{Record, Started};

/// A device, its driver, and a target.
pub type SessionPlace = (String, String, Option<String>);

#[derive(Default)]
pub struct KeptServers {
    /// The ids of the sessions that kept servers were started for. Servers were told them, so the next sessions have the same.
    sessions: Mutex<HashMap<SessionPlace, SessionId>>,
    servers: Mutex<HashMap<KeptKey, Kept>>,
}

/// A server and the session that it was started for; `None` if all sessions share it.
pub(crate) type KeptKey = (ServerKey, Option<SessionId>);

pub(crate) struct Kept {
    pub server: Arc<ToolServer>,
    pub started: Started,
}

/// The parts of a server that belong to a run.
#[derive(Clone, Default)]
pub(crate) struct Attached {
    pub record: Arc<Record>,
    pub log: Arc<ServerLog>,
}

impl KeptServers {
    /// The id for a new session in this place, if servers were kept for it.
    pub(crate) fn take_session(&self, place: &SessionPlace) -> Option<SessionId> {
        self.sessions.lock().remove(place)
    }

    pub(crate) fn keep_session(&self, place: SessionPlace, id: &SessionId) {
        self.sessions.lock().insert(place, id.clone());
    }

    pub(crate) async fn keep(&self, key: KeptKey, kept: Kept) {
        let former = self.servers.lock().insert(key, kept);
        if let Some(former) = former {
            former.server.stop().await;
        }
    }

    /// A server that was started with these terms and from these files, if it is still alive.
    pub(crate) async fn take(&self, key: &KeptKey, terms: &str, origin: &StartedFrom) -> Option<Kept> {
        let kept = self.servers.lock().remove(key)?;
        let is_same = kept.started.terms == terms && *kept.started.origin.lock() == *origin;
        if is_same && kept.server.death().is_none() {
            return Some(kept);
        }
        kept.server.stop().await;
        None
    }

    /// Stops all of them.
    pub async fn close(&self) {
        self.sessions.lock().clear();
        let kept: Vec<Kept> = self.servers.lock().drain().map(|(_, kept)| kept).collect();
        join_all(kept.iter().map(|kept| async {
            kept.server.stop().await;
            kept.started.supervisor.settled().await;
        }))
        .await;
    }
}
