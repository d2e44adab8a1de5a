//! The driver's fast way of looking, through the real adb and adbd. The server on the phone is a stand-in that speaks its protocol.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_android_stand_in::control::{Control, PhoneBehaviour};
use trailblaze_core::driver::{Action, ActionTarget, Budget, Driver, DriverError, ObserveOptions};
use trailblaze_core::screen::{Field, Node as Element, Pixels, Screen};
use trailblaze_core::yaml::{Problems, Source, YamlKind, YamlNode, read};
use trailblaze_drivers::android::PROVIDER;
use trailblaze_drivers::provider::{FileError, Machine, ProjectPart, WantedDevice};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::driver::Platform;
use trailblaze_supervise::Supervisor;

use crate::support::{Connected, until};

fn budget() -> Budget {
    Budget::new(Instant::now() + Duration::from_secs(60), CancellationToken::new())
}

/// The phone, as a project opens it whose entry says this.
async fn open(connected: &Connected, entry: &str) -> Result<Arc<dyn Driver>, DriverError> {
    let name = connected.phone.serial();
    let id = format!("android/{name}");
    let source = Source::new("trailblaze.yaml", entry);
    let entry = read(&source, &mut Problems::new(&source)).unwrap();
    let section = YamlNode { span: Default::default(), kind: YamlKind::Map(Vec::new()) };
    let files = |_: &str| Err(FileError::Missing);
    let devices = vec![(id.as_str(), entry)];
    let part = ProjectPart { root: "/".as_ref(), source: &source, section, devices, read: &files };
    let mut problems = Vec::new();
    let config = (PROVIDER.read)(&part, &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    let wanted = WantedDevice { id: &id, platform: Platform::Android, name: &name, driver: None, classifiers: &[] };
    let spec = config.device(&wanted).unwrap().unwrap();
    let variables = HashMap::from([(OsString::from("ADB_SERVER_SOCKET"), OsString::from(connected.server.socket()))]);
    let source = config.open(&Machine::new(Supervisor::new(), Arc::new(variables))).unwrap();
    source.acquire(&spec, &budget()).await
}

async fn screen(driver: &Arc<dyn Driver>) -> Screen {
    driver.observe(&budget(), ObserveOptions::PICTURE).await.unwrap()
}

async fn act(driver: &Arc<dyn Driver>, on: &Element, action: Action) -> Result<(), DriverError> {
    let target = ActionTarget::Point(on.bounds.unwrap().center());
    driver.act(&budget(), &target, &action).await.map(drop)
}

fn png(screen: &Screen) -> &[u8] {
    match &screen.picture.as_ref().unwrap().pixels {
        Pixels::Png(bytes) | Pixels::Rgba(bytes) => bytes,
    }
}

/// The first field on the screen.
async fn first_field(driver: &Arc<dyn Driver>) -> Element {
    let root = screen(driver).await.root;
    root.walk().find(|node| node.is_editable()).unwrap_or_else(|| panic!("no field: {root:?}")).clone()
}

/// Processes and files that a server would leave on the phone.
fn left(connected: &Connected) -> String {
    connected.shell("ls /data/local/tmp; ps -A -o ARGS | grep [a]pp_process || true")
}

#[tokio::test(flavor = "multi_thread")]
async fn both_ways_see_the_same_and_leave_nothing() {
    let Some(connected) = Connected::start() else { return };
    let driver = open(&connected, "looking: plain\n").await.unwrap();
    let plain = screen(&driver).await;
    driver.close().await;
    let driver = open(&connected, "looking: fast\n").await.unwrap();
    let fast = screen(&driver).await;
    assert!(png(&plain) == png(&fast), "the pictures differ");
    assert_eq!((plain.root, plain.app, plain.size), (fast.root, fast.app, fast.size));
    assert!(!left(&connected).contains(".dex"), "the server deletes its file");
    driver.close().await;
    until(|| left(&connected).trim().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn text_of_every_script_is_typed() {
    let Some(connected) = Connected::start() else { return };
    connected.shell("am start -n com.example.wallet/.MainActivity");
    let driver = open(&connected, "looking: fast\n").await.unwrap();
    let field = first_field(&driver).await;
    for text in ["it's $HOME %s", "Grüße", "😀 שלום مرحبا"] {
        act(&driver, &field, Action::SetText { text: text.to_string() }).await.unwrap();
        let now = first_field(&driver).await;
        assert_eq!(now.props.text(Field::Text), Some(text));
    }
    act(&driver, &field, Action::EraseText { count: Some(1) }).await.unwrap();
    assert_eq!(first_field(&driver).await.props.text(Field::Text), Some("😀 שלום مرحب"));
    driver.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_falls_back_where_the_server_does_not_start() {
    let Some(connected) = Connected::start() else { return };
    let behaviour = PhoneBehaviour { no_programs: true, ..PhoneBehaviour::default() };
    connected.phone.control(Control::Behave(behaviour)).unwrap();
    let error = open(&connected, "looking: fast\n").await.err().unwrap().to_string();
    assert!(error.contains("Aborted") && error.contains("looking: plain"), "{error}");
    let driver = open(&connected, "looking: auto\n").await.unwrap();
    screen(&driver).await;
    let told = driver.events().unwrap().take();
    let is_about = |event: &&DeviceEvent| matches!(event, DeviceEvent::Log { text, .. } if text.contains("Aborted"));
    assert_eq!(told.iter().filter(is_about).count(), 1, "{told:?}");
    driver.close().await;
    assert_eq!(left(&connected).trim(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cable_that_is_pulled_ends_the_server_and_another_is_started() {
    let Some(connected) = Connected::start() else { return };
    let driver = open(&connected, "looking: fast\n").await.unwrap();
    screen(&driver).await;
    connected.phone.unplug();
    driver.observe(&budget(), ObserveOptions::TREE).await.expect_err("it is unplugged");
    connected.phone.plug_in();
    connected.server.connect(&connected.phone).unwrap();
    screen(&driver).await;
    assert_eq!(left(&connected).matches("app_process").count(), 1, "{}", left(&connected));
    driver.close().await;
    until(|| left(&connected).trim().is_empty());
}
