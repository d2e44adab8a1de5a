//! Real programs of GTK and Qt, and Chromium, which is what Electron is made of.

use serde_json::json;
use trailblaze_core::driver::{
    Action, ActionTarget, DeviceCommand, Direction, DragEnd, Driver, ObserveOptions, Offset,
};

use super::desk::{Desk, budget, has};
use crate::support::{is_full_tier, wait_until};

/// How often each program is used.
fn times() -> u32 {
    if is_full_tier() { 10 } else { 1 }
}

#[tokio::test]
async fn mousepad_is_used_by_keys_menus_dialogs_and_tabs() {
    if !has(&["mousepad"]) {
        return;
    }
    let desk = Desk::open().await;
    for _ in 0..times() {
        desk.launch("mousepad --disable-server").await;
        desk.type_text("Grüße, 12 € → 日本\n").await;
        desk.until("the text is there", |screen| screen.contains("Grüße, 12 € → 日本")).await;
        desk.menu(&["File", "Save As..."]).await;
        let path = desk.file("greeting.txt");
        let _ = std::fs::remove_file(&path);
        desk.on("Name", Action::SetText { text: path.display().to_string() }).await;
        desk.tap("Save").await;
        let saved = wait_until("it is saved", || std::fs::read_to_string(&path).ok().filter(|text| !text.is_empty()));
        assert_eq!(saved, "Grüße, 12 € → 日本\n");
        // What is pressed while the dialog closes goes to the dialog.
        let is_back = |screen: &str| screen.contains("greeting.txt - Mousepad\" [state: \"active\"]");
        desk.until("its window has the keys again", is_back).await;
        if is_full_tier() {
            desk.press("Control+N").await;
            desk.until("a second tab", |screen| screen.matches("] Tab ").count() == 2).await;
            desk.press("Control+F").await;
            desk.tap("greeting.txt").await;
            desk.until("the first tab is in front", |screen| screen.contains("Tab \"greeting.txt\" [selected]")).await;
        }
        assert_eq!(desk.titles().await.len(), 1);
        desk.send(DeviceCommand::StopApp { app: "mousepad --disable-server".to_string() }).await;
    }
    desk.close().await;
}

#[tokio::test]
async fn mousepad_is_dragged_in_scrolled_and_set_up() {
    if !has(&["mousepad"]) {
        return;
    }
    let desk = Desk::open().await;
    for _ in 0..times() {
        desk.launch("mousepad --disable-server").await;
        desk.type_text("one two").await;
        let to = DragEnd::By(Offset { x: 400, y: 0 });
        desk.on("one two", Action::Drag { at: Some(Offset { x: 3, y: 8 }), to }).await;
        desk.type_text("gone").await;
        desk.until("the selection is replaced", |screen| screen.contains("TextArea \"gone\"")).await;
        desk.menu(&["Edit", "Preferences..."]).await;
        desk.on("none", Action::Choose { values: vec!["Tango".to_string()] }).await;
        desk.until("the colours of Tango", |screen| screen.contains("DropdownList \"tango\"")).await;
        let numbers = "Show line numbers";
        for _ in 0..2 {
            desk.on(numbers, Action::SetChecked { checked: true }).await;
            let is_checked =
                |screen: &str| screen.lines().any(|line| line.contains(numbers) && line.contains("[checked]"));
            desk.until("the box is ticked, and stays so", is_checked).await;
        }
        desk.press("Escape").await;
        desk.until("the dialog is closed", |screen| !screen.contains(numbers)).await;
        desk.send(DeviceCommand::StopApp { app: "mousepad --disable-server".to_string() }).await;
    }
    desk.close().await;
}

#[tokio::test]
async fn windows_of_two_programs_are_listed_activated_and_closed() {
    if !has(&["mousepad"]) {
        return;
    }
    let desk = Desk::open().await;
    desk.launch("mousepad --disable-server").await;
    desk.launch("/usr/bin/mousepad --disable-server").await;
    desk.type_text("second").await;
    desk.until("the second has the keys", |screen| screen.contains("TextArea \"second\"")).await;
    let listed = desk.send(DeviceCommand::Windows).await.value.expect("windows")["windows"].clone();
    let windows = listed.as_array().expect("a list");
    assert_eq!(windows.len(), 2, "{listed}");
    assert_eq!((&windows[0]["active"], &windows[1]["active"]), (&json!(false), &json!(true)), "{listed}");
    assert_eq!(windows[0]["app"], "mousepad --disable-server");
    let first = windows[0]["id"].as_str().expect("an id").to_string();
    desk.send(DeviceCommand::ActivateWindow { window: first.clone() }).await;
    desk.type_text("first").await;
    desk.until("the first has the keys", |screen| screen.contains("TextArea \"first\"")).await;
    desk.press("Control+A").await;
    desk.press("Control+C").await;
    let until = tokio::time::Instant::now() + crate::support::PATIENCE;
    while desk.send(DeviceCommand::GetClipboard).await.text != "first" {
        assert!(tokio::time::Instant::now() < until, "it is never copied");
    }
    desk.send(DeviceCommand::SetClipboard { text: "Zoë 🎈".to_string() }).await;
    assert_eq!(desk.send(DeviceCommand::GetClipboard).await.value, Some(json!("Zoë 🎈")));
    desk.send(DeviceCommand::PasteClipboard).await;
    desk.until("it is pasted", |screen| screen.contains("TextArea \"Zoë 🎈\"")).await;
    desk.send(DeviceCommand::CloseWindow { window: first }).await;
    desk.until("it asks", |screen| screen.contains("Dialog")).await;
    desk.press("Escape").await;
    let gone = DeviceCommand::CloseWindow { window: "nobody".to_string() };
    let refused = gone.carry_out(&*desk.driver, &budget()).await.expect_err("there is none").to_string();
    assert!(refused.starts_with("no window has the id or the title \"nobody\"; open are "), "{refused}");
    desk.close().await;
}

