//! The list of cases that every client answers alike, from within a tool.

use serde_json::Value;

use super::{Team, with_server};
use crate::support::Project;
use crate::tool_servers::typed_api::cases::{Answer, Case, DEVICES, cases, normal, project};

#[test]
fn a_compiled_in_tool_gets_the_same_answers() {
    check("team", project());
}

#[test]
fn a_tool_of_a_server_gets_the_same_answers() {
    check("", with_server(project(), ""));
}

/// Each case is a call of a tool that makes the call of the case.
fn check(toolsets: &str, project: Project) {
    let mut wrong = Vec::new();
    for device in DEVICES {
        let cases: Vec<Case> = cases().into_iter().filter(|case| case.device == device).collect();
        let line = |case: &Case| {
            format!("team_request method={} params='{}'", case.method, case.params.to_string().replace('\'', r"'\''"))
        };
        let lines: Vec<String> = cases.iter().map(line).collect();
        let ran = project.team_shell(toolsets, device, &lines.join("\n"));
        let told = ran.json_lines();
        assert_eq!(told.len(), cases.len(), "{} {}", ran.stdout, ran.stderr);
        for (Case { name, method, answer, .. }, told) in cases.iter().zip(told) {
            let got = match told["ok"] == true {
                true => normal(method, message(&told["answer"]["structured"])),
                false => told["error"].clone(),
            };
            if got != *answer {
                wrong.push(format!("{device} {name}\n  got      {got}\n  expected {answer}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn message(told: &Value) -> Answer {
    let text = |name: &str| told[name].as_str().unwrap_or_default().to_string();
    match told["fields"].as_object() {
        Some(fields) => Ok(fields.clone()),
        None => Err((text("code"), text("message"))),
    }
}
