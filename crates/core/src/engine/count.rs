//! A counter of things in progress that can be awaited until it is zero.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

#[derive(Default)]
pub struct Count {
    n: AtomicUsize,
    none_left: Notify,
}

impl Count {
    pub fn begin(&self) {
        self.n.fetch_add(1, Ordering::SeqCst);
    }

    pub fn end(&self) {
        if self.n.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.none_left.notify_waiters();
        }
    }

    pub fn is_any(&self) -> bool {
        self.n.load(Ordering::SeqCst) > 0
    }

    pub fn is_one(&self) -> bool {
        self.n.load(Ordering::SeqCst) == 1
    }

    /// Waits until there are none.
    pub async fn none(&self) {
        loop {
            let none_left = self.none_left.notified();
            tokio::pin!(none_left);
            // Registers before the check, so that an end in between is not missed.
            none_left.as_mut().enable();
            if !self.is_any() {
                return;
            }
            none_left.await;
        }
    }
}
