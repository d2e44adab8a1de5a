//! Servers that are already running and are reached over HTTP, served with FastMCP and the TypeScript SDK.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

use serde_json::json;
use trailblaze_protocol::event::{Event, Level};

use crate::support::lab::{Lab, parts};
use crate::support::stage::with_a_limit;
use crate::support::{PATIENCE, repository, wait_until};

/// A server that Trailblaze did not start.
struct Elsewhere {
    child: Child,
    port: u16,
    /// Its stderr so far.
    said: Arc<Mutex<String>>,
    listening: Option<JoinHandle<()>>,
}

impl Elsewhere {
    /// FastMCP.
    fn python(lab: &Lab) -> Elsewhere {
        Elsewhere::python_with(lab, &[])
    }

    fn python_with(lab: &Lab, variables: &[(&str, &str)]) -> Elsewhere {
        let mut command = Command::new(repository().join(".parts/python/bin/python"));
        command.arg(lab.path("tools/web.py")).env("FASTMCP_TRANSPORT", "http").env("FASTMCP_PORT", "0");
        command.envs(variables.iter().copied());
        let mut server = Elsewhere::start(command.stdout(Stdio::null()));
        server.port = wait_until("it listens", || {
            let said = server.said();
            let (_, address) = said.split_once("Uvicorn running on ")?;
            address.split_once(" (")?.0.rsplit(':').next()?.parse().ok()
        });
        server
    }

    /// The TypeScript SDK.
    fn typescript(lab: &Lab) -> Elsewhere {
        Elsewhere::typescript_on(lab, 0)
    }

    fn typescript_on(lab: &Lab, port: u16) -> Elsewhere {
        let mut command = Command::new(parts().expect("they are there").join("node/node_modules/.bin/bun"));
        command.args(["run", &lab.path("tools/web.ts"), "--transport", "http", "--port", &port.to_string()]);
        let mut server = Elsewhere::start(command.stdout(Stdio::piped()));
        let mut line = String::new();
        BufReader::new(server.child.stdout.take().expect("its stdout")).read_line(&mut line).expect("a line");
        server.port = line.trim().strip_prefix("listening on ").expect("a port").parse().expect("a number");
        server
    }

    /// Starts it and collects its stderr. Its port is not known yet.
    fn start(command: &mut Command) -> Elsewhere {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let stderr = BufReader::new(child.stderr.take().expect("its stderr"));
        let said = Arc::<Mutex<String>>::default();
        let heard = Arc::clone(&said);
        let listening = std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                heard.lock().expect("no test panics with it").push_str(&format!("{line}\n"));
            }
        });
        Elsewhere { child, port: 0, said, listening: Some(listening) }
    }

    fn said(&self) -> String {
        self.said.lock().expect("no test panics with it").clone()
    }

    fn entry(&self, keys: &str) -> String {
        format!("mcpServers:\n  web: {{transport: http, url: 'http://127.0.0.1:{}'{keys}}}\n", self.port)
    }

    /// Stops it, and returns its stderr.
    fn end(mut self) -> String {
        let _ = self.child.kill();
        self.listening.take().expect("it is stopped once").join().expect("it reads to the end");
        self.said()
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_in_python_is_reached_over_http_in_either_generation() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.py").calls(&[
        "py_talk: {}",
        "py_meta: {}",
        "launchApp: {packageId: com.example.counter}",
        "py_back: {}",
    ]);
    let server = Elsewhere::python(lab);
    for (keys, expected) in [("", "2025-11-25"), (", protocol: '2026-07-28'", "2026-07-28")] {
        let played = lab.configured(&server.entry(keys)).run(&["-d", "ios/sim-1"], 0);
        let started = played.run.events().into_iter().find_map(|event| match event {
            Event::ServerStarted { protocol, .. } => Some(protocol),
            _ => None,
        });
        assert_eq!(started.as_deref(), Some(expected));
        assert_eq!(played.texts("py_talk"), ["talked"]);
        let notes = played.notes();
        assert!(notes.contains(&(Level::Warning, "a word of warning".into())), "{expected}: {notes:?}");
        assert!(notes.contains(&(Level::Info, "1/2 halfway".into())), "{expected}: {notes:?}");
        let told = played.structured("py_meta");
        let call = played.run.calls().into_iter().find(|call| call.tool == "py_meta").expect("it was called");
        assert_eq!((&told["device"]["id"], &told["invocation"]), (&json!("ios/sim-1"), &json!(call.call)));
        assert_eq!(played.texts("py_back"), ["true"], "it taps through its callback");
    }
}

