//! What is sent with a call: the device, the memory, and where to call back.

use serde_json::{Value, json};
use trailblaze_protocol::event::Event;

use crate::support::lab::{Lab, Played, python};

fn toolset() -> Option<Lab> {
    let script = "{name: fixture, script: tools/toolset.ts}";
    let lab = Lab::new()?;
    lab.fixture("toolset.ts").configured("target: fixture\n").target(&[script]);
    Some(lab)
}

#[test]
fn a_tool_that_does_not_know_trailblaze_and_one_that_reads_its_device_both_work() {
    let Some(lab) = toolset() else { return };
    let lab =
        lab.calls(&["fixture_add: {a: 1.5, b: 2}", "remember: {variable: x, value: '7'}", "fixture_whereAmI: {}"]);
    for (device, platform) in [("android/sim-1", "ANDROID"), ("ios/sim-1", "IOS"), ("web/sim-1", "WEB")] {
        let played = lab.run(&["-d", device], 0);
        assert_eq!(played.texts("fixture_add"), ["3.5"]);
        assert_eq!(played.texts("fixture_whereAmI"), [format!("{platform} 7")]);
    }
}

#[test]
fn every_call_carries_the_whole_envelope() {
    let Some(lab) = toolset() else { return };
    let played = lab.calls(&["fixture_echo: {word: hello}"]).run(&["-d", "ios/sim-1", "--memory", "user=ada"], 0);
    let (session, size) = opened(&played);
    let call = &played.run.calls()[0];
    let sent = played.structured("fixture_echo");
    let base = sent.pointer("/_meta/trailblaze/baseUrl").and_then(Value::as_str).expect("an address");
    let token = &sent["_meta"]["progressToken"];
    assert!(token.is_number(), "{token}");
    let device = |platform: &str| json!({"platform": platform, "widthPixels": size.0, "heightPixels": size.1, "driverType": "ios-host"});
    let mut with_id = device("ios");
    with_id["id"] = "ios/sim-1".into();
    (with_id["width"], with_id["height"]) = (size.0.into(), size.1.into());
    let expected = json!({
        "arguments": {"word": "hello", "_trailblazeContext": {"memory": {"user": "ada"}, "device": device("IOS")}},
        "_meta": {
            "trailblaze": {
                "baseUrl": base, "sessionId": session, "invocationId": call.call, "device": with_id,
                "memory": {"user": "ada"}, "capabilities": {"sampling": false},
            },
            "trailblazeInvocationId": call.call,
            "progressToken": token,
        },
    });
    assert_eq!(sent, expected);
    // The arguments of the trail are recorded, not those that were added.
    assert_eq!(json!(*call.args), json!({"word": "hello"}));
}

fn opened(played: &Played) -> (String, (u32, u32)) {
    let opened = played.run.events().into_iter().find_map(|event| match event {
        Event::SessionOpened { session, device, .. } => {
            Some((session.to_string(), (device.size.width, device.size.height)))
        }
        _ => None,
    });
    opened.expect("a session")
}

#[test]
fn a_strict_tool_gets_the_context_only_next_to_its_arguments() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("schemas.ts").calls(&[
        "schema_strict: {word: a}",
        "schema_loose: {word: a}",
        "schema_declared: {word: a}",
    ]);
    let check = |lab: &Lab, expected: [&str; 3]| {
        let played = lab.run(&[], 0);
        let told = ["schema_strict", "schema_loose", "schema_declared"].map(|tool| played.texts(tool).remove(0));
        assert_eq!(told, expected);
    };
    let (plain, with) = ("word; _meta: true", "_trailblazeContext,word; _meta: true");
    let lab = lab.configured("mcpServers: [{name: schemas, script: tools/schemas.ts}]\n");
    check(lab, [plain, with, with]);
    let lab = lab.configured("mcpServers: [{name: schemas, script: tools/schemas.ts, context: meta}]\n");
    check(lab, [plain, plain, plain]);
    // If the entry insists, the call gets the tool's own error.
    let lab = lab.configured("mcpServers: [{name: schemas, script: tools/schemas.ts, context: both}]\n");
    let told = lab.go(&["tool", "schema_strict", "word=a"]).exits(1);
    assert!(format!("{}{}", told.stdout, told.stderr).contains("_trailblazeContext"), "{told:?}");
}

#[test]
fn a_tool_that_declares_where_it_runs_is_told_and_does_not_show_it() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("schemas.ts").configured("mcpServers: [{name: schemas, script: tools/schemas.ts}]\n");
    let played = lab.calls(&["schema_placed: {word: a}", "schema_capabilities: {}"]).run(&["-d", "ios/sim-1"], 0);
    let told: Value = serde_json::from_str(&played.texts("schema_placed")[0]).expect("JSON");
    let call = &played.run.calls()[0];
    let base = told["baseUrl"].as_str().expect("an address");
    assert!(base.starts_with("http://127.0.0.1:"), "{base}");
    let expected = json!({
        "deviceId": "ios/sim-1", "sessionId": opened(&played).0, "platform": "ios", "invocationId": call.call, "baseUrl": base,
    });
    assert_eq!(told, expected);
    let capabilities: Value = serde_json::from_str(&played.texts("schema_capabilities")[0]).expect("JSON");
    let supported = json!({
        "context": ["_meta.trailblaze", "_trailblazeContext", "_trailblaze"], "callback": {"versions": [1]},
        "api": ["trailblaze.v1"], "registry": true,
        "results": ["variant", "memoryDelta", "memoryDeletions", "_trailblaze_delegates"],
    });
    assert_eq!(capabilities["extensions"], json!({"trailblaze/v1": supported}));
    let shown = lab.go(&["tool", "schema_placed", "--help-tool", "--json"]).exits(0).json();
    assert_eq!(
        shown["inputSchema"]["properties"].as_object().expect("properties").keys().collect::<Vec<_>>(),
        ["word"]
    );
    assert_eq!(shown["inputSchema"]["required"], json!(["word"]));
}

#[test]
fn a_tool_that_declares_the_context_does_not_show_it() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("schemas.ts").configured("mcpServers: [{name: schemas, script: tools/schemas.ts}]\n");
    let told = lab.go(&["tool", "schema_declared", "--help-tool", "--json"]).exits(0).json();
    let properties = told["inputSchema"]["properties"].as_object().expect("properties");
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["word"]);
    assert_eq!(told["inputSchema"]["required"], json!(["word"]));
}

#[test]
fn a_strict_tool_in_python_is_called_without_the_argument() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("registry.py").configured(&format!("mcpServers: [{}]\n", python("registry")));
    let played = lab.calls(&["lib_strict: {word: hello}", "lib_free: {}"]).run(&[], 0);
    assert_eq!((played.texts("lib_strict"), played.texts("lib_free")), (vec!["hello".into()], vec!["lib_free".into()]));
}
