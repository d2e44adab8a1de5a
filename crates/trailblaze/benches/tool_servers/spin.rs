//! What polling for answers costs when many sessions call at the same time: 50 sessions, each with a server of its own, with
//! polling and without.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::Map;
use trailblaze_toolhost::spin_wait::SpinTurn;

use crate::stage::{BenchSession, Script, Stage, runtime};
use crate::support::{Measure, Row, quantile};

const SESSIONS: usize = 50;
const CALLS: usize = 40;
const TURNS: usize = 9;

pub fn row(script: &Script) {
    let entry = script.entry("bench").replace("]}", "], multiDevice: perDevice}");
    let turns = runtime().block_on(async { tokio::spawn(times(entry)).await.expect("it is done") });
    let (mut polling, mut sleeping): (Vec<Duration>, Vec<Duration>) = turns.into_iter().skip(1).unzip();
    Row {
        what: &format!("{}: {} calls of {SESSIONS} sessions, polling | sleeping", script.runtime, SESSIONS * CALLS),
        measured: Measure::Time(quantile(&mut polling, 0.5)),
        against: Some(Measure::Time(quantile(&mut sleeping, 0.5))),
        goal: "≤ 1.05 ×",
        is_met: None,
    }
    .print();
}

async fn times(entry: String) -> Vec<(Duration, Duration)> {
    let polling = Crowd::open(&entry, SpinTurn::new()).await;
    let sleeping = Crowd::open(&entry, SpinTurn::never()).await;
    let mut turns = Vec::new();
    for turn in 0..TURNS {
        // Neither always comes first.
        let (a, b) = match turn % 2 {
            0 => {
                let a = polling.turn().await;
                (a, sleeping.turn().await)
            }
            _ => {
                let b = sleeping.turn().await;
                (polling.turn().await, b)
            }
        };
        turns.push((a, b));
    }
    polling.close().await;
    sleeping.close().await;
    turns
}

struct Crowd {
    stage: Stage,
    sessions: Vec<BenchSession>,
}

impl Crowd {
    async fn open(entry: &str, turn: Arc<SpinTurn>) -> Crowd {
        let stage = Stage::with(entry, SESSIONS, turn);
        let mut sessions = Vec::new();
        // A few at a time: starting fifty runtimes at once takes longer than their startup timeout allows.
        while sessions.len() < SESSIONS {
            sessions.extend(join_all((0..5).map(|_| stage.session())).await);
        }
        Crowd { stage, sessions }
    }

    /// All sessions make their calls, each one after the other.
    async fn turn(&self) -> Duration {
        let started = Instant::now();
        let calling = self.sessions.iter().map(|session| {
            let session = session.clone();
            tokio::spawn(async move {
                for number in 0..CALLS {
                    let text = number.to_string();
                    let args = Map::from_iter([("text".to_string(), text.as_str().into())]);
                    assert_eq!(session.call("bench_echo", args).await.text, text);
                }
            })
        });
        join_all(calling).await.into_iter().for_each(|called| called.expect("every call is answered"));
        started.elapsed()
    }

    async fn close(self) {
        join_all(self.sessions.into_iter().map(BenchSession::close)).await;
        self.stage.close().await;
    }
}
