//! `trailblaze mcp`: what an outer agent sees, in both generations of the protocol.

#[path = "../support/mod.rs"]
mod support;

mod client;
mod driving;
mod http;
mod listing;
mod program;
mod resources;
mod service;
