//! `trailblaze run --watch`: runs again what a changed file affects.

use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{RecursiveMode, Watcher};
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::exit::Exit;

use super::Refusal;
use super::interrupt::told_to_stop;
use super::run::{RunArgs, run_once};
use crate::print;
use crate::project::{find_root, shown};

/// Changes within this time are one change.
const QUIET: Duration = Duration::from_millis(200);

pub async fn watch(project: Option<PathBuf>, args: RunArgs) -> Result<Exit, Refusal> {
    let start = project.clone().or_else(|| args.paths.first().cloned()).unwrap_or_else(|| PathBuf::from("."));
    let root = find_root(&start);
    let (send, mut changes) = tokio::sync::mpsc::channel::<PathBuf>(256);
    let failed =
        |error: notify::Error| Refusal::Environment { message: format!("cannot watch {}: {error}", root.display()) };
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if event.kind.is_access() {
            return;
        }
        // A full queue means that a run is due anyway.
        event.paths.into_iter().for_each(|path| drop(send.try_send(path)));
    })
    .map_err(failed)?;
    watcher.watch(&root, RecursiveMode::Recursive).map_err(failed)?;
    // Also a word to stop that comes during a run ends the watch.
    let stop = CancellationToken::new();
    let listener = tokio::spawn({
        let stop = stop.clone();
        async move {
            told_to_stop().await;
            stop.cancel();
        }
    });
    let mut only: Option<Vec<String>> = None;
    while !stop.is_cancelled() {
        if let Err(refusal) = run_once(project.as_deref(), &args, only.as_deref()).await {
            refusal.show();
        }
        if !stop.is_cancelled() {
            print::say("\nwatching for changes; Ctrl-C ends");
        }
        tokio::select! {
            changed = next_change(&root, &mut changes) => only = changed,
            () = stop.cancelled() => {}
        }
    }
    listener.abort();
    Ok(Exit::Passed)
}

/// Waits for a change. `Some` trails changed alone; `None` is anything else, which may affect all of them.
async fn next_change(root: &Path, changes: &mut tokio::sync::mpsc::Receiver<PathBuf>) -> Option<Vec<String>> {
    let mut trails = Vec::new();
    let mut affects_all = false;
    loop {
        let is_quiet = tokio::time::sleep(QUIET);
        let path = tokio::select! {
            path = changes.recv() => path,
            () = is_quiet, if affects_all || !trails.is_empty() => None,
        };
        let Some(path) = path else { return (!affects_all).then_some(trails) };
        let name = shown(root, &path);
        match Meaning::of(&name) {
            Meaning::Trail if !trails.contains(&name) => trails.push(name),
            Meaning::Everything => affects_all = true,
            _ => {}
        }
    }
}

enum Meaning {
    Trail,
    Everything,
    Nothing,
}

impl Meaning {
    fn of(path: &str) -> Meaning {
        let is_ours =
            path.split('/').any(|part| matches!(part, "logs" | ".trailblaze" | ".git" | "target" | "node_modules"));
        match path {
            // What a run keeps beside a trail is no reason to run it again.
            _ if is_ours || path.ends_with(".part") || path.ends_with(".effects.yaml") => Meaning::Nothing,
            _ if path.ends_with(".trail.yaml") || path.ends_with("/trail.yaml") => Meaning::Trail,
            _ if path.ends_with(".yaml") || path.ends_with(".yml") => Meaning::Everything,
            _ => Meaning::Nothing,
        }
    }
}
