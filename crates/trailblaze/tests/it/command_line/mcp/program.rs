//! The real program with its daemon, as agents use it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::command_line::mcp::client::{BOTH, Client, Daemon, Generation, command, reference};
use crate::command_line::mcp::http::post;
use crate::support::{Project, chromium, files};

#[test]
fn an_agent_that_knows_only_the_server_saves_a_trail_that_replays() {
    for generation in BOTH {
        let project = Project::counter();
        let _daemon = Daemon(&project);
        let mut client = Client::program(&project, &["-d", "android/sim-1"], generation);
        let devices = client.call("devices", json!({}));
        assert!(devices.contains("android/sim-1: "), "{devices}");
        let opened = client.call("session", json!({"action": "open", "url": "com.example.counter"}));
        let calls = json!([{"tool": "tap", "args": {"ref": reference(&opened, "Add one")}}]);
        let acted = client.call("act", json!({"step": "Add one", "calls": calls}));
        assert!(acted.contains("\"Count: 1\""), "{acted}");
        let check = json!([{"tool": "assertVisible", "args": {"text": "Count: 1"}}]);
        client.call("act", json!({"verify": "The count is one", "calls": check}));
        client.call("trail", json!({"action": "save", "path": "trails/one.trail.yaml"}));
        assert!(
            client
                .call("trail", json!({"action": "read", "path": "trails/one.trail.yaml"}))
                .contains("The count is one")
        );
        assert!(client.call("trail", json!({"action": "check"})).contains("no errors"));
        let ran =
            client.call("trail", json!({"action": "run", "path": "trails/one.trail.yaml", "device": "android/sim-1"}));
        assert!(ran.contains("passed"), "{ran}");
        assert!(client.call("report", json!({})).contains("1 passed"));
        assert!(client.call("session", json!({"action": "replay"})).contains("replayed"));
        let list = client.request("resources/list", json!({}));
        assert!(list.to_string().contains("trailblaze://trails/trails/one.trail.yaml"), "{list}");
        assert!(client.call("session", json!({"action": "close"})).starts_with("closed session"));
        assert_eq!(client.close(), Some(0));
    }
}

#[test]
fn an_agent_works_in_the_project_wherever_its_server_is_started() {
    let project = Project::counter();
    let _daemon = Daemon(&project);
    let elsewhere = tempfile::tempdir().expect("a folder");
    let below = project.root().join("trails");
    std::fs::create_dir_all(&below).expect("a folder");
    let root = project.root().to_str().expect("a path");
    for (folder, args) in [(elsewhere.path(), &["mcp", "-C", root][..]), (&*below, &["mcp"][..])] {
        let mut started = command(&project, args);
        started.current_dir(folder).env("TRAILBLAZE_DEVICE", "android/sim-1");
        let mut client = Client::started(started, Generation::Initialize);
        client.call("session", json!({"action": "open", "url": "com.example.counter"}));
        let check = json!([{"tool": "assertVisible", "args": {"text": "Count: 0"}}]);
        client.call("act", json!({"verify": "The count is zero", "calls": check}));
        client.call("trail", json!({"action": "save", "path": "trails/zero.trail.yaml"}));
        assert!(project.read("trails/zero.trail.yaml").contains("The count is zero"));
        assert!(client.call("trail", json!({"action": "check"})).starts_with("checked 1 trail"));
        let ran = client.call("trail", json!({"action": "run", "path": "trails/zero.trail.yaml"}));
        assert!(ran.contains("1 of 1 trail passed"), "{ran}");
        client.call("session", json!({"action": "close"}));
        std::fs::remove_file(project.root().join("trails/zero.trail.yaml")).expect("it is where it belongs");
    }
    assert_eq!(std::fs::read_dir(elsewhere.path()).expect("a folder").count(), 0, "nothing is written elsewhere");
}

#[test]
fn flat_tools_are_listed_for_all_devices_of_a_project_and_save() {
    let project = Project::counter();
    project.write(
        "trailblaze.yaml",
        format!("devices: [{{id: android/sim-1}}, {{id: web/sim-1}}]\n{}", project.read("trailblaze.yaml")),
    );
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &["--tools", "flat"], Generation::Initialize);
    let list = client.request("tools/list", json!({}));
    let names = list_names(&list);
    assert!(names.starts_with(&["session", "snapshot", "trail"]), "{names:?}");
    assert!(names.contains(&"pressBack") && names.contains(&"web_click"), "of both devices: {names:?}");
    let which = client.failure("tap", json!({"text": "Add one"}));
    assert!(which.contains("a session uses one device") && which.contains("\"device\":\"android/sim-1\""), "{which}");
    client.call("session", json!({"action": "open", "device": "android/sim-1", "url": "com.example.counter"}));
    client.call("tap", json!({"text": "Add one"}));
    client.call("trail", json!({"action": "save", "path": "trails/flat.trail.yaml"}));
    assert!(project.read("trails/flat.trail.yaml").contains("Add one"));
    client.call("session", json!({"action": "open", "device": "web/sim-1"}));
    assert_eq!(list_names(&client.request("tools/list", json!({}))).len(), names.len(), "two sessions are open");
}

