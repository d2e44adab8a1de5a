//! Scripts in the embedded engine, against the same tool in a server.

use std::time::{Duration, Instant};

use serde_json::Map;
use trailblaze_toolhost::spin_wait::SpinTurn;

use crate::stage::{BenchSession, Script, Stage, runtime};
use crate::support::{Measure, Row, quantile};

const CALLS: usize = 200;
const TURNS: usize = 20;
/// Turns in which runtimes learn what is hot.
const WARM_UP: usize = 5;
const SESSIONS: usize = 1_000;

/// A tool file without parameters.
fn tool(name: &str, source: &str) -> (&'static str, String) {
    let lines: String = source.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "id: {name}\ndescription: A script.\nparameters: [{{name: text, type: string, description: A text}}]\n\
         script:\n  source: |\n{lines}"
    );
    ("script.yaml", text)
}

/// A call that returns its argument, in a script and in a server, in turns.
pub fn row(script: &Script) {
    let runtime = runtime();
    let tools = [tool("bench_script", "return args.text")];
    let stage = Stage::with_tools(&script.entry("bench"), 1, SpinTurn::new(), &tools);
    let session = runtime.block_on(stage.session());
    let (mut own, mut served) = (Vec::new(), Vec::new());
    for turn in 0..WARM_UP + TURNS {
        for (name, times) in [("bench_script", &mut own), ("bench_echo", &mut served)] {
            let session = session.clone();
            let taken = runtime.block_on(async { tokio::spawn(calls(session, name)).await.expect("called") });
            if turn >= WARM_UP {
                times.extend(taken);
            }
        }
    }
    runtime.block_on(async {
        session.close().await;
        stage.close().await;
    });
    let (p50, served50) = (quantile(&mut own, 0.5), quantile(&mut served, 0.5));
    Row {
        what: &format!("script: a call, p50 | the same tool in {}", script.runtime),
        measured: Measure::Time(p50),
        against: Some(Measure::Time(served50)),
        goal: "≤ 60 µs and ≤ 0.5 ×",
        is_met: Some(p50 <= Duration::from_micros(60) && p50 <= served50.mul_f64(0.5)),
    }
    .print();
    Row {
        what: &format!("script: a call, p99 | the same tool in {}", script.runtime),
        measured: Measure::Time(quantile(&mut own, 0.99)),
        against: Some(Measure::Time(quantile(&mut served, 0.99))),
        goal: "",
        is_met: None,
    }
    .print();
}

async fn calls(session: BenchSession, tool: &'static str) -> Vec<Duration> {
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let args = Map::from_iter([("text".to_string(), "hello".into())]);
        let started = Instant::now();
        let outcome = session.call(tool, args).await;
        times.push(started.elapsed());
        assert_eq!(outcome.text, "hello");
    }
    times
}

/// 200 lines of TypeScript.
fn long_script() -> String {
    let mut text = String::from("interface Point { x: number; y: number }\n");
    for number in 0..33 {
        text.push_str(&format!(
            "function f{number}(point: Point, by: number = {number}): number {{\n  let sum = 0;\n  \
             for (const part of [point.x, point.y]) {{\n    sum += part * by;\n  }}\n  return sum;\n}}\n"
        ));
    }
    text.truncate(text.trim_end().len());
    text.push_str("\nreturn args.text;\n");
    text
}

/// From the text of a script to the result of its first call.
pub fn first_call() {
    let runtime = runtime();
    let source = long_script();
    let mut whole = Vec::new();
    let mut alone = Vec::new();
    for _ in 0..15 {
        let started = Instant::now();
        let stage = Stage::with_tools("", 1, SpinTurn::new(), &[tool("bench_script", &source)]);
        let loaded = started.elapsed();
        let bare = Instant::now();
        drop(Stage::with_tools("", 1, SpinTurn::new(), &[]));
        let bare = bare.elapsed();
        let session = runtime.block_on(stage.session());
        let args = Map::from_iter([("text".to_string(), "hello".into())]);
        let first = Instant::now();
        let called = runtime.block_on(async {
            let session = session.clone();
            tokio::spawn(async move { session.call("bench_script", args).await }).await.expect("called")
        });
        alone.push(first.elapsed());
        whole.push(first.elapsed() + loaded.saturating_sub(bare));
        assert_eq!(called.text, "hello");
        runtime.block_on(async {
            session.close().await;
            stage.close().await;
        });
    }
    let n_lines = source.lines().count();
    let (first_run, whole50) = (whole[0], quantile(&mut whole, 0.5));
    for (what, time) in [("the first of all", first_run), ("p50", whole50)] {
        Row {
            what: &format!("script: compiling and first call, {n_lines} lines, {what}"),
            measured: Measure::Time(time),
            against: None,
            goal: "≤ 20 ms",
            is_met: Some(time <= Duration::from_millis(20)),
        }
        .print();
    }
    Row {
        what: "script: its first call alone, p50",
        measured: Measure::Time(quantile(&mut alone, 0.5)),
        against: None,
        goal: "",
        is_met: None,
    }
    .print();
}

/// What many open sessions take, each of which called a script.
pub fn many_sessions() {
    let runtime = runtime();
    let stage = Stage::with_tools("", SESSIONS, SpinTurn::new(), &[tool("bench_script", &long_script())]);
    let before = resident();
    let mut sessions = Vec::with_capacity(SESSIONS);
    for _ in 0..SESSIONS {
        let session = runtime.block_on(stage.session());
        let args = Map::from_iter([("text".to_string(), "hello".into())]);
        let called = session.clone();
        runtime.block_on(async {
            tokio::spawn(async move { called.call("bench_script", args).await }).await.expect("called")
        });
        sessions.push(session);
    }
    let taken = resident().saturating_sub(before);
    Row {
        what: "script: memory of 1,000 sessions",
        measured: Measure::Megabytes(taken as f64 / 1e6),
        against: None,
        goal: "≤ 400 MB",
        is_met: Some(taken <= 400_000_000),
    }
    .print();
    runtime.block_on(async {
        for session in sessions {
            session.close().await;
        }
        stage.close().await;
    });
}

/// The memory of this process, in bytes.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}
