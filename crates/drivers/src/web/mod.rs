//! Browsers. This folder knows pages: looking, finding, acting, typing, pointing, and the scripts inside of them. What it needs from
//! a browser is in `backend.rs`; each protocol is a backend in a folder of its own.
//!
//! Each frame's document has a script. One half of it (`walker.js`) reports roles, names and bounds; the other (`acting.js`) prepares an
//! element for a touch, cancels a touch that would hit another element, and watches whether text arrives in its field. For a search, the
//! page leaves out only what cannot match; the search itself is the engine's, as on every device. The state of a browser is kept in one
//! place, updated by one reader of its events; everything that waits, waits for that state to change. Each trail starts in a new context.

mod abilities;
mod act;
mod acting;
mod audit;
pub mod backend;
mod bidi;
pub mod backend_world;
mod browse;
mod devtools;
mod documents;
mod driver;
mod emulation;
mod engine;
mod events;
#[cfg(test)]
mod fake;
mod fallbacks;
mod firefox;
mod frames;
pub mod input;
mod keys;
mod look;
mod page;
mod person;
mod person_events;
mod pointer;
mod private_file;
mod provider;
mod requests;
mod reviving;
mod screencast;
mod scripts;
mod state;
mod typing;
mod want;
mod world;
mod world_control;
pub mod webdriver;
mod webkit;

pub use devtools::browser::{Browser, BrowserError, BrowserOptions};
pub use devtools::browsers::Browsers;
pub use devtools::inspected::{InspectablePage, InspectedPage};
pub use driver::{InitialState, Web};
pub use emulation::Emulation;
pub use provider::{PROVIDER, web_device};
pub use webdriver::end_sessions_main;
