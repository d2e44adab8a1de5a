//! The tool servers of one session: those that it has, which of them run, and those that are missing.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;
use trailblaze_core::driver::DeviceDescription;
use trailblaze_core::engine::registry::Batch;
use trailblaze_core::engine::session::SessionSource;
use trailblaze_core::engine::source::{SourceError, ToolSource};
use trailblaze_core::values::secret::Secrets;
use trailblaze_protocol::ids::SessionId;
use trailblaze_toolhost::offline::Remembered;
use trailblaze_toolhost::server::ToolServer;

use super::starting::list;
use super::waiting::Waiting;
use super::{ServerMode, ToolServers};
use crate::servers::cassettes::{Cassettes, Library};
use crate::servers::entries::Named;
use crate::servers::on_demand::OnDemand;

/// Which servers must run before a session is used. The others are started by the first call that needs them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needed {
    All,
    /// Those of these names.
    Some(BTreeSet<String>),
}

impl Needed {
    fn includes(&self, server: &str) -> bool {
        match self {
            Needed::All => true,
            Needed::Some(names) => names.contains(server),
        }
    }
}

/// The tool servers of one session: its tool sources, and the servers that are missing.
#[derive(Default)]
pub struct SessionServers {
    members: Vec<Member>,
    /// Servers that were never started, so that their tools are not known.
    pub unknown: Vec<String>,
    pub absent: Absent,
}

/// A server of a session.
struct Member {
    source: SessionSource,
    batch: Batch,
    /// Set until it is started.
    idle: Option<Arc<OnDemand>>,
}

impl SessionServers {
    pub fn sources(&self) -> Vec<SessionSource> {
        self.members.iter().map(|member| member.source.clone()).collect()
    }

    /// The tools of the servers, as they listed them now or when last started.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.members.iter().map(|member| &member.batch).chain(&self.absent.batches)
    }
}

/// The servers of a session that did not start.
#[derive(Clone, Default)]
pub struct Absent {
    /// Why each is missing.
    pub errors: Vec<SourceError>,
    /// Those among them whose tools are unknown.
    pub unknown: Vec<SourceError>,
    /// The tools that the others listed when last started.
    pub batches: Vec<Batch>,
}

impl ToolServers {
    /// The servers of a session. None is started yet.
    pub async fn of_session(
        self: &Arc<Self>,
        target: Option<&str>,
        session: (&SessionId, &DeviceDescription),
        secrets: &Arc<Secrets>,
    ) -> Result<SessionServers, SourceError> {
        if let Some(Cassettes::Replay(library)) = &self.cassettes {
            return self.replay(target, library).await;
        }
        match self.mode {
            ServerMode::Start => {}
            ServerMode::Remember => return self.remember(target).await,
            ServerMode::Absent => return Ok(SessionServers::default()),
        }
        let mut session_servers = SessionServers::default();
        for named in self.of(target) {
            let idle = self.on_demand(named, session, secrets);
            let is_shared = self.wanted(named, session.1).is_shared;
            let batch = list(&*idle).await?;
            let source = SessionSource { tools: Arc::clone(&idle) as _, is_shared, revision: 0 };
            session_servers.members.push(Member { source, batch, idle: Some(idle) });
        }
        Ok(session_servers)
    }

    fn on_demand(
        self: &Arc<Self>,
        named: &Named,
        (id, device): (&SessionId, &DeviceDescription),
        secrets: &Arc<Secrets>,
    ) -> Arc<OnDemand> {
        let remembered = self.cache.read(named.target.as_deref(), &named.name, &named.entry);
        let own = (Arc::clone(self), named.clone(), id.clone(), device.clone(), Arc::clone(secrets));
        let starter = move || {
            let (servers, named, id, device, secrets) = own.clone();
            async move { servers.run(&named, (&id, &device), &secrets).await }.boxed()
        };
        let own = (Arc::clone(self), id.clone());
        let ender = move |server: Arc<ToolServer>| {
            let (servers, id) = own.clone();
            async move { servers.end(&server, Some(&id)).await }.boxed()
        };
        OnDemand::new(named.clone(), remembered, self.on_death(named), (Box::new(starter), Box::new(ender)))
    }

