//! Which way of looking is used.

use std::sync::Arc;

use trailblaze_core::driver::{Budget, DeviceEvents, DriverError};
use trailblaze_core::screen::Shape;

use super::fallback::FallbackAutomation;
use super::server::ServerAutomation;
use super::shell::ShellAutomation;
use super::{Automation, Looking};
use crate::android::phone::Phone;
use crate::android::undo::UndoShell;

/// Starts the way that is wanted. `auto` says in the events if it falls back.
pub async fn open(
    looking: Looking,
    phone: &Phone,
    undo: &Arc<UndoShell>,
    events: &Arc<DeviceEvents>,
    shape: Shape,
    budget: &Budget,
) -> Result<Arc<dyn Automation>, DriverError> {
    let plain = ShellAutomation::new(phone.clone(), shape);
    if looking == Looking::Plain {
        return Ok(Arc::new(plain));
    }
    let fast = ServerAutomation::new(phone.clone(), Arc::clone(undo), shape);
    match (fast.start(budget).await, looking) {
        (Ok(()), Looking::Fast) => Ok(Arc::new(fast)),
        (Err(error), Looking::Fast) => Err(match error {
            DriverError::Refused { reason } => DriverError::NotStarted {
                evidence: format!("{reason}; write `looking: plain` in the entry of this device"),
            },
            error => error,
        }),
        (Err(error), _) if fast.fault().is_none() => Err(error),
        _ => Ok(Arc::new(FallbackAutomation::new(fast, plain, Arc::clone(events)))),
    }
}
