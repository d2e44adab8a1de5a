//! Scripts in the engine, with a host that records what they ask for.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};
use trailblaze_script::{Abort, HostError, Limits, LogLine, Program, ScriptHost, ScriptOutcome, World, call};

/// Answers each tool call with its name, and fails those of `broken`.
#[derive(Default)]
struct Recorder {
    asked: Mutex<Vec<(String, Value)>>,
    log: Mutex<Vec<String>>,
}

#[async_trait]
impl ScriptHost for Recorder {
    async fn ask(&self, operation: &str, payload: Value) -> Result<Value, HostError> {
        self.asked.lock().push((operation.to_string(), payload.clone()));
        tokio::task::yield_now().await;
        match (operation, payload["tool"].as_str()) {
            ("call", Some("broken")) => {
                Ok(json!({"isError": true, "text": "no such element", "variant": "AssertionFailed"}))
            }
            ("call", Some("number")) => Ok(json!({"isError": false, "text": "", "structured": 42})),
            ("call", Some("isVisible")) => {
                Ok(json!({"isError": false, "text": "", "structured": false, "isQuery": true}))
            }
            ("call", Some("captureScreen")) => {
                Ok(json!({"isError": false, "text": "", "structured": {"root": {}}, "isQuery": true}))
            }
            ("call", Some("never")) => std::future::pending().await,
            ("call", Some(tool)) => Ok(json!({"isError": false, "text": format!("did {tool}")})),
            ("sleep", _) => Ok(json!({})),
            ("timer", _) if payload["ms"] == 0 => Ok(json!({})),
            ("timer", _) => std::future::pending().await,
            _ => Err(HostError::Refused(format!("`{operation}` is not granted"))),
        }
    }

    fn log(&self, line: LogLine) {
        self.log.lock().push(format!("{}: {}", line.level, line.text));
    }

    fn doubt(&self, text: String) {
        self.log.lock().push(format!("warning: {text}"));
    }
}

/// No script that ends by itself computes for so long, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);
/// How long a script computes that does not end by itself.
const BRIEF: Duration = Duration::from_secs(2);

fn limits() -> Limits {
    Limits { busy: PATIENCE, memory_bytes: 16 << 20, ..Limits::default() }
}

async fn run_on(host: &Recorder, source: &str) -> ScriptOutcome {
    run_within(limits(), host, source).await
}

async fn run_within(limits: Limits, host: &Recorder, source: &str) -> ScriptOutcome {
    let program = Program::single("tools/a.ts", source, None).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
    let abort = Abort::default();
    let world = match World::new(&Arc::new(program), limits, &abort) {
        Ok(world) => world,
        Err(error) => return ScriptOutcome::Failed(error),
    };
    let input = json!({"args": {"x": 2, "text": "a.b"}, "memory": {"user": {"id": 7}}, "platform": "android", "device": {"id": "d"}});
    call(world, &abort, input.to_string(), host).await.1
}

async fn run(source: &str) -> ScriptOutcome {
    run_on(&Recorder::default(), source).await
}

async fn value(source: &str) -> Value {
    match run(source).await {
        ScriptOutcome::Returned(returned) => returned["value"].clone(),
        other => panic!("{source}: {other:?}"),
    }
}

async fn failure(source: &str) -> String {
    why(source, run(source).await)
}

/// Runs scripts that do not end by themselves, all at the same time.
fn brief_runs<const N: usize>(sources: [&str; N]) -> [ScriptOutcome; N] {
    let run = |source: &str| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let limits = Limits { busy: BRIEF, ..limits() };
        runtime.block_on(run_within(limits, &Recorder::default(), source))
    };
    std::thread::scope(|scope| {
        let threads = sources.map(|source| scope.spawn(move || run(source)));
        threads.map(|thread| thread.join().expect("it ends"))
    })
}

fn why(source: &str, ended: ScriptOutcome) -> String {
    match ended {
        ScriptOutcome::Threw(_, thrown) => thrown.to_string(),
        ScriptOutcome::Failed(error) => error.to_string(),
        other => panic!("{source}: {other:?}"),
    }
}

