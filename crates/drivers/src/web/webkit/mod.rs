//! WebKit on this machine: WebKitWebDriver with the browser that comes with it, without a screen.

mod browsers;

pub use browsers::{WebKitBrowsers, WebKitOptions, find};
