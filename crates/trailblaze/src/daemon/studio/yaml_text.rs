//! Calls and values as people see and write them in the studio: YAML, as in trails.

use serde_json::Value;
use trailblaze_core::trail::{ToolCall, parts_of, written_calls};
use trailblaze_core::yaml::{self, Decode, Problems, Source, YamlKind, YamlNode};

/// A call as in a trail: `tap: {text: Pay}`, and what stands next to it on lines of their own.
pub fn write_call(call: &Value) -> String {
    let Some(parts) = parts_of(call) else { return yaml::inline(call) };
    let result_name = parts.result_name.map(|name| format!("\nas: {}", yaml::inline(&Value::from(name))));
    let soft = if parts.is_soft { "\nsoft: true" } else { "" };
    let tool = yaml::inline(&Value::from(parts.tool));
    format!("{tool}: {}{}{soft}", yaml::inline(parts.args), result_name.unwrap_or_default())
}

/// Reads a list of calls, or one call. The error says what is wrong with the text.
pub fn read_calls(text: &str) -> Result<Value, String> {
    let read = |node: &YamlNode, problems: &mut Problems| match node.kind {
        YamlKind::Map(_) => ToolCall::decode(node, problems).map(|call| vec![call]),
        _ => Vec::<ToolCall>::decode(node, problems),
    };
    let calls = read_with(text, read)?;
    Ok(Value::Array(written_calls(&calls.unwrap_or_default())))
}

/// Reads any value. The error says what is wrong with the text.
pub fn read_value(text: &str) -> Result<Value, String> {
    let value = read_with(text, |node, _| Some(yaml::loose(node)))?;
    Ok(value.unwrap_or_default())
}

/// Returns `None` for an empty text.
fn read_with<T>(text: &str, decode: impl Fn(&YamlNode, &mut Problems) -> Option<T>) -> Result<Option<T>, String> {
    let source = Source::new("text", text);
    let mut problems = Problems::new(&source);
    let read = yaml::read(&source, &mut problems).and_then(|node| decode(&node, &mut problems));
    if !problems.has_errors() {
        return Ok(read);
    }
    let first = problems.into_vec().into_iter().next();
    Err(first.map_or_else(String::new, |problem| {
        let hint = problem.hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("line {}: {}{hint}", problem.span.line, problem.message)
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_survive_being_written_and_read() {
        let calls = json!([
            {"tap": {"text": "Pay"}},
            {"tap": {"text": "yes"}},
            {"inputText": {"text": "1234"}},
            {"inputText": {"text": "a, \"b\": {c}"}},
            {"swipe": {"from": [1, 2.5], "isFast": true, "to": null}},
            {"odd": {"a key": "línea\ntwo", "deep": {"er": [{"x": -1}]}}},
            {"getOrder": {"id": "{{id}}"}, "as": "order"},
            {"back": {}},
        ]);
        let items = calls.as_array().expect("a list").iter().map(|call| format!("- {}\n", indented(&write_call(call))));
        let text: String = items.collect();
        assert_eq!(read_calls(&text), Ok(calls), "{text}");
    }

    /// As the page indents a call in a list.
    fn indented(call: &str) -> String {
        call.replace('\n', "\n  ")
    }

    #[test]
    fn calls_are_read_as_people_write_them() {
        let text = "- tap: {text: 'it''s', url: http://a.b/c?d=1}\n\n- back:\n- pressKey: {\n    keyCode: ENTER\n  }";
        let calls = json!([{"tap": {"text": "it's", "url": "http://a.b/c?d=1"}}, {"back": {}}, {"pressKey": {"keyCode": "ENTER"}}]);
        assert_eq!(read_calls(text), Ok(calls));
        assert_eq!(read_calls("tap: {text: Pay}"), Ok(json!([{"tap": {"text": "Pay"}}])));
        assert_eq!(read_calls(" \n"), Ok(json!([])));
        assert_eq!(read_value("{\"a\": [1, 2], b: {c: null}}"), Ok(json!({"a": [1, 2], "b": {"c": null}})));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line) in [
            ("- tap: {text: Pay", "line "),
            ("- back:\n- tap {text: Pay}", "line 2: "),
            ("- tap: Pay", "line 1: the arguments of `tap` must be a mapping"),
            ("- tap: {}\n  back: {}", "line 1: a call must be written as"),
        ] {
            let problem = read_calls(text).expect_err(text);
            assert!(problem.starts_with(line), "{text}: expected `{line}`, got `{problem}`");
        }
        assert!(read_value("[1").is_err());
    }
}
