//! Being told to stop: Ctrl-C, or SIGTERM as CI systems send it.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use trailblaze_protocol::exit::Exit;

use crate::progress::Progress;

/// The first word to stop ends the run in good order; the second ends it at once.
pub fn cancel(progress: Arc<Progress>) -> CancellationToken {
    let cancel = CancellationToken::new();
    let token = cancel.clone();
    tokio::spawn(async move {
        told_to_stop().await;
        progress.say("cancelling; press Ctrl-C again to stop at once");
        token.cancel();
        told_to_stop().await;
        std::process::exit(i32::from(Exit::Environment.code()));
    });
    cancel
}

/// Returns when somebody wants the process to end.
pub async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Where signals cannot be had, nobody can say stop that way.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
