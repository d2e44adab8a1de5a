//! The command line and what it writes.

pub mod report;
