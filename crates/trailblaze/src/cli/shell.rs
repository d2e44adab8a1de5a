//! `trailblaze shell`.

use std::io::{BufRead, IsTerminal};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use trailblaze_core::record::events::{EventSink, PicturePolicy, Redacted};
use trailblaze_protocol::event::Event;
use trailblaze_protocol::exit::Exit;

use super::cassette::{CassetteArgs, save_cassettes};
use super::interrupt::{Signals, Stop};
use super::line_editor::{Heard, LineEditor};
use super::run::SimArgs;
use super::shell_history::{History, fit_to_keep};
use super::{Context, Refusal, pairs};
use crate::output::print;
use crate::output::progress::Progress;
use crate::output::report;
use crate::output::run_folder::RunFolder;
use crate::project::changes::FileChanges;
use crate::project::devices::{DeviceArgs, DeviceSpec};
use crate::project::environment::Environment;
use crate::project::loaded::Loaded;
use crate::servers::tool_servers::{Mode, Outlets};
use crate::sessions::device_log::LaneSink;
use crate::sessions::hot_swap;
use crate::sessions::interactive::{Place, Reply, Shell};
use crate::sessions::wiring::{self, NotOpened, Wiring};

/// Explore a device from a prompt, or from standard input, and keep the result as a trail
#[derive(Args)]
pub struct ShellArgs {
    #[command(flatten)]
    on: OnDeviceArgs,
    /// Answer every line with one line of JSON
    #[arg(long)]
    json: bool,
    /// Swap tools whose files change into the session, and say how they differ
    #[arg(long)]
    watch: bool,
}

/// What `shell` and `tool` have in common: one device, and a run folder for what is done on it.
#[derive(Args)]
pub struct OnDeviceArgs {
    #[command(flatten)]
    devices: DeviceArgs,
    /// The app under test, by its id in trailblaze-config/targets; the project's unless given
    #[arg(long, env = "TRAILBLAZE_TARGET")]
    pub target: Option<String>,
    /// Remember a value from the start, as name=value
    #[arg(long, value_name = "NAME=VALUE")]
    memory: Vec<String>,
    /// Use an environment variable as a secret: {{NAME}} types it, and nothing shows it
    #[arg(long, value_name = "NAME")]
    pub secret: Vec<String>,
    #[command(flatten)]
    pub cassettes: CassetteArgs,
    #[command(flatten)]
    sim: SimArgs,
    /// Where run folders go; logs/ of the project unless given
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
}

impl OnDeviceArgs {
    /// Where run folders go.
    fn logs(&self, root: &Path) -> PathBuf {
        self.logs.clone().unwrap_or_else(|| root.join("logs"))
    }

    /// The first device, where it only matters what kind it is.
    pub fn first(&self, loaded: &Loaded) -> Result<DeviceSpec, Refusal> {
        Ok(loaded.devices(&self.devices.device)?.remove(0))
    }

    /// The one device that is meant.
    pub fn device(&self, loaded: &Loaded, what: &str) -> Result<DeviceSpec, Refusal> {
        let mut devices = loaded.devices(&self.devices.device)?;
        if devices.len() == 1 {
            return Ok(devices.remove(0));
        }
        let hint = Some(format!("name it with -d {}", devices[0].id));
        Err(Refusal::Usage { message: format!("{what} on one device"), hint })
    }
}

pub async fn shell(context: &Context, args: ShellArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let device = args.on.device(&loaded, "a shell is")?;
    let is_person = std::io::stdin().is_terminal() && !args.json;
    on_device(context, Arc::clone(&loaded), &args.on, device, async |shell, wiring, cancel| {
        let root = &loaded.root;
        let conversing = async {
            if !is_person {
                return Ok(follow_script(shell, args.json, cancel).await);
            }
            let exit = talk(shell, &context.environment, cancel).await;
            if let Some(kept) = shell.unsaved() {
                print::say(format!("The steps were not saved as a trail. They are kept in {}", kept.display()));
            }
            exit
        };
        if !args.watch {
            return conversing.await;
        }
        let changes = FileChanges::of(root, &context.absolute(&args.on.logs(root)));
        let mut changes = changes.map_err(|error| Refusal::cannot_watch(root, &error))?;
        tokio::select! {
            exit = conversing => exit,
            never = hot_swap::follow(wiring, &mut changes, |_| {}, || {}) => match never {},
        }
    })
    .await
}

