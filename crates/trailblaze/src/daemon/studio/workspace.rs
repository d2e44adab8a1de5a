//! What a page shows of a project: its devices, sessions, trails and runs.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures::StreamExt;
use futures::stream::unfold;
use tokio::sync::watch;
use tokio::time::Instant;

use super::super::service::{Counted, LocalService};
use super::super::studio_access::Workplace;
use super::super::trails;
use super::runs::Runs;
use crate::project::changes::FileChanges;
use crate::run::history::History;
use crate::sessions::service::generated::{Updates, Workspace, WorkspaceDevice, WorkspaceSession, WorkspaceTrail};
use crate::sessions::service::{DeviceInfo, DevicesRequest, ServiceError};

/// How often sessions and the folder of runs are checked for changes.
const CHECK_EVERY: Duration = Duration::from_millis(500);
/// Changes of files within this time are one change.
const QUIET: Duration = Duration::from_millis(200);
/// How often the state is sent if nothing changes.
const ALIVE_EVERY: Duration = Duration::from_secs(20);

struct WorkspaceFollower {
    _counted: Counted<Arc<LocalService>>,
    service: Arc<LocalService>,
    runs: Arc<Runs>,
    place: Workplace,
    files: Option<FileChanges>,
    changes: watch::Receiver<u64>,
    sent: Option<Workspace>,
    logs: Option<SystemTime>,
    alive: Instant,
}

pub fn follow(service: Arc<LocalService>, runs: Arc<Runs>, place: Workplace) -> Updates<Workspace> {
    let follower = WorkspaceFollower {
        _counted: service.count(),
        files: service.projects.host.files.changes(&place.root, &place.root.join("logs")).ok(),
        changes: runs.changes(),
        service,
        runs,
        place,
        sent: None,
        logs: None,
        alive: Instant::now(),
    };
    let next = |mut follower: WorkspaceFollower| async move {
        loop {
            if follower.sent.is_some() {
                follower.wait().await;
            }
            follower.logs = modified(&follower.place.root.join("logs"));
            let (service, runs, place) =
                (Arc::clone(&follower.service), Arc::clone(&follower.runs), follower.place.clone());
            let devices = service.devices(&DevicesRequest { client: place.client.clone() }).await;
            let built = tokio::task::spawn_blocking(move || workspace(&service, &runs, &place, devices)).await.ok()?;
            if follower.sent.as_ref() != Some(&built) || Instant::now() >= follower.alive {
                follower.alive = Instant::now() + ALIVE_EVERY;
                follower.sent = Some(built.clone());
                return Some((Ok(built), follower));
            }
        }
    };
    unfold(follower, next).boxed()
}

impl WorkspaceFollower {
    /// Returns when something may have changed.
    async fn wait(&mut self) {
        let sessions = || -> Vec<(String, Option<String>, usize)> {
            let open = self.service.table.all();
            open.iter().map(|live| (live.name.clone(), live.lost(), live.n_steps())).collect()
        };
        let before = sessions();
        let is_running = self.sent.as_ref().is_some_and(|sent| Runs::has_running(&sent.runs));
        let mut check = tokio::time::interval(CHECK_EVERY);
        check.tick().await;
        let ticking = async {
            let mut n_ticks = 0;
            loop {
                check.tick().await;
                n_ticks += 1;
                let is_due = Instant::now() >= self.alive || (is_running && n_ticks >= 2);
                if is_due || sessions() != before || modified(&self.place.root.join("logs")) != self.logs {
                    return;
                }
            }
        };
        let filed = async {
            match &mut self.files {
                Some(files) => drop(files.next(QUIET, |_| true).await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = ticking => {}
            () = filed => {}
            _ = self.changes.changed() => {}
        }
    }
}

fn modified(folder: &Path) -> Option<SystemTime> {
    folder.metadata().and_then(|meta| meta.modified()).ok()
}

fn workspace(
    service: &LocalService,
    runs: &Runs,
    place: &Workplace,
    devices: Result<Vec<DeviceInfo>, ServiceError>,
) -> Workspace {
    let loaded = service.projects.load(&place.client);
    let problem = loaded.as_ref().err().or(devices.as_ref().err()).map(|error| error.message.clone());
    let history = History::read(&place.root);
    let trails = loaded.as_ref().ok().and_then(|loaded| trails::list(loaded).ok()).unwrap_or_default();
    let unreadable = loaded.as_ref().map(|loaded| trails::unreadable(loaded)).unwrap_or_default();
    let unreadable = unreadable.into_iter().map(|(path, why)| WorkspaceTrail {
        path,
        title: why,
        steps: 0,
        tags: Vec::new(),
        last: "unreadable".to_string(),
    });
    let sessions =
        service.table.all().into_iter().filter(|live| live.project == place.root).map(|live| WorkspaceSession {
            name: live.name.clone(),
            device: live.device.to_string(),
            platform: live.platform.clone(),
            steps: i32::try_from(live.n_steps()).unwrap_or(i32::MAX),
            // In minutes, so that a page is not told every second.
            age_seconds: i32::try_from(live.opened().elapsed().as_secs() / 60 * 60).unwrap_or(i32::MAX),
            lost: live.lost().unwrap_or_default(),
        });
    Workspace {
        name: place.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        folder: place.root.display().to_string(),
        version: service.version.0.split('+').next().unwrap_or_default().to_string(),
        device: place.device.clone().unwrap_or_default(),
        devices: devices
            .unwrap_or_default()
            .into_iter()
            .map(|device| WorkspaceDevice {
                id: device.id,
                platform: device.platform,
                summary: device.summary,
                width: i32::try_from(device.width).unwrap_or_default(),
                height: i32::try_from(device.height).unwrap_or_default(),
                sessions: device.sessions,
            })
            .collect(),
        sessions: sessions.collect(),
        trails: trails
            .into_iter()
            .map(|trail| {
                let is_of =
                    |key: &String| key.strip_prefix(&trail.path).is_some_and(|rest| rest.starts_with([' ', '[']));
                let last = match (history.failed.iter().any(is_of), history.durations.keys().any(is_of)) {
                    (true, _) => "failed",
                    (false, true) => "passed",
                    (false, false) => "",
                };
                WorkspaceTrail {
                    path: trail.path,
                    title: trail.title,
                    steps: i32::try_from(trail.steps).unwrap_or_default(),
                    tags: trail.tags,
                    last: last.to_string(),
                }
            })
            .chain(unreadable)
            .collect(),
        runs: runs.list(&place.root),
        problem: problem.unwrap_or_default(),
        reruns: runs.reruns(&place.root),
    }
}
