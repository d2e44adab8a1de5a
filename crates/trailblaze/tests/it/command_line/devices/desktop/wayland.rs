//! A session of Wayland, as far as programs and their trees are concerned: a bus, and no X server. No compositor runs.

use std::process::Command;

use serde_json::json;
use trailblaze_core::driver::{Action, ActionTarget, DeviceCommand, Driver, DriverError, ObserveOptions};
use trailblaze_drivers::desktop::DesktopPlace;

use super::desk::{Desk, budget, has};
use super::listed_program::ListedProgram;
use crate::support::marked::Mark;
use crate::support::{Running, wait_until};

#[tokio::test]
async fn on_wayland_elements_are_read_and_only_their_own_actions_work() {
    if !has(&["python3"]) {
        return;
    }
    let (temp, mark) = (tempfile::tempdir().expect("a folder"), Mark::new());
    let socket = temp.path().join("bus");
    let address = format!("unix:path={}", socket.display());
    let mut bus = Command::new("dbus-daemon");
    bus.args(["--session", "--nofork", "--nopidfile", "--nosyslog", &format!("--address={address}")]);
    bus.envs([mark.variable()]).env("XDG_RUNTIME_DIR", temp.path()).env_remove("DISPLAY");
    let mut bus = Running::of(bus.spawn().expect("a bus"));
    wait_until("the bus listens", || socket.exists().then_some(()));
    let folder = temp.path().as_os_str().to_os_string();
    let session = [
        ("DBUS_SESSION_BUS_ADDRESS", address.into()),
        ("WAYLAND_DISPLAY", "wayland-0".into()),
        ("XDG_RUNTIME_DIR", folder),
    ];
    let desk = Desk::open_in(DesktopPlace::Own, temp, mark, &session).await;
    assert_eq!(desk.driver.describe().summary, "this machine's desktop, Wayland");
    let elements = json!([
        {"role": "field", "name": "Title", "id": "title"},
        {"role": "button", "name": "Save", "id": "save"},
        {"role": "label", "name": "idle", "id": "status"},
    ]);
    let program = ListedProgram::new(desk.temp.path(), "Notes", elements);
    desk.launch(&program.command).await;
    desk.tap("Save").await;
    desk.until("what the button did", |screen| screen.contains("Save was pressed")).await;
    let save = desk.find("Save").await;
    let pointer = [Action::DoubleTap, Action::LongPress, Action::Hover { at: None }];
    for action in pointer {
        let refused = desk.act(ActionTarget::Element(save.clone()), action).await;
        assert!(matches!(refused, Err(DriverError::Unsupported { .. })), "{refused:?}");
    }
    let typing = Action::InputText { text: "x".to_string() };
    let refused = desk.act(ActionTarget::Device, typing).await;
    assert!(matches!(refused, Err(DriverError::Unsupported { .. })), "{refused:?}");
    for command in [DeviceCommand::Windows, DeviceCommand::GetClipboard] {
        let refused = command.carry_out(&*desk.driver, &budget()).await;
        assert!(matches!(refused, Err(DriverError::Unsupported { .. })), "{command:?}: {refused:?}");
    }
    let pictured = desk.driver.observe(&budget(), ObserveOptions::PICTURE).await.expect("a screen");
    assert!(pictured.picture.is_none());
    desk.driver.close().await;
    bus.kill();
    desk.close().await;
}
