//! What pages of Firefox get: input, frames, shadow roots, dialogs, files, tabs, and phones.

use crate::browser::firefox::{check, check_on, open, open_on};
use crate::browser::web::acting::holds;

#[test]
fn a_page_is_used_as_on_chromium() {
    let Some(shop) = open(&[
        "tap: {text: Your name}",
        "inputText: {text: 'Eve, 日本'}",
        "clearText: {}",
        "inputText: {text: Ada}",
        "tap: {text: Send me news}",
        "tap: {text: Greet}",
        "assertVisible: {text: 'Hello Ada, news follow'}",
        "tap: {text: Ask me}",
        "assertVisible: {text: Agreed}",
        "tap: {text: Load slowly}",
        "assertVisible: {text: Here at last}",
        "tap: {text: Moving}",
        "assertVisible: {text: Caught}",
        "tap: {text: Inside a frame}",
        "assertVisible: {text: Pressed inside}",
        "tap: {text: Cart}",
        "assertVisible: {text: Your cart}",
        "pressKey: {keyCode: BACK}",
        "assertVisible: {text: Acme shop}",
    ]) else {
        return;
    };
    shop.run(&[], 0);
}

#[test]
fn closed_shadow_roots_and_frames_in_frames_are_part_of_the_page() {
    let page = "<x-card></x-card><script>customElements.define('x-card', class extends HTMLElement { connectedCallback() { \
                this.attachShadow({mode: 'closed'}).innerHTML = '<button onclick=\"this.textContent = `Opened`\">Shut</button>' } })</script>\
                <iframe srcdoc=\"<iframe srcdoc='<button onclick=this.textContent=&quot;Deep&quot;>Nested</button>'></iframe>\"></iframe>";
    check(
        page,
        &["tap: {text: Shut}", "assertVisible: {text: Opened}", "tap: {text: Nested}", "assertVisible: {text: Deep}"],
    );
}

#[test]
fn what_the_browser_drags_itself_is_dropped_with_its_data() {
    let page = "<script>window.log = []; for (const name of 'dragstart dragenter dragover drop dragend'.split(' ')) addEventListener(name, (e) => \
                { if (log.at(-1) !== name) log.push(name) })</script>\
                <div id=from draggable=true ondragstart=\"event.dataTransfer.setData('text/plain', 'Mug')\" style='width:80px'>Drag me</div>\
                <div id=to style='height:100px; background:#ddd' ondragover='event.preventDefault()' \
                ondrop=\"event.preventDefault(); this.textContent = 'Got ' + event.dataTransfer.getData('text/plain')\">Here</div>";
    let drag = "web_drag: {ref: css=#from, toRef: css=#to}";
    let once = holds("log.slice(0, 2).join() === 'dragstart,dragenter' && log.slice(-2).join() === 'drop,dragend'");
    check(page, &[drag, "assertVisible: {text: Got Mug}", &once, drag, &once]);
}

#[test]
fn keys_and_buttons_are_those_of_a_person() {
    let page = "<script>window.log = []; for (const name of 'keydown click dblclick contextmenu'.split(' ')) addEventListener(name, (e) => \
                log.push([name, e.key ?? e.button, e.isTrusted, e.ctrlKey].join()), true)</script>\
                <button>Press</button><input aria-label=Name>";
    check(
        page,
        &[
            "web_click: {ref: Press, clickCount: 2}",
            &holds("log.splice(0).join(' ') === 'click,0,true,false click,0,true,false dblclick,0,true,false'"),
            "web_click: {ref: Press, button: RIGHT}",
            &holds("log.splice(0).join(' ') === 'contextmenu,2,true,false'"),
            "web_click: {ref: Name}",
            "web_pressKey: {key: Control+A}",
            &holds("log.includes('keydown,A,true,true') || log.includes('keydown,a,true,true')"),
        ],
    );
}

#[test]
fn texts_reach_fields_and_editors() {
    let page = "<input aria-label=Name value=old><textarea aria-label=Note></textarea><div contenteditable role=textbox aria-label=Editor>old</div>";
    check(
        page,
        &[
            "web_type: {ref: Name, text: Ada}",
            "web_type: {ref: Note, text: \"two\\nlines\"}",
            "web_type: {ref: Editor, text: new}",
            &holds("document.querySelector('input').value === 'Ada'"),
            &holds("document.querySelector('textarea').value === 'two\\nlines'"),
            &holds("document.querySelector('div').textContent === 'new'"),
        ],
    );
}

#[test]
fn files_are_uploaded_and_downloaded() {
    let page = "<input type=file id=field aria-label=Field onchange=\"said.textContent = 'Got ' + this.files[0].name\">\
                <button onclick='field.click()'>Choose</button><p id=said></p>\
                <a download=list.txt href='data:text/plain,Mug'>Save</a>";
    let Some(shop) = open(&[
        "web_navigate: {url: page.html}",
        "web_upload: {ref: 'button \"Field\"', files: [one.txt]}",
        "assertVisible: {text: Got one.txt}",
        "web_upload: {ref: 'button \"Choose\"', files: [two.txt]}",
        "assertVisible: {text: Got two.txt}",
        "web_click: {ref: 'link \"Save\"'}",
        "web_download: {}",
        "web_click: {ref: 'link \"Save\"'}",
        "web_download: {}",
    ]) else {
        return;
    };
    shop.project.write("trails/page.html", format!("<!doctype html>{page}"));
    shop.project.write("trails/one.txt", "one");
    shop.project.write("trails/two.txt", "two");
    shop.run(&[], 0);
    assert_eq!(shop.project.last_run().mentions("downloaded `list.txt`, 3 bytes"), 2);
}

