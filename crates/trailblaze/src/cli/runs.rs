//! `trailblaze runs`: the folders of earlier runs in `logs/`.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};
use trailblaze_core::yaml::nearest;
use trailblaze_protocol::event::Header;
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal};
use crate::output::print;
use crate::output::report::RunRecord;
use crate::output::report::model::EVENTS;
use crate::output::report::summary::{headline, summary, totals};

/// A run without an end that was written to this recently may still be running.
const MAY_GO_ON: Duration = Duration::from_secs(60 * 60);

/// A longer first line cannot be one of our headers.
const HEADER_BYTES: u64 = 4096;

/// List, show and remove the folders of earlier runs
#[derive(Args)]
pub struct RunsCommand {
    #[command(subcommand)]
    verb: RunsVerb,
    /// Look for run folders here [default: logs/ in the project]
    #[arg(long, global = true, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum RunsVerb {
    /// List runs, newest first
    List {
        /// List at most N runs
        #[arg(short, long, value_name = "N", default_value_t = 20)]
        number: usize,
    },
    /// Show the result of one run and where its report is
    Show {
        /// The run's id, or the beginning of it [default: the newest run]
        id: Option<String>,
    },
    Clean(CleanArgs),
}

/// Remove run folders; other files are kept
#[derive(Args)]
struct CleanArgs {
    /// Keep the newest N runs
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Remove only runs older than this, such as 7d or 12h
    #[arg(long, value_name = "AGE", value_parser = humantime::parse_duration)]
    older_than: Option<Duration>,
    /// Print what would be removed, without removing it
    #[arg(long)]
    dry_run: bool,
}

/// The folder of a run: its event file begins with our header.
struct RunEntry {
    folder: PathBuf,
    header: Header,
}

pub fn runs(context: &Context, command: RunsCommand) -> Result<Exit, Refusal> {
    let own = || context.root(Path::new(".")).join("logs");
    let logs = command.logs.map_or_else(own, |logs| context.absolute(&logs));
    let runs = read_all(&logs)?;
    match command.verb {
        RunsVerb::List { number } => list(&logs, &runs, number, command.json),
        RunsVerb::Show { id } => show(find(&logs, &runs, id.as_deref())?, command.json),
        RunsVerb::Clean(args) => clean(&runs, &args, command.json),
    }
}

/// The run whose id begins with `id`, or the newest.
pub fn read(logs: &Path, id: Option<&str>) -> Result<RunRecord, Refusal> {
    find(logs, &read_all(logs)?, id)?.run()
}

