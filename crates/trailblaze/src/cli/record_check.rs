//! Replays a trail that was just recorded, once, and marks the step that does not hold.

use std::fs;
use std::io::{BufRead, IsTerminal, stderr, stdin};
use std::path::Path;

use serde_json::{Value, json};
use trailblaze_core::config::VerifyWord;
use trailblaze_protocol::exit::Exit;

use super::in_session::unexpected;
use super::{Context, Refusal};
use crate::files::write_in_project;
use crate::output::print;
use crate::sessions::interactive::mark_failed;
use crate::sessions::service::{Ran, RunRequest, ServiceAnswer, ServiceRequest};

/// How a replay of a recording ended.
pub struct ReplayCheck {
    pub exit: Exit,
    /// Why it did not hold: the first line of the message, and the line of the trail. Empty if it held.
    failure: Option<CheckFailure>,
}

struct CheckFailure {
    message: String,
    /// From 1, in the trail as it is now; `None` if the failure is of no step.
    line: Option<usize>,
}

impl ReplayCheck {
    pub fn json(&self) -> Value {
        match &self.failure {
            None => json!({"holds": true}),
            Some(CheckFailure { message, line }) => json!({"holds": false, "message": message, "line": line}),
        }
    }

    pub fn print(&self, file: &Path) {
        match &self.failure {
            None => print::data("It holds: replayed once, all of its steps passed."),
            Some(CheckFailure { message, line }) => {
                let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                print::error(format!("it did not hold when it was replayed: {message}\n  at {}{line}", file.display()));
                print::hint("change the step, or record it again; `trailblaze run --trace on` shows what happened");
            }
        }
    }
}

/// Whether to replay a recording: as the options say, else as the project says. Asks a person at a terminal if it says so.
pub fn is_wanted(context: &Context, (yes, no): (bool, bool)) -> Result<bool, Refusal> {
    if yes || no {
        return Ok(yes);
    }
    let loaded = context.load(None)?;
    Ok(match loaded.project.recording.as_ref().map_or(VerifyWord::Never, |recording| recording.verify) {
        VerifyWord::Never => false,
        VerifyWord::Always => true,
        VerifyWord::Ask if stdin().is_terminal() && stderr().is_terminal() => {
            print::say("Replay it once, to see whether it holds? That repeats what you did, on a fresh page. [y/N]");
            let mut answer = String::new();
            let read = stdin().lock().read_line(&mut answer);
            read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
        }
        VerifyWord::Ask => false,
    })
}

/// Replays a recording on its device, on a fresh page.
pub async fn check(
    context: &Context,
    file: &Path,
    device: &str,
    (target, secrets): (Option<String>, Vec<String>),
) -> Result<ReplayCheck, Refusal> {
    let file = context.absolute(file);
    let request = RunRequest {
        client: context.place(),
        paths: vec![file.clone()],
        devices: vec![device.to_string()],
        target,
        secrets,
        ..RunRequest::default()
    };
    print::say("Replaying it once …");
    let Ran { exit, text, summary, .. } = match context.ask(ServiceRequest::Run(Box::new(request))).await? {
        ServiceAnswer::Ran(ran) => ran,
        other => return Err(unexpected(&other)),
    };
    if exit == Exit::Passed {
        return Ok(ReplayCheck { exit, failure: None });
    }
    let attempts = summary["attempts"].as_array();
    let attempt = attempts.and_then(|all| all.iter().find(|attempt| attempt["failure"].is_object()));
    let message = attempt.and_then(|attempt| attempt["message"].as_str()).unwrap_or(&text);
    let message = message.lines().next().unwrap_or_default().to_string();
    let failed_at = attempt.and_then(|attempt| attempt.pointer("/failure/place/line")?.as_u64());
    let line = match failed_at.and_then(|line| usize::try_from(line).ok()) {
        Some(line) => Some(mark(&context.root(Path::new(".")), &file, line, &message)?),
        None => None,
    };
    Ok(ReplayCheck { exit, failure: Some(CheckFailure { message, line }) })
}

/// Writes a comment above the step that a line of a trail belongs to. Returns where that line is then.
fn mark(root: &Path, file: &Path, line: usize, message: &str) -> Result<usize, Refusal> {
    let failed = |error: std::io::Error| Refusal::Environment {
        message: format!("cannot mark the step in `{}`: {error}", file.display()),
    };
    let text = fs::read_to_string(file).map_err(failed)?;
    let Some(marked) = mark_failed(&text, line, message) else { return Ok(line) };
    write_in_project(root, file, marked).map_err(failed)?;
    Ok(line + 1)
}
