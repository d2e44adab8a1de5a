//! Being told to stop: Ctrl-C, or SIGTERM as CI systems send it.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::exit::Exit;

use crate::progress::Progress;

/// Listens while it lives. The first word to stop ends the run in good order; the second ends it at once.
pub struct Interrupt {
    pub cancel: CancellationToken,
    listener: JoinHandle<()>,
}

impl Interrupt {
    pub fn listen(progress: Arc<Progress>) -> Interrupt {
        let cancel = CancellationToken::new();
        let token = cancel.clone();
        let listener = tokio::spawn(async move {
            told_to_stop().await;
            progress.say("cancelling; press Ctrl-C again to stop at once");
            token.cancel();
            told_to_stop().await;
            std::process::exit(i32::from(Exit::Environment.code()));
        });
        Interrupt { cancel, listener }
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.listener.abort();
    }
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
