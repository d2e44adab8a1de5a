//! Placeholders in values: `{{name}}`, `{{?name}}` and `${name}`. Only values are templates, never keys. There is one pass:
//! inserted text is not scanned again.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'t> {
    /// The token as written, including braces.
    pub raw: &'t str,
    /// The name that it refers to: `x`, `memory.x`, `args.x`, `params.x`.
    pub path: &'t str,
    /// `{{?x}}`: without a value, the whole key or list item is dropped.
    pub drops: bool,
    /// `{{x}}`, as opposed to `${x}`.
    pub is_curly: bool,
}

/// The replacement of a token.
#[derive(Debug, Clone, PartialEq)]
pub enum Fill {
    Value(Value),
    /// No value: a whole value becomes null, or is dropped for `{{?x}}`; within text, it is empty.
    Nothing,
    /// Leave the token unchanged.
    Keep,
}

enum Piece<'t> {
    Text(&'t str),
    Token(Token<'t>),
}

/// Whether the text contains a token.
pub fn has_token(text: &str) -> bool {
    pieces(text).any(|piece| matches!(piece, Piece::Token(_)))
}

/// Whether any text of the value contains a token.
pub fn holds_token(value: &Value) -> bool {
    match value {
        Value::String(text) => has_token(text),
        Value::Array(items) => items.iter().any(holds_token),
        Value::Object(map) => map.values().any(holds_token),
        _ => false,
    }
}

/// The names that the texts of a map refer to, without `memory.`.
pub fn names(map: &Map<String, Value>) -> BTreeSet<String> {
    fn collect(value: &Value, names: &mut BTreeSet<String>) {
        match value {
            Value::String(text) => {
                let name = |token: Token<'_>| token.path.strip_prefix("memory.").unwrap_or(token.path).to_string();
                names.extend(tokens(text).map(name));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
            Value::Object(map) => map.values().for_each(|value| collect(value, names)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut names = BTreeSet::new();
    map.values().for_each(|value| collect(value, &mut names));
    names
}

/// Whether the text consists of exactly one token.
pub fn is_whole_token(text: &str) -> bool {
    whole(text).is_some()
}

/// The tokens of a text, in order.
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Token(token) => Some(token),
        Piece::Text(_) => None,
    })
}

pub fn whole(text: &str) -> Option<Token<'_>> {
    let mut pieces = pieces(text);
    match (pieces.next(), pieces.next()) {
        (Some(Piece::Token(token)), None) => Some(token),
        _ => None,
    }
}

/// Returns a copy of `value` with its tokens replaced; `None` if the value itself is dropped.
pub fn fill<E>(value: &Value, lookup: &mut impl FnMut(&Token<'_>) -> Result<Fill, E>) -> Result<Option<Value>, E> {
    Ok(Some(match value {
        Value::String(text) => return fill_text(text, lookup),
        Value::Array(items) => {
            let mut filled = Vec::with_capacity(items.len());
            for item in items {
                filled.extend(fill(item, lookup)?);
            }
            Value::Array(filled)
        }
        Value::Object(map) => Value::Object(fill_map(map, lookup)?),
        other => other.clone(),
    }))
}

pub fn fill_map<E>(
    map: &Map<String, Value>,
    lookup: &mut impl FnMut(&Token<'_>) -> Result<Fill, E>,
) -> Result<Map<String, Value>, E> {
    let mut filled = Map::with_capacity(map.len());
    for (key, value) in map {
        if let Some(value) = fill(value, lookup)? {
            filled.insert(key.clone(), value);
        }
    }
    Ok(filled)
}

fn fill_text<E>(text: &str, lookup: &mut impl FnMut(&Token<'_>) -> Result<Fill, E>) -> Result<Option<Value>, E> {
    if let Some(token) = whole(text) {
        return Ok(match lookup(&token)? {
            Fill::Value(value) => Some(value),
            Fill::Nothing if token.drops => None,
            Fill::Nothing => Some(Value::Null),
            Fill::Keep => Some(Value::from(text)),
        });
    }
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Token(token) => match lookup(&token)? {
                Fill::Value(Value::String(text)) => filled.push_str(&text),
                Fill::Value(Value::Null) | Fill::Nothing => {}
                Fill::Value(value) => filled.push_str(&value.to_string()),
                Fill::Keep => filled.push_str(token.raw),
            },
        }
    }
    Ok(Some(Value::from(filled)))
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    let mut pending: Option<Token<'_>> = None;
    std::iter::from_fn(move || {
        if let Some(token) = pending.take() {
            return Some(Piece::Token(token));
        }
        if rest.is_empty() {
            return None;
        }
        let Some((at, token)) = next_token(rest) else {
            return Some(Piece::Text(std::mem::take(&mut rest)));
        };
        let before = &rest[..at];
        rest = &rest[at + token.raw.len()..];
        if before.is_empty() {
            return Some(Piece::Token(token));
        }
        pending = Some(token);
        Some(Piece::Text(before))
    })
}

/// The first token and where it starts. Text that merely looks like one (`{{ }}`, `${a b}`) is skipped.
fn next_token(text: &str) -> Option<(usize, Token<'_>)> {
    let mut from = 0;
    while let Some(found) = text[from..].find(['{', '$']) {
        let at = from + found;
        let (open, close) = if text[at..].starts_with("{{") {
            ("{{", "}}")
        } else if text[at..].starts_with("${") {
            ("${", "}")
        } else {
            from = at + 1;
            continue;
        };
        let inside = &text[at + open.len()..];
        if let Some(end) = inside.find(close) {
            let is_curly = open == "{{";
            let path = inside[..end].trim();
            let (drops, path) = match path.strip_prefix('?') {
                Some(path) if is_curly => (true, path.trim()),
                _ => (false, path),
            };
            if is_path(path) {
                let raw = &text[at..at + open.len() + end + close.len()];
                return Some((at, Token { raw, path, drops, is_curly }));
            }
        }
        from = at + 1;
    }
    None
}

fn is_path(path: &str) -> bool {
    path.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: Value, expected: Option<Value>) {
        let filled = fill::<()>(&value, &mut |token| {
            Ok(match token.path {
                "n" => Fill::Value(json!(5)),
                "name" => Fill::Value(json!("Ada")),
                "evil" => Fill::Value(json!("{{name}}")),
                "gone" => Fill::Nothing,
                _ => Fill::Keep,
            })
        });
        assert_eq!(filled, Ok(expected), "{value}");
    }

    #[test]
    fn a_whole_value_keeps_its_type_and_a_spliced_one_is_text() {
        check(json!("{{n}}"), Some(json!(5)));
        check(json!("{{ n }}"), Some(json!(5)));
        check(json!("${n}"), Some(json!(5)));
        check(json!("{{n}} items for {{name}}"), Some(json!("5 items for Ada")));
        check(json!({"a": ["{{n}}", {"b": "x{{n}}"}]}), Some(json!({"a": [5, {"b": "x5"}]})));
    }

    #[test]
    fn an_omitted_value_is_null_empty_or_dropped() {
        check(
            json!({"a": "{{gone}}", "b": "<{{gone}}>", "c": "{{?gone}}", "d": ["{{?gone}}", 1]}),
            Some(json!({"a": null, "b": "<>", "d": [1]})),
        );
        check(json!("{{?gone}}"), None);
        check(json!({"a": "{{?n}}"}), Some(json!({"a": 5})));
    }

    #[test]
    fn what_is_inserted_is_not_expanded_again() {
        check(json!("{{evil}}"), Some(json!("{{name}}")));
        check(json!("<{{evil}}>"), Some(json!("<{{name}}>")));
    }

    #[test]
    fn unknown_tokens_and_lookalikes_stay_as_they_are() {
        for text in
            ["{{other}}", "a {{other}} b", "{{ }}", "${}", "${a b}", "{{", "}}", "{{x", "$5", "{a}", "{{{{", "{{a{{"]
        {
            check(json!(text), Some(json!(text)));
        }
        check(json!({"{{n}}": 1}), Some(json!({"{{n}}": 1})));
        check(json!("{{{n}}}"), Some(json!("{5}")));
    }
}
