//! Dialogs that commands meet: they are answered, told, and in nobody's way.

use super::{project, run};

const PAGE: &str = "<!doctype html><title>Asking</title><p id=said></p>\
    <button onclick=\"said.textContent = confirm('Really?') ? 'Agreed' : 'Refused'\">Ask</button>\
    <button onclick=\"said.textContent = 'Named ' + prompt('Who?', 'Eve')\">Name</button>\
    <button onclick=\"alert('one'); alert('two'); said.textContent = 'Warned'\">Warn</button>";

#[test]
fn dialogs_are_answered_as_the_trail_says_and_told() {
    let calls = [
        "web_click: {ref: 'button \"Ask\"'}",
        "assertVisible: {text: Agreed}",
        "web_dialogs: {answer: DISMISS}",
        "web_click: {ref: 'button \"Ask\"'}",
        "assertVisible: {text: Refused}",
        "web_dialogs: {answer: ACCEPT, text: Ada}",
        "web_click: {ref: 'button \"Name\"'}",
        "assertVisible: {text: Named Ada}",
        "web_click: {ref: 'button \"Warn\"'}",
        "assertVisible: {text: Warned}",
        "web_evaluate: {script: \"confirm('From a script?')\"}",
    ];
    let Some((project, _)) = project(1, PAGE, &calls) else { return };
    let ran = run(&project, &[]).exits(0);
    let warned = project.last_run().warnings();
    assert!(warned.iter().any(|text| text.contains("\"Really?\" was accepted, because")), "{warned:?} {}", ran.stdout);
    let events = project.last_run().text("events.jsonl");
    for message in ["\"one\"", "\"two\"", "\"Who?\"", "\"From a script?\""] {
        assert!(events.contains(message), "{message} in the record");
    }
}
