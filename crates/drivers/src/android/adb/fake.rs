//! An adb server for tests, with one scripted device behind it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use trailblaze_core::driver::Budget;

use super::{AdbAddress, AdbClient, AdbDevice, AdbServer};

/// The serial of the device.
pub const SERIAL: &str = "emulator-5554";
/// How the server lists the device if it is ready.
pub const READY: &str = "emulator-5554 device product:sdk model:Pixel_7 device:emu transport_id:1\n";

/// What a service of the server or the device does.
pub enum AdbReply {
    /// These bytes, and then the end of the connection.
    Bytes(Vec<u8>),
    /// Nothing, until the client closes.
    Silence,
    /// The files of the device.
    Files,
    /// These bytes, and then nothing until the client closes.
    Open(Vec<u8>),
    /// The server for phones: what it answers to a request of a kind, with a status; nothing if it ends instead.
    PhoneServer(PhoneServer),
    /// A shell that answers each line with `ok`, and notes its lines when its input ends.
    Lines,
}

pub type PhoneServer = Arc<dyn Fn(u8, &[u8]) -> Option<(u8, Vec<u8>)> + Send + Sync>;

impl AdbReply {
    pub fn shell(stdout: &str, stderr: &str, exit_code: u8) -> AdbReply {
        AdbReply::Bytes(
            [b"OKAY".to_vec(), packet(1, stdout.as_bytes()), packet(2, stderr.as_bytes()), packet(3, &[exit_code])]
                .concat(),
        )
    }

    /// A command that printed this, and runs on.
    pub fn open_shell(stdout: &str) -> AdbReply {
        AdbReply::Open([b"OKAY".to_vec(), packet(1, stdout.as_bytes())].concat())
    }

    pub fn printed(bytes: &[u8]) -> AdbReply {
        AdbReply::Bytes([b"OKAY", bytes].concat())
    }

    pub fn failure(reason: &str) -> AdbReply {
        AdbReply::Bytes([b"FAIL".to_vec(), block(reason)].concat())
    }

    pub fn answer(text: &str) -> AdbReply {
        AdbReply::Bytes([b"OKAY".to_vec(), block(text)].concat())
    }
}

pub fn packet(kind: u8, bytes: &[u8]) -> Vec<u8> {
    [&[kind], u32::try_from(bytes.len()).expect("a small packet").to_le_bytes().as_slice(), bytes].concat()
}

pub fn block(text: &str) -> Vec<u8> {
    format!("{:04x}{text}", text.len()).into_bytes()
}

pub fn budget() -> Budget {
    Budget::new(Instant::now() + std::time::Duration::from_secs(60), CancellationToken::new())
}

type Services = dyn Fn(&str) -> Option<AdbReply> + Send + Sync;

/// The server. It ends with the test.
pub struct FakeAdb {
    pub address: AdbAddress,
    /// The list of devices. A change is sent to those who follow it.
    pub devices: watch::Sender<String>,
    shared: Arc<Shared>,
}

struct Shared {
    services: Box<Services>,
    requests: Mutex<Vec<String>>,
    files: Mutex<HashMap<String, Vec<u8>>>,
    noted: watch::Sender<Vec<String>>,
}

impl FakeAdb {
    /// `services` decides about the requests that are no others' matter: those to the device, and what the server cannot answer.
    pub async fn start(services: impl Fn(&str) -> Option<AdbReply> + Send + Sync + 'static) -> FakeAdb {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (devices, followed) = watch::channel(READY.to_string());
        let shared = Arc::new(Shared {
            services: Box::new(services),
            requests: Mutex::default(),
            files: Mutex::default(),
            noted: watch::Sender::default(),
        });
        let server = Arc::clone(&shared);
        // Detached: ends with the runtime of its test.
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (server, followed) = (Arc::clone(&server), followed.clone());
                // Detached: ends when its connection does.
                tokio::spawn(async move { server.serve(stream, followed).await });
            }
        });
        FakeAdb { address: AdbAddress { port, ..AdbAddress::default() }, devices, shared }
    }

    pub fn client(&self) -> AdbClient {
        AdbClient::new(AdbServer::at(self.address.clone()))
    }

    pub fn device(&self) -> AdbDevice {
        self.client().device(SERIAL)
    }

    /// The requests to the device so far, in their order.
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().clone()
    }

    /// The commands that were run in its shell.
    pub fn commands(&self) -> Vec<String> {
        let command = |request: String| request.split_once(':').map(|(_, command)| command.to_string());
        self.requests().into_iter().filter_map(command).collect()
    }

    /// The content of a file of the device, by the start of its path.
    pub fn file(&self, start: &str) -> Option<Vec<u8>> {
        let files = self.shared.files.lock();
        files.iter().find(|(path, _)| path.starts_with(start)).map(|(_, content)| content.clone())
    }

    /// Waits for the lines that a shell had received when its input ended.
    pub async fn noted(&self) -> Vec<String> {
        let mut noted = self.shared.noted.subscribe();
        noted.wait_for(|lines| !lines.is_empty()).await.expect("the server runs").clone()
    }
}

