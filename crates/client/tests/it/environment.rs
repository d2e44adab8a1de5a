//! The variables of a process. A process cannot change its own safely, so these tests run this program again.

use std::process::Stdio;

use tokio::process::Command;
use trailblaze_client::Client;

use crate::fake::{Fake, done};

/// What the second process does: a call with an id, and two without.
#[tokio::test]
#[ignore = "run by the other test"]
async fn calls_of_the_second_process() {
    let given = std::env::var("GIVEN_ADDRESS").expect("the first process sets it");
    Client::new(&given).with_invocation("c-1").tap().text("with an id").await.unwrap();
    Client::new("localhost:1").tap().text("without").await.unwrap();
    Client::new("localhost:2").tap().text("without again").await.unwrap();
}

#[tokio::test]
async fn a_client_without_an_id_reaches_its_own_trailblaze_and_no_proxy() {
    let (own, given) = (Fake::always(200, done()).await, Fake::always(200, done()).await);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "environment::calls_of_the_second_process", "--ignored", "--nocapture"]);
    command.env("TRAILBLAZE_BASE_URL", &own.address).env("GIVEN_ADDRESS", &given.address);
    for proxy in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"] {
        command.env(proxy, "http://127.0.0.1:9");
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(given.only_request().json()["text"], "with an id");
    let texts: Vec<_> = own.requests().iter().map(|request| request.json()["text"].clone()).collect();
    assert_eq!(texts, ["without", "without again"]);
    let expected = format!(
        "trailblaze: using {}, which started this server, instead of localhost:1; `Client::from_meta` needs no address",
        own.address
    );
    assert_eq!(said.matches("trailblaze: using").count(), 1, "{said}");
    assert!(said.contains(&expected), "{said}");
}

/// What the second process does: a call of a client that was told nothing.
#[tokio::test]
#[ignore = "run by the other tests"]
async fn a_found_call_of_the_second_process() {
    let client = match Client::find().await {
        Ok(client) => client,
        Err(error) => return eprintln!("not found: {error}"),
    };
    for number in 1..3 {
        match client.tap().text("Pay").await {
            Ok(_) => eprintln!("call {number}: done"),
            Err(error) => eprintln!("call {number}: {error}"),
        }
    }
}

/// Runs it with this folder as XDG_RUNTIME_DIR, and returns what it says.
async fn find_in(runtime: &std::path::Path, session: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "environment::a_found_call_of_the_second_process", "--ignored", "--nocapture"]);
    command.env_remove("TRAILBLAZE_BASE_URL").env("XDG_RUNTIME_DIR", runtime).env("TRAILBLAZE_SESSION", session);
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[cfg(unix)]
#[tokio::test]
async fn a_client_finds_the_session_of_the_daemon() {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use serde_json::json;

    let mode = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    let runtime = std::env::temp_dir().join(format!("trailblaze-client-{}", std::process::id()));
    let folder = runtime.join("trailblaze");
    std::fs::create_dir_all(&folder).unwrap();
    mode(&folder, 0o700);
    let none = "not found: no Trailblaze session is open; `trailblaze device connect` opens one";
    assert!(find_in(&runtime, "").await.contains(none));

    let api = Fake::always(200, done()).await;
    let access = json!({"name": "wallet", "address": api.address, "key": "k", "session": "s", "device": "d"});
    let daemon = Fake::always(200, json!({"answer": {"access": access}})).await;
    let path = folder.join("trailblaze.daemon.json");
    std::fs::write(&path, json!({"version": "1", "pid": 1, "address": daemon.address, "key": "secret"}).to_string())
        .unwrap();
    mode(&path, 0o600);
    assert!(find_in(&runtime, "").await.contains(none), "a killed daemon has no lock");

    let lock = std::fs::File::open(&path).unwrap();
    lock.lock().unwrap();
    assert!(find_in(&runtime, "").await.contains("call 2: done"));
    let asked = daemon.only_request();
    assert_eq!((asked.path.as_str(), asked.json()), ("/daemon", json!({"access": {"session": {}}})));
    assert_eq!(asked.headers["authorization"], "Bearer secret");
    assert_eq!(api.requests()[0].headers["authorization"], "Bearer k");
    find_in(&runtime, "wallet").await;
    assert_eq!(daemon.requests()[1].json(), json!({"access": {"session": {"name": "wallet"}}}));

    mode(&path, 0o640);
    assert!(find_in(&runtime, "").await.contains("other users may use it"));
    mode(&path, 0o600);
    mode(&folder, 0o755);
    assert!(find_in(&runtime, "").await.contains("other users may use it"));
    mode(&folder, 0o700);
    assert_eq!(daemon.requests().len(), 2, "nothing is sent");

    let error =
        json!({"message": "2 sessions are open: `a`, `b`", "hint": null, "exit": "invalid", "isNoSession": false});
    let several = Fake::always(200, json!({ "error": error })).await;
    std::fs::write(&path, json!({"address": several.address, "key": "secret"}).to_string()).unwrap();
    let said = find_in(&runtime, "").await;
    assert!(said.contains("2 sessions are open: `a`, `b`; set TRAILBLAZE_SESSION to the name of one"), "{said}");

    let ended = json!({"code": "unauthenticated", "message": "unknown session key"});
    let api = Fake::always(401, ended).await;
    let access = json!({"name": "wallet", "address": api.address, "key": "k"});
    let daemon = Fake::always(200, json!({"answer": {"access": access}})).await;
    std::fs::write(&path, json!({"address": daemon.address, "key": "secret"}).to_string()).unwrap();
    let said = find_in(&runtime, "").await;
    assert!(said.contains("call 1: session `wallet` has ended, or its daemon has: unknown session key;"), "{said}");
    std::fs::remove_dir_all(&runtime).unwrap();
}
