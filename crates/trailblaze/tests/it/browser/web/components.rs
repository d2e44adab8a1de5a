//! Elements as component libraries make them: in shadow roots, drawn by their labels, inside containers that take the focus, moving,
//! or lying on one another.

use crate::browser::web::acting::holds;
use crate::browser::web::finding::{ASK, CLICKED, check};
use crate::browser::web::snapshots;
use crate::browser::web::trouble::check as check_trail;

const COMPONENTS: &str = "<script>const define = (name, mode, html) => customElements.define(name, class extends HTMLElement {
        constructor() { super(); this.attachShadow({mode}).innerHTML = html } });
    define('x-button', 'open', '<style>button { padding: 9px 30px }</style><button part=base><span><slot></slot></span></button>');
    define('x-outer', 'open', '<x-button><slot></slot></x-button>');
    define('x-shut', 'closed', '<button><slot></slot></button>');
    define('x-card', 'open', '<section><h3 class=title><slot name=title></slot></h3><div class=body><button class=buy data-n=buy>Buy</button></div></section>');
    </script>";

#[test]
fn a_button_whose_text_is_put_into_its_slot_is_clicked() {
    let markup = format!(
        "{COMPONENTS}<x-button data-n=1>Save</x-button><x-outer data-n=2>Print</x-outer><x-shut data-n=3>Send</x-shut>\
         <x-shut data-n=4><b>Bold</b></x-shut><x-button data-n=5><i>Soft</i> words</x-button>{CLICKED}"
    );
    let mut lines = vec![("snapshot", Ok("button \"Save\""))];
    for (name, n) in [("Save", "1"), ("Print", "2"), ("Send", "3"), ("Bold", "4"), ("Soft words", "5")] {
        let described: &'static str = Box::leak(format!("web_click timeoutMs=500 ref='button \"{name}\"'").into());
        let by_text: &'static str = Box::leak(format!("tapOnElementWithText timeoutMs=500 text='{name}'").into());
        lines.extend([(described, Ok("")), (ASK, Ok(n)), (by_text, Ok("")), (ASK, Ok(n))]);
    }
    check(&markup, &lines);
    let Some(shown) = snapshots::text(&markup, "") else { return };
    let lines: Vec<&str> = shown.lines().map(|line| line.split_once("] ").map_or(line, |(_, kind)| kind)).collect();
    let names = ["Save", "Print", "Send", "Bold", "Soft words"].map(|name| format!("button \"{name}\""));
    assert_eq!(lines, names, "a slotted text is not listed twice:\n{shown}");
}

#[test]
fn css_reaches_into_shadow_roots() {
    let markup = format!(
        "{COMPONENTS}<main><x-card id=mug><b slot=title>Mug</b></x-card></main><x-card id=cup><b slot=title>Cup</b></x-card>{CLICKED}"
    );
    let verify = |css: &str| format!("web_verifyElementVisible timeoutMs=0 ref='css={css}'");
    check(
        &markup,
        &[
            (&verify("#mug .buy"), Ok("")),
            (&verify("main > x-card > section > .body button.buy"), Ok("")),
            (&verify("main h3 + div > button"), Ok("")),
            (&verify("#mug h3 ~ .body"), Ok("")),
            (&verify("#nowhere, #cup :is(.buy, .sell)"), Ok("")),
            (&verify("#mug > .buy"), Err("nothing on the screen matches")),
            (&verify("#cup main .buy"), Err("nothing on the screen matches")),
            (&verify(".buy"), Err("several elements match")),
            ("web_click ref='css=#cup .buy'", Ok("")),
            (ASK, Ok("buy")),
        ],
    );
}

const HIDDEN_CONTROLS: &str = "<style>.gone { display: none } .zero { position: absolute; width: 0; height: 0; opacity: 0 }
    .off { position: absolute; left: -9999px } .tiny { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip: rect(0, 0, 0, 0) }
    label { display: block; margin: 9px } .box { display: inline-block; width: 9px; height: 9px; border: 1px solid; cursor: pointer }</style>
    <label><input type=checkbox class=gone id=agree><span class=box></span> Agree</label>
    <label for=monthly>Monthly</label><input type=radio name=plan class=zero id=monthly>
    <label><input type=checkbox class=off id=news> News</label>
    <label><input type=checkbox class=tiny id=terms> <span>I accept</span> <a href='#terms' style='display:block; width:100%; height:90px'>all terms</a></label>
    <label for=photo>Photo</label><input type=file class=gone id=photo>
    <label for=notes>Notes</label><textarea id=notes class=gone></textarea>";

