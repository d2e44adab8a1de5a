//! The client of usbmuxd against scripted answers. `crates/ios-stand-in` has a stand-in for the service.

use std::ffi::OsStr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

const UDID: &str = "00008110-000A1D3C0E21001E";

/// A service that answers each connection with these bytes.
async fn answering(bytes: Vec<u8>) -> Usbmuxd {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("its address").to_string();
    // Detached: ends with the runtime of its test.
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let _ = connection.read(&mut [0; 4096]).await;
            let _ = connection.write_all(&bytes).await;
        }
    });
    Usbmuxd::of_environment(Some(OsStr::new(&address)))
}

/// A message whose header claims this length.
fn message(length: Option<u32>, body: &str) -> Vec<u8> {
    let length = length.unwrap_or(16 + body.len() as u32);
    [[length, 1, 8, 1].map(u32::to_le_bytes).concat(), body.as_bytes().to_vec()].concat()
}

fn dict(entries: &str) -> String {
    format!("<plist version=\"1.0\"><dict>{entries}</dict></plist>")
}

async fn error(bytes: Vec<u8>) -> String {
    let service = answering(bytes).await;
    service.connect(UDID, 8100).await.err().expect("it cannot be used").to_string()
}

#[tokio::test]
async fn answers_that_are_none_are_named() {
    for (bytes, expected) in [
        (Vec::new(), "the end of the connection"),
        (message(Some(15), ""), "a message of 15 bytes"),
        (message(Some(u32::MAX), ""), "a message of 4294967295 bytes"),
        (message(Some(100), "<plist>"), "the end of the connection"),
        (message(None, "hello"), "no property list"),
        (message(None, &dict("")), "a list without devices"),
    ] {
        let told = error(bytes).await;
        assert!(told.contains(expected), "{told}");
    }
}

#[tokio::test]
async fn devices_without_a_cable_or_a_name_are_left_out() {
    let device = |number: u32, kind: &str, serial: &str| {
        let number = format!("<key>DeviceID</key><integer>{number}</integer>");
        let properties =
            format!("<key>ConnectionType</key><string>{kind}</string><key>SerialNumber</key><string>{serial}</string>");
        format!("<dict>{number}<key>Properties</key><dict>{properties}</dict></dict>")
    };
    let all = [device(1, "USB", UDID), device(2, "Network", UDID), device(3, "USB", "../x"), "<dict/>".to_string()];
    let list = dict(&format!("<key>DeviceList</key><array>{}</array>", all.concat()));
    let attached = answering(message(None, &list)).await.attached().await.expect("a list");
    assert_eq!(attached.iter().map(|device| device.udid.as_str()).collect::<Vec<_>>(), [UDID]);
}

#[tokio::test]
async fn a_service_that_is_missing_is_named_by_its_socket() {
    for (address, shown) in [("UNIX:/nowhere/usbmuxd", "/nowhere/usbmuxd"), ("127.0.0.1:1", "127.0.0.1:1")] {
        let service = Usbmuxd::of_environment(Some(OsStr::new(address)));
        let told = service.attached().await.expect_err("nobody is there").to_string();
        assert!(told.contains(&format!("no usbmuxd answers at {shown}:")), "{told}");
    }
    assert_eq!(Usbmuxd::of_environment(None), Usbmuxd::of_environment(Some(OsStr::new("UNIX:/var/run/usbmuxd"))));
}

#[test]
fn udids_have_two_forms() {
    assert!(is_udid(UDID) && is_udid(&"0a".repeat(20)));
    for other in ["", "iPhone", "00008110", "F0A1B2C3-0000-4000-8000-000000000001", "00008110-000A1D3C0E21001G"] {
        assert!(!is_udid(other), "{other}");
    }
}

#[test]
fn every_start_of_a_property_list_is_a_list_or_none() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/usb_plist");
    let files: Vec<_> = std::fs::read_dir(folder).expect("the corpus is there").collect();
    assert!(files.len() >= 3);
    for file in files {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("its content");
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            if let Some(list) = Plist::read(&text[..end]) {
                assert!(Plist::read(&list.document()).is_some(), "{}", &text[..end]);
            }
        }
    }
}
