//! Files of the device, in the sync protocol of adb.

use trailblaze_core::driver::Budget;

use super::connection::AdbConnection;
use super::device::AdbDevice;
use super::error::{AdbError, within};
use super::local;

/// The largest part of a file in one message.
const PART: usize = 64 * 1024;
/// The longest path that a device accepts.
const PATH: usize = 1024;
/// The longest explanation of a failure that is read.
const REASON: usize = 64 * 1024;

/// A file on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteFile {
    /// Type and permissions, as `stat` has them.
    pub mode: u32,
    /// The size modulo 4 GB.
    pub size: u32,
    /// When it was changed, in seconds since 1970.
    pub modified: u32,
}

impl AdbDevice {
    /// A file of the device, or `None` if there is none.
    pub async fn stat(&self, budget: &Budget, path: &str) -> Result<Option<RemoteFile>, AdbError> {
        if self.is_here() {
            let file =
                |size| RemoteFile { mode: 0o100_644, size: u32::try_from(size).unwrap_or(u32::MAX), modified: 0 };
            return Ok(local::stat(path).await.map(file));
        }
        let stat = async {
            let mut connection = self.open_sync(budget, path).await?;
            send(&mut connection, b"STAT", path.as_bytes()).await?;
            let answer = connection.exact(16, "the status of a file").await?;
            let number = |at: usize| u32::from_le_bytes([answer[at], answer[at + 1], answer[at + 2], answer[at + 3]]);
            if &answer[..4] != b"STAT" {
                return Err(unexpected(&answer[..4]));
            }
            Ok(RemoteFile { mode: number(4), size: number(8), modified: number(12) })
        };
        let file = self.explained(budget, within(budget, "a file of the device", stat).await).await?;
        Ok((file.mode != 0).then_some(file))
    }

    /// The content of a file, which may have at most `limit` bytes.
    pub async fn pull(&self, budget: &Budget, path: &str, limit: usize) -> Result<Vec<u8>, AdbError> {
        if self.is_here() {
            return local::pull(path, limit).await;
        }
        let pull = async {
            let mut connection = self.open_sync(budget, path).await?;
            send(&mut connection, b"RECV", path.as_bytes()).await?;
            let mut content = Vec::new();
            loop {
                let (kind, length) = header(&mut connection).await?;
                match &kind {
                    b"DATA" => {
                        content.extend(bounded(&mut connection, length, PART, "a part of a file").await?);
                        if content.len() > limit {
                            return Err(AdbError::TooLarge { what: format!("`{path}`"), limit });
                        }
                    }
                    b"DONE" => return Ok(content),
                    b"FAIL" => return Err(failure(&mut connection, path, length).await),
                    other => return Err(unexpected(other)),
                }
            }
        };
        self.explained(budget, within(budget, "reading a file of the device", pull).await).await
    }

    /// Writes a file with these permissions.
    pub async fn push(&self, budget: &Budget, path: &str, content: &[u8], mode: u32) -> Result<(), AdbError> {
        if self.is_here() {
            return local::push(path, content, mode).await;
        }
        let push = async {
            let mut connection = self.open_sync(budget, path).await?;
            send(&mut connection, b"SEND", format!("{path},{}", mode & 0o777).as_bytes()).await?;
            for part in content.chunks(PART) {
                send(&mut connection, b"DATA", part).await?;
            }
            // Instead of a length, this has the time of the last change.
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let seconds = u32::try_from(now.as_secs()).unwrap_or(u32::MAX);
            connection.send(&[b"DONE".as_slice(), &seconds.to_le_bytes()].concat()).await?;
            let (kind, length) = header(&mut connection).await?;
            match &kind {
                b"OKAY" => Ok(()),
                b"FAIL" => Err(failure(&mut connection, path, length).await),
                other => Err(unexpected(other)),
            }
        };
        self.explained(budget, within(budget, "writing a file of the device", push).await).await
    }

    async fn open_sync(&self, budget: &Budget, path: &str) -> Result<AdbConnection, AdbError> {
        if path.len() > PATH {
            return Err(AdbError::TooLarge { what: "the path of a file".to_string(), limit: PATH });
        }
        self.open(budget, "sync:").await
    }
}

async fn send(connection: &mut AdbConnection, kind: &[u8; 4], bytes: &[u8]) -> Result<(), AdbError> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    connection.send(&[kind.as_slice(), &length.to_le_bytes(), bytes].concat()).await
}

async fn header(connection: &mut AdbConnection) -> Result<([u8; 4], usize), AdbError> {
    let header = connection.exact(8, "a file").await?;
    let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
    Ok(([header[0], header[1], header[2], header[3]], usize::try_from(length).unwrap_or(usize::MAX)))
}

async fn bounded(connection: &mut AdbConnection, length: usize, limit: usize, what: &str) -> Result<Vec<u8>, AdbError> {
    if length > limit {
        return Err(AdbError::TooLarge { what: what.to_string(), limit });
    }
    connection.exact(length, what).await
}

async fn failure(connection: &mut AdbConnection, path: &str, length: usize) -> AdbError {
    match bounded(connection, length, REASON, "the reason of a failure").await {
        Ok(reason) => {
            let reason = String::from_utf8_lossy(&reason).into_owned();
            AdbError::Refused { service: format!("sync:{path}"), reason }
        }
        Err(error) => error,
    }
}

fn unexpected(kind: &[u8]) -> AdbError {
    AdbError::Protocol { what: format!("{} in the answer about a file", kind.escape_ascii()) }
}
