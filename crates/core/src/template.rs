//! Placeholders in values.

/// Whether the text holds a template token.
pub fn has_token(text: &str) -> bool {
    text.contains("{{") || text.contains("${")
}

/// Whether the text is one token and nothing else.
pub fn is_whole_token(text: &str) -> bool {
    text.starts_with("{{") && text.ends_with("}}")
}
