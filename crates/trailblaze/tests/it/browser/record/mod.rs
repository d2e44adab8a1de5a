//! `trailblaze record`: what a person does in a browser becomes a trail that replays without edits.

mod asserting;
mod beside_codegen;
mod gestures;
mod todo;
mod verifying;
mod shop;
pub mod stage;