#[test]
fn a_control_that_its_label_draws_is_seen_and_clicked() {
    let is = |id: &str| format!("web_evaluate script='String({id}.checked)'");
    check(
        HIDDEN_CONTROLS,
        &[
            ("snapshot", Ok("checkbox \"Agree\" [id=agree] [unchecked]")),
            ("snapshot", Ok("radio \"Monthly\" [id=monthly] [unchecked]")),
            ("snapshot", Ok("checkbox \"News\" [id=news] [unchecked]")),
            ("snapshot", Ok("button \"Photo\" [id=photo]")),
            ("snapshot", Ok("\nNotes")),
            ("tapOnElementWithText text=Agree", Ok("")),
            (&is("agree"), Ok("true")),
            ("web_click ref='\"Agree\"'", Ok("")),
            (&is("agree"), Ok("false")),
            ("web_check ref='checkbox \"Agree\"'", Ok("")),
            (&is("agree"), Ok("true")),
            ("tap text=Monthly", Ok("")),
            (&is("monthly"), Ok("true")),
            ("web_click ref='css=#news'", Ok("")),
            (&is("news"), Ok("true")),
            // The link in the middle of the label would take the click.
            ("tap id=terms", Ok("")),
            (&is("terms"), Ok("true")),
            ("web_evaluate script='location.hash || \"none\"'", Ok("none")),
            ("assertVisible text=Agree", Ok("visible")),
        ],
    );
}

/// Fields that are only there for the keyboard, as libraries hide them in what they draw.
const BOXES: &str = "<style>.tiny { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0, 0, 0, 0) }
    .box { position: relative; cursor: pointer; width: 200px; padding: 9px; border: 1px solid }</style>
    <div class=box data-n=tags><div class=tiny><input role=combobox aria-label=Tags readonly></div><div>Choose</div><b role=button data-n=clear>x</b></div>
    <div class=box data-n=city><input role=combobox aria-label=City style='opacity:0; pointer-events:none; width:100%'><i style='position:absolute; inset:9px'>Rome</i></div>
    <div class=box data-n=stars><span class=tiny><input type=radio aria-label='4 stars'></span><span>****</span></div>
    <div class=box data-n=volume style='cursor:grab; width:9px; height:9px'><input type=range class=tiny aria-label=Volume></div>
    <p data-n=words>Words and <a href=# class=tiny>more</a></p>
    <p data-n=still>Still <input class=tiny aria-label=Bare></p>
    <div class=box data-n=both>Both<input class=tiny aria-label=From><input class=tiny aria-label=To></div>";

#[test]
fn a_field_that_is_not_drawn_itself_is_touched_at_the_box_that_shows_it() {
    let mut lines = vec![("snapshot".to_string(), Ok("combobox \"Tags\""))];
    let named = [
        ("combobox \"Tags\"", "tags"),
        ("combobox \"City\"", "city"),
        ("radio \"4 stars\"", "stars"),
        ("slider \"Volume\"", "volume"),
    ];
    for (named, n) in named {
        lines.extend([(format!("web_click timeoutMs=500 ref='{named}'"), Ok("")), (ASK.to_string(), Ok(n))]);
    }
    // A link and a field are not drawn by the text around them, nor two fields by one box.
    for named in ["link \"more\"", "textbox \"Bare\"", "textbox \"From\""] {
        lines.push((format!("web_click timeoutMs=0 ref='{named}'"), Err("")));
    }
    lines.push((ASK.to_string(), Ok("volume")));
    let lines: Vec<(&str, Result<&str, &str>)> = lines.iter().map(|(line, answer)| (line.as_str(), *answer)).collect();
    check(&format!("{BOXES}{CLICKED}"), &lines);
}

#[test]
fn css_finds_what_is_kept_from_screen_readers() {
    let page = "<ul><li draggable=true id=one><svg aria-hidden=true class=handle width=20 height=20><path d='M0 0h20v20H0z'/></svg> One
                <li id=two ondragover='event.preventDefault()' ondrop=\"document.title = 'Dropped'\" style='height:50px'>Two</ul>";
    check_trail(
        page,
        &["web_drag: {ref: css=.handle, toRef: css=#two}", &holds("document.title === 'Dropped'")],
        0,
        &[],
    );
}

#[test]
fn a_line_of_text_is_touched_where_the_text_is() {
    let markup = "<script>addEventListener('click', (event) => { window.hit = event.target.localName })</script>\
                  <div style='width:900px'><b>3</b> <i>left</i></div>";
    check(markup, &[("tap text='3 left'", Ok("")), ("web_evaluate script=hit", Ok("b"))]);
}

