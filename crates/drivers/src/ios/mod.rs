//! iPhones, iPads and simulators, over WebDriverAgent, which must run on them already.
//!
//! `wda` speaks to it, `facts` says what kind of device it is on, `tree` makes elements of what it sees, and the driver does one action at
//! a time.

mod abilities;
mod act;
mod alerts;
mod apps;
mod config;
mod devices;
mod driver;
mod facts;
mod frames;
mod mac;
mod native;
mod phone;
mod provider;
mod settings;
mod tree;
mod undo;
mod usb;
mod wda;

#[cfg(test)]
mod tests;

pub use driver::IosDriver;
pub use provider::PROVIDER;
pub use tree::ElementTree;
pub use undo::put_back_main;
pub use usb::{Plist, Usbmuxd};