#[test]
fn dialogs_tabs_and_what_the_console_says_are_known() {
    let page = "<button onclick=\"said.textContent = prompt('Name?', 'Eve')\">Ask</button><p id=said></p>\
                <button onclick=\"window.open('other.html')\">Open</button><script>console.error('a bad day', {n: 1}); \
                fetch('missing.json').catch(() => {}); setTimeout(() => { throw new Error('thrown') })</script>";
    let Some(shop) = open(&[
        "web_dialogs: {answer: ACCEPT, text: Ada}",
        "web_navigate: {url: page.html}",
        "web_click: {ref: 'button \"Ask\"'}",
        "assertVisible: {text: Ada}",
        "web_click: {ref: 'button \"Open\"'}",
        "web_waitForUrl: {pattern: other.html}",
        "web_click: {ref: 'button \"Elsewhere\"'}",
        "assertVisible: {text: Pressed}",
        "web_tabs: {action: CLOSE}",
        "assertVisible: {text: Ada}",
        "web_console: {}",
    ]) else {
        return;
    };
    shop.project.write("trails/page.html", format!("<!doctype html>{page}"));
    shop.project
        .write("trails/other.html", "<!doctype html><button onclick=\"this.textContent='Pressed'\">Elsewhere</button>");
    shop.run(&[], 0);
    let warnings = shop.project.last_run().warnings();
    for expected in ["console.error: a bad day", "the page threw: Error: thrown (at "] {
        assert!(warnings.iter().any(|warning| warning.contains(expected)), "`{expected}` is not in {warnings:?}");
    }
}

#[test]
fn each_trail_starts_with_nothing_that_another_left() {
    let page = "<script>window.seen = [document.cookie, localStorage.kept ?? '', sessionStorage.kept ?? ''].join(); \
                document.cookie = 'kept=1'; localStorage.kept = 1; sessionStorage.kept = 1</script>";
    let Some(shop) = open(&["web_navigate: {url: page.html}", &holds("seen === ',,'")]) else { return };
    shop.project.write("trails/page.html", format!("<!doctype html>{page}"));
    shop.run(&["--repeat-each", "3"], 0);
}

#[test]
fn a_phone_is_touched_with_a_finger() {
    let page = "<meta name=viewport content='width=device-width'><script>window.log = []; for (const name of \
                'touchstart touchend contextmenu click dblclick'.split(' ')) document.addEventListener(name, (e) => log.push(name), true)</script>\
                <button>Press</button><div style='height:4000px'></div>";
    check_on(
        "[{id: web/phone, browser: firefox, emulate: iPhone 14}]",
        page,
        &[
            &holds(
                "innerWidth === 390 && devicePixelRatio === 3 && navigator.userAgent.includes('iPhone') && 'ontouchstart' in window",
            ),
            "tap: {text: Press}",
            &holds("log.splice(0).join() === 'touchstart,touchend,click'"),
            "longPress: {ref: 'button \"Press\"'}",
            &holds("log.splice(0).join() === 'touchstart,contextmenu,touchend'"),
            "swipe: {direction: UP}",
            &holds("scrollY > 100"),
        ],
    );
}

#[test]
fn a_device_has_a_language_a_time_zone_and_a_colour_scheme() {
    check_on(
        "[{id: web/far, browser: firefox, locale: de-DE, timezone: Asia/Tokyo, colorScheme: dark, viewport: 800x600}]",
        "<title>Page</title>",
        &[
            &holds("navigator.language === 'de-DE' && (1.5).toLocaleString() === '1,5'"),
            &holds("new Date(0).getTimezoneOffset() === -540 && matchMedia('(prefers-color-scheme: dark)').matches"),
            &holds("innerWidth === 800 && innerHeight === 600 && navigator.userAgent.includes('Firefox/')"),
        ],
    );
}

#[test]
fn the_reason_that_a_page_does_not_open_is_told() {
    let Some(shop) = open(&["openUrl: {url: 'http://127.0.0.1:49151/'}"]) else { return };
    let ran = shop.run(&[], 1);
    let expected = "cannot open `http://127.0.0.1:49151/`: NS_ERROR_CONNECTION_REFUSED";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
}

#[test]
fn one_trail_runs_on_both_browsers_at_once() {
    let Some(shop) = open_on("[{id: web/chromium}, {id: web/firefox}]", &["assertVisible: {text: Acme shop}"]) else {
        return;
    };
    shop.run(&["--all-devices"], 0);
    assert_eq!(shop.project.last_run().summary()["counts"]["passed"], 2);
}
