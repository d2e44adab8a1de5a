//! The `config:` of a trail.

use serde_json::{Map, Value, json};
use trailblaze_protocol::driver::{DriverKey, Platform};

use super::TextMap;
use super::classifier::closest;
use super::flow::{SkipReason, check_only, not_one_of};
use crate::driver::DialogAnswer;
use crate::names;
use crate::schema::Types;
use crate::table;
use crate::words;
use crate::yaml::{Decode, Entries, Problems, Reading, Span, Spanned, Style, YamlKind, YamlNode, scalar};

table! {
    /// Information about a trail, and its requirements.
    pub struct TrailConfig {
        /// An id that stays the same when the file moves.
        "id" => id: Option<String> = None,
        /// The app under test.
        "target" => target: Option<Spanned<String>> = None,
        /// A title for people.
        "title" => title: Option<String> = None,
        /// A longer description for people.
        "description" => description: Option<String> = None,
        /// How important the trail is.
        "priority" => priority: Option<String> = None,
        /// Tags to select trails by.
        "tags" => tags: Vec<String> = Vec::new(),
        /// The driver to use, by classifier; and, for a trail on several devices, the device of each role.
        "devices" => devices: DevicesOfTrail = DevicesOfTrail::default(),
        /// Why the trail is skipped: a reason, or reasons by classifier.
        "skip" => skip: TrailSkip = TrailSkip::default(),
        /// The only devices that run the trail, by classifier, each with the reason.
        "only" => only: Entries<String> = Entries::default(),
        /// Initial values of the memory.
        "memory" => memory: TextMap = TextMap::default(),
        /// The arguments that a run can or must pass.
        "args" => args: Entries<ArgDeclaration> = Entries::default(),
        /// The groups of tools that models are offered; default: those of the target.
        "groups" => groups: Vec<String> = Vec::new(),
        /// Only tools whose names start with one of these are offered to models; default: those of the target.
        "prefixes" => prefixes: Vec<String> = Vec::new(),
        /// How the dialogs of web pages are answered, unless a step says otherwise; default: as the device does.
        "dialogs" => dialogs: Option<DialogAnswer> = None,
        /// A file with the cookies and local storage that web devices start with, relative to the trail, as web_saveStorageState
        /// writes it; default: that of the device.
        "storageState" => storage_state: Option<Spanned<String>> = None,
        /// Context for models, for all steps.
        "context" => context: Option<String> = None,
        /// Data for other programs.
        "metadata" => metadata: TextMap = TextMap::default(),
    }
}

#[expect(clippy::derivable_impls, reason = "a table takes no derives")]
impl Default for TrailConfig {
    fn default() -> Self {
        TrailConfig {
            id: None,
            target: None,
            title: None,
            description: None,
            priority: None,
            tags: Vec::new(),
            devices: DevicesOfTrail::default(),
            skip: TrailSkip::default(),
            only: Entries::default(),
            memory: TextMap::default(),
            args: Entries::default(),
            groups: Vec::new(),
            prefixes: Vec::new(),
            dialogs: None,
            storage_state: None,
            context: None,
            metadata: TextMap::default(),
            span: Span::default(),
        }
    }
}

impl TrailConfig {
    /// Reports problems other than wrong types.
    pub fn check(&self, problems: &mut Problems) {
        for (name, _) in self.args.0.iter().filter(|(name, _)| !names::is_parameter(&name.value)) {
            let message = format!("`{}` is not a valid argument name; use letters, digits and _", name.value);
            problems.error(name.span, message);
        }
        check_only(&self.only, problems);
        if let (Some((classifier, _)), false) = (self.only.0.first(), self.devices.roles.is_empty()) {
            problems.error_with_hint(
                classifier.span,
                "`only` has no use in a trail that names its devices",
                "remove `only`; the roles of `devices:` say what the trail runs on",
            );
        }
    }

    /// Why a device skips the trail.
    pub fn skip_reason(&self, lineage: &[String]) -> Option<String> {
        self.skip.reason(lineage).or_else(|| not_one_of(&self.only, lineage))
    }

