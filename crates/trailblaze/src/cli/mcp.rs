//! `trailblaze mcp`: devices and trails for outer agents.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use clap::{Args, ValueEnum};
use tokio_util::sync::CancellationToken;
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal};
use crate::api::mcp::{McpOptions, McpServer, Offering};
use crate::sessions::service::{Answer, ClientPlace, ProgressSink, Request, Service, ServiceError};

/// Let an agent use devices and write trails, as an MCP server
///
/// It speaks the protocol on standard input and output, and ends when standard input is closed.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND")]
pub struct McpCommand {
    #[command(flatten)]
    serve: McpArgs,
}

#[derive(Args)]
struct McpArgs {
    /// Which tools the agent is offered
    #[arg(long, value_name = "KIND", default_value = "standard")]
    tools: ToolsArg,
    /// The session of calls that name none [default: one for the project and device]
    #[arg(long, value_name = "NAME", env = "TRAILBLAZE_SESSION")]
    session: Option<String>,
    /// The device of sessions that are opened without naming one, such as web/chromium
    #[arg(short, long, value_name = "DEVICE", env = "TRAILBLAZE_DEVICE")]
    device: Option<String>,
    /// The target of sessions that are opened without naming one
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ToolsArg {
    /// A fixed list of ten tools; all others are called through one of them
    Standard,
    /// The project's tools under their own names
    Flat,
}

pub async fn mcp(context: &Context, command: McpCommand) -> Result<Exit, Refusal> {
    let McpCommand { serve: args } = command;
    let options = McpOptions {
        place: place(context),
        offering: match args.tools {
            ToolsArg::Standard => Offering::Standard,
            ToolsArg::Flat => Offering::Flat,
        },
        session: args.session,
        device: args.device,
        target: args.target,
    };
    let served = McpServer::new(service(context), options).serve_stdio().await;
    served.map_err(|error| Refusal::Environment { message: error.to_string() })?;
    Ok(Exit::Passed)
}

fn place(context: &Context) -> ClientPlace {
    ClientPlace {
        current_dir: context.environment.current_dir().to_path_buf(),
        project: Some(context.root(Path::new("."))),
        command: context.command_line(),
        ..ClientPlace::default()
    }
}

/// The service that carries out the requests of the agent.
fn service(_: &Context) -> Arc<dyn Service> {
    struct NoDaemon;

    #[async_trait]
    impl Service for NoDaemon {
        async fn request(
            &self,
            _: Request,
            _: &dyn ProgressSink,
            _: &CancellationToken,
        ) -> Result<Answer, ServiceError> {
            Err(ServiceError::environment("the daemon is not built yet"))
        }
    }

    Arc::new(NoDaemon)
}
