//! Looking at the screen of a phone that does not always answer well.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Budget, DriverError, LaunchMode, ObserveOptions};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::event::Level;
use trailblaze_protocol::geometry::Size;

use super::*;
use crate::android::adb::fake::READY;

const CRASH: &str = "<hierarchy rotation=\"0\"><node package=\"android\"><node resource-id=\"android:id/alertTitle\" \
    text=\"Wallet keeps stopping\"/><node resource-id=\"android:id/aerr_close\" text=\"Close app\"/></node></hierarchy>";

#[tokio::test]
async fn a_screen_has_the_size_the_app_and_the_tree_of_the_phone() {
    let adb = phone(&[]).await;
    let driver = open(&adb).await.expect("it opens");
    let screen = driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    assert_eq!(screen.size, Size { width: 1080, height: 2400 });
    assert_eq!(screen.app.as_deref(), Some("com.example.wallet"));
    assert_eq!(screen.root.walk().count(), 2);
    assert!(screen.picture.is_none());
    assert!(!adb.commands().iter().any(|command| command.starts_with("screencap")), "nobody asked for a picture");
}

#[tokio::test]
async fn a_screen_that_stays_the_same_keeps_its_number() {
    let shown = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&shown);
    let adb = FakeAdb::start(move |service| {
        let count = counter.fetch_add(usize::from(service.starts_with("exec:uiautomator")), Ordering::SeqCst);
        let text = if count < 2 { "first" } else { "second" };
        let tree = format!("<hierarchy rotation=\"0\"><node text=\"{text}\"/></hierarchy>");
        answer_ready(service, &tree)
    })
    .await;
    let driver = open(&adb).await.expect("it opens");
    let number = async || driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen").snapshot;
    let numbers = [number().await, number().await, number().await];
    assert!(numbers[0] == numbers[1] && numbers[1] < numbers[2], "{numbers:?}");
}

/// A phone that is ready, with another tree.
fn answer_ready(service: &str, tree: &str) -> Option<AdbReply> {
    if service.ends_with(":features") {
        return Some(AdbReply::answer("shell_v2"));
    }
    if service.starts_with("exec:uiautomator") {
        return Some(AdbReply::printed(tree.as_bytes()));
    }
    let command = service.strip_prefix("shell,v2,raw:")?;
    if command.starts_with("trap ") {
        return Some(AdbReply::Lines);
    }
    let known = READY_PHONE.iter().find(|(start, _)| command.starts_with(start));
    Some(AdbReply::shell(known.map_or("", |(_, printed)| printed), "", 0))
}

#[tokio::test]
async fn a_look_is_repeated_until_the_screen_is_idle_and_the_tree_whole() {
    let tries = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&tries);
    let adb = FakeAdb::start(move |service| {
        let count = counter.fetch_add(usize::from(service.starts_with("exec:uiautomator")), Ordering::SeqCst);
        let printed = ["ERROR: could not get idle state.\n", &FORM[..200], FORM];
        answer_ready(service, printed[count.min(2)])
    })
    .await;
    let driver = open(&adb).await.expect("it opens");
    let screen = driver.observe(&budget(), ObserveOptions::TREE).await.expect("the third try succeeds");
    assert_eq!((screen.root.walk().count(), tries.load(Ordering::SeqCst)), (2, 3));
}

#[tokio::test]
async fn a_look_waits_for_another_program_that_looks_too() {
    let tries = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&tries);
    let adb = FakeAdb::start(move |service| {
        let count = counter.fetch_add(usize::from(service.starts_with("exec:uiautomator")), Ordering::SeqCst);
        let busy = "java.lang.IllegalStateException: UiAutomationService x already registered!\n";
        answer_ready(service, if count < 9 { busy } else { FORM })
    })
    .await;
    let driver = open(&adb).await.expect("it opens");
    driver.observe(&budget(), ObserveOptions::TREE).await.expect("the other has ended");
    assert_eq!(tries.load(Ordering::SeqCst), 10);
}

#[tokio::test]
async fn a_screen_that_never_rests_is_named() {
    let adb = phone(&[("uiautomator dump", "ERROR: could not get idle state.\n")]).await;
    let driver = open(&adb).await.expect("it opens");
    let error = driver.observe(&budget(), ObserveOptions::TREE).await.expect_err("it never rests");
    assert!(error.to_string().starts_with("the screen keeps changing"), "{error}");
}

#[tokio::test]
async fn a_picture_that_is_none_is_named() {
    let adb = phone(&[("screencap", "!screencap: capture failed")]).await;
    let driver = open(&adb).await.expect("it opens");
    let error = driver.observe(&budget(), ObserveOptions::PICTURE).await.expect_err("there is none");
    assert_eq!(error.to_string(), "`screencap` printed no picture: screencap: capture failed");
}

#[tokio::test]
async fn a_phone_that_falls_asleep_is_said_to_sleep() {
    let asleep = Arc::new(AtomicUsize::new(0));
    let flag = Arc::clone(&asleep);
    let adb = FakeAdb::start(move |service| match (flag.load(Ordering::SeqCst), service) {
        (1, "shell,v2,raw:dumpsys power") => Some(AdbReply::shell("mWakefulness=Asleep\n", "", 0)),
        _ => answer_ready(service, "ERROR: null root node returned by UiTestAutomationBridge.\n"),
    })
    .await;
    let driver = open(&adb).await.expect("it opens");
    asleep.store(1, Ordering::SeqCst);
    let error = driver.observe(&budget(), ObserveOptions::TREE).await.expect_err("it sleeps").to_string();
    assert!(error.starts_with("`emulator-5554` is asleep; wake it"), "{error}");
}

