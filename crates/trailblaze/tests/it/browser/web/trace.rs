//! What is kept of an attempt that fails: what went wrong just before, the files with its steps, and a trace of what the page looked like.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use serde_json::Value;

use crate::browser::web::shop::{Shop, calls};
use crate::support::files;

/// A shop whose payments fail. It ends with the test.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let n = stream.read(&mut request).unwrap_or(0);
            let text = String::from_utf8_lossy(&request[..n]).into_owned();
            let (head, body) = match text.split(' ').nth(1).unwrap_or("/") {
                "/" => ("200 OK\r\nContent-Type: text/html", PAGE),
                "/frame" => ("200 OK\r\nContent-Type: text/html", "<!doctype html><p>In the frame</p>"),
                "/style.css" => ("200 OK\r\nContent-Type: text/css", "button { color: rgb(1, 2, 3) }"),
                _ => ("404 Not Found\r\nContent-Type: text/plain", "no"),
            };
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        }
    });
    address
}

const PAGE: &str = "<!doctype html><title>Shop</title><link rel=stylesheet href=/style.css><h1>Shop</h1><input aria-label=Name>\
    <input aria-label=Pass type=password><iframe src=/frame></iframe><button>Pay</button><p></p><script>\
    document.querySelector('button').onclick = async () => { \
      const answer = await fetch('/api/pay', { method: 'POST' }); \
      document.querySelector('p').textContent = answer.ok ? 'Paid' : 'Please wait'; \
      if (!answer.ok) console.error('payment was refused'); };</script>";

fn shop(last: &str) -> Option<Shop> {
    let shop = Shop::open("")?;
    let open = format!("openUrl: {{url: '{}'}}", server());
    let made = calls(&[
        &open,
        "tap: {text: Name}",
        "inputText: {text: Ada}",
        "tap: {text: Pass}",
        "inputText: {text: open-sesame-42}",
        "tap: {text: Pay}",
        last,
    ]);
    shop.project.write("trails/shop.trail.yaml", format!("trail:\n  - step: Pay\n    tools:\n{made}"));
    Some(shop)
}

const PAID: &str = "waitUntilVisible: {text: Paid, timeoutMs: 1500}";
const REFUSED: &str = "assertVisible: {text: Please wait}";

#[track_caller]
fn run(shop: &Shop, args: &[&str], code: i32) -> crate::support::Ran {
    let command = shop.command(&[&["run"], args].concat());
    shop.project.finish(command).exits(code)
}

/// The data of a trace.
fn data(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let call = text.strip_prefix("trailblazeTrace(\"").and_then(|rest| rest.strip_suffix(");\n"));
    let (_, data) = call.and_then(|call| call.split_once("\", ")).unwrap_or_else(|| panic!("no call: {text}"));
    serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"))
}

fn traces(run: &Path) -> Vec<std::path::PathBuf> {
    let folder = run.join("traces");
    let all = if folder.exists() { files(&folder) } else { Vec::new() };
    all.into_iter().filter(|file| file.ends_with("trace.js")).collect()
}

#[test]
fn a_failure_says_what_went_wrong_just_before_and_what_is_written_there() {
    let Some(shop) = shop(PAID) else { return };
    let ran = run(&shop, &["--pictures", "off"], 1);
    let expected = ["  just before: POST /api/pay → 404\n", "  just before: console.error: payment was refused\n"];
    expected.iter().for_each(|line| assert!(ran.stdout.contains(line), "{}", ran.stdout));
    let run = shop.project.last_run();
    let failure = run.summary()["attempts"][0]["failure"].clone();
    let signs = failure["justBefore"].as_array().expect("a list");
    assert!(signs.contains(&"POST /api/pay → 404".into()), "{failure}");
    assert_eq!(failure["place"]["line"], 10, "{failure}");
    assert!(run.text("junit.xml").contains("just before: POST /api/pay"), "{}", run.text("junit.xml"));
    let events = run.text("events.jsonl");
    assert!(events.contains("\"excerpt\":{\"line\":10,\"text\":\"- waitUntilVisible: {text: Paid"), "{events}");
    let sources = files(&run.path.join("sources"));
    assert_eq!(std::fs::read_to_string(&sources[0]).expect("a file"), shop.project.read("trails/shop.trail.yaml"));
}