/// Opens a device and a run folder, does what is to be done, and closes both.
pub async fn on_device(
    context: &Context,
    loaded: Arc<Loaded>,
    args: &OnDeviceArgs,
    device: DeviceSpec,
    explore: impl AsyncFnOnce(&mut Shell, &Wiring, &CancellationToken) -> Result<Exit, Refusal>,
) -> Result<Exit, Refusal> {
    let mut wiring = Wiring::new(&loaded, &context.host(None), args.target.clone());
    wiring.show_browser(args.devices.headed);
    Refusal::unless_known(&wiring)?;
    wiring.use_secrets(wiring::secrets(&loaded, &args.secret)?);
    wiring.pictures = PicturePolicy::Action;
    args.sim.apply(&mut wiring)?;
    let memory = pairs("memory", &args.memory)?;
    let cassettes = args.cassettes.open(&loaded)?;
    let logs = context.absolute(&args.logs(&loaded.root));
    let folder = RunFolder::create(&logs)
        .map_err(|source| Refusal::Io { what: format!("cannot create a folder in `{}`", logs.display()), source })?;
    let record: Arc<dyn EventSink> = Arc::new(Redacted::new(Arc::clone(&folder) as _, Arc::clone(&wiring.secrets)));
    record.emit(Event::RunStarted {
        command: context.command_line(),
        project: loaded.root.display().to_string(),
        seed: wiring.seed,
        trails: 0,
        shard: None,
    });
    let _ = report::write_unfinished(&folder.path);
    let outlets = Outlets {
        events: Some(record),
        progress: Some(Arc::new(Progress::new(false))),
        folder: Some(folder.path.clone()),
    };
    wiring.servers = wiring.tool_servers(Mode::Start).with_outlets(outlets).with_cassettes(cassettes);
    let sink = Arc::new(LaneSink::new(device.id.clone(), Arc::clone(&folder) as _, Arc::new(Progress::new(true))));
    let target = wiring.target.clone();
    let session = match wiring.open_whole(&device, target.as_deref(), Arc::clone(&sink) as Arc<dyn EventSink>).await {
        Ok(session) => session,
        Err(NotOpened { session, error }) => {
            session.close(&error.to_string()).await;
            wiring.close().await;
            let _ = folder.finish(Exit::Environment, wiring.supervisor.leaked());
            return Err(Refusal::Environment { message: error.to_string() });
        }
    };
    if let Err(refusal) = Refusal::unless_sound(&loaded.refused_tools(&session.registry())) {
        session.close(&refusal.to_string()).await;
        wiring.close().await;
        let _ = folder.finish(refusal.exit(), wiring.supervisor.leaked());
        return Err(refusal);
    }
    let memory = wiring.memory((&device, target.as_deref()), None, &memory, Default::default());
    let cancel = CancellationToken::new();
    let place = Place { root: loaded.root.clone(), folder: folder.path.clone(), target };
    let mut shell = Shell::open(session, sink, memory, place);
    let explored = explore(&mut shell, &wiring, &cancel).await;
    let ended = match &explored {
        Ok(exit) => *exit,
        Err(refusal) => refusal.exit(),
    };
    // A person's failed calls are not the shell's, but the record has them.
    let ended = ended.worst(shell.worst());
    shell.close(ended, cancel.is_cancelled()).await;
    wiring.close().await;
    let kept = save_cassettes(&wiring.servers, cancel.is_cancelled(), |text| print::say(text));
    let explored = explored.map(|exit| exit.worst(kept));
    folder.finish(ended.worst(kept), wiring.supervisor.leaked()).map_err(|message| Refusal::Environment { message })?;
    let written = report::write(&folder.path).map_err(|error| Refusal::Environment { message: error.to_string() })?;
    if explored.is_ok() {
        print::say(format!("Report: {}", written.html.display()));
    }
    explored
}

