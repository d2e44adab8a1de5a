//! `trailblaze report`.

use std::path::PathBuf;

use clap::Args;
use trailblaze_protocol::exit::Exit;

use super::Refusal;
use crate::print;
use crate::project::find_root;
use crate::report as run_report;

/// Write the report of a run anew, also of one that was killed
#[derive(Args)]
pub struct ReportArgs {
    /// The run's folder; the latest unless given
    folder: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub fn report(project: Option<PathBuf>, args: ReportArgs) -> Result<Exit, Refusal> {
    let folder = match args.folder {
        Some(folder) => folder,
        None => latest(project)?,
    };
    let written = run_report::write(&folder).map_err(|error| Refusal::usage(error.to_string()))?;
    match args.json {
        true => print::json(&run_report::summary::summary(&written.run)),
        false => print::data(format!("Report: {}", written.html.display())),
    }
    Ok(Exit::Passed)
}

fn latest(project: Option<PathBuf>) -> Result<PathBuf, Refusal> {
    let logs = project.unwrap_or_else(|| find_root(&PathBuf::from("."))).join("logs");
    let folders = std::fs::read_dir(&logs).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    // Names begin with the time, so the greatest is the latest.
    let latest = folders.filter(|folder| folder.join("events.jsonl").is_file()).max();
    latest.ok_or_else(|| Refusal::usage(format!("there is no run in {}", logs.display())))
}
