//! `trailblaze tool new`: a tool, its tests and its entry in the configuration, ready to run.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use trailblaze_core::config::{NewServer, Servers, ToolServerConfig, add_server};
use trailblaze_core::names::{ToolOrigin, judge};
use trailblaze_core::yaml::{Source, block};
use trailblaze_protocol::exit::Exit;
use trailblaze_toolhost::python::python_install;

use super::init::{blocking, is_there};
use super::tool::VERBS;
use super::{Context, Refusal};
use crate::files::write_in_project;
use crate::kit::blueprint::{self, Language, NewFile};
use crate::kit::{kotlin_sdk, python_sdk, rust_sdk, scripting};
use crate::output::print;
use crate::project::loaded::{Loaded, PROJECT_FILE};

/// Create a tool, its tests and its entry in the configuration, ready to run
#[derive(Args)]
pub struct NewArgs {
    /// The tool's name: words in camelCase joined by _, such as acme_signIn
    name: String,
    /// The language to write it in
    #[arg(long, value_enum)]
    lang: LanguageArg,
    /// Add it to one app, by its id in trailblaze-config/targets [default: the whole project]
    #[arg(long)]
    target: Option<String>,
    /// Overwrite the tool and its tests if they exist
    #[arg(long)]
    force: bool,
    /// Print the written files as JSON
    #[arg(long)]
    json: bool,
}

/// The language of a tool.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum LanguageArg {
    /// TypeScript, with @trailblaze/scripting: for tools that drive the screen, branch and use memory
    Ts,
    /// Python, with FastMCP: for tools that use libraries and services
    Py,
    /// Kotlin, with TrailblazeToolSet: for teams that write Kotlin, and tools that use libraries of the JVM
    Kotlin,
    /// Rust, with trailblaze-tools: for teams that write Rust
    Rust,
    /// JavaScript inside Trailblaze: for tools that decide, loop or compute, and need no packages
    Js,
    /// YAML: for a sequence of calls under one name
    Yaml,
}

impl From<LanguageArg> for Language {
    fn from(language: LanguageArg) -> Language {
        match language {
            LanguageArg::Ts => Language::Ts,
            LanguageArg::Py => Language::Py,
            LanguageArg::Kotlin => Language::Kotlin,
            LanguageArg::Rust => Language::Rust,
            LanguageArg::Js => Language::Js,
            LanguageArg::Yaml => Language::Yaml,
        }
    }
}

impl NewArgs {
    fn language(&self) -> Language {
        self.lang.into()
    }
}

pub fn new(context: &Context, args: &NewArgs) -> Result<Exit, Refusal> {
    let loaded = context.load(None)?;
    Refusal::unless_sound(&loaded.problems)?;
    check_name(&loaded, args)?;
    let plan = NewToolPlan::make(&loaded, args)?;
    plan.unless_blocked(&loaded.root, args.force)?;
    let before: Vec<&NewFile> = plan.new.iter().chain(&plan.changed).collect();
    write_all(&loaded.root, &before)?;
    let paths = |files: &[NewFile]| files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    let next = next(&loaded, args, &plan);
    if args.json {
        print::json(
            &json!({"tool": args.name, "written": paths(&plan.new), "changed": paths(&plan.changed), "next": next}),
        );
        return Ok(Exit::Passed);
    }
    let copy_of = |path: &str| {
        let own = [python_sdk::FOLDER, kotlin_sdk::FOLDER, rust_sdk::FOLDER]
            .into_iter()
            .find(|folder| path.starts_with(folder));
        scripting::folder_of(path).or(own)
    };
    // Of a copy of our libraries, the folder is enough.
    let names = |files: &[NewFile]| {
        let (copies, own): (Vec<String>, Vec<String>) =
            paths(files).into_iter().partition(|path| copy_of(path).is_some());
        let folders: BTreeSet<String> = copies.iter().filter_map(|path| Some(format!("{}/", copy_of(path)?))).collect();
        own.into_iter().chain(folders).collect::<Vec<_>>()
    };
    names(&plan.new).iter().for_each(print::data);
    names(&plan.changed).iter().for_each(|path| print::data(format!("{path} (changed)")));
    print::say("\nNext:");
    next.iter().for_each(|command| print::say(format!("  {command}")));
    Ok(Exit::Passed)
}

