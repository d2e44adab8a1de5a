//! A stand-in for usbmuxd: iPhones that can be plugged in and pulled out, whose ports lead to this machine.
//!
//! It speaks the version of the protocol that has property lists, as libusbmuxd does, over a Unix socket.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use trailblaze_drivers::ios::Plist;

const HEADER: usize = 16;
const LARGEST: usize = 1 << 20;
/// The version of the protocol, and the kind of message that is a property list.
const VERSION: u32 = 1;
const MESSAGE: u32 = 8;
/// The answers: done, a command that it does not know, no such device, nobody at this port.
const DONE: i64 = 0;
const BAD_COMMAND: i64 = 1;
const NO_DEVICE: i64 = 2;
const NO_PORT: i64 = 3;

/// A stand-in for usbmuxd that answers until it is dropped.
pub struct StandInUsbmuxd {
    socket: PathBuf,
    shared: Arc<Cables>,
    ended: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

/// An iPhone on a cable: the ports of this machine that its own ports lead to.
#[derive(Debug, Clone)]
struct CabledPhone {
    udid: String,
    ports: BTreeMap<u16, u16>,
    /// Ends its connections when it is pulled out.
    pulled: CancellationToken,
}

struct Cables {
    /// By the number that it gives to each.
    phones: watch::Sender<BTreeMap<i64, CabledPhone>>,
    n_numbers: Mutex<i64>,
}

impl StandInUsbmuxd {
    /// Starts it with a socket of this name.
    pub fn start(socket: &Path) -> io::Result<StandInUsbmuxd> {
        let shared = Arc::new(Cables { phones: watch::Sender::new(BTreeMap::new()), n_numbers: Mutex::new(0) });
        let ended = CancellationToken::new();
        let (until, cables, path) = (ended.clone(), Arc::clone(&shared), socket.to_path_buf());
        let (ready, is_ready) = mpsc::channel();
        // Of its own, so that those who have a runtime can start one as well.
        let thread = std::thread::spawn(move || {
            let serving = async {
                let listener = UnixListener::bind(&path)?;
                let _ = ready.send(Ok(()));
                until.run_until_cancelled(serve(listener, cables)).await;
                Ok::<(), io::Error>(())
            };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Err(error) = runtime.and_then(|runtime| runtime.block_on(serving)) {
                let _ = ready.send(Err(error));
            }
            let _ = std::fs::remove_file(&path);
        });
        is_ready.recv().unwrap_or_else(|_| Err(io::Error::other("its thread ended")))?;
        Ok(StandInUsbmuxd { socket: socket.to_path_buf(), shared, ended, thread: Some(thread) })
    }

    /// The value of `USBMUXD_SOCKET_ADDRESS` with which programs use it.
    pub fn variable(&self) -> String {
        format!("UNIX:{}", self.socket.display())
    }

    /// Plugs an iPhone in. Each pair is a port of it, and the port of this machine that answers there.
    pub fn attach(&self, udid: &str, ports: &[(u16, u16)]) {
        let number = {
            let mut last = self.shared.n_numbers.lock();
            *last += 1;
            *last
        };
        let pulled = CancellationToken::new();
        let phone = CabledPhone { udid: udid.to_string(), ports: ports.iter().copied().collect(), pulled };
        self.shared.phones.send_modify(|phones| drop(phones.insert(number, phone)));
    }