#[test]
fn a_secret_is_typed_by_its_name_where_it_may_be_and_a_password_is_never_saved() {
    if chromium::find().is_none() {
        return;
    }
    let page = "<!doctype html><title>Sign in</title><label>Name <input></label><label>New password <input type=password></label>";
    let address = serve_page(page);
    let project = Project::empty().with("trailblaze.yaml", chromium::devices("[{id: web/chromium}]"));
    let _daemon = Daemon(&project);
    let start = |args: &[&str]| {
        let mut started = command(&project, &[&["mcp"], args].concat());
        started.env("SHOP_PASSWORD", "correct-horse-battery").env("OTHER", "never-to-be-told");
        Client::started(started, Generation::Initialize)
    };
    let open = |secret: &str| json!({"action": "open", "url": address, "secrets": [secret]});
    let mut client = start(&["--allow-secret", &format!("SHOP_PASSWORD={address}")]);
    let refused = client.failure("session", open("OTHER"));
    assert!(refused.contains("`OTHER` is not a secret that agents may use here"), "{refused}");
    let shown = client.call("session", open("SHOP_PASSWORD"));
    let (name, password) = (reference(&shown, "Name"), reference(&shown, "New password"));
    let typed = |client: &mut Client, field: &str, text: &str| {
        client
            .call("act", json!({"step": "Type", "calls": [{"tool": "web_type", "args": {"ref": field, "text": text}}]}))
    };
    let said = typed(&mut client, &name, "{{SHOP_PASSWORD}}");
    assert!(said.contains("{{SHOP_PASSWORD}}") && !said.contains("correct-horse"), "{said}");
    let said = typed(&mut client, &password, "written-out");
    assert!(said.contains("warning: what was typed into a password field is saved as {{NEW_PASSWORD}}"), "{said}");
    // However the field is named.
    let said = typed(&mut client, "css=[type=password]", "written-out-again");
    assert!(said.contains("is saved as {{NEW_PASSWORD_2}}"), "{said}");
    let fill = json!([{"tool": "fill", "args": {"selector": "[type=password]", "value": "written-out-thrice"}}]);
    let said = client.call("act", json!({"step": "Fill", "calls": fill}));
    assert!(said.contains("is saved as {{NEW_PASSWORD_3}}"), "{said}");
    client.call("trail", json!({"action": "save", "path": "trails/a.trail.yaml"}));
    let trail = project.read("trails/a.trail.yaml");
    assert!(trail.contains("{{SHOP_PASSWORD}}") && trail.contains("{{NEW_PASSWORD}}"), "{trail}");
    client.call("session", json!({"action": "close"}));
    let trail = format!(
        "trail:\n  - step: Sign in\n    tools:\n      - navigate: {{url: '{address}'}}\n      - web_type: {{ref: 'textbox \"Name\"', \
         text: '{{{{SHOP_PASSWORD}}}}'}}\n"
    );
    project.write("trails/b.trail.yaml", trail);
    let run = json!({"action": "run", "path": "trails/b.trail.yaml"});
    client.call("trail", run.clone());
    // Without its origin, the secret is for no page at all.
    let mut client = start(&["--allow-secret", "SHOP_PASSWORD"]);
    let shown = client.call("session", open("SHOP_PASSWORD"));
    let call = json!([{"tool": "web_type", "args": {"ref": reference(&shown, "Name"), "text": "{{SHOP_PASSWORD}}"}}]);
    let refused = client.failure("act", json!({"calls": call}));
    let reason = format!("the secret `SHOP_PASSWORD` may not be used on {address}");
    assert!(refused.contains(&reason), "{refused}");
    client.call("session", json!({"action": "close"}));
    let refused = client.failure("trail", run);
    assert!(refused.contains(&reason), "{refused}");
    for file in files(project.root()) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap_or_default()).into_owned();
        for secret in ["correct-horse-battery", "never-to-be-told", "written-out"] {
            assert!(!text.contains(secret), "{secret} in {}", file.display());
        }
    }
}

/// The address of a page that is served until the test program ends.
fn serve_page(page: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut lines = BufReader::new(&stream).lines();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    page.len()
                );
                let _ = (&stream).write_all(format!("{head}{page}").as_bytes());
            });
        }
    });
    address
}

