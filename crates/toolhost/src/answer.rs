//! Converts the answer of a tool into an outcome.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};
use trailblaze_core::nearest::misspelled;
use trailblaze_protocol::outcome::{Attachment, Delegate, MemoryChanges, Outcome, Variant};

use crate::connection::brief;
use crate::limits;

const DELEGATES: &str = "_trailblaze_delegates";

/// Reads the result of `tools/call`. Only tools with `is_delegating` may request delegates in their text; the text of
/// others is never interpreted, because a page that a tool read must not drive the device.
pub fn outcome(mut answer: Value, tool: &str, is_delegating: bool) -> Outcome {
    if needs_input(&answer) {
        return Outcome::failed("it requests input during a call, which its version of the protocol does not have");
    }
    if let Some(flaw) = flaw(&answer) {
        return Outcome::failed(format!("its answer is malformed: {flaw}"));
    }
    let structured = answer.get_mut("structuredContent").map(Value::take).filter(|value| !value.is_null());
    let blocks = blocks(&answer);
    let own = answer.get("_meta").and_then(|meta| meta.get("trailblaze"));
    let mut outcome = Outcome {
        text: first_text(&answer).to_string(),
        structured,
        attachments: attachments(blocks),
        ..Outcome::default()
    };
    if answer.get("isError").and_then(Value::as_bool) == Some(true) {
        outcome.variant = variant(own);
        if outcome.text.trim().is_empty() {
            outcome.text = match &outcome.structured {
                Some(reason) => brief(reason),
                None => without_reason(tool),
            };
        }
        return outcome;
    }
    match delegates(&mut outcome, blocks, is_delegating) {
        Ok(delegates) => outcome.delegates = delegates,
        Err(wrong) => return Outcome::failed(format!("its delegates are malformed: {wrong}")),
    }
    outcome.memory = own.map(memory).unwrap_or_default();
    outcome
}

/// Whether an answer is not a result yet, but a request for input.
pub fn needs_input(answer: &Value) -> bool {
    answer.get("resultType").and_then(Value::as_str) == Some("input_required")
}

/// The outcome of a call that got a protocol error instead of a result.
pub fn refusal(message: String, tool: &str) -> Outcome {
    Outcome::failed(if message.trim().is_empty() { without_reason(tool) } else { message })
}

fn without_reason(tool: &str) -> String {
    format!("`{tool}` gave no reason for its failure")
}

/// What is malformed about an answer.
fn flaw(answer: &Value) -> Option<String> {
    let Some(answer) = answer.as_object() else { return Some(format!("it must be an object, got {}", brief(answer))) };
    let n_parts = answer.get("content").and_then(Value::as_array).map_or(0, Vec::len);
    if n_parts > limits::ANSWER_PARTS {
        return Some(format!("it has {n_parts} content blocks; the limit is {}", limits::ANSWER_PARTS));
    }
    if let Some(other) = answer.get("isError").filter(|value| !value.is_null() && !value.is_boolean()) {
        return Some(format!("`isError` must be a boolean, got {}", brief(other)));
    }
    if let Some(other) = answer.get("content").filter(|value| !value.is_null() && !value.is_array()) {
        return Some(format!("`content` must be a list, got {}", brief(other)));
    }
    misplaced(answer).or_else(|| own_flaw(answer.get("_meta")?.get("trailblaze")?)).or_else(|| delegates_flaw(answer))
}

const MEMORY_DELTA: &str = "memoryDelta";
const MEMORY_DELETIONS: &str = "memoryDeletions";
/// The keys of `_meta.trailblaze`.
const OWN_KEYS: [&str; 4] = ["variant", "missing", MEMORY_DELTA, MEMORY_DELETIONS];

/// Keys that have no effect where they are. Others may have any meaning to the server.
fn misplaced(answer: &Map<String, Value>) -> Option<String> {
    let plain = |key: &str| key.to_lowercase().replace('_', "");
    let known = ["content", "isError", "structuredContent"];
    for key in answer.keys() {
        if let Some(meant) = known.iter().find(|known| *known != key && plain(known) == plain(key)) {
            return Some(format!("unknown key `{key}`; did you mean `{meant}`?"));
        }
    }
    let object = |key: &str| answer.get(key).and_then(Value::as_object);
    let meta = object("_meta");
    let is_ours = |value: &Value| OWN_KEYS.iter().any(|key| value.get(key).is_some());
    let mut others = meta.into_iter().flatten().filter(|(_, value)| is_ours(value));
    if let Some((key, _)) = others.find(|(key, _)| misspelled(key, ["trailblaze"]).is_some()) {
        return Some(format!("unknown key `{key}` in `_meta`; did you mean `trailblaze`?"));
    }
    let outside = [Some(answer), meta, object("structuredContent")].into_iter().flatten().flat_map(Map::keys);
    let mut lost = outside.filter(|key| [MEMORY_DELTA, MEMORY_DELETIONS].contains(&key.as_str()));
    lost.next().map(|key| format!("`{key}` has no effect there; put it into `_meta.trailblaze`"))
}

