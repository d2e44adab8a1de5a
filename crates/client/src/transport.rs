//! Calls that do not go over HTTP.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};

use crate::error::Error;

/// What a call becomes.
pub type Response<'a> = Pin<Box<dyn Future<Output = Result<Value, Error>> + Send + 'a>>;

/// Carries out the calls of a [`Client`](crate::Client) in place of HTTP: in Trailblaze's own process, or in a test.
pub trait Transport: Send + Sync {
    /// Calls a method, such as `TrailblazeCommands/Tap`, with its request as JSON, and returns its response as JSON.
    fn call<'a>(&'a self, path: &'a str, request: Map<String, Value>) -> Response<'a>;
}