#[test]
fn trails_are_saved_only_in_the_project() {
    let project = Project::counter();
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &["-d", "android/sim-1"], Generation::Initialize);
    client.call("session", json!({"action": "open", "url": "com.example.counter"}));
    let outside = project.root().with_extension("trail.yaml");
    for path in ["../x.trail.yaml", outside.to_str().expect("a path"), "home/.profile", "trails/x.yaml", ""] {
        let refused = client.failure("trail", json!({"action": "save", "path": path}));
        assert!(
            refused.contains("is not in the project") || refused.contains("is not the name of a trail"),
            "{refused}"
        );
    }
    assert!(!outside.exists());
    std::fs::write(&outside, "password: hunter2\n").expect("it is written");
    for (action, path) in [("check", outside.to_str().expect("a path")), ("run", "../.."), ("check", "/etc/*")] {
        let refused = client.failure("trail", json!({"action": action, "path": path}));
        assert!(refused.contains("is not in the project") && !refused.contains("hunter2"), "{refused}");
    }
    let _ = std::fs::remove_file(&outside);
    client.call("trail", json!({"action": "save", "path": "trails/x.trail.yaml"}));
    let exists = client.failure("trail", json!({"action": "save", "path": "trails/x.trail.yaml"}));
    assert!(exists.contains("`merge: append`"), "{exists}");
}

#[test]
fn a_page_is_opened_in_a_browser_and_what_fails_leaves_no_session() {
    let project = Project::counter();
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let failed = client.failure("session", json!({"action": "open", "url": "com.example.nothing"}));
    assert!(failed.starts_with("no session was opened"), "{failed}");
    assert!(client.call("session", json!({"action": "list"})).starts_with("no session is open"));
    project.write("page.html", "<h1>Tea</h1><script>localStorage.n = 1 + Number(localStorage.n ?? 0)</script>");
    let url = format!("file://{}", project.root().join("page.html").display());
    let opened = client.call("session", json!({"action": "open", "url": url}));
    assert!(opened.contains("on web/chromium") && opened.contains("Tea"), "{opened}");
    assert!(client.call("devices", json!({})).contains("web/chromium"));
    assert!(client.call("session", json!({"action": "steps"})).contains("launchApp"));
}

#[test]
fn a_session_outlives_its_client() {
    let project = Project::counter();
    let _daemon = Daemon(&project);
    let mut first = Client::program(&project, &["-d", "android/sim-1", "--session", "mine"], Generation::Initialize);
    first.call("act", json!({"calls": [{"tool": "launchApp", "args": {"packageId": "com.example.counter"}}]}));
    assert_eq!(first.close(), Some(0));
    let mut second = Client::program(&project, &["--session", "mine"], Generation::Discover);
    assert!(second.call("session", json!({"action": "list"})).starts_with("session `mine` on android/sim-1 (1 step;"));
    assert!(second.call("snapshot", json!({"find": "count"})).contains("Count: 0"));
    let taken = second.failure("session", json!({"action": "open", "session": "other", "device": "android/sim-1"}));
    assert!(taken.contains("is used by session `mine`") && taken.contains("`takeOver`"), "{taken}");
}

#[test]
fn a_project_with_several_devices_says_how_to_choose_one() {
    let project = Project::wallet();
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &[], Generation::Initialize);
    let refused = client.failure("snapshot", json!({}));
    assert!(refused.ends_with(r#"`session` {"action":"open","device":"android/sim-1"}"#), "{refused}");
}

#[test]
fn team_tools_are_offered_under_their_own_names() {
    let project = Project::wallet();
    let _daemon = Daemon(&project);
    let mut client = Client::program(&project, &["--tools", "flat", "-d", "android/sim-1"], Generation::Initialize);
    let list = client.request("tools/list", json!({}));
    let names = list_names(&list);
    assert!(names.starts_with(&["session", "snapshot", "trail"]) && names.contains(&"tap"), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("wallet_")), "{names:?}");
    let shown = client.call("launchApp", json!({}));
    assert!(shown.contains("Welcome back"), "{shown}");
    assert_eq!(names, list_names(&client.request("tools/list", json!({}))));
}

fn list_names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn only_bearers_of_the_key_are_served_over_http() {
    let project = Project::counter();
    let daemon = Daemon(&project);
    let mut client = Client::program(&project, &["-d", "android/sim-1"], Generation::Initialize);
    client.call("devices", json!({}));
    let (address, key) = daemon.address_and_key();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let version = ("MCP-Protocol-Version", "2025-11-25");
    let bearer = format!("Bearer {key}");
    assert_eq!(post(&address, &[version], &list).0, 401);
    assert_eq!(post(&address, &[version, ("Authorization", "Bearer wrong")], &list).0, 401);
    assert_eq!(
        post(&address, &[version, ("Authorization", &bearer), ("Origin", "https://evil.example")], &list).0,
        403
    );
    let (status, list) = post(&address, &[version, ("Authorization", &bearer)], &list);
    assert_eq!((status, list["result"]["tools"].as_array().map(Vec::len)), (200, Some(10)), "{list}");
    let args = json!({"action": "open", "project": project.root(), "device": "android/sim-1"});
    let open =
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "session", "arguments": args}});
    let (_, opened) = post(&address, &[version, ("Authorization", &bearer)], &open);
    assert!(opened["result"]["content"][0]["text"].as_str().is_some_and(|text| text.starts_with("opened")), "{opened}");
    assert!(client.call("session", json!({"action": "list"})).contains("on android/sim-1"));
}
