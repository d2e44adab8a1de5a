//! One call, as a session makes it, against the official client and against the pipe itself.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::RUNTIMES;
use crate::official::Official;
use crate::pipe::Pipe;
use crate::stage::{BenchSession, Script, Stage, runtime};
use crate::support::{Measure, Row, quantile};

/// Servers that are started for each run: what a runtime makes of the same script differs from start to start.
const ROUNDS: usize = 7;
/// How many calls each has in its turn.
const CALLS: usize = 100;
const TURNS: usize = 12;
/// Turns in which runtimes learn what is hot.
const WARM_UP: usize = 10;

#[derive(Default)]
struct Times {
    own: Vec<Duration>,
    official: [Vec<Duration>; RUNTIMES.len()],
    bare: Vec<Duration>,
    loaded: Vec<Duration>,
}

pub fn row(script: &Script) {
    let mut times = Times::default();
    (0..ROUNDS).for_each(|_| round(script, &mut times));
    let Times { mut own, mut official, mut bare, mut loaded } = times;
    let mut row = |share: f64, against: &mut [Duration], what: &str, goal: &str, most: Option<f64>| {
        let (own, against) = (quantile(&mut own, share), quantile(against, share));
        Row {
            what: &format!("{}: a call, {what}", script.runtime),
            measured: Measure::Time(own),
            against: Some(Measure::Time(against)),
            goal,
            is_met: most.map(|most| own <= against.mul_f64(most)),
        }
        .print();
    };
    for (runtime, official) in RUNTIMES.iter().zip(&mut official) {
        row(0.5, official, &format!("p50 | the official client, {runtime}"), "≤ 0.7 ×", Some(0.7));
    }
    row(0.5, &mut bare, "p50 | a line written, a line read", "≤ 1.5 ×", Some(1.5));
    row(0.5, &mut loaded, "p50 | the same line, written and read", "≤ 1.5 ×", Some(1.5));
    for (runtime, official) in RUNTIMES.iter().zip(&mut official) {
        row(0.99, official, &format!("p99 | the official client, {runtime}"), "", None);
    }
}

fn round(script: &Script, times: &mut Times) {
    let runtime = runtime();
    let stage = Stage::new(&script.entry("bench"), 1);
    let session = runtime.block_on(stage.session());
    let mut official = RUNTIMES.map(|runtime| Official::open(script, runtime));
    let (mut light, mut heavy) = (Pipe::open(script), Pipe::open(script));
    let (bare, loaded) = (json!({"arguments": {"text": "hello", "count": 1}}), like_ours());
    // In turns, so that all see the machine in the same moods.
    for turn in 0..WARM_UP + TURNS {
        // What is measured while runtimes learn goes nowhere.
        let mut nowhere = Times::default();
        let times = if turn < WARM_UP { &mut nowhere } else { &mut *times };
        let session = session.clone();
        // Sessions live in tasks.
        times.own.extend(runtime.block_on(async { tokio::spawn(calls(session)).await.expect("the calls are made") }));
        for (times, official) in times.official.iter_mut().zip(&mut official) {
            times.extend(official.calls(CALLS));
        }
        times.bare.extend(light.calls(CALLS, &bare));
        times.loaded.extend(heavy.calls(CALLS, &loaded));
    }
    runtime.block_on(async {
        session.close().await;
        stage.close().await;
    });
}

async fn calls(session: BenchSession) -> Vec<Duration> {
    let mut times = Vec::with_capacity(CALLS);
    for count in 0..CALLS {
        let args = Map::from_iter([("text".to_string(), "hello".into()), ("count".to_string(), count.into())]);
        let started = Instant::now();
        let outcome = session.call("bench_echo", args).await;
        times.push(started.elapsed());
        assert_eq!(outcome.text, "hello");
    }
    times
}

/// What a call of ours carries.
fn like_ours() -> Value {
    let id = "c-0123456789abcdef0123456789abcdef";
    let device = |platform: &str| {
        json!({
            "platform": platform, "widthPixels": 1080, "heightPixels": 2400,
            "driverType": "android-ondevice-accessibility",
        })
    };
    let mut named = device("android");
    named["id"] = "android/bench".into();
    json!({
        "arguments": {
            "text": "hello", "count": 1,
            "_trailblazeContext": {"memory": {}, "device": device("ANDROID")},
        },
        "_meta": {
            "trailblaze": {
                "baseUrl": "http://127.0.0.1:52525", "sessionId": id, "invocationId": id, "device": named,
                "memory": {}, "capabilities": {"sampling": false},
            },
            "trailblazeInvocationId": id,
            "progressToken": 1,
        },
    })
}
