//! `trailblaze mcp install`: writes the configuration file of an MCP client, so that the client starts `trailblaze mcp`.

mod client;
mod edit;
mod error;
mod json_file;
mod toml_file;
mod yaml_file;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use trailblaze_protocol::exit::Exit;

use self::client::{InstallScope, McpClientApp};
use self::error::EditError;
use super::{Context, Refusal};
use crate::files::{write_atomically, write_in_project};
use crate::output::print;
use crate::project::environment::Environment;
use crate::project::loaded::PROJECT_FILE;

/// Add Trailblaze to the configuration file of an MCP client, and keep everything else in it
#[derive(Args)]
pub struct InstallArgs {
    /// The client to set up
    #[arg(long, value_enum)]
    client: McpClientApp,
    /// The server's name in the file [default: trailblaze]
    #[arg(long, default_value = "trailblaze", hide_default_value = true, value_parser = server_name)]
    name: String,
    /// Write the file of the user instead of the project's, for clients that have both
    #[arg(long)]
    global: bool,
    /// Remove the server from the file
    #[arg(long)]
    remove: bool,
    /// Print what would be written, and write nothing
    #[arg(long, conflicts_with_all = ["remove", "json"])]
    print: bool,
    /// Print the client, its file and whether that was changed as JSON
    #[arg(long)]
    json: bool,
}

/// Larger files are not configuration.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

pub fn install(context: &Context, args: &InstallArgs) -> Result<Exit, Refusal> {
    let root = root(context)?;
    let scope = if args.global { InstallScope::User } else { args.client.narrowest_scope() };
    let file = args.client.file(scope, &root, &context.environment).ok_or_else(|| Refusal::Usage {
        message: "`HOME` is not set, so the file of the client cannot be found".to_string(),
        hint: (!args.remove).then(|| "`--print` prints what to add to it".to_string()),
    });
    let format = args.client.format();
    let project = root.join(PROJECT_FILE).is_file().then_some(root.as_path());
    let command = command(&context.environment, args.client)?;
    let entry = args.client.entry(scope, &args.name, command, project.map(text).transpose()?);
    if args.print {
        if let Ok(file) = &file {
            print::say(format!("for {}:", file.display()));
        }
        print::data(format.whole(args.client.table(), &args.name, &entry.all()).trim_end());
        return Ok(Exit::Passed);
    }
    let file = file?;
    let before = read(&file)?;
    let (table, name) = (args.client.table(), args.name.as_str());
    let edited = match (&before, args.remove) {
        (None, true) => Ok(None),
        (Some(before), true) => format.remove(before, table, name),
        (before, false) => format.put(before.as_deref().unwrap_or_default(), table, name, &entry),
    };
    let after = edited.map_err(|error| refusal(&file, args.remove, error))?;
    if let Some(after) = &after {
        let written = match scope {
            InstallScope::Project => write_in_project(&root, &file, after),
            // Links among one's own files are one's own.
            InstallScope::User => {
                file.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| write_atomically(&file, after))
            }
        };
        written.map_err(|source| Refusal::Io { what: format!("cannot write `{}`", file.display()), source })?;
    }
    if args.json {
        print::json(&json!({"client": args.client.id(), "file": file, "changed": after.is_some()}));
        return Ok(Exit::Passed);
    }
    let file = file.display();
    match (after.is_some(), args.remove) {
        (true, true) => print::data(format!("removed `{name}` from {file}")),
        (false, true) => print::data(format!("`{name}` is not in {file}")),
        (true, false) => print::data(format!("wrote `{name}` to {file}; it starts `{}`", entry.command_line)),
        (false, false) => print::data(format!("`{name}` is already in {file}")),
    }
    if after.is_some() {
        print::say(if args.remove { args.client.after_removal() } else { args.client.next_step() });
    }
    if !args.remove && scope == InstallScope::User && project.is_none() {
        print::say(format!("there is no {PROJECT_FILE} here, so the server starts without a project"));
    }
    Ok(Exit::Passed)
}

/// The project's folder.
fn root(context: &Context) -> Result<PathBuf, Refusal> {
    let root = context.root(Path::new("."));
    if root.is_dir() { Ok(root) } else { Err(Refusal::usage(format!("no such folder: `{}`", root.display()))) }
}

/// A name that every client accepts.
fn server_name(text: &str) -> Result<String, clap::Error> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=64).contains(&text.len()) && text.chars().all(is_allowed) {
        return Ok(text.to_string());
    }
    let message = "expected 1 to 64 letters, digits, `-` and `_`";
    Err(clap::Error::raw(clap::error::ErrorKind::ValueValidation, message))
}

/// What starts this program: its name if a shell finds it by that, otherwise its path.
fn command(environment: &Environment, client: McpClientApp) -> Result<String, Refusal> {
    let Some(program) = environment.program() else {
        return Err(Refusal::Environment { message: "cannot find the file of this program".to_string() });
    };
    let name = program.file_name().unwrap_or_default();
    let is_same = |found: &PathBuf| {
        found.canonicalize().ok().is_some_and(|found| Ok(found) == program.canonicalize().map_err(drop))
    };
    match environment.find_program(name).filter(is_same) {
        Some(found) if client.lacks_path() => text(&found),
        Some(_) => text(Path::new(name)),
        None => text(program),
    }
}

/// A path as text, which is all that these files can contain.
fn text(path: &Path) -> Result<String, Refusal> {
    let text = path.to_str().map(String::from);
    text.ok_or_else(|| Refusal::usage(format!("the path `{}` is not Unicode", path.display())))
}

/// The content of the file. `None` if there is no file yet.
fn read(file: &Path) -> Result<Option<String>, Refusal> {
    let cannot_read = |source| Refusal::Io { what: format!("cannot read `{}`", file.display()), source };
    let facts = match file.metadata() {
        Ok(facts) => facts,
        // A link that leads nowhere is replaced by what it names when that is written.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot_read(error)),
    };
    if !facts.is_file() {
        return Err(Refusal::usage(format!("`{}` is not a file", file.display())));
    }
    if facts.len() > MAX_BYTES {
        let message = format!("`{}` has {} bytes; the limit is {MAX_BYTES}", file.display(), facts.len());
        return Err(Refusal::usage(message));
    }
    let bytes = std::fs::read(file).map_err(cannot_read)?;
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| Refusal::usage(format!("`{}` is not UTF-8; nothing was changed", file.display())))
}

fn refusal(file: &Path, is_removal: bool, error: EditError) -> Refusal {
    let file = file.display();
    match error {
        EditError::Broken { line, column, message } => Refusal::Usage {
            message: format!("{file}:{line}:{column}: {message}"),
            hint: Some("correct the file and try again; nothing was changed".to_string()),
        },
        error @ (EditError::NotATable { .. } | EditError::Unsafe) => {
            let by_hand = match is_removal {
                true => "remove the entry by hand",
                false => "add the entry by hand; `--print` prints it",
            };
            Refusal::Usage { message: format!("{file}: {error}; nothing was changed"), hint: Some(by_hand.to_string()) }
        }
    }
}
