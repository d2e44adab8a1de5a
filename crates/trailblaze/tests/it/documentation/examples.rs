//! The examples of the repository do what they say.

use crate::support::Project;
use crate::support::lab::{Lab, Runtime, parts};
use serde_json::{Value, json};

/// A copy of `examples/acme-tools`, with Python and one runtime for scripts on the PATH.
fn acme(runtime: Runtime) -> Option<Lab> {
    let lab = Lab::under(runtime)?;
    let path = format!("{}:{}", lab.path("bin"), parts()?.join("python/bin").display());
    lab.example("acme-tools").env("PATH", path);
    Some(lab)
}

#[test]
fn acmes_tools_pass_under_bun() {
    let Some(lab) = acme(Runtime::Bun) else { return };
    assert_passes(&lab);
}

#[test]
fn acmes_tools_pass_under_node_with_tsx() {
    let Some(lab) = acme(Runtime::Tsx) else { return };
    assert_passes(&lab);
}

/// Every trail passes on both devices, and what the README promises is so.
#[track_caller]
fn assert_passes(lab: &Lab) {
    let played = lab.run(&[], 0);
    assert_eq!(played.ran.stderr.matches("warning").count(), 0, "{}", played.ran.stderr);
    let summary = played.run.summary();
    assert_eq!(summary["counts"]["passed"], json!(6), "{summary}");
    assert_eq!(played.texts("acme_splitBill"), ["12.50", "12.50"]);
    let mut screens = played.texts("acme_nameScreen");
    screens.sort();
    assert!(screens[0].starts_with("ANDROID, portrait") && screens[1].starts_with("IOS, portrait"), "{screens:?}");
    let sources: Vec<String> = played.run.calls().into_iter().map(|call| call.source.to_string()).collect();
    for source in ["server accounts", "server raw", "server wallet"] {
        assert!(sources.iter().any(|known| known == source), "{source} was called");
    }
}

#[test]
fn acmes_trails_can_be_recorded_and_replayed() {
    let Some(lab) = acme(Runtime::Bun) else { return };
    lab.run(&["--record"], 0);
    let recorded = lab.project.read("trails/pay-a-friend.trail.yaml");
    let (_, android) = recorded.split_once("recording:").expect("a recording");
    assert!(android.contains("id: email") && android.contains("ada@example.com"), "{recorded}");
    assert!(recorded.contains("- acme_sendMoney:"), "a tool that calls back is recorded as itself: {recorded}");
    let played = lab.run(&[], 0);
    let names: Vec<String> = played.run.calls().into_iter().map(|call| call.tool).collect();
    assert!(!names.contains(&"acme_signInAs".to_string()), "its delegates stand in its place");
    assert!(names.contains(&"acme_sendMoney".to_string()));
    assert_eq!(lab.project.read("trails/pay-a-friend.trail.yaml"), recorded, "a replay writes nothing");
}

#[test]
fn acmes_raw_server_answers_under_the_inspector() {
    let Some(lab) = acme(Runtime::Bun) else { return };
    let packages = parts().expect("the parts are there").join("node/node_modules");
    let inspector = packages.join(".bin/mcp-inspector");
    // The inspector is a program of Node's.
    let path = format!("{}:{}", lab.path("bin"), packages.join("node/bin").display());
    lab.env("PATH", path);
    let ask = |args: &[&str]| -> Value {
        let args = [&["--cli", "bun", "tools/raw.ts", "--method"], args].concat();
        lab.finish(lab.program(&inspector, &args)).exits(0).json()
    };
    let listed = ask(&["tools/list"]);
    let names: Vec<&Value> = listed["tools"].as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["acme_splitBill", "acme_nameScreen"]);
    let split =
        ask(&["tools/call", "--tool-name", "acme_splitBill", "--tool-arg", "total=50", "--tool-arg", "people=4"]);
    assert_eq!(split["content"][0]["text"], "12.50");
    // A tool that needs Trailblaze says so elsewhere, and does not crash.
    let named = ask(&["tools/call", "--tool-name", "acme_nameScreen"]);
    assert_eq!(
        (&named["isError"], &named["content"][0]["text"]),
        (&json!(true), &json!("acme_nameScreen works only under Trailblaze, which tells it the device"))
    );
}

#[test]
fn a_payment_on_one_phone_arrives_on_the_other_and_on_the_web_page() {
    let project = Project::copy_of("examples/two-phones");
    let ran = project.run(&["run"]).exits(0);
    assert!(ran.stderr.contains("android/sim-1 + android/sim-2 + web/sim-1"), "{}", ran.stderr);
    assert_eq!(project.last_run().summary()["counts"]["passed"], json!(1));
    // What Bob and the page wait for is what Alice sends, and nothing else.
    let trail = project.read("trails/pay.trail.yaml");
    let to_carol = trail.replace("inputText: {text: Bob}", "inputText: {text: Carol}");
    let soon =
        to_carol.replace("€{{amount}}'}", "€{{amount}}', timeoutMs: 500}").replace("→ Bob}", "→ Bob, timeoutMs: 500}");
    let project = project.with("trails/pay.trail.yaml", soon);
    let ran = project.run(&["run"]).exits(1);
    for told in ["2 parts failed:", "\"The payment arrives\" on bob: ", "\"The page shows the payment\" on desk: "] {
        assert!(ran.stdout.contains(told), "{told} is not in {}", ran.stdout);
    }
}
