//! `trailblaze session`: the sessions that the daemon keeps open.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;
use trailblaze_core::trail::Merge;
use trailblaze_protocol::exit::Exit;

use super::in_session::{SessionArgs, execute_in, show_all, unexpected};
use super::serve::unused;
use super::{Context, Refusal};
use crate::files::private;
use crate::output::print;
use crate::sessions::interactive::{InteractiveCommand, Save};
use crate::sessions::service::{
    ReplayRequest, ServiceAnswer, ServiceRequest, SessionAccess, SessionChoice, SessionInfo,
};

/// List, save, replay and end the sessions that stay open between commands
#[derive(Args)]
pub struct SessionCommand {
    #[command(subcommand)]
    verb: SessionVerb,
}

#[derive(Subcommand)]
enum SessionVerb {
    /// List the open sessions
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the steps of a session, with the numbers by which `save` and `replay` choose some of them
    Show {
        #[command(flatten)]
        which: Which,
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Save the steps of a session as a trail
    Save {
        /// The trail's file
        file: PathBuf,
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        stretch: Stretch,
        /// Add the steps behind the last one of an existing trail
        #[arg(long, conflicts_with = "force")]
        append: bool,
        /// Replace the steps of an existing trail, but keep comments and what other devices have
        #[arg(long)]
        force: bool,
        /// The title of a new trail [default: from the file's name]
        #[arg(long, value_name = "WORDS")]
        title: Option<String>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove the last step; the device is not changed
    Undo {
        #[command(flatten)]
        which: Which,
        /// Remove only the last call of the step
        #[arg(long)]
        call: bool,
        /// Print what was removed as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run the steps of a session from their start, on its device or another one
    Replay {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        stretch: Stretch,
        /// Run them on this device instead, such as web/chromium; it is opened for the replay
        #[arg(long, value_name = "DEVICE")]
        on: Option<String>,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// End a session and its device; what it recorded stays in its run folder
    Close {
        /// The session [default: the one of this project]
        name: Option<String>,
        #[command(flatten)]
        which: Which,
        /// End all sessions of all projects
        #[arg(long)]
        all: bool,
        /// Print each ended session as one line of JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the key of a session to a file, for programs that use it through the typed API
    Key {
        /// The file, which only you can read
        file: PathBuf,
        #[command(flatten)]
        which: Which,
        /// Print address, key file, session and device as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Which session a command is about.
#[derive(Args)]
struct Which {
    #[command(flatten)]
    session: SessionArgs,
    /// The session on this device
    #[arg(short, long, value_name = "DEVICE", env = "TRAILBLAZE_DEVICE")]
    device: Option<String>,
}

impl Which {
    fn choice(&self, context: &Context) -> SessionChoice {
        context.choice(&self.session, self.device.as_slice())
    }
}

#[derive(Args)]
struct Stretch {
    /// The first step, by its number in `session show`; the trailhead is left out
    #[arg(long, value_name = "N")]
    from: Option<usize>,
    /// The last step
    #[arg(long, value_name = "N")]
    to: Option<usize>,
}

pub async fn session(context: &Context, command: SessionCommand) -> Result<Exit, Refusal> {
    match command.verb {
        SessionVerb::List { json } => list(context, json).await,
        SessionVerb::Show { which, json } => {
            let replies = execute_in(context, which.choice(context), vec![InteractiveCommand::Steps]).await?;
            Ok(show_all(&replies, json))
        }
        SessionVerb::Save { file, which, stretch: Stretch { from, to }, append, force, title, json } => {
            let merge = match (append, force) {
                (true, _) => Some(Merge::Append),
                (_, true) => Some(Merge::Replace),
                _ => None,
            };
            let save = InteractiveCommand::Save(Save { path: file, merge, title, from, to, is_own: false });
            Ok(show_all(&execute_in(context, which.choice(context), vec![save]).await?, json))
        }
        SessionVerb::Undo { which, call, json } => {
            let undo = if call { InteractiveCommand::Undo } else { InteractiveCommand::UndoStep };
            Ok(show_all(&execute_in(context, which.choice(context), vec![undo]).await?, json))
        }
        SessionVerb::Replay { which, stretch: Stretch { from, to }, on, json } => {
            let client = context.place();
            let request = ReplayRequest { session: which.choice(context), client, device: on, from, to };
            replay(context, request, json).await
        }
        SessionVerb::Close { name, which, all, json } => close(context, name, &which, all, json).await,
        SessionVerb::Key { file, which, json } => key(context, file, which.choice(context), json).await,
    }
}

async fn list(context: &Context, as_json: bool) -> Result<Exit, Refusal> {
    // A daemon that does not run has no sessions, and need not be started to say so.
    let sessions = match context.daemon()?.ask_running(ServiceRequest::Sessions).await.transpose()? {
        Some(ServiceAnswer::Sessions(sessions)) => sessions,
        Some(other) => return Err(unexpected(&other)),
        None => Vec::new(),
    };
    if as_json {
        print::json(&sessions);
        return Ok(Exit::Passed);
    }
    if sessions.is_empty() {
        print::say("no sessions are open; `trailblaze device connect` opens one");
    }
    sessions.iter().for_each(|session| print::data(line(session)));
    Ok(Exit::Passed)
}

pub fn line(session: &SessionInfo) -> String {
    let SessionInfo { name, device, project, .. } = session;
    let idle = humantime::format_duration(Duration::from_secs(session.idle_seconds));
    let lost = if session.lost.is_some() { ", its device was lost" } else { "" };
    let steps = print::count(session.steps, "step");
    format!("{name:<28} {device:<18} {steps}, used {idle} ago{lost}  {}", project.display())
}

async fn replay(context: &Context, request: ReplayRequest, as_json: bool) -> Result<Exit, Refusal> {
    match context.ask(ServiceRequest::Replay(request)).await? {
        ServiceAnswer::Ran(ran) => {
            match (as_json, ran.exit) {
                (true, _) => print::json(&ran),
                (_, Exit::Passed) => print::data(&ran.text),
                _ => print::error(&ran.text),
            }
            Ok(ran.exit)
        }
        other => Err(unexpected(&other)),
    }
}

async fn close(
    context: &Context,
    name: Option<String>,
    which: &Which,
    all: bool,
    as_json: bool,
) -> Result<Exit, Refusal> {
    let daemon = context.daemon()?;
    let mut choices =
        vec![SessionChoice { name: name.clone().or(which.session.session.clone()), ..which.choice(context) }];
    if all {
        choices = match daemon.ask_running(ServiceRequest::Sessions).await.transpose()? {
            Some(ServiceAnswer::Sessions(sessions)) => {
                let choice = |info: SessionInfo| SessionChoice {
                    name: Some(info.name),
                    project: Some(info.project),
                    device: None,
                };
                sessions.into_iter().map(choice).collect()
            }
            _ => Vec::new(),
        };
    }
    for session in choices {
        let answer = match daemon.ask_running(ServiceRequest::Close { session }).await.transpose()? {
            Some(answer) => answer,
            None => return Err(Refusal::usage("no session is open")),
        };
        let ServiceAnswer::Closed(closed) = answer else { return Err(unexpected(&answer)) };
        if as_json {
            print::json_line(&json!(closed));
            continue;
        }
        print::data(format!("closed session `{}`", closed.name));
        if let Some(unsaved) = &closed.unsaved {
            print::say(format!("The steps were not saved as a trail; they are recorded in {}", unsaved.display()));
        }
        if let Some(report) = &closed.report {
            print::say(format!("Report: {}", report.display()));
        }
    }
    Ok(Exit::Passed)
}

async fn key(context: &Context, file: PathBuf, session: SessionChoice, as_json: bool) -> Result<Exit, Refusal> {
    let answer = context.ask(ServiceRequest::Access { session }).await?;
    let ServiceAnswer::Access(SessionAccess { address, key, session, device, .. }) = answer else {
        return Err(unexpected(&answer));
    };
    let path = unused(context.absolute(&file))?;
    let failed = |source| Refusal::Io { what: format!("cannot write `{}`", path.display()), source };
    private::write(&path, format!("{key}\n")).map_err(failed)?;
    match as_json {
        true => print::json(&json!({"address": address, "keyFile": path, "session": session, "device": device})),
        false => print::data(format!("{device} is served at {address}\nThe session's key is in {}", path.display())),
    }
    Ok(Exit::Passed)
}
