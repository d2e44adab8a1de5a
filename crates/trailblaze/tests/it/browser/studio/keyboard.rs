//! The page in a real browser, as hands use it: keys, input methods, double clicks, lists, and the width of a phone.

use serde_json::{Value, json};

use crate::browser::studio::browsing::lab;
use crate::browser::studio::opening::{address, on_session};
use crate::browser::studio::page::{element, has};
use crate::support::Project;
use crate::support::chromium;
use crate::support::hand::{Hand, Tab, free_port};
use crate::support::home::Home;

/// Opens an address in a browser of its own.
async fn shown(address: &str, viewport: &str) -> (Home, Tab) {
    let port = free_port();
    let viewer = Home::new(Project::empty());
    let config = format!(
        "devices: [{{id: web/chromium, viewport: {viewport}}}]\nbrowser: {{args: ['--remote-debugging-port={port}']}}\n"
    );
    viewer.project.write("trailblaze.yaml", config);
    viewer.run(&["device", "connect", "-d", "web/chromium", "--launch", address]).exits(0);
    let tab = Hand::connect(port).await.tab("/studio/").await;
    tab.until("document.querySelector('.screen-box canvas')?.dataset.drawn").await;
    (viewer, tab)
}

/// Where an element of the device is on the page.
async fn at(tab: &Tab, screen: &Value, name: &str) -> (f64, f64) {
    let found = element(screen, name);
    let number = |key: &str| found[key].as_f64().expect("a number");
    let (x, y) = (number("x") + number("width") / 2.0, number("y") + number("height") / 2.0);
    let (width, height) = (&screen["width"], &screen["height"]);
    let script = format!(
        "(() => {{ const box = document.querySelector('.screen-box').getBoundingClientRect(); \
         return [box.left + {x} / {width} * box.width, box.top + {y} / {height} * box.height]; }})()"
    );
    let place = tab.script(&script).await;
    (place[0].as_f64().expect("a number"), place[1].as_f64().expect("a number"))
}

const STEPS: &str = "[...document.querySelectorAll('.step-text')].map((step) => step.value)";

/// Waits until the last step has these words, and the list this length.
async fn until_step(tab: &Tab, count: usize, words: &str) {
    // What is typed may be recorded in parts that become one step.
    tab.until(&format!("{STEPS}.length >= {count} && {STEPS}[{count} - 1] === {}", json!(words))).await;
    let steps = tab.script(STEPS).await;
    assert_eq!((steps.as_array().map(Vec::len), &steps[count - 1]), (Some(count), &json!(words)), "{steps:#}");
}

const FOCUS: &str = "document.activeElement.ariaLabel || document.activeElement.textContent.trim()";

#[tokio::test(flavor = "multi_thread")]
async fn what_hands_do_on_the_picture_of_a_web_page_is_recorded_once() {
    if chromium::find().is_none() {
        return;
    }
    let (home, url) = lab("");
    let address = address(&home, &["-d", "web/chromium", "--launch", &url]);
    let (_viewer, tab) = shown(&address, "1280x800").await;
    let screen = tokio::task::block_in_place(|| {
        let (page, session) = on_session(&home, &["-d", "web/chromium"]);
        page.watch("screen", &session).until("the lab", |screen| has(screen, "Twice"))
    });

    // Two clicks at once are one double click.
    tab.click_at(at(&tab, &screen, "Twice").await, ("left", 2)).await;
    until_step(&tab, 2, "Double-click \"Twice\"").await;

    // Text arrives once, whether keys or an input method made it.
    tab.click_at(at(&tab, &screen, "Empty").await, ("left", 1)).await;
    until_step(&tab, 3, "Tap \"Empty\"").await;
    tab.until("document.querySelector('.keys-hint')").await;
    tab.type_text("caf").await;
    for text in ["´", "é"] {
        let composed = json!({"text": text, "selectionStart": 1, "selectionEnd": 1});
        tab.call("Input.imeSetComposition", composed).await;
    }
    tab.call("Input.insertText", json!({"text": "é 日本"})).await;
    until_step(&tab, 4, "Type \"café 日本\" into \"Empty\"").await;

    // Tab leaves the picture, and a menu sends it.
    tab.press("Tab", 9).await;
    let focus = tab.script(FOCUS).await;
    assert!(focus.as_str().is_some_and(|focus| focus.contains("Steps")), "{focus}");
    tab.click("[aria-haspopup=menu]").await;
    tab.until(&format!("{FOCUS} === 'Tab'")).await;
    tab.press("Escape", 27).await;
    assert_eq!(tab.script(FOCUS).await, "Keys", "the focus is back where it was");
    tab.press("Enter", 13).await;
    tab.until(&format!("{FOCUS} === 'Tab'")).await;
    tab.press("Enter", 13).await;
    until_step(&tab, 5, "Press Tab").await;

    // The browser shows the options of a list outside of its page.
    tab.click_at(at(&tab, &screen, "Size").await, ("left", 1)).await;
    tab.until(&format!("{FOCUS} === 'Small'")).await;
    tab.press("ArrowDown", 40).await;
    tab.press("Enter", 13).await;
    until_step(&tab, 6, "Choose \"Large\" in \"Size\"").await;

    // A field has an undo of its own; elsewhere, it is for the steps.
    tab.script("document.querySelector('.step-text').focus()").await;
    tab.press_with_control("z").await;
    tab.script("document.querySelector('.step-text').blur()").await;
    tab.press_with_control("z").await;
    tab.until(&format!("{STEPS}.length === 5")).await;
    tab.script("document.querySelector('.key-field').focus()").await;
    tab.press_with_control("z").await;
    tab.until(&format!("{STEPS}.length === 4")).await;
}
