//! A real Appium with its fake driver, which has no phone: its app is a file of ours, and only its protocol and page source are real.

use std::path::PathBuf;
use std::sync::mpsc::channel;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use trailblaze_supervise::{Launch, Running, Supervisor};

use super::{project, run};
use crate::support::{PATIENCE, PROGRAM, is_full_tier, repository, skip, web_shop};

const APP: &str = include_str!("app.xml");

/// Starts Appium, which ends with this process. `None` if it is missing, which skips the test locally and fails it in CI.
fn appium() -> Option<String> {
    let node = web_shop::node()?;
    let folder = repository().join(".parts/appium");
    if !folder.join("node_modules/appium").is_dir() {
        skip::without_part("there is no Appium: `scripts/parts full` installs it");
        return None;
    }
    let (told, address) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let port =
                std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address").port();
            let mut launch = Launch::new(node, PathBuf::from(&folder));
            let script = folder.join("node_modules/appium/index.js");
            let port_text = port.to_string();
            let args =
                ["server", "--use-drivers", "fake", "--address", "127.0.0.1", "--port", &port_text, "--log-no-colors"];
            launch.args = [script.into_os_string()].into_iter().chain(args.map(Into::into)).collect();
            launch.set_env.push(("APPIUM_HOME".into(), folder.into_os_string()));
            let running = Supervisor::with_guardian(PROGRAM).start(launch).await.expect("Appium starts");
            let Running { stdin: _stdin, stdout, mut stderr, child: _child } = running;
            let (mut lines, mut rest) = (BufReader::new(stdout).lines(), Vec::new());
            let read = async {
                while let Ok(Some(line)) = lines.next_line().await {
                    if line.contains("listener started") {
                        let _ = told.send(format!("http://127.0.0.1:{port}"));
                    }
                }
            };
            let _ = tokio::join!(read, stderr.read_to_end(&mut rest));
            std::future::pending::<()>().await;
        });
    });
    Some(address.recv_timeout(PATIENCE).expect("Appium starts"))
}

#[test]
fn a_native_trail_runs_on_an_app_of_our_own_through_appium() {
    if !is_full_tier() {
        return;
    }
    let Some(address) = appium() else { return };
    for id in ["android/fake", "ios/fake"] {
        let calls = [
            "assertVisible: {text: Till}",
            "tap: {id: name}",
            "inputText: {text: Ada}",
            "assertVisible: {text: Ada}",
            "tap: {text: Greet}",
            "assertVisible: {text: Hello from the till}",
        ];
        let keys = json!({"webdriver": address});
        let project = project(id, keys, &calls);
        project.write("app.xml", APP);
        let file = project.root().join("app.xml");
        let capabilities = json!({"appium:automationName": "Fake", "appium:app": file});
        let entry = json!({"id": id, "webdriver": address, "capabilities": capabilities});
        project.write("trailblaze.yaml", format!("devices: [{entry}]\n"));
        run(&project, id).exits(0);
        // An alert that is open is in the way of other elements.
        let calls = ["tap: {text: Greet}", "tap: {id: name}"];
        let calls: String = calls.iter().map(|call| format!("      - {call}\n")).collect();
        project.write("trails/a.trail.yaml", format!("trail:\n  - step: Pay\n    tools:\n{calls}"));
        let ran = run(&project, id).exits(1);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains("an alert is in the way"), "{told}");
    }
}
