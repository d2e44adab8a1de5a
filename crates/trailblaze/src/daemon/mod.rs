//! The process that keeps sessions open between commands: one for each user and program. Clients find it by a file that only the
//! user can read, and start it if there is none.

mod client;
mod host;
mod key_file;
mod live;
mod log;
mod projects;
mod service;
mod studio;
mod studio_access;
mod table;
mod trails;

pub use client::{DaemonClient, client_variables, daemon_variables};
pub use host::{DaemonError, HostOptions, host};
pub use key_file::{DaemonFiles, FilesError, KeyFile, Version};
