//! Which devices there are, and what is wrong with those that cannot be used.

use std::collections::HashMap;

use trailblaze_core::device_source::{DeviceSource, DeviceSpec};
use trailblaze_core::finding::FindingState;
use trailblaze_core::yaml::{Problems, Source, YamlKind, YamlNode, read};
use trailblaze_protocol::driver::{DriverKey, Platform};
use trailblaze_supervise::Supervisor;

use super::*;
use crate::ios::PROVIDER;
use crate::provider::{FileError, Machine, ProjectPart, ProviderConfig, WantedDevice};

/// The configuration of a project that has these devices, each with its keys.
fn config(devices: &[(&str, &str)]) -> Arc<dyn ProviderConfig> {
    let empty = || YamlNode { span: Default::default(), kind: YamlKind::Map(Vec::new()) };
    let entry = |text: &str| {
        let source = Source::new("trailblaze.yaml", text);
        read(&source, &mut Problems::new(&source)).unwrap_or_else(empty)
    };
    let devices: Vec<(&str, YamlNode)> = devices.iter().map(|(id, keys)| (*id, entry(keys))).collect();
    let (source, problems) = (Source::new("trailblaze.yaml", ""), &mut Vec::new());
    let read = |_: &str| Err(FileError::Missing);
    let part = ProjectPart { root: "/".as_ref(), source: &source, section: empty(), devices, read: &read };
    let config = (PROVIDER.read)(&part, problems);
    assert!(problems.is_empty(), "the keys are valid");
    config
}

fn devices(config: &Arc<dyn ProviderConfig>) -> Arc<dyn DeviceSource> {
    config.open(&Machine::new(Supervisor::new(), Arc::new(HashMap::new()))).expect("it opens")
}

fn wanted(config: &Arc<dyn ProviderConfig>, id: &str) -> Option<Result<DeviceSpec, String>> {
    let (platform, name) = id.split_once('/').expect("platform/name");
    let platform = Platform::parse(platform).expect("a platform");
    config.device(&WantedDevice { id, platform, name, driver: None, classifiers: &[] })
}

#[test]
fn every_name_but_those_of_simulated_phones_is_an_iphone() {
    let config = config(&[("ios/lab", "wda: http://mac.local:8101")]);
    let spec = wanted(&config, "ios/lab").expect("an iPhone").expect("it can be had");
    assert_eq!((spec.driver.as_str(), spec.machine_id.as_deref()), ("ios-host", Some("ios-mac.local:8101")));
    assert_eq!(spec.classifiers, ["ios", "iphone"]);
    let machine = |id: &str| wanted(&config, id).expect("an iPhone").expect("it can be had").machine_id;
    assert_eq!(machine("ios/mine").as_deref(), Some("ios-127.0.0.1:8100"));
    let udid = "ios/00008110-000A1D3C0E21001E";
    assert_eq!(machine(udid).as_deref(), Some("ios-usb-00008110-000A1D3C0E21001E:8100"));
    assert!(["ios/sim-1", "ios/", "android/lab"].into_iter().all(|id| wanted(&config, id).is_none()));
    assert!(PROVIDER.unsupported_driver(&DriverKey::new("ios-axe")).is_some());
}

#[test]
fn an_address_that_is_none_is_named() {
    let config = config(&[("ios/lab", "wda: mac.local")]);
    let error = wanted(&config, "ios/lab").expect("an iPhone").expect_err("it has no address");
    assert!(error.contains("`wda: mac.local` is not an address"), "{error}");
    devices(&config);
}

#[tokio::test]
async fn devices_that_answer_are_found() {
    let wda = iphone(|_| None).await;
    let key = format!("wda: {}", wda.address);
    let found = devices(&config(&[("ios/lab", &key), ("ios/gone", "wda: http://127.0.0.1:1")]));
    let found = found.discover(&budget()).await.expect("a list");
    let told: Vec<String> = found.iter().map(|spec| format!("{}: {}", spec.id, spec.summary)).collect();
    // One at the usual address may be there as well.
    assert!(told.contains(&"ios/lab: Ada's iPhone, iOS 18.1".to_string()), "{told:?}");
    assert!(!told.iter().any(|spec| spec.starts_with("ios/gone")), "{told:?}");
}

#[tokio::test]
async fn a_device_describes_itself_once_it_is_acquired() {
    let wda = iphone(|asked| {
        let ipad = json!({"device": "ipad", "os": {"version": "18.1"}});
        (asked.what == "GET /status").then_some(WdaReply::Value(ipad))
    })
    .await;
    let key = format!("wda: {}", wda.address);
    let config = config(&[("ios/lab", &key)]);
    let spec = wanted(&config, "ios/lab").expect("an iPad").expect("it can be had");
    let driver = devices(&config).acquire(&spec, &budget()).await.expect("it is ready");
    let description = driver.describe();
    assert_eq!(description.summary, "Ada's iPhone, iOS 18.1");
    assert_eq!(description.classifiers, ["ios", "ipad"]);
    assert_eq!((description.size.width, description.size.height), (1170, 2532));
    assert!(!wda.requests().iter().any(|what| what.contains("/session")), "no session is made until one is needed");
}

#[tokio::test]
async fn a_locked_device_is_unlocked_or_named() {
    let locked = iphone(|asked| (asked.what == "GET /wda/locked").then_some(WdaReply::Value(json!(true)))).await;
    let error = open(&locked).await.err().expect("it stays locked").to_string();
    assert!(error.contains("it is locked; unlock it"), "{error}");
    assert!(locked.requests().iter().any(|what| what == "POST /wda/unlock"));
}

#[tokio::test]
async fn a_device_that_cannot_be_acquired_says_why() {
    let error = async |reply: fn(&ReceivedRequest) -> Option<WdaReply>| {
        let wda = iphone(reply).await;
        open(&wda).await.err().expect("it is not ready")
    };
    let html =
        |asked: &ReceivedRequest| (asked.what == "GET /status").then(|| WdaReply::html(500, "<html>Oops</html>"));
    let DriverError::NotStarted { evidence } = error(html).await else { panic!("it does not start") };
    assert!(evidence.contains("is not WebDriverAgent: `GET /status` returned status 500"), "{evidence}");
    let sizeless =
        |asked: &ReceivedRequest| (asked.what == "GET /wda/screen").then(|| WdaReply::Value(json!({"scale": 0})));
    let DriverError::NotStarted { evidence } = error(sizeless).await else { panic!("it does not start") };
    assert!(evidence.contains("how large the screen is"), "{evidence}");
}

#[tokio::test]
async fn a_doctor_says_what_answers_and_what_does_not() {
    let wda = iphone(|_| None).await;
    let key = format!("wda: {}", wda.address);
    let listed = devices(&config(&[("ios/lab", &key), ("ios/gone", "wda: http://127.0.0.1:1")]));
    let found = listed.check(&budget(), true).await;
    let of = |part: &str| found.iter().find(|finding| finding.message.contains(part)).expect(part);
    assert_eq!(of("Ada's iPhone, iOS 18.1, WebDriverAgent 16.12.7 at ").state, FindingState::Good);
    let gone = of("no WebDriverAgent answers at http://127.0.0.1:1");
    assert_eq!(gone.state, FindingState::Bad);
    assert!(gone.hint.as_ref().is_some_and(|hint| hint.contains("found by its UDID")), "{gone:?}");
    let unneeded = listed.check(&budget(), false).await;
    assert!(unneeded.iter().all(|finding| finding.state != FindingState::Bad), "{unneeded:?}");
}
