//! Programs that serve tools: several calls in one world.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::watch;
use trailblaze_script::transpile::SourceRole;
use trailblaze_script::{EntryPoint, HostError, Limits, LogLine, ScriptHost, Served, ServedCall, link};

/// Answers `echo`, and carries out `again` as a call of the same program.
#[derive(Clone, Default)]
struct Engine(Arc<OnceLock<Served>>, Arc<watch::Sender<Vec<String>>>);

#[async_trait]
impl ScriptHost for Engine {
    async fn ask(&self, operation: &str, payload: Value) -> Result<Value, HostError> {
        match operation {
            "echo" => Ok(payload),
            "again" => match self.call(&payload).await {
                ServedCall::Answered(value) => Ok(value),
                other => Err(HostError::Refused(format!("{other:?}"))),
            },
            "never" => std::future::pending().await,
            "log" => {
                self.1.send_modify(|lines| lines.push(format!("call: {payload}")));
                Ok(Value::Null)
            }
            _ => Err(HostError::Refused(format!("no `{operation}`"))),
        }
    }

    fn log(&self, _: LogLine) {}

    fn doubt(&self, _: String) {}
}

impl Engine {
    async fn call(&self, params: &Value) -> ServedCall {
        let served = self.0.get().expect("loaded");
        served.call(&json!({"method": "call", "params": params}), self, std::future::pending()).await
    }

    async fn text(&self, params: Value) -> String {
        match self.call(&params).await {
            ServedCall::Answered(value) => value.to_string(),
            ServedCall::Threw(thrown) => thrown.to_string(),
            ServedCall::Failed(error) => error.to_string(),
        }
    }
}

const TOOLS: &str = "
const { request, serve } = globalThis.__trailblaze;
let n = 0;
const tools = {
  count: () => ++n,
  echo: (args, { id }) => request(id, 'echo', args),
  deeper: async ({ depth }, { id }) => depth === 0 ? n : 1 + await request(id, 'again', { tool: 'deeper', depth: depth - 1 }),
  sleep: async ({ ms }) => { await new Promise((resolve) => setTimeout(resolve, ms)); return 'slept' },
  loop: (args, { id }) => { console.log('before'); request(id, 'log', 'the loop').catch(() => {}); for (;;) {} },
  stuck: () => new Promise(() => {}),
  fails: () => { throw new TypeError('no') },
  refused: (args, { id }) => request(id, 'nothing'),
  fetches: () => fetch('http://localhost'),
  cancelled: (args, { id, signal }) => new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve([signal.aborted, signal.reason.name]));
    request(id, 'never').catch(() => {});
  }),
  late: (args, { id }) => {
    setTimeout(() => { throw 'too late' }, 1);
    setTimeout(async () => { await request(id, 'nothing') }, 1);
    return __trailblaze.openTimers();
  },
  large: () => 'x'.repeat(5e6),
  env: () => [process.env.NAME, typeof process.versions.node],
  platform: () => {
    const url = new URL('../b?x=1&y=a%20b#h', 'http://user@Example.com:80/a/c');
    url.searchParams.append('z', 'ä');
    const other = ['https://a.b:8443/x/../y/./z', 'file:///tmp/x', 'mailto:a@b.c', '//other/p', 'http://[::1]:9/'].map((text) => new URL(text, 'http://h/').href);
    const text = new TextDecoder().decode(new TextEncoder().encode('zwölf 🙂'));
    const wrong = new TextDecoder().decode(new Uint8Array([0x61, 0xff, 0xe2, 0x82, 0x62]));
    const timeout = AbortSignal.any([AbortSignal.abort('why')]);
    const invalid = ['', 'x', 'http://', 'http://a:99999/', 'http://a b/'].filter((text) => URL.canParse(text));
    return [url.href, url.searchParams.get('y'), other, text, wrong, timeout.reason, crypto.randomUUID().length, invalid, new URLSearchParams({ a: '1 &' }).toString()];
  },
};
serve({ list: () => Object.keys(tools), call: ({ tool, ...args }, about) => tools[tool](args, about) });
";

/// No script that ends by itself computes for so long, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);
/// How long a script computes that does not end by itself.
const BRIEF: Duration = Duration::from_secs(2);

async fn load(source: &str) -> Result<Engine, String> {
    load_within(PATIENCE, source).await
}

async fn load_within(busy: Duration, source: &str) -> Result<Engine, String> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.ts"), source).expect("written");
    let linked = link(folder.path(), EntryPoint::file("a.ts".as_ref(), SourceRole::Module)).expect("linked");
    let limits = Limits { busy, clock: true, ..Limits::default() };
    let variables = BTreeMap::from([("NAME".to_string(), "value".to_string())]);
    let engine = Engine::default();
    let log = Arc::clone(&engine.1);
    let logged = move |line: LogLine| log.send_modify(|lines| lines.push(format!("{}: {}", line.level, line.text)));
    let served = Served::load(Arc::new(linked.program), limits, variables, Arc::new(logged)).await;
    let _ = engine.0.set(served.map_err(|error| error.to_string())?);
    Ok(engine)
}

