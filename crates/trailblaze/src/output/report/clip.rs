//! Cuts a text that is too long to show, and says so.

use std::borrow::Cow;

/// At most about `longest` bytes of a text, cut between characters.
pub fn clip(text: &str, longest: usize) -> Cow<'_, str> {
    if text.len() <= longest {
        return Cow::Borrowed(text);
    }
    let kept = &text[..text.floor_char_boundary(longest)];
    Cow::Owned(format!("{kept}… ({} more bytes are in events.jsonl)", text.len() - kept.len()))
}
