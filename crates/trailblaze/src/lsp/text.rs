//! Places in texts: byte offsets, as our reader counts them, and lines with UTF-16 columns, as editors do.

use serde::{Deserialize, Serialize};
use trailblaze_core::yaml::Span;

/// A place between two characters, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LspPosition {
    pub line: u32,
    pub character: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    pub start: LspPosition,
    pub end: LspPosition,
}

/// The range of a span. A span that covers several lines is cut at the end of the first, so that no editor marks half a file.
pub fn range(text: &str, span: Span) -> Range {
    let start = span.start.min(text.len());
    let end = span.end.clamp(start, text.len());
    let line_end = text[start..end].find('\n').map_or(end, |at| start + at);
    Range { start: position(text, start), end: position(text, line_end) }
}

fn position(text: &str, offset: usize) -> LspPosition {
    let before = &text[..floor(text, offset)];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    LspPosition {
        line: number(before.matches('\n').count()),
        character: number(before[line_start..].encode_utf16().count()),
    }
}

/// The byte offset of a position; that of the end of its line if it is beyond.
pub fn offset(text: &str, position: LspPosition) -> usize {
    let line_start = match position.line {
        0 => 0,
        line => text.match_indices('\n').nth(line as usize - 1).map_or(text.len(), |(at, _)| at + 1),
    };
    let line = text[line_start..].split('\n').next().unwrap_or_default();
    let mut units = 0;
    for (at, character) in line.char_indices() {
        if units >= position.character as usize {
            return line_start + at;
        }
        units += character.len_utf16();
    }
    line_start + line.len()
}

fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf16_units() {
        let text = "a: 😀b\nc: ü";
        let check = |at: usize, line: u32, character: u32| {
            let expected = LspPosition { line, character };
            assert_eq!(position(text, at), expected);
            assert_eq!(offset(text, expected), at);
        };
        check(0, 0, 0);
        check(3, 0, 3);
        check(7, 0, 5);
        check(9, 1, 0);
        check(14, 1, 4);
        assert_eq!(offset(text, LspPosition { line: 0, character: 99 }), 8);
        assert_eq!(offset(text, LspPosition { line: 9, character: 9 }), text.len());
    }
}
