//! Pointer and keys: what a page gets when an element is clicked, dragged, scrolled to or touched.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::browser::web::shop::{Shop, calls};
use crate::browser::web::trouble::check;

/// A call that fails unless an expression holds in the page.
pub fn holds(expression: &str) -> String {
    let script = format!("if (!({expression})) throw new Error(`it is ${{JSON.stringify(window.log ?? null)}}`)");
    format!("web_evaluate: {{script: '{}'}}", script.replace('\'', "''"))
}

/// Keeps a line in `log` for each of these events.
fn logging(names: &str, line: &str) -> String {
    format!(
        "<script>window.log = []; for (const name of '{names}'.split(' ')) \
         addEventListener(name, (e) => log.push({line}), {{capture: true, passive: true}})</script>"
    )
}

const COUNTRIES: &str = "<div style='height:200px; overflow:auto; border:1px solid'><div id=list></div></div><output id=out></output><script>\
    for (let n = 1; n <= 60; n++) list.append(Object.assign(document.createElement('button'), \
      {textContent: `Country ${n}`, style: 'display:block; height:30px', onclick() { out.textContent = `Chose ${n}` }}))</script>";

#[test]
fn what_a_scroller_clips_is_scrolled_to_and_clicked() {
    check(
        COUNTRIES,
        &[
            "web_click: {ref: 'button \"Country 20\"'}",
            "assertVisible: {text: Chose 20}",
            "tap: {text: Country 60}",
            "assertVisible: {text: Chose 60}",
            "tap: {text: Country 7}",
            "assertVisible: {text: Chose 7}",
        ],
        0,
        &[],
    );
    let hidden = COUNTRIES.replace("overflow:auto", "overflow:hidden");
    check(&hidden, &["tap: {text: Country 20}", "assertVisible: {text: Chose 20}"], 0, &[]);
}

#[test]
fn scrolling_until_a_text_is_visible_ends_with_it_on_the_screen() {
    let in_box = "(() => { const a = [...document.querySelectorAll('button')].find((e) => e.textContent === 'Country 40').getBoundingClientRect(), \
                  b = list.parentElement.getBoundingClientRect(); return a.top >= b.top && a.bottom <= b.bottom })()";
    check(COUNTRIES, &["scrollUntilTextIsVisible: {text: Country 40}", &holds(in_box)], 0, &[]);
    let below = "<div style='height:3000px'></div><p id=end>The end</p>";
    check(
        below,
        &["scrollUntilTextIsVisible: {text: The end}", &holds("end.getBoundingClientRect().bottom <= innerHeight")],
        0,
        &[],
    );
    // What comes only as the page is scrolled.
    let lazy = "<div style='height:2000px'></div><script>addEventListener('scroll', () => { if (scrollY > 900 && !window.late) \
                document.body.append(window.late = Object.assign(document.createElement('p'), {textContent: 'Loaded late'})) })</script>";
    check(
        lazy,
        &[
            "scrollUntilTextIsVisible: {text: Loaded late}",
            &holds("late.getBoundingClientRect().bottom <= innerHeight"),
        ],
        0,
        &[],
    );
}

#[test]
fn what_is_scrolled_out_of_its_frame_or_box_is_off_screen() {
    let Some(shop) = Shop::open("") else { return };
    let page = "<!doctype html><iframe style='width:300px; height:100px' srcdoc=\"<button>Shown in the frame</button>\
                <div style='height:400px'></div><button>Deep in the frame</button>\"></iframe>\
                <div style='height:100px; overflow:auto; position:relative'><button>Shown in the box</button><div style='height:300px'></div>\
                <button>Deep in the box</button><button style='position:fixed; top:500px; left:0'>Fixed</button></div>";
    shop.project.write("page.html", page);
    let address = format!("file://{}/page.html", shop.project.root().display());
    let lines = format!("web_navigate url={address}\nsnapshot\nquit\n");
    let shown = shop.project.feed(&["shell", "-d", "web/chromium"], &lines).exits(0).stdout;
    for text in ["Shown in the frame", "Shown in the box", "Fixed"] {
        assert!(shown.contains(text), "{text} is on the screen:\n{shown}");
    }
    assert!(!shown.contains("Deep in"), "the rest is not:\n{shown}");
    assert!(shown.contains("2 offscreen elements hidden"), "{shown}");
}

