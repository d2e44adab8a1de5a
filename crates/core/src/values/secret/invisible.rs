//! Characters that are not displayed, such as soft hyphens and zero-width spaces. A page may put them into a value, for
//! example to say where it may be broken, and then it looks the same but is another text.

use std::ops::Range;

/// Whether a character has neither ink nor width.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A text without its invisible characters.
pub struct Stripped {
    pub text: String,
    /// Where the removed characters were: an offset in `text`, and how many bytes were removed up to there.
    removed: Vec<(usize, usize)>,
}

impl Stripped {
    /// `None` if the text has no such characters, as most have not.
    pub fn of(text: &str) -> Option<Stripped> {
        if text.is_ascii() || !text.contains(is_invisible) {
            return None;
        }
        let mut stripped = Stripped { text: String::with_capacity(text.len()), removed: Vec::new() };
        let mut n_removed = 0;
        for c in text.chars() {
            if is_invisible(c) {
                n_removed += c.len_utf8();
                stripped.removed.push((stripped.text.len(), n_removed));
            } else {
                stripped.text.push(c);
            }
        }
        Some(stripped)
    }

    /// A place in the original text, without invisible characters at its ends.
    pub fn original(&self, place: &Range<usize>) -> Range<usize> {
        let removed = |n: usize| n.checked_sub(1).map_or(0, |last| self.removed[last].1);
        let start = place.start + removed(self.removed.partition_point(|(at, _)| *at <= place.start));
        let end = place.end + removed(self.removed.partition_point(|(at, _)| *at < place.end));
        start..end.max(start)
    }
}
