//! The memory of an attempt, and how templates are resolved from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};
use trailblaze_protocol::outcome::MemoryChanges;

use crate::schema::{SchemaPlace, Types};
use crate::template::{self, Replacement, Token, Uncoercible};
use crate::values::secret::Secrets;
use crate::yaml::{Reading, Style, scalar};

/// Prefixes of names that Trailblaze sets itself. Tools must not change them.
const OWN: [&str; 2] = ["target.", "args."];

#[derive(Debug, Clone, Default)]
pub struct Memory {
    values: Map<String, Value>,
    /// The trail's arguments: `{{args.x}}`.
    args: Map<String, Value>,
    /// Unknown tokens that a warning was already given for.
    warned: BTreeSet<UnknownTemplate>,
}

/// Why templates could not be resolved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TemplateError {
    #[error("`{token}` refers to an argument that the trail does not declare")]
    UnknownArgument { token: String },
    #[error(transparent)]
    Uncoercible(#[from] Uncoercible),
}

/// How many parts of a value are listed in a message.
const MOST_PARTS: usize = 8;

/// Arguments with their templates resolved, and the unknown templates.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    pub args: Map<String, Value>,
    /// The tokens that have no value; they are left unchanged.
    pub unknown: Vec<UnknownTemplate>,
    /// Those that need a warning because they are new.
    pub to_warn_of: Vec<UnknownTemplate>,
}

/// A token that has no value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnknownTemplate {
    /// As it is written: `{{name}}`.
    pub token: String,
    why: String,
}

impl fmt::Display for UnknownTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is unknown: {}", self.token, self.why)
    }
}

impl Memory {
    pub fn new(values: Map<String, Value>, args: Map<String, Value>) -> Memory {
        Memory { values, args, warned: BTreeSet::new() }
    }

    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Whether a template with this name has a value.
    pub fn has(&self, name: &str) -> bool {
        let plain = name.strip_prefix("memory.").unwrap_or(name);
        // A call that names an argument which the trail does not declare is refused.
        name.starts_with("args.") || self.find(plain).is_some() || self.values.contains_key(name)
    }

    /// The value with this name, or the part of a value: `order.items.0`.
    fn find(&self, name: &str) -> Option<&Value> {
        part_of(&self.values, name)
    }

