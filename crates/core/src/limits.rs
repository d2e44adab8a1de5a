//! Every bound of the engine, in one table.

use std::time::Duration;

/// The largest file that is read, in bytes.
pub const FILE_BYTES: usize = 16 << 20;
/// The most YAML nodes of one file, aliases expanded.
pub const YAML_NODES: usize = 500_000;
/// The deepest nesting of a YAML file.
pub const YAML_DEPTH: usize = 100;
/// How deep calls may nest: one counter for delegates, expansions and callbacks.
pub const CALL_DEPTH: usize = 16;
/// The most calls that one top-level call may cause.
pub const CALLS_PER_ROOT: usize = 1_000;
/// The most delegates of one answer.
pub const DELEGATES: usize = 200;
/// How deep selectors may nest.
pub const SELECTOR_DEPTH: usize = 10;
/// How much a selector's regular expression may backtrack before it counts as no match.
pub const REGEX_BACKTRACK: usize = 100_000;
/// How long a call may be silent. Progress and child calls start it anew.
pub const CALL_IDLE: Duration = Duration::from_secs(120);
/// How long a call may take altogether.
pub const CALL_TOTAL: Duration = Duration::from_secs(600);
/// How long a cancelled call has to end by itself.
pub const CANCEL_GRACE: Duration = Duration::from_millis(200);
/// How long to wait after tools were read anew before they are read again.
pub const RELOAD_PAUSE: Duration = Duration::from_millis(200);
/// How long one driver command may take.
pub const DRIVER_COMMAND: Duration = Duration::from_secs(30);
/// How long an action waits for its element.
pub const FIND_WAIT: Duration = Duration::from_secs(5);
/// How long an assertion waits to become true.
pub const ASSERT_WAIT: Duration = Duration::from_secs(5);
/// The longest pause between two looks at a screen that does not report changes.
pub const POLL: Duration = Duration::from_millis(100);
/// A shorter secret could not be told from ordinary text.
pub const SECRET_CHARS: usize = 4;
/// A longer secret would make looking for it slow.
pub const LONGEST_SECRET_CHARS: usize = 16 << 10;
