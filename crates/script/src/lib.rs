//! JavaScript and TypeScript in an embedded engine, with limits on time, memory, stack and output. Knows nothing of tools, devices
//! or sessions: what a script can do besides computing, its [`ScriptHost`] provides.
//!
//! A `Program` is a script with its linked modules, as data. A `World` is a runtime with one program loaded, and is used again within one
//! attempt only. A call is a sequence of bursts: the script computes on a blocking thread until it waits, and then its host answers what it
//! asked for. Each loop notes its place, because the engine cannot say where it was when it is stopped. The prelude takes what it needs of
//! the language before any script runs, so that a script that replaces `JSON.parse` harms only itself.

mod inert;
mod missing_export;
mod nesting;
pub mod text;
pub mod transpile;
pub mod error;
pub mod program;
pub mod link;
pub mod bundle;
mod linked_program;
pub mod run;
pub mod serve;
pub mod world;

pub use error::{ScriptError, StackFrame, Thrown};
pub use link::{EntryPoint, LinkError, Linked, link, project_files};
pub use program::{Program, SourceOffset};
pub use run::{HostError, ScriptHost, ScriptOutcome, call};
pub use serve::{FAILED_CALL, Served, ServedCall};
pub use world::{Abort, Limits, LogLine, World};
