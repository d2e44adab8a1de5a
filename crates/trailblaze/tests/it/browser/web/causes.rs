//! Five broken apps, each with a cause behind the symptom: a failure names the cause, so that nobody needs to look further.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use crate::browser::web::shop::{Shop, calls};

const SCRIPT: &str = "<script>document.querySelector('button').onclick = async () => {";
const SHOWS: &str = "document.querySelector('p').textContent = 'Paid' };</script>";

/// The page of an app, by its address.
fn page(app: &str) -> Option<String> {
    let button = "<!doctype html><meta charset=utf-8><h1>Checkout</h1><button>Pay</button><p></p>";
    Some(match app {
        "/missing" => {
            format!("{button}{SCRIPT} const answer = await fetch('/api/pay'); if (!answer.ok) return; {SHOWS}")
        }
        "/error" => format!("{button}{SCRIPT} const total = document.querySelector('#total').textContent; {SHOWS}"),
        "/slow" => format!("{button}{SCRIPT} await fetch('/api/slow'); {SHOWS}"),
        "/covered" => format!(
            "{button}<div role=dialog aria-label='Cookies' style='position: fixed; inset: 0; background: #0008'>\
             <p style='margin: 0; height: 100%'>We use cookies</p></div>{SCRIPT} {SHOWS}"
        ),
        "/renamed" => format!("{}{SCRIPT} {SHOWS}", button.replace(">Pay<", ">Pay now<")),
        _ => return None,
    })
}

/// A server of the apps. A slow answer does not come before the test has ended.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        let mut kept: Vec<TcpStream> = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let n = stream.read(&mut request).unwrap_or(0);
            let text = String::from_utf8_lossy(&request[..n]).into_owned();
            let path = text.split(' ').nth(1).unwrap_or("/").to_string();
            if path == "/api/slow" {
                kept.push(stream);
                continue;
            }
            let found = page(&path);
            let head = if found.is_some() { "200 OK\r\nContent-Type: text/html" } else { "404 Not Found" };
            let body = found.unwrap_or_default();
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        }
    });
    address
}

#[test]
fn a_failure_names_the_cause_behind_its_symptom() {
    let Some(shop) = Shop::open("") else { return };
    let address = server();
    // Longer than a request may take without being mentioned.
    let wait = Duration::from_millis(2500).as_millis();
    let cases = [
        ("missing", "GET /api/pay → 404"),
        ("error", "the page threw: TypeError: Cannot read properties of null"),
        ("slow", "GET /api/slow: no answer for"),
        ("covered", "is covered by dialog \"Cookies\""),
        ("renamed", "button \"Pay now\""),
    ];
    for (app, cause) in cases {
        let made = calls(&[
            &format!("openUrl: {{url: '{address}/{app}'}}"),
            "tap: {text: Pay}",
            &format!("waitUntilVisible: {{text: Paid, timeoutMs: {wait}}}"),
        ]);
        shop.project.write("trails/shop.trail.yaml", format!("trail:\n  - step: Pay\n    tools:\n{made}"));
        let ran = shop.run(&[], 1);
        assert!(ran.stdout.contains(cause), "{app}: expected `{cause}` in\n{}", ran.stdout);
        let place = format!("(at {address}/error:1:");
        assert_eq!(ran.stdout.contains(&place), app == "error", "{app}: the place of the exception\n{}", ran.stdout);
        let junit = shop.project.last_run().text("junit.xml");
        assert!(junit.contains(&cause.replace('"', "&quot;")) || junit.contains(cause), "{app}: {junit}");
    }
}
