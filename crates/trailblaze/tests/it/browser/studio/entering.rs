//! Only the user gets in.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::browser::studio::opening::{address, open};
use crate::browser::studio::page::Page;
use crate::support::home::Home;

#[test]
fn a_key_admits_one_page_which_gets_a_cookie() {
    let home = Home::counter();
    let address = address(&home, &[]);
    let mut page = Page::at(&address);
    let (code, message) = page.try_call("OpenSession", json!({})).expect_err("it has not entered");
    assert_eq!((code.as_str(), message.as_str()), ("unauthenticated", "run `trailblaze studio` to open this page"));
    assert_eq!(page.enter(), 204);
    assert!(page.follow("WatchWorkspace", json!({})).next().is_some());
    let mut late = Page::at(&address);
    assert_eq!(late.enter(), 403, "the key was used already");
    let mut guessed = Page::at(&address);
    guessed.key = "k-guess".to_string();
    assert_eq!(guessed.enter(), 403);
    guessed.cookie = Some(page.cookie.as_deref().expect("a cookie").replace("=k-", "=k-0"));
    assert_eq!(guessed.try_call("OpenSession", json!({})).expect_err("no such cookie").0, "unauthenticated");
}

#[test]
fn pages_of_other_sites_are_turned_away_even_with_the_cookie() {
    let home = Home::counter();
    let page = open(&home, &[]);
    let cookie = page.cookie.clone().expect("a cookie");
    let send = |head: &str| {
        let mut stream = TcpStream::connect(&page.host).expect("the daemon listens");
        let body = json!({"workspace": page.workspace}).to_string();
        let request = format!(
            "POST /trailblaze.v1.TrailblazeStudio/OpenSession HTTP/1.1\r\n{head}Cookie: {cookie}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer.split("\r\n").next().unwrap_or_default().to_string()
    };
    let host = format!("Host: {}\r\n", page.host);
    let refused = "HTTP/1.1 403 Forbidden";
    assert_eq!(send(&format!("{host}Origin: http://evil.example\r\n")), refused);
    assert_eq!(send(&format!("{host}Origin: http://127.0.0.1:1\r\n")), refused, "another server of this machine");
    assert_eq!(send("Host: evil.example\r\n"), refused);
    let own = format!("{host}Origin: http://{}\r\n", page.host);
    assert_eq!(send(&format!("{own}Sec-Fetch-Site: same-site\r\n")), "HTTP/1.1 401 Unauthorized");
    // A request without a message of the right kind changes nothing either.
    assert_eq!(send(&format!("{own}Sec-Fetch-Site: same-origin\r\n")), "HTTP/1.1 200 OK");
    // Nothing changes by GET.
    let (status, _, _) = page.get("/trailblaze.v1.TrailblazeStudio/OpenSession");
    assert_eq!(status, 405);
}

#[test]
fn the_page_loads_nothing_from_elsewhere_and_is_in_no_frame() {
    let home = Home::counter();
    let page = Page::at(&address(&home, &[]));
    for (path, kind) in
        [("/studio/", "text/html"), ("/studio/studio.js", "text/javascript"), ("/studio/studio.css", "text/css")]
    {
        let (status, headers, body) = page.get(path);
        assert_eq!(status, 200, "{path}");
        let header = |name: &str| headers[name].to_str().expect("text").to_string();
        assert!(header("content-type").starts_with(kind), "{path}");
        let policy = header("content-security-policy");
        assert!(policy.contains("default-src 'none'"), "{policy}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        let text = String::from_utf8_lossy(&body);
        assert!(!text.contains("https://") || path.ends_with(".js"), "{path} names another host");
    }
    let (_, headers, page_text) = page.get("/studio/");
    assert!(headers["content-security-policy"].to_str().expect("text").contains("frame-ancestors 'none'"));
    assert!(!String::from_utf8_lossy(&page_text).contains("<script>"), "nothing is inline");
}

#[test]
fn a_page_of_an_unknown_project_is_told_what_to_do() {
    let home = Home::counter();
    let mut page = open(&home, &[]);
    page.workspace = "other-00000000".to_string();
    let (code, message) = page.try_call("OpenSession", json!({})).expect_err("it is unknown");
    assert_eq!(code, "failed_precondition");
    assert!(message.contains("run `trailblaze studio` in the project's folder again"), "{message}");
}

#[test]
fn run_files_are_served_without_the_rights_of_the_page() {
    let home = Home::counter();
    home.project.write("logs/made-up/events.jsonl", "{}\n");
    home.project.write("logs/made-up/report.html", "<script>alert(1)</script>");
    home.project.write("logs/made-up/attachments/page.html", "<script>alert(1)</script>");
    home.project.write("logs/made-up/secret.txt", "shown");
    home.project.write("outside.txt", "not shown");
    let mut page = open(&home, &[]);
    let path = |file: &str| format!("/studio/runs/{}/made-up/{file}", page.workspace);
    let (status, headers, _) = page.get(&path("report.html"));
    assert_eq!(
        (status, headers["content-security-policy"].to_str().expect("text")),
        (200, "sandbox allow-scripts allow-popups")
    );
    assert_eq!(page.get(&path("secret.txt")).0, 200);
    for file in ["attachments/page.html", "../../outside.txt", "..%2f..%2foutside.txt", "missing.png"] {
        assert_eq!(page.get(&path(file)).0, 404, "{file}");
    }
    let path = path("secret.txt");
    page.cookie = None;
    assert_eq!(page.get(&path).0, 401);
}
