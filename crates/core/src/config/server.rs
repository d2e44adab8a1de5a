//! Tool servers: entries of `mcpServers:` and of a target's `mcp_servers:`.

use serde_json::{Value, json};

use crate::yaml::{Decode, Entries, Millis, Problems, Span, Spanned, YamlKind, YamlNode};
use crate::{table, words};

table! {
    /// A tool server. One of `command`, `script` or `url` is required.
    pub struct ToolServerConfig {
        /// The server's name in messages and logs.
        "name" => name: Option<Spanned<String>> = None,
        /// stdio: Trailblaze starts and stops the server. http: it is already running.
        "transport" => transport: Option<ServerTransport> = None,
        /// The program to start.
        "command" => command: Option<String> = None,
        /// The program's arguments.
        "args" => args: Vec<String> = Vec::new(),
        /// A .ts or .js file to run with bun or node, or a bundle.
        "script" => script: Option<String> = None,
        /// Where a script runs: in a process of its own, or embedded in Trailblaze; default: process, with agentMode onDevice embedded.
        "runtime" => runtime: Option<Runtime> = None,
        /// The URL of an http server.
        "url" => url: Option<String> = None,
        /// Headers to send with every request to an http server.
        "headers" => headers: Entries<String> = Entries::default(),
        /// The working directory of the program; default: the project's folder.
        "workingDir" => working_dir: Option<String> = None,
        /// Environment variables to set.
        "env" => env: Entries<String> = Entries::default(),
        /// Environment variables to remove.
        "dropEnv" => drop_env: Vec<String> = Vec::new(),
        /// How long the server may take to start.
        "startupTimeout" => startup_timeout: Millis = Millis(60_000),
        /// How long one call may be silent.
        "callTimeout" => call_timeout: Option<Millis> = None,
        /// Whether to restart the server after a crash.
        "restart" => restart: Restart = Restart::Never,
        /// How the context of a call is passed: both, or only in _meta.
        "context" => context: Option<ContextDelivery> = None,
        /// The secrets that the server may receive: their values in arguments, and their environment variables.
        "secrets" => secrets: Vec<String> = Vec::new(),
        /// The MCP version to use, such as 2025-11-25; default: negotiated.
        "protocol" => protocol: Option<String> = None,
        /// How one server serves several devices.
        "multiDevice" => multi_device: MultiDevice = MultiDevice::Auto,
        /// Whether the server may request model completions.
        "sampling" => sampling: bool = false,
        /// The toolset that offers its tools; without one, all are offered.
        "toolset" => toolset: Option<String> = None,
        /// Whether its tools may have reserved prefixes such as `web_`; otherwise such a tool is left out.
        "allowReserved" => allow_reserved: bool = false,
    }
}

impl ToolServerConfig {
    /// Whether another entry has the same settings, wherever the two are.
    pub fn says_the_same_as(&self, other: &ToolServerConfig) -> bool {
        self.without_places() == other.without_places()
    }

    fn without_places(&self) -> ToolServerConfig {
        let mut server = ToolServerConfig { span: Span::default(), ..self.clone() };
        let keys = server.headers.0.iter_mut().chain(&mut server.env.0).map(|(key, _)| key);
        keys.chain(&mut server.name).for_each(|key| key.span = Span::default());
        server
    }
}

words! {
    pub enum ServerTransport {
        "stdio" => Stdio,
        "http" => Http,
    }
}

words! {
    pub enum Runtime {
        "process" => Process,
        "embedded" => Embedded,
    }
}

words! {
    pub enum Restart {
        "never" => Never,
        "on-failure" => OnFailure,
    }
}