/// What is wrong with `_meta.trailblaze`, which only we read.
fn own_flaw(own: &Value) -> Option<String> {
    let Some(fields) = own.as_object() else {
        return (!own.is_null()).then(|| format!("`_meta.trailblaze` must be an object, got {}", brief(own)));
    };
    for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let is_list_of_texts = || value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
        let expected = match key.as_str() {
            MEMORY_DELTA if !value.is_object() => "an object",
            MEMORY_DELETIONS | "missing" if !is_list_of_texts() => "a list of texts",
            key => {
                let meant = misspelled(key, OWN_KEYS).filter(|_| !OWN_KEYS.contains(&key));
                if let Some(meant) = meant {
                    return Some(format!("unknown key `{key}` in `_meta.trailblaze`; did you mean `{meant}`?"));
                }
                continue;
            }
        };
        return Some(format!("`{key}` in `_meta.trailblaze` must be {expected}, got {}", brief(value)));
    }
    None
}

/// A misspelled key of delegates, which would be an ordinary value.
fn delegates_flaw(answer: &Map<String, Value>) -> Option<String> {
    let mut keys = answer.get("structuredContent")?.as_object()?.keys();
    let key = keys.find(|key| misspelled(key, [DELEGATES]).is_some())?;
    Some(format!("unknown key `{key}` in `structuredContent`; did you mean `{DELEGATES}`?"))
}

fn blocks(answer: &Value) -> &[Value] {
    answer.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The message of an answer is its first text.
pub fn first_text(answer: &Value) -> &str {
    let text = blocks(answer).iter().find(|block| kind(block) == "text").and_then(|block| block.get("text")?.as_str());
    text.unwrap_or_default()
}

fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn variant(own: Option<&Value>) -> Variant {
    let name = own.and_then(|own| own.get("variant")?.as_str()).unwrap_or("ExceptionThrown");
    Variant::from_name(name, own.map(|own| texts(own.get("missing"))).unwrap_or_default())
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_string)).collect()
}

fn memory(own: &Value) -> MemoryChanges {
    MemoryChanges {
        set: own.get(MEMORY_DELTA).and_then(Value::as_object).cloned().unwrap_or_default(),
        deleted: texts(own.get(MEMORY_DELETIONS)),
    }
}

/// The delegates that the answer requests, removed from its structured value.
fn delegates(outcome: &mut Outcome, blocks: &[Value], is_delegating: bool) -> Result<Vec<Delegate>, String> {
    let structured = outcome.structured.as_mut().and_then(Value::as_object_mut);
    if let Some(asked) = structured.and_then(|map| map.shift_remove(DELEGATES)) {
        if outcome.structured.as_ref().and_then(Value::as_object).is_some_and(|map| map.is_empty()) {
            outcome.structured = None;
        }
        return read_delegates(asked);
    }
    if !is_delegating {
        return Ok(Vec::new());
    }
    for text in blocks.iter().filter_map(|block| block.get("text")?.as_str()).filter(|text| text.contains(DELEGATES)) {
        if let Some(asked) =
            serde_json::from_str::<Value>(text).ok().and_then(|mut value| Some(value.get_mut(DELEGATES)?.take()))
        {
            return read_delegates(asked);
        }
    }
    Ok(Vec::new())
}

fn read_delegates(asked: Value) -> Result<Vec<Delegate>, String> {
    let Value::Array(items) = asked else { return Err(format!("`{DELEGATES}` must be a list, got {}", brief(&asked))) };
    let read = |(index, item): (usize, Value)| {
        let Some(tool) = item.get("tool").and_then(Value::as_str) else {
            return Err(format!("number {} has no `tool`", index + 1));
        };
        let args = match item.get("args") {
            None | Some(Value::Null) => Default::default(),
            Some(Value::Object(args)) => args.clone(),
            Some(other) => return Err(format!("`args` of `{tool}` must be an object, got {}", brief(other))),
        };
        Ok(Delegate { tool: tool.to_string(), args })
    };
    items.into_iter().enumerate().map(read).collect()
}

