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
    // In a thread of its own, because callers may be in a runtime. That is where what a device spawns must stay.
    let around = tokio::runtime::Handle::try_current();
    let acquired = std::thread::scope(|scope| {
        let acquire = || {
            let acquired = wiring.devices.acquire(device);
            match around {
                Ok(around) => around.block_on(acquired),
                Err(_) => {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                    runtime.expect("a runtime").block_on(acquired)
                }
            }
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