#[test]
fn a_failure_keeps_pictures_and_documents_before_and_after_calls() {
    let Some(shop) = shop(PAID) else { return };
    run(&shop, &[], 1);
    let run = shop.project.last_run();
    let traces = traces(&run.path);
    let [trace] = traces.as_slice() else { panic!("one trace: {traces:?}") };
    let trace = data(trace);
    let frames = trace["frames"].as_array().expect("a list");
    assert!(!frames.is_empty(), "{trace}");
    for frame in frames {
        let picture = std::fs::read(run.path.join(frame["file"].as_str().expect("a file"))).expect("a picture");
        assert!(picture.starts_with(&[0xff, 0xd8, 0xff]), "a JPEG");
    }
    let documents = trace["documents"].as_array().expect("a list");
    let text = trace["documents"].to_string();
    let last = documents.last().expect("a document");
    assert_eq!(last["moment"], "after", "{last}");
    assert!(text.contains("\"In the frame\"") && text.contains("\":value\":\"Ada\""), "{text}");
    assert!(text.contains("Please wait"), "the last one shows what is there instead: {text}");
    assert!(!text.contains("payment was refused"), "scripts are left out: {text}");
    let sheet = last["frames"][0]["sheets"][0].as_str().unwrap_or_else(|| panic!("no style sheet: {last}"));
    let sheet = std::fs::read_to_string(run.path.join(sheet)).expect("a style sheet");
    assert!(sheet.contains("rgb(1, 2, 3)"), "{sheet}");
    assert!(run.text("report.html").contains("trace.js\",\"kept\":\"nextToPage\""), "the report knows it");
    let exchanges = trace["exchanges"].as_array().expect("a list");
    let paid =
        exchanges.iter().find(|exchange| exchange["request"]["url"].as_str().is_some_and(|url| url.ends_with("/pay")));
    let paid = paid.unwrap_or_else(|| panic!("no request: {trace}"));
    assert_eq!(
        (&paid["response"]["status"], &paid["response"]["content"]["text"]),
        (&404.into(), &"no".into()),
        "{paid}"
    );
    for file in files(&run.path.join("traces")) {
        let bytes = std::fs::read(&file).expect("a file");
        assert!(!String::from_utf8_lossy(&bytes).contains("open-sesame-42"), "a password in {}", file.display());
    }
}

#[test]
fn a_trace_of_an_attempt_that_passes_is_kept_on_request_only() {
    let Some(shop) = shop(REFUSED) else { return };
    for (args, n) in [(&[][..], 0), (&["--trace", "on"], 1), (&["--pictures", "off", "--trace", "on"], 1)] {
        run(&shop, args, 0);
        assert_eq!(traces(&shop.project.last_run().path).len(), n, "{args:?}");
    }
}

#[test]
fn nothing_is_traced_where_that_is_off() {
    let Some(shop) = shop(PAID) else { return };
    for args in [&["--trace", "off"][..], &["--pictures", "off"]] {
        run(&shop, args, 1);
        assert_eq!(traces(&shop.project.last_run().path).len(), 0, "{args:?}");
    }
}

#[test]
fn a_merged_report_has_the_traces_of_its_runs() {
    let Some(shop) = shop(PAID) else { return };
    run(&shop, &[], 1);
    let run = shop.project.last_run();
    let from = run.path.display().to_string();
    shop.project.finish(shop.command(&["report", "merge", &from, "--output", "merged"])).exits(0);
    let merged = shop.project.root().join("merged");
    let traces = traces(&merged);
    assert_eq!(traces.len(), 1, "{traces:?}");
    let frame = data(&traces[0])["frames"][0]["file"].as_str().expect("a file").to_string();
    assert!(merged.join(frame).is_file() && files(&merged.join("sources")).len() == 1);
}
