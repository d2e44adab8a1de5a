//! Checks the callback against the examples that the TypeScript package is tested with, so that the two stay in step.

use std::path::Path;

use serde_json::Value;
use trailblaze_protocol::callback::{CallbackAction, CallbackRequest, CallbackResponse, PATH, VERSION};

const EXAMPLES: &str = "../../sdks/typescript/scripting/wire/callback-v1.json";

#[test]
fn version_and_path_match_the_package() {
    let examples = examples();
    assert_eq!(examples["version"], VERSION);
    assert_eq!(examples["path"], PATH);
}

#[test]
fn every_request_of_the_package_is_read() {
    let examples = examples();
    for example in list(&examples, "requests") {
        let request = CallbackRequest::read(example["request"].clone())
            .unwrap_or_else(|error| panic!("{}: {error}", example["about"]));
        let CallbackAction::CallTool { tool_name, arguments_json } = &request.action;
        assert_eq!(request.session_id, example["request"]["session_id"], "{}", example["about"]);
        assert_eq!(request.invocation_id, example["request"]["invocation_id"], "{}", example["about"]);
        assert_eq!(*tool_name, example["request"]["action"]["tool_name"], "{}", example["about"]);
        let arguments: Value = serde_json::from_str(arguments_json).expect("arguments are JSON");
        assert_eq!(arguments, example["arguments"], "{}", example["about"]);
    }
    for example in list(&examples, "acceptedRequests") {
        assert!(CallbackRequest::read(example["request"].clone()).is_ok(), "{}", example["about"]);
    }
    for example in list(&examples, "refusedRequests") {
        assert!(CallbackRequest::read(example["request"].clone()).is_err(), "{}", example["about"]);
    }
}

#[test]
fn every_response_is_written_as_the_package_reads_it() {
    let examples = examples();
    for example in list(&examples, "answers") {
        let answer: CallbackResponse = serde_json::from_value(example["answer"].clone())
            .unwrap_or_else(|error| panic!("{}: {error}", example["about"]));
        let written = serde_json::to_value(&answer).expect("a response is JSON");
        assert_eq!(written, example["answer"], "{}", example["about"]);
    }
}

fn examples() -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(EXAMPLES);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).expect("the examples are JSON")
}

fn list<'a>(examples: &'a Value, key: &str) -> &'a [Value] {
    let list = examples[key].as_array().map_or(&[][..], Vec::as_slice);
    assert!(!list.is_empty(), "no `{key}` in the examples");
    list
}
