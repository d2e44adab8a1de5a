//! Hosts tools that run outside of the engine: servers that speak the Model Context Protocol, started and stopped by us or reached
//! over HTTP, and scripts.
//!
//! From the wire upward: `pipe` and [`http`] carry messages, [`connection`] matches answers to requests, `client`
//! speaks both generations of the protocol, and [`server`] is a source of tools for a session. [`script`] is a tool whose code runs in
//! the embedded engine. [`typed`] is what tools may call,
//! wherever they run.

mod answer;
pub mod build;
pub mod cassette;
mod client;
pub mod connection;
mod context_refusal;
mod death;
pub mod notification_router;
mod envelope;
pub mod embedded;
pub mod http;
pub mod launch;
pub mod listing;
pub mod instance;
pub mod offline;
pub mod spin_wait;
mod pipe;
pub mod python;
mod sampling;
pub mod restarts;
pub mod script;
pub mod server;
pub mod stderr;
pub mod typed;

pub use envelope::ARGUMENT as CONTEXT_ARGUMENT;

/// Every limit of this crate, in one table.
pub mod limits {
    use std::time::Duration;

    /// The longest line that a server may send, in bytes. Large enough for a picture.
    pub const LINE_BYTES: usize = 32 << 20;
    /// How many braces in a line with other text are tried as the beginning of a message.
    pub const GLUED_STARTS: usize = 16;
    /// The most bytes that may wait for a server to read them.
    pub const BACKLOG_BYTES: usize = 32 << 20;
    /// The most pages of a list, and the most tools of one server.
    pub const LIST_PAGES: usize = 1_000;
    pub const LIST_TOOLS: usize = 20_000;
    /// How many times a server may request input during one call, and the pauses before a call is repeated without any.
    pub const INPUT_ROUNDS: usize = 10;
    pub const INPUT_PAUSE: Duration = Duration::from_millis(50);
    pub const LONGEST_INPUT_PAUSE: Duration = Duration::from_millis(250);
    /// The most content blocks in one answer.
    pub const ANSWER_PARTS: usize = 1_000;
    /// The most log messages recorded per call, or per server outside of calls.
    pub const NOTES: usize = 1_000;
    /// How many of the last lines of stderr are kept.
    pub const STDERR_LINES: usize = 64;
    /// How many of the first and of the last lines of stderr are shown.
    pub const STDERR_FIRST_LINES: usize = 8;
    pub const STDERR_SHOWN_LINES: usize = 16;
    /// The longest line of stderr that is kept in one piece, in bytes.
    pub const STDERR_LINE_BYTES: usize = 8 << 10;
    /// The most characters shown of a line of stderr.
    pub const STDERR_SHOWN_CHARS: usize = 300;
    /// The largest log of one server, in bytes.
    pub const STDERR_BYTES: u64 = 16 << 20;
    /// How long connecting to a server over HTTP may take.
    pub const CONNECT: Duration = Duration::from_secs(10);
    /// How long to wait before retrying a server that could not be reached.
    pub const RECONNECT_PAUSE: Duration = Duration::from_millis(300);
    /// The longest pause that a server can request before its stream is resumed.
    pub const LONGEST_RETRY: Duration = Duration::from_secs(30);
    /// How many times in a row a stream that delivers nothing is resumed.
    pub const RESUMES: usize = 5;
    /// How long sending a notification may take.
    pub const NOTICE: Duration = Duration::from_secs(30);
    /// The most bytes read of an HTTP error response.
    pub const REFUSAL_BYTES: usize = 64 << 10;
    /// How long to poll for an answer before sleeping. Waking up costs up to a tenth of a millisecond on a busy
    /// machine; with a shorter time than this, a quick server that was slow once would be classified as slow for good.
    pub const LOOK: Duration = Duration::from_micros(250);
    /// How long to wait for the exit of a server that closed its stdout.
    pub const END_GRACE: Duration = Duration::from_secs(1);
    /// How often a call that waits for its server reports that it is not silent.
    pub const CALL_RENEWAL: Duration = Duration::from_millis(50);
    /// How long a server that did not end a cancelled call may take to answer a ping.
    pub const PING: Duration = Duration::from_secs(5);
    /// How long a server that listens on a port may take to exit by itself before it is sent a signal.
    pub const PORT_GRACE: Duration = Duration::from_millis(500);
    /// The pauses before each restart of a server that died. After the last one it is not restarted.
    pub const RESTART_PAUSES: [Duration; 4] =
        [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];
    /// Deaths longer ago than this do not count.
    pub const RESTART_WINDOW: Duration = Duration::from_secs(5 * 60);
    /// How long a replaced server may take to finish its last calls. No call takes longer.
    pub const RETIREMENT: Duration = trailblaze_core::limits::CALL_TOTAL;
    /// The largest file or response that a script may read, in bytes, and how long a request may take.
    pub const SCRIPT_INPUT_BYTES: usize = 4 << 20;
    pub const SCRIPT_FETCH: Duration = Duration::from_secs(30);
    /// How many engines of one script are kept for its next calls.
    pub const SCRIPT_WORLDS: usize = 64;
    /// The longest line that a script may log, in bytes.
    pub const SCRIPT_LOG_BYTES: usize = 8 << 10;
    /// The most characters shown of a malformed line.
    pub const SHOWN_CHARS: usize = 120;
}
