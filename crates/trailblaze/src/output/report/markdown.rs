//! The run as Markdown, for pull requests and job summaries: failures first, passed trails collapsed.

use std::fmt::Write;

use trailblaze_protocol::event::Level;

use super::model::{AttemptRecord, AttemptState, RunRecord, Standing};
use super::summary::{count, headline, totals};
use crate::output::print::seconds;

/// Bytes of the whole; GitHub takes comments of 64 KB. Most of it is for what did not pass.
pub const MOST: usize = 60_000;
const MOST_FAILURES: usize = 40_000;
const MOST_NOTES: usize = 4_000;
/// Characters of a value in the table.
const LONGEST_NAME: usize = 120;
const LONGEST_MESSAGE: usize = 240;

pub fn markdown(run: &RunRecord) -> String {
    let tries = run.tries();
    let mut failures = Vec::new();
    let mut flaky = Vec::new();
    let mut healed = Vec::new();
    let mut others = Vec::new();
    for tries in &tries {
        let Some((last, earlier)) = tries.split_last() else { continue };
        match (last.state(), earlier.last()) {
            (state, _) if state.is_bad() => failures.push(row(state.name(), last, last)),
            (AttemptState::Passed, Some(failed)) if last.standing == Standing::Healed => {
                healed.push(row("healed", last, failed))
            }
            (AttemptState::Passed, Some(failed)) => flaky.push(row("flaky", last, failed)),
            _ => others.push(row_of_passed(last)),
        }
    }
    let counts = count(run);
    let mut text = format!("## Trailblaze: {}\n\n{}\n", headline(run), totals(run));
    put_notes(&mut text, run);
    failures.extend(flaky);
    failures.extend(healed);
    let head = "\n| | trail | device | step | message | took |\n|---|---|---|---|---|---|\n";
    put_rows(&mut text, head, &failures, MOST_FAILURES);
    if !others.is_empty() {
        let summary = match (counts.passed - counts.flaky - counts.healed, counts.skipped) {
            (passed, 0) => format!("{passed} passed"),
            (passed, skipped) => format!("{passed} passed, {skipped} skipped"),
        };
        let _ = write!(text, "\n<details><summary>{summary}</summary>\n");
        let end = "\n</details>\n";
        put_rows(&mut text, "\n| | trail | device | took |\n|---|---|---|---|\n", &others, MOST - end.len());
        text.push_str(end);
    }
    text
}

/// What was said about the run as a whole, such as why it was refused.
fn put_notes(text: &mut String, run: &RunRecord) {
    let notes = run.notes.iter().filter(|note| note.level >= Level::Warning);
    let notes: Vec<String> = notes
        .map(|note| {
            let level = if note.level == Level::Error { "error" } else { "warning" };
            format!("- **{level}:** {}\n", plain(&note.text, LONGEST_MESSAGE))
        })
        .collect();
    let room = text.len() + MOST_NOTES;
    if !notes.is_empty() {
        text.push('\n');
    }
    let n_shown = put_while_room(text, &notes, room);
    if n_shown < notes.len() {
        let _ = writeln!(text, "- … and {} more", notes.len() - n_shown);
    }
}

fn put_rows(text: &mut String, head: &str, rows: &[String], room: usize) {
    /// For the line that says how many are missing.
    const LAST: usize = 80;
    if rows.is_empty() {
        return;
    }
    text.push_str(head);
    let n_shown = put_while_room(text, rows, room - LAST);
    if n_shown < rows.len() {
        let _ = write!(text, "\n… and {} more; the report has all of them\n", rows.len() - n_shown);
    }
}

fn put_while_room(text: &mut String, lines: &[String], room: usize) -> usize {
    let fitting = lines.iter().scan(text.len(), |len, line| {
        *len += line.len();
        Some(*len)
    });
    let n_shown = fitting.take_while(|len| *len <= room).count();
    lines[..n_shown].iter().for_each(|line| text.push_str(line));
    n_shown
}

/// The line of an attempt; step and message are those of the one that `failed`.
fn row(state: &str, attempt: &AttemptRecord, failed: &AttemptRecord) -> String {
    let step = failed.failing_step().map(|step| {
        let text = plain(&step.text, LONGEST_NAME);
        match failed.step_number(step) {
            Some(number) => format!("{number}. {text}"),
            None => format!("trailhead: {text}"),
        }
    });
    let message = failed.failure().map_or(failed.message(), |failure| &failure.message);
    format!(
        "| {state} | {} | {} | {} | {} | {} |\n",
        plain(attempt.name(), LONGEST_NAME),
        plain(attempt.device.as_str(), LONGEST_NAME),
        step.unwrap_or_default(),
        plain(message, LONGEST_MESSAGE),
        seconds(attempt.micros()),
    )
}

fn row_of_passed(attempt: &AttemptRecord) -> String {
    format!(
        "| {} | {} | {} | {} |\n",
        attempt.state().name(),
        plain(attempt.name(), LONGEST_NAME),
        plain(attempt.device.as_str(), LONGEST_NAME),
        seconds(attempt.micros()),
    )
}

/// One line of plain text, safe in any position: it never becomes markup, a mention, a reference, a link, a formula or an
/// emoji.
pub fn plain(text: &str, longest: usize) -> String {
    /// Seen by no one, it keeps GitHub from finding a name behind the character before it.
    const BREAK: char = '\u{200b}';
    let mut escaped = String::new();
    let words = text.split_whitespace().flat_map(|word| [" ", word]).skip(1);
    let mut chars = words.flat_map(str::chars).peekable();
    for _ in 0..longest {
        let Some(c) = chars.next() else { return escaped };
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '|' => escaped.push_str("&#124;"),
            '$' => escaped.push_str("<span>$</span>"),
            '\\' | '`' | '*' | '_' | '~' | '[' | ']' => escaped.extend(['\\', c]),
            '.' if escaped.to_ascii_lowercase().ends_with("www") => escaped.extend([BREAK, c]),
            '@' | '#' | ':' => {
                escaped.push(c);
                if chars.peek().is_some_and(|next| !next.is_whitespace()) {
                    escaped.push(BREAK);
                }
            }
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => escaped.push('\u{fffd}'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    if chars.peek().is_some() {
        escaped.push('…');
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn text_stays_text() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text, 40), expected, "{text}");
        check("a | b", "a &#124; b");
        check("`x` *y* <b>&", "\\`x\\` \\*y\\* &lt;b&gt;&amp;");
        check("@octocat and a@b.c", "@\u{200b}octocat and a@\u{200b}b.c");
        check("fixes #12 :tada: at 12: x", "fixes #\u{200b}12 :\u{200b}tada: at 12: x");
        check("see https://x.y or www.x.y", "see https:\u{200b}//x.y or www\u{200b}.x.y");
        check("two\n\nlines\t\u{7}\u{202e}", "two lines \u{fffd}\u{fffd}");
        check("costs $5", "costs <span>$</span>5");
        check("[a](b) ![c](d)", "\\[a\\](b) !\\[c\\](d)");
        check(&"é".repeat(41), &format!("{}…", "é".repeat(40)));
    }
}
