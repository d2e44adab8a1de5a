//! What the server knows of the project: its problems, its tools, and where they are defined.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::schema::is_required;
use trailblaze_core::yaml::{Problem, Problems, Source, Span};

use crate::output::console::Quiet;
use crate::project::environment::Environment;
use crate::project::loaded::{Loaded, PROJECT_FILE};
use crate::run::check::{CheckOptions, check};
use crate::servers::entries::entries;
use crate::servers::tool_servers::{Needed, ServerMode};
use crate::sessions::host::SessionHost;
use crate::sessions::wiring::Wiring;

/// The largest file that is searched for the definition of a tool.
const LARGEST: u64 = 2_000_000;

/// Tools of all devices, by name.
pub struct Knowledge {
    loaded: Arc<Loaded>,
    tools: BTreeMap<String, Arc<Tool>>,
}

impl Knowledge {
    /// Reads the project. Starts no servers: their tools are those that they listed when they last ran.
    pub async fn read(root: &Path, environment: &Arc<Environment>, host: &SessionHost) -> Option<Knowledge> {
        let loaded = Arc::new(Loaded::read(root, environment).ok()?);
        let mut wiring = Wiring::new(&loaded, host, None);
        wiring.servers = wiring.tool_servers(ServerMode::Remember).into();
        let target = wiring.target.clone();
        let mut tools = BTreeMap::new();
        for device in loaded.all_devices().unwrap_or_default() {
            if let Ok(prepared) = wiring.prepare(&device, target.as_deref(), |_| Needed::All).await {
                let registry = prepared.discard().await;
                tools.extend(registry.tools().map(|tool| (tool.name.clone(), Arc::clone(tool))));
            }
        }
        wiring.close().await;
        Some(Knowledge { loaded, tools })
    }

    /// The problems that `check` finds in the project's files and in these trails.
    pub async fn problems(&self, host: &SessionHost, trails: Vec<PathBuf>) -> Vec<Problem> {
        let without_trails = trails.is_empty();
        let options = CheckOptions { paths: trails, is_offline: true, without_trails, ..CheckOptions::default() };
        let wiring = Wiring::new(&self.loaded, host, None);
        match check(&self.loaded, wiring, &options, Arc::new(Quiet)).await {
            Ok(found) => found.problems,
            Err(error) => {
                let mut problems = self.loaded.problems.clone();
                // Something that concerns the whole project, such as a wrong name of a device.
                let file = self.loaded.root.join(PROJECT_FILE);
                let source = Source::new(PROJECT_FILE, std::fs::read_to_string(file).unwrap_or_default());
                let mut whole = Problems::new(&source);
                whole.error(Span::default(), error.to_string());
                problems.extend(whole.into_vec());
                problems
            }
        }
    }

    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values().map(AsRef::as_ref)
    }

    /// What a tool does and takes, in Markdown.
    pub fn describe(&self, name: &str) -> Option<String> {
        let tool = self.tools.get(name)?;
        let schema = tool.schema.json();
        let mut text = format!("**{}**\n\n{}\n", tool.name, tool.description.trim());
        let properties = schema.get("properties").and_then(Value::as_object);
        for (nth, (argument, about)) in properties.into_iter().flatten().enumerate() {
            let needed = if is_required(schema, argument) { ", required" } else { "" };
            let kind = about["type"].as_str().unwrap_or("value");
            let words = about["description"].as_str().unwrap_or_default();
            text.push_str(if nth == 0 { "\n" } else { "" });
            text.push_str(&format!("- `{argument}` ({kind}{needed}) {words}\n"));
        }
        text.push_str(&format!("\n*{}*", tool.contributor.label));
        Some(text)
    }

    /// Where a tool is defined: its file, the script of its server, or the entry of its server.
    pub fn definition(&self, name: &str) -> Option<(PathBuf, Arc<Source>, Span)> {
        let label = &*self.tools.get(name)?.contributor.label;
        let in_script = label.strip_prefix("server ").and_then(|server| self.in_script(server, name));
        in_script.or_else(|| {
            let (source, span) = self.loaded.place(label)?;
            Some((self.loaded.root.join(&source.path), Arc::clone(source), *span))
        })
    }

    /// The place of a tool's name in the script of its server.
    fn in_script(&self, server: &str, name: &str) -> Option<(PathBuf, Arc<Source>, Span)> {
        let entries = entries(&self.loaded);
        let entry = &entries.iter().find(|named| named.name == server)?.entry;
        let folder = self.loaded.root.join(entry.working_dir.as_deref().unwrap_or_default());
        let own = entry.script.iter().map(|script| self.loaded.root.join(script));
        let files = own.chain(entry.args.iter().map(|argument| folder.join(argument)));
        files.filter(|file| file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() < LARGEST)).find_map(|file| {
            let text = std::fs::read_to_string(&file).ok()?;
            let quoted = ['\'', '"', '`'].iter().find_map(|quote| text.find(&format!("{quote}{name}{quote}")));
            // In Python, a tool often has the name of its function.
            let start = quoted.map(|at| at + 1).or_else(|| Some(text.find(&format!("def {name}("))? + 4))?;
            let span = Span { start, end: start + name.len(), line: 0, column: 0 };
            Some((file, Source::new(server, text), span))
        })
    }
}