#[test]
fn a_server_of_the_typescript_sdk_is_reached_over_http_and_its_session_is_closed() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.ts").calls(&["ts_talk: {}", "ts_device: {}"]);
    let server = Elsewhere::typescript(lab);
    let played = lab.configured(&server.entry("")).run(&["-d", "android/sim-1"], 0);
    assert_eq!(
        (played.texts("ts_talk"), played.texts("ts_device")),
        (vec!["talked".into()], vec!["android/sim-1".into()])
    );
    let notes = played.notes();
    assert!(notes.contains(&(Level::Info, "1/2".into())), "{notes:?}");
    assert_eq!(server.end(), "session closed\n");
}

#[test]
fn a_server_over_http_can_announce_new_tools() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.ts");
    let server = Elsewhere::typescript(lab);
    lab.configured(&server.entry(""));
    lab.project.write("lines", "ts_grow\nreloadTools\nts_grown\nquit\n");
    let mut command = lab.command(&["shell", "-d", "android/sim-1"]);
    command.stdin(std::fs::File::open(lab.path("lines")).unwrap());
    let ran = lab.finish(command);
    assert!(ran.stdout.contains("I am new"), "{ran:?}");
}

#[test]
fn cancelling_a_call_over_http_reaches_the_server() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.ts").calls(&["ts_stay: {}"]);
    with_a_limit(|limit| {
        let server = Elsewhere::typescript(lab);
        let entry = server.entry(&format!(", callTimeout: {limit}"));
        let played = lab.configured(&entry).run(&["-d", "android/sim-1"], 1);
        let told = format!("{}{}", played.ran.stdout, played.ran.stderr);
        assert!(told.contains(&format!("server `web` was silent for {limit}")), "{told}");
        // If the tool had not started by then, there was nothing to cancel.
        server.said().contains("staying\n").then_some(())?;
        // The run does not wait until the server has noticed.
        wait_until("the server notices", || server.said().contains("staying\ncalled off\n").then_some(()));
        Some(())
    });
}

#[test]
fn a_secret_in_a_header_reaches_only_the_server() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.py").calls(&["py_who: {}"]);
    let server = Elsewhere::python(lab);
    let lab = lab.configured(&server.entry(", headers: {x-team-token: 'Bearer {{TEAM_TOKEN}}'}"));
    let lacking = lab.run(&[], 2);
    let told = format!("{}{}", lacking.ran.stdout, lacking.ran.stderr);
    let expected = "`x-team-token` in its `headers:` needs the variable `TEAM_TOKEN`, of at least 4 characters";
    assert!(told.contains(expected), "{told}");
    // The server answers with the header that it received, and even that is not shown.
    let played = lab.env("TEAM_TOKEN", "open-sesame-71").run(&[], 0);
    assert_eq!(played.texts("py_who"), ["Bearer {{TEAM_TOKEN}}"]);
    let toolbox = lab.go(&["toolbox", "--json"]).exits(0);
    for text in [&played.ran.stdout, &played.ran.stderr, &toolbox.stdout, &toolbox.stderr] {
        assert!(!text.contains("open-sesame"), "{text}");
    }
    let mut folders = vec![played.run.path.clone(), lab.project.root().join(".trailblaze")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false => {
                    let bytes = std::fs::read(entry.path()).expect("a file");
                    let is_told = bytes.windows(11).any(|part| part == b"open-sesame");
                    assert!(!is_told, "the secret is in {}", entry.path().display());
                }
            }
        }
    }
}

#[test]
fn https_uses_the_certificates_of_the_system() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.py").fixture("certificate.py").calls(&["py_talk: {}"]);
    let mut command = Command::new(repository().join(".parts/python/bin/python"));
    let made = command.args([lab.path("tools/certificate.py"), lab.path("tools")]).status().expect("it starts");
    assert!(made.success());
    let server = Elsewhere::python_with(lab, &[("WEB_CERTIFICATE", &lab.path("tools"))]);
    let lab = lab.configured(&server.entry("").replace("http://", "https://"));
    let ran = lab.go(&["tool", "py_talk"]).exits(2);
    assert!(ran.stderr.contains("invalid peer certificate"), "{}", ran.stderr);
    let played = lab.env("SSL_CERT_FILE", lab.path("tools/certificate.pem")).run(&[], 0);
    assert_eq!(played.texts("py_talk"), ["talked"]);
}

/// A shell that calls `ts_device` again and again.
struct Shell {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: mpsc::Receiver<String>,
}