/// All content besides the first text, as files.
fn attachments(blocks: &[Value]) -> Vec<Attachment> {
    let mut has_text = false;
    let mut attachments = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let text = |key: &str| block.get(key).and_then(Value::as_str);
        let found = match kind(block) {
            "text" if !has_text => {
                has_text = true;
                None
            }
            "text" => text("text").map(|words| ("text/plain", words.as_bytes().to_vec())),
            "image" | "audio" => {
                let bytes = text("data").and_then(|data| BASE64_STANDARD.decode(data).ok());
                bytes.map(|bytes| (text("mimeType").unwrap_or("application/octet-stream"), bytes))
            }
            "resource" => block.get("resource").and_then(resource),
            "resource_link" => text("uri").map(|uri| ("text/uri-list", uri.as_bytes().to_vec())),
            _ => None,
        };
        if let Some((mime, bytes)) = found {
            let name = format!("{}-{}", kind(block), index + 1);
            attachments.push(Attachment { name, mime: mime.to_string(), file: None, bytes: Arc::from(bytes) });
        }
    }
    attachments
}

fn resource(resource: &Value) -> Option<(&str, Vec<u8>)> {
    let part = |key: &str| resource.get(key).and_then(Value::as_str);
    let mime = part("mimeType");
    if let Some(text) = part("text") {
        return Some((mime.unwrap_or("text/plain"), text.as_bytes().to_vec()));
    }
    Some((mime.unwrap_or("application/octet-stream"), BASE64_STANDARD.decode(part("blob")?).ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn is_error_alone_decides_and_the_first_text_is_the_message() {
        let answer = json!({"content": [{"type": "text", "text": "done"}, {"type": "text", "text": "more"}]});
        let read = outcome(answer, "pay", false);
        assert_eq!((read.variant, read.text.as_str()), (Variant::Success, "done"));
        assert_eq!((read.attachments[0].name.as_str(), &*read.attachments[0].bytes), ("text-2", "more".as_bytes()));
        let answer = json!({"content": [{"type": "text", "text": "no"}], "isError": true});
        assert_eq!(outcome(answer, "pay", false), Outcome::failed("no"));
    }

    #[test]
    fn a_variant_is_picked_by_name_and_an_unknown_one_is_an_ordinary_failure() {
        let check = |own: Value, expected: Variant| {
            let answer =
                json!({"content": [{"type": "text", "text": "x"}], "isError": true, "_meta": {"trailblaze": own}});
            assert_eq!(outcome(answer, "pay", false).variant, expected);
        };
        check(json!({"variant": "FatalError"}), Variant::FatalError);
        let missing = Variant::MissingRequiredArgs { missing: vec!["user".into()] };
        check(json!({"variant": "MissingRequiredArgs", "missing": ["user"]}), missing);
        check(json!({"variant": "Whatever"}), Variant::ExceptionThrown);
        check(json!({"variant": 5}), Variant::ExceptionThrown);
    }

    #[test]
    fn delegates_are_read_from_the_structured_value_and_from_text_of_delegating_tools_only() {
        let asked = json!({"_trailblaze_delegates": [{"tool": "tap", "args": {"text": "Pay"}}]});
        let in_text = json!({"content": [{"type": "text", "text": asked.to_string()}]});
        assert_eq!(outcome(in_text.clone(), "pay", false).delegates, []);
        let expected = [Delegate { tool: "tap".into(), args: json!({"text": "Pay"}).as_object().unwrap().clone() }];
        assert_eq!(outcome(in_text, "pay", true).delegates, expected);
        let read = outcome(json!({"content": [], "structuredContent": asked}), "pay", false);
        assert_eq!((read.delegates.as_slice(), read.structured), (expected.as_slice(), None));
        let failed = outcome(json!({"content": [], "structuredContent": asked, "isError": true}), "pay", true);
        assert_eq!(failed.delegates, [], "an error requests no delegates");
    }

    #[test]
    fn malformed_delegates_fail_the_call() {
        let check = |asked: Value, expected: &str| {
            let answer = json!({"content": [], "structuredContent": {"_trailblaze_delegates": asked}});
            assert_eq!(outcome(answer, "pay", false).text, format!("its delegates are malformed: {expected}"));
        };
        check(json!("tap"), "`_trailblaze_delegates` must be a list, got \"tap\"");
        check(json!([{"name": "tap"}]), "number 1 has no `tool`");
        check(json!([{"tool": "tap", "args": [1]}]), "`args` of `tap` must be an object, got [1]");
    }

    #[test]
    fn pictures_become_attachments_and_memory_changes_are_kept() {
        let answer = json!({
            "content": [{"type": "image", "mimeType": "image/png", "data": "iVBORw0="}],
            "_meta": {"trailblaze": {"memoryDelta": {"user": "ada"}, "memoryDeletions": ["old"]}},
        });
        let read = outcome(answer, "pay", false);
        assert_eq!((read.attachments[0].mime.as_str(), read.attachments[0].bytes.len()), ("image/png", 5));
        let set = json!({"user": "ada"}).as_object().unwrap().clone();
        assert_eq!(read.memory, MemoryChanges { set, deleted: vec!["old".into()] });
    }

    #[test]
    fn keys_that_would_have_no_effect_fail_the_call() {
        let check = |answer: Value, expected: &str| {
            let read = outcome(answer.clone(), "pay", false);
            let expected = format!("its answer is malformed: {expected}");
            assert_eq!((read.text, read.variant), (expected, Variant::ExceptionThrown), "{answer}");
        };
        let own = |own: Value| json!({"content": [], "_meta": {"trailblaze": own}});
        let place = "in `_meta.trailblaze`";
        check(own(json!({"memoryDelta": ["a"]})), &format!("`memoryDelta` {place} must be an object, got [\"a\"]"));
        check(
            own(json!({"memoryDeletions": "a"})),
            &format!("`memoryDeletions` {place} must be a list of texts, got \"a\""),
        );
        check(
            own(json!({"memoryDeletions": [1]})),
            &format!("`memoryDeletions` {place} must be a list of texts, got [1]"),
        );
        check(
            own(json!({"memory_delta": {}})),
            &format!("unknown key `memory_delta` {place}; did you mean `memoryDelta`?"),
        );
        check(
            own(json!({"varient": "FatalError"})),
            &format!("unknown key `varient` {place}; did you mean `variant`?"),
        );
        check(own(json!(1)), "`_meta.trailblaze` must be an object, got 1");
        let inside = "has no effect there; put it into `_meta.trailblaze`";
        check(json!({"content": [], "memoryDelta": {"a": 1}}), &format!("`memoryDelta` {inside}"));
        check(json!({"content": [], "_meta": {"memoryDeletions": []}}), &format!("`memoryDeletions` {inside}"));
        check(json!({"content": [], "structuredContent": {"memoryDelta": {}}}), &format!("`memoryDelta` {inside}"));
        check(
            json!({"content": [], "_meta": {"trailblase": {"memoryDelta": {}}}}),
            "unknown key `trailblase` in `_meta`; did you mean `trailblaze`?",
        );
        check(json!({"content": [], "is_error": true}), "unknown key `is_error`; did you mean `isError`?");
        check(json!({"content": "paid"}), "`content` must be a list, got \"paid\"");
        check(
            json!({"content": [], "structuredContent": {"_trailblaze_delegate": []}}),
            "unknown key `_trailblaze_delegate` in `structuredContent`; did you mean `_trailblaze_delegates`?",
        );
        // What others define is theirs.
        let foreign =
            json!({"content": [], "_meta": {"trailblaze": {"future": 1}, "memory": 1}, "resultType": "complete"});
        assert!(!outcome(foreign, "pay", false).is_error());
    }

    #[test]
    fn a_failure_without_a_reason_names_the_tool() {
        for content in [json!([]), json!([{"type": "text", "text": " "}]), json!([{"type": "image", "data": "AA=="}])] {
            let read = outcome(json!({"content": content, "isError": true}), "pay", false);
            assert_eq!((read.text.as_str(), read.is_error()), ("`pay` gave no reason for its failure", true));
        }
        assert_eq!(outcome(json!({"isError": true}), "pay", false).text, "`pay` gave no reason for its failure");
        assert_eq!(refusal(String::new(), "pay").text, "`pay` gave no reason for its failure");
        let with_value = json!({"content": [], "structuredContent": {"error": "no money"}, "isError": true});
        assert_eq!(outcome(with_value, "pay", false).text, r#"{"error":"no money"}"#);
    }

    #[test]
    fn success_false_is_noticed_in_a_call_that_passed() {
        let check = |answer: Value, expected: bool| {
            assert_eq!(outcome(answer.clone(), "pay", false).says_it_failed(), expected, "{answer}");
        };
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        check(json!({"content": text(r#"{"success": false, "error": "no money"}"#)}), true);
        check(json!({"content": [], "structuredContent": {"success": false}}), true);
        let second = json!({"type": "text", "text": r#"{"success": false}"#});
        check(json!({"content": [{"type": "text", "text": "Paying"}, second]}), true);
        check(json!({"content": [], "structuredContent": {"result": {"success": false}}}), false);
        check(json!({"content": text("no"), "structuredContent": {"success": false}, "isError": true}), false);
        check(json!({"content": text(r#"{"success": true}"#)}), false);
        check(json!({"content": text(r#"{"success": "false"}"#)}), false);
        check(json!({"content": text(r#"the page says {"success": false}"#)}), false);
    }
}
