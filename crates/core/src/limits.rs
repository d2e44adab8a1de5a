//! All limits of the engine.

use std::time::Duration;

/// The largest file that is read, in bytes.
pub const FILE_BYTES: usize = 16 << 20;
/// The most YAML nodes in one file, after expanding aliases.
pub const YAML_NODES: usize = 500_000;
/// How much anchors and aliases may copy in any YAML file, in values and bytes of text, and how much more for each byte of
/// the file.
pub const YAML_COPIES: usize = 100_000;
pub const YAML_COPIES_PER_BYTE: usize = 10;
/// The deepest nesting of a YAML file.
pub const YAML_DEPTH: usize = 100;
/// How deep calls may nest: one counter for delegates, expansions and callbacks.
pub const CALL_DEPTH: usize = 16;
/// The most calls that one top-level call may cause.
pub const CALLS_PER_ROOT: usize = 1_000;
/// The most delegates in one outcome.
pub const DELEGATES: usize = 200;
/// How deep selectors may nest.
pub const SELECTOR_DEPTH: usize = 10;
/// How much a selector's regular expression may backtrack before it is treated as not matching.
pub const REGEX_BACKTRACK: usize = 100_000;
/// How long a call may be silent. Progress and child calls restart it.
pub const CALL_IDLE: Duration = Duration::from_secs(120);
/// How long each step of `after:` may take, after whatever happened.
pub const AFTER_TRAIL: Duration = Duration::from_secs(60);
/// How long a call may take in total.
pub const CALL_TOTAL: Duration = Duration::from_secs(600);
/// How long before a call that fails something may have gone wrong that its failure mentions.
pub const JUST_BEFORE: Duration = Duration::from_secs(10);
/// How long a request takes that a failure mentions because it was slow.
pub const SLOW_REQUEST: Duration = Duration::from_secs(2);
/// The same for one that was answered. Pages often ask slowly for what nobody waits for.
pub const SLOW_ANSWER: Duration = Duration::from_secs(5);
/// How long a cancelled call has to end by itself.
pub const CANCEL_GRACE: Duration = Duration::from_millis(200);
/// How long a model may take for one reply, including retries.
pub const MODEL_REPLY: Duration = Duration::from_secs(180);
/// The most requests to a model that one call of a tool may make.
pub const SAMPLING_REQUESTS: usize = 20;
/// The most tokens, in and out, that the requests of one call may take.
pub const SAMPLING_TOKENS: u64 = 100_000;
/// The largest request that a tool may make to a model, in bytes of text and pictures.
pub const SAMPLING_BYTES: usize = 8 << 20;
/// The minimum pause between two reloads of tools.
pub const RELOAD_PAUSE: Duration = Duration::from_millis(200);
/// How long it may take until a device can be used, and to find out which there are.
pub const DEVICE_START: Duration = Duration::from_secs(120);
/// How long one driver command may take.
pub const DRIVER_COMMAND: Duration = Duration::from_secs(30);
/// How long an action waits for its element.
pub const FIND_WAIT: Duration = Duration::from_secs(5);
/// How long an assertion waits to become true.
pub const ASSERT_WAIT: Duration = Duration::from_secs(5);
/// How long a healed step has to reach its recorded end state.
pub const HEAL_WAIT: Duration = Duration::from_secs(5);
/// How long a snapshot waits for the first elements of an app that shows nothing yet.
pub const LOADING: Duration = Duration::from_secs(3);
/// How long the screen must not change to count as settled at the end of a recorded step, and how long that may take.
pub const SETTLED: Duration = Duration::from_millis(120);
pub const SETTLE_WAIT: Duration = Duration::from_secs(2);
/// The longest pause between two looks at a screen that does not report changes.
pub const POLL: Duration = Duration::from_millis(100);
/// Shorter secrets could not be distinguished from ordinary text.
pub const SECRET_CHARS: usize = 4;
/// Longer secrets would make searching slow.
pub const LONGEST_SECRET_CHARS: usize = 16 << 10;
