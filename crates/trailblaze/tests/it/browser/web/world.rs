//! The world that pages see: the clock, the place, permissions, style, the clipboard, downloads, paper and storage.

use crate::browser::web::acting::holds;
use crate::browser::web::shop::{Shop, calls};
use crate::support::net_server::{Answer, NetServer};

const PAGE: &str = "<!doctype html><title>World</title>
    <p id=now></p><output id=out></output>
    <button onclick=\"navigator.clipboard.writeText('a link')\">Copy link</button>
    <button onclick=\"navigator.geolocation.getCurrentPosition(({coords: c}) => out.textContent = `${c.latitude} ${c.longitude}`, (e) => out.textContent = 'Refused')\">Where</button>
    <label>Note <input id=note></label>
    <a href=/report.csv download>Report</a>
    <script>
      now.textContent = new Date().toISOString();
      setTimeout(() => out.textContent = 'Expired', 60000);
      window.ticks = 0;
      setInterval(() => Promise.resolve().then(() => ticks++), 10000);
    </script>";

fn server() -> NetServer {
    NetServer::start(|request| match request.split(' ').nth(1).unwrap_or_default() {
        "/report.csv" => {
            Answer::html("sku,count\nmug,2\n").with("Content-Disposition", "attachment; filename=report.csv")
        }
        _ => Answer::html(PAGE),
    })
}

#[track_caller]
fn check(made: &[String], code: i32, said: &[&str]) -> Option<Shop> {
    check_in(Shop::open("")?, made, code, said)
}

#[track_caller]
fn check_in(shop: Shop, made: &[String], code: i32, said: &[&str]) -> Option<Shop> {
    let all: Vec<&str> = made.iter().map(String::as_str).collect();
    shop.project.write("trails/shop.trail.yaml", format!("trail:\n  - step: Shop\n    tools:\n{}", calls(&all)));
    let ran = shop.run(&[], code);
    for said in said {
        assert!(ran.stdout.contains(said), "expected `{said}` in\n{}", ran.stdout);
    }
    Some(shop)
}

fn go(server: &NetServer) -> String {
    format!("web_navigate: {{url: '{}/'}}", server.origin())
}

fn shows(text: &str) -> String {
    format!("assertVisible: {{text: '{text}'}}")
}

fn call(text: &str) -> String {
    text.to_string()
}

#[test]
fn a_paused_clock_stands_still_until_it_is_advanced() {
    let server = server();
    let made = [
        call("web_setClock: {time: '2026-01-31T09:15:00+01:00', mode: PAUSED}"),
        go(&server),
        shows("2026-01-31T08:15:00.000Z"),
        call("web_advanceClock: {seconds: 59}"),
        holds("out.textContent === \"\" && ticks === 5 && Date.now() === Date.parse(\"2026-01-31T08:15:59Z\")"),
        call("web_advanceClock: {seconds: 1}"),
        shows("Expired"),
        holds(
            "new Date() instanceof Date && new Date(0).getTime() === 0 && typeof Date() === \"string\" && Date.UTC(1970, 0) === 0",
        ),
        // Other documents have the same clock.
        go(&server),
        shows("2026-01-31T08:16:00.000Z"),
    ];
    check(&made, 0, &[]);
}

#[test]
fn a_clock_is_fixed_or_runs_from_another_time() {
    let server = server();
    let made = [
        call("web_setClock: {time: 2030-05-06, mode: FIXED}"),
        go(&server),
        shows("2030-05-06T00:00:00.000Z"),
        // Timers run.
        holds("await new Promise((done) => setTimeout(done, 20)), Date.now() === Date.parse(\"2030-05-06\")"),
        call("web_setClock: {time: '2031-05-06T12:00'}"),
        holds(
            "await new Promise((done) => setTimeout(done, 20)), Date.now() > Date.parse(\"2031-05-06T12:00Z\") && new Date().getFullYear() === 2031",
        ),
        call("web_advanceClock: {seconds: 86400}"),
        holds("new Date().getDate() === 7"),
    ];
    check(&made, 0, &[]);
    check(&[call("web_setClock: {time: tomorrow}")], 1, &["`time` is `tomorrow`; write a date"]);
}

