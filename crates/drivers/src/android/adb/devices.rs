//! The list of devices that the adb server knows.

use std::fmt;

/// A device in the list of the adb server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdbDeviceInfo {
    /// A serial number, `emulator-5554`, or the address of a wireless device.
    pub serial: String,
    pub state: AdbConnectionState,
    /// The model as its maker calls it, with underscores for spaces. Unknown until the device is ready.
    pub model: Option<String>,
}

/// How a device is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdbConnectionState {
    Ready,
    Unauthorized,
    Authorizing,
    Connecting,
    Offline,
    /// The user of this machine may not open its USB port.
    NoPermissions,
    /// Another system runs on it than Android: `recovery`, `sideload`, `bootloader`, `rescue`, `host`.
    Other(String),
}

impl AdbConnectionState {
    fn read(word: &str) -> AdbConnectionState {
        match word {
            "device" => AdbConnectionState::Ready,
            "unauthorized" => AdbConnectionState::Unauthorized,
            "authorizing" => AdbConnectionState::Authorizing,
            "connecting" => AdbConnectionState::Connecting,
            "offline" => AdbConnectionState::Offline,
            other => AdbConnectionState::Other(other.to_string()),
        }
    }

    /// Whether it may be ready in a moment, as after it was plugged in or the server was started.
    pub fn is_passing(&self) -> bool {
        matches!(self, AdbConnectionState::Authorizing | AdbConnectionState::Connecting | AdbConnectionState::Offline)
    }

    /// What to do so that the device can be used.
    pub fn advice(&self) -> &'static str {
        match self {
            AdbConnectionState::Ready => "it can be used",
            AdbConnectionState::Unauthorized => {
                "unlock it and accept \"Allow USB debugging?\"; if it does not ask, unplug it and plug it in again"
            }
            AdbConnectionState::Authorizing => "accept \"Allow USB debugging?\" on its screen",
            AdbConnectionState::Connecting => "wait a moment and try again",
            AdbConnectionState::Offline => {
                "unplug it and plug it in again, or run `adb reconnect offline`; a wireless device must be in the same network"
            }
            AdbConnectionState::NoPermissions => {
                "this user may not open its USB port; install the udev rules for Android, then run `adb kill-server`"
            }
            AdbConnectionState::Other(_) => "start Android on it, for example with `adb reboot`",
        }
    }
}

impl fmt::Display for AdbConnectionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AdbConnectionState::Ready => "ready",
            AdbConnectionState::Unauthorized => "not authorized",
            AdbConnectionState::Authorizing => "being authorized",
            AdbConnectionState::Connecting => "connecting",
            AdbConnectionState::Offline => "offline",
            AdbConnectionState::NoPermissions => "not permitted",
            AdbConnectionState::Other(word) => return write!(f, "in the state `{word}`"),
        })
    }
}

impl AdbDeviceInfo {
    /// Reads the answer to `host:devices-l`: a line for each device, with its serial, its state, and pairs such as `model:Pixel_7`.
    pub fn read_list(text: &str) -> Vec<AdbDeviceInfo> {
        text.lines().filter_map(AdbDeviceInfo::read).collect()
    }

    fn read(line: &str) -> Option<AdbDeviceInfo> {
        let (serial, rest) = line.trim().split_once([' ', '\t'])?;
        let rest = rest.trim_start();
        let state = match rest.strip_prefix("no permissions") {
            Some(_) => AdbConnectionState::NoPermissions,
            None => AdbConnectionState::read(rest.split_whitespace().next()?),
        };
        let model = rest.split_whitespace().find_map(|word| word.strip_prefix("model:"));
        Some(AdbDeviceInfo { serial: serial.to_string(), state, model: model.map(str::to_string) })
    }

    pub fn is_ready(&self) -> bool {
        self.state == AdbConnectionState::Ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_devices_is_read_with_their_states() {
        let list = "emulator-5554          device product:sdk model:Pixel_7 device:emu transport_id:1\n\
                    R58M                   unauthorized usb:1-1 transport_id:2\n\
                    192.168.0.7:5555       offline transport_id:3\n\
                    0123                   no permissions (missing udev rules?); see [http://x]\n\
                    X\trecovery\n\n";
        let devices = AdbDeviceInfo::read_list(list);
        let states: Vec<String> = devices.iter().map(|device| format!("{} {}", device.serial, device.state)).collect();
        let expected = [
            "emulator-5554 ready",
            "R58M not authorized",
            "192.168.0.7:5555 offline",
            "0123 not permitted",
            "X in the state `recovery`",
        ];
        assert_eq!(states, expected);
        assert_eq!(devices[0].model.as_deref(), Some("Pixel_7"));
    }
}
