//! A connection to a bus. Calls do not wait for each other: a tree of hundreds of elements is asked for at once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::message::{DBusArguments, DBusMessage, MessageKind, next_length};
use super::value::DBusValue;

/// How long a bus may take to accept us.
const GREETING: Duration = Duration::from_secs(10);
/// The most calls that wait for their answers. A bus refuses more than it is set up for, which is 50,000 for accessibility.
const MOST_WAITING: usize = 10_000;
/// The most bytes of calls that are sent at once.
const BATCH: usize = 64 << 10;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DBusError {
    #[error("the D-Bus connection is gone: {0}")]
    Gone(String),
    #[error("no bus can be reached at `{address}`: {why}")]
    Unreachable { address: String, why: String },
    #[error("`{what}` was not answered within {} ms", limit.as_millis())]
    Silent { what: String, limit: Duration },
    #[error("`{what}` was refused: {name}{}", if text.is_empty() { String::new() } else { format!(" ({text})") })]
    Refused { what: String, name: String, text: String },
}

/// A method call.
#[derive(Debug, Clone, Copy)]
pub struct DBusCall<'a> {
    pub destination: &'a str,
    pub path: &'a str,
    pub interface: &'a str,
    pub member: &'a str,
}

/// A connection to a bus, or to a program itself.
pub struct DBusConnection {
    shared: Arc<Shared>,
    out: mpsc::UnboundedSender<Vec<u8>>,
    places: Semaphore,
    _tasks: [AbortOnDropHandle<()>; 2],
}

#[derive(Default)]
struct Shared {
    serial: AtomicU32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: HashMap<u32, oneshot::Sender<DBusMessage>>,
    /// The last answer of each program: when it came, and which call it was for.
    heard: HashMap<String, (Instant, u32)>,
    /// Why the connection ended, if it has.
    gone: Option<String>,
}

impl DBusConnection {
    /// Connects to an address such as `unix:path=/run/user/1000/bus`, and says hello.
    pub async fn open(address: &str) -> Result<DBusConnection, DBusError> {
        let unreachable = |why: String| DBusError::Unreachable { address: address.to_string(), why };
        let greeting = async {
            let mut why = "the address names no socket of this machine".to_string();
            for place in address.split(';').filter_map(socket_of) {
                match connect(&place).await {
                    Ok(stream) => return Ok(stream),
                    Err(error) => why = error.to_string(),
                }
            }
            Err(why)
        };
        let greeted = tokio::time::timeout(GREETING, greeting).await;
        let (from, to) = greeted.map_err(|_| unreachable("it does not answer".to_string()))?.map_err(unreachable)?;
        let shared = Arc::new(Shared::default());
        // At most one message for each call that waits, and each of these has a deadline.
        let (out, orders) = mpsc::unbounded_channel();
        let reading = tokio::spawn(read_all(from, Arc::clone(&shared)));
        let writing = tokio::spawn(write_all(to, orders, Arc::clone(&shared)));
        let tasks = [AbortOnDropHandle::new(reading), AbortOnDropHandle::new(writing)];
        let places = Semaphore::new(MOST_WAITING);
        let connection = DBusConnection { shared, out, places, _tasks: tasks };
        connection.call_bus("Hello", &DBusArguments::new(), GREETING).await?;
        Ok(connection)
    }

    /// Why the connection ended, if it has.
    pub fn gone(&self) -> Option<String> {
        self.shared.state.lock().gone.clone()
    }

    /// Calls the bus itself.
    pub async fn call_bus(
        &self,
        member: &str,
        arguments: &DBusArguments,
        limit: Duration,
    ) -> Result<Vec<DBusValue>, DBusError> {
        const BUS: &str = "org.freedesktop.DBus";
        let call = DBusCall { destination: BUS, path: "/org/freedesktop/DBus", interface: BUS, member };
        self.call(call, arguments, limit).await
    }

    /// Calls a method and returns what it returns. The limit is for one answer: a program answers in the order in which it was asked, so
    /// that one that still answers earlier calls is given more time.
    pub async fn call(
        &self,
        call: DBusCall<'_>,
        arguments: &DBusArguments,
        limit: Duration,
    ) -> Result<Vec<DBusValue>, DBusError> {
        let gone = || DBusError::Gone(self.gone().unwrap_or_else(|| "it was closed".to_string()));
        let _place = self.places.acquire().await.map_err(|_| gone())?;
        // Zero is not a serial number.
        let serial = self.shared.serial.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
        let (answer, mut answered) = oneshot::channel();
        {
            let mut state = self.shared.state.lock();
            if state.gone.is_some() {
                drop(state);
                return Err(gone());
            }
            state.waiting.insert(serial, answer);
        }
        let _waiting = Waiting { shared: &self.shared, serial };
        let bytes = arguments.call(serial, call.destination, call.path, call.interface, call.member);
        self.out.send(bytes).map_err(|_| gone())?;
        let mut until = Instant::now() + limit;
        let answered = loop {
            match tokio::time::timeout_at(until, &mut answered).await {
                Err(_) => match self.shared.heard_before(call.destination, serial).map(|heard| heard + limit) {
                    Some(later) if later > until => until = later,
                    _ => break Err(()),
                },
                Ok(answered) => break Ok(answered),
            }
        };
        match answered {
            Ok(Ok(message)) if message.kind == MessageKind::Return => Ok(message.body),
            Ok(Ok(message)) => {
                let text = message.body.first().and_then(DBusValue::text).unwrap_or_default().to_string();
                let name = message.error.unwrap_or_default();
                Err(DBusError::Refused { what: call.member.to_string(), name, text })
            }
            Ok(Err(_)) => Err(gone()),
            Err(()) => Err(DBusError::Silent { what: call.member.to_string(), limit }),
        }
    }
}

