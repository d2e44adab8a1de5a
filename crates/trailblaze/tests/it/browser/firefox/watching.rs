//! What sessions are for works on Firefox too: the studio, whose picture follows the page, and agents over MCP.

use serde_json::json;

use crate::browser::studio::opening::on_session;
use crate::browser::studio::page::{element, has};
use crate::command_line::mcp::client::{Client, Daemon, Generation, reference};
use crate::support::home::Home;
use crate::support::{Project, firefox};

const DEVICE: &str = "web/firefox";
const PAGE: &str = "<!doctype html><button id=add onclick=\"this.textContent = 'Added'; document.body.style.background = 'teal'\">Add one</button>";

fn project() -> Option<(Project, String)> {
    firefox::find()?;
    let project = Project::empty().with("trailblaze.yaml", "devices: [{id: web/firefox}]\n").with("page.html", PAGE);
    let url = format!("file://{}/page.html", project.root().display());
    Some((project, url))
}

#[test]
fn a_page_is_pointed_at_in_the_studio_and_its_picture_follows() {
    let Some((project, url)) = project() else { return };
    let home = Home::new(project);
    let (page, session) = on_session(&home, &["-d", DEVICE, "--launch", &url]);
    let mut screens = page.watch("screen", &session);
    let screen =
        screens.until("the page with a picture", |screen| has(screen, "Add one") && screen.get("picture").is_some());
    let before = screen["picture"].clone();
    let add = element(&screen, "Add one");
    let place =
        json!({"session": session, "generation": screen["generation"], "element": add["index"], "action": "tap"});
    let tapped = page.call("Act", place);
    assert_eq!((&tapped["isDone"], &tapped["text"]), (&json!(true), &json!("Tap \"Add one\"")), "{tapped:#}");
    screens.until("another picture", |screen| has(screen, "Added") && screen["picture"] != before);
    let path = "trails/pointed.trail.yaml";
    page.call("SaveTrail", json!({"session": session, "path": path, "title": "Pointed at"}));
    home.run(&["session", "close", &session]).exits(0);
    assert!(home.project.read(path).contains("tap:\n          id: add\n"), "{}", home.project.read(path));
    home.run(&["run", path, "-d", DEVICE]).exits(0);
}

#[test]
fn an_agent_uses_it_over_mcp() {
    let Some((project, url)) = project() else { return };
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let opened = client.call("session", json!({"action": "open", "device": DEVICE, "url": url}));
    let tap = json!({"tool": "tap", "args": {"ref": reference(&opened, "\"Add one\"")}});
    let acted = client.call("act", json!({"step": "Add one", "calls": [tap]}));
    assert!(acted.contains("Added"), "{acted}");
    client.call("session", json!({"action": "close"}));
    client.close();
}
