//! iPhones, iPads and simulators, over WebDriverAgent, which must run on them already.
//!
//! `wda` speaks to it, `facts` says what kind of device it is on, `tree` makes elements of what it sees, and the driver does one action at
//! a time.

mod abilities;
mod act;
mod alerts;
mod apps;
mod driver;
mod facts;
mod provider;
mod tree;
pub mod wda;

#[cfg(test)]
mod tests;

pub use driver::IosDriver;
pub use provider::PROVIDER;
pub use tree::ElementTree;
