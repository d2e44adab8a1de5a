//! The same toolset as a process and in the engine.

use std::collections::HashMap;

use serde_json::{Value, json};
use trailblaze_protocol::event::{CallResult, Event};
use trailblaze_protocol::ids::Parent;

use super::{serve, toolset};
use crate::support::RunFolder;
use crate::support::lab::{Lab, Runtime};

const CALLS: &str = "
launchApp packageId=com.example.counter
count
count
shout text=hello
shout text=hello times=3
shout text=h
shout text=hello times=many
byJsonSchema n=4
byJsonSchema n=2
byJsonSchema
keep key=a value=b
keep key=a value=c
where
talk
callsOthers
taps
asserts
types
fails
failsOddly
refuses how=assertion
refuses how=fatal
refuses how=unsupported
refuses how=invalid
delegating
uses
count
";

/// Everything that a session did: each call with its caller and its result, and what was noted.
fn record(run: &RunFolder) -> Vec<Value> {
    let mut calls: HashMap<String, String> = HashMap::new();
    let mut record = Vec::new();
    for event in run.events() {
        match event {
            Event::Called(called) => {
                let parent = match &called.parent {
                    Parent::Call(id) => calls.get(&id.to_string()).cloned().unwrap_or_default(),
                    _ => String::new(),
                };
                calls.insert(called.call.to_string(), called.tool.clone());
                let flags = [called.is_recordable, called.is_delegating, called.is_custom];
                record.push(json!({
                    "called": called.tool, "by": parent, "args": *called.args, "origin": called.origin, "kind": called.kind,
                    "source": *called.source, "flags": flags,
                }));
            }
            Event::Answered { call, answer, .. } => {
                let tool = &calls[&call.to_string()];
                record.push(match answer {
                    CallResult::Outcome(outcome) => json!({"answered": tool, "outcome": outcome}),
                    CallResult::Fault { message, .. } => json!({"answered": tool, "fault": message}),
                });
            }
            Event::Noted { level, text, .. } => record.push(json!({"noted": text, "level": level})),
            _ => {}
        }
    }
    record
}

/// What differs from session to session.
fn normal(lab: &Lab, mut record: Vec<Value>) -> Vec<Value> {
    for entry in &mut record {
        // Two calls at the same time may be in either order, and the screen has a time in it.
        if entry["answered"] == "captureScreen" {
            *entry = json!({"answered": "captureScreen", "variant": entry["outcome"]["variant"]});
        }
        let text = entry.to_string().replace(&lab.project.root().display().to_string(), "PROJECT");
        let text = without_columns(&text);
        *entry = serde_json::from_str(&text).expect("still JSON");
    }
    record.sort_by_key(|entry| entry.to_string());
    record
}

fn session(lab: &Lab, runtime: &str) -> (Vec<String>, Vec<Value>) {
    serve(lab, &format!("script: tools/toolset.ts, runtime: {runtime}"));
    lab.with("session.txt", CALLS);
    let mut command = lab.command(&["shell", "--json", "-d", "android/sim-1"]);
    command.stdin(std::fs::File::open(lab.path("session.txt")).expect("it is there"));
    let ran = lab.finish(command);
    let answers = ran.stdout.lines().map(str::to_string).collect();
    (answers, normal(lab, record(&lab.project.last_run())))
}

#[test]
fn a_toolset_does_the_same_in_the_engine_as_in_a_process() {
    let Some(lab) = toolset(Runtime::Bun) else { return };
    let (in_process, recorded_in_process) = session(&lab, "process");
    let (embedded, recorded_embedded) = session(&lab, "embedded");
    assert_eq!(in_process.len(), CALLS.trim().lines().count(), "{in_process:#?}");
    for (line, (one, other)) in CALLS.trim().lines().zip(in_process.iter().zip(&embedded)) {
        let normal = |answer: &str| without_columns(&without_waits(answer));
        assert_eq!(normal(one), normal(other), "{line}");
    }
    for (one, other) in recorded_in_process.iter().zip(&recorded_embedded) {
        assert_eq!(one, other);
    }
    let longer = recorded_in_process
        .iter()
        .chain(&recorded_embedded)
        .skip(recorded_in_process.len().min(recorded_embedded.len()));
    assert_eq!(recorded_in_process.len(), recorded_embedded.len(), "{:#?}", longer.last());
    let texts = embedded.join("\n");
    for part in ["call 2", "HELLOHELLO !", "out of range", "the end", "7200000 c ü hi string"] {
        assert!(texts.contains(part), "{part}: {texts}");
    }
}

#[test]
fn a_toolset_lists_the_same_in_the_engine_as_in_a_process() {
    let Some(lab) = toolset(Runtime::Bun) else { return };
    let listed = |runtime: &str| {
        serve(&lab, &format!("script: tools/toolset.ts, runtime: {runtime}"));
        lab.go(&["toolbox", "--json", "-d", "android/sim-1"]).exits(0).stdout
    };
    assert_eq!(listed("embedded"), listed("process"));
}

#[test]
fn recordings_are_the_same_in_the_engine_as_in_a_process() {
    let recorded = |runtime: &str| {
        let lab = Lab::under(Runtime::Bun)?;
        lab.example("acme-tools");
        // The example's other servers are written without our package, and stay processes.
        let path = format!("{}:{}", lab.path("bin"), crate::support::lab::parts()?.join("python/bin").display());
        lab.env("PATH", path);
        let target = lab.project.read("trailblaze-config/targets/acme.yaml");
        let entry = format!("  - {{script: ./tools/wallet.ts, runtime: {runtime}}}");
        lab.with("trailblaze-config/targets/acme.yaml", &target.replace("  - script: ./tools/wallet.ts", &entry));
        let played = lab.run(&["--record"], 0);
        let mut texts: Vec<String> =
            ["acme_sendMoney", "acme_checkBalance"].iter().flat_map(|tool| played.texts(tool)).collect();
        texts.sort();
        let trails = ["pay-a-friend", "wrong-pin", "split-a-bill"];
        Some((trails.map(|trail| lab.project.read(&format!("trails/{trail}.trail.yaml"))), texts))
    };
    let Some(in_process) = recorded("process") else { return };
    let embedded = recorded("embedded").expect("the parts are there");
    assert!(in_process.0[0].contains("acme_sendMoney"), "{}", in_process.0[0]);
    assert_eq!(in_process, embedded);
}

/// Without the columns of places, which engines count differently.
fn without_columns(text: &str) -> String {
    let mut parts = text.split(".ts:");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| {
        let (line, rest) = part.split_once(':').unwrap_or((part, ""));
        let is_place = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if is_place { format!("{text}.ts:{line}{after}") } else { format!("{text}.ts:{part}") }
    })
}

/// Without the length of a wait, which depends on the load of the machine.
fn without_waits(text: &str) -> String {
    let Some((before, after)) = text.split_once(" within ") else { return text.to_string() };
    let rest = after.split_once(" s").filter(|(number, _)| number.parse::<f64>().is_ok());
    rest.map_or_else(|| text.to_string(), |(_, rest)| format!("{before}{rest}"))
}
