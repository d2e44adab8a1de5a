//! The entries of `mcpServers:`, of the project and of its targets.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use trailblaze_core::config::{Runtime, ToolServerConfig as Entry};
use trailblaze_core::engine::tool::Contributor;
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::yaml::Spanned;
use trailblaze_protocol::driver::{AgentMode, DriverKey};
use trailblaze_script::bundle::is_bundle;
use trailblaze_toolhost::build::ServerBuild;
use trailblaze_toolhost::launch::find;
use trailblaze_toolhost::python::program;

use crate::project::loaded::Loaded;
use crate::project::server_entry::{EntryPlace, missing_files};
use crate::servers::server_sources::ServerKey;

/// The endings of files that a `command:` runs: the code of tools.
const SOURCES: [&str; 7] = [".py", ".ts", ".mts", ".js", ".mjs", ".cjs", ".rb"];

/// An entry, with its name and its place.
#[derive(Clone)]
pub(crate) struct Named {
    pub name: String,
    pub entry: Entry,
    pub origin: ToolOrigin,
    /// The target that it belongs to; `None` for an entry of the project.
    pub target: Option<String>,
    agent_mode: AgentMode,
    place: Option<EntryPlace>,
}

impl Named {
    pub fn key(&self) -> ServerKey {
        (self.target.clone(), self.name.clone())
    }

    /// Who contributes its tools.
    pub fn contributor(&self) -> Contributor {
        let contributor = Contributor::new(&format!("server {}", self.name), self.origin);
        let is_source =
            |arg: &&String| SOURCES.iter().any(|ending| arg.ends_with(ending)) && !Path::new(arg).is_absolute();
        let file = self.entry.script.as_ref().or_else(|| self.entry.args.iter().find(is_source));
        let file = file.map(|file| Arc::from(file.as_str()));
        Contributor { file, allows_reserved: self.entry.allow_reserved, ..contributor }
    }

    /// Where it has this value of a key, for messages: `at trailblaze.yaml:4:16`.
    pub fn at(&self, key: &str, value: &str) -> String {
        match &self.place {
            Some(place) => format!("at {}", place.of(key, value)),
            None => "in the server's entry".to_string(),
        }
    }

    /// Where it is: `trailblaze.yaml:3:3`.
    pub fn place(&self) -> Option<String> {
        self.place.as_ref().map(EntryPlace::of_entry)
    }

    /// What to do about the build that it is started from, if that has a problem.
    pub fn build_advice(&self, build: &ServerBuild) -> String {
        let key = if self.entry.command.as_deref() == Some(build.file()) { "command" } else { "args" };
        build.advice(&self.at(key, build.file()))
    }

    /// What to correct in it, if it names something that does not exist. `path` are the folders with programs.
    pub fn correction(&self, root: &Path, path: &OsStr) -> Option<String> {
        let Entry { command, working_dir, env, .. } = &self.entry;
        let missing = missing_files(root, &self.entry);
        if let Some((key @ "script", script)) = missing.first() {
            return Some(format!("correct `script` {}", self.at(key, script)));
        }
        if let Some(dir) = working_dir.as_deref().filter(|dir| !root.join(dir).is_dir()) {
            return Some(format!("correct `workingDir` {}", self.at("workingDir", dir)));
        }
        // A server may have a PATH of its own.
        let has_own_path = env.0.iter().any(|(name, _)| name.value == "PATH");
        let is_missing = |command: &&str| match command.contains('/') {
            true => !Path::new(&program(command, root)).exists(),
            false => !has_own_path && find(path, command).is_none(),
        };
        if let Some(command) = command.as_deref().filter(is_missing) {
            let install = if command.contains('/') { String::new() } else { format!("install `{command}`, or ") };
            return Some(format!("{install}correct `command` {}", self.at("command", command)));
        }
        let (key, file) = missing.first()?;
        Some(format!("`{file}` does not exist; correct `{key}` {}", self.at(key, file)))
    }

    /// Whether its script runs in this process, in a session with this driver.
    pub fn is_embedded(&self, driver: &DriverKey) -> bool {
        let Some(script) = &self.entry.script else { return false };
        // Nothing else runs a bundle.
        is_bundle(Path::new(script))
            || match self.entry.runtime {
                Some(runtime) => runtime == Runtime::Embedded,
                None => self.agent_mode == AgentMode::OnDevice && driver.runs_agent_on_device(),
            }
    }
}

/// The entries of a project and of its targets.
pub(crate) fn entries(loaded: &Loaded) -> Vec<Named> {
    let project = loaded.project.servers.0.iter().map(|(name, entry)| (None, name, entry));
    let targets = loaded.targets.iter().flat_map(|target| {
        let id = target.id.value.as_str();
        target.servers.0.iter().map(move |(name, entry)| (Some(id), name, entry))
    });
    let named = |(target, name, entry): (Option<&str>, &Spanned<String>, &Entry)| Named {
        name: name.value.clone(),
        entry: entry.clone(),
        origin: if target.is_some() { ToolOrigin::TargetServer } else { ToolOrigin::ProjectServer },
        target: target.map(str::to_string),
        agent_mode: loaded.project.agent_mode,
        place: loaded.server_file(target).map(|source| EntryPlace::new(source, name)),
    };
    project.chain(targets).map(named).collect()
}
