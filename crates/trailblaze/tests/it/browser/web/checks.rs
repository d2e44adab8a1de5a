//! The checks that all platforms have, on pages.

use super::finding::check;
use super::shop::{Shop, calls};
use crate::support::{Pixels, files};

#[test]
fn checks_of_all_platforms_hold_and_fail_on_pages() {
    let markup = "<h1 id=total>Total: <b>1,234.50</b> €</h1><ul><li>Mug<li>Tea<li>Tea</ul>
        <label>City <input id=city value='Rome '></label><button id=pay disabled aria-expanded=false>Pay</button>
        <label><input type=checkbox id=news checked> News</label><input id=name autofocus>
        <p style='margin-top: 3000px' id=below>Far below</p>
        <script>document.documentElement.dataset.theme = 'dark'</script>";
    check(
        markup,
        &[
            ("assertText id=total is='Total: 1,234.50 €'", Ok("has the text")),
            ("assertText ref='css=li:nth-child(2)' contains=Te", Ok("has the text \"Tea\"")),
            ("assertText id=total matches='Total: .* €'", Ok("has the text")),
            ("assertText id=total is=Total timeoutMs=0", Err("saw \"Total: 1,234.50 €\"")),
            ("assertNumber id=total atLeast=10 lessThan=1235", Ok("1234.5 in the text")),
            ("assertNumber id=total moreThan=1234.5 timeoutMs=0", Err("saw 1234.5 in the text")),
            ("assertValue id=city is='Rome '", Ok("has the value \"Rome \"")),
            ("assertValue id=city is=Rome timeoutMs=0", Err("saw \"Rome \"")),
            ("assertAttribute id=pay name=aria-expanded is=false", Ok("has the attribute `aria-expanded` \"false\"")),
            ("assertAttribute id=pay name=title is=x timeoutMs=0", Err("saw no such attribute")),
            ("assertAttribute ref=css=html name=data-theme is=dark", Ok("has the attribute `data-theme` \"dark\"")),
            ("assertCount ref=css=html equals=1", Ok("1 time")),
            ("assertState id=pay enabled=false inView=true", Ok("is disabled and in view")),
            ("assertState id=pay enabled=true timeoutMs=0", Err("saw disabled")),
            ("assertState id=news checked=true", Ok("is checked")),
            ("assertState id=name focused=true", Ok("is focused")),
            ("assertState id=below inView=false", Ok("is not in view")),
            ("assertState id=below inView=true timeoutMs=0", Err("in view, saw")),
            ("assertCount text=Tea equals=2", Ok("2 times")),
            ("assertCount ref=listitem atLeast=4 timeoutMs=0", Err("saw 3")),
            ("assertOrder items='[\"Mug\", \"Tea\"]' ref=list", Ok("in this order")),
            ("assertOrder items='[\"Tea\", \"Mug\"]' timeoutMs=0", Err("no such item after \"Tea\"")),
            ("assertNotVisible text=Coffee", Ok("is not on the screen")),
            ("assertNotVisible text=Mug timeoutMs=0", Err("is still there")),
            ("web_assertUrl contains=page.html", Ok("the address of the page is")),
            ("web_assertUrl matches='.*/other' timeoutMs=0", Err("expected an address matching")),
            ("web_assertTitle is=Page", Ok("the title of the page is \"Page\"")),
            ("web_assertTitle is=Shop timeoutMs=0", Err("saw \"Page\"")),
            ("assertTree tree='- list:'", Ok("all 1 lines")),
            (
                "assertTree ref=list tree='- text \"Coffee\"' timeoutMs=0",
                Err("expected `- text \"Coffee\"` (line 1 of the tree) in list"),
            ),
            ("assertTree tree='- button /(/'", Err("`tree`: line 1, column 10: `(` is not a valid regular expression")),
        ],
    );
}

const MOVING: &str = "<!doctype html><meta charset=utf-8><title>Moving</title>
<style>* { margin: 0 } p { font: bold 30px sans-serif; color: #ff0000 }</style>
<h1 style='color: COLOR'>Hello</h1><p>hunter22</p><div id=clock style='height: 50px; background: rgb(0, 0, 0)'></div>
<script>
  let n = 0;
  // No color comes twice.
  setInterval(() => { clock.style.background = `rgb(7, ${n >> 8}, ${n++ % 256})`; }, 20);
</script>";

#[test]
fn a_page_is_compared_with_an_expected_picture_without_what_moves_and_secrets() {
    let look = calls(&[
        "web_navigate: {url: page.html}",
        "assertPicture: {name: page, masks: [{id: clock}]}",
        "assertPicture: {name: title, ref: heading}",
    ]);
    let Some(shop) = Shop::open(&look) else { return };
    let run = |args: &[&str], code: i32| {
        let mut command = shop.command(&[&["run", "--secret", "PIN"], args].concat());
        command.env("PIN", "hunter22");
        shop.project.finish(command).exits(code)
    };
    shop.project.write("trails/page.html", MOVING.replace("COLOR", "#0000ff"));
    run(&["--update-snapshots"], 0);
    let folder = shop.project.root().join("trails/shop.pictures");
    let written = files(&folder);
    assert_eq!(written.len(), 2, "{written:?}");
    let page = written.iter().find(|file| file.display().to_string().contains("/page.web-")).unwrap();
    let page = Pixels::read(page);
    assert!(page.contains([0, 0, 255]), "the heading is there");
    assert!(!page.contains([255, 0, 0]), "the secret is not");
    run(&[], 0);

    shop.project.write("trails/page.html", MOVING.replace("COLOR", "#00ff00"));
    let ran = run(&[], 1);
    assert!(ran.stdout.contains("expected the picture `trails/shop.pictures/page.web-"), "{}", ran.stdout);
    // Without the mask, the page never comes to rest.
    let unmasked = shop.project.read("trails/shop.trail.yaml").replace(", masks: [{id: clock}]", "");
    shop.project.write("trails/shop.trail.yaml", unmasked);
    let ran = run(&["--update-snapshots"], 1);
    assert!(ran.stdout.contains("a screen that keeps changing"), "{}", ran.stdout);
}

#[test]
fn a_page_is_compared_with_expected_text() {
    let page = "<!doctype html><title>Shop</title><main><h1>Cart</h1><ul><li>Mug <button>Remove</button><li>Tea, 20 bags
        <button>Remove</button></ul><label>City <input value=Rome></label> <label><input type=checkbox checked> News</label>
        <button disabled>Pay</button><p>Total: <b>12.50</b> €</p><iframe srcdoc='<button>Inner</button>'></iframe></main>
        <script>setTimeout(() => document.body.append(Object.assign(document.createElement('p'), {textContent: 'PIN 4711'})), 300)
        </script>";
    let tree = r#"
      - assertTree:
          tree: |
            - heading "Cart" [level=1]
            - list:
              - listitem:
                - button "Remove"
              - listitem /Tea, \d+ bags .*/
            - textbox "City": Rome
            - checkbox "News" [checked]
            - button "Pay" [disabled]
            - button "Inner"
            - text "PIN {{PIN}}"
"#;
    let made = format!("{}{}", calls(&["web_navigate: {url: page.html}"]), tree.trim_start_matches('\n'));
    let Some(shop) = Shop::open(&made) else { return };
    shop.project.write("trails/page.html", page);
    let mut command = shop.command(&["run", "--secret", "PIN"]);
    command.env("PIN", "4711");
    shop.project.finish(command).exits(0);
}