#[test]
fn a_click_has_its_count_button_modifiers_and_place() {
    let names = "keydown keyup click auxclick dblclick contextmenu";
    let line = "e.type + ' ' + (e.key ?? [e.detail, e.button, e.shiftKey, e.ctrlKey, e.offsetX, e.offsetY].join(' '))";
    let page = format!(
        "{}<p id=words style='width:200px; height:100px; margin:0'>Some words to choose</p>",
        logging(names, line)
    );
    let clicked = |call: &str, expected: &str| {
        let log = format!("JSON.stringify(log) === JSON.stringify({expected})");
        check(&page, &[&format!("web_click: {{ref: 'css=#words', {call}}}"), &holds(&log)], 0, &[]);
    };
    clicked(
        "clickCount: 3",
        "['click 1 0 false false 100 50', 'click 2 0 false false 100 50', 'dblclick 2 0 false false 100 50', 'click 3 0 false false 100 50']",
    );
    clicked("button: MIDDLE", "['auxclick 1 1 false false 100 50']");
    clicked("offsetX: 10, offsetY: 90", "['click 1 0 false false 10 90']");
    clicked(
        "modifiers: [SHIFT, CONTROL]",
        "['keydown Shift', 'keydown Control', 'click 1 0 true true 100 50', 'keyup Control', 'keyup Shift']",
    );
    check(&page, &["web_click: {ref: 'css=#words', clickCount: 0}"], 1, &["`clickCount`"]);
    check(&page, &["web_click: {ref: 'css=#words', offsetX: 900, offsetY: 5}"], 1, &["outside"]);
}

#[test]
fn a_point_of_an_element_is_clicked_even_where_its_middle_is_covered() {
    let page = "<div id=map style='position:relative; width:300px; height:2000px' onclick=\"this.dataset.at = event.offsetX + ' ' + event.offsetY\">\
                <div style='position:absolute; left:50px; width:200px; top:100px; height:1700px; background:#eee' onclick='event.stopPropagation()'>A legend</div></div>";
    let page = page.replace("<div style='position:absolute", "</div><div style='position:absolute");
    check(
        &page,
        &["web_click: {ref: 'css=#map', offsetX: 20, offsetY: 1900}", &holds("map.dataset.at === '20 1900'")],
        0,
        &[],
    );
}

#[test]
fn a_pointer_that_is_down_has_the_pressure_of_a_mouse() {
    let names = "pointerdown pointermove pointerup";
    let page = format!("<button>Press</button>{}", logging(names, "e.type.slice(7) + ' ' + e.pressure"));
    let log = holds("JSON.stringify(log) === JSON.stringify(['move 0', 'down 0.5', 'up 0'])");
    check(&page, &["web_click: {ref: button}", &log], 0, &[]);
}

const POINTER_DRAG: &str = "<style>#knob { position:absolute; left:20px; top:20px; width:60px; height:60px; background:teal }</style><div id=knob>Knob</div>\
    <div id=goal style='position:absolute; left:500px; top:300px; width:120px; height:120px; background:#ddd'>Goal</div><script>window.log = [0];\
    knob.onpointerdown = (e) => { knob.setPointerCapture(e.pointerId); const dx = e.clientX - knob.offsetLeft, dy = e.clientY - knob.offsetTop; \
      knob.onpointermove = (e) => { log[0]++; knob.style.left = e.clientX - dx + 'px'; knob.style.top = e.clientY - dy + 'px' }; \
      knob.onpointerup = () => { knob.onpointermove = null; log.push([knob.offsetLeft, knob.offsetTop]) } }</script>";

