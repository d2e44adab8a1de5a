//! Writes JSON values as YAML that reads back as the same values, under any schema.

use serde_json::{Map, Value};

use super::scalar::plain;

/// Writes a value in block style, each line indented by `indent` spaces and ended by a newline.
pub fn block(value: &Value, indent: usize) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => write_map(map, indent, &mut out, true),
        Value::Array(items) if !items.is_empty() => write_seq(items, indent, &mut out),
        other => {
            out.push_str(&" ".repeat(indent));
            out.push_str(&inline(other));
            out.push('\n');
        }
    }
    out
}

/// Writes a value on one line: scalars, and collections in flow style.
pub fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entries: Vec<String> =
                map.iter().map(|(key, value)| format!("{}: {}", string(key), inline(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn write_map(map: &Map<String, Value>, indent: usize, out: &mut String, mut indent_first: bool) {
    for (key, value) in map {
        if indent_first {
            out.push_str(&" ".repeat(indent));
        }
        indent_first = true;
        out.push_str(&string(key));
        out.push(':');
        write_value(value, indent, out);
    }
}

fn write_value(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            write_map(map, indent + 2, out, true);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            write_seq(items, indent + 2, out);
        }
        other => {
            out.push(' ');
            out.push_str(&inline(other));
            out.push('\n');
        }
    }
}

fn write_seq(items: &[Value], indent: usize, out: &mut String) {
    for item in items {
        out.push_str(&" ".repeat(indent));
        out.push('-');
        match item {
            Value::Object(map) if !map.is_empty() => {
                out.push(' ');
                write_map(map, indent + 2, out, false);
            }
            Value::Array(inner) if !inner.is_empty() => {
                out.push('\n');
                write_seq(inner, indent + 2, out);
            }
            other => write_value(other, indent, out),
        }
    }
}

/// Writes text plain if every reader takes it as the same text, and quoted otherwise.
fn string(text: &str) -> String {
    if is_safely_plain(text) {
        return text.to_string();
    }
    // Double quotes are only used for characters that single quotes cannot express.
    if text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{85}')) {
        return double_quoted(text);
    }
    format!("'{}'", text.replace('\'', "''"))
}

fn is_safely_plain(text: &str) -> bool {
    let reads_as_text = matches!(plain(text), Value::String(_));
    let looks_like_another_type = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '.'))
        || matches!(
            text.to_ascii_lowercase().as_str(),
            "yes" | "no" | "on" | "off" | "y" | "n" | "true" | "false" | "null"
        );
    reads_as_text
        && !looks_like_another_type
        && text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '/' | '('))
        && !text.ends_with(' ')
        && !text.ends_with(':')
        // In brackets, a trailing dash would start something else.
        && !text.ends_with(" -")
        && !text.ends_with(" ?")
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(|c| {
            c.is_alphanumeric()
                || matches!(
                    c,
                    ' ' | '_'
                        | '-'
                        | '.'
                        | '/'
                        | '('
                        | ')'
                        | '+'
                        | '@'
                        | ':'
                        | '!'
                        | '?'
                        | ';'
                        | '='
                        | '$'
                        | '%'
                        | '&'
                        | '*'
                        | '<'
                        | '>'
                        | '^'
                        | '~'
                        | '\\'
                )
        })
}

fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => match u32::from(c) {
                code @ 0..=0xff => out.push_str(&format!("\\x{code:02x}")),
                code => out.push_str(&format!("\\u{code:04x}")),
            },
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{Problems, Source, read, to_json};
    use super::*;

    fn read_back(text: &str, schema: &Value) -> Value {
        let source = Source::new("a.yaml", text);
        let mut problems = Problems::new(&source);
        let node = read(&source, &mut problems).unwrap_or_else(|| panic!("{:?}\n{text}", problems));
        let value = to_json(&node, schema, &mut problems);
        assert!(!problems.has_errors(), "{problems:?}\n{text}");
        value.unwrap()
    }

    #[test]
    fn text_that_looks_like_something_else_is_quoted() {
        let value =
            json!({"a": "0123", "b": "no", "c": "x: y", "d": "it's", "e": "a\nb", "f": "", "g": "{{x}}", "h": "Pay"});
        let expected = "a: '0123'\nb: 'no'\nc: 'x: y'\nd: 'it''s'\ne: \"a\\nb\"\nf: ''\ng: '{{x}}'\nh: Pay\n";
        assert_eq!(block(&value, 0), expected);
    }

    #[test]
    fn nested_values_are_indented_by_two() {
        let value = json!([{"tap": {"text": "Pay", "list": [1, {"k": true}]}}, {"back": {}}, [[1], []]]);
        let expected = "  - tap:\n      text: Pay\n      list:\n        - 1\n        - k: true\n  - back: {}\n  -\n    -\n      - 1\n    - []\n";
        assert_eq!(block(&value, 2), expected);
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![".*".prop_map(Value::from), "[ -~]{0,12}".prop_map(Value::from)];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((".{0,8}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn a_dash_at_the_end_is_quoted_in_brackets() {
        let value = json!(["a -", "b ?", "c - d"]);
        assert_eq!(read_back(&inline(&value), &json!({})), value);
    }

    proptest! {
        #[test]
        fn any_written_value_reads_back_the_same(value in any_value(), indent in 0usize..3) {
            let text = block(&value, indent * 2);
            prop_assert_eq!(read_back(&text, &json!({})), value.clone());
            prop_assert_eq!(read_back(&inline(&value), &json!({})), value);
        }
    }
}
