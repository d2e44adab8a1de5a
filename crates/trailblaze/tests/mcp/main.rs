//! `trailblaze mcp`: what an outer agent sees, in both generations of the protocol.

#[path = "../servers/lab.rs"]
mod lab;
#[path = "../processes/marked.rs"]
mod marked;
#[path = "../support/mod.rs"]
mod support;
#[path = "../servers/shop.rs"]
mod web_shop;

mod client;
mod driving;
mod http;
mod listing;
mod official;
mod program;
mod resources;
mod service;
mod shop;
