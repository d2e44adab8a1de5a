//! What a model may spend, and what happens if it cannot be used.

use super::{counter, reply, run, trail};

fn endless() -> String {
    reply("Step: Add one", "{tap: {ref: 'button \"Add one\"'}}").repeat(40)
}

#[test]
fn the_budget_of_a_run_ends_it() {
    let project = counter(&trail("  - step: Add one\n"), &endless());
    let ran = run(&project, &["--model-budget", "calls=3"]).exits(1);
    assert!(ran.stdout.contains("the run has used up its budget of 3 model calls"), "{}", ran.stdout);
    assert!(ran.stdout.contains("3 model calls, "), "{}", ran.stdout);
}

#[test]
fn the_budget_of_a_step_is_set_in_the_project() {
    let project = counter(&trail("  - step: Add one\n"), &endless());
    let config = format!("{}agent: {{step: {{calls: 2}}}}\n", project.read("trailblaze.yaml"));
    project.write("trailblaze.yaml", config);
    let ran = run(&project, &[]).exits(1);
    assert!(ran.stdout.contains("the model did not complete the step within 2 model calls"), "{}", ran.stdout);
}

#[test]
fn dollars_cannot_be_limited_if_the_price_is_unknown() {
    let project = counter(&trail("  - step: Add one\n"), &endless());
    let said = run(&project, &["--model-budget", "dollars=0.01"]).exits(3).stderr;
    assert!(said.contains("the price of `scripted/replies.yaml` is unknown, so dollars cannot be limited"), "{said}");
}

#[test]
fn wrong_limits_are_refused() {
    let project = counter(&trail("  - step: Add one\n"), "  []\n");
    for wrong in ["calls", "calls=x", "money=3", "dollars=NaN", "dollars=-1", "time=soon"] {
        let said = run(&project, &["--model-budget", wrong]).exits(3).stderr;
        assert!(said.contains(&format!("`--model-budget` does not take `{wrong}`")), "{said}");
    }
}