#[tokio::test]
async fn a_script_computes_with_its_arguments() {
    assert_eq!(value("return args.x + 1").await, 3);
    assert_eq!(value("(args) => args.x * 10").await, 20);
    assert_eq!(value("function () { return input.params.text + input.memory.user.id }").await, "a.b7");
    assert_eq!(
        value("export default async ({ x }: { x: number }, ctx) => [x, ctx.platform, ctx.device.id]").await,
        json!([2, "android", "d"])
    );
    assert_eq!(value("return String(args.text).replace(/[.*+?^${}()|[\\]\\\\]/g, '\\\\$&')").await, "a\\.b");
}

#[tokio::test]
async fn a_script_calls_tools_and_gets_their_values() {
    let host = Recorder::default();
    let source = "const a = await tools.tap({text: 'OK'}); const b = await callTool('number'); return [a, b]";
    let ScriptOutcome::Returned(returned) = run_on(&host, source).await else { panic!("it failed") };
    assert_eq!(returned["value"], json!(["did tap", 42]));
    let calls = [
        ("call".to_string(), json!({"tool": "tap", "args": {"text": "OK"}})),
        ("call".to_string(), json!({"tool": "number", "args": {}})),
    ];
    assert_eq!(*host.asked.lock(), calls);
}

#[tokio::test]
async fn a_tool_that_fails_throws_and_can_be_caught() {
    assert_eq!(
        failure("await tools.tap();\n  await tools.broken()").await,
        "ToolError: no such element (tools/a.ts:2:15)"
    );
    assert_eq!(
        value("try { await tools.broken() } catch (error) { return [error.tool, error.variant] }").await,
        json!(["broken", "AssertionFailed"])
    );
    assert_eq!(
        value("const { isError, message } = await trailblaze.execute('broken'); return [isError, message]").await,
        json!([true, "no such element"])
    );
}

#[tokio::test]
async fn calls_run_at_the_same_time_and_those_not_awaited_are_finished() {
    assert_eq!(
        value("return await Promise.all([tools.a(), tools.b(), tools.number()])").await,
        json!(["did a", "did b", 42])
    );
    let host = Recorder::default();
    let ScriptOutcome::Returned(_) = run_on(&host, "tools.first(); sleep(5); return 1").await else {
        panic!("it failed")
    };
    assert_eq!(host.asked.lock().len(), 2);
    let early = |what: &str| {
        format!(
            "warning: the script ended while its call of `{what}` was in progress; write `await` before what calls it"
        )
    };
    assert_eq!(*host.log.lock(), [early("first"), early("sleep")]);
}

#[tokio::test]
async fn a_forgotten_await_does_not_hide_a_failure() {
    assert_eq!(
        failure("tools.broken();\nreturn 1").await,
        "ToolError: something that the script did not wait for failed: no such element (tools/a.ts:1:7)\nhint: write `await` before the call"
    );
    assert!(failure("(async () => { await tools.a(); throw new Error('late') })(); return 1").await.contains("late"));
    // The loser of a race is handled, and so is what is awaited later.
    assert_eq!(value("return await Promise.race([tools.number(), tools.a().then(() => tools.broken())])").await, 42);
    assert_eq!(value("const a = tools.broken(); await tools.a(); try { await a } catch { return 2 }").await, 2);
}

