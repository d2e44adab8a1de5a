//! Arguments typed on a command line or in a shell as `name=value`, converted to the types that a tool expects.

use serde_json::{Map, Value};
use trailblaze_core::engine::tool::Tool;
use trailblaze_core::schema::{SchemaPlace, Types};
use trailblaze_core::yaml::{Reading, Style, scalar};

/// Why an argument is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    #[error("`{name}` must be {expected}, got `{given}`")]
    Misfit { name: String, expected: String, given: String },
    #[error("`{name}` must be {expected}, written as JSON: {name}='{example}'{problem}")]
    NotJson { name: String, expected: String, example: &'static str, problem: String },
    #[error("`{name}` is given twice")]
    Twice { name: String },
}

/// Types arguments by the tool's schema: lists and mappings are JSON, everything else is read as in a file.
pub fn typed(tool: &Tool, args: &[(String, String)]) -> Result<Map<String, Value>, ArgumentError> {
    let root = SchemaPlace::root(tool.schema.json());
    let mut typed = Map::new();
    for (name, text) in args {
        let value = value(&root.property(name), name, text)?;
        if typed.insert(name.clone(), value).is_some() {
            return Err(ArgumentError::Twice { name: name.clone() });
        }
    }
    Ok(typed)
}

fn value(place: &SchemaPlace<'_>, name: &str, text: &str) -> Result<Value, ArgumentError> {
    let types = place.types();
    let parsed = serde_json::from_str::<Value>(text);
    match &parsed {
        Ok(value @ (Value::Array(_) | Value::Object(_))) if types.takes_value(value) => return Ok(value.clone()),
        // If a number is valid too, quotes mark text.
        Ok(Value::String(quoted)) if types != Types::TEXT && types.takes(Types::TEXT) => {
            return Ok(Value::from(quoted.as_str()));
        }
        _ => {}
    }
    match scalar(text, Style::Plain, types) {
        Reading::Is(value) => Ok(value),
        // A value that is not in the usual notation of numbers is text.
        Reading::Ambiguous(_) => Ok(Value::from(text)),
        Reading::Misfit(expected) if types.takes(Types::LIST | Types::MAPPING) => {
            let problem = match parsed {
                Err(error) if text.starts_with(['[', '{']) => format!(" ({error})"),
                _ => String::new(),
            };
            Err(ArgumentError::NotJson { name: name.to_string(), expected, example: example(place), problem })
        }
        Reading::Misfit(expected) => {
            Err(ArgumentError::Misfit { name: name.to_string(), expected, given: text.to_string() })
        }
    }
}

/// An example of a list or a mapping that is valid here.
fn example(place: &SchemaPlace<'_>) -> &'static str {
    let types = place.types();
    if !types.takes(Types::LIST) {
        return r#"{"name": "value"}"#;
    }
    let items = place.item(0).types();
    let examples = [
        (Types::TEXT, r#"["one", "two"]"#),
        (Types::WHOLE_NUMBER, "[1, 2]"),
        (Types::FRACTION, "[1.5, 2.5]"),
        (Types::BOOLEAN, "[true, false]"),
        (Types::MAPPING, r#"[{"name": "value"}]"#),
    ];
    examples.iter().find(|(types, _)| items.takes(*types)).map_or("[]", |(_, example)| example)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trailblaze_core::engine::tool::{Body, Contributor};
    use trailblaze_core::schema::Schema;

    use super::*;

    fn check(args: &[&str], expected: Result<Value, &str>) {
        let schema = json!({
            "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}}, "Count": {"type": "integer"}},
            "properties": {
                "text": {"type": "string"},
                "count": {"$ref": "#/$defs/Count"},
                "point": {"$ref": "#/$defs/Point"},
                "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
                "sizes": {"type": "array", "items": {"$ref": "#/$defs/Count"}},
                "any": {},
            },
        });
        let contributor = Contributor::new("test", trailblaze_core::names::ToolOrigin::BuiltIn);
        let tool = Tool::new("tool", "", Schema::new(schema), contributor, Body::Effects(Vec::new().into()));
        let pair = |arg: &&str| arg.split_once('=').map(|(name, value)| (name.to_string(), value.to_string())).unwrap();
        let pairs: Vec<(String, String)> = args.iter().map(pair).collect();
        let typed = typed(&tool, &pairs).map(Value::Object).map_err(|error| error.to_string());
        assert_eq!(typed, expected.map_err(String::from), "{args:?}");
    }

    #[test]
    fn the_schema_says_what_a_value_means_also_behind_a_reference() {
        check(&["text=5", "count=5"], Ok(json!({"text": "5", "count": 5})));
        check(&["point={\"x\": 1}"], Ok(json!({"point": {"x": 1}})));
        check(&["tags=null"], Ok(json!({"tags": null})));
        check(&["count={{n}}", "point={{p}}"], Ok(json!({"count": "{{n}}", "point": "{{p}}"})));
        check(&["count=many"], Err("`count` must be a whole number, got `many`"));
        check(&["count=1", "count=2"], Err("`count` is given twice"));
    }

    #[test]
    fn without_a_type_a_value_is_what_it_looks_like() {
        check(&["any=5"], Ok(json!({"any": 5})));
        check(&["any=\"5\""], Ok(json!({"any": "5"})));
        check(&["any=+49 12"], Ok(json!({"any": "+49 12"})));
        check(&["any=12.50"], Ok(json!({"any": "12.50"})));
        check(&["any=[1, true]"], Ok(json!({"any": [1, true]})));
        check(&["any=[1, true"], Ok(json!({"any": "[1, true"})));
    }

    #[test]
    fn a_list_that_is_not_json_is_answered_with_an_example() {
        check(&["tags=a,b"], Err(r#"`tags` must be a list, written as JSON: tags='["one", "two"]'"#));
        check(&["sizes=1"], Err("`sizes` must be a list, written as JSON: sizes='[1, 2]'"));
        check(&["point=1,2"], Err(r#"`point` must be a mapping, written as JSON: point='{"name": "value"}'"#));
        let problem =
            "`sizes` must be a list, written as JSON: sizes='[1, 2]' (EOF while parsing a list at line 1 column 2)";
        check(&["sizes=[1"], Err(problem));
    }
}
