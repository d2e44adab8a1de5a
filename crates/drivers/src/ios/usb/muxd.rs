//! Speaks to usbmuxd: which devices are on a cable, and a connection to a port of one.

use std::io;
use std::path::PathBuf;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::plist::{Plist, request};

/// Where it listens on every system.
const SOCKET: &str = "/var/run/usbmuxd";
/// The version of the protocol and the kind of message: a property list.
const VERSION: u32 = 1;
const MESSAGE: u32 = 8;
const HEADER: usize = 16;
/// The largest answer.
const LARGEST: u32 = 1 << 20;
/// What it answers to a connection: done, no such device, nobody at this port.
const DONE: i64 = 0;
const NO_DEVICE: i64 = 2;
const NO_PORT: i64 = 3;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MuxError {
    #[error("no usbmuxd answers at {}: {why}; on Linux, install the package usbmuxd", .socket.display())]
    NoService { socket: PathBuf, why: String },
    #[error("usbmuxd sent what is not its protocol: {what}")]
    Protocol { what: String },
    #[error("it is not on a cable; on a cable: {}", list(.attached))]
    NotAttached { attached: Vec<String> },
    #[error("nothing listens at port {port} of it; start WebDriverAgent on it")]
    NoPort { port: u16 },
    #[error("usbmuxd refused the connection with the number {number}")]
    Refused { number: i64 },
}

fn list(serials: &[String]) -> String {
    if serials.is_empty() { "none".to_string() } else { serials.join(", ") }
}

/// A device on a cable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedDevice {
    /// The number that usbmuxd gave it.
    pub number: i64,
    /// Its UDID.
    pub udid: String,
}

/// The service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usbmuxd {
    socket: PathBuf,
}

impl Usbmuxd {
    /// `address` is what USBMUXD_SOCKET_ADDRESS says, if it is set: `UNIX:/run/usbmuxd`.
    pub fn of_environment(address: Option<&str>) -> Usbmuxd {
        let path = address.map(|address| address.strip_prefix("UNIX:").unwrap_or(address));
        Usbmuxd { socket: path.filter(|path| !path.is_empty()).unwrap_or(SOCKET).into() }
    }

    /// The devices that are on a cable. Those that are known over the network only are left out.
    pub async fn attached(&self) -> Result<Vec<AttachedDevice>, MuxError> {
        let mut connection = self.open().await?;
        let answer = self.ask(&mut connection, "ListDevices", &[]).await?;
        let devices = answer.array("DeviceList").ok_or_else(|| wrong("a list without devices"))?;
        let device = |device: &Plist| {
            let properties = device.get("Properties")?;
            let is_cabled = properties.text("ConnectionType").is_none_or(|kind| kind == "USB");
            let udid = properties.text("SerialNumber").filter(|serial| is_serial(serial))?;
            is_cabled.then_some(AttachedDevice { number: device.integer("DeviceID")?, udid: udid.to_string() })
        };
        Ok(devices.iter().filter_map(device).collect())
    }

    /// A connection to a port of a device.
    pub async fn connect(&self, udid: &str, port: u16) -> Result<UnixStream, MuxError> {
        let attached = self.attached().await?;
        let Some(device) = attached.iter().find(|device| is_same(&device.udid, udid)) else {
            return Err(MuxError::NotAttached { attached: attached.into_iter().map(|device| device.udid).collect() });
        };
        let mut connection = self.open().await?;
        // The bytes of the port are in the order of the network.
        let port_number = Plist::Integer(port.swap_bytes().into());
        let target = [("DeviceID", Plist::Integer(device.number)), ("PortNumber", port_number)];
        let answer = self.ask(&mut connection, "Connect", &target).await?;
        match answer.integer("Number") {
            Some(DONE) => Ok(connection),
            Some(NO_DEVICE) => Err(MuxError::NotAttached { attached: Vec::new() }),
            Some(NO_PORT) => Err(MuxError::NoPort { port }),
            Some(number) => Err(MuxError::Refused { number }),
            None => Err(wrong("an answer without a number")),
        }
    }

    async fn open(&self) -> Result<UnixStream, MuxError> {
        let connected = UnixStream::connect(&self.socket).await;
        connected.map_err(|error| MuxError::NoService { socket: self.socket.clone(), why: error.to_string() })
    }

    async fn ask(&self, connection: &mut UnixStream, kind: &str, more: &[(&str, Plist)]) -> Result<Plist, MuxError> {
        let text = |text: &str| Plist::Text(text.to_string());
        let mut entries = vec![
            ("MessageType", text(kind)),
            ("ClientVersionString", text("trailblaze")),
            ("ProgName", text("trailblaze")),
            ("kLibUSBMuxVersion", Plist::Integer(3)),
        ];
        entries.extend(more.iter().cloned());
        let closed = |error: io::Error| wrong(&format!("the end of the connection: {error}"));
        let body = request(&entries);
        let length = u32::try_from(HEADER + body.len()).map_err(|_| wrong("a request that is too long"))?;
        let header = [length, VERSION, MESSAGE, 1].map(u32::to_le_bytes).concat();
        connection.write_all(&[header, body.into_bytes()].concat()).await.map_err(closed)?;
        let mut header = [0; HEADER];
        connection.read_exact(&mut header).await.map_err(closed)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let body = (length.min(LARGEST) as usize).checked_sub(HEADER).filter(|_| length <= LARGEST);
        let mut answer = vec![0; body.ok_or_else(|| wrong(&format!("an answer of {length} bytes")))?];
        connection.read_exact(&mut answer).await.map_err(closed)?;
        let answer = String::from_utf8_lossy(&answer);
        Plist::read(&answer).ok_or_else(|| wrong("no property list"))
    }
}

fn wrong(what: &str) -> MuxError {
    MuxError::Protocol { what: what.to_string() }
}

/// A serial becomes part of names and messages.
fn is_serial(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Some programs leave out the hyphen.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |udid: &str| udid.replace('-', "").to_ascii_lowercase();
    plain(one) == plain(other)
}

/// Whether a name is the UDID of an iPhone or an iPad; those of simulators have another form.
pub fn is_udid(name: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.split_once('-') {
        Some((chip, unit)) => chip.len() == 8 && unit.len() == 16 && is_hex(chip) && is_hex(unit),
        None => name.len() == 40 && is_hex(name),
    }
}
