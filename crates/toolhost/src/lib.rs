//! Tools that live elsewhere: servers that speak the Model Context Protocol, started and ended by us or reached over http.
//!
//! From the wire upward: `pipe` and [`http`] move messages, [`connection`] tells what they answer, `client` speaks the
//! protocol in both of its generations, [`server`] is a source of tools for a session.

mod answer;
pub mod cassette;
mod client;
pub mod connection;
mod context_refusal;
pub mod notification_router;
mod envelope;
pub mod http;
pub mod launch;
pub mod listing;
pub mod live;
pub mod offline;
mod patience;
mod pipe;
pub mod restarts;
pub mod server;
mod stderr;

/// Every bound of this crate, in one table.
pub mod limits {
    use std::time::Duration;

    /// The longest line that a server may send, in bytes: a picture fits, a flood does not.
    pub const LINE_BYTES: usize = 32 << 20;
    /// How much may wait to be read by a server.
    pub const BACKLOG_BYTES: usize = 32 << 20;
    /// The most pages of a list, and the most tools of one server.
    pub const LIST_PAGES: usize = 1_000;
    pub const LIST_TOOLS: usize = 20_000;
    /// The most parts of one answer.
    pub const ANSWER_PARTS: usize = 1_000;
    /// How often one call, or a server outside of calls, is quoted in the record.
    pub const NOTES: usize = 1_000;
    /// The last lines of stderr that are kept.
    pub const STDERR_LINES: usize = 64;
    /// How many of the first and of the last lines of stderr are shown.
    pub const STDERR_FIRST_LINES: usize = 8;
    pub const STDERR_SHOWN_LINES: usize = 16;
    /// The longest line of stderr that is kept whole, in bytes.
    pub const STDERR_LINE_BYTES: usize = 8 << 10;
    /// How much of a line of stderr is shown.
    pub const STDERR_SHOWN_CHARS: usize = 300;
    /// How large the log of one server may grow, in bytes.
    pub const STDERR_BYTES: u64 = 16 << 20;
    /// How long a server over http may take to let us in.
    pub const CONNECT: Duration = Duration::from_secs(10);
    /// How long to wait before a server that was not there is tried once more.
    pub const RECONNECT_PAUSE: Duration = Duration::from_millis(300);
    /// The longest pause that a server can ask for before its stream is taken up again.
    pub const LONGEST_RETRY: Duration = Duration::from_secs(30);
    /// How often a stream that brings nothing is taken up again.
    pub const RESUMES: usize = 5;
    /// How long a notification may be under way.
    pub const NOTICE: Duration = Duration::from_secs(30);
    /// How much of a refusal over http is read, in bytes.
    pub const REFUSAL_BYTES: usize = 64 << 10;
    /// How long to look for an answer before going to sleep. An answer that we sleep for takes a while longer, on a busy
    /// machine a tenth of a millisecond: with less time than this, a quick server that was slow for a moment would seem
    /// slow ever after.
    pub const LOOK: Duration = Duration::from_micros(250);
    /// How long to wait for the exit of a server that closed its stdout.
    pub const LAST_WORDS: Duration = Duration::from_secs(1);
    /// How long a server that listens on a port may take to end by itself before it is told to.
    pub const PORT_GRACE: Duration = Duration::from_millis(500);
    /// How long to wait before a server that died is started again, from the first time on; after that it is not.
    pub const RESTART_PAUSES: [Duration; 4] =
        [Duration::from_millis(100), Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];
    /// Deaths that are longer ago do not count.
    pub const RESTART_WINDOW: Duration = Duration::from_secs(5 * 60);
    /// How long a server that another took over from may be at work on its last calls. No call takes longer.
    pub const RETIREMENT: Duration = trailblaze_core::limits::CALL_TOTAL;
    /// How much of an odd line is shown.
    pub const SHOWN_CHARS: usize = 120;
}
