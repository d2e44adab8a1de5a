//! A fetch that calls a tool, from within a call, against the same fetch to a server that does nothing.

use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::stage::{Script, Stage, runtime};
use crate::support::{Measure, Row, quantile};

/// How many of each are made within one call; a call may cause a limited number.
const ROUNDS: usize = 200;
const CALLS: usize = 10;
/// Servers that are started for each run.
const STARTS: usize = 5;
const WARM_UP: usize = 3;

/// What is called back, and its arguments: one that does nothing, as the bare server does, and one that looks.
const TOOLS: [(&str, &str); 2] =
    [("assertEquals", r#"{"actual":"1","expected":"1"}"#), ("isVisible", r#"{"id":"add"}"#)];

pub fn row(script: &Script) {
    for (number, tool) in TOOLS.into_iter().enumerate() {
        let (mut own, mut bare) = runtime().block_on(async {
            // A task, as callbacks are answered by tasks too.
            let entry = script.entry("bench");
            tokio::spawn(async move { times(&entry, tool).await }).await.expect("the calls are made")
        });
        let (own, bare) = (quantile(&mut own, 0.5), quantile(&mut bare, 0.5));
        let has_goal = number == 0;
        Row {
            what: &format!("{}: a callback of {}, p50 | the same fetch, given back", script.runtime, tool.0),
            measured: Measure::Time(own),
            against: Some(Measure::Time(bare)),
            goal: if has_goal { "≤ 1.3 ×" } else { "" },
            is_met: has_goal.then(|| own <= bare.mul_f64(1.3)),
        }
        .print();
    }
}

async fn times(entry: &str, (tool, its_args): (&str, &str)) -> (Vec<Duration>, Vec<Duration>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let echo = Router::new().route("/", post(|body: Bytes| async move { body }));
    let bare_server = tokio::spawn(async move { axum::serve(listener, echo).await });
    let (mut own, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let stage = Stage::new(entry, 1);
        let session = stage.session().await;
        for call in 0..WARM_UP + CALLS {
            let args = json!({"rounds": ROUNDS, "bareUrl": url, "tool": tool, "args": its_args});
            let outcome = session.call("bench_callBack", args.as_object().cloned().unwrap_or_default()).await;
            let times = outcome.structured.expect("the tool tells its times");
            if call >= WARM_UP {
                own.extend(durations(&times["callback"]));
                bare.extend(durations(&times["bare"]));
            }
        }
        session.close().await;
        stage.close().await;
    }
    bare_server.abort();
    (own, bare)
}

fn durations(micros: &Value) -> impl Iterator<Item = Duration> {
    let micros = micros.as_array().expect("a list of times").iter();
    micros.map(|micros| Duration::from_secs_f64(micros.as_f64().expect("a time") / 1e6))
}
