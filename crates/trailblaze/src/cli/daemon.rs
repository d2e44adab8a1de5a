//! `trailblaze daemon`: the process that keeps sessions open.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use super::in_session::unexpected;
use super::interrupt::told_to_stop;
use super::session::line;
use super::{Context, Refusal};
use crate::daemon::{HostOptions, daemon_variables, host};
use crate::output::print;
use crate::sessions::service::{ServiceAnswer, ServiceRequest};

/// How long a daemon waits for requests, unless TRAILBLAZE_DAEMON_IDLE says otherwise; and if nothing is open.
const IDLE: Duration = Duration::from_secs(60 * 60);
const IDLE_EMPTY: Duration = Duration::from_secs(5 * 60);

/// See and end the background process that keeps sessions open between commands
///
/// Commands that use a session start it. It ends by itself after an hour without a request, or after 5 minutes if nothing is open.
#[derive(Args)]
pub struct DaemonCommand {
    #[command(subcommand)]
    verb: DaemonVerb,
}

#[derive(Subcommand)]
enum DaemonVerb {
    /// Serve clients; commands start this by themselves
    #[command(hide = true)]
    Run,
    /// Show whether it runs, its address and its sessions
    Status {
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// End it and all of its sessions; what they recorded stays in their run folders
    Stop,
    /// Print its log
    Logs {
        /// Print only the last N lines
        #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
        lines: usize,
    },
}

pub async fn daemon(context: &Context, command: DaemonCommand) -> Result<Exit, Refusal> {
    match command.verb {
        DaemonVerb::Run => run(context).await,
        DaemonVerb::Status { json } => status(context, json).await,
        DaemonVerb::Stop => stop(context).await,
        DaemonVerb::Logs { lines } => logs(context, lines),
    }
}

async fn run(context: &Context) -> Result<Exit, Refusal> {
    let time = |name: &str| context.environment.text(name).and_then(|text| humantime::parse_duration(text).ok());
    let idle = time("TRAILBLAZE_DAEMON_IDLE").unwrap_or(IDLE);
    let port = context.environment.text("TRAILBLAZE_PORT").and_then(|port| port.parse().ok());
    let options = HostOptions {
        files: context.daemon()?.files().clone(),
        version: context.version.clone(),
        compiled_in: context.environment.compiled_in().clone(),
        idle,
        idle_empty: idle.min(IDLE_EMPTY),
        port,
        variables: daemon_variables(&context.environment),
        log: context.environment.text("TRAILBLAZE_LOG").map(str::to_string),
    };
    match host(options, told_to_stop()).await {
        Ok(()) => Ok(Exit::Passed),
        Err(error) => Err(Refusal::Environment { message: error.to_string() }),
    }
}

async fn status(context: &Context, as_json: bool) -> Result<Exit, Refusal> {
    let client = context.daemon()?;
    let Some(answer) = client.ask_running(ServiceRequest::Status).await else {
        match as_json {
            true => print::json(&json!({"isRunning": false})),
            false => print::data("the daemon is not running; commands that need it start it"),
        }
        return Ok(Exit::Passed);
    };
    let answer = answer?;
    let ServiceAnswer::Status(status) = answer else { return Err(unexpected(&answer)) };
    if as_json {
        let mut value = json!(status);
        value["isRunning"] = true.into();
        print::json(&value);
        return Ok(Exit::Passed);
    }
    let age = humantime::format_duration(Duration::from_secs(status.age_seconds));
    print::data(format!("process {} at {}, since {age}, version {}", status.pid, status.address, status.version));
    print::data(format!("log: {}", status.log.display()));
    print::data(print::count(status.sessions.len(), "session"));
    status.sessions.iter().for_each(|session| print::data(format!("  {}", line(session))));
    Ok(Exit::Passed)
}

async fn stop(context: &Context) -> Result<Exit, Refusal> {
    let client = context.daemon()?;
    match client.ask_running(ServiceRequest::Stop).await {
        None => print::data("the daemon is not running"),
        // It may end before its answer arrives.
        Some(_) => {
            client.ended().await?;
            print::data("the daemon has ended");
        }
    }
    Ok(Exit::Passed)
}

fn logs(context: &Context, n_lines: usize) -> Result<Exit, Refusal> {
    let path = context.daemon()?.files().log();
    let text = match std::fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            print::say(format!("there is no log yet: {}", path.display()));
            return Ok(Exit::Passed);
        }
        Err(source) => return Err(Refusal::Io { what: format!("cannot read `{}`", path.display()), source }),
    };
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(n_lines)..].iter().for_each(print::data);
    Ok(Exit::Passed)
}
