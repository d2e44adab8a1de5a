//! Child processes that cannot outlive us, whatever they start and however we end.
//!
//! Each child has a guardian: this program, started again as a process between us and the child. It holds one end of a
//! socket. When the other end closes, because we stop the child, drop every handle or are killed, the guardian kills
//! everything beneath it, removes the child's folders, and exits. If a guardian is killed, its descendants are
//! reparented to us, and we kill them.

mod child;
mod folders;
mod guardian;
mod launch;
mod orphans;
mod processes;
mod supervisor;
mod guardian_handle;
mod usage;
mod wire;

pub use child::{Child, ProcessExit, Stopped};
pub use guardian::guardian_main;
pub use launch::{EndingSignal, Grace, GuardianFault, Launch, Running, StartError};
pub use supervisor::{Supervisor, hide_process};
pub use usage::ProcessMemory;
