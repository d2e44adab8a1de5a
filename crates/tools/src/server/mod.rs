//! Toolsets as an MCP server, over stdio or HTTP.

mod handler;
mod http;
mod invoked;
mod listing;

use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use rmcp::ServiceExt;
use trailblaze_client::Client;

use crate::place::add_source_root;
use crate::toolset::{Group, Tool, Toolset};
use handler::Handler;

/// How long tools have to finish after the client has gone. Trailblaze itself waits five seconds.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// A server for toolsets.
///
/// ```no_run
/// # use trailblaze_tools::{ToolContext, ToolResult, toolset};
/// # struct Acme;
/// # #[toolset]
/// # impl Acme {
/// #     /// Sign in.
/// #     #[tool(name = "acme_login")]
/// #     async fn login(&self, cx: &ToolContext) -> ToolResult<()> { Ok(()) }
/// # }
/// fn main() -> std::process::ExitCode {
///     trailblaze_tools::server("acme").toolset(Acme).main()
/// }
/// ```
///
/// It speaks MCP on stdin and stdout, until stdin ends; with the arguments `--transport http --port N`, as Trailblaze gives them if
/// several devices share a server, on a port of this machine. So tools must not print to stdout; stderr goes to a log.
pub fn server(name: impl Into<String>) -> Server {
    let version = "0.0.0".to_string();
    Server { name: name.into(), version, instructions: None, toolsets: Vec::new() }
}

/// A server for toolsets; [`server`] makes one.
#[must_use = "`run` or `main` serves the tools"]
pub struct Server {
    name: String,
    version: String,
    instructions: Option<String>,
    toolsets: Vec<Arc<dyn Toolset>>,
}

/// Why a server did not start or ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerError {
    /// Two toolsets have a tool of the same name.
    Twice {
        /// The name.
        tool: String,
        /// The toolsets.
        toolsets: [&'static str; 2],
        /// Where each defines it: `tools/src/orders.rs:12`.
        places: [String; 2],
    },
    /// The arguments of the process are wrong.
    Arguments(String),
    /// It could not listen, or stdin or stdout broke.
    Io(String),
}

impl std::fmt::Display for ServerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ServerError::Twice { tool, toolsets: [first, second], places: [at, and_at] } if first == second => {
                write!(f, "the toolset {first} has the tool `{tool}` twice ({at} and {and_at}); rename one of them")
            }
            ServerError::Twice { tool, toolsets: [first, second], places: [at, and_at] } => {
                write!(
                    f,
                    "the tool `{tool}` is in two toolsets: {first} ({at}) and {second} ({and_at}); rename one of them"
                )
            }
            ServerError::Arguments(text) | ServerError::Io(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for ServerError {}

impl Server {
    /// Adds tools. A name that exists already is an error when the server starts.
    pub fn toolset(mut self, toolset: impl Toolset) -> Server {
        self.toolsets.push(Arc::new(toolset));
        self
    }

    /// The version that clients are told.
    pub fn version(self, version: impl Into<String>) -> Server {
        Server { version: version.into(), ..self }
    }

    /// What models are told about the whole server.
    pub fn instructions(self, instructions: impl Into<String>) -> Server {
        Server { instructions: Some(instructions.into()), ..self }
    }

    /// Serves the tools until the client is gone, within a runtime of the caller's.
    pub async fn run(self) -> Result<(), ServerError> {
        let port = asked_port(&std::env::args().collect::<Vec<_>>(), |name| std::env::var(name).ok())?;
        let served = Arc::new(self.served()?);
        match port {
            Some(port) => http::serve(&served, SocketAddr::from(([127, 0, 0, 1], port))).await,
            None => serve_stdio(&served).await,
        }
    }

    /// Serves the tools as the whole program.
    pub fn main(self) -> ExitCode {
        let name = self.name.clone();
        let fail = |error: &dyn std::fmt::Display| {
            let _ = writeln!(std::io::stderr(), "{name}: {error}");
            ExitCode::FAILURE
        };
        let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return fail(&error),
        };
        let result = runtime.block_on(self.run());
        // Stdin may still be read.
        runtime.shutdown_timeout(LAST_MOMENT);
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        }
    }

    fn served(self) -> Result<ServedToolset, ServerError> {
        let mut toolsets: HashMap<&'static str, Arc<dyn Toolset>> = HashMap::new();
        let mut tools: Vec<Tool> = Vec::new();
        for toolset in &self.toolsets {
            add_source_root(toolset.source_root());
            for tool in toolset.tools() {
                if let Some(other) = toolsets.insert(tool.name, Arc::clone(toolset)) {
                    let toolsets = [other.name(), toolset.name()];
                    let first = tools.iter().find(|first| first.name == tool.name).unwrap_or(&tool);
                    let places = [first.defined_at(), tool.defined_at()];
                    return Err(ServerError::Twice { tool: tool.name.to_string(), toolsets, places });
                }
                tools.push(tool);
            }
        }
        Ok(ServedToolset {
            name: self.name,
            version: self.version,
            instructions: self.instructions,
            groups: self.toolsets.iter().flat_map(|toolset| toolset.groups()).collect(),
            toolsets,
            tools,
            lowest: AtomicUsize::new(0),
            // Only shares its connections; each call has its own address.
            client: Client::new("127.0.0.1"),
        })
    }
}

