//! `trailblaze shell`.

use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use trailblaze_core::events::{EventSink, PicturePolicy};
use trailblaze_protocol::event::Event;
use trailblaze_protocol::exit::Exit;

use super::cassette::{CassetteArgs, save_cassettes};
use super::interrupt::told_to_stop;
use super::run::SimArgs;
use super::{Refusal, command_line, load, pairs};
use crate::devices::{DeviceArgs, DeviceSpec};
use crate::file_changes::FileChanges;
use crate::hot_swap;
use crate::lane::LaneSink;
use crate::print;
use crate::progress::Progress;
use crate::project::Loaded;
use crate::report;
use crate::run_folder::RunFolder;
use crate::shell::{Answer, Shell};
use crate::tool_servers::{Mode, Outlets, ToolServers};
use crate::wire::{self, NotOpened, Wiring};

const PROMPT: &str = "trailblaze> ";

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

pub async fn shell(project: Option<PathBuf>, args: ShellArgs) -> Result<Exit, Refusal> {
    let loaded = load(project, None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let device = args.on.device(&loaded, "a shell is")?;
    let is_person = std::io::stdin().is_terminal() && !args.json;
    on_device(Arc::clone(&loaded), &args.on, device, async |shell, wiring, cancel| {
        let root = &loaded.root;
        let conversing = converse(shell, is_person, args.json, cancel);
        if !args.watch {
            return Ok(conversing.await);
        }
        let changes = FileChanges::of(root, &args.on.logs(root));
        let mut changes = changes.map_err(|error| Refusal::cannot_watch(root, &error))?;
        // What is said of a swap comes where a person was asked for a line.
        let ask_again = || {
            if is_person {
                print::prompt(PROMPT)
            }
        };
        tokio::select! {
            exit = conversing => Ok(exit),
            never = hot_swap::follow(wiring, &mut changes, |_| {}, ask_again) => match never {},
        }
    })
    .await
}

/// Opens a device and a run folder, does what is to be done, and closes both.
pub async fn on_device(
    loaded: Arc<Loaded>,
    args: &OnDeviceArgs,
    device: DeviceSpec,
    explore: impl AsyncFnOnce(&mut Shell, &Wiring, &CancellationToken) -> Result<Exit, Refusal>,
) -> Result<Exit, Refusal> {
    let mut wiring = Wiring::new(&loaded, args.target.clone());
    wiring.show_browser(args.devices.headed);
    Refusal::unless_known(&wiring)?;
    wiring.secrets = Arc::new(wire::secrets(&loaded, &args.secret)?);
    wiring.pictures = PicturePolicy::Action;
    args.sim.apply(&mut wiring)?;
    let memory = pairs("memory", &args.memory)?;
    let cassettes = args.cassettes.open(&loaded)?;
    let logs = args.logs(&loaded.root);
    let folder = RunFolder::create(&logs)
        .map_err(|source| Refusal::Io { what: format!("cannot create a folder in `{}`", logs.display()), source })?;
    folder.emit(Event::RunStarted {
        command: command_line().map(|arg| wiring.secrets.redact(&arg).into_owned()).collect(),
        project: loaded.root.display().to_string(),
        seed: wiring.seed,
        trails: 0,
        shard: None,
    });
    let _ = report::write(&folder.path);
    let events = Arc::clone(&folder) as Arc<dyn EventSink>;
    let outlets = Outlets {
        events: Some(Arc::clone(&events)),
        progress: Some(Arc::new(Progress::new(false))),
        folder: Some(folder.path.clone()),
    };
    wiring.servers =
        ToolServers::new(&loaded, Mode::Start, &wiring.supervisor).with_outlets(outlets).with_cassettes(cassettes);
    let sink = Arc::new(LaneSink::new(device.id.clone(), events, Arc::new(Progress::new(true))));
    let target = wiring.target.clone();
    let session = match wiring.open_whole(&device, target.as_deref(), Arc::clone(&sink) as Arc<dyn EventSink>).await {
        Ok(session) => session,
        Err(NotOpened { session, error }) => {
            session.close(&error.to_string()).await;
            wiring.close().await;
            let _ = folder.finish(Exit::Environment, wiring.supervisor.leaked());
            return Err(Refusal::Environment { message: wiring.secrets.redact(&error.to_string()).into_owned() });
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
    let mut shell = Shell::open(session, sink, memory, target, cancel.clone());
    let explored = explore(&mut shell, &wiring, &cancel).await;
    shell.close().await;
    wiring.close().await;
    let kept = save_cassettes(&wiring.servers, cancel.is_cancelled(), |text| print::say(text));
    let explored = explored.map(|exit| exit.worst(kept));
    let exit = match &explored {
        Ok(exit) => *exit,
        Err(refusal) => refusal.exit(),
    };
    folder.finish(exit, wiring.supervisor.leaked()).map_err(|message| Refusal::Environment { message })?;
    let written = report::write(&folder.path).map_err(|error| Refusal::Environment { message: error.to_string() })?;
    if explored.is_ok() {
        print::say(format!("Report: {}", written.html.display()));
    }
    explored
}

/// Reads lines until they end. The worst of their answers is the shell's.
async fn converse(shell: &mut Shell, is_person: bool, as_json: bool, cancel: &CancellationToken) -> Exit {
    if is_person {
        print::say("`help` lists what you can say; `snapshot` shows the screen.");
    }
    let mut lines = lines(is_person);
    let mut worst = Exit::Passed;
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            () = told_to_stop() => None,
        };
        let Some(line) = line else { break };
        let answer = tokio::select! {
            answer = shell.line(&line) => answer,
            () = told_to_stop() => {
                cancel.cancel();
                Answer::Failed { message: "cancelled".into(), exit: Exit::Environment }
            }
        };
        match &answer {
            Answer::Quit => break,
            // A person tries things; only a script's failures are the shell's.
            Answer::Failed { exit, .. } if !is_person => worst = worst.worst(*exit),
            _ => {}
        }
        show(&answer, as_json);
        if cancel.is_cancelled() {
            break;
        }
        lines.next();
    }
    worst
}

pub fn show(answer: &Answer, as_json: bool) {
    match (answer, as_json) {
        (Answer::Done { text, .. }, false) => print::data(text),
        (Answer::Done { value, .. }, true) => print::data(json!({"ok": true, "answer": value})),
        (Answer::Failed { message, .. }, false) => print::error(message),
        (Answer::Failed { message, exit }, true) => {
            print::data(json!({"ok": false, "error": message, "code": exit.code()}))
        }
        (Answer::Nothing | Answer::Quit, _) => {}
    }
}

/// Lines of standard input, read by a thread because a blocking read cannot be cancelled.
struct Lines {
    lines: tokio::sync::mpsc::Receiver<String>,
    wanted: std::sync::mpsc::Sender<()>,
}

impl Lines {
    async fn recv(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    fn next(&self) {
        let _ = self.wanted.send(());
    }
}

fn lines(is_person: bool) -> Lines {
    let (send, lines) = tokio::sync::mpsc::channel(1);
    let (wanted, asked) = std::sync::mpsc::channel();
    let _ = wanted.send(());
    std::thread::spawn(move || {
        let stdin = std::io::stdin();
        while asked.recv().is_ok() {
            if is_person {
                print::prompt(PROMPT);
            }
            let mut line = String::new();
            match stdin.lock().read_line(&mut line) {
                Ok(n) if n > 0 && send.blocking_send(line).is_ok() => {}
                _ => return,
            }
        }
    });
    Lines { lines, wanted }
}
