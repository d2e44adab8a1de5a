//! The typed API over the wire, as other programs use it: the same cases over every protocol and client, what bad input gets,
//! and streams.

pub mod cases;
mod clients;
mod identity;
mod in_calls;
mod in_tools;
mod parity;
mod refusing;
mod rust_client;
mod rust_parity;
pub mod served;
mod streams;
mod wire;
