//! The driver uses the wallet on the stand-in as it does on the simulated iPhone.

use std::sync::Arc;

use trailblaze_core::driver::{
    Action, ActionTarget, DeviceCommand, Direction, Driver, Key, LaunchMode, ObserveOptions, ScreenFrame,
};
use trailblaze_core::screen::{Field, Node};
use trailblaze_core::yaml::{Problems, Source};
use trailblaze_drivers::sim::{Options, Sim, SimApp};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_protocol::geometry::Size;
use trailblaze_protocol::ids::DeviceId;

use crate::support::{Connected, WALLET, budget, device, device_with, wallet_app};

async fn sign_in(iphone: &Connected) {
    iphone.launch(LaunchMode::Reinstall).await.expect("it is launched");
    iphone.fill("email", "ada@example.com").await;
    iphone.fill("pin", "1234").await;
    iphone.act(iphone.id("submit").await, Action::Tap).await;
    iphone.act(iphone.id("notNow").await, Action::Tap).await;
}

#[tokio::test]
async fn money_is_sent() {
    let iphone = Connected::open().await;
    assert_eq!(iphone.driver.describe().size, Size { width: 1170, height: 2532 });
    assert_eq!(iphone.driver.describe().classifiers, ["ios", "iphone"]);
    sign_in(&iphone).await;
    assert_eq!(iphone.id("balance").await.text.as_deref(), Some("€120.00"));
    iphone.act(iphone.text("Send money").await, Action::Tap).await;
    iphone.fill("recipient", "Grace").await;
    iphone.fill("amount", "12.50").await;
    iphone.act(iphone.id("review").await, Action::Tap).await;
    iphone.act(iphone.id("confirmSend").await, Action::Tap).await;
    iphone.text("Sent €12.50 to Grace").await;
    iphone.act(iphone.text("Done").await, Action::Tap).await;
    assert_eq!(iphone.id("balance").await.text.as_deref(), Some("€107.50"));
    assert_eq!(iphone.screen().await.app.as_deref(), Some(WALLET));
    iphone.launch(LaunchMode::Reinstall).await.expect("it is launched");
    assert_eq!(iphone.id("email").await.text.as_deref(), Some("Email"), "its data is fresh");
    iphone.driver.close().await;
    assert!(!iphone.stand_in.has_session());
}

/// What a trail and a recording can see of an element.
fn seen(node: &Node) -> Vec<String> {
    let texts = [Field::ClassName, Field::ResourceId, Field::Text, Field::AccessibilityText, Field::HintText];
    let texts = texts.map(|field| node.props.text(field).unwrap_or_default().to_string());
    let states = [
        node.is_enabled(),
        node.is_checked() == Some(true),
        node.is_selected(),
        node.is_focused(),
        node.is_editable(),
        node.is_password(),
        node.is_interactive(),
    ];
    texts.into_iter().chain(states.map(|state| state.to_string())).collect()
}

/// The wallet on the simulated device.
fn simulated() -> Sim {
    let text = std::fs::read_to_string(wallet_app()).expect("the app");
    let source = Source::new("wallet.app.yaml", text);
    let app = SimApp::read(&source, &mut Problems::new(&source)).expect("an app");
    let driver = DriverKey::default_for(Platform::Ios);
    Sim::open(DeviceId::new("ios/sim-1"), Platform::Ios, driver, vec![Arc::new(app)], Options::default())
}

#[tokio::test]
async fn elements_are_those_of_the_simulated_iphone() {
    let (iphone, sim) = (Connected::open().await, simulated());
    let launch = DeviceCommand::LaunchApp { app: WALLET.to_string(), mode: LaunchMode::Resume };
    launch.carry_out(&sim, &budget()).await.expect("it is launched");
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    iphone.id("email").await;
    let own = sim.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    let theirs = iphone.screen().await;
    // The simulated device has no windows.
    let window = &theirs.root.children[0];
    assert_eq!(window.class(), Some("Window"));
    let expected: Vec<_> = own.root.walk().skip(1).map(seen).collect();
    let got: Vec<_> = window.walk().skip(1).map(seen).collect();
    assert_eq!(got, expected);
    for (node, other) in own.root.walk().skip(1).zip(window.walk().skip(1)) {
        let (Some(own), Some(other)) = (node.bounds, other.bounds) else { panic!("both have a place") };
        let sides =
            [(own.left, other.left), (own.top, other.top), (own.right, other.right), (own.bottom, other.bottom)];
        assert!(sides.iter().all(|(own, other)| own.abs_diff(*other) <= 3), "a point has three pixels: {sides:?}");
    }
}

