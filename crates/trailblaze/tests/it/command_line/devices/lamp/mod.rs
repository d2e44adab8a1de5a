//! A kind of devices as CONTRIBUTING.md describes it: a lamp with a switch.

mod driver;
mod provider;

pub use provider::PROVIDER;
