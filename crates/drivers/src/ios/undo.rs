//! Puts back what a session changed on the device, also if this program is killed.
//!
//! WebDriverAgent does not notice that its client is gone. Therefore this program starts itself again as a process that is told of each
//! change before it is made. It puts everything back if its input ends before it is told that this was done.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Budget, DeviceEvents};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;
use trailblaze_supervise::{Child, Grace, Launch, Running, Supervisor};

use super::usb::Usbmuxd;
use super::wda::{SessionKeeper, WdaAddress, WdaClient, WdaError};

/// The argument that starts this program to put back what another one changed.
const PUT_BACK: &str = "__put-back";
/// How long it may take, and when it is ended.
const PATIENCE: Duration = Duration::from_secs(20);
const GRACE: Duration = Duration::from_secs(25);

/// What is put back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceChange {
    /// How the screen was turned.
    Orientation(Value),
    /// Whether it was light or dark.
    Appearance(Value),
    /// Another place is pretended.
    Location,
    /// A session was about to be made, whose id is not known yet.
    AnySession,
    Session(String),
}

impl DeviceChange {
    fn is_session(&self) -> bool {
        matches!(self, DeviceChange::AnySession | DeviceChange::Session(_))
    }

    async fn put_back(&self, wda: &WdaClient, budget: &Budget) -> Result<(), WdaError> {
        match self {
            DeviceChange::Orientation(before) => {
                wda.post(budget, "/orientation", json!({"orientation": before})).await.map(drop)
            }
            DeviceChange::Appearance(before) => {
                wda.post(budget, "/wda/device/appearance", json!({"name": before})).await.map(drop)
            }
            DeviceChange::Location => wda.delete(budget, "/wda/simulatedLocation").await.map(drop),
            // There is one session at a time, so that the one that was about to be made is replaced by this one.
            DeviceChange::AnySession => wda.replace_session(budget).await,
            DeviceChange::Session(id) => wda.end_session(budget, id).await,
        }
    }
}

/// The changes of a session: the first of each kind, and the last of its sessions.
#[derive(Debug, Default)]
struct DeviceChanges(Vec<DeviceChange>);

impl DeviceChanges {
    fn add(&mut self, change: DeviceChange) {
        let is_same = |known: &DeviceChange| std::mem::discriminant(known) == std::mem::discriminant(&change);
        if change.is_session() {
            self.0.retain(|known| !known.is_session());
        } else if self.0.iter().any(is_same) {
            return;
        }
        self.0.push(change);
    }

    /// Settings first, as they may need the session.
    async fn put_back(&self, wda: &WdaClient, budget: &Budget) -> Vec<WdaError> {
        let (sessions, settings): (Vec<_>, Vec<_>) = self.0.iter().partition(|change| change.is_session());
        let mut failed = Vec::new();
        for change in settings.into_iter().chain(sessions) {
            failed.extend(change.put_back(wda, budget).await.err());
        }
        failed
    }
}

/// What the process is told, one per line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UndoOrder {
    Keep(DeviceChange),
    /// Everything was put back.
    Forget,
}

/// The changes of one session, and the process that knows of them.
pub struct SessionUndo {
    changes: Mutex<DeviceChanges>,
    process: tokio::sync::Mutex<UndoProcess>,
    events: Arc<DeviceEvents>,
}

enum UndoProcess {
    /// It is started with the first change.
    NotStarted(UndoLauncher),
    Running(Box<RunningUndo>),
    /// Nothing is put back if this program is killed.
    Missing,
}

/// What it takes to start the process.
pub struct UndoLauncher {
    pub supervisor: Supervisor,
    pub address: WdaAddress,
    pub usbmuxd: Usbmuxd,
}

struct RunningUndo {
    stdin: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    child: Child,
    n_told: u64,
}

impl SessionUndo {
    /// Without a launcher, nothing is put back if this program is killed.
    pub fn new(launcher: Option<UndoLauncher>, events: Arc<DeviceEvents>) -> SessionUndo {
        let process = launcher.map_or(UndoProcess::Missing, UndoProcess::NotStarted);
        SessionUndo { changes: Mutex::default(), process: tokio::sync::Mutex::new(process), events }
    }

    /// Must be called before a change is made.
    pub async fn will_change(&self, budget: &Budget, change: &DeviceChange) {
        let mut process = self.process.lock().await;
        let told = match std::mem::replace(&mut *process, UndoProcess::Missing) {
            UndoProcess::Missing => return,
            UndoProcess::NotStarted(launcher) => launcher.start().await,
            UndoProcess::Running(running) => Ok(running),
        };
        let told = match told {
            Ok(mut running) => running.tell(budget, &UndoOrder::Keep(change.clone())).await.map(|()| running),
            Err(error) => Err(error),
        };
        match told {
            Ok(running) => *process = UndoProcess::Running(running),
            Err(why) => {
                let text = format!("if Trailblaze is killed, what this session changes on the device stays: {why}");
                self.events.add(DeviceEvent::Log { level: Level::Warning, text });
            }
        }
    }

