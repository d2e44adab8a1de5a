//! Clients that others wrote for the real WebDriverAgent, so that the stand-in does not only agree with ourselves. In the full tier.

use std::path::Path;
use std::process::Command;

use trailblaze_ios_stand_in::StandIn;

use crate::skip;
use crate::support::wallet_app;

#[test]
fn facebook_wda_uses_the_stand_in() {
    if std::env::var_os("SOAK").is_none() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = folder.join("../../.parts/facebook-wda/bin/python");
    if !python.exists() {
        skip::without_part(&format!("{} is missing; `scripts/parts full` installs it", python.display()));
        return;
    }
    let stand_in = trailblaze_ios_stand_in::start(&[wallet_app()]).expect("a stand-in");
    let client = folder.join("tests/peers/facebook_wda_client.py");
    let output = Command::new(&python).arg(client).arg(stand_in.address()).output().expect("it starts");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn mobile_mcp_uses_the_stand_in() {
    node_client_uses_the_stand_in("ios-peers", "mobile_mcp_client.mjs", |stand_in| {
        vec!["127.0.0.1".to_string(), stand_in.port().to_string()]
    });
}

#[test]
fn appium_xcuitest_driver_uses_the_stand_in() {
    node_client_uses_the_stand_in("ios-appium", "appium_xcuitest_client.mjs", |stand_in| vec![stand_in.address()]);
}

/// Runs a client with the folder of its packages and its other arguments.
fn node_client_uses_the_stand_in(packages: &str, client: &str, arguments: impl Fn(&StandIn) -> Vec<String>) {
    if std::env::var_os("SOAK").is_none() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let peers = folder.join("../../.parts").join(packages);
    let node = folder.join("../../.parts/node/node_modules/node/bin/node");
    if !peers.join("node_modules").exists() || !node.exists() {
        skip::without_part(&format!("{} is missing; `scripts/parts full` installs it", peers.display()));
        return;
    }
    let stand_in = trailblaze_ios_stand_in::start(&[wallet_app()]).expect("a stand-in");
    let mut command = Command::new(&node);
    command.arg(folder.join("tests/peers").join(client)).arg(&peers).args(arguments(&stand_in));
    let output = command.output().expect("it starts");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}