#[test]
fn pages_are_where_a_trail_says_and_may_what_it_says() {
    let server = server();
    let is_state = |name: &str, state: &str| {
        holds(&format!("(await navigator.permissions.query({{name: \"{name}\"}})).state === \"{state}\""))
    };
    let made = [
        go(&server),
        call("web_setGeolocation: {latitude: 52.5, longitude: 13.25}"),
        call("web_click: {ref: 'button \"Where\"'}"),
        shows("52.5 13.25"),
        call("web_setPermissions: {permissions: [geolocation], state: DENIED}"),
        call("web_click: {ref: 'button \"Where\"'}"),
        shows("Refused"),
        call("web_setPermissions: {permissions: [notifications, camera]}"),
        is_state("notifications", "granted"),
        is_state("camera", "granted"),
    ];
    check(&made, 0, &[]);
    let refused = [go(&server), call("web_setPermissions: {permissions: [levitation]}")];
    check(&refused, 1, &["the browser refused `levitation`", "geolocation, notifications"]);
    check(&[call("web_setGeolocation: {latitude: 91, longitude: 0}")], 1, &["`latitude` must be between -90 and 90"]);
}

#[test]
fn style_sheets_see_the_medium_that_a_trail_says() {
    let server = server();
    let matches = |query: &str| format!("matchMedia(\"{query}\").matches");
    let all = [matches("(prefers-color-scheme: dark)"), matches("(prefers-reduced-motion: reduce)"), matches("print")];
    let made = [
        call("web_setMedia: {colorScheme: dark, reducedMotion: reduce}"),
        call("web_setMedia: {medium: print}"),
        go(&server),
        holds(&all.join(" && ")),
        call("web_resize: {width: 700, height: 500}"),
        holds(&all.join(" && ")),
    ];
    check(&made, 0, &[]);
    check(&[call("web_setMedia: {}")], 1, &["nothing is changed; give `colorScheme`"]);
}

#[test]
fn the_clipboard_is_read_and_written() {
    let server = server();
    let made = [
        go(&server),
        call("web_click: {ref: 'button \"Copy link\"'}"),
        call("web_getClipboard: {variable: copied}"),
        call("assertEquals: {actual: '{{copied}}', expected: a link}"),
        call("web_setClipboard: {text: Ada}"),
        call("web_click: {ref: css=#note}"),
        call("web_pressKey: {key: Control+V}"),
        holds("note.value === \"Ada\""),
    ];
    // The build without windows lets no page write to the clipboard.
    let Some(shop) = Shop::with_own_browser("") else { return };
    check_in(shop, &made, 0, &[]);
}

#[test]
fn a_download_and_a_printed_page_are_values() {
    let server = server();
    let made = [
        go(&server),
        call("web_click: {ref: 'link \"Report\"'}"),
        call("web_download: {name: report.csv, variable: report}"),
        call("assertEquals: {actual: '{{report.name}} {{report.bytes}}', expected: report.csv 16}"),
        holds("`{{report.text}}`.includes(\"mug,2\")"),
        call("web_savePdf: {landscape: true}"),
    ];
    let Some(shop) = check(&made, 0, &[]) else { return };
    let run = shop.project.last_run();
    assert!(run.mentions("application/pdf") > 0, "it is attached");
}

#[test]
fn the_local_storage_of_several_origins_is_set_and_read() {
    let server = server();
    let (one, other) = (server.origin(), server.other_origin());
    let made = [
        format!("web_setLocalStorage: {{origin: '{other}', items: {{who: ada, cart: [1, 2]}}}}"),
        go(&server),
        call("web_setLocalStorage: {items: {theme: dark, gone: '1'}}"),
        call("web_setLocalStorage: {items: {gone: null}}"),
        holds("localStorage.theme === \"dark\" && localStorage.gone === undefined"),
        format!("web_getLocalStorage: {{origin: '{other}', key: who, variable: who}}"),
        call("assertEquals: {actual: '{{who}}', expected: ada}"),
        format!("web_navigate: {{url: '{other}/'}}"),
        holds("localStorage.cart === \"[1,2]\" && localStorage.length === 2"),
        call("web_saveStorageState: {file: state.json}"),
        format!("web_getLocalStorage: {{origin: '{one}/path', variable: all}}"),
        call("assertEquals: {actual: '{{all.theme}}', expected: dark}"),
    ];
    let Some(shop) = check(&made, 0, &[]) else { return };
    let state: serde_json::Value = serde_json::from_str(&shop.project.read("trails/state.json")).expect("JSON");
    let origins: Vec<&str> =
        state["origins"].as_array().expect("origins").iter().filter_map(|origin| origin["origin"].as_str()).collect();
    assert!(origins.contains(&one.as_str()) && origins.contains(&other.as_str()), "{state:#}");
    check(&[format!("web_getLocalStorage: {{origin: '{one}', key: none}}")], 1, &["has no item `none`"]);
    check(&[call("web_getLocalStorage: {origin: shop}")], 1, &["`origin` is `shop`; give a scheme"]);
}