    /// Must be called after a setting was changed.
    pub fn has_changed(&self, change: DeviceChange) {
        self.changes.lock().add(change);
    }

    /// Puts the settings back. What stays is reported.
    pub async fn put_back(&self, wda: &WdaClient, budget: &Budget) {
        let changes = std::mem::take(&mut *self.changes.lock());
        for error in changes.put_back(wda, budget).await {
            let text = format!("a setting of the device was not put back: {error}");
            self.events.add(DeviceEvent::Log { level: Level::Warning, text });
        }
    }

    /// Ends the process, which has nothing to do any more.
    pub async fn forget(&self, budget: &Budget) {
        let process = std::mem::replace(&mut *self.process.lock().await, UndoProcess::Missing);
        if let UndoProcess::Running(mut running) = process {
            let _ = running.tell(budget, &UndoOrder::Forget).await;
            let RunningUndo { stdin, child, .. } = *running;
            drop(stdin);
            let _ = budget.run("the process that puts things back", child.ended()).await;
        }
    }
}

#[async_trait]
impl SessionKeeper for SessionUndo {
    async fn will_begin(&self, budget: &Budget) {
        self.will_change(budget, &DeviceChange::AnySession).await;
    }

    async fn has_begun(&self, budget: &Budget, id: &str) {
        self.will_change(budget, &DeviceChange::Session(id.to_string())).await;
    }
}

impl UndoLauncher {
    async fn start(self) -> Result<Box<RunningUndo>, String> {
        let mut launch = Launch::new(self.supervisor.own_program(), std::env::temp_dir());
        let (address, usbmuxd) = (self.address.to_string(), self.usbmuxd.variable());
        launch.args = [PUT_BACK, &address, &usbmuxd].map(OsString::from).to_vec();
        launch.grace = Grace { after_stdin: GRACE, ..Grace::default() };
        let started = self.supervisor.start(launch).await.map_err(|error| error.to_string())?;
        let Running { stdin, stdout, child, .. } = started;
        Ok(Box::new(RunningUndo { stdin, answers: BufReader::new(stdout).lines(), child, n_told: 0 }))
    }
}

impl RunningUndo {
    /// Returns when the process has understood it.
    async fn tell(&mut self, budget: &Budget, order: &UndoOrder) -> Result<(), String> {
        let line = serde_json::to_string(order).map_err(|error| error.to_string())?;
        self.n_told += 1;
        let told = async {
            self.stdin.write_all(format!("{line}\n").as_bytes()).await?;
            // The answer is how many it has understood. There may be one to an order whose sender was cancelled.
            while let Some(answer) = self.answers.next_line().await? {
                if answer.parse() == Ok(self.n_told) {
                    return Ok(());
                }
            }
            Err(io::Error::from(io::ErrorKind::UnexpectedEof))
        };
        let told = budget.run("the process that puts things back", told).await;
        told.map_err(|error| error.to_string())?.map_err(|error: io::Error| error.to_string())
    }
}

/// Puts back what another process changed, if this one was started for that. Must be called at the start of `main`.
pub fn put_back_main() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (first, rest) = arguments.split_first()?;
    if first != PUT_BACK {
        return None;
    }
    Some(match put_back(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: `{PUT_BACK}` is for Trailblaze itself: {error}");
            ExitCode::from(3)
        }
    })
}

fn put_back(arguments: &[OsString]) -> io::Result<()> {
    let [address, usbmuxd] = arguments else { return Err(io::Error::other("it needs two addresses")) };
    let address = WdaAddress::parse("wda", &address.to_string_lossy()).map_err(io::Error::other)?;
    let mut changes = DeviceChanges::default();
    for (index, line) in io::stdin().lock().lines().enumerate() {
        match serde_json::from_str(&line?)? {
            UndoOrder::Keep(change) => changes.add(change),
            UndoOrder::Forget => changes = DeviceChanges::default(),
        }
        // One that no longer reads it is about to end our input.
        let _ = writeln!(io::stdout(), "{}", index + 1);
    }
    if changes.0.is_empty() {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let wda = WdaClient::new(address, &Usbmuxd::of_environment(Some(OsStr::new(usbmuxd))));
        let budget = Budget::new(Instant::now() + PATIENCE, CancellationToken::new());
        changes.put_back(&wda, &budget).await;
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_change_of_each_kind_counts_and_the_last_session() {
        let mut changes = DeviceChanges::default();
        let turned = |name: &str| DeviceChange::Orientation(json!(name));
        for change in [
            DeviceChange::AnySession,
            turned("PORTRAIT"),
            DeviceChange::Session("A".to_string()),
            DeviceChange::Location,
            turned("LANDSCAPE"),
            DeviceChange::AnySession,
            DeviceChange::Session("B".to_string()),
            DeviceChange::Location,
        ] {
            changes.add(change);
        }
        let expected = [turned("PORTRAIT"), DeviceChange::Location, DeviceChange::Session("B".to_string())];
        assert_eq!(changes.0, expected);
    }
}
