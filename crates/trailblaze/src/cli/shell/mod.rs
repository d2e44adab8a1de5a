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

use super::agent_args::AgentArgs;
use super::cassette::CassetteArgs;
use super::interrupt::{Signals, StopSignal};
use super::sim_args::SimArgs;
use super::{Context, Refusal, pairs};
use crate::output::print;
use crate::output::progress::Progress;
use crate::project::changes::FileChanges;
use crate::project::devices::DeviceSpec;
use crate::project::environment::Environment;
use crate::project::loaded::Loaded;
use crate::sessions::hot_swap;
use crate::sessions::interactive::{
    self, ClosedInteractive, CommandReply, Interactive, InteractiveCommand, InteractiveOptions, Usage,
};
use crate::sessions::wiring::{self, Wiring};
use complete::CompletionWords;
use history::{ShellHistory, fit_to_keep};
use line_editor::{LineEditor, ShellInput};
use parse::help;
pub use parse::{ShellLine, parse};

/// Explore a device interactively, or by commands from standard input, and save the steps as a trail
#[derive(Args)]
pub struct ShellArgs {
    #[command(flatten)]
    on: OnDeviceArgs,
    /// Answer each line with one line of JSON
    #[arg(long)]
    json: bool,
    /// Hot-swap tools whose files change, and print how they differ
    #[arg(long)]
    watch: bool,
    /// Start this app first, by its id
    #[arg(long, value_name = "APP")]
    launch: Option<String>,
}

/// Options shared by `shell`, `tool` and `serve`: one device, and a run folder for its session.
#[derive(Args, Default)]
pub struct OnDeviceArgs {
    /// Use this device, written platform/name, such as android/sim-1, or the only one of a platform
    #[arg(short, long = "device", value_name = "DEVICE", value_delimiter = ',', env = "TRAILBLAZE_DEVICE")]
    pub device: Vec<String>,
    /// Show the browser window of a web device
    #[arg(long)]
    pub headed: bool,
    /// The app under test, by its id in trailblaze-config/targets [default: the project's target]
    #[arg(long, env = "TRAILBLAZE_TARGET")]
    pub target: Option<String>,
    /// Set a value in memory before the start, as name=value
    #[arg(long, value_name = "NAME=VALUE")]
    pub memory: Vec<String>,
    /// Use an environment variable as a secret: {{NAME}} types its value, which is never shown
    #[arg(long, value_name = "NAME")]
    pub secret: Vec<String>,
    #[command(flatten)]
    pub cassettes: CassetteArgs,
    #[command(flatten)]
    pub agent: AgentArgs,
    #[command(flatten)]
    pub sim: SimArgs,
    /// Create run folders here [default: logs/ in the project]
    #[arg(long, value_name = "DIR")]
    pub logs: Option<PathBuf>,
}

impl OnDeviceArgs {
    /// A device, and nothing else.
    pub fn on(device: Vec<String>, headed: bool) -> OnDeviceArgs {
        OnDeviceArgs { device, headed, ..OnDeviceArgs::default() }
    }

    /// Whether options are given that only apply when a session is opened.
    pub fn has_options(&self) -> bool {
        let agent = self.agent.options().map_or(true, |agent| agent != Default::default());
        self.headed
            || agent
            || self.target.is_some()
            || !self.memory.is_empty()
            || !self.secret.is_empty()
            || self.cassettes.cassette.is_some()
            || self.sim.seed.is_some()
            || !self.sim.settings.is_empty()
            || self.logs.is_some()
    }

    /// The folder in which run folders are created.
    fn logs(&self, context: &Context, root: &Path) -> PathBuf {
        self.logs.as_ref().map_or_else(|| root.join("logs"), |logs| context.absolute(logs))
    }

    /// The first device, for callers that only need its kind.
    pub fn first(&self, loaded: &Loaded) -> Result<DeviceSpec, Refusal> {
        Ok(loaded.devices(&self.device)?.remove(0))
    }

    /// The selected device; fails if there are several.
    pub async fn device(&self, context: &Context, loaded: &Arc<Loaded>, what: &str) -> Result<DeviceSpec, Refusal> {
        let mut devices = loaded.devices(&context.resolve_devices(loaded, &self.device).await?)?;
        if devices.len() == 1 {
            return Ok(devices.remove(0));
        }
        let hint = Some(format!("choose one, such as `-d {}`", devices[0].id));
        Err(Refusal::Usage { message: format!("{what} one device"), hint })
    }
}

