//! The fast way of looking, against a server that is scripted in this process.

use parking_lot::Mutex;
use trailblaze_core::driver::{Key, ObserveOptions};
use trailblaze_protocol::device_event::DeviceEvent;
use trailblaze_protocol::geometry::Size;

use super::*;
use crate::android::adb::fake::{PhoneServer, READY, packet};

/// The requests that the server received: their kind and their content.
type Received = Arc<Mutex<Vec<(char, Vec<u8>)>>>;

/// A whole picture, of which only the start and the end are looked at.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x04\x38\0\0\x09\x60\x08\x06\0\0\0IEND\xaeB`\x82";

fn server(received: &Received) -> PhoneServer {
    let received = Arc::clone(received);
    Arc::new(move |kind, content| {
        received.lock().push((char::from(kind), content.to_vec()));
        Some(match kind {
            b'T' => (0, FORM.as_bytes().to_vec()),
            b'P' => (0, PICTURE.to_vec()),
            b'K' => (1, b"java.lang.SecurityException: requires INJECT_EVENTS permission".to_vec()),
            _ => (0, Vec::new()),
        })
    })
}

/// What `app_process` prints and, if it goes on, the server.
async fn phone_with(said: &'static str, server: PhoneServer) -> FakeAdb {
    FakeAdb::start(move |service| {
        if service.starts_with("sync:") {
            return Some(AdbReply::Files);
        }
        if service.starts_with("localabstract:trailblaze-") {
            return Some(AdbReply::PhoneServer(Arc::clone(&server)));
        }
        if service.ends_with(":features") {
            return Some(AdbReply::answer("shell_v2"));
        }
        let command = service.strip_prefix("shell,v2,raw:").or(service.strip_prefix("exec:"))?;
        if command.starts_with("trap ") {
            return Some(AdbReply::Lines);
        }
        if command.starts_with("CLASSPATH=") {
            return Some(match said.strip_prefix("!") {
                Some(error) => AdbReply::shell("", error, 1),
                None => AdbReply::Open([b"OKAY".to_vec(), packet(1, said.as_bytes())].concat()),
            });
        }
        let known =
            READY_PHONE.iter().find(|(start, _)| command.starts_with(start)).map_or("", |(_, printed)| *printed);
        Some(if service.starts_with("exec:") {
            AdbReply::printed(known.as_bytes())
        } else {
            AdbReply::shell(known, "", 0)
        })
    })
    .await
}

#[tokio::test]
async fn everything_is_one_request_to_the_server() {
    let received = Received::default();
    let adb = phone_with("WARNING: linker: unused\nready\n", server(&received)).await;
    let driver = open_with(&adb, Looking::Fast).await.expect("it opens");
    let before = adb.requests().len();
    let screen = driver.observe(&budget(), ObserveOptions::PICTURE).await.expect("a screen");
    assert_eq!(screen.root.walk().count(), 2);
    assert_eq!(screen.picture.map(|picture| picture.size), Some(Size { width: 1080, height: 2400 }));
    let act = async |target: ActionTarget, action: Action| driver.act(&budget(), &target, &action).await;
    act(at(3, 4), Action::Tap).await.expect("a tap");
    act(ActionTarget::Device, Action::InputText { text: "Grüße 😀 שלום".to_string() }).await.expect("a text");
    act(ActionTarget::Device, Action::SetText { text: String::new() }).await.expect("an empty text");
    act(ActionTarget::Device, Action::Pinch { scale: 2.0 }).await.expect("two fingers");
    let kinds: String = received.lock().iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, "TPGIRG");
    assert_eq!(received.lock()[3].1, "Grüße 😀 שלום".as_bytes());
    assert_eq!(adb.requests().len(), before, "nothing else is asked");
    let error =
        act(ActionTarget::Device, Action::PressKey { key: Key::Back }).await.expect_err("it is refused").to_string();
    assert!(error.contains("\"USB debugging (Security settings)\""), "{error}");
}

#[tokio::test]
async fn the_file_of_the_server_is_removed_whatever_happens() {
    let adb = phone_with("ready\n", server(&Received::default())).await;
    let driver = open_with(&adb, Looking::Fast).await.expect("it opens");
    assert!(adb.file("/data/local/tmp/trailblaze-").is_some_and(|content| content.starts_with(b"dex\n")));
    drop(driver);
    assert!(adb.noted().await[0].starts_with("rm -f /data/local/tmp/trailblaze-"));
}

