//! `trailblaze init`: a new project that is ready to run.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use super::schema::schema_files;
use super::{Context, Refusal};
use crate::files::check_links;
use crate::output::print;

/// Create a project that is ready to run on simulated phones
#[derive(Args)]
pub struct InitArgs {
    /// The project's folder [default: the current folder]
    dir: Option<PathBuf>,
    /// Write only the missing files; never change existing ones
    #[arg(long)]
    force: bool,
    /// Print the written files as JSON
    #[arg(long)]
    json: bool,
}

/// The files that users edit, by their paths in the project.
const FILES: [(&str, &str); 7] = [
    ("trailblaze.yaml", include_str!("new_project/trailblaze.yaml")),
    ("hello.app.yaml", include_str!("new_project/hello.app.yaml")),
    ("trailblaze-config/targets/hello.yaml", include_str!("new_project/target.yaml")),
    ("trailblaze-config/tools/hello_greet.yaml", include_str!("new_project/tool.yaml")),
    ("trailblaze-config/toolsets/hello.yaml", include_str!("new_project/toolset.yaml")),
    ("trails/hello.trail.yaml", include_str!("new_project/hello.trail.yaml")),
    (".gitignore", include_str!("new_project/gitignore")),
];

pub fn init(context: &Context, args: InitArgs) -> Result<Exit, Refusal> {
    let base = context.project.clone().unwrap_or_default();
    let root = args.dir.map_or_else(|| base.clone(), |dir| base.join(dir));
    let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
    let files = files();
    let (existing, missing): (Vec<_>, Vec<_>) = files.iter().partition(|(path, _)| is_there(&root.join(path)));
    let blocked: Vec<String> = missing.iter().filter_map(|(path, _)| blocking(&root, path)).collect();
    if let Some(file) = blocked.first() {
        return Err(Refusal::usage(format!("`{file}` is a file, but a folder is needed there")));
    }
    let kept: Vec<&str> = existing.iter().map(|(path, _)| path.as_str()).collect();
    if !kept.is_empty() && !args.force {
        let message = format!("these files exist in `{}`:\n  {}", root.display(), kept.join("\n  "));
        let hint = Some("`--force` writes the missing files and leaves these unchanged".to_string());
        return Err(Refusal::Usage { message, hint });
    }
    let whole_root = existing_folder(&root)?;
    for (path, _) in &missing {
        check_links(&whole_root, &whole_root.join(path)).map_err(|error| Refusal::usage(error.to_string()))?;
    }
    for (path, text) in &missing {
        write_new(&root.join(path), text)
            .map_err(|source| Refusal::Io { what: format!("cannot write `{path}`"), source })?;
    }
    let written: Vec<&str> = missing.iter().map(|(path, _)| path.as_str()).collect();
    if args.json {
        print::json(&json!({"root": root, "written": written, "kept": kept}));
        return Ok(Exit::Passed);
    }
    written.iter().for_each(print::data);
    kept.iter().for_each(|path| print::say(format!("kept {path} unchanged")));
    say_what_is_next(&root);
    Ok(Exit::Passed)
}

fn files() -> Vec<(String, String)> {
    let own = FILES.iter().map(|(path, text)| (path.to_string(), text.to_string()));
    own.chain(schema_files()).collect()
}

/// Whether anything exists at the path, including a dangling link.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The file that is in the way of a folder on this path.
pub fn blocking(root: &Path, path: &str) -> Option<String> {
    let path = root.join(path);
    let folder = path.ancestors().skip(1).find(|folder| is_there(folder))?;
    let shown = folder.strip_prefix(root).ok().filter(|inside| !inside.as_os_str().is_empty()).unwrap_or(folder);
    (!folder.is_dir()).then(|| shown.display().to_string())
}

/// Creates the project's folder, and returns its path without links: which folder it is, the user decides.
fn existing_folder(root: &Path) -> Result<PathBuf, Refusal> {
    let created = std::fs::create_dir_all(root).and_then(|()| root.canonicalize());
    created.map_err(|source| Refusal::Io { what: format!("cannot create `{}`", root.display()), source })
}

/// Never replaces a file, even one created after the check.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::File::create_new(path)?.write_all(text.as_bytes()).inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

fn say_what_is_next(root: &Path) {
    let mut rows = vec![
        ("trailblaze check", "find mistakes in the files"),
        ("trailblaze run", "run trails/hello.trail.yaml on two simulated phones"),
        ("trailblaze shell -d android/sim-1", "explore the app, to write the next trail"),
    ];
    let go = format!("cd {}", root.display());
    if root != Path::new(".") {
        rows.insert(0, (&go, ""));
    }
    print::say("\nNext:");
    rows.iter().for_each(|(command, about)| print::say(format!("  {command:<34} {about}").trim_end()));
}
