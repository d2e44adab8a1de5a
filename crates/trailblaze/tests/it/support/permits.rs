//! Permits for what two tests cannot use at the same time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Something that only one test at a time may use.
pub struct Permit(Mutex<()>);

/// The port that the documentation shows.
pub static DOCUMENTED_PORT: Permit = Permit::new();

impl Permit {
    const fn new() -> Permit {
        Permit(Mutex::new(()))
    }

    /// Waits for the permit, and holds it until the guard is dropped. A test that failed with it gives it back too.
    pub fn take(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
