//! What a script may do besides calling tools must be granted, is shown, and is pinned.

use std::io::{Read, Write};
use std::net::TcpListener;

use super::failure;
use crate::support::Project;

const PLACE: &str = "trailblaze-config/tools/tryIt.yaml";

fn granted(grants: &str, source: &str) -> Project {
    let file = format!(
        "id: tryIt\ndescription: A script.\nparameters: []\ngrants: {grants}\nscript:\n  source: |\n    {source}\n"
    );
    Project::counter().with(PLACE, file)
}

#[test]
fn without_grants_nothing_outside_can_be_reached() {
    for (source, message) in [
        ("await readFile('counter.app.yaml')", "it is not granted; add it to `readFile:` under `grants:`"),
        (
            "await fetch('http://127.0.0.1:1/')",
            "`http://127.0.0.1:1` is not granted; add it to `fetch:` under `grants:`",
        ),
        ("await env('HOME')", "the variable `HOME` is not granted; add it to `env:` under `grants:`"),
        ("return Date.now()", "the clock is not granted; add `clock: true` to `grants:`"),
    ] {
        let said = failure(source);
        assert!(said.contains(message), "{source}: {said}");
    }
}

#[test]
fn granted_files_variables_and_the_clock_can_be_read() {
    let project = granted(
        "{readFile: ['fixtures/*.json'], env: [GREETING], clock: true}",
        "return [JSON.parse(await readFile('fixtures/a.json')).n, await env('GREETING'), Date.now() > 1e12]",
    )
    .with("fixtures/a.json", "{\"n\": 7}");
    let mut command = project.command(&["tool", "tryIt", "-d", "android/sim-1"]);
    command.env("GREETING", "hello");
    assert_eq!(project.finish(command).exits(0).stdout, "[7,\"hello\",true]\n");
}

#[test]
fn a_granted_server_can_be_asked_and_no_other() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a request");
        let mut request = Vec::new();
        let mut part = [0; 1024];
        while !request.ends_with(b"{\"q\":1}") {
            let read = stream.read(&mut part).expect("read");
            request.extend_from_slice(&part[..read]);
        }
        let body = "{\"answer\": 42}";
        write!(
            stream,
            "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("written");
        String::from_utf8(request).expect("text")
    });
    let source = format!(
        "const r = await fetch('http://{address}/ask?x=1', {{ method: 'POST', headers: {{ 'x-mine': 'a' }}, body: JSON.stringify({{ q: 1 }}) }}); return [r.status, r.ok, r.headers.get('Content-Type'), (await r.json()).answer]"
    );
    let project = granted(&format!("{{fetch: ['http://{address}']}}"), &source);
    let ran = project.run(&["tool", "tryIt", "-d", "android/sim-1"]).exits(0);
    assert_eq!(ran.stdout, "[201,true,\"application/json\",42]\n");
    let request = server.join().expect("it served");
    assert!(request.starts_with("POST /ask?x=1 HTTP/1.1\r\n") && request.contains("x-mine: a\r\n"), "{request}");
    for url in [
        format!("http://localhost:{}/", address.port()),
        format!("https://{address}/"),
        "file:///etc/passwd".to_string(),
    ] {
        let project = granted(&format!("{{fetch: ['http://{address}']}}"), &format!("await fetch('{url}')"));
        project.run(&["tool", "tryIt", "-d", "android/sim-1"]).exits(1);
    }
}

#[test]
fn grants_are_shown_and_pinned() {
    let project =
        granted("{readFile: ['fixtures/*.json'], fetch: ['https://api.example.com'], env: [TOKEN]}", "return 1")
            .with("trails/a.trail.yaml", "trail:\n  - step: Try\n    tools: [{tryIt: {}}]\n");
    let ran = project.run(&["toolbox", "why", "tryIt", "-d", "android/sim-1"]).exits(0);
    for line in [
        "its script reads files: fixtures/*.json",
        "its script sends requests to: https://api.example.com",
        "its script reads environment variables: TOKEN",
    ] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    project.run(&["run", "--pictures", "off", "--record"]).exits(0);
    assert!(project.read("trails/a.effects.yaml").contains("sends requests to: https://api.example.com"));
    // A grant that was added later is a change of the tool.
    let file = project.read(PLACE).replace("env: [TOKEN]", "env: [TOKEN, OTHER]");
    project.write(PLACE, file);
    let ran = project.run(&["run", "--pictures", "off"]).exits(0);
    assert!(ran.stderr.contains("TOKEN, OTHER") || ran.stderr.contains("OTHER, TOKEN"), "{}", ran.stderr);
}
