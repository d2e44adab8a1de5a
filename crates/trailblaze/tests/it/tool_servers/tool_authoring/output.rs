//! What tools say while they run, and where they failed.

use super::with_python;
use crate::support::home::Home;
use crate::support::lab::{Lab, Runtime};
use crate::tool_servers::scripts::{call, with_tool};

const TYPESCRIPT: &str = "import { run, tool } from '@trailblaze/scripting';
tool('says', { description: 'Says something.' }, (_, { log }) => {
  console.log('printed \\u001b[31mred\\u001b[0m');
  process.stdout.write('no end');
  log('info', 'logged');
  throw new Error('it broke');
});
tool('forgets', { description: 'Does not wait.' }, (_, { tap }) => {
  void tap({ text: 'nowhere', timeoutMs: 50 });
});
tool('rejects', { description: 'Leaves a promise rejected.' }, () => {
  void Promise.reject(new TypeError('forgotten'));
});
tool('fine', { description: 'Is fine.' }, () => 'fine');
tool('throwsText', { description: 'Throws a text.' }, () => {
  throw 'no luck';
});
tool('leaves', { description: 'Leaves a timer running.' }, () => {
  setTimeout(() => {}, 60_000);
  return 'left';
});
await run();
";

/// Checks a failed call: what it said on the terminal, and its message.
fn check(lab: &Lab, tool: &str, expected: &[&str]) {
    let called = lab.go(&["tool", "-d", "android/sim-1", tool]).exits(1);
    let told = format!("{}{}", called.stdout, called.stderr);
    for expected in expected {
        assert!(told.contains(expected), "{tool}: `{expected}` is not in: {told}");
    }
}

#[test]
fn a_typescript_tool_says_what_it_does_and_where_it_failed() {
    let Some(lab) = Lab::under(Runtime::Bun) else { return };
    lab.with("tools/says.ts", TYPESCRIPT);
    for runtime in ["process", "embedded"] {
        lab.configured(&format!("mcpServers:\n  tools: {{script: tools/says.ts, runtime: {runtime}}}\n"));
        check(&lab, "says", &["says: printed red\n", "says: no end\n", "says: logged\n", "it broke (tools/says.ts:6:"]);
        let forgotten = "something that the tool did not wait for failed: ";
        check(&lab, "forgets", &[forgotten, " (tools/says.ts:9:"]);
        check(&lab, "rejects", &[forgotten, "TypeError: forgotten (tools/says.ts:12:"]);
        lab.go(&["tool", "-d", "android/sim-1", "fine"]).exits(0);
        // Only the engine knows where a text was thrown; elsewhere, the place is that of the tool.
        let line = if runtime == "embedded" { 16 } else { 15 };
        check(&lab, "throwsText", &[&format!("no luck (tools/says.ts:{line}:")]);
        let left = lab.go(&["tool", "-d", "android/sim-1", "leaves"]).exits(0).stderr;
        let warning = "leaves: `leaves` ended before its timer fired; wait for it, or clear it (tools/says.ts:19:";
        assert!(left.contains(warning), "{runtime}: {left}");
    }
    lab.calls(&["leaves: {}"]);
    let ran = lab.go(&["run"]).exits(0).stderr;
    assert!(ran.contains("leaves: `leaves` ended before its timer fired"), "a run says so too: {ran}");
    lab.calls(&["says: {}"]);
    let said = "says: printed red\n";
    assert!(!lab.go(&["run"]).exits(1).stderr.contains(said), "only if asked");
    assert!(lab.go(&["run", "--verbose"]).exits(1).stderr.contains(said));
}

#[test]
fn a_python_tool_says_what_it_does_and_where_it_failed() {
    let Some(lab) = with_python(Runtime::Nothing) else { return };
    lab.configured("mcpServers:\n  py: {command: python3, args: [tools/says.py]}\n");
    let head = "from fastmcp import FastMCP\nfrom trailblaze import failure_middleware\n\n";
    let tool = "@server.tool\ndef says() -> str:\n    print('printed')\n    print('no end', end='')\n    return {}['email']\n\n\nserver.run(show_banner=False)\n";
    let middleware = "server = FastMCP('py', middleware=[failure_middleware()])\n\n\n";
    lab.with("tools/says.py", &format!("{head}{middleware}{tool}"));
    check(&lab, "says", &["says: printed\n", "says: no end", "KeyError: 'email' (tools/says.py:11)"]);
}

#[test]
fn a_script_says_what_it_does() {
    let called = call(&with_tool("console.log('printed');\nlog('logged');\nfail('it broke');")).exits(1);
    let left = call(&with_tool("setTimeout(() => {}, 60_000);\nreturn 'left';")).exits(0).stderr;
    let warning = "tryIt: the script ended before its timer fired, so the timer was dropped";
    assert!(left.contains(warning), "{left}");
    // A run says so too: its trail passes, and may not have done what it says.
    let project = with_tool("setTimeout(() => {}, 60_000);\nreturn 'left';");
    project.write("trails/try.trail.yaml", "trail:\n  - step: Try it\n    tools:\n      - tryIt: {}\n");
    let ran = project.run(&["run", "-d", "android/sim-1"]).exits(0);
    assert!(ran.stderr.contains(&format!("warning: android/sim-1: {warning}")), "{}", ran.stderr);
    for line in ["tryIt: printed\n", "tryIt: logged\n", "error: it broke\n"] {
        assert!(called.stderr.contains(line), "`{line}` is not in: {}", called.stderr);
    }
    // In a session of the daemon, too.
    let home = Home::new(with_tool("for (let n = 0; n < 900; n++) console.log(`printed ${n}`);\nreturn 'done';"));
    let called = home.run(&["tool", "tryIt", "-d", "android/sim-1"]).exits(0);
    let printed = called.stderr.lines().filter(|line| line.starts_with("tryIt: printed ")).count();
    assert_eq!(printed, 900, "{}", called.stderr);
}
