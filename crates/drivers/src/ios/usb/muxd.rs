//! Speaks to usbmuxd: which devices are on a cable, and a connection to a port of one.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use super::plist::Plist;

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
    #[error("no usbmuxd answers at {socket}: {why}; on Linux, install the package usbmuxd")]
    NoService { socket: MuxSocket, why: String },
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

impl AttachedDevice {
    /// Whether this is its UDID. Some programs leave out the hyphen.
    pub fn has_udid(&self, udid: &str) -> bool {
        let plain = |udid: &str| udid.replace('-', "").to_ascii_lowercase();
        plain(&self.udid) == plain(udid)
    }
}

/// Where usbmuxd listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MuxSocket {
    File(PathBuf),
    /// A host and a port, for one behind a tunnel.
    Network(String),
}

impl fmt::Display for MuxSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MuxSocket::File(path) => write!(f, "{}", path.display()),
            MuxSocket::Network(address) => f.write_str(address),
        }
    }
}

/// A connection to a port of a device, or to usbmuxd itself.
pub type MuxStream = Box<dyn MuxConnection>;

pub trait MuxConnection: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> MuxConnection for T {}

/// The service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usbmuxd {
    socket: MuxSocket,
}

impl Usbmuxd {
    /// `address` is what USBMUXD_SOCKET_ADDRESS says, if it is set, as for libusbmuxd: `UNIX:/run/usbmuxd`, or `host:port`.
    pub fn of_environment(address: Option<&OsStr>) -> Usbmuxd {
        let address = address.map(OsStr::to_string_lossy).unwrap_or_default();
        let socket = match address.strip_prefix("UNIX:") {
            Some(path) if !path.is_empty() => MuxSocket::File(path.into()),
            None if address
                .rsplit_once(':')
                .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok()) =>
            {
                MuxSocket::Network(address.into_owned())
            }
            _ => MuxSocket::File(SOCKET.into()),
        };
        Usbmuxd { socket }
    }

    /// The value of USBMUXD_SOCKET_ADDRESS that leads to it.
    pub fn variable(&self) -> String {
        match &self.socket {
            MuxSocket::File(path) => format!("UNIX:{}", path.display()),
            MuxSocket::Network(address) => address.clone(),
        }
    }

    /// The devices that are on a cable. Those that are known over the network only are left out.
    pub async fn attached(&self) -> Result<Vec<AttachedDevice>, MuxError> {
        let mut connection = self.open().await?;
        let answer = self.ask(&mut connection, "ListDevices", &[]).await?;
        let devices = answer.array("DeviceList").ok_or_else(|| wrong("a list without devices"))?;
        Ok(devices.iter().filter_map(cabled).collect())
    }

    /// A connection to a port of a device.
    pub async fn connect(&self, udid: &str, port: u16) -> Result<MuxStream, MuxError> {
        let attached = self.attached().await?;
        let Some(device) = attached.iter().find(|device| device.has_udid(udid)) else {
            return Err(MuxError::NotAttached { attached: attached.into_iter().map(|device| device.udid).collect() });
        };
        let mut connection = self.open().await?;
        // The bytes of the port are in the order of the network.
        let port_number = Plist::Integer(port.swap_bytes().into());
        let target = [("DeviceID", Plist::Integer(device.number)), ("PortNumber", port_number)];
        let answer = self.ask(&mut connection, "Connect", &target).await?;
        match answer.integer("Number") {
            Some(DONE) => Ok(connection),
            // It was unplugged in between.
            Some(NO_DEVICE) => Err(MuxError::NotAttached { attached: Vec::new() }),
            Some(NO_PORT) => Err(MuxError::NoPort { port }),
            Some(number) => Err(MuxError::Refused { number }),
            None => Err(wrong("an answer without a number")),
        }
    }

    async fn open(&self) -> Result<MuxStream, MuxError> {
        let connected = match &self.socket {
            MuxSocket::File(path) => UnixStream::connect(path).await.map(|stream| Box::new(stream) as MuxStream),
            MuxSocket::Network(address) => {
                TcpStream::connect(address).await.map(|stream| Box::new(stream) as MuxStream)
            }
        };
        connected.map_err(|error| MuxError::NoService { socket: self.socket.clone(), why: error.to_string() })
    }

    /// The changes from now on. The devices that are on a cable already come first.
    pub async fn listen(&self) -> Result<MuxListener, MuxError> {
        let mut connection = self.open().await?;
        let answer = self.ask(&mut connection, "Listen", &[]).await?;
        match answer.integer("Number") {
            Some(DONE) => Ok(MuxListener { connection, attached: Vec::new() }),
            number => Err(wrong(&format!("the number {number:?} in answer to `Listen`"))),
        }
    }

    async fn ask(&self, connection: &mut MuxStream, kind: &str, more: &[(&str, Plist)]) -> Result<Plist, MuxError> {
        let text = |text: &str| Plist::Text(text.to_string());
        let own = [
            ("MessageType", text(kind)),
            ("ClientVersionString", text("trailblaze")),
            ("ProgName", text("trailblaze")),
            ("kLibUSBMuxVersion", Plist::Integer(3)),
        ];
        let entries = own.iter().chain(more).map(|(key, value)| (key.to_string(), value.clone())).collect();
        let body = Plist::Dict(entries).document();
        let length = u32::try_from(HEADER + body.len()).map_err(|_| wrong("a request that is too long"))?;
        let header = [length, VERSION, MESSAGE, 1].map(u32::to_le_bytes).concat();
        connection.write_all(&[header, body.into_bytes()].concat()).await.map_err(closed)?;
        receive(connection).await
    }
}

