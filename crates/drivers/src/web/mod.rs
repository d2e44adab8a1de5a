//! Chromium: the DevTools protocol, a walker inside the page, and real input events.

mod act;
mod acting;
mod attach;
mod browse;
mod browser;
mod cdp;
mod driver;
mod page_listener;
mod emulation;
mod frames;
mod keys;
mod look;
mod memory;
mod page;
mod person;
mod reviving;
mod pointer;
mod provider;
mod requests;
mod screencast;
mod state;
mod texts;
mod typing;
mod want;

pub use browser::{Browser, BrowserError, BrowserOptions};
pub use driver::{Browsers, Start, Web};
pub use emulation::Emulation;
pub use provider::{PROVIDER, web_device};