#[test]
fn what_is_in_a_container_that_takes_the_focus_has_refs_of_its_own() {
    let days: String = (1..=9).map(|n| format!("<div data-n={n} class=day>{n}</div>")).collect();
    let markup = format!(
        "<style>.days {{ display: grid; grid-template-columns: repeat(3, 50px); width: 150px }} .day {{ cursor: pointer; height: 30px }}</style>
         <div tabindex=0 class=days>{days}</div><div tabindex=0 style='height:120px; overflow:auto'><p>First</p><p>Second</p></div>
         <div tabindex=0 data-n=save><span>Save</span></div>
         <div data-n=card style='cursor:pointer; width:300px'><b>Card</b><button data-n=buy style='display:block; width:100%; height:90px'>Buy</button></div>
         <ul><li style='width:100px; padding:30px'><a href=# data-n=link>In the middle</a></ul>{CLICKED}"
    );
    let Some(shown) = snapshots::text(&markup, "") else { return };
    let lines: Vec<&str> =
        shown.lines().map(|line| line.trim().split_once("] ").map_or(line, |(_, kind)| kind)).collect();
    let days: Vec<String> = (1..=9).map(|n| format!("generic \"{n}\"")).collect();
    assert_eq!(lines[0], "generic", "a panel is not named by the first thing in it:\n{shown}");
    assert_eq!(lines[1..10], days, "{shown}");
    assert_eq!(lines[10..13], ["generic", " First", " Second"], "{shown}");
    assert_eq!(lines[13..16], ["generic \"Save\"", "generic \"Card\"", "button \"Buy\""], "{shown}");
    check(
        &markup,
        &[
            ("web_click ref='generic \"8\"'", Ok("")),
            (ASK, Ok("8")),
            ("web_click ref='generic \"Save\"'", Ok("")),
            (ASK, Ok("save")),
            // The button in its middle would take the click.
            ("web_click ref='generic \"Card\"'", Ok("")),
            (ASK, Ok("card")),
            // A box that does nothing itself stands for what is in it.
            ("web_click ref='css=li'", Ok("")),
            (ASK, Ok("link")),
        ],
    );
}

#[test]
fn hovering_is_repeated_until_the_pointer_is_on_the_element() {
    let page = "<style>#item { position: absolute; top: 60px; width: 90px; height: 30px }</style><button id=away>Away</button><div id=item>Item</div>\
                <script>let on = 0, over = 0; item.onmousemove = () => over++; setInterval(() => { item.style.left = (on = !on) ? '20px' : '500px' }, 40)</script>";
    let made = ["web_evaluate: {script: 'over = 0'}", "web_hover: {ref: css=#away}", "web_hover: {ref: css=#item}"];
    let landed = holds("over > 0");
    let all: Vec<&str> = (0..6).flat_map(|_| made.into_iter().chain([landed.as_str()])).collect();
    check_trail(page, &all, 0, &[]);
    let covered = "<button id=item>Item</button><div style='position:fixed; inset:0'>A veil</div>";
    check_trail(covered, &["web_hover: {ref: css=#item, timeoutMs: 100}"], 1, &["covered by", "A veil"]);
}

#[test]
fn elements_that_lie_exactly_on_one_another_are_one_target() {
    let port = "style='position:absolute; left:40px; top:40px; width:20px; height:20px'";
    let page = format!(
        "<div class=port {port} onpointerdown='log.push(1)'></div><div class=port {port} onpointerdown='log.push(2)'></div>\
         <svg width=300 height=200 style='position:absolute; left:0; top:100px'><rect class=out x=9 y=9 width=20 height=20 onpointerdown='log.push(3)' />\
         <rect class=out x=9 y=9 width=20 height=20 onpointerdown='log.push(4)' /></svg>\
         <div class=goal style='position:absolute; left:400px; top:40px; width:90px; height:90px' onpointerup='log.push(5)'></div>\
         <script>window.log = []</script>"
    );
    check_trail(
        &page,
        &[
            "web_click: {ref: css=.port}",
            "web_drag: {ref: css=.out, toRef: css=.goal}",
            "web_click: {nodeSelector: {web: {cssSelector: .port}}}",
            &holds("JSON.stringify(log) === '[2,4,5,2]'"),
        ],
        0,
        &[],
    );
}

#[test]
fn a_menu_that_the_pointer_holds_open_stays_open_while_it_appears() {
    // The page scrolls, and the menu takes no touches before it has faded in.
    let page = "<style>#menu { display: none; animation: in 400ms } #box:hover #menu { display: block } #item { width: 90px; height: 30px }
                @keyframes in { from { opacity: 0; pointer-events: none } to { opacity: 1; pointer-events: none } }</style>
                <div style='height:500px'></div><div id=box style='width:90px'><button id=open>Open</button><div id=menu>
                <div id=item onclick=\"document.title = 'Chosen'\">Item</div></div></div><div style='height:2000px'></div>";
    check_trail(
        page,
        &[
            "web_hover: {ref: css=#open}",
            "web_click: {ref: css=#item}",
            &holds("document.title === 'Chosen' && scrollY === 0"),
        ],
        0,
        &[],
    );
}