#[test]
fn every_move_of_a_drag_arrives() {
    check(
        POINTER_DRAG,
        &[
            "web_drag: {ref: 'css=#knob', toRef: 'css=#goal'}",
            &holds("log[0] >= 5 && log[1][0] === 530 && log[1][1] === 330"),
        ],
        0,
        &[],
    );
}

#[test]
fn an_element_is_dragged_to_a_point_or_by_so_many_pixels() {
    let to = "web_drag: {ref: 'css=#knob', toX: 400, toY: 250}";
    check(POINTER_DRAG, &[to, &holds("log[0] >= 5 && log[1][0] === 370 && log[1][1] === 220")], 0, &[]);
    let by = "web_drag: {ref: 'css=#knob', byX: -10, byY: 40}";
    check(POINTER_DRAG, &[by, &holds("log[0] >= 5 && log[1][0] === 10 && log[1][1] === 60")], 0, &[]);
    check(POINTER_DRAG, &["web_drag: {ref: 'css=#knob'}"], 1, &["nowhere to drop it"]);
    check(
        POINTER_DRAG,
        &["web_drag: {ref: 'css=#knob', toRef: 'css=#goal', byX: 3}"],
        1,
        &["pass only one place to drop it"],
    );
}

#[test]
fn an_element_is_dropped_at_an_offset_of_another() {
    let drag = "web_drag: {ref: 'css=#knob', toRef: 'css=#goal', toOffsetX: 10, toOffsetY: 100}";
    check(POINTER_DRAG, &[drag, &holds("log[1][0] === 480 && log[1][1] === 370")], 0, &[]);
    let outside = "web_drag: {ref: 'css=#knob', toRef: 'css=#goal', toOffsetX: 900, toOffsetY: 1}";
    check(POINTER_DRAG, &[outside], 1, &["the offset is outside of"]);
    let alone = "web_drag: {ref: 'css=#knob', byX: 3, toOffsetX: 1, toOffsetY: 1}";
    check(POINTER_DRAG, &[alone], 1, &["require `toRef`"]);
}

#[test]
fn what_begins_within_a_pixel_is_touched_and_dropped_on() {
    let thin = "position:absolute; left:0; width:200px; height:.8px; padding:0; border:0; background:teal";
    let page = format!(
        "<script>window.log = []</script><button style='{thin}; top:100.1px' onclick=\"log.push('pressed')\">Thin</button>\
         <div id=knob style='position:absolute; top:20px; width:40px; height:40px; background:#ddd'>Knob</div>\
         <div id=goal style='{thin}; top:200.1px' onpointerup=\"log.push('dropped')\"></div>"
    );
    let drag = "web_drag: {ref: 'css=#knob', toRef: 'css=#goal'}";
    check(&page, &["tap: {text: Thin}", drag, &holds("log.join() === 'pressed,dropped'")], 0, &[]);
}

/// A list whose items make room for the one that is dragged, as SortableJS does: an item that is still moving is passed over.
const SORTABLE: &str = "<style>li { height:40px; width:200px; list-style:none; touch-action:none; background:#ddd; margin:2px; user-select:none }</style><ul id=list></ul><script>\
    for (const name of 'ABCDEFGH') list.append(Object.assign(document.createElement('li'), {textContent: name, id: name}));\
    let held = null; const moving = new Set();\
    list.onpointerdown = (e) => { held = e.target; held.releasePointerCapture?.(e.pointerId) };\
    onpointerup = () => { held = null };\
    onpointermove = (e) => { const over = document.elementFromPoint(e.clientX, e.clientY)?.closest('li');\
      if (!held || !over || over === held || moving.has(over)) return;\
      const before = new Map([...list.children].map((li) => [li, li.getBoundingClientRect().top]));\
      const all = [...list.children]; const isDown = all.indexOf(held) < all.indexOf(over);\
      over[isDown ? 'after' : 'before'](held);\
      for (const li of list.children) { const by = before.get(li) - li.getBoundingClientRect().top; if (!by) continue;\
        moving.add(li); li.style.transition = 'none'; li.style.transform = `translateY(${by}px)`; li.offsetWidth;\
        li.style.transition = 'transform 150ms'; li.style.transform = ''; li.ontransitionend = () => moving.delete(li) } }</script>";

