//! Checks that compare the screen with an expected picture.

use std::sync::Arc;

use serde_json::{Value, json};
use trailblaze_core::engine::cx::Attempt;
use trailblaze_core::ids;
use trailblaze_core::record::expected_pictures::PictureResult;
use trailblaze_core::testing::{FakeDriver, TestPage, TestPictures, TestSession, TestWiring, button, label};
use trailblaze_core::values::memory::Memory;
use trailblaze_protocol::outcome::{Outcome, Variant};

fn compared(differing: u64) -> PictureResult {
    PictureResult::Compared { differing, total: 200, area: None }
}

fn session(pictures: &Arc<TestPictures>) -> TestSession {
    let page = TestPage::new("home", [button("pay", "Pay"), label("clock", "12:00"), label("", "Ad"), label("", "Ad")]);
    let mut wiring = TestWiring::new(FakeDriver::new("android/one", [page]));
    wiring.expected_pictures = Arc::clone(pictures) as _;
    let attempt = Attempt::new(ids::attempt(), Memory::default(), "trails/pay.trail.yaml");
    TestSession { attempt, ..wiring.open() }
}

async fn call(pictures: &Arc<TestPictures>, args: Value) -> Outcome {
    session(pictures).call("assertPicture", args).await.unwrap()
}

fn answering(results: impl IntoIterator<Item = PictureResult>) -> Arc<TestPictures> {
    Arc::new(TestPictures::answering(results))
}

fn renewing(results: impl IntoIterator<Item = PictureResult>) -> Arc<TestPictures> {
    Arc::new(TestPictures { are_renewed: true, ..TestPictures::answering(results) })
}

