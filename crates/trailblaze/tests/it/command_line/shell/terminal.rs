//! A shell as a person has it: in a real terminal.

use std::os::unix::fs::PermissionsExt;

use crate::support::Project;
use crate::support::terminal::Terminal;

const LAUNCH: &str = "launchApp packageId=com.example.counter";
const PROMPT: &str = "trailblaze> ";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const UP: &str = "\x1b[A";

/// A shell whose first line is asked for.
fn open(project: &Project, args: &[&str]) -> Terminal {
    open_with(project, args, &[])
}

fn open_with(project: &Project, args: &[&str], variables: &[(&str, &str)]) -> Terminal {
    let mut terminal = Terminal::open(project, &[&["shell", "-d", "android/sim-1"], args].concat(), variables);
    terminal.sees(PROMPT);
    terminal
}

/// Types a line, and waits until what it comes to is shown and the next line is asked for.
fn says(terminal: &mut Terminal, line: &str, expected: &str) {
    terminal.types(&format!("{line}\r"));
    terminal.sees(expected);
    terminal.sees(PROMPT);
}

#[test]
fn ctrl_c_cancels_the_call_and_not_the_shell() {
    let project = Project::counter();
    let mut terminal = open(&project, &[]);
    says(&mut terminal, LAUNCH, "done");
    terminal.types("waitUntilVisible text=Nowhere timeoutMs=300000\r");
    crate::support::wait_until("the call is made", || {
        (project.last_run().mentions("\"waitUntilVisible\"") == 1).then_some(())
    });
    terminal.types(CTRL_C);
    terminal.sees("cancelled");
    terminal.sees(PROMPT);
    // At the prompt it throws the line away.
    terminal.types("tap id=nonsense");
    terminal.types(CTRL_C);
    terminal.sees(PROMPT);
    says(&mut terminal, "tap id=add", "tap on Button");
    terminal.types(CTRL_D);
    terminal.sees("The steps were not saved as a trail; they are recorded in ");
    assert_eq!(terminal.ends(), 0);
    let run = project.last_run();
    run.assert_finished(0);
    run.assert_calls_have_parents();
    assert!(run.text("recording.trail.yaml").contains("id: add"), "nothing is lost");
}

#[test]
fn a_call_that_failed_is_not_listed_as_passed() {
    let project = Project::counter();
    let mut terminal = open(&project, &[]);
    says(&mut terminal, "assertVisible text=Nowhere timeoutMs=10", "nothing on the screen has the text");
    says(&mut terminal, "nonsense", "unknown tool");
    terminal.types("quit\r");
    assert_eq!(terminal.ends(), 0, "a person tries things");
    let listed = project.run(&["runs", "list"]).exits(0).stdout;
    assert!(
        listed.contains(" UTC, ") && listed.contains("  failed ") && listed.contains("0 of 1 trail passed, 1 failed"),
        "{listed}"
    );
    project.last_run().assert_finished(1);
}

#[test]
fn lines_are_edited_completed_and_remembered() {
    let project = Project::counter();
    let mut terminal = open(&project, &[]);
    // Tab completes the tool and its argument; the cursor goes back over what is wrong.
    terminal.types("launchA\tpack\tcom.example.countr\x1b[De\r");
    terminal.sees("done");
    terminal.sees(PROMPT);
    says(&mut terminal, "snapshot", "Add one");
    says(&mut terminal, &format!("{UP}{UP}"), "done");
    terminal.types("quit\r");
    terminal.ends();
    let calls = project.last_run().calls();
    assert!(calls.iter().all(|call| call.args["packageId"] == "com.example.counter"), "{calls:?}");
    assert_eq!(calls.len(), 2);

    // Another shell goes on from there.
    let mut terminal = open(&project, &[]);
    terminal.types(&format!("{UP}{UP}"));
    terminal.sees("launchApp packageId=com.example.counter");
    says(&mut terminal, "", "done");
    terminal.types(CTRL_D);
    terminal.ends();
}

#[test]
fn the_history_is_private_and_has_no_secrets() {
    let project = Project::counter();
    let mut terminal = open_with(&project, &["--secret", "PIN"], &[("PIN", "canary-52a1f0")]);
    says(&mut terminal, "inputText text=canary-52a1f0", "");
    says(&mut terminal, "inputText text=\"can\"'ary-52a1f0'", "");
    says(&mut terminal, " memory", "");
    terminal.types("quit\r");
    terminal.ends();
    let path = "home/.local/state/trailblaze/shell-history";
    assert_eq!(project.read(path), "inputText text={{PIN}}\nquit\n");
    let mode = std::fs::metadata(project.root().join(path)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_shell_that_is_told_to_end_leaves_the_terminal_as_it_was() {
    let project = Project::counter();
    let mut terminal = open(&project, &[]);
    says(&mut terminal, LAUNCH, "done");
    terminal.types("tap id=ad");
    terminal.signal(15);
    assert_eq!(terminal.ends(), 2);
    let run = project.last_run();
    run.assert_finished(2);
    assert!(run.has("recording.trail.yaml"));
}

#[test]
fn what_is_said_meanwhile_does_not_tear_the_line_apart() {
    let project = Project::counter();
    std::fs::create_dir_all(project.root().join("trailblaze-config/tools")).unwrap();
    let mut terminal = open(&project, &["--watch"]);
    terminal.types("isVisible id=ad");
    terminal.sees("isVisible id=ad");
    let tool = "id: later\ndescription: Waits.\nparameters: []\ntools:\n  - wait: {timeToWaitInSeconds: 0.01}\n";
    project.write("trailblaze-config/tools/later.yaml", tool);
    terminal.sees("later");
    terminal.sees("trailblaze> isVisible id=ad");
    says(&mut terminal, "d", "false");
    terminal.types(CTRL_D);
    terminal.ends();
}
