//! The protocol between us and a guardian: one byte that carries the open files, then JSON, one message per line.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::child::ProcessExit;
use crate::launch::{EndingSignal, Grace};

/// The argument that starts this program as a guardian.
pub(crate) const GUARDIAN: &str = "__guardian";

/// The most files that a child can be given, including its three standard streams.
pub(crate) const MOST_FILES: usize = 16;
const ROOM: usize = rustix::cmsg_space!(ScmRights(MOST_FILES));

/// Messages to the guardian.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GuardianRequest {
    Start(StartRequest),
    Stop(Grace),
    Folder(OsString),
}

/// Uses OS strings, because a path need not be UTF-8.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StartRequest {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub dir: OsString,
    pub set_env: Vec<(OsString, OsString)>,
    pub drop_env: Vec<OsString>,
    pub folders: Vec<OsString>,
    /// The descriptors, in the child, of the files that follow the three standard streams.
    pub numbers: Vec<i32>,
    pub grace: Grace,
    pub ending: EndingSignal,
}

/// Messages from the guardian.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    Started {
        pid: u32,
    },
    Failed {
        code: Option<i32>,
        text: String,
    },
    Exited(ProcessExit),
    /// The final report. `folders` is the number of `Folder` requests that were received in time.
    Done {
        leaked: usize,
        folders: usize,
    },
}

/// Passes open files through a socket. They are sent first, so the socket buffer has room.
pub(crate) fn send_files(socket: impl AsFd, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut room = [MaybeUninit::uninit(); ROOM];
    let mut ancillary = SendAncillaryBuffer::new(&mut room);
    if !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many open files for one child"));
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(b".")], &mut ancillary, SendFlags::empty())?;
    Ok(())
}

pub(crate) fn receive_files(socket: impl AsFd) -> io::Result<Vec<OwnedFd>> {
    let mut room = [MaybeUninit::uninit(); ROOM];
    let mut ancillary = RecvAncillaryBuffer::new(&mut room);
    let mut byte = [0];
    // Where files cannot be received with close-on-exec set, nothing else is started at this point.
    #[cfg(target_os = "linux")]
    let flags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = RecvFlags::empty();
    rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, flags)?;
    let mut files = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            files.extend(received);
        }
    }
    #[cfg(not(target_os = "linux"))]
    for file in &files {
        rustix::io::fcntl_setfd(file, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok(files)
}

/// The reading half of the socket.
pub(crate) struct WireReader(Lines<BufReader<OwnedReadHalf>>);

/// The writing half. Dropping it ends the other side's reader.
pub(crate) struct WireWriter(OwnedWriteHalf);

pub(crate) fn split(socket: std::os::unix::net::UnixStream) -> io::Result<(WireReader, WireWriter)> {
    socket.set_nonblocking(true)?;
    let (reader, writer) = UnixStream::from_std(socket)?.into_split();
    Ok((WireReader(BufReader::new(reader).lines()), WireWriter(writer)))
}

impl WireReader {
    /// Returns the next message, or `None` if the other side is gone or sent something invalid. Cancel safe.
    pub async fn read<T: DeserializeOwned>(&mut self) -> Option<T> {
        let line = self.0.next_line().await.ok()??;
        serde_json::from_str(&line).ok()
    }
}

impl WireWriter {
    /// An error means that the other side is gone, which the reader notices as well.
    pub async fn write<T: Serialize>(&mut self, message: &T) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.0.write_all(&line).await
    }
}

impl GuardianRequest {
    pub fn folder(path: &Path) -> GuardianRequest {
        GuardianRequest::Folder(path.as_os_str().to_os_string())
    }
}