pub async fn shell(context: &Context, args: ShellArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    let device = args.on.device(context, &loaded, "`trailblaze shell` uses").await?;
    let is_person = std::io::stdin().is_terminal() && !args.json;
    on_device(context, &loaded, &args.on, (Usage::Shell, device), async |session, wiring, cancel| {
        let root = &loaded.root;
        let conversing = async {
            if let Some(app) = &args.launch {
                let launched = session.execute(InteractiveCommand::launch(app), cancel).await;
                if let CommandReply::Failed { exit, .. } = &launched {
                    show(&launched, args.json);
                    return Ok(*exit);
                }
            }
            if !is_person {
                return Ok(follow_script(session, args.json, cancel).await);
            }
            let exit = talk(session, &context.environment, cancel).await;
            if let Some(kept) = session.unsaved() {
                print::say(format!("The steps were not saved as a trail; they are recorded in {}", kept.display()));
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

/// Opens a session, runs `explore` in it, and closes it.
pub async fn on_device(
    context: &Context,
    loaded: &Arc<Loaded>,
    args: &OnDeviceArgs,
    (usage, device): (Usage, DeviceSpec),
    explore: impl AsyncFnOnce(&mut Interactive, &Wiring, &CancellationToken) -> Result<Exit, Refusal>,
) -> Result<Exit, Refusal> {
    let secrets = wiring::secrets(loaded, &args.secret)?;
    print::hide(&secrets);
    let options = InteractiveOptions {
        usage,
        device,
        is_headed: args.headed,
        target: args.target.clone(),
        memory: pairs("memory", &args.memory)?,
        secrets,
        agent: args.agent.options()?,
        cassette: args.cassettes.wanted(),
        sim: args.sim.clone().into(),
        logs: args.logs(context, &loaded.root),
        current_dir: context.environment.current_dir().to_path_buf(),
        command: context.command_line(),
    };
    let console = Arc::new(Progress::new(false));
    let mut opened = interactive::open(loaded, &context.host(None), options, console).await?;
    let cancel = CancellationToken::new();
    let explored = explore(&mut opened.session, &opened.wiring, &cancel).await;
    let exit = match &explored {
        Ok(exit) => *exit,
        Err(refusal) => refusal.exit(),
    };
    let ClosedInteractive { exit: stored, written } = opened.close(exit, cancel.is_cancelled()).await;
    let written = written.map_err(|message| Refusal::Environment { message })?;
    let explored = explored.map(|exit| exit.worst(stored));
    if explored.is_ok() {
        print::say(format!("Report: {}", written.html.display()));
    }
    explored
}

/// Serves an interactive user until they quit. Failed calls are part of exploring, so they do not fail the shell.
async fn talk(
    session: &mut Interactive,
    environment: &Environment,
    cancel: &CancellationToken,
) -> Result<Exit, Refusal> {
    let (mut history, lines) = ShellHistory::open(environment);
    let no_terminal = |error| Refusal::Environment { message: format!("cannot use the terminal: {error}") };
    let mut editor = LineEditor::open(lines).map_err(no_terminal)?;
    print::say("`help` lists the commands; `snapshot` shows the screen.");
    let mut signals = Signals::listen();
    let mut last = None;
    loop {
        let asked = editor.next(vocabulary(session), last.take());
        tokio::pin!(asked);
        let heard = loop {
            tokio::select! {
                heard = &mut asked => break heard,
                told = signals.next() => match told {
                    // The editor handles the key itself; a signal sent from outside has no call to cancel here.
                    StopSignal::Interrupt => {}
                    StopSignal::Terminate | StopSignal::Hangup => return Ok(Exit::Environment),
                },
            }
        };
        let line = match heard {
            ShellInput::Line(line) => line,
            ShellInput::Interrupted => continue,
            ShellInput::End => return Ok(Exit::Passed),
        };
        last = fit_to_keep(session, &line);
        last.iter().for_each(|line| history.add(line));
        let reply = carry_out(session, &line, &mut signals, cancel, &cancel.child_token()).await;
        if let ControlFlow::Break(exit) = shown(&reply, false, cancel) {
            return Ok(exit);
        }
    }
}

/// Executes the lines of standard input until they end. The shell's exit code is the worst of their replies.
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
        if let Said::Reply(CommandReply::Failed { exit, .. }) = &reply {
            worst = worst.worst(*exit);
        }
        if let ControlFlow::Break(exit) = shown(&reply, as_json, cancel) {
            return worst.worst(exit);
        }
    }
}

/// The result of a line of the shell.
enum Said {
    Reply(CommandReply),
    Quit,
    /// A blank line, or a comment.
    Nothing,
}

/// Executes a line. Ctrl-C cancels `call` and SIGTERM `all`; in both cases the call returns, and its reply states that
/// it was cancelled.
async fn carry_out(
    session: &mut Interactive,
    line: &str,
    signals: &mut Signals,
    all: &CancellationToken,
    call: &CancellationToken,
) -> Said {
    let command = match parse(line) {
        Ok(Some(ShellLine::Command(command))) => command,
        Ok(Some(ShellLine::Help)) => return Said::Reply(CommandReply::Done { text: help(), value: json!(help()) }),
        Ok(Some(ShellLine::Quit)) => return Said::Quit,
        Ok(None) => return Said::Nothing,
        // A message may repeat the user's input.
        Err(error) => {
            let message = session.secrets().redact(&error.to_string()).into_owned();
            return Said::Reply(CommandReply::Failed { message, exit: Exit::Invalid });
        }
    };
    let reply = session.execute(command, call);
    tokio::pin!(reply);
    loop {
        tokio::select! {
            reply = &mut reply => return Said::Reply(reply),
            stop = signals.next() => match stop {
                StopSignal::Interrupt => call.cancel(),
                StopSignal::Terminate | StopSignal::Hangup => all.cancel(),
            },
        }
    }
}

/// Prints a reply, and returns whether the shell ends with it.
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

pub fn show(reply: &CommandReply, as_json: bool) {
    match (reply, as_json) {
        (CommandReply::Done { text, .. }, false) => {
            print::data(text);
            for remark in reply.remarks() {
                print::say(remark);
            }
        }
        (CommandReply::Done { value, .. }, true) => print::json_line(&json!({"ok": true, "answer": value})),
        (CommandReply::Failed { message, .. }, false) => print::error(message),
        (CommandReply::Failed { message, exit }, true) => {
            print::json_line(&json!({"ok": false, "error": message, "code": exit.code()}))
        }
    }
}

/// The words that can be completed on the next line.
fn vocabulary(session: &Interactive) -> CompletionWords {
    CompletionWords::new(&session.registry(), session.last_snapshot().unwrap_or_default())
}

/// Lines of standard input, read by a thread because a blocking read cannot be cancelled. It reads ahead no further
/// than the receiver consumes.
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
