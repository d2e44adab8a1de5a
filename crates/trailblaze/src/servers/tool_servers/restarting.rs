//! Restarts servers whose files changed, each while the old one is still running.

use std::path::PathBuf;
use std::sync::{Arc, Weak};

use futures::future::join_all;
use parking_lot::Mutex;
use trailblaze_core::engine::source::SourceError;
use trailblaze_supervise::Supervisor;
use trailblaze_toolhost::server::{Renewed, ToolServer};

use super::ToolServers;
use super::waiting::Waiting;
use crate::servers::imports::SourceFiles;
use crate::servers::kept::Attached;
use crate::servers::server_sources::{ServerKey, StartedFrom};

/// Is told the name of a server whose new version cannot be used and why, before calls of its tools fail with that.
pub type OnFailure<'f> = &'f (dyn Fn(&str, &SourceError) + Send + Sync);

/// A server that was started.
#[derive(Clone)]
pub(crate) struct Started {
    pub key: ServerKey,
    pub server: Weak<ToolServer>,
    /// What its newest instance was started from.
    pub origin: Arc<Mutex<StartedFrom>>,
    /// What it was started with, besides its files.
    pub terms: String,
    pub attached: Attached,
    pub supervisor: Arc<Supervisor>,
}

impl ToolServers {
    /// Restarts the servers that changed files affect, concurrently, each while the old one is still running, unless they were
    /// already started from the changed files.
    pub async fn renew(&self, paths: &[PathBuf], failed: OnFailure<'_>) -> Vec<(String, Result<Renewed, SourceError>)> {
        let concerned: Vec<&ServerKey> = paths.iter().flat_map(|path| self.concerns.servers(path)).collect();
        // A server that did not start before may start now.
        self.failed.lock().retain(|key, _| !concerned.contains(&key));
        let imports = |started: &Started| {
            let origin = started.origin.lock();
            paths.iter().any(|path| origin.imported.contains(path))
        };
        self.renew_outdated(|started| concerned.contains(&&started.key) || imports(started), false, failed).await
    }

    /// The files of a server as they are now.
    pub(super) fn origin(&self, key: &ServerKey) -> StartedFrom {
        let entry = self.entries.iter().find(|named| named.key() == *key).map(|named| &named.entry);
        let imported = entry.map(|entry| SourceFiles::of(&self.root, entry).imported).unwrap_or_default();
        StartedFrom { stamp: self.concerns.stamp(key, &imported), imported }
    }

    /// The same for all servers whose files changed, and if `retries` for those whose last restart failed. Also waits for the
    /// restarts that are under way.
    pub async fn renew_all(&self, retries: bool, failed: OnFailure<'_>) -> Vec<(String, Result<Renewed, SourceError>)> {
        self.renew_outdated(|_| true, retries, failed).await
    }

    async fn renew_outdated(
        &self,
        is_meant: impl Fn(&Started) -> bool,
        retries: bool,
        failed: OnFailure<'_>,
    ) -> Vec<(String, Result<Renewed, SourceError>)> {
        let started = self.started.lock().clone();
        let at_work = started.iter().filter(|started| is_meant(started));
        let at_work: Vec<_> = at_work.filter_map(|started| Some((started, started.server.upgrade()?))).collect();
        let waiting = Waiting::new(at_work.iter().map(|(started, _)| started.key.1.clone()).collect());
        let renewed = at_work.iter().map(async |(Started { key, origin, .. }, server)| {
            let restart = self.begin_restart(key, origin);
            if restart.is_none() {
                server.renewed().await;
                if !retries || !server.is_outdated() {
                    waiting.no_more(&key.1);
                    return None;
                }
            }
            let renewed = server.renew(|error| failed(&key.1, error)).await;
            restart.into_iter().for_each(FileRestart::finish);
            waiting.no_more(&key.1);
            let renewed = renewed.transpose()?;
            let entry = self.entries.iter().find(|named| named.key() == *key).map(|named| &named.entry);
            if let (Ok(_), Some(entry)) = (&renewed, entry) {
                self.cache.keep(key.0.as_deref(), &key.1, entry, &server.raw_listing());
            }
            Some((key.1.clone(), renewed))
        });
        let renewed = tokio::select! {
            renewed = join_all(renewed) => renewed,
            () = waiting.complain(self.outlets.console.as_deref()) => unreachable!("it never returns"),
        };
        renewed.into_iter().flatten().collect()
    }

    /// `None` if the newest instance of a server was started from its files as they are now.
    fn begin_restart<'o>(&self, key: &ServerKey, origin: &'o Mutex<StartedFrom>) -> Option<FileRestart<'o>> {
        let mut known = origin.lock();
        if self.concerns.stamp(key, &known.imported) == known.stamp {
            return None;
        }
        let before = Some(std::mem::replace(&mut *known, self.origin(key)));
        Some(FileRestart { origin, before })
    }
}

/// A restart because files changed. If it is dropped before it has finished, the files still count as changed.
struct FileRestart<'o> {
    origin: &'o Mutex<StartedFrom>,
    before: Option<StartedFrom>,
}

impl FileRestart<'_> {
    fn finish(mut self) {
        self.before = None;
    }
}

impl Drop for FileRestart<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            *self.origin.lock() = before;
        }
    }
}