fn check_name(loaded: &Loaded, args: &NewArgs) -> Result<(), Refusal> {
    let name = &args.name;
    let refused = |message: String, hint: &str| Err(Refusal::Usage { message, hint: Some(hint.to_string()) });
    if let Some(objection) = judge(name, ToolOrigin::Yaml, &loaded.project.reserved_prefixes) {
        return refused(objection.message, "names look like signIn, acme_signIn or acme_ios_acceptCookies_v2");
    }
    if VERBS.contains(&name.as_str()) {
        let hint = "prefix it with the name of the app, such as acme_…";
        return refused(format!("`{name}` is a command of `trailblaze tool` and would hide the tool"), hint);
    }
    let own = blueprint::yaml_file(name);
    let holder = loaded.batches.iter().flat_map(|batch| &batch.tools).find(|tool| tool.name == *name);
    if let Some(holder) =
        holder.filter(|tool| !(args.force && is_in_file(args.language()) && *tool.contributor.label == *own))
    {
        let message = format!("a tool `{name}` already exists: {}", holder.contributor.label);
        return refused(message, "choose another name; prefix it with the name of the app, such as acme_…");
    }
    Ok(())
}

/// Whether the tool is defined by a file in trailblaze-config/tools.
fn is_in_file(language: Language) -> bool {
    matches!(language, Language::Js | Language::Yaml)
}

/// The files to write.
struct NewToolPlan {
    /// The tool and its tests, which must not exist yet.
    own: Vec<String>,
    new: Vec<NewFile>,
    changed: Vec<NewFile>,
    /// Commands that the user must run first.
    needs: Vec<String>,
}

impl NewToolPlan {
    fn make(loaded: &Loaded, args: &NewArgs) -> Result<NewToolPlan, Refusal> {
        let (root, name) = (&loaded.root, args.name.as_str());
        let trails = loaded.project.trails_dir.trim_start_matches("./").trim_end_matches('/');
        let target = args.target.as_deref();
        let trails = if trails.is_empty() { "." } else { trails };
        let script_root = loaded.project.script_root.as_ref().map(|folder| folder.value.as_str());
        let own = blueprint::own_files(args.language(), name, target, trails, script_root);
        let mut plan = NewToolPlan {
            own: own.iter().map(|(path, _)| path.clone()).collect(),
            new: own,
            changed: Vec::new(),
            needs: Vec::new(),
        };
        let shared = blueprint::shared_files(args.language());
        match args.language() {
            Language::Ts => plan.add_script_parts(root, name, target)?,
            Language::Py => plan.add_python_parts(loaded, name, target)?,
            Language::Kotlin => plan.add_kotlin_parts(root, name)?,
            Language::Rust => plan.add_rust_parts(root, name)?,
            Language::Js | Language::Yaml => {}
        }
        plan.new.extend(shared.into_iter().filter(|(path, _)| !is_there(&root.join(path))));
        plan.add_server(loaded, args)?;
        Ok(plan)
    }

    /// A file that is new or changed, or neither.
    fn add_file(&mut self, path: String, before: Option<&str>, text: String) {
        match before {
            None => self.new.push((path, text)),
            Some(before) if before != text => self.changed.push((path, text)),
            Some(_) => {}
        }
    }

    /// A copy of our libraries. Files of another version are replaced, because versions do not mix. Returns whether anything is written.
    fn add_copy<T: Into<String>>(
        &mut self,
        root: &Path,
        files: impl Iterator<Item = (String, T)>,
    ) -> Result<bool, Refusal> {
        let n_before = self.new.len() + self.changed.len();
        for (path, text) in files {
            let before = read_if_there(root, &path)?;
            self.add_file(path, before.as_deref(), text.into());
        }
        Ok(self.new.len() + self.changed.len() > n_before)
    }

    /// The server of all Kotlin tools, and the libraries that it uses.
    fn add_kotlin_parts(&mut self, root: &Path, name: &str) -> Result<(), Refusal> {
        let path = blueprint::KOTLIN_SERVER.to_string();
        let existing = read_if_there(root, &path)?;
        let text = blueprint::kotlin_server(existing.as_deref(), name).ok_or_else(|| Refusal::Usage {
            message: format!("`{path}` exists, but it is not clear where it adds toolsets"),
            hint: Some("write `.run(args)` on a line of its own, after the toolsets, and try again".to_string()),
        })?;
        self.add_file(path, existing.as_deref(), text);
        if self.add_copy(root, kotlin_sdk::files())? {
            self.needs.push(kotlin_sdk::install_command());
        }
        self.needs.push("mvn -q -f tools package".to_string());
        Ok(())
    }

    /// The server of all Rust tools, and the crates that it uses.
    fn add_rust_parts(&mut self, root: &Path, name: &str) -> Result<(), Refusal> {
        let path = blueprint::RUST_SERVER.to_string();
        let existing = read_if_there(root, &path)?;
        let text = blueprint::rust_server(existing.as_deref(), name).ok_or_else(|| Refusal::Usage {
            message: format!("`{path}` exists, but it is not clear where it adds toolsets"),
            hint: Some("write `.main()` on a line of its own, after the toolsets, and try again".to_string()),
        })?;
        self.add_file(path, existing.as_deref(), text);
        self.add_copy(root, rust_sdk::files())?;
        self.needs.push("cargo build --manifest-path tools/Cargo.toml".to_string());
        Ok(())
    }

