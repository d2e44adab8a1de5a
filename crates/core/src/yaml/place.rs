//! Where a value really starts and ends. The spans of the parser include anchors, blank lines and comments around a value;
//! splicing needs the value alone.

use super::node::Span;

/// The characters that are blank in YAML; other spaces are text.
const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// The span without the anchor and tag before the value.
pub fn without_properties(text: &str, span: Span, n_properties: usize) -> Span {
    let mut start = span.start;
    for _ in 0..n_properties {
        if !text[start..].starts_with(['&', '!']) {
            break;
        }
        let word = text[start..].find(|c: char| BLANK.contains(&c) || matches!(c, ',' | ']' | '}'));
        let end = word.map_or(text.len(), |at| start + at);
        let next = skip_space(text, end);
        // Only properties: the value is empty and directly follows them.
        start = if next > span.end && end >= span.end { end } else { next };
    }
    moved(text, span, start)
}

/// The end of a quoted scalar that starts at `start`.
pub fn quoted_end(text: &str, start: usize) -> Option<usize> {
    let quote = text[start..].chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut characters = text[start + 1..].char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        match (quote, c) {
            ('"', '\\') => {
                characters.next();
            }
            ('\'', '\'') if characters.peek().is_some_and(|(_, next)| *next == '\'') => {
                characters.next();
            }
            _ if c == quote => return Some(start + 1 + at + 1),
            _ => {}
        }
    }
    None
}

/// The position after the bracket that closes a flow collection whose last value ends at `from`. The parser's end may be a
/// comma before the bracket, or a comment after it.
pub fn bracket_end(text: &str, from: usize) -> Option<usize> {
    let at = skip_space(text, from);
    let at = if text[at..].starts_with(',') { skip_space(text, at + 1) } else { at };
    text[at..].starts_with([']', '}']).then_some(at + 1)
}

/// The span of a `|` or `>` scalar: ends after its last line, or after the blank lines that are part of the value.
pub fn block_span(text: &str, span: Span, raw: &str) -> Span {
    let last = raw.strip_suffix('\n').unwrap_or(raw);
    let ends_blank = last.ends_with(BLANK) || (last.is_empty() && !raw.is_empty());
    if !ends_blank {
        let end = text[..span.end].trim_end_matches(BLANK).len().max(span.start);
        return Span { end, ..span };
    }
    let end = text[..span.end].rfind(['\n', '\r']).map_or(span.end, |at| at + 1);
    // Only blank lines: the parser starts the value after them.
    let start = span.start.min(end);
    Span { end, ..moved(text, span, start) }
}

/// The position of the first dash of a block sequence that is the value of a key ending at `key_end`.
pub fn first_dash(text: &str, key_end: usize, span: Span) -> Span {
    let mut at = skip_space(text, key_end);
    if !text[at..].starts_with(':') {
        return span;
    }
    at = skip_space(text, at + 1);
    while text[at..].starts_with(['&', '!']) {
        let word = text[at..].find(BLANK).map_or(text.len(), |word| at + word);
        at = skip_space(text, word);
    }
    let is_dash = text[at..].starts_with('-') && (at + 1 == text.len() || text[at + 1..].starts_with(BLANK));
    if is_dash && at <= span.start { moved(text, span, at) } else { span }
}

/// The position after the colon of a key, if there is one on its line.
pub fn behind_colon(text: &str, key_end: usize) -> Option<usize> {
    let rest = text[key_end..].trim_start_matches([' ', '\t']);
    rest.starts_with(':').then(|| text.len() - rest.len() + 1)
}

/// The place of an empty value: after the colon.
pub fn unwritten(text: &str, key_end: usize, span: Span) -> Span {
    match behind_colon(text, key_end) {
        Some(colon) if colon > span.start => moved(text, Span { end: span.start, ..span }, colon),
        _ => span,
    }
}

/// Skips blanks, line breaks and comments.
pub fn skip_space(text: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches(BLANK).len();
        at += blank;
        // A `#` directly after a word is part of the word.
        let is_comment = text[at..].starts_with('#') && (at == 0 || text[..at].ends_with(BLANK));
        if !is_comment {
            return at;
        }
        at = line_end(text, at);
    }
}

/// The end of the line that contains `from`, before its line break.
pub fn line_end(text: &str, from: usize) -> usize {
    text[from..].find(['\n', '\r']).map_or(text.len(), |at| from + at)
}

/// The bracket between two positions that is opened while `n_open` others are open.
pub fn nth_bracket(text: &str, from: usize, to: usize, n_open: usize) -> Option<usize> {
    let mut open = 0;
    let mut at = from;
    while let Some(c) = text.get(at..to)?.chars().next() {
        match c {
            '[' | '{' if open == n_open => return Some(at),
            '[' | '{' => open += 1,
            ']' | '}' => open = open.saturating_sub(1),
            '\'' | '"' => {
                at = quoted_end(text, at)?;
                continue;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    None
}

/// The span with another start. Looks only at the text between the two, because a line may be as long as the file.
pub fn moved(text: &str, span: Span, start: usize) -> Span {
    if start == span.start {
        return span;
    }
    let is_later = start > span.start;
    let between = &text[span.start.min(start)..span.start.max(start)];
    let breaks = between.replace("\r\n", "\n").matches(['\n', '\r']).count();
    let line = if is_later { span.line + breaks } else { span.line - breaks };
    let n_chars = |text: &str| text.chars().count();
    let column = match between.rfind(['\n', '\r']) {
        None if is_later => span.column + n_chars(between),
        None => span.column - n_chars(between),
        Some(at) if is_later => 1 + n_chars(&between[at + 1..]),
        Some(_) => {
            let line_start = text[..start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
            1 + n_chars(text[line_start..start].trim_start_matches('\u{feff}'))
        }
    };
    Span { start, end: span.end.max(start), line, column }
}
