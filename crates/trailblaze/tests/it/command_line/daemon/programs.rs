//! Programs that were told nothing, and tool servers that an agent starts by itself: they find the daemon and its session.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::{Project, Ran, repository, skip};

const PYTHON: &str = "
import asyncio
from trailblaze import SyncTrailblazeClient, TrailblazeClient

async def main():
    async with TrailblazeClient() as tb:
        await tb.tap(id='add')

asyncio.run(main())
with SyncTrailblazeClient() as tb:
    tb.assert_visible(id='count')
    print(tb.get_element_text('count'))
";

const TYPESCRIPT: &str = "
import { TrailblazeClient } from '@trailblaze/client';

const tb = new TrailblazeClient();
await tb.tap({ id: 'add' });
await tb.assertVisible({ id: 'count' });
console.log(await tb.getElementText('count'));
";

const PYTHON_SERVER: &str = "
from fastmcp import Context, FastMCP
from trailblaze import TrailblazeClient

server = FastMCP('counter')


@server.tool
async def counter_addOne(ctx: Context) -> str:
    tb = TrailblazeClient.from_context(ctx)
    await tb.tap(id='add')
    return await tb.get_element_text('count')


server.run(show_banner=False)
";

const TYPESCRIPT_SERVER: &str = "
import { run, tool } from '@trailblaze/scripting';

tool('counter_addOne', { description: 'Add one.' }, async (_args, { tap, getElementText, device, memory, client }) => {
  await tap({ id: 'add' });
  memory.set('device', device.id);
  await client.callTool('assertVisible', { id: 'count' });
  return (await getElementText('count')) ?? '';
});

await run();
";

/// Programs and packages that the clients need.
struct Clients {
    python: PathBuf,
    fastmcp: PathBuf,
    node: PathBuf,
    bun: PathBuf,
}

impl Clients {
    fn new() -> Option<Clients> {
        let parts = repository().join(".parts");
        let [python, fastmcp, node, bun] = [
            "sdk-python/bin/python",
            "python/bin/python",
            "node/node_modules/node/bin/node",
            "node/node_modules/.bin/bun",
        ]
        .map(|program| parts.join(program));
        let packages = ["client", "scripting"].map(|name| typescript().join(name).join("dist/index.js"));
        if ![&python, &fastmcp, &node, &bun].into_iter().chain(&packages).all(|part| part.exists()) {
            skip::without_part("the runtimes and packages of the clients; `scripts/parts` installs them");
            return None;
        }
        Some(Clients { python, fastmcp, node, bun })
    }

    /// The same program in each language.
    fn programs(&self, home: &Home) -> Vec<(&'static str, Command)> {
        home.project.write("program.py", PYTHON);
        write_typescript(home, "program.ts", TYPESCRIPT);
        vec![
            ("Python", start(home, &self.python, &["program.py"])),
            ("Node", start(home, &self.node, &["--experimental-strip-types", "--no-warnings", "program.ts"])),
            ("Bun", start(home, &self.bun, &["program.ts"])),
        ]
    }
}

fn typescript() -> PathBuf {
    repository().join("sdks/typescript")
}

/// A file that finds the packages as in a project where they were installed.
pub(super) fn write_typescript(home: &Home, path: &str, text: &str) {
    let folder = home.project.root().join("node_modules/@trailblaze");
    std::fs::create_dir_all(&folder).expect("a folder");
    for name in ["client", "scripting"] {
        let _ = std::os::unix::fs::symlink(typescript().join(name), folder.join(name));
    }
    home.project.write("package.json", "{\"type\": \"module\"}");
    home.project.write(path, text);
}

