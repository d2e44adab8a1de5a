//! Makes text from outside safe to print. A terminal takes control characters for commands: set the title, fill the
//! clipboard, clear the screen, forge earlier output. The runner of a CI system takes some lines for commands:
//! `::add-mask::…` and `##[…]` on GitHub, `##vso[…]` on Azure, `##teamcity[…]`.

use std::borrow::Cow;
use std::fmt::Write;

/// What may follow the `##` of a command that is recognised anywhere in a line.
const AFTER_HASHES: [&str; 3] = ["[", "vso[", "teamcity["];

/// Adds text to what is printed. `has_words` tells whether the line that it is added to has any.
pub fn push(out: &mut String, text: &str, has_words: &mut bool) {
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
            *has_words = false;
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        let words = line.trim_start();
        if !*has_words && words.starts_with("::") {
            out.push_str(&characters(&line[..line.len() - words.len()]));
            out.push('\\');
            out.push_str(&without_commands(&characters(words)));
        } else {
            out.push_str(&without_commands(&characters(line)));
        }
        *has_words |= !words.is_empty();
    }
}

/// One line, wherever it is printed. Newlines are escaped too.
pub fn line(text: &str) -> String {
    without_commands(&characters(text)).into_owned()
}

/// Shows what would drive a terminal by its number. Newlines are escaped too; tabs stay.
pub fn characters(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let _ = match c {
            c if !is_unsafe(c) => shown.write_char(c),
            '\n' => shown.write_str("\\n"),
            '\r' => shown.write_str("\\r"),
            c if c.is_ascii() => write!(shown, "\\x{:02x}", u32::from(c)),
            c => write!(shown, "\\u{{{:x}}}", u32::from(c)),
        };
    }
    Cow::Owned(shown)
}

/// The same for JSON, where it has the same meaning escaped. Line ends and blanks between values stay.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| is_unsafe(c) && c != '\n';
    if !text.contains(is_escaped) && !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) || c == '#' && shown.ends_with('#') {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The same for a file that is quoted with its lines and columns: a character stays one.
pub fn source(text: &str) -> String {
    let shown: String =
        text.chars().map(|c| if is_unsafe(c) && !matches!(c, '\n' | '\r') { '\u{fffd}' } else { c }).collect();
    AFTER_HASHES.iter().fold(shown, |shown, after| shown.replace(&format!("##{after}"), &format!("#\u{fffd}{after}")))
}

fn without_commands(text: &str) -> Cow<'_, str> {
    if !text.contains("##") {
        return Cow::Borrowed(text);
    }
    let defuse = |text: String, after: &&str| text.replace(&format!("##{after}"), &format!("#\\#{after}"));
    Cow::Owned(AFTER_HASHES.iter().fold(text.to_string(), defuse))
}

/// Controls, and characters that change the order of others or cannot be seen at all. Those that join emoji stay.
fn is_unsafe(c: char) -> bool {
    match c {
        '\t' => false,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut out = String::new();
        push(&mut out, text, &mut false);
        assert_eq!(out, expected, "{text:?}");
    }

    #[test]
    fn what_drives_a_terminal_is_shown_by_its_number() {
        check("\u{1b}]0;title\u{7}", r"\x1b]0;title\x07");
        check("\u{1b}[2J\u{9b}31m\u{7f}\u{8}", r"\x1b[2J\u{9b}31m\x7f\x08");
        check("over\rwritten\r\nnext", "over\\rwritten\nnext");
        check("a\u{202e}b\u{2028}c\u{feff}", r"a\u{202e}b\u{2028}c\u{feff}");
        check("tab\tand ünïcödé 👩‍💻", "tab\tand ünïcödé 👩‍💻");
    }

    #[test]
    fn commands_to_runners_are_only_text() {
        check("::error::x", r"\::error::x");
        check("a\n \u{a0}\t::set-output name=x::y\nb ::c", "a\n \u{a0}\t\\::set-output name=x::y\nb ::c");
        check("a ##[error]x ###[b] ##vso[c] ##teamcity[d]", r"a #\#[error]x ##\#[b] #\#vso[c] #\#teamcity[d]");
        check("## heading", "## heading");
    }

    #[test]
    fn text_behind_words_is_not_at_the_beginning_of_a_line() {
        let (mut out, mut has_words) = (String::new(), false);
        push(&mut out, "  ", &mut has_words);
        push(&mut out, "::a", &mut has_words);
        push(&mut out, "::b\n::c", &mut has_words);
        assert_eq!(out, "  \\::a::b\n\\::c");
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({"##[group]": "\u{1b}\u{9b}\u{202e}\u{e0041} ###[x"});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = json(&text);
        assert!(!shown.contains("##[") && shown.chars().all(|c| c == '\n' || !is_unsafe(c)), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn a_quoted_file_keeps_its_columns() {
        assert_eq!(source("a\u{1b}b\n\u{9b}##[c"), "a\u{fffd}b\n\u{fffd}#\u{fffd}[c");
    }
}
