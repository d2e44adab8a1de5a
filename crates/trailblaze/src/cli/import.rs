//! `trailblaze import`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;
use trailblaze_core::tools::batches;
use trailblaze_import::{ForeignFile, Imported, ImportedFile, kotlin, maestro, playwright};
use trailblaze_protocol::exit::Exit;

use super::init::{blocking, is_there};
use super::{Context, Refusal};
use crate::files::{check_links, write_in_project};
use crate::output::print;

/// Make trails of the files of other tools
#[derive(Args)]
pub struct ImportCommand {
    #[command(subcommand)]
    verb: ImportVerb,
}

#[derive(Subcommand)]
enum ImportVerb {
    Maestro(FlowsArgs),
    Playwright(TestsArgs),
    Kotlin(ProjectArgs),
}

/// Make a trail of each flow of Maestro; flows and scripts that they run become tools
#[derive(Args)]
struct FlowsArgs {
    /// The flows, or folders of flows
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Make a trail of each test in files of Playwright Test
#[derive(Args)]
struct TestsArgs {
    /// The test files, or folders of test files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The address that relative ones belong to; trails remember it as `base`
    #[arg(long, value_name = "URL", default_value = "http://localhost:3000")]
    base_url: String,
    #[command(flatten)]
    output: OutputArgs,
}

/// Make a project of a project of the Kotlin Trailblaze
#[derive(Args)]
struct ProjectArgs {
    /// The folder that contains `trails`
    dir: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Args)]
struct OutputArgs {
    /// The folder to write to [default: the project's folder]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    /// Print what was written, and what became of each statement, as JSON
    #[arg(long)]
    json: bool,
}

/// The most bytes that a file may have.
const FILE_BYTES: u64 = 2 << 20;
/// Folders that contain no files of the user.
const IGNORED_FOLDERS: [&str; 6] = ["node_modules", "build", "target", ".git", ".gradle", ".trailblaze"];

pub fn import(context: &Context, command: ImportCommand) -> Result<Exit, Refusal> {
    match command.verb {
        ImportVerb::Maestro(args) => {
            let is_flow =
                |name: &str| (name.ends_with(".yaml") || name.ends_with(".yml")) && !name.starts_with("config.");
            let flows = read_all(&args.files, is_flow)?;
            let others = referenced(&flows);
            write(context, &args.output, maestro::import(&flows, &others), false)
        }
        ImportVerb::Playwright(args) => {
            let is_test = |name: &str| {
                let endings = ["ts", "js", "mts", "mjs", "tsx", "jsx"];
                endings.iter().any(|ending| {
                    name.ends_with(&format!(".spec.{ending}")) || name.ends_with(&format!(".test.{ending}"))
                })
            };
            let files = read_all(&args.files, is_test)?;
            write(context, &args.output, playwright::import(&files, Some(&args.base_url)), false)
        }
        ImportVerb::Kotlin(args) => {
            let known = ["yaml", "yml", "ts", "js", "mjs"];
            let is_known = |name: &str| known.iter().any(|ending| name.ends_with(&format!(".{ending}")));
            if !args.dir.is_dir() {
                return Err(Refusal::usage(format!("`{}` is not a folder", args.dir.display())));
            }
            let mut files = read_all(std::slice::from_ref(&args.dir), is_known)?;
            let prefix = format!("{}/", args.dir.display().to_string().trim_end_matches('/'));
            let prefix = prefix.trim_start_matches("./");
            for file in &mut files {
                file.path = file.path.strip_prefix(prefix).unwrap_or(&file.path).to_string();
            }
            if !files.iter().any(|file| file.path.starts_with("trails/")) {
                let message = format!("`{}` has no folder `trails` with trails in it", args.dir.display());
                let hint = Some("name the folder that contains `trails`".to_string());
                return Err(Refusal::Usage { message, hint });
            }
            let built_in: BTreeSet<String> =
                batches().iter().flat_map(|batch| &batch.tools).map(|tool| tool.name.to_string()).collect();
            write(context, &args.output, kotlin::import(&files, &built_in), true)
        }
    }
}

/// Reads files, and those of folders whose names fit, in the order of their names.
fn read_all(paths: &[PathBuf], fits: impl Fn(&str) -> bool) -> Result<Vec<ForeignFile>, Refusal> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            let before = found.len();
            collect(path, &fits, &mut found);
            if found.len() == before {
                return Err(Refusal::usage(format!("`{}` has no files to import", path.display())));
            }
        } else {
            found.push(path.clone());
        }
    }
    found.iter().map(|path| read(path)).collect()
}