#[tokio::test]
async fn timers_ring_while_the_script_waits_and_not_longer() {
    assert_eq!(value("return await new Promise((done) => setTimeout(done, 0, 'rang'))").await, "rang");
    assert_eq!(
        value("return await Promise.race([tools.a(), new Promise((done) => setTimeout(done, 60000))])").await,
        "did a"
    );
    let host = Recorder::default();
    let source =
        "clearTimeout(setTimeout(() => {}, 1000));\nsetTimeout(() => { throw new Error('late') }, 1000); return 1";
    let ScriptOutcome::Returned(_) = run_on(&host, source).await else { panic!("it failed") };
    let left = "warning: the script ended before its timer fired, so the timer was dropped; wait for it, as in `await sleep(ms)`, \
                or clear it (tools/a.ts:2:1)";
    assert_eq!(*host.log.lock(), [left]);
    assert_eq!(
        failure("setTimeout('tools.a()')").await,
        "TypeError: setTimeout takes a function, got \"tools.a()\" (tools/a.ts:1:1)"
    );
}

#[tokio::test]
async fn memory_changes_are_returned() {
    let source = "memory.set('a', [1]); memory.delete('user'); memory.set('b', 1); memory.delete('b'); return [memory.get('a'), memory.has('user'), memory.keys()]";
    let ScriptOutcome::Returned(returned) = run(source).await else { panic!("it failed") };
    assert_eq!(returned["value"], json!([[1], false, ["a"]]));
    assert_eq!(returned["changes"], json!({"memoryDelta": {"a": [1]}, "memoryDeletions": ["user", "b"]}));
}

#[tokio::test]
async fn logs_reach_the_host_up_to_a_limit() {
    let host = Recorder::default();
    run_on(&host, "log('a', {b: 1}); console.warn('c'); for (let i = 0; i < 5000; i++) log(i)").await;
    let log = host.log.lock();
    assert_eq!(log[..2], ["info: a {\"b\":1}", "warning: c"]);
    assert_eq!(log.len(), 1_001);
    assert_eq!(log[1_000], "warning: more than 1000 lines; the rest is not logged");
}

#[tokio::test]
async fn errors_name_the_place_in_the_source() {
    let source = "interface A {\n  x: number;\n}\n\nconst a: A = { x: 1 };\nfunction inner(): never { throw new TypeError('no') }\ninner();";
    let ScriptOutcome::Threw(_, thrown) = run(source).await else { panic!("it did not throw") };
    let stack: Vec<String> = thrown.stack.iter().map(ToString::to_string).collect();
    assert_eq!(thrown.message, "no");
    assert_eq!(stack[0], "tools/a.ts:6:37");
    assert_eq!(stack[1], "tools/a.ts:7:1");
    assert_eq!(failure("undefinedThing.x").await, "ReferenceError: undefinedThing is not defined (tools/a.ts:1:1)");
}

#[tokio::test]
async fn a_message_names_the_lines_that_called_the_place_also_beyond_an_await() {
    let source = "async function inner() {\n  await tools.tap();\n  await tools.broken();\n}\n\nasync function outer() {\n  await tools.tap();\n  return await inner();\n}\n\nawait tools.tap();\nawait outer();";
    assert_eq!(
        failure(source).await,
        "ToolError: no such element (tools/a.ts:3:15, called from tools/a.ts:8:16, tools/a.ts:12:7)"
    );
    // Of a recursion, a line is named once.
    assert_eq!(
        failure("async function deep(n) {\n  await tools.tap();\n  if (n > 0) await deep(n - 1);\n  else throw new Error('end');\n}\nawait deep(50)").await,
        "end (tools/a.ts:4:18, called from tools/a.ts:3:29, tools/a.ts:6:7)"
    );
    assert_eq!(
        value("const e = Object.freeze(new Error('x')); try { await Promise.reject(e) } catch (c) { return c === e }")
            .await,
        true
    );
    assert_eq!(value("return [await 1, await null, await { then: (done) => done(2) }]").await, json!([1, null, 2]));
}