#[test]
fn a_long_drag_waits_for_the_items_of_a_list_to_make_room() {
    let order = |names: &str| holds(&format!("[...list.children].map((li) => li.id).join('') === '{names}'"));
    let drag = |from: &str, to: &str| format!("web_drag: {{ref: 'css=#{from}', toRef: 'css=#{to}'}}");
    let made = [drag("A", "H"), order("BCDEFGHA"), drag("A", "B"), order("ABCDEFGH")];
    let made: Vec<&str> = made.iter().map(String::as_str).collect();
    check(SORTABLE, &made, 0, &[]);
}

#[test]
fn a_swipe_to_the_right_stays_on_the_page() {
    let page = "<p>Start</p><button onclick=\"this.textContent = 'Pressed'\">Press</button>";
    let made = [
        "web_navigate: {url: 'page.html?next'}",
        "swipe: {direction: RIGHT}",
        "tap: {text: Press}",
        "assertVisible: {text: Pressed}",
        "swipe: {direction: LEFT}",
        "tap: {text: Pressed}",
        "web_waitForUrl: {pattern: '*page.html?next'}",
        "assertVisible: {text: Pressed}",
    ];
    check(page, &made, 0, &[]);
}

#[test]
fn what_a_browser_drags_itself_is_dropped_each_time() {
    let page = "<ul id=from></ul><div id=bin style='width:200px; height:80px; background:#ddd'>Bin</div><script>window.log = [];\
                for (let n = 0; n < 6; n++) from.append(Object.assign(document.createElement('li'), {id: `card${n}`, draggable: true, textContent: `Card ${n}`, \
                  ondragstart(e) { e.dataTransfer.setData('text/plain', this.id) }, ondragend() { log.push('end') }}));\
                bin.ondragover = (e) => { e.preventDefault(); log.push('over') };\
                bin.ondrop = (e) => { e.preventDefault(); bin.append(document.getElementById(e.dataTransfer.getData('text/plain'))) }</script>";
    let drags: Vec<String> = (0..6).map(|n| format!("web_drag: {{ref: 'css=#card{n}', toRef: 'css=#bin'}}")).collect();
    let done =
        holds("bin.children.length === 6 && log.filter((x) => x === 'end').length === 6 && log.includes('over')");
    let made: Vec<&str> = drags.iter().map(String::as_str).chain([done.as_str()]).collect();
    check(page, &made, 0, &[]);
}

#[test]
fn what_is_in_a_frame_that_a_box_clips_is_reached_and_dragged() {
    let inner = "<div style='height:150px; overflow:auto'><div style='height:700px'></div><button onclick=\"this.textContent='Hit'\">Deep</button></div>\
                 <ul><li id=card draggable=true ondragstart=\"event.dataTransfer.setData('text/plain', 'a card')\">Card</li></ul>\
                 <p id=bin ondragover='event.preventDefault()' ondrop=\"this.textContent = 'Got ' + event.dataTransfer.getData('text/plain')\">Bin</p>";
    let inner = inner.replace('"', "&quot;");
    let page = format!(
        "<div style='height:120px; overflow:auto'><div style='height:900px'></div><iframe style='width:300px; height:400px' srcdoc=\"{inner}\"></iframe></div>"
    );
    check(
        &page,
        &[
            "web_click: {ref: 'button \"Deep\"'}",
            "web_verifyTextVisible: {text: Hit}",
            "web_drag: {ref: 'css=#card', toRef: 'css=#bin'}",
            "web_verifyTextVisible: {text: Got a card}",
        ],
        0,
        &[],
    );
}

#[test]
fn a_link_opens_in_another_tab_by_a_modifier_or_the_middle_button() {
    let page = "<a href='page.html#other'>Other</a><p>Here</p>";
    for how in ["modifiers: [CONTROL_OR_META]", "button: MIDDLE"] {
        let click = format!("web_click: {{ref: 'link \"Other\"', {how}}}");
        let made = [click.as_str(), "web_tabs: {action: SELECT, index: 1}", "web_waitForUrl: {pattern: '#other'}"];
        check(page, &[&made[..], &["web_tabs: {action: CLOSE}", "assertVisible: {text: Here}"]].concat(), 0, &[]);
    }
}

