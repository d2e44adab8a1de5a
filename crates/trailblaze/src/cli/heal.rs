//! `trailblaze heal`: the repairs of a run, as changes to its trails.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use trailblaze_core::diff::diff;
use trailblaze_core::trail::Repair;
use trailblaze_protocol::exit::Exit;

use super::{Context, Refusal, runs};
use crate::output::print::{self, StyledLine};
use crate::output::report::heals;
use crate::run::record::heal::{HealError, HealProof, Patch, Patches, Taken, patches, write};

/// Show how healing changes the trails of a run, and write it into them
#[derive(Args)]
pub struct HealArgs {
    /// The run's id, or the beginning of it [default: the newest run]
    run: Option<String>,
    /// Write the changes into the trails
    #[arg(long)]
    write: bool,
    /// Also take the first suggestion for a call if it may mean something else than the recorded element; check each one
    #[arg(long)]
    unclear: bool,
    /// Look for run folders here [default: logs/ in the project]
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// Print the changes as JSON
    #[arg(long)]
    json: bool,
}

pub fn heal(context: &Context, args: &HealArgs) -> Result<Exit, Refusal> {
    let root = context.root(Path::new("."));
    let logs = args.logs.as_ref().map_or_else(|| root.join("logs"), |logs| context.absolute(logs));
    let run = runs::read(&logs, args.run.as_deref())?;
    let taken = if args.unclear { Taken::First } else { Taken::Clear };
    let Patches { patches, written } =
        if args.write { write(&root, &run, taken) } else { patches(&root, &run, taken) }?;
    if args.json {
        print::json(&patches.iter().map(as_json).collect::<Vec<_>>());
        return Ok(Exit::Passed);
    }
    written.iter().for_each(|path| print::say(format!("nothing left to write: {path} has the repairs of this run")));
    if patches.is_empty() && !written.is_empty() {
        return Ok(Exit::Passed);
    }
    if patches.is_empty() {
        print::say("nothing to heal: no call of this run has a clear repair");
        if !args.unclear {
            print::hint("`trailblaze heal --unclear` shows suggestions that may mean something else");
        }
        return Ok(Exit::Passed);
    }
    for patch in &patches {
        show(patch);
    }
    if args.write {
        patches.iter().for_each(|patch| print::say(format!("wrote {}", patch.path)));
    } else {
        print::hint("`trailblaze heal --write` writes this");
    }
    if patches.iter().any(|patch| patch.proof == HealProof::Tried) {
        print::hint(
            "a later step failed, so the repaired trail never passed; run it again before you rely on the repairs",
        );
    }
    if patches.iter().any(|patch| patch.proof == HealProof::Suggested) {
        print::hint("suggestions were never tried; `trailblaze run --heal apply` tries them");
    }
    Ok(Exit::Passed)
}

fn as_json(patch: &Patch) -> Value {
    let repair =
        |repair: &Repair| json!({"step": repair.text, "from": repair.from, "to": repair.to, "element": repair.element});
    json!({
        "trail": patch.path,
        "isConfirmed": patch.proof == HealProof::Confirmed,
        "repairs": patch.repairs.iter().map(repair).collect::<Vec<_>>(),
        "text": patch.after,
    })
}

/// The changed lines of a trail, and why they change.
fn show(patch: &Patch) {
    let lines = |text: &str| text.lines().map(str::to_string).collect::<Vec<_>>();
    let word = match patch.proof {
        HealProof::Confirmed => "healed",
        HealProof::Tried => "healed, not confirmed by a second run",
        HealProof::Suggested => "suggested",
    };
    print::data(format!("{} ({word})", patch.path));
    patch.repairs.iter().for_each(|repair| print::data(format!("  {}", heals::repaired(repair))));
    for line in diff(&lines(&patch.before.text), &lines(&patch.after)).unwrap_or_default().lines() {
        print::data(match line.chars().next() {
            Some('-') => StyledLine::styled(print::WORSE, line),
            Some('+') => StyledLine::styled(print::GOOD, line),
            _ => StyledLine::new(line),
        });
    }
}

impl From<HealError> for Refusal {
    fn from(error: HealError) -> Refusal {
        match error.exit() {
            Exit::Invalid => Refusal::Usage {
                message: error.to_string(),
                hint: Some("run the trail again, then heal that run".to_string()),
            },
            _ => Refusal::Environment { message: error.to_string() },
        }
    }
}