fn collect(folder: &Path, fits: &impl Fn(&str) -> bool, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(facts) = path.symlink_metadata() else { continue };
        if facts.is_dir() && !IGNORED_FOLDERS.contains(&name.as_str()) {
            collect(&path, fits, found);
        } else if facts.is_file() && fits(&name) {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> Result<ForeignFile, Refusal> {
    let shown = path.display().to_string();
    let io = |source| Refusal::Io { what: format!("cannot read `{shown}`"), source };
    let size = std::fs::metadata(path).map_err(io)?.len();
    if size > FILE_BYTES {
        return Err(Refusal::usage(format!("`{shown}` has {size} bytes; the limit is {FILE_BYTES}")));
    }
    let text = std::fs::read_to_string(path).map_err(io)?;
    Ok(ForeignFile::new(shown.replace('\\', "/").trim_start_matches("./"), text))
}

/// The flows and scripts that flows run, and those that these run. What cannot be read is reported where it is named.
fn referenced(flows: &[ForeignFile]) -> Vec<ForeignFile> {
    const FILES: usize = 1_000;
    let mut others: Vec<ForeignFile> = Vec::new();
    let mut wanted: Vec<String> = flows.iter().flat_map(maestro::references).collect();
    while let Some(path) = wanted.pop() {
        if others.len() >= FILES || others.iter().any(|file| file.path == path) {
            continue;
        }
        if let Ok(mut file) = read(Path::new(&path)) {
            file.path = path;
            wanted.extend(maestro::references(&file));
            others.push(file);
        }
    }
    others
}

fn write(context: &Context, output: &OutputArgs, imported: Imported, is_project: bool) -> Result<Exit, Refusal> {
    Refusal::unless_sound(&imported.problems)?;
    let here = context.environment.absolute(Path::new("."));
    let root = output.out.as_ref().map_or_else(|| context.root(&here), |out| context.environment.absolute(out));
    let mut files = imported.files.clone();
    if !is_project && output.out.is_some() && !is_there(&root.join("trailblaze.yaml")) {
        let text = "# The settings of the project; all of them are optional.\n".to_string();
        files.insert(0, ImportedFile { path: "trailblaze.yaml".to_string(), text });
    }
    refuse_to_replace(&root, &files, output.force)?;
    std::fs::create_dir_all(&root)
        .map_err(|source| Refusal::Io { what: format!("cannot create `{}`", root.display()), source })?;
    let root = root.canonicalize().unwrap_or(root);
    for file in &files {
        check_links(&root, &root.join(&file.path)).map_err(|error| Refusal::usage(error.to_string()))?;
    }
    for file in &files {
        write_in_project(&root, &root.join(&file.path), &file.text)
            .map_err(|source| Refusal::Io { what: format!("cannot write `{}`", file.path), source })?;
    }
    report(output, &imported, &root, &files);
    Ok(Exit::Passed)
}

fn refuse_to_replace(root: &Path, files: &[ImportedFile], is_forced: bool) -> Result<(), Refusal> {
    if let Some(file) = files.iter().find_map(|file| blocking(root, &file.path)) {
        return Err(Refusal::usage(format!("`{file}` is a file, but a folder is needed there")));
    }
    let is_other = |file: &&ImportedFile| {
        let path = root.join(&file.path);
        is_there(&path) && std::fs::read_to_string(&path).ok().as_deref() != Some(file.text.as_str())
    };
    let existing: Vec<&str> = files.iter().filter(is_other).map(|file| file.path.as_str()).collect();
    if existing.is_empty() || is_forced {
        return Ok(());
    }
    let message = format!("these files exist in `{}`:\n  {}", root.display(), existing.join("\n  "));
    let hint = Some("`--force` replaces them; `--out DIR` writes to another folder".to_string());
    Err(Refusal::Usage { message, hint })
}

fn report(output: &OutputArgs, imported: &Imported, root: &Path, files: &[ImportedFile]) {
    let share = imported.share();
    if output.json {
        let statements: Vec<_> = imported
            .statements
            .iter()
            .map(|statement| {
                json!({
                    "file": statement.path, "line": statement.line, "column": statement.column,
                    "name": statement.name, "outcome": statement.outcome(), "note": statement.note(),
                })
            })
            .collect();
        let written: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        print::json(&json!({
            "root": root, "written": written, "statements": statements,
            "translated": share.n_translated, "partly": share.n_partly, "kept": share.n_kept,
        }));
        return;
    }
    for statement in &imported.statements {
        if let Some(note) = statement.note() {
            let (path, line, column) = (&statement.path, statement.line, statement.column);
            print::say(format!("{path}:{line}:{column}: {}: {}: {note}", statement.name, statement.outcome()));
        }
    }
    files.iter().for_each(|file| print::data(&file.path));
    print::say(format!(
        "{} of {} translated, {} partly, {} kept as comments",
        share.n_translated,
        print::count(share.n_all(), "statement"),
        share.n_partly,
        share.n_kept
    ));
}
