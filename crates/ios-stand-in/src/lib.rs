//! A stand-in for WebDriverAgent, for tests. It is neither that program nor an iPhone: what it proves is that a client sends requests that
//! WebDriverAgent has, and understands its answers.
//!
//! [`start`] serves a simulated app of `crates/drivers` over the routes of WebDriverAgent 16.12, in its envelope, with its code words and
//! its tree. They were written from the source of WebDriverAgent; none was compared with a real device.
//!
//! To try things by hand: `cargo run -p trailblaze-ios-stand-in -- --app FILE` prints the address, and ends with the standard input.
//!
//! What differs from a device: a screen that is turned shows the same picture, turned; no keyboard is drawn; predicates and class chains are
//! comparisons joined by AND; two fingers pinch the app as a whole, and turning them is only noted; an app clears its data when it is
//! launched with the argument `--clear-data`; the stream of pictures is a grey dot that changes with the screen.
//!
//! What is left of WebDriverAgent's routes, so that it answers `unknown command`: `/wda/screens`, `/wda/device/location`, `/wda/video`,
//! `/wda/voiceOver`, `/wda/siri`, `/wda/accessibleSource`, `/rotation`, `/wda/apps/launchUnattached`, `/wda/resetAppAuth`,
//! `/wda/expectNotification`, `/wda/performIoHidEvent`, `/wda/forceTouch`, pickers, `getVisibleCells`, gestures of one element, searches
//! beneath an element, the text of an alert, and what only watches and televisions have.

mod alert;
mod answer;
mod apps;
mod behaviour;
mod elements;
mod http;
mod iphone;
mod mjpeg;
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