/// What a server serves.
struct ServedToolset {
    name: String,
    version: String,
    instructions: Option<String>,
    /// The toolset of each tool.
    toolsets: HashMap<&'static str, Arc<dyn Toolset>>,
    tools: Vec<Tool>,
    groups: Vec<Group>,
    /// The position of the lowest level of messages that clients want to be told of.
    lowest: AtomicUsize,
    client: Client,
}

async fn serve_stdio(served: &Arc<ServedToolset>) -> Result<(), ServerError> {
    let broken = |error: String| ServerError::Io(format!("the connection broke: {error}"));
    let service = match Handler::new(served).serve(rmcp::transport::stdio()).await {
        Ok(service) => service,
        // Started and stopped, without a request.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(broken(error.to_string())),
    };
    service.waiting().await.map(drop).map_err(|error| broken(error.to_string()))
}

/// The port to listen on; none means stdio.
fn asked_port(args: &[String], variable: impl Fn(&str) -> Option<String>) -> Result<Option<u16>, ServerError> {
    let value = |name: &str| {
        let at = args.iter().position(|arg| arg == name || arg.starts_with(&format!("{name}=")))?;
        match args[at].split_once('=') {
            Some((_, value)) => Some(value.to_string()),
            None => args.get(at + 1).cloned(),
        }
    };
    let transport = value("--transport").or_else(|| variable("FASTMCP_TRANSPORT"));
    match transport.as_deref() {
        None | Some("" | "stdio") => return Ok(None),
        Some("http" | "streamable-http") => {}
        Some(other) => {
            let text = format!("`--transport` must be stdio or http, got `{other}`");
            return Err(ServerError::Arguments(text));
        }
    }
    let port = value("--port").or_else(|| variable("FASTMCP_PORT"));
    let read = port.as_ref().and_then(|port| port.parse().ok());
    read.map(Some).ok_or_else(|| {
        let got = port.unwrap_or_else(|| "none".to_string());
        ServerError::Arguments(format!("`--transport http` needs a `--port` from 0 to 65535, got `{got}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_an_argument_or_a_variable() {
        let check = |args: &str, variables: &[(&str, &str)], expected: Result<Option<u16>, &str>| {
            let args: Vec<String> = args.split_whitespace().map(String::from).collect();
            let variable = |name: &str| Some(variables.iter().find(|(known, _)| *known == name)?.1.to_string());
            let got = asked_port(&args, variable).map_err(|error| error.to_string());
            assert_eq!(got, expected.map_err(String::from), "{args:?} {variables:?}");
        };
        check("acme", &[], Ok(None));
        check("acme --transport stdio --port 1", &[], Ok(None));
        check("acme --transport http --port 52530", &[], Ok(Some(52530)));
        check("acme --transport=http --port=0", &[], Ok(Some(0)));
        check("acme", &[("FASTMCP_TRANSPORT", "http"), ("FASTMCP_PORT", "8080")], Ok(Some(8080)));
        check("acme --transport stdio", &[("FASTMCP_TRANSPORT", "http")], Ok(None));
        check("acme --transport sse", &[], Err("`--transport` must be stdio or http, got `sse`"));
        let wrong = |got: &str| format!("`--transport http` needs a `--port` from 0 to 65535, got `{got}`");
        check("acme --transport http", &[], Err(&wrong("none")));
        check("acme --transport http --port 70000", &[], Err(&wrong("70000")));
    }
}
