//! The DevTools protocol of Chromium: the pipe to the browser, its processes, and its events.

mod attach;
pub mod browser;
pub mod cdp;
pub mod layout;
pub mod listener;
pub mod memory;
