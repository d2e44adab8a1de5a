//! What a model may spend, and what happens if it cannot be used.

use crate::{counter, reply, run, trail};

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