fn names(outcome: &Outcome) -> Vec<&str> {
    outcome.attachments.iter().map(|attachment| attachment.name.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_screen_is_waited_for_until_it_looks_as_expected() {
    let pictures = answering([compared(150), compared(3), compared(0)]);
    let outcome = call(&pictures, json!({"name": "start"})).await;
    assert_eq!((&outcome.variant, outcome.text.as_str()), (&Variant::Success, "the screen looks like `start.png`"));
    assert_eq!((pictures.compared.lock().len(), names(&outcome).len()), (3, 0));

    let within = call(&answering([compared(3)]), json!({"name": "start", "threshold": 0.015})).await;
    assert_eq!(within.variant, Variant::Success, "{}", within.text);
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_looks_different_is_shown_with_the_expected_picture() {
    let outcome = call(&answering([compared(3)]), json!({"name": "start", "threshold": 0.01})).await;
    let facts = outcome.structured.as_ref().unwrap();
    let saw = "one in which 3 of 200 pixels differ (1.50 %)";
    assert_eq!((facts["expected"].as_str(), facts["saw"].as_str()), (Some("the picture `start.png`"), Some(saw)));
    assert!(
        outcome.text.ends_with("`trailblaze run --update-snapshots trails/pay.trail.yaml` replaces it"),
        "{}",
        outcome.text
    );
    assert_eq!(
        (&outcome.variant, names(&outcome)),
        (&Variant::AssertionFailed, vec!["expected", "actual", "difference"])
    );
}

#[tokio::test(start_paused = true)]
async fn a_missing_picture_fails_at_once_and_says_how_it_is_written() {
    let pictures = answering([PictureResult::Missing { others: vec!["web-800x600".to_string()] }]);
    let outcome = call(&pictures, json!({"name": "start"})).await;
    assert_eq!(
        outcome.text,
        "there is no expected picture `start.png` (there are web-800x600 for other screens); `trailblaze run \
         --update-snapshots trails/pay.trail.yaml` writes it"
    );
    assert_eq!((outcome.variant, pictures.compared.lock().len()), (Variant::AssertionFailed, 1));
}

#[tokio::test(start_paused = true)]
async fn a_picture_is_written_once_the_screen_is_at_rest() {
    let missing = || PictureResult::Missing { others: Vec::new() };
    for results in [vec![compared(9), compared(8), compared(7)], vec![compared(9), missing()]] {
        let n_looks = results.len() + 1;
        let pictures = renewing(results);
        let outcome = call(&pictures, json!({"name": "start", "timeoutMs": 0})).await;
        assert_eq!(outcome.text, "wrote `start.png`");
        assert_eq!(
            (pictures.written.lock().as_slice(), pictures.compared.lock().len()),
            (&["start".to_string()][..], n_looks)
        );
    }
    let fits = renewing([compared(0)]);
    assert_eq!(call(&fits, json!({"name": "start"})).await.text, "the screen looks like `start.png`");
    assert!(fits.written.lock().is_empty());
}

#[tokio::test(start_paused = true)]
async fn only_an_element_is_compared_and_masks_are_left_out() {
    let pictures = answering([compared(0)]);
    let masks = json!([{"id": "clock"}, {"text": "Ad"}, {"ref": "Button \"Pay\""}]);
    let outcome = call(&pictures, json!({"name": "pay", "id": "pay", "masks": masks})).await;
    assert_eq!(outcome.variant, Variant::Success, "{}", outcome.text);
    let taken = pictures.compared.lock()[0].clone();
    let tops: Vec<i32> = taken.masks.iter().map(|mask| mask.top).collect();
    let pay = taken.part.unwrap().top;
    assert_eq!(tops, [pay + 50, pay + 100, pay + 150, pay]);
    assert_eq!((taken.trail.as_str(), taken.name.as_str(), taken.tolerance), ("trails/pay.trail.yaml", "pay", 0.2));
}

#[tokio::test(start_paused = true)]
async fn a_mask_or_an_element_that_is_not_there_fails_the_check() {
    for args in [json!({"name": "a", "masks": [{"id": "nowhere"}]}), json!({"name": "a", "id": "nowhere"})] {
        let pictures = answering([compared(0)]);
        let outcome = call(&pictures, args).await;
        assert!(outcome.variant == Variant::AssertionFailed && outcome.text.contains("nowhere"), "{}", outcome.text);
        assert!(pictures.compared.lock().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn an_element_given_by_ref_is_recorded_with_what_finds_it_again() {
    let session = session(&answering([compared(0)]));
    let screen = session.call("captureScreen", json!({})).await.unwrap();
    let line = screen.text.lines().find(|line| line.contains("\"Pay\"")).unwrap();
    let reference = line.trim().split([']', '[']).nth(1).unwrap();
    let outcome = session.call("assertPicture", json!({"name": "pay", "ref": reference})).await.unwrap();
    assert_eq!(outcome.variant, Variant::Success, "{}", outcome.text);
    let calls = session.events.calls().join("\n");
    assert!(calls.contains(r#"assertPicture {"name":"pay","id":"pay"}"#), "{calls}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_compared_is_refused() {
    for (args, why) in [
        (json!({"name": "../start"}), "`../start` cannot be the name of a picture"),
        (json!({"name": ""}), "cannot be the name of a picture"),
        (json!({"name": "a", "threshold": 3}), "`threshold` is a share from 0 to 1, not 3"),
        (json!({"name": "a", "tolerance": -1}), "`tolerance` is a share from 0 to 1, not -1"),
        (json!({"name": "a", "masks": [{"ref": "e99"}]}), "`e99` in `masks` is only known now"),
        (json!({"name": "a", "masks": [{}]}), "masks"),
    ] {
        let text = match session(&answering([compared(0)])).call("assertPicture", args.clone()).await {
            Ok(outcome) => outcome.text,
            Err(fault) => fault.to_string(),
        };
        assert!(text.contains(why), "{args}: {text}");
    }
    let bare = TestWiring::new(FakeDriver::new("android/one", [TestPage::new("home", [])])).open();
    let outcome = bare.call("assertPicture", json!({"name": "a"})).await.unwrap();
    assert!(outcome.text.starts_with("expected pictures are kept beside a trail"), "{}", outcome.text);
}
