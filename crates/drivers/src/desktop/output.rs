//! What a program prints: read until its end, because a full pipe would stop it, and the last of it kept for messages.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::task::AbortOnDropHandle;

/// How much is kept, in bytes.
const KEPT: usize = 2048;

pub struct ProgramOutput {
    last: Arc<Mutex<Vec<u8>>>,
    _readers: [AbortOnDropHandle<()>; 2],
}

impl ProgramOutput {
    pub fn of(
        stdout: impl AsyncRead + Unpin + Send + 'static,
        stderr: impl AsyncRead + Unpin + Send + 'static,
    ) -> ProgramOutput {
        let last = Arc::new(Mutex::default());
        let readers = [
            AbortOnDropHandle::new(tokio::spawn(read(stdout, None))),
            AbortOnDropHandle::new(tokio::spawn(read(stderr, Some(Arc::clone(&last))))),
        ];
        ProgramOutput { last, _readers: readers }
    }

    /// The last that it printed to stderr, on lines of its own; empty if that is nothing.
    pub fn quoted(&self) -> String {
        let last = String::from_utf8_lossy(&self.last.lock()).trim().to_string();
        if last.is_empty() { last } else { format!("\n{last}") }
    }
}

async fn read(mut from: impl AsyncRead + Unpin, kept: Option<Arc<Mutex<Vec<u8>>>>) {
    let mut buffer = vec![0; 4096];
    while let Ok(n) = from.read(&mut buffer).await
        && n > 0
    {
        let Some(kept) = &kept else { continue };
        let mut kept = kept.lock();
        kept.extend_from_slice(&buffer[..n]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
}
