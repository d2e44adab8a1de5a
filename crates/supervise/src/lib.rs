//! Child processes that cannot outlive us, whatever they start in turn and however we end.
//!
//! Each child has a guardian: this very program, started again, between us and the child. It holds one end of a socket;
//! when the other end closes, because we asked, because every handle was dropped, or because we were killed, it ends
//! everything beneath it, removes the folders that belonged to the child, and goes. If a guardian is killed, what was
//! beneath it comes to us, and we end it.

mod child;
mod folders;
mod guardian;
mod launch;
mod orphans;
mod processes;
mod supervisor;
mod tend;
mod wire;

pub use child::{Child, Ended, Stopped};
pub use guardian::guardian_main;
pub use launch::{Grace, GuardianFault, Launch, Running, StartError};
pub use supervisor::Supervisor;
