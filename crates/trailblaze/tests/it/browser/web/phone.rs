//! An emulated phone: what a page gets from a finger.

use crate::browser::web::acting::holds;
use crate::browser::web::shop::{Shop, calls};

/// Runs a trail on an emulated phone that opens a page of this markup, then makes calls; all of them must pass.
#[track_caller]
fn check(markup: &str, made: &[&str]) {
    let open = "web_navigate: {url: page.html}";
    let Some(shop) = Shop::open(&calls(&[&[open], made].concat())) else { return };
    shop.device("[{id: web/chromium, emulate: iPhone 14}]");
    let head = "<!doctype html><meta name=viewport content='width=device-width'>";
    shop.project.write("trails/page.html", format!("{head}{markup}"));
    shop.run(&[], 0);
}

const LOG: &str = "<script>window.log = []; for (const name of 'touchstart touchend click contextmenu'.split(' ')) \
                   document.addEventListener(name, (e) => { if (e.target.id === 'press') log.push(name) }, true)</script>";

#[test]
fn the_tap_after_a_touch_drag_or_swipe_is_a_click() {
    let page = "<button id=press style='height:60px' onclick='window.n = (window.n ?? 0) + 1'>Press</button>\
                <div id=knob style='position:absolute; top:150px; width:300px; height:600px; background:#88f; touch-action:none'>Knob</div>";
    let drag = "web_drag: {ref: 'css=#knob', byX: 50, byY: 100}";
    let swipe = "swipe: {direction: UP, swipeOnElementText: Knob, durationMs: 150}";
    let tap = "tap: {text: Press}";
    let count = |n: u32| holds(&format!("window.n === {n}"));
    check(page, &[drag, tap, &count(1), drag, tap, &count(2), swipe, tap, &count(3), swipe, tap, &count(4)]);
}

#[test]
fn a_long_press_opens_a_context_menu_and_does_not_click() {
    let page = format!("{LOG}<button id=press>Press</button>");
    let long = holds("log.join() === 'touchstart,contextmenu,touchend'");
    let tapped = holds("log.slice(3).join() === 'touchstart,touchend,click'");
    check(&page, &["longPress: {ref: 'button \"Press\"'}", &long, "tap: {text: Press}", &tapped]);
}

#[test]
fn a_swipe_on_an_element_that_is_scrolled_away_begins_on_it() {
    let page = "<style>#row { display:flex; overflow-x:auto; width:300px } #row div { min-width:150px; height:60px }</style>\
                <div style='height:2000px'>Tall</div><div id=row></div><div style='height:2000px'>Tall</div><script>window.log = [];\
                for (let n = 0; n < 12; n++) row.append(Object.assign(document.createElement('div'), {textContent: `Card ${n}`}));\
                addEventListener('touchstart', (e) => log.push(e.target.textContent))</script>";
    check(
        page,
        &[
            "swipe: {direction: LEFT, swipeOnElementText: Card 5}",
            &holds("log.join() === 'Card 5' && row.scrollLeft > 600"),
        ],
    );
}

#[test]
fn a_device_has_a_language_and_a_time_zone() {
    let german = holds("navigator.language === 'de-DE' && (1.5).toLocaleString() === '1,5'");
    let tokyo = holds("new Date(0).getTimezoneOffset() === -540 && navigator.userAgent.includes('Chrome/')");
    let Some(shop) = Shop::open(&calls(&["web_navigate: {url: page.html}", &german, &tokyo])) else { return };
    shop.device("[{id: web/chromium, locale: de-DE, timezone: Asia/Tokyo}]");
    shop.project.write("trails/page.html", "<!doctype html><title>Page</title>");
    shop.run(&[], 0);
}
