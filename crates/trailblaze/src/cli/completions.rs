//! `trailblaze completions`.

use clap::Args;
use clap_complete::Shell;
use trailblaze_protocol::exit::Exit;

use super::{ProgramName, Refusal};
use crate::output::print;

/// Print a completion script for a shell
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub fn completions(program: &ProgramName, args: CompletionsArgs) -> Result<Exit, Refusal> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program.parser(), program.name, &mut script);
    print::bytes(&script).map_err(|source| Refusal::Io { what: "cannot print the script".into(), source })?;
    Ok(Exit::Passed)
}
