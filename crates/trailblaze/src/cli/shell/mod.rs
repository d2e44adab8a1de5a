//! `trailblaze shell`.

mod complete;
mod history;
mod line_editor;
mod parse;

use std::io::{BufRead, IsTerminal};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::exit::Exit;

use super::cassette::CassetteArgs;
use super::device::DeviceArgs;
use super::interrupt::{Signals, Stop};
use super::run::SimArgs;
use super::{Context, Refusal, pairs};
use crate::output::print;
use crate::output::progress::Progress;
use crate::project::changes::FileChanges;
use crate::project::devices::DeviceSpec;
use crate::project::environment::Environment;
use crate::project::loaded::Loaded;
use crate::sessions::hot_swap;
use crate::sessions::interactive::{self, Closed, Interactive, InteractiveOptions, Reply};
use crate::sessions::wiring::{self, Wiring};
use complete::Vocabulary;
use history::{History, fit_to_keep};
use line_editor::{Heard, LineEditor};
use parse::{Line, help, parse};

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
    fn logs(&self, context: &Context, root: &Path) -> PathBuf {
        self.logs.as_ref().map_or_else(|| root.join("logs"), |logs| context.absolute(logs))
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
    on_device(context, &loaded, &args.on, device, async |session, wiring, cancel| {
        let root = &loaded.root;
        let conversing = async {
            if !is_person {
                return Ok(follow_script(session, args.json, cancel).await);
            }
            let exit = talk(session, &context.environment, cancel).await;
            if let Some(kept) = session.unsaved() {
                print::say(format!("The steps were not saved as a trail. They are kept in {}", kept.display()));
            }
            exit
        };
        if !args.watch {
            return conversing.await;
        }
        let changes = FileChanges::of(root, &args.on.logs(context, root));
        let mut changes = changes.map_err(|error| Refusal::cannot_watch(root, &error))?;
        tokio::select! {
            exit = conversing => exit,
            never = hot_swap::follow(wiring, &mut changes, |_| {}, || {}) => match never {},
        }
    })
    .await
}

/// Opens a session, does what is to be done in it, and closes it.
pub async fn on_device(
    context: &Context,
    loaded: &Arc<Loaded>,
    args: &OnDeviceArgs,
    device: DeviceSpec,
    explore: impl AsyncFnOnce(&mut Interactive, &Wiring, &CancellationToken) -> Result<Exit, Refusal>,
) -> Result<Exit, Refusal> {
    let options = InteractiveOptions {
        device,
        is_headed: args.devices.headed,
        target: args.target.clone(),
        memory: pairs("memory", &args.memory)?,
        secrets: args.secret.clone(),
        cassette: args.cassettes.wanted(),
        sim: args.sim.clone().into(),
        logs: args.logs(context, &loaded.root),
        current_dir: context.environment.current_dir().to_path_buf(),
        command: context.command_line(),
    };
    print::hide(&Arc::new(wiring::secrets(loaded, &args.secret)?));
    let console = Arc::new(Progress::new(false));
    let mut opened = interactive::open(loaded, &context.host(None), options, console).await?;
    let cancel = CancellationToken::new();
    let explored = explore(&mut opened.session, &opened.wiring, &cancel).await;
    let exit = match &explored {
        Ok(exit) => *exit,
        Err(refusal) => refusal.exit(),
    };
    let Closed { exit: stored, written } = opened.close(exit, cancel.is_cancelled()).await;
    let written = written.map_err(|message| Refusal::Environment { message })?;
    let explored = explored.map(|exit| exit.worst(stored));
    if explored.is_ok() {
        print::say(format!("Report: {}", written.html.display()));
    }
    explored
}

/// Talks with a person until they leave. They try things, so a call that fails is no failure of the shell.
async fn talk(
    session: &mut Interactive,
    environment: &Environment,
    cancel: &CancellationToken,
) -> Result<Exit, Refusal> {
    let (mut history, lines) = History::open(environment);
    let no_terminal = |error| Refusal::Environment { message: format!("cannot use the terminal: {error}") };
    let mut editor = LineEditor::open(lines).map_err(no_terminal)?;
    print::say("`help` lists what you can say; `snapshot` shows the screen.");
    let mut signals = Signals::listen();
    let mut last = None;
    loop {
        let asked = editor.next(vocabulary(session), last.take());
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
        last = fit_to_keep(session, &line);
        last.iter().for_each(|line| history.add(line));
        let reply = carry_out(session, &line, &mut signals, cancel, &cancel.child_token()).await;
        if let ControlFlow::Break(exit) = shown(&reply, false, cancel) {
            return Ok(exit);
        }
    }
}

/// Carries out the lines of standard input until they end. The worst of their replies is the shell's.
async fn follow_script(session: &mut Interactive, as_json: bool, cancel: &CancellationToken) -> Exit {
    let mut lines = lines();
    let mut signals = Signals::listen();
    let mut worst = Exit::Passed;
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            _ = signals.next() => None,
        };
        let Some(line) = line else { return worst };
        let reply = carry_out(session, &line, &mut signals, cancel, cancel).await;
        if let Said::Reply(Reply::Failed { exit, .. }) = &reply {
            worst = worst.worst(*exit);
        }
        if let ControlFlow::Break(exit) = shown(&reply, as_json, cancel) {
            return worst.worst(exit);
        }
    }
}

/// What a line of a shell came to.
enum Said {
    Reply(Reply),
    Quit,
    /// A blank line, or a comment.
    Nothing,
}

/// Carries out a line. Ctrl-C cancels `call` and SIGTERM `all`; either way the call ends by itself, and its reply says
/// that it was cancelled.
async fn carry_out(
    session: &mut Interactive,
    line: &str,
    signals: &mut Signals,
    all: &CancellationToken,
    call: &CancellationToken,
) -> Said {
    let command = match parse(line) {
        Ok(Some(Line::Command(command))) => command,
        Ok(Some(Line::Help)) => return Said::Reply(Reply::Done { text: help(), value: json!(help()) }),
        Ok(Some(Line::Quit)) => return Said::Quit,
        Ok(None) => return Said::Nothing,
        // A message may repeat what was typed.
        Err(error) => {
            let message = session.secrets().redact(&error.to_string()).into_owned();
            return Said::Reply(Reply::Failed { message, exit: Exit::Invalid });
        }
    };
    let reply = session.execute(command, call);
    tokio::pin!(reply);
    loop {
        tokio::select! {
            reply = &mut reply => return Said::Reply(reply),
            stop = signals.next() => match stop {
                Stop::Interrupt => call.cancel(),
                Stop::Terminate | Stop::Hangup => all.cancel(),
            },
        }
    }
}

/// Shows a reply, and says whether the shell ends with it.
fn shown(said: &Said, as_json: bool, cancel: &CancellationToken) -> ControlFlow<Exit> {
    if let Said::Reply(reply) = said {
        show(reply, as_json);
    }
    match said {
        Said::Quit => ControlFlow::Break(Exit::Passed),
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
    }
}

/// What can be completed on the next line.
fn vocabulary(session: &Interactive) -> Vocabulary {
    Vocabulary::new(&session.registry(), session.last_snapshot().unwrap_or_default())
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
