//! iPhones on a cable: a stand-in for usbmuxd, whose ports lead to a stand-in for WebDriverAgent. No iPhone was used.

use std::collections::HashMap;
use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::sync::Arc;

use trailblaze_core::device_source::DeviceSource;
use trailblaze_core::driver::{Action, ActionTarget, DriverError, LaunchMode, ObserveOptions};
use trailblaze_drivers::provider::Machine;
use trailblaze_ios_stand_in::{StandIn, StandInUsbmuxd};
use trailblaze_protocol::geometry::Point;
use trailblaze_supervise::Supervisor;

use crate::skip;
use crate::support::{Connected, TestProject, budget, wallet_app};

const UDID: &str = "00008110-000A1D3C0E21001E";
const OTHER: &str = "00008120-001122334455001E";
const WDA_PORT: u16 = 8100;

/// An iPhone on a cable.
struct Cabled {
    usbmuxd: StandInUsbmuxd,
    stand_in: StandIn,
    _folder: TemporaryFolder,
}

/// A folder that is removed at the end.
struct TemporaryFolder(std::path::PathBuf);

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Cabled {
    fn plug_in() -> Cabled {
        // Short, because the path of a socket must be.
        let folder =
            std::env::temp_dir().join(format!("cable-{}-{:?}", std::process::id(), std::thread::current().id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let usbmuxd = StandInUsbmuxd::start(&folder.join("usbmuxd")).expect("a stand-in");
        let stand_in = trailblaze_ios_stand_in::start(&[wallet_app()]).expect("a stand-in");
        usbmuxd.attach(UDID, &[(WDA_PORT, stand_in.port())]);
        Cabled { usbmuxd, stand_in, _folder: TemporaryFolder(folder) }
    }

    fn machine(&self) -> Machine {
        let variable = (OsString::from("USBMUXD_SOCKET_ADDRESS"), OsString::from(self.usbmuxd.variable()));
        Machine::new(Supervisor::new(), Arc::new(HashMap::from([variable])))
    }

    fn devices(&self) -> Arc<dyn DeviceSource> {
        TestProject::empty().open(&self.machine())
    }

    async fn connect(self) -> (Connected, StandInUsbmuxd, TemporaryFolder) {
        let spec = TestProject::empty().device(&format!("ios/{UDID}")).expect("it can be had");
        let driver = self.devices().acquire(&spec, &budget()).await.expect("it is ready");
        (Connected { stand_in: self.stand_in, driver }, self.usbmuxd, self._folder)
    }
}

#[tokio::test]
async fn an_iphone_is_found_and_used_through_its_cable() {
    let cabled = Cabled::plug_in();
    let found = cabled.devices().discover(&budget()).await.expect("a list");
    let own = found.iter().find(|spec| spec.id.as_str() == format!("ios/{UDID}")).expect("it is found");
    assert_eq!(own.summary, "Stand-in, iOS 18.1");
    let (iphone, _usbmuxd, _folder) = cabled.connect().await;
    iphone.launch(LaunchMode::Reinstall).await.expect_err("its data cannot be cleared");
    iphone.launch(LaunchMode::ForceRestart).await.expect("it is launched");
    iphone.fill("email", "ada@example.com").await;
    assert_eq!(iphone.id("email").await.text.as_deref(), Some("ada@example.com"));
    iphone.driver.close().await;
    assert!(!iphone.stand_in.has_session());
}

#[tokio::test]
async fn an_iphone_without_web_driver_agent_is_listed_and_its_port_is_named() {
    let cabled = Cabled::plug_in();
    cabled.usbmuxd.attach(OTHER, &[]);
    let found = cabled.devices().discover(&budget()).await.expect("a list");
    let other = found.iter().find(|spec| spec.id.as_str() == format!("ios/{OTHER}")).expect("it is found");
    assert_eq!(other.summary, "an iPhone on a cable, whose WebDriverAgent does not answer");
    let error = cabled.devices().acquire(other, &budget()).await.err().expect("it cannot be used").to_string();
    assert!(
        error.contains(&format!("no WebDriverAgent answers at usb://{OTHER}: nothing listens at port 8100")),
        "{error}"
    );
    cabled.usbmuxd.detach(OTHER);
    let error = cabled.devices().acquire(other, &budget()).await.err().expect("it is gone").to_string();
    assert!(error.contains(&format!("it is not on a cable; on a cable: {UDID}")), "{error}");
}

#[tokio::test]
async fn a_cable_that_is_pulled_out_ends_the_session() {
    let (iphone, usbmuxd, _folder) = Cabled::plug_in().connect().await;
    iphone.launch(LaunchMode::Resume).await.expect("it is launched");
    usbmuxd.detach(UDID);
    let error = iphone.driver.observe(&budget(), ObserveOptions::TREE).await.expect_err("it is gone");
    let DriverError::Lost { evidence } = &error else { panic!("{error:?}") };
    assert!(evidence.contains("it is not on a cable; on a cable: none"), "{evidence}");
    usbmuxd.attach(UDID, &[(WDA_PORT, iphone.stand_in.port())]);
    let corner = ActionTarget::Point(Point { x: 5, y: 5 });
    iphone.try_act(corner, Action::Tap).await.expect("it goes on when it is plugged in again");
}

#[tokio::test]
async fn cables_are_followed_as_they_come_and_go() {
    let cabled = Cabled::plug_in();
    let devices = cabled.devices();
    let mut changes = devices.changes().expect("it can be followed");
    let ids = |specs: &[trailblaze_core::device_source::DeviceSpec]| {
        specs.iter().map(|spec| spec.id.to_string()).collect::<Vec<_>>()
    };
    let (own, other) = (format!("ios/{UDID}"), format!("ios/{OTHER}"));
    changes.wait_for(|specs| ids(specs) == [own.clone()]).await.expect("it is there");
    cabled.usbmuxd.attach(OTHER, &[]);
    changes.wait_for(|specs| ids(specs) == [own.clone(), other.clone()]).await.expect("both are there");
    cabled.usbmuxd.detach(UDID);
    changes.wait_for(|specs| ids(specs) == [other.clone()]).await.expect("one is left");
}

/// Runs a program of libimobiledevice; `None` if it is not installed.
fn program(name: &str, cabled: &Cabled) -> Option<Command> {
    std::env::var_os("SOAK")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file());
    let Some(found) = found else {
        skip::without_part(&format!("{name} is missing; `scripts/parts full` installs it"));
        return None;
    };
    let mut command = Command::new(found);
    command.env("USBMUXD_SOCKET_ADDRESS", cabled.usbmuxd.variable());
    Some(command)
}

/// In the full tier: a client that others wrote agrees with the stand-in.
#[test]
fn idevice_id_lists_what_is_attached() {
    let cabled = Cabled::plug_in();
    let list = || {
        let output = program("idevice_id", &cabled)?.arg("-l").output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect::<Vec<_>>())
    };
    let Some(one) = list() else { return };
    assert_eq!(one, [UDID]);
    cabled.usbmuxd.attach(OTHER, &[]);
    assert_eq!(list().expect("a list"), [UDID, OTHER]);
    cabled.usbmuxd.detach(UDID);
    assert_eq!(list().expect("a list"), [OTHER]);
}

/// In the full tier: what `iproxy` forwards is the same WebDriverAgent.
#[tokio::test]
async fn iproxy_forwards_the_port_of_an_iphone() {
    let cabled = Cabled::plug_in();
    let Some(mut iproxy) = program("iproxy", &cabled) else { return };
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port").local_addr().expect("its address").port();
    iproxy.args([&format!("{free}:{WDA_PORT}"), "-u", UDID]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = iproxy.spawn().expect("it starts");
    let project = TestProject::of("ios/forwarded", &format!("wda: http://127.0.0.1:{free}\n"));
    let devices = project.open(&cabled.machine());
    let budget = budget();
    let found = loop {
        let found = devices.discover(&budget).await.expect("a list");
        if let Some(own) = found.into_iter().find(|spec| spec.id.as_str() == "ios/forwarded") {
            break own;
        }
        assert!(!budget.remaining().is_zero(), "nothing answers");
    };
    assert_eq!(found.summary, "Stand-in, iOS 18.1");
    let _ = running.kill();
    let _ = running.wait();
}
