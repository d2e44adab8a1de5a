//! Patterns of selectors: Java's regular expressions, as far as recordings use them, and literal texts.

use fancy_regex::{Expr, Regex, RegexBuilder};

use crate::limits;
use crate::template;

/// Whether a regular expression is case-sensitive. A literal text always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Sensitive,
    Insensitive,
}

/// Matches a full text, as a regular expression or literally. An invalid expression only matches literally.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    case: Case,
    regex: Option<Regex>,
}

impl Pattern {
    pub fn new(source: impl Into<String>, case: Case) -> Pattern {
        let source = source.into();
        let is_literal = case == Case::Sensitive && !source.contains(is_meta);
        let regex = if is_literal { None } else { compile(&source, case) };
        Pattern { source, case, regex }
    }

    /// A pattern that matches exactly this text.
    pub fn literal(text: &str, case: Case) -> Pattern {
        Pattern::new(quote(text), case)
    }

    /// Another expression that is as case-sensitive as this one.
    pub(crate) fn with_source(&self, source: String) -> Pattern {
        Pattern::new(source, self.case)
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it is not a valid regular expression, so that it only matches a text that is the same.
    pub fn is_invalid(&self) -> bool {
        self.regex.is_none() && compile(&self.source, self.case).is_none()
    }

    pub fn matches(&self, text: &str) -> bool {
        self.matches_within(&mut Patience::default(), text)
    }

    /// Same as [`Pattern::matches`], for one of many texts.
    pub(crate) fn matches_within(&self, patience: &mut Patience, text: &str) -> bool {
        if self.source == text {
            return true;
        }
        let Some(regex) = self.regex.as_ref().filter(|_| patience.left > 0) else { return false };
        // An error means that the expression backtracked for too long; it is treated as not matching.
        regex.is_match(text).unwrap_or_else(|_| {
            patience.left -= 1;
            false
        })
    }
}

/// How often expressions may backtrack for too long during one search of a tree. Each time is short, but a tree has many
/// texts, and a search cannot be interrupted.
pub(crate) struct Patience {
    left: usize,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { left: 10 }
    }
}

/// Compares the sources, not the compiled expressions.
impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.source == other.source && self.case == other.case
    }
}

/// Why a pattern is refused where it must be a valid expression.
pub fn invalid_pattern(source: &str) -> String {
    format!("`{source}` is not a valid regular expression; to look for this text, write `\\Q{source}\\E`")
}

fn compile(source: &str, case: Case) -> Option<Regex> {
    let translated = translate(source);
    // Wrapping could make an unbalanced expression valid: `a)|(b`.
    Expr::parse_tree(&translated).ok()?;
    RegexBuilder::new(&format!(r"\A(?:{translated})\z"))
        .case_insensitive(case == Case::Insensitive)
        .backtrack_limit(limits::REGEX_BACKTRACK)
        .build()
        .ok()
}

/// Writes `text` as a pattern that matches only itself, as simply as possible.
fn quote(text: &str) -> String {
    if !text.contains(is_meta) {
        return text.to_string();
    }
    // Within `\Q…\E`, a template token would still be replaced, and `\E` would end the quoting.
    if text.contains(r"\E") || template::has_token(text) {
        let mut escaped = String::new();
        text.chars().for_each(|char| push_literal(&mut escaped, char));
        return escaped;
    }
    format!(r"\Q{text}\E")
}

fn is_meta(char: char) -> bool {
    r"\.[]{}()*+?^$|".contains(char)
}

fn push_literal(out: &mut String, char: char) {
    match char {
        ' ' => out.push_str(r"\x20"),
        '#' | '&' | '-' | '~' => out.extend(['\\', char]),
        char if is_meta(char) => out.extend(['\\', char]),
        char => out.push(char),
    }
}

/// Translates Java's syntax to that of our engine: quoting, the dot, and the classes that Java limits to ASCII.
fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 16);
    let mut rest = source;
    let mut class_depth = 0_usize;
    // Whether a flag group makes the dot match everything.
    let mut is_dot_all = false;
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        match char {
            '\\' => rest = translate_escape(&mut out, rest),
            '[' => {
                out.push('[');
                class_depth += 1;
                // A bracket that closes immediately is a literal.
                for opening in ["^]", "]", "^"] {
                    if let Some(after) = rest.strip_prefix(opening) {
                        out.push_str(if opening == "^" { "^" } else { opening });
                        rest = after;
                        break;
                    }
                }
            }
            ']' => {
                out.push(']');
                class_depth = class_depth.saturating_sub(1);
            }
            '.' if class_depth == 0 && !is_dot_all => out.push_str(r"[^\n\r\x{85}\x{2028}\x{2029}]"),
            '(' if class_depth == 0 => {
                out.push('(');
                let flags = rest.strip_prefix('?').unwrap_or_default();
                let flags = &flags[..flags.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(0)];
                is_dot_all |= flags.contains('s');
            }
            char => out.push(char),
        }
    }
    out
}

