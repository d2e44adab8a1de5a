//! Sessions that stay open between commands, and the process that keeps them.

#[path = "../processes/marked.rs"]
mod marked;
#[path = "../support/mod.rs"]
mod support;

mod clients;
mod home;
mod killing;
mod programs;
mod sessions;
