//! Servers that others wrote, unchanged: they register, and they answer.

use std::path::PathBuf;

use crate::support::lab::{Lab, Runtime, parts};
use crate::support::skip;
use serde_json::json;
use trailblaze_protocol::event::Level;

/// The entry of a server that is a package, started by Node.
fn entry(name: &str, file: &str, args: &str) -> String {
    let file = parts().expect("the parts are there").join("node/node_modules").join(file);
    format!("mcpServers:\n  {name}:\n    command: node\n    args: ['{}', {args}]\n", file.display())
}

#[test]
fn the_everything_server_registers_and_answers() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    let lab = lab.configured(&entry("everything", "@modelcontextprotocol/server-everything/dist/index.js", "stdio"));
    let toolbox = lab.go(&["toolbox", "--json", "-d", "android/sim-1"]).exits(0).json();
    let tools = toolbox[0]["tools"].as_array().unwrap().iter().filter(|tool| tool["source"] == "server everything");
    let names: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(
        ["echo", "get-sum", "get-tiny-image", "get-structured-content"].iter().all(|name| names.contains(name)),
        "{names:?}"
    );

    let played = lab
        .calls(&[
            "echo: {message: hello}",
            "get-sum: {a: 40, b: 2}",
            "get-tiny-image: {}",
            "get-structured-content: {location: New York}",
            "trigger-long-running-operation: {duration: 0.2, steps: 2}",
        ])
        .run(&["-d", "android/sim-1"], 0);
    assert_eq!(played.texts("echo"), ["Echo: hello"]);
    assert_eq!(played.texts("get-sum"), ["The sum of 40 and 2 is 42."]);
    let picture = played.outcomes("get-tiny-image").remove(0).attachments;
    assert!(picture.iter().any(|part| part.mime == "image/png"), "{picture:?}");
    assert!(played.structured("get-structured-content")["temperature"].is_number());
    let steps: Vec<String> =
        played.notes().into_iter().filter(|(level, _)| *level == Level::Info).map(|(_, text)| text).collect();
    assert!(steps.contains(&"1/2".to_string()) && steps.contains(&"2/2".to_string()), "{steps:?}");
}

#[test]
fn the_filesystem_server_reads_and_writes_where_it_may() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    let lab = lab.configured(&entry("files", "@modelcontextprotocol/server-filesystem/dist/index.js", "shared"));
    let (inside, outside) = (lab.path("shared/note.txt"), lab.path("counter.app.yaml"));
    let lab = lab.with("shared/x", "").calls(&[
        &format!("write_file: {{path: '{inside}', content: a note}}"),
        &format!("read_text_file: {{path: '{inside}'}}"),
    ]);
    let played = lab.run(&[], 0);
    assert_eq!(played.texts("read_text_file"), ["a note"]);
    assert_eq!(lab.project.read("shared/note.txt"), "a note");
    // What it refuses is a failed call, in its own words.
    let played = lab.calls(&[&format!("read_text_file: {{path: '{outside}'}}")]).run(&[], 1);
    let said = played.texts("read_text_file");
    assert!(said[0].contains("outside allowed directories"), "{said:?}");
}

#[test]
fn the_playwright_server_opens_a_page() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    let Some(chromium) = chromium() else { return };
    let args = format!("--headless, --no-sandbox, --isolated, --executable-path, '{}'", chromium.display());
    // The browser's own script needs the tools of a usual system.
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", lab.path("bin"));
    let lab = lab.env("PATH", path).configured(&entry("playwright", "@playwright/mcp/cli.js", &args));
    let lab = lab.calls(&[
        "browser_navigate: {url: 'data:text/html,<title>Trail</title><h1>Blaze</h1>'}",
        "browser_evaluate: {function: '() => document.title + document.body.innerText'}",
        "browser_take_screenshot: {}",
    ]);
    let played = lab.run(&["-d", "android/sim-1"], 0);
    let said = played.texts("browser_evaluate");
    assert!(said[0].contains("TrailBlaze"), "{said:?}");
    let picture = played.outcomes("browser_take_screenshot").remove(0).attachments;
    assert!(picture.iter().any(|part| part.mime.starts_with("image/")), "{picture:?}");
    let started = played.run.summary();
    assert_eq!(started["leakedProcesses"], json!(0), "the browser ended with its server");
}

/// The browser to test with. If there is none, the test is skipped, or fails in CI.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("TRAILBLAZE_TEST_CHROMIUM").filter(|path| !path.is_empty()).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut places = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    let found = named.or_else(|| places.find(|path| path.is_file()));
    if found.is_none() {
        skip::without_part(
            "there is no Chromium: `scripts/parts` installs one, or name it in TRAILBLAZE_TEST_CHROMIUM",
        );
    }
    found
}
