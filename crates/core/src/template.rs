//! Placeholders in values: `{{name}}`, `{{?name}}`, `{{int:name}}` and `${name}`. Only values are templates, never keys. There is one
//! pass: inserted text is not scanned again.

use std::collections::BTreeSet;

use serde_json::{Map, Number, Value};

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
    /// `{{int:x}}`: the type that the value is converted to.
    pub coercion: Option<Coercion>,
}

/// The type that a value is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coercion {
    Integer,
    Number,
    Boolean,
    Text,
}

/// A value that does not have the type that its token asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the value of `{token}` is not {}", .to.noun())]
pub struct Uncoercible {
    pub token: String,
    to: Coercion,
}

impl Coercion {
    pub const WORDS: [&'static str; 4] = ["int", "number", "bool", "string"];

    /// The words before the colon: the types of parameters, and their short forms.
    pub fn parse(word: &str) -> Option<Coercion> {
        match word {
            "int" | "integer" => Some(Coercion::Integer),
            "number" => Some(Coercion::Number),
            "bool" | "boolean" => Some(Coercion::Boolean),
            "string" => Some(Coercion::Text),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Coercion::Integer => "int",
            Coercion::Number => "number",
            Coercion::Boolean => "bool",
            Coercion::Text => "string",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Coercion::Integer => "a whole number",
            Coercion::Number => "a number",
            Coercion::Boolean => "true or false",
            Coercion::Text => "a text",
        }
    }

    fn convert(self, value: &Value) -> Option<Value> {
        let text = value.as_str().map(str::trim);
        match self {
            Coercion::Text if text.is_some() => Some(value.clone()),
            Coercion::Text => Some(Value::from(value.to_string())),
            Coercion::Integer => match text {
                Some(text) => text.parse::<i64>().ok().map(Value::from),
                None => value.as_i64().or_else(|| whole_number(value.as_f64()?)).map(Value::from),
            },
            Coercion::Number => match text {
                Some(text) => text.parse::<i64>().map(Value::from).ok().or_else(|| float(text)),
                None => value.is_number().then(|| value.clone()),
            },
            Coercion::Boolean => match text {
                Some(text) => ["true", "false"]
                    .into_iter()
                    .find(|word| text.eq_ignore_ascii_case(word))
                    .map(|word| Value::from(word == "true")),
                None => value.is_boolean().then(|| value.clone()),
            },
        }
    }
}

fn float(text: &str) -> Option<Value> {
    text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::from)
}

fn whole_number(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() < (1_u64 << 53) as f64;
    is_whole.then_some(number as i64)
}

impl Token<'_> {
    /// The value as the token wants it.
    fn coerced(&self, value: Value) -> Result<Value, Uncoercible> {
        let Some(coercion) = self.coercion.filter(|_| !value.is_null()) else { return Ok(value) };
        // A template that is only known later is converted then.
        match value.as_str().and_then(whole) {
            Some(inner) if inner.is_curly && inner.coercion.is_none() => {
                let drops = if inner.drops { "?" } else { "" };
                return Ok(Value::from(format!("{{{{{drops}{}:{}}}}}", coercion.word(), inner.path)));
            }
            Some(_) => return Ok(value),
            None => {}
        }
        let converted = coercion.convert(&value);
        converted.ok_or_else(|| Uncoercible { token: self.raw.to_string(), to: coercion })
    }
}