    /// The values that tools outside of the engine may see.
    pub fn without_secrets<'a>(&'a self, secrets: &'a Secrets) -> impl Iterator<Item = (&'a String, &'a Value)> {
        let is_open = |name: &str, value: &Value| {
            secrets.is_empty()
                || !secrets.is_in(name) && {
                    let mut redacted = value.clone();
                    secrets.redact_value(&mut redacted);
                    redacted == *value
                }
        };
        self.values.iter().filter(move |(name, value)| is_open(name, value))
    }

    /// Restores earlier values. Warnings that were given are not repeated.
    pub fn restore(&mut self, earlier: Memory) {
        self.values = earlier.values;
    }

    /// Takes over what was changed in copies of this memory. Returns the names to which several copies gave different values, with
    /// the numbers of these copies; they keep the value that they had.
    pub fn join(&mut self, copies: Vec<Memory>) -> Vec<(String, Vec<usize>)> {
        let mut changed: BTreeMap<String, Vec<(usize, Option<Value>)>> = BTreeMap::new();
        for (number, copy) in copies.into_iter().enumerate() {
            let names: BTreeSet<&String> = self.values.keys().chain(copy.values.keys()).collect();
            for name in names.into_iter().filter(|name| !is_provided(name)) {
                let value = copy.values.get(name);
                if value != self.values.get(name) {
                    changed.entry(name.clone()).or_default().push((number, value.cloned()));
                }
            }
            self.warned.extend(copy.warned);
        }
        let mut conflicts = Vec::new();
        for (name, values) in changed {
            if values.iter().any(|(_, value)| *value != values[0].1) {
                conflicts.push((name, values.iter().map(|(number, _)| *number).collect()));
                continue;
            }
            match values.into_iter().next() {
                Some((_, Some(value))) => drop(self.values.insert(name, value)),
                _ => drop(self.values.remove(&name)),
            }
        }
        conflicts
    }

    /// Sets or removes a value that Trailblaze provides itself, such as `target.appId`.
    pub(crate) fn provide(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => drop(self.values.insert(name.to_string(), value.into())),
            None => drop(self.values.remove(name)),
        }
    }

    pub fn apply(&mut self, changes: &MemoryChanges) {
        for (name, value) in &changes.set {
            self.values.insert(name.clone(), value.clone());
        }
        for name in &changes.deleted {
            self.values.remove(name);
        }
    }

    /// Removes reserved names from the changes that a tool requests, and returns them: the names that Trailblaze sets
    /// itself, and those of secrets.
    pub fn take_own(changes: &mut MemoryChanges, secrets: &Secrets) -> Vec<String> {
        let is_own = |name: &str| is_provided(name) || secrets.seal(name).is_some();
        if !changes.set.keys().chain(&changes.deleted).any(|name| is_own(name)) {
            return Vec::new();
        }
        let (own, set) = std::mem::take(&mut changes.set).into_iter().partition(|(name, _)| is_own(name));
        let (own_deleted, deleted) = std::mem::take(&mut changes.deleted).into_iter().partition(|name| is_own(name));
        *changes = MemoryChanges { set, deleted };
        let own: Map<String, Value> = own;
        let own_deleted: Vec<String> = own_deleted;
        own.into_iter().map(|(name, _)| name).chain(own_deleted).collect()
    }

    /// A copy of `args` with templates resolved. Secrets become seals; unknown tokens are left unchanged.
    pub fn resolve(
        &mut self,
        args: &Map<String, Value>,
        schema: &Value,
        secrets: &Secrets,
    ) -> Result<Resolved, TemplateError> {
        if !args.values().any(template::holds_token) {
            return Ok(Resolved { args: args.clone(), unknown: Vec::new(), to_warn_of: Vec::new() });
        }
        let mut unknown = Vec::new();
        let mut lookup = |token: &Token<'_>| self.lookup(token, secrets, &mut unknown);
        let mut filled = template::fill_map(args, &mut lookup)?;
        let root = SchemaPlace::root(schema);
        for (name, value) in &mut filled {
            if let Some(authored) = args.get(name).filter(|authored| template::holds_token(authored)) {
                retype(authored, value, &root.property(name));
            }
        }
        let to_warn_of = unknown.iter().filter(|token| self.warned.insert((*token).clone())).cloned().collect();
        Ok(Resolved { args: filled, unknown, to_warn_of })
    }

    fn lookup(
        &self,
        token: &Token<'_>,
        secrets: &Secrets,
        unknown: &mut Vec<UnknownTemplate>,
    ) -> Result<Replacement, TemplateError> {
        if let Some(path) = token.path.strip_prefix("args.") {
            let mut parts = path.split('.');
            let first = parts.next().and_then(|name| self.args.get(name));
            let value = parts.try_fold(first, |value, part| Some(value.and_then(|value| value.get(part)))).flatten();
            return value
                .map(|value| Replacement::Value(value.clone()))
                .ok_or_else(|| TemplateError::UnknownArgument { token: token.raw.to_string() });
        }
        let name = token.path.strip_prefix("memory.").unwrap_or(token.path);
        if let Some(seal) = secrets.seal(name) {
            return Ok(Replacement::Value(Value::from(seal)));
        }
        match self.find(name).or_else(|| self.values.get(token.path)) {
            Some(value) => Ok(Replacement::Value(value.clone())),
            None => {
                unknown.push(UnknownTemplate { token: token.raw.to_string(), why: self.why_unknown(name) });
                Ok(Replacement::Keep)
            }
        }
    }

    /// Why no value has this name: nothing is remembered, or what is remembered has no such part.
    fn why_unknown(&self, name: &str) -> String {
        let whole = name.split_once('.').and_then(|(first, _)| Some((first, self.values.get(first)?)));
        let Some((first, value)) = whole else { return "no value is remembered under that name".to_string() };
        match value {
            Value::Object(parts) if parts.is_empty() => format!("`{first}` is empty"),
            Value::Object(parts) => {
                let names: Vec<String> = parts.keys().take(MOST_PARTS).map(|part| format!("`{part}`")).collect();
                format!("`{first}` has no such part; it has {}", names.join(", "))
            }
            Value::Array(items) => {
                format!("`{first}` is a list, and has no item with that number (it has {})", items.len())
            }
            _ => format!("`{first}` is one value, and has no parts"),
        }
    }
}

