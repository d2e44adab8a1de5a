//! A stand-in for WebDriverAgent, for tests. It is neither that program nor an iPhone: what it proves is that a client sends requests that
//! WebDriverAgent has, and understands its answers.
//!
//! [`start`] serves a simulated app of `crates/drivers` over the routes of WebDriverAgent 16.12, in its envelope, with its code words and
//! its tree. They were written from the source of WebDriverAgent; none was compared with a real device.
//!
//! To try things by hand: `cargo run -p trailblaze-ios-stand-in -- --app FILE` prints the address, and ends with the standard input.
//!
//! What differs from a device: a screen that is turned shows the same picture, turned, no keyboard is drawn, trees are JSON only,
//! predicates and class chains are comparisons joined by AND, two fingers always pinch the app as a whole, and an app clears its data when it is launched with the argument `--clear-data`.

mod alert;
mod answer;
mod apps;
mod behaviour;
mod elements;
mod http;
mod iphone;
mod picture;
mod program;
mod predicate;
mod routes;
mod serve;
mod settings;
mod source;
mod system_alert;
mod touch;
mod usbmuxd;

pub use behaviour::Behaviour;
pub use iphone::CLEAR_DATA;
pub use program::main;
pub use serve::{StandIn, start, start_at};
pub use usbmuxd::StandInUsbmuxd;