impl Shell {
    fn start(lab: &Lab) -> Shell {
        let mut child =
            lab.command(&["shell", "-d", "android/sim-1"]).stdin(Stdio::piped()).spawn().expect("it starts");
        let (sender, answers) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().expect("its stdout"));
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Shell { stdin: child.stdin.take(), child, answers }
    }

    fn ask(&mut self) {
        writeln!(self.stdin.as_ref().expect("it is open"), "ts_device").expect("it reads");
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = self.answers.recv_timeout(until.saturating_duration_since(Instant::now()));
            if answer.expect("it answers").contains("android/sim-1") {
                return;
            }
        }
    }

    fn end(mut self) {
        self.stdin = None;
        assert!(self.child.wait().expect("it ends").success());
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_that_was_restarted_between_calls_is_reconnected() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.ts");
    let server = Elsewhere::typescript(lab);
    let port = server.port;
    lab.configured(&server.entry(""));
    let mut shell = Shell::start(lab);
    shell.ask();
    server.end();
    // Its session is unknown to the new server.
    let server = Elsewhere::typescript_on(lab, port);
    shell.ask();
    shell.end();
    drop(server);
}

/// Passes connections on to a server. When told to, it resets one that is about to make a call.
struct Between {
    port: u16,
    resets: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<Connection>>>,
}

/// A connection of a client, and what passes its requests on until the client closes it.
struct Connection {
    client: TcpStream,
    requests: JoinHandle<()>,
}

impl Between {
    fn start(server: u16) -> Between {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let (resets, open): (Arc<AtomicBool>, Arc<Mutex<Vec<Connection>>>) = Default::default();
        let (is_told, kept) = (Arc::clone(&resets), Arc::clone(&open));
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let mut method = [0; 4];
                // Peeking leaves the data unread, so dropping the connection resets it.
                let is_post = client.peek(&mut method).is_ok() && method == *b"POST";
                if is_post && is_told.swap(false, Ordering::SeqCst) {
                    continue;
                }
                let server = TcpStream::connect(("127.0.0.1", server)).expect("it listens");
                let copy = |stream: &TcpStream| stream.try_clone().expect("a stream");
                let pass_on = |mut from: TcpStream, mut to: TcpStream| {
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    })
                };
                let requests = pass_on(copy(&client), copy(&server));
                pass_on(server, copy(&client));
                kept.lock().expect("no test panics with it").push(Connection { client, requests });
            }
        });
        Between { port, resets, open }
    }

    /// Closes all connections, and resets the next one that makes a call.
    fn reset_next(&self) {
        self.resets.store(true, Ordering::SeqCst);
        let open: Vec<Connection> = self.open.lock().expect("no test panics with it").drain(..).collect();
        for Connection { client, requests } in open {
            let _ = client.shutdown(Shutdown::Write);
            wait_until("the client closes the connection too", || requests.is_finished().then_some(()));
        }
    }
}

#[test]
fn a_call_on_a_connection_that_is_reset_is_made_again() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.ts");
    let server = Elsewhere::typescript(lab);
    let between = Between::start(server.port);
    lab.configured(&server.entry("").replace(&server.port.to_string(), &between.port.to_string()));
    let mut shell = Shell::start(lab);
    shell.ask();
    between.reset_next();
    shell.ask();
    shell.end();
    assert!(!between.resets.load(Ordering::SeqCst), "a call was reset");
}

#[test]
fn an_unreachable_server_is_reported_with_its_address() {
    let Some(lab) = Lab::new() else { return };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let entry = format!("mcpServers:\n  web: {{transport: http, url: 'http://127.0.0.1:{port}'}}\n");
    let ran = lab.configured(&entry).go(&["tool", "py_meta"]).exits(2);
    let told = ran.stderr.replace(&port.to_string(), "[port]");
    insta::assert_snapshot!(told, @"error: server `web` did not start: connection refused at http://127.0.0.1:[port]/mcp; is it running, and is its `url:` right?");
}

#[test]
fn an_offline_check_uses_the_last_listing_over_http() {
    let Some(lab) = Lab::new() else { return };
    let lab = lab.fixture("web.ts").calls(&["ts_meet: {n: many}"]);
    let server = Elsewhere::typescript(lab);
    lab.configured(&server.entry(""));
    lab.go(&["toolbox"]).exits(0);
    server.end();
    let ran = lab.go(&["check", "--offline"]).exits(3);
    assert!(ran.stderr.contains("ts_meet"), "{ran:?}");
}
