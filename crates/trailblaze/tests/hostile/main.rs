//! Tool servers that misbehave. Whatever one does, a run ends in time with the exit code it should, says which server did
//! what and what helps, keeps what the others did, and leaves no process behind.
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
