//! Tool servers: entries of `mcpServers:` and of a target's `mcp_servers:`.

use serde_json::{Value, json};

use crate::yaml::{Decode, Entries, Kind, Millis, Node, Problems, Spanned};
use crate::{table, words};

table! {
    /// A tool server. One of `command`, `script` or `url` says how it is reached.
    pub struct Server {
        /// How messages and logs name it.
        "name" => name: Option<Spanned<String>> = None,
        /// stdio: we start and stop it. http: it runs already.
        "transport" => transport: Option<Transport> = None,
        /// The program to start.
        "command" => command: Option<String> = None,
        /// The program's arguments.
        "args" => args: Vec<String> = Vec::new(),
        /// A .ts or .js file to run with bun or node.
        "script" => script: Option<String> = None,
        /// Where an http server answers.
        "url" => url: Option<String> = None,
        /// Sent with every request to an http server.
        "headers" => headers: Entries<String> = Entries::default(),
        /// The folder that the program starts in; the project's unless given.
        "workingDir" => working_dir: Option<String> = None,
        /// Environment variables to set.
        "env" => env: Entries<String> = Entries::default(),
        /// Environment variables to keep from it.
        "dropEnv" => drop_env: Vec<String> = Vec::new(),
        /// How long it may take to start.
        "startupTimeout" => startup_timeout: Millis = Millis(60_000),
        /// How long one call may be silent.
        "callTimeout" => call_timeout: Option<Millis> = None,
        /// Whether to start it anew after a crash.
        "restart" => restart: Restart = Restart::Never,
        /// How a call's context travels: both, or only in _meta.
        "context" => context: Option<Context> = None,
        /// The secrets that it may have: their values in arguments, and their environment variables.
        "secrets" => secrets: Vec<String> = Vec::new(),
        /// The MCP version to speak, such as 2025-11-25; negotiated unless given.
        "protocol" => protocol: Option<String> = None,
        /// How one server serves several devices.
        "multiDevice" => multi_device: MultiDevice = MultiDevice::Auto,
        /// Whether it may ask for model completions.
        "sampling" => sampling: bool = false,
        /// The toolset through which its tools are offered; all are offered without one.
        "toolset" => toolset: Option<String> = None,
    }
}

words! {
    pub enum Transport {
        "stdio" => Stdio,
        "http" => Http,
    }
}

words! {
    pub enum Restart {
        "never" => Never,
        "on-failure" => OnFailure,
    }
}

words! {
    pub enum Context {
        "both" => Both,
        "meta" => Meta,
    }
}

words! {
    pub enum MultiDevice {
        "auto" => Auto,
        "http" => Http,
        "stdio" => Stdio,
        "perDevice" => PerDevice,
    }
}

/// Servers by name: written as a list, or as a mapping keyed by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Servers(pub Vec<(Spanned<String>, Server)>);

impl Decode for Servers {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let mut servers: Vec<(Spanned<String>, Server)> = Vec::new();
        match &node.kind {
            Kind::Seq(items) => {
                for item in items {
                    let Some(server) = decode_one(item, problems) else { continue };
                    let name = server.name.clone().unwrap_or_else(|| default_name(&server, item, &servers));
                    servers.push((name, server));
                }
            }
            Kind::Map(entries) => {
                for (key, value) in entries {
                    let name = Spanned { value: key.raw().unwrap_or_default().to_string(), span: key.span };
                    servers.extend(decode_one(value, problems).map(|server| (name, server)));
                }
            }
            Kind::Scalar { .. } => {
                problems.error(node.span, format!("expected a list or a mapping of servers, found {}", node.noun()));
                return None;
            }
        }
        for (index, (name, _)) in servers.iter().enumerate() {
            if servers[..index].iter().any(|(earlier, _)| earlier.value == name.value) {
                problems.error(name.span, format!("a second server is named `{}`", name.value));
            }
        }
        Some(Servers(servers))
    }

    fn schema() -> Value {
        json!({"oneOf": [
            {"type": "array", "items": Server::schema()},
            {"type": "object", "additionalProperties": Server::schema()},
        ]})
    }
}

/// A list entry without a name goes by its script or program, with a number where that name is taken.
fn default_name(server: &Server, item: &Node, earlier: &[(Spanned<String>, Server)]) -> Spanned<String> {
    let path = server.script.as_deref().or(server.command.as_deref()).unwrap_or("server");
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("server");
    let is_free = |name: &String| !earlier.iter().any(|(taken, _)| taken.value == *name);
    let mut names = std::iter::once(stem.to_string()).chain((2..).map(|number| format!("{stem}-{number}")));
    Spanned { value: names.find(is_free).expect("there are always more numbers"), span: item.span }
}

fn decode_one(node: &Node, problems: &mut Problems) -> Option<Server> {
    let server = Server::decode(node, problems)?;
    let ways: Vec<&str> = [("command", &server.command), ("script", &server.script), ("url", &server.url)]
        .into_iter()
        .filter(|(_, way)| way.is_some())
        .map(|(name, _)| name)
        .collect();
    let wrong = match (ways.as_slice(), server.transport) {
        ([], _) => "a server needs one of `command`, `script` or `url`".to_string(),
        ([_, _, ..], _) => format!("a server has one of `{}`, not several", ways.join("`, `")),
        (["url"], Some(Transport::Stdio)) => "`url` goes with `transport: http`".to_string(),
        ([way], Some(Transport::Http)) if *way != "url" => format!("`transport: http` needs a `url`, not a `{way}`"),
        _ => return Some(server),
    };
    problems.error(server.span, wrong);
    None
}