#[test]
fn a_model_that_cannot_be_used_is_an_error_that_says_what_to_do() {
    let project = counter(&trail("  - step: Add one\n"), "  []\n");
    let with = |model: &str| project.run(&["run", "-d", "android/sim-1", "--model", model]).exits(3).stderr;
    for (model, message) in [
        ("openai/gpt", "`openai` needs a key in the environment variable `OPENAI_API_KEY`"),
        ("opnai/gpt", "did you mean `openai/gpt`?"),
        ("scripted/absent.yaml", "absent.yaml"),
    ] {
        let said = with(model);
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn a_model_of_the_project_without_a_key_is_only_missed_by_trails_that_need_it() {
    let steps = "  - step: Add one\n    tools: [{tap: {id: add}}]\n";
    let project = counter(&trail(steps), "  []\n");
    let config = format!("{}llm: {{defaults: {{model: anthropic/claude}}}}\n", project.read("trailblaze.yaml"));
    project.write("trailblaze.yaml", config);
    project.run(&["run", "-d", "android/sim-1"]).exits(0);
    project.write("trails/a.trail.yaml", trail("  - step: Add one\n"));
    let said = project.run(&["run", "-d", "android/sim-1"]).exits(3).stderr;
    assert!(said.contains("the step needs a model") && said.contains("ANTHROPIC_API_KEY"), "{said}");
}

#[test]
fn an_error_of_the_model_is_not_the_fault_of_the_app() {
    for (kind, code) in [("unavailable", 2), ("quota", 2), ("setup", 3), ("unreadable", 2)] {
        let replies = format!("  - error: {{kind: {kind}, message: it went wrong}}\n");
        let project = counter(&trail("  - step: Add one\n"), &replies);
        let ran = run(&project, &[]).exits(code);
        assert!(ran.stdout.contains("it went wrong"), "{}", ran.stdout);
    }
}

/// A server that gives every request the same response.
fn provider(status: u16, body: &'static str) -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = Vec::new();
            let mut buffer = [0; 65_536];
            // The whole request is read, or the response would be lost with the connection.
            while let Ok(n @ 1..) = stream.read(&mut buffer) {
                request.extend_from_slice(&buffer[..n]);
                let text = String::from_utf8_lossy(&request).to_lowercase();
                let Some((head, rest)) = text.split_once("\r\n\r\n") else { continue };
                let length =
                    head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
                if rest.len() >= length.unwrap_or(0_usize) {
                    break;
                }
            }
            let head = format!(
                "HTTP/1.1 {status} x\r\ncontent-length: {}\r\nretry-after-ms: 1\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    url
}

#[test]
fn a_step_is_carried_out_over_http_and_its_cost_is_counted() {
    let body = r#"{"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "tap", "arguments": "{\"ref\": \"button \\\"Add one\\\"\", \"completesStep\": true}"}}]}}],
        "usage": {"prompt_tokens": 2000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 1000}}}"#;
    let project = counter(&trail("  - step: Add one\n"), "  []\n");
    let llm = |url: &str| {
        format!(
            "{}llm:\n  providers:\n    local:\n      type: openai_compatible\n      base_url: {url}\n      auth: {{required: false}}\n      models:\n        - {{id: m, cost: {{input_per_million: 1, output_per_million: 10, cached_input_per_million: 0.1}}}}\n",
            crate::support::COUNTER_PROJECT
        )
    };
    let run = |args: &[&str]| {
        project.run(&[&["run", "-d", "android/sim-1", "--pictures", "off", "--model", "local/m"], args].concat())
    };
    project.write("trailblaze.yaml", llm(&provider(200, body)));
    let ran = run(&["--json"]).exits(0);
    let sum = &ran.json()["modelUse"];
    assert_eq!(
        (&sum["tokensIn"], &sum["tokensCached"], &sum["cost"]),
        (&2000.into(), &1000.into(), &0.0016.into()),
        "{sum}"
    );
    // What is no reply is the provider's fault, and what came before it is in the report.
    for (status, body, code, message) in [
        (200, "<html>Sign in to the network</html>", 2, "local"),
        (200, "{\"choices\": [", 2, "local"),
        (200, "", 2, "local"),
        (401, r#"{"error": {"message": "wrong key", "code": "invalid_api_key"}}"#, 3, "key"),
        (429, r#"{"error": {"message": "no credit", "code": "insufficient_quota"}}"#, 2, "no credit"),
    ] {
        project.write("trailblaze.yaml", llm(&provider(status, body)));
        let ran = run(&[]).exits(code);
        assert!(ran.stdout.contains(message), "{status} {body}: {}", ran.stdout);
        let report = project.last_run().text("report.html");
        assert!(report.contains("Step: Add one"), "what was sent is in the report");
    }
}

#[test]
fn a_provider_that_never_answers_is_given_up_when_the_time_is_spent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    // Kept open, so that requests wait.
    std::thread::spawn(move || listener.incoming().flatten().collect::<Vec<_>>());
    let project = counter(&trail("  - step: Add one\n"), "  []\n");
    let llm = format!(
        "llm: {{providers: {{local: {{type: openai_compatible, base_url: '{url}', auth: {{required: false}}}}}}}}\n"
    );
    project.write("trailblaze.yaml", format!("{}{llm}", crate::support::COUNTER_PROJECT));
    let args =
        ["run", "-d", "android/sim-1", "--pictures", "off", "--model", "local/m", "--model-budget", "time=500ms"];
    let ran = project.run(&args).exits(2);
    assert!(ran.stdout.contains("`local/m` did not reply in time"), "{}", ran.stdout);
}

#[test]
fn a_mistake_in_the_project_is_told_before_one_in_the_model() {
    let project = counter(&trail("  - step: Add one\n"), "  []\n");
    project.write("trailblaze.yaml", format!("{}agent: {{visoin: auto}}\n", crate::support::COUNTER_PROJECT));
    let said = project.run(&["run", "-d", "android/sim-1", "--model", "absent/model"]).exits(3).stderr;
    assert!(said.contains("did you mean `vision`?"), "{said}");
}