#[tokio::test]
async fn a_phone_on_which_the_server_does_not_run_says_why_and_what_to_do() {
    let cases = [
        ("!sh: app_process: inaccessible or not found\n", "app_process: inaccessible or not found"),
        ("failed: java.lang.IllegalStateException: already registered!\n", "already registered!"),
    ];
    for (said, why) in cases {
        let adb = phone_with(said, server(&Received::default())).await;
        let error = open_with(&adb, Looking::Fast).await.err().expect("it does not start").to_string();
        assert!(error.contains(why) && error.contains("write `looking: plain`"), "{error}");
    }
}

#[tokio::test]
async fn auto_falls_back_and_says_so_once() {
    let adb = phone_with("!sh: app_process: not found\n", server(&Received::default())).await;
    let driver = open_with(&adb, Looking::Auto).await.expect("it opens");
    driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    driver.act(&budget(), &at(3, 4), &Action::Tap).await.expect("a tap");
    assert_eq!(adb.commands()[adb.commands().len() - 2..], ["uiautomator dump /dev/tty", "input tap 3 4"]);
    let told = driver.events().expect("a phone has events").take();
    let is_about =
        |event: &&DeviceEvent| matches!(event, DeviceEvent::Log { text, .. } if text.contains("app_process"));
    assert_eq!(told.iter().filter(is_about).count(), 1, "{told:?}");
    let text = Action::InputText { text: "ü".to_string() };
    let error = driver.act(&budget(), &ActionTarget::Device, &text).await.expect_err("it cannot").to_string();
    assert!(error.contains("outside of ASCII"), "{error}");
}

#[tokio::test]
async fn auto_uses_the_server_where_it_runs() {
    let received = Received::default();
    let adb = phone_with("ready\n", server(&received)).await;
    let driver = open_with(&adb, Looking::Auto).await.expect("it opens");
    driver.observe(&budget(), ObserveOptions::TREE).await.expect("a screen");
    assert_eq!(received.lock().len(), 1);
    assert_eq!(driver.events().expect("a phone has events").take(), []);
}

#[tokio::test]
async fn a_server_that_ended_is_started_again_but_nothing_is_done_twice() {
    let received = Received::default();
    let answering = server(&received);
    let ends: Arc<Mutex<u32>> = Arc::default();
    let left = Arc::clone(&ends);
    let ending: PhoneServer = Arc::new(move |kind, content| {
        let mut left = left.lock();
        if *left > 0 {
            *left -= 1;
            return None;
        }
        answering(kind, content)
    });
    let adb = phone_with("ready\n", ending).await;
    let driver = open_with(&adb, Looking::Fast).await.expect("it opens");
    *ends.lock() = 1;
    driver.observe(&budget(), ObserveOptions::TREE).await.expect("the second server answers");
    *ends.lock() = 1;
    let error = driver.act(&budget(), &at(3, 4), &Action::Tap).await.expect_err("it ended").to_string();
    assert!(error.contains("may or may not have been carried out"), "{error}");
    driver.act(&budget(), &at(3, 4), &Action::Tap).await.expect("the third server answers");
    let starts = adb.commands().iter().filter(|command| command.contains("app_process")).count();
    assert_eq!((starts, received.lock().len()), (3, 2));
}

#[tokio::test]
async fn a_phone_that_is_unplugged_is_lost_and_found_again() {
    let received = Received::default();
    let answering = server(&received);
    let is_plugged: Arc<Mutex<bool>> = Arc::new(Mutex::new(true));
    let plug = Arc::clone(&is_plugged);
    let server: PhoneServer = Arc::new(move |kind, content| plug.lock().then(|| answering(kind, content)).flatten());
    let adb = phone_with("ready\n", server).await;
    let driver = open_with(&adb, Looking::Auto).await.expect("it opens");
    *is_plugged.lock() = false;
    adb.devices.send_replace(String::new());
    let error = driver.observe(&budget(), ObserveOptions::TREE).await.expect_err("it is gone");
    assert!(matches!(&error, DriverError::Lost { .. }), "{error}");
    *is_plugged.lock() = true;
    adb.devices.send_replace(READY.to_string());
    driver.observe(&budget(), ObserveOptions::TREE).await.expect("it is back");
    assert_eq!(received.lock().len(), 1, "and in the fast way");
}
