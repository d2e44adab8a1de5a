//! Web pages: a walker inside the page, and real input events. What knows the protocol of a browser is in `devtools`.

mod act;
mod acting;
mod browse;
mod devtools;
mod driver;
mod emulation;
mod frames;
mod keys;
mod look;
mod page;
mod person;
mod pointer;
mod requests;
mod reviving;
mod screencast;
mod state;
mod typing;
mod want;

pub use devtools::browser::{Browser, BrowserError, BrowserOptions, find as find_browser};
pub use driver::{Browsers, Start, Web};
pub use emulation::Emulation;
