//! What works on every device works on a desktop too: sessions, recording, healing, MCP, the studio.

use serde_json::{Value, json};

use super::desk::has;
use super::listed_program::ListedProgram;
use crate::browser::studio::opening::on_session;
use crate::browser::studio::page::{element, has as shows};
use crate::command_line::mcp::client::{Client, Daemon, Generation, reference};
use crate::support::Project;
use crate::support::home::Home;

const DEVICE: &str = "desktop/xvfb";

fn elements(id: &str) -> Value {
    json!([
        {"role": "field", "name": "Title", "id": "title"},
        {"role": "button", "name": "Save", "id": id},
        {"role": "label", "name": "idle", "id": "status"},
    ])
}

/// A project on a desktop, and a program with a button.
fn project() -> Option<(Project, ListedProgram)> {
    if !has(&["python3"]) {
        return None;
    }
    let project = Project::empty().with("trailblaze.yaml", "platform: desktop\n");
    let program = ListedProgram::new(project.root(), "Notes", elements("save"));
    Some((project, program))
}

#[test]
fn a_desktop_is_pointed_at_in_the_studio_and_what_that_saves_replays() {
    let Some((project, program)) = project() else { return };
    let home = Home::new(project);
    let (page, session) = on_session(&home, &["-d", DEVICE, "--launch", &program.command]);
    let mut screens = page.watch("screen", &session);
    let screen =
        screens.until("the window with a picture", |screen| shows(screen, "Save") && screen.get("picture").is_some());
    let save = element(&screen, "Save");
    let place =
        json!({"session": session, "generation": screen["generation"], "element": save["index"], "action": "tap"});
    let tapped = page.call("Act", place);
    assert_eq!((&tapped["isDone"], &tapped["text"]), (&json!(true), &json!("Tap \"Save\"")), "{tapped:#}");
    screens.until("what the button did", |screen| shows(screen, "Save was pressed"));
    let path = "trails/pointed.trail.yaml";
    page.call("SaveTrail", json!({"session": session, "path": path, "title": "Pointed at"}));
    home.run(&["session", "close", &session]).exits(0);
    let saved = home.project.read(path);
    assert!(saved.contains("tap:\n          id: save\n"), "{saved}");
    home.run(&["run", path, "-d", DEVICE]).exits(0);
}

#[test]
fn an_id_that_has_changed_is_healed() {
    let Some((project, program)) = project() else { return };
    let trail = format!(
        "trail:\n  - step: Save\n    recording:\n      desktop:\n        - launchApp: {{packageId: '{}'}}\n        \
         - tap: {{id: save, timeoutMs: 1000}}\n  - verify: It is saved\n    tools:\n      - assertVisible: {{text: Save was pressed}}\n",
        program.command
    );
    project.write("trails/save.trail.yaml", trail);
    let run = |args: &[&str]| project.run(&[&["run", "trails/save.trail.yaml", "-d", DEVICE], args].concat());
    run(&["--record"]).exits(0);
    program.show(json!({"title": "Notes", "elements": elements("store")}));
    let ran = run(&["--heal", "apply"]).exits(0);
    assert!(ran.stdout.contains("became `tap: {id: store"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 passed, 1 of them healed"), "{}", ran.stdout);
}

#[test]
fn an_agent_uses_it_over_mcp() {
    let Some((project, program)) = project() else { return };
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let opened = client.call("session", json!({"action": "open", "device": DEVICE, "url": program.command}));
    let save = reference(&opened, "\"Save\"");
    let tap = json!({"tool": "tap", "args": {"ref": save}});
    let windows = json!({"tool": "windows", "args": {}});
    let acted = client.call("act", json!({"step": "Save the note", "calls": [tap, windows]}));
    assert!(acted.contains("Save was pressed") && acted.contains("\"Notes\""), "{acted}");
    client.call("session", json!({"action": "close"}));
    client.close();
}

#[test]
fn a_session_uses_the_tools_that_only_desktops_have() {
    let Some((project, program)) = project() else { return };
    let home = Home::new(project);
    home.run(&["device", "connect", "-d", DEVICE, "--launch", &program.command]).exits(0);
    let tool = |name: &str, args: &[&str]| home.run(&[&["tool", name], args].concat()).exits(0).stdout;
    let captured = tool("desktop_captureWindow", &["id=Notes"]);
    assert!(captured.contains("the window \"Notes\", 800 x 600"), "{captured}");
    tool("desktop_hover", &["id=save"]);
    tool("desktop_drag", &["id=save", "byX=10"]);
    tool("desktop_click", &["text=Save", "button=RIGHT"]);
    tool("setClipboard", &["text=Zoë"]);
    assert_eq!(tool("getClipboard", &[]).trim(), "Zoë");
    let refused = home.run(&["tool", "desktop_check", "id=nothing", "timeoutMs=0"]).exits(1);
    assert!(
        refused.stderr.contains("id \"nothing\"") || refused.stdout.contains("id \"nothing\""),
        "{}",
        refused.stderr
    );
    let none = home.run(&["tool", "desktop_hover"]).exits(1);
    assert!(format!("{}{}", none.stdout, none.stderr).contains("no element: pass `text` or `id`"), "{}", none.stderr);
    home.run(&["session", "close"]).exits(0);
}
