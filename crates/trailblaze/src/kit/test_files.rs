//! Finds the tests of a project's tools: test files next to the tools, and trails that call them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use trailblaze_core::names::ToolOrigin;
use trailblaze_core::trail::Trail;

use crate::project::loaded::Loaded;
use crate::project::test_runner::runner_of;

/// Folders of installed or generated files.
const PRUNED: [&str; 4] = ["node_modules", "logs", "target", "__pycache__"];

/// All test files in the folders of tools: `tools/`, and those of the servers.
pub fn all(loaded: &Loaded) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    for folder in folders(loaded) {
        let mut walk = WalkBuilder::new(&folder);
        let is_pruned = |name: &std::ffi::OsStr| PRUNED.iter().any(|pruned| name == *pruned);
        walk.require_git(false).filter_entry(move |entry| !is_pruned(entry.file_name()));
        let files = walk.build().filter_map(Result::ok).map(ignore::DirEntry::into_path);
        found.extend(files.filter(|path| path.is_file() && runner_of(path).is_some()));
    }
    found.into_iter().collect()
}

/// The Cargo projects with tools in Rust, whose unit tests `cargo test` runs: how each is named from the root of the project.
pub fn cargo_manifests(loaded: &Loaded) -> Vec<String> {
    let targets = loaded.targets.iter().flat_map(|target| &target.servers.0);
    let servers = loaded.project.servers.0.iter().chain(targets).map(|(_, server)| server);
    let built = servers.filter_map(|server| server.command.as_deref()?.split_once("target/"));
    let manifests = built.map(|(folder, _)| format!("{folder}Cargo.toml")).chain(["Cargo.toml".to_string()]);
    let is_of_tools = |manifest: &String| {
        std::fs::read_to_string(loaded.root.join(manifest)).is_ok_and(|text| text.contains("trailblaze-tools"))
    };
    manifests.filter(is_of_tools).collect::<BTreeSet<String>>().into_iter().collect()
}

fn folders(loaded: &Loaded) -> BTreeSet<PathBuf> {
    let targets = loaded.targets.iter().flat_map(|target| &target.servers.0);
    let servers = loaded.project.servers.0.iter().chain(targets).map(|(_, server)| server);
    let programs = servers.flat_map(|server| {
        let dir = server.working_dir.as_ref().map_or_else(|| loaded.root.clone(), |dir| loaded.root.join(dir));
        let args = server.args.iter().map(move |arg| dir.join(arg));
        server.script.iter().map(|script| loaded.root.join(script)).chain(args).collect::<Vec<_>>()
    });
    // The folder of a system program, or the project's root, would include far too much.
    let is_inside = |folder: &PathBuf| folder.starts_with(&loaded.root) && *folder != loaded.root;
    let beside = programs.filter(|path| path.is_file()).filter_map(|path| Some(path.parent()?.to_path_buf()));
    let own = Some(loaded.root.join("tools")).filter(|folder| folder.is_dir());
    beside.filter(is_inside).chain(own).collect()
}

/// Whether a test file mentions a tool.
pub fn names_tool(path: &Path, tool: &str) -> bool {
    let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(tool)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + tool.len()..].starts_with(is_word))
}

/// The tools that a trail calls directly, on any device.
pub fn called(trail: &Trail) -> BTreeSet<&str> {
    let own = trail.trailhead.iter().map(|head| &head.0).chain(&trail.steps);
    let steps = own.chain(trail.stretch_steps().map(|inner| &inner.step));
    let calls =
        steps.flat_map(|step| step.tools.iter().flatten().chain(step.recording.iter().flat_map(|(_, calls)| calls)));
    calls.map(|call| call.tool.value.as_str()).collect()
}

/// Whether a trail calls a custom tool.
pub fn calls_own(trail: &Trail, loaded: &Loaded) -> bool {
    let is_built_in = |name: &str| {
        let built_in = loaded.batches.iter().filter(|batch| batch.contributor.origin == ToolOrigin::BuiltIn);
        built_in.flat_map(|batch| &batch.tools).any(|tool| tool.name == name)
    };
    called(trail).into_iter().any(|name| !is_built_in(name))
}
