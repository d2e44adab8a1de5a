//! The MCP clients: where each one keeps its servers, and how it writes one.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::edit::Format;
use crate::project::environment::Environment;

#[derive(clap::ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
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
pub enum Scope {
    Project,
    User,
}

/// A server as it is written into the file.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The command that it contains, to be shown.
    pub command_line: String,
    /// What starts the server. It replaces what is in the file.
    pub own: Map<String, Value>,
    /// What is written only into a new entry, because users change it.
    pub initial: Map<String, Value>,
}

impl Entry {
    pub fn all(&self) -> Map<String, Value> {
        self.own.clone().into_iter().chain(self.initial.clone()).collect()
    }
}

impl Client {
    /// Its name on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Client::Claude => "claude",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Codex => "codex",
            Client::Vscode => "vscode",
            Client::Cursor => "cursor",
            Client::Goose => "goose",
        }
    }

    pub fn format(self) -> Format {
        match self {
            Client::Claude | Client::ClaudeDesktop | Client::Vscode | Client::Cursor => Format::Json,
            Client::Codex => Format::Toml,
            Client::Goose => Format::Yaml,
        }
    }

    /// The key of the servers.
    pub fn table(self) -> &'static str {
        match self {
            Client::Claude | Client::ClaudeDesktop | Client::Cursor => "mcpServers",
            Client::Vscode => "servers",
            Client::Codex => "mcp_servers",
            Client::Goose => "extensions",
        }
    }

    /// The project's file, for a client that has one.
    pub fn narrowest_scope(self) -> Scope {
        match self {
            Client::Claude | Client::Vscode | Client::Cursor => Scope::Project,
            Client::ClaudeDesktop | Client::Codex | Client::Goose => Scope::User,
        }
    }

    /// `None` if it is in the user's home folder, and that is unknown.
    pub fn file(self, scope: Scope, root: &Path, environment: &Environment) -> Option<PathBuf> {
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
            (Client::Claude, Scope::Project) => root.join(".mcp.json"),
            (Client::Vscode, Scope::Project) => root.join(".vscode/mcp.json"),
            (Client::Cursor, Scope::Project) => root.join(".cursor/mcp.json"),
            (Client::Claude, Scope::User) => folder("CLAUDE_CONFIG_DIR").or(home)?.join(".claude.json"),
            (Client::Vscode, Scope::User) => settings()?.join("Code/User/mcp.json"),
            (Client::Cursor, Scope::User) => home?.join(".cursor/mcp.json"),
            (Client::ClaudeDesktop, _) => settings()?.join("Claude/claude_desktop_config.json"),
            (Client::Codex, _) => folder("CODEX_HOME").or_else(|| Some(home?.join(".codex")))?.join("config.toml"),
            // Goose uses this folder on macOS too.
            (Client::Goose, _) => xdg()?.join("goose/config.yaml"),
        })
    }

    /// Whether the client is not started from a shell, and so does not find programs by name.
    pub fn lacks_path(self) -> bool {
        self == Client::ClaudeDesktop
    }

    /// `project` is the root of the project, if there is one.
    pub fn entry(self, scope: Scope, name: &str, command: String, project: Option<String>) -> Entry {
        let mut args = vec!["mcp".to_string()];
        let folder = match (self, scope) {
            // Cursor starts servers in another folder, and replaces this by the folder of the file.
            (Client::Cursor, Scope::Project) => Some("${workspaceFolder}".to_string()),
            (_, Scope::Project) => None,
            (_, Scope::User) => project,
        };
        args.extend(folder.into_iter().flat_map(|folder| ["-C".to_string(), folder]));
        let command_line = std::iter::once(&command).chain(&args).map(String::as_str).collect::<Vec<_>>().join(" ");
        let (own, initial) = match self {
            Client::Vscode => (json!({"type": "stdio", "command": command, "args": args}), json!({})),
            Client::Goose => (
                json!({"name": name, "type": "stdio", "enabled": true, "cmd": command, "args": args}),
                json!({"description": "Drives devices and runs UI tests", "timeout": 300}),
            ),
            _ => (json!({"command": command, "args": args}), json!({})),
        };
        let map = |value: Value| value.as_object().cloned().unwrap_or_default();
        Entry { command_line, own: map(own), initial: map(initial) }
    }

    pub fn next_step(self) -> &'static str {
        match self {
            Client::Claude => "next: start `claude` in the project and approve the server; `/mcp` shows it",
            Client::ClaudeDesktop => "next: quit Claude Desktop and start it again",
            Client::Codex => "next: restart Codex; `/mcp` lists the server",
            Client::Vscode => "next: run `MCP: List Servers` in VS Code and start the server",
            Client::Cursor => "next: enable the server in Cursor's settings, under MCP",
            Client::Goose => "next: start a new Goose session",
        }
    }

    pub fn after_removal(self) -> &'static str {
        match self {
            Client::Claude => "next: restart Claude Code",
            Client::ClaudeDesktop => "next: restart Claude Desktop",
            Client::Codex => "next: restart Codex",
            Client::Vscode => "next: restart VS Code, or stop the server in it",
            Client::Cursor => "next: restart Cursor",
            Client::Goose => "next: start a new Goose session",
        }
    }
}
