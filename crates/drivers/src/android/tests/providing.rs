//! Which phones there are, and what is wrong with those that cannot be used.

use std::collections::HashMap;
use std::ffi::OsString;

use tokio_util::sync::CancellationToken;
use trailblaze_core::device_source::{DeviceSource, DeviceSpec};
use trailblaze_core::finding::FindingState;
use trailblaze_core::yaml::{Source, YamlKind, YamlNode};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_supervise::Supervisor;

use super::*;
use crate::android::PROVIDER;
use crate::provider::{FileError, Machine, ProjectPart, ProviderConfig, WantedDevice};

fn config() -> Arc<dyn ProviderConfig> {
    let (source, problems) = (Source::new("trailblaze.yaml", ""), &mut Vec::new());
    let section = YamlNode { span: Default::default(), kind: YamlKind::Map(Vec::new()) };
    let read = |_: &str| Err(FileError::Missing);
    let part = ProjectPart { root: "/".as_ref(), source: &source, section, devices: Vec::new(), read: &read };
    (PROVIDER.read)(&part, problems)
}

fn devices(variables: &[(&str, String)]) -> Arc<dyn DeviceSource> {
    let variables: HashMap<OsString, OsString> =
        variables.iter().map(|(name, value)| (OsString::from(*name), OsString::from(value))).collect();
    config().open(&Machine::new(Supervisor::new(), Arc::new(variables))).expect("it opens")
}

fn at_server(adb: &FakeAdb) -> (&'static str, String) {
    ("ADB_SERVER_SOCKET", format!("tcp:{}", adb.address))
}

fn wanted(id: &str, driver: Option<&str>) -> Option<DeviceSpec> {
    let name = id.split_once('/').map_or("", |(_, name)| name);
    let driver = driver.map(DriverKey::new);
    let wanted = WantedDevice { id, platform: Platform::Android, name, driver: driver.as_ref(), classifiers: &[] };
    config().device(&wanted).map(|spec| spec.expect("it can be had"))
}

#[test]
fn every_name_but_those_of_simulated_phones_is_a_serial() {
    let spec = wanted("android/192.168.0.7:5555", None).expect("a wireless phone");
    assert_eq!((spec.driver.as_str(), spec.machine_id.as_deref()), ("android-host", Some("android-192.168.0.7:5555")));
    assert!(["android/sim-1", "android/sim-x", "android/"].into_iter().all(|id| wanted(id, None).is_none()));
    let other = wanted("android/R5", Some("android-ondevice-instrumentation")).expect("another driver");
    assert_eq!(other.driver.as_str(), "android-ondevice-instrumentation");
    assert_eq!(PROVIDER.unsupported_driver(&other.driver), None);
    assert!(PROVIDER.unsupported_driver(&DriverKey::new("ios-host")).is_some());
}

#[tokio::test]
async fn connected_phones_are_found_with_what_is_wrong_with_them() {
    let adb = phone(&[]).await;
    adb.devices.send_replace("emulator-5554 device model:Pixel_7\nR5 unauthorized\n".to_string());
    let found = devices(&[at_server(&adb)]).discover(&budget()).await.expect("a list");
    let told: Vec<String> = found.iter().map(|spec| format!("{}: {}", spec.id, spec.summary)).collect();
    assert_eq!(told, ["android/emulator-5554: Pixel 7", "android/R5: Android device, not authorized"]);
    let only = devices(&[at_server(&adb), ("ANDROID_SERIAL", "R5".to_string())]);
    assert_eq!(only.discover(&budget()).await.expect("a list").len(), 1);
}

#[tokio::test]
async fn who_has_no_adb_has_no_phones() {
    let port = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a port").local_addr().expect("it").port();
    let devices = devices(&[("ANDROID_ADB_SERVER_PORT", port.to_string())]);
    assert_eq!(devices.discover(&budget()).await, Ok(Vec::new()));
    let found = devices.check(&budget(), true).await;
    assert_eq!(found[0].state, FindingState::Bad);
    assert!(found[0].message.contains("install Android's platform-tools"), "{found:?}");
    assert_eq!(devices.check(&budget(), false).await[0].state, FindingState::Note);
}

