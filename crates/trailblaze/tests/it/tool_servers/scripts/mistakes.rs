//! What bad scripts get: an error with its place. The session goes on.

use super::{failure, failure_in, tool_within, with_tool};
use crate::support::Project;

const PLACE: &str = "trailblaze-config/tools/tryIt.yaml";

#[test]
fn a_syntax_error_is_found_before_anything_runs() {
    let project = with_tool("const a = 1;\nconst b: = 2;");
    let ran = project.run(&["check"]).exits(3);
    assert!(ran.stderr.contains(&format!("{PLACE}:8:14")), "{}", ran.stderr);
    // In a text that is not a block, only the line of the script is known.
    let quoted = "id: tryIt\ndescription: A script.\nparameters: []\nscript: {source: 'const b: = 2'}\n";
    let ran = Project::counter().with(PLACE, quoted).run(&["check"]).exits(3);
    assert!(
        ran.stderr.contains("line 1 of the script: ") && ran.stderr.contains(&format!("{PLACE}:4:18")),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_script_without_a_tool_is_found_before_anything_runs() {
    let ran = with_tool("export const a = 1;").run(&["check"]).exits(3);
    assert!(ran.stderr.contains("the script has exports, but no default one"), "{}", ran.stderr);
    assert!(ran.stderr.contains(&format!("{PLACE}:7:5")), "{}", ran.stderr);
    let said = failure("export default 7");
    assert!(said.starts_with(&format!("the default export of {PLACE} is not a function")), "{said}");
    let ran = with_tool("const limit = 3;\nasync function openOrders() {\n  await tools.tap({ text: 'Orders' });\n}");
    let ran = ran.run(&["check"]).exits(3);
    assert!(
        ran.stderr.contains("the script does nothing: its function `openOrders` is never called"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains(&format!("{PLACE}:8:")), "{}", ran.stderr);
    assert!(ran.stderr.contains("add `export default openOrders;` at the end"), "{}", ran.stderr);
}

#[test]
fn a_forgotten_await_does_not_pass_a_check() {
    let project = with_tool("tools.assertVisible({ text: 'Nowhere', timeoutMs: 0 });\nreturn 'seen';")
        .with("trails/a.trail.yaml", "trail:\n  - verify: It is there\n    tools: [{tryIt: {}}]\n");
    let ran = project.run(&["run", "--pictures", "off", "-d", "android/sim-1"]).exits(1);
    assert!(ran.stdout.contains("something that the script did not wait for failed: "), "{}", ran.stdout);
    assert!(ran.stdout.contains(&format!("({PLACE}:7:")), "{}", ran.stdout);
    let said = failure("if (tools.isVisible({ text: 'Nowhere' })) {\n  return 'it is there';\n}");
    assert!(said.starts_with(&format!("the script did not wait for the answer of `isVisible` ({PLACE}:7:")), "{said}");
}

#[test]
fn errors_name_the_place_in_the_tools_file() {
    let source = "interface Named { name: string }\nconst one: Named = { name: 'a' };\nfunction deep(): never {\n  throw new TypeError(`no ${one.name}`);\n}\ndeep();";
    let said = failure(source);
    assert!(said.starts_with(&format!("TypeError: no a ({PLACE}:10:")), "{said}");
    let said = failure("await tools.tap({ text: 'Nowhere', timeoutMs: 0 })");
    assert!(said.contains(&format!("({PLACE}:7:17)")), "{said}");
}

#[test]
fn an_endless_loop_is_stopped_at_its_deadline() {
    let endless = tool_within("500ms", "tryIt", "let i = 0;\nwhile (true) {\n  i++;\n}");
    assert_eq!(
        failure_in(&Project::counter().with(PLACE, endless)),
        format!("it was stopped: it computed for 0.5 s without waiting for anything, in the loop at {PLACE}:8:5")
    );
}

#[test]
fn each_mistake_has_its_message() {
    for (source, message) in [
        ("await new Promise(() => {})", "it never ends: it waits for a promise that nothing can settle"),
        ("throw 'a text'", "it threw \"a text\", which is not an Error"),
        ("fail('the shop is closed')", "the shop is closed"),
        ("fail()", "the tool called `fail` without a message; say what is wrong"),
        ("return 'x'.repeat(2 ** 29)", "it used more than 64 MB of memory"),
        ("return 1n", "TypeError: the result cannot be passed on: it has a bigint, which JSON does not have"),
        (
            "return { a: [1, NaN] }",
            "TypeError: the result cannot be passed on: it has NaN at `a.1`, which JSON does not",
        ),
        (
            "return { a: new Map() }",
            "TypeError: the result cannot be passed on: it has a Map at `a`, which JSON does not",
        ),
        (
            "return { a: new Uint8Array(2) }",
            "TypeError: the result cannot be passed on: it has bytes (Uint8Array) at `a`, which JSON does not",
        ),
        (
            "memory.set('a', new DataView(new ArrayBuffer(1)))",
            "TypeError: `a` cannot be remembered: it has bytes (DataView)",
        ),
        (
            "const a = {}; a.b = { a }; return a",
            "TypeError: the result cannot be passed on: it contains itself at `b.a`",
        ),
        ("memory.set('a', { b: () => 1 })", "TypeError: `a` cannot be remembered: it has a function at `b`"),
        (
            "memory.set('target.appId', 'x')",
            "TypeError: `target.appId` cannot be changed in memory: names that begin with `target.` are set by Trailblaze (",
        ),
        ("return { isError: true, message: 'no order' }", "no order"),
        ("await tools.tapp({})", "unknown tool `tapp`; did you mean `tap`? (trailblaze-config/tools/tryIt.yaml:7:"),
        ("await tools.tap({ txt: 'a' })", "`tap`: unknown argument `txt`"),
        ("await callTool('tap', 'a')", "TypeError: the arguments of `tap` must be an object, got \"a\""),
        ("await tools.tryIt()", "its call to `tryIt` failed: a cycle of calls: tryIt → tryIt"),
        (
            "JSON.parse = null; Promise.prototype.then = null; await tools.tap({ text: 'Nowhere', timeoutMs: 0 })",
            "its call to `tap` failed: ",
        ),
    ] {
        let said = failure(source);
        assert!(said.starts_with(message), "{source}: {said}");
    }
    let recursion = failure("const again = () => again() + 1; again()");
    assert!(recursion.contains("Maximum call stack size exceeded"), "{recursion}");
}

#[test]
fn the_session_goes_on_after_every_mistake() {
    let sources = [
        ("500ms", "for (;;) {}"),
        ("60s", "const f = () => f(); f()"),
        ("60s", "return 'x'.repeat(2 ** 29)"),
        ("60s", "throw null"),
        ("60s", "await new Promise(() => {})"),
        ("60s", "Object.prototype.toJSON = () => { throw 1 }; return {}"),
        ("60s", "await tools.tryIt0()"),
    ];
    let mut project = Project::counter();
    let mut lines = String::new();
    for (index, (limit, source)) in sources.iter().enumerate() {
        let name = format!("tryIt{index}");
        project = project.with(&format!("trailblaze-config/tools/{name}.yaml"), tool_within(limit, &name, source));
        lines.push_str(&format!("{name}\nisVisible text=Nowhere\n"));
    }
    let ran = project.feed(&["shell", "-d", "android/sim-1"], &lines);
    assert_eq!(ran.stdout, "false\n".repeat(sources.len()), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("error: ").count(), sources.len(), "{}", ran.stderr);
}

#[test]
fn grants_belong_to_scripts_and_are_checked() {
    let file = "id: tryIt\ndescription: A script.\nparameters: []\ngrants: {fetch: [example.com, 'https://a.example/path'], readFile: ['[']}\nscript: {source: 'return 1'}\n";
    let ran = Project::counter().with(PLACE, file).run(&["check"]).exits(3);
    assert!(ran.stderr.contains("`example.com` is not an origin such as `https://api.example.com`"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`https://a.example/path` is not an origin"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the pattern is invalid"), "{}", ran.stderr);
    let file = "id: tryIt\ndescription: Calls.\nparameters: []\ngrants: {clock: true}\ntools: [{tap: {id: a}}]\n";
    let ran = Project::counter().with(PLACE, file).run(&["check"]).exits(3);
    assert!(ran.stderr.contains("`grants` can only be used with `script`"), "{}", ran.stderr);
}

#[test]
fn ctrl_c_stops_a_script_that_computes() {
    let file = "id: tryIt\ndescription: Spins.\nparameters: []\nscript:\n  timeout: 60s\n  source: |\n    log('spinning');\n    await tools.isVisible({ text: 'a' });\n    for (;;) {}\n";
    let project = Project::counter().with(PLACE, file);
    let running = project.start(&["tool", "tryIt", "-d", "android/sim-1"]);
    crate::support::wait_until("the script spins", || {
        // The file is being written: it may not be there yet, or end within a line.
        let events = std::fs::read_to_string(project.runs().pop()?.path.join("events.jsonl")).ok()?;
        events.contains("isVisible").then_some(())
    });
    running.interrupt();
    let ran = project.ended(running);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}
