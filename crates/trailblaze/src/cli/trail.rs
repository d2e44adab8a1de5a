//! `trailblaze trail`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use trailblaze_core::trail::{ConvertError, convert};
use trailblaze_core::yaml::Source;
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal};
use crate::files::write_in_project;
use crate::output::print;

/// Work on trail files
#[derive(Args)]
pub struct TrailCommand {
    #[command(subcommand)]
    verb: TrailVerb,
}

#[derive(Subcommand)]
enum TrailVerb {
    Convert(ConvertArgs),
}

/// Convert a trail from the older list form to the unified form, keeping comments
#[derive(Args)]
struct ConvertArgs {
    /// The trail
    file: PathBuf,
    /// Replace the file [default: print the new text to standard output]
    #[arg(long)]
    write: bool,
    /// Print the result, including the new text, as JSON
    #[arg(long)]
    json: bool,
}

pub fn trail(context: &Context, command: TrailCommand) -> Result<Exit, Refusal> {
    let TrailVerb::Convert(args) = command.verb;
    let file = args.file.display().to_string();
    let io = |what: &str| {
        let what = format!("cannot {what} `{file}`");
        move |source| Refusal::Io { what, source }
    };
    let source = Source::new(file.as_str(), std::fs::read_to_string(&args.file).map_err(io("read"))?);
    let text = match convert(&source) {
        Ok(text) => text,
        Err(ConvertError::Unreadable { problems, path }) => {
            Refusal::unless_sound(&problems)?;
            return Err(Refusal::usage(format!("{path} is empty")));
        }
        Err(error @ (ConvertError::Unified { .. } | ConvertError::Unsafe { .. })) => {
            return Err(Refusal::usage(error.to_string()));
        }
    };
    if args.write {
        let path = context.absolute(&args.file);
        write_in_project(&context.root(&path), &path, &text).map_err(io("write"))?;
    }
    match (args.json, args.write) {
        (true, written) => print::json(&json!({"file": file, "written": written, "text": text})),
        (false, true) => print::say(format!("converted {file}")),
        // The exact text of the file, because it may be piped into one.
        (false, false) => {
            let text = format!("{}\n", text.trim_end_matches('\n'));
            print::bytes(text.as_bytes()).map_err(io("print"))?;
        }
    }
    Ok(Exit::Passed)
}
