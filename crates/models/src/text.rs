//! Text from outside, for messages: short, and without control characters.

/// The beginning of a text on one line.
pub fn excerpt(text: &str, n_chars: usize) -> String {
    let one_line = one_line(text);
    match one_line.char_indices().nth(n_chars) {
        Some((end, _)) => format!("{}…", &one_line[..end]),
        None => one_line,
    }
}

/// The last lines of a text, each cut if it is long.
pub fn last_lines(text: &str, n_lines: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown: Vec<String> =
        lines[lines.len().saturating_sub(n_lines)..].iter().map(|line| format!("  {}", excerpt(line, 160))).collect();
    shown.join("\n")
}

fn one_line(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}