impl Shared {
    /// When a program last answered a call that was sent before this one, if that is its last answer.
    fn heard_before(&self, program: &str, serial: u32) -> Option<Instant> {
        let heard = self.state.lock().heard.get(program).copied();
        heard.filter(|(_, answered)| *answered < serial).map(|(at, _)| at)
    }
}

/// Forgets a call that nobody waits for any more.
struct Waiting<'a> {
    shared: &'a Shared,
    serial: u32,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.state.lock().waiting.remove(&self.serial);
    }
}

enum Socket {
    Path(PathBuf),
    Abstract(String),
}

/// The socket of one address.
fn socket_of(address: &str) -> Option<Socket> {
    let (transport, keys) = address.trim().split_once(':')?;
    let value = |name: &str| {
        let found = keys.split(',').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)?.1;
        Some(unescape(found))
    };
    if transport != "unix" {
        return None;
    }
    value("path").map(|path| Socket::Path(path.into())).or_else(|| value("abstract").map(Socket::Abstract))
}

/// Bytes of an address may be written as `%2d`.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn connect(socket: &Socket) -> std::io::Result<(BufReader<OwnedReadHalf>, OwnedWriteHalf)> {
    let stream = match socket {
        Socket::Path(path) => UnixStream::connect(path).await?,
        Socket::Abstract(name) => connect_abstract(name)?,
    };
    let (from, mut to) = stream.into_split();
    let mut from = BufReader::with_capacity(BATCH, from);
    // Our user id is taken from the socket.
    to.write_all(b"\0AUTH EXTERNAL\r\nDATA\r\n").await?;
    let mut line = String::new();
    loop {
        line.clear();
        if (&mut from).take(4096).read_line(&mut line).await? == 0 {
            return Err(std::io::Error::other("it closed the connection"));
        }
        match line.split_whitespace().next() {
            Some("OK") => break,
            Some("DATA") => {}
            _ => return Err(std::io::Error::other(format!("it refused us: {}", line.trim()))),
        }
    }
    to.write_all(b"BEGIN\r\n").await?;
    Ok((from, to))
}

#[cfg(target_os = "linux")]
fn connect_abstract(name: &str) -> std::io::Result<UnixStream> {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    let stream = std::os::unix::net::UnixStream::connect_addr(&address)?;
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

#[cfg(not(target_os = "linux"))]
fn connect_abstract(_: &str) -> std::io::Result<UnixStream> {
    Err(std::io::Error::other("only Linux has abstract sockets"))
}

/// Gives each answer to the call that waits for it, until the connection ends.
async fn read_all(mut from: BufReader<OwnedReadHalf>, shared: Arc<Shared>) {
    let mut bytes = Vec::new();
    let why = 'reading: loop {
        let mut start = 0;
        loop {
            match next_length(&bytes[start..]) {
                Ok(Some(length)) if bytes.len() - start >= length => {
                    answer(&shared, &bytes[start..start + length]);
                    start += length;
                }
                Ok(_) => break,
                Err(malformed) => break 'reading format!("a message cannot be read: {malformed}"),
            }
        }
        bytes.drain(..start);
        match from.fill_buf().await {
            Ok([]) => break "it was closed".to_string(),
            Ok(more) => {
                bytes.extend_from_slice(more);
                let n = more.len();
                from.consume(n);
            }
            Err(error) => break error.to_string(),
        }
    };
    end(&shared, why);
}

fn answer(shared: &Shared, message: &[u8]) {
    let message = match DBusMessage::read(message) {
        Ok(message) => message,
        Err(malformed) => {
            tracing::debug!(target: "trailblaze::desktop", %malformed, "a D-Bus message was dropped");
            return;
        }
    };
    let Some(serial) = message.reply_to else { return };
    let waiting = {
        let mut state = shared.state.lock();
        if let Some(sender) = &message.sender {
            let heard = (Instant::now(), serial);
            match state.heard.get_mut(sender) {
                Some(known) => *known = heard,
                None => drop(state.heard.insert(sender.clone(), heard)),
            }
        }
        state.waiting.remove(&serial)
    };
    if let Some(waiting) = waiting {
        // The caller may have given up.
        let _ = waiting.send(message);
    }
}

async fn write_all(mut to: OwnedWriteHalf, mut orders: mpsc::UnboundedReceiver<Vec<u8>>, shared: Arc<Shared>) {
    while let Some(mut bytes) = orders.recv().await {
        while bytes.len() < BATCH
            && let Ok(more) = orders.try_recv()
        {
            bytes.extend(more);
        }
        if let Err(error) = to.write_all(&bytes).await {
            return end(&shared, error.to_string());
        }
    }
}

/// Nobody will be answered any more.
fn end(shared: &Shared, why: String) {
    let mut state = shared.state.lock();
    state.gone.get_or_insert(why);
    state.waiting.clear();
}
