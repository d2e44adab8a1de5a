//! Tools in Rust, compiled into a team's own build of Trailblaze, and the same tools as an MCP server.

mod compiled_in;
mod on_device;
mod parity;
mod peers;
mod served;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{Project, Ran, Running, example};

/// The team's own build of the program.
fn program() -> PathBuf {
    example("team")
}

/// The program with these toolsets compiled in.
trait Team {
    fn team_command(&self, toolsets: &str, args: &[&str]) -> Command;
    fn team(&self, toolsets: &str, args: &[&str]) -> Ran;
    fn team_shell(&self, toolsets: &str, device: &str, lines: &str) -> Ran;
    fn team_start(&self, toolsets: &str, args: &[&str]) -> Running;
}

impl Team for Project {
    fn team_command(&self, toolsets: &str, args: &[&str]) -> Command {
        let mut command = self.command_of(program(), args);
        command.env("TEAM_TOOLSETS", toolsets);
        command
    }

    fn team(&self, toolsets: &str, args: &[&str]) -> Ran {
        self.finish(self.team_command(toolsets, args))
    }

    fn team_shell(&self, toolsets: &str, device: &str, lines: &str) -> Ran {
        // As a file: it may have more lines than a pipe takes at once.
        self.write("lines", lines);
        let mut command = self.team_command(toolsets, &["shell", "--json", "-d", device]);
        let lines = std::fs::File::open(self.root().join("lines")).expect("the lines");
        self.ran(command.stdin(lines).output().expect("the program starts"))
    }

    fn team_start(&self, toolsets: &str, args: &[&str]) -> Running {
        let mut command = self.team_command(toolsets, args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::of(command.spawn().expect("the program starts"))
    }
}

/// A project with the toolset `Team` as a server.
fn with_server(project: Project, settings: &str) -> Project {
    let before = project.read("trailblaze.yaml");
    let server = format!(
        "mcpServers:\n  team:\n    command: {}\n    args: [serve-tools]\n    env: {{TEAM_TOOLSETS: team}}\n{settings}",
        program().display()
    );
    project.with("trailblaze.yaml", format!("{before}{server}"))
}
