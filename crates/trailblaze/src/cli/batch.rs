//! `trailblaze batch`: several commands of a session in one go, and `trailblaze do` and `ask`, which leave one to the model.

use std::io::{IsTerminal, Read};

use clap::Args;
use serde_json::json;
use trailblaze_protocol::event::StepKind;
use trailblaze_protocol::exit::Exit;

use super::in_session::{SessionArgs, execute, exit_of, show_all};
use super::shell::{OnDeviceArgs, ShellLine, parse, show};
use super::{Context, Refusal};
use crate::output::print;
use crate::sessions::interactive::{CommandReply, InteractiveCommand};

/// The largest list of commands, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Run several commands in a session, and stop at the first one that fails
///
/// Commands are written as in `trailblaze shell`: step "Pay Ada", tap text=Pay, snapshot. Without arguments, the lines of standard input are run.
#[derive(Args)]
pub struct BatchArgs {
    /// The commands, each as one argument
    #[arg(value_name = "COMMAND")]
    commands: Vec<String>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    on: OnDeviceArgs,
    /// Answer each command with one line of JSON
    #[arg(long)]
    json: bool,
}

pub async fn batch(context: &Context, args: BatchArgs) -> Result<Exit, Refusal> {
    let lines = if args.commands.is_empty() { stdin_lines()? } else { args.commands.clone() };
    let mut commands = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let wrong = |message: String| Refusal::usage(format!("command {}: {message}; nothing was run", at + 1));
        match parse(line).map_err(|error| wrong(error.to_string()))? {
            Some(ShellLine::Command(command)) => commands.push(command),
            Some(ShellLine::Help | ShellLine::Quit) => {
                return Err(wrong(format!("`{line}` is only for `trailblaze shell`")));
            }
            None => {}
        }
    }
    if commands.is_empty() {
        return Err(Refusal::usage("there are no commands to run"));
    }
    let n_commands = commands.len();
    let replies = execute(context, &args.on, &args.session, commands).await?;
    let exit = show_all(&replies, args.json);
    let n_left = n_commands - replies.len();
    if n_left > 0 {
        print::say(format!("{} not run", print::count(n_left, "command")));
    }
    Ok(exit)
}

fn stdin_lines() -> Result<Vec<String>, Refusal> {
    if std::io::stdin().is_terminal() {
        return Err(Refusal::Usage {
            message: "there are no commands to run".to_string(),
            hint: Some("pass them as arguments or on standard input: trailblaze batch 'tap text=Pay' snapshot".into()),
        });
    }
    let mut text = String::new();
    let failed = |source| Refusal::Io { what: "cannot read standard input".to_string(), source };
    std::io::stdin().take(MOST_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(Refusal::usage(format!("a list of commands has at most {MOST_BYTES} bytes")));
    }
    Ok(text.lines().map(str::to_string).collect())
}

/// Let the model carry out a step in a session
///
/// The step and the calls that the model makes are recorded, so that they can be saved as a trail and replayed without a model.
#[derive(Args)]
pub struct DoArgs {
    /// What to do, in plain words
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    /// Let it check something; the step passes only if an assertion holds
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    on: OnDeviceArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub async fn do_words(context: &Context, args: DoArgs) -> Result<Exit, Refusal> {
    let kind = if args.verify { StepKind::Verify } else { StepKind::Step };
    let command = InteractiveCommand::Do { kind, text: args.words.join(" ") };
    let replies = execute(context, &args.on, &args.session, vec![command]).await?;
    Ok(show_all(&replies, args.json))
}

/// Let the model answer a question about the screen of a session
#[derive(Args)]
pub struct AskArgs {
    /// The question
    #[arg(required = true, value_name = "WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    session: SessionArgs,
    #[command(flatten)]
    on: OnDeviceArgs,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

pub async fn ask(context: &Context, args: AskArgs) -> Result<Exit, Refusal> {
    let command = InteractiveCommand::Ask { question: args.words.join(" ") };
    let replies = execute(context, &args.on, &args.session, vec![command]).await?;
    Ok(show_all(&replies, args.json))
}

/// Prints the last reply, or the one that failed before it.
pub fn show_last(replies: &[CommandReply], as_json: bool) -> Exit {
    match replies.last() {
        Some(reply) => show(reply, as_json),
        None => print::json(&json!(null)),
    }
    exit_of(replies)
}
