//! What a look at the screen asks for, and what it returns.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use trailblaze_core::driver::ObserveOptions;
use trailblaze_core::query::{Checks, ElementProperties, Find, Query, QueryTarget};
use trailblaze_core::screen::Field;
use trailblaze_protocol::geometry::Size;

use super::*;

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x04\x92\0\0\x09\xe4\x08\x06\0\0\0IEND\xaeB`\x82";

fn alert() -> Value {
    json!({
        "type": "Application", "label": " ", "rect": {"x": 0, "y": 0, "width": 390, "height": 844},
        "children": [{
            "type": "Alert", "label": "Allow?", "rect": {"x": 60, "y": 300, "width": 270, "height": 200},
            "children": [
                {"type": "StaticText", "label": "Allow?", "rect": {"x": 70, "y": 310, "width": 200, "height": 20}},
                {"type": "Button", "label": "OK", "rect": {"x": 70, "y": 400, "width": 200, "height": 44}},
            ],
        }],
    })
}

#[tokio::test]
async fn a_look_returns_the_elements_the_app_and_a_picture() {
    let wda = iphone(|asked| {
        let mut encoded = STANDARD.encode(PICTURE);
        encoded.insert_str(20, "\r\n");
        (asked.what == "GET /screenshot").then(|| WdaReply::Value(json!(encoded)))
    })
    .await;
    let driver = open(&wda).await.expect("it opens");
    let screen = driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    assert!(screen.picture.is_none());
    assert!(!wda.requests().iter().any(|what| what == "GET /screenshot"), "nobody asked for a picture");
    assert_eq!(screen.app.as_deref(), Some("com.example.Wallet"));
    assert_eq!(screen.size, Size { width: 1170, height: 2532 });
    assert_eq!(screen.root.children[0].text(), Some("Ada"));
    let again = driver.observe(&budget(), ObserveOptions::PICTURE).await.expect("a screen");
    assert_eq!(again.snapshot, screen.snapshot, "nothing changed");
    assert_eq!(again.picture.map(|picture| picture.size), Some(Size { width: 1170, height: 2532 }));
}

#[tokio::test]
async fn what_costs_time_is_asked_for_only_if_it_is_needed() {
    let wda = iphone(|_| None).await;
    let driver = open(&wda).await.expect("it opens");
    driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    driver.observe(&budget(), ObserveOptions { covers: true, ..ObserveOptions::TREE }).await.expect("a screen");
    let sources: Vec<String> = wda.requests().into_iter().filter(|what| what.contains("/source")).collect();
    assert!(sources[0].contains("visible") && sources[0].contains("format=json"), "{sources:?}");
    assert!(!sources[1].contains("visible"), "{sources:?}");
}

#[tokio::test]
async fn a_search_asks_for_the_tree_alone() {
    let wda = iphone(|_| None).await;
    let driver = open(&wda).await.expect("it opens");
    let before = wda.asked().len();
    let element = ElementProperties { id: Some("name".to_string()), ..ElementProperties::default() };
    let query = Query { what: QueryTarget::Element(element), index: None };
    let Ok(Find::Found(found)) = driver.find(&budget(), &query, Checks::Actionable).await else {
        panic!("it is there")
    };
    assert_eq!(found.point, Point { x: 585, y: 366 });
    assert_eq!(wda.asked().len(), before + 1);
}

#[tokio::test]
async fn an_alert_of_ios_is_reported_once() {
    let wda = iphone(|asked| match asked.what.split('?').next() {
        Some("GET /source") => Some(WdaReply::Value(alert())),
        Some("GET /wda/activeAppInfo") => Some(WdaReply::Value(json!({"bundleId": "com.apple.springboard"}))),
        _ => None,
    })
    .await;
    let driver = open(&wda).await.expect("it opens");
    for _ in 0..2 {
        let screen = driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
        assert_eq!(screen.app, None, "it is no app");
    }
    let events = driver.events().expect("events").take();
    assert_eq!(events.len(), 1, "{events:?}");
    let told = format!("{:?}", events[0]);
    assert!(told.contains("an alert of iOS is in front of the app: Allow? (buttons: \\\"OK\\\")"), "{told}");
}

#[tokio::test]
async fn an_alert_of_the_app_is_a_part_of_the_app() {
    let wda = iphone(|asked| asked.what.contains("/source").then(|| WdaReply::Value(alert()))).await;
    let driver = open(&wda).await.expect("it opens");
    driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    assert_eq!(driver.events().expect("events").take(), []);
}

#[tokio::test]
async fn a_screen_that_turns_has_another_size() {
    let wda = iphone(|asked| {
        let mut turned = form();
        turned["rect"] = json!({"x": 0, "y": 0, "width": 844, "height": 390});
        asked.what.contains("/source").then_some(WdaReply::Value(turned))
    })
    .await;
    let driver = open(&wda).await.expect("it opens");
    assert_eq!(driver.describe().size, Size { width: 1170, height: 2532 });
    let screen = driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    assert_eq!(screen.size, Size { width: 2532, height: 1170 });
}

#[tokio::test]
async fn what_is_no_picture_and_what_is_no_tree_are_named() {
    let error = async |path: &'static str, value: Value| {
        let wda = iphone(move |asked| asked.what.contains(path).then(|| WdaReply::Value(value.clone()))).await;
        let driver = open(&wda).await.expect("it opens");
        driver.observe(&budget(), ObserveOptions::PICTURE).await.expect_err("no screen").to_string()
    };
    assert_eq!(error("/screenshot", json!("%%%")).await, "the picture of WebDriverAgent is not base64");
    assert_eq!(error("/screenshot", json!("aGVsbG8=")).await, "the picture of WebDriverAgent is no whole PNG");
    assert!(error("/source", json!({})).await.starts_with("WebDriverAgent returned a tree without elements"));
}

#[tokio::test]
async fn a_large_screen_is_read_whole() {
    let wda = iphone(|asked| {
        let row = |number: i64| {
            json!({"type": "Cell", "label": format!("row {number}"), "rect": {"x": 0, "y": number, "width": 390, "height": 1}})
        };
        let rows: Vec<Value> = (0..3000).map(row).collect();
        let rect = json!({"x": 0, "y": 0, "width": 390, "height": 844});
        let tree = json!({"type": "Application", "rect": rect, "children": rows});
        asked.what.contains("/source").then_some(WdaReply::Value(tree))
    })
    .await;
    let driver = open(&wda).await.expect("it opens");
    let screen = driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    assert_eq!(screen.root.walk().count(), 3001);
    assert_eq!(screen.root.children[7].props.text(Field::Text), Some("row 7"));
}

#[tokio::test]
async fn live_pictures_are_those_of_the_stream() {
    let stream = FakeWda::start(|_| {
        let part = |jpeg: &str| {
            format!("--B\r\nContent-type: image/jpg\r\nContent-Length: {}\r\n\r\n{jpeg}\r\n\r\n", jpeg.len())
        };
        let head = "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=--B\r\n\r\n";
        WdaReply::Bytes(format!("{head}{}{}", part("first"), part("second")).into_bytes())
    })
    .await;
    let wda = iphone(|_| None).await;
    let driver =
        open_with(IosSettings { mjpeg: Some(stream.address.clone()), ..settings(&wda) }).await.expect("it opens");
    let mut frames = driver.frames().expect("they can be followed");
    let is_last = |frame: &Option<trailblaze_core::driver::ScreenFrame>| {
        frame
            .as_ref()
            .is_some_and(|frame| *frame.jpeg == *b"second" && (frame.size.width, frame.size.height) == (1170, 2532))
    };
    frames.wait_for(is_last).await.expect("a picture");
    assert!(open(&wda).await.expect("it opens").frames().is_none(), "without a stream, pictures are taken on request");
}

#[test]
fn every_tree_of_the_corpus_is_a_tree_or_a_fault() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/ios_tree");
    let files: Vec<_> = std::fs::read_dir(folder).expect("the corpus is there").collect();
    assert!(files.len() >= 3);
    for file in files {
        let text = std::fs::read(file.expect("a file").path()).expect("its content");
        let source = serde_json::from_slice(&text).expect("JSON");
        let _ = crate::ios::ElementTree::read(&source, 3.0, trailblaze_core::screen::Shape::IosMaestro);
    }
}
