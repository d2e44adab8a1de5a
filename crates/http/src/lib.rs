//! HTTP and HTTPS clients: connecting, TLS and proxies. Nothing here knows models, tools or sessions, nor reads the environment:
//! who opens a client says through which proxies.

mod error;
mod proxy;
mod connect;
mod client;

#[cfg(test)]
mod tests;

pub use client::{HttpClient, Timeouts, USER_AGENT};
pub use error::{RequestError, RequestErrorKind, reason};
pub use proxy::{Proxy, ProxyError, ProxySettings};
