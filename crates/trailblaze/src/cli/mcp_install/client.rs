//! The MCP clients: where each one keeps its servers, and how it writes one.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::edit::Format;
use crate::project::environment::Environment;

#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpClientApp {
    /// Claude Code: .mcp.json in the project
    Claude,
    /// Claude Desktop: the user's claude_desktop_config.json
    ClaudeDesktop,
    /// Codex: the user's config.toml
    Codex,
    /// Visual Studio Code: .vscode/mcp.json in the project
    Vscode,
    /// Cursor: .cursor/mcp.json in the project
    Cursor,
    /// Goose: the user's config.yaml
    Goose,
}

/// Whose file it is: the project's, which is shared with others, or the user's, for all projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallScope {
    Project,
    User,
}

/// A server as it is written into the file.
#[derive(Debug, Clone)]
pub struct ServerEntry {
    /// The command that it contains, to be shown.
    pub command_line: String,
    /// What starts the server. It replaces what is in the file.
    pub own: Map<String, Value>,
    /// What is written only into a new entry, because users change it.
    pub initial: Map<String, Value>,
}

impl ServerEntry {
    pub fn all(&self) -> Map<String, Value> {
        self.own.clone().into_iter().chain(self.initial.clone()).collect()
    }
}

impl McpClientApp {
    /// Its name on the command line.
    pub fn id(self) -> &'static str {
        match self {
            McpClientApp::Claude => "claude",
            McpClientApp::ClaudeDesktop => "claude-desktop",
            McpClientApp::Codex => "codex",
            McpClientApp::Vscode => "vscode",
            McpClientApp::Cursor => "cursor",
            McpClientApp::Goose => "goose",
        }
    }

    pub fn format(self) -> Format {
        match self {
            McpClientApp::Claude | McpClientApp::ClaudeDesktop | McpClientApp::Vscode | McpClientApp::Cursor => {
                Format::Json
            }
            McpClientApp::Codex => Format::Toml,
            McpClientApp::Goose => Format::Yaml,
        }
    }

    /// The key of the servers.
    pub fn table(self) -> &'static str {
        match self {
            McpClientApp::Claude | McpClientApp::ClaudeDesktop | McpClientApp::Cursor => "mcpServers",
            McpClientApp::Vscode => "servers",
            McpClientApp::Codex => "mcp_servers",
            McpClientApp::Goose => "extensions",
        }
    }

    /// The project's file, for a client that has one.
    pub fn narrowest_scope(self) -> InstallScope {
        match self {
            McpClientApp::Claude | McpClientApp::Vscode | McpClientApp::Cursor => InstallScope::Project,
            McpClientApp::ClaudeDesktop | McpClientApp::Codex | McpClientApp::Goose => InstallScope::User,
        }
    }

    /// `None` if it is in the user's home folder, and that is unknown.
    pub fn file(self, scope: InstallScope, root: &Path, environment: &Environment) -> Option<PathBuf> {
        let home = environment.home();
        let folder = |variable: &str| {
            environment
                .var(variable)
                .filter(|value| !value.is_empty())
                .map(|value| environment.absolute(Path::new(value)))
        };
        let xdg = || folder("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        // Where programs with a window keep their settings.
        let settings = || match cfg!(target_os = "macos") {
            true => Some(home.as_ref()?.join("Library/Application Support")),
            false => xdg(),
        };
        Some(match (self, scope) {
            (McpClientApp::Claude, InstallScope::Project) => root.join(".mcp.json"),
            (McpClientApp::Vscode, InstallScope::Project) => root.join(".vscode/mcp.json"),
            (McpClientApp::Cursor, InstallScope::Project) => root.join(".cursor/mcp.json"),
            (McpClientApp::Claude, InstallScope::User) => folder("CLAUDE_CONFIG_DIR").or(home)?.join(".claude.json"),
            (McpClientApp::Vscode, InstallScope::User) => settings()?.join("Code/User/mcp.json"),
            (McpClientApp::Cursor, InstallScope::User) => home?.join(".cursor/mcp.json"),
            (McpClientApp::ClaudeDesktop, _) => settings()?.join("Claude/claude_desktop_config.json"),
            (McpClientApp::Codex, _) => {
                folder("CODEX_HOME").or_else(|| Some(home?.join(".codex")))?.join("config.toml")
            }
            // Goose uses this folder on macOS too.
            (McpClientApp::Goose, _) => xdg()?.join("goose/config.yaml"),
        })
    }

    /// Whether the client is not started from a shell, and so does not find programs by name.
    pub fn lacks_path(self) -> bool {
        self == McpClientApp::ClaudeDesktop
    }

    /// `project` is the root of the project, if there is one.
    pub fn entry(self, scope: InstallScope, name: &str, command: String, project: Option<String>) -> ServerEntry {
        let mut args = vec!["mcp".to_string()];
        let folder = match (self, scope) {
            // Cursor starts servers in another folder, and replaces this by the folder of the file.
            (McpClientApp::Cursor, InstallScope::Project) => Some("${workspaceFolder}".to_string()),
            (_, InstallScope::Project) => None,
            (_, InstallScope::User) => project,
        };
        args.extend(folder.into_iter().flat_map(|folder| ["-C".to_string(), folder]));
        let command_line = std::iter::once(&command).chain(&args).map(String::as_str).collect::<Vec<_>>().join(" ");
        let (own, initial) = match self {
            McpClientApp::Vscode => (json!({"type": "stdio", "command": command, "args": args}), json!({})),
            McpClientApp::Goose => (
                json!({"name": name, "type": "stdio", "enabled": true, "cmd": command, "args": args}),
                json!({"description": "Drives devices and runs UI tests", "timeout": 300}),
            ),
            _ => (json!({"command": command, "args": args}), json!({})),
        };
        let map = |value: Value| value.as_object().cloned().unwrap_or_default();
        ServerEntry { command_line, own: map(own), initial: map(initial) }
    }

    pub fn next_step(self) -> &'static str {
        match self {
            McpClientApp::Claude => "next: start `claude` in the project and approve the server; `/mcp` shows it",
            McpClientApp::ClaudeDesktop => "next: quit Claude Desktop and start it again",
            McpClientApp::Codex => "next: restart Codex; `/mcp` lists the server",
            McpClientApp::Vscode => "next: run `MCP: List Servers` in VS Code and start the server",
            McpClientApp::Cursor => "next: enable the server in Cursor's settings, under MCP",
            McpClientApp::Goose => "next: start a new Goose session",
        }
    }

    pub fn after_removal(self) -> &'static str {
        match self {
            McpClientApp::Claude => "next: restart Claude Code",
            McpClientApp::ClaudeDesktop => "next: restart Claude Desktop",
            McpClientApp::Codex => "next: restart Codex",
            McpClientApp::Vscode => "next: restart VS Code, or stop the server in it",
            McpClientApp::Cursor => "next: restart Cursor",
            McpClientApp::Goose => "next: start a new Goose session",
        }
    }
}