    /// Checks the arguments of a run, adds defaults, and converts values to their declared types.
    pub fn bind_args(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, Vec<String>> {
        let mut bound = Map::new();
        let mut problems = Vec::new();
        for name in given.keys().filter(|name| self.args.get(name).is_none()) {
            problems.push(format!("the trail does not declare the argument `{name}`"));
        }
        for (name, declaration) in self.args.iter() {
            match (given.get(name), &declaration.default) {
                (Some(value), _) => match declaration.kind.take(value) {
                    Ok(value) => {
                        bound.insert(name.to_string(), value);
                    }
                    Err(expected) => problems.push(format!("the argument `{name}` must be {expected}, not {value}")),
                },
                (None, Some(default)) => {
                    bound.insert(name.to_string(), default.clone());
                }
                (None, None) if declaration.is_required => {
                    problems.push(format!("the argument `{name}` is missing; pass it with --arg {name}=…"));
                }
                (None, None) => {
                    bound.insert(name.to_string(), Value::Null);
                }
            }
        }
        if problems.is_empty() { Ok(bound) } else { Err(problems) }
    }
}

/// Why a trail is skipped: on all devices, or by classifier. There, as in files of other versions, a blank reason does not count.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrailSkip {
    pub everywhere: Option<String>,
    pub by_classifier: Entries<Option<String>>,
}

impl TrailSkip {
    fn reason(&self, lineage: &[String]) -> Option<String> {
        self.everywhere.clone().or_else(|| {
            let (_, reason) = closest(lineage, |classifier| self.by_classifier.get(classifier))?;
            reason.clone().filter(|reason| !reason.trim().is_empty())
        })
    }
}

impl Decode for TrailSkip {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        if let YamlKind::Map(_) = &node.kind {
            let by_classifier = Entries::decode(node, problems)?;
            return Some(TrailSkip { by_classifier, ..TrailSkip::default() });
        }
        match SkipReason::decode(node, problems)? {
            SkipReason::Everywhere(reason) => Some(TrailSkip { everywhere: Some(reason), ..TrailSkip::default() }),
            SkipReason::On(_) => None,
        }
    }

    fn schema() -> Value {
        json!({"anyOf": [{"type": "string"}, Entries::<Option<String>>::schema()]})
    }
}

/// The `devices:` of a trail. A key that begins with a platform is a classifier, and any other is a role.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DevicesOfTrail {
    /// The driver to use, by classifier.
    pub drivers: Entries<DriverKey>,
    /// What each role is played by: a platform, another classifier, or the id of a device.
    pub roles: Entries<Spanned<String>>,
}

impl Decode for DevicesOfTrail {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let mut devices = DevicesOfTrail::default();
        for (name, value) in Entries::<YamlNode>::decode(node, problems)?.0 {
            if platform_of(&name.value).is_some() {
                let driver = DriverKey::decode(&value, problems)?;
                devices.drivers.0.push((name, driver));
                continue;
            }
            let wanted = Spanned::<String>::decode(&value, problems)?;
            if !names::is_parameter(&name.value) {
                let message = format!("`{}` is not a valid role; use letters, digits and _", name.value);
                problems.error(name.span, message);
            }
            if platform_of(&wanted.value).is_none() {
                let message = format!("`{}` is not a device", wanted.value);
                let hint =
                    "write a platform such as `android`, a classifier such as `android-phone`, or the id of a device";
                problems.error_with_hint(wanted.span, message, hint);
            }
            devices.roles.0.push((name, wanted));
        }
        Some(devices)
    }

    fn schema() -> Value {
        let examples: Vec<&str> = DriverKey::known_keys().chain(Platform::ALL.map(Platform::name)).collect();
        json!({"type": "object", "additionalProperties": {"type": "string", "examples": examples}})
    }
}

/// The platform that a classifier or the id of a device begins with.
fn platform_of(text: &str) -> Option<Platform> {
    Platform::parse(text.split(['-', '/']).next()?)
}

