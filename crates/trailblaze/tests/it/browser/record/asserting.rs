//! Assertions in a recording: those that are added for what an action made appear, and those that a person chooses in the bar; and the
//! marks of steps that may not hold.

use serde_json::Value;

use crate::browser::record::stage::{Stage, words};

/// A message that goes away by itself, a clock that begins to run later, and an answer that takes its time.
const PAGE: &str = "<!doctype html><title>Save</title><button id=save>Save</button><button id=load>Load</button><p id=out></p><p id=news></p>
    <label>Name <input id=name value=Ada></label><script>
    save.onclick = () => { out.innerHTML = '<b role=status>Saved</b>'; setTimeout(() => { out.textContent = '' }, 2500);
        setTimeout(() => { news.textContent = 'Something else has happened' }, 1500) };
    load.onclick = () => fetch('/slow?ms=1200').then(() => { out.innerHTML = '<h2>Arrived</h2>' });
    </script>";

fn calls(recorded: &Value) -> Vec<Value> {
    let steps = recorded["steps"].as_array().cloned().unwrap_or_default();
    steps.iter().flat_map(|step| step["calls"].as_array().cloned().unwrap_or_default()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assertion_is_about_the_page_once_it_has_settled_and_about_nothing_later() {
    let Some(stage) = Stage::with_pages("web-shop", "server.mjs", &[("save", PAGE)]) else { return };
    let (running, hand) = stage.record("/save", &["--save", "trails/save.trail.yaml", "--assertions"]).await;
    let tab = hand.tab("/save").await;
    tab.click("#save").await;
    stage.until_recorded("\"Saved\" is shown");
    tab.until("news.textContent !== '' && out.textContent === ''").await;
    tab.click("#load").await;
    // The answer to its request is part of what a click does.
    stage.until_recorded("\"Arrived\" is shown");
    let recorded = stage.end(running);
    let expected = ["Click \"Save\"", "\"Saved\" is shown", "Click \"Load\"", "\"Arrived\" is shown"];
    assert_eq!(words(&recorded)[1..], expected);
    stage.run(&["run", "trails/save.trail.yaml"]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bar_pauses_asserts_undoes_and_finishes_and_the_page_does_not_see_it() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    let page = PAGE.replace(
        "<script>",
        "<script>window.seen = []; addEventListener('pointerdown', (event) => seen.push(event.target.id), true);\
         addEventListener('click', (event) => seen.push(event.target.id), true);",
    );
    let url = stage.page("bar.html", &page);
    let (running, hand) = stage.record(&url, &["--save", "trails/bar.trail.yaml"]).await;
    let tab = hand.tab("bar.html").await;
    tab.press_in_bar("pause").await;
    tab.click("#save").await;
    tab.until("out.textContent === 'Saved'").await;
    tab.press_in_bar("pause").await;
    tab.click("#name").await;
    tab.type_text("Grace").await;
    tab.press_in_bar("value").await;
    stage.until("what was typed is recorded", |steps| steps.len() == 2);
    let before = tab.script("JSON.stringify(seen)").await;
    tab.click("#name").await;
    stage.until("the value is asserted", |steps| steps.len() == 3);
    tab.press_in_bar("visible").await;
    tab.click("#load").await;
    stage.until("the button is asserted", |steps| steps.len() == 4);
    assert_eq!(tab.script("JSON.stringify(seen)").await, before, "what is chosen is kept from the page");
    assert!(before.as_str().is_some_and(|seen| !seen.contains("trailblaze")), "{before}");
    tab.press_in_bar("pick").await;
    tab.click("#save").await;
    let deadline = std::time::Instant::now() + crate::support::PATIENCE;
    while !tab.text_in_bar().await.contains("id: save") {
        assert!(std::time::Instant::now() < deadline, "{}", tab.text_in_bar().await);
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    }
    tab.press_in_bar("pick").await;
    tab.click("#save").await;
    stage.until_recorded("Click \"Save\"");
    tab.press_in_bar("undo").await;
    stage.until("the click is undone", |steps| steps.len() == 4);
    tab.press_in_bar("finish").await;
    let recorded = stage.ended(running);
    let all = words(&recorded);
    assert!(all[1].starts_with("Type \"") && all[1].contains("Grace"), "{all:#?}");
    assert!(all[2].starts_with("\"Name\" contains \"") && all[3] == "\"Load\" is visible", "{all:#?}");
    assert_eq!(all.len(), 4, "{all:#?}");
    stage.run(&["run", "trails/bar.trail.yaml"]).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_whose_element_only_its_position_tells_apart_is_marked() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    let url = stage.page(
        "weak.html",
        "<!doctype html><title>Weak</title><button>Go</button><button>Go</button><button id=sure>Sure</button>\
         <p id=out></p><script>onclick = (event) => { out.textContent += event.target.textContent }</script>",
    );
    let (running, hand) = stage.record(&url, &["--save", "trails/weak.trail.yaml"]).await;
    let tab = hand.tab("weak.html").await;
    tab.click("button:nth-of-type(2)").await;
    tab.click("#sure").await;
    stage.until_recorded("Click \"Sure\"");
    let recorded = stage.end(running);
    assert_eq!(recorded["steps"][1]["mayNotHold"], "only its position tells it apart from others", "{recorded}");
    assert_eq!(recorded["steps"][2]["mayNotHold"], Value::Null, "{recorded}");
    assert_eq!(calls(&recorded).len(), 3);
    let saved = stage.lab.project.read("trails/weak.trail.yaml");
    let mark = "# May not hold when it is replayed: only its position tells it apart from others\n";
    let (_, after) = saved.split_once(mark).unwrap_or_else(|| panic!("no mark: {saved}"));
    assert!(after.trim_start().starts_with("- step: 'Click \"Go\"'") && !after.contains("# May not"), "{saved}");
    stage.replays_to("trails/weak.trail.yaml", "out", "GoSure");
}
