//! One connection to the adb server: requests with their status, and bounded reads.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::error::AdbError;

/// How many bytes of output are read at once.
const CHUNK: usize = 64 * 1024;

/// A connection to the adb server, or to a service of this device. Closing it ends what is done for it.
pub struct AdbConnection {
    stream: Box<dyn ByteStream>,
}

pub trait ByteStream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> ByteStream for T {}

impl AdbConnection {
    pub fn new(stream: TcpStream) -> AdbConnection {
        // Requests are small, and each waits for its answer.
        let _ = stream.set_nodelay(true);
        AdbConnection::of(stream)
    }

    pub fn of(stream: impl AsyncRead + AsyncWrite + Send + Sync + Unpin + 'static) -> AdbConnection {
        AdbConnection { stream: Box::new(stream) }
    }

    /// The stream, once what it is about was requested.
    pub fn into_stream(self) -> Box<dyn ByteStream> {
        self.stream
    }

    /// Sends a request, and waits until it is accepted.
    pub async fn request(&mut self, service: &str) -> Result<(), AdbError> {
        let length = u16::try_from(service.len())
            .map_err(|_| AdbError::TooLarge { what: "a command".to_string(), limit: usize::from(u16::MAX) })?;
        self.send(format!("{length:04x}{service}").as_bytes()).await?;
        self.accepted(service).await
    }

    /// Reads the status of a request.
    pub async fn accepted(&mut self, service: &str) -> Result<(), AdbError> {
        let status = self.exact(4, "the status of a request").await?;
        match status.as_slice() {
            b"OKAY" => Ok(()),
            b"FAIL" => {
                let reason = self.block("the reason of a failure").await?;
                let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
                Err(AdbError::Refused { service: name(service).to_string(), reason })
            }
            other => Err(AdbError::Protocol { what: format!("the status {}", other.escape_ascii()) }),
        }
    }

    /// Reads a text with its length before it, which cannot be larger than 65,535 bytes.
    pub async fn block(&mut self, what: &str) -> Result<String, AdbError> {
        let digits = self.exact(4, what).await?;
        let length = std::str::from_utf8(&digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let length = length.and_then(|text| usize::from_str_radix(text, 16).ok());
        let length =
            length.ok_or_else(|| AdbError::Protocol { what: format!("the length {}", digits.escape_ascii()) })?;
        let bytes = self.exact(length, what).await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Reads exactly so many bytes. Callers have checked a length that came from outside.
    pub async fn exact(&mut self, length: usize, what: &str) -> Result<Vec<u8>, AdbError> {
        let mut bytes = vec![0; length];
        match self.stream.read_exact(&mut bytes).await {
            Ok(_) => Ok(bytes),
            Err(_) => Err(AdbError::Closed { doing: format!("reading {what}") }),
        }
    }

    /// Reads everything until the other side closes.
    pub async fn read_to_end(&mut self, limit: usize, what: &str) -> Result<Vec<u8>, AdbError> {
        let mut bytes = Vec::new();
        loop {
            bytes.reserve(CHUNK);
            match self.stream.read_buf(&mut bytes).await {
                Ok(0) => return Ok(bytes),
                Ok(_) if bytes.len() > limit => {
                    return Err(AdbError::TooLarge { what: what.to_string(), limit });
                }
                Ok(_) => {}
                Err(_) => return Err(AdbError::Closed { doing: format!("reading {what}") }),
            }
        }
    }

    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), AdbError> {
        let closed = |_| AdbError::Closed { doing: "sending a request".to_string() };
        self.stream.write_all(bytes).await.map_err(closed)
    }
}

/// A request for a message: without a command, which may contain what must not be shown.
fn name(service: &str) -> &str {
    match service.split_once(':') {
        Some((name, _)) if !service.starts_with("host") => name,
        _ => service,
    }
}
