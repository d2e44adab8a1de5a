//! `trailblaze run --watch`: reruns the trails that a changed file affects.

use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_protocol::exit::Exit;

use super::interrupt::told_to_stop;
use super::run::{RunArgs, run_once};
use super::{Context, Refusal};
use crate::output::print;
use crate::run::watch::{NextRun, Watch};

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
    let mut only: Option<Vec<String>> = None;
    while !stop.is_cancelled() {
        if let Err(refusal) = run_once(context, &args, only.take(), Some(&mut watch)).await {
            refusal.show();
        }
        if !stop.is_cancelled() {
            print::say("\nwatching for changes; press Ctrl-C to stop");
        }
        tokio::select! {
            changed = next(&mut watch) => only = changed,
            () = stop.cancelled() => {}
        }
    }
    drop(listener);
    watch.close().await;
    Ok(Exit::Passed)
}

/// The trails that a change affects; `None` for all.
async fn next(watch: &mut Watch) -> Option<Vec<String>> {
    loop {
        match watch.next().await {
            NextRun::All => return None,
            NextRun::Some(trails) => return Some(trails),
            NextRun::Nothing => print::say("none of the trails that ran uses a changed tool"),
        }
    }
}
