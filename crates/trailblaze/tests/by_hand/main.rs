//! `trailblaze record`: what a person does in a browser becomes a trail that replays without edits.

#[path = "../web/hand.rs"]
mod hand;
#[path = "../servers/lab.rs"]
mod lab;
#[path = "../processes/marked.rs"]
mod marked;
mod shop;
mod stage;
#[path = "../support/mod.rs"]
mod support;