#[tokio::test]
async fn lists_scroll_and_pictures_have_every_pixel() {
    let iphone = Connected::open().await;
    sign_in(&iphone).await;
    iphone.act(iphone.text("Activity").await, Action::Tap).await;
    iphone.text("Rent").await;
    let before = iphone.screen().await;
    let scroll = Action::Scroll { direction: Direction::Down, amount: None };
    iphone.try_act(ActionTarget::Device, scroll).await.expect("it scrolls");
    let after = iphone.driver.observe(&budget(), ObserveOptions::PICTURE).await.expect("a screen");
    assert_ne!(before.snapshot, after.snapshot);
    let picture = after.picture.expect("a picture");
    assert_eq!(picture.size, after.size);
}

#[tokio::test]
async fn keys_and_the_clipboard_work() {
    let iphone = Connected::open().await;
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    let error = iphone.try_act(ActionTarget::Device, Action::InputText { text: "x".to_string() }).await;
    assert_eq!(error.expect_err("nothing has the focus").to_string(), "no field has the focus; tap a field first");
    iphone.act(iphone.id("email").await, Action::InputText { text: "Grüße 😀!".to_string() }).await;
    iphone.try_act(ActionTarget::Device, Action::PressKey { key: Key::Backspace }).await.expect("it erases");
    assert_eq!(iphone.id("email").await.text.as_deref(), Some("Grüße 😀"));
    iphone.try_act(ActionTarget::Device, Action::EraseText { count: None }).await.expect("it erases all");
    let copy = DeviceCommand::SetClipboard { text: "ada".to_string() };
    copy.carry_out(&*iphone.driver, &budget()).await.expect("it is copied");
    assert_eq!(iphone.stand_in.clipboard(), "ada");
    DeviceCommand::PasteClipboard.carry_out(&*iphone.driver, &budget()).await.expect("it is pasted");
    assert_eq!(iphone.id("email").await.text.as_deref(), Some("ada"));
    iphone.try_act(ActionTarget::Device, Action::PressKey { key: Key::Home }).await.expect("it goes home");
    assert_eq!(iphone.screen().await.app, None);
}

#[tokio::test]
async fn keys_are_typed_as_often_as_the_project_says() {
    let stand_in = trailblaze_ios_stand_in::start(&[wallet_app()]).expect("a stand-in");
    let (source, spec) = device_with(&stand_in, "typingFrequency: 30\n");
    let driver = source.acquire(&spec, &budget()).await.expect("it is ready");
    let iphone = Connected { stand_in, driver };
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    iphone.fill("email", "ada").await;
    assert_eq!(iphone.stand_in.typing_frequency(), Some(30));
}

#[tokio::test]
async fn live_pictures_arrive_and_change_with_the_screen() {
    let stand_in = trailblaze_ios_stand_in::start(&[wallet_app()]).expect("a stand-in");
    let (source, spec) = device_with(&stand_in, &format!("mjpeg: {}\n", stand_in.mjpeg_address()));
    let driver = source.acquire(&spec, &budget()).await.expect("it is ready");
    let iphone = Connected { stand_in, driver };
    let mut frames = iphone.driver.frames().expect("they can be followed");
    let first = frames.wait_for(Option::is_some).await.expect("a picture").clone().expect("a picture");
    assert!(first.jpeg.starts_with(&[0xff, 0xd8]) && first.jpeg.ends_with(&[0xff, 0xd9]));
    assert_eq!(first.size, iphone.driver.describe().size);
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    let is_other = |frame: &Option<ScreenFrame>| frame.as_ref().is_some_and(|frame| frame.jpeg != first.jpeg);
    frames.wait_for(is_other).await.expect("another picture");
}

#[tokio::test]
async fn the_stand_in_is_discovered_where_the_project_says() {
    let stand_in = trailblaze_ios_stand_in::start(&[wallet_app()]).expect("a stand-in");
    let (source, spec) = device(&stand_in);
    let found = source.discover(&budget()).await.expect("a list");
    let own = found.iter().find(|found| found.id == spec.id).expect("it answers");
    assert_eq!(own.summary, "Stand-in, iOS 18.1");
}
