//! A recording in a real window of Firefox, with the pointer and the keys of an X server.

use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::browser::record::stage::{Stage, words};
use crate::support::webdriver::ScriptedEndpoint;
use crate::support::x_screen::XScreen;
use crate::support::{firefox, wait_until};

/// A page that says where its elements are on the screen, and to which of them what happens is done by a person.
const PAGE: &str = "<!doctype html><title>Desk</title><label>Name <input id=name></label><button>Greet</button><p id=said></p><script>\
    const field = document.querySelector('input'), button = document.querySelector('button');\
    let isTrusted = true;\
    field.oninput = (event) => { isTrusted &&= event.isTrusted; };\
    button.onclick = (event) => { isTrusted &&= event.isTrusted; said.textContent = 'Hello ' + field.value; };\
    const place = (element) => { const box = element.getBoundingClientRect();\
      return [(box.left + box.right) / 2 + mozInnerScreenX, (box.top + box.bottom) / 2 + mozInnerScreenY]; };\
    const tell = async () => { await fetch('/told', { method: 'POST', body: JSON.stringify({ field: place(field), button: place(button),\
      value: field.value, hasFocus: document.hasFocus() && document.activeElement === field, said: said.textContent, isTrusted }) });\
      setTimeout(tell, 50); };\
    if (globalThis.mozInnerScreenX !== undefined) tell();</script>";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_does_in_a_window_of_firefox_is_recorded_and_replays_on_chromium() {
    if firefox::find().is_none() {
        return;
    }
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    let Some(screen) = XScreen::start() else { return };
    let told: Arc<Mutex<Value>> = Arc::default();
    let site = {
        let told = Arc::clone(&told);
        ScriptedEndpoint::start(move |request, body| {
            Some(match request {
                "GET /" => (200, PAGE.to_string()),
                "POST /told" => {
                    *told.lock().expect("no panic") = body.clone();
                    (200, String::new())
                }
                _ => (404, String::new()),
            })
        })
    };
    // Waits for something that the page tells about itself.
    let until = |what: &str, fits: &dyn Fn(&Value) -> bool| {
        tokio::task::block_in_place(|| {
            wait_until(what, || Some(told.lock().expect("no panic").clone()).filter(|told| fits(told)))
        })
    };
    let place = |told: &Value, name: &str| {
        let at = |index: usize| told[name][index].as_f64().expect("a place").round() as i16;
        (at(0), at(1))
    };
    let url = format!("{}/", site.address);
    let args = ["-d", "web/firefox", "--url", &url, "--save", "trails/desk.trail.yaml"];
    let running = stage.record_on("devices: [{id: web/firefox}]\n", &args, &[("DISPLAY", &screen.display)]);
    let page = until("the page is shown", &|told| told["field"].is_array());
    screen.focus_largest();
    screen.click(place(&page, "field"));
    until("the field has the focus", &|told| told["hasFocus"] == true);
    screen.type_text("Grace");
    let page = until("the field has the text", &|told| told["value"] == "Grace");
    screen.click(place(&page, "button"));
    let page = until("the page greets", &|told| told["said"] == "Hello Grace");
    assert_eq!(page["isTrusted"], true, "the input is that of a person");
    stage.until("the button is recorded", |steps| steps.iter().any(|step| step.contains("Greet")));
    let recorded = stage.end(running);
    assert_eq!(words(&recorded)[1..], ["Type \"Grace\" into \"Name\"", "Click \"Greet\""], "{recorded}");
    stage.replays_to("trails/desk.trail.yaml", "said", "Hello Grace");
}
