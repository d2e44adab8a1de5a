//! iPhones on a cable, through usbmuxd: the service that every Mac has, and Linux with its package of that name.

mod muxd;
mod plist;

#[cfg(test)]
mod tests;

pub use muxd::{AttachedDevice, MuxError, MuxStream, Usbmuxd, is_udid};
pub use plist::Plist;
