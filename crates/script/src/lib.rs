//! JavaScript and TypeScript in an embedded engine, with limits on time, memory, stack and output. Knows nothing of tools, devices
//! or sessions: what a script can do besides computing, its [`Host`] provides.

mod inert;
mod missing_export;
mod nesting;
pub mod text;
pub mod transpile;
pub mod error;
pub mod program;
pub mod link;
pub mod bundle;
pub mod run;
pub mod serve;
pub mod world;

pub use error::{Frame, ScriptError, Thrown};
pub use link::{Entry, LinkError, Linked, link, project_files};
pub use program::{Offset, Program};
pub use run::{Ended, Host, HostError, call};
pub use serve::{Served, ServedCall};
pub use world::{Abort, Limits, LogLine, World};