#[tokio::test]
async fn a_promise_that_is_used_as_the_answer_gets_a_hint() {
    let hint = |call: &str, place: &str| format!("\nhint: write `await` before the call of `{call}` ({place})");
    let told = failure("const { elements } = screen();\nreturn elements.filter(Boolean).length").await;
    assert!(told.starts_with("TypeError: ") && told.contains("(tools/a.ts:2:"), "{told}");
    assert!(told.ends_with(&hint("screen", "tools/a.ts:1:22")), "{told}");
    let told = failure("const text = tools.getElementText();\nreturn text.trim()").await;
    assert!(told.ends_with(&hint("getElementText", "tools/a.ts:1:20")), "{told}");
    let told = failure("await tools.tap();\nreturn undefined.x").await;
    assert!(!told.contains("hint"), "{told}");
    assert_eq!(
        failure("screen();\nreturn 1").await,
        "the script did not wait for the answer of `screen` (tools/a.ts:1:1)\nhint: write `await` before the call"
    );
}

#[tokio::test]
async fn what_is_thrown_need_not_be_an_error() {
    assert_eq!(failure("throw 'text'").await, "it threw \"text\", which is not an Error (tools/a.ts:1:7)");
    assert_eq!(failure("throw null").await, "it threw null, which is not an Error (tools/a.ts:1:7)");
    assert_eq!(
        failure("const a = 1;\nfunction f() {\n  throw { a };\n}\nf()").await,
        "it threw object, which is not an Error: {\"a\":1} (tools/a.ts:3:9, called from tools/a.ts:5:1)"
    );
    assert_eq!(
        failure("(async () => { throw 'late' })(); return 1").await,
        "something that the script did not wait for failed: it threw late, which is not an Error (tools/a.ts:1:22)\nhint: write \
         `await` before the call"
    );
    // Without a `throw`, the place is that of the tool.
    assert_eq!(
        failure("const a = 1;\nexport default () => Promise.reject('text')").await,
        "it threw \"text\", which is not an Error (tools/a.ts:2:1)"
    );
    for source in [
        "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })",
        "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e",
    ] {
        assert!(!failure(source).await.is_empty(), "{source}");
    }
}

#[tokio::test]
async fn a_result_that_cannot_be_sent_names_the_tool() {
    let tool = |value: &str| format!("const a = 1;\nexport default async function () {{ return {value} }}");
    assert_eq!(
        failure(&tool("1n")).await,
        "TypeError: the result cannot be passed on: it has a bigint, which JSON does not have (tools/a.ts:2:16)"
    );
    assert_eq!(
        failure(&tool("() => 1")).await,
        "TypeError: the result is a function, which JSON does not have (tools/a.ts:2:16)"
    );
}

#[test]
fn an_endless_loop_is_stopped_and_its_line_is_named() {
    let cases = [
        ("let i = 0;\n\n  while (true) { i++ }", ", in the loop at tools/a.ts:3:3"),
        ("for (const a of [1]) { let b = a }\ndo 1; while (true)", ", in the loop at tools/a.ts:2:1"),
        ("try { for (;;) {} } catch { return 1 } finally { for (;;) {} }", ", in the loop at tools/a.ts:1:7"),
        // Without a loop: jobs that make jobs.
        ("const again = () => { Promise.resolve().then(again) }; again(); await new Promise(() => {})", ""),
        ("function () {\n  for (;;) {}\n}", ", in the loop at tools/a.ts:2:3"),
    ];
    let ended = brief_runs(cases.map(|(source, _)| source));
    for ((source, place), ended) in cases.into_iter().zip(ended) {
        let stopped = format!("it was stopped: it computed for 2 s without waiting for anything{place}");
        assert_eq!(why(source, ended), stopped, "{source}");
    }
}

#[tokio::test]
async fn what_was_logged_before_an_endless_loop_is_shown() {
    let host = Recorder::default();
    let limits = Limits { busy: Duration::from_millis(200), ..limits() };
    let ended = run_within(limits, &host, "log('one');\nawait tools.a();\nconsole.warn('two');\nfor (;;) {}").await;
    assert!(why("", ended).ends_with("in the loop at tools/a.ts:4:1"));
    assert_eq!(*host.log.lock(), ["info: one", "warning: two"]);
}

