//! Messages over a pair of streams, one per line: a child's stdin and stdout.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use parking_lot::Mutex;
use rustix::buffer::spare_capacity;
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::process::ChildStdout;

use crate::connection::{Closed, Shared};
use crate::limits;
use crate::spin_wait::{SpinTurn, SpinWait};

/// The capacity that an emptied buffer keeps.
const LARGE: usize = 256 << 10;
/// How much is read in one go.
const ROOM: usize = 16 << 10;

/// The streams to and from the peer.
pub(crate) struct Pipe {
    way_in: Mutex<WayIn>,
    pub spin_wait: SpinWait,
    backlog: Mutex<Vec<u8>>,
    /// Bytes that the peer has not read yet.
    n_waiting: AtomicUsize,
    way_out: tokio::sync::Mutex<Option<WayOut>>,
}

/// The stream and the bytes being written to it. What a cancelled writer did not write stays here for the next one.
struct WayOut {
    stream: Box<dyn AsyncWrite + Send + Unpin>,
    /// Swapped with the backlog, so that neither buffer is reallocated each time.
    leaving: Vec<u8>,
    n_written: usize,
}

impl Pipe {
    pub fn new(
        input: impl Input + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        turn: Arc<SpinTurn>,
    ) -> Pipe {
        let way_out = WayOut { stream: Box::new(output), leaving: Vec::new(), n_written: 0 };
        Pipe {
            way_in: Mutex::new(WayIn { stream: Box::new(input), buffer: Vec::new(), searched: 0 }),
            spin_wait: SpinWait::new(turn),
            backlog: Mutex::default(),
            n_waiting: AtomicUsize::new(0),
            way_out: tokio::sync::Mutex::new(Some(way_out)),
        }
    }

    pub fn has_backlog(&self) -> bool {
        self.n_waiting.load(Ordering::SeqCst) > 0
    }

    /// Queues a message. The next flush sends it, so that a cancelled caller cannot tear a line in two.
    pub fn push(&self, message: &impl Serialize) -> Result<(), Closed> {
        let mut backlog = self.backlog.lock();
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

    /// Writes the queued messages.
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
            std::mem::swap(leaving, &mut *self.backlog.lock());
            if leaving.is_empty() {
                return stream.flush().await.map_err(failed);
            }
        }
    }

    /// Reads messages until the stream ends or the peer breaks the protocol.
    pub async fn read(&self, shared: &Arc<Shared>) {
        let closed = poll_fn(|cx| {
            let mut way_in = self.way_in.lock();
            way_in.poll_read(cx, shared)
        });
        shared.close(closed.await);
    }

    /// Handles the messages that have already arrived. Returns `false` if polling again is pointless.
    pub fn take_what_is_there(&self, shared: &Arc<Shared>) -> bool {
        // Another task is reading.
        let Some(mut way_in) = self.way_in.try_lock() else { return false };
        let taken = way_in.take_what_is_there(shared);
        taken.map_err(|closed| shared.close(closed)).is_ok()
    }

    /// Closes the peer's stdin.
    pub async fn hang_up(&self) {
        // The last messages matter, such as the cancellation of a call.
        let _ = tokio::time::timeout(limits::END_GRACE, self.flush()).await;
        self.way_out.lock().await.take();
    }
}

/// The stream that a peer writes to.
pub trait Input: AsyncRead + Send + Unpin {
    /// Reads what is available, without waiting and without registering a waker.
    fn glance(&mut self, _: &mut Vec<u8>) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

impl Input for ChildStdout {
    fn glance(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        Ok(rustix::io::read(self, spare_capacity(buffer))?)
    }
}

impl Input for DuplexStream {}

/// The stream, and the bytes of an unfinished line.
struct WayIn {
    stream: Box<dyn Input>,
    buffer: Vec<u8>,
    /// How much of the buffer is known to contain no line end.
    searched: usize,
}

impl WayIn {
    fn poll_read(&mut self, cx: &mut Context<'_>, shared: &Arc<Shared>) -> Poll<Closed> {
        loop {
            self.buffer.reserve(ROOM);
            let read = pin!(self.stream.read_buf(&mut self.buffer)).poll(cx);
            let closed = match ready!(read) {
                Ok(0) => Closed::Ended,
                Ok(_) => match self.take_lines(shared) {
                    Ok(()) => continue,
                    Err(closed) => closed,
                },
                Err(error) => Closed::Io(error.to_string()),
            };
            return Poll::Ready(closed);
        }
    }

    fn take_what_is_there(&mut self, shared: &Arc<Shared>) -> Result<(), Closed> {
        self.buffer.reserve(ROOM);
        match self.stream.glance(&mut self.buffer) {
            // The end of the stream and errors are handled by the reader task.
            Ok(0) | Err(_) => Ok(()),
            Ok(_) => self.take_lines(shared),
        }
    }