/// A program with few variables, none of them about Trailblaze: as agents start servers.
fn start(home: &Home, program: &PathBuf, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(home.project.root()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("XDG_RUNTIME_DIR", home.folder().parent().expect("a folder"));
    command.env("PYTHONPATH", repository().join("sdks/python/src")).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// A session on the counter's screen.
fn connected() -> Home {
    let home = Home::counter();
    home.run(&["device", "connect"]).exits(0);
    home.run(&["tool", "launchApp", "packageId=com.example.counter"]).exits(0);
    home
}

fn refused(home: &Home, command: Command) -> String {
    let Ran { stderr, .. } = home.project.finish(command).exits(1);
    stderr
}

#[test]
fn programs_that_were_told_nothing_use_the_only_session() {
    let Some(clients) = Clients::new() else { return };
    let home = connected();
    for (number, (language, command)) in clients.programs(&home).into_iter().enumerate() {
        let ran = home.project.finish(command).exits(0);
        assert_eq!(ran.stdout.trim(), format!("Count: {}", number + 1), "{language}");
    }
    let shown = home.run(&["session", "show"]).exits(0).stdout;
    assert_eq!(shown.matches("tap {\"id\":\"add\"}").count(), 3, "{shown}");
}

#[test]
fn a_variable_names_the_session_of_a_program() {
    let Some(clients) = Clients::new() else { return };
    let home = Home::counter();
    for (device, name) in [("android/sim-1", "phone"), ("ios/sim-1", "tablet")] {
        home.run(&["device", "connect", "-d", device, "--session", name]).exits(0);
        home.run(&["tool", "launchApp", "packageId=com.example.counter", "--session", name]).exits(0);
    }
    for (language, command) in clients.programs(&home) {
        let said = refused(&home, command);
        assert!(said.contains("2 sessions are open: `phone`, `tablet`"), "{language}: {said}");
        assert!(said.contains("set TRAILBLAZE_SESSION to the name of one"), "{language}: {said}");
    }
    for (number, (language, mut command)) in clients.programs(&home).into_iter().enumerate() {
        command.env("TRAILBLAZE_SESSION", "tablet");
        let ran = home.project.finish(command).exits(0);
        assert_eq!(ran.stdout.trim(), format!("Count: {}", number + 1), "{language}");
    }
    for (language, mut command) in clients.programs(&home) {
        command.env("TRAILBLAZE_SESSION", "watch");
        let said = refused(&home, command);
        assert!(said.contains("no session is named `watch`"), "{language}: {said}");
    }
    let phone = home.run(&["session", "show", "--session", "phone"]).exits(0).stdout;
    assert!(!phone.contains("tap"), "{phone}");
}

#[test]
fn without_a_session_a_program_says_how_to_open_one() {
    let Some(clients) = Clients::new() else { return };
    let home = Home::counter();
    let check = |what: &str, words: &str| {
        for (language, command) in clients.programs(&home) {
            let said = refused(&home, command);
            assert!(said.contains(words), "{language}, {what}: {said}");
            assert!(said.contains("`trailblaze device connect` opens one"), "{language}, {what}: {said}");
        }
    };
    check("no daemon", "no Trailblaze session is open");
    home.run(&["device", "connect"]).exits(0);
    home.run(&["session", "close"]).exits(0);
    check("no session", "no session is open");
    crate::support::home::kill(home.pid());
    check("a killed daemon", "no Trailblaze session is open");
}

#[test]
fn programs_do_not_trust_what_other_users_could_have_written() {
    let Some(clients) = Clients::new() else { return };
    let home = connected();
    // The daemon repairs its own file; this is that of another program.
    let file = home.folder().join("another.daemon.json");
    std::fs::copy(home.folder().join("trailblaze.daemon.json"), &file).expect("a copy");
    for (path, open, private) in [(file, 0o644, 0o600), (home.folder(), 0o755, 0o700)] {
        let mode = |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("it is changed");
        mode(open);
        for (language, command) in clients.programs(&home) {
            let said = refused(&home, command);
            let words = format!("`{}` is not used: it belongs to another user", path.display());
            assert!(said.contains(&words), "{language}: {said}");
        }
        mode(private);
    }
    std::fs::remove_file(home.folder().join("another.daemon.json")).expect("it is removed");
    let shown = home.run(&["session", "show"]).exits(0).stdout;
    assert!(!shown.contains("tap"), "{shown}");
}

/// An MCP client that knows nothing about Trailblaze, with a server that it started.
struct Agent {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Agent {
    fn start(mut command: Command) -> Agent {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut agent = Agent { child, stdin, stdout };
        let about = json!({"name": "agent", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about});
        agent.request("initialize", params);
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").expect("the server reads");
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).expect("the server writes") > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == 1 {
                return message["result"].clone();
            }
        }
    }

    /// Whether a tool failed, and its text.
    fn call(&mut self, tool: &str, args: Value) -> (bool, String) {
        let result = self.request("tools/call", json!({"name": tool, "arguments": args}));
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        (result["isError"] == true, text.to_string())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The same server in each language.
fn servers(clients: &Clients, home: &Home) -> Vec<(&'static str, Command)> {
    home.project.write("server.py", PYTHON_SERVER);
    write_typescript(home, "server.ts", TYPESCRIPT_SERVER);
    vec![
        ("FastMCP", start(home, &clients.fastmcp, &["server.py"])),
        ("Node", start(home, &clients.node, &["--experimental-strip-types", "--no-warnings", "server.ts"])),
        ("Bun", start(home, &clients.bun, &["server.ts"])),
    ]
}

#[test]
fn a_tool_server_that_an_agent_starts_uses_the_session_of_the_daemon() {
    let Some(clients) = Clients::new() else { return };
    let home = Home::counter();
    let mut agents: Vec<_> =
        servers(&clients, &home).into_iter().map(|(name, command)| (name, Agent::start(command))).collect();
    for (language, agent) in &mut agents {
        let (is_error, text) = agent.call("counter_addOne", json!({}));
        assert!(is_error && text.contains("no Trailblaze session is open"), "{language}: {text}");
    }
    // The servers find a session that is opened later, and the next one.
    for session in ["first", "second"] {
        home.run(&["device", "connect", "--session", session]).exits(0);
        home.run(&["tool", "launchApp", "packageId=com.example.counter"]).exits(0);
        for (number, (language, agent)) in agents.iter_mut().enumerate() {
            assert_eq!(
                agent.call("counter_addOne", json!({})),
                (false, format!("Count: {}", number + 1)),
                "{language}"
            );
        }
        home.run(&["tool", "assertEquals", "actual={{device}}", "expected=android/sim-1"]).exits(0);
        home.run(&["session", "close"]).exits(0);
    }
    drop(agents);
}

/// An agent with two servers in its configuration. FastMCP puts the name of the server before that of the tool.
const TWO_SERVERS: &str = "
import asyncio, json
from fastmcp import Client

async def main():
    async with Client(json.load(open('mcp.json'))) as agent:
        async def call(name, **args):
            return (await agent.call_tool(name, args)).content[0].text
        await call('trailblaze_session', action='open')
        launch = {'tool': 'launchApp', 'args': {'packageId': 'com.example.counter'}}
        await call('trailblaze_act', step='Start', calls=[launch])
        print(await call('python_counter_addOne'))
        print(await call('node_counter_addOne'))
        print(await call('trailblaze_snapshot'))

asyncio.run(main())
";

#[test]
fn an_agent_uses_trailblaze_and_a_tool_server_from_one_configuration() {
    let Some(clients) = Clients::new() else { return };
    let home = Home::counter();
    let entry = |command: &Command| {
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        let args: Vec<String> = command.get_args().map(text).collect();
        let env: serde_json::Map<String, Value> =
            command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?).into()))).collect();
        json!({"command": text(command.get_program()), "args": args, "env": env, "cwd": home.project.root()})
    };
    let servers = servers(&clients, &home);
    let config = json!({"mcpServers": {
        "trailblaze": entry(&home.command(&["mcp"])),
        "python": entry(&servers[0].1),
        "node": entry(&servers[1].1),
    }});
    home.project.write("mcp.json", config.to_string());
    home.project.write("agent.py", TWO_SERVERS);
    let ran = home.project.finish(start(&home, &clients.fastmcp, &["agent.py"])).exits(0);
    assert!(ran.stdout.starts_with("Count: 1\nCount: 2\n"), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("Count: 2").count(), 2, "{}", ran.stdout);
}

#[test]
fn the_tools_of_an_example_work_in_a_server_that_an_agent_starts() {
    let Some(clients) = Clients::new() else { return };
    let home = Home::new(Project::wallet());
    home.run(&["device", "connect", "-d", "android/sim-1"]).exits(0);
    home.run(&["tool", "launchApp", "packageId=com.example.wallet"]).exits(0);
    home.run(&["tool", "wallet_signIn", "pin=1234"]).exits(0);
    home.run(&["tool", "tap", "id=notNow"]).exits(0);
    let script = repository().join("examples/acme-tools/tools/wallet.ts");
    let mut agent = Agent::start(start(&home, &clients.bun, &[&script.display().to_string()]));
    let (is_error, text) = agent.call("acme_sendMoney", json!({"to": "Grace", "amount": "12.50"}));
    assert!(!is_error && text.starts_with("sent €12.50 to Grace, reference "), "{text}");
    let reference = text.rsplit(' ').next().expect("a word");
    let expected = format!("expected={reference}");
    home.run(&["tool", "assertEquals", "actual={{reference}}", &expected]).exits(0);
    let (is_error, text) = agent.call("acme_checkBalance", json!({"euros": "1.00"}));
    assert!(is_error && text.starts_with("the balance is €"), "{text}");
}
