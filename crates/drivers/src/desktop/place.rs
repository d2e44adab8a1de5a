//! Where the programs of a device run: in a session of our own, or in that of the user.

use std::ffi::OsStr;

use trailblaze_protocol::geometry::Size;

use super::programs::Programs;
use crate::provider::Machine;

pub const USUAL_SIZE: Size = Size { width: 1280, height: 800 };

/// What the entry of a device says.
#[derive(Debug, Clone, PartialEq)]
pub struct DesktopSettings {
    pub place: DesktopPlace,
    /// The program that is started with the device: the id of a `.desktop` file, or a command line.
    pub app: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum DesktopPlace {
    /// An X server and a bus of our own.
    Xvfb { size: Size },
    /// The session that we were started in.
    Own,
}

/// The session of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnSession {
    pub bus_address: String,
    /// The X display; `None` on Wayland.
    pub display: Option<String>,
}

/// Where the user's session is, or why there is none.
pub fn own_session(machine: &Machine) -> Result<OwnSession, String> {
    let text = |name: &str| {
        let value = machine.var(name).map(OsStr::to_string_lossy).filter(|value| !value.is_empty());
        value.map(std::borrow::Cow::into_owned)
    };
    let bus = text("DBUS_SESSION_BUS_ADDRESS");
    let bus = bus.or_else(|| text("XDG_RUNTIME_DIR").map(|folder| format!("unix:path={folder}/bus")));
    let bus_address = bus.ok_or(
        "there is no desktop session here: DBUS_SESSION_BUS_ADDRESS is not set; run it from a terminal on the desktop, or use \
         `display: xvfb`",
    )?;
    let is_wayland =
        text("WAYLAND_DISPLAY").is_some() || text("XDG_SESSION_TYPE").is_some_and(|kind| kind == "wayland");
    let display = text("DISPLAY").filter(|_| !is_wayland);
    if display.is_none() && !is_wayland {
        return Err("there is no screen here: DISPLAY is not set; run it from a terminal on the desktop, or use `display: xvfb`".to_string());
    }
    Ok(OwnSession { bus_address, display })
}

pub fn programs(machine: &Machine) -> Programs {
    let path = machine.var("PATH").unwrap_or_default();
    Programs::new(path, machine.var("XDG_DATA_DIRS"), machine.var("HOME"))
}
