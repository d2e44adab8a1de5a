//! The entries of `mcpServers:`, of the project and of its targets.

use std::path::Path;
use std::sync::Arc;

use trailblaze_core::config::{Runtime, ToolServerConfig as Entry};
use trailblaze_core::engine::tool::Contributor;
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::yaml::Spanned;
use trailblaze_protocol::driver::{AgentMode, DriverKey};
use trailblaze_script::bundle::is_bundle;

use crate::project::loaded::Loaded;
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
    };
    project.chain(targets).map(named).collect()
}
