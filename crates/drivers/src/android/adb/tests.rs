//! The client against a server that answers correctly, wrongly, in part, or not at all.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::{Budget, DriverError};

use super::fake::{AdbReply, FakeAdb, READY, SERIAL, block, budget, packet};
use super::*;

const LIMIT: usize = 1000;

async fn of_device(reply: fn() -> AdbReply) -> FakeAdb {
    FakeAdb::start(move |service| (!service.starts_with("host")).then(reply)).await
}

async fn shell_error(reply: fn() -> AdbReply) -> String {
    let adb = of_device(reply).await;
    adb.device().shell(&budget(), "true", LIMIT).await.expect_err("it fails").to_string()
}

#[tokio::test]
async fn the_server_tells_its_version_and_its_devices() {
    let adb = FakeAdb::start(|_| None).await;
    assert_eq!(adb.client().version(&budget()).await, Ok(41));
    let devices = adb.client().devices(&budget()).await.expect("a list");
    assert_eq!((devices[0].serial.as_str(), devices[0].is_ready()), (SERIAL, true));
}

#[tokio::test]
async fn devices_are_followed_as_they_come_and_go() {
    let adb = FakeAdb::start(|_| None).await;
    let cancel = CancellationToken::new();
    let mut tracker = adb.client().track(&budget()).await.expect("it follows");
    assert_eq!(tracker.next(&cancel).await.expect("the first list").len(), 1);
    adb.devices.send_replace(String::new());
    assert_eq!(tracker.next(&cancel).await.expect("the second list").len(), 0);
    cancel.cancel();
    assert_eq!(tracker.next(&cancel).await, Err(AdbError::Cancelled));
}

#[tokio::test]
async fn a_command_has_its_output_its_errors_and_its_exit_code_apart() {
    let adb = of_device(|| AdbReply::shell("out\n", "err\n", 3)).await;
    let output = adb.device().shell(&budget(), "ls '/a b'", LIMIT).await.expect("it ran");
    assert_eq!((output.text().as_str(), output.error_text().as_str(), output.exit_code), ("out\n", "err\n", 3));
    assert_eq!(output.complaint(), "err");
    assert_eq!(adb.requests(), ["shell,v2,raw:ls '/a b'"]);
}

#[tokio::test]
async fn a_command_with_a_terminal_returns_all_that_it_prints() {
    let adb = of_device(|| AdbReply::printed(&[0, 13, 10, 255])).await;
    assert_eq!(adb.device().exec(&budget(), "screencap -p", LIMIT).await, Ok(vec![0, 13, 10, 255]));
    let error = adb.device().exec(&budget(), "screencap -p", 3).await.expect_err("it is too much");
    assert_eq!(error.to_string(), "the output of a command is larger than 3 bytes");
}

