//! iPhones on a cable, through usbmuxd: the service that every Mac has, and Linux with its package of that name.

mod muxd;
mod plist;

#[cfg(test)]
pub mod fake;
#[cfg(test)]
mod tests;

pub use muxd::{MuxError, Usbmuxd};
