//! `trailblaze mcp`.

use clap::{Args, Subcommand};
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal, mcp_install};

/// Serve devices and tools to agents over MCP, and set up their clients
#[derive(Args)]
pub struct McpCommand {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Subcommand)]
enum Verb {
    Install(mcp_install::InstallArgs),
}

pub fn mcp(context: &Context, command: McpCommand) -> Result<Exit, Refusal> {
    match command.verb {
        Some(Verb::Install(args)) => mcp_install::install(context, &args),
        None => Err(Refusal::usage("this build has no MCP server")),
    }
}
