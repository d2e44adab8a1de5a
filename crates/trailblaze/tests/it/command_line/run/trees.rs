//! Expected text of a screen: written by a command, checked before a run, compared in it.

use crate::support::{COUNTER_APP, Project};

/// A trail that opens the app and expects this tree.
fn trail(tree: &str) -> String {
    let lines: String = tree.lines().map(|line| format!("            {line}\n")).collect();
    format!(
        "trail:\n  - step: Start\n    tools:\n      - launchApp: {{packageId: com.example.counter}}\n      - assertTree:\n          \
         timeoutMs: 0\n          tree: |\n{lines}"
    )
}

fn run(project: &Project, device: &str, code: i32) -> String {
    project.run(&["run", "-d", device, "trails/look.trail.yaml"]).exits(code).stdout
}

#[test]
fn the_text_that_a_command_prints_holds_until_the_screen_is_another_one() {
    let project = Project::counter();
    let fresh = ["snapshot", "--fresh", "-d", "android/sim-1", "--launch", "com.example.counter", "--tree"];
    let tree = project.run(&fresh).exits(0).stdout;
    assert!(tree.contains("- heading \"Count: 0\"\n") && tree.contains("- button \"Add one\"\n"), "{tree}");
    project.write("trails/look.trail.yaml", trail(&tree));
    run(&project, "android/sim-1", 0);
    // A shell prints the same.
    let told = project.feed(
        &["shell", "-d", "android/sim-1", "--json"],
        "launchApp packageId=com.example.counter\nsnapshot --tree\nquit\n",
    );
    let told = told.json_lines();
    assert!(told.iter().any(|line| line["answer"]["tree"].as_str() == Some(tree.trim_end())), "{told:#?}");

    project.write("counter.app.yaml", COUNTER_APP.replace("Add one", "Add two"));
    let said = run(&project, "android/sim-1", 1);
    assert!(
        said.contains("expected `- button \"Add one\"` (line ") && said.contains("\n  + - button \"Add two\""),
        "{said}"
    );
}

#[test]
fn one_text_is_expected_on_all_platforms() {
    let project = Project::counter();
    // What is a heading elsewhere is a text on an iPhone.
    let text = trail("- /Count: \\d+/\n- button \"Add one\"\n- textbox \"Your name\"");
    for device in ["android/sim-1", "ios/sim-1", "web/sim-1"] {
        let app = if device == "web/sim-1" { "https://counter.example" } else { "com.example.counter" };
        project.write("trails/look.trail.yaml", text.replace("com.example.counter", app));
        run(&project, device, 0);
    }
}

#[test]
fn mistakes_in_expected_text_are_found_before_a_run() {
    let project = Project::counter();
    project.write("trails/look.trail.yaml", trail("- heading\n  - button \"Add one\n- text"));
    let checked = project.run(&["check", "-d", "android/sim-1"]).exits(3);
    let told = format!("{}{}", checked.stdout, checked.stderr);
    assert!(told.contains("the name does not end; write `\"` after it"), "{told}");
    assert!(told.contains("trails/look.trail.yaml:9:24"), "{told}");
}
