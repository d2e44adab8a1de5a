//! Being told to stop: Ctrl-C, or SIGTERM as CI systems send it.

use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};
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

/// Returns when the process is told to end: by Ctrl-C, or by SIGTERM.
pub async fn told_to_stop() {
    Signals::listen().next().await;
}

/// Ctrl-C and SIGTERM, told apart. None is missed between two calls of `next`.
pub struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
}

/// What the process was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Ctrl-C: end what is going on.
    Interrupt,
    /// SIGTERM: end altogether.
    Terminate,
}

impl Signals {
    pub fn listen() -> Signals {
        let heard = |kind: SignalKind| signal(kind).ok();
        Signals { interrupt: heard(SignalKind::interrupt()), terminate: heard(SignalKind::terminate()) }
    }

    pub async fn next(&mut self) -> Told {
        tokio::select! {
            () = received(&mut self.interrupt) => Told::Interrupt,
            () = received(&mut self.terminate) => Told::Terminate,
        }
    }
}

/// Where a signal cannot be had, it never comes.
async fn received(signal: &mut Option<Signal>) {
    let is_received = match signal {
        Some(signal) => signal.recv().await.is_some(),
        None => false,
    };
    if !is_received {
        std::future::pending::<()>().await;
    }
}