/// The devices that are on a cable, as they come and go.
pub struct MuxListener {
    connection: MuxStream,
    attached: Vec<AttachedDevice>,
}

impl MuxListener {
    /// The devices after the next change.
    pub async fn next(&mut self) -> Result<&[AttachedDevice], MuxError> {
        let message = receive(&mut self.connection).await?;
        match message.text("MessageType") {
            Some("Attached") => self.attached.extend(cabled(&message)),
            Some("Detached") => {
                let gone = message.integer("DeviceID");
                self.attached.retain(|device| Some(device.number) != gone);
            }
            // Whether a device trusts this computer is no change of the list.
            _ => {}
        }
        Ok(&self.attached)
    }
}

/// The device that a message describes, unless it is known over the network only.
fn cabled(device: &Plist) -> Option<AttachedDevice> {
    let properties = device.get("Properties")?;
    let is_cabled = properties.text("ConnectionType").is_none_or(|kind| kind == "USB");
    let udid = properties.text("SerialNumber").filter(|serial| is_serial(serial))?;
    is_cabled.then_some(AttachedDevice { number: device.integer("DeviceID")?, udid: udid.to_string() })
}

fn closed(error: io::Error) -> MuxError {
    wrong(&format!("the end of the connection: {error}"))
}

/// The next message.
async fn receive(connection: &mut MuxStream) -> Result<Plist, MuxError> {
    let mut header = [0; HEADER];
    connection.read_exact(&mut header).await.map_err(closed)?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    let body = (length.min(LARGEST) as usize).checked_sub(HEADER).filter(|_| length <= LARGEST);
    let mut message = vec![0; body.ok_or_else(|| wrong(&format!("a message of {length} bytes")))?];
    connection.read_exact(&mut message).await.map_err(closed)?;
    Plist::read(&String::from_utf8_lossy(&message)).ok_or_else(|| wrong("no property list"))
}

fn wrong(what: &str) -> MuxError {
    MuxError::Protocol { what: what.to_string() }
}

/// A serial becomes part of names and messages.
fn is_serial(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Whether a text is the UDID of an iPhone or an iPad; those of simulators have another form.
pub fn is_udid(name: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.split_once('-') {
        Some((chip, unit)) => chip.len() == 8 && unit.len() == 16 && is_hex(chip) && is_hex(unit),
        None => name.len() == 40 && is_hex(name),
    }
}
