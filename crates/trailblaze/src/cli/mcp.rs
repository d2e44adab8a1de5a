//! `trailblaze mcp`: devices and trails for outer agents.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use clap::{Args, Subcommand, ValueEnum};
use tokio_util::sync::CancellationToken;
use trailblaze_core::config::is_origin;
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal, mcp_install};
use crate::api::mcp::{McpOptions, McpServer, Offering, at};
use crate::daemon::{DaemonClient, client_variables};
use crate::sessions::service::{ProgressSink, Service, ServiceAnswer, ServiceError, ServiceRequest};

/// Let an agent use devices and write trails, as an MCP server
///
/// It speaks the protocol on standard input and output, and ends when standard input is closed.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND")]
pub struct McpCommand {
    #[command(subcommand)]
    verb: Option<McpVerb>,
    #[command(flatten)]
    serve: McpArgs,
}

#[derive(Subcommand)]
enum McpVerb {
    Install(mcp_install::InstallArgs),
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
    /// Let the agent use the secret in this environment variable, as {{NAME}}, on pages of the origin; may be repeated
    #[arg(long, value_name = "NAME[=ORIGIN]", value_parser = allowed_secret)]
    allow_secret: Vec<(String, Option<String>)>,
}

fn allowed_secret(text: &str) -> Result<(String, Option<String>), String> {
    let (name, origin) = text.split_once('=').map_or((text, None), |(name, origin)| (name, Some(origin)));
    match origin {
        _ if name.trim().is_empty() => Err("expected the name of an environment variable".to_string()),
        Some(origin) if !is_origin(origin) => Err("expected an origin such as https://shop.example".to_string()),
        origin => Ok((name.trim().to_string(), origin.map(str::to_string))),
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ToolsArg {
    /// A fixed list of ten tools; all others are called through one of them
    Standard,
    /// The project's tools under their own names
    Flat,
}

pub async fn mcp(context: &Context, command: McpCommand) -> Result<Exit, Refusal> {
    let McpCommand { verb, serve: args } = command;
    if let Some(McpVerb::Install(args)) = verb {
        return mcp_install::install(context, &args);
    }
    let options = McpOptions {
        // An agent knows the project, and not where its server was started.
        place: at(&context.bare_place(), &context.root(Path::new("."))),
        offering: match args.tools {
            ToolsArg::Standard => Offering::Standard,
            ToolsArg::Flat => Offering::Flat,
        },
        session: args.session,
        device: args.device,
        target: args.target,
        allowed_secrets: args.allow_secret.into_iter().map(|(name, origin)| (name, Vec::from_iter(origin))).collect(),
    };
    let service = Arc::new(McpDaemon { context: context.clone(), client: context.daemon()? });
    let served = McpServer::new(service, options).serve_stdio().await;
    served.map_err(|error| Refusal::Environment { message: error.to_string() })?;
    Ok(Exit::Passed)
}

/// The daemon, which is started when it is first needed: a list of tools needs no daemon.
struct McpDaemon {
    context: Context,
    client: DaemonClient,
}

#[async_trait]
impl Service for McpDaemon {
    async fn request(
        &self,
        mut request: ServiceRequest,
        progress: &dyn ProgressSink,
        cancel: &CancellationToken,
    ) -> Result<ServiceAnswer, ServiceError> {
        if let Some(place) = request.starting_place() {
            place.variables = client_variables(&self.context.environment);
        }
        self.client.request(request, progress, cancel).await
    }
}
