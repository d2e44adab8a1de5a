//! Which files of a project a server's files import, directly or indirectly: TypeScript and JavaScript as the linker of
//! scripts resolves them, Python by reading its `import` statements.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use trailblaze_core::config::ToolServerConfig;
use trailblaze_core::limits;
use trailblaze_script::project_files;

/// JSON files that control how a script runs.
pub const MANIFESTS: [&str; 2] = ["package.json", "tsconfig.json"];
/// How many files of Python are read at most.
const MOST: usize = 2_000;

/// What a server is made of.
#[derive(Debug, Clone, Default)]
pub struct SourceFiles {
    /// The files that its entry names.
    pub named: Vec<PathBuf>,
    /// The files that these import, sorted, without the named ones.
    pub imported: Vec<PathBuf>,
}

impl SourceFiles {
    pub fn of(root: &Path, server: &ToolServerConfig) -> SourceFiles {
        let folder = server.working_dir.as_ref().map_or_else(|| root.to_path_buf(), |dir| root.join(dir));
        let program = server.command.iter().filter(|command| command.contains('/')).map(|command| root.join(command));
        let script = server.script.iter().map(|script| root.join(script));
        // The installation path on this machine is irrelevant.
        let args = server.args.iter().filter(|arg| Path::new(arg).is_relative()).map(|arg| folder.join(arg));
        let named = program.filter(|program| program.starts_with(root)).chain(script).chain(args);
        let named: Vec<PathBuf> = named.filter(|path| path.is_file()).collect();
        let imported = imported(root, &folder, &named, &server.args);
        SourceFiles { named, imported }
    }
}

/// `folder` is where the server is started, and `args` are its arguments: `-m` names a module of Python.
fn imported(root: &Path, folder: &Path, files: &[PathBuf], args: &[String]) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let mut modules = Vec::new();
    for file in files {
        let near = file.parent().unwrap_or(root);
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs") => {
                // A script outside the project may import what is next to it.
                let around = if file.starts_with(root) { root } else { near };
                found.extend(project_files(around, file));
                found.extend(MANIFESTS.iter().map(|name| near.join(name)).filter(|file| file.is_file()));
            }
            Some("py") => modules.push((near.to_path_buf(), file.clone())),
            _ => {}
        }
    }
    let named = args.iter().position(|arg| arg == "-m").and_then(|at| args.get(at + 1));
    if let Some(module) = named {
        let main = folder.join(module.replace('.', "/")).join("__main__.py");
        let files = python_module(folder, module).into_iter().chain(main.is_file().then_some(main));
        modules.extend(files.map(|file| (folder.to_path_buf(), file)));
    }
    found.extend(python_files(modules));
    // The linker resolves links.
    let is_named =
        |path: &PathBuf| files.iter().any(|file| file == path || file.canonicalize().is_ok_and(|file| file == *path));
    found.into_iter().filter(|path| !is_named(path)).collect()
}

/// The files of Python modules and of all that they import. Each has the folder that its absolute imports start from.
fn python_files(mut modules: Vec<(PathBuf, PathBuf)>) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    while let Some((base, file)) = modules.pop() {
        if found.len() >= MOST || !found.insert(file.clone()) {
            continue;
        }
        let is_small = std::fs::metadata(&file).is_ok_and(|about| about.len() <= limits::FILE_BYTES as u64);
        let Some(text) = is_small.then(|| std::fs::read_to_string(&file).ok()).flatten() else { continue };
        for (n_dots, module) in python_imports(&text) {
            // One dot is the folder of the file, and each further dot the one above.
            let start = match n_dots {
                0 => Some(base.as_path()),
                n => file.ancestors().nth(n),
            };
            let package = start.filter(|_| n_dots > 0).map(|package| package.join("__init__.py"));
            let files = start.into_iter().flat_map(|start| python_module(start, &module));
            let files = package.filter(|file| file.is_file()).into_iter().chain(files);
            modules.extend(files.map(|file| (base.clone(), file)));
        }
    }
    found
}

/// The files that a module such as `a.b` consists of, as far as they exist in a folder: its packages and itself.
fn python_module(folder: &Path, module: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut path = folder.to_path_buf();
    for part in module.split('.').filter(|part| !part.is_empty()) {
        path.push(part);
        files.extend([path.join("__init__.py"), path.with_extension("py")]);
    }
    files.retain(|file| file.is_file());
    files
}

/// The modules that a source of Python imports, each with the number of its leading dots. What `from a import b` imports may
/// be a module, so it counts as one.
fn python_imports(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for statement in statements(text) {
        if let Some(modules) = statement.strip_prefix("import ") {
            found.extend(modules.split(',').map(|module| (0, first_word(module).to_string())));
        } else if let Some((from, names)) = statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
        {
            let (from, names) = (from.trim(), names.trim().trim_matches(['(', ')']));
            let module = from.trim_start_matches('.');
            let n_dots = from.len() - module.len();
            found.push((n_dots, module.to_string()));
            let names = names.split(',').map(first_word).filter(|name| !matches!(*name, "" | "*"));
            found.extend(names.map(|name| (n_dots, format!("{module}.{name}"))));
        }
    }
    found
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// The lines of a source that may be imports, each with the lines that continue it, and without comments.
fn statements(text: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    while let Some(line) = lines.next() {
        if !line.starts_with("import ") && !line.starts_with("from ") {
            continue;
        }
        let mut whole = line.to_string();
        while whole.ends_with('\\') || whole.contains('(') && !whole.contains(')') {
            let Some(next) = lines.next() else { break };
            whole = format!("{} {next}", whole.trim_end_matches('\\'));
        }
        // `import (` without a space before the parenthesis is valid too.
        statements.push(whole.replace(" import(", " import ("));
    }
    statements
}