    /// The tool server, and the package that it uses.
    fn add_script_parts(&mut self, root: &Path, name: &str, target: Option<&str>) -> Result<(), Refusal> {
        let path = blueprint::ts_server_file(target);
        let existing = read_if_there(root, &path)?;
        let text = blueprint::ts_server(existing.as_deref(), name).ok_or_else(|| Refusal::Usage {
            message: format!("`{path}` exists, but it is not clear where it imports tools"),
            hint: Some(format!("add `import './{name}.ts';` to it and try again")),
        })?;
        self.add_file(path, existing.as_deref(), text);
        let manifest = read_if_there(root, "package.json")?;
        let is_installed = root.ancestors().any(|folder| folder.join("node_modules").join(scripting::PACKAGE).exists());
        let package: Value = manifest.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let named = ["dependencies", "devDependencies"]
            .iter()
            .find_map(|kind| package.get(kind)?.get(scripting::PACKAGE)?.as_str());
        let needs_copy = match (manifest.is_some(), named) {
            (true, None) => !is_installed,
            (true, Some(version)) => version == scripting::DEPENDENCY,
            (false, _) => true,
        };
        if needs_copy {
            self.add_copy(root, scripting::files())?;
        }
        if manifest.is_some() && package.get("type").and_then(Value::as_str) != Some("module") {
            self.needs.push("npm pkg set type=module".to_string());
        }
        match (is_installed, manifest.is_some() && named.is_none()) {
            (true, _) => {}
            (false, true) => self.needs.push(scripting::install_command()),
            (false, false) => self.needs.push("npm install".to_string()),
        }
        Ok(())
    }

    /// The server of all Python tools, and the package that it may use.
    fn add_python_parts(&mut self, loaded: &Loaded, name: &str, target: Option<&str>) -> Result<(), Refusal> {
        let root = &loaded.root;
        let path = blueprint::py_server_file(target);
        let existing = read_if_there(root, &path)?;
        let text = blueprint::py_server(existing.as_deref(), name).ok_or_else(|| Refusal::Usage {
            message: format!("`{path}` exists, but it is not clear where it adds tools"),
            hint: Some(format!("add `import {name}_tool` and `server.mount({name}_tool.tools)` to it and try again")),
        })?;
        self.add_file(path, existing.as_deref(), text);
        self.add_copy(root, python_sdk::files())?;
        let listed = std::fs::read_to_string(root.join("requirements.txt")).unwrap_or_default();
        let lists = |start: &str| listed.is_empty() || listed.lines().any(|line| line.trim_start().starts_with(start));
        let sdk = format!("./{}", python_sdk::FOLDER);
        let mut wanted = Vec::new();
        if lists("fastmcp") || lists(&sdk) {
            wanted.push("-r requirements.txt");
        }
        if !lists("fastmcp") {
            wanted.push("fastmcp");
        }
        if !lists(&sdk) {
            wanted.push(&sdk);
        }
        self.needs.extend(python_install(root, loaded.environment.path(), &wanted.join(" ")));
        Ok(())
    }

    /// Adds the entry of the tool's server, unless it exists.
    fn add_server(&mut self, loaded: &Loaded, args: &NewArgs) -> Result<(), Refusal> {
        let Some(new) = blueprint::server(args.language(), args.target.as_deref()) else {
            return match &args.target {
                None => Ok(()),
                Some(_) => Err(Refusal::Usage {
                    message: "a tool without a server belongs to the whole project; it cannot belong to a target"
                        .to_string(),
                    hint: Some(
                        "to offer it only to that app's tests, put it into a toolset that the target names".to_string(),
                    ),
                }),
            };
        };
        let (path, keys, servers) = match &args.target {
            None => (PROJECT_FILE.to_string(), ["mcpServers", "mcp_servers"], &loaded.project.servers),
            Some(id) => {
                let target = loaded.target(id).map_err(|near| Refusal::Usage {
                    message: format!("unknown target `{id}`"),
                    hint: near.map(|near| format!("did you mean `{near}`?")),
                })?;
                let path = loaded.files.targets.get(id).cloned().unwrap_or_default();
                (path, ["mcp_servers", "mcpServers"], &target.servers)
            }
        };
        let has = |servers: &Servers| servers.0.iter().any(|(_, server)| starts_the_same(server, &new));
        // An existing entry already provides the tool.
        if has(&loaded.project.servers) || has(servers) {
            return Ok(());
        }
        // Another entry for the same server would offer each of its tools twice to the tests of that target.
        if let Some(other) = loaded.targets.iter().find(|target| has(&target.servers)) {
            let id = &other.id.value;
            let path = loaded.files.targets.get(id).cloned().unwrap_or_default();
            return Err(Refusal::Usage {
                message: format!("the server of these tools belongs to the target `{id}`"),
                hint: Some(format!("use `--target {id}`, or move its entry from `{path}` to `{PROJECT_FILE}`")),
            });
        }
        if let (Some(id), Some(toolset)) = (&args.target, new.entry.get("toolset").and_then(Value::as_str)) {
            let target = loaded.target(id).ok();
            let platforms = target.into_iter().flat_map(|target| &target.platforms.0);
            if platforms.into_iter().any(|(_, entry)| entry.tool_sets.is_some()) {
                self.needs
                    .push(format!("# in {path}: add `{toolset}` to `tool_sets:`, so that models are offered the tool"));
            }
        }
        let new = NewServer { name: free_name(&new.name, servers), ..new };
        let before = read_if_there(&loaded.root, &path)?;
        let source = Source::new(path.as_str(), before.clone().unwrap_or_default());
        let text = add_server(&source, keys, &new).map_err(|error| {
            let entry = block(&json!({ keys[0]: { &new.name: new.entry } }), 2);
            let hint = Some(format!("add this by hand and try again:\n{}", entry.trim_end()));
            Refusal::Usage { message: error.to_string(), hint }
        })?;
        self.add_file(path, before.as_deref(), text);
        Ok(())
    }

