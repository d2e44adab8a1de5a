//! The X server of a desktop: windows, the pointer, keys, pictures and the clipboard.
//!
//! The library blocks, so that two threads use it: one does what the driver asks for, the other waits for events, manages windows where
//! nobody else does, and serves the clipboard.

mod clipboard;
mod connection;
mod display;
mod events;
mod keymap;
mod keys;
mod manager;
mod picture;
mod pointer;
mod windows;

pub use connection::XAddress;
pub use display::XDisplay;
pub use keys::{KeyChord, KeyStroke, chord_of, strokes_of};
pub use pointer::PointerStep;
pub use windows::XWindow;
