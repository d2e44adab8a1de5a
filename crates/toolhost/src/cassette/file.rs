//! Cassettes as YAML files: easy to review in a diff and to edit by hand.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use trailblaze_core::table;
use trailblaze_core::yaml::{
    self, Decode, Entries, Problem, Problems, ReadBackError, Source, YamlNode, decode_root, loose, read_back,
};

use super::{Callback, Cassette, RecordedAnswer, RecordedCall};
use crate::listing::RawListing;

/// The version of the format.
const VERSION: u32 = 1;

/// The hint for a cassette that cannot be used.
const HINT: &str = "record it with --cassette record";

table! {
    /// The listing and answers of a tool server. Written by `--cassette record`.
    pub struct CassetteFile {
        /// The version of the format: 1.
        "cassette" => version: u32,
        /// The tools, as the server listed them.
        "tools" => tools: Vec<YamlNode> = Vec::new(),
        /// The text of the server's `trailblaze://registry`.
        "registry" => registry: Option<String> = None,
        /// The calls, in the order in which they were answered.
        "calls" => calls: Vec<CassetteCall> = Vec::new(),
    }
}

table! {
    /// A call and its result.
    pub struct CassetteCall {
        /// The tool.
        "tool" => tool: String,
        /// Its arguments, after templates.
        "args" => args: Entries<YamlNode> = Entries::default(),
        /// The device that it was made for, if there were several.
        "device" => device: Option<String> = None,
        /// The calls that the tool made before it answered.
        "callbacks" => callbacks: Vec<WrittenCallback> = Vec::new(),
        /// The result, as the server returned it.
        "answer" => answer: Given = Given(None),
        /// The message of the error that was returned instead of a result.
        "refusal" => refusal: Option<String> = None,
    }
}

table! {
    /// A call that a tool made by calling back.
    pub struct WrittenCallback {
        /// The tool that was called.
        "tool" => tool: String,
        /// Its arguments, as the caller gave them.
        "args" => args: Entries<YamlNode> = Entries::default(),
        /// Whether it failed.
        "failed" => failed: bool = false,
    }
}

/// A result: any value, including null.
#[derive(Debug, Clone, PartialEq)]
pub struct Given(Option<YamlNode>);

impl Decode for Given {
    fn decode(node: &YamlNode, _: &mut Problems) -> Option<Self> {
        Some(Given(Some(node.clone())))
    }

    fn schema() -> Value {
        YamlNode::schema()
    }
}

impl Cassette {
    /// Parses a cassette, or returns everything that is wrong with it.
    pub fn read(source: &Arc<Source>) -> Result<Cassette, Vec<Problem>> {
        let mut problems = Problems::new(source);
        let root = yaml::read(source, &mut problems);
        // A later version may give the rest another meaning.
        if let Some(node) = root.as_ref().and_then(|root| root.get("cassette"))
            && let Some(version) =
                node.raw().and_then(|raw| raw.parse::<u32>().ok()).filter(|version| *version != VERSION)
        {
            let text = format!("the cassette has version {version}; this build reads version {VERSION}");
            problems.error_with_hint(node.span, text, HINT);
            return Err(problems.into_vec());
        }
        let written: Option<CassetteFile> = decode_root(root.as_ref(), &mut problems);
        let cassette = written.and_then(|written| from_written(written, &mut problems));
        match cassette {
            Some(cassette) if !problems.has_errors() => Ok(cassette),
            _ => Err(hinted(problems)),
        }
    }

    /// The text of the file. Guaranteed to read back as this cassette.
    pub fn text(&self, server: &str) -> Result<String, ReadBackError> {
        // The name goes into a comment, so it must not contain a line break.
        let server = server.replace(char::is_control, " ");
        let head =
            format!("# The listing and answers of the tool server `{server}`. Written by `--cassette record`.\n");
        let text = format!("{head}{}", yaml::block(&self.json(), 0));
        read_back(text, Cassette::read, |read| read == self)
    }

    fn json(&self) -> Value {
        let mut file = Map::new();
        file.insert("cassette".into(), VERSION.into());
        file.insert("tools".into(), self.listing.tools.clone().into());
        if let Some(registry) = &self.listing.registry {
            file.insert("registry".into(), registry.as_str().into());
        }
        if !self.calls.is_empty() {
            file.insert("calls".into(), self.calls.iter().map(call_json).collect());
        }
        file.into()
    }
}