#[tokio::test]
async fn a_phone_that_is_unplugged_is_lost_and_found_again() {
    let adb = phone(&[]).await;
    let driver = open(&adb).await.expect("it opens");
    adb.devices.send_replace(String::new());
    let error = driver.observe(&budget(), ObserveOptions::TREE).await.expect_err("it is gone");
    assert!(matches!(&error, DriverError::Lost { evidence } if evidence.contains("is not connected")), "{error}");
    adb.devices.send_replace(READY.to_string());
    driver.observe(&budget(), ObserveOptions::TREE).await.expect("it is back");
}

#[tokio::test]
async fn a_crash_is_told_once_with_the_start_of_its_trace() {
    let log = "FATAL EXCEPTION: main\nProcess: com.example.wallet, PID: 7\njava.lang.IllegalStateException: no card\n";
    let adb = FakeAdb::start(move |service| match service.starts_with("shell,v2,raw:logcat -b crash") {
        true => Some(AdbReply::shell(log, "", 0)),
        false => answer_ready(service, CRASH),
    })
    .await;
    let driver = open(&adb).await.expect("it opens");
    let events = driver.events().expect("a phone has events");
    events.take();
    driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    let told = events.take();
    let [event @ DeviceEvent::Crash { why }] = &told[..] else { panic!("{told:?}") };
    assert!(event.is_notable());
    assert!(why.contains("Wallet keeps stopping"), "{why}");
    assert!(why.ends_with("java.lang.IllegalStateException: no card"), "{why}");
    driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    assert_eq!(events.take(), [], "it is the same dialog");
}

#[tokio::test]
async fn what_a_launched_app_logs_is_told_until_the_phone_is_closed() {
    let adb = FakeAdb::start(|service| match service.strip_prefix("shell,v2,raw:") {
        Some(command) if command.starts_with("cmd package resolve-activity") => {
            Some(AdbReply::shell("priority=0\ncom.x/.Main\n", "", 0))
        }
        Some(command) if command.starts_with("pm path") => Some(AdbReply::shell("", "", 0)),
        Some(command) if command.starts_with("am start") => Some(AdbReply::shell("Status: ok\n", "", 0)),
        Some("pidof com.x") => Some(AdbReply::shell("4242\n", "", 0)),
        Some(log) if log.starts_with("logcat -v brief --pid=4242 '*:I' trailblaze-") => {
            Some(AdbReply::open_shell("--------- beginning of main\nW/Wallet  ( 4242): no card\n"))
        }
        _ => answer_ready(service, super::FORM),
    })
    .await;
    let driver = open(&adb).await.expect("it opens");
    let events = driver.events().expect("a phone has events");
    events.take();
    let launch = DeviceCommand::LaunchApp { app: "com.x".to_string(), mode: LaunchMode::ForceRestart };
    launch.carry_out(&*driver, &budget()).await.expect("it is launched");
    budget().run("a line of the log", events.any()).await.expect("the app has logged");
    let text = "Wallet: no card".to_string();
    assert_eq!(events.take(), [DeviceEvent::Log { level: Level::Warning, text }]);
    // The same process is followed once.
    launch.carry_out(&*driver, &budget()).await.expect("it is launched");
    let n_logs = adb.commands().iter().filter(|command| command.starts_with("logcat -v brief")).count();
    assert_eq!(n_logs, 1);
    driver.close().await;
}

#[tokio::test]
async fn a_screen_with_thousands_of_elements_is_read() {
    let row = |number: usize| {
        format!(
            "<node index=\"{number}\" text=\"Row {number}\" resource-id=\"\" class=\"android.widget.TextView\" package=\"a.b\" \
             enabled=\"true\" bounds=\"[0,{number}][9,{}]\" />",
            number + 1
        )
    };
    let rows: String = (0..4000).map(row).collect();
    let tree: &'static str = Box::leak(format!("<hierarchy rotation=\"0\">{rows}</hierarchy>").into_boxed_str());
    let adb = FakeAdb::start(move |service| answer_ready(service, tree)).await;
    let driver = open(&adb).await.expect("it opens");
    let screen = driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    assert_eq!(screen.root.walk().filter(|node| node.text().is_some()).count(), 4000);
}

#[tokio::test]
async fn a_dump_that_never_ends_is_given_up_with_the_budget() {
    let replies: [fn() -> AdbReply; 2] = [|| AdbReply::Silence, || AdbReply::Open(b"OKAY<hierarchy>".to_vec())];
    for reply in replies {
        let adb = FakeAdb::start(move |service| match service.starts_with("exec:uiautomator") {
            true => Some(reply()),
            false => answer_ready(service, super::FORM),
        })
        .await;
        let driver = open(&adb).await.expect("it opens");
        let short = Budget::new(Instant::now() + Duration::from_millis(200), CancellationToken::new());
        let error = driver.observe(&short, ObserveOptions::TREE).await.expect_err("it gives up");
        assert_eq!(error, DriverError::TimedOut { what: "looking at the screen".to_string() });
        assert!(driver.act(&budget(), &super::at(1, 2), &Action::Tap).await.is_ok(), "it can be used afterwards");
    }
}
