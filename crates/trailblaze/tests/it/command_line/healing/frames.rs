//! Frames in Chromium: an element in a frame of another origin is never taken for one of the page.

use crate::support::{Project, chromium};

fn page(inner: &str) -> String {
    format!("<!doctype html><title>Draft</title><main><h1>Your draft</h1>{inner}</main>\n")
}

const SAVE: &str = "<button id=\"save\" onclick=\"document.body.innerHTML = '<h1>It was saved</h1><p>You find it in your list</p>'\">Save</button>";

fn recorded() -> Project {
    let trail = "config: {id: save, title: Save, devices: {web: playwright-native}}\ntrailhead:\n  step: Open it\n  tools: [{web_navigate: {url: ../page.html}}]\n\
                 trail:\n  - step: Save\n    recording:\n      web:\n        - tap: {id: save, timeoutMs: 300}\n  - verify: It was saved\n    \
                 tools: [{assertVisible: {text: It was saved}}]\n";
    let project = Project::empty()
        .with("trailblaze.yaml", chromium::devices("[{id: web/chromium}]"))
        .with("page.html", page(SAVE))
        .with("trails/save.trail.yaml", trail);
    project.run(&["run", "--pictures", "off", "--record"]).exits(0);
    project
}

#[test]
fn a_frame_of_another_origin_is_not_searched() {
    if chromium::find().is_none() {
        return;
    }
    let other = SAVE.replace("id=\"save\"", "id=\"keep\"");
    let project = recorded();
    // A document in a sandbox has an origin of its own, as an advertisement has.
    let framed = format!("<iframe sandbox=\"allow-scripts\" srcdoc=\"{}\"></iframe>", other.replace('"', "&quot;"));
    project.write("page.html", page(&framed));
    project.run(&["run", "--pictures", "off", "--heal", "apply"]).exits(1);
    let summary = project.last_run().summary();
    let heal = &summary["attempts"][0]["heals"][0];
    assert_eq!(
        (&heal["result"], &heal["message"]),
        (&"suggested".into(), &"no element of the screen fits".into()),
        "{heal:#}"
    );
    assert_eq!(heal["suggestions"].as_array().map(Vec::len), Some(0), "{heal:#}");
    // The same button on the page itself is.
    project.write("page.html", page(&other));
    project.run(&["run", "--pictures", "off", "--heal", "apply"]).exits(0);
}
