//! The typed API over the wire, as other programs use it: the same cases over every protocol and client, what bad input gets,
//! and streams.
#![cfg(target_os = "linux")]

#[path = "../processes/marked.rs"]
mod marked;
#[path = "../servers/stage.rs"]
mod stage;
#[path = "../support/mod.rs"]
mod support;

mod cases;
mod clients;
mod identity;
mod in_calls;
mod in_tools;
mod parity;
mod refusing;
mod rust_client;
mod rust_parity;
mod served;
mod streams;
mod wire;
