//! Tool servers that misbehave. Whatever one does, a run ends in time with the right exit code, reports which server
//! did what and what to do about it, keeps the results of the others, and leaves no process behind.
#![cfg(target_os = "linux")]

mod answering;
mod calling_back;
mod coming_back;
mod ending;
mod listing;
#[path = "../processes/marked.rs"]
mod marked;
mod over_http;
mod refusing_the_context;
#[path = "../servers/stage.rs"]
mod stage;
mod starting;
#[path = "../support/mod.rs"]
mod support;
mod telling;