#[tokio::test]
async fn a_query_whose_answer_is_not_awaited_fails_the_call() {
    let told =
        "the script did not wait for the answer of `isVisible` (tools/a.ts:1:11)\nhint: write `await` before the call";
    assert_eq!(failure("if (tools.isVisible()) { return 'it is visible' }").await, told);
    assert_eq!(failure("if (tools.isVisible()) { await tools.tap() }\nreturn 1").await, told);
    for awaited in [
        "return await tools.isVisible()",
        "return tools.isVisible()",
        "return (await Promise.all([tools.isVisible()]))[0]",
        "return tools.isVisible().then((seen) => seen)",
        "const asked = tools.isVisible(); await tools.tap(); return await asked",
    ] {
        assert_eq!(value(awaited).await, false, "{awaited}");
    }
    assert_eq!(value("tools.tap(); return 1").await, 1, "an action is carried out all the same");
}

#[tokio::test]
async fn what_a_microtask_throws_fails_the_call() {
    assert_eq!(
        failure("queueMicrotask(() => { throw new Error('in a microtask') });\nreturn 1").await,
        "something that the script did not wait for failed: in a microtask (tools/a.ts:1:34)\nhint: write `await` before the call"
    );
    assert_eq!(
        value("let order = ''; queueMicrotask(() => { order += 'b' }); order += 'a'; await 0; return order").await,
        "ab"
    );
}

#[tokio::test]
async fn a_promise_that_nothing_can_settle_is_an_error() {
    let stuck = "it never ends: it waits for a promise that nothing can settle";
    assert_eq!(failure("await new Promise(() => {})").await, format!("{stuck} (tools/a.ts:1:11)"));
    assert_eq!(
        failure("const wait = async () => {\n  await new Promise(() => {});\n};\nawait tools.a();\nawait wait()").await,
        format!("{stuck} (tools/a.ts:2:13, called from tools/a.ts:5:7)")
    );
    assert_eq!(
        failure("export const a = await new Promise(() => {}); export default () => 1").await,
        format!("{stuck}, while its module is loaded (tools/a.ts:1:28)")
    );
}

#[tokio::test]
async fn memory_stack_and_output_are_limited() {
    for source in [
        "return 'x'.repeat(2 ** 30 - 2)",
        "let s = 'x'; for (;;) s += s",
        "const a = []; for (;;) a.push(new Array(1000).fill(0))",
        "return new Uint8Array(2 ** 31)",
        "return new ArrayBuffer(1e12)",
    ] {
        let message = failure(source).await;
        assert!(
            ["it used more than 16 MB of memory", "invalid", "string too long", "no memory is left"]
                .iter()
                .any(|part| message.contains(part)),
            "{source}: {message}"
        );
    }
    // Whatever they return, they end.
    let _ = brief_runs([
        "const f = () => f() + 1; f()",
        "JSON.parse('['.repeat(1e6))",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a)",
        "return eval('('.repeat(1e5))",
        "'a'.repeat(30).match(/(a+)+b/)",
        "const again = () => Promise.resolve().then(again); await again()",
        "return /(((((((((((a*)*)*)*)*)*)*)*)*)*)*/.test('a'.repeat(99))",
    ]);
    assert!(failure("const f = () => f() + 1; f()").await.contains("Maximum call stack size exceeded"));
    assert_eq!(
        failure("return 'x'.repeat(5e6)").await,
        "its result has 5000062 bytes; the limit is 4194304 (tools/a.ts:1:1)"
    );
    let full = failure("const a = [];\nfor (;;) {\n  a.push(new Array(1000).fill(0));\n}").await;
    assert_eq!(full, "it used more than 16 MB of memory (tools/a.ts:3:26)");
    let large = failure("await tools.tap();\nawait tools.a({ text: 'x'.repeat(5e6) })").await;
    assert!(large.starts_with("RangeError: the arguments have ") && large.contains("(tools/a.ts:2:"), "{large}");
    let many = "await Promise.all(Array.from({ length: 100 }, () => tools.a()))";
    assert!(
        failure(many).await.starts_with("RangeError: more than 64 calls at the same time; await some of them first"),
        "too many"
    );
}

