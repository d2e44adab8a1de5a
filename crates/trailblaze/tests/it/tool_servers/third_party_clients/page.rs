//! The page for other languages: its programs and commands are the ones that work.

use std::process::Command;

use crate::support::{Project, repository};
use crate::tool_servers::third_party_clients::served::{Served, has_curl};

fn page() -> String {
    std::fs::read_to_string(repository().join("docs/other-languages.md")).expect("the page")
}

/// The code blocks of a language, in order.
fn blocks(language: &str) -> Vec<String> {
    let (page, start) = (page(), format!("```{language}\n"));
    page.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_string()).collect()
}

/// Runs a command of the page against a session of a test.
fn run(served: &Served, command: &str) -> String {
    let command = command
        .replace("http://127.0.0.1:52525", &served.address)
        .replace("KEY_FILE", &served.key_file.display().to_string());
    let output = Command::new("sh").args(["-c", &command]).output().expect("a shell");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command}: {}", said(&output.stderr));
    said(&output.stdout).trim().to_string()
}

#[test]
fn the_calls_with_curl_get_the_answers_that_the_page_shows() {
    if !has_curl() {
        return;
    }
    let project = Project::wallet();
    let served = Served::on(&project, "android/sim-1");
    let calls: Vec<String> = blocks("sh").into_iter().filter(|block| block.starts_with("curl")).collect();
    let answers = blocks("json").into_iter().filter(|block| !block.contains("_meta"));
    let got: Vec<String> = calls.iter().map(|call| run(&served, call)).collect();
    assert_eq!(got, answers.map(|answer| answer.trim().to_string()).collect::<Vec<_>>());
    served.stop();
}

#[test]
fn the_page_shows_the_files_of_the_program_in_go() {
    let read = |name: &str| std::fs::read_to_string(repository().join("tests/peers/go").join(name)).expect("a file");
    assert_eq!(blocks("go"), [read("main.go")]);
    assert_eq!(blocks("yaml"), [read("buf.gen.yaml")]);
}

#[test]
fn the_program_in_go_makes_its_call() {
    if !crate::tool_servers::third_party_clients::is_installed() || !has_curl() {
        return;
    }
    let project = Project::wallet();
    let served = Served::on(&project, "android/sim-1");
    run(&served, blocks("sh").iter().find(|block| block.contains("LaunchApp")).expect("it launches the app"));
    let program = repository().join(".parts/peers/go/bin/example").canonicalize().expect("it is there");
    let said = run(&served, &format!("{} http://127.0.0.1:52525 KEY_FILE", program.display()));
    assert_eq!(said, "true tap on EditText \"Email\"");
    served.stop();
}
