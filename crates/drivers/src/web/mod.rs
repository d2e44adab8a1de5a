//! Chromium: the DevTools protocol over a pipe, a walker inside the page, and real input events.

mod act;
mod browser;
mod cdp;
mod driver;
mod look;
mod tab;

pub use browser::{Browser, BrowserError, BrowserOptions};
pub use driver::{Browsers, Web};