    /// Starts those servers of a session concurrently that are needed and not running yet. One that does not start is listed
    /// as absent, with the reason. Returns whether there were any.
    pub async fn start(&self, session_servers: &mut SessionServers, needed: &Needed) -> bool {
        let is_due = |member: &Member| member.idle.as_ref().is_some_and(|idle| needed.includes(idle.name()));
        let due: Vec<usize> =
            (0..session_servers.members.len()).filter(|n| is_due(&session_servers.members[*n])).collect();
        let idle: Vec<Arc<OnDemand>> = due.iter().filter_map(|n| session_servers.members[*n].idle.take()).collect();
        if idle.is_empty() {
            return false;
        }
        let waiting = Waiting::new(idle.iter().map(|idle| idle.named.name.clone()).collect());
        let started = idle.iter().map(async |idle| {
            let running = idle.running().await;
            let listed = match running {
                Ok(_) => list(&**idle).await,
                Err(error) => Err(error),
            };
            waiting.no_more(&idle.named.name);
            Ok((listed?, idle.revision()))
        });
        let started: Vec<Result<(Batch, u64), SourceError>> = tokio::select! {
            started = join_all(started) => started,
            () = waiting.complain(self.outlets.console.as_deref()) => unreachable!("it never returns"),
        };
        let mut lost = Vec::new();
        for ((n, idle), started) in due.into_iter().zip(idle).zip(started) {
            match started {
                Ok((batch, revision)) => {
                    let member = &mut session_servers.members[n];
                    (member.batch, member.source.revision) = (batch, revision);
                }
                Err(error) => {
                    lost.push(n);
                    self.miss(&idle.named, error, &mut session_servers.absent).await;
                }
            }
        }
        lost.into_iter().rev().for_each(|n| drop(session_servers.members.remove(n)));
        true
    }

    /// The servers of a session, replayed from their cassettes. None is started.
    async fn replay(&self, target: Option<&str>, library: &Library) -> Result<SessionServers, SourceError> {
        let mut session_servers = SessionServers::default();
        for named in self.of(target) {
            match library.player(&named.key()) {
                Ok(player) => {
                    let batch = list(&**player).await?;
                    let source = SessionSource { tools: Arc::clone(player) as _, is_shared: true, revision: 0 };
                    session_servers.members.push(Member { source, batch, idle: None });
                }
                Err(no_cassette) => {
                    let (source_name, evidence) = (named.name.clone(), no_cassette.to_string());
                    let error = SourceError::NotStarted { source_name, evidence };
                    self.miss(named, error, &mut session_servers.absent).await;
                }
            }
        }
        Ok(session_servers)
    }

    /// Continues without a server: the tools it listed when last started show which trails need it.
    async fn miss(&self, named: &Named, error: SourceError, absent: &mut Absent) {
        let Named { name, entry, .. } = named;
        let remembered = self.cache.read(named.target.as_deref(), name, entry);
        let remembered = remembered
            .map(|raw| Remembered::absent(name, named.contributor(), entry.toolset.as_deref(), raw, error.clone()));
        let batch = match &remembered {
            Some(server) => list(&**server).await.ok(),
            None => None,
        };
        match batch {
            Some(batch) => absent.batches.push(batch),
            None => absent.unknown.push(error.clone()),
        }
        absent.errors.push(error);
    }

    /// The tools that the servers of a session listed when last started.
    async fn remember(&self, target: Option<&str>) -> Result<SessionServers, SourceError> {
        let mut session_servers = SessionServers::default();
        for named in self.of(target) {
            let Some(raw) = self.cache.read(named.target.as_deref(), &named.name, &named.entry) else {
                session_servers.unknown.push(named.name.clone());
                continue;
            };
            let server = Remembered::new(&named.name, named.contributor(), named.entry.toolset.as_deref(), raw);
            let batch = list(&*server).await?;
            let source = SessionSource { tools: server, is_shared: true, revision: 0 };
            session_servers.members.push(Member { source, batch, idle: None });
        }
        Ok(session_servers)
    }
}
