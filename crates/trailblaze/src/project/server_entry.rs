//! The entry of a tool server in a file of the project: what it names that does not exist, and where.

use std::path::Path;
use std::sync::Arc;

use trailblaze_core::config::ToolServerConfig;
use trailblaze_core::yaml::{Problems, Source, Span, Spanned, YamlNode, read};

/// Where an entry is.
#[derive(Debug, Clone)]
pub struct EntryPlace {
    source: Arc<Source>,
    name: Spanned<String>,
}

impl EntryPlace {
    pub fn new(source: &Arc<Source>, name: &Spanned<String>) -> EntryPlace {
        EntryPlace { source: Arc::clone(source), name: name.clone() }
    }

    /// Where the entry has this value of a key, for messages: `trailblaze.yaml:4:16`.
    pub fn of(&self, key: &str, value: &str) -> String {
        self.shown(self.span(key, value))
    }

    /// The same of the entry itself.
    pub fn of_entry(&self) -> String {
        self.shown(self.name.span)
    }

    fn shown(&self, Span { line, column, .. }: Span) -> String {
        format!("{}:{line}:{column}", self.source.path)
    }

    /// The same as a span. If the value is not found, that of the entry.
    pub fn span(&self, key: &str, value: &str) -> Span {
        self.find(key, value).unwrap_or(self.name.span)
    }

    fn find(&self, key: &str, value: &str) -> Option<Span> {
        let file = read(&self.source, &mut Problems::new(&self.source))?;
        let servers = file.get("mcpServers").or_else(|| file.get("mcp_servers"))?;
        let name = Some(self.name.value.as_str());
        let entry = match servers.items() {
            // A target lists its servers.
            Some(items) => items.iter().find(|entry| entry.get("name").and_then(YamlNode::raw) == name),
            None => servers.get(&self.name.value),
        }?;
        let node = entry.get(key)?;
        let values = node.items().unwrap_or(std::slice::from_ref(node));
        values.iter().find(|node| node.raw() == Some(value)).map(|node| node.span)
    }
}

/// The files that an entry names for its program and that do not exist, each after its key. A jar may not be built yet.
pub fn missing_files<'s>(root: &Path, server: &'s ToolServerConfig) -> Vec<(&'static str, &'s str)> {
    const SOURCES: [&str; 9] = ["py", "ts", "mts", "js", "mjs", "cjs", "rb", "sh", "kts"];
    let dir = server.working_dir.as_ref().map_or_else(|| root.to_path_buf(), |dir| root.join(dir));
    let is_source = |arg: &&str| {
        let ending = Path::new(arg).extension().and_then(|ending| ending.to_str());
        !arg.starts_with('-') && !arg.contains("://") && ending.is_some_and(|ending| SOURCES.contains(&ending))
    };
    let script = server.script.as_deref().filter(|script| !root.join(script).exists());
    let args = server.args.iter().map(String::as_str).filter(|_| server.command.is_some()).filter(is_source);
    let args = args.filter(|arg| !dir.join(arg).exists()).map(|arg| ("args", arg));
    script.map(|script| ("script", script)).into_iter().chain(args).collect()
}

#[cfg(test)]
mod tests {
    use trailblaze_core::config::Servers;
    use trailblaze_core::yaml::{Decode, decode};

    use super::*;

    fn place(text: &str, key: &str, value: &str) -> String {
        let source = Source::new("a.yaml", text);
        let mut problems = Problems::new(&source);
        let file: YamlNode = decode(&source, &mut problems).unwrap();
        let servers = file.get("mcpServers").or_else(|| file.get("mcp_servers")).unwrap();
        let (name, _) = Servers::decode(servers, &mut problems).unwrap().0.pop().unwrap();
        EntryPlace::new(&source, &name).of(key, value)
    }

    #[test]
    fn a_value_of_an_entry_is_found_and_otherwise_the_entry() {
        let mapping = "mcpServers:\n  a: {command: x}\n  acme:\n    command: x\n    args: [-u, x, acme.py]\n";
        assert_eq!(place(mapping, "command", "x"), "a.yaml:4:14");
        assert_eq!(place(mapping, "args", "acme.py"), "a.yaml:5:19");
        assert_eq!(place(mapping, "workingDir", "x"), "a.yaml:3:3");
        let list = "mcp_servers:\n  - name: acme\n    script: acme.ts\n";
        assert_eq!(place(list, "script", "acme.ts"), "a.yaml:3:13");
        assert_eq!(place("mcp_servers:\n  - script: acme.ts\n", "script", "acme.ts"), "a.yaml:2:5");
    }
}
