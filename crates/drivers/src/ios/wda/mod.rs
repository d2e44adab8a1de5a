//! A client of WebDriverAgent, the program that runs on an iPhone or a simulator and does over HTTP what it is asked to.
//!
//! `http` makes one request within a budget, and [`WdaClient`] also keeps a session, which touches and apps need.

mod address;
mod client;
mod connect;
mod envelope;
mod error;
mod http;

#[cfg(test)]
pub mod fake;
#[cfg(test)]
mod tests;

pub use address::WdaAddress;
pub use client::{SessionKeeper, WdaClient};
pub use connect::WdaConnector;
pub use error::{WdaCode, WdaError};