/// The value with a name, or a part of a value: `order.items.0`.
pub(crate) fn part_of<'v>(values: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    values.get(name).or_else(|| {
        let (first, path) = name.split_once('.')?;
        path.split('.').try_fold(values.get(first)?, |value, part| match value {
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            other => other.get(part),
        })
    })
}

/// Whether Trailblaze sets the value with this name itself.
fn is_provided(name: &str) -> bool {
    OWN.iter().any(|own| name.starts_with(own))
}

/// Converts a value that consists of one token to the type in the schema. Memory mostly contains text; if the schema does
/// not allow text, the text is parsed as a scalar.
fn retype(authored: &Value, value: &mut Value, place: &SchemaPlace<'_>) {
    match (authored, value) {
        (Value::String(token), value) if template::is_whole_token(token) => {
            let types = place.types();
            let typed = match &*value {
                Value::String(text) if !types.takes(Types::TEXT) => match scalar(text, Style::Plain, types) {
                    Reading::Is(typed) => typed,
                    Reading::Misfit(_) | Reading::Ambiguous(_) => return,
                },
                Value::String(_) | Value::Null => return,
                other if types == Types::TEXT => Value::from(other.to_string()),
                _ => return,
            };
            *value = typed;
        }
        (Value::Array(authored), Value::Array(values)) if authored.len() == values.len() => {
            for (index, (authored, value)) in authored.iter().zip(values).enumerate() {
                retype(authored, value, &place.item(index));
            }
        }
        (Value::Object(authored), Value::Object(values)) => {
            for (name, value) in values {
                if let Some(authored) = authored.get(name) {
                    retype(authored, value, &place.property(name));
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(args: Value, expected: Result<Value, &str>) {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let values =
            json!({"count": "5", "name": "Ada", "flag": true, "a.b": "dotted", "order": {"items": [{"id": 7}]}});
        let values = object(values);
        let mut memory = Memory::new(values, object(json!({"n": 3, "who": {"first": "Grace"}})));
        let schema = json!({"properties": {
            "n": {"type": "integer"}, "s": {"type": "string"}, "l": {"type": "array", "items": {"type": "integer"}}
        }});
        let secrets = Secrets::new([("PIN".to_string(), "4711".to_string())]);
        let resolved = memory.resolve(&object(args), &schema, &secrets);
        match expected {
            Ok(expected) => {
                let mut args = Value::Object(resolved.unwrap().args);
                secrets.redact_value(&mut args);
                assert_eq!(args, expected);
            }
            Err(token) => {
                let (TemplateError::UnknownArgument { token: found }
                | TemplateError::Uncoercible(Uncoercible { token: found, .. })) = resolved.unwrap_err();
                assert_eq!(found, token);
            }
        }
    }

    #[test]
    fn tokens_of_all_spellings_resolve_and_take_the_declared_type() {
        check(json!({"n": "{{count}}", "s": "{{count}}"}), Ok(json!({"n": 5, "s": "5"})));
        check(json!({"s": "${name}/{{memory.name}}/{{a.b}}"}), Ok(json!({"s": "Ada/Ada/dotted"})));
        check(json!({"n": "{{args.n}}", "s": "{{args.n}}"}), Ok(json!({"n": 3, "s": "3"})));
        check(json!({"s": "{{args.who.first}}", "l": ["{{count}}"]}), Ok(json!({"s": "Grace", "l": [5]})));
        check(json!({"s": "{{flag}}"}), Ok(json!({"s": "true"})));
        check(
            json!({"n": "{{order.items.0.id}}", "s": "{{order.items.1}}"}),
            Ok(json!({"n": 7, "s": "{{order.items.1}}"})),
        );
        // Without a declared type, text stays text, unless the token asks for another.
        check(json!({"any": "{{count}}"}), Ok(json!({"any": "5"})));
        check(json!({"any": "{{int:count}}", "s": "{{int:count}}"}), Ok(json!({"any": 5, "s": "5"})));
        check(json!({"any": "{{int:name}}"}), Err("{{int:name}}"));
        check(json!({"any": "{{int:PIN}}"}), Err("{{int:PIN}}"));
    }

    #[test]
    fn a_secret_stays_its_placeholder_and_an_unknown_token_stays_literal() {
        check(json!({"s": "{{PIN}} {{memory.PIN}}"}), Ok(json!({"s": "{{PIN}} {{PIN}}"})));
        check(json!({"s": "{{nobody}}"}), Ok(json!({"s": "{{nobody}}"})));
        check(json!({"s": "{{args.nobody}}"}), Err("{{args.nobody}}"));
    }

    fn shown(unknown: &[UnknownTemplate]) -> Vec<String> {
        unknown.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn copies_join_unless_they_give_one_name_different_values() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let mut memory = Memory::new(object(json!({"kept": 1, "gone": 2, "target.appId": "one"})), Map::new());
        let copy = |value: Value| Memory::new(object(value), Map::new());
        let conflicts = memory.join(vec![
            copy(json!({"kept": 1, "gone": 2, "target.appId": "two", "own": "a", "same": "s", "both": "x"})),
            copy(json!({"kept": 1, "target.appId": "three", "same": "s", "both": "y"})),
        ]);
        assert_eq!(conflicts, [("both".to_string(), vec![0, 1])]);
        assert_eq!(Value::Object(memory.values), json!({"kept": 1, "target.appId": "one", "own": "a", "same": "s"}));
    }

    #[test]
    fn an_unknown_token_is_warned_of_once() {
        let mut memory = Memory::default();
        let args = json!({"s": "{{x}}"}).as_object().cloned().unwrap();
        let mut warnings = || shown(&memory.resolve(&args, &Value::Null, &Secrets::default()).unwrap().to_warn_of);
        assert_eq!(warnings(), ["`{{x}}` is unknown: no value is remembered under that name"]);
        assert!(warnings().is_empty());
    }

    #[test]
    fn a_part_that_a_value_does_not_have_is_explained() {
        let values = json!({"order": {"number": 7, "by": "Ada"}, "note": "text", "rows": ["a"], "none": {}});
        let mut memory = Memory::new(values.as_object().cloned().unwrap(), Map::new());
        let args = json!({"a": "{{order.nr}} {{note.x}} {{memory.rows.3}} {{none.x}}"}).as_object().cloned().unwrap();
        let unknown = memory.resolve(&args, &Value::Null, &Secrets::default()).unwrap().unknown;
        let expected = [
            "`{{order.nr}}` is unknown: `order` has no such part; it has `number`, `by`",
            "`{{note.x}}` is unknown: `note` is one value, and has no parts",
            "`{{memory.rows.3}}` is unknown: `rows` is a list, and has no item with that number (it has 1)",
            "`{{none.x}}` is unknown: `none` is empty",
        ];
        assert_eq!(shown(&unknown), expected);
    }
}