    /// Pulls it out: its connections end.
    pub fn detach(&self, udid: &str) {
        self.shared.phones.send_modify(|phones| {
            phones.retain(|_, phone| {
                let stays = phone.udid != udid;
                if !stays {
                    phone.pulled.cancel();
                }
                stays
            });
        });
    }
}

impl Drop for StandInUsbmuxd {
    fn drop(&mut self) {
        self.ended.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(listener: UnixListener, cables: Arc<Cables>) {
    while let Ok((connection, _)) = listener.accept().await {
        let cables = Arc::clone(&cables);
        // Detached: ends when its connection does. A client that left no longer reads.
        tokio::spawn(async move { drop(cables.converse(connection).await) });
    }
}

impl Cables {
    async fn converse(&self, mut connection: UnixStream) -> io::Result<()> {
        while let Some((tag, request)) = next_message(&mut connection).await? {
            match request.text("MessageType").unwrap_or_default() {
                "ListDevices" => {
                    let list = self.phones.borrow().iter().map(|(number, phone)| attached(*number, phone)).collect();
                    send(&mut connection, tag, &dict([("DeviceList", Plist::Array(list))])).await?;
                }
                "Listen" => {
                    result(&mut connection, tag, DONE).await?;
                    return self.report(&mut connection).await;
                }
                "Connect" => match self.connect(&request).await {
                    Ok((mut port, pulled)) => {
                        result(&mut connection, tag, DONE).await?;
                        pulled.run_until_cancelled(copy_bidirectional(&mut connection, &mut port)).await;
                        return Ok(());
                    }
                    Err(number) => result(&mut connection, tag, number).await?,
                },
                "ReadBUID" => {
                    let id = Plist::Text("00000000-0000-0000-0000-000000000000".to_string());
                    send(&mut connection, tag, &dict([("BUID", id)])).await?;
                }
                _ => result(&mut connection, tag, BAD_COMMAND).await?,
            }
        }
        Ok(())
    }

    async fn connect(&self, request: &Plist) -> Result<(TcpStream, CancellationToken), i64> {
        let phone = self.phones.borrow().get(&request.integer("DeviceID").unwrap_or_default()).cloned();
        let phone = phone.ok_or(NO_DEVICE)?;
        // The bytes of the port are in the order of the network.
        let port = request.integer("PortNumber").and_then(|port| u16::try_from(port).ok()).map(u16::swap_bytes);
        let own = port.and_then(|port| phone.ports.get(&port)).copied().ok_or(NO_PORT)?;
        let stream = TcpStream::connect(("127.0.0.1", own)).await.map_err(|_| NO_PORT)?;
        Ok((stream, phone.pulled))
    }

    /// Says what is plugged in and pulled out, until the client leaves.
    async fn report(&self, connection: &mut UnixStream) -> io::Result<()> {
        let mut phones = self.phones.subscribe();
        let mut known: BTreeMap<i64, CabledPhone> = BTreeMap::new();
        loop {
            let now = phones.borrow_and_update().clone();
            for (number, phone) in now.iter().filter(|(number, _)| !known.contains_key(number)) {
                send(connection, 0, &attached(*number, phone)).await?;
            }
            for number in known.keys().filter(|number| !now.contains_key(number)) {
                let text = Plist::Text("Detached".to_string());
                send(connection, 0, &dict([("MessageType", text), ("DeviceID", Plist::Integer(*number))])).await?;
            }
            known = now;
            tokio::select! {
                changed = phones.changed() => if changed.is_err() { return Ok(()) },
                readable = connection.readable() => {
                    readable?;
                    if connection.try_read(&mut [0; 1]).is_ok_and(|read| read == 0) {
                        return Ok(());
                    }
                }
            }
        }
    }
}

fn dict<const N: usize>(entries: [(&str, Plist); N]) -> Plist {
    Plist::Dict(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

fn attached(number: i64, phone: &CabledPhone) -> Plist {
    let text = |text: &str| Plist::Text(text.to_string());
    let properties = dict([
        ("ConnectionSpeed", Plist::Integer(480_000_000)),
        ("ConnectionType", text("USB")),
        ("DeviceID", Plist::Integer(number)),
        ("LocationID", Plist::Integer(0)),
        ("ProductID", Plist::Integer(4776)),
        ("SerialNumber", text(&phone.udid)),
    ]);
    dict([("MessageType", text("Attached")), ("DeviceID", Plist::Integer(number)), ("Properties", properties)])
}

async fn result(connection: &mut UnixStream, tag: u32, number: i64) -> io::Result<()> {
    let kind = Plist::Text("Result".to_string());
    send(connection, tag, &dict([("MessageType", kind), ("Number", Plist::Integer(number))])).await
}

async fn send(connection: &mut UnixStream, tag: u32, message: &Plist) -> io::Result<()> {
    let body = message.document();
    let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
    let header = [length, VERSION, MESSAGE, tag].map(u32::to_le_bytes).concat();
    connection.write_all(&[header, body.into_bytes()].concat()).await
}

/// The next message with the number that its answer must have; `None` if there are no more.
async fn next_message(connection: &mut UnixStream) -> io::Result<Option<(u32, Plist)>> {
    let mut header = [0; HEADER];
    match connection.read_exact(&mut header).await {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    };
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let (length, kind, tag) = (word(0) as usize, word(8), word(12));
    let wrong = || io::Error::from(io::ErrorKind::InvalidData);
    let length = length.checked_sub(HEADER).filter(|length| *length <= LARGEST && kind == MESSAGE).ok_or_else(wrong)?;
    let mut body = vec![0; length];
    connection.read_exact(&mut body).await?;
    let message = Plist::read(&String::from_utf8_lossy(&body)).ok_or_else(wrong)?;
    Ok(Some((tag, message)))
}
