//! `trailblaze record`: records what a person does in the window of a browser.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use serde_json::{Value, json};
use tokio::time::sleep;
use trailblaze_protocol::driver::Platform;
use trailblaze_protocol::event::StepKind;
use trailblaze_protocol::exit::Exit;

use super::in_session::{self, SessionArgs, unexpected};
use super::interrupt::Signals;
use super::record_check::{self, ReplayCheck};
use super::shell::OnDeviceArgs;
use super::{Context, Refusal};
use crate::output::print;
use crate::project::providers::default_device;
use crate::sessions::interactive::{CommandReply, InteractiveCommand, Save};
use crate::sessions::service::{ExecuteRequest, OpenRequest, ServiceAnswer, ServiceRequest, SessionChoice};

/// How often the session is asked for new steps.
const EVERY: Duration = Duration::from_millis(250);

/// Open a page in a browser window, and record what you do there as a trail
///
/// Each click, text and key becomes a step, also in frames and new tabs. A bar in the window pauses, adds checks and undoes. Ctrl-C, the bar's
/// Finish, or closing the window ends the recording and saves the trail. What is typed into a password field is not recorded: the trail
/// contains the name of a secret instead.
#[derive(Args)]
pub struct RecordArgs {
    /// The page to open first
    #[arg(long, value_name = "URL")]
    url: String,
    /// Save the steps as this trail [default: trails/recorded-TIME.trail.yaml]
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// The title of the trail [default: from the file's name]
    #[arg(long, value_name = "WORDS")]
    title: Option<String>,
    /// Add an assertion after each step that made something appear
    #[arg(long)]
    assertions: bool,
    /// Use this device [default: the project's first browser, or web/chromium]
    #[arg(short, long, value_name = "DEVICE", env = "TRAILBLAZE_DEVICE")]
    device: Option<String>,
    /// Use an environment variable as a secret: where its value is typed, the trail contains {{NAME}}
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    /// The app under test, by its id in trailblaze-config/targets [default: the project's target]
    #[arg(long, env = "TRAILBLAZE_TARGET")]
    target: Option<String>,
    /// Replay the recording once at the end, on a fresh page, and mark the step that does not hold. It repeats what you did
    #[arg(long, overrides_with = "no_verify")]
    verify: bool,
    /// Do not replay it, even if the project says so
    #[arg(long)]
    no_verify: bool,
    /// Print the trail's path, its steps and its secrets as JSON at the end
    #[arg(long)]
    json: bool,
    /// Record without a window, for tests that provide the input
    #[arg(long, hide = true)]
    headless: bool,
}

pub async fn record(context: &Context, args: RecordArgs) -> Result<Exit, Refusal> {
    let file = file(context, args.save.as_deref())?;
    let device = match args.device {
        Some(device) => device,
        None => browser(context)?,
    };
    let on = OnDeviceArgs {
        secret: args.secret.clone(),
        target: args.target.clone(),
        ..OnDeviceArgs::on(vec![device.clone()], !args.headless)
    };
    // From now on, no request to stop is lost.
    let mut signals = Signals::listen();
    let request = in_session::open_request(context, &on, &SessionArgs::default())?;
    let asserts_what_appears = args.assertions;
    let request = OpenRequest { follows_person: true, asserts_what_appears, ends_in_window: true, ..request };
    let info = in_session::open(context, request).await?;
    let mut recording = HandRecording {
        context,
        session: SessionChoice { name: Some(info.name), project: Some(info.project), device: None },
        n_shown: 0,
        is_quiet: args.json,
    };
    let text = format!("Open {}", args.url);
    recording.execute(InteractiveCommand::Step { kind: StepKind::Trailhead, text }).await?;
    if let Some(CommandReply::Failed { message, exit }) =
        recording.execute(InteractiveCommand::launch(&args.url)).await?
    {
        recording.close().await?;
        print::error(message);
        let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| context.environment.var(name).is_some());
        if cfg!(target_os = "linux") && !has_display && !args.headless {
            print::hint(
                "a window needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set; `xvfb-run` provides one",
            );
        }
        return Ok(exit);
    }
    print::say("Recording what you do in the browser window. Ctrl-C, or closing the window, ends it.");
    loop {
        tokio::select! {
            _ = signals.next() => break,
            () = sleep(EVERY) => {}
        }
        recording.show().await?;
        if recording.has_ended().await? {
            break;
        }
    }
    let save = Save { path: file.clone(), merge: None, title: args.title, from: None, to: None, is_own: false };
    let saved = recording.execute(InteractiveCommand::Save(save)).await?;
    let steps = recording.show().await?;
    let said = match saved {
        Some(CommandReply::Done { text, .. }) => text,
        Some(CommandReply::Failed { message, exit }) => {
            print::error(message);
            print::hint("the session stays open; `trailblaze session save FILE` saves its steps");
            return Ok(exit);
        }
        None => return Err(Refusal::Environment { message: "the daemon did not reply".to_string() }),
    };
    recording.close().await?;
    let secrets = secrets(&steps);
    let mut run = format!("trailblaze run {}", file.display());
    secrets.iter().for_each(|name| run.push_str(&format!(" --secret {name}")));
    if !args.json {
        print::data(said);
    }
    let has_secrets = secrets.iter().all(|name| context.environment.var(name).is_some());
    let checked = match record_check::is_wanted(context, (args.verify, args.no_verify))? {
        true if !has_secrets => {
            print::warning("it was not replayed, because its secrets are not set in the environment");
            None
        }
        true => {
            let names = secrets.iter().chain(&args.secret).cloned().collect::<BTreeSet<_>>().into_iter().collect();
            Some(record_check::check(context, &file, &device, (args.target, names)).await?)
        }
        false => None,
    };
    let exit = checked.as_ref().map_or(Exit::Passed, |checked| checked.exit);
    if args.json {
        let verified = checked.as_ref().map(ReplayCheck::json);
        print::json(&json!({"saved": file, "steps": steps, "secrets": secrets, "run": run, "verified": verified}));
        return Ok(exit);
    }
    checked.iter().for_each(|checked| checked.print(&file));
    if !secrets.is_empty() {
        let names = secrets.iter().cloned().collect::<Vec<_>>().join(", ");
        print::say(format!("Secrets were typed and not recorded. Set {names} in the environment before a run."));
    }
    print::say(format!("`{run}` runs it."));
    Ok(exit)
}

