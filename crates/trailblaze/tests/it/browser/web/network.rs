//! The network of pages: rules, waiting for requests, HAR files, speed, credentials, and that all of it ends with the trail.

use serde_json::Value;

use crate::browser::web::acting::holds;
use crate::browser::web::shop::{Shop, calls};
use crate::support::files;
use crate::support::net_server::{Answer, NetServer};

const PAGE: &str = "<!doctype html><title>Orders</title>
    <button onclick=\"ask('/api/name')\">Name</button>
    <button onclick=\"ask('/api/order', {method: 'POST', body: JSON.stringify({item: 'Mug', count: 2})})\">Order</button>
    <button onclick=\"ask(location.origin.replace('127.0.0.1', 'localhost') + '/api/far', {method: 'PUT', headers: {'X-Far': '1'}})\">Far</button>
    <output id=out></output>
    <script>
      async function ask(url, options) {
        out.textContent = 'Waiting';
        try {
          const response = await fetch(url, options), text = await response.text();
          let name = text;
          try { name = JSON.parse(text).name ?? text } catch {}
          out.textContent = `${response.status} ${name}`;
        } catch { out.textContent = 'Failed' }
      }
    </script>";

fn server() -> NetServer {
    NetServer::start(|request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        match path.split('?').next().unwrap_or_default() {
            "/api/name" => Answer::json(r#"{"name": "Ada", "age": 36}"#),
            "/api/order" => {
                let answer = Answer::json(r#"{"name": "Ordered", "order": {"id": 7, "items": [{"sku": "mug"}]}}"#);
                answer.status("201 Created").with("Set-Cookie", "order=7; Path=/")
            }
            // `ada:hunter22`
            "/private" if request.contains("Basic YWRhOmh1bnRlcjIy") => Answer::html("<p>Welcome Ada"),
            "/private" => {
                Answer::html("<p>Who is there?").status("401 Unauthorized").with("WWW-Authenticate", "Basic realm=x")
            }
            "/echo" => Answer::json(&format!("{{\"name\": \"{}\"}}", path.split('=').nth(1).unwrap_or_default())),
            "/" => Answer::html(PAGE),
            _ => Answer::html("").status("404 Not Found"),
        }
    })
}

fn click(button: &str) -> String {
    format!("web_click: {{ref: 'button \"{button}\"'}}")
}

fn shows(text: &str) -> String {
    format!("assertVisible: {{text: '{text}'}}")
}

fn go(server: &NetServer) -> String {
    format!("web_navigate: {{url: '{}/'}}", server.origin())
}

/// Runs these calls on a page of the server.
#[track_caller]
fn check(server: &NetServer, made: &[String], code: i32, said: &[&str]) -> Option<Shop> {
    let shop = Shop::open("")?;
    run(&shop, server, made, code, said);
    Some(shop)
}

#[track_caller]
fn run(shop: &Shop, server: &NetServer, made: &[String], code: i32, said: &[&str]) {
    let all: Vec<String> = std::iter::once(go(server)).chain(made.iter().cloned()).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    shop.project.write("trails/shop.trail.yaml", format!("trail:\n  - step: Shop\n    tools:\n{}", calls(&all)));
    let ran = shop.run(&[], code);
    for said in said {
        assert!(ran.stdout.contains(said), "expected `{said}` in\n{}", ran.stdout);
    }
}

#[test]
fn requests_are_answered_changed_delayed_and_aborted_by_rules() {
    let server = server();
    let name = || click("Name");
    let made = [
        "web_mockRequest: {pattern: /api/name, json: {name: Mocked}, headers: {X-Own: '1'}}".to_string(),
        name(),
        shows("200 Mocked"),
        "web_mockRequest: {pattern: 'http*/api/*', method: GET, status: 503, body: Down, times: 1}".to_string(),
        name(),
        shows("503 Down"),
        name(),
        shows("200 Mocked"),
        "web_mockRequest: {pattern: /api/name, file: name.json}".to_string(),
        name(),
        shows("200 From a file"),
        "web_removeNetworkRules: {}".to_string(),
        name(),
        shows("200 Ada"),
        "web_changeResponse: {pattern: /api/name, json: {name: Changed}, status: 202, times: 1}".to_string(),
        name(),
        shows("202 Changed"),
        "web_abortRequest: {pattern: /api/name, error: CONNECTION_REFUSED, times: 1}".to_string(),
        name(),
        shows("Failed"),
        "web_delayRequest: {pattern: /api/name, seconds: 1}".to_string(),
        name(),
        shows("Waiting"),
        shows("200 Ada"),
    ];
    let Some(shop) = Shop::open("") else { return };
    shop.project.write("trails/name.json", r#"{"name": "From a file"}"#);
    run(&shop, &server, &made, 0, &[]);
    assert_eq!(server.count("/api/name"), 3, "only what no rule answers reaches the server");
    let record = shop.project.last_run();
    for said in ["was mocked with 503", "was aborted (CONNECTION_REFUSED)", "was delayed", "was changed"] {
        assert!(record.mentions(said) > 0, "{said}");
    }
}

#[test]
fn a_rule_answers_requests_to_another_origin_and_to_servers_that_do_not_exist() {
    let server = server();
    let made = [
        "web_mockRequest: {pattern: /api/far, method: PUT, json: {name: From afar}}".to_string(),
        click("Far"),
        shows("200 From afar"),
        "web_mockRequest: {pattern: 'https://nowhere.invalid/*', body: '<p>A page of nowhere'}".to_string(),
        "web_navigate: {url: 'https://nowhere.invalid/shop'}".to_string(),
        shows("A page of nowhere"),
    ];
    check(&server, &made, 0, &[]);
    assert_eq!(server.count("/api/far"), 0);
}

#[test]
fn a_trail_waits_for_requests_and_checks_and_remembers_their_bodies() {
    let server = server();
    let made = [
        click("Order"),
        "web_waitForRequest: {pattern: /api/order, method: POST, json: {count: 2}, variable: sent}".to_string(),
        "web_waitForResponse: {pattern: /api/order, status: 201, json: {order: {items: [{sku: mug}]}}, variable: id, path: order.id}"
            .to_string(),
        holds("{{id}} === 7 && \"{{sent.item}}\" === \"Mug\""),
        click("Order"),
        "web_waitForResponse: {pattern: /api/order, contains: Ordered}".to_string(),
    ];
    check(&server, &made, 0, &[]);
    let waits = |wait: &str, said: &[&str]| drop(check(&server, &[click("Order"), wait.to_string()], 1, said));
    waits("web_waitForResponse: {pattern: /api/order, status: 404, timeoutMs: 500}", &["its status is 201, not 404"]);
    waits(
        "web_waitForRequest: {pattern: /api/order, json: {count: 3}, timeoutMs: 500}",
        &["its body has other values"],
    );
    waits("web_waitForRequest: {pattern: /api/none, timeoutMs: 100}", &["a request /api/none", "POST http"]);
    waits("web_waitForResponse: {pattern: /api/order, variable: id, path: order.none}", &["has no `order.none`"]);
}

#[test]
fn bad_rules_are_refused_with_what_to_do() {
    let server = server();
    let refused = |call: &str, said: &[&str]| drop(check(&server, &[call.to_string()], 1, said));
    refused("web_mockRequest: {pattern: ''}", &["`pattern` is empty"]);
    refused("web_mockRequest: {pattern: 'GET /api'}", &["no URL has a space", "in `method`"]);
    refused("web_mockRequest: {pattern: /api, method: 'P 1'}", &["`method` is `P 1`"]);
    refused("web_mockRequest: {pattern: /api, status: 42}", &["`status` must be between 200 and 599, got 42"]);
    refused("web_mockRequest: {pattern: /api, body: a, json: [1]}", &["only one of `json`, `body` and `file`"]);
    refused("web_mockRequest: {pattern: /api, file: none.json}", &["trails/none.json", "relative to the trail"]);
    refused("web_changeResponse: {pattern: /api}", &["nothing is changed"]);
    refused("web_removeNetworkRules: {pattern: /api}", &["there is no rule with the pattern `/api`"]);
    refused("web_saveHar: {}", &["no HAR file is being recorded"]);
    refused("web_replayHar: {file: none.har}", &["trails/none.har", "web_recordHar makes one"]);
    refused("web_advanceClock: {seconds: 1}", &["call web_setClock first"]);
}

#[test]
fn a_har_file_is_recorded_without_secrets_and_replayed_without_the_server() {
    let server = server();
    let Some(shop) = Shop::open("") else { return };
    let script = "fetch(\"/echo?code={{PIN}}\").then(r => r.json()).then(echoed => echoed.name.length)";
    let echo = format!("web_evaluate: {{script: '{script}'}}");
    let made =
        ["web_recordHar: {file: shop.har, pattern: /api}".to_string(), "web_recordHar: {file: all.har}".to_string()];
    run(&shop, &server, &made, 1, &["is being recorded already"]);
    let made = [
        "web_recordHar: {file: shop.har}".to_string(),
        go(&server),
        click("Name"),
        shows("200 Ada"),
        click("Order"),
        shows("201 Ordered"),
        echo,
    ];
    let all: Vec<&str> = made.iter().map(String::as_str).collect();
    shop.project.write("trails/shop.trail.yaml", format!("trail:\n  - step: Shop\n    tools:\n{}", calls(&all)));
    let mut command = shop.command(&["run", "--secret", "PIN"]);
    command.env("PIN", "hunter22");
    shop.project.finish(command).exits(0);
    let har = shop.project.read("trails/shop.har");
    let written: Value = serde_json::from_str(&har).expect("JSON");
    let entries = written["log"]["entries"].as_array().expect("entries");
    let urls: Vec<&str> = entries.iter().filter_map(|entry| entry["request"]["url"].as_str()).collect();
    assert!(urls.iter().any(|url| url.ends_with("/echo?code={{PIN}}")), "{urls:?}");
    assert!(!har.contains("hunter22") && !har.contains("order=7;") && har.contains("order=[removed]"), "{har}");
    // The same again, from the file.
    let before = server.count("");
    let made = [
        "web_replayHar: {file: shop.har}".to_string(),
        go(&server),
        click("Name"),
        shows("200 Ada"),
        click("Order"),
        shows("201 Ordered"),
    ];
    let all: Vec<&str> = made.iter().map(String::as_str).collect();
    shop.project.write("trails/shop.trail.yaml", format!("trail:\n  - step: Shop\n    tools:\n{}", calls(&all)));
    shop.run(&[], 0);
    assert_eq!(server.count(""), before, "the server is not asked");
    // What the file does not have, and a file that is broken.
    let far = [go(&server), "web_replayHar: {file: shop.har}".to_string(), click("Far"), shows("Failed")];
    run(&shop, &server, &far, 0, &[]);
    shop.project.write("trails/shop.har", "{\"log\": {\n  \"entries\": [,]}}");
    let broken = ["web_replayHar: {file: shop.har}".to_string()];
    run(&shop, &server, &broken, 1, &["trails/shop.har`, line 2, column 15, cannot be replayed", "web_recordHar"]);
}

#[test]
fn the_network_is_slow_or_absent() {
    let server = server();
    let made = [
        "web_setOffline: {}".to_string(),
        click("Name"),
        shows("Failed"),
        "web_setOffline: {offline: false}".to_string(),
        "web_throttle: {preset: SLOW_3G, latencyMs: 1000}".to_string(),
        click("Name"),
        shows("Waiting"),
        shows("200 Ada"),
        "web_throttle: {preset: NONE}".to_string(),
        click("Name"),
        shows("200 Ada"),
    ];
    check(&server, &made, 0, &[]);
}

#[test]
fn a_server_is_told_the_password_that_is_for_it_and_no_run_folder_has_it() {
    let server = server();
    let Some(shop) = Shop::open("") else { return };
    let private = |origin: &str| format!("web_navigate: {{url: '{origin}/private'}}");
    let made = [
        format!(
            "web_setCredentials: {{origin: '{}/some/path', username: ada, password: '{{{{PASSWORD}}}}'}}",
            server.origin()
        ),
        private(&server.other_origin()),
        shows("Who is there?"),
        private(&server.origin()),
        shows("Welcome Ada"),
    ];
    let all: Vec<&str> = made.iter().map(String::as_str).collect();
    shop.project.write("trails/shop.trail.yaml", format!("trail:\n  - step: Shop\n    tools:\n{}", calls(&all)));
    let mut command = shop.command(&["run", "--secret", "PASSWORD"]);
    command.env("PASSWORD", "hunter22");
    shop.project.finish(command).exits(0);
    let run = shop.project.last_run();
    for file in files(&run.path) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).expect("a file")).into_owned();
        for spelled in ["hunter22", "YWRhOmh1bnRlcjIy"] {
            assert!(!text.contains(spelled), "{spelled} in {}", file.display());
        }
    }
}

