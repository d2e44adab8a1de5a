//! Who may use the daemon, and what of a client reaches it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::home::Home;
use crate::support::{Project, is_full_tier, wait_until};

/// Sends a request as it is, and returns the whole response.
pub fn send(home: &Home, head: &str, body: &str) -> String {
    let address = home.key_file()["address"].as_str().expect("an address").replace("http://", "");
    let mut stream = TcpStream::connect(&address).expect("the daemon listens");
    let head = head.replace("ADDRESS", &address);
    write!(stream, "{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).expect("it is sent");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("it is answered");
    response
}

#[test]
fn only_who_can_read_the_key_file_gets_in() {
    let home = Home::counter();
    home.run(&["device", "connect"]).exits(0);
    let mode = |path: &std::path::Path| path.metadata().expect("it exists").permissions().mode() & 0o777;
    assert_eq!(mode(&home.folder()), 0o700);
    for entry in std::fs::read_dir(home.folder()).expect("a folder").flatten() {
        assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
    }
    let key = home.key_file()["key"].as_str().expect("a key").to_string();
    let post = "POST /daemon HTTP/1.1\r\nhost: ADDRESS";
    let with_key = format!("{post}\r\nauthorization: Bearer {key}");
    let sessions = "\"sessions\"";
    assert!(send(&home, &with_key, sessions).contains("android/sim-1"), "the key opens");
    for (head, status) in [
        (post.to_string(), "401"),
        (format!("{post}\r\nauthorization: Bearer {key}x"), "401"),
        (format!("{post}\r\nauthorization: Bearer"), "401"),
        (format!("{with_key}\r\norigin: https://evil.example"), "403"),
        (with_key.replace("ADDRESS", "evil.example:52525"), "403"),
        // Nothing changes by GET.
        (with_key.replace("POST", "GET"), "405"),
    ] {
        let response = send(&home, &head, sessions);
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{head}\n{response}");
        assert!(!response.contains("android/sim-1"), "{response}");
    }
    let nonsense = send(&home, &with_key, "{\"fly\": 1}");
    assert!(nonsense.starts_with("HTTP/1.1 400") && nonsense.contains("not a request"), "{nonsense}");
    // A session's key is not the daemon's.
    home.run(&["session", "key", "key.txt"]).exits(0);
    let session_key = home.project.read("key.txt");
    let head = format!("{post}\r\nauthorization: Bearer {}", session_key.trim());
    assert!(send(&home, &head, sessions).starts_with("HTTP/1.1 401"));
}

#[test]
fn a_folder_of_another_user_is_not_trusted() {
    let home = Home::counter();
    std::fs::create_dir(home.folder()).expect("a folder");
    std::fs::set_permissions(home.folder(), PermissionsExt::from_mode(0o777)).expect("it is changed");
    let refused = home.run(&["snapshot"]).exits(2);
    assert!(refused.stderr.contains("other users may use it"), "{}", refused.stderr);
    std::fs::set_permissions(home.folder(), PermissionsExt::from_mode(0o700)).expect("it is changed");
}

#[test]
fn a_session_gets_the_variables_of_its_own_client_and_no_others() {
    let home = Home::new(crate::support::parcels());
    let root = home.project.root().display().to_string();
    let server = home
        .project
        .read("trailblaze.yaml")
        .replace("    command: python3\n", "    command: sh\n    secrets: [SHOP_TOKEN]\n");
    // A server that writes its environment to a file before it serves.
    let script =
        server.split("args: ['").nth(1).and_then(|rest| rest.split('\'').next()).expect("a script").to_string();
    let command = format!("env > $WRITE_ENVIRONMENT_TO; exec python3 {script}");
    let server = server.replace(&format!("args: ['{script}']"), &format!("args: ['-c', '{command}']"));
    home.project.write("trailblaze.yaml", server);
    let environment_of = |session: &str, device: &str, token: &str, other: (&str, &str)| {
        let file = format!("{root}/{session}.env");
        let args =
            ["device", "connect", "--session", session, "-d", device, "--secret", "SHOP_TOKEN", "--secret", "PIN"];
        let variables = [("SHOP_TOKEN", token), ("PIN", "pin-of-both"), other, ("WRITE_ENVIRONMENT_TO", file.as_str())];
        home.run_with(&args, &variables).exits(0);
        home.project.read(&format!("{session}.env"))
    };
    let first = environment_of("ada", "android/sim-1", "token-of-ada", ("SHOP_REGION", "region-of-ada"));
    assert!(first.contains("SHOP_TOKEN=token-of-ada") && first.contains("SHOP_REGION=region-of-ada"), "{first}");
    let second = environment_of("bob", "android/sim-2", "token-of-bob", ("SHOP_STAGE", "stage-of-bob"));
    assert!(second.contains("SHOP_TOKEN=token-of-bob") && second.contains("SHOP_STAGE=stage-of-bob"), "{second}");
    assert!(!second.contains("of-ada"), "{second}");
    // A declared secret that the server's entry does not list.
    assert!(!first.contains("pin-of-both") && !second.contains("pin-of-both"), "{first}{second}");
    // Neither the log nor an answer shows them.
    let log = home.run(&["daemon", "logs"]).exits(0).stdout;
    let status = home.run(&["daemon", "status", "--json"]).exits(0).stdout;
    assert!(!log.contains("token-of") && !status.contains("token-of"), "{log}{status}");
    // Neither the record nor a file of the daemon has them.
    for folder in [home.project.root().join("logs"), home.folder().to_path_buf()] {
        for (path, text) in all_texts(&folder) {
            assert!(!["region-of-ada", "stage-of-bob"].iter().any(|value| text.contains(value)), "{}", path.display());
        }
    }
}

/// The files in a folder, as far as they are texts.
fn all_texts(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let texts = |path: PathBuf| match path.is_dir() {
        true => all_texts(&path),
        false => std::fs::read_to_string(&path).ok().map(|text| (path, text)).into_iter().collect(),
    };
    entries.flat_map(texts).collect()
}

#[test]
fn secrets_are_hidden_in_what_a_session_answers() {
    let home = Home::counter();
    let secret = ("CARD_PIN", "hunter2hunter2");
    home.run_with(&["device", "connect", "--secret", "CARD_PIN"], &[secret]).exits(0);
    let answer = home.run(&["tool", "tap", "text=hunter2hunter2", "timeoutMs=100"]).exits(1);
    assert!(!answer.stderr.contains("hunter2") && answer.stderr.contains("CARD_PIN"), "{}", answer.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn a_password_that_a_program_writes_out_is_recorded_by_its_name() {
    let app = "app: {id: com.example.vault, name: Vault}\nstart: door\nscreens:\n  door:\n    title: Vault\n    elements:\n      \
               - {id: pin, role: field, hint: Your PIN, password: true}\n";
    let project = Project::empty().with("vault.app.yaml", app);
    let home = Home::new(project.with("trailblaze.yaml", "sim:\n  apps: [vault.app.yaml]\n"));
    home.run(&["device", "connect", "-d", "android/sim-1", "--launch", "com.example.vault"]).exits(0);
    ask(&home, "TrailblazeCommands/Tap", r#"{"id": "pin"}"#);
    let typed = ask(&home, "TrailblazeCommands/InputText", r#"{"text": "written-out"}"#);
    assert!(typed.contains("warning: what was typed into a password field is saved as {{"), "{typed}");
    let seen = ask(&home, "TrailblazeCommands/CaptureScreen", "{}");
    assert!(seen.contains("Vault"), "{seen}");
    let saved = home.run(&["session", "save", "trails/vault.trail.yaml"]).exits(0);
    let trail = home.project.read("trails/vault.trail.yaml");
    assert!(trail.contains("inputText") && trail.contains("{{"), "{trail}");
    assert!(!format!("{typed}{seen}{saved:?}").contains("written-out"), "{typed}{seen}{saved:?}");
    for (path, text) in all_texts(home.project.root()) {
        assert!(!text.contains("written-out"), "{}", path.display());
    }
}

#[test]
fn a_daemon_of_another_version_is_asked_to_finish_and_replaced() {
    let home = Home::counter();
    home.run(&["batch", "launchApp packageId=com.example.counter", "tap id=add"]).exits(0);
    let first = home.pid();
    // The same program, built at another time.
    let copy = home.project.root().join("copy/trailblaze");
    std::fs::create_dir(home.project.root().join("copy")).expect("a folder");
    std::fs::copy(crate::support::PROGRAM, &copy).expect("a copy");
    let like = home.command(&["snapshot"]);
    let mut command = std::process::Command::new(&copy);
    command.args(like.get_args()).current_dir(home.project.root()).env_clear();
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = home.project.finish(command).exits(0);
    assert!(ran.stderr.contains("replacing the daemon of another version"), "{}", ran.stderr);
    assert_ne!(home.pid(), first);
    // What the old session recorded is kept.
    let runs = home.project.runs();
    assert!(runs[0].path.join("recording.trail.yaml").is_file() && runs[0].path.join("report.html").is_file());
}

#[test]
fn two_versions_can_be_used_in_turns_and_at_the_same_time() {
    let home = Home::counter();
    let copy = home.project.root().join("copy/trailblaze");
    std::fs::create_dir(home.project.root().join("copy")).expect("a folder");
    std::fs::copy(crate::support::PROGRAM, &copy).expect("a copy");
    let of_copy = |args: &[&str]| {
        let like = home.command(args);
        let mut command = std::process::Command::new(&copy);
        command.args(like.get_args()).current_dir(home.project.root()).env_clear();
        command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    };
    for _ in 0..3 {
        home.run(&["snapshot"]).exits(0);
        home.project.finish(of_copy(&["snapshot"])).exits(0);
    }
    // At the same time: each ends the other's daemon, and none of the commands fails because of that.
    let n_each = if is_full_tier() { 8 } else { 3 };
    let commands = (0..n_each).flat_map(|_| [home.command(&["snapshot"]), of_copy(&["snapshot"])]);
    let started: Vec<_> = commands
        .map(|mut command| {
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().expect("it starts")
        })
        .collect();
    for child in started {
        let ran = home.project.ran(child.wait_with_output().expect("it ends")).exits(0);
        assert!(ran.stdout.contains("### Screen"), "{}", ran.stdout);
    }
}

#[test]
fn a_key_file_that_is_overwritten_is_written_again() {
    let home = Home::counter();
    home.run(&["device", "connect"]).exits(0);
    let pid = home.pid();
    let path = home.folder().join("trailblaze.daemon.json");
    let right = std::fs::read_to_string(&path).expect("a key file");
    let other_key = right.replace(r#""key":""#, r#""key":"x"#);
    let other_version = right.replace(r#""version":""#, r#""version":"x"#).replace("127.0.0.1:", "127.0.0.1:1");
    for text in ["", "no key file", &other_key, &other_version] {
        assert_ne!(text, right);
        std::fs::write(&path, text).expect("it is overwritten");
        let list = home.run(&["session", "list", "--json"]).exits(0).json();
        assert_eq!(list.as_array().map(Vec::len), Some(1), "{text}: {list:#}");
        assert_eq!(home.pid(), pid, "{text}");
    }
}

/// Sends a request of the typed API that presents nothing.
pub fn ask(home: &Home, method: &str, body: &str) -> String {
    let head = format!("POST /trailblaze.v1.{method} HTTP/1.1\r\nhost: ADDRESS\r\ncontent-type: application/json");
    send(home, &head, body)
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_of_the_same_user_needs_no_key_for_the_only_session() {
    let home = Home::counter();
    home.run_with(&["device", "connect", "-d", "android/sim-1", "--secret", "PIN"], &[("PIN", "hunter2hunter2")])
        .exits(0);
    let launched = ask(&home, "TrailblazeCommands/LaunchApp", r#"{"packageId": "com.example.counter"}"#);
    assert!(launched.contains(r#""success":true"#), "{launched}");
    ask(&home, "TrailblazeCommands/Tap", r#"{"id": "add"}"#);
    let seen = ask(&home, "TrailblazeCommands/HasText", r#"{"text": "Count: 1"}"#);
    assert!(seen.contains(r#"{"value":true}"#), "{seen}");
    let secret = ask(&home, "TrailblazeCommands/InputText", r#"{"text": "{{PIN}}"}"#);
    assert!(secret.contains("`{{PIN}}` is a secret, which needs") && !secret.contains("hunter2"), "{secret}");
    let model = ask(&home, "TrailblazeSession/AskModel", r#"{"prompt": "hi"}"#);
    assert!(model.contains("`invocation_id` is missing: AskModel always needs it"), "{model}");
    // The callback is for tools only.
    let action = r#"{"action": {"type": "call_tool", "tool_name": "hasText", "arguments_json": "{\"text\": \"x\"}"}}"#;
    let head = "POST /scripting/callback HTTP/1.1\r\nhost: ADDRESS\r\ncontent-type: application/json";
    assert!(send(&home, head, action).contains("no tool is being called"));

    home.run(&["device", "connect", "-d", "ios/sim-1"]).exits(0);
    let several = ask(&home, "TrailblazeCommands/HasText", r#"{"text": "Count"}"#);
    assert!(
        several.contains("several sessions are open, on android/sim-1, ios/sim-1; send the key of one"),
        "{several}"
    );
    for device in ["android/sim-1", "ios/sim-1"] {
        home.run(&["session", "close", "-d", device]).exits(0);
    }
    let none = ask(&home, "TrailblazeCommands/HasText", r#"{"text": "Count"}"#);
    assert!(none.contains("no session is open; `trailblaze device connect` opens one"), "{none}");
}

#[test]
fn many_clients_at_once_start_one_daemon_and_one_session() {
    let home = Home::counter();
    let clients: Vec<_> = (0..8)
        .map(|_| {
            let mut command = home.command(&["snapshot"]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().expect("it starts")
        })
        .collect();
    for client in clients {
        let ran = home.project.ran(client.wait_with_output().expect("it ends")).exits(0);
        assert!(ran.stdout.contains("### Screen"), "{}", ran.stdout);
    }
    let list = home.run(&["session", "list", "--json"]).exits(0).json();
    assert_eq!(list.as_array().map(Vec::len), Some(1), "{list:#}");
}

#[test]
fn an_idle_daemon_ends_by_itself() {
    let home = Home::counter();
    // A single request, because the daemon might end before a second one on a busy machine.
    home.run_with(&["device", "connect"], &[("TRAILBLAZE_DAEMON_IDLE", "500ms")]).exits(0);
    wait_until("the daemon ends", || home.mark.alive().is_empty().then_some(()));
    let status = home.run(&["daemon", "status", "--json"]).exits(0).json();
    assert_eq!(status["isRunning"], false, "{status}");
    assert!(home.project.last_run().path.join("report.html").is_file());
    let log = home.run(&["daemon", "logs"]).exits(0).stdout;
    assert!(log.contains("ended: idle"), "{log}");
}

#[test]
fn commands_that_need_no_session_start_no_daemon() {
    let home = Home::counter();
    home.project.write(
        "trails/one.trail.yaml",
        "trail:\n  - step: Start\n    tools:\n      - launchApp: {packageId: com.example.counter}\n",
    );
    for args in
        [&["run"][..], &["check"], &["toolbox"], &["device", "list"], &["session", "list"], &["daemon", "status"]]
    {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.stdout, ran.stderr);
        assert!(home.mark.alive().is_empty(), "{args:?}");
    }
}

#[test]
fn a_daemon_whose_files_are_removed_is_found_again_or_ends() {
    let home = Home::counter();
    home.run(&["device", "connect"]).exits(0);
    let first = home.pid();
    std::fs::remove_file(home.folder().join("trailblaze.daemon.json")).expect("it is removed");
    let list = home.run(&["session", "list", "--json"]).exits(0).json();
    assert_eq!((list.as_array().map(Vec::len), home.pid()), (Some(1), first), "{list}");
    std::fs::remove_dir_all(home.folder()).expect("it is removed");
    wait_until("the daemon ends", || home.mark.alive().is_empty().then_some(()));
    home.run(&["snapshot"]).exits(0);
    assert_ne!(home.pid(), first);
}

#[test]
fn the_command_that_opened_a_session_is_shown_without_its_arguments() {
    let home = Home::counter();
    home.run(&["tool", "inputText", "text=hunter2hunter2"]);
    let list = home.run(&["session", "list", "--json"]).exits(0);
    assert_eq!(list.json()[0]["openedBy"], "trailblaze tool", "{}", list.stdout);
}

#[test]
fn a_key_overwrites_no_file() {
    let home = Home::counter();
    home.run(&["device", "connect"]).exits(0);
    let before = home.project.read("trailblaze.yaml");
    let refused = home.run(&["session", "key", "trailblaze.yaml"]).exits(3);
    assert!(refused.stderr.contains("exists"), "{}", refused.stderr);
    assert_eq!(home.project.read("trailblaze.yaml"), before);
}