/// An argument: `name: type`, or `name: {type, description, default, required}`.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgDeclaration {
    pub kind: ArgType,
    pub description: String,
    pub default: Option<Value>,
    pub is_required: bool,
}

words! {
    pub enum ArgType {
        "string" => String,
        "integer" => Integer,
        "boolean" => Boolean,
        "array" => Array,
        "object" => Object,
    }
}

table! {
    /// An argument with details.
    pub struct FullDeclaration {
        /// The type of its values.
        "type" => kind: ArgType,
        /// A description for people.
        "description" => description: String = String::new(),
        /// The default value; makes the argument optional.
        "default" => default: Option<YamlNode> = None,
        /// Whether the argument is required.
        "required" => required: Option<bool> = None,
    }
}

impl ArgType {
    pub(super) fn json(self) -> Value {
        let name = match self {
            ArgType::String => "string",
            ArgType::Integer => "integer",
            ArgType::Boolean => "boolean",
            ArgType::Array => "array",
            ArgType::Object => "object",
        };
        json!({"type": name})
    }

    /// Converts a value that was given as text, as on a command line.
    fn take(self, value: &Value) -> Result<Value, &'static str> {
        let typed = match (self, value) {
            (ArgType::Array | ArgType::Object, Value::String(text)) => {
                serde_json::from_str(text).unwrap_or(Value::Null)
            }
            (_, Value::String(text)) => match scalar(text, Style::Plain, Types::of(&self.json())) {
                Reading::Is(value) => value,
                _ => Value::Null,
            },
            (_, value) => value.clone(),
        };
        let (fits, expected) = match self {
            ArgType::String => (typed.is_string(), "text"),
            ArgType::Integer => (typed.is_i64() || typed.is_u64(), "a whole number"),
            ArgType::Boolean => (typed.is_boolean(), "true or false"),
            ArgType::Array => (typed.is_array(), "a list in JSON"),
            ArgType::Object => (typed.is_object(), "a mapping in JSON"),
        };
        if fits { Ok(typed) } else { Err(expected) }
    }
}

impl Decode for ArgDeclaration {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        if let YamlKind::Scalar { .. } = node.kind {
            let kind = ArgType::decode(node, problems)?;
            return Some(ArgDeclaration { kind, description: String::new(), default: None, is_required: true });
        }
        let full = FullDeclaration::decode(node, problems)?;
        let default = full.default.as_ref().and_then(|node| crate::yaml::to_json(node, &full.kind.json(), problems));
        let is_required = full.required.unwrap_or(default.is_none());
        Some(ArgDeclaration { kind: full.kind, description: full.description, default, is_required })
    }

    fn schema() -> Value {
        json!({"anyOf": [ArgType::schema(), FullDeclaration::schema()]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::Source;
    use crate::yaml::decode;

    fn check(args: Value, expected: Result<Value, &str>) {
        let source = Source::new(
            "a.yaml",
            "args:\n  who: string\n  count: {type: integer, default: 2}\n  fast: {type: boolean, required: false}\n",
        );
        let config: TrailConfig = decode(&source, &mut Problems::new(&source)).unwrap();
        let bound = config.bind_args(args.as_object().unwrap());
        assert_eq!(bound.map(Value::Object).map_err(|problems| problems.join("; ")), expected.map_err(String::from));
    }

    #[test]
    fn arguments_are_typed_defaulted_and_checked() {
        check(json!({"who": "007"}), Ok(json!({"who": "007", "count": 2, "fast": null})));
        check(json!({"who": "a", "count": "5", "fast": "true"}), Ok(json!({"who": "a", "count": 5, "fast": true})));
        check(json!({}), Err("the argument `who` is missing; pass it with --arg who=…"));
        check(
            json!({"who": "a", "count": "x", "extra": "1"}),
            Err(
                "the trail does not declare the argument `extra`; the argument `count` must be a whole number, not \"x\"",
            ),
        );
    }
}
