//! The same answers, the same recording and the same events, however a command is called.

use http_body_util::BodyExt;
use serde_json::{Value, json};
use trailblaze_protocol::event::Event;

use super::cases::{Case, DEVICES, cases, normal, project, without_times};
use super::in_calls::InCalls;
use super::served::Served;
use super::wire::{Caller, PROTOCOLS, Protocol};
use crate::support::RunFolder;

#[tokio::test]
async fn every_protocol_gives_the_same_answers_recording_and_events() {
    let cases = cases();
    let (mut wrong, mut differing) = (Vec::new(), Vec::new());
    for device in DEVICES {
        let mut first = None;
        for protocol in PROTOCOLS {
            let project = project();
            let served = Served::on(&project, device);
            let caller = Caller::of(&served, protocol);
            for Case { name, method, params, answer, .. } in cases.iter().filter(|case| case.device == device) {
                let got = normal(method, caller.call(method, params.clone()).await);
                if got != *answer {
                    wrong.push(format!("{protocol:?} {device} {name}\n  got      {got}\n  expected {answer}"));
                }
            }
            served.end(&project).exits(0);
            let record = record(&project.last_run());
            match &first {
                None => first = Some(record),
                Some(first) if record == *first => {}
                Some(first) => differing.push(format!("{protocol:?} {device}\n  {record:?}\n  {first:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[tokio::test]
async fn a_callback_gives_the_same_answers() {
    let cases = cases();
    let mut wrong = Vec::new();
    for device in DEVICES {
        let open = InCalls::on(&[device]);
        let caller = open.caller(Protocol::ConnectJson);
        // The YAML tool is in another project, and the words of an enum are checked by the tool itself.
        let is_alike = |case: &&Case| {
            let message = case.answer["message"].as_str().unwrap_or_default();
            case.params["name"] != "counter_addTwice" && !message.contains("must be one of")
        };
        for Case { name, method, params, answer, .. } in
            cases.iter().filter(|case| case.device == device).filter(is_alike)
        {
            let (tool, args) = match method.as_str() {
                "TrailblazeSession/CallTool" => (params["name"].clone(), params.get("args").cloned()),
                method => {
                    let method = trailblaze_contract::method(&format!("trailblaze.v1.{method}")).expect("a method");
                    (method.command().expect("a command").tool.into(), Some(params.clone()))
                }
            };
            let args = args.unwrap_or_else(|| json!({})).to_string();
            let action = json!({"type": "call_tool", "tool_name": tool, "arguments_json": args});
            let body = json!({
                "session_id": open.calls[0]["sessionId"], "invocation_id": open.calls[0]["invocationId"], "action": action,
            });
            let response = caller.send("scripting/callback", body.to_string().into()).await;
            let bytes = response.into_body().collect().await.expect("a body").to_bytes();
            let told: Value = serde_json::from_slice(&bytes).expect("JSON");
            let told = &told["result"];
            let is_same = if answer.get("ok").is_some() {
                told["success"] == true && is_same_value(&answer["ok"], &told["textContent"])
            } else {
                let message = [&told["errorMessage"], &told["message"]].into_iter().find_map(Value::as_str);
                told["success"] != true && message.map(without_times).as_deref() == answer["message"].as_str()
            };
            if !is_same {
                wrong.push(format!("{device} {name}\n  got      {told}\n  expected {answer}"));
            }
        }
        open.end();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_shell_gives_the_same_answers() {
    let mut wrong = Vec::new();
    for device in DEVICES {
        // The words of an enum are checked by the tool itself.
        let is_alike = |case: &Case| !case.answer["message"].as_str().unwrap_or_default().contains("must be one of");
        let cases: Vec<Case> = cases().into_iter().filter(|case| case.device == device && is_alike(case)).collect();
        let lines: Vec<String> = cases.iter().map(line).collect();
        let ran = project().feed(&["shell", "--json", "-d", device], &lines.join("\n"));
        for (Case { name, answer, .. }, told) in cases.iter().zip(ran.json_lines()) {
            let is_same = match answer.get("ok") {
                // Screens and actions return more as text than over the wire.
                Some(value @ (Value::Bool(_) | Value::Number(_) | Value::String(_))) => {
                    told["ok"] == true && told["answer"]["structured"] == *value
                }
                Some(_) => told["ok"] == true,
                None => told["error"].as_str().map(without_times).as_deref() == answer["message"].as_str(),
            };
            if !is_same {
                wrong.push(format!("{device} {name}\n  got      {told}\n  expected {answer}"));
            }
        }
        assert_eq!(ran.json_lines().len(), cases.len(), "{}", ran.stdout);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The call of a case as a line of a shell.
fn line(Case { method, params, .. }: &Case) -> String {
    let (tool, args) = match method.as_str() {
        "TrailblazeSession/CallTool" => (params["name"].as_str().expect("a name"), &params["args"]),
        method => {
            let method = trailblaze_contract::method(&format!("trailblaze.v1.{method}")).expect("a method");
            (method.command().expect("a command").tool, params)
        }
    };
    let args = args.as_object().into_iter().flatten().map(|(name, value)| match value {
        Value::String(text) => format!(" {name}='{text}'"),
        list @ Value::Array(_) => format!(" {name}='{list}'"),
        other => format!(" {name}={other}"),
    });
    format!("{tool}{}", args.collect::<String>())
}

/// Callbacks return text.
fn is_same_value(value: &Value, text: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Number(_) => text.as_str() == Some(value.to_string().as_str()),
        Value::String(value) => text == value,
        _ => true,
    }
}

/// The recording, and the tree of calls with their arguments and results.
pub fn record(run: &RunFolder) -> (String, Vec<String>) {
    let line = |event: Event| match event {
        Event::Called(called) => Some(format!("{:?} {} {:?}", called.origin, called.tool, called.args)),
        Event::Answered { answer, .. } => Some(without_times(&format!("{answer:?}"))),
        _ => None,
    };
    let recording = if run.has("recording.trail.yaml") { run.text("recording.trail.yaml") } else { String::new() };
    // Ids and times differ.
    let events = run.events().into_iter().filter_map(line).collect();
    (recording, events)
}