#[tokio::test]
async fn phones_that_come_and_go_are_followed() {
    let adb = phone(&[]).await;
    let devices = devices(&[at_server(&adb)]);
    let mut changes = devices.changes().expect("they change");
    changes.wait_for(|specs| specs.len() == 1).await.expect("the first list");
    adb.devices.send_replace(String::new());
    changes.wait_for(Vec::is_empty).await.expect("it is gone");
    devices.close().await;
    while changes.changed().await.is_ok() {}
}

#[tokio::test]
async fn a_phone_describes_itself_once_it_is_acquired() {
    let adb = phone(&[]).await;
    let spec = wanted("android/emulator-5554", None).expect("a phone");
    let driver = devices(&[at_server(&adb)]).acquire(&spec, &budget()).await.expect("it is ready");
    let description = driver.describe();
    assert_eq!(description.summary, "Pixel 7, Android 14");
    assert_eq!(description.classifiers, ["android", "phone"]);
    assert_eq!((description.size.width, description.size.height), (1080, 2400));
}

#[tokio::test]
async fn a_tablet_says_so_unless_its_entry_says_otherwise() {
    let adb = phone(&[("wm size", "Physical size: 1600x2560\n"), ("wm density", "Physical density: 320\n")]).await;
    let classifiers = async |stated: &[String]| {
        let settings = PhoneSettings { classifiers: stated.to_vec(), ..PhoneSettings::default() };
        let spec = crate::android::provider::spec(SERIAL, None, settings, "a tablet".to_string());
        let driver = devices(&[at_server(&adb)]).acquire(&spec, &budget()).await.expect("it is ready");
        (spec.classifiers.join("-"), driver.describe().classifiers.join("-"))
    };
    assert_eq!(classifiers(&[]).await, ("android-phone".to_string(), "android-tablet".to_string()));
    let stated = ("android-tablet-beta".to_string(), "android-tablet-beta".to_string());
    assert_eq!(classifiers(&["tablet".to_string(), "beta".to_string()]).await, stated);
}

#[tokio::test]
async fn a_phone_that_cannot_be_acquired_says_why() {
    let acquire = async |adb: &FakeAdb| {
        let spec = wanted("android/emulator-5554", None).expect("a phone");
        let acquired = devices(&[at_server(adb)]).acquire(&spec, &budget()).await;
        acquired.err().expect("it is not ready").to_string()
    };
    let adb = phone(&[]).await;
    adb.devices.send_replace("emulator-5554 unauthorized\n".to_string());
    let error = acquire(&adb).await;
    assert!(error.contains("`emulator-5554` is not authorized; unlock it and accept"), "{error}");
    let error = acquire(&phone(&[("dumpsys window", "mDreamingLockscreen=true\n")]).await).await;
    assert!(error.contains("`emulator-5554` is locked; unlock it"), "{error}");
    let error = acquire(&phone(&[("wm size", "Can't find service: window\n")]).await).await;
    assert!(error.contains("`wm size` printed no number: Can't find service: window"), "{error}");
}

#[tokio::test]
async fn a_doctor_finds_what_is_wrong_with_each_phone() {
    let adb = phone(&[
        ("dumpsys power", "mWakefulness=Asleep\n"),
        ("df", "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/dm-1 1000000 999000 1024 99% /data\n"),
    ])
    .await;
    adb.devices.send_replace("emulator-5554 device model:Pixel_7\nR5 offline\n".to_string());
    let found = devices(&[at_server(&adb)]).check(&budget(), true).await;
    let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
    assert!(messages[0].contains("protocol 41"), "{messages:?}");
    assert!(messages[1].contains("is asleep") && messages[2].contains("has only 1 MB left"), "{messages:?}");
    assert_eq!(messages[3], "`R5` is offline");
    assert!(found[3].hint.as_ref().is_some_and(|hint| hint.contains("adb reconnect offline")), "{found:?}");
    assert_eq!(adb.requests().iter().filter(|request| request.contains("input")).count(), 0, "it changes nothing");
}

#[tokio::test]
async fn a_check_that_is_cancelled_ends() {
    let adb = FakeAdb::start(|service| (service == "host:version").then_some(AdbReply::Silence)).await;
    let budget = budget();
    let cancel: CancellationToken = budget.cancel.clone();
    cancel.cancel();
    let found = devices(&[at_server(&adb)]).check(&budget, true).await;
    assert_eq!(found[0].message, "cancelled");
}