#[test]
fn what_a_trail_changes_ends_with_it() {
    let server = server();
    let Some(shop) = Shop::open("") else { return };
    shop.device("[{id: web/chromium, storage: shared}]");
    let first = [
        "web_mockRequest: {pattern: /api/name, json: {name: Mocked}}".to_string(),
        "web_setMedia: {colorScheme: dark, medium: print}".to_string(),
        "web_setClock: {time: 2001-02-03, mode: PAUSED}".to_string(),
        "web_setOffline: {}".to_string(),
        go(&server).replace("web_navigate", "launchApp").replace("url", "launchMode: RESUME, packageId"),
    ];
    let first: Vec<&str> = first[..4].iter().map(String::as_str).collect();
    let is_back = holds(
        "!matchMedia(\"print\").matches && !matchMedia(\"(prefers-color-scheme: dark)\").matches && new Date().getFullYear() > 2020",
    );
    let second = [go(&server), click("Name"), shows("200 Ada"), is_back];
    let second: Vec<&str> = second.iter().map(String::as_str).collect();
    for (name, made) in [("a", &first), ("b", &second)] {
        shop.project.write(
            &format!("trails/{name}.trail.yaml"),
            format!("trail:\n  - step: Shop\n    tools:\n{}", calls(made)),
        );
    }
    std::fs::remove_file(shop.project.root().join("trails/shop.trail.yaml")).expect("it was there");
    shop.run(&[], 0);
}

#[test]
fn what_is_set_in_a_shell_is_saved_as_calls() {
    let server = server();
    let Some(shop) = Shop::open("") else { return };
    shop.project.write("data/name.json", r#"{"name": "From a file"}"#);
    let lines = format!(
        "step \"Name\"\nweb_mockRequest pattern=/api/name file=data/name.json\nweb_navigate url={}/\nweb_click ref='button \"Name\"'\n\
         assertVisible text=\"200 From a file\"\nsave trails/own/kept.trail.yaml\nquit\n",
        server.origin()
    );
    shop.project.feed(&["shell", "-d", "web/chromium"], &lines).exits(0);
    let kept = shop.project.read("trails/own/kept.trail.yaml");
    assert!(kept.contains("file: '../../data/name.json'"), "{kept}");
    shop.run(&["trails/own/kept.trail.yaml"], 0);
}