fn call_json(call: &RecordedCall) -> Value {
    let mut json = called_json(&call.tool, &call.args);
    if let Some(device) = &call.device {
        json.insert("device".into(), device.as_str().into());
    }
    if !call.callbacks.is_empty() {
        let callback = |callback: &Callback| {
            let mut json = called_json(&callback.tool, &callback.args);
            if callback.has_failed {
                json.insert("failed".into(), true.into());
            }
            Value::Object(json)
        };
        json.insert("callbacks".into(), call.callbacks.iter().map(callback).collect());
    }
    match &call.answer {
        RecordedAnswer::Result(value) => json.insert("answer".into(), value.clone()),
        RecordedAnswer::Refusal(message) => json.insert("refusal".into(), message.as_str().into()),
    };
    json.into()
}

fn called_json(tool: &str, args: &Map<String, Value>) -> Map<String, Value> {
    let mut json = Map::new();
    json.insert("tool".into(), tool.into());
    if !args.is_empty() {
        json.insert("args".into(), json!(args));
    }
    json
}

fn from_written(written: CassetteFile, problems: &mut Problems) -> Option<Cassette> {
    let calls: Vec<Option<RecordedCall>> = written.calls.into_iter().map(|call| from_call(call, problems)).collect();
    Some(Cassette {
        listing: RawListing { tools: written.tools.iter().map(loose).collect(), registry: written.registry },
        calls: calls.into_iter().collect::<Option<_>>()?,
    })
}

fn from_call(call: CassetteCall, problems: &mut Problems) -> Option<RecordedCall> {
    let answer = match (call.answer.0, call.refusal) {
        (Some(answer), None) => RecordedAnswer::Result(loose(&answer)),
        (None, Some(message)) => RecordedAnswer::Refusal(message),
        (None, None) => {
            problems.error(call.span, "the call has neither an `answer` nor a `refusal`");
            return None;
        }
        (Some(_), Some(_)) => {
            problems.error(call.span, "the call has both an `answer` and a `refusal`");
            return None;
        }
    };
    let callback = |callback: WrittenCallback| Callback {
        tool: callback.tool,
        args: map(callback.args),
        has_failed: callback.failed,
    };
    let callbacks = call.callbacks.into_iter().map(callback).collect();
    Some(RecordedCall { tool: call.tool, args: map(call.args), device: call.device, callbacks, answer })
}

fn map(entries: Entries<YamlNode>) -> Map<String, Value> {
    entries.0.into_iter().map(|(name, value)| (name.value, loose(&value))).collect()
}

fn hinted(problems: Problems) -> Vec<Problem> {
    let mut found = problems.into_vec();
    for problem in &mut found {
        problem.hint.get_or_insert_with(|| HINT.to_string());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Cassette {
        let args = json!({"text": "0123", "n": 1.0, "deep": [{"a": null}], "": ""}).as_object().unwrap().clone();
        let callback = Callback { tool: "tap".into(), args: args.clone(), has_failed: true };
        let call = |answer| RecordedCall {
            tool: "a: b".into(),
            args: args.clone(),
            device: Some("android/sim-1".into()),
            callbacks: vec![callback.clone()],
            answer,
        };
        let tool = json!({"name": "x", "inputSchema": {"type": "object", "properties": {}}, "_meta": {"n": 1e20}});
        Cassette {
            listing: RawListing { tools: vec![tool], registry: Some("{\n  \"tools\": {}\n}".into()) },
            calls: vec![
                call(RecordedAnswer::Result(json!({"content": [{"type": "text", "text": "a\nb\u{2028}\u{0}"}]}))),
                call(RecordedAnswer::Result(Value::Null)),
                call(RecordedAnswer::Refusal(String::new())),
            ],
        }
    }

    #[test]
    fn a_cassette_reads_back_the_same() {
        let full = full();
        let text = full.text("x\n- y").expect("it can be written");
        assert_eq!(Cassette::read(&Source::new("x", text)), Ok(full));
        let empty = Cassette::default();
        assert_eq!(Cassette::read(&Source::new("x", empty.text("x").unwrap())), Ok(empty));
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = Cassette::read(&Source::new("x", text)).expect_err("it is broken");
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn problems_are_reported_with_their_place() {
        check(
            "cassette: 2\nmore: 1\n",
            &["x:1:11: the cassette has version 2; this build reads version 1 (record it with --cassette record)"],
        );
        check("", &["x:1:1: `cassette` is missing (record it with --cassette record)"]);
        check(
            "cassette: 1\ncalls:\n  - tool: a\n  - {tool: b, answer: {}, refusal: no}\n",
            &[
                "x:3:5: the call has neither an `answer` nor a `refusal` (record it with --cassette record)",
                "x:4:5: the call has both an `answer` and a `refusal` (record it with --cassette record)",
            ],
        );
    }
}