#[tokio::test]
async fn a_calculator_of_gtk4_calculates() {
    if !has(&["gnome-calculator"]) {
        return;
    }
    let desk = Desk::open().await;
    for _ in 0..times() {
        desk.launch("gnome-calculator").await;
        for key in ["7", "×", "6", "="] {
            desk.tap(key).await;
        }
        desk.until("the result", |screen| screen.contains("TextArea \"42\"")).await;
        // By the pointer, which finds what is really at that place.
        desk.press("Escape").await;
        let nine = desk.find("9").await;
        desk.act(ActionTarget::Point(nine.point), Action::Tap).await.expect("it is clicked");
        desk.until("the digit", |screen| screen.contains("TextArea \"9\"")).await;
        desk.send(DeviceCommand::StopApp { app: "gnome-calculator".to_string() }).await;
    }
    let pictured = desk.driver.observe(&budget(), ObserveOptions::PICTURE).await.expect("a screen");
    assert_eq!(pictured.picture.map(|picture| picture.size), Some(pictured.size));
    desk.close().await;
}

#[tokio::test]
async fn a_calculator_of_qt_calculates() {
    if !is_full_tier() || !has(&["kcalc"]) {
        return;
    }
    let desk = Desk::open().await;
    for _ in 0..times() {
        desk.launch("kcalc").await;
        for key in ["7", "×", "6", "="] {
            desk.tap(key).await;
        }
        desk.until("the result", |screen| screen.contains("\"42\"")).await;
        desk.menu(&["Settings", "Configure KCalc..."]).await;
        desk.until("the dialog", |screen| screen.contains("Dialog \"Configure")).await;
        desk.tap("Cancel").await;
        desk.send(DeviceCommand::StopApp { app: "kcalc".to_string() }).await;
    }
    desk.close().await;
}

#[tokio::test]
async fn an_editor_with_tabs_is_used() {
    if !is_full_tier() || !has(&["geany"]) {
        return;
    }
    let desk = Desk::open().await;
    for _ in 0..times() {
        desk.launch("geany --no-session --new-instance").await;
        desk.until("its menus", |screen| screen.contains("Menu \"File\"")).await;
        desk.press("Control+N").await;
        desk.until("a tab", |screen| screen.contains("untitled")).await;
        desk.send(DeviceCommand::StopApp { app: "geany --no-session --new-instance".to_string() }).await;
    }
    desk.close().await;
}

#[tokio::test]
async fn a_page_in_chromium_is_used_through_its_tree() {
    if !is_full_tier() || !has(&["chromium"]) {
        return;
    }
    let desk = Desk::open().await;
    let page = desk.file("order.html");
    let text = "<title>Order</title><label>Name <input></label><label>PIN <input type=password></label><select aria-label=Size>\
                <option>Small<option>Large</select><button onclick=\"out.textContent='Hello '+document.querySelector('input').value+' '\
                +document.querySelector('select').value+' '+document.querySelectorAll('input')[1].value.length\">Greet</button>\
                <p id=out></p><div draggable=true style='width:9em' ondragend=\"drag.textContent='dropped'\">Box</div><p id=drag></p>\
                <div style='height:3000px'></div><p>The end</p>";
    std::fs::write(&page, text).expect("a page");
    let command = format!(
        "chromium --no-sandbox --no-first-run --disable-gpu --disable-background-networking --force-renderer-accessibility \
         --user-data-dir={} --app=file://{}",
        desk.file("profile").display(),
        page.display()
    );
    desk.launch(&command).await;
    desk.on("Name", Action::SetText { text: "Ada".to_string() }).await;
    desk.on("PIN", Action::SetText { text: "4711".to_string() }).await;
    let screen = desk.until("the PIN", |screen| screen.contains("TextField \"PIN\" [focused] [password]")).await;
    assert!(!screen.contains("4711"), "{screen}");
    desk.on("Size", Action::Choose { values: vec!["Large".to_string()] }).await;
    desk.tap("Greet").await;
    desk.until("the greeting", |screen| screen.contains("Hello Ada Large 4")).await;
    desk.on("Box", Action::Drag { at: None, to: DragEnd::By(Offset { x: 200, y: 40 }) }).await;
    desk.until("it is dropped", |screen| screen.contains("dropped")).await;
    let scroll = Action::Scroll { direction: Direction::Down, amount: Some(4000) };
    desk.act(ActionTarget::Device, scroll).await.expect("it is scrolled");
    desk.find("The end").await;
    desk.close().await;
}

#[tokio::test]
async fn a_window_without_a_tree_is_named_and_can_be_touched_by_points() {
    if !is_full_tier() || !has(&["pcmanfm"]) {
        return;
    }
    let desk = Desk::open().await;
    desk.launch("pcmanfm /usr/share").await;
    let screen = desk.until("its window", |screen| screen.contains("Window \"share\"")).await;
    assert!(screen.contains("it exposes no accessibility tree; use points and pictures"), "{screen}");
    desk.act(ActionTarget::Point(trailblaze_protocol::geometry::Point { x: 300, y: 200 }), Action::Tap)
        .await
        .expect("a click");
    let scroll = Action::Scroll { direction: Direction::Down, amount: None };
    desk.act(ActionTarget::Device, scroll).await.expect("it is scrolled");
    desk.close().await;
}
