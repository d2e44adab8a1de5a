//! Our side of a guardian: a task that forwards orders from handles, stores what the guardian reports, and takes over
//! when the guardian is killed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::child::{ChildEnd, Order, ProcessExit, Stopped};
use crate::folders::{self, TO_REMOVE};
use crate::guardian::AFTER_KILL;
use crate::launch::Grace;
use crate::orphans::{self, Guardian};
use crate::processes;
use crate::wire::{GuardianRequest, Report, WireReader, WireWriter};

/// The time that a guardian may need beyond its grace times.
const SLACK: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(20);

/// A guardian, seen from our side.
pub(crate) struct GuardianHandle {
    pub guardian: Guardian,
    /// The child, from its start until its end is reported.
    pub child: Option<Pid>,
    pub reader: WireReader,
    pub writer: Option<WireWriter>,
    pub folders: Vec<PathBuf>,
    pub leaked: Arc<AtomicUsize>,
}

/// Runs until the guardian and everything beneath it are gone.
pub(crate) async fn follow(
    mut handle: GuardianHandle,
    grace: Grace,
    mut orders: mpsc::UnboundedReceiver<Order>,
    fate: watch::Sender<ChildEnd>,
) {
    let n_at_start = handle.folders.len();
    let leaked = match handle.follow(grace, &mut orders, &fate).await {
        Some(GuardianDone { leaked, n_folders }) => {
            handle.folders.drain(..(n_at_start + n_folders).min(handle.folders.len()));
            handle.wait_for_exit().await;
            leaked
        }
        None => handle.give_up().await,
    };
    handle.leaked.fetch_add(leaked, Ordering::Relaxed);
    // Folders registered from now on are removed by the caller.
    orders.close();
    while let Ok(order) = orders.try_recv() {
        if let Order::Folder(path) = order {
            handle.folders.push(path);
        }
    }
    folders::remove_all(std::mem::take(&mut handle.folders)).await;
    fate.send_modify(|fate| {
        let ended = *fate.ended.get_or_insert(ProcessExit::Unknown);
        fate.stopped = Some(Stopped { ended, leaked });
    });
}

/// The guardian's final report.
struct GuardianDone {
    leaked: usize,
    n_folders: usize,
}

impl GuardianHandle {
    /// Forwards orders and handles reports. Returns `None` if the guardian was killed or does not end in time.
    async fn follow(
        &mut self,
        grace: Grace,
        orders: &mut mpsc::UnboundedReceiver<Order>,
        fate: &watch::Sender<ChildEnd>,
    ) -> Option<GuardianDone> {
        let mut until: Option<Instant> = None;
        let sooner = |until: Option<Instant>, time: Duration| {
            let at = Instant::now() + time + AFTER_KILL + TO_REMOVE + SLACK;
            Some(until.map_or(at, |until| until.min(at)))
        };
        loop {
            tokio::select! {
                order = orders.recv(), if self.writer.is_some() => match order {
                    Some(Order::Stop(grace)) => {
                        until = sooner(until, grace.after_stdin + grace.after_term);
                        self.write(&GuardianRequest::Stop(grace)).await;
                    }
                    Some(Order::Folder(path)) => {
                        self.write(&GuardianRequest::folder(&path)).await;
                        self.folders.push(path);
                    }
                    // The last handle was dropped. Closing the socket tells the guardian.
                    None => {
                        until = sooner(until, grace.after_stdin + grace.after_term);
                        self.writer = None;
                    }
                },
                report = self.reader.read() => match report {
                    Some(Report::Exited(ended)) => {
                        until = sooner(until, grace.after_term);
                        self.child = None;
                        fate.send_modify(|fate| fate.ended = Some(ended));
                    }
                    Some(Report::Done { leaked, folders }) => return Some(GuardianDone { leaked, n_folders: folders }),
                    Some(Report::Started { .. } | Report::Failed { .. }) => {}
                    None => return None,
                },
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return None,
            }
        }
    }

    /// Errors are ignored: if the guardian is gone, reading from it ends too.
    async fn write(&mut self, request: &GuardianRequest) {
        if let Some(writer) = &mut self.writer {
            let _ = timeout(SLACK, writer.write(request)).await;
        }
    }

    /// Waits for the guardian to exit after its final report, and kills it if it does not.
    pub async fn wait_for_exit(&mut self) {
        let guardian = &mut self.guardian.process;
        if timeout(SLACK, guardian.wait()).await.is_err() {
            let _ = timeout(SLACK, guardian.kill()).await;
        }
    }

    /// Handles a guardian that was killed or does not answer: kills it and everything that it left, and returns how
    /// many processes could not be killed.
    pub async fn give_up(&mut self) -> usize {
        self.writer = None;
        let _ = self.guardian.process.start_kill();
        let mut leaked = 0;
        // Where processes cannot be listed, only the child's group can be signalled.
        if let Some(child) = self.child.filter(|_| cfg!(not(target_os = "linux"))) {
            let _ = kill_process_group(child, Signal::KILL);
        }
        // Its pid cannot be reused before the guardian is reaped.
        if let Some(guardian) = self.guardian.process.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            let until = Instant::now() + AFTER_KILL;
            loop {
                let left = orphans::left_by(guardian);
                leaked = processes::count_living(&left);
                // Its descendants are reparented only at the very end.
                if left.is_empty() && orphans::is_dead(guardian) || Instant::now() >= until {
                    break;
                }
                orphans::kill(&left);
                sleep(TICK).await;
            }
        }
        self.wait_for_exit().await;
        leaked
    }
}
