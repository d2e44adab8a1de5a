//! What a command of the shell and the phone's process say to each other: one request as a line of JSON, then frames.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::control::Control;

/// The socket that commands use unless [`SOCKET_VARIABLE`] names another.
pub const SOCKET: &str = "/dev/socket/stand-in";
pub const SOCKET_VARIABLE: &str = "ANDROID_STAND_IN_SOCKET";

#[derive(Debug, Serialize, Deserialize)]
pub enum StandInRequest {
    /// A command of the shell. As many bytes of its standard input follow the line.
    Command { name: String, arguments: Vec<String>, input: usize },
    /// What a test does to the phone.
    Control(Control),
}

/// A part of the answer. `Exit` is the last one; without it, the connection broke.
#[derive(Debug, PartialEq)]
pub enum ShellFrame {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    /// A file that the command writes. It says nothing if that fails, as `uiautomator` does.
    QuietFile(String, Vec<u8>),
    /// A picture that the command writes. It says so if the file cannot be opened, and exits with 1, or written.
    File(String, Vec<u8>),
    /// The command goes on until it is interrupted or this many milliseconds are over; then it writes the file.
    FileAtTheEnd(String, u64),
    Exit(u8),
}

impl ShellFrame {
    fn encode(&self) -> Vec<u8> {
        let (kind, payload) = match self {
            ShellFrame::Stdout(bytes) => (1, bytes.clone()),
            ShellFrame::Stderr(bytes) => (2, bytes.clone()),
            ShellFrame::Exit(code) => (3, vec![*code]),
            ShellFrame::QuietFile(path, bytes) => (4, named(path, bytes)),
            ShellFrame::File(path, bytes) => (5, named(path, bytes)),
            ShellFrame::FileAtTheEnd(path, millis) => (6, named(path, &millis.to_be_bytes())),
        };
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let mut frame = vec![kind];
        frame.extend(length.to_be_bytes());
        frame.extend(payload);
        frame
    }

    pub async fn send(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        to.write_all(&self.encode()).await
    }

    /// The next frame; `None` at the end of the stream.
    pub fn read(from: &mut impl Read) -> io::Result<Option<ShellFrame>> {
        let mut head = [0; 5];
        match from.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        let [kind, length @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes(length) as usize];
        from.read_exact(&mut payload)?;
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "a frame that is not known");
        Ok(Some(match kind {
            1 => ShellFrame::Stdout(payload),
            2 => ShellFrame::Stderr(payload),
            3 => ShellFrame::Exit(payload.first().copied().unwrap_or_default()),
            4..=6 => {
                let end = payload.iter().position(|byte| *byte == 0).ok_or_else(wrong)?;
                let path = String::from_utf8_lossy(&payload[..end]).into_owned();
                let content = payload[end + 1..].to_vec();
                match kind {
                    4 => ShellFrame::QuietFile(path, content),
                    5 => ShellFrame::File(path, content),
                    _ => ShellFrame::FileAtTheEnd(path, u64::from_be_bytes(content.try_into().map_err(|_| wrong())?)),
                }
            }
            _ => return Err(wrong()),
        }))
    }
}

fn named(path: &str, bytes: &[u8]) -> Vec<u8> {
    [path.as_bytes(), &[0], bytes].concat()
}

/// Sends a request, with what follows it.
pub fn send_request(to: &mut impl Write, request: &StandInRequest, input: &[u8]) -> io::Result<()> {
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    line.extend(input);
    to.write_all(&line)
}