/// The replacement of a token.
#[derive(Debug, Clone, PartialEq)]
pub enum Replacement {
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
pub fn fill<E: From<Uncoercible>>(
    value: &Value,
    lookup: &mut impl FnMut(&Token<'_>) -> Result<Replacement, E>,
) -> Result<Option<Value>, E> {
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

pub fn fill_map<E: From<Uncoercible>>(
    map: &Map<String, Value>,
    lookup: &mut impl FnMut(&Token<'_>) -> Result<Replacement, E>,
) -> Result<Map<String, Value>, E> {
    let mut filled = Map::with_capacity(map.len());
    for (key, value) in map {
        if let Some(value) = fill(value, lookup)? {
            filled.insert(key.clone(), value);
        }
    }
    Ok(filled)
}

fn fill_text<E: From<Uncoercible>>(
    text: &str,
    lookup: &mut impl FnMut(&Token<'_>) -> Result<Replacement, E>,
) -> Result<Option<Value>, E> {
    let mut lookup = |token: &Token<'_>| -> Result<Replacement, E> {
        Ok(match lookup(token)? {
            Replacement::Value(value) => Replacement::Value(token.coerced(value)?),
            other => other,
        })
    };
    if let Some(token) = whole(text) {
        return Ok(match lookup(&token)? {
            Replacement::Value(value) => Some(value),
            Replacement::Nothing if token.drops => None,
            Replacement::Nothing => Some(Value::Null),
            Replacement::Keep => Some(Value::from(text)),
        });
    }
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Token(token) => match lookup(&token)? {
                Replacement::Value(Value::String(text)) => filled.push_str(&text),
                Replacement::Value(Value::Null) | Replacement::Nothing => {}
                Replacement::Value(value) => filled.push_str(&value.to_string()),
                Replacement::Keep => filled.push_str(token.raw),
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
            let (coercion, path) = match path.split_once(':').filter(|_| is_curly) {
                Some((word, path)) => (Coercion::parse(word.trim()), path.trim()),
                None => (None, path),
            };
            let is_token = is_path(path) && (coercion.is_some() || !inside[..end].contains(':'));
            if is_token {
                let raw = &text[at..at + open.len() + end + close.len()];
                return Some((at, Token { raw, path, drops, is_curly, coercion }));
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
        let filled = fill::<Uncoercible>(&value, &mut |token| {
            Ok(match token.path {
                "n" => Replacement::Value(json!(5)),
                "name" => Replacement::Value(json!("Ada")),
                "evil" => Replacement::Value(json!("{{name}}")),
                "text5" => Replacement::Value(json!(" 5 ")),
                "half" => Replacement::Value(json!("2.5")),
                "yes" => Replacement::Value(json!("True")),
                "float" => Replacement::Value(json!(3.0)),
                "gone" => Replacement::Nothing,
                _ => Replacement::Keep,
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
    fn a_value_is_converted_to_the_type_before_the_colon() {
        check(json!("{{int:text5}}"), Some(json!(5)));
        check(json!("{{ integer: text5 }}"), Some(json!(5)));
        check(json!("{{int:float}}"), Some(json!(3)));
        check(json!("{{number:half}}"), Some(json!(2.5)));
        check(json!("{{number:text5}}"), Some(json!(5)));
        check(json!("{{bool:yes}}"), Some(json!(true)));
        check(json!("{{string:n}}"), Some(json!("5")));
        check(json!({"a": "{{?int:gone}}", "b": "{{int:gone}}"}), Some(json!({"b": null})));
        check(json!("{{int:text5}} of {{bool:yes}}"), Some(json!("5 of true")));
        // A template that is only known later is converted then.
        check(json!("{{int:evil}}"), Some(json!("{{int:name}}")));
        for text in ["{{itn:n}}", "{{int:}}", "{{:n}}", "{{int:bool:n}}", "${int:n}"] {
            check(json!(text), Some(json!(text)));
        }
    }

    #[test]
    fn a_value_that_cannot_be_converted_is_an_error() {
        for (text, noun) in [
            ("{{int:name}}", "a whole number"),
            ("{{int:half}}", "a whole number"),
            ("{{number:yes}}", "a number"),
            ("{{bool:n}}", "true or false"),
        ] {
            let lookup = |token: &Token<'_>| {
                Ok(Replacement::Value(match token.path {
                    "n" => json!(1),
                    "half" => json!("2.5"),
                    other => json!(other),
                }))
            };
            let error = fill::<Uncoercible>(&json!(text), &mut { lookup }).unwrap_err();
            assert_eq!(error.to_string(), format!("the value of `{text}` is not {noun}"));
        }
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
