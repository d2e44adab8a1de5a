//! A hundred sessions that share one server and call it at once, against the same calls one after the other.

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::Map;

use crate::stage::{BenchSession, Script, Stage, runtime};
use crate::support::{Measure, Row, quantile};

const SESSIONS: usize = 100;
const TURNS: usize = 30;
const WARM_UP: usize = 5;

pub fn row(script: &Script) {
    let entry = script.entry("bench");
    let turns =
        runtime().block_on(async { tokio::spawn(async move { times(&entry).await }).await.expect("it is done") });
    let (mut at_once, mut in_turn): (Vec<Duration>, Vec<Duration>) = turns.into_iter().skip(WARM_UP).unzip();
    Row {
        what: &format!("{}: {SESSIONS} calls at once | one after the other", script.runtime),
        measured: Measure::Time(quantile(&mut at_once, 0.5)),
        against: Some(Measure::Time(quantile(&mut in_turn, 0.5))),
        goal: "each gets its own answer",
        // Had one got another's, there would be no row.
        is_met: Some(true),
    }
    .print();
}

async fn times(entry: &str) -> Vec<(Duration, Duration)> {
    let stage = Stage::new(entry, SESSIONS);
    let sessions = join_all((0..SESSIONS).map(|_| stage.session())).await;
    let mut turns = Vec::new();
    for turn in 0..WARM_UP + TURNS {
        let started = Instant::now();
        let calls = sessions.iter().enumerate().map(|(number, session)| {
            let session = session.clone();
            tokio::spawn(async move { call(&session, format!("{turn}/{number}")).await })
        });
        join_all(calls).await.into_iter().for_each(|answered| answered.expect("each gets its own answer"));
        let at_once = started.elapsed();
        let started = Instant::now();
        for (number, session) in sessions.iter().enumerate() {
            call(session, format!("{turn}/{number} alone")).await;
        }
        turns.push((at_once, started.elapsed()));
    }
    join_all(sessions.into_iter().map(BenchSession::close)).await;
    stage.close().await;
    turns
}

async fn call(session: &BenchSession, text: String) {
    let args = Map::from_iter([("text".to_string(), text.as_str().into())]);
    assert_eq!(session.call("bench_echo", args).await.text, text);
}
