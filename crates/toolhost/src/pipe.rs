//! Messages over a pair of streams, one a line: what a child reads from its stdin, and writes to its stdout.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::connection::{Closed, Shared};
use crate::limits;

/// Room that is kept for what comes next.
const LARGE: usize = 256 << 10;

/// The way to the peer.
pub(crate) struct Pipe {
    backlog: Mutex<Vec<u8>>,
    /// Bytes that the peer has not taken yet.
    n_waiting: AtomicUsize,
    way_out: tokio::sync::Mutex<Option<WayOut>>,
}

/// The stream, and what is on its way into it. What was not written stays here when whoever wrote it gives up.
struct WayOut {
    stream: Box<dyn AsyncWrite + Send + Unpin>,
    /// Changes places with the backlog, so that neither grows anew each time.
    leaving: Vec<u8>,
    n_written: usize,
}

impl Pipe {
    pub fn new(output: impl AsyncWrite + Send + Unpin + 'static) -> Pipe {
        let way_out = WayOut { stream: Box::new(output), leaving: Vec::new(), n_written: 0 };
        Pipe {
            backlog: Mutex::default(),
            n_waiting: AtomicUsize::new(0),
            way_out: tokio::sync::Mutex::new(Some(way_out)),
        }
    }

    fn backlog(&self) -> MutexGuard<'_, Vec<u8>> {
        self.backlog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn has_backlog(&self) -> bool {
        self.n_waiting.load(Ordering::SeqCst) > 0
    }

    /// Puts a message in line. Whoever flushes next sends it, so that no caller that gives up tears a line in two.
    pub fn push(&self, message: &impl Serialize) -> Result<(), Closed> {
        let mut backlog = self.backlog();
        if self.n_waiting.load(Ordering::SeqCst) > limits::BACKLOG_BYTES {
            return Err(Closed::Deaf);
        }
        let start = backlog.len();
        if let Err(error) = serde_json::to_writer(&mut *backlog, message) {
            backlog.truncate(start);
            return Err(Closed::Io(error.to_string()));
        }
        backlog.push(b'\n');
        self.n_waiting.fetch_add(backlog.len() - start, Ordering::SeqCst);
        Ok(())
    }

    /// Sends what is in line.
    pub async fn flush(&self) -> Result<(), Closed> {
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => Closed::ClosedStdin,
            _ => Closed::Io(error.to_string()),
        };
        let mut way_out = self.way_out.lock().await;
        let WayOut { stream, leaving, n_written } = way_out.as_mut().ok_or(Closed::Ended)?;
        loop {
            while *n_written < leaving.len() {
                let n = stream.write(&leaving[*n_written..]).await.map_err(failed)?;
                if n == 0 {
                    return Err(Closed::ClosedStdin);
                }
                *n_written += n;
                self.n_waiting.fetch_sub(n, Ordering::SeqCst);
            }
            leaving.clear();
            leaving.shrink_to(LARGE);
            *n_written = 0;
            std::mem::swap(leaving, &mut *self.backlog());
            if leaving.is_empty() {
                return stream.flush().await.map_err(failed);
            }
        }
    }

    /// Lets go of the peer's stdin.
    pub async fn hang_up(&self) {
        // What was said last is worth hearing: that a call is called off, for one.
        let _ = tokio::time::timeout(limits::LAST_WORDS, self.flush()).await;
        self.way_out.lock().await.take();
    }
}

/// Reads messages until the stream ends, or one is of no use.
pub async fn read(shared: Arc<Shared>, mut input: impl AsyncRead + Unpin) {
    let mut buffer = Vec::with_capacity(16 << 10);
    // How much of the buffer is known to hold no end of line.
    let mut searched = 0;
    let reason = loop {
        let mut taken = 0;
        while let Some(end) = buffer[searched..].iter().position(|byte| *byte == b'\n') {
            let line = taken..searched + end;
            (taken, searched) = (line.end + 1, line.end + 1);
            if let Err(reason) = shared.take(buffer[line].trim_ascii()) {
                return shared.close(reason);
            }
        }
        buffer.drain(..taken);
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
