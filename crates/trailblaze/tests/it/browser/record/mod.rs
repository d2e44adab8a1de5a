//! `trailblaze record`: what a person does in a browser becomes a trail that replays without edits.

mod asserting;
mod beside_codegen;
mod firefox;
mod gestures;
mod shop;
pub mod stage;
mod todo;
mod verifying;
