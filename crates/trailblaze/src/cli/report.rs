//! `trailblaze report`.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::{Args, Subcommand};
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal};
use crate::output::print;
use crate::output::report::merge::{MergeError, merge};
use crate::output::report::{self as run_report, RunRecord, Written};
use crate::output::run_folder::new_id;
use crate::run::history::{self, History};

/// Write the report of a run again, even of a run that was killed
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ReportArgs {
    #[command(subcommand)]
    verb: Option<ReportVerb>,
    /// The run's folder [default: the latest]
    folder: Option<PathBuf>,
    /// Print the run as Markdown, for a pull request
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum ReportVerb {
    Merge(MergeArgs),
}

/// Merge several runs, such as the shards of one, into a new run folder
#[derive(Args)]
struct MergeArgs {
    /// The folders of the runs
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// The new folder [default: a folder in logs/ in the project]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Exit with the worst exit code of the runs
    #[arg(long)]
    exit_code: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub fn report(context: &Context, args: ReportArgs) -> Result<Exit, Refusal> {
    if let Some(ReportVerb::Merge(args)) = args.verb {
        return merge_runs(context, args);
    }
    let folder = match args.folder {
        Some(folder) => context.absolute(&folder),
        None => latest(context)?,
    };
    let written = write(&folder)?;
    match (args.markdown, args.json) {
        (true, _) => print::data(run_report::markdown::markdown(&written.run).trim_end()),
        (_, true) => print::json(&run_report::summary::summary(&written.run)),
        _ => print::data(format!("Report: {}", written.html.display())),
    }
    Ok(Exit::Passed)
}

fn merge_runs(context: &Context, args: MergeArgs) -> Result<Exit, Refusal> {
    let id = new_id(SystemTime::now());
    let root = context.root(Path::new("."));
    let into = args.output.unwrap_or_else(|| root.join("logs").join(id.as_str()));
    let merged = merge(&args.folders, &into, id, context.command_line()).map_err(|error| match error {
        MergeError::Write { .. } => Refusal::Environment { message: error.to_string() },
        MergeError::Taken { .. } => {
            let hint = Some("name a new folder with `-o`".to_string());
            Refusal::Usage { message: error.to_string(), hint }
        }
        _ => Refusal::usage(error.to_string()),
    })?;
    merged.unfinished.iter().for_each(print::warning);
    remember(&root, &merged.runs);
    let written = write(&into)?;
    match args.json {
        true => print::json(&run_report::summary::summary(&written.run)),
        false => print::data(format!("Report: {}", written.html.display())),
    }
    Ok(if args.exit_code { merged.exit } else { Exit::Passed })
}

fn write(folder: &Path) -> Result<Written, Refusal> {
    run_report::write(folder).map_err(|error| Refusal::usage(error.to_string()))
}

/// Updates the history. A shard does not, because the other shards could then split the trails differently; here all
/// shards have ended.
fn remember(root: &Path, runs: &[RunRecord]) {
    let mut history = History::read(root);
    let shards = runs.iter().filter(|run| run.start.as_ref().is_some_and(|start| start.shard.is_some()));
    let n_noted = shards.filter(|shard| history.note_run(root, shard)).count();
    if n_noted > 0
        && let Err(error) = history.write(root)
    {
        print::warning(format!("cannot write {}: {error}", history::file(root).display()));
    }
}

fn latest(context: &Context) -> Result<PathBuf, Refusal> {
    let logs = context.root(Path::new(".")).join("logs");
    let folders = std::fs::read_dir(&logs).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    // Names begin with the time, so the last in order is the latest.
    let latest = folders.filter(|folder| folder.join("events.jsonl").is_file()).max();
    latest.ok_or_else(|| Refusal::usage(format!("no runs in {}", logs.display())))
}
