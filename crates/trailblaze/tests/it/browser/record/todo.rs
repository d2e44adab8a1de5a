//! A list of tasks as frameworks make them: drawn again after each change, edited by double click, with buttons that only the pointer
//! reveals and ids that differ each time.

use serde_json::json;

use crate::browser::record::stage::{Stage, words};

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_redraws_itself_is_recorded_and_replays() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    stage.lab.project.write("todo.html", include_str!("todo.html"));
    let url = format!("file://{}/todo.html", stage.lab.project.root().display());
    let (running, hand) = stage.record(&url, &["--save", "trails/todo.trail.yaml", "--assertions"]).await;
    let tab = hand.tab("todo.html").await;
    tab.click(".new").await;
    for task in ["buy milk", "call Bob", "pay rent"] {
        tab.type_text(task).await;
        tab.press("Enter", 13).await;
    }
    tab.click("li:nth-child(1) .done").await;
    tab.click_with(None, "li:nth-child(2) label", ("left", 2)).await;
    tab.until("document.activeElement.className === 'edit'").await;
    tab.press("End", 35).await;
    tab.type_text(" today").await;
    tab.press("Enter", 13).await;
    let place = "(() => { const box = document.querySelector('li:nth-child(3)').getBoundingClientRect(); return [box.left + 60, \
                 (box.top + box.bottom) / 2]; })()";
    let place = tab.script(place).await;
    tab.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": place[0], "y": place[1]})).await;
    tab.click("li:nth-child(3) .remove").await;
    tab.until("document.querySelectorAll('li').length === 2").await;
    stage.until("the last click is recorded", |steps| steps.iter().any(|step| step.contains('×')));
    let recorded = stage.end(running);
    let all = words(&recorded);
    let expected = [
        "Type \"buy milk\" into \"What is to be done?\"",
        "Press Enter",
        "\"1 left\" is shown",
        "Type \"call Bob\" into \"What is to be done?\"",
        "Press Enter",
        "\"2 left\" is shown",
        "Type \"pay rent\" into \"What is to be done?\"",
        "Press Enter",
        "\"3 left\" is shown",
    ];
    assert_eq!(all[1..10], expected, "{all:?}");
    assert!(all.iter().any(|text| text == "Double-click \"call Bob\""), "{all:?}");
    assert_eq!(all.last().map(String::as_str), Some("\"1 left\" is shown"), "{all:?}");
    let saved = stage.lab.project.read("trails/todo.trail.yaml");
    assert!(saved.contains("web_hover") && !saved.contains(":r"), "{saved}");
    // A checkbox without a label is that of its task.
    let words: Vec<&str> = saved.split_whitespace().collect();
    let expected =
        "ariaRole: checkbox childOf: web: ariaRole: listitem containsDescendants: - web: textRegex: buy milk";
    assert!(words.join(" ").contains(expected), "{saved}");
    stage.run(&["run", "trails/todo.trail.yaml"]).exits(0);
}
