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
