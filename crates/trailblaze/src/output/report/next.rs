//! The commands that a person would type next after an attempt that did not pass.

use super::model::{AttemptRecord, RunRecord};

/// The commands, most useful first.
pub fn commands(run: &RunRecord, attempt: &AttemptRecord) -> Vec<String> {
    let mut commands = Vec::new();
    if !attempt.trail.path.is_empty() {
        let mut again = format!("trailblaze run {}", quoted(&attempt.trail.path));
        // A trail on several devices names them itself.
        if attempt.roles.is_empty() {
            again.push_str(&format!(" --device {}", quoted(attempt.device.as_str())));
        }
        commands.push(again);
    }
    let can_be_healed = attempt.failure().is_some_and(|failure| !failure.suggestions.is_empty());
    if can_be_healed || !attempt.heals.is_empty() {
        commands.push(format!("trailblaze heal {}", quoted(run.id())));
    }
    commands
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@+,=%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
