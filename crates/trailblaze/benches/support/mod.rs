//! What benchmarks share.

// Each benchmark uses its part of this module.
#![allow(dead_code, unused_imports)]

pub mod mcp;
pub mod session;
mod table;

use std::sync::Arc;

use trailblaze::project::devices::DeviceSpec;
use trailblaze::sessions::wiring::Wiring;
use trailblaze_core::driver::Driver;

pub use table::{Measure, Row, head, quantile};

/// A device, as a session gets it.
#[allow(dead_code, reason = "not every benchmark opens sessions")]
pub fn driver(wiring: &Wiring, device: &DeviceSpec) -> Arc<dyn Driver> {
    // In a thread of its own, because callers may be in a runtime.
    let acquired = std::thread::scope(|scope| {
        let acquire = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
            runtime.block_on(wiring.devices.acquire(device))
        };
        scope.spawn(acquire).join().expect("no panic")
    });
    acquired.expect("a device").driver
}

/// What sessions of a benchmark share.
#[allow(dead_code, reason = "not every benchmark opens sessions")]
pub fn host() -> trailblaze::sessions::host::SessionHost {
    let invocations = std::sync::Arc::default();
    let listener = trailblaze::api::ApiListener::new(std::sync::Arc::clone(&invocations), None);
    trailblaze::sessions::host::SessionHost::new(invocations, listener)
}
