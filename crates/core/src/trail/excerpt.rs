//! The lines of a trail that a failure is about, for people who read the failure elsewhere.

use trailblaze_protocol::event::TrailExcerpt;

/// The most lines of an excerpt, and the longest one, in characters.
const LINES: usize = 12;
const LONGEST: usize = 200;

/// The line with this number, from 1, and the lines that are indented more deeply: an item of YAML.
pub fn excerpt(text: &str, line: usize) -> Option<TrailExcerpt> {
    let mut lines = text.lines().skip(line.checked_sub(1)?);
    let first = lines.next()?;
    let indent = indent_of(first);
    let rest: Vec<&str> = lines.take_while(|line| line.trim().is_empty() || indent_of(line) > indent).collect();
    let n_rest = rest.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    let mut shown: Vec<String> = std::iter::once(first)
        .chain(rest[..n_rest].iter().copied())
        .take(LINES)
        .map(|line| shortened(line.get(indent..).unwrap_or_default().trim_end()))
        .collect();
    if n_rest + 1 > LINES {
        shown.push("…".to_string());
    }
    Some(TrailExcerpt { line, text: shown.join("\n") })
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_the_item_at_a_line_without_its_indentation() {
        let text = "- step: Pay\n  tools:\n    - tapOn:\n        text: Pay\n\n        retries: 2\n\n    - back: {}\n";
        let shown = |line| excerpt(text, line).map(|excerpt| excerpt.text);
        assert_eq!(shown(3).as_deref(), Some("- tapOn:\n    text: Pay\n\n    retries: 2"));
        assert_eq!(shown(8).as_deref(), Some("- back: {}"));
        assert_eq!((shown(0), shown(9)), (None, None));
    }

    #[test]
    fn of_a_long_item_the_beginning_is_shown() {
        let text = format!("- step: {}\n{}", "é".repeat(300), "  x: 1\n".repeat(40));
        let shown = excerpt(&text, 1).expect("a line").text;
        assert_eq!(shown.lines().count(), LINES + 1);
        assert!(shown.lines().next().is_some_and(|line| line.ends_with("é…")) && shown.ends_with('…'), "{shown}");
    }
}