    fn unless_blocked(&self, root: &Path, is_forced: bool) -> Result<(), Refusal> {
        if let Some(file) = self.new.iter().find_map(|(path, _)| blocking(root, path)) {
            return Err(Refusal::usage(format!("`{file}` is a file, but a folder is needed there")));
        }
        let existing: Vec<&str> =
            self.own.iter().map(String::as_str).filter(|path| is_there(&root.join(path))).collect();
        if let Some(folder) = existing.iter().find(|path| root.join(path).is_dir()) {
            return Err(Refusal::usage(format!("`{folder}` is a folder, but a file is needed there")));
        }
        if existing.is_empty() || is_forced {
            return Ok(());
        }
        let message = format!("these files exist in `{}`:\n  {}", root.display(), existing.join("\n  "));
        Err(Refusal::Usage { message, hint: Some("`--force` overwrites them".to_string()) })
    }
}

fn starts_the_same(server: &ToolServerConfig, new: &NewServer) -> bool {
    let script = server.script.as_deref().map(|script| script.trim_start_matches("./"));
    match new.entry.get("script") {
        Some(own) => script == own.as_str(),
        None if server.args.is_empty() => {
            server.command.is_some() && server.command.as_deref() == new.entry.get("command").and_then(Value::as_str)
        }
        None => Some(&json!(server.args)) == new.entry.get("args"),
    }
}

/// The name, with a number appended if another server has it.
fn free_name(name: &str, servers: &Servers) -> String {
    let is_free = |name: &String| !servers.0.iter().any(|(taken, _)| taken.value == *name);
    let mut names = std::iter::once(name.to_string()).chain((2..).map(|number| format!("{name}-{number}")));
    names.find(is_free).expect("numbers do not run out")
}

fn read_if_there(root: &Path, path: &str) -> Result<Option<String>, Refusal> {
    match std::fs::read_to_string(root.join(path)) {
        Ok(text) => Ok(Some(text)),
        // A file where a folder is needed is reported later, together with the other conflicts.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(source) => Err(Refusal::Io { what: format!("cannot read `{path}`"), source }),
    }
}

/// Writes all files or, as far as possible, none.
fn write_all(root: &Path, files: &[&NewFile]) -> Result<(), Refusal> {
    let mut undo: Vec<(PathBuf, Option<Vec<u8>>)> = Vec::new();
    for (path, text) in files {
        let file = root.join(path);
        let before = std::fs::read(&file).ok();
        if let Err(source) = write_in_project(root, &file, text) {
            for (file, before) in undo {
                // Best effort: the original failure is reported below.
                let _ = match before {
                    Some(before) => write_in_project(root, &file, before),
                    None => std::fs::remove_file(&file),
                };
            }
            return Err(Refusal::Io { what: format!("cannot write `{path}`"), source });
        }
        undo.push((file, before));
    }
    Ok(())
}

/// The commands to run next.
fn next(loaded: &Loaded, args: &NewArgs, plan: &NewToolPlan) -> Vec<String> {
    let mut call = blueprint::example_call(args.language(), &args.name);
    if let [first, _, ..] = loaded.project.devices.as_slice() {
        call.push_str(&format!(" -d {}", first.id.value));
    }
    if let Some(target) =
        args.target.as_ref().filter(|id| loaded.project.target.as_ref().is_none_or(|own| own.value != **id))
    {
        call.push_str(&format!(" --target {target}"));
    }
    let mut commands = plan.needs.clone();
    commands.extend([call, format!("trailblaze tool test {}", args.name)]);
    commands
}
