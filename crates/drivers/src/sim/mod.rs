//! The simulated device: an app described in YAML, laid out, drawn and touched like one on a real device.
//!
//! Data flows one way: [`SimApp`] is the file, `state` is the state of an app on one device, `layout` builds a scene from
//! both, and `tree`, `paint` and `touch` read the scene.

mod abilities;
mod act;
mod app;
mod device;
mod dice;
mod driver;
mod effects;
mod faults;
mod keys;
mod layout;
mod paint;
mod provider;
mod servers;
mod shell;
mod state;
mod text;
mod touch;
mod tree;
mod windows;

#[cfg(test)]
mod tests;

pub use app::{SimApp, demo_app};
pub use driver::{Options, Sim};
pub use faults::Faults;
pub use provider::PROVIDER;