    fn take_lines(&mut self, shared: &Arc<Shared>) -> Result<(), Closed> {
        let mut taken = 0;
        while let Some(end) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
            let line = taken..self.searched + end;
            (taken, self.searched) = (line.end + 1, line.end + 1);
            shared.take(self.buffer[line].trim_ascii())?;
        }
        self.buffer.drain(..taken);
        self.searched = self.buffer.len();
        match self.buffer.len() > limits::LINE_BYTES {
            true => Err(Closed::LongLine),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::pin::Pin;

    use serde_json::{Value, json};
    use tokio::io::ReadBuf;

    use super::*;
    use crate::connection::{Answering, Connection, Oddity, PeerListener, RequestError, RpcError};

    /// A peer whose output partly arrives in `try_read` and partly only in an awaited read.
    struct Peer {
        glances: VecDeque<&'static str>,
        reads: VecDeque<&'static str>,
        /// How often an awaited read leaves the output to `try_read`, which a busy machine may never get to.
        turns: u32,
    }

    impl Peer {
        fn new(glances: &[&'static str], reads: &[&'static str]) -> Peer {
            Peer { glances: glances.iter().copied().collect(), reads: reads.iter().copied().collect(), turns: 1_000 }
        }
    }

    impl Input for Peer {
        fn glance(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
            let piece = self.glances.pop_front().ok_or(io::ErrorKind::WouldBlock)?;
            buffer.extend_from_slice(piece.as_bytes());
            Ok(piece.len())
        }
    }

    impl AsyncRead for Peer {
        fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            cx.waker().wake_by_ref();
            self.turns = self.turns.saturating_sub(1);
            if !self.glances.is_empty() && self.turns > 0 {
                return Poll::Pending;
            }
            let next = self.glances.pop_front().or_else(|| self.reads.pop_front());
            let Some(piece) = next else { return Poll::Pending };
            buf.put_slice(piece.as_bytes());
            Poll::Ready(Ok(()))
        }
    }

    /// Keeps what is odd.
    #[derive(Default)]
    struct Listening(Mutex<Vec<Oddity>>);

    impl PeerListener for Listening {
        fn notified(&self, _: &str, _: Value) {}

        fn asked(&self, method: &str, _: Value, _: Option<u64>) -> Answering {
            Answering::Now(Err(RpcError::new(RpcError::METHOD_NOT_FOUND, method)))
        }

        fn odd(&self, oddity: Oddity) {
            self.0.lock().push(oddity);
        }
    }

    async fn answer(glances: &[&'static str], reads: &[&'static str]) -> Result<Value, RequestError> {
        heard(glances, reads).await.0
    }

    async fn heard(glances: &[&'static str], reads: &[&'static str]) -> (Result<Value, RequestError>, Vec<Oddity>) {
        let peer = Peer::new(glances, reads);
        let listening = Arc::new(Listening::default());
        let connection = Connection::open(peer, tokio::io::sink(), Arc::clone(&listening) as _, SpinTurn::new());
        let answer = connection.request("ask", &json!({})).answer().await;
        let odd = std::mem::take(&mut *listening.0.lock());
        (answer, odd)
    }

    #[tokio::test]
    async fn an_answer_is_found_behind_text_without_a_line_end() {
        for (text, line) in [
            ("half", "half {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":{}}}\n"),
            ("{'a': 1} [2", "{'a': 1} [2{\"id\":1,\"result\":{\"a\":{}},\"jsonrpc\":\"2.0\"}\n"),
            ("[1, {", "[1, {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":{}}}\n"),
        ] {
            let expected = (Ok(json!({"a": {}})), vec![Oddity::Noise(text.to_string())]);
            assert_eq!(heard(&[line], &[]).await, expected, "{line}");
        }
        // Its log of what it received, and of an answer to someone else.
        let (log, answer) = (
            "got {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ask\"}\nsent {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}\n",
        );
        let (answer, odd) = heard(&[log, answer], &[]).await;
        assert_eq!((answer, odd.len()), (Ok(json!(7)), 2));
    }

    #[tokio::test]
    async fn a_line_may_be_seen_at_a_glance_in_part_or_not_at_all() {
        let whole = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}\n";
        let parts = whole.split_at(20);
        let ways: [(&[&str], &[&str]); 4] =
            [(&[whole], &[]), (&[parts.0, parts.1], &[]), (&[parts.0], &[parts.1]), (&[], &[parts.0, parts.1])];
        for (glances, reads) in ways {
            assert_eq!(answer(glances, reads).await, Ok(json!(7)), "{glances:?} {reads:?}");
        }
    }

    /// Answers requests of the peer never, and tells when it stops trying.
    struct Busy(tokio::sync::mpsc::UnboundedSender<()>);

    struct Dropped(tokio::sync::mpsc::UnboundedSender<()>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }

    impl PeerListener for Busy {
        fn notified(&self, _: &str, _: Value) {}

        fn asked(&self, _: &str, _: Value, _: Option<u64>) -> Answering {
            let dropped = Dropped(self.0.clone());
            Answering::Later(Box::pin(async move {
                let _dropped = dropped;
                std::future::pending().await
            }))
        }

        fn odd(&self, _: Oddity) {}
    }

    #[tokio::test]
    async fn a_request_of_the_peer_ends_when_the_peer_cancels_it_or_the_connection_closes() {
        let asks = "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ask\"}\n";
        let cancels = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\"}}\n";
        for ending in [Some(cancels), None] {
            let (sender, mut ended) = tokio::sync::mpsc::unbounded_channel();
            let reads: Vec<&str> = [asks].into_iter().chain(ending).collect();
            let peer = Peer::new(&[], &reads);
            let connection = Connection::open(peer, tokio::io::sink(), Arc::new(Busy(sender)), SpinTurn::new());
            if ending.is_none() {
                tokio::task::yield_now().await;
                connection.close_because(Closed::Ended);
            }
            let ended = tokio::time::timeout(std::time::Duration::from_secs(60), ended.recv()).await;
            assert_eq!(ended, Ok(Some(())));
        }
    }

    #[tokio::test]
    async fn what_is_broken_at_a_glance_is_broken() {
        let closed = answer(&["{\"jsonrpc\": nonsense}\n"], &[]).await;
        assert!(matches!(closed, Err(RequestError::Closed(Closed::BrokenJson { .. }))), "{closed:?}");
    }
}