/// The session that is recorded.
struct HandRecording<'c> {
    context: &'c Context,
    session: SessionChoice,
    n_shown: usize,
    is_quiet: bool,
}

impl HandRecording<'_> {
    /// Ctrl-C does not cancel these requests: it ends the recording.
    async fn ask(&self, request: ServiceRequest) -> Result<ServiceAnswer, Refusal> {
        let answer = self.context.daemon()?.ask_running(request).await;
        let gone = || Refusal::Environment { message: "the daemon was stopped, and the session with it".to_string() };
        Ok(answer.ok_or_else(gone)??)
    }

    async fn execute(&self, command: InteractiveCommand) -> Result<Option<CommandReply>, Refusal> {
        let current_dir = Some(self.context.environment.current_dir().to_path_buf());
        let request =
            ExecuteRequest { session: self.session.clone(), current_dir, commands: vec![command], opening: None };
        match self.ask(ServiceRequest::Execute(request)).await? {
            ServiceAnswer::Replies(mut replies) => Ok(replies.pop()),
            other => Err(unexpected(&other)),
        }
    }

    /// Prints the new steps. Returns all of them.
    async fn show(&mut self) -> Result<Vec<Value>, Refusal> {
        let Some(CommandReply::Done { value: Value::Array(steps), .. }) =
            self.execute(InteractiveCommand::Steps).await?
        else {
            return Ok(Vec::new());
        };
        for step in steps.iter().skip(self.n_shown).filter(|_| !self.is_quiet) {
            let text = step["text"].as_str().unwrap_or_default();
            let kind = match step["kind"].as_str() {
                Some(kind @ ("verify" | "trailhead")) => format!("{kind}: "),
                _ => String::new(),
            };
            let number = step["number"].as_u64().map(|number| format!("{number}. ")).unwrap_or_default();
            print::data(format!("{number}{kind}{text}"));
            if let Some(why) = step["mayNotHold"].as_str() {
                print::data(format!("   may not hold when it is replayed: {why}"));
            }
        }
        self.n_shown = steps.len();
        Ok(steps)
    }

    /// Whether the window was closed, or the session was.
    async fn has_ended(&self) -> Result<bool, Refusal> {
        match self.ask(ServiceRequest::Sessions).await? {
            ServiceAnswer::Sessions(sessions) => {
                let own = sessions.iter().find(|info| Some(&info.name) == self.session.name.as_ref());
                Ok(own.is_none_or(|info| info.lost.is_some()))
            }
            other => Err(unexpected(&other)),
        }
    }

    async fn close(&self) -> Result<(), Refusal> {
        self.ask(ServiceRequest::Close { session: self.session.clone() }).await.map(drop)
    }
}

/// The trail's file, relative to the current folder if it is in it.
fn file(context: &Context, wanted: Option<&Path>) -> Result<PathBuf, Refusal> {
    let file = match wanted {
        Some(file) => context.absolute(file),
        None => {
            let time = humantime::format_rfc3339_seconds(SystemTime::now().max(SystemTime::UNIX_EPOCH)).to_string();
            let digits: String = time.chars().filter(char::is_ascii_digit).collect();
            let (date, time) = digits.split_at(8);
            context.root(Path::new(".")).join(format!("trails/recorded-{date}-{time}.trail.yaml"))
        }
    };
    if file.exists() {
        let message = format!("`{}` exists", file.display());
        return Err(Refusal::Usage { message, hint: Some("choose another file for `--save`".to_string()) });
    }
    let current_dir = context.environment.current_dir();
    Ok(file.strip_prefix(current_dir).map(Path::to_path_buf).unwrap_or(file))
}

/// The first browser of the project.
fn browser(context: &Context) -> Result<String, Refusal> {
    let loaded = context.load(None)?;
    let devices = loaded.all_devices()?;
    let own = devices.iter().find(|device| device.follows_person).map(|device| device.id.to_string());
    Ok(own.unwrap_or_else(|| default_device(Platform::Web).to_string()))
}

/// The secrets that a run needs.
fn secrets(steps: &[Value]) -> BTreeSet<String> {
    let calls = steps.iter().filter_map(|step| step["calls"].as_array()).flatten();
    let values = calls.filter_map(|call| call.pointer("/web_fillSecret/value").and_then(Value::as_str));
    values.filter_map(|value| Some(value.strip_prefix("{{")?.strip_suffix("}}")?.to_string())).collect()
}
