//! `trailblaze completions`.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use trailblaze_protocol::exit::Exit;

use super::{Cli, Refusal};
use crate::output::print;

/// Print a completion script for a shell
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub fn completions(args: CompletionsArgs) -> Result<Exit, Refusal> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "trailblaze", &mut script);
    print::bytes(&script).map_err(|source| Refusal::Io { what: "cannot print the script".into(), source })?;
    Ok(Exit::Passed)
}
