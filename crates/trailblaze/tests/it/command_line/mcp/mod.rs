//! `trailblaze mcp`: what an outer agent sees, in both generations of the protocol.

pub mod client;
mod driving;
mod http;
mod listing;
mod official;
mod program;
mod resources;
mod service;
mod shop;
