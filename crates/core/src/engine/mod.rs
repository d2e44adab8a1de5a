//! Sessions, their tools, and `dispatch`, the one entry point of every tool call.

pub mod cx;
pub mod count;
pub mod session_key;
pub mod session;
pub mod device;
pub mod device_history;
mod device_reports;
mod attempt_trace;
mod reveal;
mod destination;
pub mod tool;
pub mod aliases;
pub mod source;
pub mod code;
pub mod registry;
pub mod changes;
pub mod invocations;
pub mod ask;
pub mod quota;
pub mod strictness;
mod giving_up;
pub mod dispatch;
mod play;
mod withhold;
pub mod fault;