#[tokio::test]
async fn nothing_outside_can_be_reached() {
    for name in [
        "require",
        "process",
        "Deno",
        "Bun",
        "std",
        "os",
        "scriptArgs",
        "print",
        "performance",
        "XMLHttpRequest",
        "WebSocket",
        "Worker",
    ] {
        assert_eq!(value(&format!("return typeof {name}")).await, "undefined", "{name}");
    }
    assert!(failure("await import('node:fs')").await.contains("`node:fs`"), "no modules");
    assert!(failure("await readFile('/etc/passwd')").await.contains("`readFile` is not granted"), "no files");
    assert!(failure("await fetch('http://localhost')").await.contains("`fetch` is not granted"), "no network");
    assert!(failure("await env('HOME')").await.contains("`env` is not granted"), "no environment");
    for source in ["Date.now()", "new Date()", "new (new Date(0).constructor)()", "Date()"] {
        assert!(failure(source).await.contains("the clock is not granted"), "{source}");
    }
    assert_eq!(value("return new Date(0).toISOString()").await, "1970-01-01T00:00:00.000Z");
    assert_eq!(
        value("class D extends Date {} return [new D(5).getTime(), new D(5) instanceof Date]").await,
        json!([5, true])
    );
}

#[tokio::test]
async fn a_script_that_tampers_with_the_language_harms_only_itself() {
    let tampering = "JSON.parse = JSON.stringify = Promise.prototype.then = Array.prototype.push = Array.prototype.map = null; \
         Object.defineProperty(Object.prototype, 'isError', { value: true, configurable: true }); \
         globalThis.Promise = globalThis.Error = globalThis.Reflect = globalThis.Object = undefined;";
    let ended = run(&format!("{tampering} const a = await tools.number(); return a")).await;
    assert!(matches!(&ended, ScriptOutcome::Returned(value) if value["value"] == 42), "{ended:?}");
    for source in [
        "Object.prototype.toJSON = () => { throw new Error('mine') }; return {a: 1}",
        "Object.prototype.then = (resolve) => {}; return {a: 1}",
        "Array.prototype[Symbol.iterator] = null; await Promise.all([1])",
        "Object.prototype.__proto__ = null; globalThis.tools = 1; return tools",
        "delete globalThis.tools; return typeof tools",
        "Object.freeze(globalThis); return 1",
        "Function.prototype.call = Function.prototype.apply = null; log('x'); await sleep(1)",
        "Object.defineProperty(Promise.prototype, 'constructor', { get() { throw new Error('mine') } }); await tools.a()",
        "Object.defineProperty(globalThis, '__trailblazeLoop', { get() { throw 1 } }); for (let i = 0; i < 2; i++) {}",
    ] {
        // Whatever it returns, the call ends.
        let _ = run(source).await;
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_stops_the_script() {
    let program = Arc::new(Program::single("a.ts", "await tools.never()", None).expect("valid"));
    let abort = Abort::default();
    let world = World::new(&program, limits(), &abort).expect("loaded");
    let host = Recorder::default();
    let gone = tokio::time::timeout(
        Duration::from_millis(50),
        call(world, &abort, r#"{"args": {}, "memory": {}}"#.to_string(), &host),
    )
    .await;
    assert!(gone.is_err());
}

#[tokio::test]
async fn a_world_is_used_again() {
    let program = Arc::new(Program::single("a.ts", "let n = 0; export default () => ++n", None).expect("valid"));
    let abort = Abort::default();
    let mut world = World::new(&program, limits(), &abort).expect("loaded");
    for expected in 1..=3 {
        let (again, ended) =
            call(world, &abort, r#"{"args": {}, "memory": {}}"#.to_string(), &Recorder::default()).await;
        assert!(matches!(&ended, ScriptOutcome::Returned(value) if value["value"] == expected), "{ended:?}");
        world = again.expect("it is still good");
    }
}
