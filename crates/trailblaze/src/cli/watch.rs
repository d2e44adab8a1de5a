//! `trailblaze run --watch`: reruns the trails that a changed file affects, or that a person asks for with a key.

use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_protocol::exit::Exit;

use super::interrupt::told_to_stop;
use super::run::{RunArgs, run_once};
use super::watch_keys::{Keyboard, LEGEND, WatchKey};
use super::{Context, Refusal};
use crate::output::print;
use crate::run::watch::{NextRun, Watch, WatchedChange};

/// How many changed files are named.
const MOST_NAMED: usize = 3;

/// The trails of a run.
#[derive(Clone)]
enum WatchedTrails {
    /// Those of the command line.
    All,
    /// These of them, by their paths in the project.
    Some(Vec<String>),
    /// Those of them whose titles or paths contain this.
    Pattern(String),
}

/// What is to run next.
enum NextWatchedRun {
    Trails(WatchedTrails),
    /// The same trails, which write expected pictures.
    Snapshots,
}

pub async fn watch(context: &Context, args: RunArgs) -> Result<Exit, Refusal> {
    let root = context.root(args.paths.first().map_or(Path::new("."), PathBuf::as_path));
    let logs = args.logs(context, &root);
    let mut watch = Watch::start(&root, &logs).map_err(|error| Refusal::cannot_watch(&root, &error))?;
    // A request to stop that arrives during a run also ends the watch.
    let stop = CancellationToken::new();
    let listener = AbortOnDropHandle::new(tokio::spawn({
        let stop = stop.clone();
        async move {
            told_to_stop().await;
            stop.cancel();
        }
    }));
    let (mut trails, mut once) = (WatchedTrails::All, None);
    while !stop.is_cancelled() {
        // Only the run that a person asked for writes them.
        let asked: Option<RunArgs> = once.take();
        if let Err(refusal) = run(context, asked.as_ref().unwrap_or(&args), &trails, &mut watch).await {
            refusal.show();
        }
        if stop.is_cancelled() {
            break;
        }
        tokio::select! {
            wanted = next(&mut watch, &trails) => match wanted {
                Some(NextWatchedRun::Trails(wanted)) => trails = wanted,
                Some(NextWatchedRun::Snapshots) => once = Some(args.updating_snapshots()),
                None => break,
            },
            () = stop.cancelled() => {}
        }
    }
    drop(listener);
    watch.close().await;
    Ok(Exit::Passed)
}

async fn run(context: &Context, args: &RunArgs, trails: &WatchedTrails, watch: &mut Watch) -> Result<(), Refusal> {
    match trails {
        WatchedTrails::All => run_once(context, args, None, Some(watch)).await,
        WatchedTrails::Some(paths) => run_once(context, args, Some(paths.clone()), Some(watch)).await,
        WatchedTrails::Pattern(words) => run_once(context, &args.about(words), None, Some(watch)).await,
    }
    .map(drop)
}

/// What runs next, after a change or a key. `None` to stop.
async fn next(watch: &mut Watch, last: &WatchedTrails) -> Option<NextWatchedRun> {
    let mut keyboard = Keyboard::open();
    print::say(match keyboard {
        Some(_) => format!("\nwatching for changes; {LEGEND}"),
        None => "\nwatching for changes; press Ctrl-C to stop".to_string(),
    });
    loop {
        tokio::select! {
            change = watch.next() => {
                keyboard.iter_mut().for_each(Keyboard::clear_line);
                print::say(changed(&change));
                match change.next {
                    NextRun::All => return Some(NextWatchedRun::Trails(WatchedTrails::All)),
                    NextRun::Some(trails) => return Some(NextWatchedRun::Trails(WatchedTrails::Some(trails))),
                    NextRun::Nothing => print::say("none of the trails that ran uses a changed tool"),
                }
            }
            key = pressed(&mut keyboard) => match key {
                WatchKey::All => return Some(NextWatchedRun::Trails(WatchedTrails::All)),
                WatchKey::Again => return Some(NextWatchedRun::Trails(last.clone())),
                WatchKey::UpdateSnapshots => return Some(NextWatchedRun::Snapshots),
                WatchKey::Pattern(words) => return Some(NextWatchedRun::Trails(WatchedTrails::Pattern(words))),
                WatchKey::Failed if watch.failed().is_empty() => print::say("no trail failed when it last ran"),
                WatchKey::Failed => return Some(NextWatchedRun::Trails(WatchedTrails::Some(watch.failed()))),
                WatchKey::Quit => return None,
            },
        }
    }
}

async fn pressed(keyboard: &mut Option<Keyboard>) -> WatchKey {
    match keyboard {
        Some(keyboard) => keyboard.next().await,
        None => std::future::pending().await,
    }
}

/// Says which files changed.
fn changed(change: &WatchedChange) -> String {
    let named = change.files.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    match change.files.len().saturating_sub(MOST_NAMED) {
        0 => format!("{named} changed"),
        more => format!("{named} and {more} more changed"),
    }
}