#[test]
fn a_key_is_held_for_a_frame_and_may_repeat() {
    let page = "<script>const down = new Set(); let seen = 0; window.log = []; onkeydown = (e) => { down.add(e.key); log.push(`${e.key} ${e.repeat}`) }; onkeyup = (e) => down.delete(e.key);\
                (function step() { if (down.has('ArrowRight')) seen++; requestAnimationFrame(step) })()</script><p>A game</p>";
    let pressed = |call: &str, expected: &str| {
        check(page, &[&format!("web_pressKey: {{key: ArrowRight{call}}}"), &holds(expected)], 0, &[]);
    };
    pressed("", "seen > 0 && down.size === 0");
    pressed(
        ", count: 3",
        "log.join() === 'ArrowRight false,ArrowRight false,ArrowRight false' && seen > 2 && down.size === 0",
    );
    pressed(", repeats: 2", "log.join() === 'ArrowRight false,ArrowRight true,ArrowRight true' && down.size === 0");
    check(page, &["web_pressKey: {key: a, count: 0}"], 1, &["`count`"]);
}

#[test]
fn presses_are_apart_for_a_page_that_asks_once_a_frame() {
    let page = "<script>let isDown = false, wasDown = false, presses = 0; onkeydown = () => { isDown = true }; onkeyup = () => { isDown = false };\
                (function step() { if (isDown && !wasDown) presses++; wasDown = isDown; requestAnimationFrame(step) })()</script><p>A game</p>";
    let press = "web_pressKey: {key: ArrowRight}";
    check(
        page,
        &["web_pressKey: {key: ArrowRight, count: 5}", &holds("presses === 5"), press, press, &holds("presses === 7")],
        0,
        &[],
    );
}

#[test]
fn a_scroll_is_over_when_it_returns() {
    let page = "<style>html { scroll-snap-type: y mandatory } body { margin: 0 } section { height: 700px; scroll-snap-align: start }</style>\
                <section>One</section><section>Two</section><section>Three</section><script>window.log = []; onscroll = () => log.push(scrollY); onscrollend = () => log.push('end')</script>";
    check(page, &["web_scroll: {amount: 500}", &holds("log.at(-1) === 'end' && scrollY === 700")], 0, &[]);
    check(
        "<div style='height:3000px'></div>",
        &[
            "web_scroll: {amount: 300}",
            &holds("scrollY === 300"),
            "web_scroll: {amount: 100, direction: UP}",
            &holds("scrollY === 200"),
        ],
        0,
        &[],
    );
    check("<p>Short</p>", &["web_scroll: {amount: -5}"], 1, &["`amount`"]);
}

#[test]
fn an_index_beside_a_css_selector_counts_what_that_matches() {
    let page = "<button>A</button><button class=x id=first>B</button><button>B</button><button class=x onclick=\"document.title = 'right'\">B</button>";
    let call = "web_click: {nodeSelector: {web: {cssSelector: .x, nthIndex: 1}}}";
    check(page, &[call, &holds("document.title === 'right'")], 0, &[]);
}

