//! The end of a run on the screen: what failed and where to look, without scrolling.

use std::path::Path;

use trailblaze_protocol::event::Verdict;
use trailblaze_protocol::exit::Exit;

use crate::output::print::{self, StyledLine};
use crate::output::report::turns::ModelUse;
use crate::output::report::{alike, heals};
use crate::run::job::{Done, Job};

const SHOWN: usize = 10;
/// How many trails with the same failure are listed by name.
const NAMED: usize = 5;

pub fn conclude(
    jobs: &[Job],
    done: &[Done],
    not_run: usize,
    micros: u64,
    model_use: Option<ModelUse>,
    html: Option<&Path>,
) {
    let failed = done.iter().filter(|done| done.verdict.exit() != Exit::Passed);
    let groups = alike::together(failed, |done| (done.verdict, alike::symptom(&done.failure, &done.just_before)));
    for group in groups.iter().take(SHOWN) {
        let [first, others @ ..] = group.as_slice() else { continue };
        let trail = &jobs[first.job].trail;
        let tries = if first.tries > 1 { format!(", {} attempts", first.tries) } else { String::new() };
        let place = first.place.as_ref().map_or_else(|| trail.source.path.clone(), ToString::to_string);
        let title = StyledLine::new("\n").then_styled(print::WORSE, trail.title());
        print::data(title.then(format!(" on {} ({place}{tries})", first.device)));
        print::data(format!("  {}", first.message.replace('\n', "\n  ")));
        for sign in &first.just_before {
            print::data(format!("  just before: {sign}"));
        }
        if !first.suggestions.is_empty() {
            print::data("  instead, it could be:");
            for (number, suggestion) in first.suggestions.iter().enumerate() {
                print::data(format!("    {}. {}", number + 1, heals::line(suggestion)));
            }
        }
        if !first.unconfirmed.is_empty() {
            print::data("  healed before that, not confirmed by a second run:");
            first.unconfirmed.iter().for_each(|repair| print::data(format!("    {}", heals::repaired(repair))));
        }
        let name = |done: &&Done| {
            let repeat = done.repeat.map(|repeat| format!(" (repeat {repeat})")).unwrap_or_default();
            format!("{} on {}{repeat}", jobs[done.job].trail.title(), done.device)
        };
        let (same, alike): (Vec<&Done>, Vec<&Done>) =
            others.iter().partition(|done| alike::say_the_same(&done.failure, &first.failure));
        if !same.is_empty() {
            let mut names: Vec<String> = same.iter().take(NAMED).map(name).collect();
            names.extend((same.len() > NAMED).then(|| format!("{} more", same.len() - NAMED)));
            print::data(format!("  same failure: {}", names.join(", ")));
        }
        // Rows of a table fail in one way with different values.
        if !alike.is_empty() {
            print::data("  similar failures:");
            for done in alike.iter().take(NAMED) {
                let what = done.failure.lines().next().unwrap_or_default();
                print::data(format!("    {}: {what}", name(done)));
            }
            if alike.len() > NAMED {
                print::data(format!("    {} more", alike.len() - NAMED));
            }
        }
    }
    if let Some(rest) = groups.get(SHOWN..).filter(|rest| !rest.is_empty()) {
        print::data(format!("\n… and {} more", rest.iter().map(Vec::len).sum::<usize>()));
    }
    let flaky: Vec<&Done> = done.iter().filter(|done| done.is_flaky()).collect();
    for done in flaky.iter().take(SHOWN) {
        print::data(format!(
            "\nflaky: {} on {} passed on attempt {}",
            jobs[done.job].trail.title(),
            done.device,
            done.tries
        ));
    }
    let healed: Vec<&Done> = done.iter().filter(|done| done.is_healed()).collect();
    for done in healed.iter().take(SHOWN) {
        print::data(format!("\nhealed: {} on {}", jobs[done.job].trail.title(), done.device));
        for repair in &done.repairs {
            print::data(format!("  {}", heals::repaired(repair)));
        }
    }
    if !healed.is_empty() || done.iter().any(|done| !done.unconfirmed.is_empty()) {
        print::hint("`trailblaze heal` shows the repairs, and `trailblaze heal --write` writes them into the trails");
    }
    let count = |verdicts: &[Verdict]| done.iter().filter(|done| verdicts.contains(&done.verdict)).count();
    let counts = [
        (count(&[Verdict::Passed]), "passed"),
        (flaky.len(), "of them flaky"),
        (healed.len(), "of them healed"),
        (count(&[Verdict::Failed]), "failed"),
        (count(&[Verdict::Errored, Verdict::Bug]), "broken by the environment"),
        (count(&[Verdict::Invalid]), "invalid"),
        (count(&[Verdict::Skipped]), "skipped"),
        (count(&[Verdict::Cancelled]), "cancelled"),
        (not_run, "not run"),
    ];
    let words: Vec<String> =
        counts.iter().filter(|(n, word)| *n > 0 || *word == "passed").map(|(n, word)| format!("{n} {word}")).collect();
    print::data(format!("\n{} in {}", words.join(", "), print::seconds(micros)));
    if let Some(model_use) = model_use {
        print::data(model_use.to_string());
    }
    if let Some(html) = html {
        print::data(format!("Report: {}", html.display()));
    }
}