#[tokio::test]
async fn answers_that_are_no_protocol_are_named() {
    type Case = (fn() -> AdbReply, &'static str);
    let cases: [Case; 7] = [
        (|| AdbReply::failure("closed"), "adb refused `shell,v2,raw`: closed"),
        (|| AdbReply::Bytes(b"WHAT".to_vec()), "adb sent what is not its protocol: the status WHAT"),
        (|| AdbReply::Bytes(b"FAILzzzz".to_vec()), "adb sent what is not its protocol: the length zzzz"),
        (|| AdbReply::Bytes(b"OK".to_vec()), "the connection to adb was closed while reading the status of a request"),
        (
            || AdbReply::Bytes(b"OKAY\x01\x05\0\0\0ab".to_vec()),
            "the connection to adb was closed while reading the output",
        ),
        (
            || AdbReply::Bytes(b"OKAY\x01\xff\xff\xff\xff".to_vec()),
            "a packet of the shell is larger than 1048576 bytes",
        ),
        (
            || AdbReply::Bytes(b"OKAY\x03\0\0\0\0".to_vec()),
            "adb sent what is not its protocol: an end without an exit code",
        ),
    ];
    for (reply, expected) in cases {
        let error = shell_error(reply).await;
        assert!(error.starts_with(expected), "expected {expected:?}, got {error:?}");
    }
}

#[tokio::test]
async fn more_output_than_wanted_is_refused() {
    let adb = of_device(|| AdbReply::Bytes([b"OKAY".to_vec(), packet(1, &[b'x'; 2000])].concat())).await;
    let error = adb.device().shell(&budget(), "cat", LIMIT).await.expect_err("it is too much");
    assert_eq!(error.to_string(), "the output of a command is larger than 1000 bytes");
}

#[tokio::test]
async fn a_device_that_cannot_be_used_is_named_with_what_to_do() {
    let cases = [
        ("", "`emulator-5554` is not connected; connected: nothing; plug it in"),
        ("R5 device\n", "`emulator-5554` is not connected; connected: R5"),
        ("emulator-5554 unauthorized\n", "`emulator-5554` is not authorized; unlock it and accept"),
        ("emulator-5554 offline\n", "`emulator-5554` is offline; unplug it and plug it in again"),
        ("emulator-5554 no permissions\n", "`emulator-5554` is not permitted; this user may not open its USB port"),
        ("emulator-5554 recovery\n", "`emulator-5554` is in the state `recovery`; start Android on it"),
    ];
    for (list, expected) in cases {
        let adb = FakeAdb::start(|_| None).await;
        adb.devices.send_replace(list.to_string());
        let error = adb.device().shell(&budget(), "true", LIMIT).await.expect_err("it is not ready");
        assert!(error.to_string().starts_with(expected), "expected {expected:?}, got {error}");
        assert!(matches!(DriverError::from(error), DriverError::Lost { .. }));
    }
}

#[tokio::test]
async fn a_device_that_was_just_plugged_in_is_awaited() {
    let adb = FakeAdb::start(|_| None).await;
    adb.devices.send_replace("emulator-5554 offline\n".to_string());
    let (device, budget) = (adb.device(), budget());
    let plug_in = async { adb.devices.send_replace(READY.to_string()) };
    assert_eq!(tokio::join!(device.ready(&budget), plug_in).0, Ok(()));
    adb.devices.send_replace("emulator-5554 unauthorized\n".to_string());
    assert!(matches!(device.ready(&budget).await, Err(AdbError::NotReady { .. })));
}

#[tokio::test]
async fn a_device_that_is_unplugged_during_a_command_is_lost() {
    let adb = FakeAdb::start(|service| match service {
        "host:devices-l" => Some(AdbReply::answer("")),
        service if service.starts_with("shell") => Some(AdbReply::Bytes(b"OKAY\x01\x05\0\0\0ab".to_vec())),
        _ => None,
    })
    .await;
    let error = adb.device().shell(&budget(), "true", LIMIT).await.expect_err("it is gone");
    assert!(matches!(error, AdbError::NotConnected { .. }), "{error}");
}

#[tokio::test]
async fn a_device_that_does_not_answer_is_given_up_when_the_budget_ends() {
    let adb = of_device(|| AdbReply::Silence).await;
    let ended = Budget::new(Instant::now() + Duration::from_millis(50), CancellationToken::new());
    let error = adb.device().shell(&ended, "true", LIMIT).await.expect_err("it is silent");
    assert!(matches!(error, AdbError::TimedOut { .. }), "{error}");
    let cancelled = budget();
    cancelled.cancel.cancel();
    assert_eq!(adb.device().shell(&cancelled, "true", LIMIT).await, Err(AdbError::Cancelled));
}

#[tokio::test]
async fn without_a_server_and_without_adb_it_says_what_to_install() {
    let gone = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let port = gone.local_addr().expect("an address").port();
    drop(gone);
    let address = AdbAddress { port, ..AdbAddress::default() };
    let client = AdbClient::new(AdbServer::at(address.clone()));
    let error = client.version(&budget()).await.expect_err("there is none").to_string();
    assert!(error.contains("there is no program `adb` on the PATH"), "{error}");
    let failing = AdbServer::started_by(address, "/bin/false".into(), Vec::new());
    let error = AdbClient::new(failing).version(&budget()).await.expect_err("it does not start").to_string();
    assert!(error.starts_with("`adb start-server` failed: it printed nothing"), "{error}");
}

#[tokio::test]
async fn files_are_written_found_and_read() {
    let adb = of_device(|| AdbReply::Files).await;
    let (device, path) = (adb.device(), "/data/local/tmp/a");
    assert_eq!(device.stat(&budget(), path).await, Ok(None));
    let content: Vec<u8> = (0..60_000u32).map(|number| number.to_le_bytes()[0]).collect();
    device.push(&budget(), path, &content, 0o644).await.expect("it is written");
    let found = device.stat(&budget(), path).await.expect("it answers").expect("it is there");
    assert_eq!(found.size, 60_000);
    assert_eq!(device.pull(&budget(), path, 100_000).await.expect("it is read"), content);
    let error = device.pull(&budget(), path, 50_000).await.expect_err("it is too large").to_string();
    assert_eq!(error, "`/data/local/tmp/a` is larger than 50000 bytes");
    let error = device.pull(&budget(), "/none", LIMIT).await.expect_err("there is none").to_string();
    assert_eq!(error, "adb refused `sync:/none`: No such file or directory");
}

#[tokio::test]
async fn a_part_of_a_file_that_is_too_large_is_refused() {
    let adb = of_device(|| AdbReply::Bytes(b"OKAYDATA\xff\xff\xff\x7f".to_vec())).await;
    let error = adb.device().pull(&budget(), "/a", LIMIT).await.expect_err("it lies").to_string();
    assert_eq!(error, "a part of a file is larger than 65536 bytes");
}

#[tokio::test]
async fn ports_are_forwarded_listed_and_closed_both_ways() {
    let adb = FakeAdb::start(|service| {
        let twice = |text: &str| AdbReply::Bytes([b"OKAYOKAY".to_vec(), block(text)].concat());
        Some(match service.strip_prefix("host-serial:emulator-5554:").unwrap_or(service) {
            "forward:tcp:0;localabstract:x" => twice("41000"),
            "reverse:forward:tcp:0;tcp:8080" => twice("42000"),
            "killforward:tcp:41000" | "reverse:killforward:tcp:42000" => AdbReply::Bytes(b"OKAYOKAY".to_vec()),
            "killforward:tcp:1" => AdbReply::Bytes([b"OKAYFAIL".to_vec(), block("no such listener")].concat()),
            "list-forward" => AdbReply::answer("other tcp:1 tcp:2\nemulator-5554 tcp:41000 localabstract:x\n"),
            "reverse:list-forward" => AdbReply::answer("UsbFfs tcp:42000 tcp:8080\n"),
            "features" => AdbReply::answer("shell_v2,cmd"),
            _ => return None,
        })
    })
    .await;
    let (device, budget) = (adb.device(), budget());
    assert_eq!(device.forward(&budget, "localabstract:x").await, Ok(41000));
    assert_eq!(device.reverse(&budget, 8080).await, Ok(42000));
    let forward = PortForward { local: "tcp:41000".to_string(), remote: "localabstract:x".to_string() };
    assert_eq!(device.forwards(&budget).await, Ok(vec![forward]));
    let reverse = PortForward { local: "tcp:42000".to_string(), remote: "tcp:8080".to_string() };
    assert_eq!(device.reverses(&budget).await, Ok(vec![reverse]));
    device.remove_forward(&budget, 41000).await.expect("it is closed");
    device.remove_reverse(&budget, 42000).await.expect("it is closed");
    let error = device.remove_forward(&budget, 1).await.expect_err("there is none").to_string();
    assert_eq!(error, "adb refused `killforward`: no such listener");
    assert_eq!(device.features(&budget).await, Ok(vec!["shell_v2".to_string(), "cmd".to_string()]));
}

#[tokio::test]
async fn a_shell_that_stays_open_answers_line_by_line() {
    let adb = of_device(|| AdbReply::Lines).await;
    let mut session = adb.device().start(&budget(), "sh").await.expect("it starts");
    assert_eq!(session.exchange(&budget(), "one").await.as_deref(), Ok("ok"));
    assert_eq!(session.exchange(&budget(), "two").await.as_deref(), Ok("ok"));
    assert_eq!(session.finish(&budget()).await, Ok(0));
    assert_eq!(adb.noted().await, ["one", "two"]);
}