#[tokio::test]
async fn calls_share_their_state_and_may_run_at_the_same_time() {
    let engine = load(TOOLS).await.expect("loaded");
    assert_eq!(engine.text(json!({"tool": "count"})).await, "1");
    assert_eq!(engine.text(json!({"tool": "count"})).await, "2");
    let (a, b, c) = tokio::join!(
        engine.text(json!({"tool": "sleep", "ms": 20})),
        engine.text(json!({"tool": "echo", "x": [1]})),
        engine.text(json!({"tool": "deeper", "depth": 5})),
    );
    assert_eq!((a.as_str(), b.as_str(), c.as_str()), ("\"slept\"", "{\"x\":[1]}", "7"));
    assert_eq!(engine.text(json!({"tool": "env"})).await, r#"["value","undefined"]"#);
}

#[tokio::test]
async fn what_packages_expect_is_there() {
    let engine = load(TOOLS).await.expect("loaded");
    let ServedCall::Answered(value) = engine.call(&json!({"tool": "platform"})).await else { panic!("it failed") };
    let expected = json!([
        "http://user@example.com/b?x=1&y=a+b&z=%C3%A4#h",
        "a b",
        ["https://a.b:8443/y/z", "file:///tmp/x", "mailto:a@b.c", "http://other/p", "http://[::1]:9/"],
        "zwölf 🙂",
        "a\u{fffd}\u{fffd}b",
        "why",
        36,
        [],
        "a=1+%26"
    ]);
    assert_eq!(value, expected);
}

#[tokio::test]
async fn failures_end_a_call_and_a_script_that_is_stopped_starts_again() {
    let engine = load(TOOLS).await.expect("loaded");
    assert_eq!(engine.text(json!({"tool": "fails"})).await, "TypeError: no (a.ts:11:28, called from a.ts:36:95)");
    assert_eq!(engine.text(json!({"tool": "refused"})).await, "no `nothing` (a.ts:12:38, called from a.ts:36:95)");
    assert_eq!(
        engine.text(json!({"tool": "fetches"})).await,
        "`fetch` is not available to served tools (a.ts:13:18, called from a.ts:36:95)"
    );
    assert_eq!(engine.text(json!({"tool": "large"})).await, "its result has 5000002 bytes; the limit is 4194304");
    assert_eq!(engine.text(json!({"tool": "count"})).await, "1");
    let stuck = "it never ends: it waits for a promise that nothing can settle";
    assert_eq!(engine.text(json!({"tool": "stuck"})).await, stuck);
    assert_eq!(engine.text(json!({"tool": "count"})).await, "2");

    let engine = load_within(BRIEF, TOOLS).await.expect("loaded");
    assert_eq!(engine.text(json!({"tool": "count"})).await, "1");
    let (sleeps, loops) =
        tokio::join!(engine.text(json!({"tool": "sleep", "ms": 60_000})), engine.text(json!({"tool": "loop"})));
    let stopped = "it was stopped: it computed for 2 s without waiting for anything, in the loop at a.ts:9:100";
    assert_eq!([sleeps.as_str(), loops.as_str()], [stopped, stopped]);
    assert_eq!(*engine.1.borrow(), ["info: before", "call: \"the loop\""]);
    // Its state is gone, but it runs.
    assert_eq!(engine.text(json!({"tool": "count"})).await, "1");
}

#[tokio::test]
async fn what_fails_after_a_call_is_logged() {
    let engine = load(TOOLS).await.expect("loaded");
    let timers = engine.text(json!({"tool": "late", "name": "acme_late"})).await;
    assert!(timers.contains("\"a.ts:19:") && timers.contains("\"a.ts:20:"), "{timers}");
    let mut log = engine.1.subscribe();
    let lines = log.wait_for(|lines| lines.len() == 2).await.expect("logged").clone();
    let after = "failed call : something failed after `acme_late` had ended: ";
    assert!(lines[0].starts_with(&format!("{after}it threw too late, which is not an Error (a.ts:19:")), "{lines:?}");
    assert!(lines[1].starts_with(after) && lines[1].contains("(a.ts:20:"), "{lines:?}");
}

#[tokio::test]
async fn a_cancelled_call_can_clean_up_and_one_that_is_given_up_is_forgotten() {
    let engine = load(TOOLS).await.expect("loaded");
    let served = engine.0.get().expect("loaded");
    let request = json!({"method": "call", "params": {"tool": "cancelled"}});
    let ended = served.call(&request, &engine, tokio::time::sleep(Duration::from_millis(20))).await;
    assert!(matches!(&ended, ServedCall::Answered(value) if *value == json!([true, "AbortError"])), "{ended:?}");
    let gone = tokio::time::timeout(Duration::from_millis(20), engine.call(&json!({"tool": "cancelled"}))).await;
    assert!(gone.is_err());
    assert_eq!(engine.text(json!({"tool": "count"})).await, "1");
}

#[tokio::test]
async fn a_program_that_cannot_be_loaded_or_serves_nothing_is_an_error() {
    let nothing = "it serves no tools: it must call `run()` of @trailblaze/scripting while it is loaded";
    assert_eq!(load("export const a = 1").await.err().as_deref(), Some(nothing));
    let thrown = load("const a = 1;\nthrow new Error('x')").await.err();
    assert_eq!(thrown.as_deref(), Some("x (a.ts:2:11)"));
    let twice = load("__trailblaze.serve({}); __trailblaze.serve({})").await.err();
    assert!(twice.is_some_and(|error| error.starts_with("the tools are served twice; call `run()` once")));
    let endless = load_within(BRIEF, "for (;;) {}").await.err();
    assert!(endless.is_some_and(|error| error.contains("in the loop at a.ts:1:1")));
}
