//! What is done with a mouse besides clicking, and with fields that no keyboard fills: each is one step that does the same again.

use crate::browser::record::stage::{Stage, words};

const PAGE: &str = include_str!("gestures.html");

#[tokio::test(flavor = "multi_thread")]
async fn drags_hovers_and_wheels_are_recorded_and_replay() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    let url = stage.page("gestures.html", PAGE);
    let (running, hand) = stage.record(&url, &["--save", "trails/gestures.trail.yaml"]).await;
    let tab = hand.tab("gestures.html").await;
    tab.hover(".css b").await;
    tab.click("#lamps").await;
    tab.hover(".js button").await;
    tab.until("getComputedStyle(document.querySelector('.js .drop')).display === 'block'").await;
    tab.click("#leave").await;
    tab.drag_by(".card:nth-child(1)", (0.0, 0.0), (0.0, 68.0)).await;
    tab.drag_by(".thumb", (0.0, 0.0), (73.0, 2.0)).await;
    tab.drag_by("#sheet", (-70.0, -20.0), (110.0, 30.0)).await;
    tab.click(".board div:nth-child(3)").await;
    tab.click_with(None, "#target", ("right", 1)).await;
    tab.wheel("#names", 200.0, 5).await;
    tab.until("document.querySelector('#names').textContent.includes('Name 33')").await;
    tab.click("#names > div:nth-child(2)").await;
    tab.wheel(".far", 150.0, 4).await;
    tab.until("scrollY > 500").await;
    tab.click("#end").await;
    let log = tab.script("log.textContent").await;
    stage.until_recorded("Click \"The end\"");
    let recorded = stage.end(running);
    let all = words(&recorded);
    let expected = [
        "Click \"Lamps\"",
        "Click \"Sign out\"",
        "Drag \"Apple\" onto \"Plum\"",
        "Drag the generic by 73 right and 2 down",
        "Drag the canvas [id=sheet] by 110 right and 30 down",
    ];
    assert_eq!(all[1..6], expected, "{all:#?}");
    assert!(all[6].starts_with("Click the generic at 1"), "{all:#?}");
    assert_eq!(all[7], "Right-click \"Right here\"", "{all:#?}");
    assert!(all[8].starts_with("Scroll down by 1000 at"), "{all:#?}");
    assert!(all[10].starts_with("Scroll down by 600"), "{all:#?}");
    assert_eq!(all.len(), 12, "{all:#?}");
    stage.replays_to("trails/gestures.trail.yaml", "log", log.as_str().expect("a text"));
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_that_are_not_typed_into_and_files_are_recorded_and_replay() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    let url = stage.page("gestures.html", PAGE);
    stage.lab.project.write("papers/bill.txt", "12 Euro");
    let (running, hand) = stage.record(&url, &["--save", "trails/fields.trail.yaml"]).await;
    let tab = hand.tab("gestures.html").await;
    tab.slide("#volume", 30.0).await;
    tab.script("document.querySelector('#day').focus()").await;
    tab.type_text("05172026").await;
    tab.click(".tasks li:nth-child(2) input").await;
    tab.click("#attach").await;
    let file = stage.lab.project.root().join("papers/bill.txt");
    tab.choose_file("#file", &file.display().to_string()).await;
    tab.until("log.textContent.includes('bill.txt')").await;
    tab.click("#end").await;
    let log = tab.script("log.textContent").await;
    let log = log.as_str().expect("a text");
    assert!(log.contains("2026-05-17"), "{log}");
    stage.until_recorded("Click \"The end\"");
    let recorded = stage.end(running);
    let all = words(&recorded);
    assert!(all[1].starts_with("Type \"") && all[1].ends_with("into \"Volume\""), "{all:#?}");
    let expected = [
        "Type \"2026-05-17\" into \"Day\"",
        "Check the checkbox",
        "Upload \"bill.txt\" to \"Attach a file\"",
        "Click \"The end\"",
    ];
    assert_eq!(all[2..], expected, "{all:#?}");
    let saved = stage.lab.project.read("trails/fields.trail.yaml");
    assert!(saved.contains("../papers/bill.txt") && saved.contains("Bread"), "{saved}");
    stage.replays_to("trails/fields.trail.yaml", "log", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn typing_in_a_document_that_a_script_has_written_is_recorded_and_replays() {
    let Some(stage) = Stage::open("web-shop", "server.mjs") else { return };
    let page = "<!doctype html><title>Frames</title><p id=log></p><iframe id=early></iframe><iframe id=late></iframe><script>
        const write = (frame, name) => { const page = frame.contentDocument; page.open(); page.write(`<label>${name} <input></label><button>Keep ${name}</button>`);
          page.close(); page.querySelector('button').onclick = () => { log.textContent += page.querySelector('input').value + ';' } };
        write(early, 'First'); setTimeout(() => { write(late, 'Second'); document.title = 'Written' }, 300)</script>";
    let url = stage.page("written.html", page);
    let (running, hand) = stage.record(&url, &["--save", "trails/written.trail.yaml"]).await;
    let tab = hand.tab("written.html").await;
    tab.until("document.title === 'Written'").await;
    for (frame, word) in [("#early", "ada"), ("#late", "bob")] {
        tab.click_in(frame, "input").await;
        tab.type_text(word).await;
        tab.click_in(frame, "button").await;
    }
    tab.until("log.textContent === 'ada;bob;'").await;
    stage.until_recorded("Click \"Keep Second\"");
    let recorded = stage.end(running);
    let expected = [
        "Type \"ada\" into \"First\"",
        "Click \"Keep First\"",
        "Type \"bob\" into \"Second\"",
        "Click \"Keep Second\"",
    ];
    assert_eq!(words(&recorded)[1..], expected);
    stage.replays_to("trails/written.trail.yaml", "log", "ada;bob;");
}