/// Talks with a person until they leave. They try things, so a call that fails is no failure of the shell.
async fn talk(shell: &mut Shell, environment: &Environment, cancel: &CancellationToken) -> Result<Exit, Refusal> {
    let (mut history, lines) = History::open(environment);
    let no_terminal = |error| Refusal::Environment { message: format!("cannot use the terminal: {error}") };
    let mut editor = LineEditor::open(lines).map_err(no_terminal)?;
    print::say("`help` lists what you can say; `snapshot` shows the screen.");
    let mut signals = Signals::listen();
    let mut last = None;
    loop {
        let asked = editor.next(shell.vocabulary(), last.take());
        tokio::pin!(asked);
        let heard = loop {
            tokio::select! {
                heard = &mut asked => break heard,
                told = signals.next() => match told {
                    // The editor hears the key itself; a signal from elsewhere has nothing to end here.
                    Stop::Interrupt => {}
                    Stop::Terminate | Stop::Hangup => return Ok(Exit::Environment),
                },
            }
        };
        let line = match heard {
            Heard::Line(line) => line,
            Heard::Interrupted => continue,
            Heard::End => return Ok(Exit::Passed),
        };
        last = fit_to_keep(shell, &line);
        last.iter().for_each(|line| history.add(line));
        let reply = carry_out(shell, &line, &mut signals, cancel, &cancel.child_token()).await;
        if let ControlFlow::Break(exit) = shown(&reply, false, cancel) {
            return Ok(exit);
        }
    }
}

/// Carries out the lines of standard input until they end. The worst of their replies is the shell's.
async fn follow_script(shell: &mut Shell, as_json: bool, cancel: &CancellationToken) -> Exit {
    let mut lines = lines();
    let mut signals = Signals::listen();
    let mut worst = Exit::Passed;
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            _ = signals.next() => None,
        };
        let Some(line) = line else { return worst };
        let reply = carry_out(shell, &line, &mut signals, cancel, cancel).await;
        if let Reply::Failed { exit, .. } = &reply {
            worst = worst.worst(*exit);
        }
        if let ControlFlow::Break(exit) = shown(&reply, as_json, cancel) {
            return worst.worst(exit);
        }
    }
}

/// Carries out a line. Ctrl-C cancels `call` and SIGTERM `all`; either way the call ends by itself, and its reply says
/// that it was cancelled.
async fn carry_out(
    shell: &mut Shell,
    line: &str,
    signals: &mut Signals,
    all: &CancellationToken,
    call: &CancellationToken,
) -> Reply {
    let reply = shell.line(line, call);
    tokio::pin!(reply);
    loop {
        tokio::select! {
            reply = &mut reply => return reply,
            told = signals.next() => match told {
                Stop::Interrupt => call.cancel(),
                Stop::Terminate | Stop::Hangup => all.cancel(),
            },
        }
    }
}

/// Shows a reply, and says whether the shell ends with it.
fn shown(reply: &Reply, as_json: bool, cancel: &CancellationToken) -> ControlFlow<Exit> {
    show(reply, as_json);
    match reply {
        Reply::Quit => ControlFlow::Break(Exit::Passed),
        _ if cancel.is_cancelled() => ControlFlow::Break(Exit::Environment),
        _ => ControlFlow::Continue(()),
    }
}

pub fn show(reply: &Reply, as_json: bool) {
    match (reply, as_json) {
        (Reply::Done { text, .. }, false) => print::data(text),
        (Reply::Done { value, .. }, true) => print::json_line(&json!({"ok": true, "answer": value})),
        (Reply::Failed { message, .. }, false) => print::error(message),
        (Reply::Failed { message, exit }, true) => {
            print::json_line(&json!({"ok": false, "error": message, "code": exit.code()}))
        }
        (Reply::Nothing | Reply::Quit, _) => {}
    }
}

/// Lines of standard input, read by a thread because a blocking read cannot be cancelled. It reads no further than it is
/// listened to.
fn lines() -> tokio::sync::mpsc::Receiver<String> {
    let (send, lines) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if send.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
