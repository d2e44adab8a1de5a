//! How a run ends on the screen: what failed and where to look, without scrolling.

use std::path::Path;

use trailblaze_protocol::event::Verdict;
use trailblaze_protocol::exit::Exit;

use crate::print;
use crate::run_folder::RunFolder;
use crate::runner::{Done, Job};

const SHOWN: usize = 10;

pub fn conclude(jobs: &[Job], done: &[Done], not_run: usize, folder: &RunFolder, html: &Path) {
    let bad = print::WORSE;
    let failed: Vec<&Done> = done.iter().filter(|done| done.verdict.exit() != Exit::Passed).collect();
    for done in failed.iter().take(SHOWN) {
        let trail = &jobs[done.job].trail;
        let tries = if done.tries > 1 { format!(", {} tries", done.tries) } else { String::new() };
        print::data(format!("\n{bad}{}{bad:#} on {} ({}{tries})", trail.title(), done.device, trail.source.path));
        print::data(format!("  {}", done.message.replace('\n', "\n  ")));
    }
    if failed.len() > SHOWN {
        print::data(format!("\n… and {} more", failed.len() - SHOWN));
    }
    let flaky: Vec<&Done> = done.iter().filter(|done| done.is_flaky()).collect();
    for done in flaky.iter().take(SHOWN) {
        print::data(format!(
            "\nflaky: {} on {} passed at try {}",
            jobs[done.job].trail.title(),
            done.device,
            done.tries
        ));
    }
    let count = |verdicts: &[Verdict]| done.iter().filter(|done| verdicts.contains(&done.verdict)).count();
    let counts = [
        (count(&[Verdict::Passed]), "passed"),
        (flaky.len(), "of them flaky"),
        (count(&[Verdict::Failed]), "failed"),
        (count(&[Verdict::Errored, Verdict::Bug]), "broken by the environment"),
        (count(&[Verdict::Misused]), "refused"),
        (count(&[Verdict::Skipped]), "skipped"),
        (count(&[Verdict::Cancelled]), "cancelled"),
        (not_run, "not run"),
    ];
    let words: Vec<String> =
        counts.iter().filter(|(n, word)| *n > 0 || *word == "passed").map(|(n, word)| format!("{n} {word}")).collect();
    print::data(format!("\n{} in {}", words.join(", "), print::seconds(folder.micros())));
    print::data(format!("Report: {}", html.display()));
}