impl Shared {
    async fn serve(&self, mut stream: TcpStream, mut devices: watch::Receiver<String>) -> Option<()> {
        let mut is_device = false;
        loop {
            let service = request(&mut stream).await?;
            if is_device {
                self.requests.lock().push(service.clone());
            }
            if let Some(reply) = (self.services)(&service) {
                return self.reply(stream, reply).await;
            }
            let list = devices.borrow_and_update().clone();
            let serial = service.strip_prefix("host:transport:");
            match (service.as_str(), serial) {
                ("host:version", _) => stream.write_all(b"OKAY00040029").await.ok()?,
                ("host:devices-l", _) => {
                    stream.write_all(&[b"OKAY".to_vec(), block(&list)].concat()).await.ok()?;
                }
                ("host:track-devices-l", _) => return follow(stream, devices).await,
                (_, Some(serial)) if list.contains(&format!("{serial} device")) => {
                    is_device = true;
                    stream.write_all(b"OKAY").await.ok()?;
                }
                _ => {
                    stream.write_all(&[b"FAIL".to_vec(), block("it is not there")].concat()).await.ok()?;
                    return None;
                }
            }
        }
    }

    async fn reply(&self, mut stream: TcpStream, reply: AdbReply) -> Option<()> {
        match reply {
            AdbReply::Bytes(bytes) => stream.write_all(&bytes).await.ok()?,
            AdbReply::Open(bytes) => {
                stream.write_all(&bytes).await.ok()?;
                while stream.read_u8().await.is_ok() {}
            }
            AdbReply::PhoneServer(server) => serve_phone(stream, &server).await?,
            AdbReply::Silence => while stream.read_u8().await.is_ok() {},
            AdbReply::Files => self.serve_files(stream).await?,
            AdbReply::Lines => self.note_lines(stream).await?,
        }
        Some(())
    }

    async fn serve_files(&self, mut stream: TcpStream) -> Option<()> {
        stream.write_all(b"OKAY").await.ok()?;
        let (kind, path) = message(&mut stream).await?;
        let path = String::from_utf8(path).ok()?;
        let answer = match &kind {
            b"STAT" => {
                let file = self.files.lock().get(&path).map(Vec::len);
                let numbers = file.map_or([0; 3], |size| [0o100_644, u32::try_from(size).unwrap_or(0), 7]);
                [b"STAT".to_vec(), numbers.iter().flat_map(|number| number.to_le_bytes()).collect()].concat()
            }
            b"RECV" => match self.files.lock().get(&path) {
                Some(content) => [sync_message(b"DATA", content), sync_message(b"DONE", b"")].concat(),
                None => sync_message(b"FAIL", b"No such file or directory"),
            },
            _ => {
                let mut content = Vec::new();
                loop {
                    let mut header = [0; 8];
                    stream.read_exact(&mut header).await.ok()?;
                    if &header[..4] == b"DONE" {
                        break;
                    }
                    let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
                    let mut part = vec![0; usize::try_from(length).ok()?];
                    stream.read_exact(&mut part).await.ok()?;
                    content.extend(part);
                }
                self.files.lock().insert(path.rsplit_once(',')?.0.to_string(), content);
                sync_message(b"OKAY", b"")
            }
        };
        stream.write_all(&answer).await.ok()
    }

    async fn note_lines(&self, mut stream: TcpStream) -> Option<()> {
        stream.write_all(b"OKAY").await.ok()?;
        let mut lines = Vec::new();
        let is_orderly = loop {
            let mut header = [0; 5];
            if stream.read_exact(&mut header).await.is_err() {
                break false;
            }
            let length = u32::from_le_bytes([header[1], header[2], header[3], header[4]]);
            let mut text = vec![0; usize::try_from(length).ok()?];
            stream.read_exact(&mut text).await.ok()?;
            if header[0] == 4 {
                break true;
            }
            let line = String::from_utf8(text).ok()?.trim_end().to_string();
            match line.strip_prefix('!') {
                Some(command) => self.requests.lock().push(format!("shell:{command}")),
                // Tells it to begin.
                None if line == "now" => {}
                None => lines.push(line),
            }
            stream.write_all(&packet(1, b"ok\n")).await.ok()?;
        };
        self.noted.send_replace(lines);
        if is_orderly {
            stream.write_all(&packet(3, &[0])).await.ok()?;
        }
        Some(())
    }
}

async fn serve_phone(mut stream: TcpStream, server: &PhoneServer) -> Option<()> {
    stream.write_all(b"OKAY").await.ok()?;
    loop {
        let length = stream.read_u32().await.ok()?;
        let mut request = vec![0; usize::try_from(length).ok()?];
        stream.read_exact(&mut request).await.ok()?;
        let (status, content) = server(request[0], &request[1..])?;
        let length = u32::try_from(content.len() + 1).ok()?;
        stream.write_all(&[length.to_be_bytes().as_slice(), &[status], &content].concat()).await.ok()?;
    }
}

async fn follow(mut stream: TcpStream, mut devices: watch::Receiver<String>) -> Option<()> {
    stream.write_all(b"OKAY").await.ok()?;
    loop {
        let list = devices.borrow_and_update().clone();
        stream.write_all(&block(&list)).await.ok()?;
        devices.changed().await.ok()?;
    }
}

async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut digits = [0; 4];
    stream.read_exact(&mut digits).await.ok()?;
    let length = usize::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
    let mut service = vec![0; length];
    stream.read_exact(&mut service).await.ok()?;
    String::from_utf8(service).ok()
}

async fn message(stream: &mut TcpStream) -> Option<([u8; 4], Vec<u8>)> {
    let mut header = [0; 8];
    stream.read_exact(&mut header).await.ok()?;
    let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    stream.read_exact(&mut bytes).await.ok()?;
    Some(([header[0], header[1], header[2], header[3]], bytes))
}

fn sync_message(kind: &[u8; 4], bytes: &[u8]) -> Vec<u8> {
    [kind.as_slice(), &u32::try_from(bytes.len()).expect("a small file").to_le_bytes(), bytes].concat()
}
