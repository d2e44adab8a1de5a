//! What works on every device works on an iPhone too, here on a stand-in for WebDriverAgent: sessions, healing, MCP, the typed API, the studio.

use serde_json::json;
use trailblaze_client::{Client as ApiClient, LaunchMode};

use super::{DEVICE, ProjectIphone};
use crate::browser::studio::opening::on_session;
use crate::browser::studio::page::{element, has};
use crate::command_line::mcp::client::{Client, Daemon, Generation, reference};
use crate::support::home::Home;
use crate::tool_servers::typed_api::served::Served;

const APP: &str = "com.example.Wallet";

#[test]
fn a_session_is_kept_open_saved_and_replayed() {
    let ProjectIphone { project, stand_in } = ProjectIphone::connect();
    let home = Home::new(project);
    home.run(&["device", "connect", "-d", DEVICE]).exits(0);
    home.run(&["tool", "launchApp", &format!("packageId={APP}")]).exits(0);
    let snapshot = home.run(&["snapshot"]).exits(0).stdout;
    let field = reference(&snapshot, "Email");
    home.run(&["tool", "tap", &format!("ref={field}")]).exits(0);
    home.run(&["tool", "inputText", "text=ada@example.com"]).exits(0);
    home.run(&["tool", "assertVisible", "text=ada@example.com"]).exits(0);
    home.run(&["session", "save", "trails/typed.trail.yaml"]).exits(0);
    home.run(&["session", "replay"]).exits(0);
    home.run(&["session", "close"]).exits(0);
    assert!(!stand_in.has_session());
    let ran = home.run(&["run", "trails/typed.trail.yaml", "-d", DEVICE]).exits(0);
    assert!(ran.stdout.contains("1 passed"), "{}", ran.stdout);
    let saved = home.project.read("trails/typed.trail.yaml");
    assert!(saved.contains("id: email") && !saved.contains("ref:"), "{saved}");
}

#[test]
fn an_id_that_has_changed_is_healed() {
    let ProjectIphone { project, stand_in } = ProjectIphone::connect();
    let run = |args: &[&str]| project.run(&[&["run", "trails/wrong-pin.trail.yaml", "-d", DEVICE], args].concat());
    project.write(
        "trails/wrong-pin.trail.yaml",
        "trail:\n  - step: Ask for the PIN\n    recording:\n      ios:\n        - launchApp: {packageId: com.example.Wallet}\n        \
         - tap: {id: forgot, timeoutMs: 1000}\n  - verify: The first screen is still there\n    tools:\n      \
         - assertVisible: {text: Welcome back}\n",
    );
    run(&["--record"]).exits(0);
    let port = stand_in.port();
    drop(stand_in);
    let app = project.read("wallet.app.yaml");
    project.write("wallet.app.yaml", app.replace("id: forgot,", "id: lostPin,"));
    let changed = [project.root().join("wallet.app.yaml")];
    let _stand_in = trailblaze_ios_stand_in::start_at(&changed, port).expect("a stand-in");
    let ran = run(&["--heal", "apply"]).exits(0);
    assert!(ran.stdout.contains("became `tap: {id: lostPin"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 passed, 1 of them healed"), "{}", ran.stdout);
}

#[test]
fn an_agent_uses_it_over_mcp() {
    let ProjectIphone { project, stand_in } = ProjectIphone::connect();
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let opened = client.call("session", json!({"action": "open", "device": DEVICE, "url": APP}));
    let field = reference(&opened, "Email");
    let tap = json!({"tool": "tap", "args": {"ref": field}});
    let typing = json!({"tool": "inputText", "args": {"text": "ada@example.com"}});
    let acted = client.call("act", json!({"step": "Say who signs in", "calls": [tap, typing]}));
    assert!(acted.contains("ada@example.com"), "{acted}");
    client.call("session", json!({"action": "close"}));
    client.close();
    assert!(!stand_in.has_session());
}

#[tokio::test]
async fn a_program_uses_it_over_the_typed_api() {
    let ProjectIphone { project, stand_in } = ProjectIphone::connect();
    let served = Served::on(&project, DEVICE);
    let client = ApiClient::new(&served.address).with_key(&served.key);
    client.launch_app().package_id(APP).launch_mode(LaunchMode::Reinstall).await.expect("it is launched");
    client.assert_visible().text("Welcome back").await.expect("it is there");
    tokio::task::spawn_blocking(move || served.end(&project)).await.expect("it ends").exits(0);
    assert!(!stand_in.has_session());
}

#[test]
fn it_is_pointed_at_in_the_studio_and_what_that_saves_replays() {
    let ProjectIphone { project, stand_in } = ProjectIphone::connect();
    let home = Home::new(project);
    let (page, session) = on_session(&home, &["-d", DEVICE, "--launch", APP]);
    let mut screens = page.watch("screen", &session);
    let screen = screens.until("the wallet with a picture", |screen| {
        has(screen, "Forgot your PIN?") && screen.get("picture").is_some()
    });
    let forgot = element(&screen, "Forgot your PIN?");
    let place =
        json!({"session": session, "generation": screen["generation"], "element": forgot["index"], "action": "tap"});
    assert_eq!(page.call("Act", place)["isDone"], true);
    let path = "trails/pointed.trail.yaml";
    page.call("SaveTrail", json!({"session": session, "path": path, "title": "Pointed at"}));
    home.run(&["session", "close", &session]).exits(0);
    assert!(!stand_in.has_session());
    let saved = home.project.read(path);
    assert!(saved.contains("tap:\n          id: forgot\n"), "{saved}");
    home.run(&["run", path, "-d", DEVICE]).exits(0);
}
