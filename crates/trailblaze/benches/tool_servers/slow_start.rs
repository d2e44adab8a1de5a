//! Ten servers that each take a second to start.

use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stage::{Script, Stage, runtime};
use crate::support::{Measure, Row, quantile};

/// The argument that makes this program such a server.
pub const FIXTURE: &str = "slow-server";
const SERVERS: usize = 10;
const DELAY: Duration = Duration::from_secs(1);
const GOAL: Duration = Duration::from_millis(1300);
const TURNS: usize = 5;

/// Servers that do nothing but wait: what is measured is ours.
pub fn row() {
    let own = std::env::current_exe().expect("the bench knows itself");
    let entry = |number| format!("  - {{name: slow{number}, command: '{}', args: [{FIXTURE}]}}\n", own.display());
    let time = time(&(0..SERVERS).map(entry).collect::<String>());
    Row {
        what: &format!("{SERVERS} servers ready that each take 1 s to start"),
        measured: Measure::Time(time),
        against: None,
        goal: "≤ 1.3 s",
        is_met: Some(time <= GOAL),
    }
    .print();
}

/// Servers that load the official library as well, which ten of them do side by side.
pub fn scripts(script: &Script) {
    let entry = |number| {
        let entry = script.entry(&format!("slow{number}"));
        entry.replace("}\n", &format!(", env: {{START_DELAY_MS: '{}'}}}}\n", DELAY.as_millis()))
    };
    let time = time(&(0..SERVERS).map(entry).collect::<String>());
    let what = format!("{}: {SERVERS} servers ready that wait 1 s and load the library", script.runtime);
    Row { what: &what, measured: Measure::Time(time), against: None, goal: "", is_met: None }.print();
}

fn time(entries: &str) -> Duration {
    let runtime = runtime();
    let turn = |_| {
        let stage = Stage::new(entries, 1);
        runtime.block_on(async {
            let started = Instant::now();
            let session = stage.session().await;
            let time = started.elapsed();
            session.close().await;
            stage.close().await;
            time
        })
    };
    quantile(&mut (0..TURNS).map(turn).collect::<Vec<_>>(), 0.5)
}

/// The server: waits, and then answers what it is asked.
pub fn fixture() {
    std::thread::sleep(DELAY);
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let asked: Value = serde_json::from_str(&line).expect("a message");
        let result = match asked["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": FIXTURE, "version": "1.0.0"},
            }),
            _ => json!({"tools": []}),
        };
        if let Some(id) = asked.get("id") {
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
            let mut stdout = std::io::stdout().lock();
            writeln!(stdout, "{answer}").and_then(|()| stdout.flush()).expect("somebody listens");
        }
    }
}