/// The runs in a folder, newest first. Everything else in it is ignored.
fn read_all(logs: &Path) -> Result<Vec<RunEntry>, Refusal> {
    let failed = |source| Refusal::Io { what: format!("cannot read `{}`", logs.display()), source };
    let mut runs = Vec::new();
    match std::fs::read_dir(logs) {
        Ok(entries) => {
            for entry in entries {
                runs.extend(RunEntry::read(entry.map_err(failed)?.path()));
            }
        }
        // A project that never ran has no logs.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    runs.sort_by(|one, other| (&other.header.started_at, other.id()).cmp(&(&one.header.started_at, one.id())));
    Ok(runs)
}

impl RunEntry {
    fn read(folder: PathBuf) -> Option<RunEntry> {
        // A link is skipped: it may point anywhere.
        if !folder.symlink_metadata().ok()?.is_dir() || !folder.join(EVENTS).symlink_metadata().ok()?.is_file() {
            return None;
        }
        let mut first = String::new();
        let file = std::fs::File::open(folder.join(EVENTS)).ok()?;
        BufReader::new(file.take(HEADER_BYTES)).read_line(&mut first).ok()?;
        let header = serde_json::from_str(&first).ok()?;
        Some(RunEntry { folder, header })
    }

    /// The name of its folder, so that a copy of a run has its own id.
    fn id(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn run(&self) -> Result<RunRecord, Refusal> {
        RunRecord::read(&self.folder).map_err(|error| Refusal::Environment { message: error.to_string() })
    }

    /// Its report, if one was written.
    fn report(&self) -> Option<PathBuf> {
        Some(self.folder.join("report.html")).filter(|report| report.is_file())
    }

    fn as_json(&self, run: &RunRecord) -> Value {
        let mut value = json!({"id": self.id(), "folder": self.folder, "report": self.report()});
        let summary = serde_json::to_value(summary(run)).expect("a summary is JSON");
        let own = value.as_object_mut().expect("a JSON object literal");
        own.extend(summary.as_object().cloned().unwrap_or_default());
        value
    }

    /// How long ago it started; zero if that is unknown, so that it is kept.
    fn age(&self, now: SystemTime) -> Duration {
        let started = humantime::parse_rfc3339(&self.header.started_at).unwrap_or(now);
        now.duration_since(started).unwrap_or_default()
    }

    /// When it started, for people: the time in UTC, and how long ago that was, which is the same in every time zone.
    fn when(&self, now: SystemTime) -> String {
        let minutes = self.age(now).as_secs() / 60;
        let age = match minutes {
            0 => "just now".to_string(),
            1..60 => format!("{minutes} min ago"),
            60..2880 => format!("{} h ago", minutes / 60),
            _ => format!("{} days ago", minutes / 1440),
        };
        let at = self.header.started_at.get(..19).unwrap_or_default().replace('T', " ");
        format!("{at} UTC, {age:>11}")
    }

    fn may_go_on(&self, now: SystemTime) -> bool {
        let modified = self.folder.join(EVENTS).metadata().and_then(|facts| facts.modified());
        let is_fresh = modified.is_ok_and(|modified| now.duration_since(modified).unwrap_or_default() < MAY_GO_ON);
        is_fresh && self.run().is_ok_and(|run| run.end.is_none())
    }
}

fn list(logs: &Path, runs: &[RunEntry], number: usize, as_json: bool) -> Result<Exit, Refusal> {
    let shown = runs.iter().take(number);
    if as_json {
        let rows = shown.map(|run| {
            let mut row = run.as_json(&run.run()?);
            // The attempts of all runs would dominate the output; `show` prints them.
            row.as_object_mut().and_then(|row| row.remove("attempts"));
            Ok(row)
        });
        print::json(&rows.collect::<Result<Vec<_>, Refusal>>()?);
        return Ok(Exit::Passed);
    }
    if runs.is_empty() {
        print::say(format!("No runs in {}.", logs.display()));
    }
    let now = SystemTime::now();
    for entry in shown {
        let run = entry.run()?;
        print::data(format!("{:<22}  {}  {:<18}  {}", entry.id(), entry.when(now), headline(&run), totals(&run)));
    }
    if runs.len() > number {
        print::say(format!("{} more; -n {} lists all", runs.len() - number, runs.len()));
    }
    Ok(Exit::Passed)
}

fn show(entry: &RunEntry, as_json: bool) -> Result<Exit, Refusal> {
    let run = entry.run()?;
    if as_json {
        print::json(&entry.as_json(&run));
        return Ok(Exit::Passed);
    }
    print::data(format!("{}: {}", entry.id(), headline(&run)));
    print::data(totals(&run));
    print::data(format!("Started: {}", entry.when(SystemTime::now())));
    if let Some(start) = &run.start {
        // The path of the program is irrelevant to the run.
        let args = start.command.iter().skip(1).map(String::as_str);
        print::data(format!("Command: {}", ["trailblaze"].into_iter().chain(args).collect::<Vec<_>>().join(" ")));
    }
    for attempt in summary(&run).attempts {
        let name = if attempt.trail.title.is_empty() { &attempt.trail.id } else { &attempt.trail.title };
        let time = print::seconds(attempt.duration_ms * 1000);
        let number = if attempt.number > 1 { format!(", attempt {}", attempt.number) } else { String::new() };
        print::data(format!("  {:<10} {name} on {}{number} in {time}", attempt.verdict, attempt.device));
        if let Some(failure) = attempt.failure.filter(|failure| !failure.message.is_empty()) {
            print::data(format!("             {}", failure.message.replace('\n', "\n             ")));
        }
    }
    match entry.report() {
        Some(report) => print::data(format!("Report: {}", report.display())),
        None => print::hint(format!("`trailblaze report {}` writes its report", entry.folder.display())),
    }
    Ok(Exit::Passed)
}

/// Returns the only run whose id begins with `prefix`.
fn find<'r>(logs: &Path, runs: &'r [RunEntry], id: Option<&str>) -> Result<&'r RunEntry, Refusal> {
    let none = || Refusal::usage(format!("no runs in `{}`", logs.display()));
    let Some(prefix) = id else { return runs.first().ok_or_else(none) };
    if let Some(run) = runs.iter().find(|run| run.id() == prefix) {
        return Ok(run);
    }
    let found: Vec<&RunEntry> = runs.iter().filter(|run| run.id().starts_with(prefix)).collect();
    match found.as_slice() {
        [run] => Ok(run),
        [] if runs.is_empty() => Err(none()),
        [] => {
            let ids: Vec<String> = runs.iter().map(RunEntry::id).collect();
            let hint = match nearest(prefix, ids.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`trailblaze runs list` lists the runs".to_string(),
            };
            Err(Refusal::Usage { message: format!("no run begins with `{prefix}`"), hint: Some(hint) })
        }
        several => {
            let ids: Vec<String> = several.iter().map(|run| format!("`{}`", run.id())).collect();
            let message = format!("{} runs begin with `{prefix}`: {}", several.len(), ids.join(", "));
            Err(Refusal::Usage { message, hint: Some("give more of the id".to_string()) })
        }
    }
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Cleaned {
    is_dry_run: bool,
    removed: Vec<String>,
    bytes: u64,
    /// Runs without an end that were written to recently.
    may_go_on: Vec<String>,
}

fn clean(runs: &[RunEntry], args: &CleanArgs, as_json: bool) -> Result<Exit, Refusal> {
    if args.keep.is_none() && args.older_than.is_none() {
        let hint =
            "`--keep 10` keeps the newest ten, `--older-than 7d` keeps those of the last week, `--keep 0` keeps none";
        return Err(Refusal::Usage {
            message: "`runs clean` needs `--keep` or `--older-than`".into(),
            hint: Some(hint.into()),
        });
    }
    let now = SystemTime::now();
    let is_old = |run: &RunEntry| args.older_than.is_none_or(|limit| run.age(now) > limit);
    let mut cleaned = Cleaned { is_dry_run: args.dry_run, ..Cleaned::default() };
    let mut failures = Vec::new();
    for run in runs.iter().skip(args.keep.unwrap_or(0)).filter(|run| is_old(run)) {
        if run.may_go_on(now) {
            cleaned.may_go_on.push(run.id());
            continue;
        }
        let bytes = size(&run.folder);
        let removed = if args.dry_run { Ok(()) } else { remove(&run.folder) };
        match removed {
            Ok(()) => {
                cleaned.removed.push(run.id());
                cleaned.bytes += bytes;
            }
            Err(source) => failures.push((run, source)),
        }
    }
    match as_json {
        true => print::json(&cleaned),
        false => tell(&cleaned),
    }
    let n_failures = failures.len();
    for (run, source) in failures {
        print::error(format!("cannot remove `{}`: {source}", run.folder.display()));
    }
    Ok(if n_failures == 0 { Exit::Passed } else { Exit::Environment })
}

fn tell(cleaned: &Cleaned) {
    cleaned.removed.iter().for_each(print::data);
    for id in &cleaned.may_go_on {
        print::say(format!("kept {id}: it has no end and may still be running"));
    }
    let (verb, freed) = if cleaned.is_dry_run { ("would remove", "free") } else { ("removed", "freed") };
    let runs = print::count(cleaned.removed.len(), "run");
    print::say(format!("{verb} {runs}, {freed} {}", megabytes(cleaned.bytes)));
}

fn megabytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        _ => entry.metadata().map_or(0, |facts| facts.len()),
    });
    sizes.sum()
}

/// Removes the event file last: a partly removed folder is still recognized as a run and can be removed later.
fn remove(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => std::fs::remove_dir_all(entry.path())?,
            false if entry.file_name() == EVENTS => {}
            false => std::fs::remove_file(entry.path())?,
        }
    }
    std::fs::remove_dir_all(folder)
}