#[test]
fn an_emulated_phone_is_touched_with_a_finger() {
    let names = "touchstart touchend pointerdown click dblclick";
    let page = logging(names, "e.type + (e.pointerType ? ' ' + e.pointerType : '')")
        + "<meta name=viewport content='width=device-width'><button onclick=\"this.textContent='Pressed'\">Press</button>\
           <div id=veil style='position:absolute; top:300px; width:300px; height:60px; background:#eee'>A veil</div><button style='position:absolute; top:310px'>Under</button>\
           <style>#veil { z-index: 1 }</style><div style='height:4000px'></div>";
    let made = [
        "web_navigate: {url: page.html}".to_string(),
        "tap: {text: Press}".to_string(),
        "assertVisible: {text: Pressed}".to_string(),
        holds("log.join() === 'pointerdown touch,touchstart,touchend,click touch'"),
        "web_click: {ref: 'css=button', index: 0, clickCount: 2}".to_string(),
        holds("log.includes('dblclick')"),
        "tap: {text: Pressed, longPress: true}".to_string(),
        "swipe: {direction: UP}".to_string(),
        holds("scrollY > 100 && !log.some((line) => line.includes('mouse'))"),
        "tap: {text: Under, timeoutMs: 100}".to_string(),
    ];
    let made: Vec<&str> = made.iter().map(String::as_str).collect();
    let Some(shop) = Shop::open(&calls(&made)) else { return };
    shop.device("[{id: web/chromium, emulate: Pixel 7}]");
    shop.project.write("trails/page.html", format!("<!doctype html>{page}"));
    let ran = shop.run(&[], 1);
    assert!(ran.stdout.contains("A veil"), "a veil takes the last touch: {}", ran.stdout);
}

/// A server of pages with something that it sends only once the page asks for `/release`, and one with a picture that never comes.
fn slow_server() -> String {
    const PAGE: &str = "<!doctype html><button id=go>Go</button><script async src=/late.js></script>\
                        <script>setTimeout(() => fetch('/release'), 1500)</script>";
    const OPENER: &str = "<!doctype html><button onclick=\"window.open('/late'); setTimeout(() => fetch('/release'), 1000)\">Open</button>";
    const SCRIPT: (&str, &str) = ("text/javascript", "go.onclick = () => { go.textContent = 'Went' }");
    const WINDOW: (&str, &str) = (
        "text/html",
        "<!doctype html><title>Late</title><button onclick='this.textContent = `Pressed`'>Press</button>",
    );
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let send = |stream: &mut TcpStream, kind: &str, body: &str| {
        let length = body.len();
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
    };
    std::thread::spawn(move || {
        let mut waiting: Vec<(TcpStream, (&str, &str))> = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let n = stream.read(&mut request).unwrap_or(0);
            let text = String::from_utf8_lossy(&request[..n]).into_owned();
            match text.split(' ').nth(1).unwrap_or("/") {
                "/late.js" | "/never.png" => waiting.push((stream, SCRIPT)),
                "/late" => waiting.push((stream, WINDOW)),
                "/release" => {
                    waiting.iter_mut().for_each(|(late, (kind, body))| send(late, kind, body));
                    waiting.clear();
                    send(&mut stream, "text/plain", "");
                }
                "/opener" => send(&mut stream, "text/html", OPENER),
                "/stuck" => send(&mut stream, "text/html", "<!doctype html><p>Stuck</p><img src=/never.png>"),
                _ => send(&mut stream, "text/html", PAGE),
            }
        }
    });
    address
}

#[test]
fn a_page_is_clicked_when_its_scripts_have_loaded() {
    let open = format!("web_navigate: {{url: '{}/'}}", slow_server());
    let Some(shop) = Shop::open(&calls(&[&open, "tap: {text: Go}", "assertVisible: {text: Went}"])) else { return };
    shop.run(&[], 0);
}

#[test]
fn a_window_is_used_when_its_page_has_come() {
    let open = format!("web_navigate: {{url: '{}/opener'}}", slow_server());
    let seen = "assertVisible: {text: Pressed}";
    let Some(shop) = Shop::open(&calls(&[&open, "tap: {text: Open}", "tap: {text: Press}", seen])) else { return };
    shop.run(&[], 0);
}

#[test]
fn a_document_that_never_finishes_loading_is_waited_for_once() {
    let open = format!("web_navigate: {{url: '{}/stuck'}}", slow_server());
    let look = "web_verifyTextVisible: {text: Stuck}";
    let Some(shop) = Shop::open(&calls(&[&open, look, look, look, look])) else { return };
    // Each of five looks would wait for ten seconds.
    shop.run(&["--timeout", "40s"], 0);
}
