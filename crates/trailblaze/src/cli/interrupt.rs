//! Requests to stop: Ctrl-C, SIGTERM as CI systems send it, or SIGHUP when the terminal closes.

use std::sync::{Arc, LazyLock};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use trailblaze_protocol::exit::Exit;

use crate::output::console::Console;
use crate::output::progress::Progress;

/// Listens until dropped. The first request to stop ends the run cleanly; the second ends it immediately.
pub struct Interrupt {
    pub cancel: CancellationToken,
    _listener: AbortOnDropHandle<()>,
}

impl Interrupt {
    pub fn listen(progress: Arc<Progress>) -> Interrupt {
        let cancel = CancellationToken::new();
        let token = cancel.clone();
        let mut signals = Signals::listen();
        let listener = tokio::spawn(async move {
            let again = match signals.next().await {
                StopSignal::Interrupt => "press Ctrl-C again to stop immediately",
                _ => "a second signal stops immediately",
            };
            progress.say(&format!("cancelling; {again}"));
            token.cancel();
            // A closed terminal may be reported twice, by the kernel and by the shell.
            while signals.next().await == StopSignal::Hangup {}
            std::process::exit(i32::from(Exit::Environment.code()));
        });
        Interrupt { cancel, _listener: AbortOnDropHandle::new(listener) }
    }
}

/// Returns when the process is requested to stop.
pub async fn told_to_stop() {
    Signals::listen().next().await;
}

/// The signals that request the process to stop, from construction on. None is lost between two calls of `next`.
pub struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// Ctrl-C: end the current call.
    Interrupt,
    /// SIGTERM: end the process.
    Terminate,
    /// SIGHUP: the terminal closed.
    Hangup,
}

impl Signals {
    pub fn listen() -> Signals {
        // Read before the first handler is installed, because a handler replaces the inherited "ignore".
        static IGNORES_HANGUP: LazyLock<bool> = LazyLock::new(ignores_hangup);
        Signals {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
            hangup: if *IGNORES_HANGUP { None } else { signal(SignalKind::hangup()).ok() },
        }
    }

    pub async fn next(&mut self) -> StopSignal {
        tokio::select! {
            () = received(&mut self.interrupt) => StopSignal::Interrupt,
            () = received(&mut self.terminate) => StopSignal::Terminate,
            () = received(&mut self.hangup) => StopSignal::Hangup,
        }
    }
}

/// Never returns if the signal cannot be listened for.
async fn received(signal: &mut Option<Signal>) {
    let is_received = match signal {
        Some(signal) => signal.recv().await.is_some(),
        None => false,
    };
    if !is_received {
        std::future::pending::<()>().await;
    }
}

/// Whether the process was started with SIGHUP ignored, as `nohup` does. Linux reports it as a hexadecimal mask; on other
/// systems it counts as not ignored.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