words! {
    pub enum ContextDelivery {
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

/// Servers by name, written as a list or as a mapping keyed by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Servers(pub Vec<(Spanned<String>, ToolServerConfig)>);

impl Decode for Servers {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let mut servers: Vec<(Spanned<String>, ToolServerConfig)> = Vec::new();
        match &node.kind {
            YamlKind::Seq(items) => {
                for item in items {
                    let Some(server) = decode_one(item, problems) else { continue };
                    let name = server.name.clone().unwrap_or_else(|| default_name(&server, item, &servers));
                    servers.push((name, server));
                }
            }
            YamlKind::Map(entries) => {
                for (key, value) in entries {
                    let name = Spanned { value: key.raw().unwrap_or_default().to_string(), span: key.span };
                    servers.extend(decode_one(value, problems).map(|server| (name, server)));
                }
            }
            YamlKind::Scalar { .. } => {
                problems.error(node.span, format!("expected a list or a mapping of servers, found {}", node.noun()));
                return None;
            }
        }
        for (index, (name, _)) in servers.iter().enumerate() {
            if servers[..index].iter().any(|(earlier, _)| earlier.value == name.value) {
                problems.error(name.span, format!("there is already a server named `{}`", name.value));
            }
        }
        Some(Servers(servers))
    }

    fn schema() -> Value {
        json!({"oneOf": [
            {"type": "array", "items": ToolServerConfig::schema()},
            {"type": "object", "additionalProperties": ToolServerConfig::schema()},
        ]})
    }
}

/// A list entry without a name is named after its script or program, with a number if that name is taken.
fn default_name(
    server: &ToolServerConfig,
    item: &YamlNode,
    earlier: &[(Spanned<String>, ToolServerConfig)],
) -> Spanned<String> {
    let path = server.script.as_deref().or(server.command.as_deref()).unwrap_or("server");
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("server");
    let is_free = |name: &String| !earlier.iter().any(|(taken, _)| taken.value == *name);
    let mut names = std::iter::once(stem.to_string()).chain((2..).map(|number| format!("{stem}-{number}")));
    Spanned { value: names.find(is_free).expect("there are always more numbers"), span: item.span }
}

fn decode_one(node: &YamlNode, problems: &mut Problems) -> Option<ToolServerConfig> {
    let server = ToolServerConfig::decode(node, problems)?;
    let ways: Vec<&str> = [("command", &server.command), ("script", &server.script), ("url", &server.url)]
        .into_iter()
        .filter(|(_, way)| way.is_some())
        .map(|(name, _)| name)
        .collect();
    let wrong = match (ways.as_slice(), server.transport) {
        ([], _) => "a server requires one of `command`, `script` or `url`".to_string(),
        ([_, _, ..], _) => format!("a server must have only one of `{}`", ways.join("`, `")),
        (["url"], Some(ServerTransport::Stdio)) => "`url` requires `transport: http`".to_string(),
        ([way], Some(ServerTransport::Http)) if *way != "url" => {
            format!("`transport: http` requires `url`, not `{way}`")
        }
        ([way], _) if *way != "script" && server.runtime == Some(Runtime::Embedded) => {
            format!("`runtime: embedded` requires `script`, not `{way}`")
        }
        _ => return Some(server),
    };
    problems.error(server.span, wrong);
    None
}

#[cfg(test)]
mod tests {
    use crate::yaml::{Source, decode};

    use super::*;

    fn server(text: &str) -> ToolServerConfig {
        let source = Source::new("a.yaml", text);
        decode(&source, &mut Problems::new(&source)).unwrap()
    }

    #[test]
    fn entries_are_compared_without_their_places() {
        let one = server("{name: a, command: x, args: [y], env: {A: b}}");
        let same = server("# moved\nname: a\ncommand: x\nargs:\n  - y\nenv:\n  A: b\n");
        assert!(one != same && one.says_the_same_as(&same));
        for other in ["{name: a, command: x, args: [y], env: {A: c}}", "{name: a, command: x, args: [y], env: {B: b}}"]
        {
            assert!(!one.says_the_same_as(&server(other)), "{other}");
        }
        assert!(!one.says_the_same_as(&server("{name: a, command: x, args: [y], env: {A: b}, callTimeout: 1s}")));
    }
}