/// Translates what follows a backslash, and returns the rest.
fn translate_escape<'a>(out: &mut String, rest: &'a str) -> &'a str {
    let Some(char) = rest.chars().next() else {
        out.push('\\');
        return rest;
    };
    let after = &rest[char.len_utf8()..];
    match char {
        'Q' => {
            let (quoted, after) = after.split_once(r"\E").unwrap_or((after, ""));
            quoted.chars().for_each(|char| push_literal(out, char));
            return after;
        }
        'd' => out.push_str("[0-9]"),
        'D' => out.push_str("[^0-9]"),
        'w' => out.push_str("[a-zA-Z0-9_]"),
        'W' => out.push_str("[^a-zA-Z0-9_]"),
        's' => out.push_str(r"[ \t\n\x0B\f\r]"),
        'S' => out.push_str(r"[^ \t\n\x0B\f\r]"),
        'h' => out.push_str(r"[ \t\x{A0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}]"),
        'E' => {}
        char if char.is_alphanumeric() => out.extend(['\\', char]),
        // In Java, any other escaped character means itself; our engine gives some a meaning, such as `\<`.
        char => push_literal(out, char),
    }
    after
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn check(source: &str, text: &str, expected: bool) {
        assert_eq!(Pattern::new(source, Case::Sensitive).matches(text), expected, "/{source}/ on {text:?}");
    }

    #[test]
    fn an_expression_covers_the_whole_text() {
        check("Pay", "Pay", true);
        check("Pay", "Pay now", false);
        check("Pay.*", "Pay now", true);
        check("a|bc", "bc", true);
        check("a|bc", "abc", false);
        check("a$", "a", true);
        check("", "", true);
        check("", "a", false);
    }

    #[test]
    fn a_text_matches_literally_even_if_it_is_a_valid_expression() {
        check("$5.00 (net)", "$5.00 (net)", true);
        check("a+b", "a+b", true);
        check("a+b", "aab", true);
    }

    #[test]
    fn an_invalid_expression_is_a_literal() {
        for source in ["(", "*", "[a", "a)|(b", r"\", "+1", "{name}", "(?<=", "a{2,1}"] {
            check(source, source, true);
            check(source, "a", false);
        }
    }

    #[test]
    fn quoted_text_is_literal() {
        check(r"\Q$5.00\E", "$5.00", true);
        check(r"\Q$5.00\E", "$5x00", false);
        check(r"\Qa.b\E.*", "a.b and more", true);
        check(r"x\Q[1-2]", "x[1-2]", true);
        check(r"\Qa|b\E|c", "a|b", true);
        check(r"\Qa|b\E|c", "c", true);
        check(r"[\Q.]\E]+", "].", true);
        check(r"\Qa # b & c\E", "a # b & c", true);
        check(r"\Q\E", "", true);
    }

    #[test]
    fn the_dot_stops_at_the_end_of_a_line() {
        for end in ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"] {
            check("a.b", &format!("a{end}b"), false);
            check("(?s)a.b", &format!("a{end}b"), true);
        }
        check("a.b", "aéb", true);
        check("[.]", "x", false);
        check("[]a.]+", "].a", true);
        check("[^]]", ".", true);
        check(r"\.", "x", false);
    }

    #[test]
    fn classes_match_java() {
        check(r"\d+", "12", true);
        check(r"\d", "٣", false);
        check(r"[\d,]+", "1,2", true);
        check(r"[^\d]", "1", false);
        check(r"\w+\s\S", "ab c", true);
        check(r"\<b\>", "<b>", true);
        check(r"\u20AC5", "€5", true);
    }

    #[test]
    fn lookaround_and_back_references_work() {
        check("(?!Pay).*", "Pay", false);
        check("(?!Pay).*", "Cancel", true);
        check(r"(?i)pay", "PAY", true);
        check(r"(.)\1", "aa", true);
        check(r"(.)\1", "ab", false);
    }

    #[test]
    fn only_the_expression_ignores_case() {
        assert!(Pattern::new("pay", Case::Insensitive).matches("PAY"));
        assert!(!Pattern::new("pay", Case::Sensitive).matches("PAY"));
        assert!(!Pattern::new("(pay", Case::Insensitive).matches("(PAY"));
    }

    #[test]
    fn a_runaway_expression_ends_and_does_not_match() {
        let text = format!("{}b", "a".repeat(5_000));
        let started = Instant::now();
        for source in ["(a+)+$", r"(?=(a+)+$)a*", r"(a*)*\1c", r"((a|aa)+)\1c", "(?=a{1000}{1000})a*"] {
            check(source, &text, false);
        }
        assert!(started.elapsed() < Duration::from_secs(60), "it ran away: {:?}", started.elapsed());
    }

    #[test]
    fn quoting_is_omitted_if_not_needed() {
        assert_eq!(Pattern::literal("Pay now", Case::Sensitive).source(), "Pay now");
        assert_eq!(Pattern::literal("$5", Case::Sensitive).source(), r"\Q$5\E");
        assert_eq!(Pattern::literal("{{a}}", Case::Sensitive).source(), r"\{\{a\}\}");
    }

    proptest! {
        #[test]
        fn a_quoted_text_matches_itself_and_nothing_else(text in r"\PC{0,12}|[\\QE.${}\[\]^-]{0,12}", other in r"\PC{0,12}") {
            let pattern = Pattern::literal(&text, Case::Sensitive);
            let compiled = Pattern { source: String::from("\u{0}"), ..pattern.clone() };
            prop_assert!(pattern.matches(&text));
            prop_assert!(compiled.regex.is_none() || compiled.matches(&text), "{}", pattern.source);
            prop_assert_eq!(pattern.matches(&other), other == text || other == pattern.source);
        }

        #[test]
        fn any_source_compiles_or_is_a_literal(source in r"[\\QEdwsh.\[\]^()?|*+{}a-c0-9&~<>:=! -]{0,24}", text in "[a-c]{0,8}") {
            let pattern = Pattern::new(source.clone(), Case::Insensitive);
            pattern.matches(&text);
            prop_assert!(pattern.matches(&source));
        }
    }
}
