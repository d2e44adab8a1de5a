//! Messages over a pair of streams, one a line: what a child reads from its stdin, and writes to its stdout.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::connection::{Closed, Shared};
use crate::limits;

/// The way to the peer.
pub(crate) struct Pipe {
    backlog: Mutex<Vec<u8>>,
    stream: tokio::sync::Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>,
}

impl Pipe {
    pub fn new(output: impl AsyncWrite + Send + Unpin + 'static) -> Pipe {
        Pipe { backlog: Mutex::default(), stream: tokio::sync::Mutex::new(Some(Box::new(output))) }
    }

    fn backlog(&self) -> MutexGuard<'_, Vec<u8>> {
        self.backlog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn has_backlog(&self) -> bool {
        !self.backlog().is_empty()
    }

    /// Puts a message in line. Whoever flushes next sends it, so that no caller that gives up tears a line in two.
    pub fn push(&self, message: &impl Serialize) -> Result<(), Closed> {
        let mut backlog = self.backlog();
        if backlog.len() > limits::BACKLOG_BYTES {
            return Err(Closed::Deaf);
        }
        let start = backlog.len();
        if let Err(error) = serde_json::to_writer(&mut *backlog, message) {
            backlog.truncate(start);
            return Err(Closed::Io(error.to_string()));
        }
        backlog.push(b'\n');
        Ok(())
    }

    /// Sends what is in line.
    pub async fn flush(&self) -> Result<(), Closed> {
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => Closed::ClosedStdin,
            _ => Closed::Io(error.to_string()),
        };
        let mut stream = self.stream.lock().await;
        let stream = stream.as_mut().ok_or(Closed::Ended)?;
        loop {
            let next = {
                let backlog = self.backlog();
                backlog[..backlog.len().min(64 << 10)].to_vec()
            };
            if next.is_empty() {
                return stream.flush().await.map_err(failed);
            }
            let n = stream.write(&next).await.map_err(failed)?;
            self.backlog().drain(..n);
        }
    }

    /// Lets go of the peer's stdin.
    pub async fn hang_up(&self) {
        // What was said last is worth hearing: that a call is called off, for one.
        let _ = tokio::time::timeout(limits::LAST_WORDS, self.flush()).await;
        self.stream.lock().await.take();
    }
}

/// Reads messages until the stream ends, or one is of no use.
pub async fn read(shared: Arc<Shared>, mut input: impl AsyncRead + Unpin) {
    let mut buffer = Vec::with_capacity(16 << 10);
    // How much of the buffer is known to hold no end of line.
    let mut searched = 0;
    let reason = loop {
        while let Some(end) = buffer[searched..].iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = buffer.drain(..=searched + end).collect();
            searched = 0;
            if let Err(reason) = shared.take(line.trim_ascii()) {
                return shared.close(reason);
            }
        }
        searched = buffer.len();
        if buffer.len() > limits::LINE_BYTES {
            break Closed::LongLine;
        }
        buffer.reserve(16 << 10);
        match input.read_buf(&mut buffer).await {
            Ok(0) => break Closed::Ended,
            Ok(_) => {}
            Err(error) => break Closed::Io(error.to_string()),
        }
    };
    shared.close(reason);
}
