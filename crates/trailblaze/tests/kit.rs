//! What tool authors are given: a tool to start from, its tests, a look at what it costs, and at what is odd about it.

mod support;

use serde_json::{Value, json};
use support::Project;

#[test]
fn the_budget_counts_what_models_are_offered() {
    let project = Project::wallet();
    let budget = project.run(&["toolbox", "budget", "-d", "android/sim-1", "--json"]).exits(0).json();
    let toolbox = project.run(&["toolbox", "-d", "android/sim-1", "--json"]).exits(0).json();
    let offered = toolbox[0]["tools"].as_array().unwrap();
    assert_eq!(budget[0]["total"]["tools"], offered.len());
    let row = |kind: &str, name: &str| -> Value {
        let rows = budget[0][kind].as_array().unwrap().iter();
        rows.filter(|row| row["name"] == name).cloned().collect()
    };
    // The count can be made by hand from the toolbox.
    let tool = offered.iter().find(|tool| tool["name"] == "wallet_signIn").unwrap();
    let text = json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]});
    let characters = text.to_string().chars().count();
    let expected =
        json!([{"name": "wallet_signIn", "tools": 1, "characters": characters, "tokens": characters.div_ceil(4)}]);
    assert_eq!(row("tools", "wallet_signIn"), expected);
    assert_eq!(row("toolsets", "wallet")[0]["tools"], 2);
    assert_eq!(row("sources", "trailblaze-config/tools/wallet_signIn.yaml")[0]["tokens"], expected[0]["tokens"]);
    let sum: u64 = budget[0]["tools"].as_array().unwrap().iter().map(|row| row["tokens"].as_u64().unwrap()).sum();
    assert_eq!(budget[0]["total"]["tokens"], sum);

    let max = |tokens: u64| {
        vec![
            "toolbox".to_string(),
            "budget".into(),
            "-d".into(),
            "ios/sim-1".into(),
            "--max".into(),
            tokens.to_string(),
        ]
    };
    let run = |args: Vec<String>| project.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
    run(max(1_000_000)).exits(0);
    let over = run(max(10)).exits(1);
    assert!(over.stderr.contains("error: the tools of ios/sim-1 cost about "), "{}", over.stderr);
    assert!(over.stderr.contains("one token for 4 characters"), "how it is counted is said: {}", over.stderr);
}
