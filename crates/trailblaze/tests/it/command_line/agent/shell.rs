//! A model in the shell: `do` and `ask`.

use super::{MODEL, counter, reply};

#[test]
fn a_model_acts_and_answers_in_a_shell_and_the_steps_can_be_saved() {
    let answer = "  - expect: {contains: 'Question: How far is it?'}\n    reply: {text: 'The count is 1.'}\n";
    let replies = reply("Step: count once", "{tap: {ref: 'button \"Add one\"', completesStep: true}}")
        + answer
        + &reply("Check: it counted", "{assertVisible: {text: 'Count: 1', completesStep: true}}");
    let project = counter("trail: []\n", &replies);
    std::fs::remove_file(project.root().join("trails/a.trail.yaml")).unwrap();
    let lines = "launchApp packageId=com.example.counter\ndo 'count once'\nask 'How far is it?'\ndo verify 'it counted'\nsave trails/b.trail.yaml\nquit\n";
    let ran = project.feed(&["shell", "-d", "android/sim-1", "--model", MODEL], lines).exits(0);
    assert!(ran.stdout.contains("The count is 1."), "{}", ran.stdout);
    assert!(ran.stdout.contains("tap {\"id\":\"add\"}") && ran.stdout.contains("(1 model call, "), "{}", ran.stdout);
    let saved = project.read("trails/b.trail.yaml");
    assert!(
        saved.contains("count once") && saved.contains("it counted") && !saved.contains("How far is it?"),
        "{saved}"
    );
}

#[test]
fn a_shell_without_a_model_says_how_to_choose_one() {
    let project = counter("trail: []\n", "  []\n");
    std::fs::remove_file(project.root().join("trails/a.trail.yaml")).unwrap();
    let ran = project.feed(&["shell", "-d", "android/sim-1"], "do 'count once'\nask 'How far?'\nquit\n");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.matches("--model").count() >= 2, "{said}");
}
